"""One subject on trial, by the tester that fits it.

Reads: a subject, entropy. Writes: nothing. Never: knows what is right or broken.
"""

from fractions import Fraction

from thresher.audit.accuracy import tried_for_errors
from thresher.audit.black_box import tried_by_sampling
from thresher.audit.confidence import CONFIDENCE
from thresher.audit.enumeration import tried_by_law
from thresher.audit.findings import Finding
from thresher.audit.subjects import Enumerated, Promised, Subject
from thresher.noise import Entropy


def tried(subject: Subject, entropy: Entropy, confidence: Fraction = CONFIDENCE) -> Finding:
    """What the trial found."""
    if isinstance(subject, Enumerated):
        return tried_by_law(subject)
    if isinstance(subject, Promised):
        return tried_for_errors(subject, entropy, confidence)
    return tried_by_sampling(subject, entropy, confidence)
