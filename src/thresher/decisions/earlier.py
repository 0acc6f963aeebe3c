"""The earlier answer that a refinement goes on from: noisy margins, their levels, and whether it is of this question.

Reads: a stored release, the identity it was charged under, a question. Writes: nothing. Never: data; true margins.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.deciding import measured
from thresher.decisions.measured import protected
from thresher.decisions.regimes import SURE_RATE
from thresher.decisions.score_levels import grid
from thresher.decisions.verdicts import MISSES
from thresher.errors import ArgumentError
from thresher.noise import conditional_shift
from thresher.plan import Release
from thresher.question import Atom, Question, sensitivity

# Rules whose levels are found by looking, and those among them that promise no half width beforehand.
_CLIMB, _EXPLORE, _CERTIFIED, _THREE_WAY, _REFINED = "climb", "explore", "certified", "three-way", "refined"
_BY_LOOKING, _REACHING = (_CLIMB, _EXPLORE, _CERTIFIED, _THREE_WAY), (_CERTIFIED, _THREE_WAY)
_FARTHEST = 1 << 40
_ANEW = "Ask anew with `decide`"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A stored answer and all that is needed to go on from it.

    asked     the question with the thresholds of that answer: what its noisy margins are margins of
    moved     by how many steps each threshold is higher now; a margin now is one of then less `moved`
    exact     the level at which noise was drawn, by the amount that the ledger knows it by
    fixed     whether its level was settled before anything was seen; `top` is the highest it could have reached
    steps     the half width at that level, in steps of the margin
    root      the key of the first answer of the chain, of which this is the `place`-th
    """

    key: str
    release: Release
    asked: Question
    moved: int | tuple[int, ...]
    exact: Mapping[Epsilon, Fraction]
    fixed: bool
    top: Epsilon
    steps: int
    root: str
    place: int
    sure_rate: Fraction

    @property
    def next_key(self) -> str:
        """The key of the one refinement it may have: made from its own key and nothing else."""
        return f"{self.root}/{self.place + 1}"

    @property
    def lowest(self) -> Epsilon:
        return min(self.exact)

    @property
    def highest(self) -> Epsilon:
        return max(self.exact)

    @property
    def seen(self) -> NDArray[np.int64]:
        """The noisy margins at the last level of each group."""
        return np.array(self.release.latest or self.release.noisy, dtype=np.int64)

    @property
    def places(self) -> dict[Epsilon, NDArray[np.int64]]:
        """Which groups have which level."""
        nanos = np.array([epsilon.nano for epsilon in self.release.epsilons], dtype=np.int64)
        return {epsilon: np.flatnonzero(nanos == epsilon.nano) for epsilon in self.exact}

    def shown(self, margins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Margins of then as margins of now."""
        return margins - np.array(self.moved, dtype=np.int64)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Misses and false alarms of each group by itself, as that answer promised them."""
        told = self.release.guarantee
        misses, alarms = Fraction(told.miss_rate), Fraction(told.false_alarm_rate)
        if self.release.bound == MISSES:
            return misses, min(alarms, self.sure_rate)
        return min(misses, self.sure_rate), alarms

    @property
    def told_steps(self) -> int:
        """The half width that it told, in steps of its margin, rounded down; 0 if all groups were decided."""
        return _told(self.release)


def recalled(question: Question, key: str, body: bytes, identity: str) -> Earlier:
    """The earlier answer, if it is of this question; refused otherwise, by what is different."""
    said = _said(key, identity)
    _check_data(question, key, said)
    release = Release.from_bytes(body, key)
    _check_groups(question, key, release)
    look, chain = said["look"], said.get("refines", {})
    levels = {epsilon: _exact(epsilon, look, key) for epsilon in release.levels}
    asked, moved = _moved(question, key, release, said["question"])
    return Earlier(
        key=key,
        release=release,
        asked=asked,
        moved=moved,
        exact=levels,
        fixed=look[0] not in _BY_LOOKING and chain.get("fixed", True),
        top=max(_top(look), *levels),
        steps=_steps(look, release, max(levels.values())),
        root=chain.get("root", key),
        place=chain.get("place", 1),
        sure_rate=SURE_RATE if look[0] in _REACHING else Fraction(1),
    )


def refused(key: str, rule: str, fix: str = _ANEW) -> ArgumentError:
    return ArgumentError("of", key, rule, fix)


def _said(key: str, identity: str) -> dict[str, Any]:
    try:
        said = json.loads(identity)
    except ValueError:
        said = None
    if not isinstance(said, dict) or not _is_known(said.get("look")):
        raise refused(key, "there are no noisy margins in this answer, so nothing can be refined")
    return said


def _is_known(look: object) -> bool:
    """One of the rules that look at margins; a plain look is known by its epsilon."""
    kind = look[0] if isinstance(look, list) and look else None
    if kind in (*_BY_LOOKING, _REFINED):
        return True
    try:
        return isinstance(kind, str) and bool(Epsilon.from_json(kind))
    except ArgumentError:
        return False


def _check_data(question: Question, key: str, said: Mapping[str, Any]) -> None:
    table = question.table
    if said["unit"] != protected(table):
        raise refused(key, f"it protects another privacy unit than {table.name} does now")
    if said["data"] != table.fingerprint():
        rule = f"the declarations of {table.name}, or the version of its rows, are others now, so its noise is unknown"
        raise refused(key, rule)


def _check_groups(question: Question, key: str, release: Release) -> None:
    if not release.noisy:
        raise refused(key, "there are no noisy margins in this answer, so nothing can be refined")
    if isinstance(question.formula, bool) or release.groups != tuple(question.labels()):
        raise refused(key, "it is about other groups than this question")


def _moved(question: Question, key: str, release: Release, before: str) -> tuple[Question, int | tuple[int, ...]]:
    """The question with the thresholds of then, and by how many steps those of now are higher."""
    if question.text == before:
        return question, 0
    now, then, atom = measured(question), release.measured, question.formula
    fix = f"Ask as it was asked ({before}), or move the threshold of its one condition"
    if now is None or then is None or now["of"] != then["of"] or not isinstance(atom, Atom):
        raise refused(key, "it answers another question, and only the same measurement can be refined", fix)
    old = tuple(then["at_least"]) if isinstance(then["at_least"], list) else then["at_least"]
    spread, alike = sensitivity(atom, question.table), isinstance(atom.at_least, int) and isinstance(old, int)
    groups = 1 if alike else len(question.groups)
    pairs = zip(_by_group(atom.at_least, groups), _by_group(old, groups), strict=True)
    rises = [release.scale * (high - low) for high, low in pairs]
    if any(rise % spread or abs(rise) > spread * _FARTHEST for rise in rises):
        unit = Fraction(spread, release.scale) / atom.steps
        raise refused(key, f"a threshold moves on the same measurement by whole multiples of {unit} only", fix)
    steps = tuple(rise // spread for rise in rises)
    return replace(question, formula=replace(atom, at_least=old)), steps[0] if alike else steps


def _by_group(threshold: int | tuple[int, ...], groups: int) -> tuple[int, ...]:
    return (threshold,) * groups if isinstance(threshold, int) else threshold


def _exact(epsilon: Epsilon, look: list[Any], key: str) -> Fraction:
    """Levels of a certified decision are dyadic, and the ledger knows them rounded up; all others are whole nano."""
    if look[0] != _CERTIFIED:
        return epsilon.fraction
    near = [level for level in grid(epsilon.fraction / 2, epsilon.fraction) if Epsilon.covering(level) == epsilon]
    if len(near) != 1:
        raise refused(key, "its level is so low that it cannot be told from its neighbours")
    return near[0]


def _top(look: list[Any]) -> Epsilon:
    """The last level that the rule could have climbed to; zero where there was nothing to climb."""
    if look[0] in (_CLIMB, _THREE_WAY):
        return Epsilon.from_json(look[1][-1][0])
    if look[0] == _EXPLORE:
        return Epsilon.from_json(look[1][-1])
    return Epsilon(0)


def _steps(look: list[Any], release: Release, level: Fraction) -> int:
    """The half width that was aimed at; where none was, that of one look at the level reached."""
    if look[0] == _EXPLORE:
        return int(look[2])
    if look[0] not in _REACHING:
        return _told(release)
    told = release.guarantee
    first = Fraction(told.miss_rate if release.bound == MISSES else told.false_alarm_rate)
    return conditional_shift(0, level, first, release.scale) - 1


def _told(release: Release) -> int:
    # The text is rounded at the third decimal, and a step is a sixteenth of a unit or more.
    return round(2 * release.scale * Fraction(release.guarantee.half_width)) // 2
