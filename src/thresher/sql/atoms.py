"""One comparison of aggregates as whole numbers: `weights . aggregates >= at_least`.

Fractions become whole by a common denominator, strictness by adding one, `<` by turning the signs. An average or a
ratio is compared by its linear form: `sum / count > c` is `sum - c count > 0` where the count is not zero. Where it is
zero, SQL says NULL, which is not true: if the linear form could hold there, `count >= 1` is added by AND.
Reads: linear forms, groups. Writes: nothing. Never: rounds.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from thresher.config import Table
from thresher.question import ALWAYS, NEVER, Aggregate, AllOf, Atom, Condition, OneOf, all_of, sorted_codes
from thresher.sql.linear import Context, Linear, present_count, scaled, sum_of_forms
from thresher.sql.names import Group, PublicColumn
from thresher.sql.refusals import Refusal, shown
from thresher.sql.row_conditions import HOLDS, TURNED
from thresher.sql.writing import aggregate_text, linear_text, name_text, order, ratio_text, sum_text

# An average that is compared with a public column takes one count for each value of the column.
_MOST_VALUES = 32


@dataclass(frozen=True, slots=True)
class Compared:
    """The atoms of one written comparison, all of which must hold, and the `guard`, an atom that was not written."""

    atoms: tuple[Atom, ...] = ()
    guard: Atom | None = None
    always_false: bool = False


def compare(
    sides: tuple[Linear, Linear], sign: str, context: Context, groups: Sequence[Group], at: exp.Expr
) -> Compared:
    """Return `left sign right`, for `<`, `<=`, `>` and `>=`. Without atoms it is always true, or always false."""
    left, right = sides
    if not left.has_aggregates:
        left, right, sign = right, left, TURNED[sign]
    if not left.has_aggregates:
        raise Refusal("aggregates-in-having", "HAVING compares aggregates: COUNT, SUM or AVG with a number", at)
    form = sum_of_forms(left, scaled(right, Fraction(-1), at), at)
    written = _Written(form, sign, context)
    terms = {aggregate: weight for aggregate, weight in form.terms.items() if weight and aggregate.where != NEVER}
    bounds = _bounds(form, context, groups, at)
    if form.over is not None:
        return _ratio(terms, form.over, bounds, written, context)
    if not terms:
        truths = {HOLDS[sign](Fraction(0), bound) for bound in bounds.by_group}
        if len(truths) > 1:
            raise Refusal("linear-forms", "The aggregates of this comparison cancel out; leave it out", at)
        return Compared(always_false=truths == {False})
    return Compared((written.atom(terms, bounds.by_group),))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The number on the right for each group, or one for all; for a ratio also the rows that each number is for."""

    by_group: tuple[Fraction, ...]
    by_code: Mapping[Fraction, Condition]


@dataclass(frozen=True, slots=True)
class _Written:
    """A comparison as it was written, with the aggregates on the left."""

    form: Linear
    sign: str
    context: Context

    @property
    def table(self) -> Table:
        return self.context.scope.table

    @property
    def aggregate(self) -> str:
        form = self.form
        if form.over is None:
            return linear_text(form.terms, self.table)
        one = next(iter(form.terms), None)
        if one is not None and len(form.terms) == 1 and form.terms[one] and _is_average(one, form.over, self.context):
            return linear_text(form.terms, self.table, average=True)
        return ratio_text(form.terms, form.over, self.table)

    def text(self, aggregate: str) -> str:
        public = sorted(self.form.public.items(), key=lambda item: (item[0].table, item[0].name, item[0].alias))
        named = {f"{name_text(column.table)}.{name_text(column.name)}": -factor for column, factor in public if factor}
        if self.form.constant or not named:
            named[""] = -self.form.constant
        return f"{aggregate} {self.sign} {sum_text(named)}"

    def atom(self, terms: Mapping[Aggregate, Fraction], bounds: Sequence[Fraction]) -> Atom:
        """Return the atom of `terms sign bound`. There must be terms."""
        scale = _scale(terms.values())
        upwards = self.sign in (">", ">=")
        factor = scale if upwards else -scale
        places = [bound * factor for bound in bounds]
        wholes = [math.floor(place) + 1 if self.sign in (">", "<") else math.ceil(place) for place in places]
        aggregate = self.aggregate
        ranked = sorted(terms, key=lambda aggregate: order(aggregate, self.table))
        return Atom(
            weights=tuple((aggregate, int(terms[aggregate] * factor)) for aggregate in ranked),
            at_least=wholes[0] if len(set(wholes)) == 1 else tuple(wholes),
            aggregate=aggregate,
            text=self.text(aggregate),
            steps=scale,
            per_row=self.form.over is not None,
            upwards=upwards,
        )


