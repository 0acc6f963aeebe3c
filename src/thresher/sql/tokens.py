"""The text as words, before any grammar: its length, its words, and nothing but spaces and comments between them.

Only words of the small language in `docs/questions.md` pass, so the parser's library, which knows some thirty
dialects, is never asked about the rest of SQL.
Reads: the text. Writes: nothing. Never: passes on a word that it does not know.
"""

import re
from collections.abc import Sequence, Set

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from thresher.sql.known_words import ALSO_FUNCTIONS, ALSO_PLAIN, FUNCTIONS, PLAIN, REFUSED, refusal_of, refused_function
from thresher.sql.refusals import Refusal, shown

MOST_BYTES = 8 * 1024
MOST_WORDS = 2000
# Each level costs the parser some thirty calls of Python's thousand, and callers need some too.
DEEPEST = 20
MOST_CONDITIONS = 32

_PLAIN_CONTROLS = "\t\n\r"
_COMMENT_PART = re.compile(r"/\*|\*/")
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*", re.ASCII)
_ENDS = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN)
_QUERY_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES)
_COMPARISONS = (TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE)
_PREFIXES = (TokenType.NOT, TokenType.DASH, TokenType.PLUS)


def checked_question_text(text: object) -> str:
    """Return the text; refuse other types, long texts, control characters and lone surrogates."""
    if not isinstance(text, str):
        raise Refusal("readable-text", f"A question is text; got {type(text).__name__}. Pass a str")
    if len(text) > MOST_BYTES:  # checked before the text is encoded, which may take a gigabyte
        raise _too_long(f"more than {MOST_BYTES:,}")
    for offset, character in enumerate(text):
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise Refusal("readable-text", "A lone surrogate is not a character; remove it", offset)
        if ord(character) in (*range(32), *range(0x7F, 0xA0)) and character not in _PLAIN_CONTROLS:
            raise Refusal(
                "readable-text", f"Control character U+{ord(character):04X} is not allowed; remove it", offset
            )
    size = len(text.encode())
    if size > MOST_BYTES:
        raise _too_long(f"{size:,}")
    return text


def split(text: str) -> list[Token]:
    """Return the words of one SELECT statement, without comments and a closing semicolon."""
    try:
        tokens = Tokenizer().tokenize(text)
    except SqlglotError:
        raise Refusal("readable-sql", "A quote or a comment is opened and never closed; close it") from None
    if len(tokens) > MOST_WORDS:
        raise Refusal("query-size", f"Query too long: {len(tokens):,} words, at most {MOST_WORDS:,}")
    statements = _statements(tokens)
    if not statements:
        raise Refusal("one-select", "No query found; write SELECT ... FROM ... GROUP BY ... HAVING ...")
    if len(statements) > 1:
        raise Refusal("one-select", f"One SELECT only; found {len(statements)} statements", statements[1][0])
    words = statements[0]
    _check_start(words[0])
    _check_gaps(text, tokens)
    return _with_fractions(words)


def checked(words: Sequence[Token], names: Set[str]) -> list[Token]:
    """Return the words, or refuse an unknown one. A declared name that SQL uses otherwise becomes a plain name."""
    known: list[Token] = []
    for position, word in enumerate(words):
        before = words[position - 1] if position else None
        after = words[position + 1] if position + 1 < len(words) else None
        _check_table(before, word, after)
        # A word after a dot can only be a name.
        dotted = before is not None and before.token_type == TokenType.DOT and _NAME.fullmatch(word.text)
        plain = _retyped(word, TokenType.VAR, word.text) if dotted else _checked_word(word, after, names)
        _check_neighbours(before, plain, after)
        known.append(plain)
    _check_depth(known)
    return known


def _statements(tokens: Sequence[Token]) -> list[list[Token]]:
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def _check_start(word: Token) -> None:
    if word.token_type == TokenType.WITH:
        raise Refusal("no-subquery", "Not supported: CTE (WITH ...); ask about a declared table", word)
    if word.token_type != TokenType.SELECT:
        if word.token_type == TokenType.VAR and not word.text.isascii():
            raise _not_ascii(word.start, word.text)
        got = word.text.upper() if word.token_type not in _QUOTED else "a quoted text"
        raise Refusal("one-select", f"Only SELECT .. GROUP BY .. HAVING is supported; got {shown(got)[1:-1]}", word)


def _check_gaps(text: str, tokens: Sequence[Token]) -> None:
    """Refuse a text in which something else than spaces and comments in ASCII stands between two words."""
    end = 0
    for token in tokens:
        _check_gap(text, end, token.start)
        written = text[token.start : token.end + 1]
        if token.token_type not in _QUOTED and not written.isascii():
            raise _not_ascii(token.start, written)
        end = token.end + 1
    _check_gap(text, end, len(text))


def _check_gap(text: str, start: int, end: int) -> None:
    if not text[start:end].isascii():
        raise _not_ascii(start, text[start:end])
    while start < end:
        if text[start].isspace():
            start += 1
        elif text.startswith("--", start):
            line_end = text.find("\n", start, end)
            start = end if line_end < 0 else line_end + 1
        elif text.startswith("/*", start) and not text.startswith("/*+", start):
            start = _comment_end(text, start, end)
        else:
            raise Refusal("known-words", f"{shown(text[start:end])} is not part of the SQL that may be asked", start)


def _comment_end(text: str, start: int, end: int) -> int:
    depth = 0
    for part in _COMMENT_PART.finditer(text, start, end):
        depth += 1 if part[0] == "/*" else -1
        if depth == 0:
            return part.end()
    raise Refusal("readable-sql", "A comment is opened and never closed; close it with */", start)


