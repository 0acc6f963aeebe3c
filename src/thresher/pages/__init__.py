"""What is shown of an object: one frozen page, whichever renderer shows it.

    release.page() ─► Page ─► a terminal (`views/terminal.py`), HTML (`html_text.py`), JSON (`page.document`)

Read `page.py` first (what a page is made of), then `answer.py` (the page of a decision) and `html_text.py`. Releases,
plans and balances make their own pages, each from the object alone: showing one spends nothing and opens nothing. Text
from questions, keys and declarations stays as it is in a page; each renderer makes it harmless.
Reads: releases. Writes: text. What may not enter: a ledger, a source, noise, a library that draws.
"""

from thresher.pages.page import Block, Fact, Line, Lines, Meter, Page, Shown, Span, Table, line, visible

__all__ = ["Block", "Fact", "Line", "Lines", "Meter", "Page", "Shown", "Span", "Table", "line", "visible"]
