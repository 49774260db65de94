"""A dbt test class with its models materialized as idivm."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ONE_ROW = "conformance.one_row"

CONFIG = r"""(materialized['"]?\s*[=:]\s*['"]?)({})\b"""
JINJA_OR_COMMENT = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|--[^\n]*", re.DOTALL)


class Maintained:
    """Mixed in before one of dbt's test classes. Its models with these materializations become idivm models, and so do
    models without any, but for the `inputs` of others."""

    materializations: tuple[str, ...] = ("table", "incremental")
    inputs: tuple[str, ...] = ()


def maintain(root: Path, materializations: tuple[str, ...], inputs: tuple[str, ...], strategy: str) -> None:
    """Rewrite a dbt project on disk. It is an error if there is nothing in it to rewrite."""
    models = [file for file in (root / "models").rglob("*.sql") if file.name not in inputs]
    before = {file: file.read_text() for file in models}
    after = {file: maintained(text, materializations) for file, text in before.items()}
    for file, text in after.items():
        file.write_text(text)
    for file in [root / "dbt_project.yml", *(root / "models").rglob("*.yml")]:
        file.write_text(_as_idivm(file.read_text(), materializations))
    project = yaml.safe_load((root / "dbt_project.yml").read_text())
    models_config = {"+materialized": "idivm", "+meta": {"idivm": {"strategy": strategy}}, **project.get("models", {})}
    for name in inputs:
        models_config.setdefault(project["name"], {}).setdefault(name.removesuffix(".sql"), {"+materialized": "table"})
    (root / "dbt_project.yml").write_text(yaml.safe_dump({**project, "models": models_config}, sort_keys=False))
    assert any("idivm" in text or "materialized" not in text for text in after.values()), f"nothing to maintain in {root}"


def maintained(sql: str, materializations: tuple[str, ...] = Maintained.materializations) -> str:
    """A model's text as an idivm model. One that reads nothing reads a table with one row, since an input it must have;
    DISTINCT spares it a hidden column with that row's ID."""
    sql = _as_idivm(sql, materializations)
    text = JINJA_OR_COMMENT.sub(" ", sql)
    kept = re.search(r"materialized", sql) and "idivm" not in sql
    if kept or not re.search(r"\bselect\b", text, re.IGNORECASE) or re.search(r"\bfrom\b", text, re.IGNORECASE):
        return sql
    distinct = re.sub(r"^(\s*)select\b", r"\1select distinct", sql, count=1, flags=re.IGNORECASE | re.MULTILINE)
    return f"{distinct.rstrip()}\nfrom {ONE_ROW}\n"


def _as_idivm(text: str, materializations: tuple[str, ...]) -> str:
    return re.sub(CONFIG.format("|".join(materializations)), r"\1idivm", text)
