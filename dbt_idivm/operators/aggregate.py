"""γ_{G; f}(R): groups by G (NULL-safe) with aggregates f; without aggregates it is duplicate elimination. ID(γ R) = G.

| rule                    | i-diff        | when                  | out (idIVM Table 7, the general γ)
|-------------------------|---------------|-----------------------|----------------------------------------------
| aggregate_ins           | INS           |                       | REC(G) over touched(Δ, G)
| aggregate_del           | DEL           |                       | REC(G) over touched(Δ, G)
| aggregate_upd_unused    | UPD           | A ∩ (G ∪ args) = ∅    | nothing
| aggregate_upd_argument  | UPD           | A ∩ G = ∅, else       | REC(G) over touched(Δ, G)
| aggregate_upd_group     | UPD           | A ∩ G ≠ ∅             | REC(P) first, then REC(G): the old group counts too
| aggregate_rec           | REC           |                       | REC(G) over touched(Δ, G)

REC(G) evaluates whole groups on the post-state, so it covers new and deleted groups, NULLs, and any deterministic f.
Sums, counts and averages over exact types also have an additive form (Tables 9, 11, 12): see `operators/additive.py`.

Example, γ_{cid; sum(price)}(orders): order (7, cid 1, 5) is deleted. The i-diff knows cid = 1, so group 1 is recomputed without a
look-up. If the group has no rows left, it is deleted from the view.

G = ∅ is a single group that always has a row. Any change recomputes it: REC(()).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.aggregates import like_aggregate, type_of_aggregate, value_of_nothing
from dbt_idivm.algebra.answers import UnaryOperator, carries_nothing, itself, over_inputs
from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import SemiJoin
from dbt_idivm.algebra.decimals import Type, is_integral, type_of_sum
from dbt_idivm.algebra.expressions import alias, attributes, column
from dbt_idivm.algebra.inference import Dependency
from dbt_idivm.algebra.operator import Conditions, Operator, State, both_states, signed_by, values_of_signed
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.algebra.written_time import clock_calls
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import dropped, recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always

# The deterministic aggregates of one argument whose result does not depend on the row order: function name → sqlglot node.
FUNCTIONS: Mapping[str, type[exp.AggFunc]] = {
    "sum": exp.Sum,
    "count": exp.Count,
    "avg": exp.Avg,
    "min": exp.Min,
    "max": exp.Max,
    "bool_and": exp.LogicalAnd,
    "bool_or": exp.LogicalOr,
    "bit_and": exp.BitwiseAndAgg,
    "bit_or": exp.BitwiseOrAgg,
    "bit_xor": exp.BitwiseXorAgg,
    "stddev": exp.Stddev,
    "stddev_samp": exp.StddevSamp,
    "stddev_pop": exp.StddevPop,
    "variance": exp.Variance,
    "var_pop": exp.VariancePop,
    "skewness": exp.Skewness,
    "kurtosis": exp.Kurtosis,
    "median": exp.Median,
}
# sum(abs(x)), not an SQL function: an upper bound of the absolute value of all partial sums of x, in any row order.
SUM_OF_SIZES = "sum_of_sizes"
_NAMES: Mapping[type[exp.Expr], str] = {node: name for name, node in FUNCTIONS.items()}
_OF_NUMBERS = frozenset({"sum", "avg", SUM_OF_SIZES})
_UNLIKE_THEIR_SUMS = frozenset({Type.DECIMAL, Type.UNKNOWN})
# Their results have the type of the argument.
_OF_THE_SAME_TYPE = frozenset({"min", "max", "bit_and", "bit_or", "bit_xor"})


@dataclass(frozen=True)
class Call:
    """One aggregate call: `name` ← `value`, any aggregate expression. Its columns are attributes of the child.

    `function` and `argument` are set for f(x) and f(DISTINCT x) with f in `FUNCTIONS`, and for sum(abs(x)), whose
    argument is x. count(*) has no argument. Any other expression, such as count(DISTINCT x, y) or
    array_sort(collect_list(x)), has no function either.
    """

    name: str
    value: exp.Expr

    @classmethod
    def of(cls, name: str, function: str, argument: str | None = None, *, distinct: bool = False) -> Call:
        """A call of a function in `FUNCTIONS`, or of `SUM_OF_SIZES`: the kind of calls that additive rules handle."""
        operand = exp.Star() if argument is None else column(argument)
        if function == SUM_OF_SIZES:
            return cls(name, exp.Sum(this=exp.Abs(this=operand)))
        return cls(name, FUNCTIONS[function](this=exp.Distinct(expressions=[operand]) if distinct else operand))

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        return attributes(self.value)

    @property
    def distinct(self) -> bool:
        return isinstance(self.value.this, exp.Distinct)

    @cached_property
    def function(self) -> str:
        if isinstance(self.value, exp.Sum) and isinstance(self.value.this, exp.Abs):
            return SUM_OF_SIZES
        return _NAMES.get(type(self.value), "") if len(self._operands) == 1 else ""

    @cached_property
    def argument(self) -> str | None:
        (operand,) = self._operands if self.function else (None,)
        operand = operand.this if isinstance(operand, exp.Abs) else operand
        return operand.name if isinstance(operand, exp.Column) else None

    @property
    def _operands(self) -> list[exp.Expr]:
        inner = self.value.this
        return [*(inner.expressions if isinstance(inner, exp.Distinct) else [inner]), *self.value.expressions]

    @property
    def of_nothing(self) -> exp.Expr | None:
        """The value over no rows; None if that is NULL. A call that has such a value is never NULL."""
        return value_of_nothing(self.value)

    def expression(self, output: Mapping[str, exp.Expr]) -> exp.Expr:
        """The call with each attribute replaced by its definition in `output`."""
        return _over(self.value, output)

    def over(self, output: Mapping[str, exp.Expr]) -> Call:
        """The call over other attributes: `output` has the new one for each of them."""
        return replace(self, value=self.expression(output))

    def without_ties(self) -> Call:
        """The call as the user wrote it."""
        return self

    def certain_type(self, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
        """The type of the result if it is certain; None otherwise. `below`: attribute → certain type."""
        kind = below.get(self.argument or "")
        if isinstance(self.value, exp.Count) or (self.function == "sum" and kind is not None and is_integral(kind)):
            return exp.DataType.build("bigint")
        if self.function in ("bool_and", "bool_or"):
            return exp.DataType.build("boolean")
        if self.function in _OF_THE_SAME_TYPE:
            return kind
        return None if self.function else type_of_aggregate(self.value, below)

    def type(self, below: Mapping[str, exp.DataType]) -> exp.DataType:
        """The inferred type of the result; UNKNOWN if it cannot be inferred. `below`: attribute → type."""
        if self.argument and self.function in _OF_THE_SAME_TYPE:
            return below[self.argument]
        if self.function in _OF_NUMBERS and self.argument and below[self.argument].this in _UNLIKE_THEIR_SUMS:
            return type_of_sum(below[self.argument], average=self.function == "avg")
        if self.function or isinstance(self.value, exp.Count):
            return infer_type(self.value, below)
        return type_of_aggregate(self.value, below) or exp.DataType.build("unknown")

    @property
    def like(self) -> exp.Expr:
        """An expression or aggregate over the arguments that has the type of the result."""
        if self.function and self.argument and self.function in _OF_THE_SAME_TYPE:
            return column(self.argument)
        return like_aggregate(self.value) or self.value

    def __str__(self) -> str:
        return f"{self.value.sql('spark')} → {self.name}"


@dataclass(frozen=True)
class TiedCall(Call):
    """A call of an aggregate whose result depends on the order of the rows, in an order that stays (ADR 0058).

    `written` is the user's aggregate. `value` is one of its results: the one of the order by `broken_by`.
    """

    written: exp.Expr
    broken_by: tuple[str, ...]

    def over(self, output: Mapping[str, exp.Expr]) -> Call:
        names = tuple(output[name].name for name in self.broken_by)
        return replace(self, value=self.expression(output), written=_over(self.written, output), broken_by=names)

    def without_ties(self) -> Call:
        return Call(self.name, self.written)

    def certain_type(self, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
        return self.without_ties().certain_type(below)

    def type(self, below: Mapping[str, exp.DataType]) -> exp.DataType:
        return self.without_ties().type(below)

    @property
    def of_nothing(self) -> exp.Expr | None:
        return self.without_ties().of_nothing

    @property
    def like(self) -> exp.Expr:
        return self.without_ties().like


def _over(value: exp.Expr, output: Mapping[str, exp.Expr]) -> exp.Expr:
    return value.transform(lambda node: output[node.name].copy() if isinstance(node, exp.Column) else node)


@dataclass(frozen=True)
class Grouped(Relation):
    """γ over any relation. `groups` and the arguments of `calls` are attributes of the child; a π below computes them."""

    child: Relation
    groups: tuple[str, ...]
    calls: tuple[Call, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self.groups, *(call.name for call in self.calls))

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        below = self.child.types
        return {**{name: below[name] for name in self.groups}, **{call.name: call.type(below) for call in self.calls}}

    def like(self, name: str) -> exp.Expr:
        return column(name) if name in self.groups else next(call.like for call in self.calls if call.name == name)

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.child,)

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Grouped(child, self.groups, self.calls)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        """Always empty: groups and arguments are plain attributes."""
        return ()

    def block(self, binder: Binder) -> Block:
        rows = self.child.block(binder)
        if any(not rows.output[name].find(exp.Column) for name in self.groups):
            # GROUP BY 1 would mean the first column
            rows = isolate(rows.select(), self.child.columns, binder.alias("grouped"))
        keys = [rows.output[name] for name in self.groups]
        calls = [alias(call.expression(rows.output), call.name) for call in self.calls]
        query = replace(rows, output={name: rows.output[name] for name in self.groups}).select()
        query = query.select(*calls, append=bool(self.groups), copy=False)
        if keys:
            query = query.group_by(*(key.copy() for key in keys), copy=False)
        return isolate(query, self.columns, binder.alias("groups"))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Only a restriction on G is pushed below γ, because groups must stay whole. Nothing is pushed below a global
        aggregate: it keeps its row.
        """
        if not self.groups or not set(on) <= set(self.groups):
            return SemiJoin(self, on, keys)
        return Grouped(self.child.restrict(on, keys), self.groups, self.calls)

    def narrowed(self, names: frozenset[str]) -> Relation:
        """If only group attributes are wanted, the child suffices. A global aggregate has a row even over no rows."""
        if self.groups and names <= {*self.groups}:
            return self.child.narrowed(names)
        calls = tuple(call for call in self.calls if call.name in names) or self.calls[:1]
        return Grouped(self.child, self.groups, calls)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        """A global aggregate has a row even over no rows."""
        return None if self.groups else self

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.child, names),) if set(names) <= set(self.groups) else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].grouped(self.groups)

    def label(self) -> str:
        return f"γ {', '.join(self.groups) or '()'}; {', '.join(str(call) for call in self.calls)}"


