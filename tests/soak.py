"""A soak: for hours random batches, edits of models, interrupted runs, two runs at once, writes of others, OPTIMIZE, VACUUM and
changes of sources happen to one project; after each run every view has to be exact, and nothing may be left behind.

`make soak`, or `python -m tests.soak --minutes 5 --seed 7`. What is done is written to a file, line by line, before it is done,
and then how it ended. It depends on the seed alone: `--seed 7 --actions 120` does the same again, up to the action that failed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.commits import TXN_APP, TXN_VERSION, USER_METADATA
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Refresh
from tests.engines import warehouse_of
from tests.functional.project import Project
from tests.functional.subscriber import Subscriber

KEYS = {"orders": ["id"], "cust": ["id"]}  # of events two rows may be equal
SOURCES = frozenset({*KEYS, "events"})
OUTRUN = {"IDIVM-902", "IDIVM-903"}
MAPPED = "'delta.columnMapping.mode' = 'name'"  # without it no column can be dropped
PLAIN = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
FEED = f"tblproperties ('delta.enableChangeDataFeed' = 'true', {MAPPED})"
SUMS = "select cust, sum(price) as total, count(*) as n from $.orders group by cust"
RANKED = "(select id, cust, price, row_number() over (partition by cust order by price desc, id) as r from $.orders)"
PAIRS = "select o.note, c.name from $.orders o join $.cust c on o.cust = c.id"
TOTALS = (
    "select c.name, t.total from (select cust, sum(price) as total from $.orders group by cust) t join $.cust c on t.cust = c.id"
)
CHEAP, KNOWN = "select id, price from $.orders where price < 20", "select id, id from $.cust"
LACKING = "select c.id, c.name from $.cust c where not exists (select 1 from $.orders o where o.cust = c.id and o.price > 50)"
HAPPENED = "select e.kind, c.name from $.events e join $.cust c on e.cust = c.id"
PER_NAME = "select c.name, count(*) as n from $.orders o join $.cust c on o.cust = c.id group by c.name"
# Model → its texts, one after the other by edits, and its config. Some of them can be migrated to one another, others not.
MODELS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "pairs": (
        (
            f"{PAIRS} where o.price > 10",
            f"{PAIRS} where o.price > 30",
            f"{PAIRS} where o.price > 10 and c.name like 'c%'",
            PAIRS.replace("o.note", "upper(o.note) as note").replace("join", "left join"),
        ),
        {},
    ),
    "sums": (
        (
            SUMS,
            SUMS.replace("count(*)", "max(price) as top, count(*)"),
            f"{SUMS} having sum(price) > 20",
            SUMS.replace("select cust", "select coalesce(cust, -1) as cust"),
        ),
        {},
    ),
    "above": (
        (TOTALS, TOTALS.replace("t.total from", "t.total + 1 as total from"), f"{TOTALS} where t.total > 30"),
        {"caches": "all"},
    ),
    "logged": (
        (
            "select id, note from $.orders where price > 50",
            "select id, note from $.orders where price > 40",
            "select id, upper(note) as note from $.orders where price > 50",
        ),
        {"output": "both"},
    ),
    "newest": (
        (
            f"select id, cust, price from {RANKED} where r = 1",
            f"select id, cust, price from {RANKED} where r <= 2",
            f"select id, price from {RANKED} where r = 1",
        ),
        {},
    ),
    "tuples": (
        (
            "select o.id, c.name from $.orders o left join $.cust c on o.cust = c.id",
            "select o.id, c.name from $.orders o left join $.cust c on o.cust = c.id where o.id % 3 <> 1",
        ),
        {"strategy": "tuple"},
    ),
    "lacking": ((LACKING, f"{LACKING} and c.id > 3", LACKING.replace("c.name from", "concat(c.name, '!') as name from")), {}),
    "chosen": ((PER_NAME, PER_NAME.replace("count(*)", "sum(o.price) as total, count(*)")), {"strategy": "auto"}),
    "both_ways": ((f"{CHEAP} union all {KNOWN}", CHEAP, f"{CHEAP} and id > 5 union all {KNOWN}"), {}),
    "bag": (
        (
            "select kind, cust from $.events where cust < 3",
            "select kind, cust from $.events",
            "select upper(kind) as kind, cust from $.events where cust < 3",
        ),
        {},
    ),
    "told": ((HAPPENED, f"{HAPPENED} where e.kind <> 'k1'", HAPPENED.replace("c.name", "c.name, c.id")), {"output": "diffs"}),
    "sizes": (("select n, count(*) as groups from $.sums group by n",), {}),
}
LOGGED = tuple(name for name, (_, config) in MODELS.items() if "output" in config)
EDITED = tuple(name for name, (texts, _) in MODELS.items() if len(texts) > 1)
# What happens to a source. Each leaves the columns that the models read. Of a table with partitions Spark's catalog in memory
# has another order of columns than Delta, and fails at the next replacement.
DRIFTS = (
    f"create or replace table $.orders using delta {FEED} as select * from $.orders where id % 3 <> 0",
    f"create or replace table $.orders using delta cluster by (cust) {FEED} as select * from $.orders",
    "alter table $.orders drop column if exists extra; insert overwrite table $.orders select id, cust, price + 1, note "
    "from $.orders",
    "alter table $.orders drop column if exists extra; alter table $.orders add columns (extra int); update $.orders set extra = "
    "price where id % 4 = 1",
    "alter table $.orders drop column if exists extra",
    "truncate table $.cust; insert into $.cust select distinct cust, concat('t', cust) from $.orders where cust is not null",
    "alter table $.orders set tblproperties ('delta.enableChangeDataFeed' = 'false'); update $.orders set price = price + 1 "
    "where id % 5 = 0; alter table $.orders set tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "restore table $.orders to version as of {before}",
    # with mapped columns, Delta refuses it the second time
    f"create table $.aside using delta as select * from $.cust; drop table $.cust; create table $.cust using delta {PLAIN} as "
    "select * from $.aside; drop table $.aside",
)
VALUES = 60  # ids and prices are below
EVERY = 40  # actions memory is measured


@dataclass
class Soak:
    """The project, and what has been done to it."""

    project: Project
    warehouse: Path  # of its schema
    new_session: Callable[[], Any]
    chance: random.Random
    log: TextIO
    editions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODELS, 0))
    done: Counter[str] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    number: int = 0
    subscribers: dict[str, Subscriber] = field(default_factory=dict)
    kept: int = 0  # the first version of orders whose files no VACUUM has removed

    @classmethod
    def made(cls, new_session: Callable[[], Any], seed: int, log: TextIO) -> Soak:
        project = Project(new_session(), "soak")
        project.table("orders", "id int, cust int, price int, note string", *(f"({i}, {i % 9}, {i}, 'a{i}')" for i in range(40)))
        project.table("cust", "id int, name string", *(f"({i}, 'c{i}')" for i in range(8)))
        project.table("events", "cust int, kind string", *(f"({i % 5}, 'k{i % 3}')" for i in range(30)))
        project.sql(f"alter table $.orders set tblproperties ({MAPPED})")
        warehouse = warehouse_of(project.spark) / "soak.db"
        return cls(project, warehouse, new_session, random.Random(seed), log, kept=1)

    def act(self) -> None:
        """One random action. Raises AssertionError where a view is wrong or something is left behind."""
        self.number += 1
        self.perform(self.chance.choices(list(ACTIONS), [weight for weight, _ in ACTIONS.values()])[0])

    def perform(self, name: str) -> None:
        try:
            for step in ACTIONS[name][1](self):
                self.note(name, what=step)
        except BaseException as problem:
            self.note(name, ended=f"{type(problem).__name__}: {problem}")
            raise
        self.note(name, ended="done")
        self.done[name] += 1

    def note(self, action: str, **said: str) -> None:
        self.log.write(json.dumps({"number": self.number, "action": action, **said}) + "\n")
        self.log.flush()

    # what happens: each tells its steps before it does them

    def batch(self) -> Iterator[str]:
        at, value, key = (self.chance.randrange(VALUES) for _ in range(3))
        text = self.chance.choice(
            (
                f"insert into $.orders (id, cust, price, note) select {1000 + self.number}, {key % 9}, {value}, 'n{self.number}'",
                f"insert into $.orders (id, cust, price, note) select {1000 + self.number}, null, null, null",
                f"update $.orders set price = {value} where id % {1 + key} = 1",
                f"update $.orders set cust = {key % 9} where id = {at}",
                f"delete from $.orders where id % {2 + at} = 0",
                f"insert into $.events select {key % 5}, 'k{value % 4}' from range({1 + at % 3})",
                f"update $.events set kind = 'k{value % 4}' where cust = {key % 5}",
                f"delete from $.events where cust = {key % 5} and kind = 'k{value % 4}'",
                f"update $.cust set name = 'c{self.number}' where id = {key % 9}",
                f"delete from $.cust where id = {key % 9}",
                f"merge into $.cust c using (select {key % 9} as id) s on c.id = s.id when not matched then insert (id, name) "
                f"values (s.id, 'm{self.number}')",
            )
        )
        yield text
        self.project.sql(text)

    def drift(self) -> Iterator[str]:
        text = self.chance.choice(DRIFTS).format(before=max(self.version() - 2, self.kept))
        yield text
        self.project.sql(*text.split("; "))

    def edit(self) -> Iterator[str]:
        name = self.chance.choice(EDITED)
        self.editions[name] = (self.editions[name] + self.chance.randrange(1, len(MODELS[name][0]))) % len(MODELS[name][0])
        yield f"{name}: {self.model(name).sql}"

    def run(self) -> Iterator[str]:
        """A run of all models, in their order; each is what its SELECT gives, and nothing is left behind."""
        full = self.chance.random() < 0.05
        yield "all, in full" if full else "all"
        self.new_run()
        used = set(SOURCES)
        for name in MODELS:
            outcome = self.project.refresh_in_run(self.model(name), **({"full_refresh": True} if full else {}))
            self.modes[outcome.mode] += 1
            used |= {identifier for _, identifier, _ in outcome.relations}
        for name in MODELS:
            assert self.project.is_exact(self.model(name)), f"{name} is wrong"
        for name in LOGGED:
            self.catch_up(name)
        left = set(self.project.relations()) - used
        assert not left, f"left behind: {left}"
        self.is_tidy()

    def interrupted(self) -> Iterator[str]:
        """A run that is given up, in a session that is gone afterwards."""
        name, statements = self.chance.choice(list(MODELS)), self.chance.randrange(40)
        yield f"{name} after {statements} statements"
        steps = self.begin(name)
        self.go_on(steps, statements)
        self.project.spark.catalog.clearCache()  # what it has staged goes with the process
        self.again()

    def two_at_once(self) -> Iterator[str]:
        """Another run between two statements of this one: one of them may fail."""
        name, other, statements = self.chance.choice(list(MODELS)), self.chance.choice(list(MODELS)), self.chance.randrange(40)
        yield f"{name} after {statements} statements, with {other}"
        steps = self.begin(name)
        self.go_on(steps, statements)
        with self.project.in_session(self.new_session()):
            yield from self.batch()
            for each in dict.fromkeys((name, other)):  # not a set: its order is another one in each process
                self.go_on(self.begin(each))
        with allowing(OUTRUN):
            self.go_on(steps)
        self.again()

    def foreign(self) -> Iterator[str]:
        """Somebody writes to a view, a cache or a log."""
        tables = sorted(name for name, kind in self.project.relations().items() if kind == "table" and name not in SOURCES)
        if not tables:
            yield "nothing is there"
            return
        table = self.chance.choice(tables)
        text = self.chance.choice((f"delete from $.{table}", f"insert into $.{table} select * from $.{table} limit 1"))
        yield text
        self.project.sql(text)
        if text.startswith("insert"):  # what a subscriber has read has other rows now
            self.subscribers.pop(table.removesuffix("__idivm_changes"), None)

    def upkeep(self) -> Iterator[str]:
        tables = sorted(name for name, kind in self.project.relations().items() if kind == "table")
        action, table = self.chance.choice(("optimize", "vacuum")), self.chance.choice(tables)
        yield f"{action} $.{table}"
        if action == "vacuum":
            self.vacuum(table)
        else:
            self.project.sql(f"optimize $.{table}")

    # how

    def model(self, name: str) -> ModelRequest:
        texts, config = MODELS[name]
        return self.project.model(name, texts[self.editions[name]], KEYS, **{"optimize_every": 20, **config})

    def new_run(self) -> None:
        """A run that learns nothing: what earlier refreshes took would decide what is chosen, and no seed gives that again."""
        self.project.new_run()
        self.project.invocation = Invocation(warm_up=sys.maxsize)

    def begin(self, name: str) -> Refresh:
        self.new_run()
        model = self.project.request(self.model(name))
        return Refresh(refresh(model, self.project.invocation, self.project.engine_for(model)))

    def go_on(self, steps: Refresh, statements: int | None = None) -> None:
        with allowing(OUTRUN | {"IDIVM-301"}):  # the model that it reads may not be there yet
            while steps.statement is not None and statements != 0:
                steps.answer(self.project.run(steps.statement))
                statements = None if statements is None else statements - 1

    def catch_up(self, name: str) -> None:
        """A subscriber of the model's log that reads what is new has the rows of the SELECT."""
        model = self.model(name)
        subscriber = self.subscribers.setdefault(name, Subscriber(self.project, model))
        subscriber.start_over_if_begun_anew()
        subscriber.catch_up()
        assert subscriber.rows == self.project.rows(model.sql), f"the log of {name} is wrong"

    def version(self) -> int:
        """Of orders."""
        return self.project.version("orders")

    def vacuum(self, *tables: str) -> None:
        """Remove all files but those of the last version: what has not been read of the feed is gone as well."""
        if "orders" in tables:
            self.kept = self.version()
        self.project.sql(
            "set spark.databricks.delta.retentionDurationCheck.enabled = false",
            *(f"vacuum $.{name} retain 0 hours" for name in tables),
        )

    def again(self) -> None:
        self.project.move(self.new_session())

    def is_tidy(self) -> None:
        """The session has the settings and temporary views that it had, and Spark keeps no rows."""
        spark = self.project.spark
        for key in (USER_METADATA, TXN_APP, TXN_VERSION):
            assert spark.conf.get(key, None) is None, f"{key} is set"
        views = [row[1] for row in spark.sql("show views").collect() if row[2]]
        assert not views, f"temporary views: {views}"
        assert spark._jsparkSession.sharedState().cacheManager().isEmpty(), "rows are cached"

    def has_no_files_left(self) -> None:
        """Each folder is a table's, and each file in it is one of its last version, once older ones are vacuumed."""
        tables = {name for name, kind in self.project.relations().items() if kind == "table"}
        folders = {path.name: path for path in self.warehouse.iterdir()}
        assert folders.keys() == tables, f"on disk: {folders.keys() ^ tables}"
        self.vacuum(*sorted(tables))
        for name in tables:
            wanted = self.project.detail(name)["numFiles"]
            found = sum("_delta_log" not in path.parts for path in folders[name].rglob("*.parquet"))
            assert found == wanted, f"{name} has {found} files, {wanted} of which are of its last version"


