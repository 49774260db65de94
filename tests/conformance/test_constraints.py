import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseViewConstraintsColumnsEqual,
)

from tests.conformance.maintained import Maintained, maintained

SCHEMA = fixtures.model_schema_yml.replace("text", "string").replace("primary key", "")
FOREIGN_KEY_SCHEMA = fixtures.model_fk_constraint_schema_yml.replace("text", "string").replace("primary key", "")
MODEL_SCHEMA = fixtures.constrained_model_schema_yml.replace("text", "string")
QUOTED_SCHEMA = fixtures.model_quoted_column_schema_yml.replace("text", "string").replace('"from"', "`from`")

# Constraints are set by ALTER TABLE after the table is made.
DDL = """
create or replace table <model_identifier>
using delta
tblproperties ('delta.enableChangeDataFeed' = 'true')
as
select id, {column}, date_day
from ({depends_on}
    select 'blue' as {column}, 1 as id, '2019-01-01' as date_day
) as model_subq
"""


class SparkTypes:
    @pytest.fixture
    def string_type(self):
        return "STRING"

    @pytest.fixture
    def int_type(self):
        return "INT"

    @pytest.fixture
    def schema_string_type(self):
        return "string"

    @pytest.fixture
    def schema_int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self, schema_int_type, int_type, schema_string_type, string_type):
        # value, type in the contract, type in the message
        return [
            ["1", schema_int_type, int_type],
            ["'1'", schema_string_type, string_type],
            ["true", "boolean", "BOOLEAN"],
            ["array('1', '2')", "array<string>", "ARRAY"],
            ["array(1, 2)", "array<int>", "ARRAY"],
            ["cast('2019-01-01' as date)", "date", "DATE"],
            ["cast('2019-01-01' as timestamp)", "timestamp", "TIMESTAMP"],
            ["cast(1.0 as decimal(4, 2))", "decimal", "DECIMAL"],
        ]


class WrongColumns(SparkTypes):
    order: str
    name: str

    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model_wrong_order.sql": self.order, "my_model_wrong_name.sql": self.name, "constraints_schema.yml": SCHEMA}


class TestTableConstraintsColumnsEqual(WrongColumns, BaseTableConstraintsColumnsEqual):
    order, name = fixtures.my_model_wrong_order_sql, fixtures.my_model_wrong_name_sql


class TestTableConstraintsColumnsEqualMaintained(Maintained, TestTableConstraintsColumnsEqual):
    @pytest.fixture(autouse=True)
    def models_of_the_tests(self, monkeypatch):
        monkeypatch.setattr(fixtures, "my_model_data_type_sql", maintained(fixtures.my_model_data_type_sql))


class TestViewConstraintsColumnsEqual(WrongColumns, BaseViewConstraintsColumnsEqual):
    order, name = fixtures.my_model_view_wrong_order_sql, fixtures.my_model_view_wrong_name_sql


class TestIncrementalConstraintsColumnsEqual(WrongColumns, BaseIncrementalConstraintsColumnsEqual):
    order, name = fixtures.my_model_incremental_wrong_order_sql, fixtures.my_model_incremental_wrong_name_sql


class DependsOnForeignKey:
    my_model: str
    schema_yml = FOREIGN_KEY_SCHEMA

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": self.my_model,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": self.schema_yml,
        }

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return DDL.format(column="color", depends_on="-- depends_on: <foreign_key_model_identifier>\n")


class TestTableConstraintsRuntimeDdlEnforcement(DependsOnForeignKey, BaseConstraintsRuntimeDdlEnforcement):
    my_model = fixtures.my_model_wrong_order_depends_on_fk_sql


class TestIncrementalConstraintsRuntimeDdlEnforcement(DependsOnForeignKey, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    my_model = fixtures.my_model_incremental_wrong_order_depends_on_fk_sql


class TestModelConstraintsRuntimeEnforcement(DependsOnForeignKey, BaseModelConstraintsRuntimeEnforcement):
    my_model = fixtures.my_model_wrong_order_depends_on_fk_sql
    schema_yml = MODEL_SCHEMA


class TestConstraintQuotedColumn(BaseConstraintQuotedColumn):
    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model.sql": fixtures.my_model_with_quoted_column_name_sql, "constraints_schema.yml": QUOTED_SCHEMA}

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return DDL.format(column="`from`", depends_on="")


class Refused:
    """Spark's messages. NOT NULL and CHECK are set after the table was replaced."""

    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return [
            "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION",
            "DELTA_NEW_NOT_NULL_VIOLATION",
            "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        ]

    def assert_expected_error_messages(self, error_message, expected_error_messages):
        assert any(message in error_message for message in expected_error_messages)


class TestTableConstraintsRollback(Refused, BaseConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model.sql": fixtures.my_model_sql, "constraints_schema.yml": SCHEMA}

    @pytest.fixture(scope="class")
    def expected_color(self):
        return "red"  # as with dbt-spark: a replaced table is not rolled back


class TestConstraintsRollbackMaintained(Maintained, Refused, BaseIncrementalConstraintsRollback):
    """Another query makes another table, whose constraints are set afterwards, as with a table."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model.sql": fixtures.my_incremental_model_sql, "constraints_schema.yml": SCHEMA}

    @pytest.fixture(scope="class")
    def expected_color(self):
        return "red"

    @pytest.fixture(scope="class")
    def null_model_sql(self):
        return maintained(fixtures.my_model_incremental_with_nulls_sql)


class TestIncrementalConstraintsRollback(Refused, BaseIncrementalConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model.sql": fixtures.my_incremental_model_sql, "constraints_schema.yml": SCHEMA}


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass


class TestIncrementalForeignKeyConstraintMaintained(Maintained, BaseIncrementalForeignKeyConstraint):
    pass
