"""A plan with everything that `thresher plan --details` shows, one statement in a line."""

from thresher.plan import LABEL


def in_full(plan):
    return "".join(f"{label:<{LABEL}}{text}\n" for label, text in [*plan.explanation(), *plan.details()])
