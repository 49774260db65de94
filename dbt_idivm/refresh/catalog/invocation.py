"""What all models of one invocation share: pinned versions, facts of inputs, net diffs, checked keys.

The first model that needs something looks it up; others wait for it. dbt runs models in threads, so each look-up has a
lock of its own, held while its statement runs. Look-ups nest only from a model to its inputs, never back.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.engine.client import Engine, Steps, T

_PAGE = 10  # commits; one takes as long as twenty


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    known: bool = False
    value: Any = None


class Invocation:
    """The memory of one `dbt run`."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._slots: dict[Hashable, _Slot] = {}

    def now(self) -> dt.datetime:
        """The time, for the age of commits; tests put another clock here."""
        return dt.datetime.now(dt.UTC)

    def once(self, key: Hashable, steps: Callable[[], Steps[T]]) -> Steps[T]:
        """The result of `steps`, which run the first time only. A failure is not remembered."""
        slot = self._slot(key)
        # closing the generator releases the lock, should the runner give up in between
        with slot.lock:
            if not slot.known:
                slot.value = yield from steps()
                slot.known = True
            return cast(T, slot.value)

    def pinned(self, engine: Engine, table: str) -> Steps[Commit]:
        """The commit of `table` that every model of this invocation reads: the newest one at the first question."""
        return (yield from self._page(engine, table))[0]

    def since(self, engine: Engine, table: str, version: int, known: int) -> Steps[tuple[Commit, ...]]:
        """As `history.since`, of what was looked up for `pinned` if that reaches from `version` to `known`."""
        page = yield from self._page(engine, table)
        if page[-1].version <= version and max(version, known) <= page[0].version:
            return tuple(commit for commit in page if commit.version >= version)
        return (yield from self.once(("since", table, version), lambda: history.since(engine, table, version, known)))

    def pin(self, table: str, commit: Commit) -> None:
        """A commit of `table` that is known to be the newest: a refreshed view's own."""
        slot = self._slot(("pin", table))
        with slot.lock:
            slot.known, slot.value = True, (commit,)

    def _page(self, engine: Engine, table: str) -> Steps[tuple[Commit, ...]]:
        """The pinned commit and some before it: they cost nothing, and who has read one of them asks for those since."""
        return (yield from self.once(("pin", table), lambda: history.newest(engine, table, _PAGE)))

    def forget(self, *tables: str) -> None:
        """Ask anew for these tables: they were written, or their pinned version cannot be read any more."""
        with self._guard:
            for key in [key for key in self._slots if isinstance(key, tuple) and key[1] in tables]:
                del self._slots[key]

    def _slot(self, key: Hashable) -> _Slot:
        with self._guard:
            return self._slots.setdefault(key, _Slot())
