"""From SQL text to a `Question`. The text itself goes no further than this room.

`read_question` is the one entrance, and its steps are the order to read the modules in: `tokens` (words, with
`known_words` and `written_options`), `statement` (the parser's tree), `names` (tables, columns, groups),
`row_conditions` (WHERE and FILTER, with `literals` and `encoding`), `having` (the formula, with `linear` and `atoms`),
`writing` (the normal form). Every refusal has a rule (`refusals`) and a place in the text. The parser's library takes a
tenth of a second to load: commands that ask nothing import this room late.
Reads: the text, declarations, public tables. Writes: nothing. Never: private data; the optimiser or generator of the
parser's library, because the SQL that runs later is written from our tree.
"""

from thresher.sql.refusals import RULES, Rule

__all__ = ["RULES", "Rule"]
