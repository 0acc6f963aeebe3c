"""The tester of promises about errors: how often a mechanism errs at its worst case, from below.

Reads: whether runs erred, entropy. Writes: nothing. Never: an average over inputs: each is tried by itself.
"""

from fractions import Fraction

import numpy as np

from thresher.audit.confidence import CONFIDENCE, least_probability
from thresher.audit.findings import Finding
from thresher.audit.subjects import Promised
from thresher.noise import Entropy


def tried_for_errors(subject: Promised, entropy: Entropy, confidence: Fraction = CONFIDENCE) -> Finding:
    """The largest lower bound of an error's probability over the worst inputs; the doubt is shared among them."""
    doubt = float(1 - confidence) / len(subject.worst)
    found = []
    for about, data in subject.worst:
        erred = np.asarray(subject.run(data, subject.samples, entropy), dtype=np.bool_)
        hits = int(np.count_nonzero(erred))
        found.append((float(least_probability(hits, erred.size, doubt)), hits / erred.size, erred.size, about))
    measured, seen, runs, where = max(found)
    event = f"an error in {round(seen * runs):,} of {runs:,} runs"
    return Finding(subject.name, subject.about, "errors", float(subject.rate), measured, seen, runs, where, event)
