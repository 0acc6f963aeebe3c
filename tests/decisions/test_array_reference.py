"""The reference page names every call on arrays with its true signature."""

import inspect
from pathlib import Path

import pytest

from thresher.decisions import adaptive, naive_laplace, progressive, slack, threshold_shift, threshold_zone

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "decisions.md").read_text()


@pytest.mark.parametrize(
    "function",
    [adaptive, naive_laplace, progressive, slack, threshold_shift, threshold_zone],
    ids=lambda function: function.__name__,
)
def test_signatures_are_true(function):
    parameters = list(inspect.signature(function).parameters.values())
    written = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    named_only = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if named_only is not None:
        written.insert(named_only, "*")
    assert f"`{function.__name__}({', '.join(written)})`" in PAGE
