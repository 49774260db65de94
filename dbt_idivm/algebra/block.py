"""From relations to readable SQL: a `Block` is one SELECT … FROM … JOIN … WHERE that can still be added to.

Selections, projections and joins of blocks stay one flat SELECT; what cannot (GROUP BY, UNION ALL) becomes a subquery
and starts a new block. Every source of a statement has its own alias, so blocks merge without renaming.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from sqlglot import exp

from dbt_idivm.algebra.expressions import (
    alias,
    column,
    conjunction,
    conjuncts,
    identifier,
    is_attribute,
    owned,
    substitute,
)
from dbt_idivm.fresh_name import fresh_name

if TYPE_CHECKING:
    from dbt_idivm.algebra.relation import Relation
    from dbt_idivm.operators.scan import DiffRows, Scan


@dataclass(frozen=True)
class Source:
    """One item of FROM: an aliased table or subquery, with the condition that joins it to the items before it.

    The join is an outer join if `side` is set.
    """

    item: exp.Expr
    condition: exp.Expr | None = None
    side: Literal["", "LEFT", "FULL"] = ""


@dataclass(frozen=True)
class Block:
    """One SELECT: sources, conditions, and for each output attribute its defining expression. One row if it has no sources."""

    sources: tuple[Source, ...]
    output: Mapping[str, exp.Expr]
    where: tuple[exp.Expr, ...] = ()
    broadcast: tuple[str, ...] = ()  # aliases under a BROADCAST hint

    def select(self) -> exp.Select:
        """The block as a SELECT whose columns carry the attribute names, in order."""
        columns = [_named(definition, name) for name, definition in self.output.items()]
        query = exp.Select(expressions=columns or [alias(exp.Literal.number(1), "one")])
        for source in self.sources[:1]:
            query = query.from_(owned(source.item), copy=False)
        for source in self.sources[1:]:
            query = query.join(_join(source), copy=False)
        condition = conjunction(self.where)
        if condition is not None:
            query = query.where(condition, copy=False)
        return hinted(query, self.broadcast)

    def filter(self, *conditions: exp.Expr) -> Block:
        """σ: conditions over the block's output attributes."""
        added = tuple(substitute(part, self.output) for whole in conditions for part in conjuncts(whole))
        return replace(self, where=self.where + added)

    def project(self, output: Mapping[str, exp.Expr]) -> Block:
        """π: new attributes defined over the old ones. A definition that stays the same is shared, not copied."""
        return replace(self, output={name: self._defined(new) for name, new in output.items()})

    def _defined(self, new: exp.Expr) -> exp.Expr:
        return self.output[new.name] if is_attribute(new) else substitute(new, self.output)

    def join(self, other: Block, condition: exp.Expr) -> Block:
        """⋈ with `other` on a condition over both outputs (TRUE for the product)."""
        output = {**self.output, **other.output}
        parts = [substitute(part, output) for part in conjuncts(condition)]
        where, broadcast = self.where + other.where, self.broadcast + other.broadcast
        if not self.sources or not other.sources:
            # no JOIN is written for the condition to stand in
            return Block(self.sources + other.sources, output, (*where, *parts), broadcast)
        *before, last = other.sources
        if last.condition is not None:
            parts.insert(0, last.condition)
        sources = (*self.sources, *before, Source(last.item, conjunction(parts)))
        return Block(sources, output, where, broadcast)

    def outer_join(self, other: Block, condition: exp.Expr, side: Literal["LEFT", "FULL"]) -> Block:
        """⟕ or ⟗ with `other`, which must be one source without conditions or computed
        columns. For ⟗ the same holds for this block.
        """
        output = {**self.output, **other.output}
        (source,) = other.sources
        on = conjunction(substitute(part, output) for part in conjuncts(condition))
        return Block((*self.sources, Source(source.item, on, side)), output, self.where, self.broadcast + other.broadcast)

    @property
    def has_outer_join(self) -> bool:
        return any(source.side for source in self.sources)


class Binder(Protocol):
    """What the leaves of a relation mean in one statement: tables at versions, diffs as rows or as feeds."""

    def alias(self, base: str) -> str:
        """A source alias that this statement has not used yet, as near to `base` as possible."""
        ...

    def table(self, scan: Scan) -> Block:
        """The block of a table in the scan's state."""
        ...

    def diff(self, rows: DiffRows) -> Block:
        """The block of a base i-diff."""
        ...

    def is_broadcast(self, *relations: Relation) -> bool:
        """Whether the rows that are read from these relations should be broadcast."""
        ...

    def are_few(self, *relations: Relation) -> bool:
        """Whether some changes that these relations read, at any depth, are few enough to be broadcast."""
        ...


def _named(definition: exp.Expr, name: str) -> exp.Expr:
    return definition.copy() if is_called(definition, name) else alias(definition, name)


def is_called(definition: exp.Expr, name: str) -> bool:
    """Whether the definition is a column of this name."""
    return isinstance(definition, exp.Column) and definition.name == name


def _join(source: Source) -> exp.Join:
    if source.side:
        return exp.Join(this=owned(source.item), side=source.side, on=owned(source.condition or exp.true()))
    if source.condition is None:
        return exp.Join(this=owned(source.item), kind="CROSS")
    return exp.Join(this=owned(source.item), on=owned(source.condition))


def hinted(query: exp.Select, broadcast: Sequence[str]) -> exp.Select:
    """The SELECT with a BROADCAST hint for these aliases. Without it Spark shuffles the other
    side, because it does not know their sizes.
    """
    if broadcast:
        aliases = [identifier(name) for name in broadcast]
        query.set("hint", exp.Hint(expressions=[exp.Anonymous(this="BROADCAST", expressions=aliases)]))
    return query


def subquery(query: exp.Expr, name: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(name)))


# dbt's date macros name their argument several times. Three SELECTs of 56 kB with such calls, one over the other, were 1.5 MB
# when they were merged into one, and Spark analysed it for minutes.
MAX_REPEATED_NODES = 300


def repeated_nodes(output: Mapping[str, exp.Expr], expressions: Iterable[exp.Expr]) -> int:
    """How many nodes of trees there would be twice if the attributes of `expressions` were replaced by their definitions."""
    used = Counter(node.name for each in expressions for node in each.find_all(exp.Column) if not node.table)
    return sum((count - 1) * _size(output[name]) for name, count in used.items() if count > 1)


def _size(definition: exp.Expr) -> int:
    return 0 if isinstance(definition, exp.Column) else sum(1 for _ in definition.walk())


@dataclass(frozen=True)
class Columns(Mapping[str, exp.Expr]):
    """The output of a source: its columns `names`, each made when it is asked for. Most of a subquery are never used."""

    names: tuple[str, ...]
    source: str

    def __getitem__(self, name: str) -> exp.Expr:
        return column(name, self.source)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def isolate(query: exp.Query, columns: tuple[str, ...], name: str) -> Block:
    """A new block whose only source is `query` as a subquery aliased `name`."""
    return Block((Source(subquery(query, name)),), Columns(columns, name))


@dataclass
class Aliases:
    """Hands out source aliases, each once per statement."""

    taken: set[str] = field(default_factory=set)

    def alias(self, base: str) -> str:
        """`base`, or `base` with the first number that makes it unique: `a_2` may be the name of
        another source, before or after this one.
        """
        name = fresh_name(base, self.taken.__contains__)
        self.taken.add(name)
        return name
