"""Releases as bytes and back: the ledger keeps the bytes, and a repeated question is answered from them alone.

    encoded(release)       one JSON text; the same bytes for the same release
    decoded(kind, body)    the release again, or a `LedgerCorruptError` that says what is wrong with the bytes

Stored are the fields of the dataclass, by name; mappings keep their order. Left out are fields marked `not_stored`,
which belong to the handing-out, and empty fields whose default is as empty: a field that is added later leaves the
bytes of earlier releases as they are.
Reads: nothing. Writes: bytes. Never: an error of msgspec; a field that is not understood.
"""

import json
from collections.abc import Mapping
from dataclasses import field, fields, replace
from fractions import Fraction
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
    """Return every stored field in plain values, and the kind of a release that has one."""
    plain = msgspec.to_builtins(release, enc_hook=_plain)
    shown = {one.name: plain[one.name] for one in fields(release) if one.metadata.get("stored", True)}
    return shown if "kind" in plain or not hasattr(release, "kind") else {"kind": release.kind, **shown}


def encoded(release: Any) -> bytes:
    """Return the bytes to be stored."""
    defaults, told = {one.name: one.default for one in fields(release)}, sorted(document(release).items())
    full = {name: value for name, value in told if not _is_empty(value, defaults.get(name))}
    return json.dumps(full, separators=(",", ":"), allow_nan=False).encode()


def decoded(kind: type[Kept], body: bytes) -> Kept:
    """Return the release of this kind, or of the one of its subclasses that the bytes name."""
    try:
        told = json.loads(body)
        found = msgspec.convert(told, _named(kind, told), dec_hook=_read)
        again = encoded(found)
        # Whatever was not understood is missing now.
        if again == body or json.loads(again) == told:
            return found
        reason = "it holds fields or values that such a release does not have"
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as refused:
        reason = str(refused) if isinstance(refused, msgspec.ValidationError) else "it is not such a document"
    fix = "`thresher ledger verify` says whether it was changed; ask again with another key"
    raise LedgerCorruptError(f"a stored {kind.__name__} cannot be read: {reason}. {fix}.")


def handed_out(release: Kept, key: str, *, repeated: bool = False) -> Kept:
    """Return the release with the key under which it is stored; `repeated`: it was charged before."""
    made: Kept = replace(release, key=key, repeated=repeated)  # type: ignore[type-var]
    return made


def _is_empty(value: Any, default: Any) -> bool:
    return any(type(value) is type(empty) and value == empty and default == empty for empty in _EMPTY)


def _named(kind: type[Kept], told: Any) -> type[Kept]:
    """The class whose `kind` the document names, and `kind` itself for releases without kinds."""
    subclasses = {getattr(one, "kind", None): one for one in kind.__subclasses__()}
    return subclasses[told["kind"]] if subclasses else kind


def _plain(value: Any) -> Any:
    """What msgspec does not know: amounts, fractions, arrays, mappings."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "tolist"):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else str(_checked(value))


def _checked(value: Any) -> Fraction:
    if not isinstance(value, Fraction):
        raise TypeError(f"a release cannot hold {type(value).__name__}")
    return value


def _read(kind: Any, told: Any) -> Any:
    if hasattr(kind, "from_json"):
        return kind.from_json(told)
    if get_origin(kind) is np.ndarray:
        return np.array(told, dtype=get_args(get_args(kind)[1])[0])
    if kind is Fraction:
        return Fraction(*map(int, told.split("/")))
    raise TypeError(f"a release cannot hold {kind}")
