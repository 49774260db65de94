"""Numbers that a tree takes for others: +7 is read as 7, and 7L as CAST(7 AS BIGINT).

Beside a DECIMAL Spark gives a literal as many digits as it has, and other values as many as their type, which decides where
quotients are cut: 7 and 7L are a DECIMAL(1, 0), +7 a DECIMAL(10, 0), CAST(7 AS BIGINT) a DECIMAL(20, 0). A text in front of
which + stands is a DOUBLE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import Token, TokenType

from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.text import Text

_ARITHMETIC = frozenset({TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DIV})
# What no operand ends with.
_BEFORE_OPERAND = _ARITHMETIC | frozenset({
    TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.COMMA, TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE,
    TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ, TokenType.AMP, TokenType.PIPE, TokenType.CARET, TokenType.TILDE,
    TokenType.DPIPE,
    TokenType.ARROW, TokenType.SELECT, TokenType.DISTINCT, TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY,
    TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.CASE,
    TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE,
    TokenType.VALUES, TokenType.LIMIT, TokenType.OFFSET})
_INTEGERS = frozenset({TokenType.TINYINT, TokenType.SMALLINT, TokenType.BIGINT})


# Wrong without it: d / +7 of a DECIMAL(6, 2), stored as d / 7.
def unary_plus(text: Text) -> Iterator[Finding]:
    """IDIVM-228 for each + with one operand."""
    for before, token in zip(text.tokens, text.tokens[1:], strict=False):
        if token.token_type == TokenType.PLUS and before.token_type in _BEFORE_OPERAND:
            yield finding(228, text.place_at(token.start, token.end + 1), what="+ in front of a value")


# Wrong without it: d / 7L of a DECIMAL(6, 2), stored as d / CAST(7 AS BIGINT).
def suffixes_beside_decimals(root: Operator, texts: Iterable[Text]) -> Iterator[Finding]:
    """IDIVM-228 for each number like 7L in arithmetic, if there are decimals in the plan or in its texts."""
    known = list(texts)
    if any(kind.this == Type.DECIMAL for node in operators(root) for kind in node.types.values()) or any(
            _is_decimal(token) for text in known for token in text.tokens):
        for text in known:
            for start, end in _suffixed(text.tokens):
                yield finding(228, text.place_at(start, end), what=f"{text.sql[start:end]} in arithmetic with decimals")


def _is_decimal(token: Token) -> bool:
    return token.token_type == TokenType.DECIMAL or (token.token_type == TokenType.NUMBER and "." in token.text)


def _suffixed(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """The spans of the numbers with a suffix that are operands, in brackets or not. They are read as 7 :: BIGINT, of one span."""
    for place in range(1, len(tokens) - 1):
        number, colon, kind = tokens[place - 1:place + 2]
        if colon.token_type == TokenType.DCOLON and kind.token_type in _INTEGERS and number.start == colon.start == kind.start:
            before = next((each for each in reversed(tokens[:place - 1]) if each.token_type != TokenType.L_PAREN), None)
            after = next((each for each in tokens[place + 2:] if each.token_type != TokenType.R_PAREN), None)
            if any(each is not None and each.token_type in _ARITHMETIC for each in (before, after)):
                yield number.start, number.end + 1
