from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.conformance.maintained import Maintained


def described(project, relation):
    """A relation's comments in the form of a catalog's node; dbt-spark's catalog has none."""
    columns, comment, in_columns = {}, None, True
    for name, value, text in project.run_sql(f"describe extended {project.test_schema}.{relation}", fetch="all"):
        in_columns = in_columns and bool(name) and not name.startswith("#")
        if in_columns:
            columns[name] = {"comment": text or None}
        elif name == "Comment":
            comment = value or None
    return {"metadata": {"comment": comment}, "columns": columns}


class TestPersistDocs(BasePersistDocs):
    def test_has_comments_pglike(self, project):
        self._assert_has_table_comments(described(project, "table_model"))
        self._assert_has_view_comments(described(project, "view_model"))
        self._assert_has_view_comments(described(project, "no_docs_model"), False, False)


class TestPersistDocsMaintained(Maintained, TestPersistDocs):
    pass


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    def test_missing_column(self, project):
        comment = described(project, "missing_column")["columns"]["id"]["comment"]
        assert comment.startswith("test id column description")


class TestPersistDocsColumnMissingMaintained(Maintained, TestPersistDocsColumnMissing):
    pass


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsAllColumnsMissingMaintained(Maintained, BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    pass


class TestPersistDocsQuotedColumnCaseSensitiveMaintained(Maintained, BasePersistDocsQuotedColumnCaseSensitive):
    pass


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(BasePersistDocsQuotedDescriptionNotAppliedOnMismatch):
    def test_quoted_description_not_applied_on_case_mismatch(self, project):
        _, logs = run_dbt_and_capture(["run"])
        assert "specified in the schema but are not present in the database: mycol" in logs
        assert described(project, "quoted_physical_case_mismatch")["columns"] == {"MyCol": {"comment": None}}


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatchMaintained(
    Maintained, TestPersistDocsQuotedDescriptionNotAppliedOnMismatch
):
    pass


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    def test_quoted_column_comments(self, project):
        run_dbt()
        assert described(project, "quote_model")["columns"]["2id"]["comment"].startswith("XXX")


class TestPersistDocsCommentOnQuotedColumnMaintained(Maintained, TestPersistDocsCommentOnQuotedColumn):
    pass
