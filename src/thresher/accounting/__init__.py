"""Count what releases cost, by pure arithmetic on public facts.

    regions                parts of a table given by public conditions; losses are counted for each region
    losses, events         the losses of one release; a cost or loss as an event, which the ledger writes down
    deepest, composition   the largest sum of losses at any one point; what an account has lost
    subject                who is protected by an account, which never changes
    min_entropy            how unsure an observer stays; a statistic (with `branching` and `posterior_box`)

Read them in this order. The proofs are `composition.md`, `steps.md` and `min_entropy.md`.
Reads: arguments. Writes: nothing. Never: data, noise, a float where an amount is counted.
"""

from thresher.accounting.composition import AccountLoss, account_loss, loss_after, safe_sum
from thresher.accounting.events import (
    CombinedSpending,
    CommonSpending,
    Grouping,
    GroupSpending,
    Spending,
    settled,
    spending_from_json,
    step_spending,
)
from thresher.accounting.losses import RegionLosses, added, coarsened, first_steps
from thresher.accounting.min_entropy import MinEntropy, box_min_entropy
from thresher.accounting.regions import Interval, Region, Values, between, overlaps
from thresher.accounting.subject import FAMILIES, UNKNOWN, Subject, is_paid_by

__all__ = [
    "FAMILIES",
    "UNKNOWN",
    "AccountLoss",
    "CombinedSpending",
    "CommonSpending",
    "GroupSpending",
    "Grouping",
    "Interval",
    "MinEntropy",
    "Region",
    "RegionLosses",
    "Spending",
    "Subject",
    "Values",
    "account_loss",
    "added",
    "between",
    "box_min_entropy",
    "coarsened",
    "first_steps",
    "is_paid_by",
    "loss_after",
    "overlaps",
    "safe_sum",
    "settled",
    "spending_from_json",
    "step_spending",
]
