"""Literals that sqlglot parses as something else: +7 as 7, 7L as CAST(7 AS BIGINT), INTERVAL 1 DAY 2 HOURS as a sum.

Next to a DECIMAL, Spark gives a literal the precision of its digits, any other value its type's. This determines the
scale of quotients: 7 and 7L are DECIMAL(1, 0), +7 is a DECIMAL(10, 0), CAST(7 AS BIGINT) a DECIMAL(20, 0). A text after a unary +
is a DOUBLE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import Token, TokenType

from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.text import Text

_ARITHMETIC = frozenset({TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DIV})
# Tokens that do not end an operand, so that a + after them is unary.
_BEFORE_OPERAND = _ARITHMETIC | frozenset(
    {
        TokenType.L_PAREN,
        TokenType.L_BRACKET,
        TokenType.COMMA,
        TokenType.EQ,
        TokenType.NEQ,
        TokenType.LT,
        TokenType.LTE,
        TokenType.GT,
        TokenType.GTE,
        TokenType.NULLSAFE_EQ,
        TokenType.AMP,
        TokenType.PIPE,
        TokenType.CARET,
        TokenType.TILDE,
        TokenType.DPIPE,
        TokenType.ARROW,
        TokenType.SELECT,
        TokenType.DISTINCT,
        TokenType.WHERE,
        TokenType.ON,
        TokenType.HAVING,
        TokenType.QUALIFY,
        TokenType.GROUP_BY,
        TokenType.ORDER_BY,
        TokenType.PARTITION_BY,
        TokenType.AND,
        TokenType.OR,
        TokenType.NOT,
        TokenType.CASE,
        TokenType.WHEN,
        TokenType.THEN,
        TokenType.ELSE,
        TokenType.BETWEEN,
        TokenType.LIKE,
        TokenType.ILIKE,
        TokenType.RLIKE,
        TokenType.VALUES,
        TokenType.LIMIT,
        TokenType.OFFSET,
    }
)
_INTEGERS = frozenset({TokenType.TINYINT, TokenType.SMALLINT, TokenType.BIGINT})


# Wrong without it: d / +7, for a DECIMAL(6, 2) d, would be stored as d / 7.
def unary_plus(text: Text) -> Iterator[Finding]:
    """IDIVM-228 for each unary +."""
    for before, token in zip(text.tokens, text.tokens[1:], strict=False):
        if token.token_type == TokenType.PLUS and before.token_type in _BEFORE_OPERAND:
            yield finding(228, text.place_at(token.start, token.end + 1), what="+ in front of a value")


# Wrong without it: d / 7L, for a DECIMAL(6, 2) d, would be stored as d / CAST(7 AS BIGINT).
def suffixes_beside_decimals(root: Operator, texts: Iterable[Text]) -> Iterator[Finding]:
    """IDIVM-228 for each number such as 7L, if there are decimals in the plan or in its texts."""
    known = list(texts)
    if any(kind.this == Type.DECIMAL for node in operators(root) for kind in node.types.values()) or any(
        _is_decimal(token) for text in known for token in text.tokens
    ):
        for text in known:
            for start, end in _suffixed(text.tokens):
                yield finding(228, text.place_at(start, end), what=f"{text.sql[start:end]} in a query with decimals")


def _is_decimal(token: Token) -> bool:
    return token.token_type == TokenType.DECIMAL or (token.token_type == TokenType.NUMBER and "." in token.text)


def _suffixed(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """The spans of numbers with a suffix. They are tokenised as 7 :: BIGINT, and all three tokens have the same start."""
    for number, colon, kind in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if colon.token_type == TokenType.DCOLON and kind.token_type in _INTEGERS and number.start == colon.start == kind.start:
            yield number.start, number.end + 1


# Wrong without it: t - INTERVAL 1 DAY 2 HOURS would be stored as t - INTERVAL '1' DAY + INTERVAL '2' HOURS.
def compound_intervals(text: Text) -> Iterator[Finding]:
    """IDIVM-228 for each INTERVAL with several values and units, perhaps with signs."""
    for at, token in enumerate(text.tokens):
        if token.token_type != TokenType.INTERVAL:
            continue
        rest = [each for each in text.tokens[at + 1 : at + 8] if each.token_type not in (TokenType.PLUS, TokenType.DASH)]
        if len(rest) > 3 and rest[0].token_type in _VALUES and rest[2].token_type in _VALUES and _is_unit(rest[3]):
            yield finding(
                228,
                text.place_at(token.start, rest[3].end + 1),
                what="INTERVAL with several units (write a text: INTERVAL '1 day 2 hours')",
            )


def _is_unit(token: Token) -> bool:
    return token.text.upper().removesuffix("S") in _UNITS


_VALUES = frozenset({TokenType.NUMBER, TokenType.STRING})
_UNITS = frozenset({"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"})
