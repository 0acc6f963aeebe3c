"""The refinement of a stored answer: its noise is made smaller, and only the difference in price is paid.

There are three cases. The noise is refined from its level to a higher level, for the difference. Or the stored noisy
margins are read with another threshold: no row is read, and that is free. Or the stored answer keeps what is asked
for, and is returned as it is.
Reads: a question, an earlier answer, and, inside `run`, sealed aggregates. Writes: nothing.
Never: draws fresh noise for a second look; refines one answer twice. Proof: `refinement.md`.
"""

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import Spending
from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import Asked, asked_of, limits_of
from thresher.decisions.decision_options import Options
from thresher.decisions.decision_plan import decision_identity, largest_loss, threshold_of, truth_of
from thresher.decisions.promise import line_promise, unit_in, wide_regions
from thresher.decisions.refinement_steps import (
    AS_IT_IS,
    OTHER_GROUPS,
    READ_AGAIN,
    REFINE,
    Earlier,
    Step,
    cost_of,
    earlier_answer,
    refused,
    step_to,
)
from thresher.decisions.shift import judged
from thresher.decisions.verdicts import opposite, words
from thresher.errors import ArgumentError
from thresher.guarantee import Guarantee, few_digits, in_units, percent
from thresher.noise import Entropy, history_shift, refine, refined_tail
from thresher.plan import Plan, Statements, subject_of
from thresher.question import Exact, Question
from thresher.release import Release

