"""Which Java is there, and which of the resolved JARs pyspark has already."""

from __future__ import annotations

import json
import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm import jars
from dbt.adapters.idivm.java import check_java, java_major
from dbt.adapters.idivm.lock import hold_lock


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("no such thing", None),
    ],
)
def test_java_major(text: str, major: int | None) -> None:
    assert java_major(text) == major


def test_java_home_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(DbtRuntimeError, match=r"no bin/java in it\. Install Java 17"):
        check_java()


def test_shipped_jars_are_left_out() -> None:
    resolved = [
        "/ivy/io.delta_delta-spark_4.1_2.13-4.4.0.jar",
        "/ivy/com.fasterxml.jackson.core_jackson-core-2.13.5.jar",
        "/ivy/org.apache.hadoop_hadoop-client-api-3.4.2.jar",
        "/ivy/io.delta_delta-storage-4.4.0.jar",
    ]
    assert jars._without_shipped(resolved) == [resolved[0], resolved[3]]


def test_jars_are_resolved_once_and_again_when_a_file_has_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jar = tmp_path / "io.delta_delta-spark_4.1_2.13-4.4.0.jar"
    jar.touch()
    calls: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "_resolve", lambda coordinates, _: calls.append(coordinates) or [str(jar)])
    assert jars.delta_jars({}) == jars.delta_jars({}) == [str(jar)]
    assert calls == [jars.delta_coordinates()]
    jar.unlink()
    jars.delta_jars({})
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("spark", "delta", "expected"),
    [
        ("4.1.4", "4.4.0", "io.delta:delta-spark_4.1_2.13:4.4.0"),
        ("4.0.1", "4.4.0", "io.delta:delta-spark_4.0_2.13:4.4.0"),
        ("4.0.1", "4.0.0", "io.delta:delta-spark_2.13:4.0.0"),
    ],
)
def test_coordinates(monkeypatch: pytest.MonkeyPatch, spark: str, delta: str, expected: str) -> None:
    """As `configure_spark_with_delta_pip` of these versions has them."""
    monkeypatch.setattr(jars, "version", {"pyspark": spark, "delta-spark": delta}.__getitem__)
    assert jars.delta_coordinates() == expected


def test_a_broken_memory_is_not_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for text in ("", "{", json.dumps([])):
        memory = tmp_path / "memory.json"
        memory.write_text(text)
        assert jars._remembered(memory) is None


def test_lock_admits_one(tmp_path: Path) -> None:
    first = hold_lock(tmp_path)
    with pytest.raises(DbtRuntimeError, match=f"in use by process {os.getpid()}"):
        hold_lock(tmp_path)
    os.close(first)
    os.close(hold_lock(tmp_path))


def test_what_installs_delta_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package == "delta-spark":
            raise PackageNotFoundError(package)
        return "4.1.4"

    monkeypatch.setattr(jars, "version", version)
    with pytest.raises(DbtRuntimeError, match=r"needs the package delta-spark\. Install with: pip install 'delta-spark==4"):
        jars.delta_coordinates()
