"""The core of the algebra: π, σ, ⋈, and ⋉ on equal keys or on a condition. The operators of a view are built from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.block import MAX_REPEATED_NODES, Binder, Block, isolate, repeated_nodes
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.expressions import all_same, attributes, column, conjuncts, passing, render, substitute
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.cached import cached_property


def project(relation: Relation, names: tuple[str, ...]) -> Relation:
    """π on attributes only; `relation` itself if it has these columns already."""
    return relation if relation.columns == names else Compute(relation, passing(names))


@dataclass(frozen=True)
class Leaf(Relation):
    """A relation without children and expressions. It is restricted by a semijoin on top of it."""

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, *children: Relation) -> Relation:
        return self

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return SemiJoin(self, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return self

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return self

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ()


@dataclass(frozen=True)
class Unary(Relation):
    """A relation over one child, which passes the child's attributes unless the class overrides that."""

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

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.child, names),)


@dataclass(frozen=True)
class Compute(Unary):
    """π: pairs of an attribute and its defining expression over the child's attributes. Duplicates stay."""

    definitions: tuple[tuple[str, exp.Expr], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.definitions)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {name: infer_type(definition, self.child.types) for name, definition in self.definitions}

    @property
    def passed(self) -> tuple[str, ...]:
        """The attributes that pass through unchanged, under the same name."""
        return tuple(name for name, definition in self.definitions if _is_attribute(definition, name))

    @property
    def computed(self) -> tuple[tuple[str, exp.Expr], ...]:
        return tuple((name, definition) for name, definition in self.definitions if not _is_attribute(definition, name))

    @cached_property
    def by_name(self) -> Mapping[str, exp.Expr]:
        """Attribute → definition."""
        return dict(self.definitions)

    def like(self, name: str) -> exp.Expr:
        return self.by_name[name]

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Compute(child, self.definitions)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return tuple(definition for _, definition in self.definitions)

    def block(self, binder: Binder) -> Block:
        below = self.child.block(binder)
        if repeated_nodes(below.output, self.expressions) > MAX_REPEATED_NODES:
            below = isolate(below.select(), tuple(below.output), binder.alias("computed"))
        return below.project(self.by_name)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        if not set(on) <= set(self.passed):
            return SemiJoin(self, on, keys)
        return Compute(self.child.restrict(on, keys), self.definitions)

    def narrowed(self, names: frozenset[str]) -> Relation:
        kept = tuple((name, definition) for name, definition in self.definitions if name in names)
        return Compute(self.child.narrowed(frozenset(y for _, definition in kept for y in attributes(definition))), kept)

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        sources = tuple(each.name for each in map(self.by_name.__getitem__, names) if isinstance(each, exp.Column))
        return ((self.child, sources),) if len(sources) == len(names) else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].computed({name: each.name for name, each in self.definitions if isinstance(each, exp.Column)})

    @cached_property
    def _label(self) -> str:
        """Found once: each rule that fires at the node names it."""
        parts = [f"{render(definition)} → {name}" for name, definition in self.computed]
        return f"π {', '.join((*self.passed, *parts)) or '()'}"

    def label(self) -> str:
        return self._label


def _is_attribute(definition: exp.Expr, name: str) -> bool:
    return isinstance(definition, exp.Column) and definition.name == name


def constant(relation: Relation, name: str) -> exp.Expr | None:
    """The literal that an attribute equals in every row; None if it cannot be determined."""
    if isinstance(relation, Compute):
        definition = relation.by_name[name]
        if not isinstance(definition, exp.Column):
            literal = definition.this if _is_text_of_text(definition) else definition
            return literal if isinstance(literal, exp.Literal) else None
    found = [constant(source, theirs) for source, (theirs,) in relation.provenance((name,)) or ()]
    return found[0] if found and all(each == found[0] for each in found) else None


def excludes_null(relation: Relation, name: str) -> bool:
    """Whether a condition in the relation certainly leaves out the rows in which an attribute is NULL."""
    if isinstance(relation, Filter) and not_null(name) in conjuncts(relation.condition):
        return True
    below = relation.provenance((name,))
    return bool(below) and all(excludes_null(source, theirs) for source, (theirs,) in below or ())


def not_null(name: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(name), expression=exp.null()))


def _is_text_of_text(definition: exp.Expr) -> bool:
    """Whether this is CAST('…' AS STRING)."""
    is_text = isinstance(definition, exp.Cast) and definition.to == exp.DataType.build("text")
    return is_text and isinstance(definition.this, exp.Literal) and bool(definition.this.is_string)