@dataclass(frozen=True)
class Aggregate(Grouped, UnaryOperator):
    """γ of a view."""

    child: Operator
    by_key: bool = False  # that it has the groups of the query relies on the keys of tables

    scope = None
    conditions = ()
    rewritten = over_inputs
    unique = True
    named_by = ()
    with_ids = itself
    combined = ()
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    padded = ()
    monotone = False
    carried = carries_nothing

    def __post_init__(self) -> None:
        if missing := {*self.groups, *self.arguments} - set(self.child.columns):
            raise ValueError(f"γ uses {sorted(missing)}, which its input lacks")

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for call in self.calls for name in call.arguments))

    @property
    def ids(self) -> tuple[str, ...]:
        return self.groups

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (frozenset(self.groups) | frozenset(self.arguments),)

    def pruned(self, above: frozenset[str]) -> Operator:
        calls = tuple(call for call in self.calls if call.name in above)
        # a group that has the same time in all rows makes no groups, but one group is needed
        times = {name for name, made in self.child.defined if name not in above and not attributes(made) and clock_calls(made)}
        groups = tuple(name for name in self.groups if name not in times) or self.groups
        # a global aggregate without calls would lose its one row
        return replace(self, groups=groups, calls=calls if calls or self.groups else self.calls[:1])

    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (frozenset(self.groups),)

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        below = self.child.certain_types
        found = {
            **{name: below.get(name) for name in self.groups},
            **{call.name: call.certain_type(below) for call in self.calls},
        }
        return {name: kind for name, kind in found.items() if kind is not None}

    @cached_property
    def nullable(self) -> frozenset[str]:
        results = {call.name for call in self.calls if call.of_nothing is None}
        return (self.child.nullable & set(self.groups)) | results

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """The dependencies of the rows: grouping keeps the values of rows."""
        return below[0]

    @property
    def has_row(self) -> bool:
        return not self.groups or (not self.calls and self.child.has_row)

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """A condition on G removes whole groups, so it applies to the rows. A condition on
        a result says nothing about a single row.
        """
        return (tuple(each for each in above if set(attributes(each)) <= set(self.groups)),)

    def in_state(self, state: State) -> Relation:
        return self.with_children(self.child.in_state(state))

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return self.child.in_any_state(names) if self.groups and names <= {*self.groups} else both_states(self, names)

    def changed_values(self, names: frozenset[str]) -> Relation:
        """A group changes only if one of its rows changes."""
        return self.child.changed_values(names) if self.groups and names <= {*self.groups} else values_of_signed(self, names)

    def signed(self) -> Relation:
        return signed_by(self, self.child, self.groups)


