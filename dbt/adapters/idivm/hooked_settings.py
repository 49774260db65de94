"""Settings of the session that hooks of a model have changed, of those that its rows depend on.

The state of a view says under which ANSI mode and in which time zone its rows were computed. These are the profile's, and each
connection begins with them. Only a hook can change them before a refresh.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt.adapters.idivm.credentials import ANSI, TIME_ZONE
from dbt_idivm.errors import IdivmError, finding

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.engine import Engine


def check_settings(model: Mapping[str, Any], connections: Any, engine: Engine, time_zone: str) -> None:
    """Raise IDIVM-126 if a pre-hook of the model has changed such a setting. `time_zone`: the profile's."""
    if not (model["config"].get("pre-hook") or model["config"].get("pre_hook")):
        return
    for setting, wanted in ((ANSI, "true"), (TIME_ZONE, time_zone)):
        value = _value(connections, engine, setting)
        if value is not None and value.lower() != wanted.lower():
            raise IdivmError(finding(126, setting=setting, value=value, wanted=wanted))


def _value(connections: Any, engine: Engine, setting: str) -> str | None:
    """The value of the setting in this thread's session; None if that cannot be asked."""
    if engine.fixed is None:
        _, rows = connections.run(engine.commands.read_option(setting).sql, True)
        return str(rows[0][1]) if rows else None
    if setting != TIME_ZONE:  # sessions of a warehouse show no settings
        return None
    _, rows = connections.run("SELECT current_timezone()", True)
    return str(rows[0][0])
