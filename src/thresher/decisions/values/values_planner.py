"""Choose, before anything is read, which numbers to measure together: by scores, greedy merging, and exact prices.

Reads: measures, signatures, the sets along which errors add up. Writes: nothing. Never: data.
Why every outcome is safe, and how good it is: `values_planner.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from thresher.amounts import Epsilon
from thresher.decisions.values.block_rates import Demand, Held, smooth_rates, whole_rates
from thresher.decisions.values.measures import FormulaNumbers
from thresher.decisions.values.smooth_tails import tail_quantile
from thresher.decisions.values.strategies import MOST_READINGS, Block, joint_block, loss, touched_together
from thresher.errors import ArgumentError
from thresher.question.implicants import Sets
from thresher.question.signatures import Signatures

_SOLVED = 4
# Prices that differ by less than this count as equal; then the strategy with fewer readings is taken.
_SAME = 1e-6

# The scales that `noise/` draws, with room for the change from smooth to whole rates.
_NARROWEST, _WIDEST = 0.002, 0.5e9

Partition = tuple[tuple[int, ...], ...]
# A price in floats, blocks, and their rates.
Offer = tuple[float, tuple[Block, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Task:
    """Numbers to measure: misses of conditions add up along each of `sets`, to at most `rate`."""

    formula: FormulaNumbers
    signatures: Signatures
    sets: Sets
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Strategy:
    """Blocks, the epsilon of each, and what a unit in one group loses by all blocks."""

    blocks: tuple[Block, ...]
    epsilons: tuple[Epsilon, ...]
    epsilon: Epsilon


def strategy_for(task: Task) -> Strategy:
    """Return the cheapest strategy that the search finds; it never costs more than measuring each number by itself."""
    search = _Search(task)
    singles: Partition = tuple((measure,) for measure in search.used)
    if len(singles) > MOST_READINGS:
        rule = f"{len(singles)} numbers for each group are more than the {MOST_READINGS} that can be measured"
        raise ArgumentError("show", "values", rule, "Ask for verdicts only, or ask several questions")
    path = search.merged(singles)
    best = sorted(path, key=search.score)[:_SOLVED]
    solved = [search.solved(partition) for partition in dict.fromkeys([singles, *best, path[-1]])]
    offers = [offer for offer in solved if _can_be_drawn(offer)] or [_refused(solved[0])]
    cheapest = min(price for price, _, _ in offers)
    level = [offer for offer in offers if offer[0] <= cheapest * (1 + _SAME)]
    _, blocks, rates = min(level, key=lambda offer: sum(len(block.readings) for block in offer[1]))
    return search.exact(blocks, rates)


def _can_be_drawn(offer: Offer) -> bool:
    """Tell whether the noise of every reading is neither too wide nor too narrow to be drawn."""
    _, blocks, rates = offer
    scales = [blocks[i].readings[0].sensitivity / rate for i, rate in enumerate(rates)]
    return all(_NARROWEST < scale < _WIDEST for scale in scales)


def _refused(offer: Offer) -> Offer:
    _, blocks, _ = offer
    spread = max(block.readings[0].sensitivity for block in blocks)
    rule = f"one unit moves a number by up to {spread:,} steps, and noise of that scale cannot be drawn"
    raise ArgumentError("show", "values", rule, "Declare a larger step for its column, or ask for verdicts only")


class _Search:
    """One search, which remembers the blocks and costs that it computed."""

    def __init__(self, task: Task) -> None:
        self.task = task
        literals = task.formula.literals
        self.places = sorted({place for members in task.sets for place in members})
        self.used = sorted({literals[place].measure for place in self.places})
        self._blocks: dict[tuple[int, ...], Block | None] = {}
        self._costs: dict[tuple[int, ...], float] = {}
        self._largest = task.signatures.largest()
        largest = {place: max(len(members) for members in task.sets if place in members) for place in self.places}
        self._shares = {place: float(task.rate) / largest[place] for place in self.places}

    def block(self, members: tuple[int, ...]) -> Block | None:
        if members not in self._blocks:
            measures, signatures = self.task.formula.measures, self.task.signatures
            self._blocks[members] = joint_block(members, measures, signatures)
        return self._blocks[members]

    def blocks(self, partition: Partition) -> tuple[Block, ...]:
        blocks = (self.block(members) for members in partition)
        return tuple(block for block in blocks if block is not None)

    def cost(self, members: tuple[int, ...]) -> float:
        """Return the rate at which a block keeps the share of each of its conditions."""
        if members not in self._costs:
            held = self._held(self.blocks((members,)))
            self._costs[members] = max(
                tail_quantile(one.noise, self._shares[place]) / (one.slack + 0.5) for place, one in held.items()
            )
        return self._costs[members]

    def score(self, partition: Partition) -> float:
        """Return the price of a partition if each condition's share is the rate over the size of its largest set."""
        paid = [(block, self.cost(block.members)) for block in self.blocks(partition)]
        return max(sum(cost for block, cost in paid if block.always or block.touched & mask) for mask in self._largest)

    def merged(self, partition: Partition) -> list[Partition]:
        """Merge, from single numbers on, the pair of blocks whose union scores least, even if the price rises."""
        path = [partition]
        while True:
            offers = [self._joined(path[-1], pair) for pair in combinations(path[-1], 2)]
            possible = [offer for offer in offers if offer is not None]
            if not possible:
                return path
            path.append(min(possible, key=self.score))

    def solved(self, partition: Partition) -> Offer:
        blocks = self.blocks(partition)
        demand = self._demand(blocks)
        rates = smooth_rates(demand, [self.cost(members) for members in partition])
        return demand.price(rates), blocks, rates

    def exact(self, blocks: tuple[Block, ...], rates: Sequence[float]) -> Strategy:
        epsilons = whole_rates(self._demand(blocks), rates)
        lost = loss(blocks, [epsilon.nano for epsilon in epsilons], self.task.signatures)
        return Strategy(blocks, epsilons, Epsilon.from_nano(lost))

    def _joined(self, partition: Partition, pair: tuple[tuple[int, ...], ...]) -> Partition | None:
        union = tuple(sorted(member for members in pair for member in members))
        if self.block(union) is None:
            return None
        joined = tuple(sorted((*(members for members in partition if members not in pair), union)))
        readings = sum(len(block.readings) for block in self.blocks(joined))
        return joined if readings <= MOST_READINGS else None

    def _held(self, blocks: Sequence[Block]) -> dict[int, Held]:
        """Return the conditions that these blocks answer, by place."""
        noises = {
            member: (i, answer.noise)
            for i, block in enumerate(blocks)
            for member, answer in zip(block.members, block.answers, strict=True)
        }
        literals = [(place, self.task.formula.literals[place]) for place in self.places]
        return {place: Held(*noises[one.measure], one.slack) for place, one in literals if one.measure in noises}

    def _demand(self, blocks: Sequence[Block]) -> Demand:
        held = self._held(blocks)
        order = {place: i for i, place in enumerate(held)}
        sets = tuple(tuple(order[place] for place in members) for members in self.task.sets)
        return Demand(tuple(held.values()), sets, self.task.rate, touched_together(blocks, self.task.signatures))
