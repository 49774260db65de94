"""An operator is one module: the checklist in CONTRIBUTING.md names all others that look for its class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from dbt_idivm.operators import OPERATORS, Scan

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt_idivm"
CLASSES = {each.__name__ for each in OPERATORS if each is not Scan}  # whoever reads tables looks for scans


def looked_for(node: ast.AST) -> Iterator[str]:
    """The operator classes that code reads, except in annotations and to make an operator."""
    if isinstance(node, ast.Name) and node.id in CLASSES:
        yield node.id
    for name, value in ast.iter_fields(node):
        is_made = name == "func" and isinstance(node, ast.Call) and isinstance(value, ast.Name)
        if not is_made and name not in ("annotation", "returns"):
            for each in value if isinstance(value, list) else [value]:
                yield from looked_for(each) if isinstance(each, ast.AST) else ()


def test_the_checklist_names_the_places_that_look_for_a_class() -> None:
    paths = (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "operators")
    found = {path.relative_to(ROOT).as_posix() for path in paths if any(looked_for(ast.parse(path.read_text(encoding="utf-8"))))}
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    step = page.partition("**Places that look for a class**")[2].partition("These look for no class")[0]
    assert {name for name in re.findall(r"`(dbt_idivm/[\w/]+\.py)`", step)} == found


def test_a_place_is_found() -> None:
    code = """
def read(node: Operator) -> Select:
    made: Join = Join(node, node, condition)
    return [each for each in operators_of(made, Window) if isinstance(each, Select | OuterJoin) or type(each) in {Unnest: 1}]
"""
    assert sorted(looked_for(ast.parse(code))) == ["OuterJoin", "Select", "Unnest", "Window"]
