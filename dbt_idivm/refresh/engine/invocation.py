"""What all models of one invocation share: look-ups that are made only once.

The first model that needs something looks it up, and others wait for it. dbt runs models in threads, so each look-up has a lock
of its own, held while its statement runs. Look-ups nest only from a model to its inputs, never back.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from dbt_idivm.cost.choice import Chooser, cheapest
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import Measure
from dbt_idivm.refresh.engine.steps import Steps, T


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    known: bool = False
    value: Any = None


class Invocation:
    """The memory of one `dbt run`. Keys are tuples whose second element is the table that they are about.

    `experience`: how long earlier refreshes took. `learn` adds to it, except for the first `warm_up` refreshes, because an engine
    that was just started is slower. `warm_up` counts down. `choose` selects one of the ways of a refresh and the rebuild.
    """

    def __init__(self, experience: Experience | None = None, warm_up: int = 2, choose: Chooser = cheapest) -> None:
        self._guard = threading.Lock()
        self._time: int | None = None
        self._slots: dict[Hashable, _Slot] = {}
        self.warm_up = warm_up
        self.has_learned = False
        self.experience = experience or Experience()
        self.choose = choose
        self._turns: dict[str, threading.Lock] = {}
        self._used: dict[str, frozenset[str]] = {}
        self._had: dict[str, set[str]] = {}
        self._rebuilt: set[str] = set()
        self._said: set[str] = set()

    def turn(self, what: str) -> threading.Lock:
        """Lock to hold while a cache of this name is refreshed or dropped, because models in other threads may share it; or while
        something else is done that other threads should wait for."""
        with self._guard:
            return self._turns.setdefault(what, threading.Lock())

    def use(self, model: str, caches: Iterable[str]) -> None:
        """Note the current caches of a model."""
        with self._guard:
            self._used[model] = frozenset(caches)
            self._had.setdefault(model, set()).update(self._used[model])

    def had(self, model: str) -> frozenset[str]:
        """All caches that the model has, or has had in this invocation."""
        with self._guard:
            return frozenset(self._had.get(model, ()))

    def uses(self, cache: str) -> bool:
        """Whether a model of this invocation has the cache."""
        with self._guard:
            return any(cache in used for used in self._used.values())

    def rebuild(self, cache: str) -> None:
        """Note that the full refresh of a model has rebuilt the cache."""
        with self._guard:
            self._rebuilt.add(cache)

    def has_rebuilt(self, cache: str) -> bool:
        with self._guard:
            return cache in self._rebuilt

    def says_first(self, code: str) -> bool:
        """Whether no model of this invocation has said yet what the message with this code explains."""
        with self._guard:
            is_first = code not in self._said
            self._said.add(code)
            return is_first

    def seconds(self) -> float:
        """A clock for durations in seconds; tests replace it."""
        return time.monotonic()

    def learn(self, view: str, way: str, measure: Measure | None, seconds: float) -> None:
        """Learn that a refresh of `view` by `way` took `seconds`. Without a measure the duration only counts for the warm-up."""
        with self._guard:
            self.warm_up -= 1
            if self.warm_up < 0 and measure is not None:
                self.experience = self.experience.learned(view, way, measure, seconds)
                self.has_learned = True

    def learn_reading(self, view: str, measure: Measure, seconds: float) -> None:
        """Learn that reading the changes of the inputs of `view` took `seconds`."""
        with self._guard:
            if self.warm_up <= 0:
                self.experience = self.experience.learned_reading(view, measure, seconds)

    def knows(self, key: Hashable) -> bool:
        """Whether `once` would run nothing for this key."""
        with self._guard:
            return key in self._slots and self._slots[key].known

    def known(self, key: Hashable) -> Any:
        """The result that `once` has remembered; None if it has not run."""
        with self._guard:
            return self._slots[key].value if key in self._slots and self._slots[key].known else None

    def now(self) -> dt.datetime:
        """The current time, for the age of commits; tests replace it."""
        return dt.datetime.now(dt.UTC)

    @property
    def time(self) -> int:
        """The time of this invocation, in microseconds since 1970: that at which it was first asked for."""
        with self._guard:
            if self._time is None:
                self._time = round((self.now() - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(microseconds=1))
            return self._time

    def once(self, key: Hashable, steps: Callable[[], Steps[T]]) -> Steps[T]:
        """The result of `steps`, which run only the first time. Failures are not remembered."""
        slot = self._slot(key)
        # closing the generator releases the lock, in case the runner gives up in between
        with slot.lock:
            if not slot.known:
                slot.value = yield from steps()
                slot.known = True
            return cast(T, slot.value)

    def remember(self, key: Hashable, value: Any) -> None:
        """Remember a value, so that `once` does not look it up."""
        slot = self._slot(key)
        with slot.lock:
            slot.known, slot.value = True, value

    def forget(self, *tables: str) -> None:
        """Forget everything about these tables: they were written, or their pinned version can no longer be read."""
        with self._guard:
            for key in [key for key in self._slots if isinstance(key, tuple) and key[1] in tables]:
                del self._slots[key]

    def _slot(self, key: Hashable) -> _Slot:
        with self._guard:
            return self._slots.setdefault(key, _Slot())
