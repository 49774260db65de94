"""Spark decides what a SELECT means: the query of the plan is compared with the user's own text before it is run.

Names and types are always compared. Then Spark's optimised plans of both: equal plans are a proof. If they differ, the rows of
both queries are compared as bags before anything is written (`verify_build`). A plan that means something else is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, cast, get_args

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.decimals import average_type, is_integral, sum_type
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.guards import without_guards
from dbt_idivm.algebra.types import has_exact_order, is_float, type_of
from dbt_idivm.digests import digest
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.aggregate import Aggregate, Call
from dbt_idivm.passes.void_keys import compared
from dbt_idivm.refresh.catalog.clock import Clock, expressions_at, values_of
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, pinned_query
from dbt_idivm.refresh.checks.ambiguous_literals import numbers_in_literals
from dbt_idivm.refresh.checks.bag_difference import differences
from dbt_idivm.refresh.checks.plan_expressions import Unreadable
from dbt_idivm.refresh.checks.plan_text import normal_form
from dbt_idivm.refresh.checks.union_types import differing_branches
from dbt_idivm.refresh.engine.client import Client, Columns, listed_columns
from dbt_idivm.refresh.engine.commands import ALL_COLUMNS
from dbt_idivm.refresh.engine.scoped import temporarily
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.additive import Additive
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query
from dbt_idivm.script.ties import ties, without_ties

# plans: equal plans; rows: equal rows; unchecked: not compared; differs: other rows; fails: an error for rows that the SELECT
# accepts; clock: a guard on texts failed; part: a cache, judged together with its view
How = Literal["plans", "rows", "unchecked", "differs", "fails", "clock", "part"]
LARGEST_CHECKED = 1 << 30  # bytes of all inputs, under `verify_build: auto`
# By default Spark truncates long lists of columns, types of wide structs, and long plans. For folded constants it shows only the
# value, not the type: y / 3 may be a quotient by a DECIMAL(1, 0) or by a DECIMAL(10, 0). Delta looks for the files to be read, a
# job for each table, while Spark optimises a plan; the plan is the same without it.
_WHOLE = {
    **ALL_COLUMNS,
    "spark.databricks.delta.stats.skipping": "false",
    "spark.sql.maxPlanStringLength": "100000000",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
}
_OF_TIES = "; the SELECT has tied rows, which may be the only reason"
_OURS, _THEIRS = "the planned query", "the model's SELECT"
_SENTENCES: Mapping[How, str] = {
    "plans": "proven: Spark's optimised plans of the SELECT and of this plan are equal",
    "rows": "checked: the SELECT and this plan gave the same rows when the view was built",
    "unchecked": "not checked: Spark's optimised plans of the SELECT and of this plan differ, and their rows were not compared",
    "differs": "this plan does not mean what the SELECT means, and is not used",
    "fails": "this plan fails for rows for which the SELECT does not, and is not used",
    "clock": "a text in the data holds only a time, so this plan is not used",
    "part": "judged with the view that reads it",
}


@dataclass(frozen=True)
class Proof:
    """How a plan was found to mean what the user's SELECT means, or not. `key` identifies both.

    `difference`: why it does not. `evidence`: text for people, if the plans are not equal.
    """

    how: How
    key: str
    difference: Finding | None = None
    evidence: str = ""

    def __str__(self) -> str:
        return f"{self.how}:{self.key}"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.how]

    @property
    def refusal(self) -> Finding | None:
        """Why the plan is not used; None if it is used."""
        before = "this was found when the view was built"
        match self.how:
            case "differs":
                return self.difference or finding(905, difference=before)
            case "fails":
                return self.difference or finding(233, message=before)
            case "clock":
                return finding(236)
        return None


def read(text: str) -> Proof | None:
    """Parse the proof in a state; None if there is none."""
    how, _, key = text.partition(":")
    return Proof(cast(How, how), key) if how in get_args(How) else None


@dataclass(frozen=True)
class Question:
    """A plan and the SELECT that it was made from, over the same versions of the inputs."""

    sql: str
    plan: Plan
    inputs: Inputs
    dialect: Dialect
    clock: Clock | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.plan.visible

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns with one value at any time: all but the times of writing."""
        return tuple(each.name for each in self.plan.columns if not each.hidden)

    @property
    def over_tables(self) -> Plan:
        """The plan with its caches replaced by their queries."""
        return over_tables(self.plan, self.plan.caches)

    @property
    def stored(self) -> exp.Select:
        """The query whose rows are stored."""
        return full_query(self.over_tables, self.binding)

    @property
    def binding(self) -> Binding:
        return Binding(self.versions, dialect=self.dialect, clock=values_of(self.clock))

    @property
    def versions(self) -> dict[str, int]:
        return {found.table: found.version for found in self.inputs.tables.values() if found.version is not None}

    @property
    def ours(self) -> exp.Select:
        """What the planner understood: the compared columns of the stored rows, without guards, and with the user's orders. A
        guard can only fail, and the build will show that. Expressions of the clock are at the time of the user's SELECT, and not
        their values: a plan does not show that these are equal."""
        plan = replace(self.over_tables, root=without_ties(self.over_tables.root))
        written = expressions_at(self.clock, plan.clock) if self.clock is not None else {}
        return self._of_compared(cast(exp.Select, without_guards(full_query(plan, replace(self.binding, written=written)))))

    @property
    def theirs(self) -> exp.Expr:
        """The user's SELECT."""
        return pinned_query(self.dialect, self.sql, self.inputs, self.clock)

    # Wrong without it: Spark's plans have the time at which each of the two queries was planned.
    @property
    def theirs_compared(self) -> exp.Expr:
        """The compared columns of the user's SELECT."""
        return self._of_compared(self.theirs) if self.plan.times else self.theirs

    def _of_compared(self, query: exp.Expr) -> exp.Select:
        return exp.Select(expressions=[column(name, "v") for name in self.compared]).from_(subquery(query, "v"))

    def key(self, fingerprint: Mapping[str, str]) -> str:
        """Hash that is equal for the same SELECT, read in the same way by the same version of the planner."""
        query = full_query(self.over_tables, Binding(dialect=self.dialect))
        return digest(planner_version(), self.dialect.sql(query), dict(fingerprint))


