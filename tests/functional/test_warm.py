"""A Spark that stays: who attaches to it, who does not, and that nothing is left of it in the end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import Terminal

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
IDIVM = "from dbt_idivm.cli import main; main()"
DBT = "from dbt.cli.main import cli; cli()"
MODEL = "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }} select id, n + 1 as m from main.t"
LIMIT = 240


class Warm:
    """A project in a folder, whose commands run in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, folder / ".idivm"
        (folder / "models").mkdir()
        (folder / "dbt_project.yml").write_text("{name: warm, version: 1.0.0, config-version: 2, profile: warm}")
        self.profile()
        for name in ("a", "b"):
            (folder / "models" / f"{name}.sql").write_text(MODEL)

    def profile(self, **settings: Any) -> None:
        target = {"type": "idivm", "schema": "main", "driver_memory": "1g", **settings}
        (self.folder / "profiles.yml").write_text(json.dumps({"warm": {"target": "dev", "outputs": {"dev": target}}}))

    def start(self, code: str, *arguments: str, at: Terminal | None = None, **environment: str) -> subprocess.Popen[str]:
        known = {
            **{key: value for key, value in os.environ.items() if key != "CI"},
            "PYTHONPATH": str(ROOT),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            **environment,
        }
        streams = (subprocess.PIPE if at is None else at.side, subprocess.STDOUT if at is None else at.side)
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=self.folder,
            env=known,
            text=True,
            stdin=subprocess.DEVNULL if at is None else at.side,
            stdout=streams[0],
            stderr=streams[1],
        )

    def run(self, code: str, *arguments: str, fails: bool = False, **environment: str) -> str:
        return ended(self.start(code, *arguments, **environment), fails)

    def at_terminal(self, code: str, *arguments: str, **environment: str) -> str:
        """What is seen when somebody gives the command at a terminal."""
        terminal = Terminal()
        process = self.start(code, *arguments, at=terminal, **{"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "", **environment})
        shown = "\n".join(terminal.wait(process))
        assert process.returncode == 0, shown
        return shown

    def server(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.state / "server.json").read_text())
        return found

    def processes(self) -> list[str]:
        """Those that know the project's state folder by their arguments, and the server's own."""
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in found if str(self.state) in line or "adapters.idivm.warm_server" in line]


def ended(process: subprocess.Popen[str], fails: bool = False) -> str:
    output, _ = process.communicate(timeout=LIMIT)
    assert (process.returncode != 0) is fails, output
    return output


def eventually(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.2)


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Warm]:
    project = Warm(tmp_path)
    yield project
    project.run(IDIVM, "down", "--force")


def test_a_spark_that_stays(warm: Warm) -> None:
    assert "No Spark is running" in warm.run(IDIVM, "status", fails=True)
    said = warm.run(IDIVM, "up", "--idle", "10m")
    assert "Spark has started" in said and "It ends after 10 min without use" in said
    server = warm.server()
    assert (warm.state / "server.json").stat().st_mode & 0o777 == 0o600
    assert not any(server["token"] in line for line in warm.processes())
    warm.run(
        IDIVM, "sql", "create table t using delta tblproperties (delta.enableChangeDataFeed = true) as select 1 as id, 1 as n"
    )
    # two at once, and a shell beside them
    runs = [warm.start(DBT, "run", "--select", name, "--target-path", f"target_{name}") for name in ("a", "b")]
    assert "1 row" in warm.run(IDIVM, "sql", "select * from t")
    for run in runs:
        assert "PASS=1" in ended(run)
    assert "attached to it" not in warm.run(IDIVM, "up") and warm.server() == server  # a second `up` changes nothing
    assert "idle" in warm.run(IDIVM, "status")
    assert "Spark has ended" in warm.run(IDIVM, "down")
    assert not (warm.state / "server.json").exists()
    eventually(lambda: not warm.processes(), "a process is left")
    assert "No Spark" in warm.run(IDIVM, "down")
    assert "noop: nothing changed" in warm.run(DBT, "run", "--select", "a")  # by a Spark of its own, on the same tables


@pytest.mark.long
def test_what_is_killed_leaves_nothing(warm: Warm) -> None:
    for victim in ("server", "jvm"):
        warm.run(IDIVM, "up")
        server = warm.server()
        children = subprocess.run(["pgrep", "-P", str(server["pid"])], capture_output=True, text=True, check=True).stdout.split()
        os.kill(server["pid"] if victim == "server" else int(children[0]), signal.SIGKILL)
        eventually(lambda: not warm.processes(), f"a process is left without its {victim}")
        assert "No Spark is running" in warm.run(IDIVM, "status", fails=True)
        assert "1 row" in warm.run(IDIVM, "sql", "select 1 as one")


@pytest.mark.long
def test_a_client_that_is_killed_is_attached_no_more(warm: Warm) -> None:
    warm.run(IDIVM, "up", "--idle", "45s")
    client = warm.start(IDIVM, "sql", "select count(*) from range(3000000000) where id % 7 = rand()")
    eventually(lambda: "in use" in warm.run(IDIVM, "status"), "nobody is attached")
    assert "attached" in warm.run(IDIVM, "down", fails=True)
    client.kill()
    client.communicate()
    eventually(lambda: not warm.processes(), "it does not end by itself")
    assert not (warm.state / "server.json").exists()


