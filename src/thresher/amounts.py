"""Exact amounts: numbers as people write them, and privacy loss in whole nano-epsilon.

Floats fail open (1.0 + 1e-17 == 1.0; ten times 0.1 is not 1), so no budget, cost or loss is ever a float here.
Reads: nothing. Writes: nothing. Never: rounds an amount on its own. `Epsilon.covering` rounds up; `rounded_up` and
`rounded_down` make text for people.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import SupportsIndex, TypeGuard

from thresher.errors import ArgumentError

NANO = 10**9
MAX_NANO = 10**6 * NANO

# ASCII on purpose: Decimal() itself would take full-width digits and underscores.
_DECIMAL_TEXT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE]([+-]?\d+))?", re.ASCII)
_MAX_TEXT = 100
_MOST_PARTS = 10**6
_MAX_WRITTEN_EXPONENT = 9999
_MAX_EXPONENT = 60
_MAX_BITS = 512
_DIGITS, _WHOLE_FROM = 3, 100


class Epsilon:
    """An amount of privacy loss: a whole number of nano-epsilon, from 0 to a million epsilon.

    Takes what can be read exactly: `"0.1"`, `Decimal`, `Fraction`, `int`, or a float by its shortest repr. More than
    nine decimals are refused: `0.1 + 0.2` is such a float, and no one wrote it.
    Sums, differences and whole multiples are exact; a result that is not an amount is refused, never rounded.
    """

    # Not a dataclass: the codec would write its fields instead of its text.
    __slots__ = ("nano",)
    nano: int

    def __init__(self, value: "Amount") -> None:
        nano = exact_fraction(value, "epsilon") * NANO
        if nano.denominator != 1:
            raise ArgumentError("epsilon", value, "an amount of epsilon has at most nine decimals", _EXACT)
        object.__setattr__(self, "nano", _checked(nano.numerator, value))

    @classmethod
    def from_nano(cls, nano: SupportsIndex) -> "Epsilon":
        """Return the amount of `nano` billionths of one epsilon."""
        amount, number = object.__new__(cls), whole_number(nano, "nano")
        _of_sane_size(Fraction(number), nano, "nano")
        object.__setattr__(amount, "nano", _checked(number, _decimal_text(number)))
        return amount

    @classmethod
    def covering(cls, value: "Amount") -> "Epsilon":
        """Return the smallest amount that is at least `value`: spends round up."""
        amount = exact_fraction(value, "epsilon")
        return cls.from_nano(_checked(math.ceil(amount * NANO) if amount >= 0 else -1, value))

    @classmethod
    def total(cls, amounts: Iterable["Epsilon"]) -> "Epsilon":
        """Return the sum of all amounts."""
        return sum(amounts, cls.from_nano(0))

    @property
    def fraction(self) -> Fraction:
        return Fraction(self.nano, NANO)

    @property
    def decimal(self) -> Decimal:
        return Decimal(str(self))

    def split(self, parts: int) -> tuple["Epsilon", ...]:
        """Return `parts` amounts that add up to this one and differ by at most one nano, the larger ones first."""
        parts = whole_number(parts, "parts")
        if not 1 <= parts <= _MOST_PARTS:
            raise ArgumentError("parts", parts, f"an amount is split into 1 to {_MOST_PARTS} parts", "Pass fewer parts")
        share, left = divmod(self.nano, parts)
        return tuple(Epsilon.from_nano(share + (i < left)) for i in range(parts))

    def __add__(self, other: "Epsilon") -> "Epsilon":
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_nano(self.nano + other.nano)

    def __sub__(self, other: "Epsilon") -> "Epsilon":
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_nano(self.nano - other.nano)

    def __mul__(self, times: int) -> "Epsilon":
        if isinstance(times, bool) or not hasattr(times, "__index__"):
            return NotImplemented
        return Epsilon.from_nano(self.nano * operator.index(times))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Epsilon) else NotImplemented

    def __lt__(self, other: "Epsilon") -> bool:
        return self.nano < other.nano if isinstance(other, Epsilon) else NotImplemented

    def __le__(self, other: "Epsilon") -> bool:
        return self.nano <= other.nano if isinstance(other, Epsilon) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nano)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an amount of privacy loss cannot be changed")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return Epsilon.from_nano, (self.nano,)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __float__(self) -> float:
        """Return a float for plots. Nothing that spends may use it."""
        return self.nano / NANO

    def __str__(self) -> str:
        return _decimal_text(self.nano)

    def __repr__(self) -> str:
        return f"Epsilon('{self}')"

    def to_json(self) -> str:
        """Return a decimal text: most programs read JSON numbers as floats."""
        return str(self)

    @classmethod
    def from_json(cls, text: str) -> "Epsilon":
        if not isinstance(text, str):
            raise ArgumentError("epsilon", text, "in JSON an amount is a decimal string", 'Write it as "0.1"')
        return cls(text)


Amount = Epsilon | Fraction | Decimal | int | float | str

_EXACT = 'Pass it as a decimal string such as "0.1", or round it up yourself with Epsilon.covering'
_ENOUGH = "Pass 0 or more, and do not subtract more than there is"
_SANE = "Pass a number between 1e-60 and 1e60 with at most 60 digits"


def exact_fraction(value: Amount, field: str) -> Fraction:
    """Return the exact number that `value` means, or raise an `ArgumentError` that names `field`.

    A float means its shortest repr, so `0.1` is one tenth. Booleans, NaN, infinities, other types and numbers whose
    exact form would not fit in 512 bits are refused.
    """
    if isinstance(value, Epsilon):
        return value.fraction
    if isinstance(value, Fraction):
        # Its parts may be numpy's integers, which wrap around.
        return _of_sane_size(Fraction(int(value.numerator), int(value.denominator)), value, field)
    if isinstance(value, Decimal | float):
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise _not_a_number(value, field)
        # float.__repr__ because subclasses (numpy's float64 is one) print themselves otherwise.
        return _from_decimal(value if isinstance(value, Decimal) else Decimal(float.__repr__(value)), value, field)
    if isinstance(value, str):
        return _from_text(value, field)
    if not _is_integer(value):
        raise _not_a_number(value, field)
    return _of_sane_size(Fraction(operator.index(value)), value, field)


def whole_number(value: SupportsIndex, field: str) -> int:
    """Return `value` as an int, or raise an `ArgumentError`. Numpy's integers are accepted, booleans are not."""
    if not _is_integer(value):
        raise ArgumentError(field, value, "it must be an integer", "Pass an int such as 5")
    return operator.index(value)


