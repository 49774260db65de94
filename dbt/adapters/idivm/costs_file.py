"""The durations of refreshes, kept in the project's `.idivm/costs.json` between runs, separately for each engine.

Losing the file affects speed, not correctness: contents that cannot be read are ignored, reported once, and replaced.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

from dbt.adapters.idivm.state_folder import make_state_folder
from dbt_idivm.cost.experience import VERSION, Experience, read
from dbt_idivm.replaced_file import replace_file

NAME = "costs.json"
_MOST_ENGINES = 20


def engine_identity(credentials: Any) -> str:
    """The key of an engine: durations of another engine are not comparable. A server has its own machine."""
    if credentials.is_embedded:
        return f"embedded {platform.node()} {os.cpu_count() or 0} cores"
    return f"{credentials.method} {credentials.host}:{getattr(credentials, 'port', '')}"


class CostsFile:
    """The file of one project, for one engine."""

    def __init__(self, path: Path, engine: str) -> None:
        self.path, self.engine = path, engine

    def load(self) -> tuple[Experience, str | None]:
        """(experience with this engine, a warning if parts of the file cannot be used)."""
        try:
            found = self._content()
        except FileNotFoundError:
            return Experience(), None
        except (OSError, ValueError, RecursionError) as error:
            return Experience(), f"{self.path} cannot be read ({error}), so what refreshes cost is estimated without experience"
        if found.get("version") != VERSION:
            return Experience(), (
                f"{self.path} is of another version ({found.get('version')!r}), so what refreshes cost is "
                "estimated without experience"
            )
        engines = found.get("engines")
        if not isinstance(engines, dict) or self.engine not in engines:
            return Experience(), f"{self.path} has no durations of this engine ({self.engine}) yet" if engines else None
        experience, is_whole = read(engines[self.engine])
        return experience, None if is_whole else f"{self.path} has figures that are not durations or prices; they are ignored"

    def _content(self) -> dict[str, Any]:
        """The parsed file. Raises OSError or ValueError."""
        found = json.loads(self.path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
        return found

    def save(self, experience: Experience) -> None:
        """Replace the file atomically, keeping its entries for other engines. Raises OSError."""
        try:
            found = self._content()
        except (OSError, ValueError, RecursionError):
            found = {}
        others = found.get("engines") if found.get("version") == VERSION else None
        kept = {name: each for name, each in others.items() if name != self.engine} if isinstance(others, dict) else {}
        engines = dict(list(kept.items())[-(_MOST_ENGINES - 1) :])
        text = json.dumps({"version": VERSION, "engines": {**engines, self.engine: experience.json()}}, indent=1)
        make_state_folder(self.path.parent)
        replace_file(self.path, text.encode("utf-8"))
