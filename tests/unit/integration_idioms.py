"""Idioms of real dbt projects: how a model of integration_tests/ is recognised as one that uses them.

The names and the order are those of the table in integration_tests/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.written_time import clock_calls
from dbt_idivm.operators.scan import Scan
from dbt_idivm.script.ties import ties
from tests.unit.integration_constructs import Used, is_newest

_TIME = re.compile(r"(_at|_on|_date|_start)$")
_AGES = (exp.DateDiff, exp.TsOrDsDiff, exp.TimestampDiff, exp.MonthsBetween, exp.Case, exp.If)
_FLAGS = (exp.Case, exp.If, exp.Cast)


def _is_audited(used: Used) -> bool:
    """Whether a column has the time of loading: it calls the clock and reads no column, or has the text of the run's start."""
    if "run_started_at" in used.model.path.read_text(encoding="utf-8"):
        return True
    values = [each for select in used.tree.find_all(exp.Select) for each in select.expressions]
    return any(clock_calls(each) and each.find(exp.Column) is None for each in values)


def _conditions(used: Used) -> list[exp.Expr]:
    whole = [each.this for each in used.tree.find_all(exp.Where, exp.Having)]
    return whole + [each.args["on"] for each in used.joins if each.args.get("on") is not None]


def _has_moving_window(used: Used) -> bool:
    """Whether the clock decides which rows count: in WHERE, HAVING or ON, or in CASE below an aggregate."""
    inner = [case for each in used.tree.find_all(exp.AggFunc) for case in each.find_all(exp.Case, exp.If)]
    return any(clock_calls(each) for each in (*_conditions(used), *inner))


def _has_age(used: Used) -> bool:
    """Whether a value of a select list is a time until now, or a flag that compares a column with the clock."""
    shown = [each for select in used.tree.find_all(exp.Select) for each in select.expressions if each.find(exp.AggFunc) is None]
    return any(clock_calls(node) and node.find(exp.Column) is not None for each in shown for node in each.find_all(*_AGES))


def _has_versions(used: Used) -> bool:
    """Whether a version ends where the next one begins: valid_to by LEAD over valid_from."""
    ends = [each for each in used.tree.find_all(exp.Alias) if each.alias == "valid_to"]
    return any(each.find(exp.Lead) is not None for each in ends)


def _has_sessions(used: Used) -> bool:
    """Whether the pauses since the row before, by LAG over a time, are added up to a number of the session."""
    gaps = any(_TIME.search(each.this.name) for each in used.tree.find_all(exp.Lag))
    running = [each.this for each in used.tree.find_all(exp.Window) if isinstance(each.this, exp.Sum) and each.args.get("order")]
    return gaps and any(isinstance(each.this, _FLAGS) or each.this.name.startswith("is_") for each in running)


def _has_last_known(used: Used) -> bool:
    """Whether a value is the last one that is not NULL, or the one of the latest time."""
    latest = any(_TIME.search(each.expression.name) for each in used.tree.find_all(exp.ArgMax))
    return latest or any(isinstance(each.this, exp.LastValue) for each in used.tree.find_all(exp.IgnoreNulls))


def _has_sequence(used: Used) -> bool:
    """Whether events are read in their order: the next one, the first one, all of them as a list, or one after another."""
    following = any(re.search(r"event|status", each.this.name) for each in used.tree.find_all(exp.Lead))
    listed = any(not isinstance(each.this, exp.Column) for each in used.tree.find_all(exp.ArrayAgg))
    return following or listed or used.has(exp.ArgMin, exp.First) or used.tree.sql().count("_at >= ") > 1


def _reads_undeclared(used: Used) -> bool:
    """Whether a source is read for which no key is declared."""
    return any(isinstance(each, Scan) and each.key is None and each.table.startswith("retail.") for each in used.plan.base_scans)


IDIOMS: Mapping[str, Callable[[Used], bool]] = {
    "audit columns": _is_audited,
    "windows of days": _has_moving_window,
    "ages": _has_age,
    "versions by LEAD": _has_versions,
    "the newest row of a log": lambda used: is_newest(used) and bool(ties(used.plan)),
    "sessions by LAG and a running sum": _has_sessions,
    "the last known value": _has_last_known,
    "sequences of events": _has_sequence,
    "undeclared keys": _reads_undeclared,
}
