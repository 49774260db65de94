"""Binding a Δ-script to one refresh: what each table, base i-diff and the stored view are in its statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from sqlglot import exp

from dbt_idivm.algebra.block import Aliases, Block, Source, isolate
from dbt_idivm.algebra.expressions import column, conjunction, same
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.relation import Named, Relation, exists, named_block, union_all
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan, diff_leaves
from dbt_idivm.script.dialect import DELTA, WEIGHT, Dialect
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row, classify


@dataclass(frozen=True)
class Binding:
    """One refresh as the planner sees it: the version of each table, and the net diff of those that changed."""

    versions: Mapping[str, int] = field(default_factory=dict)
    diffs: Mapping[str, NetDiff] = field(default_factory=dict)
    dialect: Dialect = DELTA

    def statement(self) -> StatementBinder:
        """A binder for one statement, with fresh aliases."""
        return StatementBinder(self)

    def rows(self, leaf: DiffRows) -> tuple[Row, ...] | None:
        """The rows of a base i-diff, over its scan's columns; None if they are not known before the statement runs."""
        diff = self.diffs.get(leaf.scan.table)
        if diff is None:
            return ()
        if isinstance(diff, FeedDiff):
            return None
        return self._classified(leaf.scan, leaf.split)[leaf.diff_class]

    def is_empty(self, leaf: DiffRows) -> bool:
        return self.rows(leaf) == ()

    def _classified(self, scan: Scan, split: frozenset[str]) -> Mapping[DiffClass, tuple[Row, ...]]:
        known = self._cache.get((scan, split))
        if known is None:
            diff = self.diffs[scan.table]
            assert isinstance(diff, InlineDiff)
            known = self._cache[(scan, split)] = classify(scan, diff, split)
        return known

    @cached_property
    def _cache(self) -> dict[tuple[Scan, frozenset[str]], Mapping[DiffClass, tuple[Row, ...]]]:
        return {}


