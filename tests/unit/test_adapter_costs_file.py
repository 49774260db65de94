"""The file of durations: kept for each engine, replaced in one step, and ignored where it is of no use."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.idivm.costs_file import CostsFile, engine_identity
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import Measure

LEARNED = Experience().learned("main.v", "id", Measure(merges=1, nodes=10), 5.0)


@pytest.fixture
def file(tmp_path: Path) -> CostsFile:
    return CostsFile(tmp_path / ".idivm" / "costs.json", "here")


def test_it_is_read_back(file: CostsFile) -> None:
    assert file.load() == (Experience(), None)
    file.save(LEARNED)
    assert file.load() == (LEARNED, None)
    assert {each.name for each in file.path.parent.iterdir()} == {".gitignore", "costs.json"}, "no draft is left"


def test_each_engine_has_its_own(file: CostsFile) -> None:
    file.save(LEARNED)
    other = CostsFile(file.path, "elsewhere")
    found, warning = other.load()
    assert found == Experience() and "no durations of this engine (elsewhere)" in (warning or "")
    other.save(Experience())
    assert file.load() == (LEARNED, None) and other.load() == (Experience(), None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[1]", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (json.dumps({"version": 2, "engines": {}}), "another version"),
        ("{}", "another version"),
        (json.dumps({"version": 1, "engines": {"here": {"prices": {"merges": 0}, "ratios": {}}}}), "not durations or prices"),
        (json.dumps({"version": 1, "engines": {"here": 5}}), "not durations or prices"),
        (
            '{"version": 1, "engines": {"here": {"prices": {"merges": NaN}, "ratios": {"main.v": {"id": [Infinity, 1e999]}}}}}',
            "not durations or prices",
        ),
    ],
)
def test_what_is_of_no_use_is_ignored_and_said(file: CostsFile, content: Any, words: str) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, warning = file.load()
    assert found == Experience() and words in (warning or "")
    file.save(LEARNED)
    assert file.load() == (LEARNED, None)


def test_a_folder_in_its_place(file: CostsFile) -> None:
    file.path.mkdir(parents=True)
    assert "cannot be read" in (file.load()[1] or "")
    with pytest.raises(OSError, match="costs"):
        file.save(LEARNED)
    assert [each.name for each in file.path.parent.iterdir()] == ["costs.json"], "no draft is left"


def test_threads_may_save_at_once(file: CostsFile) -> None:
    """Each reader sees a whole file."""
    threads = [threading.Thread(target=lambda: [file.save(LEARNED) for _ in range(20)]) for _ in range(4)]
    file.save(LEARNED)
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads):
        assert file.load() == (LEARNED, None)
    for each in threads:
        each.join()


def test_engines_are_recognised() -> None:
    embedded = SimpleNamespace(is_embedded=True)
    server = SimpleNamespace(is_embedded=False, method="thrift", host="spark", port=10000)
    assert engine_identity(embedded).startswith("embedded ") and " cores" in engine_identity(embedded)
    assert engine_identity(server) == "thrift spark:10000"
