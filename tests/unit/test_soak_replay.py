"""What a soak does depends on its seed alone, so that a failure can be played again in another process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests import soak

ROOT = Path(__file__).parents[2]
ACTIONS = 400


class Recorder:
    """A project that writes down what it is asked for, and its session."""

    def __init__(self) -> None:
        self.spark = self
        self.catalog = SimpleNamespace(clearCache=lambda: None)
        self.tables = dict.fromkeys((*sorted(soak.SOURCES), *soak.MODELS, "idivm_cache_orders", "logged__idivm_changes"), "table")

    def new_run(self) -> None:
        print("run")

    def sql(self, *statements: str) -> None:
        print(*statements, sep="\n")

    def version(self, table: str) -> int:
        return 7

    def move(self, session: Any) -> None:
        print("from now on another session")

    def refresh_in_run(self, model: Any, **changes: Any) -> Any:
        print(model.name, model.sql, changes)
        return SimpleNamespace(mode="incremental", relations=[("soak", name, "table") for name in self.tables])

    def relations(self) -> dict[str, str]:
        return self.tables

    def is_exact(self, model: Any) -> bool:
        return True

    def model(self, name: str, sql: str, *more: Any, **config: Any) -> Any:
        return SimpleNamespace(name=name, sql=sql)

    @contextmanager
    def in_session(self, session: Any) -> Iterator[None]:
        print("another session")
        yield


class Played(soak.Soak):
    """A soak of which no statement is executed."""

    def begin(self, name: str) -> Any:
        print("begin", name)

    def go_on(self, steps: Any, statements: int | None = None) -> None:
        print("go on", statements)

    def catch_up(self, name: str) -> None:
        print("catch up", name)

    def is_tidy(self) -> None:
        pass


def play(seed: int) -> None:
    project: Any = Recorder()
    played = Played(project, Path(), lambda: project, random.Random(seed), sys.stdout)
    while played.number < ACTIONS:
        played.act()


def played_with(seed: int, hashes: str) -> str:
    """In a process of its own, in which texts have other hashes."""
    command = [sys.executable, "-m", "tests.unit.test_soak_replay", str(seed)]
    environment = {**os.environ, "PYTHONHASHSEED": hashes}
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=True).stdout


def test_a_seed_gives_the_same_actions_in_each_process() -> None:
    first, second = played_with(7, "1"), played_with(7, "2")
    assert first == second
    assert all(f'"action": "{name}"' in first for name in soak.ACTIONS)


def test_no_duration_decides_what_is_chosen() -> None:
    project: Any = Recorder()
    Played(project, Path(), lambda: project, random.Random(7), sys.stdout).new_run()
    known = project.invocation.experience
    for _ in range(10):
        project.invocation.learn("view", "id", SimpleNamespace(), 60.0)
        project.invocation.learn_reading("view", SimpleNamespace(), 60.0)
    assert project.invocation.experience is known


if __name__ == "__main__":
    play(int(sys.argv[1]))
