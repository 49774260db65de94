"""The maintenance policy of what refreshes write: after so many of them a table's small files are put together (OPTIMIZE), and,
if the user wants it, the files that nothing refers to any more are removed (VACUUM, within the table's retention period).

Each refresh adds files, and marks rows of older ones as deleted: without it reading a view takes longer with every refresh.
"""

from __future__ import annotations

from dbt_idivm.refresh.apply.watermark import writes_after
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


def compact(job: Job, before: StoredView) -> Steps[None]:
    """Put the files of a table together that a refresh has just written to, if it is time. `before`: what was stored.

    Another writer at the same time, or an engine that refuses it, is no failure of the refresh: the next time comes.
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
