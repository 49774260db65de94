"""Selectors of selectors.yml, by name, applied to a compiled manifest.

They come from the project's file or, if it has none, from the manifest, so that a manifest is enough. dbt's own classes find the
selected models, which are then marked with a tag.
"""

from __future__ import annotations

from contextlib import chdir
from inspect import signature
from typing import Any

import click
from dbt.compilation import Linker
from dbt.config.runtime import RuntimeConfig
from dbt.config.selectors import SelectorConfig, selector_config_from_data
from dbt.contracts.graph.manifest import Manifest
from dbt.graph.selector import NodeSelector

from dbt.adapters.idivm.compiled_manifest import models

SELECTED = "idivm_selected"  # the tag of the selected models


def mark(found: Manifest, config: RuntimeConfig, name: str) -> None:
    """Tag the maintained models that the selector selects.

    Raises ClickException if there is no such selector, and dbt's errors if it cannot be evaluated.
    """
    selectors = _selectors(found, config)
    if name not in selectors:
        raise click.ClickException(f"could not find a selector named {name}, {_instead(found, selectors, name)}")
    # since dbt 1.12 selectors that refer to others are resolved when nodes are selected, not when selectors are read
    others: dict[str, Any] = {"selectors": selectors} if "selectors" in signature(NodeSelector).parameters else {}
    definition = selectors[name]["definition"]
    assert not isinstance(definition, bool)  # for mypy: the mapping also has `default`, a bool
    with chdir(config.project_root):  # the method `path:` reads files
        selected = NodeSelector(Linker().get_graph(found), found, **others).get_selected(definition)
    ours = [model for model in models(found) if model.unique_id in selected]
    for model in ours:
        model.tags.append(SELECTED)
    if not ours:
        click.echo(f"The selector {name} selects no maintained model.", err=True)


def _selectors(found: Manifest, config: RuntimeConfig) -> SelectorConfig:
    if config.selectors or not found.selectors:
        return config.selectors
    whole = {name: _as_written(each["definition"]) for name, each in found.selectors.items() if not _is_cut(each["definition"])}
    return selector_config_from_data({"selectors": [{"name": name, "definition": each} for name, each in whole.items()]})


def _instead(found: Manifest, selectors: SelectorConfig, name: str) -> str:
    """What the user can do, given that there is no selector of that name."""
    if _is_cut(found.selectors.get(name, {}).get("definition")):
        return (
            "because the manifest, as one of dbt 2, does not say which config it is about: define it in selectors.yml of the "
            "project's folder"
        )
    if selectors:
        return f"expected one of {', '.join(sorted(selectors))}"
    return "and there are none, neither in the project's selectors.yml nor in the manifest"


def _is_cut(definition: Any) -> bool:
    """Whether a definition selects by config without saying which one: dbt 2 writes only
    the first word of `config.materialized`.
    """
    parts = definition if isinstance(definition, list) else definition.values() if isinstance(definition, dict) else ()
    return (isinstance(definition, dict) and definition.get("method") == "config") or any(map(_is_cut, parts))


def _as_written(definition: Any) -> Any:
    """A definition from a manifest in the form of the file. dbt 2 writes an `exclude` with one part without a list."""
    if isinstance(definition, list):
        return list(map(_as_written, definition))
    if not isinstance(definition, dict):
        return definition
    found = {key: _as_written(each) for key, each in definition.items()}
    return {key: [each] if key == "exclude" and isinstance(each, dict) else each for key, each in found.items()}
