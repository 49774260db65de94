"""A selector of selectors.yml, by its name, as `--select` of a compiled manifest.

They are those of the project's file and, where it has none, those of the manifest, so that a manifest is enough. What is selected
is found by dbt's own classes, and marked with a tag.
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

SELECTED = "idivm_selected"  # the tag of the models that the selector selects


def mark(found: Manifest, config: RuntimeConfig, name: str) -> None:
    """Mark the maintained models that the selector selects. Raises click's exception where there is no such selector, and dbt's
    errors where it cannot be followed."""
    selectors = _selectors(found, config)
    if name not in selectors:
        raise click.ClickException(f"could not find a selector named {name}, {_instead(found, selectors, name)}")
    # since dbt 1.12 selectors that name others are followed when nodes are selected, not when they are read
    others: dict[str, Any] = {"selectors": selectors} if "selectors" in signature(NodeSelector).parameters else {}
    definition = selectors[name]["definition"]
    assert not isinstance(definition, bool)  # as `default` is, beside it
    with chdir(config.project_root):  # `path:` looks at files
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
    """What to do without the selector of that name."""
    if _is_cut(found.selectors.get(name, {}).get("definition")):
        return (
            "because the manifest, as one of dbt 2, does not say which config it is about: define it in selectors.yml of the "
            "project's folder"
        )
    if selectors:
        return f"expected one of {', '.join(sorted(selectors))}"
    return "and there are none, neither in the project's selectors.yml nor in the manifest"


def _is_cut(definition: Any) -> bool:
    """Whether a definition asks for a config and does not say which: dbt 2 writes the first word of `config.materialized`."""
    parts = definition if isinstance(definition, list) else definition.values() if isinstance(definition, dict) else ()
    return (isinstance(definition, dict) and definition.get("method") == "config") or any(map(_is_cut, parts))


def _as_written(definition: Any) -> Any:
    """A definition of a manifest in the form of the file: dbt 2 writes an `exclude` of one part without a list."""
    if isinstance(definition, list):
        return list(map(_as_written, definition))
    if not isinstance(definition, dict):
        return definition
    found = {key: _as_written(each) for key, each in definition.items()}
    return {key: [each] if key == "exclude" and isinstance(each, dict) else each for key, each in found.items()}
