"""The workflow in examples/pull_request/ that users copy: what it calls exists, and nothing that others write is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from dbt_idivm.cli import main

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "examples" / "pull_request" / "idivm-diff.yml"
PAGE = ROOT / "docs" / "pull_requests.md"
# Expressions that GitHub makes, not somebody who writes a title, a branch name or a commit message.
TRUSTED = {"github.event.pull_request.number", "github.workspace", "github.token", "steps.compare.outputs.status"}
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    found = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    return list(job["steps"])


def script(steps: list[dict[str, Any]], name: str) -> str:
    (step,) = [each for each in steps if each.get("name") == name]
    return str(step["run"])


def calls(text: str, *command: str) -> list[list[str]]:
    """The arguments of each call of a command in a text of shell."""
    lines = text.replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines if not line.lstrip().startswith("#")]
    return [each[len(command) :] for each in words if tuple(each[: len(command)]) == command]


def unknown(arguments: list[str], command: click.Command) -> list[str]:
    known = {option for parameter in command.params for option in parameter.opts}
    return [each for each in arguments if each.startswith("--") and each.partition("=")[0] not in known]


def test_it_runs_for_pull_requests_with_no_more_rights_than_it_needs(workflow: dict[Any, Any]) -> None:
    """Not `pull_request_target`: the code of the pull request is run."""
    assert list(workflow[True]) == ["pull_request"], "YAML reads the key `on` as true"
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}


def test_its_options_exist(steps: list[dict[str, Any]]) -> None:
    diff = main.get_command(click.Context(main), "diff")
    assert diff is not None
    (given,) = calls(script(steps, "Compare"), "idivm", "diff")
    assert "--state" in given and unknown(given, diff) == []
    comments = " ".join(line for line in WORKFLOW.read_text(encoding="utf-8").splitlines() if line.lstrip().startswith("# For"))
    assert "--rate" in comments and unknown(comments.split(), diff) == []
    blocks = re.findall(r"^```\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    of_page = [each for block in blocks for each in calls(block, "idivm", "diff")]
    assert of_page and [found for each in of_page for found in unknown(each, diff)] == []


def test_only_official_actions(steps: list[dict[str, Any]]) -> None:
    assert all(each["uses"].startswith("actions/") for each in steps if "uses" in each)
    assert all(("uses" in each) != ("run" in each) for each in steps)


def test_no_text_of_others_is_run(steps: list[dict[str, Any]]) -> None:
    """A script has no expression at all: what GitHub knows reaches it through the environment, which no shell reads as code."""
    assert [each["name"] for each in steps if "${{" in each.get("run", "")] == []
    found = set(re.findall(r"\$\{\{\s*(.*?)\s*\}\}", WORKFLOW.read_text(encoding="utf-8")))
    assert found == TRUSTED
    assert not re.search(r"\beval\b|\$\(\s*cat|bash -c|sh -c", "".join(each.get("run", "") for each in steps))


@needs_bash
def test_scripts_are_bash(steps: list[dict[str, Any]]) -> None:
    for each in steps:
        if "run" in each:
            subprocess.run(["bash", "-n"], input=each["run"], text=True, check=True)


def run(text: str, folder: Path, commands: dict[str, str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A script as GitHub runs it, with these commands instead of the real ones."""
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    for name, body in commands.items():
        (place / name).write_text(f"#!/bin/sh\n{body}\n")
        (place / name).chmod(0o755)
    known = {
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder),
        "PROJECT": ".",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    return subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=known | environment, text=True, capture_output=True)


@needs_bash
@pytest.mark.parametrize(
    ("ids", "called"),
    [("", "--method POST repos/o/r/issues/7/comments"), ("12\n34", "--method PATCH repos/o/r/issues/comments/12 ")],
)
def test_one_comment_is_made_or_updated(steps: list[dict[str, Any]], tmp_path: Path, ids: str, called: str) -> None:
    (tmp_path / "diff.md").write_text("$(touch hacked) `touch hacked` text\n")
    gh = 'echo "$*" >> calls\ncase "$*" in *--paginate*) printf "%s" "$IDS";; esac'
    found = run(script(steps, "Comment"), tmp_path, {"gh": gh}, IDS=ids, NUMBER="7", GITHUB_REPOSITORY="o/r")
    assert found.returncode == 0, found.stderr
    asked, sent = (tmp_path / "calls").read_text().splitlines()
    assert "github-actions[bot]" in asked and called in sent and f"body=@{tmp_path}/comment.md" in sent
    assert (tmp_path / "comment.md").read_text() == "<!-- idivm diff -->\n$(touch hacked) `touch hacked` text\n"
    assert not (tmp_path / "hacked").exists()


@needs_bash
@pytest.mark.parametrize(
    ("body", "returned", "status"),
    [("echo text", 0, "status=0\n"), ("echo text; exit 1", 0, "status=1\n"), ("echo wrong >&2; exit 1", 1, "")],
)
def test_what_fails_is_posted_first(steps: list[dict[str, Any]], tmp_path: Path, body: str, returned: int, status: str) -> None:
    """What `--fail-on` finds ends the job after the comment; without a text there is nothing to post."""
    found = run(script(steps, "Compare"), tmp_path, {"idivm": body})
    assert found.returncode == returned
    written = tmp_path / "output"
    assert (written.read_text() if written.exists() else "") == status
    names = [each.get("name") for each in steps]
    assert names[-2:] == ["Comment", "Result"]
