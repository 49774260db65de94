"""One maintained relation in a refresh: the view, or one of its caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.refresh.catalog.state import Consumed
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned


@dataclass(frozen=True)
class Work:
    """The job of its refresh, what is stored, and how it will be maintained.

    `unverified`: input → its version when its key was last looked up, if that is not the version that is read and the refresh
    does not look it up either (ADR 0022). None: a rebuild looks up all keys. `note`: the message of its commit.
    """

    job: Job
    stored: StoredView
    planned: Planned
    unverified: Mapping[str, Consumed] | None = None
    note: Note = field(default_factory=Note)
