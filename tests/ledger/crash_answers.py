"""What the workers of the crash tests ask and answer: all follows from the key, so that a checker knows it too."""

import hashlib

from ledger.spendings import charge

from thresher.accounting import CommonSpending, Grouping, Region
from thresher.amounts import Epsilon

ACCOUNT, CAP = "sales", 1_000_000


def _number(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")


def question(key: str) -> str:
    return f"which shops sold more than {_number(key)}?"


def analyst(key: str) -> str:
    return ("", "ana")[_number(key) % 2]


def worst_nano(key: str) -> int:
    return 1_000 + _number(key) % 1_000


def shows_levels(key: str) -> bool:
    return _number(key) % 3 == 0


def realised_nano(key: str) -> int:
    return worst_nano(key) - _number(key) % 500


def charged_nano(key: str) -> int:
    """What a settled answer costs: the realised loss only if the release shows its levels."""
    return realised_nano(key) if shows_levels(key) else worst_nano(key)


def spending(nano: int) -> CommonSpending:
    return CommonSpending(Grouping.of_rows((), Region.everything()), Epsilon.from_nano(nano))


def release(key: str) -> bytes:
    """Between 32 and about 1,200 bytes of any value."""
    return hashlib.sha256(key.encode()).digest() * (1 + _number(key) % 38)


def reserve(book, key: str, wait_seconds: float = 0):
    return book.reserve(charge(ACCOUNT, spending(worst_nano(key)), key, question(key), analyst(key)), wait_seconds)


def settle(book, reservation, key: str) -> None:
    book.settle(reservation, spending(realised_nano(key)), release(key), shows_levels=shows_levels(key))
