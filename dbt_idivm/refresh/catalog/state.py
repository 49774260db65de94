"""The state of a view: what it was built from, written into the commit that changes its rows (one commit, one truth).

It is JSON in Delta's `userMetadata`, read back from the view's own history.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dbt_idivm.cache_names import is_cache
from dbt_idivm.cost import sizes
from dbt_idivm.cost.sizes import Size
from dbt_idivm.refresh.catalog import note
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.relation_name import name_parts

FORMAT = 1
CACHES = "caches"  # the part of a plan that a refresh may leave out
_OF_SQL = re.compile(r"[$'`;]|--|/\*")
MARK = "idivm"


@dataclass(frozen=True)
class Consumed:
    """The state of one input that the view was computed from. `table` is the Delta table that is read for the name."""

    table: str
    version: int
    at: str


@dataclass(frozen=True)
class Kept:
    """What `caches: auto` keeps (ADR 0037): the digests of subviews, and the seconds that these saved, or would have saved if
    there are none, as far as they still count. `failures`: how often what was kept turned out not to pay, or failed."""

    subviews: tuple[str, ...] = ()
    saved: float = 0.0
    failures: int = 0

    def given_up(self) -> Kept:
        """Nothing is kept; the next time has to promise twice as much."""
        return Kept((), 0.0, self.failures + 1)


NEVER = Kept((), -1e9)  # of a view whose chosen caches fail for a value


@dataclass(frozen=True)
class State:
    """What one commit of a view says about it.

    `plan` are the parts of the fingerprint, so that a difference can be named; `request` is a hash over all that the
    refresh was asked with, before any look-up. `views` and `functions` of the user's that the SELECT reads and calls: by what
    each is known again. An untrusted state was built from a part of the inputs; a
    volatile one would come out otherwise if it were built again. `proof`: how the plan was found to mean what the SELECT
    means, or that it does not (`proof.py`). `sizes`: table → its size at that version, for estimates only, as far as they are
    known; the view's own, before the commit, is among them. `base`: the version of the view that the commit changed rows of, or
    whose rows it left; None if it replaced all of them. `checked`: every key was looked up when the view was built, and by each
    refresh since, except those of `unverified`: input → its state at which its key was looked up last, where rebuilds have not
    since (ADR 0022).
    `layouts`: table → how its files held the columns when it was described. `writes`: of refreshes since the rows were built.
    `kept`: the intermediate caches that were chosen by cost. `former`: caches of the state before, which may be there still if
    the run was interrupted. `note`: what its commit says to people; states that differ in it
    alone are the same.
    """

    inputs: Mapping[str, Consumed]
    plan: Mapping[str, str]
    request: str = ""
    views: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    trusted: bool = True
    volatile: bool = False
    proof: str = ""
    sizes: Mapping[str, Size] = field(default_factory=dict)
    base: int | None = None
    checked: bool = False
    unverified: Mapping[str, Consumed] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    layouts: Mapping[str, str] = field(default_factory=dict)
    writes: int = 0
    former: tuple[str, ...] = ()
    note: Note = field(default_factory=Note, compare=False)

    @property
    def versions(self) -> dict[str, int]:
        """Table → version."""
        return {consumed.table: consumed.version for consumed in self.inputs.values()}

    @property
    def caches(self) -> tuple[str, ...]:
        """The intermediate caches among the inputs."""
        return tuple(name for name in self.inputs if is_cache(name_parts(name)[-1]))

    @property
    def base_versions(self) -> dict[str, int]:
        """Table → version, without the caches."""
        return {each.table: each.version for name, each in self.inputs.items() if name not in self.caches}

    @property
    def shown(self) -> str:
        """What these rows are the rows of, whichever caches they were made by: a view over the table shows them if it was made
        for the same."""
        return digest({part: value for part, value in self.plan.items() if part != CACHES})

    def json(self) -> str:
        """One line of ASCII without `$` and without quotes and comments of SQL: it travels in a SET command, whose text Spark may
        put variables into."""
        state = {name: value for name, value in asdict(self).items() if name != "note"}
        parts = ({MARK: FORMAT, **state}, self.note.said)
        text = " ".join(json.dumps(each, ensure_ascii=True, separators=(",", ":"), sort_keys=True) for each in parts if each)
        return _OF_SQL.sub(lambda found: "".join(f"\\u{ord(each):04x}" for each in found[0]), text)


def read(text: str | None) -> State | None:
    """The state in a commit's user metadata; None if there is none, or of a format that this version does not know."""
    text = (text or "").strip()
    try:
        # behind the JSON are the note, and a query comment that dbt appends to the SET command
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop(MARK, None) != FORMAT:
        return None
    return _state(found, note.read(text[end:]))


def _state(found: dict[str, Any], of_commit: Note) -> State | None:
    try:
        inputs, unverified = (
            {name: Consumed(**consumed) for name, consumed in found.pop(part, default).items()}
            for part, default in (("inputs", None), ("unverified", {}))
        )
        known = found.pop("sizes", None)
        read = {name: sizes.read(each) for name, each in known.items()} if isinstance(known, dict) else {}
        kept = found.pop("kept", None) or {}
        return State(
            inputs=inputs,
            unverified=unverified,
            note=of_commit,
            former=tuple(found.pop("former", ())),
            kept=Kept(tuple(kept.get("subviews", ())), float(kept.get("saved", 0)), int(kept.get("failures", 0))),
            sizes={name: size for name, size in read.items() if size is not None},
            **found,
        )
    except (AttributeError, TypeError, ValueError):
        return None


def digest(*parts: Any) -> str:
    """A short hash over values that JSON can hold."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode(value: Any) -> str:
    """A value as a table property: hex, because Spark redacts properties that look like URLs or secrets."""
    return json.dumps(value).encode().hex()


def decode(text: str) -> Any:
    return json.loads(bytes.fromhex(text).decode())
