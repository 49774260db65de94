"""Relations: the frozen trees that views, i-diffs and Δ-scripts are made of.

An operator of a view is a relation that also has IDs and rules (`algebra/operator.py`). The relations here occur in
Δ-scripts only: semijoins with an i-diff, duplicate elimination, union of rows without a branch attribute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block, Source, isolate
from dbt_idivm.algebra.expressions import all_same, column, conjuncts, identifier, render, substitute
from dbt_idivm.algebra.types import infer_type


class Relation(ABC):
    """A query. `columns` are its attribute names, unique and in order."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def types(self) -> Mapping[str, exp.DataType]:
        """Attribute name → type, UNKNOWN where it cannot be told."""

    @property
    @abstractmethod
    def children(self) -> tuple[Relation, ...]: ...

    @abstractmethod
    def with_children(self, *children: Relation) -> Relation: ...

    @abstractmethod
    def block(self, binder: Binder) -> Block: ...

    @abstractmethod
    def label(self) -> str:
        """One line for the printed tree, without the children."""

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """σ_{on ∈ keys}(self), pushed down as far as it is sound."""
        return SemiJoin(self, on, keys)


def rewrite(relation: Relation, rule: Callable[[Relation], Relation]) -> Relation:
    """`relation` with `rule` applied to every node, children first."""
    return rule(over(relation, tuple(rewrite(child, rule) for child in relation.children)))


def over(relation: Relation, children: Sequence[Relation]) -> Relation:
    """`relation` with these children; itself if they are its own, told by identity: comparing trees would take quadratic time."""
    same = all(new is old for new, old in zip(children, relation.children, strict=True))
    return relation if same else relation.with_children(*children)


def project(relation: Relation, names: tuple[str, ...]) -> Relation:
    """π on attributes only; the relation itself if nothing changes."""
    return relation if relation.columns == names else Compute(relation, tuple((n, column(n)) for n in names))


@dataclass(frozen=True)
class _Unary(Relation):
    child: Relation

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.child.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.child.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.child,)

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return replace(self, child=child)


@dataclass(frozen=True)
class Compute(_Unary):
    """π: each attribute and the expression over the child's attributes that defines it. Duplicates stay."""

    definitions: tuple[tuple[str, exp.Expr], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.definitions)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {name: infer_type(definition, self.child.types) for name, definition in self.definitions}

    @property
    def passed(self) -> tuple[str, ...]:
        """The attributes that go through unchanged, under their own name."""
        return tuple(name for name, definition in self.definitions if _is_attribute(definition, name))

    @property
    def computed(self) -> tuple[tuple[str, exp.Expr], ...]:
        return tuple((name, definition) for name, definition in self.definitions
                     if not _is_attribute(definition, name))

    def block(self, binder: Binder) -> Block:
        return self.child.block(binder).project(dict(self.definitions))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        if not set(on) <= set(self.passed):
            return SemiJoin(self, on, keys)
        return replace(self, child=self.child.restrict(on, keys))

    def label(self) -> str:
        parts = [f"{render(definition)} → {name}" for name, definition in self.computed]
        return f"π {', '.join((*self.passed, *parts)) or '()'}"


def _is_attribute(definition: exp.Expr, name: str) -> bool:
    return isinstance(definition, exp.Column) and definition.name == name


@dataclass(frozen=True)
class Filter(_Unary):
    """σ: the rows for which the condition is true."""

    condition: exp.Expr

    def block(self, binder: Binder) -> Block:
        return self.child.block(binder).filter(self.condition)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return replace(self, child=self.child.restrict(on, keys))

    def label(self) -> str:
        return f"σ {render(self.condition)}"


