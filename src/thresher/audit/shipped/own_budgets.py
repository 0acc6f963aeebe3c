"""Budgets of people's own on trial through the front door: declared, asked in SQL, weighted, charged as shares.

One question about many groups that are alike is many independent looks, and one person more in each is one privacy unit
more for each look. What is charged is the share that the ledger holds of that person's class, times what they wrote.
Reads: made-up tables in memory. Writes: a ledger in a folder that is thrown away. Never: an installation of anybody's.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import thresher
from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.engine import Engine
from thresher.noise import Entropy, SeededEntropy

_GROUPS, _SAMPLES = 10_000, 20_000
_SHARE = "0.5"
_DECLARED = f"""
[source]
url = "memory://"
[limits]
max_groups = {_GROUPS}
[tables.stays]
budget_column = "allows"
budget_roster = {{ table = "roster", column = "allows" }}
[tables.stays.columns]
allows = {{ min = 0, max = 2, step = 1 }}
ward = {{ min = 0, max = {_GROUPS - 1} }}
[public_tables.roster]
"""
_QUESTION = "SELECT ward, COUNT(*) FROM stays GROUP BY ward"
# The least budgets that are rounded to each class: whoever wrote them has the most to lose.
LOW, HIGH = 0.5, 1.5
Rows = tuple[float, ...]


def subjects() -> tuple[Subject, ...]:
    told = {LOW: "somebody who allows little comes", HIGH: "somebody who allows much comes"}
    return tuple(
        Sampled(
            f"engine, own budget {level}",
            f"{about}, SQL to weighted count",
            _charged(level),
            (Pair("to nobody", (), (level,)), Pair("to others", (LOW, HIGH), (LOW, HIGH, level))),
            _asked,
            _SAMPLES,
        )
        for level, about in told.items()
    )


def _asked(rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """All that an analyst sees of a group: its number, in thousandths."""
    shown: list[str] = []
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), rows) as engine:
        for question in range(-(-runs // _GROUPS)):
            found = engine.personal_count(_QUESTION, share=_SHARE, key=f"{question}", entropy=entropy)
            shown += found.estimates
    return np.array([round(1000 * float(number)) for number in shown[:runs]], dtype=np.int64)


def _charged(level: float) -> Epsilon:
    """What the ledger holds as the share of the level's class, of the budget that was written."""
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), ()) as engine:
        engine.personal_count(_QUESTION, share=_SHARE, entropy=SeededEntropy(0))
        low, high = engine.personal_classes("stays")
        spent = (low if level == LOW else high).spent_share
    return Epsilon.covering(spent.fraction * Epsilon(str(level)).fraction)


def _opened(folder: Path, rows: Rows) -> Engine:
    path = folder / "thresher.toml"
    path.write_text(_DECLARED)
    wards = np.repeat(np.arange(_GROUPS), len(rows))
    allows = np.tile(np.array(rows, dtype=np.float64), _GROUPS)
    roster = pa.table({"allows": [LOW, HIGH]})
    return thresher.open(path, tables={"stays": pa.table({"ward": wards, "allows": allows}), "roster": roster})
