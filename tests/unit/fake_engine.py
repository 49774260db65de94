"""An engine without Spark: tables with histories, and the answers that the refresh's statements get from them."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any

from dbt_idivm.algebra.operator import operators
from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.context import Catalog, TableInfo, UserFunction
from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators import Aggregate
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog import view_settings
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine import commits
from dbt_idivm.refresh.engine.engine import EMBEDDED, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError, Outcome, Refresh, Reply, Rows, Statement
from dbt_idivm.script.dialect import is_inlinable
from dbt_idivm.script.replace_where import KEYS
from dbt_idivm.script.source_rows import SOURCE_ROWS

DEFAULTS = view_settings._NEEDED
HISTORY = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
MERGED = ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows")
CONFIGURATION = view_settings.CONFIGURATION
_VERSION = re.compile(r" VERSION AS OF \d+")
_FEED = re.compile(r"TABLE_CHANGES\('([^']+)'")
_PROPERTY = re.compile(r"'([\w.]+)'='([^']*)'")


_CHANGES = frozenset(
    {
        "WRITE",
        "UPDATE",
        "DELETE",
        "MERGE",
        "CREATE TABLE AS SELECT",
        "CREATE OR REPLACE TABLE AS SELECT",
        "RESTORE",
        "TRUNCATE",
        "STREAMING UPDATE",
    }
)
SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


@dataclass
class Table:
    columns: dict[str, str]
    kind: str = "MANAGED"
    provider: str = "delta"
    properties: dict[str, str] = field(default_factory=lambda: {"delta.enableChangeDataFeed": "true"})
    commits: list[tuple[Any, ...]] = field(default_factory=list)
    text: str = ""
    namespace: str = ""  # of a view
    transactions: dict[str, int] = field(default_factory=dict)
    settings: dict[str, str] | None = field(default_factory=lambda: dict(SETTINGS))  # of a view
    selected: tuple[str, ...] = ()  # of a view: the columns of its text, as they were called when it was created
    mode: str = "COMPENSATION"  # of a view: what becomes of its columns
    collation: str | None = None  # of a view: its default
    partitions: tuple[str, ...] = ()
    epoch: str = "a"  # part of the timestamps: a table that is created again has others

    def commit(
        self,
        operation: str,
        metrics: dict[str, str] | None = None,
        note: str | None = None,
        parameters: dict[str, str] | None = None,
    ) -> None:
        version = len(self.commits)
        self.commits.append((version, f"{self.epoch}{version}", operation, parameters or {}, metrics or {}, note))


@dataclass
class FakeEngine:
    """`reads` answers statements that read data, by the beginning of their label; `fail` lets statements fail."""

    tables: dict[str, Table] = field(default_factory=dict)
    reads: dict[str, tuple[tuple[Any, ...], ...]] = field(default_factory=dict)
    fail: dict[str, EngineError] = field(default_factory=dict)
    written: int = 5
    merged: tuple[int, int, int, int] | None = (3, 1, 1, 1)
    settings: dict[str, str] = field(default_factory=dict)
    log: list[Statement] = field(default_factory=list)
    on_write: Callable[[], None] | None = None
    query_columns: dict[str, str] = field(default_factory=dict)  # of any SELECT that is asked about; else as inferred
    columns_of: dict[str, dict[str, str]] = field(default_factory=dict)  # of a SELECT, by the beginning of the question's label
    plans: dict[str, str] = field(default_factory=dict)  # EXPLAIN, by the beginning of the label; else all are one
    size: int = 1000  # bytes of each table
    functions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the user's → what DESCRIBE FUNCTION EXTENDED shows
    char_columns: set[str] = field(default_factory=set)  # table and column, as in DESCRIBE TABLE
    staged: set[str] = field(default_factory=set)  # temporary views
    second: dt.datetime | None = None  # of all commits
    kind: Engine = EMBEDDED
    actions: dict[tuple[str, int], tuple[Any, ...]] = field(default_factory=dict)  # table and version → of files

    def source(self, table_name: str, **columns: str) -> Table:
        table = self.tables[f"main.{table_name}"] = Table(columns)
        table.commit("CREATE TABLE")
        table.commit("WRITE", {"numOutputRows": "5"})
        return table

    def drive(self, request: ModelRequest, invocation: Invocation | None = None) -> Outcome:
        self.log = []
        name = f"main.{request.identifier}"
        existing = None if name not in self.tables else "view" if self.tables[name].kind == "VIEW" else "table"
        there: dict[str, Any] = {
            name.removeprefix("main."): "view" if table.kind == "VIEW" else "table" for name, table in self.tables.items()
        }
        steps = Refresh(refresh(replace(request, existing=existing, neighbours=there), invocation or Invocation(), self.kind))
        while steps.statement is not None:
            self.log.append(steps.statement)
            steps.answer(self.answer(steps.statement))
        assert steps.outcome is not None
        return steps.outcome

    def ask(self, steps: Generator[Statement, Reply, str]) -> str:
        """The result of a question that takes statements."""
        reply: Reply | None = None
        try:
            while True:
                reply = self.answer(steps.send(reply) if reply is not None else next(steps))
        except StopIteration as stop:
            return str(stop.value)

    def labels(self, kind: str) -> list[str]:
        return [statement.label for statement in self.log if statement.kind == kind]

    def answer(self, statement: Statement) -> Reply:
        for label, error in self.fail.items():
            if any(each.startswith(label) for each in self._labels(statement)):
                return error
        if statement.actions is not None:
            return self._actions(*statement.actions)
        verb = statement.sql.split()[0]
        return getattr(self, f"_{verb.lower()}")(statement)

    @staticmethod
    def _labels(statement: Statement) -> list[str]:
        """The label, and those of the statements about one table whose work a common one does."""
        if statement.label.startswith("net diffs of"):
            return [statement.label, *(f"net diff of {table} from" for table in _FEED.findall(statement.sql))]
        return [statement.label]

    def _actions(self, name: str, first: int, last: int) -> Reply:
        """Rows were added, and no feed was written beside them, unless `actions` says something else."""
        changes = [
            version
            for version, _, operation, *_ in self.tables[name].commits[first : last + 1]
            if operation not in commits.QUIET and operation in _CHANGES
        ]
        usual = {version: (0, int(version in changes), 0, None, 0) for version in range(first, last + 1)}
        return Rows(("version",), tuple((version, *self.actions.get((name, version), each)) for version, each in usual.items()))

    def _describe(self, statement: Statement) -> Reply:
        if statement.sql.startswith("DESCRIBE FUNCTION EXTENDED "):
            name = statement.sql.split()[-1]
            if name not in self.functions:
                return EngineError("UNRESOLVED_ROUTINE", f"Cannot resolve routine `{name}`")
            return Rows(("function_desc",), tuple((line,) for line in self.functions[name]))
        if "QUERY" in statement.sql:
            known = next((found for label, found in self.columns_of.items() if statement.label.startswith(label)), None)
            try:
                columns = known or self.query_columns or self._columns(statement.sql.removeprefix("DESCRIBE QUERY "))
            except IdivmError as error:
                return EngineError("ANALYSIS", str(error))
            return Rows(("col_name", "data_type", "comment"), tuple((*column, None) for column in columns.items()))
        if statement.sql.endswith("AS JSON"):
            view = self.tables[statement.sql.split()[3]]
            shown = {
                CONFIGURATION: view.settings,
                view_settings.SELECTED: list(view.selected),
                view_settings.MODE: view.mode,
                **({view_settings.COLLATION: view.collation} if view.collation is not None else {}),
            }
            return Rows(("json_metadata",), ((json.dumps(shown if view.settings is not None else {}),),))
        name = statement.sql.split()[3 if "EXTENDED" in statement.sql else 2]
        table = self.tables.get(name)
        if statement.label.startswith("column "):
            return Rows(
                ("info_name", "info_value"),
                (("data_type", "char(5)" if statement.sql.partition("TABLE ")[2] in self.char_columns else "string"),),
            )
        if "DETAIL" in statement.sql:
            return Rows(("format", "sizeInBytes"), (("delta", self.size),))
        if table is None:
            return EngineError("TABLE_OR_VIEW_NOT_FOUND", f"{name} cannot be found")
        if "HISTORY" in statement.sql and (table.kind == "VIEW" or table.provider != "delta"):
            return EngineError("DELTA_ONLY_OPERATION", f"{name} is not a Delta table")
        if "HISTORY" in statement.sql:
            return Rows(HISTORY, self._times(tuple(reversed(table.commits))[: int(statement.sql.split()[-1])]))
        heads = (("# Partition Information", ""), ("# col_name", "data_type"))
        partitions = (*heads, *((name, table.columns[name]) for name in table.partitions)) if table.partitions else ()
        lines = [
            *table.columns.items(),
            *partitions,
            ("", ""),
            ("# Detailed Table Information", ""),
            ("Type", table.kind),
            ("Provider", table.provider),
            ("View Text", table.text),
            ("View Catalog and Namespace", table.namespace),
            ("Table Properties", "[" + ",".join(f"{k}={v}" for k, v in table.properties.items()) + "]"),
        ]
        return Rows(("col_name", "data_type", "comment"), tuple((*line, None) for line in lines))

    def _times(self, commits: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
        """As Delta shows commits of one second, where files have no smaller unit: of those asked for, each is later than the
        one before."""
        if self.second is None:
            return commits
        return tuple(
            (version, self.second + dt.timedelta(milliseconds=len(commits) - 1 - place), *rest)
            for place, (version, _, *rest) in enumerate(commits)
        )

    def _explain(self, statement: Statement) -> Reply:
        usual = "Relation main.t[a#1] parquet"
        labels = [statement.label]
        if statement.label.startswith("plan of reading "):  # a table, or several
            labels = [f"plan of reading {table}" for table in re.findall(r"FROM ([^\s(]+) WHERE", statement.sql)]
        texts = [text for label, text in self.plans.items() if any(each.startswith(label) for each in labels)]
        found = "\n".join(texts) or usual
        return Rows(("plan",), ((f"== Optimized Logical Plan ==\n{found}\n\n== Physical Plan ==\nLocalTableScan <empty>",),))

    def _columns(self, sql: str) -> dict[str, str]:
        """The columns of a SELECT with the types that the planner infers; where that is unknown, BIGINT."""
        tables = {
            name: TableInfo(
                name, tuple(Attribute(*column) for column in table.columns.items()), ("id",) if "id" in table.columns else None
            )
            for name, table in self.tables.items()
        }
        lowered = lower(_VERSION.sub("", sql), Catalog(tables, functions=dict.fromkeys(self.functions, UserFunction())))
        groups = [node for node in operators(lowered.root) if isinstance(node, Aggregate)]
        calls = {call.name: call.function for node in groups for call in node.calls}
        spark = {"count": "bigint", "avg": "double"}  # sqlglot has others
        kinds = {
            name: spark.get(calls.get(attribute, "")) or name_of_type(lowered.root.types[attribute])
            for name, attribute in lowered.output
        }
        found = [(name, "bigint" if "unknown" in kind or kind == "null" else kind) for name, kind in kinds.items()]
        for each in lowered.times:
            found.insert(each.place, (each.name, name_of_type(each.type)))
        return dict(found)

    def _set(self, statement: Statement) -> Reply:
        if statement.kind == "metadata":
            key = statement.sql.split("`")[1]
            return Rows(("key", "value"), ((key, SETTINGS.get(key) or DEFAULTS.get(key) or "<undefined>"),))
        key, value = re.fullmatch(r"SET `(.*?)`=`(.*)`", statement.sql).groups()  # type: ignore[union-attr]
        self.settings[key] = value
        return Rows()

    def _reset(self, statement: Statement) -> Reply:
        self.settings.pop(statement.sql.split()[1].strip("`"), None)
        return Rows()

    def _select(self, statement: Statement) -> Reply:
        # of keys some of each kind; of a view's changes more than are applied as fetched rows
        unknown = {"changed keys": ((1, 1, 1),), "changes of": ((1,),) * (SOURCE_ROWS + 1), "keys of": ((1,),) * (KEYS + 1)}
        answers = {**unknown, **self.reads}
        found = next((answers[label] for label in (*self.reads, *unknown) if statement.label.startswith(label)), ())
        if statement.label.startswith("net diffs of"):
            found = self._net_diffs(statement)
        for common, alone in (("check keys of", "check key "), ("check new keys of", "check new keys ")):
            if statement.label.startswith(common):
                found = self._broken_keys(statement, alone)
        if statement.label.startswith("changed keys"):  # without a range of the columns of new keys
            found = tuple(row if len(row) > 3 else (*row, *(None, None, 0) * statement.sql.count("CAST(MIN(")) for row in found)
        return Rows(("c",), found)

    def _broken_keys(self, statement: Statement, alone: str) -> tuple[tuple[Any, ...], ...]:
        """The numbers of the tables whose keys are broken, if each is asked for `alone`."""
        broken = [label for label, rows in self.reads.items() if f"{label} ".startswith(alone) and rows]
        tables = re.findall(r"FROM (\S+) VERSION AS OF", statement.sql)
        return tuple(
            (number,)
            for number, table in enumerate(tables)
            if any(f"{label} " == alone or label.endswith(f" of {table}") for label in broken)
        )

    def _net_diffs(self, statement: Statement) -> tuple[tuple[Any, ...], ...]:
        """The rows of each table, as it is answered if it is asked for alone, in the form of all of them, and no more than the
        LIMIT."""
        tables, found = _FEED.findall(statement.sql), []
        counts = {table: sum(map(is_inlinable, self.tables[table].columns.values())) for table in tables}
        for number, table in enumerate(tables):
            label = f"net diff of {table} from"
            rows = next((rows for each, rows in self.reads.items() if label.startswith(each) or each.startswith(label)), ())
            for row in rows:
                cells = [None if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in row]
                own, count = cells[: counts[table]], row[counts[table] : -1] or (None, None)
                padded = (*own, *(None,) * (max(counts.values()) - len(own)))
                found.append((number, *padded, *(count if "GROUPING SETS" in statement.sql else ()), row[-1]))
        return tuple(found)[: int(statement.sql.split()[-1])]

    def _with(self, statement: Statement) -> Reply:
        return self._insert(statement) if "INSERT INTO" in statement.sql else self._select(statement)

    def _create(self, statement: Statement) -> Reply:
        name = re.search(r"(?:TABLE|VIEW) (\S+)", statement.sql)[1]  # type: ignore[index]
        old = self.tables.get(name)
        is_cache = "idivm_cache_" in name
        columns = self._columns(re.split(r"\bAS\s+(?=SELECT|WITH)", statement.sql, maxsplit=1)[1]) if is_cache else {}
        kind = "VIEW" if " VIEW " in statement.sql else "MANAGED"
        table = Table(columns, kind, properties=dict(_PROPERTY.findall(statement.sql)))
        table.commits, table.transactions = (old.commits, old.transactions) if old else ([], {})
        self.tables[name] = table
        self._wrote(table, "CREATE TABLE AS SELECT")
        return Rows()

    def _insert(self, statement: Statement) -> Reply:
        name = re.search(r"INSERT (?:OVERWRITE TABLE|INTO) (\S+)", statement.sql)[1]  # type: ignore[index]
        if self.merged is not None:
            self._wrote(self.tables[name], "WRITE")
        return Rows()

    def _merge(self, statement: Statement) -> Reply:
        if self.merged is None or not self._wrote(self.tables[statement.sql.split()[2]], "MERGE"):
            return Rows(MERGED)
        return Rows(MERGED, (self.merged,))

    def _update(self, statement: Statement) -> Reply:
        """No row without a number, as Delta answers a statement that it skips; nothing is committed if no row is touched."""
        table = self.tables[statement.sql.split()[1 if statement.sql.startswith("UPDATE") else 2]]
        if self.merged is None or (self.written and not self._wrote(table, "UPDATE")):
            return Rows(("num_affected_rows",))
        return Rows(("num_affected_rows",), ((self.written,),))

    _delete = _update

    def _cache(self, statement: Statement) -> Reply:
        self.staged.add(statement.sql.split()[2])
        return Rows()

    def _optimize(self, statement: Statement) -> Reply:
        self.tables[statement.sql.split()[1]].commit("OPTIMIZE")
        return Rows()

    def _vacuum(self, statement: Statement) -> Reply:
        self.tables[statement.sql.split()[1]].commit("VACUUM END")
        return Rows()

    def _drop(self, statement: Statement) -> Reply:
        name = statement.sql.split()[-1]
        self.tables.pop(name, None)
        self.staged.discard(name)
        return Rows()

    def _alter(self, statement: Statement) -> Reply:
        words = statement.sql.split()
        if "TBLPROPERTIES" in statement.sql:
            self.tables[words[2]].properties |= dict(_PROPERTY.findall(statement.sql))
            self._wrote(self.tables[words[2]], "SET TBLPROPERTIES")
            return Rows()
        self.tables[words[-1]] = self.tables.pop(words[2])
        return Rows()

    def _wrote(self, table: Table, operation: str) -> bool:
        """Whether it was written; not under a number that was used, as Delta does."""
        if self.on_write:
            self.on_write()
        number, application = int(self.settings.get(commits.TXN_VERSION, -1)), self.settings.get(commits.TXN_APP, "")
        if table.transactions.get(application, -2) >= number >= 0:
            return False
        table.transactions[application] = number
        metrics = {"numOutputRows": str(self.written)}
        table.commit(operation, metrics, self.settings.get("spark.databricks.delta.commitInfo.userMetadata"))
        return True


def drive(engine: FakeEngine, steps: Generator[Statement, Reply, Any]) -> Any:
    """The result of a generator of statements, answered by the engine."""
    try:
        statement = next(steps)
        while True:
            engine.log.append(statement)
            statement = steps.send(engine.answer(statement))
    except StopIteration as stop:
        return stop.value


def model(sql: str, unique: dict[str, str] | None = None, **config: Any) -> ModelRequest:
    """`config`: without a strategy it is `id`, by which the tables of tests are maintained however small they are; without `keys`,
    tables have the declared ones only."""
    declared = {f"main.{table}": (KeyCandidate((column,), "test unique"),) for table, column in (unique or {}).items()}
    return ModelRequest(
        "v",
        "main",
        "v",
        sql,
        {"idivm": {"strategy": "id", "keys": "declared", **config}},
        declared,
        {"main.o": "orders"},
        session={"ansi": "true", "time_zone": "UTC"},
    )
