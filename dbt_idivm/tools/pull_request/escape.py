"""Escape user text for GitHub's Markdown: nothing in it becomes markup, a mention, a link or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

_PLAIN = re.compile(r"[\w .,:;()\[\]{}=+*/'\"<>&!?%→-]+")  # what a code span, also in a table cell, may contain unescaped
_SIGN = re.compile(r"[^\w ]|_")
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|~$^]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_MENTION = re.compile(r"@(?=\w)|(?<!&)#(?=\w)|(?<=GH)-(?=\d)", re.IGNORECASE)  # "&#" begins a character reference
_SPAN = re.compile(r"`([^`]+)`")


def code(text: str) -> str:
    """A text in one line as code. Characters that would end a span or a table cell become character references.

    >>> code("orders"), code("a|b")
    ('`orders`', '<code>a&#124;b</code>')
    """
    line = " ".join(text.split())
    return f"`{line}`" if _PLAIN.fullmatch(line) else f"<code>{_SIGN.sub(_reference, line)}</code>"


def html_code(text: str) -> str:
    """A text in one line as code in HTML, where Markdown is not interpreted."""
    return f"<code>{escape(' '.join(text.split()))}</code>"


def prose(text: str) -> str:
    """A sentence in one line. Parts between backquotes are code, nothing else is markup.

    >>> prose("`strategy: full` of *a* <b> is @you's")
    "`strategy: full` of &#42;a&#42; &#60;b&#62; is &#64;&#8203;you's"
    """
    line = " ".join(text.split())
    found, end = [], 0
    for span in _SPAN.finditer(line):
        found += [_escaped(line[end : span.start()]), code(span[1])]
        end = span.end()
    return "".join([*found, _escaped(line[end:])])


def fenced(text: str, language: str) -> str:
    """A code block, with a fence longer than any run of backquotes in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def row(cells: Iterable[str]) -> str:
    """A row of a table. The cells are Markdown without pipes."""
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Replace markup by character references. GitHub detects mentions after resolving references, so a zero-width character
    separates the sign from the name."""
    return _MENTION.sub(lambda found: f"{_reference(found)}&#8203;", _MARKUP.sub(_reference, text))


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
