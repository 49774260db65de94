"""Window functions of one SELECT → π for their inputs, and one ω for each PARTITION BY; above GROUP BY, below DISTINCT.

A function is maintained if its value is determined. RANK is the same for rows that ORDER BY does not distinguish. ROW_NUMBER is
not, so its partition and order must determine the row: a declared key does, and so does anything that determines a key. Where
they do not, the order is completed (`ties.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, passing
from dbt_idivm.algebra.inference import certain_type, determined_by
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.cached import cached_property
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.aggregate import described
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.numbered import is_determined, numbered
from dbt_idivm.frontend.resolve import Canonical, bare, canonical, own_nodes, without_nulls_clause
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.ties import UNDER_REBUILD, CannotBreak, completed
from dbt_idivm.frontend.types import incomparable_attributes
from dbt_idivm.operators import Project, Window
from dbt_idivm.operators.aggregate import FUNCTIONS, Call
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.annotate import Facts, facts_of
from dbt_idivm.passes.infer_ids import infer_ids

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering
    from dbt_idivm.frontend.select import Item

# Functions that are equal for rows that ORDER BY does not distinguish; then functions that are not.
_RANKS: Mapping[type[exp.Expr], str] = {exp.Rank: "int", exp.DenseRank: "int", exp.PercentRank: "double", exp.CumeDist: "double"}
_NUMBERS: Mapping[type[exp.Expr], str] = {exp.RowNumber: "int", exp.Ntile: "int"}
_VALUES = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.First, exp.Last)
_AGGREGATES: Mapping[type[exp.Expr], str] = {node: name for name, node in FUNCTIONS.items()}
INSTEAD = "idivm_instead"  # metadata of a function: the finding to report if its value is not determined
_HEADS = (*_RANKS, *_NUMBERS, *_VALUES, *_AGGREGATES, exp.CountIf)


def is_windowed(node: exp.Select) -> bool:
    """Whether the select list contains window functions."""
    return any(isinstance(each, exp.Window) for item in node.expressions for each in own_nodes(item))


def refused(node: exp.Expr, text: Text) -> Finding | None:
    """A check for `refuse.py`: window functions and clauses that Spark does not have or that have no rule."""
    if isinstance(node, exp.Qualify):
        what = "QUALIFY, which Spark SQL does not have (use WHERE in an outer query)"
        return finding(228, text.place(node, "QUALIFY"), what=what)
    if not isinstance(node, exp.Window):
        return None
    head, above = without_nulls_clause(node.this), node.find_ancestor(exp.Select)
    known = {each.name: each for each in above.args.get("windows") or ()} if above else {}
    meant = known.get(node.alias) if node.args.get("alias") else None
    if isinstance(node.this, exp.Identifier):  # a definition
        if not node.args.get("alias") or (meant is not None and not meant.args.get("alias")):
            return None
        return finding(229, text.place(node), what=f"WINDOW {node.name} AS {node.alias}, where {node.alias} is not a window")
    if any(each is not node for each in node.find_all(exp.Window)):
        return finding(228, text.place(node), what="a window function inside a window function")
    wrong = None
    if node.args.get("alias") and meant is None:
        outer = above.find_ancestor(exp.Select) if above else None
        if outer is not None and any(each.name == node.alias for each in outer.args.get("windows") or ()):
            return finding(228, text.place(node), what=f"OVER {node.alias}, which is a window of the outer query")
        wrong = f"OVER {node.alias}, which no WINDOW defines"
    elif isinstance(head, exp.Filter):
        wrong = "FILTER of a window function"
    elif isinstance(head.this, exp.Distinct):
        wrong = "DISTINCT in a window function"
    elif isinstance(head, exp.Func) and not isinstance(head, (*_HEADS, exp.AggFunc, exp.Anonymous)):
        wrong = f"{text.source(head)} OVER, which is not a window function"
    return None if wrong is None else finding(229, text.place(node), what=wrong)


@dataclass
class Windowing:
    """Builds the ωs of one SELECT over `rows`."""

    lowering: Lowering
    env: Env
    rows: Operator
    name: str
    computed: dict[Canonical, tuple[str, exp.Expr]] = field(default_factory=dict)  # expression → attribute, definition
    calls: dict[tuple[str, ...], list[WindowCall]] = field(default_factory=dict)  # by PARTITION BY
    known: dict[Canonical, str] = field(default_factory=dict)  # window → attribute
    placed: list[tuple[tuple[str, ...], WindowCall, exp.Expr]] = field(default_factory=list)  # with the user's expression

    def apply(self, items: Sequence[Item]) -> tuple[Operator, tuple[Item, ...]]:
        """(rows with the values of all window functions, the items over them)."""
        found = tuple(replace(item, expression=self._over_windows(item)) for item in items)
        below = self._below()
        for partition, call, raw in self.placed:
            place = self.env.text.place(raw)
            self.lowering.findings += incomparable_attributes(partition, below, place, "PARTITION BY")
            self.lowering.findings += incomparable_attributes(tuple(sorted(call.reads)), below, place, "a window function")
        facts = facts_of(infer_ids(below)) if any(_is_positional(call) for _, call, _ in self.placed) else None
        if facts is not None and self._arbitrary(facts):
            if (numbers := self._numbers(below, found, facts)) is not None:
                return numbers, found
            below = self._without_ties(below, facts)
        for partition, calls in self.calls.items():
            below = Window(below, partition, tuple(calls))
        return below, found

    def _over_windows(self, item: Item) -> exp.Expr:
        """The item's expression with window functions replaced by attributes."""
        whole = bare(item.expression).copy()

        def value(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Window):
                return node
            return column(self._call(node, item.raw, item.name if node is whole and item.named else ""))

        return whole.transform(value, copy=False)

    def _call(self, node: exp.Window, raw: exp.Expr, alias: str) -> str:
        """The attribute of a window function. Equal ones share one."""
        key = canonical(node, self._types)
        if key not in self.known:
            name = self.lowering.names.attribute(self.name, alias or described(node.this))
            partition = tuple(
                dict.fromkeys(self._attribute(each) for each in node.args.get("partition_by") or () if each.find(exp.Column))
            )
            call = self._read(node, name)
            self.calls.setdefault(partition, []).append(call)
            self.placed.append((partition, call, raw))
            self.known[key] = name
        return self.known[key]

    def _read(self, node: exp.Window, name: str) -> WindowCall:
        """The function over attributes, with its type."""
        function = self._over_attributes(node.this)
        order = tuple(self._over_attributes(each) for each in (node.args["order"].expressions if node.args.get("order") else ()))
        kind, certain, total = self._typed(without_nulls_clause(node.this), name)
        spec = node.args.get("spec")
        return WindowCall(name, function, order, spec, kind, certain, total)

    def _typed(self, head: exp.Expr, name: str) -> tuple[exp.DataType, bool, bool]:
        """(type of a function's result, whether that type is certain, whether the result is never NULL)."""
        number = {**_RANKS, **_NUMBERS}.get(type(head))
        if number is not None:
            return exp.DataType.build(number), True, True
        types, certain = self._types, self.rows.certain_types
        if isinstance(head, _VALUES):
            surely = certain_type(head.this, certain)
            return surely or infer_type(head.this, types), surely is not None, False
        function = _AGGREGATES[type(head)]
        argument = bare(head.this)
        surely = certain_type(argument, certain)
        call = Call.of(name, function, "argument")
        result = call.certain_type({"argument": surely} if surely is not None else {})
        inferred = infer_type(argument, types) if not isinstance(argument, exp.Star) else exp.DataType.build("int")
        return result or call.type({"argument": inferred}), result is not None, function == "count"

    def _over_attributes(self, node: exp.Expr) -> exp.Expr:
        """A function or an item of ORDER BY, with the expressions that it reads replaced by attributes."""
        whole = node.copy()
        for holder in list(whole.find_all(exp.Ordered, *_HEADS)):
            for key, value in list(holder.args.items()):
                if isinstance(value, exp.Expr) and value.find(exp.Column) and not isinstance(value, _HEADS):
                    holder.set(key, column(self._attribute(bare(value))))
        return whole

    def _attribute(self, expression: exp.Expr) -> str:
        """The attribute below ω that has the value of the expression."""
        expression = bare(expression)
        if isinstance(expression, exp.Column):
            return expression.name
        key = canonical(expression, self._types)
        if key not in self.computed:
            name = self.lowering.names.attribute(self.name, described(expression))
            self.computed[key] = (name, expression.copy())
        return self.computed[key][0]

    @cached_property
    def _types(self) -> Mapping[str, exp.DataType]:
        return self.rows.types

    def _below(self) -> Operator:
        """The input of ω: `rows`, under a π if ω reads computed values."""
        if not self.computed:
            return self.rows
        return Project(self.rows, (*passing(self.rows.columns), *self.computed.values()))

    def _arbitrary(self, facts: Facts) -> list[tuple[tuple[str, ...], WindowCall, exp.Expr]]:
        """The functions that depend on the order of rows which ORDER BY does not distinguish, as in `placed`."""
        return [each for each in self.placed if _is_positional(each[1]) and not _is_distinguishing(each[1], each[0], facts)]

    def _numbers(self, below: Operator, items: Sequence[Item], facts: Facts) -> Operator | None:
        """The rows with numbers that may be assigned arbitrarily; None if the items show which row has which number."""
        (partition, call, raw), *others = self.placed
        if others or any(INSTEAD in each.this.meta for each in raw.find_all(exp.Window)):
            return None
        used = frozenset(name for item in items for name in attributes(item.expression)) - {call.name}
        if not is_determined(call, partition, used, below, facts):
            return None
        return numbered(call, partition, used, below, self.lowering.names)

    def _without_ties(self, below: Operator, facts: Facts) -> Operator:
        """The input of ω with all that orders are completed by. The calls get their completed orders, or are reported."""
        texts: dict[str, tuple[str, exp.Expr]] = {}

        def computed(value: exp.Expr) -> str:
            name, definition = texts.get(value.sql(), ("", value))
            name = name or self.lowering.names.attribute(self.name, described(value))
            texts[value.sql()] = (name, definition)
            return name

        names: set[str] = set()
        for partition, call, raw in self._arbitrary(facts):
            function = next(each for each in raw.find_all(exp.Window)).this
            found = function.meta.get(INSTEAD) or finding(
                203, self.env.text.place(raw), what=self.env.text.source(function), reason=UNDER_REBUILD
            )
            try:
                whole = completed(call, partition, facts, computed)
            except CannotBreak as why:
                self.lowering.findings.append(replace(found, details={**found.details, "reason": str(why)}))
                continue
            self.lowering.ties.append(found)
            names.update(whole.broken_by)
            self.calls[partition] = [whole if each.name == call.name else each for each in self.calls[partition]]
        if not names - {name for name, _ in texts.values()} <= {*below.columns}:
            self.lowering.extend_by_ids(below)
            below = facts.node
        return Project(below, (*passing(below.columns), *texts.values())) if texts else below


def _is_distinguishing(call: WindowCall, partition: tuple[str, ...], facts: Facts) -> bool:
    """Whether ORDER BY distinguishes all rows of a partition."""
    keys = {each.this.name for each in call.order if isinstance(each.this, exp.Column)}
    return facts.unique and determined_by(frozenset({*partition, *keys}), facts.dependencies) >= {*facts.ids}


def _is_positional(call: WindowCall) -> bool:
    """Whether the value may differ for rows that ORDER BY does not distinguish."""
    head = without_nulls_clause(call.function)
    if isinstance(head, (*_NUMBERS, *_VALUES)):
        return True
    if isinstance(head, tuple(_RANKS)) or call.frame is None:
        return False
    whole = all(call.frame.args.get(end) == "UNBOUNDED" for end in ("start", "end"))
    return str(call.frame.args.get("kind")).upper() == "ROWS" and not whole


def windowed(lowering: Lowering, env: Env, root: Operator, items: Sequence[Item], name: str) -> tuple[Operator, tuple[Item, ...]]:
    """(rows with the window functions of a select list, the list over them)."""
    if not any(item.expression.find(exp.Window) for item in items):
        return root, tuple(items)
    return Windowing(lowering, env, root, name).apply(items)
