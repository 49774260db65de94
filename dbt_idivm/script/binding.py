"""Binding a Δ-script to one refresh: how tables, base i-diffs and the stored view appear in its statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import Aliases, Block, Source, isolate
from dbt_idivm.algebra.core import exists
from dbt_idivm.algebra.expressions import column, identifier
from dbt_idivm.algebra.lookups import Named, named_block
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import distinguishable, is_float
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script.dialect import DELTA, WEIGHT, Dialect, decode, literal
from dbt_idivm.script.diff import FeedDiff, NetChanges, Row, Value
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.net_classes import CLASS, class_tests, with_class
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.value_range import Range, Ranges


@dataclass(frozen=True)
class Binding:
    """One refresh as the planner sees it: the version of each table, and what changed.

    `columns`: the names of all columns of relations in a statement, lower case. No source gets such an alias: in a
    subquery over a table with a column `account`, `account.id` means a field of that column, and not the table
    `account` around it. `few`: whether the source of the statement is small enough to be broadcast; None if that is
    not known. `ranges`: table → column → the range of its values in a net diff that stays in the engine, as far as it
    is known. `large`: see `add_key_ranges`. `reached`: table → all its rows that the statement depends on, if they were fetched.
    `clock`: column of the clock → its value now; if there are none, the clock is read as a table. `written`: column of the clock
    → the expression that stands in its place instead: the user's own, for a text that is kept, or at one time, for a proof.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    changes: NetChanges = field(default_factory=NetChanges)
    dialect: Dialect = DELTA
    columns: frozenset[str] = frozenset()
    few: bool | None = None
    ranges: Mapping[str, Ranges] = field(default_factory=dict)
    large: frozenset[str] = frozenset()
    reached: Mapping[str, SourceRows] = field(default_factory=dict)
    clock: Mapping[str, Value] = field(default_factory=dict)
    written: Mapping[str, exp.Expr] = field(default_factory=dict)

    def statement(self) -> StatementBinder:
        """A binder for one statement, with fresh aliases."""
        return StatementBinder(self)


@dataclass(frozen=True)
class Staged:
    """A relation that must exist before the statement runs, such as the net diff of a table whose rows stay in the engine.

    It is staged because Spark would plan and evaluate it again for each reference (ADR 0006). `label` describes it for users.
    """

    name: str
    query: exp.Query
    label: str


