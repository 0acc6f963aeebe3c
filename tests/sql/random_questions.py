"""Random questions as SQL, in the form that is asked and in the form DuckDB answers alike.

The second differs in two places only, where this language says something that databases do not agree on: a sum of
nothing is 0, and a quotient by zero is NULL. Constants and data are dyadic, so DuckDB's doubles are exact.
"""

from dataclasses import dataclass
from random import Random

SIGNS = ["<", "<=", ">", ">="]
ROW_SIGNS = [*SIGNS, "=", "<>"]
NUMBERS = ["0", "1", "2", "3.5", "17", "18", "64.5", "65", "110", "111", "-1", "-3", "(2 + 1.5)", "2e1", ".5"]
NUMERIC = ["age", "score", "amount", "p.age"]
WARDS = ["1", "2", "3", "(1 + 1)"]
GENDERS = ["'f'", "'m'"]
TEXTS = ["'f'", "'m'", "'zz'", "'it''s'"]
DAYS = ["'2024-01-01'", "DATE '2024-02-29'", "'2024-12-31'", "'2023-12-31'", "'2025-01-01'", "'2024-03-01'"]
HOURS = ["'2024-01-01 00:00'", "'2024-01-02 05:00'", "'2024-01-03 23:00'", "'2023-05-01 00:00'"]
TRUTHS = [
    "smoker",
    "smoker = TRUE",
    "smoker <> FALSE",
    "smoker IS TRUE",
    "smoker IS NOT TRUE",
    "smoker IS FALSE",
    "smoker IS NOT FALSE",
    "smoker IN (TRUE, FALSE)",
    "FALSE <> smoker",
]
PUBLIC_TRUTHS = ["d.notifiable", "notifiable IS NOT TRUE", "d.notifiable = FALSE", "d.severity BETWEEN 2 AND 3"]
BOUNDS = ["0", "1", "2", "3.5", "-2", "-3.5", "0.75", "4 / 2", "12", "40.25", "(1 - 3)"]

Both = tuple[str, str]


