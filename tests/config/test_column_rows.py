"""What `docs/declarations.md` says of columns, and of settings that need or exclude each other, is what is read."""

import pytest
from config.test_setting_rows import BASE, OWN, TABLE, WITH, refusal_of

PLACE = (*TABLE, "count_range")
COLUMNS = BASE["tables"]["visits"]["columns"]
WARD = {"columns": {"ward": {"values": ["gym"]}}}
GIVEN = {"unit": None, **WARD}


def is_read(settings, monkeypatch):
    """Whether a file is read in which the table has these settings; None takes one out."""
    monkeypatch.setitem(WITH, PLACE, settings)
    return refusal_of(PLACE, 10) == ""


@pytest.mark.parametrize(
    ("column", "allowed"),
    [
        ({"values": ["a", "b"], "fixed": True}, True),
        ({"values": []}, False),
        ({"values": ["a", "a"]}, False),
        ({"values": [1, "a"]}, False),
        ({"values": [1.5]}, False),
        ({"values": [-(2**63), 2**63 - 1]}, True),
        ({"values": [2**63]}, False),
        ({"values": [True, False]}, True),
        ({"values": [True]}, False),
        ({"public_table": "roster", "column": "name"}, True),
        ({"public_table": "roster"}, False),
        ({"public_table": "others", "column": "name"}, False),
        ({"min": 0, "max": 1, "step": 0.1, "missing": 1}, True),
        ({"min": 0, "max": 0}, False),
        ({"min": 1, "max": 0}, False),
        ({"min": 0}, False),
        ({"min": 0, "max": 1, "step": 0}, False),
        ({"min": 0, "max": 1, "step": 0.3}, False),
        ({"min": 0, "max": 1, "missing": 2}, False),
        ({"min": 0, "max": 2**53}, True),
        ({"min": 0, "max": 2**53 + 1}, False),
        ({"first": "2024-01-01", "last": "2024-01-01", "by": "hour"}, True),
        ({"first": "2024-01-01", "last": "2024-01-02", "by": "week"}, False),
        ({"first": "2024-01-02", "last": "2024-01-01"}, False),
        ({"bands_of": "at", "edges": [1, 2]}, True),
        ({"bands_of": "at", "edges": list(range(1000))}, True),
        ({"bands_of": "at", "edges": list(range(1001))}, False),
        ({"bands_of": "at", "edges": [1]}, False),
        ({"bands_of": "at", "edges": [1, 1]}, False),
        ({"bands_of": "at", "edges": [1, 1.5]}, False),
        ({"bands_of": "ward", "edges": [1, 2]}, False),
        ({"text": True}, True),
        ({"text": False}, False),
        ({"text": True, "min": 0, "max": 1}, False),
        ({}, False),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_rules_of_a_column_are_those_on_the_page(column, allowed, monkeypatch):
    assert is_read({"columns": COLUMNS | {"new": column}}, monkeypatch) is allowed


@pytest.mark.parametrize(
    ("column", "allowed"),
    [
        ({"min": 0, "max": 1000, "fixed": True}, True),
        ({"min": 0, "max": 1001, "step": 7, "fixed": True}, False),
        ({"min": 0, "max": 1, "step": 0.001, "fixed": True}, True),
        ({"min": 0, "max": "1.001", "step": "0.001", "fixed": True}, False),
        ({"min": 0, "max": "0.000000010", "step": "0.00000001", "fixed": True}, True),
        ({"min": 0, "max": "0.000000009", "step": "0.000000009", "fixed": True}, False),
        ({"min": 1, "max": 2, "fixed": True}, False),
        ({"min": 0, "max": 1}, False),
        ({"values": [0, 1], "fixed": True}, False),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_rules_of_a_column_of_budgets_are_those_on_the_page(column, allowed, monkeypatch):
    assert is_read(OWN | {"columns": {"allows": column}}, monkeypatch) is allowed


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        (GIVEN, True),
        (GIVEN | {"max_groups_per_unit": 1}, False),
        (GIVEN | {"max_rows_per_group": 1}, False),
        (GIVEN | {"columns": {"ward": {"values": ["gym"], "fixed": True}}}, False),
        (GIVEN | {"account": "people", "budget": None}, False),
        ({"max_groups_per_unit": 2, "max_rows_per_group": 3}, True),
        ({"account": "people", "budget": None}, True),
        ({"account": "people"}, False),
        (OWN, True),
        (OWN | {"budget": "1"}, False),
        (OWN | {"max_epsilon_per_question": "1"}, False),
        (OWN | {"account": "people"}, False),
        (OWN | {"budget_roster": None}, False),
        ({"budget_roster": OWN["budget_roster"]}, False),
        ({"max_epsilon_per_question": "9"}, True),
        ({"table": "clinic.visits"}, True),
        ({"table": "clinic.visits", "file": "visits.csv"}, False),
        ({"table": "roster"}, False),
        ({"budget": None}, False),
        ({"budget": "1.0000000001"}, False),
    ],
    ids=lambda value: str(value)[:60],
)
def test_settings_of_a_table_need_and_exclude_each_other_as_on_the_page(settings, allowed, monkeypatch):
    assert is_read(settings, monkeypatch) is allowed
