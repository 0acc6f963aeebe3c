"""Options in the text: `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, ...)`.

They are cut out of the words before the parser sees them; the other words keep their places in the text.
Reads: words. Writes: nothing. Never: checks a value; the engine does, as it does for options that are passed otherwise.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from thresher.config.sections import did_you_mean
from thresher.sql.refusals import Refusal, shown

# How these options are written. The other options are numbers, with or without quotes.
_WRITTEN = {
    "bound": "'false_alarms'",
    "key": "'march'",
    "levels": "4",
    "mechanism": "'ppwlm'",
    "show": "'values'",
    "within": "20 or within='COUNT(*)=20'",
    "uncertain_region": "20 or uncertain_region='COUNT(*)=20'",
}
# Options are looked for where one of these words stands.
OPTION_WORDS = ("WITH", "OPTIONS")
_FORM = "write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, ...) and then the keys"


def cut_out(words: Sequence[Token], known: Collection[str]) -> tuple[list[Token], Mapping[str, str]]:
    """Return the words without the options, and the options as text. The first word is SELECT.

    An option that is not among the `known` ones is refused with the nearest name.
    """
    rest, options = _split(words, known)
    for word, after in pairwise(rest):
        if word.token_type == TokenType.VAR and word.text.upper() == "OPTIONS" and after.text == "(":
            raise Refusal("known-options", f"Options stand right after SELECT; {_FORM}", word)
    return rest, options


def _split(words: Sequence[Token], known: Collection[str]) -> tuple[list[Token], Mapping[str, str]]:
    if len(words) < 2 or words[1].token_type != TokenType.WITH:
        return list(words), {}
    if _word(words, 2) != "DIFFERENTIAL_PRIVACY":
        raise Refusal("known-options", f"SELECT WITH is for options only; {_FORM}", words[1])
    if _word(words, 3) != "OPTIONS":
        return [words[0], *words[3:]], {}
    if _word(words, 4) != "(":
        raise Refusal("known-options", f"OPTIONS needs parentheses; {_FORM}", words[3])
    options: dict[str, str] = {}
    position = 5
    while True:
        position = _one_option(words, position, options, known)
        if _word(words, position) == ")":
            return [words[0], *words[position + 1 :]], options
        if _word(words, position) != ",":
            raise Refusal("known-options", f"Options are joined by commas and end with `)`; {_FORM}", words[3])
        position += 1


def _one_option(words: Sequence[Token], position: int, options: dict[str, str], known: Collection[str]) -> int:
    """Read `name = value` at `position` into `options`; return the position after it."""
    name, at = _word(words, position).lower(), words[min(position, len(words) - 1)]
    if name not in known or at.token_type == TokenType.STRING:
        raise Refusal(
            "known-options",
            f"No option {shown(name)}{did_you_mean(name, sorted(known)) or '.'} Options are {', '.join(sorted(known))}",
            at,
        )
    if name in options:
        raise Refusal("known-options", f"Option {shown(name)} is given twice; keep one", at)
    sign = "-" if _word(words, position + 2) == "-" else ""
    place = position + 2 + len(sign)
    value = words[place] if place < len(words) else at
    allowed = (TokenType.NUMBER,) if sign else (TokenType.NUMBER, TokenType.STRING)
    if _word(words, position + 1) != "=" or value.token_type not in allowed:
        raise Refusal("known-options", f"Option {shown(name)} needs a value: {name}={_WRITTEN.get(name, '0.1')}", at)
    options[name] = sign + value.text
    return place + 1


def _word(words: Sequence[Token], position: int) -> str:
    return words[position].text.upper() if position < len(words) else ""
