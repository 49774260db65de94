"""Which models of a manifest are meant, and what their files contain. What cannot be adopted is said in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dbt_idivm.artifacts import Node
from dbt_idivm.errors import listed, nearest
from dbt_idivm.project import label
from dbt_idivm.tools.adopt.config_call import ADOPTED, IDIVM


class CannotAdopt(Exception):
    """A sentence that says why, and what to do."""


def chosen(manifest: Node, wanted: Sequence[str]) -> tuple[Node, ...]:
    """The models with these names or files, each once. Raises CannotAdopt for the first that is none, or cannot be adopted."""
    nodes = [each for each in {**manifest.get("nodes", {}), **manifest.get("sources", {})}.values() if "name" in each]
    models = [each for each in nodes if each.get("resource_type") == "model"]
    if not models:
        raise CannotAdopt("the project has no models")
    found = {}
    for name in wanted:
        node = _named(name, models) or _named(name, [each for each in nodes if each.get("resource_type") != "test"])
        if node is None:
            raise CannotAdopt(_unknown(name, models, manifest))
        if problem := _problem(node, manifest["metadata"].get("project_name")):
            raise CannotAdopt(f"`{name}` {problem}")
        found[str(node["unique_id"])] = node
    return tuple(found.values())


def text_of(node: Node, folder: Path) -> str:
    """The content of a model's file, with the ends of its lines as they are. Raises CannotAdopt if it cannot be read, or is not
    what the manifest was made from."""
    file = str(node.get("original_file_path") or "")
    try:
        text = (folder / file).read_bytes().decode("utf-8")
    except OSError as error:
        raise CannotAdopt(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CannotAdopt(f"{file} is not UTF-8") from error
    raw = node.get("raw_code")
    if raw and _plain(str(raw)) != _plain(text):
        raise CannotAdopt(f"{file} has changed since the manifest was made: run `dbt parse` first")
    return text


def properties_of(node: Node, folder: Path) -> Mapping[str, Any]:
    """What a properties file says of the model; empty if there is none, or if it cannot be read."""
    file = str(node.get("patch_path") or "").partition("://")[2]
    try:
        found = yaml.safe_load((folder / file).read_text(encoding="utf-8")) if file else None
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    listed_models = found.get("models") if isinstance(found, Mapping) else None
    for each in listed_models if isinstance(listed_models, list) else ():
        if isinstance(each, Mapping) and each.get("name") == node["name"]:
            return _with_version(each, node.get("version"))
    return {}


def _with_version(properties: Mapping[str, Any], number: object) -> Mapping[str, Any]:
    """The properties, with the config of a version of the model merged into theirs."""
    for each in properties.get("versions") or ():
        if isinstance(each, Mapping) and number is not None and str(each.get("v")) == str(number):
            return {**properties, "config": {**(properties.get("config") or {}), **(each.get("config") or {})}}
    return properties


def _named(name: str, nodes: Sequence[Node]) -> Node | None:
    """The node with this label, name or file. A name is that of a model's latest version, too."""
    tests: tuple[Callable[[Node], bool], ...] = (
        lambda each: label(each) == name,
        lambda each: each["name"] == name and each.get("version") in (None, each.get("latest_version")),
        lambda each: str(each.get("original_file_path")) == name.removeprefix("./"),
        lambda each: each["name"] == name,
    )
    return next((each for test in tests for each in nodes if test(each)), None)


def _unknown(name: str, models: Sequence[Node], manifest: Node) -> str:
    if any(entry.get("name") == name for entries in (manifest.get("disabled") or {}).values() for entry in entries):
        return f"the model `{name}` is disabled"
    near = nearest(name, [label(each) for each in models])
    return f"there is no model `{name}`" + (f"; the nearest: {listed(near)}" if near else "")


def _problem(node: Node, project: object) -> str:
    """Why a node cannot be adopted, after its name; "" if it can."""
    kind, stored = str(node.get("resource_type")), str(node["config"].get("materialized") or "view")
    package = node.get("package_name")
    if kind != "model":
        return f"is a {kind}, not a model"
    if package is not None and project is not None and package != project:
        return (
            f"is a model of the package `{package}`, whose files the next `dbt deps` replaces: copy it into the project, and "
            "disable the package's one"
        )
    if node.get("language", "sql") != "sql":
        return f"is a model in {str(node['language']).capitalize()}: only a SELECT can be maintained"
    if stored == IDIVM:
        return "is a model of type idivm already"
    if stored == "ephemeral":
        return "is ephemeral, so it has no table: adopt the models that read it"
    return "" if stored in ADOPTED else f"is materialized as `{stored}`: only {', '.join(ADOPTED)} can be adopted"


def _plain(text: str) -> str:
    return "\n".join(text.removeprefix("\ufeff").splitlines()).strip()
