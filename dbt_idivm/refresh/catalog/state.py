"""The state of a view: what its rows were computed from. The commit that changes the rows carries it, so the two cannot disagree.

It is JSON in Delta's `userMetadata`, read back from the view's own history.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dbt_idivm.cache_names import is_cache
from dbt_idivm.cost import sizes
from dbt_idivm.cost.sizes import Size
from dbt_idivm.definition.fingerprint import CACHES
from dbt_idivm.digests import digest
from dbt_idivm.refresh.catalog import note
from dbt_idivm.refresh.catalog.clock import Clock
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.relation_name import name_parts

FORMAT = 1
_OF_SQL = re.compile(r"[$'`;]|--|/\*")
MARK = "idivm"


@dataclass(frozen=True)
class Consumed:
    """The version of an input that the view was computed from. `table`: the Delta table that is read under the input's name."""

    table: str
    version: int
    at: str


@dataclass(frozen=True)
class Kept:
    """The caches chosen by `caches: auto` (ADR 0037): digests of the subviews, and the balance of seconds that they have saved,
    at most their price; without caches, the seconds that the best ones would have saved. `failures`: how often chosen caches did
    not pay off, or failed."""

    subviews: tuple[str, ...] = ()
    saved: float = 0.0
    failures: int = 0

    def given_up(self) -> Kept:
        """The choice after giving up the caches. The next choice has to promise twice as much."""
        return Kept((), 0.0, self.failures + 1)


NEVER = Kept((), -1e9)  # for a view whose chosen caches fail for a value


@dataclass(frozen=True)
class State:
    """What a commit of a view records about the view.

    `inputs`: input → consumed version. `plan`: parts of the fingerprint, so that a difference can be named.
    `request`: hash over everything that the refresh was asked with, before any look-up.
    `views`, `functions`: plain views and user functions that the SELECT uses → hash of each.
    `trusted`: False if the rows were computed from a part of the inputs. `volatile`: a rebuild would give other rows. `proof`:
    how the plan was found to mean what the SELECT means, or that it does not (`plan_proof.py`).
    `sizes`: table → its size at that version, if known; used for estimates only. The view's own size before the commit is
    included. `base`: the version of the view that the commit changed or kept rows of; None if it replaced all rows.
    `checked`: every key was looked up when the view was built and by each refresh since, except those in
    `unverified`: input → its version when its key was last looked up, if rebuilds have not done so since (ADR 0022). `layouts`:
    table → how its files stored the columns when it was described. `writes`: number of refreshes since the rows were built.
    `kept`: caches chosen by cost. `found`: input → columns of its key that nobody declared and that was found in its data
    (ADR 0063). `former`: caches of the previous state, which may still exist if the run was interrupted.
    `times`: column that has the time of writing → its definition. `clock`: the time, and the values of the clock at it.
    `note`: message of the commit to people; it is ignored when states are compared.
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
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    layouts: Mapping[str, str] = field(default_factory=dict)
    writes: int = 0
    former: tuple[str, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    clock: Clock | None = None
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
        """Digest of the definition whose rows the table has, regardless of caches. A view over the table may show it if it has
        the same."""
        return digest({part: value for part, value in self.plan.items() if part != CACHES})

    @property
    def has_unique_ids(self) -> bool:
        """Whether the IDs of a view whose newest commit has this state are unique by construction."""
        return self.trusted and self.checked and not self.unverified

    def json(self) -> str:
        """One line of ASCII without `$` and without SQL quotes and comments. It is sent in a SET command, and Spark may
        substitute variables in its text."""
        left_out = {"note", *(name for name in ("times", "clock", "found") if not getattr(self, name))}
        state = {name: value for name, value in asdict(self).items() if name not in left_out}
        parts = ({MARK: FORMAT, **state}, self.note.said)
        text = " ".join(json.dumps(each, ensure_ascii=True, separators=(",", ":"), sort_keys=True) for each in parts if each)
        return _OF_SQL.sub(lambda found: "".join(f"\\u{ord(each):04x}" for each in found[0]), text)


def read(text: str | None) -> State | None:
    """The state in a commit's user metadata; None if there is none, or it has an unknown format."""
    text = (text or "").strip()
    try:
        # the JSON is followed by the note, and by a query comment that dbt appends to the SET command
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
        kept, clock = found.pop("kept", None) or {}, found.pop("clock", None)
        return State(
            inputs=inputs,
            unverified=unverified,
            note=of_commit,
            former=tuple(found.pop("former", ())),
            times=dict(found.pop("times", {})),
            found={name: tuple(columns) for name, columns in found.pop("found", {}).items()},
            clock=None if clock is None else Clock(**clock),
            kept=Kept(tuple(kept.get("subviews", ())), float(kept.get("saved", 0)), int(kept.get("failures", 0))),
            sizes={name: size for name, size in read.items() if size is not None},
            **found,
        )
    except (AttributeError, TypeError, ValueError):
        return None


def encode(value: Any) -> str:
    """A value as a table property. It is hex-encoded, because Spark redacts properties that look like URLs or secrets."""
    return json.dumps(value).encode().hex()


def decode(text: str) -> Any:
    return json.loads(bytes.fromhex(text).decode())
