"""The ProBE family on the reference tables, and where its false-alarm rate fails.

References were measured with continuous noise and 40 runs; here the noise is of whole numbers, runs are few and seeds
fixed, so that nothing can fail by accident. Tolerances are stated with each table.
"""

from functools import lru_cache, partial

import numpy as np
import pytest
from formula_shapes import SHAPES

from papers.probe.outliers import adversarial, at_threshold, bimodal, occ_like, uci_like
from thresher.decisions.probe.probe import naive, probe, probe_ent, probe_naive
from thresher.noise import SeededEntropy

ATOMS = {name: 1 + max(int(digit) for digit in name if digit.isdigit()) for name in SHAPES if "Q" in name}
ATOMS |= {name: int(name.lstrip("ANDOR")) for name in SHAPES if name.startswith(("AND", "OR"))}


# As in the reference, where unused misses were not handed on.
plain_ent = partial(probe_ent, redistribute=False)
FAMILY = (naive, probe_naive, probe, plain_ent)
# naive, probe-naive, probe, probe-ent
BIMODAL = {
    "AND1": (0.0192, 0.0100, 0.0100, 0.0123),
    "AND2": (0.0749, 0.0369, 0.0363, 0.0433),
    "AND3": (0.0992, 0.0478, 0.0461, 0.0542),
    "AND4": (0.2306, 0.1096, 0.1033, 0.1206),
    "AND6": (0.3241, 0.1516, 0.1454, 0.1658),
    "OR2": (0.0749, 0.0369, 0.0363, 0.0433),
    "OR3": (0.0992, 0.0478, 0.0461, 0.0542),
    "OR4": (0.2306, 0.1096, 0.1033, 0.1206),
    "OR6": (0.3241, 0.1516, 0.1496, 0.1658),
    "Q0|(Q1&Q2)": (0.0992, 0.0478, 0.0461, 0.0542),
    "(Q0|Q1)&(Q0|Q2)": (0.0992, 0.0478, 0.0490, 0.0565),
}
OCCUPANCY = {
    "AND1": (0.0192, 0.0421, 0.0421, 0.0269),
    "AND3": (0.1255, 0.4428, 0.4362, 0.2761),
    "AND6": (0.7766, 3.3123, 3.2013, 2.4718),
    "OR3": (0.1255, 0.6483, 0.6490, 0.2761),
    "Q0|(Q1&Q2)": (0.1255, None, 0.5442, 0.2761),
}


@lru_cache
def measured_on(make, shape, method, runs):
    """Mean loss of the answered runs, shares of false alarms by run, misses by run, and how many were denied."""
    tree = SHAPES[shape]
    made, entropy = make().first(ATOMS[shape]), SeededEntropy(77)
    truth, found = made.truth(tree), []
    for _ in range(runs):
        answer = method(made.arguments(tree), entropy=entropy)
        if not answer.denied:
            alarms, missed = (answer.reported & ~truth).sum(), (truth & ~answer.reported).sum()
            found.append((float(answer.epsilon), alarms / (~truth).sum(), missed / max(truth.sum(), 1)))
    losses, alarms, misses = np.array(found).reshape(-1, 3).T
    return (losses.mean() if len(losses) else None), alarms, misses, runs - len(found)


@pytest.mark.parametrize("make", [occ_like, bimodal, uci_like, at_threshold, adversarial])
def test_the_groups_are_those_of_the_reference(make):
    known = {
        occ_like: ([435, 312, 224, 129, 94, 48], 193859, [1000, 700, 500, 300, 200, 100]),
        bimodal: ([764, 381, 1525, 191, 1151, 578], 317052, [1000, 500, 2000, 250, 1500, 750]),
        uci_like: ([1185, 574, 460, 335, 278, 188], 416793, [8000, 2350, 2100, 1050, 1400, 1050]),
        at_threshold: ([500], 56000, [1000]),
        adversarial: ([1000], 385960, [1500]),
    }
    made = make()
    assert (made.thresholds.tolist(), made.counts.sum(), made.ranges.tolist()) == known[make]


class TestFewGroupsNearTheThreshold:
    """A second phase is rarely needed, and most numbers are those of the first looks: within 4 %.

    Of six conditions, some are looked at again in some runs: within 15 %, over six runs.
    """

    @pytest.mark.parametrize("shape", BIMODAL)
    def test_losses(self, shape, measured):
        runs, tolerance = (6, 0.15) if ATOMS[shape] == 6 else (2, 0.04)
        seen = [measured_on(bimodal, shape, method, runs) for method in FAMILY]
        assert [loss for loss, *_ in seen] == pytest.approx(BIMODAL[shape], rel=tolerance)
        assert not sum(denied for *_, denied in seen)
        measured(f"bimodal {shape}: {' / '.join(f'{loss:.4f}' for loss, *_ in seen)}")

    def test_orderings(self):
        """Naive dearest and growing, optimised shares cheaper than even ones, a distributed tree dearer."""
        ands = [[measured_on(bimodal, f"AND{n}", method, 2)[0] for method in FAMILY] for n in (1, 2, 3, 4)]
        for (naive_loss, even, optimised, _), more in zip(ands, [*ands[1:], None], strict=True):
            assert naive_loss > even >= optimised
            assert more is None or naive_loss < more[0]
        grouped, distributed = (
            [measured_on(bimodal, shape, method, 2)[0] for method in FAMILY]
            for shape in ("Q0|(Q1&Q2)", "(Q0|Q1)&(Q0|Q2)")
        )
        assert grouped[:2] == distributed[:2]
        assert grouped[2] < distributed[2]
        assert grouped[3] < distributed[3]