@pytest.mark.long
def test_a_server_with_other_settings_is_left_alone(warm: Warm) -> None:
    warm.run(IDIVM, "up")
    warm.profile(driver_memory="1100m")
    said = warm.run(IDIVM, "sql", "select 1", fails=True)
    assert "with other settings of the profile" in " ".join(said.split()) and "idivm down" in said
    assert "dbt does not attach to it" in " ".join(warm.run(IDIVM, "status").split())
    os.kill(warm.server()["pid"], signal.SIGSTOP)  # it hangs
    warm.profile()
    children = subprocess.run(["pgrep", "-P", str(warm.server()["pid"])], capture_output=True, text=True, check=True).stdout
    os.kill(int(children.split()[0]), signal.SIGSTOP)
    assert "does not answer" in " ".join(warm.run(IDIVM, "sql", "select 1", fails=True).split())
    assert "Spark has ended" in warm.run(IDIVM, "down", "--force")
    eventually(lambda: not warm.processes(), "a process is left")


@pytest.mark.long
def test_keep_warm(warm: Warm) -> None:
    warm.profile(keep_warm="10m")
    warm.run(IDIVM, "sql", "select 1", CI="true")
    assert not (warm.state / "server.json").exists()
    together = [warm.start(IDIVM, "sql", "select 1 as one") for _ in range(2)]
    for each in together:
        assert "1 row" in ended(each)
    server = warm.server()
    assert "1 row" in warm.run(IDIVM, "sql", "select 1 as one") and warm.server() == server
    assert "Spark has ended" in warm.run(IDIVM, "down")


def test_the_first_command_at_a_terminal_starts_a_spark_that_stays(warm: Warm) -> None:
    source = "create table t using delta tblproperties (delta.enableChangeDataFeed = true) as select 1 as id, 1 as n"
    first = warm.at_terminal(IDIVM, "sql", source)
    said = "Starting Spark (15 to 25 s), kept for 15 min after its last use; `keep_warm: off` in the profile switches that off"
    assert first.count(said) == 1, first
    server = warm.server()
    assert server["automatic"] and server["idle_seconds"] == 900
    second = warm.at_terminal(DBT, "run")
    assert "PASS=2" in second and "Starting Spark" not in second, second
    assert "1 row" in warm.run(IDIVM, "sql", "select * from t") and warm.server() == server  # in a pipe, too
    assert "It ends after 30 min without use" in warm.run(IDIVM, "up")
    assert warm.server() == {**server, "idle_seconds": 1800, "automatic": False}
    warm.run(IDIVM, "down")


@pytest.mark.long
def test_who_starts_none(warm: Warm) -> None:
    assert "1 row" in warm.run(IDIVM, "sql", "select 1 as one")
    assert "1 row" in warm.at_terminal(IDIVM, "sql", "select 1 as one", CI="true")
    assert not (warm.state / "server.json").exists()
    warm.profile(keep_warm=False)  # YAML's `off`
    shown = warm.at_terminal(DBT, "show", "--inline", "select 1 as one")
    assert shown.count("Starting Spark (15 to 25 s)\n") == 1, shown
    assert not (warm.state / "server.json").exists()


@pytest.mark.long
def test_another_setting_replaces_one_that_a_command_has_started(warm: Warm) -> None:
    warm.at_terminal(IDIVM, "sql", "select 1 as one")
    before = warm.server()
    warm.profile(driver_memory="1100m")
    shown = warm.at_terminal(DBT, "show", "--inline", "select 1 as one")
    assert "it is replaced" in shown and "Starting Spark" in shown, shown
    assert warm.server()["pid"] != before["pid"]
    assert not any(line.split()[0] == str(before["pid"]) for line in warm.processes())
    warm.profile()
    assert "1 row" in warm.run(IDIVM, "sql", "select 1 as one")  # in a pipe it is replaced by a Spark of the process
    eventually(lambda: not warm.processes(), "a process is left")


@pytest.mark.long
def test_it_ends_when_its_folder_is_removed(warm: Warm) -> None:
    warm.at_terminal(IDIVM, "sql", "select 1 as one")
    shutil.rmtree(warm.state)
    assert "1 row" in warm.run(IDIVM, "sql", "select 1 as one")
    eventually(lambda: not warm.processes(), "a process is left")


@pytest.mark.long
def test_one_that_is_interrupted_while_it_starts_leaves_nothing(warm: Warm) -> None:
    starting = warm.start(IDIVM, "up")
    eventually((warm.state / "server.log").exists, "it does not start")
    starting.send_signal(signal.SIGINT)
    starting.communicate(timeout=LIMIT)
    eventually(lambda: not warm.processes(), "a process is left")
    assert "No Spark is running" in warm.run(IDIVM, "status", fails=True)
