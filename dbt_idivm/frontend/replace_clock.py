"""Replacing the calls of the clock in a user's SQL by the values of one time, with every other character unchanged."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import TokenType, exp

from dbt_idivm.algebra.expressions import DIALECT
from dbt_idivm.algebra.written_time import CLOCK, at_time
from dbt_idivm.frontend.dialect import tokens_of

_BARE = frozenset({"current_date", "current_timestamp"})  # functions that may stand without brackets
_NAMED = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.IDENTIFIER, TokenType.NUMBER})


def replace_clock(sql: str, timestamp: exp.Expr) -> str:
    """`sql` at the time `timestamp`. A column of the name of a function must have a qualifier or quotes."""
    for start, end, name in reversed(_found(sql)):
        sql = sql[:start] + at_time(exp.Anonymous(this=name), timestamp).sql(DIALECT) + sql[end:]
    return sql


def bare_words(sql: str) -> int:
    """How many words `replace_clock` takes for a call without brackets."""
    return sum(end - start == len(name) for start, end, name in _found(sql))


def _found(sql: str) -> list[tuple[int, int, str]]:
    """(start, end, function) of each call, from left to right."""
    tokens = tokens_of(sql)
    found = []
    after_dot = {id(later) for first, later in pairwise(tokens) if first.token_type == TokenType.DOT}
    for place, token in enumerate(tokens):
        name = token.text.lower()
        if name not in CLOCK or token.token_type in _NAMED or id(token) in after_dot:
            continue
        behind = [each.token_type for each in tokens[place + 1 : place + 3]]
        is_call = behind == [TokenType.L_PAREN, TokenType.R_PAREN]
        if is_call or (name in _BARE and behind[:1] != [TokenType.L_PAREN]):
            end = tokens[place + 2].end if is_call else token.end
            found.append((token.start, end + 1, name))
    return found
