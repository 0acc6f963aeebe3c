"""Forecast how far off each method will be on a roster, from the roster alone.

Reads: a roster. Writes: nothing. Never: data. Forecasts are standard deviations, not promises.
"""

from dataclasses import dataclass

from thresher.amounts import NANO, Epsilon
from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import exponential_plan
from thresher.personal.part_releases import frequency_weights
from thresher.personal.partition import in_rounds, most_parts, partition
from thresher.personal.parts import Parts, Rounds
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampling_plan
from thresher.personal.weighted import weighted_plan

USUAL_PARTS = 5
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class MethodForecast:
    """One method: the standard deviation of a share of the roster, and whether it assumes independent budgets."""

    method: str
    how: str
    predicted_sd: float
    assumes: bool


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A roster with its parts of least waste, and the forecast of each method, the best first."""

    roster: Roster
    parts: Parts
    outlooks: tuple[MethodForecast, ...]


def forecast(roster: Roster, parts: int | None = None, *, least_size: int = 1) -> Forecast:
    """Forecast the error of a share of the roster near one half, if everybody gives their whole budget.

    `parts` is the number of parts of least waste: by default five, or as many as `least_size` leaves room for.
    Privacy: a function of the roster alone. Runtime: that of the partitions; a second for 10⁵ different budgets.
    """
    wanted = max(1, min(USUAL_PARTS, most_parts(roster, least_size))) if parts is None else parts
    cut = partition(roster, wanted, least_size=least_size)
    best = precision_partition(roster, least_size=least_size)
    rounds = in_rounds(roster, wanted, _ROUNDS, least_size=least_size)
    weighted, threshold, minimum = weighted_plan(roster), threshold_plan(roster), minimum_plan(roster)
    sampling, choice = sampling_plan(roster), exponential_plan(roster)
    cap = Epsilon.from_nano(int(weighted.grid * int(weighted.weights.max()) * NANO))
    at = min(spent for spent in threshold.spent if spent)
    several: dict[str, tuple[Parts | Rounds, str]] = {
        "utility parts": (best, f"{len(best.levels)} parts, by precision"),
        "least waste": (cut, f"{len(cut.levels)} parts, by precision"),
        "rounds": (rounds, f"{len(rounds.rounds)} rounds on what is left"),
    }
    outlooks = [
        MethodForecast("weighted", f"everybody by their budget, up to {cap}", weighted.predicted_sd, not weighted.fair),
        MethodForecast(
            "sampling", f"some of those below {sampling.cap}, noise at it", sampling.predicted_sd, not sampling.fair
        ),
        MethodForecast("threshold", f"those who allow {at} or more", threshold.predicted_sd, not threshold.fair),
        MethodForecast("choice", "a count drawn from all possible ones", choice.predicted_sd, not choice.fair),
        MethodForecast("minimum", "everybody at the least budget", minimum.predicted_sd, not minimum.fair),
        # One part that holds everybody is ordinary privacy.
        *(
            MethodForecast(name, how, frequency_weights(made).predicted_sd, made.sizes != (roster.people,))
            for name, (made, how) in several.items()
        ),
    ]
    return Forecast(roster, cut, tuple(sorted(outlooks, key=lambda outlook: outlook.predicted_sd)))
