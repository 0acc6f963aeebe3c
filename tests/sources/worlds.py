"""Random small tables with everything that goes wrong in tables, and random needs about them."""

import math
import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from thresher.amounts import Epsilon
from thresher.config import (
    Bands,
    Column,
    Contribution,
    Days,
    Grid,
    Hours,
    Listed,
    Numbered,
    Table,
    Text,
    Truth,
)
from thresher.question import (
    ALWAYS,
    NEVER,
    Aggregate,
    AllOf,
    AnyOf,
    Missing,
    Need,
    NoneOf,
    OneOf,
    Present,
    Within,
)

WORDS = ("flu", "it's", 'a "b"', "back\\slash\\'", "naïve ☃ 𝄞", "%s ${env:HOME} {0}", "FLU", " flu", "émile", "-- ;")
STRANGE = ("undeclared", "Flu", "fl", "flu ", "e\u0301mile")
FIRST, LAST = date(1969, 12, 30), date(1970, 1, 3)
DECLARED_WORDS = WORDS[:7]

# What the physical columns hold, by name; every source makes its own types of these.
PHYSICAL = {
    "pid": "big",
    "disease": "text",
    "building": "big",
    "icu": "bool",
    "age": "int",
    "cost": "double",
    "third": "double",
    "price": "decimal",
    "seen": "date",
    "at": "stamp",
    "zoned": "zoned",
    "note": "text",
    "far": "big",
}


def chance(seed):
    """A source of test data, the same every time."""
    return random.Random(seed)


def columns(rnd):
    """Declared columns: a shuffled choice, always with a few to group by."""
    missing = rnd.choice([None, Fraction(7)])
    cost = Grid(Fraction(-10), Fraction(50), rnd.choice([Fraction(1, 4), Fraction(1, 10), Fraction(5)]), missing)
    cost = cost if cost.missing is None else replace(cost, missing=Fraction(5))
    made = [
        Column("disease", Listed(DECLARED_WORDS), rnd.random() < 0.3),
        Column("building", Numbered((3, 1, -2, 10**12)), rnd.random() < 0.3),
        Column("icu", Truth(), rnd.random() < 0.3),
        Column("age", Grid(Fraction(0), Fraction(110), Fraction(1), missing), rnd.random() < 0.3),
        Column("cost", cost),
        Column("third", Grid(Fraction(-3), Fraction(30), Fraction(3))),
        Column("price", Grid(Fraction(-5), Fraction(995, 10), rnd.choice([Fraction(1, 100), Fraction(1, 2)]))),
        Column("seen", rnd.choice([Days, Hours])(FIRST, LAST)),
        Column("at", rnd.choice([Days, Hours])(FIRST, LAST)),
        Column("zoned", rnd.choice([Days, Hours])(FIRST, LAST)),
        Column("note", Text()),
        Column("far", Grid(Fraction(-(2**50)), Fraction(2**50), Fraction(1))),
        Column("band", Bands("age", (Fraction(0), Fraction(18), Fraction(65), Fraction(100))), rnd.random() < 0.2),
    ]
    rnd.shuffle(made)
    return {column.name: column for column in made}


def table(rnd, *, units=None):
    limits = Contribution("pid", rnd.choice([1, 1, 2, 3]), rnd.choice([1, 1, 2, 5]))
    with_units = rnd.random() < 0.6 if units is None else units
    return Table(
        "patients",
        columns(rnd),
        Epsilon("1"),
        contribution=limits if with_units else None,
        version=rnd.choice(["1", "it's 2|", "été"]),
    )


