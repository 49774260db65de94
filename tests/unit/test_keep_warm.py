"""When a command starts a Spark that stays, and what it says; no Spark is started here. What a real one does is in test_warm.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm import extras, waiting, warm, warm_server
from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.lock import hold
from dbt.adapters.idivm.progress import is_interactive
from tests.terminal import Terminal

ROOT = Path(__file__).parents[2]


class Said:
    """In the place of dbt's logger."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.info = self.warning = self.lines.append


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    logger = Said()
    monkeypatch.setattr(warm, "logger", logger)
    for module in (warm, waiting):
        monkeypatch.setattr(module, "say", logger.info)
    return logger.lines


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(warm, "has_spark", lambda: False)
    monkeypatch.setattr(warm, "check_java", lambda: 17)
    monkeypatch.setattr(warm, "resolve_jars", lambda _: [])
    monkeypatch.setattr(warm, "is_interactive", lambda: True)
    (tmp_path / ".idivm").mkdir()
    return tmp_path


def credentials(project: Path, **given: Any) -> IdivmCredentials:
    found = IdivmCredentials.from_dict({"schema": "main", **given})
    found.resolve_paths(project)
    return found


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else name)


def test_the_extra_embedded_has_what_attaching_needs() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "dbt-idivm[pyspark]" in declared["embedded"]
    assert any(each.startswith("pyspark[connect]") for each in declared["pyspark"])
    of_connect = [each for each in requires("pyspark") or () if re.search("extra == ['\"]connect['\"]", each)]
    names = {found[0] for each in of_connect if (found := re.match(r"[\w-]+", each))}
    distributions = packages_distributions()
    for module in extras.MODULES["spark-connect"]:
        assert names & {*distributions[module.partition(".")[0]]} or module == "pyspark", module


@pytest.mark.parametrize("module", ["grpc", "google.rpc", "zstandard"])
def test_a_missing_package_is_said_with_the_command(
    project: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    without(monkeypatch, module)
    monkeypatch.setattr(extras, "requires", lambda _: ["zstandard>=0.25.0; extra == 'connect'"])
    expected = f"A Spark that stays needs the package {module}. Install with: pip install 'pyspark[connect]'"
    with pytest.raises(DbtRuntimeError, match=re.escape(expected)):
        warm.start_server(credentials(project), 60)
    assert warm.attached(credentials(project, keep_warm="10m")) is None
    assert said == [f"keep_warm: {expected}"]
    monkeypatch.setenv("CI", "true")
    assert warm.attached(credentials(project, keep_warm="10m")) is None and len(said) == 1


def test_a_missing_package_is_an_error_where_a_server_has_the_catalog(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "grpc")
    lock = hold(project / ".idivm" / "server.lock")
    assert lock is not None
    with pytest.raises(DbtRuntimeError, match=r"needs the package grpc.*pip install.*idivm down"):
        warm.attached(credentials(project))
    os.close(lock)
    assert warm.attached(credentials(project)) is None


def test_pyspark_4_0_needs_no_zstandard(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "zstandard")
    monkeypatch.setattr(extras, "requires", lambda _: ["grpcio>=1.67.0; extra == 'connect'"])
    assert extras.missing_module("spark-connect") is None


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """The servers that were to be started: (seconds without use, whether automatically)."""
    found: list[tuple[int, bool]] = []
    monkeypatch.setattr(warm, "start_server", lambda _, seconds, automatic: found.append((seconds, automatic)))
    return found


@pytest.mark.parametrize(
    ("settings", "is_terminal", "ci", "seconds"),
    [
        ({}, True, "", 900),
        ({}, False, "", None),
        ({}, True, "true", None),
        ({"method": "session", "host": "NA"}, True, "", 900),
        ({"catalog": "in-memory"}, True, "", None),
        ({"keep_warm": "off"}, True, "", None),
        ({"keep_warm": False}, True, "", None),
        ({"keep_warm": "2h"}, True, "", 7200),
        ({"keep_warm": "2h"}, False, "", 7200),
        ({"keep_warm": "2h"}, False, "true", None),
        ({"keep_warm": "2h", "catalog": "in-memory"}, False, "", None),
    ],
)
def test_how_long_it_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], is_terminal: bool, ci: str, seconds: int | None
) -> None:
    monkeypatch.setattr(warm, "is_interactive", lambda: is_terminal and not ci)
    monkeypatch.setenv("CI", ci)
    assert warm.kept_for(credentials(project, **settings)) == seconds


@pytest.mark.parametrize("text", ["off", "'off'", "no", "30m"])
def test_the_profile_s_words(text: str) -> None:
    given = {"schema": "main", "database": None, **yaml.safe_load(f"keep_warm: {text}")}
    IdivmCredentials.validate(given)
    found = IdivmCredentials.from_dict(given)
    assert found.keep_warm == ("30m" if text == "30m" else "off")
    assert IdivmCredentials.from_dict(found.to_dict(omit_none=True)).keep_warm == found.keep_warm  # for the server


