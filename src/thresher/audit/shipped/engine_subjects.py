"""The front door on trial: questions asked in SQL, charged in a real ledger, answered from a real database.

One question about many groups that are alike is many independent looks, and one person more in each is one privacy unit
more for each look. What is charged is what the ledger reserves for it: an amount, or a share of what people wrote.
Reads: made-up tables in memory. Writes: a ledger in a folder that is thrown away. Never: an installation of anybody's.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import thresher
from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled
from thresher.engine import Engine
from thresher.noise import Entropy, SeededEntropy

_GROUPS, _SAMPLES = 10_000, 20_000
_START = f"""
[source]
url = "memory://"
[limits]
max_groups = {_GROUPS}
[tables.stays]
"""
_DECIDED = f"""{_START}
count_range = 10
budget = "1000"
[tables.stays.columns]
ward = {{ min = 0, max = {_GROUPS - 1} }}
days = {{ min = 0, max = 9 }}
"""
_COUNTED = f"""{_START}
budget_column = "allows"
budget_roster = {{ table = "roster", column = "allows" }}
[tables.stays.columns]
allows = {{ min = 0, max = 2, step = 1 }}
ward = {{ min = 0, max = {_GROUPS - 1} }}
[public_tables.roster]
"""
_DECISION = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) >= 3 AND SUM(days) >= 12"
_COUNT = "SELECT ward, COUNT(*) FROM stays GROUP BY ward"
_VERDICTS = {"below": -1, "uncertain": 0, "above": 1}
_SHARE = "0.5"
# The least budgets that are rounded to each class: whoever wrote them has the most to lose.
LOW, HIGH = 0.5, 1.5


def subjects() -> tuple[Sampled, ...]:
    stays = (
        Pair("a stay more lifts a ward over both thresholds", (4, 4, 4), (4, 4)),
        Pair("a long stay more passes one of them", (9, 3, 9), (9, 3)),
    )
    told = {"tslm": "SQL to verdict, charged by the ledger", "ppwlm": "the same, with four looks"}
    comes = {LOW: "somebody who allows little comes", HIGH: "somebody who allows much comes"}
    return (
        *(
            Sampled(f"engine, {name}", about, _reserved(name), stays, partial(_verdicts, name), _SAMPLES)
            for name, about in told.items()
        ),
        *(
            Sampled(
                f"engine, own budget {level}",
                f"{about}, SQL to weighted count",
                _share_of(level),
                (Pair("to nobody", (), (level,)), Pair("to others", (LOW, HIGH), (LOW, HIGH, level))),
                _counts,
                _SAMPLES,
            )
            for level, about in comes.items()
        ),
    )


def _verdicts(mechanism: str, days: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """All that an analyst sees of a group: its verdict, its loss and its half width."""
    shown = []
    with _opened(_DECIDED, {"days": np.array(days, dtype=np.int64)}) as engine:
        for key in _keys(runs):
            release = engine.decide(_DECISION, uncertain_region=5, mechanism=mechanism, key=key, entropy=entropy)
            shown.append(_numbers(release.table))
    return np.concatenate(shown)[:runs]


def _reserved(mechanism: str) -> Epsilon:
    """What the ledger reserves for the question, by its own entry."""
    with _opened(_DECIDED, {"days": np.array([4, 4])}) as engine:
        engine.decide(_DECISION, uncertain_region=5, mechanism=mechanism, entropy=SeededEntropy(0))
        (reserved,) = (entry for entry in engine.ledger.entries() if entry.kind == "reserve")
        return Epsilon.from_nano(max(reserved.facts["loss"].values()))


def _counts(allows: tuple[float, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """All that an analyst sees of a group: its number, in thousandths."""
    shown: list[str] = []
    with _opened(_COUNTED, {"allows": np.array(allows, dtype=np.float64)}) as engine:
        for key in _keys(runs):
            shown += engine.personal_count(_COUNT, share=_SHARE, key=key, entropy=entropy).estimates
    return np.array([round(1000 * float(number)) for number in shown[:runs]], dtype=np.int64)


def _share_of(level: float) -> Epsilon:
    """What the ledger holds as the share of the level's class, of the budget that was written."""
    with _opened(_COUNTED, {"allows": np.array([], dtype=np.float64)}) as engine:
        engine.personal_count(_COUNT, share=_SHARE, entropy=SeededEntropy(0))
        low, high = engine.personal_classes("stays")
        spent = (low if level == LOW else high).spent_share
    return Epsilon.covering(spent.fraction * Epsilon(str(level)).fraction)


@contextmanager
def _opened(declared: str, rows: Mapping[str, NDArray[np.generic]]) -> Iterator[Engine]:
    """An engine whose groups all hold these rows."""
    (width,) = {column.size for column in rows.values()}
    columns = {"ward": np.repeat(np.arange(_GROUPS), width), **{n: np.tile(row, _GROUPS) for n, row in rows.items()}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "thresher.toml"
        path.write_text(declared)
        tables = {"stays": pa.table(columns)}
        if declared == _COUNTED:
            tables["roster"] = pa.table({"allows": [LOW, HIGH]})
        with thresher.open(path, tables=tables) as engine:
            yield engine


def _keys(runs: int) -> Sequence[str]:
    """One question for so many groups; each is asked by a key of its own."""
    return [f"{question}" for question in range(-(-runs // _GROUPS))]


def _numbers(table: pa.Table) -> NDArray[np.int64]:
    verdicts = [_VERDICTS[verdict] for verdict in table["verdict"].to_pylist()]
    losses = [Epsilon(str(loss)).nano for loss in table["epsilon"].to_pylist()]
    return np.stack([verdicts, losses], axis=1).astype(np.int64)
