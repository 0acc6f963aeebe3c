"""Hierarchies: paths add up, decisions follow from what is released, neighbours are aligned at the price of a path."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p
from streams.given_noise import GivenNoise

from thresher.amounts import NANO, Epsilon
from thresher.errors import ArgumentError, BugError
from thresher.noise import NOT_PRIVATE, SeededEntropy, SystemEntropy
from thresher.streams import group_deviation
from thresher.streams import grouper as grouper_module
from thresher.streams import hierarchy as module
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.hierarchy_terms import as_precise_nano, hierarchy_terms, noise_precision, path_epsilon
from thresher.streams.step_release import ALONE, JOINS, OPENS, NoisyStep
from thresher.streams.tree import Tree

PAIR = Tree.of({"all": ["one", "two"]})
CAMPUS = Tree.of({"campus": ["north", "south"], "south": ["gym", "pool"], "north": ["hall", "library", "lab"]})
CHAIN = Tree.of({f"level {i}": [f"level {i + 1}"] for i in range(1, 8)})
RULES = ("estimate", "history")
# At this epsilon noise is other than 0 with probability below 1e-100.
SILENT = 800


def binary(levels):
    places = [(depth, i) for depth in range(levels - 1) for i in range(2**depth)]
    return Tree.of({f"{d}.{i}": [f"{d + 1}.{2 * i}", f"{d + 1}.{2 * i + 1}"] for d, i in places})


def numbers(drawn):
    return [None if part is None else part.tolist() for part in (getattr(drawn, name) for name in NoisyStep.__slots__)]


# Without noise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["0", "0.2"])
@pytest.mark.parametrize("prune", ["none", *RULES])
def test_without_noise_and_a_cutoff_of_nothing_counts_are_exact(prune, share, entropy):
    counts = np.random.default_rng(1).integers(0, 50, (30, 5))
    tree = Hierarchy(CAMPUS, SILENT, share, prune=prune, cutoff=0, entropy=entropy)
    drawn = tree.steps(counts)
    assert np.array([step.noisy for step in drawn]).tolist() == CAMPUS.sums(counts).tolist()
    assert all(step.nano is None or step.nano.min() > 0 for step in drawn)
    for step, known in zip(drawn, CAMPUS.sums(counts), strict=True):
        values, weights = tree.combined(step)
        assert values.tolist() == pytest.approx(known.tolist())
        assert weights.tolist() == pytest.approx([tree.terms.count_nano] * 8)


@pytest.mark.parametrize("share", ["0", "0.2"])
def test_a_small_node_is_measured_again_and_what_lies_below_is_not_looked_at(share, entropy):
    tree = Hierarchy(CAMPUS, 900, share, prune="estimate", cutoff=10, entropy=entropy)
    (step,) = tree.steps(np.array([[3, 4, 2, 40, 50]]))
    share_nano = tree.terms.group_nano
    count, level = tree.terms.count_nano, tree.terms.count_nano + share_nano
    assert step.noisy.tolist() == [99, 9, 90, 0, 0, 0, 40, 50]
    assert step.nano.tolist() == [count, count, count, 0, 0, 0, count, count]
    assert step.more.tolist() == [0, 9, 0, 0, 0, 0, 0, 0]
    assert step.more_nano.tolist() == [0, level, 0, 0, 0, 0, 0, 0]
    assert tree.combined(step)[0].tolist() == pytest.approx(step.noisy.tolist())
    assert (tree.combined(step)[1] == 0).tolist() == (step.nano == 0).tolist()
    if share != "0":
        assert step.marks.tolist() == [OPENS, OPENS, OPENS, JOINS, JOINS, JOINS, OPENS, OPENS]


def test_history_decides_by_the_steps_before(entropy):
    tree = Hierarchy(CAMPUS, 900, 0, prune="history", cutoff=10, entropy=entropy)
    quiet, busy = [3, 4, 2, 40, 50], [30, 40, 20, 40, 50]
    first, second, third, fourth = tree.steps(np.array([quiet, quiet, busy, busy]))
    count, level = tree.terms.count_nano, tree.terms.count_nano
    assert first.nano.tolist() == [count] * 8
    assert second.nano.tolist() == third.nano.tolist() == [count, count + level, count, 0, 0, 0, count, count]
    assert third.noisy.tolist() == [180, 90, 90, 0, 0, 0, 40, 50]
    assert fourth.noisy.tolist() == [180, 90, 90, *busy]
    assert all(step.more is None and step.more_nano is None for step in (first, second, third, fourth))


# What a path costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["0", "0.2"])
@pytest.mark.parametrize("prune", RULES)
@pytest.mark.parametrize("level", range(1, 9))
def test_a_path_costs_the_same_wherever_it_is_pruned(level, prune, share, entropy):
    """Eight levels; the node of that level is told to be small. A prune at the leaves is none."""
    tree = Hierarchy(CHAIN, SILENT, share, prune=prune, cutoff=10, entropy=entropy)
    part, group = Fraction(SILENT, 8), Fraction(SILENT, 8) * Fraction(share)
    tree._precision[:], tree._weighed[:] = 1.0, 1000.0
    tree._weighed[level - 1] = 0.0
    if prune == "estimate":  # it decides by this step
        tree._below_cutoff = lambda at, looked_at: looked_at & (at == level < 8)
    (step,) = tree.steps(np.array([[100]]))
    looked_at = level if level < 8 else 8
    assert (step.nano > 0).tolist() == [True] * looked_at + [False] * (8 - looked_at)
    assert path_epsilon(CHAIN, tree.terms, step) == (Epsilon(SILENT),) == (tree.epsilon,)
    perturbed = step.nano[level - 1] + (0 if step.more_nano is None else step.more_nano[level - 1])
    assert perturbed == ((8 - level + 1) * part - group) * NANO


@pytest.mark.parametrize("epsilon", ["1", "0.1", "0.01", "0.000001", Fraction(1, 7)])
@pytest.mark.parametrize("height", [2, 3, 7, 8])
def test_a_path_never_costs_more_than_was_asked_for_and_hardly_less(height, epsilon):
    for share in ("0", "0.2", "0.333"):
        terms = hierarchy_terms(height, epsilon, share)
        short = Fraction(epsilon) - terms.epsilon.fraction
        assert 0 <= short < Fraction(2 * height, NANO)
        assert abs(Fraction(share) * Fraction(epsilon) - Fraction(height * terms.group_nano, NANO)) < height / NANO


@pytest.mark.parametrize("share", ["0", "0.2"])
@pytest.mark.parametrize("prune", ["none", *RULES])
def test_every_path_of_every_step_sums_to_epsilon(prune, share, entropy):
    tree = Hierarchy(binary(5), "0.5", share, prune=prune, entropy=entropy)
    drawn = tree.steps(np.random.default_rng(3).poisson(2, (60, 16)))
    for step in drawn:
        assert set(path_epsilon(tree.tree, tree.terms, step)) == {tree.epsilon} == {Epsilon("0.5")}
    if prune != "none":
        looked_at = np.array([step.nano > 0 for step in drawn])
        assert 0.05 < looked_at.mean() < 0.95  # something is pruned and something is not


def test_the_cutoff_is_one_deviation_of_a_count():
    assert hierarchy_terms(8, "0.1", "0.2").cutoff == pytest.approx(math.sqrt(2) * 8 / 0.08)
    assert hierarchy_terms(8, "0.1", "0.2").cutoff == pytest.approx(141.42, abs=0.01)
    assert hierarchy_terms(8, "0.1", cutoff="12.5").cutoff == 12.5


# Privacy, exactly ----------------------------------------------------------------------------------------------------


def run(monkeypatch, make, counts, seed, moves=None, blocks=None):
    """All that is released under given noise, and the rates of the sources."""
    given = GivenNoise(seed, spread=6, moves=moves)
    with monkeypatch.context() as patch:
        patch.setattr(module, "NoiseAhead", given)
        patch.setattr(grouper_module, "NoiseAhead", GivenNoise(seed + 1, spread=6))
        tree = make()
        parts = [counts] if blocks is None else np.split(counts, blocks)
        return [step for part in parts for step in tree.steps(part)], given


def paid_for(tree, terms, drawn, step, leaf):
    """The noises on the path to a leaf that a step says were used: {(source, step, column): rate in nano}."""
    found = {}
    for level, node in enumerate(tree.paths()[leaf], start=1):
        inside, count = int(node) - tree.starts[level - 1], int(drawn.nano[node])
        if count:
            found[(level, step, inside) if count > terms.count_nano else (0, step, int(node))] = count
        if drawn.more_nano is not None and drawn.more_nano[node]:
            found[level, step, inside] = int(drawn.more_nano[node])
    return found


def aligned(monkeypatch, make, tree, seed):
    """Whether, for all neighbours of some counts, moving the noises that were paid for gives the same release."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (3, len(tree.leaves)))
    here, given = run(monkeypatch, make, counts, seed)
    for leaf in range(len(tree.leaves)):
        for step, sign in ((0, 1), (1, -1), (2, 1)):
            there = counts.copy()
            there[step, leaf] += sign
            bill = paid_for(tree, make().terms, here[step], step, leaf)
            rates = {place: int(given.made[place[0]].rate * NANO) for place in bill}
            assert bill == rates  # what a record says is what was drawn
            assert Epsilon.from_nano(sum(rates.values())) == path_epsilon(tree, make().terms, here[step])[leaf]
            moved, _ = run(monkeypatch, make, there, seed, dict.fromkeys(bill, -sign))
            if [numbers(row) for row in moved] != [numbers(row) for row in here]:
                return False
    return True


