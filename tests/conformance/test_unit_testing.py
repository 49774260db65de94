import pytest
from dbt.tests.adapter.unit_testing import test_quoted_reserved_word_column_names as reserved
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes, BaseUnitTestingVarcharFixtureNoTruncation

from tests.conformance.maintained import Maintained


class TestUnitTestingTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self):
        # value in SQL, value in YAML
        return [
            ["1", "1"],
            ["2.0", "2.0"],
            ["'12345'", "12345"],
            ["'string'", "string"],
            ["true", "true"],
            ["date '2011-11-11'", "2011-11-11"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["array(1, 2, 3)", "'array(1, 2, 3)'"],
            ["map('10', 't', '15', 'f', '20', NULL)", """'map("10", "t", "15", "f", "20", NULL)'"""],
            ['named_struct("a", 1, "b", 2, "c", 3)', """'named_struct("a", 1, "b", 2, "c", 3)'"""],
        ]


class TestUnitTestingTypesMaintained(Maintained, TestUnitTestingTypes):
    inputs = ("my_upstream_model.sql",)


class TestUnitTestCaseInsensivity(BaseUnitTestCaseInsensivity):
    pass


class TestUnitTestCaseInsensivityMaintained(Maintained, BaseUnitTestCaseInsensivity):
    pass


class TestUnitTestInvalidInput(BaseUnitTestInvalidInput):
    pass


class TestUnitTestInvalidInputMaintained(Maintained, BaseUnitTestInvalidInput):
    pass


class TestUnitTestQuotedReservedWordColumnNames(reserved.BaseUnitTestQuotedReservedWordColumnNames):
    @pytest.fixture(scope="class")
    def models(self):
        upstream = reserved.my_upstream_model_with_reserved_word_column_name_sql.replace('"', "`")
        return {
            "my_model.sql": reserved.my_model_sql,
            "my_upstream_model.sql": upstream,
            "unit_tests.yml": reserved.test_my_model_csv_fixtures_yml,
        }


class TestUnitTestQuotedReservedWordColumnNamesMaintained(Maintained, TestUnitTestQuotedReservedWordColumnNames):
    pass


class TestUnitTestingVarcharFixtureNoTruncation(BaseUnitTestingVarcharFixtureNoTruncation):
    pass


class TestUnitTestingVarcharFixtureNoTruncationMaintained(Maintained, BaseUnitTestingVarcharFixtureNoTruncation):
    pass
