"""The score tables that ship: for a miss rate of 0.05, the usual false-alarm rates and the usual levels.

There is one file for each false-alarm rate, made by `tools/make_score_tables.py`. It holds scores only; bins and lines
follow from the level. Scores are kept as differences of neighbours, in little-endian words, deflated, behind a digest.
Reads: the files beside this module. Writes: nothing. Never: a table from a file whose digest is not its own.
"""

import hashlib
import zlib
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.score_design import bins_of
from thresher.decisions.score_levels import grid
from thresher.decisions.score_tables import ScoreTable, blank_table
from thresher.errors import BugError

MISS_RATE = Fraction(1, 20)
FALSE_ALARM_RATES = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20))
LEVELS = grid(Fraction(1, 256), Fraction(19, 4))
# Those that a certificate chooses from: see `certificate.py`.
WEIGHTS = tuple(Fraction(hundredths, 100) for hundredths in (65, 104, 143, 195, 260, 390))

_MAGIC = b"thresher score tables 1\n"
_WORD = np.dtype("<i4")


def shipped(level: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable | None:
    """The table as it lies in its file, not verified; None if there is none."""
    if false_alarm_rate not in FALSE_ALARM_RATES or level not in LEVELS or weight not in WEIGHTS:
        return None
    differences = _stored(false_alarm_rate)[LEVELS.index(level)][WEIGHTS.index(weight)]
    blank = blank_table(level, MISS_RATE, false_alarm_rate, weight, bins_of(level, MISS_RATE))
    return blank.with_values(np.cumsum(differences, dtype=np.int64))


def file_name(false_alarm_rate: Fraction) -> str:
    """Files are named by the rate in percent."""
    return f"score_tables_{false_alarm_rate * 100}.bin"


def packed(tables: Iterable[ScoreTable]) -> bytes:
    """A file's content: how many scores the tables of each level have; then each level's, weight by weight."""
    scores = [np.diff(table.values, prepend=0) for table in tables]
    sizes = [each.size for each in scores[:: len(WEIGHTS)]]
    words = np.concatenate([sizes, *scores]).astype(_WORD).tobytes()
    return _MAGIC + hashlib.sha256(words).digest() + zlib.compress(words, 9)


def unpacked(content: bytes) -> tuple[NDArray[np.int32], ...]:
    """For each level one row of differences of neighbouring scores for each weight, if the file is as it was made."""
    head = len(_MAGIC) + hashlib.sha256().digest_size
    try:
        words = zlib.decompress(content[head:])
    except zlib.error:
        words = b""
    if content[:head] != _MAGIC + hashlib.sha256(words).digest():
        raise BugError("a file of score tables is not the one that Thresher was shipped with. Install Thresher again")
    sizes, scores = np.split(np.frombuffer(words, dtype=_WORD), [len(LEVELS)])
    ends = np.cumsum(sizes[:-1]) * len(WEIGHTS)
    return tuple(rows.reshape(len(WEIGHTS), -1) for rows in np.split(scores, ends))


@lru_cache(maxsize=len(FALSE_ALARM_RATES))
def _stored(false_alarm_rate: Fraction) -> tuple[NDArray[np.int32], ...]:
    return unpacked(files("thresher.decisions").joinpath(file_name(false_alarm_rate)).read_bytes())
