"""The settings of a profile of `type: idivm_databricks`: dbt-databricks' own, plus settings that refreshes need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.databricks.credentials import DatabricksCredentials
from dbt.adapters.databricks.utils import is_cluster_http_path

from dbt.adapters.idivm.own_type import LikeDatabricks

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.engine import Engine


@dataclass(repr=False)
class IdivmDatabricksCredentials(DatabricksCredentials):
    """dbt-databricks' credentials, with the time zone of sessions and the folder of learned durations."""

    time_zone: str = "UTC"
    # Relative to the project's folder; None means `.idivm` there.
    state_dir: str | None = None

    @property
    def type(self) -> str:
        return LikeDatabricks("idivm_databricks")

    @property
    def is_embedded(self) -> bool:
        """False: this type has no Spark of its own."""
        return False

    @property
    def is_cluster(self) -> bool:
        """Whether the profile's own compute is a cluster instead of a SQL warehouse."""
        return is_cluster_http_path(self.http_path or "", self.cluster_id)

    @property
    def method(self) -> str:
        """The counterpart of the connection method of type `idivm`. It is part of the
        key of an engine, together with the host.
        """
        return f"databricks {'cluster' if self.is_cluster else 'warehouse'} {self.http_path}"

    @property
    def engine(self) -> Engine:
        """The `Engine` of the profile's own compute, for work outside of a refresh."""
        return self.engine_beside("")

    def engine_beside(self, relation: str) -> Engine:
        """The `Engine` of the profile's own compute, for work on that relation."""
        from dbt.adapters.idivm_databricks.session import engine_for

        return engine_for(self, relation, "", is_cluster=self.is_cluster)

    def resolve_paths(self, project_root: str | Path) -> None:
        """Make the state folder absolute."""
        self.state_dir = str(Path(project_root, self.state_dir or ".idivm").expanduser())

    def __repr__(self) -> str:
        """The credentials without the token."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.connection_info())})"

    def _connection_keys(self, *, with_aliases: bool = False) -> tuple[str, ...]:
        return (*super()._connection_keys(with_aliases=with_aliases), "time_zone")