FAMILY = "refinement"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementPlan(Plan[Release]):
    """The plan of a finer look at the groups of an earlier answer, or of another reading of it."""

    asked: Asked
    earlier: Earlier
    step: Step

    @property
    def question(self) -> Question:
        return self.asked.question

    def recall(self, body: bytes, key: str) -> Release:
        return Release.from_bytes(body, key)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person should know beside the promise."""
        if self.step.kind == AS_IT_IS:
            return self.earlier.release.notes
        shift = self.step.shift
        wide = wide_regions(self.asked, shift.half_width, Fraction(shift.clear, shift.scale))
        return (*self.question.notes, *wide)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending | None]:
        """Refine the noise, which is what was released less what is true. It is never drawn again."""
        if self.step.kind == AS_IT_IS:
            return self.earlier.release, None
        margins = self._sharpened(exact, entropy) if self.step.kind == REFINE else self.earlier.seen
        return self._release(self.earlier.of_now(margins), entropy.stamp), self.cost

    def _sharpened(self, exact: Exact | None, entropy: Entropy) -> NDArray[np.int64]:
        earlier, scale, level = self.earlier, self.step.shift.scale, self.step.shift.epsilon
        margins = truth_of(earlier.then, exact).margins(scale)
        noise = earlier.seen - margins
        for epsilon, places in earlier.places.items():
            if epsilon < level:
                noise[places] = refine(noise[places], earlier.exact[epsilon], level, scale, entropy)
        return np.asarray(margins + noise)

    def _lines(self) -> tuple[int | NDArray[np.int64], int | NDArray[np.int64]]:
        """Return the shifts of both thresholds: the same for all groups, or for each by what was seen of it."""
        shift, earlier, aim = self.step.shift, self.earlier, self.asked.aim
        if not self.step.given_seen:
            return shift.steps, shift.certain
        seen = earlier.of_now(earlier.seen)
        low, high = np.empty_like(seen), np.empty_like(seen)
        for epsilon, places in earlier.places.items():
            levels = earlier.exact[epsilon], shift.epsilon
            low[places] = history_shift(seen[places], *levels, aim.first_rate, shift.scale) - 1
            high[places] = history_shift(opposite(seen[places]), *levels, aim.second_rate, shift.scale) - 1
        return low, high

    def _release(self, margins: NDArray[np.int64], stamp: str) -> Release:
        question, earlier, shift = self.question, self.earlier, self.step.shift
        turned = not self.asked.options.misses_first
        steps, certain = self._lines()
        verdict = judged(margins, steps, certain)
        charged, refined = earlier.release.charged, self.step.kind == REFINE
        levels = {epsilon: max(epsilon, shift.epsilon) if refined else epsilon for epsilon in earlier.exact}
        exact = {
            levels[epsilon]: max(level, shift.epsilon.fraction) if refined else level
            for epsilon, level in earlier.exact.items()
        }
        measured = replace(
            earlier.measured,
            exact=tuple(exact.items()),
            threshold=threshold_of(self.asked),
            steps=shift.steps,
            top=max(Epsilon(0), *exact),
            fixed=self.step.fixed,
            root=earlier.root,
            place=earlier.measured.place + 1,
        )
        return Release(
            question=question.text,
            mechanism="refined",
            keys=earlier.release.keys,
            groups=earlier.release.groups,
            verdicts=words(-verdict if turned else verdict),
            epsilons=tuple(levels[epsilon] for epsilon in earlier.release.epsilons),
            guarantee=self.guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=self.epsilon,
            noisy=tuple((opposite(margins) if turned else margins).tolist()),
            scale=shift.scale,
            steps=() if isinstance(steps, int) else tuple(steps.tolist()),
            bound=self.asked.options.bound,
            refines=earlier.key,
            charged=None if charged is None else max(charged, shift.epsilon) if refined else charged,
            measured=measured,
            # Noise that could be repeated once stays known.
            stamp=earlier.release.stamp or stamp,
            notes=self.notes,
        )

    def affordable(self, limit: Epsilon) -> str | None:
        """Return in words which half width a limit would pay for."""
        options = self.asked.options
        if not limit or self.earlier.moved or (options.miss_rate, options.false_alarm_rate) != self.earlier.rates:
            return None
        within = replace(self.asked, options=replace(options, max_epsilon=limit))
        try:
            step = step_to(within, self.earlier, {"max_epsilon"}, given_seen=self.step.given_seen)
        except ArgumentError:
            return None
        return f"With max_epsilon={limit} and nothing else the half width would be {few_digits(step.shift.half_width)}"

    @property
    def anew(self) -> Epsilon:
        """Return what a first look with the same half width and rates would cost."""
        return self.asked.for_one_unit(self.step.anew)

    def __repr__(self) -> str:
        return f"<RefinementPlan: of {self.earlier.key}, {self.step.kind}, epsilon {self.epsilon}>"

    def explanation(self) -> Statements:
        notes = [("note", note) for note in self.notes]
        return [*self._facts(), *self._priced(), ("promise", self.guarantee.sentence), *notes]

    def _facts(self) -> Statements:
        """Return what is stored, and what becomes of it."""
        earlier, release, options = self.earlier, self.earlier.release, self.asked.options
        levels = " to ".join(str(level) for level in dict.fromkeys((earlier.lowest, earlier.highest)))
        how = {
            REFINE: "its noise is made smaller",
            READ_AGAIN: "its noisy numbers are read at another threshold",
            AS_IT_IS: "returned as it is",
        }
        unit = unit_in(self.asked.question.table)
        then = (
            f"within {in_units(few_digits(release.half_width), unit)}"
            if release.half_width
            else "at which every group was decided"
        )
        of = f"the answer {earlier.key}, measured at epsilon {levels}, {then}"
        over = ""
        if self.step.kind == REFINE:
            over = ", given everything that was seen" if self.step.given_seen else ", over the noise of all looks"
        name = "miss rate" if options.misses_first else "alarm rate"
        rate = self.guarantee.miss_rate if options.misses_first else self.guarantee.false_alarm_rate
        # A threshold that is chosen after the answer was seen has no promised rate.
        rates = [] if self.step.kind == READ_AGAIN else [(name, f"{percent(rate or Fraction(0))}{over}")]
        width = self.guarantee.document()["half_width"]
        return [
            ("question", self.question.text),
            ("refines", f"{of}: {how[self.step.kind]}"),
            *([("threshold", f"was that of: {release.question}")] if earlier.moved else []),
            ("groups", f"{len(self.question.groups):,}, each of them"),
            *rates,
            *([("half width", in_units(width, unit))] if width != "0" else []),
        ]

    def _priced(self) -> Statements:
        if self.step.kind != REFINE:
            return [("epsilon", "0: nothing is read, nothing is charged")]
        fresh = "fresh noise, with rates that hold whatever was seen here"
        same_rows = f"those of key {self.earlier.key}: if they changed, declare a new version, and ask again"
        return [
            ("level", f"{self.step.shift.epsilon} afterwards, which is what all looks together lose"),
            ("epsilon", f"{self.epsilon}: the difference only"),
            ("new key", f"to ask with a new key would cost {self.anew}: {fresh}"),
            ("rows", f"they must be {same_rows}"),
        ]

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        return {
            "question": self.question.text,
            "refines": self.earlier.key,
            "key": None if self.cost is None else self.written_key,
            "does": self.step.kind,
            "bound": self.asked.options.bound,
            "groups": len(self.question.groups),
            "levels": [epsilon.to_json() for epsilon in self.earlier.release.levels],
            "level": None if self.cost is None else self.step.shift.epsilon.to_json(),
            "epsilon": self.epsilon.to_json(),
            "epsilon_asked_anew": self.anew.to_json(),
            "given_seen": self.step.given_seen,
            "half_width_in_units": self.guarantee.document()["half_width"],
            "guarantee": self.guarantee.document(),
            "notes": list(self.notes),
        }


def plan_refinement(
    question: Question,
    options: Options,
    key: str,
    release: Release,
    *,
    said: Set[str] = frozenset(),
    given_seen: bool = False,
) -> RefinementPlan:
    """Return the plan of the least level that keeps the options, and what it costs beyond what was paid.

    Touches no data. `said` names those `options` that were passed; the others are as in the earlier answer.
    `max_epsilon` alone asks for the finest look that it pays for. With `given_seen` the rates hold given everything
    that was seen, which costs more than to ask with a new key.
    """
    if not isinstance(given_seen, bool):
        raise ArgumentError("given_seen", given_seen, "it is True or False", "Pass True, or leave it out")
    if isinstance(question.formula, bool) or not question.groups:
        raise refused(key, OTHER_GROUPS)
    if options.free:
        rule = "a rate of half or more needs no data, so there is nothing to refine"
        raise ArgumentError(options.first_rate_name, options.rates[0], rule, "Pass a rate below one half")
    asked = asked_of(question, options, widths=options.region is not None)
    scale = release.scale if release.measured is None else release.measured.scale
    identity = decision_identity(asked, FAMILY, {"look": "margin", "scale": scale}, _wished(asked, key, given_seen))
    earlier = earlier_answer(asked, identity.parts, key, release)
    step = step_to(asked, earlier, said, given_seen=given_seen)
    cost = cost_of(asked, earlier, step.shift.epsilon) if step.kind == REFINE else None
    return RefinementPlan(
        family=FAMILY,
        account=question.table.account,
        subject=subject_of(question.table),
        identity=identity,
        need=None if cost is None else earlier.then.need,
        cost=cost,
        epsilon=Epsilon(0) if cost is None else largest_loss(cost),
        guarantee=release.guarantee if step.kind == AS_IT_IS else _kept_by(asked, earlier, step),
        limits=limits_of(question, options),
        written_key=earlier.next_key,
        key_is_fixed=True,
        asked=asked,
        earlier=earlier,
        step=step,
    )


def _wished(asked: Asked, key: str, given_seen: bool) -> dict[str, Any]:  # noqa: FBT001 - checked by now
    """Return what makes two refinements of an answer the same, however they were written: an answer has one."""
    options = asked.options
    return {
        "of": key,
        "rates": [decimal_text(rate) for rate in options.rates],
        "tolerances": [list(tolerance) for tolerance in asked.aim.tolerances],
        "max_epsilon": None if options.max_epsilon is None else options.max_epsilon.to_json(),
        "given_seen": given_seen,
    }


def _kept_by(asked: Asked, earlier: Earlier, step: Step) -> Guarantee:
    """Return the promise of a step: over the noise of the whole chain, or given what was seen.

    No rate is promised for a threshold that was chosen after the answer was seen.
    """
    first = line_promise(asked, step.shift.half_width, Fraction(step.shift.clear, step.shift.scale))
    if step.kind == READ_AGAIN:
        return replace(first, kind="read again", facts={"of": earlier.key})
    facts: Mapping[str, str] = {}
    if not step.given_seen:
        missed, alarmed = (_given_seen(earlier, step, reach + 1) for reach in (step.shift.steps, step.shift.certain))
        facts = {"missed": missed, "alarmed": alarmed}
    return replace(first, kind="refined", facts=facts)


def _given_seen(earlier: Earlier, step: Step, reach: int) -> str:
    """Return the most that the probability of an error can be, whatever was seen: rounded up."""
    # The finer the earlier look, the larger that probability, so the highest level that is refined is the worst.
    level = max(exact for epsilon, exact in earlier.exact.items() if epsilon < step.shift.epsilon)
    share = refined_tail(-reach, reach, level, step.shift.epsilon, step.shift.scale).high
    return f"{math.ceil(share * 1000) / 1000:.3g}"