def is_unused(node: Aggregate, side: int, diff: IDiff) -> bool:
    return not diff.assigns((*node.groups, *node.arguments))


def is_argument(node: Aggregate, side: int, diff: IDiff) -> bool:
    return diff.assigns(node.arguments) and not diff.assigns(node.groups)


def is_group(node: Aggregate, side: int, diff: IDiff) -> bool:
    return diff.assigns(node.groups)


def groups_of(node: Aggregate, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = touched(diff, node.inputs[0], node.groups)
    return (IDiff(REC, node.groups, (), (), rows, diff.origins),)


def aggregate_unused(node: Aggregate, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return dropped()


# Wrong without the conversion: γ_y, y changes from 2 to NULL. The update identifies the row by its post-state, group NULL; the
# group that it left, 2, would keep its old sum.
def aggregate_upd_group(node: Aggregate, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return groups_of(node, side, recompute(diff))


Aggregate.RULES = (
    IDiffRule("aggregate_ins", INS, always, "REC(G)", groups_of, "Table 7, any ∆"),
    IDiffRule("aggregate_del", DEL, always, "REC(G)", groups_of, "Table 7, any ∆"),
    IDiffRule("aggregate_upd_unused", UPD, is_unused, "nothing", aggregate_unused, "ours"),
    IDiffRule("aggregate_upd_argument", UPD, is_argument, "REC(G)", groups_of, "Table 7, any ∆"),
    IDiffRule("aggregate_upd_group", UPD, is_group, "REC(G)", aggregate_upd_group, "ours"),
    IDiffRule("aggregate_rec", REC, always, "REC(G)", groups_of, "ours"),
)
