"""The shape of the statement: its clauses, and that it has no others.

Reads: the parser's tree. Writes: nothing. Never: looks at what the names mean.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from thresher.sql.refusals import Refusal

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