@dataclass
class Asker:
    """Draws texts (asked, for DuckDB) from a source of randomness."""

    random: Random
    public: bool = False

    def one(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def condition(self, depth: int = 2) -> str:
        """WHERE and FILTER are the same in both forms."""
        shape = self.random.randrange(8) if depth else 0
        if shape < 4:
            return self._leaf()
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        if shape == 7:
            return f"{left} AND {right} OR {self._leaf()}"
        return [f"NOT ({left})", f"({left} AND {right})", f"({left} OR {right})"][shape - 4]

    def having(self, depth: int = 2) -> Both:
        shape = self.random.randrange(7) if depth else 0
        if shape < 4:
            return self._comparison()
        left, right = self.having(depth - 1), self.having(depth - 1)
        forms = ["NOT ({})", "({} AND {})", "({} OR {})"][shape - 4]
        return forms.format(left[0], right[0]), forms.format(left[1], right[1])

    def _leaf(self) -> str:
        one, maybe_not = self.one, self.one(["", "NOT "])
        leaves = [
            lambda: f"{one(NUMERIC)} {one(ROW_SIGNS)} {one(NUMBERS)}",
            lambda: f"{one(NUMBERS)} {one(ROW_SIGNS)} {one(NUMERIC)}",
            lambda: f"{one(NUMERIC)} {maybe_not}BETWEEN {one(NUMBERS)} AND {one(NUMBERS)}",
            lambda: f"{one(NUMERIC)} {maybe_not}IN ({one(NUMBERS)}, {one(NUMBERS)})",
            lambda: f"{one(['age', 'gender', 'smoker', 'admitted', 'score', 'zip'])} IS {maybe_not}NULL",
            lambda: f"ward {one(SIGNS)} {one(NUMBERS)}",
            lambda: f"ward {maybe_not}BETWEEN {one(NUMBERS)} AND {one(NUMBERS)}",
            lambda: f"{one(WARDS)} {one(['=', '<>'])} ward",
            lambda: f"ward {maybe_not}IN ({one(WARDS)}, {one(WARDS)})",
            lambda: f"gender {one(['=', '<>'])} {one(GENDERS)}",
            lambda: f"zip {one(['=', '<>'])} {one(TEXTS)}",
            lambda: f"zip {maybe_not}IN ({one(TEXTS)}, {one(TEXTS)})",
            lambda: one(TRUTHS),
            lambda: f"admitted {one(ROW_SIGNS)} {one(DAYS)}",
            lambda: f"admitted {maybe_not}BETWEEN {one(DAYS)} AND {one(DAYS)}",
            lambda: f"seen {one(ROW_SIGNS)} {one(HOURS)}",
            lambda: f"seen {one(SIGNS)} {one(DAYS)}",
            lambda: f"seen {maybe_not}BETWEEN {one(['DATE ', ''])}'2024-01-02' AND {one([*DAYS, *HOURS])}",
        ]
        if self.public:
            leaves += [
                lambda: f"d.kind {one(['=', '<>'])} 'viral'",
                lambda: f"kind {maybe_not}IN ('viral', 'viral')",
                lambda: f"severity {one(ROW_SIGNS)} {one(['2', '2.5', '0'])}",
                lambda: f"d.kind IS {maybe_not}NULL",
                lambda: one(PUBLIC_TRUTHS),
            ]
        return self.random.choice(leaves)()

    def _filtered(self, choices: list[str]) -> str:
        aggregate = self.one(choices)
        return f"{aggregate} FILTER (WHERE {self.condition(1)})" if self.random.randrange(3) == 0 else aggregate

    def _count(self) -> str:
        return self._filtered(["COUNT(*)", "COUNT(age)", "count(score)", "COUNT(DISTINCT patient_id)", "COUNT(gender)"])

    def _sum(self) -> Both:
        found = self._filtered(["SUM(age)", "SUM(amount)", "sum(score)"])
        return found, f"coalesce({found}, 0)"

    def _average(self) -> str:
        return self._filtered(["AVG(age)", "AVG(amount)", "AVG(score)"])

    def _linear(self, depth: int = 2) -> Both:
        shape = self.random.randrange(9) if depth else 0
        if shape < 2:
            found = self._count()
            return found, found
        if shape < 4:
            return self._sum()
        left, right = self._linear(depth - 1), self._linear(depth - 1)
        forms = ["{} + {}", "{} - ({})", "(0.5 * ({}))", "-({})", "(({}) / -0.5 + 1)"]
        return forms[shape - 4].format(left[0], right[0]), forms[shape - 4].format(left[1], right[1])

    def _comparison(self) -> Both:
        one, sign, bound = self.one, self.one(SIGNS), self.one(BOUNDS)
        between = f"{one(['', 'NOT '])}BETWEEN {bound} AND {one(BOUNDS)}"
        average, count, left, right = self._average(), self._count(), self._linear(), self._linear()
        over = self.random.choice([self._sum(), self._sum(), (count, count)])
        divisor = self._count()
        shapes = [
            (f"{left[0]} {sign} {bound}", f"{left[1]} {sign} {bound}"),
            (f"{bound} {sign} {left[0]}", f"{bound} {sign} {left[1]}"),
            (f"{left[0]} {sign} {right[0]}", f"{left[1]} {sign} {right[1]}"),
            (f"{left[0]} {between}", f"{left[1]} {between}"),
            (f"{average} {sign} {bound}",) * 2,
            (f"2 * {average} {sign} {bound}",) * 2,
            (f"{average} {between}",) * 2,
            *[(f"{over[0]} / {divisor} {sign} {bound}", f"{over[1]} / nullif({divisor}, 0) {sign} {bound}")] * 2,
        ]
        if self.public:
            public = one(["d.severity", "2 * severity", "d.severity - 1", "20 * d.severity"])
            shapes += [
                (f"{left[0]} {sign} {public}", f"{left[1]} {sign} {public}"),
                (f"{average} {sign} {public}",) * 2,
            ]
        return self.random.choice(shapes)
