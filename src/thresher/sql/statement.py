"""From checked words to the parser's tree of one SELECT, with every word accounted for, and to its clauses.

No node of the clauses carries anything that is not read, nor parentheses that only group. The parser's library drops
words that mean nothing to it (`FROM t*`, a comma too many). So the tree is counted against the words: every name and
constant must stand in the tree, and every sign and keyword as often as it was written.
Reads: words. Writes: nothing. Never: optimises, generates or runs SQL; looks at what names mean.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from thresher.amounts import exact_fraction
from thresher.errors import ArgumentError
from thresher.sql.known_words import PLAIN
from thresher.sql.refusals import Refusal, shown
from thresher.sql.tokens import DEEPEST

_MOST_BITS = 512
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_PLACED = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
COMPARISONS: dict[type[exp.Expr], TokenType] = {
    exp.EQ: TokenType.EQ,
    exp.NEQ: TokenType.NEQ,
    exp.LT: TokenType.LT,
    exp.LTE: TokenType.LTE,
    exp.GT: TokenType.GT,
    exp.GTE: TokenType.GTE,
}
_SIGNS: dict[type[exp.Expr], tuple[TokenType, ...]] = {
    exp.TableAlias: (TokenType.ALIAS,),
    exp.Select: (TokenType.SELECT,),
    exp.From: (TokenType.FROM,),
    exp.Where: (TokenType.WHERE,),
    exp.Having: (TokenType.HAVING,),
    exp.Group: (TokenType.GROUP_BY,),
    exp.Distinct: (TokenType.DISTINCT,),
    exp.Filter: (TokenType.FILTER, TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Paren: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Tuple: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.In: (TokenType.IN, TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Between: (TokenType.BETWEEN, TokenType.AND),
    exp.And: (TokenType.AND,),
    exp.Or: (TokenType.OR,),
    exp.Not: (TokenType.NOT,),
    exp.Is: (TokenType.IS,),
    exp.Null: (TokenType.NULL,),
    exp.Star: (TokenType.STAR,),
    exp.Mul: (TokenType.STAR,),
    exp.Div: (TokenType.SLASH,),
    exp.Add: (TokenType.PLUS,),
    exp.Sub: (TokenType.DASH,),
    exp.Neg: (TokenType.DASH,),
    exp.Cast: (TokenType.DATE,),
    exp.Count: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Sum: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Avg: (TokenType.L_PAREN, TokenType.R_PAREN),
    **{node: (sign,) for node, sign in COMPARISONS.items()},
}


def parsed_select(words: Sequence[Token], text: str) -> exp.Select:
    """Return the tree of the statement."""
    try:
        trees = Parser().parse(list(words), text)
    except ParseError as error:
        raise _unreadable(error, words) from None
    except RecursionError:
        raise Refusal("query-size", f"Query too deep: nest fewer than {DEEPEST} levels") from None
    except Exception:  # noqa: BLE001 - whatever words do to the parser, the asker gets a refusal
        raise Refusal(
            "readable-sql", "This cannot be read as SQL; compare it with the examples in docs/questions.md"
        ) from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Select):
        raise Refusal("one-select", "Only SELECT .. GROUP BY .. HAVING is supported", words[0])
    return tree


@dataclass(frozen=True, slots=True)
class Inventory:
    """The content of a tree: the places of its names and constants, and the number of each sign and keyword."""

    places: frozenset[object]
    words: Counter[TokenType]


def inventory(tree: exp.Select) -> Inventory:
    """Return the content of the tree. Call it before parentheses are taken out."""
    nodes = list(tree.walk())
    return Inventory(
        frozenset(node.meta.get("start") for node in nodes), Counter(kind for node in nodes for kind in _words_of(node))
    )


def check_complete(tree: Inventory, words: Sequence[Token]) -> None:
    """Refuse a word of the text that is not in the tree, or stands there more or less often than it was written."""
    inside, written = tree.words, Counter(word.token_type for word in words if word.token_type not in _PLACED)
    for word in words:
        if word.token_type in _PLACED and word.start not in tree.places:
            raise Refusal("readable-sql", f"{shown(word.text)} has no meaning here; leave it out", word)
    for kind in {*inside, *written}:
        # AS and INNER may be left out.
        spare = kind in (TokenType.ALIAS, TokenType.INNER) and written[kind] < inside[kind]
        if written[kind] != inside[kind] and not spare:
            first = next((word for word in words if word.token_type == kind), None)
            what = shown(first.text) if first is not None else f"Where {shown(PLAIN.get(kind, kind.name))} belongs it"
            raise Refusal("readable-sql", f"{what} is missing or has no meaning in one place", first)


def _words_of(node: exp.Expr) -> list[TokenType]:
    found = list(_SIGNS.get(type(node), ()))
    if isinstance(node, exp.Boolean):
        found.append(TokenType.TRUE if node.this else TokenType.FALSE)
    if isinstance(node, exp.Join):
        found += [TokenType.JOIN, TokenType.INNER] + [TokenType.ON] * (node.args.get("on") is not None)
    if isinstance(node, exp.Column):
        found += [TokenType.DOT] * (node.args.get("table") is not None)
    listed = node.args.get("expressions") or []
    return found + [TokenType.COMMA] * (len(listed) - 1)


def _unreadable(error: ParseError, words: Sequence[Token]) -> Refusal:
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    near = next((word for word in words if (word.line, word.col) == (line, column)), None)
    found = f" near {shown(near.text)}" if near is not None else ""
    message = f"This cannot be read as SQL{found}: a part is missing or too many"
    return Refusal("readable-sql", f"{message}; compare it with the examples in docs/questions.md", near)


# The parts that each kind of node may carry: those that are read. Other parts of a join and of IN are refused by name.
_PARTS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Select: ("expressions", "from_", "joins", "where", "group", "having"),
    exp.Group: ("expressions",),
    exp.Join: ("this", "kind", "on"),
    exp.Table: ("this", "alias"),
    exp.Column: ("this", "table"),
    exp.Identifier: ("this", "quoted"),
    exp.Literal: ("this", "is_string"),
    exp.Cast: ("this", "to", "_type"),
    exp.DataType: ("this", "nested"),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions"),
    exp.Filter: ("this", "expression"),
    exp.Count: ("this", "big_int"),
    exp.Distinct: ("expressions",),
    exp.Star: (),
    **dict.fromkeys((exp.From, exp.Where, exp.Having, exp.TableAlias, exp.Boolean, exp.Paren), ("this",)),
    **dict.fromkeys((exp.Not, exp.Neg, exp.Sum, exp.Avg), ("this",)),
    **dict.fromkeys((exp.And, exp.Or, exp.Is, *COMPARISONS, *ARITHMETIC), ("this", "expression")),
}
_REFUSED_BY_NAME = (exp.Join, exp.Table, exp.TableAlias, exp.In)
# Places where parentheses do more than group: around a table, after IS, and in a cast.
_MEANT = ((exp.From, "this"), (exp.Join, "this"), (exp.Is, "expression"), (exp.Cast, "this"))


@dataclass(frozen=True, slots=True)
class Statement:
    """The clauses of one SELECT as nodes of the parser's tree, without parentheses that only group."""

    selected: tuple[exp.Expr, ...]
    table: exp.Table
    joins: tuple[exp.Join, ...]
    where: exp.Expr | None
    keys: tuple[exp.Column, ...]
    having: exp.Expr | None


