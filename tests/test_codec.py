import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from types import UnionType
from typing import ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, Epsilon
from thresher.codec import decoded, document, encoded, handed_out, not_stored
from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve
from thresher.errors import LedgerCorruptError
from thresher.personal.personal_counts import PersonalCounts
from thresher.release import Release

RELEASES = {Release: [Release], PersonalCounts: [PersonalCounts], Diagnostic: [ResidualPlot, RocCurve, BinnedResiduals]}
FAR = 1 << 62
REALS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = {
    str: st.text(max_size=8),
    int: st.integers(-FAR, FAR),
    bool: st.booleans(),
    float: REALS,
    type(None): st.none(),
    Fraction: st.fractions(),
    Epsilon: st.integers(0, MAX_NANO).map(Epsilon.from_nano),
}


def values_of(kind):
    """What a field of this type may hold: of whatever types releases are made, and of no others."""
    if kind in PLAIN:
        return PLAIN[kind]
    if is_dataclass(kind):
        return releases_of(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of(*map(values_of, inner))
    if origin is tuple:
        return (
            st.lists(values_of(inner[0]), max_size=3).map(tuple)
            if inner[-1] is ...
            else st.tuples(*map(values_of, inner))
        )
    if origin is Mapping:
        return st.dictionaries(*map(values_of, inner), max_size=3)
    assert origin is np.ndarray, kind
    (number,) = get_args(inner[1])
    row = st.lists(REALS if number is np.float64 else PLAIN[int], min_size=3, max_size=3)
    return st.one_of(row, st.lists(row, min_size=1, max_size=3)).map(lambda found: np.array(found, dtype=number))


def releases_of(kind):
    hints = get_type_hints(kind)
    stored = [field.name for field in fields(kind) if field.metadata.get("stored", True)]
    return st.builds(kind, **{name: values_of(hints[name]) for name in stored})


def same(one, other):
    """Field by field, for releases with arrays are compared by identity otherwise; and types are the same."""
    assert type(one) is type(other)
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        assert type(first) is type(second)
        if isinstance(first, np.ndarray):
            assert first.dtype == second.dtype
            np.testing.assert_array_equal(first, second)
        else:
            assert first == second


@pytest.mark.parametrize("kind", RELEASES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_release_comes_back_as_it_was_and_as_the_same_bytes(kind, data):
    release = data.draw(st.one_of(*map(releases_of, RELEASES[kind])))
    body = encoded(release)
    again = decoded(kind, body)
    same(release, again)
    assert encoded(again) == body


@given(releases_of(PersonalCounts), PLAIN[str])
def test_key_and_repetition_are_of_the_handing_out(release, key):
    given_out = handed_out(release, key, repeated=True)
    assert encoded(given_out) == encoded(release)
    assert given_out == release
    assert (given_out.key, given_out.repeated) == (key, True)
    assert not {"key", "repeated"} & set(document(given_out))


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """What no release of today holds: a fraction, an array, a mapping that is not a dict; a field that came later."""

    share: Fraction
    of: Mapping[str, Epsilon]
    table: NDArray[np.int64]
    rate: float
    later: tuple[str, ...] = ()
    key: str = not_stored("")
    repeated: bool = not_stored(False)


MADE = Small(share=Fraction(1, 3), of={"b": Epsilon("0.1"), "a": Epsilon(2)}, table=np.array([[1, 2]]), rate=2)
BODY = b'{"of":{"b":"0.1","a":"2"},"rate":2,"share":"1/3","table":[[1,2]]}'


def test_fields_are_sorted_and_those_as_empty_as_their_default_are_left_out():
    assert encoded(MADE) == BODY
    assert b'"later":["x"]' in encoded(Small(share=MADE.share, of={}, table=MADE.table, rate=0.5, later=("x",)))


def test_a_whole_number_in_the_place_of_a_real_one_can_be_read_again():
    assert decoded(Small, BODY).rate == 2


@given(st.fractions())
def test_fractions_are_exact(share):
    assert decoded(Small, BODY.replace(b"1/3", str(share).encode())).share == share


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b'{"of":',
        b"[" * 100_000,
        BODY[:-1] + b',"unknown":1}',
        BODY[:-1] + b',"unknown":null}',
        BODY[:-1] + b',"later":"x"}',
        BODY[:-1] + b',"later":[1]}',
        BODY[:-1] + b',"key":"k"}',
        BODY.replace(b'"rate":2,', b""),
        BODY.replace(b"2,", b'"2",'),
        BODY.replace(b"2,", b"NaN,"),
        BODY.replace(b"2,", b"1e999,"),
        BODY.replace(b"1/3", b"2/6"),
        BODY.replace(b"1/3", b"1/0"),
        BODY.replace(b"1/3", b"1e99999999"),
        BODY.replace(b"1/3", b"9" * 9999),
        BODY.replace(b'"1/3"', b"1"),
        BODY.replace(b"0.1", b"-0.1"),
        BODY.replace(b"0.1", b"0.10"),
        BODY.replace(b'"0.1"', b"0.1"),
        BODY.replace(b"[1,2]", b"[1.5,2]"),
        BODY.replace(b"[1,2]", b"[1],[2,3]"),
        BODY.replace(b"[1,2]", b'["1",2]'),
        BODY.replace(b"[1,2]", b"[1e30,2]"),
        BODY.replace(b"[[1,2]]", b"[[[99999999999999999999]]]"),
        BODY.replace(b"[[1,2]]", b'"x"'),
    ],
)
def test_other_bytes_are_refused_as_a_fault_of_the_ledger(body):
    with pytest.raises(LedgerCorruptError, match="a stored Small cannot be read") as refused:
        decoded(Small, body)
    assert refused.value.__cause__ is None


def test_the_field_that_is_missing_is_named():
    with pytest.raises(LedgerCorruptError, match="missing required field `rate`"):
        decoded(Small, BODY.replace(b'"rate":2,', b""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    sides: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Square(Shape):
    kind: ClassVar[str] = "square"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring(Shape):
    kind: ClassVar[str] = "ring"


def test_a_kind_is_stored_and_chooses_the_class():
    assert json.loads(encoded(Ring(sides=0))) == {"kind": "ring", "sides": 0}
    assert decoded(Shape, encoded(Ring(sides=0))) == Ring(sides=0)


@pytest.mark.parametrize("kind", [Shape, Square])
@pytest.mark.parametrize("said", [{"kind": "ball", "sides": 1}, {"sides": 1}, {"kind": ["square"], "sides": 1}])
def test_another_kind_is_refused(kind, said):
    with pytest.raises(LedgerCorruptError):
        decoded(kind, json.dumps(said).encode())


@pytest.mark.parametrize("value", [object(), range(2), float("nan"), float("inf")])
def test_what_cannot_be_read_again_is_not_stored(value):
    with pytest.raises((TypeError, ValueError)):
        encoded(Small(share=MADE.share, of={}, table=MADE.table, rate=value))
