"""`budget_column` and `budget_roster`: what they declare, what is refused, and that no code stands for too much."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.amounts import NANO, Epsilon
from thresher.config import BudgetRoster, Grid, OwnBudgets, read
from thresher.errors import DeclarationError
from thresher.sources.codes import place

DECLARED = """
[source]
url = "memory://"
[tables.patients]
budget_column = "privacy_budget"
budget_roster = { table = "roster", column = "eps" }
[tables.patients.columns]
privacy_budget = { min = 0, max = 1, step = 0.1 }
ward = { values = ["eye"] }
[public_tables.roster]
"""


def declared(old="", new=""):
    text = DECLARED.replace(old, new)
    assert not old or text != DECLARED
    return read(text, Path())


def test_a_table_of_own_budgets_has_an_account_of_shares():
    table = declared().tables["patients"]
    assert table.own_budgets.roster == BudgetRoster("roster", "eps")
    assert table.account == "personal:patients"
    assert declared().budgets() == {"personal:patients": Epsilon(1)}
    assert list(table.own_budgets.codes) == list(range(1, 11))


def test_the_roster_may_count_people():
    roster = declared('column = "eps"', 'column = "eps", people = "number"').tables["patients"].own_budgets.roster
    assert roster.people == "number"


REFUSED = {
    "a budget for all besides": ("budget_column", 'budget = "1"\nbudget_column', "each person brings"),
    "a limit besides": (
        "budget_column",
        'max_epsilon_per_question = "1"\nbudget_column',
        "each person brings",
    ),
    "no such column": ('"privacy_budget"', '"privacy_budge"', "did you mean"),
    "text": ("{ min = 0, max = 1, step = 0.1 }", '{ values = ["much"] }', "numbers with min = 0"),
    "min above 0": ("min = 0, max = 1, step = 0.1", "min = 0.1, max = 1, step = 0.1", "numbers with min = 0"),
    "negative": ("min = 0, max = 1, step = 0.1", "min = -1, max = 1, step = 0.1", "numbers with min = 0"),
    "too much": ("max = 1, step = 0.1", "max = 1001", "above a thousand"),
    "too many levels": ("step = 0.1", "step = 0.0001", "10,000 levels"),
    "too fine": ("max = 1, step = 0.1", 'max = "0.000000001", step = "0.000000001"', "ten nano"),
    "no roster": ('budget_roster = { table = "roster", column = "eps" }', "", "`budget_roster` is missing"),
    "a roster alone": ('budget_column = "privacy_budget"', 'budget = "1"', "declares no budget_column"),
    "no such table": ('table = "roster"', 'table = "rosters"', "no such public table"),
    "no column named": (', column = "eps"', "", "`column` is missing"),
    "a field too many": ('column = "eps"', 'column = "eps", row = "x"', "unknown field `row`"),
    "rows that disagree": ("budget_column", 'unit = "id"\nbudget_column', "fixed = true"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    old, new, said = REFUSED[case]
    with pytest.raises(DeclarationError, match=said):
        declared(old, new)


def test_two_accounts_of_one_name_are_refused():
    twin = '[tables."personal:patients"]\nbudget = "1"\ncolumns.x = { text = true }\n[public_tables.roster]'
    with pytest.raises(DeclarationError, match="account has the same name"):
        declared("[public_tables.roster]", twin)


def test_a_stream_of_such_a_table_is_refused():
    stream = (
        '[streams.wards]\nseries = ["eye"]\ntable = "patients"\nstate = "ward"\ntime = "day"\nepsilon = "0.1"\n'
        'budget = "1"\nstep_seconds = 3600\nstart = 2024-01-01T00:00:00Z\n[public_tables.roster]'
    )
    with pytest.raises(DeclarationError, match=r"streams\.wards"):
        declared("[public_tables.roster]", stream)


STEPS = st.sampled_from([Fraction(1, n) for n in (1, 3, 7, 10, 1000)] + [Fraction(3, 10), Fraction(1, 5)])


@given(STEPS, st.integers(1, 1000), st.floats(0, 1000, allow_nan=False))
@example(Fraction(1, 10), 10, 0.05)
@example(Fraction(1, 10), 10, math.nextafter(0.05, 0))
@example(Fraction(3, 10), 3, math.nextafter(0.45, 0))
def test_a_code_never_stands_for_more_than_was_written(step, highest, written):
    """Placed by the sources' own arithmetic, in doubles."""
    grid = Grid(Fraction(0), min(highest * step, Fraction(1000) // step * step), step)
    own = OwnBudgets("x", grid, BudgetRoster("t", "c"))
    code = place(grid, min(written, float(grid.maximum)))
    if code >= 1:
        assert Fraction(own.nano(code), NANO) <= Fraction(written)


def test_what_is_given_up_is_half_a_step():
    own = declared().tables["patients"].own_budgets
    assert own.nano(10) == 950_000_000 - 1
    assert own.nano(1) == 50_000_000 - 1
