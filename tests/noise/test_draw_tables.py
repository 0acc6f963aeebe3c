from fractions import Fraction

import mpmath
import numpy as np
import pytest

from thresher.noise import discrete_laplace, draw_tables
from thresher.noise.draw_tables import DrawTable, draw_table
from thresher.noise.enclosure import Enclosure
from thresher.noise.gradual import Jump, Rest
from thresher.noise.laplace import Digit, digits_of

BITS = 32
SCALES = [
    Fraction(1, 1000),
    Fraction(1, 2),
    Fraction(3),
    Fraction(10),
    Fraction(1000),
    Fraction(10**6),
    Fraction(10**9),
]
LAWS = [digit for scale in SCALES for signed in (True, False) for digit in digits_of(1 / scale, signed=signed)]
LAWS += [
    Jump(Fraction(1, 10), Fraction(1, 5)),
    Jump(Fraction(1, 10**6), Fraction(1, 10**6) + Fraction(1, 10**9)),
    Rest(Fraction(1, 10), Fraction(1, 5)),
    Rest(Fraction(1, 10**9), Fraction(3)),
]


def reference_masses(law):
    """The probabilities of a law by its definition, summed up in high precision: no formula of the product's."""
    if isinstance(law, Jump):
        p1, p2 = (mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e in (law.first, law.second))
        leap = (p1 * p2 - p2**2) / (1 - p2**2)
        return [leap, leap, 1 - 2 * leap]
    if isinstance(law, Rest):
        p1, p2 = (mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e in (law.first, law.second))
        same = (1 - p1) ** 2 * p2 / ((1 - p2) ** 2 * p1)
        return [same, 1 - same]
    p = mpmath.exp(-mpmath.mpf(law.rate.numerator) / law.rate.denominator)
    weights = [p**d for d in range(law.count)]
    if law.leading:
        weights.append(p**law.count / (1 - p))
    if law.signed:
        weights += [p * weight for weight in weights]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("bits", [32, 96])
def test_thresholds_equal_a_high_precision_reference(law, bits):
    with mpmath.workprec(4000):
        running, expected = mpmath.mpf(0), []
        for mass in reference_masses(law)[:-1]:
            running += mass
            expected.append(int(mpmath.floor(running * 2**bits)))
        assert DrawTable(law).first_bits(bits) == expected
    assert len(law.outcomes()) == len(expected) + 1


def test_the_reference_check_sees_a_wrong_last_bit():
    law = Digit(Fraction(1, 10), 160, leading=True, signed=True)
    wrong = Digit(Fraction(1, 10) + Fraction(1, 10**9), 160, leading=True, signed=True)
    assert DrawTable(law).first_bits(BITS) != DrawTable(wrong).first_bits(BITS)


@pytest.mark.parametrize("law", LAWS[::5], ids=str)
def test_every_cell_of_the_lookup_is_settled_rightly_or_left_open(law):
    table = DrawTable(law)
    lookup, outcomes = table._lookup, law.outcomes()
    thresholds = [int(t) for t in table.thresholds]
    for cell in range(1 << 16):
        first, last = cell << 16, (cell << 16) | 0xFFFF
        below_first = sum_below(thresholds, first)
        if lookup[cell] == draw_tables._UNSETTLED:
            assert any(first <= t <= last for t in thresholds[below_first : below_first + 1])
        else:
            assert below_first == sum_below(thresholds, last + 1)
            assert lookup[cell] == outcomes[below_first]


def sum_below(thresholds, word):
    low, high = 0, len(thresholds)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if thresholds[middle] < word else (low, middle)
    return low


class Scripted:
    """Entropy that serves given bytes in order."""

    stamp = "NOT PRIVATE"

    def __init__(self, *chunks):
        self._bytes = b"".join(chunks)

    def read(self, count):
        served, self._bytes = self._bytes[:count], self._bytes[count:]
        assert len(served) == count
        return served


@pytest.mark.parametrize("law", [Digit(Fraction(1, 2), 32, leading=True, signed=True), *LAWS[-4:]], ids=str)
def test_a_draw_that_equals_a_threshold_is_continued_to_the_right_side(law):
    """Around a threshold the outcome must flip exactly at its next 32 bits, and those after them."""
    table, outcomes = DrawTable(law), law.outcomes()
    at = {bits: table.first_bits(bits) for bits in (32, 64, 96)}
    for i, word in enumerate(at[32]):
        if at[32].count(word) > 1:
            continue
        next_word, third = at[64][i] & 0xFFFFFFFF, at[96][i] & 0xFFFFFFFF
        cases = [
            (next_word - 1, 0, i),
            (next_word + 1, 0, i + 1),
            (next_word, third - 1, i),
            (next_word, third + 1, i + 1),
        ]
        for second, last, expected in cases:
            if 0 <= second < 1 << 32 and 0 <= last < 1 << 32:
                script = Scripted(*(w.to_bytes(4, "little") for w in (word, second, last)))
                assert table.draw(1, script)[0] == outcomes[expected]


