"""View adaptation: compute a new definition from the stored rows of the old one (Gupta, Mumick and Ross 1995).

    adapt(old plan, new plan) → the new view's columns over the stored rows, and over sources where these do not suffice

Both are evaluated at the version vector of the old state. The adapted rows are then, as a bag and including hidden columns,
those that a build at these versions would have. Only what a rule proves is adapted. The result is a relation of the same algebra
as plans; nothing is read or written here.

A view is decomposed into query graphs (`passes/query_graph.py`), one for each branch of a UNION ALL. Each new graph is matched
with an old one whose sources it contains, and the rules add the rest, in this order: returning rows (`widened.py`), columns of
sources, look-ups, conditions, columns. A branch without an old counterpart is evaluated from its sources; a branch that no longer
exists is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from sqlglot import exp

from dbt_idivm.adaptation import widened
from dbt_idivm.adaptation.aggregates import AGGREGATES
from dbt_idivm.adaptation.branches import branch_attribute, branches_of
from dbt_idivm.adaptation.columns import COLUMNS
from dbt_idivm.adaptation.columns_of_source import COLUMNS_OF_SOURCE
from dbt_idivm.adaptation.derive import Held, of_old, was
from dbt_idivm.adaptation.difference import Difference, differences
from dbt_idivm.adaptation.look_up import LOOK_UP
from dbt_idivm.adaptation.narrowed import NARROWED
from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import attributes, column, conjunction
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import Type, name_of_type
from dbt_idivm.deep import deep_recursion
from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.operators import Join, OneRow, Project, Scan, Select
from dbt_idivm.operators.scan import Attribute, scans
from dbt_idivm.passes.query_graph import QueryGraph
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Plan

# In the order of their application: an earlier rule must not read what a later one adds.
RULES: tuple[Rule, ...] = (COLUMNS_OF_SOURCE, AGGREGATES, LOOK_UP, NARROWED, COLUMNS)
ADDED, REMOVED, NOTHING = "branch added", "branch removed", "stored rows stay"
_MOST_DIFFERENCES = 200  # tried for each pair of graphs


@dataclass(frozen=True)
class Adaptation:
    """`rows`: the new view's rows, with the attributes of its stored columns. `edits`: the recognised edits, for people.

    `stored`: the scan of the old view in `rows`. `in_place`: stored rows that stay in the view stay unchanged. These are the rows
    for which `kept` is true (all if None), and `more` are the rows to be inserted.
    """

    rows: Relation
    stored: Scan
    edits: tuple[str, ...]
    in_place: bool
    kept: exp.Expr | None
    more: Relation | None

    @property
    def is_nothing(self) -> bool:
        """Whether the stored rows already are those of the new view."""
        return self.in_place and self.kept is None and self.more is None

    @property
    def table(self) -> str:
        """The table of the stored rows."""
        return self.stored.table

    @property
    def sources(self) -> tuple[str, ...]:
        """The tables that are read in addition to the stored view."""
        return tuple(dict.fromkeys(each.table for each in _scans(self.rows) if each.table != self.stored.table))

    @property
    def summary(self) -> str:
        """The edits, separated by commas."""
        return ", ".join(self.edits)


@deep_recursion()
def adapt(old: Plan, new: Plan, table: str) -> Adaptation | None:
    """The new view over the rows that the old one has stored in `table` and over its sources; None if no rule proves it.
    Intermediate caches of both plans are read as sources. A cache that only the new view has would have to be built first, so the
    result is None."""
    if old.times or new.times:  # it is not known which rows the edit changes
        return None
    if old.clock or new.clock:  # the rows are those of another time
        return None
    shared = {each.table: each.plan.digest for each in new.caches}
    if not shared.items() <= {each.table: each.plan.digest for each in old.caches}.items():
        return None
    given_up = [each for each in old.caches if each.table not in shared]
    old = over_tables(old, given_up)
    if given_up and not _are_distinct(old.root):
        return None
    before = _Before(old, branches_of(old.root), branch_attribute(old.root), _stored(old, new, table))
    wanted = {each.attribute for each in new.columns}
    after = [
        replace(each, names={name: value for name, value in each.names.items() if name in wanted})
        for each in branches_of(new.root)
    ]
    if len(before.graphs) > 1 and before.branch is None:
        return None
    free = set(range(len(before.graphs)))
    found: list[_Found | None] = []
    for number, graph in enumerate(after):
        order = sorted(free, key=lambda place, number=number: abs(place - number))  # type: ignore[misc]
        tried = product(order, (False, True))
        part = next((each for place, fetches in tried if (each := _adapted(graph, before, place, fetches)) is not None), None)
        free -= {part.place} if part is not None else set()
        found.append(part)
    return _together(found, after, free, before, new) if any(found) else None


# Wrong without it: the plans of caches have names in common, and a graph takes attributes of equal names for the same.
def _are_distinct(root: Operator) -> bool:
    """Whether no two operators create attributes of the same name."""
    made = [name for node in operators(root) for name in {*node.columns}.difference(*(each.columns for each in node.inputs))]
    return len(made) == len({*made})


@dataclass(frozen=True)
class _Before:
    """The old view: its graphs, the attribute that distinguishes them if there are several, and the scan of the stored table."""

    plan: Plan
    graphs: tuple[QueryGraph, ...]
    branch: str | None
    stored: Scan

    def is_of(self, place: int) -> exp.Expr | None:
        """Condition for the stored rows of the graph; None if all are."""
        if self.branch is None or len(self.graphs) == 1:
            return None
        name = self.stored.attribute(self.plan.stored(self.branch))
        return exp.EQ(this=column(name), expression=exp.Literal.number(place))

    def holds(self, place: int, name: str) -> str:
        """The value of a stored column in the rows of a graph, as normalised text."""
        attribute = next(each.attribute for each in self.plan.columns if each.name == name)
        return text_of(self.graphs[place].names[attribute])

    def held(self, difference: Difference) -> Held:
        """The values in stored rows. An ID without a column of its own is read from the column that has its value (ADR 0016)."""
        own = [(each.attribute, each.name) for each in self.plan.columns]
        shared = [(name, self.plan.stored(name)) for name, _ in self.plan.shared]
        names = difference.old.names
        padded = frozenset(
            was(name).name
            for _, node in difference.pairs
            for name, kind in node.types.items()
            if kind.this in (Type.CHAR, Type.NCHAR)
        )
        return Held(
            (
                *((of_old(names[each]), column(self.stored.attribute(name))) for each, name in (*own, *shared)),
                *((column(name), column(name)) for name in difference.added),
            ),
            padded,
        )


@dataclass(frozen=True)
class _Found:
    """A new graph over the old graph number `place`: its stored rows, additional rows, and the recognised edits.

    `conditions`: new conditions over the stored columns. `stays`: stored rows that satisfy them take no values from elsewhere.
    """

    place: int
    rows: Project
    more: tuple[Relation, ...]
    edits: tuple[str, ...]
    conditions: tuple[exp.Expr, ...]
    stays: bool


def _adapted(new: QueryGraph, before: _Before, place: int, fetches: bool) -> _Found | None:
    """Adapt by the first difference between the graphs that the rules can express. `fetches`: whether columns of sources may be
    looked up. Solutions without that read less; it is also not done where rows are added, for which all sources are read
    anyway."""
    tried = islice(differences(new, before.graphs[place]), _MOST_DIFFERENCES)
    return next((found for each in tried if (found := _by_rules(each, before, place, fetches)) is not None), None)


def _by_rules(difference: Difference, before: _Before, place: int, fetches: bool) -> _Found | None:
    of_block = before.is_of(place)
    rows = before.stored if of_block is None else Select(before.stored, of_block)
    first = Part(rows, widened.without_implied(difference), before.held(difference))
    parts, wider = [first], widened.without_followed(difference)
    if COLUMNS_OF_SOURCE.takes(first) is not fetches or (fetches and wider.lost):
        return None
    if wider.lost:
        rest = widened.rest_of(wider)
        if rest is None:
            return None
        parts.append(rest)
    edits, done = [widened.NAME] if wider.lost else [], []
    for part in parts:
        adapted = part
        for rule in (each for each in RULES if each.takes(part)):
            found = rule.adapt(adapted)
            if found is None:
                return None
            adapted = found
            edits += [rule.name] if part is first else []  # what the added rows have in addition is an edit of neither
        done.append(adapted.rows)
    top, *more = done
    assert isinstance(top, Project)
    conditions = [first.derived(each) for each in first.difference.extra]
    stays = not (fetches or difference.joined or difference.looked_up or difference.missing_calls)
    known = tuple(each for each in conditions if each is not None)
    return _Found(place, top, tuple(more), tuple(dict.fromkeys(edits)), known, stays)


def _together(found: list[_Found | None], after: list[QueryGraph], free: set[int], before: _Before, new: Plan) -> Adaptation:
    """Combine all branches into one relation, and determine whether the stored rows can stay in place."""
    adapted = [each for each in found if each is not None]
    fresh = [_from_sources(graph) for each, graph in zip(found, after, strict=True) if each is None]
    more = (*(rows for each in adapted for rows in each.more), *fresh)
    as_stored = all(_is_as_stored(each, before, new) for each in adapted)
    stays = as_stored and all(each.stays for each in adapted)
    edits = [edit for each in adapted for edit in each.edits if edit != COLUMNS.name]
    edits += [*([ADDED] if fresh else []), *([REMOVED] if free else []), *([] if as_stored else [COLUMNS.name])]
    rows = _united((*(each.rows for each in adapted), *more))
    assert rows is not None
    kept = _kept(adapted, free, before) if stays else None
    said = tuple(dict.fromkeys(edits)) or (NOTHING,)
    return Adaptation(rows, before.stored, said, stays, kept, _united(more) if stays else None)


def _kept(adapted: list[_Found], free: set[int], before: _Before) -> exp.Expr | None:
    """The condition for the stored rows that stay; None if all do."""
    if not free and not any(each.conditions for each in adapted):
        return None
    parts = []
    for each in adapted:
        of_block = before.is_of(each.place)
        test = conjunction((*((of_block,) if of_block is not None else ()), *(part.copy() for part in each.conditions)))
        parts.append(exp.true() if test is None else test)
    return exp.or_(*parts, copy=False)


def _united(relations: Sequence[Relation]) -> Relation | None:
    return None if not relations else relations[0] if len(relations) == 1 else Concat(tuple(relations))


def _is_as_stored(found: _Found, before: _Before, new: Plan) -> bool:
    """Whether stored rows are rows of the new view without any change: same columns, same names, same order."""
    if [(each.name, each.hidden) for each in before.plan.columns] != [(each.name, each.hidden) for each in new.columns]:
        return False
    definitions = dict(found.rows.definitions)
    held = {before.stored.attribute(each.name): before.holds(found.place, each.name) for each in before.plan.columns}
    return all(held[before.stored.attribute(each.name)] == _text(definitions[each.attribute], held) for each in new.columns)


def _text(value: exp.Expr, held: Mapping[str, str]) -> str:
    """Normalised text of a value that is stored or constant; "" for one that is computed."""
    if isinstance(value, exp.Column):
        return held.get(value.name, "")
    return "" if attributes(value) else text_of(value)


def _from_sources(graph: QueryGraph) -> Relation:
    """The rows of a graph that has no stored rows."""
    rows: Operator = OneRow()
    for number, source in enumerate(graph.sources):
        rows = source if number == 0 else Join(rows, source, exp.true())
    condition = conjunction(each.copy() for each in graph.conditions)
    rows = rows if condition is None else Select(rows, condition)
    return Project(rows, tuple(graph.names.items()))


def _stored(old: Plan, new: Plan, table: str) -> Scan:
    """A scan of the old view's stored columns, under names that neither plan uses."""
    types = old.root.types
    known = {each.occurrence for plan in (old, new) for each in scans(plan.root)}
    taken = {name.lower() for plan in (old, new) for name in (*plan.column_names, *known)}
    occurrence = fresh_name("stored", lambda tried: any(name == tried or name.startswith(f"{tried}__") for name in taken))
    attributes = tuple(Attribute(each.name, name_of_type(types[each.attribute])) for each in old.columns)
    return Scan(table, occurrence, attributes)


def _scans(relation: Relation) -> Iterator[Scan]:
    if isinstance(relation, Scan):
        yield relation
    for each in relation.children:
        yield from _scans(each)
