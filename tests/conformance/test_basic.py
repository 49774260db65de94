import getpass
from typing import ClassVar

import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog, no_stats
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental, BaseIncrementalNotSchemaChange
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection

from tests.conformance.maintained import Maintained
from tests.spark_server import spark_of_servers


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSimpleMaterializationsMaintained(Maintained, BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestSingularTestsEphemeralMaintained(Maintained, BaseSingularTestsEphemeral):
    materializations = ("view",)


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestEphemeralMaintained(Maintained, BaseEphemeral):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestIncrementalMaintained(Maintained, BaseIncremental):
    pass


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestGenericTestsMaintained(Maintained, BaseGenericTests):
    pass


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestTableMaterializationMaintained(Maintained, BaseTableMaterialization):
    pass


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    pass


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pass


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


class StatisticsOfMaintained:
    """Equal to the statistics of a maintained model with one row that has just been built, whenever that was. How it
    is maintained is shown where it is compiled."""

    def __eq__(self, found):
        values = {name: each["value"] for name, each in found.items()}
        return (
            values["has_stats"] is True
            and values.get("idivm_size") == "1 row"
            and values.get("idivm_last_refresh", "").startswith("created, 1 written, at ")
        )


class DocsOnSpark:
    """Spark counts columns from 0, has other names for types (another one for a view's BIGINT), and no statistics of a Delta
    table in its catalog. The owner is who connects; embedded there is none, which dbt-spark writes as a text for a table."""

    types: ClassVar = {"id_type": "bigint", "text_type": "string", "time_type": "timestamp"}
    view_type = "view"
    maintained: tuple[str, ...] = ()  # models

    @pytest.fixture(scope="class")
    def owners(self, request):
        """Of tables and of views. A catalog in memory has them since Spark 4."""
        user = getpass.getuser()
        is_known = request.config.getoption("--server") == "thrift" and spark_of_servers().is_4
        return {True: user, False: user} if is_known else {True: "None", False: None}

    def as_spark_has_them(self, catalog, owners):
        for name in self.maintained:
            catalog["nodes"][f"model.test.{name}"]["stats"] = StatisticsOfMaintained()
        for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
            is_table = node["metadata"]["type"] == "table"
            node["metadata"]["owner"] = owners[is_table]
            # nodes of equal columns share them in the base's
            node["columns"] = {
                name: {**column, "index": index, "type": self.kind(column["type"], is_table)}
                for index, (name, column) in enumerate(node["columns"].items())
            }

    def kind(self, kind, is_table):
        return kind if is_table else kind.replace("bigint", "long")


class TestDocsGenerate(DocsOnSpark, BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project, owners):
        catalog = base_expected_catalog(
            project, role=None, view_type=self.view_type, table_type="table", model_stats=no_stats(), **self.types
        )
        self.as_spark_has_them(catalog, owners)
        return catalog


class TestDocsGenerateMaintained(Maintained, TestDocsGenerate):
    materializations = ("view",)
    view_type = "table"
    maintained = ("model", "second_model")


class TestDocsGenReferences(DocsOnSpark, BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project, owners):
        catalog = expected_references_catalog(
            project,
            role=None,
            bigint_type="bigint",
            view_type=self.view_type,
            table_type="table",
            model_stats=no_stats(),
            **self.types,
        )
        self.as_spark_has_them(catalog, owners)
        return catalog


class TestDocsGenReferencesMaintained(Maintained, TestDocsGenReferences):
    maintained = ("ephemeral_summary",)