def _checked_word(word: Token, after: Token | None, names: Set[str]) -> Token:
    kind, text = word.token_type, " ".join(word.text.upper().split())
    if kind == TokenType.NUMBER and not _NUMBER.fullmatch(word.text):
        raise Refusal("exact-numbers", f"{shown(word.text)} is not a number; write it as 1000, 0.5 or 1e3", word)
    dated = kind == TokenType.DATE and after is not None and after.token_type == TokenType.STRING
    with_next = text if after is None else f"{text} {after.text.upper()}"
    if kind in (TokenType.SELECT, TokenType.GROUP_BY) and with_next in REFUSED:
        raise refusal_of(word, with_next)
    if kind in _QUOTED or kind == TokenType.NUMBER or dated or PLAIN.get(kind) == text or (kind, text) in ALSO_PLAIN:
        return word
    if text.lower() in names and _NAME.fullmatch(word.text):
        return _retyped(word, TokenType.VAR, word.text)
    called = after is not None and after.token_type == TokenType.L_PAREN
    for form in (with_next, text):
        if form in REFUSED and not (called and form in ALSO_FUNCTIONS):
            raise refusal_of(word, form)
    if kind == TokenType.VAR and _NAME.fullmatch(word.text):
        return word
    if called and _NAME.fullmatch(word.text):
        raise refused_function(word, text)
    advice = "; if it is a name, put it in double quotes"
    raise Refusal("known-words", f"{shown(word.text)} is not part of the SQL that may be asked{advice}", word)


def _check_table(before: Token | None, word: Token, after: Token | None) -> None:
    """Refuse a quoted text or a call where a table should stand."""
    if before is None or before.token_type not in (TokenType.FROM, TokenType.JOIN):
        return
    called = after is not None and after.token_type == TokenType.L_PAREN and word.token_type != TokenType.L_PAREN
    rule, _ = REFUSED.get(word.text.upper(), (None, ""))
    query = rule == "no-subquery"
    if word.token_type == TokenType.STRING or (called and not query):
        raise Refusal("declared-tables-only", "Tables must be declared; file and table functions are not allowed", word)


def _check_neighbours(before: Token | None, word: Token, after: Token | None) -> None:
    """Refuse what two neighbouring words show: a subquery, a call of a function, a number with letters, `x'...'`."""
    if word.token_type == TokenType.L_PAREN and after is not None and after.token_type in _QUERY_STARTS:
        raise _subquery(before, word)
    opens = after is not None and after.token_type == TokenType.L_PAREN
    if opens and _names(word) and not (word.token_type == TokenType.VAR and word.text.upper() in FUNCTIONS):
        raise refused_function(word, word.text.upper())
    adjacent = after is not None and after.start == word.end + 1
    if word.token_type == TokenType.NUMBER and adjacent and after is not None and after.text[:1].isidentifier():
        raise Refusal("exact-numbers", f"{shown(word.text + after.text)} is not a number; write it as 1000", word)
    if word.token_type == TokenType.VAR and adjacent and after is not None and after.token_type == TokenType.STRING:
        raise Refusal("known-words", f"{shown(word.text)} before a quote is not supported; write '...'", word)


def _subquery(before: Token | None, word: Token) -> Refusal:
    if before is not None and before.token_type in _COMPARISONS:
        return Refusal(
            "constant-thresholds",
            "Thresholds must be constants or columns of joined public tables; a subquery is neither",
            word,
        )
    return Refusal("no-subquery", "Not supported: subquery; ask about one declared table", word)


def _names(word: Token) -> bool:
    return word.token_type in (TokenType.VAR, TokenType.IDENTIFIER)


def _check_depth(words: Sequence[Token]) -> None:
    """Refuse deep nesting. Each parenthesis, and each NOT and sign of a run, takes the parser a level of calls."""
    depth = run = 0
    for word in words:
        run = run + 1 if word.token_type in _PREFIXES else 0
        depth += (word.token_type == TokenType.L_PAREN) - (word.token_type == TokenType.R_PAREN)
        if depth + run > DEEPEST:
            raise Refusal("query-size", f"Query too deep: more than {DEEPEST} levels of parentheses, NOT or -", word)


def _with_fractions(words: Sequence[Token]) -> list[Token]:
    """Return the words with `.5` as one number, of which the tokeniser makes two words."""
    joined: list[Token] = []
    for word in words:
        if word.token_type == TokenType.NUMBER and joined and joined[-1].token_type == TokenType.DOT:
            dot, before = joined.pop(), joined[-1] if joined else word
            if dot.end + 1 != word.start or before.token_type in _ENDS:
                raise Refusal("exact-numbers", f"{shown('.' + word.text)} is not a number here; write 0.5", dot)
            joined.append(_retyped(word, TokenType.NUMBER, f"0.{word.text}"))
        else:
            joined.append(word)
    return joined


def _retyped(word: Token, kind: TokenType, text: str) -> Token:
    if word.token_type in _QUOTED:
        return word
    return Token(kind, text, word.line, word.col, word.start, word.end)


def _not_ascii(start: int, written: str) -> Refusal:
    offset = next(i for i, c in enumerate(written) if not c.isascii())
    return Refusal(
        "readable-text",
        f"Character U+{ord(written[offset]):04X} stands outside of quotes; only quoted names and texts may hold it",
        start + offset,
    )


def _too_long(size: str) -> Refusal:
    return Refusal("query-size", f"Query too long: {size} bytes, at most {MOST_BYTES:,}. Ask several questions")
