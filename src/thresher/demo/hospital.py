"""Make up a hospital in DuckDB, with its declarations: some hundred thousand patients, sixty diseases.

Reads: nothing. Writes: a folder with `clinic.duckdb` and `thresher.toml`. Never: real patients. The hospital is the
same in each run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.demo.diseases import DISEASES
from thresher.noise import SeededEntropy

_SEED, _SPREAD = 60, 24
_DAYS = 366

DECLARATIONS = """\
# What is public about the made-up hospital. `docs/declarations.md` explains every setting.
[source]
url = "duckdb:///clinic.duckdb"

[ledger]
url = "sqlite:///ledger.db"

[tables.patients]
unit = "patient_id"              # who is protected
max_groups_per_unit = 1          # a patient counts for one disease
max_rows_per_group = 1
count_range = 8000               # a public guess at the largest group
budget = "0.5"
max_epsilon_per_question = "0.5"

[tables.patients.columns]
disease = { public_table = "diseases", column = "name", fixed = true }   # all rows of a patient share it
age = { min = 0, max = 110, step = 1 }
gender = { values = ["f", "m"], fixed = true }
admitted = { first = 2024-01-01, last = 2024-12-31, by = "day" }

[public_tables.diseases]         # name, type
"""


@dataclass(frozen=True, slots=True)
class Hospital:
    """Hold the path of the declarations, and by disease and gender the number of patients and the sum of their ages."""

    declarations: Path
    truth: Mapping[tuple[str, str], tuple[int, int]]


def build(folder: Path) -> Hospital:
    """Make the hospital in `folder`, which must not hold one, and return it."""
    import duckdb  # noqa: PLC0415 - loaded only to build the hospital

    disease = np.repeat(np.arange(len(DISEASES)), [d.patients for d in DISEASES])
    words = _words(3 * disease.size).reshape(3, -1)
    mean = np.array([d.age for d in DISEASES])[disease]
    # Two dice give the age: most patients are near the mean, none far away.
    thrown = (words[0] % (_SPREAD + 1) + words[1] % (_SPREAD + 1)).astype(np.int64) - _SPREAD
    age = np.clip(mean + thrown * np.minimum(mean, 40) // 40, 0, 110)
    patients = {
        "patient_id": np.arange(disease.size) + 1,
        "age": age,
        "gender": np.where(words[2] % 2 == 0, "f", "m").astype(object),
        "disease": np.array([d.name for d in DISEASES], dtype=object)[disease],
        "day": (words[2] // 2 % _DAYS).astype(np.int32),
    }
    kinds = {name: np.array([getattr(d, name) for d in DISEASES], dtype=object) for name in ("name", "type")}
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, age INTEGER, gender VARCHAR, disease VARCHAR, "
            "admitted DATE)"
        )
        connection.register("made_up", patients)
        # In no order that means anything.
        connection.execute(
            "INSERT INTO patients SELECT * EXCLUDE (day), DATE '2024-01-01' + day FROM made_up "
            "ORDER BY patient_id * 7919 % 104729, patient_id"
        )
        connection.register("kinds", kinds)
        connection.execute("CREATE TABLE diseases AS SELECT * FROM kinds")
    declarations = folder / "thresher.toml"
    declarations.write_text(DECLARATIONS, encoding="utf-8")
    men = words[2] % 2 == 1
    counts, ages = (np.bincount(2 * disease + men, weights=weight) for weight in (None, age))
    truth = {
        (d.name, gender): (int(counts[2 * i + j]), int(ages[2 * i + j]))
        for i, d in enumerate(DISEASES)
        for j, gender in enumerate(("f", "m"))
    }
    return Hospital(declarations, truth)


def _words(count: int) -> NDArray[np.uint32]:
    """Return numbers that are the same on every machine: they make up the data, and protect nobody."""
    return np.frombuffer(SeededEntropy(_SEED).read(4 * count), dtype="<u4")
