"""dbt runs that are killed at random times: nothing is lost, and the next run continues as if nothing had happened.

Embedded, Python and the JVM die together, or one of them alone; over a server, Thrift or Spark Connect, only the client dies, and
the server may go on with what it was sent. The times are spread over the refresh of a project's models, not over Spark's start.
"""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.engines import TINY_DATA
from tests.functional.sources import ORDERS_CUST_LOG
from tests.functional.victim import SCHEMA, Round
from tests.servers import SERVERS
from tests.tally import Tally

pytestmark = pytest.mark.long

SEED = 20211
LONG, SHORT = 10, 1  # kills, on each engine; the suites of every day have one embedded
LIMIT = 600.0  # seconds for one step of a process

SOURCES = {
    "orders": "(id int, cust int, price decimal(10,2), note string)",
    "cust": "(id int, name string, region string)",
    "log": "(cust int, word string)",
}
MODELS = {
    "details": "select o.price * 2 as twice, o.note, c.name from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on o.cust = c.id where o.price > 1",
    "totals": "select cust, sum(price) as total, count(*) as n, count(note) as notes "
    "from {{ source('s', 'orders') }} group by cust",
    "regions": "select c.region, sum(o.price) as total from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on o.cust = c.id group by c.region",
    "extremes": "select cust, min(price) as low, max(price) as high from {{ source('s', 'orders') }} group by cust",
    "names": "select name, count(*) as n, sum(twice) as total from {{ ref('details') }} group by name",
    "words": "select word, cust from {{ source('s', 'log') }} where word <> 'b'",
}
FEW = ("details", "totals")  # the models of `make deep`, with `flip`
DROPPED = (("view", "details"), ("table", "details__idivm"), ("view", "totals"), ("table", "totals__idivm"))
# one model whose definition changes: from a table to a view over a hidden one, to other columns and types, and back
FLIP = (
    "select id, note from {{ source('s', 'orders') }} where price > 1",
    "select o.note, o.price as p, c.id as customer from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on o.cust = c.id",
    "select o.note, o.price / 4 as p, c.name from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on o.cust = c.id",
)
HEAD = "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }}\n"


@dataclass
class Process:
    """A victim, and its messages so far."""

    process: subprocess.Popen[str]
    log: Path
    said: queue.Queue[dict[str, Any] | None] = field(default_factory=queue.Queue)
    heard: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def started(cls, given: Round) -> Process:
        file = Path(given.folder, "round.json")
        file.write_text(json.dumps(asdict(given)))
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": root, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.functional.victim", str(file)],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        found = cls(process, Path(given.folder, "victim.log"))
        threading.Thread(target=found._listen, daemon=True).start()
        return found

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with open(self.log, "a") as file:
            for line in self.process.stdout:
                file.write(line)
                file.flush()
                if line.startswith("@"):
                    self.said.put(json.loads(line[1:]))
        self.said.put(None)

    def hear(self, seconds: float) -> dict[str, Any] | None:
        """Its next message within that time."""
        try:
            heard = self.said.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if heard is None:
            raise AssertionError(f"the process ended by itself: {self.log.read_text()[-3000:]}")
        self.heard.append(heard)
        return heard

    def until(self, what: str) -> dict[str, Any]:
        limit = time.monotonic() + LIMIT
        while time.monotonic() < limit:
            heard = self.hear(limit - time.monotonic())
            if heard is not None and heard["what"] == what:
                return heard
        raise AssertionError(f"nothing was heard of '{what}': {self.log.read_text()[-3000:]}")

    def last(self, what: str, key: str, default: Any = None) -> Any:
        return next((each[key] for each in reversed(self.heard) if each["what"] == what), default)

    def kill(self, who: str) -> None:
        """Python and the JVM at once, or one of them."""
        if who == "both":
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            os.kill(self.last("jvm", "pid") if who == "jvm" else self.process.pid, signal.SIGKILL)

    def gone(self) -> None:
        self.process.wait(timeout=LIMIT)