def test_thresholds_that_share_their_first_bits_are_told_apart():
    law = Digit(Fraction(20), 3, leading=True, signed=False)  # 1 - e^-40 and 1 - e^-60 both begin with 32 ones
    table = DrawTable(law)
    assert table.first_bits(32)[1:] == [2**32 - 1] * 2
    ends = {bits: table.first_bits(bits) for bits in (64, 96)}
    second = (ends[64][1] & 0xFFFFFFFF).to_bytes(4, "little")
    third = ends[96][1] & 0xFFFFFFFF
    for word, outcome in ((third - 1, 1), (third + 1, 2)):
        assert table.draw(1, Scripted(b"\xff" * 4, second, word.to_bytes(4, "little")))[0] == outcome


def test_lookup_and_search_agree_word_by_word():
    table = DrawTable(Digit(Fraction(1, 10), 160, leading=True, signed=True))
    words = np.frombuffer(np.arange(0, 2**32, 104_729, dtype=np.uint64).astype(np.uint32).tobytes(), dtype=np.uint32)
    searched = table._search(words, Scripted())
    cells = (words >> np.uint32(16)).astype(np.uint16)
    looked_up = table._lookup[cells]
    settled = looked_up != draw_tables._UNSETTLED
    assert settled.mean() > 0.99
    assert (looked_up[settled] == searched[settled]).all()


def test_cached_tables_are_bounded():
    for i in range(1, 1200):
        discrete_laplace(Fraction(i, 400), 300)
    info = draw_table.cache_info()
    assert info.currsize <= info.maxsize == 1024
    largest = max(len(law.outcomes()) for law in LAWS)
    assert largest <= 514
    # Four bytes of each threshold, two of each outcome and of each cell.
    assert info.maxsize * (514 * (4 + 2) + 2 * 65_536) < 132 * 2**20


class Edged:
    """A law whose second threshold begins with 16 bits and then only zeros for 16 more: the edge of a cell."""

    def outcomes(self):
        return 10, 20, 30

    def cumulative(self, exponential):
        bits = exponential(Fraction(1)).bits
        edge = Enclosure.of(Fraction(0x8000_0000, 2**32), bits) + Enclosure.of(exp_tail(), bits)
        return [Enclosure.of(Fraction(1, 3), bits), edge]


def exp_tail():
    return Fraction(1, 3 * 2**40)


def test_a_threshold_on_the_edge_of_a_cell_leaves_that_cell_open():
    table = DrawTable(Edged())
    assert int(table.thresholds[1]) == 0x8000_0000
    assert table._lookup[0x8000] == draw_tables._UNSETTLED
    assert table._lookup[0x7FFF] == 20
    assert table._lookup[0x8001] == 30


def test_large_draws_use_all_bits_of_every_draw():
    """A scripted draw of many cells must equal the search in the words composed of its two readings."""
    table = DrawTable(Digit(Fraction(1, 10), 160, leading=True, signed=True))
    size = 8192
    open_cells = np.flatnonzero(table._lookup == draw_tables._UNSETTLED)
    cells = np.resize(np.concatenate([open_cells, np.arange(0, 65536, 37)]), size).astype(np.uint16)
    is_open = table._lookup[cells] == draw_tables._UNSETTLED
    more = (np.arange(is_open.sum(), dtype=np.uint32) * 40_503 % 65_536).astype(np.uint16)
    words = cells.astype(np.uint32) << np.uint32(16)
    words[is_open] |= more
    assert is_open.sum() > 500
    more[np.isin(words[is_open], table.thresholds)] ^= 1  # a tie would ask for more bits
    words[is_open] = (cells[is_open].astype(np.uint32) << np.uint32(16)) | more
    drawn = table.draw(size, Scripted(cells.tobytes(), more.tobytes()))
    settled = ~is_open
    assert (drawn[is_open] == table._search(words[is_open], Scripted())).all()
    assert (drawn[settled] == table._lookup[cells[settled]]).all()
