"""Write the advice as properties of models, in a YAML file of its own that dbt reads.

    models:
    - name: order_names
      config:
        materialized: view

dbt allows the properties of a model in only one file, a `config()` in its SQL overrides them, and models of other packages have
theirs in `dbt_project.yml`. For such models the same lines are printed, with the file that they belong in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import relation_names, written_name
from dbt_idivm.errors import Finding, IdivmError, finding, listed
from dbt_idivm.project import Project, label
from dbt_idivm.replaced_file import replace_file
from dbt_idivm.settings import by_input, own_config
from dbt_idivm.tools.advice.advise import Advice
from dbt_idivm.tools.advice.storing import MAINTAINED

DEFAULT = Path("models", "_idivm_advice.yml")
_MARK = "# Written by `idivm advise`, which changes it again: add nothing else to this file.\n"
_CONFIG = re.compile(r"\{\{-?\s*config\s*\((.*?)\)\s*-?\}\}", re.DOTALL)
_LEAST = 1.0  # seconds per day that a clustering has to save even for scattered keys
Config = Mapping[str, Any]


@dataclass(frozen=True)
class Elsewhere:
    """Lines that belong in a file that is not ours, and why."""

    finding: Finding
    text: str


@dataclass(frozen=True)
class Patch:
    """`text`: the content of our own file; "" if there is nothing to write."""

    text: str
    elsewhere: tuple[Elsewhere, ...]


def patch(advice: Advice, project: Project, path: Path, folder: Path) -> Patch:
    """The advice on the project in `folder`. `path`: our file in it. Entries of existing models in that file are kept, because
    they are in force. Raises IDIVM-120 if the file is not ours."""
    models = {label(node) for node in project.keys.nodes.values() if node.get("resource_type") == "model"}
    own = {name: config for name, config in _written(folder / path).items() if name in models}
    others: dict[tuple[str, str], dict[str, Config]] = {}
    for unique_id, config in configs(advice, project).items():
        node = project.keys.nodes[unique_id]
        place = _elsewhere(project, node, config, path)
        if place is None:
            own[label(node)] = {**own.get(label(node), {}), **config}
        else:
            others.setdefault(place, {})[label(node)] = config
    elsewhere = tuple(
        Elsewhere(finding(121, models=listed(models), file=file, problem=problem), _yaml(models))
        for (file, problem), models in sorted(others.items())
    )
    return Patch(_MARK + _yaml(own) if own else "", elsewhere)


def configs(advice: Advice, project: Project) -> Mapping[str, Config]:
    """Unique ID → config that the model should have, for models whose config should change."""
    ids = {each.model: each for each in advice.storing}
    found: dict[str, dict[str, Any]] = {each.unique_id: {"materialized": each.kind} for each in advice.storing if each.is_changed}
    ours: dict[str, dict[str, Any]] = {}
    for cache in advice.caches:
        ours.setdefault(cache.model, {})["caches"] = cache.caches if isinstance(cache.caches, str) else list(cache.caches)
    for each in advice.clusterings:
        if each.is_model and each.saves >= _LEAST:
            ours.setdefault(each.table, {})["cluster_by"] = [each.column]
    nodes = {name: node for node in project.keys.nodes.values() for name in relation_names(node)}
    for key in advice.keys:
        for model in (*key.cheaper, *key.maintained) if key.holds else ():
            ours.setdefault(model, {}).setdefault("keys", {})[written_name(nodes[key.table])] = list(key.columns)
    names = {label(node): unique_id for unique_id, node in project.keys.nodes.items() if node.get("resource_type") == "model"}
    for model, more in ours.items():
        if model not in ids or ids[model].kind == MAINTAINED:
            found.setdefault(names[model], {}).update(_with(project.keys.nodes[names[model]], more))
    return found


def _with(node: Node, more: Mapping[str, Any]) -> Config:
    """Our complete config with `more` merged into it, at the place where the user has it (`idivm` or `meta`): the new lines may
    replace the existing ones, and dbt 2 replaces what is given for several models."""
    known, given = own_config(node), node["config"]
    direct = given.get("idivm") and ("idivm" not in (given.get("meta") or {}) or "idivm" in (node.get("unrendered_config") or {}))
    merged = {**known, **more, **({"keys": {**by_input(known.get("keys") or {}), **more["keys"]}} if "keys" in more else {})}
    return {"idivm": merged} if direct else {"meta": {"idivm": merged}}


def _elsewhere(project: Project, node: Node, config: Config, path: Path) -> tuple[str, str] | None:
    """(file, reason) if the config belongs in a file that is not ours; None otherwise."""
    package, own = node.get("package_name"), project.manifest["metadata"].get("project_name")
    if package is not None and own is not None and package != own:
        return "dbt_project.yml", f"it is a model of the package {package}, which has its properties there"
    in_sql = " ".join(_CONFIG.findall(str(node.get("raw_code") or "")))
    ours = ["meta", "idivm"] if config.keys() & {"meta", "idivm"} else []
    keys = [*(["materialized"] if "materialized" in config else []), *ours]
    if any(re.search(rf"[\"']?\b{key}\b[\"']?\s*[=:]", in_sql) for key in keys):
        return str(node.get("original_file_path") or node["name"]), "its `config()` is stronger than properties in a file"
    file = str(node.get("patch_path") or "").partition("://")[2]
    if file and Path(file) != path:
        return file, "dbt allows the properties of a model in one file only, and that is this one"
    return None


def _written(path: Path) -> dict[str, Config]:
    """Model → its config in our file; empty if there is no file. Raises IDIVM-120."""
    if not path.exists():
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        if not text.startswith(_MARK):
            raise IdivmError(finding(120, file=path, problem="there is a file that `idivm advise` did not write"))
        return {str(each["name"]): dict(each["config"]) for each in yaml.safe_load(text)["models"]}
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        raise IdivmError(finding(120, file=path, problem=f"what is there cannot be read ({type(error).__name__})")) from error


def _yaml(models: Mapping[str, Config]) -> str:
    found = [{"name": name, "config": dict(config)} for name, config in sorted(models.items())]
    text = yaml.safe_dump({"version": 2, "models": found}, sort_keys=False, allow_unicode=True, width=130)
    return str(text)


def write(found: Patch, path: Path) -> None:
    """Write our file atomically. Raises IDIVM-120."""
    try:
        replace_file(path, found.text.encode("utf-8"), 0o644)
    except OSError as error:
        raise IdivmError(finding(120, file=path, problem=f"it cannot be written ({error.strerror})")) from error


def told(found: Patch) -> Iterator[str]:
    """Messages for the user about lines that belong in other files."""
    for each in found.elsewhere:
        yield f"{each.finding.summary}: {each.finding.why}.\n\n{each.text}"
