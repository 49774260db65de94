"""Why a class of dbt's, or all of a folder, does not apply: under the type, or with idivm models."""

ABSTRACT = "a base: run as the classes that derive from it"
NO_DATABASE = "Spark has schemas and no databases above them"
NO_UDF = "dbt-spark makes no functions"
NO_PYTHON = "dbt-spark sends Python models to Databricks' API only"
NO_GRANTS = "Spark grants nothing without Hive's authorization"
SQL_HEADER = "dbt-spark leaves `sql_header` out of a table's DDL"

NOT_AS_TYPE = {
    "functions": NO_UDF,
    "grants": NO_GRANTS,
    "python_model": NO_PYTHON,
    "BaseArrayUtils": ABSTRACT,
    "BaseCachingTest": ABSTRACT,
    "BaseCloneSameSourceAndTarget": "names its table with a database, and " + NO_DATABASE,
    "BaseConstraintsColumnsEqual": ABSTRACT,
    "BaseContractSqlHeader": ABSTRACT,
    "BaseCurrentTimestamp": ABSTRACT,
    "BaseCurrentTimestampAware": "the other of two: Spark's clients return naive timestamps, in UTC",
    "BaseDataTypeMacro": ABSTRACT,
    "BaseEscapeSingleQuotesQuote": "the other of two: Spark escapes a quote by a backslash",
    "BaseGetCatalogForSingleRelation": "dbt-spark has no `get_catalog_for_single_relation`",
    "BaseIncrementalBadStrategy": "dbt-spark refuses an unknown strategy in words of its own: TestStrategyUnknown",
    "BaseIncrementalContractSqlHeader": SQL_HEADER,
    "BasePostgresColumnTypes": "dbt-spark's columns know no `string` and no `decimal(3,1)` by these names",
    "BaseSameAliasDifferentDatabases": NO_DATABASE,
    "BaseSeedSpecificFormats": "a seed's name with dots is a path of names in Spark",
    "BaseSnapshotMultiUniqueKey": "dbt-spark's snapshots store a key's helper columns when it has several, and then fail on them",
    "BaseTableContractSqlHeader": SQL_HEADER,
    "BaseUtils": ABSTRACT,
    "CatalogRelationTypes": "Spark has no materialized views",
    "MaterializedViewBasic": "Spark has no materialized views",
    "MaterializedViewChanges": "Spark has no materialized views",
    "MaterializedViewChangesApplyMixin": "Spark has no materialized views",
    "MaterializedViewChangesContinueMixin": "Spark has no materialized views",
    "MaterializedViewChangesFailMixin": "Spark has no materialized views",
    "MetadataWithEmptyFlag": "alters a column's type and truncates, which Delta and Spark's catalog do not do in this form",
}

ON_CHANGE = "alters a view's configuration in place, which is a rebuild here: `test_another_layout_is_applied_by_a_rebuild`"
AS_INCREMENTAL = "about `incremental`'s own settings: a maintained model has one strategy, its query"
NO_MODEL = "has no model, or none that is a table"
SEEDS = "about seeds, not models"
SNAPSHOTS = "about snapshots, not models"
DDL = "compares the DDL of dbt's own materializations"

NOT_MAINTAINED = {
    "MaterializedViewChanges": ON_CHANGE,
    "MaterializedViewChangesApplyMixin": ON_CHANGE,
    "MaterializedViewChangesContinueMixin": ON_CHANGE,
    "MaterializedViewChangesFailMixin": ON_CHANGE,
    "simple_snapshot": SNAPSHOTS,
    "utils": "about SQL macros: the materialization sees only what they render",
    "BaseAdapterMethod": "its models drop the schema that they are in",
    "BaseCloneSameTargetAndState": "refused before any model is looked at",
    "BaseConstraintQuotedColumn": DDL,
    "BaseConstraintsRollback": "the same as BaseIncrementalConstraintsRollback",
    "BaseConstraintsRuntimeDdlEnforcement": DDL,
    "BaseDebugInvalidProjectPostgres": NO_MODEL,
    "BaseDebugPostgres": NO_MODEL,
    "BaseEmpty": NO_MODEL,
    "BaseHooksRefsOnSeeds": SEEDS,
    "BaseIncrementalConstraintsColumnsEqual": "the same as BaseTableConstraintsColumnsEqual",
    "BaseIncrementalConstraintsRuntimeDdlEnforcement": DDL,
    "BaseIncrementalNotSchemaChange": "its query is `current_timestamp`, which has no inputs to follow",
    "BaseIncrementalOnSchemaChange": AS_INCREMENTAL,
    "BaseIncrementalPredicates": AS_INCREMENTAL,
    "BaseIncrementalUniqueKey": "wants one row for a key where the query has two, which is an error here: IDIVM-305",
    "BaseMergeExcludeColumns": AS_INCREMENTAL,
    "BaseMicrobatch": AS_INCREMENTAL,
    "BaseModelConstraintsRuntimeEnforcement": DDL,
    "BasePrePostModelHooksOnSeeds": SEEDS,
    "BasePrePostModelHooksOnSeedsPlusPrefixed": SEEDS,
    "BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace": SEEDS,
    "BasePrePostModelHooksOnSnapshots": SNAPSHOTS,
    "BasePrePostRunHooks": "about the hooks of a run, not of a model",
    "BasePrePostSnapshotHooksInConfigKwargs": SNAPSHOTS,
    "BaseSeedConfigFullRefreshOff": SEEDS,
    "BaseSeedCustomSchema": SEEDS,
    "BaseSeedParsing": SEEDS,
    "BaseSeedWithEmptyDelimiter": SEEDS,
    "BaseSeedWithUniqueDelimiter": SEEDS,
    "BaseSeedWithWrongDelimiter": SEEDS,
    "BaseShowDoesNotHandleDoubleLimit": NO_MODEL,
    "BaseShowSqlHeader": "shows a query without building it",
    "BaseSimpleSeedColumnOverride": SEEDS,
    "BaseSimpleSeedEnabledViaConfig": SEEDS,
    "BaseSimpleSeedWithBOM": SEEDS,
    "BaseSingularTests": NO_MODEL,
    "BaseSnapshotCheckCols": SNAPSHOTS,
    "BaseSnapshotTimestamp": SNAPSHOTS,
    "BaseStoreTestFailuresLimit": NO_MODEL,
    "BaseTestEmptySeed": SEEDS,
    "BaseValidateConnection": NO_MODEL,
    "BaseViewConstraintsColumnsEqual": "about views",
    "TestPredicatesDeleteInsert": AS_INCREMENTAL,
    "TestPrePostModelHooksUnderscores": "the same as BasePrePostModelHooks, by another spelling",
}