@contextmanager
def allowing(codes: set[str]) -> Iterator[None]:
    try:
        yield
    except IdivmError as error:
        assert set(error.codes) <= codes, str(error)


ACTIONS: dict[str, tuple[int, Callable[[Soak], Iterator[str]]]] = {
    "batch": (38, Soak.batch),
    "run": (26, Soak.run),
    "edit": (14, Soak.edit),
    "interrupted": (8, Soak.interrupted),
    "two_at_once": (6, Soak.two_at_once),
    "foreign": (4, Soak.foreign),
    "upkeep": (6, Soak.upkeep),
    "drift": (4, Soak.drift),
}


def soak(play: Soak, goes_on: Callable[[Soak], bool]) -> None:
    """Act as long as it goes on, run once more at the end, and look what is on disk."""
    while goes_on(play):
        play.act()
        if play.number % EVERY == 0:
            play.memory.append(memory(play.project.spark))
    play.perform("run")
    play.subscribers.clear()
    for name in LOGGED:  # from its beginning
        play.catch_up(name)
    play.has_no_files_left()
    assert not is_leak([used for used, _ in play.memory]), f"MiB of the JVM: {play.memory}"
    assert not is_leak([resident for _, resident in play.memory]), f"MiB of Python: {play.memory}"


def memory(spark: Any) -> tuple[float, float]:
    """MiB that the JVM uses after a collection, and that this process has used at most."""
    spark._jvm.java.lang.System.gc()
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    return (runtime.totalMemory() - runtime.freeMemory()) / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def is_leak(used: Sequence[float]) -> bool:
    """Whether the last third of the measurements is above all of the first one by more than a half. Caches fill in the first."""
    third = len(used) // 3
    return third > 0 and min(used[-third:]) > 1.5 * max(used[:third])


def main() -> int:
    from tests.engines import embedded_spark

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--actions", type=int, help="so many actions, instead of minutes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--log", type=Path, default=Path("soak.jsonl"))
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    with TemporaryDirectory() as folder, given.log.open("w") as log:
        spark = embedded_spark(Path(folder))
        play = Soak.made(spark.newSession, given.seed, log)
        print(f"seed {given.seed}; what is done is written to {given.log}", flush=True)
        try:
            soak(play, lambda play: play.number < given.actions if given.actions is not None else time.monotonic() < until)
        except BaseException as problem:
            print(f"action {play.number} of seed {given.seed} failed: {problem}", file=sys.stderr)
            raise
        print(
            f"{play.number} actions: {dict(play.done)}; refreshes: {dict(play.modes)}; wrong views: 0; nothing left behind; "
            f"MiB of the JVM and of Python at first and at last: {play.memory[:1] + play.memory[-1:]}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
