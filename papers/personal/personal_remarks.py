"""Derive sentences about personal budgets from the measured numbers, one for each claim of the paper.

Reads: measured errors. Writes: nothing. Never: a sentence that the numbers do not say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from papers.personal import personal_models as models
from papers.personal.personal_counts import CountError, Lean, SweepError
from papers.personal.personal_data import LAWS, MADE_UP
from papers.personal.personal_methods import (
    AWARE,
    AWARE_SUMMED,
    EXPONENTIAL,
    MINIMUM,
    PRECISION,
    PRECISION_SUMMED,
    ROUNDS,
    SAMPLING,
    UNSCALED,
    WEIGHTED,
    WEIGHTED_RARE,
    WEIGHTINGS,
    ZERO,
)
from papers.personal.personal_models import ModelScore, ModelSweep
from papers.personal.personal_reference import CORRELATED, CORRELATED_TRUTH, COUNTS, MISCLASSIFIED
from papers.report import near_reference

_One = TypeVar("_One")
_Setting = Mapping[str, float]
# These are right if nobody says yes.
_TO_ZERO = (ZERO, UNSCALED)


def count_remarks(found: Sequence[CountError]) -> tuple[str, ...]:
    """Return remarks on the paper's claims about counts, and on the methods that err least."""
    if not found:
        return ()
    all_of = _grouped(found, lambda one: (one.data, one.law), lambda one: one.method, lambda one: one.error)
    busy = [each for each in all_of if min(each, key=each.__getitem__) != ZERO]
    ratios = [
        one.error / known
        for one in found
        if one.data == MADE_UP and (known := COUNTS.get((one.law, one.method))) is not None
    ]
    return (
        f"Saying 0 always errs less than every method in {_count(all_of, lambda e: e not in busy)}.",
        f"Printed: parts by utility err slightly less than parts by waste, and both less than minimum. Here {PRECISION}"
        f" errs less than {AWARE} in {_less(all_of, PRECISION, AWARE)}, and that less than {MINIMUM} in"
        f" {_less(all_of, AWARE, MINIMUM)}, if parts are weighed by precision.",
        f"Summed, which is right whatever budgets depend on, {PRECISION} errs less than {MINIMUM} in"
        f" {_less(all_of, PRECISION_SUMMED, MINIMUM)} and {AWARE} in {_less(all_of, AWARE_SUMMED, MINIMUM)}: by chance,"
        " for its variance is never smaller.",
        f"Rounds on what is left err less than one round in {_less(all_of, ROUNDS, AWARE)}.",
        f"Leaving out what leans to 0 ({', '.join(_TO_ZERO)}), one of the {len(WEIGHTINGS)} weighted releases errs"
        f" least in {_count(all_of, lambda e: any(_first(e, name) for name in WEIGHTINGS))}. The one with the best"
        f" cap for half of the people errs less than all that is not weighted in {_count(all_of, _ahead(WEIGHTED))},"
        f" the one for rare answers in {_count(all_of, _ahead(WEIGHTED_RARE))}.",
        f"Samples that are not rescaled err {_factors(busy, SAMPLING, UNSCALED)} times as much where saying 0 is not"
        f" best. The exponential mechanism errs more than {MINIMUM} in {_less(all_of, MINIMUM, EXPONENTIAL)}.",
        *near_reference("errors of made-up people", ratios),
    )


def sweep_remarks(found: Sequence[SweepError], counts: Sequence[CountError]) -> tuple[str, ...]:
    """Return remarks on figures 2 and 3."""
    if not found:
        return ()
    sweeps = _by_setting(found)
    best = {key: min(points, key=lambda point: point.error) for key, points in sweeps.items()}
    remarks = [
        "Printed: sampling is best where the threshold is the mean budget. Here the best threshold is "
        + "; ".join(
            f"{_spans(best[key].threshold for key in sweeps if key[1] == law)} for {law} budgets"
            for law in dict.fromkeys(key[1] for key in sweeps)
        )
        + f" (means: {', '.join(f'{law.name} {law.mean:.3g}' for law in LAWS.values())}).",
        "Printed: errors rise sharply below the mean. At the least threshold they are "
        f"{_spans(points[0].error / best[key].error for key, points in sweeps.items())} times those at the best one,"
        f" and at the largest {_spans(points[-1].error / best[key].error for key, points in sweeps.items())} times.",
    ]
    errors: dict[tuple[str, ...], float] = {(one.data, one.law, one.method): one.error for one in counts}
    for name in (PRECISION, AWARE, WEIGHTED, WEIGHTED_RARE):
        ratios = [errors[*key, name] / best[key].error for key in sweeps if (*key, name) in errors]
        if ratios:
            parted = "Printed: parts err almost as little as the best sampling. " * (name not in WEIGHTINGS)
            least = f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)} settings"
            remarks.append(f"{parted}{name}: {_spans(ratios)} times as much as the best sampling, less in {least}.")
    return tuple(remarks)


