"""Open a declared stream: with its plan, its ledger and its seal, ready for its next step.

Reads: declarations, the ledger, a key file. Writes: the ledger's accounts. Never: a feed.
"""

from pathlib import Path

from thresher.accounts import open_accounts
from thresher.config import Declarations, load
from thresher.errors import ArgumentError, DeclarationError
from thresher.ledger import Book
from thresher.live.running_stream import RunningStream
from thresher.live.secret_state import Seal, seal_of
from thresher.live.step_plan import sealed_part
from thresher.noise import Entropy
from thresher.streams.stream_plan import StreamPlan, plan_stream


def planned(declared: Declarations, name: str) -> StreamPlan:
    """Plan a declared stream. This reads nothing and charges nothing."""
    if name not in declared.streams:
        known = ", ".join(declared.streams) or "none"
        raise ArgumentError("stream", name, f"it is not declared; declared: {known}", "Add a section [streams.NAME]")
    try:
        return plan_stream(declared.streams[name])
    except DeclarationError as refused:
        raise declared.located(refused) from None


def open_stream(
    declarations: Declarations | Path | str,
    name: str,
    *,
    book: Book | None = None,
    entropy: Entropy | None = None,
    reading: bool = False,
) -> RunningStream:
    """Open a declared stream for its next step. A ledger that is opened here is closed with the stream.

    `reading`: only look at what is stored, while another process runs the stream or after it died.
    """
    declared = declarations if isinstance(declarations, Declarations) else load(declarations)
    plan = planned(declared, name)
    if book is not None:
        return RunningStream(plan, book, _seal(plan, book), entropy, reading=reading)
    opened = open_accounts(declared)
    try:
        return RunningStream(plan, opened, _seal(plan, opened), entropy, opened.close, reading=reading)
    except BaseException:
        opened.close()
        raise


def _seal(plan: StreamPlan, book: Book) -> Seal | None:
    """Return the seal of a stream. A key is made only where nothing is sealed yet: what is sealed has a key already."""
    kept = book.state(plan.state_name)
    return seal_of(plan.declared.key_file, make=kept is None or not sealed_part(kept))
