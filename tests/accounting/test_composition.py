"""Composition against brute force over every row of small domains."""

import json
from fractions import Fraction

import numpy as np
import pytest
from accounting.brute_force import account_by_rows

from thresher.accounting import Region, RegionLosses, account_loss, added, loss_after, safe_sum
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

EVERYTHING = Region.everything()
# Values that conditions mention, and the rows that tell all cells apart: also between, below, above, and elsewhere.
CONSTANTS = {
    "age": [Fraction(0), Fraction(1), Fraction(2)],
    "building": ["A", "B", "C"],
    "day": ["2024-01-01", "2024-01-02", "2024-01-03"],
}
ROWS = {
    "age": [Fraction(half, 2) for half in range(-1, 6)],
    "building": ["A", "B", "C", "elsewhere"],
    "day": ["2023", "2024-01-01", "2024-01-01~", "2024-01-02", "2024-01-02~", "2024-01-03", "2025"],
}


def losses(where, columns, amounts):
    return RegionLosses(where, columns, tuple((key, Epsilon.from_nano(nano)) for key, nano in amounts.items()))


def random_release(rng, names):
    """Conditions that some row satisfies, grouping columns, and an amount for some of the keys."""
    while True:
        conditions = []
        for name in names:
            for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.5 else 0):
                operators = ["=", "in"] if name == "building" else ["=", "in", "<", "<=", ">", ">="]
                compare = str(rng.choice(operators))
                picked = [CONSTANTS[name][int(i)] for i in rng.choice(3, int(rng.integers(1, 3)), replace=False)]
                conditions.append((name, compare, picked if compare == "in" else picked[0]))
        try:
            where = Region.where(conditions)
        except ArgumentError:
            continue
        break
    columns = tuple(str(name) for name in rng.permutation(names)[: int(rng.integers(0, min(len(names), 2) + 1))])
    keys = [()]
    for name in columns:
        keys = [(*key, value) for key in keys for value in CONSTANTS[name]]
    chosen = rng.choice(len(keys), int(rng.integers(1, len(keys) + 1)), replace=False)
    amounts = {keys[int(i)]: int(rng.integers(0, 6)) for i in chosen}
    return conditions, columns, amounts, losses(where, columns, amounts)


def random_accounts(seed, number):
    rng = np.random.default_rng(seed)
    for i in range(number):
        names = [str(name) for name in rng.permutation(sorted(CONSTANTS))[: int(rng.integers(1, 4))]]
        releases = [random_release(rng, names) for _ in range(int(rng.integers(1, 7)))]
        rows = {name: ROWS[name] for name in names}
        yield i, [release[:3] for release in releases], [release[3] for release in releases], rows


def test_equals_brute_force_over_every_row():
    for i, releases, entries, rows in random_accounts(21, 5000):
        account = account_loss(entries)
        assert account.exact
        assert account.loss.nano == account_by_rows(releases, rows), (i, entries)
        assert account.loss <= safe_sum(entries)


@pytest.mark.parametrize("limit", [0, 5, 20])
def test_a_search_that_runs_out_is_never_below(limit):
    bounds = 0
    for i, releases, entries, rows in random_accounts(22, 600):
        account, truth = account_loss(entries, work_limit=limit), account_by_rows(releases, rows)
        assert account.loss.nano >= truth, (i, entries)
        assert account.loss <= safe_sum(entries)
        assert not account.exact or account.loss.nano == truth
        bounds += not account.exact
    assert bounds > 0


def test_order_does_not_matter():
    rng = np.random.default_rng(23)
    for _, _, entries, _ in random_accounts(23, 200):
        shuffled = [entries[int(i)] for i in rng.permutation(len(entries))]
        for limit in (3, 10**6):
            assert account_loss(entries, work_limit=limit) == account_loss(shuffled, work_limit=limit)


def test_within_a_region_equals_brute_force_inside_it():
    rng = np.random.default_rng(24)
    for i, releases, entries, rows in random_accounts(24, 500):
        conditions, _, _, inside = random_release(rng, sorted(rows))
        clipped = [([*conditions, *mine], columns, amounts) for mine, columns, amounts in releases]
        account = account_loss(entries, within=inside.where)
        assert account.exact
        assert account.loss.nano == account_by_rows(clipped, rows), i


def test_the_example_of_the_paper():
    first = losses(EVERYTHING, ("p",), {("1",): 100_000_000, ("2",): 500_000_000})
    second = losses(EVERYTHING, ("p",), {("1",): 500_000_000, ("2",): 100_000_000})
    assert account_loss([first, second]).loss == Epsilon("0.6")
    assert safe_sum([first, second]) == Epsilon("1")


def test_sequential_parallel_and_refinement():
    a, b = (losses(Region.where([("building", "=", name)]), (), {(): 5}) for name in "AB")
    minors = losses(Region.where([("age", "<", 18)]), (), {(): 3})
    assert account_loss([a, a]).loss.nano == 10
    assert account_loss([a, b]).loss.nano == 5
    assert account_loss([a, b, minors]).loss.nano == 8
    assert account_loss([a, b, minors], within=Region.where([("building", "=", "C")])).loss.nano == 3
    assert account_loss([]).loss == Epsilon(0)