@pytest.mark.parametrize("prune", RULES)
@pytest.mark.parametrize("tree", [PAIR, CAMPUS, binary(4)], ids=["pair", "campus", "binary"])
def test_neighbours_release_the_same_at_the_price_of_a_path(tree, prune, monkeypatch):
    """Whatever the noise, moving by one each noise on the path that was used, and no other, hides the unit."""
    for seed in range(12):
        assert aligned(monkeypatch, lambda: Hierarchy(tree, 4, 0, prune=prune, cutoff=6), tree, seed)


class Truthful(Hierarchy):
    """What is wrong: true counts decide."""

    def _pruned(self, known, noisy, better):
        self.known = known
        return super()._pruned(known, noisy, better)

    def _below_cutoff(self, level, looked_at):
        return looked_at & (self.known[self.tree.level(level)] < self.terms.cutoff) & (level < self.tree.height)


def test_if_truth_decides_neighbours_are_told_apart(monkeypatch):
    def make():
        return Truthful(CAMPUS, 4, 0, prune="estimate", cutoff=6)

    assert not all(aligned(monkeypatch, make, CAMPUS, seed) for seed in range(12))


def law_of(tree, counts, cutoff):
    """The law of one step of the pair under the rule `estimate`, by all noises up to a size: {released: chance}."""
    rates = [tree.terms.count_nano / NANO, tree.terms.saved_nano(1) / NANO]
    found = {}
    reach = range(-12, 13)
    pmf = [[(1 - math.exp(-r)) / (1 + math.exp(-r)) * math.exp(-r * abs(x)) for x in reach] for r in rates]
    for x, at_x in zip(reach, pmf[0], strict=True):
        root = sum(counts) + x
        for y, at_y in zip(reach, pmf[1] if root < cutoff else pmf[0], strict=True):
            if root < cutoff:
                found[root, sum(counts) + y, None] = at_x * at_y
            else:
                for z, at_z in zip(reach, pmf[0], strict=True):
                    found[root, counts[0] + y, counts[1] + z] = at_x * at_y * at_z
    return found


