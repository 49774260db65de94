"""Parse expressions as plans print them: split lists and conditions, and find what a condition implies about NULLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_BINARY = re.compile(r" (<=>|<=|>=|=|<|>|AND|OR|\+|-|\*|/|%) ")
# Operators that are printed without parentheses around them.
_LOOSE = re.compile(r" (?:IN|INSET|LIKE|RLIKE|\+) |\[|\.(?=\D)")
_IN = re.compile(r" IN \(")
_FILTER = ") FILTER (WHERE "
_OF_CASE = re.compile(r"\b(CASE|WHEN|ELSE)\b")
_OPEN, _CLOSE = "([‹", ")]›"
_COMPARISONS, _ARITHMETIC = {"=", "<", ">", "<=", ">="}, {"+", "-", "*", "/", "%"}


class Unreadable(Exception):
    """The text of a plan may hide something, or contains something unknown."""


def listed(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    depths = list(_depths(text))
    at = [-2, *(i for i, char in enumerate(text) if char == "," and not depths[i] and text[i : i + 2] == ", "), len(text)]
    return [text[start + 2 : end] for start, end in pairwise(at)] if text else []


def _depths(text: str) -> Iterator[int]:
    """The bracket depth of each character; brackets themselves count as inside. Raises Unreadable if they do not match."""
    depth = 0
    for char in text:
        depth += char in _OPEN
        if depth < 0:
            raise Unreadable(text)
        yield depth
        depth -= char in _CLOSE
    if depth:
        raise Unreadable(text)


def _binary(text: str) -> tuple[str, str, str] | None:
    """The parts of `(left operator right)`; None if the text has another form."""
    if not text.startswith("(") or not text.endswith(")"):
        return None
    depths = list(_depths(text))
    if 0 in depths:  # the first bracket closes before the end
        return None
    for found in _BINARY.finditer(text):
        if depths[found.start()] == 1:
            return text[1 : found.start()], found[1], text[found.end() : -1]
    return None


def conjuncts(text: str) -> Iterator[str]:
    found = _binary(text)
    if found is None or found[1] != "AND":
        yield text
        return
    yield from conjuncts(found[0])
    yield from conjuncts(found[2])


def check_brackets(expression: str) -> None:
    """Raise Unreadable if parentheses that plans do not print could make a difference.

    NOT p IN (q, r) may mean (NOT p) IN (q, r); and in `if (p) a else b + INTERVAL …` the interval may be added to both branches.
    """
    for found in re.finditer(r"\belse ", expression):
        if _LOOSE.search(_same_level(expression[found.end() :])):
            raise Unreadable(expression)
    for found in _IN.finditer(expression):
        negated = "NOT " in _same_level(expression[: found.start()][::-1].translate(_MIRRORED))[::-1]
        values = _same_level(expression[found.end() :]).split(",")
        if negated and all("#" in value or value.strip() in ("true", "false", "null") for value in values):
            raise Unreadable(expression)


def unfiltered(expression: str) -> str:
    """Rewrite `f(x) FILTER (WHERE c)` to `f(CASE WHEN c THEN x END)`, which is how Spark plans it."""
    at = expression.rfind(_FILTER)
    while at >= 0:
        call = _back_to_bracket(expression[:at])
        condition = _up_to_bracket(expression[at + len(_FILTER) :])
        start, end = at - len(call), at + len(_FILTER) + len(condition)
        word = "distinct " if call.startswith("distinct ") else ""
        value = _unguarded(call.removeprefix(word), condition)
        expression = f"{expression[:start]}{word}CASE WHEN {condition} THEN {value} END{expression[end:]}"
        at = expression.rfind(_FILTER, 0, at)
    return expression


def _unguarded(value: str, condition: str) -> str:
    """`x` for `CASE WHEN condition THEN x END`, which is the same where the condition is true."""
    start = f"CASE WHEN {condition} THEN "
    at = value.find(start)
    while at >= 0:
        inner, _, rest = value[at + len(start) :].partition(" END")
        if _OF_CASE.search(inner) is None:
            value = value[:at] + inner + rest
        at = value.find(start, at + 1)
    return value


def _up_to_bracket(text: str) -> str:
    """The text up to the bracket that closes the current level."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth < 0:
            return text[:at]
    raise Unreadable(text)


def _back_to_bracket(text: str) -> str:
    """The text from the bracket that opens the current level."""
    return _up_to_bracket(text[::-1].translate(_MIRRORED))[::-1].translate(_MIRRORED)


_MIRRORED = str.maketrans("()[]‹›", ")(][›‹")


def _same_level(text: str) -> str:
    """The text up to the end of the current level, without bracketed parts."""
    found, depth = [], 0
    for char in text:
        depth -= char in _CLOSE
        if depth < 0:
            break
        if not depth:
            found.append(char)
        depth += char in _OPEN
    return "".join(found)


def not_null(condition: str) -> frozenset[str]:
    """Expressions that cannot be NULL where the condition is true."""
    found = _binary(condition)
    if found is None or found[1] not in _COMPARISONS:
        return frozenset()
    return frozenset({*_operands(found[0]), *_operands(found[2])})


def _operands(expression: str) -> Iterator[str]:
    """The expression, and all subexpressions whose NULL would make it NULL."""
    yield expression
    found = _binary(expression)
    if found is not None and found[1] in _ARITHMETIC:
        yield from _operands(found[0])
        yield from _operands(found[2])
    elif expression.startswith("cast(") and expression.endswith(")"):
        yield from _operands(expression[len("cast(") :].rpartition(" as ")[0])


def is_odd(name: str) -> bool:
    """Whether a name could be mistaken for something else in the text of a plan."""
    return not name or bool(set(name) & set("#,()[]‹›\n\r")) or " AS " in name
