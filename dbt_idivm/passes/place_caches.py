"""Placing intermediate caches (idIVM §4): which subviews of a view are kept as separate maintained tables.

`all` places them as in the paper: before and after each γ, because the rules of γ read both, unless the view itself is that
subview. No cache is placed if a multi-valued dependency is expected (`multivalued.py`), if it would only copy a table, or if rows
have no unique ID. A list of names places a cache at each CTE and derived table with these names, whatever it costs; if that is
impossible, it is an error. Equal subviews share one cache (`canonical.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator, operators, operators_of
from dbt_idivm.algebra.types import cannot_be_carried, is_storable, name_of_type
from dbt_idivm.context import Caching, Subview
from dbt_idivm.errors import Finding, IdivmError, Place, finding, listed, nearest
from dbt_idivm.operators import Aggregate
from dbt_idivm.operators.project import split_projections
from dbt_idivm.operators.scan import scans
from dbt_idivm.passes.attributes import needed_attributes, prune_attributes
from dbt_idivm.passes.canonical import canonical
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.multivalued import is_multivalued

_NO_SUBVIEW = "it has none yet, so write what is to be kept as a CTE"
Needed = Mapping[Operator, frozenset[str]]  # operator → the attributes of it that operators above read


@dataclass(frozen=True)
class Occurrence:
    """A subtree that is replaced by a cache: its node, and pairs (attribute of the cache's tree, attribute of this node)."""

    node: Operator
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CachePlace:
    """A subview to be cached.

    `root` is its first occurrence, `needed` are the attributes of it that are read above, `occurrences` are all of its
    occurrences, and `reason` says why it is cached.
    """

    root: Operator
    needed: tuple[str, ...]
    occurrences: tuple[Occurrence, ...]
    reason: str


def place_caches(root: Operator, needed: frozenset[str], caching: Caching) -> tuple[CachePlace, ...]:
    """The caches of `root`, whose attributes `needed` are read; inner caches come before those that read them.

    `root` is the tree of the query: not pruned, and without IDs. Raises IdivmError with
    everything that prevents a requested cache.
    """
    read = needed_attributes(root, needed)
    reasons = choose_caches(root, read, caching)
    above = _with_columns(root, read, reasons)
    found: dict[str, CachePlace] = {}
    for node in (each for each in operators(root) if each in reasons):
        form = canonical(node)
        first = found.get(form.text)
        if first is None:
            own = tuple((name, name) for name in form.attributes)
            found[form.text] = CachePlace(node, _ordered(node, above[node]), (Occurrence(node, own),), reasons[node])
            continue
        names = canonical(first.root).names_for(form)
        both = {name for name, theirs in names.items() if theirs in above[node]} | set(first.needed)
        occurrences = (*first.occurrences, Occurrence(node, tuple(names.items())))
        found[form.text] = replace(first, needed=_ordered(first.root, both), occurrences=occurrences)
    return tuple(found.values())


def _with_columns(root: Operator, above: Needed, chosen: Iterable[Operator]) -> Needed:
    """`above`, with one attribute for each chosen cache that would have none: for a γ
    without groups perhaps only its row is needed.
    """
    found = dict(above)
    for node in (each for each in reversed([*operators(root)]) if each in chosen):
        if not found[node] and not infer_ids(node).ids:
            for each, needed in needed_attributes(node, frozenset(node.columns[:1])).items():
                found[each] |= needed
    return found


def _ordered(node: Operator, names: frozenset[str] | set[str]) -> tuple[str, ...]:
    """The names in the order of the node's columns."""
    return tuple(name for name in node.columns if name in names)


def choose_caches(root: Operator, above: Needed, caching: Caching) -> dict[Operator, str]:
    """Operator of `root` whose rows are to be cached → the reason. Raises IdivmError if a cache
    that is requested by name is impossible.
    """
    if caching.policy == "all":
        return _around_aggregates(root, above)
    if caching.policy == "auto" and caching.chosen:
        found = _candidates(root, above, caching.subviews)
        return {node: reason for node, reason in found.items() if _digest(node, above) in caching.chosen}
    return _named(root, above, caching.policy, caching.subviews) if isinstance(caching.policy, tuple) else {}


def cache_candidates(root: Operator, needed: frozenset[str], subviews: tuple[Subview, ...]) -> tuple[str, ...]:
    """The digests of the subviews that may be cached: the input and output of each γ, CTEs and derived tables."""
    above = needed_attributes(root, needed)
    return tuple(dict.fromkeys(_digest(node, above) for node in _candidates(root, above, subviews)))


def _digest(node: Operator, above: Needed) -> str:
    """The digest of the canonical form. It does not depend on columns that are not read."""
    return canonical(prune_attributes(node, above[node])).digest


def _candidates(root: Operator, above: Needed, subviews: tuple[Subview, ...]) -> dict[Operator, str]:
    held, found = _held_by_view(root), _around_aggregates(root, above)
    for each in subviews:
        node = each.root
        if node in above and node not in held and not _is_copy(node, found) and not _obstacles(node, above[node]):
            found.setdefault(node, f"it is `{each.name}` of the query")
    return found


def _around_aggregates(root: Operator, above: Needed) -> dict[Operator, str]:
    """The input and output of each γ. A γ under projections only is the view itself, and
    one over constants is cheap to evaluate.
    """
    chosen: dict[Operator, str] = {}
    held = _held_by_view(root)
    for node in operators_of(root, Aggregate):
        groups = f"γ by {', '.join(node.groups)}" if node.groups else "γ over all rows"
        below = node.child
        if not _is_copy(below, chosen) and not _obstacles(below, above[below]):
            chosen[below] = f"it is the input of {groups}, which is evaluated from it, without the tables below"
        if node not in held and scans(node) and not _obstacles(node, above[node]):
            chosen[node] = f"it is the output of {groups}, so that what is above it sees which of its rows changed, and how"
    return chosen


def _held_by_view(root: Operator) -> set[Operator]:
    """The operators whose rows the view stores one by one."""
    projections, below = split_projections(root)
    return {*projections, below}


def _is_copy(node: Operator, chosen: dict[Operator, str]) -> bool:
    """Whether the rows are constants, or come from one table or cache through
    selections, projections and other unary operators.
    """
    if not scans(node):
        return True
    while node not in chosen and node.combined == node.inputs and len(node.inputs) == 1:
        (node,) = node.inputs
    return node in chosen or not node.inputs


# Wrong without it: a cache of a keyless table loses one of two equal rows, and above it a DEL of their ID deletes both. A cache
# of rows that a number identifies does the same if nothing above reads the number.
def has_unique_ids(node: Operator) -> bool:
    """Whether the rows have unique IDs, whichever attributes are needed."""
    return infer_ids(prune_attributes(node, frozenset())).unique


def _obstacles(node: Operator, needed: frozenset[str], name: str = "", place: Place | None = None) -> list[Finding]:
    """The findings that prevent `node`, whose attributes `needed` are read, from being cached."""
    types = node.types
    found = [finding(110, place, name=name)] if any(each.is_clock for each in scans(node)) else []
    found += [
        finding(218, place, column=short(each), type=types[each].sql("spark"), use=f"the cache `{name}`")
        for each in sorted(needed)
        if cannot_be_carried(types[each])
    ]
    found += [
        finding(111, place, name=f"`{name}`", column=short(each), type=types[each].sql("spark"))
        for each in sorted(needed)
        if not is_storable(name_of_type(types[each]))
    ]
    if not has_unique_ids(node):
        keyless = dict.fromkeys(each.table for each in scans(node) if not each.unique)
        found.append(finding(109, place, name=name, tables=", ".join(keyless)))
    elif is_multivalued(infer_ids(node)):
        found.append(finding(110, place, name=name))
    return found


def _named(root: Operator, above: Needed, names: tuple[str, ...], subviews: tuple[Subview, ...]) -> dict[Operator, str]:
    """The subviews with these names. One whose rows are those of the view needs no cache, nor does one that reads no table."""
    chosen: dict[Operator, str] = {}
    findings: list[Finding] = []
    held = _held_by_view(root)
    known = tuple(dict.fromkeys(each.name for each in subviews))
    for name in dict.fromkeys(names):
        meant = [each for each in subviews if each.name.lower() == name.lower()]
        if not meant:
            findings.append(finding(108, name=name, nearest=listed(nearest(name, known)) or _NO_SUBVIEW))
        for each in (each for each in meant if each.root not in held and scans(each.root)):
            # a CTE that is used twice has the same findings twice
            reported = {(found.code, found.details["name"]) for found in findings if "name" in found.details}
            findings += [
                found
                for found in _obstacles(each.root, above[each.root], each.name, each.place)
                if (found.code, each.name) not in reported
            ]
            chosen.setdefault(each.root, f"`{each.name}` is named in the config `caches`")
    if findings:
        raise IdivmError(findings)
    return chosen
