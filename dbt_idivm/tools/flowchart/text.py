"""Texts in drawings: measure, shorten, and remove characters that XML cannot contain."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cells(text: str) -> int:
    """The width of a text in a monospaced font, in widths of a digit.

    >>> cells("orders"), cells("注文")
    (6, 4)
    """
    return sum(map(_cells, text))


def shortened(text: str, most: int) -> str:
    """The text, truncated with … if it is wider than `most` cells.

    >>> shortened("orders", 6), shortened("orders_of_customers", 9)
    ('orders', 'orders_o…')
    """
    if cells(text) <= most:
        return text
    found, width = "", 1
    for char in text:
        width += _cells(char)
        if width > most:
            break
        found += char
    return found + "…"


def in_xml(text: str) -> str:
    """The text, with characters that XML documents may not contain replaced.

    >>> in_xml("a\\x00b") == "a\\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _cells(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
