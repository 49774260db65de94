"""Names of relations as single texts, which identify relations in dicts, states and messages and can be split into their parts.

The parts are joined by dots, in lower case, because Spark's names are not case-sensitive. A part that is not a plain word is in
backquotes. A part with a slash is a path, which is case-sensitive.

    Main.Orders, `main`.`orders`    main.orders
    delta.`/data/My Orders.v2`      delta.`/data/My Orders.v2`
"""

from __future__ import annotations

import re

# of relations beside a model
HIDDEN_SUFFIX = "__idivm"  # the ID-extended table of a model whose view needs hidden columns
NEW_SUFFIX = "__idivm_new"  # a table that is built while another relation still has its name
LOG_SUFFIX = "__idivm_changes"  # the log of changes of a model with `output: diffs` or `both`
_WORD = re.compile(r"\w+\Z")
_PART = re.compile(r"`(?:[^`]|``)*`|[^`.]+")


def relation_name(*parts: str) -> str:
    """The name of the relation with these parts, given without quotes."""
    return ".".join(_part(part) for part in parts)


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name, without quotes. Names as people write them are also accepted: `Main`.orders."""
    return tuple(found[1:-1].replace("``", "`") if found.startswith("`") else found for found in _PART.findall(name))


def as_named(text: str) -> str:
    """Normalise a relation's name as somebody wrote it."""
    return relation_name(*name_parts(text.strip()))


def names_of(relation: str, written: str) -> frozenset[str]:
    """The names that `keys` may use for a relation: as `written` in `ref` or `source`, its own, and the last part of either."""
    return frozenset(each for name in (as_named(written), relation) for each in (name, relation_name(name_parts(name)[-1])))


def with_suffix(name: str, suffix: str) -> str:
    """The name of the relation in the same schema whose last part has `suffix` appended."""
    *before, last = name_parts(name)
    return relation_name(*before, last + suffix)


def _part(part: str) -> str:
    text = part if "/" in part else part.lower()
    return text if _WORD.match(text) else f"`{text.replace('`', '``')}`"