class TestManyGroupsNearTheThreshold:
    """A second phase is always needed: first two columns and ProBE within 15 %, ProBE-Ent within 40 %.

    ProBE-Ent is dearer here than in the reference: its looks keep their share of misses given all that was seen
    (`adaptive_ladder.md`), which those of the reference do not; they are wider for it, and higher levels are chosen.
    """

    @pytest.mark.parametrize("shape", OCCUPANCY)
    def test_losses(self, shape, measured):
        runs, expected = 4 if ATOMS[shape] == 6 else 10, OCCUPANCY[shape]
        seen = [measured_on(occ_like, shape, method, runs) for method in FAMILY]
        for (loss, *_), reference, tolerance in zip(seen, expected, (0.15, 0.15, 0.15, 0.4), strict=True):
            assert reference is None or loss == pytest.approx(reference, rel=tolerance)
        measured(f"occ_like {shape}: {' / '.join(f'{loss:.4f}' for loss, *_ in seen)}")

    def test_orderings(self):
        """Naive cheapest, because it checks nothing, and it has most false alarms; ProBE-Ent below ProBE."""
        for shape in ("AND3", "OR3"):
            naive_run, even, optimised, entropic = (measured_on(occ_like, shape, method, 10) for method in FAMILY)
            assert naive_run[0] < entropic[0] < min(even[0], optimised[0])
            assert naive_run[1].mean() > max(even[1].mean(), optimised[1].mean())
            assert all(found[2].mean() <= 0.05 for found in (naive_run, even, optimised, entropic))

    def test_six_alternatives_are_mostly_denied(self):
        assert measured_on(occ_like, "OR6", probe, 5)[3] >= 4
        assert measured_on(occ_like, "OR6", plain_ent, 5)[3] == 0

    def test_a_distributed_tree_is_dearer(self):
        grouped, distributed = (
            measured_on(occ_like, shape, probe, 10)[0] for shape in ("Q0|(Q1&Q2)", "(Q0|Q1)&(Q0|Q2)")
        )
        assert grouped < distributed


def test_wide_ranges_make_it_deny():
    """Ranges far above thresholds: hardly a group is seen far enough below. The naive method has 50 % false alarms."""
    assert measured_on(uci_like, "OR3", probe, 5)[3] == 5
    assert measured_on(uci_like, "AND1", plain_ent, 5)[3] == 5
    # The reference has 0.391 with 7 of 40 denied; whole numbers end at a region of one value, dear but possible.
    loss, _, _, denied = measured_on(uci_like, "AND1", probe, 20)
    assert 0.2 < loss < 1
    assert denied <= 5
    assert measured_on(uci_like, "OR3", naive, 3)[1].min() > 0.4


class TestTheFalseAlarmRateDoesNotHold:
    """92 groups at the threshold, 10 above, 472 far below. Half of the 92 are counted, and nearly all reported."""

    @pytest.mark.parametrize("method", [probe_naive, probe])
    def test_accepted_at_a_tenth_with_sixteen_in_a_hundred(self, method, measured):
        _, alarms, misses, denied = measured_on(at_threshold, "AND1", method, 40)
        assert 10 <= denied <= 28
        assert alarms.mean() == pytest.approx(0.16, abs=0.01)
        assert alarms.min() > 0.14
        assert not misses.any()
        measured(f"at_threshold, {method.args[0]}: {40 - denied} of 40 accepted, false alarms {alarms.mean():.3f}")

    def test_without_a_check_it_is_always_accepted(self):
        _, alarms, _, denied = measured_on(at_threshold, "AND1", plain_ent, 20)
        assert not denied
        assert alarms.mean() == pytest.approx(0.159, abs=0.01)
        assert alarms.min() > 0.1

    def test_most_groups_just_below(self):
        """ProBE mostly denies; ProBE-Ent answers, with more than promised in nearly every run."""
        assert measured_on(adversarial, "AND1", probe, 20)[3] >= 18
        _, alarms, _, denied = measured_on(adversarial, "AND1", plain_ent, 15)
        assert not denied
        assert (alarms > 0.1).mean() > 0.8
        assert alarms.mean() > 0.15

    def test_nothing_is_wrong_where_few_groups_are_near(self):
        """Power: the same measure on other groups keeps to the rate."""
        assert measured_on(bimodal, "AND1", probe, 2)[1].max() < 0.1