class StatementBinder(Aliases):
    """Binds the leaves of one statement, and collects its CTEs and the relations that have to be staged for it."""

    def __init__(self, binding: Binding) -> None:
        super().__init__(set(binding.columns))
        self.binding = binding
        self.definitions: dict[str, exp.Query] = {}  # the WITH clause, in order
        self._staged: dict[tuple[str, str], tuple[int, DiffRows]] = {}  # (form, occurrence) → (number, leaf)

    def define(self, relation: Named) -> None:
        """Add the relation as a CTE to the WITH clause."""
        self.definitions[relation.name] = relation.definition.block(self).select()

    def is_broadcast(self, *relations: Relation) -> bool:
        """Whether to add a hint: Spark does not know the size of rows that come from a feed, and
        would shuffle the other side of the join.
        """
        diffs = [self.binding.changes.diffs.get(leaf.scan.table) for leaf in diff_leaves(*relations)]
        feeds = [diff for diff in diffs if isinstance(diff, FeedDiff)]
        return bool(feeds) and all(feed.broadcast for feed in feeds)

    def are_few(self, *relations: Relation) -> bool:
        """Whether the rows that changes touch can be broadcast; False if that was tried and failed (`few`)."""
        diffs = [self.binding.changes.diffs.get(leaf.scan.table) for leaf in diff_leaves(*relations)]
        return self.binding.few is not False and all(diff.broadcast for diff in diffs if isinstance(diff, FeedDiff))

    def is_source_broadcast(self, *relations: Relation) -> bool:
        """Whether the source of a MERGE over `relations` gets a broadcast hint.

        Spark does not know its size, and would broadcast the target if its files are small (ADR 0020).
        """
        few = self.binding.few
        return self.is_broadcast(*relations) if few is None else few

    def attach(self, query: exp.Query) -> exp.Query:
        """`query` with a WITH clause of everything that was defined while it was built."""
        own = query.args.pop("with_", None)
        for name, definition in self.definitions.items():
            query = query.with_(name, as_=definition, copy=False)
        for cte in own.expressions if own else ():
            query = query.with_(cte.alias, as_=cte.this, copy=False)
        return query

    def table(self, scan: Scan) -> Block:
        if scan.is_clock and scan.state == "pre" and scan.table in self.binding.changes.diffs:
            old = DiffRows(scan, "minus", scan.columns)
            # an occurrence whose own values are the same has no old row, even though the time moved
            return self.diff(old) if self.binding.changes.rows(old) else self._post_state(scan)
        if scan.state == "post" or scan.table not in self.binding.changes.diffs:
            return self._post_state(scan)
        minus = self.diff(DiffRows(scan, "minus", scan.columns))
        kept = self._post_state(scan)
        if scan.state == "pre":
            return self._pre_state(scan, kept, minus)
        return isolate(union_all([kept.select(), minus.select()]), scan.columns, self.alias(scan.occurrence))

    def _post_state(self, scan: Scan) -> Block:
        """R⁺: the table at its pinned version."""
        if scan.is_clock and self.binding.written:
            return Block(
                (), {scan.attribute(each.name): exp.paren(self.binding.written[each.name]) for each in scan.base_columns}
            )
        if scan.is_clock and self.binding.clock:
            return Block((), constants(scan, tuple(self.binding.clock[each.name] for each in scan.base_columns)))
        rows = self.binding.reached.get(scan.table)
        if rows is not None:
            return self._reached(scan, rows)
        name = self.alias(scan.occurrence)
        table = self.binding.dialect.table(scan.table, self.binding.versions.get(scan.table))
        item = exp.alias_(table, identifier(name), table=True)
        output = {scan.attribute(a.name): a.value(name) for a in scan.base_columns}
        return Block((Source(item),), output)

    def _reached(self, scan: Scan, rows: SourceRows) -> Block:
        """The rows of R⁺ that the statement depends on, which were fetched."""
        name = f"idivm_reached_{list(self.binding.reached).index(scan.table) + 1}"
        if name not in self.definitions:
            self.definitions[name] = rows.query(self.binding.dialect)
        block = named_block(name, rows.names, self.alias(scan.occurrence))
        return replace(block, output={scan.attribute(a.name): block.output[a.name] for a in scan.base_columns})

    def _pre_state(self, scan: Scan, kept: Block, minus: Block) -> Block:
        """R⁻ = (R⁺ − N⁺) ⊎ N⁻: the net diff is reverted, because a refresh never reads an old version."""
        if scan.unique:
            plus = self.diff(DiffRows(scan, "plus", scan.columns))
            test = exp.Not(this=exists(plus, kept, scan.ids))
            rest: exp.Query = replace(kept, where=(*kept.where, test)).select()
            return isolate(union_all([rest, minus.select()]), scan.columns, self.alias(scan.occurrence))
        # copies count, and a feed that is not netted may have a row that was inserted and deleted: first add, then subtract
        types = {name: kind for name, kind in scan.types.items() if is_float(kind)}
        before, added, removed = (
            _as_texts(each, types) for each in (kept, self._copies(scan, exp.LT), self._copies(scan, exp.GT))
        )
        query = exp.Except(this=union_all([before.select(), added.select()]), expression=removed.select(), distinct=False)
        found = isolate(query, scan.columns, self.alias(scan.occurrence))
        values = {name: exp.Cast(this=found.output[name], to=kind.copy()) for name, kind in types.items()}
        return replace(found, output={**found.output, **values})

    def _copies(self, scan: Scan, sign: type[exp.Binary]) -> Block:
        rows = self.diff(DiffRows(scan, "signed", (*scan.columns, SIGN)))
        rows = rows.filter(sign(this=column(SIGN), expression=exp.Literal.number(0)))
        return replace(rows, output={name: rows.output[name] for name in scan.columns})

    def diff(self, leaf: DiffRows) -> Block:
        """A base i-diff, defined once in the WITH clause."""
        rows = self.binding.changes.rows(leaf)
        if leaf.scan.is_clock and rows is not None and len(rows) == 1 and self.binding.clock:
            values = constants(leaf.scan, rows[0])
            return Block((), {name: values[name] for name in leaf.columns})
        if leaf.name not in self.definitions:
            self.definitions[leaf.name] = self._feed(leaf).select() if rows is None else self._literals(leaf, rows)
        return named_block(leaf.name, leaf.columns, self.alias(leaf.name), broadcast=self.is_broadcast(leaf))

    def _literals(self, leaf: DiffRows, rows: tuple[Row, ...]) -> exp.Select:
        types = [(scan_name, a.type) for scan_name, a in zip(leaf.scan.columns, leaf.scan.base_columns, strict=True)]
        if leaf.diff_class == "signed":
            types.append((SIGN, "int"))
        return self.binding.dialect.rows(tuple(types), rows, "r")

    def _feed(self, leaf: DiffRows) -> Block:
        """One class of a net diff that stays in the engine, as a selection from its staged rows."""
        if leaf.diff_class == "signed":
            name = self._stage("feed", leaf)
            return named_block(name, leaf.columns, self.alias(name), broadcast=self.is_broadcast(leaf))
        name = self._stage("net", leaf)
        rows = named_block(name, (*leaf.scan.columns, WEIGHT, CLASS), self.alias(name))
        rows = rows.filter(*class_tests(leaf))
        return replace(rows, output={each: rows.output[each] for each in leaf.scan.columns})

    def _stage(self, form: str, leaf: DiffRows) -> str:
        """The name under which a net diff is staged. The `split` attributes of all its classes are collected."""
        key = (form, leaf.scan.occurrence)
        number, known = self._staged.get(key, (len(self._staged) + 1, leaf))
        self._staged[key] = (number, replace(known, split=known.split | leaf.split))
        return _staged_name(form, number)

    @property
    def staged(self) -> tuple[Staged, ...]:
        """The relations to be staged before the statement runs, which refers to them by name."""
        return tuple(
            Staged(_staged_name(form, number), self._staging(leaf), self._changes(leaf).label)
            for (form, _), (number, leaf) in self._staged.items()
        )

    @property
    def ranges(self) -> Mapping[tuple[str, str], Range]:
        """(staged relation, attribute) → the range of its values."""
        known = self.binding.ranges
        return {
            (_staged_name(form, number), leaf.scan.attribute(each.name)): known[leaf.scan.table][each.name]
            for (form, _), (number, leaf) in self._staged.items()
            for each in leaf.scan.base_columns
            if each.name in known.get(leaf.scan.table, {})
        }

    def _changes(self, leaf: DiffRows) -> FeedDiff:
        feed = self.binding.changes.diffs[leaf.scan.table]
        assert isinstance(feed, FeedDiff)
        return feed

    def _staging(self, leaf: DiffRows) -> exp.Select:
        scan, dialect = leaf.scan, self.binding.dialect
        if leaf.diff_class == "signed":
            # one row per copy: the unchanged feed, because rows that cancel do not affect sums
            names = tuple((name, alias) for name, alias, _ in _names(scan))
            return dialect.signed_feed(self._changes(leaf), names, SIGN, _computed(scan))
        net = dialect.net_feed(self._changes(leaf), _names(scan), _computed(scan))
        return with_class(net, scan, leaf.split)


