"""Constants as written: exact numbers, texts, truth values and dates; and the check that a column's list holds them.

Reads: the parser's tree, declarations. Writes: nothing. Never: a float, a cast other than DATE '...'; suggests a
value that is not public.
"""

import re
from collections.abc import Collection, Sequence
from datetime import date
from fractions import Fraction

from sqlglot import exp

from thresher.config import Column, Listed, Numbered, decimal_text
from thresher.sql.refusals import Refusal, bare, shown
from thresher.sql.statement import ARITHMETIC, exact_literal, sane

Constant = Fraction | str | bool | date

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_NUMBERS = ("nan", "inf", "infinity")


def constant(node: exp.Expr) -> Constant | None:
    """Return the constant that a tree is; None if it is something else."""
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal) and node.args.get("is_string"):
        return str(node.this)
    if isinstance(node, exp.Cast):
        return _date(node)
    return _number(node)


def _number(node: exp.Expr) -> Fraction | None:
    """Return the exact number that a tree of literals and + - * / is; None if it is something else."""
    steps: list[exp.Expr] = []
    while isinstance(node, ARITHMETIC):
        steps.append(node)
        node = node.this
    number = _simple(node)
    for step in reversed(steps):
        right = _number(step.expression)
        if number is None or right is None:
            return None
        number = _combined(step, number, right)
    return number


def not_finite(name: str) -> bool:
    """Return whether other systems read this name as infinity or as NaN."""
    return name.lower() in _NOT_NUMBERS


def constant_text(value: Constant) -> str:
    """Return a constant as it may be written in SQL, short and printable."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, Fraction):
        return bare(decimal_text(value))
    return "'" + bare(value if isinstance(value, str) else value.isoformat()) + "'"


def _simple(node: exp.Expr) -> Fraction | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    return exact_literal(node)


def _combined(step: exp.Expr, left: Fraction, right: Fraction) -> Fraction:
    if isinstance(step, exp.Add):
        return sane(left + right, step)
    if isinstance(step, exp.Sub):
        return sane(left - right, step)
    if isinstance(step, exp.Mul):
        return sane(left * right, step)
    if right == 0:
        raise Refusal("exact-numbers", "Division by zero; divide by a number that is not zero", step)
    return sane(left / right, step)


def _date(node: exp.Cast) -> date:
    literal = node.this
    is_text = isinstance(literal, exp.Literal) and bool(literal.args.get("is_string"))
    if node.args["to"].this != exp.DataType.Type.DATE or not is_text:
        raise Refusal("total-expressions", "Casts can fail or leak; dates are written 'YYYY-MM-DD'", node)
    return day(str(literal.this), node)


def day(text: str, at: exp.Expr) -> date:
    """Return the day that is written as YYYY-MM-DD, or refuse the text."""
    try:
        parsed = date.fromisoformat(text)
    except ValueError:
        parsed = None
    # Python reads other forms of a date too; one way of writing is enough.
    if parsed is None or parsed.isoformat() != text:
        raise Refusal("comparable-values", f"{shown(text)} is not a day; write 'YYYY-MM-DD'", at)
    return parsed


_SHOWN_VALUES = 5
# In longer lists only other capitals are recognised: comparing every value for likeness would take long.
_MOST_COMPARED = 5_000
_LONGEST_COMPARED = 200


def check_known(column: Column, values: Sequence[Constant], at: exp.Expr) -> None:
    """Refuse values that the column's list does not hold. Values of another kind are refused elsewhere."""
    kind = column.kind
    if isinstance(kind, Listed | Numbered):
        of_kind = str if isinstance(kind, Listed) else Fraction
        check_among(column.name, [value for value in values if isinstance(value, of_kind)], kind.values, at)


def check_among(name: str, values: Sequence[Constant], known: Collection[object], at: exp.Expr) -> None:
    """Refuse values that are not among the known values of the column called `name`."""
    listed = known if len(values) == 1 else frozenset(known)
    for value in values:
        if value not in listed:
            message = f"{constant_text(value)} is not a declared value of {shown(name)}"
            raise Refusal("known-values", f"{message}; {_nearest(value, known)}", at)


def _nearest(value: Constant, known: Collection[object]) -> str:
    texts = {other.casefold(): other for other in known if isinstance(other, str)}
    if isinstance(value, str) and texts:
        near = texts.get(value.casefold().strip()) or _alike(value.casefold(), texts)
        if near is not None:
            return f"did you mean {constant_text(near)}?"
    public = [Fraction(other) if isinstance(other, int) else other for other in list(known)[:_SHOWN_VALUES]]
    some = ", ".join(constant_text(other) for other in public if isinstance(other, str | Fraction))
    return f"declared: {some}{' ...' if len(known) > _SHOWN_VALUES else ''}"


def _alike(value: str, texts: dict[str, str]) -> str | None:
    import difflib  # noqa: PLC0415 - only a misspelt value needs it

    if len(texts) > _MOST_COMPARED or len(value) > _LONGEST_COMPARED:
        return None
    near = difflib.get_close_matches(value, [text for text in texts if len(text) <= _LONGEST_COMPARED], n=1)
    return texts[near[0]] if near else None
