"""What the changes of a refresh can reach: for each table the rows that a Δ-script depends on, found before it is evaluated.

A Δ-script reads a table restricted by keys (σ_{k ∈ K}), or joined with rows that are. So it gives the same rows over the table's
rows with these keys only. They are asked for along the join graph, each table with the values that are known by then: those of
the net diffs, then those of rows that were found (GraphIVM §6.3; Yannakakis' reduction by semi-joins).

    σ did ∈ Δdevices (devices ⋈ dp ⋈ parts)     dp at did ∈ Δdevices; then parts at pid ∈ the pids of the rows found in dp

If the clock moved, a Δ-script also reads a table restricted by a condition over constants (`at_both_times.py`). Its rows are
found by this condition. They give keys for other tables, like rows that were found by keys.

What is found is a superset, so that values may be taken from all rows that were found with a key, whatever is
done with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, Filter, Pair, Probe, SemiJoin, excludes_null, not_null
from dbt_idivm.algebra.expressions import column, conjuncts
from dbt_idivm.algebra.lookups import Named, Touched
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.probe_any import ProbeAny
from dbt_idivm.algebra.relation import Relation, over
from dbt_idivm.operators.scan import Attribute, DiffRows, Scan
from dbt_idivm.script.at_both_times import Differing, at_tables
from dbt_idivm.script.diff import INTEGERS


@dataclass(frozen=True)
class Changed:
    """The values of the attributes `names` in a base i-diff."""

    leaf: DiffRows
    names: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return _kinds(self.leaf.scan, self.names)


@dataclass(frozen=True)
class Found:
    """The values of the columns `names` in the rows that `finder` finds."""

    finder: AnyFinder
    names: tuple[str, ...]
    kinds: tuple[str, ...]


Source: TypeAlias = Changed | Found


@dataclass(frozen=True)
class Finder:
    """The rows of `table` whose `columns`, of the types `kinds`, have the values of one of `sources`. `nulls`: for each column,
    whether NULL finds NULL. `is_key`: whether the columns identify a row."""

    table: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    sources: tuple[Source, ...]
    nulls: tuple[bool, ...]
    is_key: bool

    @property
    def new_sources(self) -> tuple[Source, ...]:
        """The sources without the keys of rows of the same table: these rows are found already."""
        return tuple(each for each in self.sources if not self._is_own_key(each))

    def _is_own_key(self, source: Source) -> bool:
        is_of_table = isinstance(source, Found) and source.finder.table == self.table
        return self.is_key and is_of_table and source.names == self.columns


AnyFinder: TypeAlias = Finder | Differing


@dataclass(frozen=True)
class Wanted:
    """The `columns` of a table that are read, and the finders of all rows that matter."""

    columns: tuple[Attribute, ...]
    finders: tuple[AnyFinder, ...]

    @property
    def by_condition(self) -> tuple[Differing, ...]:
        return tuple(each for each in self.finders if isinstance(each, Differing))

    @property
    def by_keys(self) -> tuple[Finder, ...]:
        return tuple(each for each in self.finders if isinstance(each, Finder))

    def has_new(self, key: tuple[str, ...]) -> bool:
        """Whether all rows with the key of a new row of the table are found."""
        finders = (each for each in self.by_keys if sorted(each.columns) == sorted(key))
        return any(_is_of_new(source, finder) for finder in finders for source in finder.sources)


def _is_of_new(source: Source, finder: Finder) -> bool:
    """Whether the source is the values of the finder's columns in all new rows of its table."""
    if not isinstance(source, Changed) or source.leaf.diff_class != "plus" or source.leaf.scan.table != finder.table:
        return False
    return _columns(source.leaf.scan, source.names) == finder.columns


def reach(relations: Iterable[Relation]) -> dict[str, Wanted]:
    """Table → what is wanted of it, for the tables that `relations` read only by keys, or by a condition that compares times of
    the clock. Keys have the values of base i-diffs or of rows that are found."""
    search = _Search()
    for each in at_tables(tuple(relations)):
        search.visit(each)
    return {
        table: Wanted(tuple(search.columns[table].values()), tuple(finders))
        for table, finders in search.finders.items()
        if finders is not None
    }


@dataclass(frozen=True)
class _Origins:
    """Where values come from. `padded`: whether there are also rows in which all of them are NULL."""

    sources: tuple[Source, ...]
    padded: bool = False


