"""How much of a budget is used, as a bar.

Reads: amounts. Writes: nothing. Never: looks full before the budget is, or empty once something is spent.
"""

from thresher.amounts import Epsilon

_LENGTH = 24


def budget_bar(spent: Epsilon, cap: Epsilon | None) -> str:
    """A coloured bar and a percentage; nothing where there is no cap."""
    if cap is None or not cap:
        return ""
    share = spent.nano / cap.nano
    filled = _LENGTH if spent >= cap else min(max(int(share * _LENGTH), bool(spent)), _LENGTH - 1)
    colour = "red" if share >= 0.9 else "yellow" if share >= 0.6 else "green"
    return f"[{colour}]{'█' * filled}[/{colour}]{'·' * (_LENGTH - filled)} {share:.0%}"
