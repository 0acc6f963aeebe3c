"""From checked words to the parser's tree of one SELECT, with every word accounted for, and to its clauses.

The parser's library drops words that mean nothing to it (`FROM t*`, a comma too many). So the tree is counted against
the words: every name and constant must stand in the tree, and every sign and keyword as often as it was written.
Reads: words. Writes: nothing. Never: optimises, generates or runs SQL; looks at what names mean.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from thresher.sql.known_words import PLAIN
from thresher.sql.refusals import Refusal, shown
from thresher.sql.tokens import DEEPEST

_PLACED = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
_COMPARISONS: dict[type[exp.Expr], TokenType] = {
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
    **{node: (sign,) for node, sign in _COMPARISONS.items()},
}


def parsed(words: Sequence[Token], text: str) -> exp.Select:
    """The tree of the statement."""
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


def check_complete(tree: exp.Select, words: Sequence[Token]) -> None:
    """Refuses if a word of the text is not in the tree, or stands there more or less often than it was written."""
    nodes = list(tree.walk())
    places = {node.meta.get("start") for node in nodes}
    for word in words:
        if word.token_type in _PLACED and word.start not in places:
            raise Refusal("readable-sql", f"{shown(word.text)} has no meaning here; leave it out", word)
    inside = Counter(kind for node in nodes for kind in _words_of(node))
    written = Counter(word.token_type for word in words if word.token_type not in _PLACED)
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


_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One SELECT, in pieces of the parser's tree."""

    selected: tuple[exp.Expr, ...]
    table: exp.Table
    joins: tuple[exp.Join, ...]
    where: exp.Expr | None
    keys: tuple[exp.Column, ...]
    having: exp.Expr | None


def clauses(tree: exp.Select, *, may_count: bool = False) -> Statement:
    """The pieces of the statement, or the refusal of a piece that is missing or too many.

    `may_count`: it may end with GROUP BY, and asks for a number then instead of a decision.
    """
    _check_output(tree)
    only(tree, *_CLAUSES)
    group, having = tree.args.get("group"), tree.args.get("having")
    if group is None:
        raise Refusal("group-and-having", "HAVING without GROUP BY: name the groups with GROUP BY", having)
    only(group, "expressions")
    if having is None and not may_count:
        raise Refusal("group-and-having", "GROUP BY without HAVING: say with HAVING which groups are asked for", group)
    source = tree.args.get("from_")
    if source is None:
        raise Refusal("declared-tables-only", "FROM is missing: name a declared table")
    where = tree.args.get("where")
    return Statement(
        selected=tuple(tree.expressions),
        table=_table(_inner(source)),
        joins=tuple(tree.args.get("joins") or ()),
        where=_inner(where) if where is not None else None,
        keys=tuple(_key(node) for node in group.expressions),
        having=None if having is None else _inner(having),
    )


def joined_table(join: exp.Join) -> tuple[exp.Table, exp.Expr]:
    """The table of a JOIN and what stands after ON."""
    kind = join.args.get("kind") or "INNER"
    on = join.args.get("on")
    if str(kind).upper() != "INNER" or on is None:
        raise Refusal("public-joins-only", "Write JOIN public_table ON private.column = public.column", join)
    only(join, "this", "kind", "on")
    return _table(join.this), on


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuses a node that carries more than we are going to read: nothing is passed over in silence."""
    for name, value in node.args.items():
        if name not in allowed and not (value is None or value is False or value == []):
            what = f"{type(node).__name__} with {name.strip('_')}"
            raise Refusal("readable-sql", f"Not supported: {what}; leave that part out", node)


def plain_parts(node: exp.Expr, kind: type[exp.Expr]) -> Iterable[exp.Expr]:
    """The parts of `a AND b AND c`, in order, without a call for each: such chains may be long."""
    parts: list[exp.Expr] = []
    while isinstance(node, kind):
        only(node, "this", "expression")
        parts.append(node.expression)
        node = node.this
    parts.append(node)
    return reversed(parts)


def unwrapped(node: exp.Expr) -> exp.Expr:
    """The node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        only(node, "this")
        node = node.this
    return node


def _check_output(tree: exp.Select) -> None:
    rows = [node for node in tree.expressions if isinstance(node, exp.Star) or isinstance(node.this, exp.Star)]
    stars = [node for node in rows if not isinstance(node, exp.Count)]
    nothing = tree.args.get("group") is None and tree.args.get("having") is None
    if stars or nothing or not tree.expressions:
        where = stars[0] if stars else None
        raise Refusal("row-level-output", "Row-level output is never released; add GROUP BY and HAVING", where)


def _inner(clause: exp.Expr) -> exp.Expr:
    only(clause, "this")
    inner = clause.this
    if not isinstance(inner, exp.Expr):
        raise Refusal("readable-sql", f"Nothing stands after {type(clause).__name__.upper()}", clause)
    return inner


def _table(node: exp.Expr) -> exp.Table:
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        raise Refusal("declared-tables-only", "Tables must be declared; file and table functions are not allowed", node)
    if not isinstance(node, exp.Table):
        raise Refusal("no-subquery", "Not supported: subquery; ask about one declared table", node)
    if node.args.get("db") or node.args.get("catalog"):
        raise Refusal("declared-tables-only", "Tables must be declared, and are written without a schema", node)
    only(node, "this", "alias")
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, "this")
    return node


def _key(node: exp.Expr) -> exp.Column:
    node = unwrapped(node)
    if not isinstance(node, exp.Column):
        raise Refusal("plain-groups", "GROUP BY takes names of declared columns", node)
    return node
