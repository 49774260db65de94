"""`idivm plan`: its table and its JSON, and what it asks dbt for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm import forecasts
from dbt.adapters.idivm.forecasts import Foreseen, as_json, table
from dbt_idivm.cli import main
from dbt_idivm.refresh.protocol import Cost, Forecast, InputChange

MOVED = {"orders": InputChange(3, 4, 1)}


def test_estimates_are_listed_the_smallest_first() -> None:
    cost = Cost("rebuild", 1.5, None, {"id": 2.75, "tuple": 2.9, "rebuild": 1.5})
    found = [
        Foreseen("small", Forecast("full", "full", "IDIVM-411 a rebuild takes about 1.5 s", MOVED, cost=cost), None),
        Foreseen("same", Forecast("noop", None, None, {}), None),
        Foreseen("wrong", None, "IDIVM-301 no relation"),
    ]
    rows = [[cell.strip() for cell in line.split("│")] for line in table(found, False, 140).splitlines() if "│" in line]
    assert [row[3] for row in rows] == ["rebuild 1.5 s", "id 2.8 s", "tuple 2.9 s", "", ""]
    assert [row[1] for row in rows if row[0]] == ["full", "noop", "fails"]


MIGRATED = Foreseen(
    "edited",
    Forecast(
        "migrated",
        None,
        "condition narrowed",
        {},
        cost=Cost("migration", 0.84, None, {"rebuild": 20.0, "migration": 0.84}),
        then=Cost("id", 1.2, None, {"id": 1.2, "rebuild": 20.0}),
    ),
    None,
)


def test_a_migration_is_shown_against_the_rebuild() -> None:
    rows = [[cell.strip() for cell in line.split("│")] for line in table([MIGRATED], False, 140).splitlines() if "│" in line]
    assert rows == [
        ["edited", "migrated", "", "migration 0.8 s", "condition narrowed"],
        ["", "", "", "rebuild 20.0 s", ""],
        ["", "", "", "then id 1.2 s", ""],
    ]


def test_json_has_all_that_is_known() -> None:
    edited, wrong = json.loads(as_json([MIGRATED, Foreseen("wrong", None, "IDIVM-301 no relation")]))
    told = edited["forecast"]
    assert (edited["model"], told["mode"], told["reason"]) == ("edited", "migrated", "condition narrowed")
    assert told["cost"] == {
        "chosen": "migration",
        "estimate": 0.84,
        "actual": None,
        "alternatives": {"rebuild": 20.0, "migration": 0.84},
    }
    assert told["then"]["estimate"] == 1.2
    assert wrong == {"model": "wrong", "forecast": None, "error": "IDIVM-301 no relation"}
    assert as_json([]) == "[]"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The dbt commands of `idivm plan`, which are not run."""
    found: list[tuple[str, ...]] = []
    monkeypatch.setattr(forecasts, "_dbt", lambda *args: found.append(args))
    monkeypatch.delenv("DBT_TARGET_PATH", raising=False)
    return found


def plan(root: Path, *args: str) -> Result:
    return CliRunner().invoke(main, ["plan", "--project-dir", str(root), *args])


def state(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"metadata": {}, "nodes": {}}')
    return folder


@pytest.mark.parametrize(
    ("given", "selected"),
    [
        ((), ("--select", "state:modified+")),
        (("--exclude", "big"), ("--select", "state:modified+", "--exclude", "big")),
        (("--select", "state:new", "tag:x"), ("--select", "state:new", "--select", "tag:x")),
    ],
)
def test_a_state_selects_what_differs(
    tmp_path: Path,
    asked: list[tuple[str, ...]],
    given: tuple[str, ...],
    selected: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """dbt finds what that is; a folder is looked for from here, not from the project."""
    state(tmp_path / "base")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    result = plan(Path("project"), "--state", "base", *given)
    assert result.exit_code == 0, result.output
    compiled, shown = asked
    assert compiled == (
        "--log-level",
        "error",
        "compile",
        *selected,
        "--state",
        str(tmp_path / "base"),
        "--project-dir",
        "project",
        "--no-write-json",
    )
    assert shown[:4] == ("--quiet", "run-operation", "idivm_plan", "--args")


def test_without_a_state_all_models_are_shown(tmp_path: Path, asked: list[tuple[str, ...]]) -> None:
    assert plan(tmp_path, "--json").exit_code == 0
    assert asked[0] == ("--log-level", "error", "compile", "--project-dir", str(tmp_path), "--no-write-json")
    told = json.loads(asked[1][4])
    assert told.pop("compiled") and told == {"full_refresh": False, "sql": False, "as_json": True}


def test_artifacts_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither command writes its own; the second one reads the results of the first from a file that is gone afterwards."""
    read: list[list[tuple[str, str]]] = []
    files: list[Path] = []

    class Compiled(RunExecutionResult):
        def write(self, path: str) -> None:
            results = [{"unique_id": "model.p.a", "compiled_code": "select 1 as x"}, {"unique_id": "model.p.b"}]
            Path(path).write_text(json.dumps({"results": results}), encoding="utf-8")

    def dbt(*args: str) -> object:
        assert "--no-write-json" in args
        if "compile" in args:
            return Compiled(results=[], elapsed_time=0.0)
        files.append(Path(json.loads(args[args.index("--args") + 1])["compiled"]))
        read.append(list(forecasts.compiled_models(files[0])))
        return None

    monkeypatch.setattr(forecasts, "_dbt", dbt)
    assert plan(tmp_path).exit_code == 0
    assert read == [[("model.p.a", "select 1 as x")]]
    assert not files[0].exists() and list(tmp_path.iterdir()) == []
    with pytest.raises(DbtRuntimeError, match="run `dbt compile` first"):
        list(forecasts.compiled_models(files[0]))


def test_a_state_that_cannot_be_compared_with(tmp_path: Path, asked: list[tuple[str, ...]]) -> None:
    (tmp_path / "empty").mkdir()
    result = plan(tmp_path, "--state", str(tmp_path / "empty"))
    assert result.exit_code == 1
    assert f"Error: the other state: there is no {tmp_path / 'empty' / 'manifest.json'}: run `dbt compile` first" in result.output
    result = plan(tmp_path, "--state", str(state(tmp_path / "target")))
    assert result.exit_code == 1 and "is the folder that `dbt compile` writes to" in result.output
    assert asked == []
