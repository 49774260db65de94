"""A driver in the place of the refresh driver: tests of the materialization see what it is asked and decide what it does."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Generator
from typing import Any

import pytest

# whatever imports names of the modules that are replaced has them from the real ones
import dbt_idivm.refresh.driver
import dbt_idivm.refresh.forecast
import dbt_idivm.verify  # noqa: F401
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.engine.engine import EMBEDDED, Engine
from dbt_idivm.refresh.protocol import Artifacts, InputChange, Outcome, Reply, Statement

Steps = Generator[Statement, Reply, Outcome]


class FakeDriver:
    """Builds a model's table on the first run and counts it afterwards; keeps what it was asked and answered."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.invocations: list[Any] = []
        self.replies: list[Reply] = []
        self.kind = "table"
        self.extra: list[Statement] = []
        self.change: Callable[[Outcome], Outcome] = lambda outcome: outcome
        self.error: Exception | None = None

    def refresh(self, request: ModelRequest, invocation: Any, engine: Engine) -> Steps:
        assert engine is EMBEDDED
        self.requests.append(request)
        self.invocations.append(invocation)
        name = f"{request.schema}.{request.identifier}"
        for statement in self.extra:
            self.replies.append((yield statement))
        if self.error:
            raise self.error
        mode = "noop"
        if request.existing != self.kind:
            mode = "create"
            if request.existing:
                yield Statement(f"drop {request.existing} {name}", "write", f"drop {name}", fetch=False)
            using = "using delta" if self.kind == "table" else ""
            create = f"create {self.kind} {name} {using} as {request.sql}"
            self.replies.append((yield Statement(create, "write", f"create {name}", fetch=False)))
        inputs = {"people": InputChange(3, 5, 2), "town": InputChange(None, 1)}
        relations = ((request.schema, request.identifier, self.kind),)
        files = {"plan.txt": "σ a plan\n", "delta_script.sql": "-- steps\n"}
        message = "incremental: +1 ~2 -3"
        return self.change(
            Outcome(mode, "id", None, 1, 2, 3, 1, inputs, message, relations, Artifacts("1", lambda: files, "{}\n"))
        )

    def equivalence(
        self, schema: str, identifier: str, as_of: str, *, database: str, engine: Engine
    ) -> Generator[Statement, Reply, str]:
        assert engine is EMBEDDED and database == ""
        reply = yield Statement(f"select count(*) as n from {schema}.{identifier}", "read", "count")
        self.replies.append(reply)
        return f"select '{as_of}' as difference where {'true' if as_of == 'now' else 'false'}"


def _no_memory(invocation: Any, *given: Any) -> None:
    """The driver here needs none."""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    fake = FakeDriver()
    modules = {
        "dbt_idivm.refresh.driver": {"refresh": fake.refresh},
        "dbt_idivm.refresh.engine.invocation": {
            "Invocation": type(
                "Invocation", (), {"__init__": _no_memory, "has_learned": False, "warm_up": 2, "seconds": lambda self: 0.0}
            )
        },
        "dbt_idivm.verify": {"equivalence": fake.equivalence},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    return fake


@pytest.fixture
def models(project: Any) -> Any:
    project.write("models/people.sql", "{{ config(materialized='table') }} select 1 as id, 'Ann' as name")
    project.write("models/v.sql", "{{ config(materialized='idivm') }} select id, name from {{ ref('people') }}")
    return project
