import re
from pathlib import Path

from dbt.tests.adapter.ephemeral.test_ephemeral import BaseEphemeralErrorHandling, BaseEphemeralMulti, BaseEphemeralNested
from dbt.tests.util import check_relations_equal, run_dbt

from tests.conformance.maintained import Maintained

# What the base classes expect, without Postgres' DDL around it.
DOUBLE_DEPENDENT = """with __dbt__cte__base as (
select * from {schema}.seed
),  __dbt__cte__base_copy as (
select * from __dbt__cte__base
)-- base_copy just pulls from base. Make sure the listed
-- graph of CTEs all share the same dbt_cte__base cte
select * from __dbt__cte__base where gender = 'Male'
union all
select * from __dbt__cte__base_copy where gender = 'Female'
"""
ROOT_VIEW = """with __dbt__cte__ephemeral_level_two as (
select * from {schema}.source_table
),  __dbt__cte__ephemeral as (
select * from __dbt__cte__ephemeral_level_two
)select * from __dbt__cte__ephemeral
"""


def assert_sql(project, model, expected, view):
    """The compiled SQL of a model, and if it is a view, what was run for it; white space aside."""
    select = expected.format(schema=project.test_schema)
    assert _squeezed(Path(f"target/compiled/test/models/{model}.sql").read_text()) == _squeezed(select)
    if view:
        ran = Path(f"target/run/test/models/{model}.sql").read_text()
        assert _squeezed(ran) == _squeezed(f"create or replace view {project.test_schema}.{model} as {select}")


def _squeezed(text):
    return re.sub(r"\s+", "", text)


class TestEphemeralMulti(BaseEphemeralMulti):
    view = True

    def test_ephemeral_multi(self, project):
        run_dbt(["seed"])
        results = run_dbt(["run"])
        assert len(results) == 3
        check_relations_equal(project.adapter, ["seed", "dependent"])
        check_relations_equal(project.adapter, ["seed", "double_dependent"])
        check_relations_equal(project.adapter, ["seed", "super_dependent"])
        assert_sql(project, "double_dependent", DOUBLE_DEPENDENT, self.view)


class TestEphemeralMultiMaintained(Maintained, TestEphemeralMulti):
    view = False


class TestEphemeralNested(BaseEphemeralNested):
    view = True

    def test_ephemeral_nested(self, project):
        results = run_dbt(["run"])
        assert len(results) == 2
        assert_sql(project, "root_view", ROOT_VIEW, self.view)


class TestEphemeralNestedMaintained(Maintained, TestEphemeralNested):
    inputs = ("source_table.sql",)
    view = False


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass


class TestEphemeralErrorHandlingMaintained(Maintained, BaseEphemeralErrorHandling):
    pass
