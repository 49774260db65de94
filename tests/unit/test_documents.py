"""What documents and docstrings refer to exists: files, modules, decisions, error codes, tests, methods of an operator."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import FrameType

import pytest

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.codes import CODES
from tests.unit.fake_engine import FakeEngine, model

ROOT = Path(__file__).parents[2]
PACKAGE = f"{ROOT / 'dbt_idivm'}/"
# Those that are made from the code are left out.
PAGES = sorted(
    path
    for pages in ("*.md", "docs/*.md", "docs/how-to/*.md", "docs/adr/*.md", "examples/*/*.md", "integration_tests/*.md")
    for path in ROOT.glob(pages)
    if path.name not in ("conformance.md", "support.md")
)
CODE = sorted(
    path
    for folder in ("dbt_idivm", "dbt", "tests", "macros", "examples", "integration_tests")
    for kind in ("*.py", "*.sql", "*.scala")
    for path in (ROOT / folder).rglob(kind)
    if "golden" not in path.parts
)
# Where a file may be that is named without its folder.
FOLDERS = ("", "dbt_idivm", "dbt_idivm/refresh", "docs", "tests/functional", "tests/golden")
# Files that dbt, a refresh or the reader makes.
MADE = (
    "plan.txt",
    "delta_script.sql",
    "proof.txt",
    "seen.json",
    "costs.json",
    "run_results.json",
    "manifest.json",
    "catalog.json",
    "dbt_project.yml",
    "profiles.yml",
    "schema.yml",
    "_idivm_advice.yml",
    "model.sql",
    "sources.sql",
    "order_names.sql",
    "server.json",
    "packages.yml",
    "sbom.cdx.json",
    "licences.md",
)
FILE = re.compile(r"`([\w./*-]+\.(?:py|md|sql|yml|txt|toml|json|scala))(?:::(\w+))?`")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)")
DECISION = re.compile(r"(?:ADR|adr/|decision) ?\[?(\d{4})")
IDIVM = re.compile(r"IDIVM-(\d{3})")


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def mentions(paths: list[Path], pattern: re.Pattern[str]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for path in paths:
        yield from ((path, found.groups()) for found in pattern.finditer(path.read_text(encoding="utf-8")))


def candidates(page: Path, file: str) -> Iterator[Path]:
    """The files that a name without its folder may mean: a pattern, or a path below one of the folders or beside the page."""
    for folder in (page.parent, *(ROOT / name for name in FOLDERS)):
        yield from folder.glob(file)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_named_files_exist(page: Path) -> None:
    for _, (file, test) in mentions([page], FILE):
        if Path(file).name in MADE:
            continue
        found = [path for path in candidates(page, file) if path.exists()]
        assert found, f"{names(page)} names {file}"
        text = "".join(path.read_text(encoding="utf-8") for path in found)
        assert not test or f"def {test}(" in text, f"{names(page)} names {file}::{test}"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    for _, (file, anchor) in mentions([page], LINK):
        target = page.parent / file if file else page
        assert target.exists(), f"{names(page)} links to {file}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8").lower(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}, f"{file}#{anchor}"


def test_cited_decisions_exist() -> None:
    found = {path.name[:4] for path in (ROOT / "docs" / "adr").glob("*.md")}
    assert [(names(path), number) for path, (number,) in mentions([*PAGES, *CODE], DECISION) if number not in found] == []


def test_cited_codes_exist() -> None:
    found = {entry.code for entry in CODES}
    cited = [(names(path), f"IDIVM-{number}") for path, (number,) in mentions([*PAGES, *CODE], IDIVM)]
    assert [(path, code) for path, code in cited if code not in found and code != "IDIVM-999"] == [], "999 is the tests' own"


def test_docstrings_name_modules_that_exist() -> None:
    """`aggregate.py`, or `operators/aggregate.py`, in a docstring or comment of the planner."""
    for path, (file, _) in mentions([path for path in CODE if "tests" not in path.relative_to(ROOT).parts], FILE):
        name = Path(file).name
        assert name in MADE or any(candidates(path, file)) or any((ROOT / "dbt_idivm").rglob(name)), f"{names(path)} names {file}"


def test_each_question_to_an_operator_is_in_the_checklist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    checklist = page.partition("## Add an operator\n")[2].partition("\n## ")[0]
    assert sorted(Operator.__abstractmethods__ - set(re.findall(r"`(\w+)`", checklist))) == []


def test_modules_are_as_short_as_the_house_rules_say() -> None:
    page = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    found = re.search(r"modules of about \d+ lines and at most (\d+), except", page)
    assert found
    long = [path for path in CODE if path.suffix == ".py" and path.read_text(encoding="utf-8").count("\n") > int(found[1])]
    assert [names(path) for path in long if path.is_relative_to(PACKAGE) or path.is_relative_to(ROOT / "dbt")] == [
        "dbt_idivm/codes.py"
    ]


def steps() -> list[list[tuple[str, str]]]:
    """The steps from a changed row to the statement: for each the files and functions that its first words name."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    section = page.partition("## From a changed row to the statement\n")[2].partition("\n## ")[0]
    texts = re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]
    return [re.findall(r"`([\w/]+\.py)`\s+\(`([\w.]+)`\)", text) for text in texts]


