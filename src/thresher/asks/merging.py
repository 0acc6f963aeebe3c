"""The options of a question, from its text and from arguments, merged once.

Reads: options. Writes: nothing. Never: judges a value, which the family does; chooses between two values.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from thresher.decisions.decision_options import NAMES, one_spelling
from thresher.errors import ArgumentError

# What may stand in OPTIONS(...): the options of all questions. Those that do not apply to a question are refused later.
IN_TEXT = (*NAMES, "share", "key")

_MOST_COMPARED = 60


def merged(
    written: Mapping[str, str],
    passed: Mapping[str, Any],
    allowed: Collection[str],
    about: str,
    known: Collection[str] = (),
) -> dict[str, Any]:
    """Return every option that is given; None means left out.

    `written` stood in the question's text and `passed` are arguments. `allowed` are the options of such a question, and
    `about` says what it is ("a personal count"). `known` are options of other questions, which are not misspelt.
    An option that is given in both places, is misspelt or does not apply is refused.
    """
    given = {name: value for name, value in passed.items() if value is not None}
    for name, value in {**written, **given}.items():
        if name not in allowed:
            raise _refusal(name, value, allowed, about, known)
    written, given = one_spelling(written), one_spelling(given)
    for name, value in given.items():
        if name in written:
            rule = f"the question's text says {written[name]} already"
            raise ArgumentError(name, value, rule, "Write it in one of the two places")
    return {**written, **given}


def _refusal(name: str, value: object, allowed: Collection[str], about: str, known: Collection[str]) -> ArgumentError:
    short = name[:_MOST_COMPARED]
    same_letters = [other for other in allowed if sorted(other) == sorted(short)]
    near = same_letters or get_close_matches(short, sorted(allowed), n=1)
    if name in known or not near:
        fix = f"Leave it out; the options of {about} are {', '.join(sorted(allowed))}"
        return ArgumentError(name, value, f"it does not apply to {about}", fix)
    return ArgumentError(name, value, f"{about} has no such option", f"Did you mean {near[0]}?")
