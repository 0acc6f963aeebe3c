"""The page of a ledger: a bar for each budget, losses by region, and the last entries.

Reads: an open book. Writes: nothing. Never: more than the ledger's lines say.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from thresher.accounting import Region, RegionLosses, Spending, account_loss
from thresher.amounts import Epsilon
from thresher.ledger.entries import Entry
from thresher.ledger.records import Balance, Reservation
from thresher.pages import Block, Fact, Meter, Page, visible
from thresher.pages.page import SPACE, heading, plain_lines

if TYPE_CHECKING:
    from thresher.ledger.book import Book

_WIDTH = 118
_INDENT, _LEAST = 60, 20
_MOST_REGIONS = 12


def book_page(book: "Book", analyst: str | None, last: int) -> Page:
    """Return all that the curator, or the analyst who is named, may see, with the last entries."""
    lines = list(book.entries())
    reserved = {entry.sequence: _epsilon(entry, "worst_case") for entry in lines if entry.kind == "reserve"}
    entries = [entry for entry in lines if analyst is None or entry.analyst == analyst]
    balances = [held for held in book.balances() if analyst is None or held.analyst == analyst]
    accounts = [_account(held, book.losses(held.account) if analyst is None else []) for held in balances]
    shown = [_document(entry, reserved) for entry in (entries[-last:] if last > 0 else [])]
    document: dict[str, Any] = {"accounts": accounts, "entries": shown}
    blocks = [*_meters(balances), *(block for account in accounts for block in _regions(account))]
    if analyst is None:
        relations, waiting = book.relations(), [_open(*held) for held in book.leased()]
        for account in accounts:
            account["relations"] = [] if account["analyst"] else list(relations.get(account["account"], ()))
        blocks += [*_relations(relations), *_waiting(waiting)]
        document["open"] = waiting
    if shown:
        texts = [text for document in shown for text in _lines_of(document)]
        blocks += [SPACE, heading("last entries"), plain_lines(texts)]
    return Page(tuple(blocks), document)


def _open(reserved: Reservation, until: datetime, lapsed: bool) -> dict[str, Any]:  # noqa: FBT001 - a tuple's part
    """Return an open reservation for JSON: its entry, and until when its process is taken to live."""
    said = {"entry": reserved.sequence, "account": reserved.account, "analyst": reserved.analyst, "key": reserved.key}
    return {**said, "leased_until": until.isoformat(timespec="seconds"), "lapsed": lapsed}


def _waiting(waiting: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return the open reservations, which a curator may have to end."""
    lines = [
        _cut(f"{held['entry']:>5}  {held['account']}, leased until {held['leased_until']}"
             f"{', which is over' if held['lapsed'] else ''}, key {held['key']}", _WIDTH)
        for held in waiting
    ]  # fmt: skip
    about = " (each is charged when its lease runs out, by the next process that writes)"
    return [SPACE, heading("open reservations", about), plain_lines(lines)] if lines else []


def _relations(relations: Mapping[str, Sequence[str]]) -> list[Block]:
    """Return which tables and files the accounts were charged for."""
    lines = [_cut(f"  {account}: {', '.join(names)}", _WIDTH) for account, names in relations.items()]
    return [SPACE, heading("rows that accounts were charged for"), plain_lines(lines)] if lines else []


def _account(held: Balance, losses: list[RegionLosses]) -> dict[str, Any]:
    """Return a budget for JSON, with the largest losses by region."""
    shown: dict[str, Any] = {
        "account": held.account,
        "analyst": held.analyst,
        "cap": None if held.cap is None else held.cap.to_json(),
        "spent": held.spent.to_json(),
        "remaining": None if held.remaining is None else held.remaining.to_json(),
        "open_reservations": held.reserved,
    }
    if losses and not held.analyst:
        regions = {region for loss in losses for region, _ in loss.regions()}
        unsorted = ((account_loss(losses, within=region).loss, _words(region)) for region in regions)
        totals = sorted(unsorted, key=lambda total: (-total[0].nano, _with_numbers(total[1])))
        shown["regions"] = [{"region": region, "loss": loss.to_json()} for loss, region in totals[:_MOST_REGIONS]]
        shown["regions_in_all"] = len(totals)
    return shown


def _words(region: Region) -> str:
    """Return a part of the rows in words."""
    return str(region) if region.restrictions else "all rows"