@pytest.mark.parametrize("text", ["on", "15", "soon", "''"])
def test_what_is_no_time(text: str) -> None:
    given = {"schema": "main", **yaml.safe_load(f"keep_warm: {text}")}
    with pytest.raises((DbtRuntimeError, ValidationError), match=f"is not a time such as 90s|{text}"):
        IdivmCredentials.validate({"database": None, **given})
        IdivmCredentials.from_dict(given)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard input and output of the process are a terminal."""
    terminal = Terminal()
    with open(os.dup(terminal.side)) as into, open(os.dup(terminal.side), "w") as out:
        monkeypatch.setattr(sys, "stdin", into)
        monkeypatch.setattr(sys, "__stdout__", out)
        monkeypatch.delenv("CI", raising=False)
        yield
    terminal.close()


@pytest.mark.usefixtures("streams")
def test_who_is_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_interactive()  # although pytest has redirected sys.stdout
    for name in ("stdin", "__stdout__"):
        with monkeypatch.context() as changed, open(os.devnull, "r+") as pipe:
            changed.setattr(sys, name, pipe)
            assert not is_interactive()
            changed.setattr(sys, name, None)
            assert not is_interactive()
    monkeypatch.setenv("CI", "true")
    assert not is_interactive()


def test_a_command_at_a_terminal_starts_one_and_says_so(project: Path, said: list[str], started: list[tuple[int, bool]]) -> None:
    assert warm.attached(credentials(project)) is None  # the server that was to be started here
    assert started == [(900, True)]
    assert said == [
        "Starting Spark (15 to 25 s), kept for 15 min after its last use; `keep_warm: off` in the profile switches that off"
    ]
    warm.attached(credentials(project, keep_warm="90s"))
    assert said[1:] == ["Starting Spark (15 to 25 s), kept for 90 s after its last use"] and started[1:] == [(90, True)]


def test_none_is_started_beside_another_spark(project: Path, said: list[str], started: list[tuple[int, bool]]) -> None:
    lock = hold(project / ".idivm" / "lock")
    assert lock is not None
    assert warm.attached(credentials(project)) is None and not started and not said
    os.close(lock)


def test_one_that_does_not_start_is_a_warning(project: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise DbtRuntimeError("Spark does not start in the background: no memory")

    monkeypatch.setattr(warm, "start_server", fails)
    assert warm.attached(credentials(project)) is None
    assert said[1:] == ["Spark does not start in the background: no memory"]
    monkeypatch.setattr(warm, "check_java", fails)  # no Spark starts without Java
    with pytest.raises(DbtRuntimeError):
        warm.attached(credentials(project))


def server(found: IdivmCredentials, **changes: Any) -> warm.Server:
    known = {"pid": os.getpid(), "port": 1, "token": "t", "made_of": warm.made_of(found), "idle_seconds": 900, "started": 0.0}
    return warm.Server(**{**known, "automatic": True, **changes})


@pytest.mark.parametrize(
    ("changes", "is_used", "is_replaced"),
    [
        ({"made_of": "other"}, False, True),
        ({"made_of": "other"}, True, False),
        ({"made_of": "other", "automatic": False}, False, False),  # of `idivm up`
        ({}, False, False),
    ],
)
def test_an_outdated_server(
    project: Path,
    said: list[str],
    started: list[tuple[int, bool]],
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    is_used: bool,
    is_replaced: bool,
) -> None:
    found = credentials(project)
    lock = hold(project / ".idivm" / "server.lock")
    assert lock is not None
    server(found, **changes).write(project / ".idivm")
    monkeypatch.setattr(warm, "is_used", lambda _: is_used)
    monkeypatch.setattr(warm, "stop_server", lambda *_, **__: os.close(lock))
    monkeypatch.setattr("dbt.adapters.idivm.connect.open_connect", lambda there: there)
    if is_replaced:
        assert warm.attached(found) is None  # the new one is none
        assert started == [(900, True)] and "it is replaced" in said[0]
    elif changes:
        with pytest.raises(DbtRuntimeError, match="was started by another version or with other settings"):
            warm.attached(found)
    else:
        assert warm.attached(found) is not None
    warm._detach(project / ".idivm")
    if not is_replaced:
        assert not started and not said
        os.close(lock)


def test_an_interrupted_start_leaves_no_process(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Path, process: subprocess.Popen[str]) -> None:
        begun.append(process)
        raise KeyboardInterrupt

    begun: list[subprocess.Popen[str]] = []
    waits = project / "python"
    waits.write_text("#!/bin/sh\nexec sleep 60\n")
    waits.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(waits))
    monkeypatch.setattr(warm, "_when_started", interrupted)
    with pytest.raises(KeyboardInterrupt):
        warm.start_server(credentials(project), 60)
    assert begun[0].wait(10) < 0


class Running:
    """In the place of the process of Spark."""

    def poll(self) -> None:
        return None


def test_a_server_ends_after_its_time_or_with_its_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state_dir = project / ".idivm"
    monkeypatch.setattr(warm_server, "_spark", Running)
    monkeypatch.setattr(warm_server, "LOOK_SECONDS", 0.05)
    lock = hold(state_dir / "server.lock")
    assert lock is not None
    running = server(credentials(project), idle_seconds=1000)
    server(credentials(project), idle_seconds=0).write(state_dir)  # as `idivm up` changes it
    warm_server._wait_until_unused(state_dir, running, lock)
    running.write(state_dir)
    began = time.monotonic()
    moved = state_dir.rename(project / "elsewhere")
    state_dir.mkdir()
    assert not warm_server._is_in(state_dir, lock)
    warm_server._wait_until_unused(state_dir, running, lock)
    (state_dir / "server.lock").touch()  # of another server
    warm_server._wait_until_unused(state_dir, running, lock)
    assert time.monotonic() - began < 10
    assert warm_server._is_in(moved, lock)
    os.close(lock)
