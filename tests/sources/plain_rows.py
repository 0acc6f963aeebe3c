"""What the sources must give, computed from plain Python rows: one row is a dict, one aggregate a loop.

Written from the rules in `config/columns.py` and `question/`, not from the sources' SQL.
"""

import hashlib
import math
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal

from thresher.config import Bands, Days, Grid, Hours, Listed, Numbered, Text, Truth
from thresher.question import AllOf, AnyOf, Missing, NoneOf, OneOf, Present, Within


def code(table, name, row):
    """The code of a column in a row, or None."""
    kind = table.columns[name].kind
    if isinstance(kind, Bands):
        step, of = table.columns[kind.of].kind.step, code(table, kind.of, row)
        bands = range(len(kind.edges) - 1)
        return next((n for n in bands if of is not None and kind.edges[n] <= of * step < kind.edges[n + 1]), None)
    value = row[name]
    if isinstance(kind, Grid):
        return _on_grid(kind, value)
    if value is None or isinstance(kind, Listed | Text):
        return value
    if isinstance(kind, Numbered):
        return int(value) if math.isfinite(value) and value == math.floor(value) else None
    if isinstance(kind, Truth):
        return {0: 0, 1: 1}.get(value)
    return _in_time(kind, value)


def _on_grid(kind, value):
    missing = None if kind.missing is None else int(kind.missing / kind.step)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return missing
    if isinstance(value, int) and kind.step == 1:
        return max(kind.lowest, min(kind.highest, value))
    value = float(value) if not isinstance(value, Decimal) else float(str(value))
    if value < float(kind.minimum):
        return kind.lowest
    if value > float(kind.maximum):
        return kind.highest
    times = 1 / kind.step
    placed = value * float(times) if times.denominator == 1 else value / float(kind.step)
    return math.floor(placed + 0.5)


def _in_time(kind, value):
    if isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        day, hour = value.date(), value.hour
    else:
        day, hour = value, 0
    if not kind.first <= day <= kind.last:
        return None
    days = (day - date(1970, 1, 1)).days
    return days if isinstance(kind, Days) else 24 * days + hour if isinstance(kind, Hours) else None


def holds(condition, codes):
    if isinstance(condition, AllOf | AnyOf):
        return (all if isinstance(condition, AllOf) else any)(holds(part, codes) for part in condition.parts)
    found = codes[condition.column]
    if found is None or isinstance(condition, Missing):
        return found is None and isinstance(condition, Missing)
    if isinstance(condition, Within):
        return (condition.low is None or condition.low <= found) and (condition.high is None or found <= condition.high)
    if isinstance(condition, OneOf):
        return found in condition.codes
    return found not in condition.codes if isinstance(condition, NoneOf) else isinstance(condition, Present)


def evaluate(need, rows):
    """The aggregates by group, as lists of ints."""
    table = need.table
    coded = [
        (
            row[table.contribution.unit] if table.contribution else number,
            {name: code(table, name, row) for name in table.columns},
        )
        for number, row in enumerate(rows)
    ]
    if table.contribution:
        coded = bounded(table, [key.name for key in need.keys], coded)
    by_group = defaultdict(list)
    for unit, codes in coded:
        if holds(need.where, codes):
            by_group[tuple(codes[key.name] for key in need.keys)].append((unit, codes))
    return [[_measured(aggregate, by_group.get(group, [])) for aggregate in need.aggregates] for group in need.groups]


def _measured(aggregate, rows):
    rows = [(unit, codes) for unit, codes in rows if holds(aggregate.where, codes)]
    if aggregate.measure == "rows":
        return len(rows)
    if aggregate.measure == "units":
        return len({unit for unit, _ in rows})
    values = [codes[aggregate.column] for _, codes in rows if codes[aggregate.column] is not None]
    return len(values) if aggregate.measure == "present" else sum(values)


def bounded(table, keys, coded):
    limits, by_unit = table.contribution, defaultdict(list)
    for unit, codes in coded:
        if unit is not None:
            by_unit[unit].append(codes)
    kept = []
    for unit, rows in by_unit.items():
        mine = rows
        for name in [name for name, column in table.columns.items() if column.fixed]:
            there = [_ordered(codes[name]) for codes in rows if codes[name] is not None]
            mine = [codes for codes in mine if codes[name] is None or _ordered(codes[name]) == min(there)]
        groups = defaultdict(list)
        for codes in mine:
            if all(codes[key] is not None and codes[key] in table.columns[key].kind.codes() for key in keys):
                groups[tuple(codes[key] for key in keys)].append(codes)
        by_name = sorted(table.columns, key=str.encode)
        grouped = [name for name in by_name if name in keys]
        chosen = sorted(groups, key=lambda group: digest(table, unit, [groups[group][0][name] for name in grouped]))
        for group in chosen[: limits.max_groups]:
            in_order = sorted(groups[group], key=lambda codes: digest(table, unit, [codes[name] for name in by_name]))
            kept += [(unit, codes) for codes in in_order[: limits.max_rows]]
    return kept


def _ordered(found):
    return found.encode() if isinstance(found, str) else found


def digest(table, unit, codes):
    parts = [_measured_text(part) for part in (table.name, table.edition, _md5(str(unit)))]
    shown = (_md5(found) if isinstance(found, str) else found for found in codes)
    parts += ["-" if found is None else _measured_text(str(found)) for found in shown]
    return _md5("".join(parts))


def _md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _measured_text(text):
    return f"{len(text.encode())}:{text}"