def clauses(tree: exp.Select, *, may_count: bool = False) -> Statement:
    """Return the clauses of the statement; refuse a clause that is missing or does not belong here.

    With `may_count`, the statement may end with GROUP BY: it then asks for a number instead of a decision.
    """
    _check_output(tree)
    check_parts(tree)
    group, having, source = (tree.args.get(name) for name in ("group", "having", "from_"))
    if group is None:
        raise Refusal("group-and-having", "HAVING without GROUP BY: name the groups with GROUP BY", having)
    check_parts(group)
    if having is None and not may_count:
        message = "GROUP BY without HAVING: write the condition on each group, such as HAVING COUNT(*) > 100"
        raise Refusal("group-and-having", message, group)
    if source is None:
        raise Refusal("declared-tables-only", "FROM is missing: name a declared table")
    _tidy(tree)
    where = tree.args.get("where")
    return Statement(
        selected=tuple(tree.expressions),
        table=table_in(_inner(source)),
        joins=tuple(tree.args.get("joins") or ()),
        where=_inner(where) if where is not None else None,
        keys=tuple(_key(node) for node in group.expressions),
        having=None if having is None else _inner(having),
    )


def _tidy(tree: exp.Select) -> None:
    """Take out parentheses that only group, and refuse a node that carries more than is read of it."""
    # Joins, tables and IN have refusals of their own, which come first; then their parts are checked too.
    later = {id(node) for join in tree.args.get("joins") or () for node in join.walk()}
    for node in list(tree.walk()):
        if id(node) not in later and not isinstance(node, _REFUSED_BY_NAME):
            check_parts(node)
        if isinstance(node, exp.Paren) and not any(
            isinstance(node.parent, kind) and node.arg_key == part for kind, part in _MEANT
        ):
            node.replace(node.this)


