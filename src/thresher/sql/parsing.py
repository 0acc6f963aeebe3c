"""From checked words to the parser's tree of one SELECT, with every word accounted for.

The parser's library drops words that mean nothing to it (`FROM t*`, a comma too many). So the tree is counted against
the words: every name and constant must stand in the tree, and every sign and keyword as often as it was written.
Reads: words. Writes: nothing. Never: optimises, generates or runs SQL.
"""

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from thresher.sql.known_words import PLAIN
from thresher.sql.limits import DEEPEST
from thresher.sql.refusals import Refusal, shown

_PLACED = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
_COMPARISONS: dict[type[exp.Expr], TokenType] = {
    exp.EQ: TokenType.EQ,
    exp.NEQ: TokenType.NEQ,
    exp.LT: TokenType.LT,
    exp.LTE: TokenType.LTE,
    exp.GT: TokenType.GT,
    exp.GTE: TokenType.GTE,
}
_SIGNS: dict[type[exp.Expr], tuple[TokenType, ...]] = {
    exp.TableAlias: (TokenType.ALIAS,),
    exp.Select: (TokenType.SELECT,),
    exp.From: (TokenType.FROM,),
    exp.Where: (TokenType.WHERE,),
    exp.Having: (TokenType.HAVING,),
    exp.Group: (TokenType.GROUP_BY,),
    exp.Distinct: (TokenType.DISTINCT,),
    exp.Filter: (TokenType.FILTER, TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Paren: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Tuple: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.In: (TokenType.IN, TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Between: (TokenType.BETWEEN, TokenType.AND),
    exp.And: (TokenType.AND,),
    exp.Or: (TokenType.OR,),
    exp.Not: (TokenType.NOT,),
    exp.Is: (TokenType.IS,),
    exp.Null: (TokenType.NULL,),
    exp.Star: (TokenType.STAR,),
    exp.Mul: (TokenType.STAR,),
    exp.Div: (TokenType.SLASH,),
    exp.Add: (TokenType.PLUS,),
    exp.Sub: (TokenType.DASH,),
    exp.Neg: (TokenType.DASH,),
    exp.Cast: (TokenType.DATE,),
    exp.Count: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Sum: (TokenType.L_PAREN, TokenType.R_PAREN),
    exp.Avg: (TokenType.L_PAREN, TokenType.R_PAREN),
    **{node: (sign,) for node, sign in _COMPARISONS.items()},
}


def parsed(words: Sequence[Token], text: str) -> exp.Select:
    """The tree of the statement."""
    try:
        trees = Parser().parse(list(words), text)
    except ParseError as error:
        raise _unreadable(error, words) from None
    except RecursionError:
        raise Refusal("query-size", f"Query too deep: nest fewer than {DEEPEST} levels") from None
    except Exception:  # noqa: BLE001 - whatever words do to the parser, the asker gets a refusal
        raise Refusal(
            "readable-sql", "This cannot be read as SQL; compare it with the examples in docs/questions.md"
        ) from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Select):
        raise Refusal("one-select", "Only SELECT .. GROUP BY .. HAVING is supported", words[0])
    return tree


def check_complete(tree: exp.Select, words: Sequence[Token]) -> None:
    """Refuses if a word of the text is not in the tree, or stands there more or less often than it was written."""
    nodes = list(tree.walk())
    places = {node.meta.get("start") for node in nodes}
    for word in words:
        if word.token_type in _PLACED and word.start not in places:
            raise Refusal("readable-sql", f"{shown(word.text)} has no meaning here; leave it out", word)
    inside = Counter(kind for node in nodes for kind in _words_of(node))
    written = Counter(word.token_type for word in words if word.token_type not in _PLACED)
    for kind in {*inside, *written}:
        # AS and INNER may be left out.
        spare = kind in (TokenType.ALIAS, TokenType.INNER) and written[kind] < inside[kind]
        if written[kind] != inside[kind] and not spare:
            first = next((word for word in words if word.token_type == kind), None)
            what = shown(first.text) if first is not None else f"Where {shown(PLAIN.get(kind, kind.name))} belongs it"
            raise Refusal("readable-sql", f"{what} is missing or has no meaning in one place", first)


def _words_of(node: exp.Expr) -> list[TokenType]:
    found = list(_SIGNS.get(type(node), ()))
    if isinstance(node, exp.Boolean):
        found.append(TokenType.TRUE if node.this else TokenType.FALSE)
    if isinstance(node, exp.Join):
        found += [TokenType.JOIN, TokenType.INNER] + [TokenType.ON] * (node.args.get("on") is not None)
    if isinstance(node, exp.Column):
        found += [TokenType.DOT] * (node.args.get("table") is not None)
    listed = node.args.get("expressions") or []
    return found + [TokenType.COMMA] * (len(listed) - 1)


def _unreadable(error: ParseError, words: Sequence[Token]) -> Refusal:
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    near = next((word for word in words if (word.line, word.col) == (line, column)), None)
    found = f" near {shown(near.text)}" if near is not None else ""
    message = f"This cannot be read as SQL{found}: a part is missing or too many"
    return Refusal("readable-sql", f"{message}; compare it with the examples in docs/questions.md", near)
