"""The site: each page is in its navigation, and Markdown for GitHub becomes Markdown for mkdocs. `make docs` builds it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SITE = DOCS / "site"


def test_each_page_is_in_the_navigation() -> None:
    """But for the pages of codes and decisions, which a page of the navigation lists."""
    listed = re.findall(r"^ +- (?:[^:\n]+: )?([\w./-]+\.md)$", (SITE / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(name for name in found if not re.match(r"errors/IDIVM-|adr/0", name))


GITHUB = """Where we differ:
- one
  more
  - two
    ```sql
    select 1
      from t
    ```
- three

text
1. first
   1. second
2. third"""
SPACED = """Where we differ:

- one
    more

    - two
        ```sql
        select 1
          from t
        ```
- three

text

1. first

    1. second
2. third"""


def test_lists_are_indented_for_python_markdown() -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    spec = importlib.util.spec_from_file_location("site_hooks", SITE / "hooks.py")
    assert spec is not None and spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    assert "\n".join(hooks.spaced(GITHUB.splitlines())) == SPACED
