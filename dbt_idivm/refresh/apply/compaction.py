"""Compaction: after every N refreshes the small files of a table are merged (OPTIMIZE). If the user wants it, files that are no
longer referenced are also removed (VACUUM, within the table's retention period).

Each refresh adds files and marks rows of older files as deleted. Without compaction, reading a view would get slower with every
refresh.
"""

from __future__ import annotations

from dbt_idivm.refresh.apply.watermark import writes_after
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


def compact(job: Job, before: StoredView) -> Steps[None]:
    """Compact a table that a refresh has just written, if it is due. `before`: the stored view before that write.

    A failure, such as a concurrent writer or an engine that refuses the command, becomes a warning; the next due time tries
    again.
    """
    every, writes = job.config.optimize_every, writes_after(before)
    if not every or not writes or writes % every:
        return
    commands, table = job.client.commands, before.table
    try:
        yield from job.client.ask(commands.optimize(table))
        if job.config.vacuum:
            yield from job.client.ask(commands.vacuum(table))
    except EngineFailure as failure:
        job.warnings.append(f"{table} was refreshed, and could not be compacted: {failure.first_line}")
