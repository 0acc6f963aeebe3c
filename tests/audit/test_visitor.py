"""Somebody else's mechanism on trial: judged if it can be, reported if it cannot; the audit lives on."""

import pytest

from thresher.audit.visitor import visited
from thresher.errors import ArgumentError

HERE, THERE = [1, 2, 3], [1, 2, 3, 4]


@pytest.fixture(autouse=True)
def here(monkeypatch, request):
    monkeypatch.chdir(request.path.parent)


def visit(name, samples=2_000, epsilon=1, time_limit=60.0, **others):
    return visited(f"visitors:{name}", HERE, THERE, epsilon, samples=samples, time_limit=time_limit, **others)


@pytest.mark.parametrize("name", ["right", "in_words", "talks"])
def test_a_right_one_stands(name, capfd):
    seen = visit(name)
    assert seen.finding is not None
    assert not seen.finding.refuted
    assert seen.finding.measured > 0.1, "it was looked at"
    assert not capfd.readouterr().out


@pytest.mark.parametrize("name", ["leaks", "raises_on_four"])
def test_a_wrong_one_is_refuted(name):
    seen = visit(name)
    assert seen.finding.refuted
    assert seen.raised == ((0, 2_000) if name == "raises_on_four" else (0, 0))


@pytest.mark.parametrize(
    ("name", "told", "limit"),
    [
        ("always_raises", "raised ValueError in every run", 60.0),
        ("leaves", "raised SystemExit in every run", 60.0),
        ("hangs", "more than 0.5 s", 0.5),
        ("dies", "ended its own process", 60.0),
    ],
)
def test_one_that_cannot_be_tried_is_reported(name, told, limit):
    seen = visit(name, time_limit=limit)
    assert seen.finding is None
    assert told in seen.failure


@pytest.mark.parametrize("name", ["nowhere", "not_a_function"])
def test_a_name_that_leads_nowhere(name):
    with pytest.raises(ArgumentError, match="no such function"):
        visit(name)


@pytest.mark.parametrize("name", ["visitors", "a b:c", ":f", "visitors:", "os;os:f"])
def test_a_name_that_is_none(name):
    with pytest.raises(ArgumentError, match="my_module:my_function"):
        visited(name, HERE, THERE, 1)


def test_a_module_that_is_not_there():
    with pytest.raises(ArgumentError, match="could not be loaded"):
        visited("no_such_module:f", HERE, THERE, 1)


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("samples", {"samples": 10}),
        ("samples", {"samples": 10**9}),
        ("epsilon", {"epsilon": -1}),
        ("time_limit", {"time_limit": 0.0}),
        ("neighbours", {"neighbours": "friends"}),
    ],
)
def test_bad_arguments_are_refused_before_it_is_called(field, asked):
    with pytest.raises(ArgumentError, match=field):
        visit("dies", **asked)


def test_inputs_that_are_no_neighbours_are_refused():
    with pytest.raises(ArgumentError, match="here, there"):
        visited("visitors:dies", HERE, [7, 8], 1)


def test_progress_is_told():
    told = []
    visit("right", progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (4_000, 4_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
