"""Time windows → a column `window` of the rows, as Spark expands them.

window(ts, '5 minutes')                 σ_{ts IS NOT NULL} and π of struct(start, end), start being ts without its rest
window(ts, '10 minutes', '4 minutes')   μ of the windows that may hold the row, and σ of those that do
session_window(ts, '5 minutes')         ω over the rows of the other groups: where a session starts, and where it ends
window_time(w)                          the last microsecond of w

One SELECT has one such window; its calls, and the name `window`, mean that column. Rows belong to one session if their times are
apart by no more than the gap; a change recomputes all sessions of its other groups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, attributes, call_name, column, identifier, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, infer_type
from dbt_idivm.algebra.types_of_times import TIMESTAMPS
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.group_by import GroupBy
from dbt_idivm.frontend.grouping_sets import has_sets
from dbt_idivm.frontend.resolve import Resolver, bare, own_nodes
from dbt_idivm.frontend.scope import Entry, Scope, Unknown
from dbt_idivm.frontend.select import items
from dbt_idivm.frontend.sessions import Session, of_distinct, of_groups
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import Project, Select, Unnest, Window
from dbt_idivm.operators.window import WindowCall

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

WINDOW, SESSION = "window", "session_window"  # the column has the name of the function
NAMES = frozenset({WINDOW, SESSION})
_OWN = "idivm_time"  # the qualifier of the column, which no user has
_UNITS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_DURATION = re.compile(rf"(?:interval\s+)?((?:\s*[+-]?\d+\s+(?:{'|'.join(_UNITS)})s?\b)+)\s*", re.IGNORECASE)
_PART = re.compile(r"([+-]?\d+)\s+([a-z]+?)s?\b", re.IGNORECASE)
_MOST = 200  # windows that a row may be in


def calls_in(node: exp.Select) -> list[exp.Expr]:
    """The time windows of a SELECT, outside of FROM and WHERE."""
    return [each for each in _nodes(node) if _is_window(each)]


def _nodes(node: exp.Select) -> list[exp.Expr]:
    """The nodes of the select list, GROUP BY and HAVING, without those of subqueries."""
    parts = [*node.expressions, *(node.args[key] for key in ("group", "having") if node.args.get(key))]
    return [each for part in parts for each in own_nodes(part)]


def misplaced(node: exp.Expr, text: Text) -> Finding | None:
    """A check for `refuse.py`: a time window that is no part of a select list, GROUP BY or HAVING, or has wrong arguments."""
    if not _is_window(node):
        return None
    above = node.find_ancestor(exp.Select)
    source = text.source(node)
    if above is None or not any(each is node for each in calls_in(above)):
        what = f"{source} outside of a select list, GROUP BY and HAVING (compute it in a subquery of FROM)"
        return finding(228, text.place(node), what=what)
    if len({each.sql(DIALECT) for each in calls_in(above)}) > 1:
        return finding(228, text.place(node), what=f"{source} and another time window in one SELECT")
    if has_sets(above.args.get("group")):
        return finding(228, text.place(node), what=f"{source} together with grouping sets")
    if call_name(node) == SESSION:
        if len(node.expressions) != 2:
            return finding(229, text.place(node), what=f"{source} with {len(node.expressions)} arguments")
        if of_distinct(_nodes(above)):
            return finding(228, text.place(node), what=f"{source} together with DISTINCT over several values, or with FILTER")
        return None if above.args.get("group") else finding(228, text.place(node), what=f"{source} without GROUP BY")
    durations = [_duration(each) for each in node.expressions[1:]]
    if not 1 <= len(durations) <= 3:
        return finding(229, text.place(node), what=f"{source} with {len(node.expressions)} arguments")
    known = [each for each in durations if each is not None]
    if len(known) < len(durations) or min(known[:2]) <= 0 or known[0] > known[:2][-1] * _MOST:
        what = f"{source}, whose durations are not literals such as '5 minutes', or differ too much"
        return finding(228, text.place(node), what=what)
    if known[:2][-1] > known[0]:
        return finding(229, text.place(node), what=f"{source}: windows that leave times out")
    is_late = len(known) > 2 and abs(known[2]) >= known[1]
    return finding(229, text.place(node), what=f"{source}: the start is not less than the slide") if is_late else None


def with_time_windows(
    lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope, name: str
) -> tuple[exp.Select, Operator, Scope]:
    """The rows with the column of the SELECT's time window, the SELECT that reads it, and the scope with it."""
    calls = calls_in(node)
    if not calls:
        return node, root, scope
    kind, call = call_name(calls[0]), calls[0]
    attribute = lowering.names.attribute(name, kind)
    scope = scope.plus(Scope((Entry((_OWN,), kind, attribute, hidden=True),)))
    rewritten = _reading(node, kind, scope)
    time = bare(Resolver(scope, env, lowering.findings).resolve(call.expressions[0]))
    of = infer_type(time, root.types)
    if of.this == Type.DATE:
        time = exp.Cast(this=time, to=exp.DataType(this=Type.TIMESTAMP))
    elif [each.name for each in of.expressions] == ["start", "end"]:  # a window of a window
        time = _last(time)
    elif of.this not in TIMESTAMPS:
        what = f"{env.text.source(call)} of {of.sql(DIALECT)} (CAST it to TIMESTAMP)"
        raise lowering.stopped_by(finding(228, env.text.place(call), what=what))
    made = _Times(lowering, root, name, attribute, time)
    if kind == WINDOW:
        known = [cast(int, _duration(each)) for each in call.expressions[1:]]
        return rewritten, made.fixed(known[0], known[:2][-1], known[2] if len(known) > 2 else 0), scope
    gap = bare(Resolver(scope, env, lowering.findings).resolve(call.expressions[1]))
    types = {**root.types, attribute: exp.DataType(this=Type.UNKNOWN)}
    groups = GroupBy(lowering, env, scope, tuple(items(lowering, rewritten, env, scope, types))).expressions(
        rewritten.args["group"]
    )
    session = lowering.sessions[attribute] = Session(env.text.source(call), env.text.place(call))
    lowering.findings.extend(of_groups(session, attribute, groups))
    others = [each for each in groups if attribute not in attributes(each)]
    return rewritten, made.sessions(gap, others), scope


