"""Texts of a drawing: how wide they are, shortened, and without characters that XML cannot hold."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cells(text: str) -> int:
    """How wide a text is in a font of equal widths, in the widths of a digit.

    >>> cells("orders"), cells("注文")
    (6, 4)
    """
    return sum(map(_cells, text))


def shortened(text: str, most: int) -> str:
    """The text, with … instead of its end if it is wider than that many cells.

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
    """With the replacement character for what no XML document may contain.

    >>> in_xml("a\\x00b") == "a\\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _cells(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
