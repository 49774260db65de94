"""What a release consists of: the workflow that builds it, the forms of issues, the changelog, and the check before a tag."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from dbt.adapters.idivm.__version__ import version

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The only action that is not GitHub's own: it exchanges the identity of the job for a right to publish.
PUBLISHES = "pypa/gh-action-pypi-publish"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    found: dict[str, Any] = read(GITHUB / "workflows" / "release.yml")["jobs"]
    return found


@pytest.fixture(scope="module")
def check() -> ModuleType:
    loader = SourceFileLoader("check_release", str(ROOT / ".ci" / "check_release"))
    spec = importlib.util.spec_from_loader("check_release", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_only_the_job_that_publishes_has_rights_and_it_runs_nothing(jobs: dict[str, Any]) -> None:
    text = (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert read(GITHUB / "workflows" / "release.yml")["permissions"] == {"contents": "read"}
    assert "secrets." not in text and "password" not in text
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {"publish": {"id-token": "write"}}
    publish = jobs["publish"]
    assert [step["uses"].partition("@")[0] for step in publish["steps"]] == ["actions/download-artifact", PUBLISHES]
    assert set(publish["needs"]) == set(jobs) - {"publish"} and publish["if"] == "github.ref_type == 'tag'"
    uses = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert {each for each in uses if not each.startswith("actions/")} == {f"{PUBLISHES}@release/v1"}
    assert not [step for job in jobs.values() for step in job["steps"] if "${{" in step.get("run", "")]


def test_what_it_runs_exists(jobs: dict[str, Any]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = [shlex.split(step["run"]) for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = [command[1] for command in commands if command[0] == "make"]
    assert targets == ["test", "dist", "wheelhouse", "sbom"]
    assert all(re.search(rf"^{target}:.*## ", makefile, re.MULTILINE) for target in targets)
    assert [command[0] for command in commands if command[0] != "make"] == [".ci/check_release"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_of_issues(path: Path) -> None:
    """They are read by GitHub alone, which shows no form if something is missing."""
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    questions = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in questions}) == len(questions)
    assert all(part["attributes"]["label"] for part in questions)
    assert any(part.get("validations", {}).get("required") for part in questions)
    if path.stem != "feature":
        assert any(part["id"] == "doctor" and part["validations"]["required"] for part in questions)


def test_the_changelog_keeps_its_form() -> None:
    """As keepachangelog.com describes it: versions, newest first, with kinds of changes; what is not released comes first."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in headings[1:])
    kinds = re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for part in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        found = re.findall(r"^### (.*)$", part, re.MULTILINE)
        assert len(found) == len(set(found)), "a kind has one list in each version"


def test_metadata() -> None:
    assert PROJECT["license-files"] == ["LICENSE"] and (ROOT / "LICENSE").exists()
    lowest = PROJECT["requires-python"].removeprefix(">=")
    pythons = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert pythons[0] == lowest and pythons == sorted(pythons, key=lambda each: int(each.partition(".")[2]))
    assert not [each for each in PROJECT["classifiers"] if each.startswith("License")], "the licence is an expression"


def ready(folder: Path, **given: str) -> None:
    """A tree that can be released, but for what is given."""
    texts = {
        "dbt/adapters/idivm/__version__.py": 'version = "1.2.0"\n',
        "dbt_project.yml": "name: idivm\nversion: 1.2.0\n",
        "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-30\n",
        "pyproject.toml": '[project]\nname = "dbt-idivm"\n[project.urls]\nSource = "https://example.org/dbt-idivm"\n',
    }
    for path, text in {**texts, **given}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.parametrize(
    ("tag", "given", "missing"),
    [
        ("v1.2.0", {}, []),
        ("v1.2.1", {}, ["the tag is v1.2.1, and"]),
        ("1.2.0", {}, ["the tag is 1.2.0, and"]),
        ("v1.2.0", {"dbt_project.yml": "version: 1.1.0\n"}, ["dbt_project.yml has version 1.1.0"]),
        ("v1.2.0", {"CHANGELOG.md": "## [Unreleased]\n## [1.2.0]\n"}, ["CHANGELOG.md has no `## [1.2.0] - YYYY-MM-DD`"]),
        ("v1.2.0", {"pyproject.toml": "[project]\n"}, ["pyproject.toml has no [project.urls]"]),
    ],
)
def test_what_has_to_be_done_before_a_tag(
    check: ModuleType, tmp_path: Path, tag: str, given: dict[str, str], missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(tmp_path, **given)
    monkeypatch.setattr(check, "ROOT", tmp_path)
    found = check.missing(tag)
    assert len(found) == len(missing) and all(each.startswith(start) for each, start in zip(found, missing, strict=True))


def test_the_package_of_dbt_has_the_version_of_the_adapter(check: ModuleType) -> None:
    assert not [each for each in check.missing(f"v{version}") if "version" in each or "tag" in each]