class _Search:
    """One walk over all relations of a Δ-script."""

    def __init__(self) -> None:
        self.columns: dict[str, dict[str, Attribute]] = {}
        self.finders: dict[str, dict[AnyFinder, None] | None] = {}  # None: also read without any
        self._visited: dict[int, Relation] = {}
        self._named: dict[str, Relation] = {}
        self._found: dict[int, tuple[SemiJoin | Differing, AnyFinder]] = {}
        self._bounded: dict[int, tuple[Relation, bool]] = {}

    def visit(self, node: Relation) -> Relation:
        """Record the tables that `node` reads. Returns it with the sides of joins restricted by one another.

        What was returned is not visited again: each side of a join has the other as its keys, so that a chain of n joins would
        be walked 2^n times.
        """
        if id(node) in self._visited:
            return node
        found = self._restrict_sides(node)
        self._visited[id(found)] = found  # kept alive, so that its id stays unique
        return found

    def _restrict_sides(self, node: Relation) -> Relation:
        match node:
            case Scan():
                self._read(node, None)
                return node
            case Differing():
                self._found[id(node)] = (node, node)
                self._read(node.child, node)
                return node
            case Named():
                if node.name not in self._named:
                    self._named[node.name] = self.visit(node.definition)
                return Named(node.name, self._named[node.name])
            case Touched():
                return self.visit(node.look_up())
            case SemiJoin(child=Scan() as scan, anti=False) if node.on:
                return self._restricted(scan, node.on, self.visit(node.keys))
            case SemiJoin():
                child = self.visit(node.child)
                keys = node.keys
                if node.on and self.is_bounded(child) and not self.is_bounded(keys):
                    keys = keys.restrict(node.on, child)
                return node.with_children(child, self.visit(keys))
            case Pair() | Probe() | OuterPair():
                left, right = self._sides(node)
                return node.with_children(left, right)
            case ProbeAny():
                conditions = [condition for _, condition in node.tests]
                if self.is_bounded(node.left):
                    first = self.visit(node.left)
                    rights = [self.visit(self._linked(right, (first, condition))) for right, condition in node.tests]
                else:
                    rights = [self.visit(right) for right, _ in node.tests]
                    first = self.visit(self._linked(node.left, *zip(rights, conditions, strict=True)))
                return node.with_children(first, *rights)
            case _:
                return over(node, [self.visit(child) for child in node.children])

    def _sides(self, node: Pair | Probe | OuterPair) -> tuple[Relation, Relation]:
        left, right = node.left, node.right
        is_first = self.is_bounded(left) or not self.is_bounded(right) or not _takes_from_right(node)
        if is_first:
            left = self.visit(left)
            return left, self.visit(self._linked(right, (left, node.condition)) if _takes_from_left(node) else right)
        right = self.visit(right)
        return self.visit(self._linked(left, (right, node.condition))), right

    def _linked(self, target: Relation, *partners: tuple[Relation, exp.Expr]) -> Relation:
        """`target` restricted to the values by which it has a partner in one of the relations, under the condition beside it."""
        if not all(self.is_bounded(source) for source, _ in partners) or self.is_bounded(target):
            return target
        found = [_links(condition, target, source) for source, condition in partners]
        on = tuple(name for name in found[0] if all(name in each for each in found))
        if not on:
            return target
        keys = tuple(
            _values(source, {name: each[name] for name in on}) for (source, _), each in zip(partners, found, strict=True)
        )
        return target.restrict(on, keys[0] if len(keys) == 1 else Concat(keys))

    def is_bounded(self, node: Relation) -> bool:
        """Whether few rows of tables are read for the relation, because keys or joins restrict it."""
        known = self._bounded.get(id(node))
        if known is None:
            known = self._bounded[id(node)] = (node, self._is_bounded(node))
        return known[1]

    def _is_bounded(self, node: Relation) -> bool:
        match node:
            case Differing():
                return True
            case Named():
                return self.is_bounded(node.definition)
            case SemiJoin():
                return self.is_bounded(node.child) or (not node.anti and bool(node.on) and self.is_bounded(node.keys))
            case Touched():
                return self.is_bounded(node.source) or (bool(node.on) and self.is_bounded(node.delta))
            case Pair() | Probe() | OuterPair():
                left, right = (self.is_bounded(child) for child in node.children)
                if left and right:
                    return True
                linked = bool(_links(node.condition, node.left, node.right))
                return left and (linked or not isinstance(node, Pair)) if left else right and linked and _takes_from_right(node)
            case ProbeAny():
                found = [_links(condition, node.left, right) for right, condition in node.tests if self.is_bounded(right)]
                linked = len(found) == len(node.tests) and any(all(name in each for each in found) for name in found[0])
                return self.is_bounded(node.left) or linked
            case _:
                return all(map(self.is_bounded, node.children)) if node.children else not isinstance(node, Scan) or node.is_clock

    def _restricted(self, scan: Scan, on: tuple[str, ...], keys: Relation) -> Relation:
        """σ_{on ∈ keys}(scan), recorded as a finder if the values of the keys are known, or will be."""
        found = SemiJoin(scan, on, keys)
        if scan.is_clock:
            return found
        finder = self._finder(scan, on, keys) or next(filter(None, (self._finder(scan, (name,), keys) for name in on)), None)
        if finder is not None:
            self._found[id(found)] = (found, finder)
        self._read(scan, finder)
        return found

    def _finder(self, scan: Scan, on: tuple[str, ...], keys: Relation) -> Finder | None:
        computed = {scan.attribute(each.name) for each in scan.computed}
        found = None if computed & set(on) else self._origins(keys, on)
        nulls = tuple(not excludes_null(keys, name) for name in on)
        if found is None or (found.padded and all(nulls)):
            return None
        kinds = _kinds(scan, on)
        if not all(_are_comparable(kind, other) for each in found.sources for kind, other in zip(kinds, each.kinds, strict=True)):
            return None
        is_key = scan.unique and {*on} >= {*scan.ids}
        return Finder(scan.table, _columns(scan, on), kinds, found.sources, nulls, is_key)

    def _origins(self, node: Relation, names: tuple[str, ...]) -> _Origins | None:
        """Where the values of `names` come from; None if that is not known."""
        if isinstance(node, DiffRows):
            return _Origins((Changed(node, names),))
        if id(node) in self._found:
            found, finder = self._found[id(node)]
            scan = found.child
            assert isinstance(scan, Scan)
            sources: tuple[Source, ...] = (Found(finder, _columns(scan, names), _kinds(scan, names)),)
            if scan.state != "post":
                sources = (*sources, Changed(DiffRows(scan, "minus", scan.columns), names))
            return _Origins(sources)
        if (
            isinstance(node, OuterPair)
            and (side := next((each for each in node.padded if _has(node.children[each], names)), None)) is not None
        ):
            below = self._origins(node.children[side], names)
            return None if below is None else replace(below, padded=True)
        if isinstance(node, Compute) and len(names) == 1 and _is_null(node.by_name[names[0]]):
            return _Origins((), padded=True)
        parts = node.provenance(names)
        each = [self._origins(child, theirs) for child, theirs in parts or ()]
        known = [found for found in each if found is not None]
        if not parts or len(known) < len(each):
            return None
        return _Origins(
            tuple(dict.fromkeys(source for found in known for source in found.sources)),
            any(found.padded for found in known),
        )

    def _read(self, scan: Scan, finder: AnyFinder | None) -> None:
        if scan.is_clock:  # its row is known in both states
            return
        self.columns.setdefault(scan.table, {}).update({each.name: each for each in scan.base_columns})
        known = self.finders.setdefault(scan.table, {})
        if finder is None:
            self.finders[scan.table] = None
        elif known is not None:
            known[finder] = None


