"""Census files in the folder of public data: coded attributes, random range questions on them, and a label to learn.

Reads: parquet files of public data. Writes: nothing. Never: protected data; a file that is not there as an error.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.personal.personal_data import Asked, Labelled, in_no_order, ranges
from thresher.audit.attacks.public_files import columns, lack, must_be_there
from thresher.errors import SourceError

QUESTIONS = 40


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be learnt: whether an attribute lies above its mean, from these others."""

    label: str
    features: tuple[str, ...]
    about: str


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """People by attributes, codes from 0 to `sizes` - 1 of each."""

    name: str
    codes: NDArray[np.int16]
    sizes: tuple[int, ...]
    attributes: tuple[str, ...]
    task: Task
    about: str

    def asked(self, attributes: int | None = None, questions: int = QUESTIONS) -> Asked:
        """Return random ranges over all attributes, as in the paper, or over a few, so that some people match."""
        answers = np.ones((len(self.codes), questions), dtype=np.bool_)
        for i, question in enumerate(ranges(self.sizes, questions, attributes)):
            for place, span in question.items():
                values = self.codes[:, place]
                answers[:, i] &= (values >= span.start) & (values < span.stop)
        wide = attributes is not None and attributes < len(self.sizes)
        over = f"{attributes} of {len(self.sizes)} attributes" if wide else f"all {len(self.sizes)} attributes"
        return Asked(f"{self.name}, {attributes if wide else 'all'}", answers, f"ranges over {over}; {self.about}")

    def labelled(self, most: int) -> Labelled:
        """Return at most `most` random people; features on [-1, 1] are divided by one root, so that norms are 1."""
        kept = in_no_order(len(self.codes))[:most]
        places = [self.attributes.index(name) for name in self.task.features]
        halves = (np.array(self.sizes)[places] - 1) / 2
        features = (self.codes[kept][:, places] / halves - 1) / np.sqrt(len(places))
        label = self.codes[:, self.attributes.index(self.task.label)]
        return Labelled(self.name, features, np.asarray(label[kept] > label.mean()), self.task.about)


@dataclass(frozen=True, slots=True)
class Censuses:
    """What the folder has, and a sentence for each file that it lacks."""

    found: tuple[Census, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    place: str
    file: str
    attributes: tuple[str, ...]
    task: Task
    about: str
    words: tuple[str, ...] = ()


_ACS = (
    "puma year hhwt gq perwt sex age marst race hispan citizen speakeng hcovany hcovpriv hinsemp hinscaid hinscare"
    " educ empstat empstatd labforce wrklstwk absent looking availble wrkrecal workedyr inctot incwage incwelfr"
    " incinvst incearn poverty departs arrives"
)
_ACS_LEARNT = "sex age marst race hispan citizen speakeng educ labforce hcovany hcovpriv hinscaid hinscare"
_MOTHERS, _MOTHERS_LEARNT = ("age", "work"), ("morekids", "gender1", "gender2", "age", "afam", "hispanic", "other")
_BRAZIL = tuple(f"a{i:02}" for i in range(14))
_FILES = (
    _File(
        "US",
        "census_us_acs",
        "persons.parquet",
        tuple(_ACS.split()),
        Task("inctot", tuple(_ACS_LEARNT.split()), "total income above its mean"),
        "persons of a US census survey",
    ),
    _File(
        "US mothers",
        "census_us_1980_mothers",
        "mothers.parquet",
        _MOTHERS,
        Task("work", _MOTHERS_LEARNT, "weeks of work above their mean"),
        "mothers of the US census of 1980",
        ("morekids", "gender1", "gender2", "afam", "hispanic", "other"),
    ),
    _File(
        "Brazil",
        "census_brazil_2000",
        "persons.parquet",
        _BRAZIL,
        Task("a13", _BRAZIL[:-1], "the last attribute, of two values; nobody says what it means"),
        "persons of the Brazilian census of 2000",
    ),
)


def censuses(folder: Path | None) -> Censuses:
    """Read each census that the folder has."""
    must_be_there(folder)
    if folder is None:
        return Censuses((), ("Census data are left out: no folder of data was named.",))
    found, missing = [], []
    for each in _FILES:
        why = lack(folder, each.place, [each.file])
        if why:
            missing.append(f"{each.place}/{each.file} is left out: {why}.")
        else:
            found.append(_read(folder / each.place, each))
    return Censuses(tuple(found), tuple(missing))


def _read(folder: Path, about: _File) -> Census:
    """Read codes: whole numbers less their minimum, and words by their order in the alphabet."""
    kinds = {**dict.fromkeys(about.attributes, "int64"), **dict.fromkeys(about.words, "string")}
    table = columns(folder, about.file, kinds)
    if not table.num_rows or any(column.null_count for column in table.columns):
        raise SourceError(f"{folder.name}/{about.file} cannot be read; it needs a value in every row and column")
    coded = [_codes(table[name].to_pylist() if name in about.words else np.asarray(table[name])) for name in kinds]
    if any(column.max() > np.iinfo(np.int16).max for column in coded):
        raise SourceError(f"{folder.name}/{about.file} cannot be read; its values must span less than 32,768")
    codes = np.stack(coded, axis=1).astype(np.int16)
    sizes = tuple(int(column.max()) + 1 for column in coded)
    return Census(about.name, codes, _two_at_least(sizes), tuple(kinds), about.task, about.about)


def _codes(values: Sequence[str] | NDArray[Any]) -> NDArray[np.int64]:
    if isinstance(values, np.ndarray):
        return np.asarray(values - values.min(), dtype=np.int64)
    return np.unique(np.array(values), return_inverse=True)[1].astype(np.int64)


def _two_at_least(sizes: Iterable[int]) -> tuple[int, ...]:
    """Return sizes of 2 or more, so that an attribute of one value has a scale too."""
    return tuple(max(size, 2) for size in sizes)