@dataclass(frozen=True)
class Pair(Relation):
    """⋈: all pairs of rows for which the condition is true."""

    left: Relation
    right: Relation
    condition: exp.Expr

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns + self.right.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.left.types, **self.right.types}

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    def with_children(self, *children: Relation) -> Relation:
        left, right = children
        return replace(self, left=left, right=right)

    def block(self, binder: Binder) -> Block:
        return self.left.block(binder).join(self.right.block(binder), self.condition)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Each side by its own part of `on`; keys that span both sides are tested on the pairs as well."""
        lefts, rights = (tuple(name for name in on if name in side.columns) for side in self.children)
        left = self.left.restrict(lefts, keys) if lefts or not on else self.left
        right = self.right.restrict(rights, keys) if rights else self.right
        narrowed = replace(self, left=left, right=right)
        return SemiJoin(narrowed, on, keys) if lefts and rights else narrowed

    def label(self) -> str:
        return f"⋈ {render(self.condition)}"


@dataclass(frozen=True)
class SemiJoin(_Unary):
    """child ⋉ keys, or ▷ when `anti`, on equal `on` attributes (NULL-safe). With no attributes: is there any key."""

    on: tuple[str, ...]
    keys: Relation
    anti: bool = False

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.child, self.keys)

    def with_children(self, *children: Relation) -> Relation:
        child, keys = children
        return replace(self, child=child, keys=keys)

    def block(self, binder: Binder) -> Block:
        outer = self.child.block(binder)
        test = exists(self.keys.block(binder), outer, self.on)
        return replace(outer, where=(*outer.where, exp.Not(this=test) if self.anti else test))

    def label(self) -> str:
        return f"{'▷' if self.anti else '⋉'} {', '.join(self.on) or '()'}"


def exists(inner: Block, outer: Block, on: tuple[str, ...]) -> exp.Exists:
    """EXISTS (SELECT 1 FROM inner WHERE inner.on <=> outer.on)."""
    return _exists(inner, all_same(on, inner.output.__getitem__, outer.output.__getitem__))


def _exists(inner: Block, tests: tuple[exp.Expr, ...]) -> exp.Exists:
    """EXISTS (SELECT 1 FROM inner WHERE tests); the tests are over sources, also over those around it."""
    probe = replace(inner, where=inner.where + tests, output={}, broadcast=())
    return exp.Exists(this=probe.select().select(exp.Literal.number(1), append=False, copy=False))


@dataclass(frozen=True)
class Probe(Relation):
    """left ⋉ right, or ▷ when `anti`: the left rows for which the condition is true with some, or with no, right row."""

    left: Relation
    right: Relation
    condition: exp.Expr
    anti: bool = False

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.left.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    def with_children(self, *children: Relation) -> Relation:
        left, right = children
        return replace(self, left=left, right=right)

    def block(self, binder: Binder) -> Block:
        outer, inner = self.left.block(binder), self.right.block(binder)
        output = {**inner.output, **outer.output}
        parts = tuple(substitute(part, output) for part in conjuncts(self.condition))
        test = _exists(inner, parts)
        return replace(outer, where=(*outer.where, exp.Not(this=test) if self.anti else test))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return replace(self, left=self.left.restrict(on, keys))

    def label(self) -> str:
        return f"{'▷' if self.anti else '⋉'} {render(self.condition)}"


@dataclass(frozen=True)
class Distinct(_Unary):
    """Duplicate elimination over all columns."""

    def block(self, binder: Binder) -> Block:
        query = self.child.block(binder).select().distinct(copy=False)
        return isolate(query, self.columns, binder.alias("keys"))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Distinct(self.child.restrict(on, keys))

    def label(self) -> str:
        return "distinct"


@dataclass(frozen=True)
class Concat(Relation):
    """The rows of all parts, which have the same attribute names. Unlike ∪ it adds no branch attribute."""

    parts: tuple[Relation, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.parts[0].columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.parts[0].types

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.parts

    def with_children(self, *children: Relation) -> Relation:
        return replace(self, parts=children)

    def block(self, binder: Binder) -> Block:
        return isolate(self.query(binder), self.columns, binder.alias("united"))

    def query(self, binder: Binder) -> exp.Query:
        """The parts under UNION ALL, columns in the same order."""
        selects = [project(part, self.columns).block(binder).select() for part in self.parts]
        return union_all(selects)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Concat(tuple(part.restrict(on, keys) for part in self.parts))

    def label(self) -> str:
        return "⊎"


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """UNION ALL of at least one query, left-deep."""
    result = queries[0]
    for query in queries[1:]:
        result = exp.Union(this=result, expression=query, distinct=False)
    return result


@dataclass(frozen=True)
class Named(Relation):
    """A relation that the statement defines once, under a name, in its WITH clause."""

    name: str
    definition: Relation

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.definition.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.definition.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, *children: Relation) -> Relation:
        return self

    def block(self, binder: Binder) -> Block:
        return named_block(self.name, self.columns, binder.alias(self.name), binder.is_broadcast(self.definition))

    def label(self) -> str:
        return self.name


def named_block(name: str, columns: tuple[str, ...], alias: str, broadcast: bool = False) -> Block:
    """The block of a name that the WITH clause defines."""
    table = exp.Table(this=identifier(name))
    source = Source(table if alias == name else exp.alias_(table, identifier(alias), table=True))
    return Block((source,), {each: column(each, alias) for each in columns}, broadcast=(alias,) if broadcast else ())


@dataclass(frozen=True)
class Touched(Relation):
    """touched(Δ, W): a superset of the W-values of the rows that an i-diff's rows name by `on`.

    Read naively it looks the rows up in `source`. The optimisation `use_payload` replaces it by π_W(Δ) where the
    i-diff's own columns hold W.
    """

    delta: Relation
    on: tuple[str, ...]
    wanted: tuple[str, ...]
    source: Relation

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.wanted

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.source.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.delta, self.source)

    def with_children(self, *children: Relation) -> Relation:
        delta, source = children
        return replace(self, delta=delta, source=source)

    def look_up(self) -> Relation:
        """The query that it stands for."""
        return project(self.source.restrict(self.on, self.delta), self.wanted)

    def block(self, binder: Binder) -> Block:
        return self.look_up().block(binder)

    def label(self) -> str:
        return f"touched {', '.join(self.wanted) or '()'} by {', '.join(self.on) or '()'}"
