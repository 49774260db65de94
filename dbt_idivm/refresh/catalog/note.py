"""What a commit says of its refresh to people: why it was a rebuild, and what it was estimated to take. Nothing is decided by it.

It is JSON behind the state in the commit's metadata. Who reads the state stops before it, as versions do that know no notes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from sys import float_info
from typing import Any

from dbt_idivm.errors import Finding

MOST = 200  # characters of a reason: the history of a table is read as a whole
# Details of findings that quote the engine, and with it rows: who may read the view's log may not read all of its inputs.
_QUOTES = ("message", "difference")
_CUT = "…"


@dataclass(frozen=True)
class Note:
    """`reason`: code and sentence, in one short line; `estimate`: seconds, None where nothing was estimated; `edits`: in which
    way the definition changed that stored rows were taken over into, "" if they were not."""

    reason: str = ""
    estimate: float | None = None
    edits: str = ""

    def because(self, reason: Finding | None) -> Note:
        """With that reason."""
        if reason is None:
            return replace(self, reason="")
        quotes = {name: _CUT for name in _QUOTES if name in reason.details}
        return replace(self, reason=_short(replace(reason, details={**reason.details, **quotes}).summary))

    @property
    def said(self) -> dict[str, Any]:
        """What JSON has of it; empty if there is nothing to say."""
        parts = (("reason", self.reason), ("estimate", self.estimate), ("edits", self.edits))
        return {name: value for name, value in parts if value not in ("", None)}


def read(text: str) -> Note:
    """The note at the beginning of the text; one that says nothing if there is none, or something else."""
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
    """A duration, or another number that is not negative, of JSON that somebody else may have written; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= float_info.max:
        return None
    return float(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST else line[: MOST - 1] + _CUT
