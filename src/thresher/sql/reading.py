"""READ FIRST: from text to question, in order. Each step may refuse; none looks at private data.

Reads: the text, declarations, public tables. Writes: nothing. Never: hands the text on.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from thresher.config import Declarations
from thresher.errors import QuestionError
from thresher.question import PublicTable, Question
from thresher.sql.counting import counted
from thresher.sql.groups import groups_of, keys_of
from thresher.sql.having import Having
from thresher.sql.limits import DEEPEST, checked_text
from thresher.sql.linear import Context, linear
from thresher.sql.names import scope_of
from thresher.sql.options import without_options
from thresher.sql.parsing import check_complete, parsed
from thresher.sql.refusals import Refusal
from thresher.sql.rows import whole
from thresher.sql.statement import Statement, clauses, unwrapped
from thresher.sql.words import checked, split
from thresher.sql.writing import count_text, question_text

VERDICTS_ONLY = "Aggregates in the select list: values are not released; verdicts only"
NO_GROUPS = "No declared group can satisfy WHERE"


def read(
    text: str, declarations: Declarations, public: Mapping[str, PublicTable], *, may_count: bool = False
) -> Question:
    """The question asked by `text`; see `thresher.sql.ask`."""
    try:
        return _read(checked_text(text), declarations, public, may_count=may_count)
    except Refusal as refusal:
        raise refusal.located(text if isinstance(text, str) else "") from None
    except RecursionError:
        raise QuestionError("query-size", f"Query too deep: nest fewer than {DEEPEST} levels") from None


def _read(text: str, declarations: Declarations, public: Mapping[str, PublicTable], *, may_count: bool) -> Question:
    words, options = without_options(split(text))
    words = checked(words, _declared_names(declarations))
    tree = parsed(words, text)
    statement = clauses(tree, may_count=may_count)
    scope = scope_of(statement, declarations, public)
    keys = keys_of(statement, scope)
    where = whole(statement.where, scope, keys)
    context = Context(scope, keys)
    notes = _selected_aggregates(statement, context)
    groups = groups_of(keys, where, declarations.max_groups, statement.keys[0])
    having = Having(context, groups)
    if statement.having is None:
        check_complete(tree, words)
        atom = counted(statement, context, groups)
        written = count_text(having.asked, where, atom)
        return Question(scope.table, keys, groups, where, atom, written, options, tuple(scope.notes), decides=False)
    formula = having.formula(statement.having)
    check_complete(tree, words)
    return Question(
        table=scope.table,
        keys=keys,
        groups=groups,
        where=where,
        formula=formula,
        text=question_text(having.asked, where, formula),
        options=options,
        notes=(*notes, *scope.notes, *([] if groups else [NO_GROUPS]), *having.notes),
    )


def _selected_aggregates(statement: Statement, context: Context) -> Sequence[str]:
    """A note if aggregates are selected, as SQL is used to; anything else but keys is refused."""
    notes: list[str] = []
    for node in map(unwrapped, statement.selected):
        if isinstance(node, exp.Column):
            continue
        if not linear(node, context).has_aggregates:
            raise Refusal("select-keys", "The select list takes the keys of GROUP BY, and aggregates", node)
        notes = [VERDICTS_ONLY]
    return notes


def _declared_names(declarations: Declarations) -> frozenset[str]:
    """Every declared name in lower case: such a word is a name, even if SQL uses it for something else."""
    tables = declarations.tables.values()
    names = {*declarations.tables, *declarations.public_tables, *(name for table in tables for name in table.columns)}
    names |= {table.contribution.unit for table in tables if table.contribution is not None}
    return frozenset(name.lower() for name in names)
