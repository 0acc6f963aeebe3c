"""Values that are not in a column's public list: no declared group has them, so they are slips of the pen.

Reads: declarations, public tables. Writes: nothing. Never: suggests a value that is not public.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction

from sqlglot import exp

from thresher.config import Column, Listed, Numbered
from thresher.sql.constants import Constant, written
from thresher.sql.refusals import Refusal, shown

_SHOWN_VALUES = 5
# Longer lists are looked through for other capitals only: likeness takes time for every value.
_MOST_COMPARED = 5_000
_LONGEST_COMPARED = 200


def check_known(column: Column, values: Sequence[Constant], at: exp.Expr) -> None:
    """Refuses values that the column's list does not hold. Values of another kind are refused elsewhere."""
    kind = column.kind
    if isinstance(kind, Listed | Numbered):
        of_kind = str if isinstance(kind, Listed) else Fraction
        check_among(column.name, [value for value in values if isinstance(value, of_kind)], kind.values, at)


def check_among(name: str, values: Sequence[Constant], known: Collection[object], at: exp.Expr) -> None:
    """Refuses values that are not among the known ones of the column called `name`."""
    listed = known if len(values) == 1 else frozenset(known)
    for value in values:
        if value not in listed:
            message = f"{written(value)} is not a declared value of {shown(name)}"
            raise Refusal("known-values", f"{message}; {_nearest(value, known)}", at)


def _nearest(value: Constant, known: Collection[object]) -> str:
    texts = {other.casefold(): other for other in known if isinstance(other, str)}
    if isinstance(value, str) and texts:
        near = texts.get(value.casefold().strip()) or _alike(value.casefold(), texts)
        if near is not None:
            return f"did you mean {written(near)}?"
    public = [Fraction(other) if isinstance(other, int) else other for other in list(known)[:_SHOWN_VALUES]]
    some = ", ".join(written(other) for other in public if isinstance(other, str | Fraction))
    return f"declared are {some}{' ...' if len(known) > _SHOWN_VALUES else ''}"


def _alike(value: str, texts: dict[str, str]) -> str | None:
    import difflib  # noqa: PLC0415 - only a misspelt value needs it

    if len(texts) > _MOST_COMPARED or len(value) > _LONGEST_COMPARED:
        return None
    near = difflib.get_close_matches(value, [text for text in texts if len(text) <= _LONGEST_COMPARED], n=1)
    return texts[near[0]] if near else None
