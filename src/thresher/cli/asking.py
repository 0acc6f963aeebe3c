"""Lines of pages that are not yet described as pages."""

from thresher.ledger import Balance
from thresher.views import budget_bar, inert, paragraph

LABEL = 12


def explanation(told: str) -> str:
    """A plan's own words, wrapped for a terminal."""
    return "\n".join(paragraph(line[LABEL:], line[:LABEL].strip() or " ", LABEL) for line in told.splitlines())


def budget_line(balance: Balance) -> str:
    bar = budget_bar(balance.spent, balance.cap)
    return f"  {'budget':<9}{inert(balance.account)}: {balance.spent} of {balance.cap} spent {bar}"
