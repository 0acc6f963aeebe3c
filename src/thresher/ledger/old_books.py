"""Books of versions 1 and 2, whose charges do not say what they are about: find it in their questions.

The question of an old charge is a JSON document. Decisions, refinements, values and personal questions have the fields
"look" and "unit"; diagnoses have "diagnostic" and "unit"; steps of streams have "account", which holds the clock.
Reads: lines. Writes: nothing. Never: guesses what an account is about.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from thresher.accounting import UNKNOWN, Subject
from thresher.accounting.subject import PERSONAL, STREAM, TABLE
from thresher.ledger.entries import Entry


def subjects_of(lines: Iterable[Entry]) -> dict[str, Subject]:
    """Return what each charged account is about: `UNKNOWN` where a charge does not say it, or two charges differ."""
    found: dict[str, set[Subject]] = {}
    for entry in lines:
        if entry.kind == "reserve":
            found.setdefault(entry.account, set()).add(_subject(entry.facts["question"]))
    return {account: said.pop() if len(said) == 1 else UNKNOWN for account, said in found.items()}


def is_named_in(relation: str, account: str, questions: Iterable[str]) -> bool:
    """Tell whether old charges may have read a relation: by its name alone, because they do not say where it lies.

    Questions of version 3 say how the table was declared; of those before, the account has the table's name.
    """
    names = {account.removeprefix("personal:").casefold()}
    for question in questions:
        try:
            table = json.loads(question)["table"]
            names |= {str(table[field]).casefold() for field in ("name", "relation", "file") if table[field]}
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    written = relation.casefold()
    return not names.isdisjoint(
        {written, Path(written).stem, *written.split(" "), written.replace(" ", ".").rpartition(".")[2]}
    )


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