def rows(rnd, most=60):
    """A few ordinary people, one hot one, and NULL units."""
    people = rnd.randint(1, 12)
    made = []
    for _ in range(rnd.choice([0, 1, 5, most])):
        hot = rnd.random() < 0.3
        pid = 1 if hot else rnd.choice([None, *range(people)])
        made.append({"pid": pid, **{name: value(rnd, name) for name in PHYSICAL if name != "pid"}})
    made += [dict(rnd.choice(made)) for _ in range(len(made) // 5)]
    rnd.shuffle(made)
    return made


def value(rnd, name):
    if rnd.random() < 0.12:
        return None
    near = rnd.choice([FIRST, LAST, date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2262, 4, 13)])
    moment = datetime.combine(near, datetime.min.time()) + rnd.choice(
        [timedelta(0), timedelta(microseconds=1), timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999)]
    )
    if near.year in (1970, 1969) and rnd.random() < 0.5:
        moment -= timedelta(microseconds=1)
    values = {
        "disease": lambda: rnd.choice(WORDS + STRANGE),
        "note": lambda: rnd.choice(WORDS + STRANGE),
        "building": lambda: rnd.choice([3, 1, -2, 10**12, 4, 2**63 - 1, -(2**63)]),
        "icu": lambda: rnd.random() < 0.5,
        "age": lambda: rnd.choice([rnd.randint(-20, 130), 0, 110, 17, 18, 2**31 - 1, -(2**31)]),
        "cost": lambda: _number(rnd),
        "third": lambda: _number(rnd),
        "price": lambda: Decimal(rnd.choice([rnd.randint(-99_999, 99_999), 5, -5, 15, 99_500, 999_999_999_999])) / 1000,
        "seen": lambda: near,
        "at": lambda: moment,
        "zoned": lambda: moment.replace(tzinfo=UTC),
        "far": lambda: rnd.choice([2**63 - 1, -(2**63), 2**50, 2**50 - 1, rnd.randint(-(2**51), 2**51)]),
    }
    return values[name]()


def _number(rnd):
    return rnd.choice(
        [
            rnd.uniform(-15, 60),
            rnd.randint(-100, 500) / 8,
            rnd.randint(-100, 500) / 20,
            rnd.choice([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, -0.0, 2.0**53, 0.05, 0.125]),
        ]
    )


def condition(rnd, declared, depth=2):
    kind = rnd.random()
    if depth and kind < 0.35:
        parts = tuple(condition(rnd, declared, depth - 1) for _ in range(rnd.randint(1, 3)))
        return rnd.choice([AllOf, AnyOf])(parts)
    if kind < 0.4:
        return rnd.choice([ALWAYS, NEVER])
    column = rnd.choice(list(declared.columns.values()))
    if kind < 0.5:
        return rnd.choice([Missing, Present])(column.name)
    if isinstance(column.kind, Listed | Text):
        chosen = tuple(sorted(rnd.sample(WORDS + STRANGE, rnd.randint(1, 4))))
        return rnd.choice([OneOf, NoneOf])(column.name, chosen)
    codes = list(column.kind.codes()) if len(column.kind.codes()) < 10_000 else [-(2**50), 0, 5, 2**50]
    if kind < 0.75:
        low, high = sorted(rnd.choices(codes, k=2))
        low, high = low + rnd.randint(-2, 2), high + rnd.randint(-2, 2)
        return Within(column.name, rnd.choice([low, None]), rnd.choice([high, None]))
    chosen = tuple(sorted(set(rnd.choices(codes, k=rnd.randint(1, 6)))))
    return rnd.choice([OneOf, NoneOf])(column.name, chosen)


def need(rnd, declared):
    groupable = [c for c in declared.columns.values() if not isinstance(c.kind, Text) and len(c.kind.codes()) < 150]
    keys = tuple(rnd.sample(groupable, rnd.choice([0, 1, 1, 2])))
    groups = list(product(*(key.kind.codes() for key in keys)))
    if keys and rnd.random() < 0.3:
        groups = rnd.sample(groups, max(1, len(groups) // 2))
    where = rnd.choice([ALWAYS, condition(rnd, declared)])
    return Need(declared, keys, tuple(groups), where, tuple(aggregate(rnd, declared) for _ in range(rnd.randint(1, 6))))


def aggregate(rnd, declared):
    measure = rnd.choice(["rows", "present", "total", "units"])
    where = rnd.choice([ALWAYS, condition(rnd, declared)])
    if measure in ("rows", "units"):
        return Aggregate(measure, None, where)
    grids = [c.name for c in declared.columns.values() if isinstance(c.kind, Grid) or measure == "present"]
    return Aggregate(measure, rnd.choice(grids), where)
