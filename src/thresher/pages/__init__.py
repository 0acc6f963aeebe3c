"""What is shown of an object, whoever shows it: one frozen description.

    release.page() ─► Page ─► a terminal (`views/terminal.py`), HTML (`html_text.py`), JSON (`page.document`)

Releases, plans and balances each make their page. To show one spends nothing and opens nothing: a page is made from
the object alone. Text that comes from questions, keys and declarations stays as it is here; each renderer makes it
harmless.
Reads: releases. Writes: text. Never: a ledger, a source, noise, a library that draws.
"""

from thresher.pages.page import Block, Fact, Line, Lines, Meter, Page, Shown, Span, Table, line, visible

__all__ = ["Block", "Fact", "Line", "Lines", "Meter", "Page", "Shown", "Span", "Table", "line", "visible"]
