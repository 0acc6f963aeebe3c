"""The words of the SQL that may be asked, and for other well-known words the rule that refuses them.

Reads: nothing. Writes: nothing. Never: decides alone; `tokens.py` also refuses a word that is in neither list.
"""

from collections.abc import Mapping

from sqlglot.tokenizer_core import Token, TokenType

from thresher.sql.refusals import Refusal, Rule, shown

FUNCTIONS = ("AVG", "COUNT", "SUM")

_WORDS = (
    "SELECT, FROM, INNER, JOIN, ON, WHERE, GROUP BY, HAVING, DISTINCT, FILTER, AND, OR, NOT, IN, BETWEEN, IS, NULL, "
    "TRUE, FALSE"
)
_SIGNS = (
    "ALIAS AS; L_PAREN (; R_PAREN ); COMMA ,; DOT .; STAR *; PLUS +; DASH -; SLASH /; EQ =; LT <; LTE <=; GT >; GTE >="
)
# Every word and sign that may be used, with its only spelling (some dialects also write `!` and `==`).
PLAIN: Mapping[TokenType, str] = {
    **{TokenType[word.replace(" ", "_")]: word for word in _WORDS.split(", ")},
    **{TokenType[name]: sign for name, sign in (pair.split() for pair in _SIGNS.split("; "))},
}
# One sign has two spellings.
ALSO_PLAIN = {(TokenType.NEQ, "<>"), (TokenType.NEQ, "!=")}

_ORDER = "{} would reveal the exact order or choice of rows; answers come in declared key order. Leave it out"
_FEWER = f"{_ORDER}. For fewer groups, raise the threshold: HAVING COUNT(*) > 500"
_SET = "Not supported: {}; ask one question at a time"
_QUERY = "Not supported: {}; ask about one declared table"
_TOTAL = "Expression can fail or leak: {}. Compare declared columns with constants"
_TEXTS = "Expression can fail or leak: {}. Name the declared values that you mean: WHERE ward IN ('eye', 'stroke')"
_GROUPS = "Not supported: {}; write GROUP BY with the names of declared keys"
_JOIN = "Not supported: {}; write JOIN public_table ON private.column = public.column"
_WINDOW = "Not supported: window (OVER); write HAVING over COUNT, SUM and AVG"
# Words and signs by rule, with commas between them.
_LISTS: tuple[tuple[Rule, str, str], ...] = (
    (
        "declared-order",
        _ORDER,
        "OFFSET, ORDER BY, TABLESAMPLE, USING SAMPLE, SORT BY, QUALIFY, CLUSTER BY, "
        "DISTRIBUTE BY, SELECT DISTINCT, SELECT ALL, TABLE SAMPLE",
    ),
    ("declared-order", _FEWER, "LIMIT, FETCH, TOP"),
    ("no-window", _WINDOW, "OVER, WINDOW, PARTITION BY, PARTITION"),
    ("no-set-operation", _SET, "UNION, EXCEPT, INTERSECT, MINUS"),
    (
        "no-subquery",
        _QUERY,
        "WITH, LATERAL, EXISTS, VALUES, RECURSIVE, TABLE, UNNEST, PIVOT, UNPIVOT, CROSS APPLY, "
        "OUTER APPLY, MATCH_RECOGNIZE, TRANSFORM, INTO, FOR, CONNECT BY",
    ),
    (
        "total-expressions",
        _TOTAL,
        "CASE, CAST, TRY_CAST, SAFE_CAST, CONVERT, EXTRACT, INTERVAL, COLLATE, DIV, ::, %, ||, ~, "
        "~~, ^, &, |, ->, ->>, [, !, <<, >>, "
        "TIMESTAMP, TIME, ESCAPE, OVERLAPS, XOR, **, //",
    ),
    ("total-expressions", _TEXTS, "LIKE, ILIKE, RLIKE, REGEXP, SIMILAR TO, SIMILAR, GLOB"),
    (
        "plain-groups",
        _GROUPS,
        "ROLLUP, CUBE, GROUPING SETS, GROUPING, GROUP BY ALL, WITH ROLLUP, WITH CUBE, WITH TOTALS",
    ),
    (
        "public-joins-only",
        _JOIN,
        "LEFT, RIGHT, FULL, OUTER, CROSS, NATURAL, SEMI, ANTI, ASOF, POSITIONAL, STRAIGHT_JOIN, USING",
    ),
)
REFUSED: Mapping[str, tuple[Rule, str]] = {
    word: (rule, message.format(word)) for rule, message, words in _LISTS for word in words.split(", ")
}
# Words of that list that are refused as functions where they are called.
ALSO_FUNCTIONS = {"LEFT", "RIGHT", "TIME", "TIMESTAMP", "TOP", "OVERLAPS"}

_NEAREST = {
    "ANY_VALUE": "COUNT(*)",
    "APPROX_COUNT_DISTINCT": "COUNT(DISTINCT unit)",
    "COUNTIF": "COUNT(*) FILTER (WHERE ...)",
    "COUNT_IF": "COUNT(*) FILTER (WHERE ...)",
    "MAX": "COUNT(*) FILTER (WHERE x > c) > k",
    "MEAN": "AVG(x)",
    "MEDIAN": "AVG(x), or COUNT(*) FILTER (WHERE x > ...)",
    "MIN": "COUNT(*) FILTER (WHERE x < c) > k",
    "MODE": "COUNT(*) FILTER (WHERE x = ...)",
    "SUMIF": "SUM(x) FILTER (WHERE ...)",
    "SUM_IF": "SUM(x) FILTER (WHERE ...)",
}
_SPREAD = ("STDDEV", "STDEV", "VAR", "VARIANCE", "QUANTILE", "PERCENTILE", "CORR", "COVAR")


def refusal_of(word: Token, form: str) -> Refusal:
    """Return the refusal of a word, or of two words, on the list."""
    rule, message = REFUSED[form]
    return Refusal(rule, message, word)


def refused_function(word: Token, name: str) -> Refusal:
    """Return the refusal of a call, with the allowed functions and what can replace it."""
    nearest = _NEAREST.get(name) or ("AVG(x)" if name.startswith(_SPREAD) else None)
    instead = f". Nearest supported: {nearest}" if nearest else ""
    return Refusal(
        "allowed-functions",
        f"Function {shown(name)} is not on the allowed list: {', '.join(FUNCTIONS)}{instead}",
        word,
    )
