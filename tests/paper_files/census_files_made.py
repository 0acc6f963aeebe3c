"""Small files in the format of the public census data."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from papers.personal.personal_files import _ACS

WORDS = {"morekids": ("no", "yes"), "gender1": ("female", "male"), "gender2": ("female", "male")}
WORDS |= dict.fromkeys(("afam", "hispanic", "other"), ("no", "yes"))


def write_censuses(folder, people=400):
    """Incomes, weeks and the last attribute follow from others, with exceptions: there is something to learn."""
    generator = np.random.default_rng(1)
    us = {name: generator.integers(0, 5, people) for name in _ACS.split()}
    us["inctot"] = 3 * us["educ"] + us["hispan"] % 2
    brazil = {f"a{i:02}": generator.integers(0, 2 + i % 3, people).astype(np.int8) for i in range(14)}
    brazil["a13"] = (brazil["a01"] + brazil["a04"] % 2 > 1).astype(np.int8)
    mothers = {name: [words[i] for i in generator.integers(0, 2, people)] for name, words in WORDS.items()}
    mothers["age"] = generator.integers(21, 36, people)
    mothers["work"] = 2 * (mothers["age"] - 20) + 3 * generator.integers(0, 2, people)
    for place, file, table in (
        ("census_us_acs", "persons", us),
        ("census_us_1980_mothers", "mothers", mothers),
        ("census_brazil_2000", "persons", brazil),
    ):
        (folder / place).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(table), folder / place / f"{file}.parquet")
    return folder