@dataclass(frozen=True)
class _Times:
    """The operators of one time window over `rows`."""

    lowering: Lowering
    rows: Operator
    name: str
    attribute: str
    time: exp.Expr

    def fixed(self, duration: int, slide: int, offset: int) -> Operator:
        """The rows, each once for each window of these microseconds that it is in."""
        micros = _micros(self.time)
        rest = exp.Anonymous(this="pmod", expressions=[_less(micros, offset), exp.Literal.number(slide)])
        last = exp.Sub(this=micros.copy(), expression=rest)
        windows = [
            _window(_less(last, number * slide), _less(last, number * slide - duration))
            for number in range(-(-duration // slide))
        ]
        rows = Select(self.rows, _is_there(self.time))
        if len(windows) == 1:
            return Project(rows, (*passing(rows.columns), (self.attribute, windows[0])))
        place = self.lowering.names.attribute(self.name, "pos")
        root: Operator = Unnest(rows, exp.Array(expressions=windows), place, (self.attribute,), outer=False)
        if duration % slide:
            start, end = _part(self.attribute, "start"), _part(self.attribute, "end")
            root = Select(
                root, exp.and_(exp.GTE(this=self.time.copy(), expression=start), exp.LT(this=self.time.copy(), expression=end))
            )
        return root

    def sessions(self, gap: exp.Expr, groups: Sequence[exp.Expr]) -> Operator:
        """The rows with their sessions among those of the same `groups`, expressions over the rows."""
        names = self.lowering.names
        start, end, before, first, last = (
            names.attribute(self.name, each) for each in ("start", "end", "before", "first", "last")
        )
        keys = [each.name if isinstance(each, exp.Column) else names.attribute(self.name, "group") for each in groups]
        interval = exp.Cast(this=gap.copy(), to=exp.DataType(this=Type.INTERVAL))
        computed = {key: each.copy() for key, each in zip(keys, groups, strict=True) if not isinstance(each, exp.Column)}
        computed |= {start: _micros(self.time), end: _micros(exp.Add(this=exp.paren(self.time.copy()), expression=interval))}
        rows: Operator = Project(self.rows, (*passing(self.rows.columns), *computed.items()))
        rows = Select(rows, exp.GT(this=column(end), expression=column(start)))
        partition = tuple(dict.fromkeys(keys))
        earlier = _frame(exp.Literal.number(1), "PRECEDING")
        rows = Window(rows, partition, (_call(before, exp.Max(this=column(end)), start, earlier),))
        starts = exp.Or(
            this=exp.Is(this=column(before), expression=exp.null()),
            expression=exp.GT(this=column(start), expression=column(before)),
        )
        flag = names.attribute(self.name, "starts")
        beginning = exp.Case(ifs=[exp.If(this=starts, true=column(start))])
        rows = Project(rows, (*passing(rows.columns), (flag, beginning)))
        rows = Window(rows, partition, (_call(first, exp.Max(this=column(flag)), start, _frame("CURRENT ROW", None)),))
        rows = Window(rows, (*partition, first), (_call(last, exp.Max(this=column(end)), None, None),))
        return Project(rows, (*passing(rows.columns), (self.attribute, _window(column(first), column(last)))))


def _call(name: str, function: exp.Expr, order: str | None, frame: exp.WindowSpec | None) -> WindowCall:
    by = () if order is None else (exp.Ordered(this=column(order)),)
    return WindowCall(name, function, by, frame, exp.DataType.build("bigint"), True, False)


def _frame(end: exp.Expr | str, side: str | None) -> exp.WindowSpec:
    """RANGE from the first row to `end`."""
    return exp.WindowSpec(kind="RANGE", start="UNBOUNDED", start_side="PRECEDING", end=end, end_side=side)


def _micros(time: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="unix_micros", expressions=[time.copy()])


def _less(value: exp.Expr, number: int) -> exp.Expr:
    """value - number."""
    if not number:
        return value.copy()
    node = exp.Sub if number > 0 else exp.Add
    return node(this=value.copy(), expression=exp.Literal.number(abs(number)))


def _window(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """struct(start, end), from microseconds."""
    fields = {"start": start, "end": end}
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=identifier(key), expression=exp.Anonymous(this="timestamp_micros", expressions=[value.copy()]))
            for key, value in fields.items()
        ]
    )


