"""SQL text to a question in our own words. The text itself goes no further than this room.

`read_question.py` has the order of events: text limits, words, the parser, the shape of the statement, names,
conditions on rows, groups, the formula, the normal form. Every refusal has a name (`refusals.py`) and a place in the
text. It loads the parser's library, which takes a tenth of a second: commands that ask nothing import it late.
Reads: the text, declarations, public tables. Writes: nothing. Never: private data, the optimiser or generator of the
parser's library: what runs later is written from our tree.
"""

from thresher.sql.refusals import RULES, Rule

__all__ = ["RULES", "Rule"]
