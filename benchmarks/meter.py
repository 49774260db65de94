"""What Spark did between two points: jobs, rows and bytes, from its own status store, which exists without the web UI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Work:
    """Jobs, and sums over their stages: what was read from files (Delta's log included) and caches, and written to files."""

    jobs: int = 0
    bytes_read: int = 0
    rows_read: int = 0
    bytes_written: int = 0
    rows_written: int = 0


class Meter:
    """Counts the jobs of the whole process: nothing else may run between `start` and `stop`."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext._jsc.sc()
        self._store = self._context.statusStore()
        self._first = 0  # number of the next job

    def start(self) -> None:
        self._first = self._next_job()

    def stop(self) -> Work:
        """The work since `start`."""
        self._context.listenerBus().waitUntilEmpty()
        jobs = [self._store.job(number) for number in range(self._first, self._next_job())]
        stages = {int(number) for job in jobs for number in _each(job.stageIds())}
        done = [self._store.lastStageAttempt(number) for number in stages]
        return Work(
            len(jobs),
            *(
                sum(int(getattr(stage, name)()) for stage in done)
                for name in ("inputBytes", "inputRecords", "outputBytes", "outputRecords")
            ),
        )

    def _next_job(self) -> int:
        return int(self._context.dagScheduler().numTotalJobs())


def _each(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala sequence."""
    elements = sequence.iterator()
    while elements.hasNext():
        yield elements.next()