def _part(attribute: str, field: str) -> exp.Expr:
    return exp.Dot(this=column(attribute), expression=identifier(field))


def _is_there(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and call_name(node) in NAMES


def _duration(node: exp.Expr) -> int | None:
    """The microseconds of a literal such as '1 hour 30 minutes'; None for anything else."""
    node = node.unnest()
    found = _DURATION.fullmatch(node.name.strip()) if isinstance(node, exp.Literal) and node.is_string else None
    return None if found is None else sum(int(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(found[1]))


def _reading(node: exp.Select, kind: str, scope: Scope) -> exp.Select:
    """The SELECT with the column in place of its calls, and of its name where FROM has no such column."""
    whole = node.copy()
    own = exp.column(kind, table=_OWN)
    for call in calls_in(whole):
        call.replace(own.copy())
    try:
        scope.find(kind)
    except Unknown:
        for each in _nodes(whole):
            if isinstance(each, exp.Column) and each.parts[0].name.lower() == kind:
                each.replace(exp.column(*(identifier(part.name) for part in reversed((identifier(_OWN), *each.parts)))))
    return whole


def window_time(tree: exp.Expr) -> None:
    """Write window_time(w) with functions of times; the tree is changed in place."""
    for call in [
        each for each in tree.find_all(exp.Anonymous) if call_name(each) == "window_time" and len(each.expressions) == 1
    ]:
        call.replace(_last(call.expressions[0]))


def _last(window: exp.Expr) -> exp.Expr:
    """The last microsecond of a window."""
    end = _micros(exp.Dot(this=window.copy(), expression=identifier("end")))
    return exp.Anonymous(this="timestamp_micros", expressions=[_less(end, 1)])
