"""Notes: what a commit tells people about its refresh, such as why it was a rebuild and how long it was estimated to take. No
decision depends on a note.

A note is JSON behind the state in the commit's metadata. Readers of the state stop before it, and so do older versions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from sys import float_info
from typing import Any

from dbt_idivm.errors import Finding

MOST = 200  # characters of a reason: people read the history of a table as one page
# Details of findings that quote the engine, and with it rows: readers of the view's log may not be allowed to read its inputs.
_QUOTES = ("message", "difference")
_CUT = "…"


@dataclass(frozen=True)
class Note:
    """`reason`: code and sentence in one short line. `estimate`: seconds; None if nothing was estimated. `edits`: summary of the
    edits of the definition under which the stored rows were migrated; "" if they were not."""

    reason: str = ""
    estimate: float | None = None
    edits: str = ""

    def because(self, reason: Finding | None) -> Note:
        """The note with this reason, shortened and without quotes of the engine."""
        if reason is None:
            return replace(self, reason="")
        quotes = {name: _CUT for name in _QUOTES if name in reason.details}
        return replace(self, reason=_short(replace(reason, details={**reason.details, **quotes}).summary))

    @property
    def said(self) -> dict[str, Any]:
        """The non-empty parts, as the JSON object to be stored."""
        parts = (("reason", self.reason), ("estimate", self.estimate), ("edits", self.edits))
        return {name: value for name, value in parts if value not in ("", None)}


def read(text: str) -> Note:
    """The note at the beginning of `text`; an empty note if there is none or it is something else."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text.strip())
    except (ValueError, RecursionError):
        return Note()
    if not isinstance(found, dict):
        return Note()
    reason = found.get("reason")
    edits = found.get("edits")
    return Note(
        _short(reason) if isinstance(reason, str) else "",
        seconds(found.get("estimate")),
        _short(edits) if isinstance(edits, str) else "",
    )


def seconds(value: Any) -> float | None:
    """A non-negative number, such as a duration in seconds, from JSON that others may have written; None if it is anything
    else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= float_info.max:
        return None
    return float(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST else line[: MOST - 1] + _CUT
