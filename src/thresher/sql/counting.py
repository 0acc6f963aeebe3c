"""A question for a number: one aggregate of the select list for each group, COUNT(*) if none is written.

Reads: the parser's tree. Writes: nothing. Never: an average or a ratio, which is no sum over people.
"""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from thresher.question import Aggregate, Atom
from thresher.sql.atoms import compare
from thresher.sql.groups import Group
from thresher.sql.linear import Context, Linear, linear
from thresher.sql.refusals import Refusal
from thresher.sql.statement import Statement, unwrapped


def counted(statement: Statement, context: Context, groups: Sequence[Group]) -> Atom:
    """The aggregate as the weighted sum of an atom, whose threshold of 0 means nothing."""
    written = [node for node in map(unwrapped, statement.selected) if not isinstance(node, exp.Column)]
    if len(written) > 1:
        raise Refusal("select-keys", "One aggregate is asked for at a time; keep one", written[1])
    at = written[0] if written else statement.keys[0]
    form = linear(written[0], context) if written else Linear({Aggregate("rows"): Fraction(1)})
    if form.over is not None or form.public or form.constant:
        raise Refusal("linear-forms", "Counts and sums are asked for without HAVING; compare an average there", at)
    atoms = compare((form, Linear()), ">=", context, groups, at).atoms
    if len(atoms) != 1:
        raise Refusal("linear-forms", "Nothing is left of the aggregates; select COUNT(*)", at)
    return atoms[0]
