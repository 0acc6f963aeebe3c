"""Facts of PostgreSQL's catalogue besides names and types: views, partitions, enumerated types, CHECKs, foreign keys.

Reads: the catalogue. Writes: nothing. Never: rows or statistics.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from thresher.config.catalogue_facts import ColumnFacts, with_fact
from thresher.sources.check_constraints import facts_in_check

_FROM = "JOIN pg_class c ON c.oid = {} JOIN pg_namespace n ON n.oid = c.relnamespace"
# Relations whose rows may be those of another one.
_DERIVED = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm') OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid AND c.relkind <> 'i')
"""
_LABELS = f"""
SELECT n.nspname, c.relname, a.attname, array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_enum e ON e.enumtypid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
{_FROM.format("a.attrelid")} WHERE NOT a.attisdropped GROUP BY 1, 2, 3
"""
# A constraint of a domain has no relation: it holds in each column of this type, and calls it VALUE.
_CHECKS = f"""
SELECT n.nspname, c.relname, NULL, pg_get_constraintdef(k.oid) FROM pg_constraint k
{_FROM.format("k.conrelid")} WHERE k.contype = 'c'
UNION ALL
SELECT n.nspname, c.relname, a.attname, pg_get_constraintdef(k.oid) FROM pg_constraint k
JOIN pg_attribute a ON a.atttypid = k.contypid AND NOT a.attisdropped
{_FROM.format("a.attrelid")} WHERE k.contype = 'c' AND k.contypid <> 0
"""
_REFERENCES = f"""
SELECT n.nspname, c.relname, a.attname, m.nspname, r.relname, b.attname FROM pg_constraint k
JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace m ON m.oid = r.relnamespace
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
{_FROM.format("k.conrelid")} WHERE k.contype = 'f' AND cardinality(k.conkey) = 1 AND k.conparentid = 0
"""
Run = Callable[[str, Sequence[object]], Iterable[Sequence[Any]]]
Columns = dict[str, dict[str, ColumnFacts]]


def derived_in_postgres(run: Run, names: Mapping[tuple[str, str], str]) -> frozenset[str]:
    """Return the names of views, materialised views and partitions. `names`: the relations by schema and name."""
    return frozenset(names[schema, relation] for schema, relation in run(_DERIVED, ()) if (schema, relation) in names)


def constraints_in_postgres(run: Run, names: Mapping[tuple[str, str], str]) -> Columns:
    """Return what constraints say about columns, by the names of the relations."""
    found: Columns = {}

    def note(schema: str, relation: str, facts: Mapping[str, ColumnFacts]) -> None:
        name = names.get((schema, relation))
        for column, fact in facts.items() if name is not None else ():
            found[str(name)] = with_fact(found.get(str(name), {}), column, fact)

    for schema, relation, column, labels in run(_LABELS, ()):
        note(schema, relation, {column: ColumnFacts(values=tuple(labels))})
    for schema, relation, column, text in run(_CHECKS, ()):
        note(schema, relation, facts_in_check(text, "postgres", column))
    for schema, relation, column, other_schema, other, key in run(_REFERENCES, ()):
        if (other_schema, other) in names:
            note(schema, relation, {column: ColumnFacts(refers_to=(names[other_schema, other], key))})
    return found
