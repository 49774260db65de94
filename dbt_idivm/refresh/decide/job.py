"""One refresh as it was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_idivm.refresh.decide.config import ModelConfig
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.protocol import ModelRequest
from dbt_idivm.script.dialect import Dialect


@dataclass(frozen=True)
class Job:
    """Whom to ask, what is wanted, and what the user is to be warned of."""

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
