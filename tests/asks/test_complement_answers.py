"""A promise about false alarms is one about the complement, and both see the same truth, empty groups included.

An average of nothing satisfies no comparison, as in SQL, and so does not satisfy its complement's complement either:
whatever is bounded, a group is in one of the two lists. Checked on exact numbers, against DuckDB's HAVING.
"""

import duckdb
import pyarrow as pa
import pytest

from thresher.asks.decision import DecisionAsk
from thresher.asks.desk import Desk
from thresher.config import read
from thresher.decisions.decision_plan import truth_of
from thresher.sources import open_source

DECLARED = """
[source]
url = "memory://"
[tables.stays]
count_range = 100
budget = "1000"
[tables.stays.columns]
ward = { values = ["old", "young", "even", "unknown", "empty", "smokers"] }
age = { min = -10, max = 110 }
smoker = { values = [true, false] }
"""
GROUPS = ["old", "young", "even", "unknown", "empty", "smokers"]
ROWS = [
    *[("old", 70, False), ("old", 31, True)],
    *[("young", 3, False), ("young", -2, False)],
    *[("even", 30, False), ("even", 30, True)],
    *[("unknown", None, True), ("unknown", None, False)],
    *[("smokers", 10, False), ("smokers", 80, True)],
]
CONDITIONS = [
    *[
        f"{negation}AVG(age) {sign} {line}"
        for negation in ("", "NOT ")
        for sign in [">", ">=", "<", "<="]
        for line in (30, 0)
    ],
    *[f"AVG(age) FILTER (WHERE smoker) {sign} 50" for sign in [">", ">=", "<", "<="]],
    "AVG(age) BETWEEN 20 AND 60",
    "NOT (AVG(age) BETWEEN 20 AND 60)",
    "NOT (AVG(age) < 30 OR COUNT(*) > 1)",
    "NOT (AVG(age) < 30 AND COUNT(*) < 1)",
    "AVG(age) >= 30 OR SUM(age) < 0",
]


@pytest.fixture(scope="module")
def table():
    names = ("ward", "age", "smoker")
    return pa.table({name: [row[place] for row in ROWS] for place, name in enumerate(names)})


@pytest.fixture(scope="module")
def source(table, tmp_path_factory):
    opened = open_source(read(DECLARED, tmp_path_factory.mktemp("folder")), {"stays": table})
    yield opened
    opened.close()


@pytest.mark.parametrize("bound", ["misses", "false_alarms"])
@pytest.mark.parametrize("having", CONDITIONS)
def test_both_directions_see_what_sql_says(having, bound, source, table, tmp_path):
    desk = Desk(read(DECLARED, tmp_path), {}, None)
    sql = f"SELECT ward FROM stays GROUP BY ward HAVING {having}"
    options = {"bound": bound, "uncertain_region": "1", "mechanism": "tslm"}
    plan = DecisionAsk(sql, options).plan(desk)
    margins = truth_of(plan.asked, source.fetch(plan.need)).margins(plan.look.scale)
    # A margin of 0 or more satisfies what is measured, which is the complement where false alarms are bounded.
    holds = (margins >= 0) == (bound == "misses")
    with duckdb.connect() as connection:
        connection.register("stays", table)
        known = {name for (name,) in connection.execute(sql).fetchall()}
        # The empty group has no row to be grouped: SQL says of it what it says of one whose rows are all left out.
        empty = connection.execute(f"SELECT 1 FROM stays WHERE FALSE HAVING {having}").fetchall()
    expected = known | ({"empty"} if empty else set())
    assert {name for name, holding in zip(GROUPS, holds.tolist(), strict=True) if holding} == expected


def test_the_conditions_tell_the_groups_apart(source, tmp_path):
    """Power: negating the parser's tree, with SQL's third truth value, would differ at the empty group."""
    desk = Desk(read(DECLARED, tmp_path), {}, None)
    plans = [
        DecisionAsk(f"SELECT ward FROM stays GROUP BY ward HAVING {having}", {"uncertain_region": "1"}).plan(desk)
        for having in ("AVG(age) < 30", "NOT (AVG(age) < 30)")
    ]
    below, negated = ((truth_of(p.asked, source.fetch(p.need)).margins(p.look.scale) >= 0).tolist() for p in plans)
    neither = [name for name, one, other in zip(GROUPS, below, negated, strict=True) if not one and not other]
    assert neither == ["unknown", "empty"]
