"""The front door on trial: questions asked in SQL, charged in a real ledger, answered from a real database.

One question about many groups that are alike is many independent looks, and a row more in each of them is one privacy
unit more for each look. What is charged is what the ledger reserves for it.
Reads: made-up tables in memory. Writes: a ledger in a folder that is thrown away. Never: an installation of anybody's.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import thresher
from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.engine import Engine
from thresher.noise import Entropy, SeededEntropy

_GROUPS = 10_000
_SAMPLES = 20_000
_DECLARED = f"""
[source]
url = "memory://"
[limits]
max_groups = {_GROUPS}
[tables.stays]
count_range = 10
budget = "1000"
[tables.stays.columns]
ward = {{ min = 0, max = {_GROUPS - 1} }}
days = {{ min = 0, max = 9 }}
"""
_QUESTION = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) >= 3 AND SUM(days) >= 12"
_VERDICTS = {"below": -1, "uncertain": 0, "above": 1}
Rows = tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    pairs = (
        Pair("a stay more lifts a ward over both thresholds", (4, 4, 4), (4, 4)),
        Pair("a long stay more passes one of them", (9, 3, 9), (9, 3)),
    )
    told = {"tslm": "SQL to verdict, charged by the ledger", "ppwlm": "the same, with four looks"}
    return tuple(
        Sampled(f"engine, {name}", about, _charged(name), pairs, partial(_asked, name), _SAMPLES)
        for name, about in told.items()
    )


def _asked(mechanism: str, rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """All that an analyst sees of a group: its verdict, its loss and its half width."""
    shown = []
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), rows) as engine:
        for question in range(-(-runs // _GROUPS)):
            release = engine.decide(
                _QUESTION, uncertain_region=5, mechanism=mechanism, key=f"{question}", entropy=entropy
            )
            shown.append(_numbers(release.table))
    return np.concatenate(shown)[:runs]


def _charged(mechanism: str) -> Epsilon:
    """What the ledger reserves for the question, by its own entry."""
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), (4, 4)) as engine:
        engine.decide(_QUESTION, uncertain_region=5, mechanism=mechanism, entropy=SeededEntropy(0))
        (reserved,) = (entry for entry in engine.ledger.entries() if entry.kind == "reserve")
        return Epsilon.from_nano(max(reserved.facts["loss"].values()))


def _opened(folder: Path, rows: Rows) -> Engine:
    path = folder / "thresher.toml"
    path.write_text(_DECLARED)
    wards = np.repeat(np.arange(_GROUPS), len(rows))
    days = np.tile(np.array(rows, dtype=np.int64), _GROUPS)
    return thresher.open(path, tables={"stays": pa.table({"ward": wards, "days": days})})


def _numbers(table: pa.Table) -> NDArray[np.int64]:
    verdicts = [_VERDICTS[verdict] for verdict in table["verdict"].to_pylist()]
    losses = [Epsilon(str(loss)).nano for loss in table["epsilon"].to_pylist()]
    return np.stack([verdicts, losses], axis=1).astype(np.int64)