def test_pairwise_overlap_is_not_common_overlap():
    """Three boxes that meet two by two but nowhere all three: only the refinement sees that two is the most."""
    pairs = [("A", "B"), ("B", "C"), ("A", "C")]
    entries = [losses(Region.where([("building", "in", pair)]), (), {(): 1}) for pair in pairs]
    assert account_loss(entries).loss.nano == 2


def test_mixed_kinds_prove_nothing_and_say_so():
    number, text = (losses(Region.where([("x", "=", value)]), (), {(): 4}) for value in (1, "2"))
    account = account_loss([number, text])
    assert (account.loss.nano, account.exact) == (8, False)
    with pytest.raises(ArgumentError, match="all texts or all numbers"):
        losses(EVERYTHING, ("x",), {(Fraction(1),): 3, ("1",): 5})
    assert account_loss([number], within=Region.where([("x", "=", "2")])).loss.nano == 4
    time_of_day = losses(Region.where([("d", "=", "2024-01-01 12:00")]), (), {(): 1})
    days = losses(Region.where([("d", "<", "2023-01-01")]), (), {(): 1})
    assert account_loss([time_of_day, days]).loss.nano == 2


def test_a_column_that_was_text_and_is_numbers_now_is_paid_for_twice():
    """They may be the same groups, so a book keeps both, and charges their sum."""
    text, number = losses(EVERYTHING, ("x",), {("1",): 3}), losses(EVERYTHING, ("x",), {(Fraction(1),): 5})
    kept = added([text, number, number])
    assert sorted(str(loss.largest.nano) for loss in kept) == ["10", "3"]
    assert account_loss(kept).loss.nano == 13


def test_many_releases_over_the_same_groups_stay_exact_and_quick():
    keys = [(f"b{i}", f"d{j}") for i in range(50) for j in range(20)]
    rng = np.random.default_rng(25)
    table = rng.integers(1, 1000, (100, len(keys)))
    entries = [losses(EVERYTHING, ("building", "disease"), dict(zip(keys, row.tolist(), strict=True))) for row in table]
    entries += [losses(Region.where([("age", "<", i), ("building", "=", f"b{i}")]), (), {(): 7}) for i in range(50)]
    account = account_loss(entries)
    sums = table.sum(axis=0)
    assert account.exact
    assert account.loss.nano == int(sums.max()) + 7


def test_a_hard_refinement_falls_back_safely():
    rng = np.random.default_rng(26)
    names = [f"c{i}" for i in range(12)]
    entries = []
    for _ in range(60):
        picked = rng.choice(12, 4, replace=False)
        said = [(names[int(i)], "in", [f"v{int(v)}" for v in rng.choice(8, 4, replace=False)]) for i in picked]
        entries.append(losses(Region.where(said), (), {(): int(rng.integers(1, 100))}))
    account = account_loss(entries, work_limit=5000)
    assert not account.exact
    assert account_loss([entries[0]]).loss <= account.loss <= safe_sum(entries)
    assert str(account).startswith("at most ")


def test_loss_after_is_the_account_with_the_new_release():
    for _, _, entries, _ in random_accounts(27, 200):
        assert loss_after(entries[:-1], entries[-1:]) == account_loss(entries)
    number, text = (losses(Region.where([("x", "=", value)]), (), {(): 4}) for value in (1, "2"))
    other = losses(Region.where([("x", "=", 3)]), (), {(): 4})
    # Text beside numbers undoes every proof, but what was proved before can be added to.
    assert account_loss([number, other, text]).loss.nano == 12
    assert loss_after([number, other], [text]).loss.nano == 8


def test_regions_of_a_release():
    release = losses(Region.where([("b", "in", ["A", "B"])]), ("b",), {("A",): 1, ("C",): 2})
    assert [(str(region), amount.nano) for region, amount in release.regions()] == [("b = 'A'", 1)]
    assert account_loss([release]).loss.nano == 1
    assert json.dumps(next(release.regions())[0].to_json()) == '{"b": {"values": ["A"]}}'


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: account_loss([Epsilon(1)]), "entries"),
        (lambda: RegionLosses(EVERYTHING, ("b",), ()), "amounts"),
        (lambda: RegionLosses(EVERYTHING, ("b",), ((("A",), 0.5),)), "amount"),
        (lambda: RegionLosses(EVERYTHING, ("b",), ((("A",), True),)), "amount"),
        (lambda: RegionLosses(EVERYTHING, ("b",), ((("A", "B"), Epsilon(1)),)), "key"),
        (lambda: RegionLosses(EVERYTHING, ("b",), (("A", Epsilon(1)),)), "key"),
        (lambda: RegionLosses(EVERYTHING, ("b",), ((("A",), Epsilon(1)), (("A",), Epsilon(1)))), "key"),
        (lambda: RegionLosses(EVERYTHING, ("b", "b"), ((("A", "B"), Epsilon(1)),)), "columns"),
        (lambda: RegionLosses(EVERYTHING, "b", ((("A",), Epsilon(1)),)), "columns"),
        (lambda: losses(EVERYTHING, (), {(): -1}), "epsilon"),
    ],
)
def test_bad_entries_are_refused(build, field):
    with pytest.raises(ArgumentError) as refusal:
        build()
    assert refusal.value.field == field
