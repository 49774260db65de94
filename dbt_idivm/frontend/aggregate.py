"""GROUP BY and HAVING of one SELECT → π (which computes groups and arguments), ∪ of grouping sets, γ, σ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.aggregates import ANY, function_of, operands_of, value_of
from dbt_idivm.algebra.expressions import as_written, attributes, column, short
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cached import cached_property
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.group_by import GroupBy, SelectItem, aliases_of, without_constants
from dbt_idivm.frontend.grouped_by_sets import Again, GroupedBySets, names_in
from dbt_idivm.frontend.grouping_sets import grouped_by, has_sets, sets_of
from dbt_idivm.frontend.resolve import (
    Aliases,
    Canonical,
    Resolver,
    bare,
    canonical,
    is_aggregate,
    is_existence,
    own_nodes,
    rebuilt,
)
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.tied_aggregates import in_order
from dbt_idivm.frontend.ties import UNDER_REBUILD, CannotBreak
from dbt_idivm.frontend.types import incomparable_attributes
from dbt_idivm.frontend.unsettled import has_identical_values, is_common, unsettled
from dbt_idivm.operators import Aggregate, Project, Select
from dbt_idivm.operators.aggregate import SUM_OF_SIZES, Call, TiedCall
from dbt_idivm.passes.annotate import Facts, facts_of
from dbt_idivm.passes.infer_ids import infer_ids

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_LONGEST = 40


def is_aggregated(node: exp.Select) -> bool:
    """Whether the SELECT forms groups. Without GROUP BY, all rows are one group."""
    if node.args.get("group") or node.args.get("having"):
        return True
    return any(is_aggregate(each) for item in node.expressions for each in own_nodes(item))


@dataclass
class Grouping:
    """Builds the γ of one SELECT over `rows`. The keys of `groups` and `computed` are canonical forms of expressions."""

    lowering: Lowering
    node: exp.Select
    env: Env
    rows: Operator
    scope: Scope
    name: str
    groups: dict[Canonical, str] = field(default_factory=dict)  # expression → attribute
    computed: dict[Canonical, tuple[str, exp.Expr]] = field(default_factory=dict)  # expression → attribute, definition
    calls: dict[exp.Expr, Call] = field(default_factory=dict)
    common: list[str] = field(default_factory=list)  # attributes that are constant in each group and are added to the groups
    scalars: Mapping[int, exp.Expr] = field(default_factory=dict)  # id of a subquery in the select list or HAVING → value
    again: Again | None = None  # makes the rows again, for each further grouping set
    sets: GroupedBySets | None = None

    def key(self, expression: exp.Expr) -> str:
        """Add an expression to the groups, whether or not GROUP BY names it, and return its attribute."""
        attribute = self._attribute(expression, "")
        return self.groups.setdefault(self._known(expression), attribute if self.sets is None else self.sets.output(attribute))

    def count(self) -> str:
        """The attribute of count(*), which no item needs to mention."""
        return self._call(exp.Count(this=exp.Star()), self.node, "")

    def apply(self, items: Sequence[SelectItem]) -> tuple[Operator, tuple[exp.Expr, ...]]:
        """(γ with the HAVING above it, the expression of each item over γ's attributes)."""
        if has_sets(self.node.args.get("group")):
            self._group_by_sets(items)
        else:
            clause = self.node.args.get("group")
            groups = [] if clause is None else self._reader(items).expressions(clause)
            for expression in without_constants(groups):
                self.groups.setdefault(self._known(expression), self._attribute(expression, self._alias(items, expression)))
        expressions = tuple(self._over_groups(i.expression, i.raw, i.name if i.named else "") for i in items)
        having = self._having(items)
        if not self.groups and not self.calls and self.sets is None:
            self.count()  # HAVING alone makes one group of all rows
        below = self._below()
        grouped = tuple(dict.fromkeys((*self.groups.values(), *self.common)))
        if self.sets is not None:
            grouped += (self.sets.branch,)
        place = self.env.text.place(self.node.args.get("group") or self.node, "GROUP")
        self.lowering.findings += incomparable_attributes(grouped, below, place, "GROUP BY")
        self._refuse_incomparable(below)
        by_key = not {*self.common} <= {*self.groups.values()}
        result: Operator = Aggregate(below, grouped, tuple(self.calls.values()), by_key)
        return (result if having is None else Select(result, having)), expressions

    def _reader(self, items: Sequence[SelectItem]) -> GroupBy:
        return GroupBy(self.lowering, self.env, self.scope, items)

    @cached_property
    def _of_scalars(self) -> frozenset[str]:
        """The attributes that the values of subqueries read."""
        return frozenset(name for value in self.scalars.values() for name in attributes(value))

    @cached_property
    def _types(self) -> Mapping[str, exp.DataType]:
        return self.rows.types

    def _known(self, expression: exp.Expr) -> Canonical:
        return canonical(expression, self._types)

    def _group_by_sets(self, items: Sequence[SelectItem]) -> None:
        """Read the groups of ROLLUP, CUBE and GROUPING SETS."""
        clause, reader = self.node.args["group"], self._reader(items)
        known: dict[int, Canonical] = {}
        keys: dict[Canonical, tuple[exp.Expr, frozenset[Entry | str]]] = {}
        for raw in grouped_by(clause):
            expression = reader.expression(raw)
            if expression is None:
                continue
            if not expression.find(exp.Column):
                self._report(228, raw, what=f"the constant {self.env.text.source(raw)} in a grouping set")
                continue
            known[id(raw)] = self._known(expression)
            names = names_in(raw, items, self.scope)
            _, first_names = keys.setdefault(known[id(raw)], (expression, names))
            if names != first_names:
                self._report(228, raw, what=f"{self.env.text.source(raw)} in grouping sets under two names")
        places = {key: place for place, key in enumerate(keys)}
        sets = tuple(frozenset(places[known[id(raw)]] for raw in each if id(raw) in known) for each in sets_of(clause))
        assert self.again is not None
        expressions = tuple(expression for expression, _ in keys.values())
        self.sets = GroupedBySets(self.rows, self.again, self.lowering.names, self.name, expressions, sets)
        for key, expression in zip(keys, expressions, strict=True):
            alias = self._alias(items, expression) or described(expression)
            self.groups[key] = self.lowering.names.attribute(self.sets.union, short(alias))

    def _having(self, items: Sequence[SelectItem]) -> exp.Expr | None:
        """The condition of HAVING over γ's attributes; None without HAVING."""
        clause = self.node.args.get("having")
        return None if clause is None else bare(self._in_having(clause.this, aliases_of(items)))

    def _in_having(self, node: exp.Expr, aliases: Aliases) -> exp.Expr:
        """A part of HAVING over γ's attributes, as Spark reads it.

        Aggregates are over the rows of FROM. Elsewhere a whole grouping expression takes precedence over the names in it, and
        a grouped column over an alias: `SELECT a + 1 AS a … GROUP BY a + 1 HAVING a + 1 > 2` adds one only once.
        """
        if isinstance(node, exp.Window):
            self._report(229, node, what="a window function in HAVING")
            return exp.null()
        if is_aggregate(node):
            return self._over_groups(Resolver(self.scope, self.env, self.lowering.findings).resolve(node), node, "")
        if isinstance(node, exp.Query) or is_existence(node):
            resolver = Resolver(self.scope, self.env, self.lowering.findings, scalars=self.scalars)
            return self._over_groups(resolver.resolve(node), node, "")
        group = self._group(node)
        if group is not None:
            return column(group)
        if not isinstance(node, exp.Column):
            return rebuilt(node, lambda part: self._in_having(part, aliases))
        resolver = Resolver(self.scope, self.env, self.lowering.findings, aliases)
        alias = resolver.alias(node)
        return self._over_groups(resolver.resolve(node) if alias is None else alias, node, "")

    def _group(self, node: exp.Expr) -> str | None:
        """The attribute of the group that equals an expression over FROM; None if no group does."""
        if isinstance(bare(node), exp.Connector) and not any(known[0] == type(bare(node)).__name__ for known in self.groups):
            return None  # shortcut: else each level of a long chain of conditions would be resolved again
        problems: list[Finding] = []
        resolved = Resolver(self.scope, self.env, problems).resolve(node)
        return None if problems else self.groups.get(self._known(resolved))

    def _over_groups(self, expression: exp.Expr, raw: exp.Expr, name: str) -> exp.Expr:
        """The expression with groups and aggregates replaced by γ's attributes."""
        whole = bare(expression).copy()

        def replace(node: exp.Expr) -> exp.Expr:
            group = self.groups.get(self._known(node))
            if group is not None:
                return column(group)
            if isinstance(node, exp.Grouping | exp.GroupingId):
                return self._of_set(node, raw)
            if is_aggregate(node):
                return column(self._common(node) or self._call(node, raw, name if node is whole else ""))
            if isinstance(node, exp.Column) and node.name in self._of_scalars:
                return column(self.key(node))  # the same in all rows of a group, or Spark refuses it
            if isinstance(node, exp.Column):
                self._report(223, raw, column=short(node.name))
                return exp.null()
            return node

        return whole.transform(replace, copy=False)

    def _of_set(self, node: exp.Grouping | exp.GroupingId, raw: exp.Expr) -> exp.Expr:
        """grouping(x) or grouping_id(x, …) as an expression over the branch attribute."""
        value = None
        if self.sets is not None:
            value = self.sets.mark(node, [self._known(each) for each in node.expressions], list(self.groups))
        if value is None:
            self._report(229, raw, what=f"{self.env.text.source(raw)}: not the expressions of ROLLUP, CUBE or GROUPING SETS")
        return value or exp.null()

    def _common(self, node: exp.Expr) -> str | None:
        """For first(x) and the like, the attribute of x, if x is the same in all rows of
        each group; None for any other aggregate.

        Adding x to the groups changes neither the groups nor the rules for the other aggregates.
        """
        function = function_of(node)
        if not isinstance(function, ANY) or self.sets is not None:
            return None
        value = bare(value_of(function))
        if value.find(exp.AggFunc, exp.Window) or not has_identical_values(value, self.rows):
            return None
        if self._known(value) not in self.groups and not is_common(value, self.rows, frozenset(self.groups.values())):
            return None
        self.common.append(self._attribute(value, ""))
        return self.common[-1]

    def _call(self, node: exp.Expr, raw: exp.Expr, alias: str) -> str:
        """The attribute of an aggregate. Equal aggregates share one."""
        call = self._read(node, raw)
        key = call.without_ties().value
        if key not in self.calls:
            words = [call.function, "distinct" if call.distinct else "", short(call.argument) if call.argument else ""]
            made_up = "_".join(word for word in words if word) if call.function else described(node)
            self.calls[key] = replace(call, name=self.lowering.names.attribute(self.name, alias or made_up))
        return self.calls[key].name

    def _read(self, node: exp.Expr, raw: exp.Expr) -> Call:
        """The aggregate as an unnamed `Call` over attributes."""
        whole = node.copy()
        function = cast(exp.AggFunc, function_of(whole))
        if self._is_nested(whole, function, raw):
            return Call.of("", "count")
        what = unsettled(whole, self.rows, frozenset(() if self.sets is not None else self.groups.values()))
        if what is None and isinstance(whole, exp.Filter):
            whole = whole.this  # max_by leaves out rows without an order
        call = Call("", whole)
        if not call.function:
            user = whole.copy()
            for operand in operands_of(whole):
                operand.replace(column(self._attribute(bare(operand), "")))
            is_tied = what is not None and not self.lowering.catalog.has_untyped_functions
            return self._in_order(user, whole, raw, str(what)) if is_tied else call
        operand = bare(value_of(function))
        constant = isinstance(operand, exp.Literal | exp.Boolean) and not call.distinct
        name = "sum" if call.function == SUM_OF_SIZES else call.function  # abs(x) is an attribute
        everything = name == "count" and (constant or isinstance(operand, exp.Star))
        return Call.of("", name, None if everything else self._attribute(operand, ""), distinct=call.distinct)

    def _in_order(self, user: exp.Expr, written: exp.Expr, raw: exp.Expr, what: str) -> Call:
        """The aggregate in an order that determines its result. If there is none, that is reported."""
        found = finding(207, self.env.text.place(raw), function=what, reason=UNDER_REBUILD)
        groups = frozenset(() if self.sets is not None else self.groups.values())
        try:
            call = in_order(user, written, groups, self._facts, lambda value: self._attribute(value, ""))
        except CannotBreak as why:
            self.lowering.findings.append(replace(found, details={**found.details, "reason": str(why)}))
            return Call("", written)
        if isinstance(call, TiedCall):
            self.lowering.ties.append(found)
            self._extend_for(call)
        return call

    @cached_property
    def _facts(self) -> Facts:
        """Those of the rows with all their IDs."""
        return facts_of(infer_ids(self.rows))

    def _extend_for(self, call: TiedCall) -> None:
        """Extend the rows by their IDs, if the order of the call reads IDs that they lack."""
        new = dict(self.computed.values())
        read = {name for each in call.broken_by for name in attributes(new.get(each, column(each)))}
        if read <= {*self.rows.columns}:
            return
        self.rows = self._extended(self.rows)
        if self.sets is not None:
            again = self.sets.again
            self.sets.rows, self.sets.again = self.rows, lambda: self._extended(again())

    def _extended(self, rows: Operator) -> Operator:
        self.lowering.extend_by_ids(rows)
        return infer_ids(rows)

    def _is_nested(self, whole: exp.Expr, function: exp.AggFunc, raw: exp.Expr) -> bool:
        """Whether the aggregate contains another aggregate or a window function. If so, that is reported."""
        name = as_written(function).partition("(")[0].lower()
        if whole.find(exp.Grouping, exp.GroupingId):
            self._report(228, raw, what=f"grouping inside {name}")
            return True
        if all(each is function for each in whole.find_all(exp.AggFunc, exp.Window)):
            return False
        self._report(229, raw, what=f"an aggregate or a window function inside {name}")
        return True

    def _attribute(self, expression: exp.Expr, alias: str) -> str:
        """The attribute below γ that has the value of the expression."""
        if isinstance(expression, exp.Column):
            return expression.name
        key = self._known(expression)
        if key not in self.computed:
            name = self.lowering.names.attribute(self.name, alias or described(expression))
            self.computed[key] = (name, expression)
        return self.computed[key][0]

    def _alias(self, items: Sequence[SelectItem], expression: exp.Expr) -> str:
        """The alias of the select item that equals this expression; "" if there is none."""
        wanted = self._known(expression)
        return next((item.name for item in items if item.named and self._known(item.expression) == wanted), "")

    def _refuse_incomparable(self, below: Operator) -> None:
        """Report MIN, MAX and DISTINCT of values that cannot be compared."""
        place = self.env.text.place(self.node, "SELECT")
        for call in self.calls.values():
            distinct = call.value.find(exp.Distinct) is not None
            if distinct or call.function in ("min", "max"):
                use = f"{call.function or 'an aggregate'}{' DISTINCT' if distinct else ''}"
                self.lowering.findings += incomparable_attributes(call.arguments, below, place, use)

    def _below(self) -> Operator:
        """The input of γ: `rows`, under a π if γ reads computed values, or the ∪ of grouping sets."""
        if self.sets is not None:
            passed = {name: column(self.sets.output(name)) for call in self.calls.values() for name in call.arguments}
            self.calls = {key: call.over(passed) for key, call in self.calls.items()}
            return self.sets.united(tuple(self.groups.values())[: len(self.sets.keys)], dict(self.computed.values()))
        if not self.computed:
            return self.rows
        used = [*self.groups.values(), *self.common, *(name for call in self.calls.values() for name in call.arguments)]
        new = dict(self.computed.values())
        return Project(self.rows, tuple((name, new.get(name, column(name))) for name in dict.fromkeys(used)))

    def _report(self, code: int, node: exp.Expr, **details: str) -> None:
        self.lowering.findings.append(finding(code, self.env.text.place(node), **details))


def described(expression: exp.Expr) -> str:
    """A name made from the text of the expression."""
    return as_written(expression)[:_LONGEST]