def _ratio(
    terms: Mapping[Aggregate, Fraction], over: Aggregate, bounds: _Bounds, written: _Written, context: Context
) -> Compared:
    if over.where == NEVER:
        return Compared(always_false=True)
    form = Linear(terms)
    for bound, where in bounds.by_code.items():
        counted = Aggregate(over.measure, over.column, all_of([over.where, where]))
        form = sum_of_forms(form, Linear({counted: -bound} if bound else {}), exp.Null())
    terms = {aggregate: weight for aggregate, weight in form.terms.items() if weight}
    strict = written.sign in (">", "<")
    if not terms and strict:
        return Compared(always_false=True)
    atoms = (written.atom(terms, [Fraction(0)]),) if terms else ()
    if strict and all(_vanishes_with(aggregate, over) for aggregate in terms):
        return Compared(atoms)
    name = aggregate_text(over, context.scope.table)
    return Compared(atoms, Atom(((over, 1),), 1, name, f"{name} >= 1", Fraction(1), written=False))


def _vanishes_with(aggregate: Aggregate, over: Aggregate) -> bool:
    """Return whether the aggregate is surely zero in a group where the count `over` is zero."""
    inside = _implies(aggregate.where, over.where)
    return inside and (over.measure != "present" or aggregate.column == over.column)


def _implies(narrow: Condition, wide: Condition) -> bool:
    """Return whether all parts of `wide`, of which ALWAYS has none, are parts of `narrow`."""
    parts = narrow.parts if isinstance(narrow, AllOf) else (narrow,)
    return all(part in parts for part in (wide.parts if isinstance(wide, AllOf) else (wide,)))


def _is_average(total: Aggregate, over: Aggregate, context: Context) -> bool:
    if total.measure != "total" or total.column is None:
        return False
    return over == present_count(context.scope.table.columns[total.column], context, total.where)


def _bounds(form: Linear, context: Context, groups: Sequence[Group], at: exp.Expr) -> _Bounds:
    if not form.public:
        return _Bounds((-form.constant,), {-form.constant: ALWAYS})
    names = [column.name for column in context.keys]
    by_group: list[Fraction] = []
    codes: dict[Fraction, set[Group]] = {}
    joined = sorted({column.on for column in form.public})
    places = [names.index(name) for name in joined]
    tables = {column: context.scope.values(column) for column in form.public}
    for group in groups:
        bound = -form.constant
        for column, factor in form.public.items():
            bound -= factor * _threshold(column, tables[column].get(group[names.index(column.on)]), at)
        by_group.append(bound)
        codes.setdefault(bound, set()).add(tuple(group[place] for place in places))
    if form.over is not None and (len(codes) > _MOST_VALUES or len(joined) > 1):
        message = f"An average is compared with at most {_MOST_VALUES} values of one public table"
        raise Refusal("constant-thresholds", message, at)
    if len(codes) == 1:
        return _Bounds(tuple(by_group), dict.fromkeys(codes, ALWAYS))
    return _Bounds(tuple(by_group), {bound: _one_of(joined[0], of) for bound, of in codes.items()} if form.over else {})


def _one_of(column: str, codes: set[Group]) -> Condition:
    return OneOf(column, sorted_codes(code[0] for code in codes))


def _threshold(column: PublicColumn, value: object, at: exp.Expr) -> Fraction:
    if not isinstance(value, Fraction):
        name = shown(f"{column.table}.{column.name}")
        message = f"{name} is not a number for some group of this question; leave such groups out in WHERE"
        raise Refusal("constant-thresholds", message, at)
    return value


def _scale(numbers: Collection[Fraction]) -> Fraction:
    """Return the positive factor that makes these numbers whole, without a common factor."""
    common = math.lcm(*(number.denominator for number in numbers))
    return Fraction(common, math.gcd(*(int(number * common) for number in numbers)))
