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
    """How its refresh was asked for, what is stored of it, and as what it is to be maintained.

    `unverified`: input → its state at which its key was looked up last, where that is not the one that is read, and nobody looks
    it up (ADR 0022). None: a rebuild looks all keys up. `note`: what its commit is to say to people.
    """

    job: Job
    stored: StoredView
    planned: Planned
    unverified: Mapping[str, Consumed] | None = None
    note: Note = field(default_factory=Note)