def test_the_law_of_two_leaves_is_the_enumerated_one_and_loses_epsilon(entropy, trials):
    """Each released root, and each second count, as often as enumerated; losses of all outputs are epsilon at most."""
    counts, more, cutoff = (1, 0), (2, 0), 2
    tree = Hierarchy(PAIR, 2, 0, prune="estimate", cutoff=cutoff, entropy=entropy)
    here, there = law_of(tree, counts, cutoff), law_of(tree, more, cutoff)
    assert sum(here.values()) == pytest.approx(1, abs=1e-4)
    losses = [abs(math.log(here[o] / there[o])) for o in here.keys() & there.keys()]
    assert max(losses) == pytest.approx(2, abs=1e-9)
    runs = trials(6_000, 80_000)
    drawn = tree.steps(np.tile(counts, (runs, 1)))
    seen = {}
    for step in drawn:
        pruned = step.nano[1] == 0
        key = (int(step.noisy[0]), *((int(step.more[0]), None) if pruned else map(int, step.noisy[1:])))
        seen[key] = seen.get(key, 0) + 1
    likely = {o: p for o, p in here.items() if p * runs > 20}
    assert len(likely) > 20
    statistic = sum((seen.get(o, 0) - p * runs) ** 2 / (p * runs) for o, p in likely.items())
    wrong = sum((seen.get(o, 0) - there.get(o, 0) * runs) ** 2 / (p * runs) for o, p in likely.items())
    # Chi-square with fewer degrees than this: above it with probability below 1e-6; another law is far above.
    assert statistic < len(likely) + 5 * math.sqrt(2 * len(likely)) + 25 < wrong / 5