def _is_integer(value: object) -> TypeGuard[SupportsIndex]:
    """Tell whether it is an integer of Python or numpy. To Python a boolean is one too; here it is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _from_text(text: str, field: str) -> Fraction:
    written = _DECIMAL_TEXT.fullmatch(text)
    if not written:
        raise _not_a_number(text, field)
    # Checked before Decimal() reads the text: beyond its own limits it returns zero or another kind of error.
    if len(text) > _MAX_TEXT or abs(int(written[4] or 0)) > _MAX_WRITTEN_EXPONENT:
        raise _absurd(text, field)
    return _from_decimal(Decimal(text), text, field)


def _from_decimal(number: Decimal, value: object, field: str) -> Fraction:
    """Return the exact number. The exponent is checked first: the exact form of 1e999999999 fills the memory."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(number.adjusted()) > _MAX_EXPONENT or exponent < -5 * _MAX_EXPONENT:
        raise _absurd(value, field)
    return _of_sane_size(Fraction(number), value, field)


def _of_sane_size(number: Fraction, value: object, field: str) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MAX_BITS:
        raise _absurd(value, field)
    return number


def _checked(nano: int, value: object) -> int:
    if nano < 0:
        raise ArgumentError("epsilon", value, "an amount of privacy loss is never below zero", _ENOUGH)
    if nano > MAX_NANO:
        raise ArgumentError("epsilon", value, "an amount of epsilon is at most a million", "Check its unit")
    return nano


def _not_a_number(value: object, field: str) -> ArgumentError:
    return ArgumentError(field, value, "it must be a finite number", "Pass a decimal such as 0.1")


def _absurd(value: object, field: str) -> ArgumentError:
    return ArgumentError(field, value, "it is too large or too fine to be kept exactly", _SANE)


def _decimal_text(nano: int) -> str:
    """Return `nano` billionths of one epsilon as a decimal text."""
    whole, rest = divmod(abs(nano), NANO)
    return ("-" if nano < 0 else "") + f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def rounded_up(number: Fraction) -> str:
    """Return a number of 0 or more for people: three significant digits, or a whole number from 100 on, rounded up."""
    return _few_digits(number, math.ceil)


def rounded_down(number: Fraction) -> str:
    """Return a number of 0 or more for people, as `rounded_up` does, rounded down."""
    return _few_digits(number, math.floor)


def _few_digits(number: Fraction, whole: Callable[[Fraction], int]) -> str:
    if not number or number >= _WHOLE_FROM:
        return f"{whole(number):,}"
    places = _DIGITS - 1 - math.floor(math.log10(number))
    return f"{Decimal(whole(number * 10**places)).scaleb(-places):f}".rstrip("0").rstrip(".")