def _is_null(definition: exp.Expr) -> bool:
    return isinstance(definition.this if isinstance(definition, exp.Cast) else definition, exp.Null)


def _has(node: Relation, names: tuple[str, ...]) -> bool:
    return set(names) <= set(node.columns)


def _takes_from_left(node: Relation) -> bool:
    """Whether only right rows with a partner on the left matter."""
    return not (isinstance(node, OuterPair) and node.full)


def _takes_from_right(node: Relation) -> bool:
    """Whether only left rows with a partner on the right matter."""
    return isinstance(node, Pair) or (isinstance(node, Probe) and not node.anti)


# attribute of a relation → (the attribute of its partner that equals it, whether NULL equals NULL)
Links: TypeAlias = dict[str, tuple[str, bool]]


def _links(condition: exp.Expr, target: Relation, source: Relation) -> Links:
    """The attributes of `target` that the condition ties to one of `source`."""
    found: Links = {}
    for part in conjuncts(condition.unnest()):
        part = part.unnest()
        if not isinstance(part, exp.EQ | exp.NullSafeEQ):
            continue
        for mine, theirs in ((part.left, part.right), (part.right, part.left)):
            are_columns = isinstance(mine, exp.Column) and isinstance(theirs, exp.Column)
            if are_columns and mine.name in target.columns and theirs.name in source.columns:
                found.setdefault(mine.name, (theirs.name, isinstance(part, exp.NullSafeEQ)))
    return found


def _values(source: Relation, links: Links) -> Relation:
    """The values of `source` under the names of the attributes that equal them."""
    keys: Relation = Compute(source, tuple((mine, column(theirs)) for mine, (theirs, _) in links.items()))
    for mine, (_, nulls) in links.items():
        keys = keys if nulls else Filter(keys, not_null(mine))
    return keys


def _columns(scan: Scan, names: tuple[str, ...]) -> tuple[str, ...]:
    by_attribute = {scan.attribute(each.name): each.name for each in scan.base_columns}
    return tuple(by_attribute[name] for name in names)


def _kinds(scan: Scan, names: tuple[str, ...]) -> tuple[str, ...]:
    types = {each.name: each.type.lower() for each in scan.base_columns}
    return tuple(types[name] for name in _columns(scan, names))


_EXACT = frozenset({"string", "boolean", "date", "timestamp", "timestamp_ntz"})


def _are_comparable(kind: str, other: str) -> bool:
    """Whether values of the types are equal exactly if their cells are. Not so for floats: 0.0 = -0.0."""
    return {kind, other} <= INTEGERS or (kind == other and (kind in _EXACT or kind.startswith("decimal")))