def _staged_name(form: str, number: int) -> str:
    # a number, because an occurrence may have any name, but the engine restricts the names of temporary views
    return f"idivm_{form}_{number}"


def constants(clock: Scan, values: Row) -> dict[str, exp.Expr]:
    """A row of the clock as constants, not as a source: the engine folds them, and skips files by them."""
    cells = zip(clock.base_columns, values, strict=True)
    return {clock.attribute(each.name): decode(literal(value), each.type) for each, value in cells}


def _computed(scan: Scan) -> tuple[tuple[str, exp.Expr], ...]:
    """(column, its definition over the stored columns) for each computed column."""
    return tuple((a.name, a.value()) for a in scan.computed)


def _names(scan: Scan) -> tuple[tuple[str, str, str], ...]:
    """(column of the table, attribute of the plan, Spark SQL type) for each column in use."""
    return tuple((a.name, scan.attribute(a.name), a.type) for a in scan.base_columns)


# Wrong without it: EXCEPT ALL takes 0.0 and -0.0 for one value, and would remove a copy of the other one.
def _as_texts(rows: Block, floats: Mapping[str, exp.DataType]) -> Block:
    """The rows with the texts of floats, which are equal only for identical values."""
    return replace(
        rows, output={name: distinguishable(e, floats[name]) if name in floats else e for name, e in rows.output.items()}
    )
