"""μ_{g → pos, e}(R): each row once for each element of the collection g(Y), with the element and its position.

ID(μ R) = ID(R) ∪ {pos}.

| rule              | i-diff | when                                 | out (the paper has no nested values)
|-------------------|--------|--------------------------------------|-------------------------------------
| unnest_ins        | INS    | the row is new, and its ID is unique | INS(μ Δ)
| unnest_ins_again  | INS    | else                                 | REC(P)
| unnest_del        | DEL    |                                      | DEL(P)
| unnest_upd_unused | UPD    | A ∩ Y = ∅                            | UPD(P; A)
| unnest_upd        | UPD    | A ∩ Y ≠ ∅                            | REC(P)
| unnest_rec        | REC    |                                      | REC(P)

An i-diff that identifies rows of R identifies the rows made from them by the same attributes. A collection is an array, whose
elements give one attribute, or a map, whose elements give a key and a value. A row whose collection is empty or NULL gives no
row, or, if μ is `outer`, one with NULL as position and element.

Example, μ_{split(tags, ',')}(posts): the tags of post 7 change from 'a,b' to 'a,c'. The rows of post 7 are recomputed, and the
one at position 1 differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import UnaryOperator, itself, over_inputs
from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import SemiJoin, Unary, project
from dbt_idivm.algebra.expressions import attributes, column, identifier, render, substitute
from dbt_idivm.algebra.inference import Dependency, certain_type
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, values_of_signed
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import passed, recompute
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, is_condition, is_other

ELEMENTS = 5.0  # estimated number of elements of a collection
_PLACE = exp.DataType.build("int")


@dataclass(frozen=True)
class Unnested(Unary):
    """μ over any relation. `collection` is an expression over the child; `elements` are one attribute, or a key and a value."""

    collection: exp.Expr
    place: str
    elements: tuple[str, ...]
    outer: bool

    @cached_property
    def added(self) -> tuple[str, ...]:
        return (self.place, *self.elements)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self.child.columns, *self.added)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        unknown = exp.DataType.build("unknown")
        kinds = element_types(infer_type(self.collection, self.child.types))
        kinds = kinds if len(kinds) == len(self.elements) else (unknown,) * len(self.elements)
        return {**self.child.types, self.place: _PLACE, **dict(zip(self.elements, kinds, strict=True))}

    def like(self, name: str) -> exp.Expr:
        if name == self.place:
            return exp.Literal.number(0)
        if name not in self.elements:
            return column(name)
        parts = (
            (self.collection,)
            if len(self.elements) == 1
            else (
                exp.MapKeys(this=self.collection.copy()),
                exp.Anonymous(this="map_values", expressions=[self.collection.copy()]),
            )
        )
        first = exp.Literal.number(1)
        return exp.Anonymous(this="element_at", expressions=[parts[self.elements.index(name)].copy(), first])

    @cached_property
    def used(self) -> frozenset[str]:
        """Y: the attributes of the collection."""
        return frozenset(attributes(self.collection))

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Unnested(child, self.collection, self.place, self.elements, self.outer)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.collection,)

    def block(self, binder: Binder) -> Block:
        rows = self.child.block(binder)
        function = exp.PosexplodeOuter if self.outer else exp.Posexplode
        call = function(this=substitute(self.collection, rows.output))
        query = rows.select()
        query.append("expressions", exp.Aliases(this=call, expressions=[identifier(name) for name in self.added]))
        return isolate(query, self.columns, binder.alias("elements"))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        below = tuple(name for name in on if name in self.child.columns)
        rows = self.with_children(self.child.restrict(below, keys)) if below else self
        return rows if below == on else SemiJoin(rows, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return self.with_children(self.child.narrowed((names | self.used) & {*self.child.columns}))

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.child, names),) if set(names) <= set(self.child.columns) else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].with_rows(inputs[0].rows * ELEMENTS)

    def label(self) -> str:
        return f"μ {render(self.collection)}{' outer' if self.outer else ''} → {', '.join(self.added)}"


def element_types(collection: exp.DataType) -> tuple[exp.DataType, ...]:
    """The types of the attributes of an element; () if they are not known or the type is not a collection."""
    if collection.this not in (exp.DataType.Type.ARRAY, exp.DataType.Type.MAP, exp.DataType.Type.LIST):
        return ()
    return tuple(each for each in collection.expressions if isinstance(each, exp.DataType))


@dataclass(frozen=True)
class Unnest(Unnested, UnaryOperator):
    """μ of a view."""

    child: Operator

    scope = None
    conditions = ()
    rewritten = over_inputs
    with_ids = itself
    pruned = itself
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    padded = ()
    monotone = True
    has_row = False
    by_key = False
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        if missing := self.used - set(self.child.columns):
            raise ValueError(f"μ uses {sorted(missing)}, which its input lacks")

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return (*self.child.ids, self.place)

    @cached_property
    def unique(self) -> bool:
        return self.child.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.child.named_by

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return ((above & set(self.child.columns)) | self.used,)

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        collection = certain_type(self.collection, self.child.certain_types)
        kinds = () if collection is None else element_types(collection)
        return {**self.child.certain_types, self.place: _PLACE, **dict(zip(self.elements, kinds, strict=False))}

    @cached_property
    def nullable(self) -> frozenset[str]:
        return self.child.nullable | {*(self.added if self.outer else self.elements)}

    @property
    def combined(self) -> tuple[Operator, ...]:
        return (self.child,)

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return below[0]

    def carried(self, occurrence: str) -> frozenset[str] | None:
        """A row without elements has no rows here, unless μ is outer, but i-diffs still name it."""
        return self.child.carried(occurrence) if self.outer else None

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        return (tuple(each for each in above if set(attributes(each)) <= set(self.child.columns)),)

    def in_state(self, state: State) -> Relation:
        return self.with_children(self.child.in_state(state))

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return self.with_children(self.child.in_any_state((names | self.used) & {*self.child.columns}))

    def signed(self) -> Relation:
        return project(self.with_children(self.child.signed()), (*self.columns, SIGN))


def unnest_ins(node: Unnest, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = Unnested(diff.relation, node.collection, node.place, node.elements, node.outer)
    rest = tuple(name for name in rows.columns if name not in node.ids)
    return (replace(diff, ids=node.ids, assigned=rest, known=(), relation=project(rows, node.ids + rest)),)


def brings_new_rows(node: Unnest, side: int, diff: IDiff) -> bool:
    return diff.fresh and node.unique


def may_bring_old_rows(node: Unnest, side: int, diff: IDiff) -> bool:
    return not brings_new_rows(node, side, diff)


# INS is an upsert by full ID. An existing row with the elements ['a', 'b'] that is inserted again with ['c'] would keep 'b'; of
# two equal rows of a keyless input only one would be inserted. (Today other i-diffs cover the first case, and the application the
# second.)
def unnest_again(node: Unnest, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


# Wrong without its guard: μ_{tags}, tags change from ['a', 'b'] to ['c']. Passed on, the first row keeps 'a', and the second
# stays.
def unnest_pass(node: Unnest, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


Unnest.RULES = (
    IDiffRule("unnest_ins", INS, brings_new_rows, "INS(μ Δ)", unnest_ins, "ours"),
    IDiffRule("unnest_ins_again", INS, may_bring_old_rows, "REC(P)", unnest_again, "ours"),
    IDiffRule("unnest_del", DEL, always, "DEL(P)", unnest_pass, "ours"),
    IDiffRule("unnest_upd_unused", UPD, is_other, "UPD(P; A)", unnest_pass, "ours"),
    IDiffRule("unnest_upd", UPD, is_condition, "REC(P)", unnest_again, "ours"),
    IDiffRule("unnest_rec", REC, always, "REC(P)", unnest_pass, "ours"),
)
