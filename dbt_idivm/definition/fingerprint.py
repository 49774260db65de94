"""Fingerprints of models: the parts of everything that the rows of a stored view depend on. It is rebuilt if one differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt_idivm.algebra.expressions import render
from dbt_idivm.context import PlainView
from dbt_idivm.definition.config import ModelConfig
from dbt_idivm.definition.facts import DescribedFunction, Facts
from dbt_idivm.definition.keys import Key
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.digests import digest
from dbt_idivm.frontend.dialect import code_of
from dbt_idivm.frontend.tables import depends_on_order
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ties import lowered_ties

CACHES = "caches"  # the part that refreshes may leave out
LAYOUT = "layout"  # the part that does not affect rows
TIES = "ties"  # the part of a SELECT with several right results


def used_columns(facts: Facts, plan: Plan | None) -> dict[str, dict[str, str]]:
    """Input → {column: type} for the columns that the plan reads (all columns without a plan), in the order of `*`."""
    found: dict[str, dict[str, str]] = {}
    for name, each in facts.tables.items():
        names = (
            None if plan is None else {a.name for scan in plan.base_scans if scan.table == each.table for a in scan.read_columns}
        )
        found[name] = {a.name: a.type for a in each.in_order if names is None or a.name in names}
    return found


def are_there(used: Mapping[str, Mapping[str, str]], columns: Mapping[str, Iterable[Attribute]]) -> bool:
    """Whether the columns that a view was built from (`used_columns`) are still there, with the same types. `columns`: those of
    the inputs."""
    there = {name: {each.name: each.type for each in found} for name, found in columns.items()}
    return all(there.get(name, {}).get(column) == kind for name, read in used.items() for column, kind in read.items())


def fingerprint(
    request: ModelRequest, config: ModelConfig, facts: Facts, keys: Mapping[str, Key], plan: Plan | None
) -> dict[str, str]:
    """The parts of everything that the stored rows depend on, except the rows of the inputs."""
    columns = _columns(plan) if plan else "the user's SELECT"
    caches = {CACHES: digest([(cache.table, cache.plan.digest) for cache in plan.caches])} if plan and plan.caches else {}
    used = used_columns(facts, plan)
    texts = (request.sql, *(view.text for view in facts.views.values()))
    # Wrong without it: where a column of a table is moved, a `*` pairs it with another column of a UNION.
    order = ([(name, *columns) for name, columns in used.items()],) if any(map(depends_on_order, texts)) else ()
    digests = digests_of(facts.functions)
    called = {"functions": digest(digests)} if digests else {}
    # Wrong without it: another key breaks ties in another way, and stored rows would keep the old one.
    broken = lowered_ties(plan) if plan else ()
    tied = {TIES: digest(broken)} if broken else {}
    return {
        # the texts of plain views are part of the definition
        "sql": digest(code_of(request.sql), {name: _definition(view) for name, view in facts.views.items()}),
        "keys": digest({name: key.columns for name, key in keys.items()}) if plan else "",
        "stored": digest(columns),
        "ansi": request.session.get("ansi", ""),
        "time_zone": request.session.get("time_zone", ""),
        **caches,
        **called,
        **tied,
        **({} if config.keeps_view else {"output": config.output}),
        "inputs": digest(used, *order),
        LAYOUT: config.layout,
    }


def _columns(plan: Plan) -> list[tuple[object, ...]]:
    """What the plan stores, in the order of the attributes, then of the times of writing."""
    times = ((each.name, each.place, render(each.definition)) for each in plan.times)
    return [*((c.name, c.attribute, c.hidden) for c in plan.columns), *times]


def _definition(view: PlainView) -> object:
    """Identity of a plain view: its text, and its columns unless they follow the text."""
    return code_of(view.text) if view.columns is None else (code_of(view.text), view.columns)


def digests_of(functions: Mapping[str, DescribedFunction | None]) -> dict[str, str]:
    """User function → hash of its definition, as far as they are described."""
    return {name: each.digest for name, each in functions.items() if each is not None}


def had_no_plan(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether the model had no plan before and has one now. Without a plan all columns count as read and there are no keys, so
    differences in those do not mean that the inputs have changed."""
    return before.get("keys") == "" and bool(now.get("keys"))
