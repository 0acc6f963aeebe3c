"""Divide the miss rate between conditions that are each measured by themselves. Proof: `apportion.md`.

    even_shares     the same for every condition: what the naive method does
    probe_shares    the least loss for ProBE's own constraint, by which every leaf adds to the misses
    once_shares     the same if a condition that is written several times is measured, and charged, once

A mechanism that measures one margin for the whole formula (`margin.py`) does not divide the miss rate.
Reads: public numbers. Writes: nothing. Never: shares that together may exceed the miss rate.
"""

from collections.abc import Sequence
from fractions import Fraction

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.question.trees import Tree, leaves, occurrences

# Shares are exact if that takes few digits, and otherwise cut off (never rounded up) after this many digits.
_DIGITS = 15
_PARTS = 10**_DIGITS
_SHORT = 10**9

Shares = tuple[Fraction, ...]


def even_shares(tree: Tree, miss_rate: Amount) -> Shares:
    """Divide the miss rate by the number of distinct conditions."""
    atoms, rate = occurrences(tree), _rate(miss_rate)
    return _placed(tree, {atom: Fraction(1, len(atoms)) for atom in atoms}, rate)


def probe_shares(tree: Tree, weights: Sequence[Amount], miss_rate: Amount) -> Shares:
    """Return b_i = rate w_i / sum of o_y w_y, o_i the number of times that condition i is written (ProBE, Theorem 4.5).

    In the printed form sensitivities are inside the product and multiply each other, which may use twice the miss rate;
    this is the form that the proof leads to. `weights`: sensitivity over half width of each condition.
    """
    written, known, rate = occurrences(tree), _weights(tree, weights), _rate(miss_rate)
    total = sum((times * known[atom] for atom, times in written.items()), Fraction(0))
    return _placed(tree, {atom: known[atom] / total for atom in written}, rate)


def once_shares(tree: Tree, weights: Sequence[Amount], miss_rate: Amount) -> Shares:
    """Return b_i = rate w_i / (o_i sum of w_y), for conditions that are charged once each (ProBE, Algorithm 5)."""
    written, known, rate = occurrences(tree), _weights(tree, weights), _rate(miss_rate)
    total = sum((known[atom] for atom in written), Fraction(0))
    return _placed(tree, {atom: known[atom] / (times * total) for atom, times in written.items()}, rate)


def _placed(tree: Tree, parts: dict[int, Fraction], rate: Fraction) -> Shares:
    """Return shares by the number of the condition, up to the largest in the tree; 0 for those not in it."""
    last = max(leaves(tree))
    return tuple(cut_off(parts[atom]) * rate if atom in parts else Fraction(0) for atom in range(last + 1))


def cut_off(part: Fraction) -> Fraction:
    """Return a number of few digits that is at most `part`, and above zero."""
    if part.denominator <= _SHORT:
        return part
    # These are significant digits, so even a tiny part stays above zero.
    scale = _PARTS * 10 ** len(str(part.denominator // part.numerator))
    return Fraction(part.numerator * scale // part.denominator, scale)


def _weights(tree: Tree, weights: Sequence[Amount]) -> dict[int, Fraction]:
    known = {i: exact_fraction(weight, f"weights[{i}]") for i, weight in enumerate(weights)}
    missing = set(leaves(tree)) - set(known)
    if missing:
        rule = f"there must be one for each condition, and there is none for condition {min(missing)}"
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
