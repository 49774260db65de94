from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroArgsQueryComments,
    BaseMacroInvalidQueryComments,
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)

from tests.conformance.maintained import Maintained


class TestQueryComments(BaseQueryComments):
    pass


class TestQueryCommentsMaintained(Maintained, BaseQueryComments):
    pass


class TestMacroQueryComments(BaseMacroQueryComments):
    pass


class TestMacroQueryCommentsMaintained(Maintained, BaseMacroQueryComments):
    pass


class TestMacroArgsQueryComments(BaseMacroArgsQueryComments):
    pass


class TestMacroArgsQueryCommentsMaintained(Maintained, BaseMacroArgsQueryComments):
    pass


class TestMacroInvalidQueryComments(BaseMacroInvalidQueryComments):
    pass


class TestMacroInvalidQueryCommentsMaintained(Maintained, BaseMacroInvalidQueryComments):
    pass


class TestNullQueryComments(BaseNullQueryComments):
    pass


class TestNullQueryCommentsMaintained(Maintained, BaseNullQueryComments):
    pass


class TestEmptyQueryComments(BaseEmptyQueryComments):
    pass


class TestEmptyQueryCommentsMaintained(Maintained, BaseEmptyQueryComments):
    pass
