"""READ FIRST: the steps from text to question, in order. Each step may refuse; no step looks at private data.

Reads: the text, declarations, public tables. Writes: nothing. Never: passes the text on.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from thresher.config import Declarations
from thresher.errors import QuestionError
from thresher.question import PublicTable, Question, all_of
from thresher.sql.having import Having, counted
from thresher.sql.linear import Context, linear
from thresher.sql.names import keys_of, possible_groups, scope_of, with_joins
from thresher.sql.refusals import Refusal
from thresher.sql.row_conditions import row_condition
from thresher.sql.statement import Statement, check_complete, clauses, inventory, parsed_select
from thresher.sql.tokens import DEEPEST, checked, checked_question_text, split
from thresher.sql.writing import count_text, written_question
from thresher.sql.written_options import OPTION_WORDS, cut_out

VERDICTS_ONLY = "Selected aggregates are left out: the answer gives verdicts, and noisy values with show='values'"
NO_GROUPS = "No declared group can satisfy WHERE"


def ask(
    text: str,
    declarations: Declarations,
    public: Mapping[str, PublicTable],
    *,
    options: Collection[str] = ("key",),
    may_count: bool = False,
) -> Question:
    """Return the question that `text` asks, or raise a `QuestionError` that names the rule it breaks and where.

    `public` may be lazy: only public tables named by the text or by columns of the private table are looked up.
    `options` are the names that may stand in OPTIONS(...). With `may_count`, HAVING may be left out: the question then
    asks for the selected aggregate, or for COUNT(*) if no aggregate is selected.
    """
    try:
        words, written = _without_options(split(checked_question_text(text)), options)
        words = checked(words, _declared_names(declarations))
        return _question(parsed_select(words, text), words, written, declarations, public, may_count=may_count)
    except Refusal as refusal:
        raise refusal.located(text if isinstance(text, str) else "") from None
    except RecursionError:
        raise QuestionError("query-size", f"Query too deep: nest fewer than {DEEPEST} levels") from None


def _question(
    tree: exp.Select,
    words: Sequence[Token],
    options: Mapping[str, str],
    declarations: Declarations,
    public: Mapping[str, PublicTable],
    *,
    may_count: bool,
) -> Question:
    inside = inventory(tree)
    statement = clauses(tree, may_count=may_count)
    scope = scope_of(statement, declarations, public)
    if statement.joins:
        scope = with_joins(scope, statement.joins, declarations, public)
    keys = keys_of(statement, scope)
    asked_rows = [] if statement.where is None else [row_condition(statement.where, scope)]
    where = all_of([*asked_rows, *scope.of_joins(keys)])
    context = Context(scope, keys)
    notes = _selected_aggregates(statement, context)
    groups = possible_groups(keys, where, declarations.max_groups, statement.keys[0])
    having = Having(context, groups)
    if statement.having is None:
        check_complete(inside, words)
        atom = counted(statement, context, groups)
        text = count_text(having.asked, where, atom)
        return Question(scope.table, keys, groups, where, atom, text, options, tuple(scope.notes), decides=False)
    formula = having.formula(statement.having)
    check_complete(inside, words)
    return Question(
        table=scope.table,
        keys=keys,
        groups=groups,
        where=where,
        formula=formula,
        text=written_question(having.asked, where, formula),
        options=options,
        notes=(*notes, *scope.notes, *([] if groups else [NO_GROUPS]), *having.notes),
    )


def _without_options(words: list[Token], known: Collection[str]) -> tuple[list[Token], Mapping[str, str]]:
    """Return the words without the options, and the options that stand in the text."""
    if any(word.text.upper() in OPTION_WORDS for word in words):
        return cut_out(words, known)
    return words, {}


def _selected_aggregates(statement: Statement, context: Context) -> Sequence[str]:
    """Return a note if aggregates are selected; refuse what is neither an aggregate nor a key."""
    notes: list[str] = []
    for node in statement.selected:
        if isinstance(node, exp.Column):
            continue
        if not linear(node, context).has_aggregates:
            raise Refusal("select-keys", "The select list takes the keys of GROUP BY, and aggregates", node)
        notes = [VERDICTS_ONLY]
    return notes


def _declared_names(declarations: Declarations) -> frozenset[str]:
    """Return every declared name in lower case. Such a word is a name, even if SQL uses it for something else."""
    tables = declarations.tables.values()
    names = {*declarations.tables, *declarations.public_tables, *(name for table in tables for name in table.columns)}
    names |= {table.contribution.unit for table in tables if table.contribution is not None}
    return frozenset(name.lower() for name in names)
