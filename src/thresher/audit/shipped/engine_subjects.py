"""Try the whole engine: questions in SQL, charged in a real ledger, answered from a real database.

One question about many equal groups gives many independent runs, and a pair has one person more in each group. The
charge is what the ledger sets aside: an amount, or a share of the budgets that people wrote.
Reads: made-up tables in memory. Writes: a ledger in a temporary folder. Never: a real installation.
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
# The least budgets that are rounded to each class: for the people who wrote them the charge is the tightest.
LOW, HIGH = 0.5, 1.5


def subjects() -> tuple[Sampled, ...]:
    stays = (
        Pair("a stay more lifts a ward over both thresholds", (4, 4, 4), (4, 4)),
        Pair("a long stay more passes one of them", (9, 3, 9), (9, 3)),
    )
    told = {"tslm": "SQL to verdict, charged by the ledger", "ppwlm": "the same, with four measurements"}
    comes = {LOW: "somebody who allows little joins", HIGH: "somebody who allows much joins"}
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
    """Return all that an analyst sees of each group: its verdict and its loss."""
    shown = []
    with _opened(_DECIDED, {"days": np.array(days, dtype=np.int64)}) as engine:
        for key in _keys(runs):
            release = engine.decide(_DECISION, uncertain_region=5, mechanism=mechanism, key=key, entropy=entropy)
            shown.append(_numbers(release.table))
    return np.concatenate(shown)[:runs]


def _reserved(mechanism: str) -> Epsilon:
    """Return what the ledger sets aside for the question, by its own entry."""
    with _opened(_DECIDED, {"days": np.array([4, 4])}) as engine:
        engine.decide(_DECISION, uncertain_region=5, mechanism=mechanism, entropy=SeededEntropy(0))
        (reserved,) = (entry for entry in engine.ledger.entries() if entry.kind == "reserve")
        return Epsilon.from_nano(max(reserved.facts["loss"].values()))


def _counts(allows: tuple[float, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return all that an analyst sees of each group: its number, in thousandths."""
    shown: list[str] = []
    with _opened(_COUNTED, {"allows": np.array(allows, dtype=np.float64)}) as engine:
        for key in _keys(runs):
            shown += engine.personal_count(_COUNT, share=_SHARE, key=key, entropy=entropy).estimates
    return np.array([round(1000 * float(number)) for number in shown[:runs]], dtype=np.int64)


def _share_of(level: float) -> Epsilon:
    """Return what the ledger charges a person of this level: the share of the class times the written budget."""
    with _opened(_COUNTED, {"allows": np.array([], dtype=np.float64)}) as engine:
        engine.personal_count(_COUNT, share=_SHARE, entropy=SeededEntropy(0))
        low, high = engine.personal_classes("stays")
        spent = (low if level == LOW else high).spent_share
    return Epsilon.covering(spent.fraction * Epsilon(str(level)).fraction)


@contextmanager
def _opened(declared: str, rows: Mapping[str, NDArray[np.generic]]) -> Iterator[Engine]:
    """Open an engine on a table in which each group has these rows."""
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
    """Return a name for each question that is needed for this many runs."""
    return [str(question) for question in range(-(-runs // _GROUPS))]


def _numbers(table: pa.Table) -> NDArray[np.int64]:
    verdicts = [_VERDICTS[verdict] for verdict in table["verdict"].to_pylist()]
    losses = [Epsilon(str(loss)).nano for loss in table["epsilon"].to_pylist()]
    return np.stack([verdicts, losses], axis=1).astype(np.int64)