def called(run: Callable[[], object]) -> list[tuple[str, str]]:
    """The functions, classes and methods of the package that a run calls, in the order of their first calls."""
    found: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            file, name = frame.f_code.co_filename.removeprefix(PACKAGE), frame.f_code.co_qualname
            found.update(dict.fromkeys(((file, name), (file, name.partition(".")[0]))))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(found)


def test_the_named_functions_exist() -> None:
    for file, name in chain.from_iterable(steps()):
        code = Path(PACKAGE, file).read_text(encoding="utf-8")
        assert all(re.search(rf"^ *(?:def|class) {part}\b", code, re.MULTILINE) for part in name.split(".")), f"{file}: {name}"


ROWS = "select id, name from main.o where grade > 0"
TOTALS = "select p.kind, count(*) as n, sum(o.grade) as s from main.o join main.p on p.oid = o.id group by p.kind"
PAIRS = "select o.id, p.id as other, o.grade from main.o join main.p on p.oid = o.id"
ADDED, RENAMED, REGRADED = ((7, "new", 2, 1),), ((7, "a", 2, 1), (7, "b", 2, -1)), ((7, "a", 3, 1), (7, "a", 2, -1))


@pytest.mark.parametrize(
    ("sql", "strategy", "net_diff", "function"),
    [
        (ROWS, "id", ADDED, "Append.statement"),
        (ROWS, "id", RENAMED, "direct_merge"),
        (ROWS, "id", REGRADED, "effective_merge"),
        (TOTALS, "id", REGRADED, "additive_merge"),
        (PAIRS, "tuple", REGRADED, "tuple_merge"),
    ],
)
def test_from_a_changed_row_to_the_statement(
    sql: str, strategy: str, net_diff: tuple[tuple[object, ...], ...], function: str
) -> None:
    """A refresh of each shape takes the steps in the order of the page. An INSERT has no source to be fetched. Looking up new keys
    uses key ranges as well, so it is left out (`verify`)."""
    engine, request = FakeEngine(), model(sql, {"o": "id", "p": "id"}, strategy=strategy, verify="none")
    engine.source("o", id="int", name="string", grade="int")
    engine.source("p", id="int", oid="int", kind="int")
    engine.drive(request)
    changed = "numTargetRowsInserted" if net_diff == ADDED else "numTargetRowsUpdated"
    engine.tables["main.o"].commit("MERGE", {changed: "1"})
    engine.reads |= {"net diff": net_diff, "changes of": ()}
    order = called(lambda: engine.drive(request))
    passed = [[order.index(each) for each in step if each in order] for step in steps()]
    passed = passed[:-2] if function == "Append.statement" else passed
    shapes = next(step for step in steps() if len(step) > 1)
    assert [name for file, name in shapes if (file, name) in order] == [function]
    assert all(passed), f"a refresh does not call {[step for step, found in zip(steps(), passed, strict=False) if not found]}"
    calls = list(chain.from_iterable(passed))
    assert calls == sorted(calls)
