"""Compile an operator tree to a plan: the passes in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from sqlglot import exp

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import cannot_be_carried, is_storable, name_of_type, type_of
from dbt_idivm.algebra.written_time import WrittenTime
from dbt_idivm.cache_names import cache_table
from dbt_idivm.context import AUTO, Caching, Subview
from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.frontend.names import Names, names_of
from dbt_idivm.operators.scan import Attribute, Scan, scans
from dbt_idivm.passes import place_caches
from dbt_idivm.passes.annotate import facts_of, shared_ids
from dbt_idivm.passes.attributes import depends_on_combined_floats, prune_attributes
from dbt_idivm.passes.canonical import canonical, with_canonical_names
from dbt_idivm.passes.first_rows import first_rows
from dbt_idivm.passes.operator_caches import additive_state
from dbt_idivm.passes.pipeline import Request, Step, run_passes, show_output
from dbt_idivm.passes.place_caches import CachePlace, Occurrence
from dbt_idivm.passes.running import running
from dbt_idivm.passes.script_size import check_script_size
from dbt_idivm.passes.void_keys import void_keys
from dbt_idivm.script.additive import Additive
from dbt_idivm.script.by_idiffs import by_idiffs
from dbt_idivm.script.limit import check_lengths
from dbt_idivm.script.over_tables import expanded
from dbt_idivm.script.plan import Cache, Plan
from dbt_idivm.script.stored import ViewColumn
from dbt_idivm.script.tail import Tail
from dbt_idivm.script.top_k import TopK
from dbt_idivm.script.tuple_based import TupleBased
from dbt_idivm.script.ways import STRATEGIES, Way, WayName
from dbt_idivm.script.whole import Whole
from dbt_idivm.stored_names import cache_columns, hidden_columns


@deep_recursion()
def compile_plan(
    root: Operator,
    output: tuple[tuple[str, str], ...],
    *,
    ways: Sequence[WayName] = STRATEGIES["id"],
    cache_ways: Sequence[WayName] | None = None,
    caching: Caching = AUTO,
    times: tuple[WrittenTime, ...] = (),
) -> Plan:
    """The plan of the view `root` whose user columns are `output`: pairs (name, attribute of root), in order; and `times`.

    The plan has those of `ways` that exist for the view, in their order, and its caches have those of `cache_ways` (default:
    `ways`); the stored columns do not depend on them. Steps: place caches; for each cache and for the view run `PASSES`; for each
    way by i-diffs: base i-diffs → propagate → `OPTIMIZATIONS`. Raises IdivmError if a requested cache is impossible.
    """
    request = Request(tuple(dict.fromkeys(attribute for _, attribute in output)), _has_state(caching))
    check_script_size(root)
    cut, caches = _cut(show_output(root, request), frozenset(request.shown), ways if cache_ways is None else cache_ways, caching)
    steps = (Step("lower", root), *((Step("place_caches", cut),) if caches else ()), *run_passes(cut, request))
    columns = tuple(ViewColumn(name, attribute) for name, attribute in output)
    view = steps[-1].root
    shared = shared_ids(facts_of(view), request.shown)
    hidden = (name for name in view.columns if name not in request.shown and name not in dict(shared))
    columns += hidden_columns((*(name for name, _ in output), *(each.name for each in times)), hidden)
    found = _ways(view, ways, caching)
    check_lengths(view, found)
    return replace(_plan(steps, columns, shared, found, caches), times=times)


@deep_recursion()
def cache_candidates(root: Operator, output: tuple[tuple[str, str], ...], subviews: tuple[Subview, ...]) -> tuple[str, ...]:
    """The digests of the subviews that `Caching.chosen` may contain."""
    request = Request(tuple(dict.fromkeys(attribute for _, attribute in output)), True)
    return place_caches.cache_candidates(show_output(root, request), frozenset(request.shown), subviews)


def _plan(
    steps: tuple[Step, ...],
    columns: tuple[ViewColumn, ...],
    shared: tuple[tuple[str, str], ...],
    ways: tuple[Way, ...],
    caches: Sequence[Cache],
) -> Plan:
    """The plan of the view or cache that results from the last of `steps`, over `caches`. Raises IDIVM-218 for VOID keys."""
    root = steps[-1].root
    if refused := list(void_keys(root)):
        raise IdivmError(refused)
    return Plan(root, columns, shared, ways, canonical(expanded(root, caches)).digest, steps, caches=tuple(caches))


def _has_state(caching: Caching) -> bool:
    return caching.policy != "none"


def _ways(view: Operator, names: Sequence[WayName], caching: Caching) -> tuple[Way, ...]:
    """Those of the named ways that exist for an ID-extended view; there is always one that recomputes rows."""
    found = tuple(way for name in names if (way := _way(view, name, caching)) is not None)
    return found or (by_idiffs("recompute", view),)


def _way(view: Operator, name: WayName, caching: Caching) -> Way | None:
    if name == "additive":
        state = additive_state(view) if _has_state(caching) else None
        return None if state is None else Additive(name, state, view)
    if name == "topk":
        first = first_rows(view) if _has_state(caching) else None
        return None if first is None else TopK(name, view, first)
    if name == "tail":
        values = running(view) if _has_state(caching) else None
        return None if values is None else Tail(name, view, values)
    if name == "tuple":  # it computes the former rows, and does not read those that are stored
        return None if depends_on_combined_floats(view) else TupleBased(name, view)
    return Whole(name, view) if name == "whole" else by_idiffs(name, view)


def _cut(view: Operator, needed: frozenset[str], ways: Sequence[WayName], caching: Caching) -> tuple[Operator, tuple[Cache, ...]]:
    """The view over its caches, and the caches in the order of their maintenance."""
    names = names_of(view)
    instead: dict[Operator, Scan] = {}
    caches: dict[str, Cache] = {}
    for number, place in enumerate(place_caches.place_caches(view, needed, caching), 1):
        read = frozenset(place.needed)
        start, known = with_canonical_names(prune_attributes(_over(instead, place.root, read), read))
        shown = tuple(known[name] for name in place.needed)
        steps = (Step("place_caches", start), *run_passes(start, Request(shown, _has_state(caching))))
        root = steps[-1].root
        plan = _plan(steps, cache_columns(root.columns), (), _ways(root, ways, caching), tuple(caches.values()))
        cache = _cache(number, place, shown, plan, caching)
        caches[cache.table] = cache
        instead |= {occurrence.node: _scan(cache, known, occurrence, names) for occurrence in place.occurrences}
    return _over(instead, view, needed), tuple(caches.values())


def _over(instead: Mapping[Operator, Scan], node: Operator, needed: frozenset[str]) -> Operator:
    """Replace each cached subtree, outermost first, by a scan of its cache.

    Attributes of the operators above that are not needed are pruned, because they may depend on attributes that no cache has.
    """
    if node in instead:
        return instead[node]
    pruned = node.pruned(needed)
    children = [_over(instead, child, below) for child, below in zip(node.inputs, pruned.needed(needed), strict=True)]
    return pruned.with_inputs(*children)


def _cache(number: int, place: CachePlace, shown: Sequence[str], plan: Plan, caching: Caching) -> Cache:
    tables = dict.fromkeys(scan.table for scan in scans(expanded(plan.root, plan.caches)))
    table = cache_table(caching.model, digest_of(caching, plan), tables)
    read = tuple(each for each in plan.columns if each.attribute in {*shown, *plan.root.ids})  # without the state of the groups
    attributes = _attributes(read, plan.root.types, table, caching.stored.get(table, {}))
    times = f", {len(place.occurrences)} times in the query" if len(place.occurrences) > 1 else ""
    key = tuple(plan.stored(name) for name in plan.root.ids)
    return Cache(number, table, replace(plan, caches=()), attributes, key, place.reason + times)


def _attributes(
    columns: tuple[ViewColumn, ...], inferred: Mapping[str, exp.DataType], table: str, stored: Mapping[str, str]
) -> tuple[Attribute, ...]:
    """The columns of a cache with their types: as stored, else as inferred. Raises IDIVM-218 and IDIVM-111 for impossible
    types."""
    types = {name.lower(): kind for name, kind in stored.items()}
    found = tuple(
        Attribute(each.name, types.get(each.name.lower()) or name_of_type(inferred[each.attribute])) for each in columns
    )
    wrong = [
        finding(218, column=short(a.name), type=a.type, use=f"the cache {table}")
        for a in found
        if cannot_be_carried(type_of(a.type))
    ]
    wrong += [finding(111, name=table, column=short(a.name), type=a.type) for a in found if not is_storable(a.type)]
    if wrong:
        raise IdivmError(wrong)
    return found


# Wrong without `checked`: in each run a model that looks keys up would rebuild the cache that another model, which does not, has
# refreshed.
def digest_of(caching: Caching, plan: Plan) -> str:
    """The identity of a cache: the project whose models share it, whether keys are looked up, the plan, and the names of the
    columns."""
    checked = () if caching.checked else ("unchecked",)
    content = (caching.project, *checked, plan.digest, *(each.name for each in plan.columns))
    return sha256("\n".join(content).encode()).hexdigest()[:12]


def _scan(cache: Cache, canonical_names: Mapping[str, str], occurrence: Occurrence, names: Names) -> Scan:
    """The scan of a cache in place of one of the subtrees that it replaces, with that subtree's attribute names."""
    theirs = {canonical_names[first]: name for first, name in occurrence.names if first in canonical_names}
    held = {each.name: each.attribute for each in cache.plan.columns}
    known = tuple((a.name, theirs[held[a.name]]) for a in cache.attributes if held[a.name] in theirs)
    alias = names.occurrence(f"cache_{cache.number}", (a.name for a in cache.attributes))
    return Scan(cache.table, alias, cache.attributes, cache.key, names=known)
