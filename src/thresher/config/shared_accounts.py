"""`[accounts.NAME]` of `thresher.toml`: one budget for the same people in several tables and streams.

An account says who is protected, its unit, in words of its own; each table names the column that holds that unit.
Reads: sections. Writes: nothing. Never: an account of rows, since each row is a person of one table only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thresher.amounts import Epsilon
from thresher.config.sections import Section, did_you_mean

ACCOUNT_FIELDS = ("budget", "unit")


@dataclass(frozen=True, slots=True)
class AccountDeclaration:
    """One budget of people. `unit` says who they are: "person", "patient"."""

    name: str
    unit: str
    budget: Epsilon


def accounts_in(file: Section) -> dict[str, AccountDeclaration]:
    """Return the declared accounts by name."""
    fix = 'Write one section for each: [accounts.people] with budget = "3.0" and unit = "person"'
    found = {}
    for name, section in file.section("accounts", fix).sections(fix):
        section.only(*ACCOUNT_FIELDS)
        section.required("budget", 'Write what may be lost in all, in epsilon: budget = "3.0"')
        section.required("unit", 'Say who is protected, in one word: unit = "person"')
        unit = section.column_name("unit", 'Say who is protected, in one word: unit = "person"')
        found[name] = AccountDeclaration(name, unit, section.amount("budget"))
    return found


def account_of(section: Section, accounts: Mapping[str, AccountDeclaration]) -> AccountDeclaration | None:
    """Return the account that a table or a stream names; None if it names none."""
    if "account" not in section:
        return None
    name = section.column_name("account", 'Name a declared account: account = "people"')
    if name not in accounts:
        rule = f"no such account is declared{did_you_mean(name, accounts)}"
        raise section.refusal("account", rule, f'Declare it: [accounts.{name}] with budget = "3.0" and unit = "person"')
    if "budget" in section:
        rule = f"the account {name} has the budget already"
        raise section.refusal("budget", rule, "Remove it here, or remove `account`")
    return accounts[name]
