"""User functions in the catalog: the whole definition of SQL functions, and the class of all others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dbt_idivm.definition.facts import DescribedFunction, SqlFunction
from dbt_idivm.digests import digest
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps

_SQL = "sqlFunction."  # the class of SQL functions, and the prefix of keys in their definitions
_SPARKS = "org.apache.spark.sql.catalyst.expressions."
_MADE_UP = "$$Lambda"  # starts the part of a class name that differs between sessions
# These do not change the value of a call.
_ASIDE = frozenset({f"{_SQL}comment", f"{_SQL}createTime"})
_OF_DELTA = "sqlConfig.spark.databricks.delta."  # some of these settings change with each commit


def describe_function(client: Client, name: str) -> Steps[DescribedFunction]:
    """The function that a call by this name means now. Another model of the invocation may see another one, created by its hooks
    or session."""
    try:
        rows = yield from client.ask(client.commands.describe_function(name))
    except EngineFailure as failure:
        return DescribedFunction(name, "", problem=f"Spark cannot describe it: {failure.first_line}")
    return described(name, (str(row[0]) for row in rows.rows))


def described(name: str, lines: Iterable[str]) -> DescribedFunction:
    """Parse the lines of DESCRIBE FUNCTION EXTENDED."""
    shown: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        shown.setdefault(key, value.strip())
    full, kind = shown.get("Function", ""), shown.get("Class", "").partition(_MADE_UP)[0]
    if kind.startswith(_SPARKS):
        return DescribedFunction(name, "", problem="it is one of Spark's own functions, and there is no rule for it")
    if kind != _SQL:
        problem = "" if kind else "DESCRIBE FUNCTION EXTENDED does not show what it is"
        return DescribedFunction(name, digest(full, kind), problem=problem)
    try:
        definition: Mapping[str, str] = json.loads(shown.get("Usage", ""))
        function = SqlFunction(
            definition.get(f"{_SQL}expression", ""),
            definition.get(f"{_SQL}inputParam", ""),
            definition[f"{_SQL}returnType"],
            definition[f"{_SQL}isTableFunc"] != "false",
            definition[f"{_SQL}deterministic"] == "true",
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return DescribedFunction(name, "", problem="DESCRIBE FUNCTION EXTENDED shows its definition in an unknown form")
    known = {key: value for key, value in definition.items() if key not in _ASIDE and not key.startswith(_OF_DELTA)}
    return DescribedFunction(name, digest(full, known), function)
