"""Refusals in the words of the command line: `best_effort` is typed `--best-effort`.

Reads: errors. Writes: nothing. Never: another reason than the error gives.
"""

import re

from thresher.cli.options import WISHES
from thresher.errors import AnalystError, ArgumentError, BudgetError, TooDearError

_OTHERS = (
    "analyst",
    "half_width",
    "keep",
    "key",
    "output",
    "runs",
    "seed",
    "table",
    "yes",
    "only",
    "confidence",
    "samples",
    "time_limit",
    "mechanism",
    "here",
    "there",
    "neighbours",
    "epsilon",
    "dataset",
    "passes",
    "picture",
    "second_epsilon",
    "label",
    "score",
    "actual",
    "fitted",
    "auc_error",
    "rows",
    "depth",
    "thresholds",
    "histogram",
    "from",
    "pace",
    "series",
    "steps",
    "until",
    "share",
    "leftovers",
    "budgets",
    "default",
    "grid",
    "parts",
    "least_size",
)
_FLAGS = {name: "--" + name.replace("_", "-") for name in (*WISHES, *_OTHERS)} | {"here, there": "--here, --there"}
# Words with a line below are nobody's prose; what ends otherwise, as max_epsilon_per_question does, is another name.
_WITHIN = re.compile(rf"(?<![\w-])({'|'.join(name for name in _FLAGS if '_' in name)})(?!\w)")
_CHOSEN = re.compile(r"(?<![\w-])(mechanism|neighbours)=")


def by_flags(error: AnalystError) -> str:
    """What the error says, with options called as they are typed."""
    text = str(error)
    if not isinstance(error, ArgumentError | BudgetError | TooDearError):
        return text
    if isinstance(error, ArgumentError) and error.field in _FLAGS:
        field, flag = error.field, _FLAGS[error.field]
        if isinstance(error.value, bool):
            start = f"{flag} is refused" if error.value else f"{flag} was not given"
            text = text.replace(f"{field} = {error.value} is refused", start, 1)
        else:
            text = text.replace(f"{field} = ", f"{flag} = ", 1)
    return _CHOSEN.sub(r"--\1 ", _WITHIN.sub(lambda found: _FLAGS[found[1]], text))