# Decisions follow from records ---------------------------------------------------------------------------------------


def decided_from_records(tree, drawn, prune, cutoff):
    """Which nodes are looked at in each step, by released numbers only, written down independently."""
    groups, found = {}, []
    for step in drawn:
        looked_at = {0}
        for node in range(len(tree.names)):
            if node not in looked_at:
                continue
            before = groups.get(node)
            if step.marks is None or step.marks[node] != JOINS:
                groups[node] = []
            groups[node].append((step.noisy[node], step.nano[node]))
            small = before and mean(before) < cutoff if prune == "history" else mean(groups[node]) < cutoff
            if prune == "history" and before is not None and groups[node] is before:
                small = mean(before[:-1]) < cutoff
            if small and step.more_nano is not None and node < tree.starts[-2]:
                groups[node].append((step.more[node], step.more_nano[node]))
            if not small:
                looked_at |= {child for child, parent in enumerate(tree.parents) if parent == node}
        found.append(sorted(looked_at))
    return found


def mean(group):
    weights = [2 * math.sinh(nano / NANO / 2) ** 2 for _, nano in group]
    return sum(w * count for w, (count, _) in zip(weights, group, strict=True)) / sum(weights)


@pytest.mark.parametrize("share", ["0", "0.3"])
@pytest.mark.parametrize("prune", RULES)
def test_who_is_looked_at_follows_from_what_was_released(prune, share, entropy):
    tree = binary(4)
    busy = np.random.default_rng(5).poisson(np.arange(8) * 3, (200, 8))
    hierarchy = Hierarchy(tree, 1, share, 30 if share != "0" else None, prune, entropy=entropy)
    drawn = hierarchy.steps(busy)
    expected = decided_from_records(tree, drawn, prune, hierarchy.terms.cutoff)
    assert [np.flatnonzero(step.nano).tolist() for step in drawn] == expected
    assert len({tuple(row) for row in expected}) > 5
    if share != "0":
        assert {int(mark) for step in drawn for mark in step.marks} == {JOINS, OPENS, ALONE}


# Laws of a stream object ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["0", "0.3"])
@pytest.mark.parametrize("prune", ["none", *RULES])
def test_blocks_are_of_no_account(prune, share, monkeypatch):
    counts = np.random.default_rng(2).poisson(3, (24, 5))

    def make():
        return Hierarchy(CAMPUS, 2, share, prune=prune)

    whole, _ = run(monkeypatch, make, counts, 9)
    parts, _ = run(monkeypatch, make, counts, 9, blocks=[1, 2, 3, 10, 11])
    assert [numbers(step) for step in whole] == [numbers(step) for step in parts]


