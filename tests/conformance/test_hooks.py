import pytest
from dbt.tests.adapter.hooks import fixtures, test_model_hooks
from dbt.tests.adapter.hooks.test_model_hooks import (
    MODEL_POST_HOOK,
    MODEL_PRE_HOOK,
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

from tests.conformance.maintained import ONE_ROW, Maintained
from tests.conformance.spark_sql import SparkSql

TABLE = """create or replace table {{schema}}.{name} (
    test_state string, target_dbname string, target_host string, target_name string, target_schema string, target_type string,
    target_user string, target_pass string, target_threads int, run_started_at string, invocation_id string, thread_id string
) using delta"""
# `vacuum` refuses to delete what is younger than a week; it has a statement of its own on Delta.
OUTSIDE = {"sql": "optimize {{ this.schema }}.on_model_hook", "transaction": False}


class OnSpark(SparkSql):
    """What the hooks write is this profile's, not Postgres'."""

    table = "on_model_hook"

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(TABLE.format(name=self.table))

    def check_hooks(self, state, project, host, count=1):
        contexts = self.contexts(state, project, count)
        for context in contexts:
            assert context["test_state"] == state
            assert context["target_dbname"] == ""
            assert context["target_host"] == (host or "")
            assert context["target_name"] == "default"
            assert context["target_schema"] == project.test_schema
            assert context["target_threads"] == 4
            assert context["target_type"] == "idivm"
            assert context["target_user"] in ("", "None")
            assert context["target_pass"] == ""
            assert context["run_started_at"], "run_started_at was not set"
            assert context["invocation_id"], "invocation_id was not set"
            assert context["thread_id"].startswith("Thread-") or context["thread_id"] == "MainThread"

    def contexts(self, state, project, count):
        return self.get_ctx_vars(state, count, project)


class ModelHooks(OnSpark):
    hooks = ("pre-hook", "post-hook")

    @pytest.fixture(scope="class")
    def project_config_update(self):
        pre, post = self.hooks
        return {"models": {"test": {pre: [MODEL_PRE_HOOK, OUTSIDE], post: [OUTSIDE, MODEL_POST_HOOK]}}}


class TestPrePostModelHooks(ModelHooks, BasePrePostModelHooks):
    pass


class TestPrePostModelHooksMaintained(Maintained, TestPrePostModelHooks):
    pass


class TestPrePostModelHooksUnderscores(ModelHooks, BasePrePostModelHooks):
    conforms_to = test_model_hooks.TestPrePostModelHooksUnderscores
    hooks = ("pre_hook", "post_hook")


class TestHookRefs(OnSpark, BaseHookRefs):
    pass


class TestHookRefsMaintained(Maintained, TestHookRefs):
    @pytest.fixture(scope="class")
    def models(self):
        hooked = fixtures.models__hooked.replace("select 1 as id", f"select distinct 1 as id from {ONE_ROW}")
        return {"hooked.sql": hooked, "post.sql": fixtures.models__post, "pre.sql": fixtures.models__pre}


class TestPrePostModelHooksInConfig(OnSpark, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigMaintained(Maintained, TestPrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(ModelHooks, BasePrePostModelHooksInConfigWithCount):
    pass


class TestPrePostModelHooksInConfigWithCountMaintained(Maintained, TestPrePostModelHooksInConfigWithCount):
    pass


class TestPrePostModelHooksInConfigKwargs(OnSpark, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostModelHooksInConfigKwargsMaintained(Maintained, TestPrePostModelHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestDuplicateHooksInConfigsMaintained(Maintained, BaseDuplicateHooksInConfigs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        # the base class', but for `::`, which Spark 3.5 does not have
        return {
            "seed-paths": ["seeds"],
            "models": {},
            "seeds": {
                "post-hook": [
                    "alter table {{ this }} add column new_col int",
                    "update {{ this }} set new_col = 1",
                    "select cast(null as {{ dbt.type_int() }}) as id",
                ],
                "quote_columns": False,
            },
        }


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestPrePostRunHooks(OnSpark, BasePrePostRunHooks):
    table = "on_run_hook"

    @pytest.fixture(scope="function")
    def setUp(self, project, monkeypatch):
        monkeypatch.setenv("TERM_TEST", "TESTING")
        project.run_sql(TABLE.format(name=self.table))
        project.run_sql(f"drop table if exists {project.test_schema}.schemas")
        project.run_sql(f"drop table if exists {project.test_schema}.db_schemas")

    @pytest.fixture(scope="class")
    def project_config_update(self):
        # the base class', with Spark's types
        return {
            "on-run-start": [
                "{{ custom_run_hook('start', target, run_started_at, invocation_id) }}",
                "create table {{ target.schema }}.start_hook_order_test ( id int )",
                "drop table {{ target.schema }}.start_hook_order_test",
                "{{ log(env_var('TERM_TEST'), info=True) }}",
            ],
            "on-run-end": [
                "{{ custom_run_hook('end', target, run_started_at, invocation_id) }}",
                "create table {{ target.schema }}.end_hook_order_test ( id int )",
                "drop table {{ target.schema }}.end_hook_order_test",
                "create table {{ target.schema }}.schemas ( schema string )",
                "insert into {{ target.schema }}.schemas (schema) values {% for schema in schemas %}( '{{ schema }}' )"
                "{% if not loop.last %},{% endif %}{% endfor %}",
                "create table {{ target.schema }}.db_schemas ( db string, schema string )",
                "insert into {{ target.schema }}.db_schemas (db, schema) values {% for db, schema in database_schemas %}"
                "('{{ db }}', '{{ schema }}' ){% if not loop.last %},{% endif %}{% endfor %}",
            ],
            "seeds": {"quote_columns": False},
        }

    def contexts(self, state, project, count):
        return [self.get_ctx_vars(state, project)]

    def assert_used_schemas(self, project):
        assert [tuple(row) for row in project.run_sql(f"select * from {project.test_schema}.schemas", fetch="all")] == [
            (project.test_schema,)
        ]
        # a Spark catalog has schemas and no databases above them
        assert [tuple(row) for row in project.run_sql(f"select * from {project.test_schema}.db_schemas", fetch="all")] == [
            ("None", project.test_schema)
        ]


class TestAfterRunHooks(BaseAfterRunHooks):
    pass


class TestAfterRunHooksMaintained(Maintained, BaseAfterRunHooks):
    pass
