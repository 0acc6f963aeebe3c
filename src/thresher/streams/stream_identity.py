"""The identity of a stream: all settings that decide what is drawn, written out field by field.

    facts      the settings that must be the same when the stream is opened again; the ledger keeps them with its state
    question   the facts and the number of a step
    key        the key under which a step is charged, once for ever

Windows, alarms, smoothers and strictness use released numbers only, so they are not part of it. An alarm has another
identity, by which a stream knows since when the alarm has been declared (`alarms.md`).
Reads: declarations. Writes: texts. Never: a budget, a key file; a text that is read back.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.accounting.subject import Subject
from thresher.config import AlarmDeclaration, Column, StreamDeclaration
from thresher.plan import subject_of_stream
from thresher.question import Identity
from thresher.question.identity import column_facts, folded, identity_text
from thresher.streams.tree import Tree

VERSION = "stream 1"
_ALARM_VERSION = "alarm 1"


@dataclass(frozen=True, slots=True)
class StreamIdentity:
    """The texts of one stream, made once. `subject`: whom its account is about."""

    facts: Mapping[str, Any]
    subject: Subject
    # What the questions and the keys of all steps begin with; the number of the step follows.
    question: str
    key: str

    def of_step(self, step: int) -> Identity:
        """Return the identity of a step. Steps are not refined, so the measurement is the question itself."""
        text = f"{self.question}{step}}}"
        return Identity(text, text)

    def key_of(self, step: int) -> str:
        """Return the key under which a step is charged."""
        return f"{self.key}{step}"

    def is_ours(self, question: str) -> bool:
        """Say whether a charged question has the present form. Questions of version 0 cannot be compared."""
        return question.startswith(f'{{"identity":"{VERSION}"')


def stream_identity(declared: StreamDeclaration, tree: Tree | None) -> StreamIdentity:
    """Write the identity of a declared stream, with the tree of its states if it has one."""
    facts = folded(_facts(declared, tree))
    question = f'{{"identity":"{VERSION}","stream":{identity_text(facts)},"step":'
    return StreamIdentity(
        facts,
        subject_of_stream(declared),
        question,
        f"stream/{hashlib.sha256(declared.name.encode()).hexdigest()[:16]}/",
    )


def _facts(declared: StreamDeclaration, tree: Tree | None) -> dict[str, Any]:
    """Return the facts by the names of the settings, so that a refusal can name those that changed."""
    table = declared.polled
    rows = None if table is None else [table.table, table.relation, _text(table.file), table.unit]
    return {
        "name": declared.name,
        "account": declared.account_name,
        "start": declared.start.isoformat(),
        "step_seconds": declared.step_seconds,
        "epsilon": declared.epsilon.to_json(),
        "protect": declared.protected_steps,
        "states": list(declared.states),
        "tree": None if tree is None else {"names": list(tree.names), "parents": list(tree.parents)},
        "max_states_per_unit": declared.max_states_per_unit,
        "late_steps": declared.late_steps,
        "ahead_steps": declared.ahead_steps,
        "mechanism": declared.mechanism,
        "grouper_share": str(declared.grouper_share),
        "theta": declared.theta,
        "prune": declared.prune,
        "cutoff": declared.cutoff,
        "table": rows,
        "state_column": None if table is None else _column(table.states),
        "time_column": None if table is None else _column(table.times),
    }


def alarm_identity(declared: AlarmDeclaration) -> str:
    """Return a digest of all settings of an alarm but its name."""
    facts = {
        "identity": _ALARM_VERSION,
        "kind": declared.kind,
        "series": declared.series,
        "threshold": declared.threshold,
        "window": declared.window,
        "miss_rate": str(declared.miss_rate),
        "false_alarm_rate": str(declared.false_alarm_rate),
        "on_steps": declared.on_steps,
        "off_steps": declared.off_steps,
    }
    return hashlib.sha256(identity_text(facts).encode()).hexdigest()[:32]


def changed_settings(kept: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that differ."""
    return sorted(name for name in now.keys() | kept.keys() if now.get(name) != kept.get(name))


def old_settings(declared: StreamDeclaration) -> dict[str, str]:
    """Return hashes of the settings that streams of version 0 kept, of which only Python's `repr` was hashed.

    For states of before `stream 1` only: their settings are compared once, when the stream is first opened again.
    """
    counted = ("states", "account", "max_states_per_unit", "late_steps", "ahead_steps")
    drawn = ("epsilon", "mechanism", "grouper_share", "theta", "prune", "cutoff")
    texts = {name: repr(getattr(declared, name)) for name in (*counted, *drawn)}
    texts["tree"] = repr(None if declared.tree is None else sorted(declared.tree.items()))
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}


def _column(column: Column | None) -> dict[str, Any] | None:
    return None if column is None else column_facts(column)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