class StatementBinder(Aliases):
    """The leaves of one statement."""

    def __init__(self, binding: Binding) -> None:
        super().__init__()
        self.binding = binding
        self.definitions: dict[str, exp.Query] = {}  # the WITH clause, in order

    def define(self, diff: IDiff) -> IDiff:
        """`diff` with its rows defined once, under a name, however often the statement uses them."""
        occurrences = dict.fromkeys(origin.occurrence for origin in sorted(diff.origins))
        name = self._name(f"v_{diff.kind}__{'_'.join(occurrences)}")
        self.definitions[name] = diff.relation.block(self).select()
        return diff.over(Named(name, diff.relation, broadcast=self.is_feed(diff.relation)))

    def is_feed(self, relation: Relation) -> bool:
        """Whether its rows come from a feed, which has no known size: Spark would shuffle what it is joined with."""
        return any(self.binding.rows(leaf) is None for leaf in diff_leaves(relation))

    def _name(self, base: str) -> str:
        """A name for the WITH clause that is not taken yet."""
        tried = (base if number == 1 else f"{base}_{number}" for number in count(1))
        return next(name for name in tried if name not in self.definitions)

    def attach(self, query: exp.Query) -> exp.Query:
        """`query` under the WITH clause of everything that was defined while it was built."""
        own = query.args.pop("with_", None)
        for name, definition in self.definitions.items():
            query = query.with_(name, as_=definition, copy=False)
        for cte in own.expressions if own else ():
            query = query.with_(cte.alias, as_=cte.this, copy=False)
        return query

    def leaf(self, relation: Relation) -> Block:
        if isinstance(relation, Scan):
            return self._scan(relation)
        assert isinstance(relation, DiffRows)
        return self._diff(relation)

    def _scan(self, scan: Scan) -> Block:
        if scan.state == "post" or scan.table not in self.binding.diffs:
            return self._table(scan)
        minus = self._diff(DiffRows(scan, "minus", scan.columns))
        kept = self._table(scan)
        if scan.state == "pre":
            return self._pre_state(scan, kept, minus)
        return isolate(union_all([kept.select(), minus.select()]), scan.columns, self.alias(scan.occurrence))

    def _table(self, scan: Scan) -> Block:
        """R⁺: the table at its pinned version."""
        name = self.alias(scan.occurrence)
        table = self.binding.dialect.table(scan.table, self.binding.versions.get(scan.table))
        item = exp.alias_(table, name, table=True)
        output = {scan.attribute(a.name): column(a.name, name) for a in scan.base_columns}
        return Block((Source(item),), output)

    def _pre_state(self, scan: Scan, kept: Block, minus: Block) -> Block:
        """R⁻ = (R⁺ − N⁺) ⊎ N⁻: the net diff taken back, because a refresh never reads an old version."""
        if scan.unique:
            plus = self._diff(DiffRows(scan, "plus", scan.columns))
            test = exp.Not(this=exists(plus, kept, scan.ids))
            rest: exp.Query = replace(kept, where=(*kept.where, test)).select()
            return isolate(union_all([rest, minus.select()]), scan.columns, self.alias(scan.occurrence))
        # copies count, and a feed that is not netted may hold a row that came and went: first add, then take away
        both = union_all([kept.select(), self._copies(scan, exp.LT).select()])
        query = exp.Except(this=both, expression=self._copies(scan, exp.GT).select(), distinct=False)
        return isolate(query, scan.columns, self.alias(scan.occurrence))

    def _copies(self, scan: Scan, sign: type[exp.Binary]) -> Block:
        rows = self._diff(DiffRows(scan, "signed", (*scan.columns, SIGN)))
        rows = rows.filter(sign(this=column(SIGN), expression=exp.Literal.number(0)))
        return replace(rows, output={name: rows.output[name] for name in scan.columns})

    def _diff(self, leaf: DiffRows) -> Block:
        """A base i-diff, defined once in the WITH clause."""
        rows = self.binding.rows(leaf)
        if leaf.name not in self.definitions:
            self.definitions[leaf.name] = self._feed(leaf).select() if rows is None else self._literals(leaf, rows)
        return named_block(leaf.name, leaf.columns, self.alias(leaf.name), broadcast=rows is None)

    def _literals(self, leaf: DiffRows, rows: tuple[Row, ...]) -> exp.Select:
        types = [(scan_name, a.type) for scan_name, a in zip(leaf.scan.columns, leaf.scan.base_columns, strict=True)]
        if leaf.diff_class == "signed":
            types.append((SIGN, "int"))
        return self.binding.dialect.rows(tuple(types), rows, "r")

    def _feed(self, leaf: DiffRows) -> Block:
        """A class of a net diff that stays in the engine, as a query over the netted feed."""
        if leaf.diff_class == "signed":
            return self._signed(leaf)
        plus, minus = self._net(leaf, exp.GT), self._net(leaf, exp.LT)
        keys = leaf.scan.ids
        if leaf.diff_class in ("plus", "minus"):
            found = plus if leaf.diff_class == "plus" else minus
        elif not leaf.scan.unique:
            found = self._either(plus, minus)
        elif leaf.diff_class in ("ins", "del"):
            here, there = (plus, minus) if leaf.diff_class == "ins" else (minus, plus)
            found = replace(here, where=(*here.where, exp.Not(this=exists(there, here, keys))))
        elif leaf.diff_class == "upd":
            found = self._with_image(plus, minus, leaf, moved=False)
        else:
            images = [self._with_image(self._net(leaf, here), self._net(leaf, there), leaf, moved=True)
                      for here, there in ((exp.GT, exp.LT), (exp.LT, exp.GT))]
            found = self._either(*images)
        return replace(found, output={name: found.output[name] for name in leaf.scan.columns})

    def _net(self, leaf: DiffRows, sign: type[exp.Binary]) -> Block:
        """N⁺ or N⁻, from the netted feed."""
        feed = self.binding.diffs[leaf.scan.table]
        assert isinstance(feed, FeedDiff)
        name = f"net__{leaf.scan.occurrence}"
        if name not in self.definitions:
            self.definitions[name] = self.binding.dialect.net_feed(feed, _names(leaf.scan))
        block = named_block(name, (*leaf.scan.columns, WEIGHT), self.alias(name), broadcast=True)
        return block.filter(sign(this=column(WEIGHT), expression=exp.Literal.number(0)))

    def _with_image(self, here: Block, there: Block, leaf: DiffRows, *, moved: bool) -> Block:
        """Rows whose key has an image of the other sign that differs (or does not) in a split attribute."""
        split = [name for name in leaf.scan.columns if name in leaf.split and name not in leaf.scan.ids]
        equal = conjunction(same(here.output[name], there.output[name]) for name in split) or exp.true()
        tested = replace(there, where=(*there.where, exp.Not(this=exp.paren(equal)) if moved else equal))
        return replace(here, where=(*here.where, exists(tested, here, leaf.scan.ids)))

    def _either(self, *blocks: Block) -> Block:
        columns = tuple(name for name in blocks[0].output if name != WEIGHT)
        parts = [replace(b, output={name: b.output[name] for name in columns}).select() for b in blocks]
        return isolate(union_all(parts), columns, self.alias("images"))

    def _signed(self, leaf: DiffRows) -> Block:
        """Signed rows, one a copy: the feed as it is, because sums do not mind rows that cancel."""
        feed = self.binding.diffs[leaf.scan.table]
        assert isinstance(feed, FeedDiff)
        query = self.binding.dialect.signed_feed(feed, _names(leaf.scan), SIGN)
        return isolate(query, (*leaf.scan.columns, SIGN), self.alias("feed"))


def _names(scan: Scan) -> tuple[tuple[str, str], ...]:
    """(column of the table, attribute of the plan)."""
    return tuple((a.name, scan.attribute(a.name)) for a in scan.base_columns)
