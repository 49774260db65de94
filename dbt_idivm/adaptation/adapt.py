"""View adaptation: a new definition over the stored rows of the old one (Gupta, Mumick and Ross 1995).

    adapt(old plan, new plan) → the new view's stored columns over what is stored, and over sources where that does not suffice

Both are evaluated at one version vector, that of the old state: then the adapted rows are those that a build at these versions
would have, as a bag, hidden columns included. What no rule proves is not adapted. The result is a relation of the same algebra as
plans; nothing is read or written here.

A view is taken as blocks (`block.py`), one for each branch of a UNION ALL. For each new block an old one is looked for that has
all its sources, and the rules add what else there is, in their order: rows that come back (`widened.py`), columns of sources,
look-ups, conditions, columns. A branch that has no old one is evaluated from its sources, and one that is no more is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from sqlglot import exp

from dbt_idivm.adaptation import widened
from dbt_idivm.adaptation.aggregates import AGGREGATES
from dbt_idivm.adaptation.block import Block, branch_attribute, branches_of
from dbt_idivm.adaptation.columns import COLUMNS
from dbt_idivm.adaptation.columns_of_source import COLUMNS_OF_SOURCE
from dbt_idivm.adaptation.derive import Held, of_old, text_of, was
from dbt_idivm.adaptation.difference import Difference, differences
from dbt_idivm.adaptation.look_up import LOOK_UP
from dbt_idivm.adaptation.narrowed import NARROWED
from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.expressions import attributes, column, conjunction
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import Type, name_of_type
from dbt_idivm.deep import deep_recursion
from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.operators import Join, OneRow, Project, Scan, Select
from dbt_idivm.operators.scan import Attribute, scans
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Plan

# In the order in which they are applied: what comes first must not read what comes later.
RULES: tuple[Rule, ...] = (COLUMNS_OF_SOURCE, AGGREGATES, LOOK_UP, NARROWED, COLUMNS)
ADDED, REMOVED, NOTHING = "branch added", "branch removed", "stored rows stay"
_MOST_DIFFERENCES = 200  # that are tried for one pair of blocks


@dataclass(frozen=True)
class Adaptation:
    """`rows` have the attributes of the new view's stored columns. `edits`: what was found to be edited, for people.

    `stored` is the scan of the old view in it. `in_place`: a stored row that stays in the view stays as it is: those for which
    `kept` is true, all if it is None; `more` are the rows that come then.
    """

    rows: Relation
    stored: Scan
    edits: tuple[str, ...]
    in_place: bool
    kept: exp.Expr | None
    more: Relation | None

    @property
    def is_nothing(self) -> bool:
        """Whether the stored rows are those of the new view already."""
        return self.in_place and self.kept is None and self.more is None

    @property
    def sources(self) -> tuple[str, ...]:
        """The tables that are read besides the stored view."""
        return tuple(dict.fromkeys(each.table for each in _scans(self.rows) if each.table != self.stored.table))

    @property
    def summary(self) -> str:
        """The edits in words."""
        return ", ".join(self.edits)


@deep_recursion()
def adapt(old: Plan, new: Plan, table: str) -> Adaptation | None:
    """The new view over the rows that the old one has stored in `table`, and its sources; None where no rule proves that it can
    be had. Intermediate caches that both have are sources; one that the new view alone has would have to be built first."""
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
    if len(before.blocks) > 1 and before.branch is None:
        return None
    free = set(range(len(before.blocks)))
    found: list[_Found | None] = []
    for number, block in enumerate(after):
        order = sorted(free, key=lambda place, number=number: abs(place - number))  # type: ignore[misc]
        tried = product(order, (False, True))
        part = next((each for place, fetches in tried if (each := _adapted(block, before, place, fetches)) is not None), None)
        free -= {part.place} if part is not None else set()
        found.append(part)
    return _together(found, after, free, before, new) if any(found) else None


# Wrong without it: the plans of caches have names in common with each other, and a block takes what is called alike for one.
def _are_distinct(root: Operator) -> bool:
    """Whether no two operators make attributes of one name."""
    made = [name for node in operators(root) for name in {*node.columns}.difference(*(each.columns for each in node.inputs))]
    return len(made) == len({*made})


@dataclass(frozen=True)
class _Before:
    """The old view: its blocks, the attribute that tells them apart if they are several, and the scan of what is stored."""

    plan: Plan
    blocks: tuple[Block, ...]
    branch: str | None
    stored: Scan

    def is_of(self, place: int) -> exp.Expr | None:
        """Whether a stored row is of the block; None if all are."""
        if self.branch is None or len(self.blocks) == 1:
            return None
        name = self.stored.attribute(self.plan.stored(self.branch))
        return exp.EQ(this=column(name), expression=exp.Literal.number(place))

    def holds(self, place: int, name: str) -> str:
        """What the stored column of that name is in the rows of a block."""
        attribute = next(each.attribute for each in self.plan.columns if each.name == name)
        return text_of(self.blocks[place].names[attribute])

    def held(self, difference: Difference) -> Held:
        """What the stored rows hold; an ID without a column of its own is where its value is (ADR 0016)."""
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
    """A new block over the old block number `place`: its stored rows, the rows that come besides, and what was edited.

    `conditions`, over the stored columns, are new; `stays`: the stored rows for which they are true get nothing from elsewhere.
    """

    place: int
    rows: Project
    more: tuple[Relation, ...]
    edits: tuple[str, ...]
    conditions: tuple[exp.Expr, ...]
    stays: bool


def _adapted(new: Block, before: _Before, place: int, fetches: bool) -> _Found | None:
    """By the first difference between the blocks that the rules can express. `fetches`: whether columns of sources are looked up:
    what does without that reads less. Not where rows come, for which all sources are read."""
    tried = islice(differences(new, before.blocks[place]), _MOST_DIFFERENCES)
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
            edits += [rule.name] if part is first else []  # what the rows that come have besides is new to none of them
        done.append(adapted.rows)
    top, *more = done
    assert isinstance(top, Project)
    conditions = [first.derived(each) for each in first.difference.extra]
    stays = not (fetches or difference.joined or difference.looked_up or difference.missing_calls)
    known = tuple(each for each in conditions if each is not None)
    return _Found(place, top, tuple(more), tuple(dict.fromkeys(edits)), known, stays)


def _together(found: list[_Found | None], after: list[Block], free: set[int], before: _Before, new: Plan) -> Adaptation:
    """All branches as one relation, and whether stored rows can stay where they are."""
    adapted = [each for each in found if each is not None]
    fresh = [_from_sources(block) for each, block in zip(found, after, strict=True) if each is None]
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
    """The condition of the stored rows that stay; None if all do."""
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
    """Whether stored rows are rows of the new view as they are: the same columns under the same names, in the same order."""
    if [(each.name, each.hidden) for each in before.plan.columns] != [(each.name, each.hidden) for each in new.columns]:
        return False
    definitions = dict(found.rows.definitions)
    held = {before.stored.attribute(each.name): before.holds(found.place, each.name) for each in before.plan.columns}
    return all(held[before.stored.attribute(each.name)] == _text(definitions[each.attribute], held) for each in new.columns)


def _text(value: exp.Expr, held: Mapping[str, str]) -> str:
    """What a value is that stored rows, or a constant, have; "" for one that is computed."""
    if isinstance(value, exp.Column):
        return held.get(value.name, "")
    return "" if attributes(value) else text_of(value)


def _from_sources(block: Block) -> Relation:
    """The rows of a block that nothing is stored of."""
    rows: Operator = OneRow()
    for number, source in enumerate(block.sources):
        rows = source if number == 0 else Join(rows, source, exp.true())
    condition = conjunction(each.copy() for each in block.conditions)
    rows = rows if condition is None else Select(rows, condition)
    return Project(rows, tuple(block.names.items()))


def _stored(old: Plan, new: Plan, table: str) -> Scan:
    """The stored columns of the old view, under names that neither plan has."""
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
