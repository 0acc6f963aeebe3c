"""One step drawn: how epsilon is shared out, that all of it is used and no more, and what is kept between steps."""

from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from thresher.amounts import Epsilon
from thresher.config import StreamDeclaration
from thresher.errors import DeclarationError
from thresher.noise import SeededEntropy
from thresher.question import Exact
from thresher.streams.hierarchy_terms import path_epsilon
from thresher.streams.step_release import ALONE, JOINS, OPENS
from thresher.streams.stream_plan import plan_stream

START = datetime(2026, 1, 1, tzinfo=UTC)
STATES = ("a", "b", "c", "d")
TREE = {"campus": ("north", "south"), "north": ("a", "b"), "south": ("c", "d")}


def declared(epsilon="1", **settings):
    states = {} if "tree" in settings else {"states": STATES[:2]}
    return StreamDeclaration("s", START, 60, Epsilon(epsilon), Epsilon("1000"), **states | settings)


def sealed(counts):
    return Exact(np.array(counts, dtype=np.int64)[:, None])


@settings(max_examples=60)
@given(
    epsilon=some.integers(10**6, 10**9),
    protected=some.sampled_from([1, 7, 288, None]),
    most=some.integers(1, 4),
    share=some.fractions(Fraction(1, 20), Fraction(19, 20)),
    grouped=some.booleans(),
    tree=some.booleans(),
)
def test_the_parts_never_add_up_to_more_and_hardly_to_less(epsilon, protected, most, share, grouped, tree):
    said = declared(
        Epsilon.from_nano(epsilon),
        protected_steps=protected,
        max_states_per_unit=most,
        **({"tree": TREE} if tree else {"states": STATES}),
        grouper_share=share,
        mechanism="pegasus" if grouped else "laplace",
    )
    plan = plan_stream(said)
    levels = 3 if tree else 1
    spent = most * levels * (plan.measures.perturber.nano + plan.measures.grouper.nano)
    assert spent <= plan.step_epsilon.nano
    # What whole nanos leave over, for each state, level and part.
    assert plan.step_epsilon.nano - spent <= most * (2 * levels + 1)
    assert plan.step_epsilon.nano * (protected or 1) <= epsilon
    assert bool(plan.measures.grouper) == grouped


@pytest.mark.parametrize("prune", ["none", "estimate", "history"])
@pytest.mark.parametrize("mechanism", ["laplace", "pegasus"])
def test_every_path_of_a_tree_costs_what_a_step_costs(prune, mechanism):
    plan = plan_stream(declared(tree=TREE, prune=prune, mechanism=mechanism))
    drawer = plan.drawer(SeededEntropy(1))
    for step in range(40):
        drawn = drawer.draw(sealed([0, 0, 30 * (step % 3), 1]))
        paths = path_epsilon(plan.tree, drawer.terms, drawn)
        assert max(paths) <= plan.step_epsilon
        assert min(paths) >= Epsilon("0.99")


def test_a_plain_step_has_noise_and_nothing_else():
    plan = plan_stream(declared("40"))
    drawn = plan.drawer(SeededEntropy(1)).draw(sealed([5, 9]))
    # At epsilon 40 noise is 0 but for a chance of 1e-17.
    assert drawn.noisy.tolist() == [5, 9]
    assert type(drawn.noisy) is np.ndarray
    assert drawn.marks is None


def test_groups_go_on_from_secrets_and_end_when_closed():
    plan = plan_stream(declared("400", mechanism="pegasus", theta=3))
    first, second = (plan.drawer(SeededEntropy(seed)) for seed in (1, 2))
    marks = [first.draw(sealed([5, 9])).marks.tolist() for _ in range(3)]
    assert marks == [[OPENS, OPENS], [JOINS, JOINS], [JOINS, JOINS]]
    second.restore(first.secrets())
    assert second.draw(sealed([5, 90])).marks.tolist() == [JOINS, ALONE]
    second.close()
    assert second.draw(sealed([5, 90])).marks.tolist() == [OPENS, OPENS]


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"smoother": "median"}, "smoother"),
        ({"tree": TREE, "prune": "history", "smoother": "adaptive"}, "smoother"),
        ({"prune": "history"}, "prune"),
        ({"epsilon": "1500"}, "epsilon: one series has epsilon 1500 in a step"),
        ({"epsilon": "0.0000001", "protected_steps": 288}, "epsilon: one series has epsilon 0 in a step"),
        ({"mechanism": "pegasus", "theta": 10**13}, "theta"),
        # One leaf, below more nodes than there is memory for.
        ({"tree": {str(n): (str(n + 1),) for n in range(700)}, "windows": (100_000,)}, "windows"),
        ({"tree": {"a": ("b", "a")}}, "tree"),
        ({"tree": {"a": ("b",), "c": ("d",)}}, "tree"),
    ],
)
def test_what_does_not_fit_together_is_refused(settings, place):
    with pytest.raises(DeclarationError, match=rf"streams\.s\.{place}"):
        plan_stream(declared(**settings))
