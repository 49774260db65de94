"""ω_{Pt; f}(R): window functions f over the partitions of R by Pt, NULL-safe. ID(ω R) = ID(R).

If the IDs of R are not unique, one of f is row_number() → n, and equal values of Pt are identical, ID(ω R) = Pt ∪ {n}. It says
nothing of the rows of R: another row may have the number in the next state.

| rule              | i-diff | when                  | out (the paper has no window functions)
|-------------------|--------|-----------------------|----------------------------------------------
| window_ins        | INS    |                       | REC(Pt) over touched(Δ, Pt)
| window_del        | DEL    |                       | REC(Pt) over touched(Δ, Pt)
| window_upd_unused | UPD    | A ∩ X = ∅, P is kept  | Δ unchanged
| window_upd        | UPD    | else                  | REC(P) first, then REC(Pt): the old partition counts too
| window_rec        | REC    |                       | REC(Pt) over touched(Δ, Pt)

X are Pt and the attributes that the functions and their ORDER BY read. A change of one row may change the values of all rows of
its partition, so whole partitions are recomputed. The operators above keep Pt, because it identifies these rows. One ω has all
functions of a SELECT with the same PARTITION BY; functions with another one are a second ω above it.

Example, ω_{cid; row_number() by placed, id}(orders): order (7, cid 1) is deleted. The rows of customer 1 are recomputed.

Pt = ∅ is a single partition: any change recomputes all rows, REC(()), and those that differ are updated.

Where a function depends on the order of rows that ORDER BY does not distinguish, the front end completes its order, or refuses it
(`dbt_idivm/frontend/ties.py`, IDIVM-203).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import UnaryOperator, carries_nothing, itself, over_inputs
from dbt_idivm.algebra.bags import Distinct
from dbt_idivm.algebra.block import Binder, Block, is_called, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import SemiJoin, Unary, project
from dbt_idivm.algebra.expressions import attributes, column, passing, render, substitute
from dbt_idivm.algebra.inference import Dependency, are_identical
from dbt_idivm.algebra.operator import Conditions, Operator, State, both_states, signed_by, values_of_signed
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import passed, recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, is_other
from dbt_idivm.operators.project import Project

_OF_THE_SAME_TYPE = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.First, exp.Last, exp.Max, exp.Min)


@dataclass(frozen=True)
class WindowCall:
    """One window function: `name` ← function OVER (PARTITION BY … `order` `frame`), over attributes of the child.

    `kind` is the type of the result, `certain` says whether that type is certain, `total` whether the result is never NULL. The
    last `ties` items of `order` are not the user's: they determine the order of tied rows.
    """

    name: str
    function: exp.Expr
    order: tuple[exp.Expr, ...]
    frame: exp.WindowSpec | None
    kind: exp.DataType
    certain: bool
    total: bool
    ties: int = 0

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.function, *self.order)

    @property
    def broken_by(self) -> tuple[str, ...]:
        """The attributes by which tied rows are ordered."""
        return tuple(each.this.name for each in self.order[len(self.order) - self.ties :])

    def with_ties(self, names: Sequence[str], frame: exp.WindowSpec | None) -> WindowCall:
        """The call with tied rows in the order of `names`, NULL first."""
        order = tuple(exp.Ordered(this=column(name), desc=False, nulls_first=True) for name in names)
        return replace(self, order=self.order + order, frame=frame, ties=len(order))

    def without_ties(self) -> WindowCall:
        """The call with the user's order."""
        return replace(self, order=self.order[: len(self.order) - self.ties], ties=0)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes that the function and its ORDER BY read."""
        return frozenset(name for each in self.expressions for name in attributes(each))

    @property
    def like(self) -> exp.Expr:
        """An expression or aggregate over the attributes that has the type of the result."""
        function = self.function.this if isinstance(self.function, exp.IgnoreNulls | exp.RespectNulls) else self.function
        return function.this if isinstance(function, _OF_THE_SAME_TYPE) else function

    def over(self, partition: Sequence[exp.Expr], output: Mapping[str, exp.Expr]) -> exp.Window:
        """The window expression in SQL. `output` has the defining expressions of the child's attributes."""
        order = [substitute(each, output) for each in self.order]
        return exp.Window(
            this=substitute(self.function, output),
            partition_by=[each.copy() for each in partition],
            order=exp.Order(expressions=order) if order else None,
            spec=self.frame.copy() if self.frame else None,
        )


