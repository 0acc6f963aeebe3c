"""Tables and pictures of releases, plans and balances, for terminals.

Reads: releases, plans, balances. Writes: nothing. Never: exact values; text that could steer a terminal.
"""

from thresher.views.budget import budget_bar
from thresher.views.text import inert, paragraph
from thresher.views.verdicts import level_summary, verdict_summary, verdict_table

__all__ = ["budget_bar", "inert", "level_summary", "paragraph", "verdict_summary", "verdict_table"]