@dataclass(frozen=True)
class Filter(Unary):
    """σ: the rows for which the condition is true."""

    condition: exp.Expr

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Filter(child, self.condition)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.condition,)

    def block(self, binder: Binder) -> Block:
        return self.child.block(binder).filter(self.condition)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Filter(self.child.restrict(on, keys), self.condition)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return Filter(self.child.narrowed(names | {*attributes(self.condition)}), self.condition)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].filtered(self.condition)

    @cached_property
    def _label(self) -> str:
        """Found once: each rule that fires at the node names it."""
        return f"σ {render(self.condition)}"

    def label(self) -> str:
        return self._label


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
        return Pair(left, right, self.condition)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.condition,)

    def block(self, binder: Binder) -> Block:
        left, right = self.left.block(binder), self.right.block(binder)
        if right.has_outer_join:  # the ON of an outer join cannot take the condition
            right = isolate(right.select(), self.right.columns, binder.alias("joined"))
        return left.join(right, self.condition)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Each side is restricted by its own part of `on`. If `on` spans both sides, the pairs are tested as well."""
        lefts, rights = (tuple(name for name in on if name in side.columns) for side in self.children)
        left = self.left.restrict(lefts, keys) if lefts or not on else self.left
        right = self.right.restrict(rights, keys) if rights else self.right
        narrowed = Pair(left, right, self.condition)
        return SemiJoin(narrowed, on, keys) if lefts and rights else narrowed

    def narrowed(self, names: frozenset[str]) -> Relation:
        wanted = names | {*attributes(self.condition)}
        left, right = (side.narrowed(wanted & {*side.columns}) for side in self.children)
        return Pair(left, right, self.condition)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return next((((side, names),) for side in self.children if set(names) <= set(side.columns)), None)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].paired(inputs[1], conjuncts(self.condition.unnest()), self.left.columns, self.right.columns)

    def label(self) -> str:
        return f"⋈ {render(self.condition)}"


@dataclass(frozen=True)
class SemiJoin(Unary):
    """child ⋉ keys, or ▷ when `anti`, on equal `on` attributes (NULL-safe). Without
    attributes it tests whether `keys` has any row.
    """

    on: tuple[str, ...]
    keys: Relation
    anti: bool = False

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.child, self.keys)

    def with_children(self, *children: Relation) -> Relation:
        child, keys = children
        return SemiJoin(child, self.on, keys, self.anti)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return SemiJoin(self, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return SemiJoin(self.child.narrowed(names | {*self.on}), self.on, self.keys, self.anti)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return children[0] if self.anti else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].kept(inputs[1], self.on, anti=self.anti)

    def block(self, binder: Binder) -> Block:
        outer = self.child.block(binder)
        test = exists(self.keys.block(binder), outer, self.on)
        return replace(outer, where=(*outer.where, exp.Not(this=test) if self.anti else test))

    def label(self) -> str:
        return f"{'▷' if self.anti else '⋉'} {', '.join(self.on) or '()'}"


def exists(inner: Block, outer: Block, on: tuple[str, ...]) -> exp.Exists:
    """EXISTS (SELECT 1 FROM inner WHERE inner.on <=> outer.on)."""
    return exists_where(inner, all_same(on, inner.output.__getitem__, outer.output.__getitem__))


def exists_where(inner: Block, tests: tuple[exp.Expr, ...]) -> exp.Exists:
    """EXISTS (SELECT 1 FROM inner WHERE tests). The tests may also refer to sources of the enclosing query."""
    probe = replace(inner, where=inner.where + tests, output={}, broadcast=())
    return exp.Exists(this=probe.select().select(exp.Literal.number(1), append=False, copy=False))


@dataclass(frozen=True)
class Probe(Relation):
    """left ⋉ right, or ▷ when `anti`: the left rows for which the condition is true with some right row, or with none."""

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
        return Probe(left, right, self.condition, self.anti)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.condition,)

    def block(self, binder: Binder) -> Block:
        outer, inner = self.left.block(binder), self.right.block(binder)
        output = {**inner.output, **outer.output}
        parts = tuple(substitute(part, output) for part in conjuncts(self.condition))
        test = exists_where(inner, parts)
        return replace(outer, where=(*outer.where, exp.Not(this=test) if self.anti else test))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Probe(self.left.restrict(on, keys), self.right, self.condition, self.anti)

    def narrowed(self, names: frozenset[str]) -> Relation:
        used = {*attributes(self.condition)}
        left, right = (side.narrowed(frozenset((names | used) & {*side.columns})) for side in self.children)
        return Probe(left, right, self.condition, self.anti)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return children[0] if self.anti else None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.left, names),)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].probed(inputs[1], self.condition, self.left.columns, self.right.columns, anti=self.anti)

    def label(self) -> str:
        return f"{'▷' if self.anti else '⋉'} {render(self.condition)}"
