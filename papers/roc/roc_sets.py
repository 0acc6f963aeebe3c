"""Supply scored rows for ROC curves: made-up ones, and public texts scored by a model trained on their other part.

Made-up scores are not drawn: they are evenly spaced quantiles, the same everywhere.
Reads: CSV files of public data. Writes: nothing. Never: an error for a missing file. A missing folder is an error.
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.audit.attacks.public_files import columns, lack, must_be_there
from thresher.diagnostics.scored_rows import ScoredRows, scored_rows


@dataclass(frozen=True, slots=True, eq=False)
class RocSet:
    """Rows and their name."""

    name: str
    rows: ScoredRows


@dataclass(frozen=True, slots=True, eq=False)
class PublicRocSets:
    """The sets in the folder, and a sentence for each that is missing."""

    found: tuple[RocSet, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Texts:
    """A file of texts: where it is, which column has the label, and whether 0 is what the dissertation calls 1."""

    name: str
    folder: str
    file: str
    label: str
    turned: bool


_PUBLIC = (
    _Texts("TWITTER", "tweets_sentiment", "tweets.csv", "positive", turned=False),
    _Texts("SMS", "sms_spam", "messages.csv", "spam", turned=True),
)
_NO_LEARNER = "scikit-learn is not installed; get it with pip install 'thresher[diagnostics]'"


def made_up_sets() -> tuple[RocSet, ...]:
    """Return sets of the dissertation's sizes: one of a fair model, and one of a good model with skewed scores."""
    return (_binormal("TWITTER-like", 385, 299, 1.0, 1.4, 0.2), _binormal("SMS-like", 481, 77, 2.9, 2.5, 5.0))


def _binormal(name: str, positives: int, negatives: int, lift: float, slope: float, shift: float) -> RocSet:
    from scipy.special import expit, ndtri  # noqa: PLC0415

    spots = [ndtri((np.arange(count) + 0.5) / count) for count in (positives, negatives)]
    scores = expit(slope * (np.concatenate([spots[0] + lift / 2, spots[1] - lift / 2])) + shift)
    return RocSet(name, ScoredRows(np.arange(positives + negatives) < positives, scores))


def public_sets(folder: Path | None) -> PublicRocSets:
    """Read the test parts of the sets in the folder, scored by a logistic regression trained on the train parts.

    Its features are which words occur, without stop words, as in the dissertation. Its models were private; ours is
    not, because the data are public and only the curve is measured.
    """
    must_be_there(folder)
    found, missing = [], []
    for each in _PUBLIC:
        why = lack(folder, each.folder, [each.file])
        if not why and importlib.util.find_spec("sklearn") is None:
            why = _NO_LEARNER
        if why or folder is None:
            missing.append(f"{each.folder}/{each.file} is left out: {why}.")
            continue
        table = columns(folder / each.folder, each.file, {each.label: "int64", "split": "string", "text": "string"})
        labels = np.asarray(table[each.label]) > 0
        texts = [text or "" for text in table["text"].to_pylist()]
        test = np.array([part == "test" for part in table["split"].to_pylist()], dtype=np.bool_)
        found.append(RocSet(each.name, _scored(texts, labels ^ each.turned, test)))
    return PublicRocSets(tuple(found), tuple(missing))


def _scored(texts: list[str], labels: NDArray[np.bool_], test: NDArray[np.bool_]) -> ScoredRows:
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    words = CountVectorizer(binary=True, stop_words="english")
    train = np.flatnonzero(~test)
    model = LogisticRegression(max_iter=1000).fit(words.fit_transform([texts[i] for i in train]), labels[train])
    scores = model.predict_proba(words.transform([texts[i] for i in np.flatnonzero(test)]))[:, 1]
    return scored_rows(labels[test], np.asarray(scores, dtype=np.float64))
