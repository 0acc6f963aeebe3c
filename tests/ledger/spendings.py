"""Short ways to write spendings and charges in tests."""

from thresher.accounting import CommonSpending, Grouping, GroupSpending, Region, Subject
from thresher.accounting.subject import TABLE
from thresher.amounts import Epsilon
from thresher.ledger import Charge

WARDS = Grouping.of_rows(["ward"])
ROWS = Subject(TABLE, None)


def charge(account, worst_case, key, question, analyst="", *, family="decision", subject=ROWS):
    """What a decision on a table without a unit is charged."""
    return Charge(account, worst_case, key, question, family, subject, analyst)


def common(amount, where=None):
    """One amount for every ward, of the rows in `where`."""
    grouping = WARDS if where is None else Grouping.of_rows(["ward"], Region.where(where))
    return CommonSpending(grouping, Epsilon(amount))


def by_ward(grouping=WARDS, /, **amounts):
    return GroupSpending(grouping, tuple(((ward,), Epsilon(amount)) for ward, amount in amounts.items()))
