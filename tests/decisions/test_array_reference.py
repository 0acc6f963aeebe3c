"""The reference page names every call on arrays with its true signature."""

import inspect
from pathlib import Path

import pytest

from thresher import decisions

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "decisions.md").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "adaptive",
        "certified_verdicts",
        "naive_laplace",
        "progressive",
        "slack",
        "three_way_verdicts",
        "threshold_shift",
        "threshold_zone",
    ],
)
def test_signatures_are_true(name):
    function = getattr(decisions, name)
    parameters = list(inspect.signature(function).parameters.values())
    stars = {inspect.Parameter.VAR_KEYWORD: "**"}
    written = [
        stars.get(p.kind, "") + p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters
    ]
    named_only = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if named_only is not None:
        written.insert(named_only, "*")
    assert f"`{function.__name__}({', '.join(written)})`" in PAGE
