import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, Epsilon
from thresher.codec import decoded, document, encoded, handed_out, not_stored
from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve
from thresher.errors import LedgerCorruptError
from thresher.personal.answers import PersonalCounts
from thresher.plan import Guarantee, Release, ShownNumber

FAR = 1 << 62
texts = st.text(max_size=12)
amounts = st.integers(0, MAX_NANO).map(Epsilon.from_nano)
labels = st.text(max_size=5) | st.integers(-FAR, FAR) | st.booleans()
whole = st.lists(st.integers(-FAR, FAR), max_size=6).map(tuple)
reals = st.floats(allow_nan=False, allow_infinity=False)
arrays_of_reals = st.lists(reals, max_size=6).map(lambda found: np.array(found, dtype=np.float64))


def tuples(of):
    return st.lists(of, max_size=4).map(tuple)


groups = tuples(tuples(labels))
guarantees = st.builds(Guarantee, *[texts] * len(fields(Guarantee)))
shown = st.builds(ShownNumber, texts, tuples(texts), tuples(texts))
decisions = st.builds(
    Release,
    question=texts,
    mechanism=texts,
    keys=tuples(texts),
    groups=groups,
    verdicts=tuples(texts),
    epsilons=tuples(amounts),
    half_width=texts,
    guarantee=guarantees,
    planned_epsilon=amounts,
    spent_epsilon=amounts,
    noisy=whole,
    scale=st.integers(1, FAR),
    steps=whole,
    bound=texts,
    latest=whole,
    certificate=st.none() | st.dictionaries(texts, texts, max_size=3),
    values=tuples(shown),
    refines=texts,
    charged=st.none() | amounts,
    measured=st.none() | st.dictionaries(texts, texts | st.integers(-FAR, FAR) | st.none(), max_size=3),
    denied=texts,
    stamp=texts,
    notes=tuples(texts),
)
counts = st.builds(
    PersonalCounts,
    question=texts,
    aggregate=texts,
    keys=tuples(texts),
    groups=groups,
    estimates=tuples(texts),
    half_width=texts,
    confidence=texts,
    predicted_sd=texts,
    share=amounts,
    sentence=texts,
    assumption=texts,
    stamp=texts,
    notes=tuples(texts),
)
common = {
    "epsilon": amounts,
    "split": st.dictionaries(texts, amounts, max_size=3),
    "rows": st.integers(-FAR, FAR),
    "rows_public": st.booleans(),
    "caveats": tuples(texts),
    "stamp": texts,
}
pairs = st.tuples(reals, reals)
tables = st.lists(pairs, min_size=1, max_size=5).map(lambda found: np.array(found, dtype=np.float64))
counted = st.lists(st.tuples(*[st.integers(0, FAR)] * 3), min_size=1, max_size=4).map(
    lambda found: np.array(found, dtype=np.int64)
)
residuals = st.builds(
    ResidualPlot,
    **common,
    fitted_range=pairs,
    residual_range=pairs,
    counts=counted,
    points=tables,
    histogram=texts,
)
curves = st.builds(
    RocCurve,
    **common,
    **dict.fromkeys(("thresholds", "false_positive_rate", "true_positive_rate"), arrays_of_reals),
    auc=st.none() | reals,
    positives=reals,
    negatives=reals,
)
binned = st.builds(
    BinnedResiduals,
    **common,
    **dict.fromkeys(("edges", "counts", "predicted", "residual", "band"), arrays_of_reals),
)
RELEASES = {Release: decisions, PersonalCounts: counts, Diagnostic: residuals | curves | binned}


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
    release = data.draw(RELEASES[kind])
    body = encoded(release)
    again = decoded(kind, body)
    same(release, again)
    assert encoded(again) == body


@given(counts, texts)
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
