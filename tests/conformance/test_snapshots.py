import pytest
from dbt.tests.adapter.simple_snapshot import (
    fixtures,
    new_record_dbt_valid_to_current,
    new_record_timestamp_mode,
    test_various_configs,
)
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import BaseSnapshotNewRecordDbtValidToCurrent
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import BaseSnapshotNewRecordTimestampMode
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotDbtValidToCurrent,
    BaseSnapshotInvalidColumnNames,
)

from tests.conformance.spark_sql import SparkSql, spark_sql


class AddsColumns(SparkSql):
    """Delta adds no column with a default to a table that has rows."""

    def add_fact_column(self, column=None, definition=None):
        super().add_fact_column(column, definition.removesuffix(" default null"))


class TestSimpleSnapshot(AddsColumns, BaseSimpleSnapshot):
    pass


class TestSnapshotCheck(AddsColumns, BaseSnapshotCheck):
    pass


class WithoutDatabase(SparkSql):
    snapshot = fixtures.snapshot_actual_sql

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": spark_sql(self.snapshot).replace("`", '"')}


class TestSnapshotColumnNames(WithoutDatabase, BaseSnapshotColumnNames):
    pass


class TestSnapshotColumnNamesFromDbtProject(WithoutDatabase, BaseSnapshotColumnNamesFromDbtProject):
    pass


class TestSnapshotInvalidColumnNames(WithoutDatabase, BaseSnapshotInvalidColumnNames):
    pass


class TestSnapshotDbtValidToCurrent(WithoutDatabase, BaseSnapshotDbtValidToCurrent):
    @pytest.fixture(autouse=True)
    def rows_in_order(self, monkeypatch):
        """It looks at rows by their places in a table of Postgres: first versions by their ids, then second ones."""
        run_sql = test_various_configs.run_sql_with_adapter

        def in_order(*args):
            rows = sorted(map(tuple, run_sql(*args)), key=lambda row: (row[0], row[2]))
            version = [sum(other[0] == row[0] for other in rows[:place]) for place, row in enumerate(rows)]
            return [row for _, row in sorted(zip(version, rows, strict=True), key=lambda pair: (pair[0], pair[1][0]))]

        monkeypatch.setattr(test_various_configs, "run_sql_with_adapter", in_order)


class TestSnapshotNewRecordTimestampMode(WithoutDatabase, BaseSnapshotNewRecordTimestampMode):
    snapshot = new_record_timestamp_mode._snapshot_actual_sql


class TestSnapshotNewRecordCheckMode(WithoutDatabase, BaseSnapshotNewRecordCheckMode):
    snapshot = new_record_timestamp_mode._snapshot_actual_sql


class TestSnapshotNewRecordDbtValidToCurrent(WithoutDatabase, BaseSnapshotNewRecordDbtValidToCurrent):
    snapshot = new_record_dbt_valid_to_current._snapshot_actual_sql


class NewColumn(SparkSql):
    """A column with a default, as Delta takes it: first without, then filled."""

    @pytest.fixture(scope="class")
    def source_create_sql(self):
        return (
            "create table {schema}.src_customers "
            "(id int, first_name string, last_name string, email string, updated_at timestamp)"
        )

    @pytest.fixture(scope="class")
    def source_insert_sql(self):
        return """insert into {schema}.src_customers values
            (1, 'John', 'Doe', 'john.doe@example.com', timestamp'2023-01-01 10:00:00'),
            (2, 'Jane', 'Smith', 'jane.smith@example.com', timestamp'2023-01-02 11:00:00'),
            (3, 'Bob', 'Johnson', 'bob.johnson@example.com', timestamp'2023-01-03 12:00:00')"""

    @pytest.fixture(scope="class")
    def source_alter_sql(self):
        return (
            "alter table {schema}.src_customers add column dummy_column string; "
            "update {schema}.src_customers set dummy_column = 'dummy_value'"
        )

    @pytest.fixture(scope="class")
    def source_delete_sql(self):
        return "delete from {schema}.src_customers where id = 3"


class TestSnapshotEphemeralHardDeletes(NewColumn, BaseSnapshotEphemeralHardDeletes):
    pass


class TestSnapshotNewColumnTimestampStrategy(NewColumn, BaseSnapshotNewColumnTimestampStrategy):
    pass


class TestSnapshotNewColumnSpecificCheckCols(NewColumn, BaseSnapshotNewColumnSpecificCheckCols):
    pass


class TestSnapshotNewColumnWithDeletes(NewColumn, BaseSnapshotNewColumnWithDeletes):
    pass
