"""Releases as bytes and back: the ledger keeps the bytes, and a repeated question is answered from them alone.

    encoded(release)       one JSON text; the same bytes for the same release
    decoded(kind, body)    the release again, or a `LedgerCorruptError` that says what is wrong with the bytes

The bytes hold the fields of the dataclass by name, and mappings in their order. Two kinds of fields are left out: those
marked `not_stored`, which are about one handing-out, and empty fields whose default is empty too. A field that is added
later therefore leaves the bytes of earlier releases as they are.
Reads: nothing. Writes: bytes. Never: an error of msgspec; a field that is not understood.
"""

import json
from collections.abc import Mapping
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

import msgspec
import numpy as np

from thresher.errors import LedgerCorruptError

Kept = TypeVar("Kept")
Default = TypeVar("Default")
_EMPTY: tuple[Any, ...] = ("", (), None, False)


def not_stored(default: Default) -> Default:
    """Return the field of a release that is about one handing-out, such as its key."""
    made: Default = field(default=default, compare=False, metadata={"stored": False})
    return made


def document(release: Any) -> dict[str, Any]:
    """Return each stored field in plain values, and the kind of a release that has one."""
    plain = msgspec.to_builtins(release, enc_hook=_plain)
    stored = {each.name: plain[each.name] for each in fields(release) if each.metadata.get("stored", True)}
    return stored if "kind" in plain or not hasattr(release, "kind") else {"kind": release.kind, **stored}


def encoded(release: Any) -> bytes:
    """Return the bytes to be stored."""
    defaults = {each.name: each.default for each in fields(release)}
    values = {name: value for name, value in document(release).items() if not _is_empty(value, defaults.get(name))}
    return json.dumps(dict(sorted(values.items())), separators=(",", ":"), allow_nan=False).encode()


def decoded(kind: type[Kept], body: bytes) -> Kept:
    """Return the release of this kind, or of the subclass whose kind the bytes name."""
    try:
        values = json.loads(body)
        release = msgspec.convert(values, _named(kind, values), dec_hook=_read)
        again = encoded(release)
        # What was not understood is missing now.
        if again == body or json.loads(again) == values:
            return release
        reason = "it holds fields or values that such a release does not have"
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as refused:
        reason = str(refused) if isinstance(refused, msgspec.ValidationError) else "its bytes are not such a release"
    fix = "`thresher ledger verify` says whether it was changed. To ask again at the full price, use another key"
    raise LedgerCorruptError(f"a stored {kind.__name__} cannot be read: {reason}. {fix}.")


def handed_out(release: Kept, key: str, *, repeated: bool = False) -> Kept:
    """Return the release with the key under which it is stored; `repeated`: it was charged before."""
    copy: Kept = replace(release, key=key, repeated=repeated)  # type: ignore[type-var]
    return copy


def paid_before(release: Kept, day: str) -> Kept:
    """Return the stored release with the day on which it was paid."""
    copy: Kept = replace(release, paid_on=day)  # type: ignore[type-var]
    return copy


def _is_empty(value: Any, default: Any) -> bool:
    return any(type(value) is type(empty) and value == empty and default == empty for empty in _EMPTY)


def _named(kind: type[Kept], values: Any) -> type[Kept]:
    """Return the class whose `kind` the document names, and `kind` itself for releases without kinds."""
    subclasses = {getattr(each, "kind", None): each for each in kind.__subclasses__()}
    return subclasses[values["kind"]] if subclasses else kind


def _plain(value: Any) -> Any:
    """Return a plain value for what msgspec does not know: amounts, fractions, arrays, mappings."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"a release cannot hold {type(value).__name__}")


def _read(kind: Any, plain: Any) -> Any:
    if hasattr(kind, "from_json"):
        return _amount(kind, plain)
    if get_origin(kind) is np.ndarray:
        return np.array(plain, dtype=get_args(get_args(kind)[1])[0])
    if kind is Fraction:
        return Fraction(*map(int, plain.split("/")))
    raise TypeError(f"a release cannot hold {kind}")


@lru_cache(maxsize=1024)
def _amount(kind: Any, text: Any) -> Any:
    """Read an amount. Groups stop at few levels, so thousands of groups hold few different amounts."""
    return kind.from_json(text)
