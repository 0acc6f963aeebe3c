"""READ FIRST: from text to question, in order. Each step may refuse; none looks at private data.

Reads: the text, declarations, public tables. Writes: nothing. Never: hands the text on.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from thresher.config import Declarations
from thresher.errors import QuestionError
from thresher.question import PublicTable, Question
from thresher.sql.groups import groups_of, keys_of
from thresher.sql.having import Having, counted
from thresher.sql.linear import Context, linear
from thresher.sql.names import scope_of
from thresher.sql.refusals import Refusal
from thresher.sql.row_conditions import whole
from thresher.sql.statement import Statement, check_complete, clauses, parsed, unwrapped
from thresher.sql.tokens import DEEPEST, checked, checked_text, split
from thresher.sql.writing import count_text, question_text
from thresher.sql.written_options import without_options

VERDICTS_ONLY = "Aggregates in the select list: values are not released; verdicts only"
NO_GROUPS = "No declared group can satisfy WHERE"


def read(
    text: str,
    declarations: Declarations,
    public: Mapping[str, PublicTable],
    options: Collection[str],
    *,
    may_count: bool = False,
) -> Question:
    """The question asked by `text`; see `thresher.sql.ask`."""
    try:
        words, found = without_options(split(checked_text(text)), options)
        return _read(text, words, found, declarations, public, may_count=may_count)
    except Refusal as refusal:
        raise refusal.located(text if isinstance(text, str) else "") from None
    except RecursionError:
        raise QuestionError("query-size", f"Query too deep: nest fewer than {DEEPEST} levels") from None


def _read(
    text: str,
    words: Sequence[Token],
    options: Mapping[str, str],
    declarations: Declarations,
    public: Mapping[str, PublicTable],
    *,
    may_count: bool,
) -> Question:
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
