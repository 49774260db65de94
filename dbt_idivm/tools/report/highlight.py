"""Texts with markup, as HTML: SQL with its keywords, strings and comments, and messages with their quoted parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape
from pygments.lexers.sql import SqlLexer
from pygments.token import Comment, Keyword, Literal, _TokenType

# Kind of token → class; the first match counts. A page has megabytes of SQL, so nothing else is marked.
_CLASSES: tuple[tuple[_TokenType, str], ...] = ((Comment, "c"), (Literal.String, "s"), (Keyword, "k"))

_QUOTED = re.compile("`[^`]+`")
_PARTS = re.compile("(`[^`]+`)")


def highlighted(sql: str) -> Markup:
    """The text, escaped, with `<span>`s of the classes k (keyword), s (string) and c (comment).

    >>> print(highlighted("SELECT '<' AS name"))
    <span class="k">SELECT</span> <span class="s">&#39;&lt;&#39;</span> <span class="k">AS</span> name
    """
    return Markup("").join(
        Markup('<span class="{}">{}</span>').format(kind, text) if kind else escape(text) for kind, text in _pieces(sql)
    )


def quoted(message: str) -> Markup:
    """A message, escaped, with `<code>` around parts in backquotes.

    >>> print(quoted("give `a<b` or run `dbt compile`"))
    give <code>a&lt;b</code> or run <code>dbt compile</code>
    """
    return Markup("").join(
        Markup("<code>{}</code>").format(each[1:-1]) if _QUOTED.fullmatch(each) else escape(each)
        for each in _PARTS.split(message)
    )


def _pieces(sql: str) -> Iterator[tuple[str, str]]:
    """(class, text) pieces; neighbouring tokens of one class are merged."""
    capital = "SELECT" in sql  # if keywords are in capitals, lower-case words such as `name` and `value` are not keywords
    last, text = "", ""
    for token, part in SqlLexer(stripnl=False, ensurenl=False).get_tokens(sql):
        kind = _class(token)
        if kind == "k" and capital and not part.isupper():
            kind = ""
        if kind != last:
            if text:
                yield last, text
            last, text = kind, ""
        text += part
    if text:
        yield last, text


def _class(token: _TokenType) -> str:
    return next((kind for parent, kind in _CLASSES if token in parent), "")
