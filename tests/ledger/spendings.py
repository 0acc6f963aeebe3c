"""Short ways to write spendings in tests."""

from thresher.accounting import CommonSpending, Grouping, GroupSpending, Region
from thresher.amounts import Epsilon

WARDS = Grouping.of_rows(["ward"])


def common(amount, where=None):
    """One amount for every ward, of the rows in `where`."""
    grouping = WARDS if where is None else Grouping.of_rows(["ward"], Region.where(where))
    return CommonSpending(grouping, Epsilon(amount))


def by_ward(grouping=WARDS, /, **amounts):
    return GroupSpending(grouping, tuple(((ward,), Epsilon(amount)) for ward, amount in amounts.items()))