@pytest.mark.parametrize("share", ["0", "0.3"])
@pytest.mark.parametrize("prune", ["none", *RULES])
def test_a_restored_hierarchy_goes_on_as_the_first_would_have(prune, share, monkeypatch):
    counts = np.random.default_rng(4).poisson(3, (30, 5))
    first, second = GivenNoise(7), GivenNoise(7)

    def made(given):
        monkeypatch.setattr(module, "NoiseAhead", given)
        monkeypatch.setattr(grouper_module, "NoiseAhead", given)
        return Hierarchy(CAMPUS, 2, share, 40 if share != "0" else None, prune)

    one = made(first)
    one.steps(counts[:20])
    kept = one.secrets()
    assert one.secrets() == kept  # reading changes nothing
    other = made(second)
    for source in second.made:  # the same noise from here on; what was before was another's
        while source.step < first.made[source.number].step:
            source.take(1)
    other.restore(kept)
    assert [numbers(step) for step in one.steps(counts[20:])] == [numbers(step) for step in other.steps(counts[20:])]


def test_closing_opens_groups_everywhere(entropy):
    tree = Hierarchy(CAMPUS, 1, "0.5", theta=10**6, entropy=entropy)
    zeros = np.zeros((5, 5), dtype=np.int64)
    assert tree.steps(zeros)[-1].marks.tolist() == [JOINS] * 8
    tree.close()
    after = tree.steps(zeros)
    assert after[0].marks.tolist() == [OPENS] * 8
    assert after[1].marks.tolist() == [JOINS] * 8


def test_secrets_of_another_tree_are_refused():
    one, other = Hierarchy(CAMPUS, 1), Hierarchy(PAIR, 1)
    for secrets in (other.secrets(), b"", one.secrets()[:-1], one.secrets() + b"x", Hierarchy(CAMPUS, 1, 0).secrets()):
        with pytest.raises(BugError):
            one.restore(secrets)


def test_a_node_that_is_not_looked_at_leaves_its_group_as_it_is(monkeypatch):
    """Marks of a series with steps left out are those of the series without these steps."""
    # The same loop as Python: to compile it takes seconds.
    monkeypatch.setattr(group_deviation, "_advance", inspect.unwrap(group_deviation._advance))
    rng = np.random.default_rng(6)
    counts, cutoffs, noise = (rng.integers(0, high, (80, 3)) for high in (9, 40, 5))
    present = rng.random((80, 3)) < 0.5
    masked = np.where(present, counts, grouper_module.NOT_LOOKED_AT)
    for groups in (grouper_module.LoopGroups, grouper_module.ArrayGroups):
        marks = groups([None] * 3, 1000).advanced(masked, cutoffs, noise)
        assert (marks[~present] == JOINS).all()
        for series in range(3):
            kept = present[:, series]
            alone = groups([None], 1000).advanced(*(part[kept][:, [series]] for part in (counts, cutoffs, noise)))
            assert marks[kept, series].tolist() == alone[:, 0].tolist()
            assert {JOINS, OPENS, ALONE} == set(alone[:, 0].tolist())


# The noises ----------------------------------------------------------------------------------------------------------


