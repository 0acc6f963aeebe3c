"""Books of before version 3, whose charges did not say what they are about. Nothing else knows how they were written.

The question of an old charge was a JSON document. That of a decision, a refinement, values or a personal question has
"look" and "unit"; that of a diagnosis "diagnostic" and "unit"; that of a stream's step "account", with the clock.
Reads: lines. Writes: nothing. Never: guesses what an account is about.
"""

import json
from collections.abc import Iterable
from typing import Any

from thresher.accounting import UNKNOWN, Subject
from thresher.accounting.subject import PERSONAL, STREAM, TABLE
from thresher.ledger.entries import Entry


def subjects_of(lines: Iterable[Entry]) -> dict[str, Subject]:
    """What each charged account is about; `UNKNOWN` where a charge does not say it, or where two charges differ."""
    found: dict[str, set[Subject]] = {}
    for entry in lines:
        if entry.kind == "reserve":
            found.setdefault(entry.account, set()).add(_subject(entry.facts["question"]))
    return {account: said.pop() if len(said) == 1 else UNKNOWN for account, said in found.items()}


def _subject(question: str) -> Subject:
    try:
        said = json.loads(question)
        if not isinstance(said, dict):
            return UNKNOWN
        if "account" in said:
            return _of_a_stream(said["account"])
        if "look" in said or "diagnostic" in said:
            kind = PERSONAL if said.get("look") == "personal" else TABLE
            return Subject(kind, _text_or_none(said["unit"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return UNKNOWN
    return UNKNOWN


def _of_a_stream(said: Any) -> Subject:
    start, seconds, protected = said["start"], said["step_seconds"], said["protect"]
    if type(start) is not str or type(seconds) is not int or type(protected) not in (int, type(None)):
        return UNKNOWN
    return Subject(STREAM, _text_or_none(said["unit"]), start, seconds, protected)


def _text_or_none(unit: object) -> str | None:
    if unit is not None and not isinstance(unit, str):
        raise TypeError("a unit is the name of a column")
    return unit
