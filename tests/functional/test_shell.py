"""`idivm sql`: statements in the catalog of a dbt project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_idivm.cli import main


def sql(project: Any, *args: str) -> Result:
    return CliRunner().invoke(main, ["sql", *args, "--project-dir", str(project.root)], env={"COLUMNS": "80"})


def test_sources_are_made_and_looked_at(project: Any) -> None:
    made = sql(project, "create table o (id int, note string) using delta; insert into o values (1, 'a;b'), (2, null)")
    assert made.exit_code == 0, made.output
    found = sql(project, "select * from o order by id")
    rows = [line.replace("│", "").split() for line in found.output.splitlines() if line.strip()[:1] in ("1", "2")]
    assert rows[:2] == [["1", "a;b"], ["2", "NULL"]]
    assert "2 rows" in found.output
    assert "first 1 rows; --limit shows more" in sql(project, "select * from o", "--limit", "1").output
    assert dict(project.sql("show tblproperties $.o"))["delta.enableChangeDataFeed"] == "true"


@pytest.mark.deep
def test_a_file(project: Any, tmp_path: Path) -> None:
    file = tmp_path / "two.sql"
    file.write_text("-- two; statements\nselect 1 as one;\nselect '[red]x' as two;\n")
    found = sql(project, "--file", str(file))
    assert "one" in found.output and "[red]x" in found.output


@pytest.mark.deep
@pytest.mark.parametrize(
    "args, code, expected",
    [
        ((), 2, "give the statements as text, or a --file"),
        ((" -- nothing",), 2, "there is no statement to run"),
        (("select 'open",), 2, "Error"),
        (("select nothing from nowhere",), 1, "TABLE_OR_VIEW_NOT_FOUND"),
        (("select 1", "--target", "other"), 1, "does not have a target named 'other'"),
    ],
)
def test_what_goes_wrong_is_a_sentence(project: Any, args: tuple[str, ...], code: int, expected: str) -> None:
    found = sql(project, *args)
    assert (found.exit_code, expected in found.output) == (code, True), found.output
    assert "Traceback" not in found.output


@pytest.mark.deep
def test_a_profile_of_another_type(project: Any) -> None:
    project.profile(type="spark", method="session", host="NA")
    found = sql(project, "select 1")
    assert found.exit_code == 1 and "needs to be one of type 'idivm'" in found.output
