from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency

from tests.conformance.maintained import Maintained


class TestConcurrency(BaseConcurrency):
    pass


class TestConcurrencyMaintained(Maintained, BaseConcurrency):
    pass
