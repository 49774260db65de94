"""Literals and names that the text of a plan cannot show: plans print literals without quotes and types, and names unquoted.

If two literals would be printed alike, or a literal or name looks like a part of a plan, equal plan texts prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import zip_longest

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from dbt_idivm.frontend.dialect import tokens_of
from dbt_idivm.refresh.checks.plan_expressions import Unreadable, is_odd

_STRINGS = frozenset(
    {TokenType.STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING, TokenType.UNICODE_STRING, TokenType.HEREDOC_STRING}
)
_WORDS = frozenset({"null", "true", "false"})
_TIMES = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"})
_STRUCTURE = re.compile(
    r"^ *INTERVAL |^ *0x|[()\[\]‹›\r\n]| AS | AND | WHEN | THEN | ELSE | else | END|lambda |dynamicpruning|\.\.\."
)
# Functions that are printed like operators or other functions, and return NULL where those fail.
_QUIET = {"try_add": "+", "try_subtract": "-", "try_multiply": "*", "try_divide": "/", "try_mod": "%", "get": "["}
_TELLING = frozenset({"try_cast", "try_sum", "try_avg", "try_element_at"})  # printed under their own names
_SUFFIX = re.compile(r"(?:[a-z]{2,}|[lsydf])$")
_NUMBERED = re.compile(r"#(\d+)L?")


def numbers_in_literals(*texts: str) -> frozenset[str]:
    """The numbers after a # in string literals of these queries. Raises Unreadable if different queries could have plans of the
    same text."""
    try:
        tokens = [token for text in texts for token in tokens_of(text)]
    except SqlglotError as error:
        raise Unreadable(str(error)) from error
    if any(token.token_type == TokenType.IDENTIFIER and is_odd(token.text) for token in tokens):
        raise Unreadable("a name that may be a part of a plan")
    # what follows INTERVAL is parsed as part of its type, and printed in quotes
    strings = {
        token.text
        for before, token in zip([None, *tokens], tokens, strict=False)
        if token.token_type in _STRINGS and (before is None or before.text.upper() != "INTERVAL")
    }
    if any(" FILTER (WHERE " in each for each in strings):  # an aggregate with FILTER is printed with CASE
        raise Unreadable("a literal that looks like an aggregate with FILTER")
    _check_quiet({token.text.lower() for token in tokens})
    _check_times(tokens)
    _check(strings, _printed_numbers(tokens))
    return frozenset(number for text in strings for number in _NUMBERED.findall(text))


def _check(strings: Iterable[str], numbers: frozenset[str]) -> None:
    parts = {text: {part.strip().removeprefix("-") for part in text.split(",")} for text in strings}
    for text in strings:
        if _STRUCTURE.search(text) or parts[text] & numbers or {part.lower() for part in parts[text]} & _WORDS:
            raise Unreadable("a literal that may be a part of a plan")
        # the list 'a,b', 'c' is printed like 'a', 'b,c'
        if "," in text and any(parts[text] & parts[other] for other in strings if other != text):
            raise Unreadable("a literal that may be several")


def _check_times(tokens: Sequence[Token]) -> None:
    """Raise Unreadable if a literal occurs both as a date or time and as another type: all are printed as their text."""
    kinds: dict[str, str] = {}
    padded = [None, None, *tokens, None, None]
    for first, before, token, after, kind in zip(padded, padded[1:], padded[2:], padded[3:], padded[4:], strict=False):
        if token is None or token.token_type not in _STRINGS or before is None:
            continue
        found = before.text.upper()
        if found == "(" and first is not None and first.text.upper() == "CAST" and after and kind and after.text.upper() == "AS":
            found = kind.text.upper()
        found = found if found in _TIMES else ""
        if kinds.setdefault(token.text, found) != found:
            raise Unreadable("a date and a text that are printed alike")


def _check_quiet(words: set[str]) -> None:
    """Raise Unreadable for functions printed like others: try_add(a, b) is printed as (a + b), which fails where try_add gives
    NULL. Also for typeof: a NULL is printed without its type."""
    if "typeof" in words:
        raise Unreadable("a function of types")
    for word in words:
        loud = _QUIET.get(word, word.removeprefix("try_"))
        if (word in _QUIET and loud in words) or (word.startswith("try_") and word not in {*_QUIET, *_TELLING}):
            raise Unreadable("a function that is printed as another")


def _printed_numbers(tokens: Sequence[Token]) -> frozenset[str]:
    found: dict[str, str] = {}
    for token, after, kind in zip_longest(tokens, tokens[1:], tokens[2:]):
        if token.token_type == TokenType.NUMBER:
            # 1L is tokenised as 1::BIGINT
            written = token.text.lower() + (kind.text.lower() if after and kind and after.token_type == TokenType.DCOLON else "")
            if found.setdefault(_printed(written), written) != written:
                raise Unreadable("two numbers that are printed alike")
    return frozenset(found)


def _printed(number: str) -> str:
    """The number as a plan prints it: without its type."""
    plain = _SUFFIX.sub("", number)
    try:
        if number.endswith("bd"):
            return f"{Decimal(plain):f}"
        return str(float(plain)) if "e" in plain or number.endswith(("d", "f", "double", "float")) else plain
    except (ValueError, InvalidOperation):
        return plain