def check_parts(node: exp.Expr) -> None:
    """Refuse a node that carries more than is going to be read of it."""
    allowed = next((_PARTS[kind] for kind in type(node).__mro__ if kind in _PARTS), None)
    for name, value in node.args.items():
        if allowed is not None and name not in allowed and not (value is None or value is False or value == []):
            what = f"{type(node).__name__} with {name.strip('_')}"
            raise Refusal("readable-sql", f"Not supported: {what}; leave that part out", node)


def joined_table(join: exp.Join) -> tuple[exp.Table, exp.Expr]:
    """Return the table of a JOIN and what stands after ON."""
    kind = join.args.get("kind") or "INNER"
    on = join.args.get("on")
    if str(kind).upper() != "INNER" or on is None:
        raise Refusal("public-joins-only", "Write JOIN public_table ON private.column = public.column", join)
    check_parts(join)
    return table_in(join.this), on


def in_order(node: exp.Expr, kind: type[exp.Expr]) -> Iterable[exp.Expr]:
    """Return the parts of `a AND b AND c`, in order. It is a loop, because such chains may be long."""
    parts: list[exp.Expr] = []
    while isinstance(node, kind):
        parts.append(node.expression)
        node = node.this
    parts.append(node)
    return reversed(parts)


def exact_literal(node: exp.Expr) -> Fraction | None:
    """Return the exact value of a literal number; None if the node is something else."""
    if not isinstance(node, exp.Literal) or node.args.get("is_string"):
        return None
    try:
        return exact_fraction(str(node.this), "number")
    except ArgumentError:
        message = f"{shown(str(node.this))} is too large or too fine to be kept exactly"
        raise Refusal("exact-numbers", f"{message}; use 1e-60 to 1e60", node) from None


def sane(value: Fraction, at: exp.Expr) -> Fraction:
    """Return the number; refuse it if its exact form has grown beyond 512 bits."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise Refusal("exact-numbers", "A number is too large or too fine to be kept exactly", at)
    return value


def _check_output(tree: exp.Select) -> None:
    rows = [node for node in tree.expressions if isinstance(node, exp.Star) or isinstance(node.this, exp.Star)]
    stars = [node for node in rows if not isinstance(node, exp.Count)]
    nothing = tree.args.get("group") is None and tree.args.get("having") is None
    if nothing and not stars and any(node.find(exp.AggFunc) for node in tree.expressions):
        message = "A question asks which groups meet a condition; add GROUP BY and HAVING, as in HAVING COUNT(*) > 100"
        raise Refusal("row-level-output", message)
    if stars or nothing or not tree.expressions:
        where = stars[0] if stars else None
        raise Refusal("row-level-output", "Row-level output is never released; add GROUP BY and HAVING", where)


def _inner(clause: exp.Expr) -> exp.Expr:
    inner = clause.this
    if not isinstance(inner, exp.Expr):
        raise Refusal("readable-sql", f"Nothing stands after {type(clause).__name__.upper()}", clause)
    return inner


def table_in(node: exp.Expr) -> exp.Table:
    """Return the node, if it is the plain name of a table."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        raise Refusal("declared-tables-only", "Tables must be declared; file and table functions are not allowed", node)
    if not isinstance(node, exp.Table):
        raise Refusal("no-subquery", "Not supported: subquery; ask about one declared table", node)
    if node.args.get("db") or node.args.get("catalog"):
        raise Refusal("declared-tables-only", "Tables must be declared, and are written without a schema", node)
    for part in node.walk():
        check_parts(part)
    return node


def _key(node: exp.Expr) -> exp.Column:
    if not isinstance(node, exp.Column):
        raise Refusal("plain-groups", "GROUP BY takes names of declared columns", node)
    return node
