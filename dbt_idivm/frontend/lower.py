"""SQL text → operators: the whole front end in one call.

parse → refuse constructs without a rule → rewrite syntactic sugar → lower, resolving names as Spark does (`scope.py`).
sqlglot's own `qualify` is not used: it lower-cases the user's names, stops at the first error, and resolves aliases differently
from Spark in several places (`tests/unit/test_frontend_names.py` has them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.written_time import WrittenTime
from dbt_idivm.context import Catalog, Subview
from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import Finding, IdivmError, Place, finding
from dbt_idivm.frontend.clock import clock_texts
from dbt_idivm.frontend.clock_input import ClockInput
from dbt_idivm.frontend.coercion import UntypedUnion
from dbt_idivm.frontend.collations import compared_collations
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.guards import with_guards
from dbt_idivm.frontend.limit import without_order
from dbt_idivm.frontend.literal_types import compound_intervals, suffixes_beside_decimals, unary_plus
from dbt_idivm.frontend.local_times import compared_local_times
from dbt_idivm.frontend.query import Lowering
from dbt_idivm.frontend.refuse import refusals
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.sessions import used_again
from dbt_idivm.frontend.signed_zeros import constant_zeros, signed_zeros
from dbt_idivm.frontend.size import too_long, too_wide
from dbt_idivm.frontend.sugar import without_sugar
from dbt_idivm.frontend.tables import names_in, relations, tables_in
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.types import incomparable_outputs, incomparable_rows
from dbt_idivm.frontend.user_functions import with_types
from dbt_idivm.frontend.variants import Variants
from dbt_idivm.frontend.written_times import divided, has_other_words, other_uses, perhaps_columns, refused_calls

__all__ = ["Lowered", "lower", "tables_in"]


@dataclass(frozen=True)
class Lowered:
    """A model as operators. `output`: pairs (user's column, attribute of `root`), in the user's order and spelling, without the
    columns that are times of writing: `times`. `clock`: the refusals of these, where they are not to be maintained. `ties`: those
    of orders that were completed, likewise.

    `subviews` are the CTEs, once for each use, and the derived tables; the operator of each is part of `root`.
    `untyped_unions`: number → UNION whose types the engine still has to be asked for, because its branches may have different
    ones. Before the plan is run, ask for the types of `coercion.question` and lower again with `Catalog.unions`, until there
    are none: otherwise the plan may not mean what the query means.
    """

    root: Operator
    output: tuple[tuple[str, str], ...]
    subviews: tuple[Subview, ...] = ()
    untyped_unions: Mapping[int, UntypedUnion] = field(default_factory=dict)
    times: tuple[WrittenTime, ...] = ()
    clock: tuple[Finding, ...] = ()
    ties: tuple[Finding, ...] = ()


@deep_recursion()
def lower(sql: str, catalog: Catalog) -> Lowered:
    """The operators of a model's SELECT. Raises IdivmError with all findings: SQL that Spark does
    not accept, and constructs without a rule.
    """
    raise_all(filter(None, [too_long(sql)]))
    text = Text(sql, listed=frozenset(catalog.functions))
    tree = parsed(text)
    views = views_in(names_in(tree), catalog)
    queries = ((text, tree), *views.values())
    obstacles = [found for each in queries for found in _obstacles(*each, catalog)]
    obstacles += perhaps_columns(queries, catalog)
    is_input = catalog.clock_is_input and not has_other_words(queries)
    clock = [found for its, query in queries for found in refused_calls(query, its)]
    raise_all(_with_clock(obstacles, clock))
    for _, query in queries:
        without_sugar(query)
        with_types(query, catalog.functions)
    lowering = Lowering(catalog, views)
    try:
        rows = lowering.query(tree, Env(text), "v")
    except ValueError as error:
        raise IdivmError(finding(901, message=str(error))) from error
    raise_all(filter(None, [too_wide(len(rows.scope.entries))]))
    guarded = with_guards(rows.root)
    output = tuple((entry.name, entry.attribute) for entry in rows.scope.entries)
    findings = [*lowering.findings, *bad_names(tree, text, rows.scope)]
    stored = tuple(attribute for _, attribute in output)
    subviews = [each.root if guarded is rows.root else with_guards(each.root) for each in lowering.subviews]
    root, *below = Variants().read_at_scans(guarded, *subviews)
    findings.extend(incomparable_rows(root, stored, lowering.places))
    findings.extend(incomparable_outputs(root, stored))
    findings.extend(used_again(rows.root, lowering.sessions))
    findings.extend(signed_zeros(root))
    findings.extend(compared_local_times(root))
    findings.extend(compared_collations(root))
    findings.extend(constant_zeros(rows.root))
    findings.extend(suffixes_beside_decimals(guarded, (text, *(each for each, _ in views.values()))))
    if not catalog.has_untyped_functions:
        findings.extend(clock_texts(guarded, text, catalog.functions))
    raise_all(_with_clock(_once_a_column(findings), clock))
    attributes, times = divided(root, output) if clock else (output, ())
    timed = ClockInput(lowering.names) if clock and is_input else None
    root = root if timed is None else timed.read(root, frozenset(attribute for _, attribute in attributes))
    raise_all(other_uses(root, attributes, clock) if clock else [])
    below = below if timed is None else [timed.instead.get(node, node) for node in below]
    named = tuple(replace(each, root=node) for each, node in zip(lowering.subviews, below, strict=True))
    return Lowered(root, attributes, named, lowering.untyped_unions, times, tuple(clock), tuple(_once(lowering.ties)))


def _with_clock(findings: list[Finding], clock: list[Finding]) -> list[Finding]:
    """The findings; with the refusals of the clock if there is no plan for another reason: it is not known then what reads the
    clock."""
    places = {each.place for each in findings}
    more = (each for each in clock if each.place not in places)
    return [*findings, *(more if any(each.is_refusal for each in findings) else ())]


def _once_a_column(findings: list[Finding]) -> list[Finding]:
    """The findings with at most one IDIVM-218 per column: a column that cannot be compared is reported at its first use only."""
    reported: set[str] = set()
    kept = []
    for found in findings:
        column = found.details["column"] if found.code == "IDIVM-218" else ""
        if not column or column not in reported:
            kept.append(found)
        reported.add(column)
    return kept


def parsed(text: Text) -> exp.Query:
    """The text as one query, without clauses that do not affect the rows of a table. Raises IdivmError."""
    tree = text.parse()
    if isinstance(tree, Finding):
        raise IdivmError(tree)
    without_order(tree)
    return tree


def views_in(names: tuple[str, ...], catalog: Catalog, above: tuple[str, ...] = ()) -> dict[str, tuple[Text, exp.Query]]:
    """The plain SQL views among the relations `names`, and those that they read in turn: name → (text, parsed query).

    `above`: the views that are being expanded. Raises IdivmError if a view reads itself or cannot be parsed.
    """
    found: dict[str, tuple[Text, exp.Query]] = {}
    for name in (name for name in names if name in catalog.views):
        if name in above:
            raise IdivmError(finding(307, source=name, message="it reads itself"))
        text = Text(catalog.views[name].text, name, frozenset(catalog.functions))
        try:
            found[name] = (text, parsed(text))
        except IdivmError as error:
            (cause,) = error.findings
            raise IdivmError(finding(307, cause.place, source=name, message=cause.title)) from error
        found.update(views_in(names_in(found[name][1]), catalog, (*above, name)))
    return found


def _obstacles(text: Text, tree: exp.Query, catalog: Catalog) -> Iterator[Finding]:
    """The refusals in one text, and the relations that do not exist."""
    yield from refusals(tree, text)
    yield from unary_plus(text)
    yield from compound_intervals(text)
    for name, table in relations(tree):
        if name not in catalog.tables and name not in catalog.views:
            yield finding(301, text.place(table), source=name)


def bad_names(tree: exp.Query, text: Text, scope: Scope) -> Iterator[Finding]:
    """Findings for output columns that share a name, or have none."""
    seen: dict[str, Entry] = {}
    for entry in scope.entries:
        if not entry.named:
            yield finding(225, _item_place(tree, text, entry), column=entry.name)
        elif entry.name.lower() in seen:
            yield finding(224, _item_place(tree, text, entry, last=True), column=entry.name)
        seen[entry.name.lower()] = entry


def _item_place(tree: exp.Query, text: Text, entry: Entry, last: bool = False) -> Place | None:
    """The place of the item in the topmost select list that gives the column; it may be a star."""
    items = tree.selects
    matching = [item for item in items if entry.name.lower() in (item.alias_or_name.lower(), text.source(item).lower())]
    stars = [item for item in items if item.is_star]
    found = matching or stars
    return text.place(found[-1 if last else 0]) if found else None


def raise_all(findings: Iterable[Finding]) -> None:
    """Raise all findings as one error, each once. Does nothing if there are none."""
    if reported := _once(findings):
        raise IdivmError(reported)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    found: list[Finding] = []
    for each in findings:
        if each not in found:
            found.append(each)
    return found
