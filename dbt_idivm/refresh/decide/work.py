"""One maintained relation in a refresh: the view, or one of its caches."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned


@dataclass(frozen=True)
class Work:
    """How its refresh was asked for, what is stored of it, and as what it is to be maintained.

    `verified`: the inputs whose keys are known to hold at the versions that are read.
    """

    job: Job
    stored: StoredView
    planned: Planned
    verified: frozenset[str] = frozenset()