@dataclass(frozen=True)
class Windowed(Unary):
    """ω over any relation. `partition` and the arguments of `calls` are attributes of the child; a π below computes them."""

    partition: tuple[str, ...]
    calls: tuple[WindowCall, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self.child.columns, *(call.name for call in self.calls))

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.child.types, **{call.name: call.kind for call in self.calls}}

    def like(self, name: str) -> exp.Expr:
        return next((call.like for call in self.calls if call.name == name), column(name))

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Windowed(child, self.partition, self.calls)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return tuple(each for call in self.calls for each in call.expressions)

    def block(self, binder: Binder) -> Block:
        rows = self.child.block(binder)
        # Spark pushes a condition on the partition below the window only if the window is over columns of these names
        if any(not is_called(rows.output[name], name) for name in self.partition):
            rows = isolate(rows.select(), self.child.columns, binder.alias("partitions"))
        partition = [rows.output[name] for name in self.partition]
        calls = {call.name: call.over(partition, rows.output) for call in self.calls}
        query = replace(rows, output={**rows.output, **calls}).select()
        return isolate(query, self.columns, binder.alias("windows"))

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(name for call in self.calls for name in call.reads)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Partitions must stay whole: those that contain a row with these keys are
        evaluated, then the rows are selected above ω.
        """
        if self.partition and set(on) <= set(self.partition):
            return self.with_children(self.child.restrict(on, keys))
        below = tuple(name for name in on if name in self.child.columns)
        if not self.partition or not below:
            return SemiJoin(self, on, keys)
        named = self.child.narrowed(frozenset((*below, *self.partition)))
        rows = keys if set(self.partition) <= set(on) else named.restrict(below, keys)
        partitions = Distinct(project(rows, self.partition))
        return SemiJoin(self.with_children(self.child.restrict(self.partition, partitions)), on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        """If a window value is wanted, all rows of the input are needed, with their multiplicity."""
        calls = tuple(call for call in self.calls if call.name in names)
        return Windowed(self.child, self.partition, calls) if calls else self.child.narrowed(names)

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.child, names),) if set(names) <= set(self.child.columns) else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].computed({name: name for name in self.child.columns})

    def label(self) -> str:
        return f"ω {', '.join(self.partition) or '()'}; {', '.join(map(_written, self.calls))}"


def _written(call: WindowCall) -> str:
    inside = [f"ORDER BY {', '.join(map(render, call.order))}" if call.order else "", render(call.frame) if call.frame else ""]
    return f"{render(call.function)} OVER ({' '.join(each for each in inside if each)}) → {call.name}"


@dataclass(frozen=True)
class Window(Windowed, UnaryOperator):
    """ω of a view."""

    child: Operator

    scope = None
    conditions = ()
    rewritten = over_inputs
    with_ids = itself
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    padded = ()
    monotone = False
    has_row = False
    by_key = False
    carried = carries_nothing

    def __post_init__(self) -> None:
        if missing := {*self.partition, *self.reads} - set(self.child.columns):
            raise ValueError(f"ω uses {sorted(missing)}, which its input lacks")

    @cached_property
    def used(self) -> frozenset[str]:
        """X: the attributes on which the values depend."""
        return self.reads | set(self.partition)

    # Wrong for a Pt whose equal values may differ: if the first row of a partition had 0.0, and the next first one has -0.0, the
    # stored row is found by its ID, whose columns no update assigns.
    @cached_property
    def number(self) -> str | None:
        """The row number that identifies a row within its partition, where the IDs of the input are not unique."""
        if self.child.unique or not are_identical(self.partition, self.child.certain_types):
            return None
        return next((call.name for call in self.calls if isinstance(call.function, exp.RowNumber)), None)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.child.ids if self.number is None else (*self.partition, self.number)

    @cached_property
    def unique(self) -> bool:
        return self.child.unique or self.number is not None

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.partition if self.number is not None else tuple(dict.fromkeys((*self.partition, *self.child.named_by)))

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return ((above & set(self.child.columns)) | self.used,)

    def pruned(self, above: frozenset[str]) -> Operator:
        calls = tuple(call for call in self.calls if call.name in above)
        kept = (name for name in self.child.columns if name in above)
        return replace(self, calls=calls) if calls else Project(self.child, passing(kept))

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return {**self.child.certain_types, **{call.name: call.kind for call in self.calls if call.certain}}

    @cached_property
    def nullable(self) -> frozenset[str]:
        return self.child.nullable | {call.name for call in self.calls if not call.total}

    @property
    def combined(self) -> tuple[Operator, ...]:
        return (self.child,)

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """row_number and the partition together determine the row."""
        numbers = (call.name for call in self.calls if isinstance(call.function, exp.RowNumber))
        return (*((frozenset({*self.partition, name}), frozenset(self.child.columns)) for name in numbers), *below[0])

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """A condition on Pt removes whole partitions. Any other condition would remove rows that the window functions need."""
        return (tuple(each for each in above if set(attributes(each)) <= set(self.partition)),)

    def in_state(self, state: State) -> Relation:
        return self.with_children(self.child.in_state(state))

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return self.child.in_any_state(names) if names <= {*self.child.columns} else both_states(self, names)

    def changed_values(self, names: frozenset[str]) -> Relation:
        """The values of all rows in the partitions of changed rows."""
        if not names <= {*self.child.columns}:
            return values_of_signed(self, names)
        partitions = self.child.changed_values(frozenset(self.partition))
        return self.child.in_any_state(names | {*self.partition}).restrict(self.partition, partitions)

    def signed(self) -> Relation:
        return signed_by(self, self.child, self.partition)


# Without it π would drop the columns by which the update names rows: if a number identifies the rows, no operator above has to
# keep the IDs of the input.
def is_kept(node: Window, side: int, diff: IDiff) -> bool:
    """Whether the operators above keep the columns by which the i-diff names rows."""
    return {*diff.ids} <= {*node.ids, *node.named_by}


def is_passed(node: Window, side: int, diff: IDiff) -> bool:
    return is_other(node, side, diff) and is_kept(node, side, diff)


def is_not_passed(node: Window, side: int, diff: IDiff) -> bool:
    return not is_passed(node, side, diff)


# Wrong without its guard: ω_{x; max(y)}, an update of y. Passed on, it would update only the row with the maximum.
def window_pass(node: Window, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


# Wrong without it: ω_{x; count(*)} over (1, x=5), (2, x=5). Passed on unchanged, the deletion of row 1 would leave row 2 with the
# count 2.
def partitions_of(node: Window, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = touched(diff, node.inputs[0], node.partition)
    return (IDiff(REC, node.partition, (), (), rows, diff.origins),)


# Wrong without the conversion: ω_{x; count(*)}, row 1 changes from x = 5 to x = 6. The update identifies the row by its
# post-state, partition 6; the rows that remain in partition 5 would keep their count.
def window_upd(node: Window, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return partitions_of(node, side, recompute(diff))


Window.RULES = (
    IDiffRule("window_ins", INS, always, "REC(Pt)", partitions_of, "ours"),
    IDiffRule("window_del", DEL, always, "REC(Pt)", partitions_of, "ours"),
    IDiffRule("window_upd_unused", UPD, is_passed, "UPD", window_pass, "ours"),
    IDiffRule("window_upd", UPD, is_not_passed, "REC(Pt)", window_upd, "ours"),
    IDiffRule("window_rec", REC, always, "REC(Pt)", partitions_of, "ours"),
)