def lean_remarks(found: Sequence[Lean]) -> tuple[str, ...]:
    """Return a remark on budgets that depend on answers."""
    if not found:
        return ()
    off = {one.method: one.estimate - one.truth for one in found}
    known = ", ".join(
        f"{method} {off[method]:+.4f} (reference {value - CORRELATED_TRUTH:+.4f})"
        for method, value in CORRELATED.items()
    )
    honest = ", ".join(f"{method} {off[method]:+.4f}" for method in (MINIMUM, PRECISION_SUMMED, AWARE_SUMMED))
    return (
        f"If budgets depend on answers, every method that weighs people by budgets is off, and more people do not"
        f" help: {known}. Methods that weigh all people alike are right but for noise: {honest}.",
    )


def model_remarks(found: Sequence[ModelScore], sweeps: Sequence[ModelSweep]) -> tuple[str, ...]:
    """Return remarks on figures 4 and 5, and on logistic regression."""
    mine = [one for one in found if one.way != models.CHANGED]
    if not mine:
        return ()
    key: Callable[[ModelScore], object] = lambda one: (one.data, one.law, one.model, one.way)  # noqa: E731
    areas = _grouped(mine, key, lambda one: one.method, lambda one: 1 - one.area)
    wrong = _grouped(mine, key, lambda one: one.method, lambda one: one.misclassified)
    beaten = _count(areas, lambda e: min(e[name] for name in models.PARTED) < e[models.SAMPLING])
    ratios = [
        one.misclassified / known
        for one in found
        if (one.data, one.model, one.way) == (MADE_UP, models.LOGISTIC, models.CHANGED)
        and (known := MISCLASSIFIED.get((one.law, one.method))) is not None
    ]
    remarks = [
        f"Printed: parts learn better than samples. Here the best of four ways to make parts has a larger area than"
        f" sampling at the mean in {beaten}, and {models.BY_NOISE} in {_less(areas, models.BY_NOISE, models.SAMPLING)};"
        f" sampling misclassifies less than {models.BY_NOISE} in"
        f" {_less(wrong, models.SAMPLING, models.BY_NOISE)}.",
        f"{models.WEIGHTED.capitalize()}, one fit of all, has a larger area than sampling in"
        f" {_less(areas, models.WEIGHTED, models.SAMPLING)}, and than {models.BY_NOISE} in"
        f" {_less(areas, models.WEIGHTED, models.BY_NOISE)}.",
        f"Voting, as printed, has a smaller area than the same parts weighed in"
        f" {_less(areas, models.FIVE, models.VOTE)}.",
        *near_reference("shares misclassified by logistic regression", ratios),
    ]
    if sweeps:
        best = {key: max(points, key=lambda point: point.area) for key, points in _by_setting(sweeps).items()}
        spread = "; ".join(
            f"{_spans(point.threshold for key, point in best.items() if key[1] == law)} for {law} budgets"
            for law in dict.fromkeys(key[1] for key in best)
        )
        remarks.append(
            f"Printed: no pattern for the best threshold if budgets are uniform, and about 0.5 if they are normal. Here"
            f" the largest area is at {spread}."
        )
    return tuple(remarks)


def _grouped(
    found: Iterable[_One], same: Callable[[_One], object], name: Callable[[_One], str], value: Callable[[_One], float]
) -> list[_Setting]:
    """Return values by name, for each setting."""
    settings: dict[object, dict[str, float]] = {}
    for one in found:
        settings.setdefault(same(one), {})[name(one)] = value(one)
    return list(settings.values())


_Point = TypeVar("_Point", SweepError, ModelSweep)


def _by_setting(found: Iterable[_Point]) -> dict[tuple[str, ...], list[_Point]]:
    settings: dict[tuple[str, ...], list[_Point]] = {}
    for one in found:
        key = (one.data, one.law, one.model) if isinstance(one, ModelSweep) else (one.data, one.law)
        settings.setdefault(key, []).append(one)
    return settings


def _first(setting: _Setting, name: str) -> bool:
    """Tell whether a method errs least, among those that do not lean to 0."""
    rest = {other: value for other, value in setting.items() if other not in _TO_ZERO}
    return min(rest, key=rest.__getitem__) == name


def _ahead(name: str) -> Callable[[_Setting], bool]:
    """Tell whether a method errs less than all that are not weighted, among those that do not lean to 0."""
    leaving = (*_TO_ZERO, *WEIGHTINGS)
    return lambda each: all(each[name] < value for other, value in each.items() if other not in leaving)


def _count(settings: Sequence[_Setting], holds: Callable[[_Setting], bool]) -> str:
    return f"{sum(map(holds, settings))} of {len(settings)} settings"


def _less(settings: Sequence[_Setting], one: str, other: str) -> str:
    return _count(settings, lambda each: each[one] < each[other])


def _factors(settings: Sequence[_Setting], one: str, other: str) -> str:
    return _spans(each[other] / each[one] for each in settings if each[one] > 0)


def _spans(values: Iterable[float]) -> str:
    """Say the least and the largest value."""
    ranked = sorted(values)
    if not ranked:
        return "nothing"
    low, high = f"{ranked[0]:.3g}", f"{ranked[-1]:.3g}"
    return low if low == high else f"{low} to {high}"
