"""How the miss rate is shared out over conditions that are each measured by themselves. Proof: `apportion.md`.

    even_shares        the same for every condition: what the naive method does
    probe_shares       the least loss for ProBE's own constraint, by which every leaf adds to the misses
    once_shares        the same if a condition that is written several times is measured, and paid, once
    implicant_shares   the least loss there is by the union bound: misses add up along prime implicants only

One margin for the whole formula needs none of this, because all of the miss rate serves it (`margin.py`). Shares matter
where conditions are measured one by one, to show their values or to compare.
Reads: public numbers. Writes: nothing. Never: shares that together may exceed the miss rate, by however little.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon
from thresher.question.implicants import Primes, primes, read_once
from thresher.question.trees import EveryOf, Tree, every, leaves, occurrences

# Shares are exact if that takes few digits, and otherwise cut off (never rounded up) after so many of them.
_DIGITS = 15
_PARTS = 10**_DIGITS
_SHORT = 10**9
# Of the loss; the iteration ends here or after so many rounds, and its shares are safe wherever it ends.
_NEAR_ENOUGH = 1e-9
_MOST_ROUNDS = 10_000

Shares = tuple[Fraction, ...]


def even_shares(tree: Tree, miss_rate: Amount) -> Shares:
    """The miss rate divided by the number of distinct conditions."""
    atoms, rate = occurrences(tree), _rate(miss_rate)
    return _placed(tree, {atom: Fraction(1, len(atoms)) for atom in atoms}, rate)


def probe_shares(tree: Tree, weights: Sequence[Amount], miss_rate: Amount) -> Shares:
    """b_i = rate w_i / sum of o_y w_y, o_i the number of times that condition i is written (ProBE, Theorem 4.5).

    As printed the sensitivities stand inside the product and are multiplied with themselves, which may spend twice the
    miss rate; this is the form that its proof leads to. `weights`: sensitivity over half width of each condition.
    """
    written, known, rate = occurrences(tree), _weights(tree, weights), _rate(miss_rate)
    total = sum((times * known[atom] for atom, times in written.items()), Fraction(0))
    return _placed(tree, {atom: known[atom] / total for atom in written}, rate)


def once_shares(tree: Tree, weights: Sequence[Amount], miss_rate: Amount) -> Shares:
    """b_i = rate w_i / (o_i sum of w_y): as `probe_shares`, if a condition is paid for once (ProBE, Algorithm 5)."""
    written, known, rate = occurrences(tree), _weights(tree, weights), _rate(miss_rate)
    total = sum((known[atom] for atom in written), Fraction(0))
    return _placed(tree, {atom: known[atom] / (times * total) for atom, times in written.items()}, rate)


def implicant_shares(tree: Tree, weights: Sequence[Amount], miss_rate: Amount) -> Shares:
    """The least loss for which the shares of each prime implicant add up to at most the miss rate.

    In an OR every condition has all of it. A condition that makes no difference has none and need not be measured.
    Equivalent trees over at most 16 conditions have equal shares; beyond, a tree that writes a condition twice is
    treated as if all its conditions were joined by AND, which is safe.
    """
    known, rate, found = _weights(tree, weights), _rate(miss_rate), primes(tree)
    once = read_once(found)
    if once is None and len(set(written := list(leaves(tree)))) == len(written):
        once = tree
    if once is None and not found.exact:
        once = every(*found.implicants[0])
    parts = _split(found, known) if once is None else dict(_passed_down(once, known, Fraction(1)))
    return _placed(tree, parts, rate)


def direct_epsilon(shares: Shares, tolerances: Sequence[tuple[int, int]]) -> Epsilon:
    """What it costs to measure each condition by itself: (slack, sensitivity) of each; no share, no measurement."""
    if len(tolerances) < len(shares):
        rule = f"there must be one for each of the {len(shares)} conditions"
        raise ArgumentError("tolerances", f"{len(tolerances)} tolerances", rule, "Pass (slack, sensitivity) of each")
    looks = zip(shares, tolerances, strict=False)
    return Epsilon.total(smallest_epsilon(share, slack + 1, spread) for share, (slack, spread) in looks if share)


def _passed_down(tree: Tree, weights: dict[int, Fraction], part: Fraction) -> list[tuple[int, Fraction]]:
    """OR hands all of it to each of its parts; AND divides it by the weights of the conditions below."""
    if isinstance(tree, int):
        return [(tree, part)]
    below = [sum((weights[atom] for atom in leaves(inner)), Fraction(0)) for inner in tree.parts]
    total = sum(below, Fraction(0)) if isinstance(tree, EveryOf) else None
    found = []
    for inner, weight in zip(tree.parts, below, strict=True):
        found += _passed_down(inner, weights, part if total is None else part * weight / total)
    return found


def _split(found: Primes, weights: dict[int, Fraction]) -> dict[int, Fraction]:
    """By a multiplicative iteration on the implicants' prices, in floats; made safe in whole numbers afterwards."""
    atoms = found.atoms
    among = np.array([[atom in implicant for atom in atoms] for implicant in found.implicants])
    heaviest = max(weights[atom] for atom in atoms)
    shares = _least_loss(among.astype(np.float64), np.array([float(weights[atom] / heaviest) for atom in atoms]))
    parts = np.maximum(np.floor(shares * _PARTS), 1).astype(np.int64)
    inside = among.astype(np.int64)
    while (most := int((inside @ parts).max())) > _PARTS:
        # Python's integers: the product of two of these does not fit in 64 bits.
        parts = np.array([max(1, part * _PARTS // (most + 1)) for part in parts.tolist()])
    return {atom: Fraction(part, _PARTS) for atom, part in zip(atoms, parts.tolist(), strict=True)}


def _least_loss(among: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimises sum of w ln(1/b) where the b of every row add up to at most 1; within `_NEAR_ENOUGH` of it."""
    price = np.full(len(among), 1 / len(among))
    total = weights.sum()
    for _ in range(_MOST_ROUNDS):
        shares = weights / (price @ among) / total
        used = among @ shares
        if used.max() <= 1 + _NEAR_ENOUGH:
            break
        price = price * used
        price /= price.sum()
    return np.asarray(shares / used.max())


def _placed(tree: Tree, parts: dict[int, Fraction], rate: Fraction) -> Shares:
    """Shares by number, up to the largest in the tree; one that is not written or makes no difference has none."""
    last = max(leaves(tree))
    return tuple(cut_off(parts[atom]) * rate if atom in parts else Fraction(0) for atom in range(last + 1))


def cut_off(part: Fraction) -> Fraction:
    """At most as much, in few digits, and never nothing."""
    if part.denominator <= _SHORT:
        return part
    # So many digits that count, however small the part is: it stays above zero.
    scale = _PARTS * 10 ** len(str(part.denominator // part.numerator))
    return Fraction(part.numerator * scale // part.denominator, scale)


def _weights(tree: Tree, weights: Sequence[Amount]) -> dict[int, Fraction]:
    known = {i: exact_fraction(weight, f"weights[{i}]") for i, weight in enumerate(weights)}
    missing = set(leaves(tree)) - set(known)
    if missing:
        rule = f"there must be one for each condition, and condition {min(missing)} has none"
        raise ArgumentError("weights", f"{len(known)} weights", rule, "Pass sensitivity / half width of each")
    for i, weight in known.items():
        if weight <= 0:
            raise ArgumentError(f"weights[{i}]", weight, "it must be above zero", "Pass sensitivity / half width")
    return known


def _rate(miss_rate: Amount) -> Fraction:
    rate = exact_fraction(miss_rate, "miss_rate")
    if not 0 < rate < 1:
        raise ArgumentError("miss_rate", miss_rate, "it must be above 0 and below 1", "Pass 0.05, say")
    return rate
