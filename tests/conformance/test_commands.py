"""clone, debug, show, --empty and --sample."""

import pytest
from dbt.tests.adapter.dbt_clone import fixtures as clone_fixtures
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseClonePossible,
    BaseCloneSameTargetAndState,
)
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebug, BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowDoesNotHandleDoubleLimit, BaseShowLimit, BaseShowSqlHeader
from dbt.tests.adapter.empty.test_empty import BaseTestEmpty, BaseTestEmptyInlineSourceRef, BaseTestEmptySeedFlag
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.conformance.maintained import Maintained


class DropsBothSchemas:
    @pytest.fixture(autouse=True)
    def clean_up(self, project):
        yield
        with project.adapter.connection_named("__test"):
            for schema in (f"{project.test_schema}_seeds", f"{project.test_schema}_other", project.test_schema):
                project.adapter.drop_schema(project.adapter.Relation.create(schema=schema))


class TestClonePossible(DropsBothSchemas, BaseClonePossible):
    pass


class CloneMaintained(Maintained):
    """The table is maintained, over a view as the base class wants it."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "table_model.sql": clone_fixtures.table_model_sql,
            "ephemeral_model.sql": clone_fixtures.ephemeral_model_sql,
            "view_model.sql": "{{ config(materialized='view') }}" + clone_fixtures.view_model_sql,
            "schema.yml": clone_fixtures.schema_yml,
            "exposures.yml": clone_fixtures.exposures_yml,
        }


class TestClonePossibleMaintained(CloneMaintained, TestClonePossible):
    pass


class TestCloneNotPossible(DropsBothSchemas, BaseCloneNotPossible):
    pass


class TestCloneNotPossibleMaintained(CloneMaintained, TestCloneNotPossible):
    pass


class TestCloneSameTargetAndState(DropsBothSchemas, BaseCloneSameTargetAndState):
    pass


class TestDebug(BaseDebug):
    """Without the users and passwords of Postgres."""

    conforms_to = BaseDebugPostgres

    def test_ok(self, project):
        run_dbt(["debug"])
        assert "ERROR" not in self.capsys.readouterr().out

    def test_connection_flag(self, project):
        _, out = run_dbt_and_capture(["debug", "--connection"])
        assert "Skipping steps before connection verification" in out
        _, out = run_dbt_and_capture(["debug", "--connection", "--target", "NONE"], expect_pass=False)
        assert "1 check failed" in out
        assert "The profile 'test' does not have a target named 'NONE'." in out


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres):
    pass


class TestShowLimit(BaseShowLimit):
    pass


class TestShowLimitMaintained(Maintained, BaseShowLimit):
    pass


class TestShowSqlHeader(BaseShowSqlHeader):
    pass


class TestShowDoesNotHandleDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "limit"


class TestEmpty(BaseTestEmpty):
    pass


class TestEmptyMaintained(Maintained, BaseTestEmpty):
    pass


class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    pass


class TestEmptyInlineSourceRefMaintained(Maintained, BaseTestEmptyInlineSourceRef):
    pass


class TestEmptySeedFlag(BaseTestEmptySeedFlag):
    pass


class TestEmptySeedFlagMaintained(Maintained, BaseTestEmptySeedFlag):
    pass


class TestSampleMode(BaseSampleModeTest):
    pass


class TestSampleModeMaintained(Maintained, BaseSampleModeTest):
    inputs = ("input_model.sql",)
