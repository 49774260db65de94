"""Names of relations as one text each, which identifies a relation in dicts, states and messages and can be split into its parts.

The parts are joined by dots, lower case, because Spark's names have no case; a part that is not a plain word is in
back quotes. A part with a slash is a path, whose case counts.

    Main.Orders, `main`.`orders`    main.orders
    delta.`/data/My Orders.v2`      delta.`/data/My Orders.v2`
"""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+\Z")
_PART = re.compile(r"`(?:[^`]|``)*`|[^`.]+")


def relation_name(*parts: str) -> str:
    """The name of the relation with these parts, which are given without quotes."""
    return ".".join(_part(part) for part in parts)


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name, without quotes. Names as people write them are understood as well: `Main`.orders."""
    return tuple(found[1:-1].replace("``", "`") if found.startswith("`") else found for found in _PART.findall(name))


def as_named(text: str) -> str:
    """A relation's name as somebody wrote it → the relation's name."""
    return relation_name(*name_parts(text.strip()))


def names_of(relation: str, written: str) -> frozenset[str]:
    """The names that `keys` may have for a relation: as `written` in `ref` or `source`, its own, and the last part of either."""
    return frozenset(each for name in (as_named(written), relation) for each in (name, relation_name(name_parts(name)[-1])))


def with_suffix(name: str, suffix: str) -> str:
    """The name of the relation beside this one whose last part ends in `suffix`."""
    *before, last = name_parts(name)
    return relation_name(*before, last + suffix)


def _part(part: str) -> str:
    text = part if "/" in part else part.lower()
    return text if _WORD.match(text) else f"`{text.replace('`', '``')}`"
