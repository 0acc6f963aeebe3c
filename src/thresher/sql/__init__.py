"""SQL text to a question in our own words. The text itself goes no further than this room.

`read_question.py` has the order of events: text limits, words, the parser, the shape of the statement, names,
conditions on rows, groups, the formula, the normal form. Every refusal has a name (`refusals.py`) and a place in the
text.
Reads: the text, declarations, public tables. Writes: nothing. Never: private data, the optimiser or generator of the
parser's library: what runs later is written from our tree.
"""

from collections.abc import Collection, Mapping

from thresher.config import Declarations
from thresher.question import PublicTable, Question
from thresher.sql.refusals import RULES, Rule

__all__ = ["RULES", "Rule", "ask"]


def ask(
    text: str,
    declarations: Declarations,
    public: Mapping[str, PublicTable],
    *,
    options: Collection[str] = ("key",),
    may_count: bool = False,
) -> Question:
    """The question that `text` asks, or a `QuestionError` that names the rule it breaks and where.

    `public` may be lazy: only the public tables that the text or the private table's columns name are looked up.
    `options` are the names that may stand in OPTIONS(...).
    `may_count`: HAVING may be left out, and then the selected aggregate is asked for, COUNT(*) if none is.
    """
    # The parser's library takes a tenth of a second to load, which commands that ask nothing need not wait for.
    from thresher.sql.read_question import read  # noqa: PLC0415

    return read(text, declarations, public, options, may_count=may_count)
