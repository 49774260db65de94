"""Turning a compiled manifest.json, made by any dbt, into the manifest of a run: the input of `idivm run` and `idivm test`.

dbt gets the manifest instead of a project to parse, and does the rest as in any run: order of models, threads, selection, logs,
run_results.json. The code of each model is its compiled SQL. The macros are those of the installed dbt, not those with which the
manifest was compiled (docs/adr/0044).
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from dbt.adapters.factory import register_adapter
from dbt.artifacts.resources.base import FileHash
from dbt.artifacts.resources.types import NodeType
from dbt.artifacts.resources.v1.generic_test import GenericTest
from dbt.artifacts.schemas.manifest import WritableManifest
from dbt.config.runtime import RuntimeConfig, load_profile, load_project
from dbt.config.utils import parse_cli_vars
from dbt.contracts.graph.manifest import Manifest
from dbt.contracts.graph.nodes import GenericTestNode, ModelNode, SingularTestNode
from dbt.mp_context import get_mp_context
from dbt.parser.manifest import ManifestLoader
from dbt_common.events.event_manager_client import cleanup_event_logger

from dbt.adapters.idivm.project_access import of_our_type

MATERIALIZED = "idivm"
PROOF = "idivm_proof"  # the tag of the tests that `idivm test` runs
# The package with which other versions of dbt can parse the models. Its macros have the same names as ours.
STAND_IN = "idivm"
NOT_COMPILED = (
    "{{ exceptions.raise_compiler_error('the manifest has no compiled SQL of this model: `dbt compile` of the whole "
    "project writes it, `dbt parse` and `dbt run --select` of other models do not') }}"
)
# dbt 2 calls the schema 20 or 12; both have the same contents.
_SAME_SCHEMA = ("v12.json", "v20.json")


def read_manifest(path: Path) -> Manifest:
    """The manifest in the file. Raises ClickException if models cannot be refreshed from it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _unusable(path, "there is no such file") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _unusable(path, f"it cannot be read: {error}") from error
    schema = found.get("metadata", {}).get("dbt_schema_version", "") if isinstance(found, dict) else ""
    if not isinstance(found, dict) or "nodes" not in found or "/manifest/" not in schema:
        raise _unusable(path, "it is not a manifest of dbt")
    if schema.endswith(_SAME_SCHEMA):
        found["metadata"]["dbt_schema_version"] = str(WritableManifest.dbt_schema_version)
    try:
        return _with_generic_tests(Manifest.from_writable_manifest(WritableManifest.upgrade_schema_version(found)), found)
    except Exception as error:  # dbt raises errors of many kinds here
        raise _unusable(
            path,
            f"the installed dbt does not understand it, of schema {schema} and made by dbt "
            f"{found['metadata'].get('dbt_version')}: {_first_line(error)}",
        ) from error


def _with_generic_tests(manifest: Manifest, found: Mapping[str, Any]) -> Manifest:
    """The manifest with its generic tests such as `unique` and `not_null`, which declare keys, restored.

    dbt-core 1.11 reads each generic test as a singular one and drops what it tests.
    """
    generic = {name: GenericTest.from_dict(node) for name, node in found["nodes"].items() if node.get("test_metadata")}
    manifest.nodes.update({name: GenericTestNode.from_resource(test) for name, test in generic.items()})
    return manifest


def _unusable(path: Path, problem: str) -> click.ClickException:
    return click.ClickException(f"no models can be refreshed from {path}: {problem}. `dbt compile` writes it.")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def to_be_run(found: Manifest, config: RuntimeConfig) -> Manifest:
    """The manifest prepared for a run.

    The code of our models is their compiled SQL, each has a test, and macros are the installed ones. Operations are removed:
    hooks that run before and after all models are left to the dbt that made the manifest.
    """
    proofs = {}
    for node in tuple(models(found)):
        node.raw_code = literal(node.compiled_code) if node.compiled_code else NOT_COMPILED
        node.compiled, node.compiled_code, node.extra_ctes = False, None, []
        node.depends_on.macros = []
        proof = proof_of(node)
        proofs[proof.unique_id] = proof
    operations = [name for name, node in found.nodes.items() if node.resource_type == NodeType.Operation]
    for name in operations:
        del found.nodes[name]
    found.nodes.update(proofs)
    installed = ManifestLoader.load_macros(config, lambda _: None, base_macros_only=True).macros
    ours = {STAND_IN, *(macro.package_name for macro in installed.values())} - {config.project_name}
    found.macros = {**{name: macro for name, macro in found.macros.items() if macro.package_name not in ours}, **installed}
    found.build_flat_graph()
    return found


def models(found: Manifest) -> Iterator[ModelNode]:
    """The maintained models of the manifest."""
    return (node for node in found.nodes.values() if isinstance(node, ModelNode) and node.config.materialized == MATERIALIZED)


def literal(sql: str) -> str:
    """Jinja that renders to the text."""
    return "{{ " + json.dumps(sql, ensure_ascii=False) + " }}" if any(mark in sql for mark in ("{{", "{%", "{#")) else sql


def proof_of(model: ModelNode) -> SingularTestNode:
    """A test that the rows of the model equal those of its query."""
    name = f"{PROOF}_{model.unique_id.split('.', 2)[2]}"  # with the version of the model, if it has one
    relation = f"api.Relation.create(schema={json.dumps(model.schema)}, identifier={json.dumps(model.identifier)})"
    sql = f"{{{{ adapter.idivm_equivalence({relation}) }}}}"
    return SingularTestNode.from_dict(
        {
            "unique_id": f"test.{model.package_name}.{name}",
            "name": name,
            "alias": name,
            "resource_type": "test",
            "package_name": model.package_name,
            "path": f"{name}.sql",
            "original_file_path": f"{name}.sql",
            "fqn": [model.package_name, PROOF, name],
            "database": model.database or None,
            "schema": model.schema,
            "checksum": FileHash.from_contents(sql).to_dict(),
            "raw_code": sql,
            "language": "sql",
            "tags": [PROOF],
            "config": {"tags": [PROOF]},
            "depends_on": {"macros": [], "nodes": [model.unique_id]},
            "created_at": model.created_at,
        }
    )


def runtime_config(project_dir: Path, profiles_dir: Path, target: str | None, variables: str) -> RuntimeConfig:
    """The project and its profile, with the adapter registered. `variables`: YAML, as for --vars.

    Raises dbt's errors, and ClickException for a profile of another type.
    """
    given = parse_cli_vars(variables)
    profile = load_profile(str(project_dir), given, target_override=target)
    of_our_type(profile.credentials)
    # dbt 1.11 reads `profile`
    arguments = Namespace(
        vars=given,
        project_dir=str(project_dir),
        profiles_dir=str(profiles_dir),
        target=target,
        profile=None,
        threads=None,
        which="run",
    )
    config = RuntimeConfig.from_parts(load_project(str(project_dir), False, profile, given), profile, arguments)
    cleanup_event_logger()  # the run logs these events again
    register_adapter(config, get_mp_context())
    return config