def _with_numbers(text: str) -> list[tuple[int, str]]:
    """Return the parts of a text so that numbers in it are sorted as numbers: 9 before 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _epsilon(entry: Entry, fact: str) -> Epsilon:
    """Return the largest loss of one unit in a spending."""
    spending: Spending = entry.facts[fact]
    return max(amount for loss in spending.losses() for _, amount in loss.regions())


def _document(entry: Entry, reserved: Mapping[int, Epsilon]) -> dict[str, Any]:
    """Return an entry for JSON. `reserved`: the worst case of each reservation."""
    facts = {name: entry.facts[name] for name in ("key", "question", "reservation") if name in entry.facts}
    if "question" in facts:
        facts["question"], mechanism = _asked(facts["question"])
        facts |= {"mechanism": mechanism} if mechanism else {}
    if "worst_case" in entry.facts:
        facts["epsilon"] = _epsilon(entry, "worst_case").to_json()
    if "reservation" in facts:
        most = reserved[facts["reservation"]]
        charged = _charged(entry, most)
        facts |= {"epsilon": charged.to_json(), "given_back": (most - charged).to_json()}
    if "cap" in entry.facts:
        facts["cap"] = Epsilon.from_nano(entry.facts["cap"]).to_json()
    begin = {"entry": entry.sequence, "at": entry.at, "kind": entry.kind, "account": entry.account}
    return {**begin, "analyst": entry.analyst, **facts}


def _charged(entry: Entry, most: Epsilon) -> Epsilon:
    """Return what the end of a reservation charged: less than the worst case only if the answer shows all levels."""
    if entry.kind == "cancel":
        return Epsilon(0)
    return _epsilon(entry, "realised") if entry.facts.get("shows_levels") is True else most


def _meters(balances: Sequence[Balance]) -> list[Block]:
    """Return a bar for each budget."""
    names = [visible(held.account + (f" / {held.analyst}" if held.analyst else "")) for held in balances]
    texts = [f"{held.in_words}{f', {held.reserved} open' if held.reserved else ''}" for held in balances]
    wide, long = (max(map(len, column), default=0) for column in (names, texts))
    shown = zip(names, texts, balances, strict=True)
    meters: list[Block] = [Meter(name, f"{text:<{long}}", held.share, wide + 2) for name, text, held in shown]
    return meters or [Fact("", "There is no such budget.")]


def _regions(held: Mapping[str, Any]) -> list[Block]:
    """Return the losses of a budget by region, the largest first."""
    regions = held.get("regions", ())
    if not regions:
        return []
    lines = [_cut(f"  {region['loss']:>12}  {region['region']}", _WIDTH) for region in regions]
    every = held["regions_in_all"]
    which = "the most exposed first" if len(regions) == every else f"the {len(regions)} most exposed of {every:,}"
    return [SPACE, heading(f"{held['account']} by region", f" ({which})"), plain_lines(lines)]


def _lines_of(line: dict[str, Any]) -> list[str]:
    """Return the line of an entry, and a second one with the mechanism and the key of a question."""
    amount, about, more = line.get("epsilon", ""), line.get("cap", ""), []
    if "question" in line:
        about, how = line["question"], f"by {line['mechanism']}, " if "mechanism" in line else ""
        more = [" " * _INDENT + _cut(f"{how}key {line['key']}", _WIDTH - _INDENT)]
    elif "reservation" in line:
        about = f"of entry {line['reservation']}"
        about += f", {line['given_back']} given back" if line.get("given_back", "0") != "0" else ""
    start = f"{line['entry']:>5}  {line['at'][:16]}Z  {line['kind']:<8} {line['account']:<12} {amount:<11} "
    return [f"{start}{_cut(about, max(_WIDTH - len(start), _LEAST))}", *more]


def _cut(text: str, width: int) -> str:
    """Leave out the middle of a text that is too long: both ends of a question matter."""
    if len(text) <= width:
        return text
    kept = width - 3
    return f"{text[: kept - kept // 2]} … {text[len(text) - kept // 2 :]}"


def _asked(question: str) -> tuple[str, str]:
    """Return what was asked in words, and the mechanism if it was named.

    The ledger keeps a question as a JSON document. This function reads today's form and that of earlier versions, for
    display only; a text that it does not understand is shown as it is.
    """
    try:
        said = json.loads(question)
        if "stream" in said:
            # Older steps name their stream, later ones hold its settings.
            name = said["stream"]["name"] if isinstance(said["stream"], dict) else said["stream"]
            return f"step {said['step']} of the stream {name}", ""
        if said.get("family") == "diagnosis":
            columns = ", ".join(f"{field} {column}" for field, column in said["named"].items())
            return f"{said['kind']} diagnostic: {columns}", ""
        if "diagnostic" in said:
            return f"{said['diagnostic']} diagnostic: {', '.join(said['columns'])}", ""
        options = said.get("options", said)
        return str(said["text"] if "text" in said else said["question"]), str(options.get("mechanism", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return question, ""
