import pytest
from dbt.tests.adapter.aliases import fixtures
from dbt.tests.adapter.aliases.test_aliases import BaseAliasErrors, BaseAliases, BaseSameAliasDifferentSchemas
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.util import run_dbt

from tests.conformance.maintained import Maintained


class SparkText:
    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "cast.sql": fixtures.MACROS__CAST_SQL.replace("::text", ""),
            "expect_value.sql": fixtures.MACROS__EXPECT_VALUE_SQL,
        }


class TestAliases(SparkText, BaseAliases):
    pass


class TestAliasesMaintained(Maintained, TestAliases):
    pass


class TestAliasErrors(SparkText, BaseAliasErrors):
    pass


class TestAliasErrorsMaintained(Maintained, TestAliasErrors):
    pass


class TestSameAliasDifferentSchemas(SparkText, BaseSameAliasDifferentSchemas):
    pass


class TestSameAliasDifferentSchemasMaintained(Maintained, TestSameAliasDifferentSchemas):
    pass


class WithoutDatabase:
    """The base class compares the database in lower case, and Spark has none."""

    def run_and_inspect_cache(self, project, run_args=None):
        found = []
        for _ in range(2):
            run_dbt(run_args)
            assert len(project.adapter.cache.relations) == 1
            found.append(next(iter(project.adapter.cache.relations)))
        assert found[0].schema == project.test_schema == project.test_schema.lower()
        assert found[0].database is found[1].database is None
        for key in ("schema", "identifier"):
            assert getattr(found[0], key).lower() == getattr(found[1], key).lower()


class TestCachingLowercaseModel(WithoutDatabase, BaseCachingLowercaseModel):
    pass


class TestCachingLowercaseModelMaintained(Maintained, TestCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(WithoutDatabase, BaseCachingUppercaseModel):
    pass


class TestCachingUppercaseModelMaintained(Maintained, TestCachingUppercaseModel):
    pass


class TestCachingSelectedSchemaOnly(WithoutDatabase, BaseCachingSelectedSchemaOnly):
    pass


class TestCachingSelectedSchemaOnlyMaintained(Maintained, TestCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(WithoutDatabase, BaseNoPopulateCache):
    pass


class TestNoPopulateCacheMaintained(Maintained, TestNoPopulateCache):
    pass
