"""Materializations that replace each other, copies of a project's models, names of catalogs and schemas."""

import pytest
from dbt.adapters.contracts.relation import RelationType
from dbt.tests.adapter.catalog.relation_types import CatalogRelationTypes
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import get_connection

from tests.conformance.maintained import ONE_ROW, Maintained
from tests.conformance.spark_sql import SparkSql


class TestChangeRelationTypes(BaseChangeRelationTypeValidator):
    pass


class TestChangeRelationTypesMaintained(Maintained, BaseChangeRelationTypeValidator):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "model_mc_modelface.sql": "{{ config(materialized=var('materialized', 'idivm')) }}"
            "select distinct '{{ var(\"materialized\") }}' as materialization from " + ONE_ROW
        }

    def test_changing_materialization_changes_relation_type(self, project):
        relation = f"{project.test_schema}.model_mc_modelface"
        for materialization in ("view", "idivm", "table", "idivm", "incremental", "idivm", "view", "idivm"):
            # dbt-spark's incremental goes on with a table that is there
            full = ["--full-refresh"] if materialization == "incremental" else []
            self._run_and_check_materialization(materialization, full)
            rows = project.run_sql(f"select materialization from {relation}", fetch="all")
            assert [tuple(row) for row in rows] == [(materialization,)]
            with get_connection(project.adapter):
                found = project.adapter.get_relation(project.database, project.test_schema, "model_mc_modelface")
            assert found.type == (RelationType.View if materialization == "view" else RelationType.Table)


class TestDropSchemaNamed(BaseDropSchemaNamed):
    pass


class TestDropSchemaNamedMaintained(Maintained, BaseDropSchemaNamed):
    pass


class TestCatalogRelationTypesMaintained(Maintained, CatalogRelationTypes):
    materializations = ("materialized_view",)

    @pytest.mark.parametrize(
        "node_name,relation_type",
        [
            ("seed.test.my_seed", "table"),
            ("model.test.my_table", "table"),
            ("model.test.my_view", "view"),
            ("model.test.my_materialized_view", "table"),
        ],
    )
    def test_relation_types_populate_correctly(self, docs, node_name, relation_type):
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


class TestSimpleCopy(SparkSql, SimpleCopyBase):
    def test_simple_copy_with_materialized_views(self, project):
        """Spark has none of its own: what is unrelated here is a view."""
        run_sql, project.run_sql = project.run_sql, lambda sql: run_sql(sql.replace("materialized view", "view"))
        super().test_simple_copy_with_materialized_views(project)


class TestSimpleCopyMaintained(Maintained, TestSimpleCopy):
    pass


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    @pytest.fixture(scope="class")
    def project(self, project):
        def tables():
            with get_connection(project.adapter):
                found = project.adapter.list_relations(project.database, project.test_schema)
            return {relation.identifier: relation.type for relation in found}

        project.get_tables_in_schema = tables  # the base's reads information_schema
        return project


class TestEmptyModelsArentRunMaintained(Maintained, TestEmptyModelsArentRun):
    pass


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return dbt_profile_target


class TestSimpleCopyUppercaseMaintained(Maintained, TestSimpleCopyUppercase):
    pass
