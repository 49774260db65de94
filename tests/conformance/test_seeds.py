from pathlib import Path

import pytest
from dbt.tests.adapter import simple_seed
from dbt.tests.adapter.simple_seed import fixtures, seeds
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride

from tests.conformance.maintained import Maintained
from tests.conformance.spark_sql import SparkSql


class NothingCascades(SparkSql):
    """A view remains when its seed is created again; Postgres drops the view with the seed."""

    def _check_relation_end_state(self, run_result, project, exists):
        super()._check_relation_end_state(run_result, project, exists=True)


class TestBasicSeedTests(NothingCascades, BaseBasicSeedTests):
    pass


class TestBasicSeedTestsMaintained(Maintained, TestBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(NothingCascades, BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOnMaintained(Maintained, TestSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(NothingCascades, BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(SparkSql, BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(SparkSql, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(SparkSql, BaseSeedWithWrongDelimiter):
    pass


class TestSeedWithEmptyDelimiter(SparkSql, BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(SparkSql, BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(SparkSql, BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(seeds.seeds__expected_sql)
        bom = Path(simple_seed.__path__[0], "seed_bom.csv")
        Path(project.project_root, "seeds", "seed_bom.csv").write_bytes(bom.read_bytes())


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self):
        text = fixtures.properties__schema_yml
        for theirs, sparks in (("text", "string"), ("integer", "bigint"), ("timestamp without time zone", "timestamp")):
            text = text.replace(f"type: {theirs}", f"type: {sparks}")
        return {"schema.yml": text}

    @staticmethod
    def seed_enabled_types():
        return {"seed_id": "string", "birthday": "date"}

    @staticmethod
    def seed_tricky_types():
        return {"seed_id_str": "string", "looks_like_a_bool": "string", "looks_like_a_date": "string"}
