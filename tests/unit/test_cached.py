"""Facts that are kept in a node are worked out without a lock: dbt plans several models at once."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import dbt_idivm
from dbt_idivm.cached import cached_property

WAIT = 10  # seconds, for what takes none


class Upper:
    """A node that asks the one below it; both threads are inside their first node when they ask for the second."""

    def __init__(self, below: Lower | None = None, both: threading.Barrier | None = None) -> None:
        self.below, self.both, self.asked = below, both, 0

    @cached_property
    def fact(self) -> int:
        self.asked += 1
        if self.both is not None:
            self.both.wait(WAIT)
        return 1 if self.below is None else self.below.fact + 1


class Lower:
    """A node of another class, above one of the first as well as below it."""

    def __init__(self, below: Upper | None = None, both: threading.Barrier | None = None) -> None:
        self.below, self.both = below, both

    @cached_property
    def fact(self) -> int:
        if self.both is not None:
            self.both.wait(WAIT)
        return 1 if self.below is None else self.below.fact + 1


def test_two_threads_do_not_wait_for_each_other() -> None:
    both = threading.Barrier(2)
    nodes = (Upper(Lower(), both), Lower(Upper(), both))
    found: list[int] = []
    threads = [threading.Thread(target=lambda node=node: found.append(node.fact), daemon=True) for node in nodes]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert found == [2, 2]


def test_a_fact_is_worked_out_once() -> None:
    node = Upper()
    assert (node.fact, node.fact, node.asked) == (1, 1, 1)
    assert Upper.fact is not None, "of the class it is the property itself"


def test_there_is_no_other() -> None:
    root = Path(dbt_idivm.__file__).parent
    for file in root.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "functools" and file.name != "cached.py":
                assert "cached_property" not in {each.name for each in node.names}, file