@cache
def planner_version() -> str:
    """The version of this package; "" if it is not installed."""
    try:
        return version("dbt-idivm")
    except PackageNotFoundError:  # run from its sources
        return ""


def judge(client: Client, question: Question, key: str, verify_build: str) -> Steps[Proof]:
    """Judge whether the plan means what the SELECT means. Raises EngineFailure if Spark refuses the SELECT itself."""
    difference, evidence = yield from temporarily(client, _WHOLE, _difference(client, question))
    if difference is None and not evidence:
        return Proof("plans", key)
    if difference is None and verify_build != "never":
        if verify_build == "auto" and (yield from _size(client, question.inputs.tables)) > LARGEST_CHECKED:
            return Proof("unchecked", key, None, evidence)
        try:
            difference = yield from _rows_differ(client, question)
        except EngineFailure as failure:
            if verify_build == "always":
                raise
            return Proof("unchecked", key, None, evidence + _evidence(("Comparing their rows failed", failure.error.message)))
        if difference is None:
            return Proof("rows", key, None, evidence)
    if difference is None:
        return Proof("unchecked", key, None, evidence)
    return Proof("differs", key, finding(905, difference=difference + _OF_TIES * bool(ties(question.plan))), evidence)


def _difference(client: Client, question: Question) -> Steps[tuple[str | None, str]]:
    """A difference in names and types (None if there is none), and the evidence if the plans differ or prove nothing ("" if they
    are equal)."""
    theirs, ours = client.dialect.sql(question.theirs_compared), client.dialect.sql(question.ours)
    stored_sql = client.dialect.sql(question.stored)
    wanted = yield from client.columns(client.dialect.sql(question.theirs), _THEIRS)
    try:
        stored = yield from client.columns(stored_sql, _OURS)
    except EngineFailure as failure:
        return f"Spark refuses it: {failure.first_line}", _evidence((_THEIRS, theirs), (_OURS, ours))
    difference = _misread(question, wanted, stored)
    if difference is None:
        difference = yield from differing_branches(client, question.over_tables, question.binding)
    first = yield from _explained(client, client.commands.explain_query(theirs, _THEIRS))
    second = yield from _explained(client, client.commands.explain_query(ours, _OURS))
    # folding to constants hides types, and not every engine can switch it off
    if difference is None and client.engine.fixed is None and _are_equal((first, second), (theirs, ours)):
        return None, ""
    return difference, _evidence(
        (_THEIRS, theirs), (_OURS, ours), (f"Spark's plans of {_THEIRS}", first), (f"Spark's plans of {_OURS}", second)
    )


def _explained(client: Client, statement: Statement) -> Steps[str]:
    """Spark's plans; or the error message, which proves nothing."""
    try:
        rows = yield from client.ask(statement)
    except EngineFailure as failure:
        return failure.error.message
    return "\n".join(str(row[0]) for row in rows.rows)


