"""A selector of selectors.yml, by its name, as `--select` of a compiled manifest.

dbt reads selectors from the project that it parses; here they are those of the manifest, so that a manifest from elsewhere is
enough. What is selected is found by dbt's own classes, and marked with a tag.
"""

from __future__ import annotations

from contextlib import chdir
from inspect import signature

import click
from dbt.compilation import Linker
from dbt.config.runtime import RuntimeConfig
from dbt.config.selectors import SelectorConfig, selector_config_from_data
from dbt.contracts.graph.manifest import Manifest
from dbt.graph import NodeSelector

from dbt.adapters.idivm.compiled_manifest import models

SELECTED = "idivm_selected"  # the tag of the models that the selector selects


def mark(found: Manifest, config: RuntimeConfig, name: str) -> None:
    """Mark the maintained models that the selector selects. Raises click's exception where there is no such selector, and dbt's
    errors where it cannot be followed."""
    selectors = _selectors(found, config)
    if name not in selectors:
        known = f"expected one of {', '.join(sorted(selectors))}" if selectors else "and the project has none in selectors.yml"
        raise click.ClickException(f"could not find a selector named {name}, {known}")
    # since dbt 1.12 selectors that name others are followed when nodes are selected, not when they are read
    others = {"selectors": selectors} if "selectors" in signature(NodeSelector).parameters else {}
    with chdir(config.project_root):  # `path:` looks at files
        selected = NodeSelector(Linker().get_graph(found), found, **others).get_selected(selectors[name]["definition"])
    ours = [model for model in models(found) if model.unique_id in selected]
    for model in ours:
        model.tags.append(SELECTED)
    if not ours:
        click.echo(f"The selector {name} selects no maintained model.", err=True)


def _selectors(found: Manifest, config: RuntimeConfig) -> SelectorConfig:
    """Those that the manifest was compiled with; those of the project where a manifest has none."""
    if not found.selectors:
        return config.selectors
    return selector_config_from_data({"selectors": [{"name": name, **each} for name, each in found.selectors.items()]})
