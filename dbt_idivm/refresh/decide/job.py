"""One requested refresh."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_idivm.definition.config import ModelConfig
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.script.dialect import Dialect


@dataclass(frozen=True)
class Job:
    """A requested refresh: the client of the engine, the request, its settings, and the warnings for the user."""

    client: Client
    request: ModelRequest
    config: ModelConfig
    warnings: list[str] = field(default_factory=list)

    @property
    def dialect(self) -> Dialect:
        return self.client.dialect

    @property
    def zone(self) -> str:
        """The session's time zone, in which commits show their times."""
        return self.request.session.get("time_zone", "UTC")