def test_counts_have_the_noise_of_their_level(entropy, trials):
    """Chi-square, false failure 1e-6 each; a tenth off is rejected."""
    steps = trials(60_000, 400_000)
    tree = Hierarchy(PAIR, "0.4", "0.5", entropy=entropy)
    drawn = tree.steps(np.tile([3, 4], (steps // 3, 1)))
    noise = np.array([step.noisy for step in drawn]) - [7, 3, 4]
    assert_fits(laplace_p(noise.ravel(), 10))
    assert_rejected(laplace_p(noise.ravel(), 11))


@pytest.mark.parametrize(("prune", "scales"), [("estimate", (15, 7.5)), ("history", (5, None))])
def test_what_is_measured_with_what_was_saved_has_less_noise(prune, scales, entropy, trials):
    """Three levels, all pruned below the root: a third of epsilon first and two thirds then, or all of it at once."""
    tree = Hierarchy(CAMPUS, "0.2", 0, prune=prune, cutoff=10**9, entropy=entropy)
    drawn = tree.steps(np.zeros((trials(8_000, 300_000), 5), dtype=np.int64))[1:]
    assert_fits(laplace_p(np.array([step.noisy[0] for step in drawn]), scales[0]))
    assert laplace_p(np.array([step.noisy[0] for step in drawn]), scales[0] * 1.3) < 1e-9
    if scales[1]:
        assert_fits(laplace_p(np.array([step.more[0] for step in drawn]), scales[1]))
        values = np.array([tree.combined(step)[0][0] for step in drawn[:4_000]])
        # The variance of both together; 6 deviations of a sample variance with kurtosis below 6.
        expected = 1 / (noise_precision(drawn[0].nano)[0] + noise_precision(drawn[0].more_nano)[0])
        assert values.var() == pytest.approx(expected, rel=6 * math.sqrt(5 / 4_000))
        assert tree.combined(drawn[0])[1][0] == pytest.approx(math.hypot(1 / 15, 1 / 7.5) * NANO, rel=1e-3)


def test_precision_is_one_over_the_variance_and_back():
    for nano in (1, 10**6, 5 * 10**8, 3 * 10**9):
        p = math.exp(-nano / NANO)
        found = noise_precision(np.array([nano, 0]))
        assert found[0] == pytest.approx((1 - p) ** 2 / (2 * p), rel=1e-6)
        assert found[1] == 0
        assert as_precise_nano(found).tolist() == [nano, 0]


def test_seeded_releases_are_stamped():
    assert Hierarchy(PAIR, 1, entropy=SeededEntropy(1)).stamp == NOT_PRIVATE
    assert Hierarchy(PAIR, 1).stamp == ""


# Refusals ------------------------------------------------------------------------------------------------------------

BAD = [
    ("tree", lambda silent: Hierarchy({"all": ["one"]}, 1, entropy=silent)),
    ("epsilon", lambda silent: Hierarchy(PAIR, 0, entropy=silent)),
    ("epsilon", lambda silent: Hierarchy(PAIR, "nan", entropy=silent)),
    ("epsilon", lambda silent: Hierarchy(PAIR, "0.000000001", entropy=silent)),
    ("epsilon", lambda silent: Hierarchy(PAIR, 10_000, entropy=silent)),
    ("grouper_share", lambda silent: Hierarchy(PAIR, 1, 1, entropy=silent)),
    ("grouper_share", lambda silent: Hierarchy(PAIR, 1, "-0.1", entropy=silent)),
    ("theta", lambda silent: Hierarchy(PAIR, 1, theta=-1, entropy=silent)),
    ("prune", lambda silent: Hierarchy(PAIR, 1, prune="printed", entropy=silent)),
    ("prune", lambda silent: Hierarchy(PAIR, 1, prune=None, entropy=silent)),
    ("cutoff", lambda silent: Hierarchy(PAIR, 1, cutoff=float("nan"), entropy=silent)),
    ("counts", lambda silent: Hierarchy(PAIR, 1, entropy=silent).steps(np.array([[4242.5, 1.0]]))),
    ("counts", lambda silent: Hierarchy(PAIR, 1, entropy=silent).steps(np.array([[4242, 1, 2]]))),
]


@pytest.mark.parametrize(("field", "ask"), BAD)
def test_refusals_name_the_field_and_draw_nothing(field, ask):
    def never(count):
        raise AssertionError("entropy was read")

    with pytest.raises(ArgumentError) as refusal:
        ask(SystemEntropy(never))
    assert refusal.value.field == field
    assert "4242" not in str(refusal.value)