@dataclass
class Play:
    """A project whose runs are killed, one after the other."""

    folder: Path
    server: dict[str, Any] | None
    rng: random.Random
    models: tuple[str, ...]
    seconds: float = 0.0  # that a run takes about
    round: int = 0
    rows: int = 30
    absent: list[str] = field(default_factory=list)
    recovery: tuple[str, ...] = ("run",)
    processes: list[Process] = field(default_factory=list)

    @property
    def engine(self) -> str:
        return "embedded" if self.server is None else str(self.server["method"])

    def write(self) -> None:
        embedded = {"driver_memory": "1g", "server_side_parameters": TINY_DATA}
        target: dict[str, Any] = embedded if self.server is None else dict(self.server)
        target |= {"type": "idivm", "schema": SCHEMA, "threads": 2}
        self._write("dbt_project.yml", f"name: {SCHEMA}\nversion: 1.0.0\nconfig-version: 2\nprofile: {SCHEMA}\n")
        self._write("profiles.yml", json.dumps({SCHEMA: {"target": "dev", "outputs": {"dev": target}}}))
        self._write("models/sources.yml", ORDERS_CUST_LOG)
        for model in self.models:
            self._write(f"models/{model}.sql", HEAD + MODELS[model])
        self._write("models/flip.sql", HEAD + FLIP[0])

    def _write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def start(self) -> Process:
        """The next process, up to the run that is to be killed. It recovers from what was before."""
        self.round += 1
        setup = self._setup() if self.round == 1 else []
        files = {"flip.sql": HEAD + FLIP[self.round % len(FLIP)]}
        kind = self.rng.choice(("run", "run", "run --full-refresh", "create"))
        drop = [f"drop {what} if exists $.{name}" for what, name in DROPPED] if kind == "create" else []
        command = ["run", "--full-refresh"] if kind == "run --full-refresh" else ["run"]
        process = Process.started(
            Round(
                str(self.folder),
                self.server,
                sorted(SOURCES),
                sorted((*self.models, "flip")),
                setup,
                self.absent,
                list(self.recovery),
                [*self._changes(), *drop],
                files,
                command,
            )
        )
        self.processes.append(process)
        recovered = process.until("recovered")["seconds"]
        self.seconds = self.seconds or recovered / 2  # the first run builds everything, on a Spark that was just started
        process.until("starts")
        self.absent = ["flip", *({name for _, name in DROPPED} if drop else ())]
        return process

    def _setup(self) -> list[str]:
        feed = "using delta tblproperties ('delta.enableChangeDataFeed' = 'true')"
        return [
            *(f"create table $.{table} {columns} {feed}" for table, columns in SOURCES.items()),
            "insert into $.cust select id, 'n' || id, 'r' || id % 3 from range(9)",
            f"insert into $.orders select id, id % 9, id * 1.25, 'a' || id from range({self.rows})",
            "insert into $.log values (1, 'a'), (1, 'a'), (2, 'b')",
        ]

    def _changes(self) -> list[str]:
        """Rows that are inserted, updated and deleted, each time others."""
        rng, self.rows = self.rng, self.rows + 2000
        some = rng.choice((1, 3, 5, 1500))  # the last are too many to be inlined
        return [
            f"insert into $.orders select id, id % 9, id % 50, 'b' from range({self.rows}, {self.rows + some})",
            f"update $.orders set price = price + 1, cust = {rng.randrange(9)} where id % 7 = {rng.randrange(7)}",
            f"delete from $.orders where id % 11 = {rng.randrange(11)} and id > 5",
            f"update $.cust set name = 'm{self.rows}' where id = {rng.randrange(9)}",
            f"update $.cust set region = 'r{rng.randrange(3)}' where id = {rng.randrange(9)}",
            f"insert into $.log values ({rng.randrange(9)}, 'a'), ({rng.randrange(9)}, 'c')",
            f"delete from $.log where cust = {rng.randrange(9)}",
        ]

    def kill(self, process: Process) -> str | None:
        """Kill it at a random time of its run; returns the place of the interruption, None if the run was faster."""
        who = self.rng.choice(("both", "client", "jvm")) if self.server is None else "client"
        process.until("statement")
        limit = time.monotonic() + self.rng.uniform(0, self.seconds)
        while time.monotonic() < limit and process.last("ended", "seconds") is None:
            process.hear(limit - time.monotonic())
        if process.last("ended", "seconds") is not None:
            self.seconds, self.recovery = process.last("ended", "seconds"), ("run",)
            process.gone()
            return None
        process.kill(who)
        # only where dbt came to its end does it know what to retry
        self.recovery = ("run",)
        if who == "jvm":
            ended = process.until("ended")
            self.recovery = ("run",) if ended["success"] else ("retry",)
        process.gone()
        return f"{who}, at a statement that is {process.last('statement', 'label').partition(':')[0]}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("engine", ["embedded", *SERVERS] if metafunc.config.getoption("--every-point") else ["embedded"])


@pytest.fixture
def play(engine: str, request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[Play]:
    server = None if engine == "embedded" else request.getfixturevalue(f"{engine}_server")
    models = tuple(MODELS) if pytestconfig.getoption("--every-point") else FEW
    play = Play(tmp_path, server and server.profile, random.Random(f"{SEED} {engine}"), models)
    play.write()
    yield play
    for process in play.processes:
        process.kill("both")
        process.gone()
    if server is not None:
        server.execute(f"drop schema if exists {SCHEMA} cascade")


def test_a_run_that_is_killed(play: Play, tally: Tally, pytestconfig: pytest.Config) -> None:
    wanted, survived = (LONG if pytestconfig.getoption("--every-point") else SHORT), 0
    process = play.start()
    for _ in range(2 * wanted):
        where = play.kill(process)
        with tally.kill(play.engine, where) if where else nullcontext():
            process = play.start()
        survived += where is not None
        if survived == wanted:
            break
    assert survived == wanted