# Spark's plans do not show whether these ignore NULLs.
_SHIFTED = re.compile(r"\b(lag|lead)\(")
_WITHOUT_NULLS = re.compile(r"\bignore\s+nulls\b", re.IGNORECASE)


def _are_equal(plans: tuple[str, str], texts: tuple[str, str]) -> bool:
    if any(map(_SHIFTED.search, plans)) and any(map(_WITHOUT_NULLS.search, texts)):
        return False
    try:
        literal = numbers_in_literals(*texts)
        first, second = (normal_form(plan, literal) for plan in plans)
    except Unreadable:
        return False
    return first == second


def _misread(question: Question, wanted: Columns, stored: Columns) -> str | None:
    """How the columns differ from what the planner assumed; None if they do not."""
    types = dict(stored)
    ours = tuple((name, types.get(name, "none")) for name in question.columns)
    if ours != wanted:
        return f"it has the columns {listed_columns(ours)} instead of {listed_columns(wanted)}"
    for attribute in compared(question.plan.root):
        if types.get(question.plan.stored(attribute)) == "void":
            return (
                f"it compares rows by {question.plan.stored(attribute)}, whose type is void, and NULLs of this type never match"
            )
    for name, relied_upon in _relied_upon(question.plan).items():
        actual = types.get(name, "none")
        # what sqlglot takes for an integer may be a decimal without a fraction, such as ceil(x), which is equally exact
        if actual != relied_upon and not (relied_upon == "bigint" and actual.startswith("decimal(")):
            return f"it assumes that {name} has type {relied_upon}, but the type is {actual}"
    for name in _ordered(question.plan):
        kind = types.get(name, "none")
        if not has_exact_order(type_of(kind)) or " collate " in kind.lower():
            return f"it treats equal values of {name} as identical, but its type is {kind}"
    return None


def _relied_upon(plan: Plan) -> dict[str, str]:
    """Stored column → type, for columns maintained by adding, which is exact only for these types. Nothing depends on the types
    of other columns."""
    additive = plan.way("additive")
    if not isinstance(additive, Additive):
        return {}
    results = {
        call.name: _result_type(additive.state.aggregate, call) for rule, call in additive.state.calls if rule.extreme is None
    }
    return {each.name: results[each.attribute] for each in plan.columns if each.attribute in results}


def _result_type(aggregate: Aggregate, call: Call) -> str:
    """Spark's type of a count, sum or average that is maintained by adding."""
    if call.function == "count":
        return "bigint"
    kind = aggregate.child.types[call.argument or ""]
    if call.function == "avg":
        return "double" if is_integral(kind) else average_type(kind)
    return sum_type(kind)


def _ordered(plan: Plan) -> list[str]:
    """Stored columns with minima and maxima that are maintained by adding."""
    additive = plan.way("additive")
    extremes = {call.name for _, call in additive.state.extremes} if isinstance(additive, Additive) else set()
    return [each.name for each in plan.columns if each.attribute in extremes]


def _size(client: Client, tables: Mapping[str, Input]) -> Steps[int]:
    """Total bytes of the inputs, according to their logs."""
    total = 0
    for name in sorted({found.table for found in tables.values()}):
        rows = yield from client.ask(client.commands.detail(name))
        total += sum(int(row.get("sizeInBytes") or 0) for row in rows.dicts())
    return total


def _rows_differ(client: Client, question: Question) -> Steps[str | None]:
    """A row that the two queries return in different numbers of copies, as text; None if there is none.

    Two evaluations of the same sum of floats may differ in the last digits, so floats are then compared again with fewer digits.
    """
    found = yield from _compared(client, question, {})
    if found is None:
        return None
    types = dict((yield from client.columns(client.dialect.sql(question.theirs), _THEIRS)))
    floats = {name: kind for name, kind in types.items() if is_float(type_of(kind))}
    return (yield from _compared(client, question, floats)) if floats else found


def _compared(client: Client, question: Question, rounded: Mapping[str, str]) -> Steps[str | None]:
    cells = [exp.cast(column(name), "float") if name in rounded else column(name) for name in question.compared]
    query = differences(subquery(question.ours, "ours"), subquery(question.theirs, "theirs"), question.compared, cells)
    rows = yield from client.read(query.limit(1), "compare the plan's rows with the SELECT's")
    if not rows.rows:
        return None
    *row, copies = rows.rows[0]
    values = ", ".join(f"{name}={value}" for name, value in zip(question.compared, row, strict=True))
    return f"it has {abs(int(copies))} too {'many' if int(copies) > 0 else 'few'} of the row ({values})"


def _evidence(*parts: tuple[str, str]) -> str:
    return "\n".join(f"-- {title}\n{text.strip()}\n" for title, text in parts)
