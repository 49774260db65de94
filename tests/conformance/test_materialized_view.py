"""dbt's tests of materialized views, with idivm models in their place."""

from dbt.adapters.contracts.relation import RelationType
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.util import get_connection, get_model_file, run_dbt, set_model_file

from tests.conformance.maintained import Maintained


def swapped(project, relation, before, after):
    text = get_model_file(project, relation)
    assert f"materialized='{before}'" in text
    set_model_file(project, relation, text.replace(f"materialized='{before}'", f"materialized='{after}'"))


class InTheirPlace(Maintained):
    materializations = ("materialized_view",)

    @staticmethod
    def query_relation_type(project, relation):
        """A table whose last commit carries a view's state is maintained."""
        with get_connection(project.adapter):
            found = project.adapter.get_relation(project.database, project.test_schema, relation.identifier)
        if found is None or found.type == RelationType.View:
            return None if found is None else "view"
        *_, metadata, _ = project.run_sql(f"describe history {relation} limit 1", fetch="one")
        return "materialized_view" if "idivm" in (metadata or "") else "table"


class TestMaterializedViewBasicMaintained(InTheirPlace, MaterializedViewBasic):
    @staticmethod
    def insert_record(project, table, record):
        project.run_sql(f"insert into {table} values {record}")

    @staticmethod
    def refresh_materialized_view(project, materialized_view):
        result = run_dbt(["run", "--select", materialized_view.identifier]).results[0]
        assert result.adapter_response["mode"] in ("incremental", "full")  # `auto` takes what is cheaper

    @staticmethod
    def query_row_count(project, relation):
        return project.run_sql(f"select count(*) from {relation}", fetch="one")[0]

    @staticmethod
    def swap_table_to_materialized_view(project, table):
        swapped(project, table, "table", "idivm")

    @staticmethod
    def swap_view_to_materialized_view(project, view):
        swapped(project, view, "view", "idivm")

    @staticmethod
    def swap_materialized_view_to_table(project, materialized_view):
        swapped(project, materialized_view, "idivm", "table")

    @staticmethod
    def swap_materialized_view_to_view(project, materialized_view):
        swapped(project, materialized_view, "idivm", "view")

    def test_materialized_view_full_refresh(self, project, my_materialized_view):
        """The base class reads in the log that it was replaced; here the result says so."""
        result = run_dbt(["run", "--select", my_materialized_view.identifier, "--full-refresh"]).results[0]
        assert self.query_relation_type(project, my_materialized_view) == "materialized_view"
        assert result.adapter_response["mode"] == "full" and result.adapter_response["reason"].startswith("IDIVM-401")
