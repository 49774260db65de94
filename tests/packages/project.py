"""A dbt project that uses one package as its users do, with the seeds of the package's own tests as sources."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

from tests.functional.dbt_folder import DbtFolder
from tests.functional.schema import Schema
from tests.packages.catalogue import Package
from tests.packages.changes import changed

# Tables of seeds are so small that `auto` would rebuild their views; what reads the clock has an error otherwise.
SETTINGS = {"strategy": "incremental", "volatile": "full"}
_TABLE = re.compile(r"""materialized\s*=\s*["']table["']""")
NOT_REPEATABLE = ("IDIVM-204", "IDIVM-206")  # random values, the clock


@dataclass
class Verdict:
    """What happened to the models of a package: how often by which mode, which were rebuilt or failed, and why."""

    refreshes: Counter[str] = field(default_factory=Counter)
    rebuilt: dict[str, set[str]] = field(default_factory=dict)
    failed: dict[str, set[str]] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)

    def text(self) -> str:
        """As YAML, in which each run of the same has the same order."""
        return yaml.safe_dump(
            {
                "refreshes": dict(sorted(self.refreshes.items())),
                "rebuilt": {reason: sorted(names) for reason, names in sorted(self.rebuilt.items())},
                "failed": {reason: sorted(names) for reason, names in sorted(self.failed.items())},
                "skipped": sorted(self.skipped),
            },
            sort_keys=False,
            width=1000,
        )


@dataclass(frozen=True)
class Using:
    """The project that uses a package."""

    folder: DbtFolder
    tables: Schema

    @classmethod
    def of(cls, package: Package, installed: Path, root: Path, spark: Any) -> Using:
        """The project in `root`. `installed`: the packages, as `dbt deps` leaves them."""
        own = installed / package.name / "integration_tests"
        given = settings_of_tests(own)
        schema = next((found for name, found in flat(given.get("vars", {})) if name.endswith("_schema")), package.name)
        folder = DbtFolder(root)
        folder.profile(schema=schema, catalog="in-memory", driver_memory="2g")
        folder.configure(**settings(package, given))
        add_packages(folder, [each.name for each in (package, *package.needs)], installed)
        add_tests(folder, own, with_models=package.tests)
        return cls(folder, Schema(spark, schema))

    def seeds(self) -> list[str]:
        """Load the seeds; their relations, which have change data feed then."""
        found = [each.node for each in self.folder.results("seed").values() if each.node.resource_type == "seed"]
        names = sorted(node.relation_name for node in found)
        relations = [name for name in names if self.tables.spark.catalog.tableExists(name)]  # a hook may have dropped it
        for relation in relations:
            self.tables.sql(f"alter table {relation} set tblproperties ('delta.enableChangeDataFeed' = 'true')")
        return relations

    def change(self, relation: str, number: int) -> None:
        """A mixed batch in one commit."""
        frame = self.tables.spark.table(relation.replace("`", ""))
        rows = changed([tuple(row) for row in frame.collect()], Random(f"{relation} {number}"))
        new = self.tables.spark.createDataFrame(rows, frame.schema)
        new.write.insertInto(relation.replace("`", ""), overwrite=True)

    def run(self, verdict: Verdict) -> None:
        """`dbt run`; each maintained model is compared with its SELECT."""
        for result in self.folder.dbt("run", fails=None).results:
            node, response = result.node, result.adapter_response or {}
            if node.resource_type != "model" or node.config.materialized != "idivm":
                continue
            if result.status == "skipped":
                verdict.skipped.add(node.name)
            elif result.status != "success":
                verdict.failed.setdefault(reason_of(result.message), set()).add(node.name)
            else:
                verdict.refreshes[response["mode"]] += 1
                why = reason_of(response.get("reason") or "")
                if response["mode"] == "full":
                    verdict.rebuilt.setdefault(why, set()).add(node.name)
                if why not in NOT_REPEATABLE and not self.tables.is_same(
                    f"select * from {node.relation_name}", node.compiled_code
                ):
                    verdict.wrong.add(node.name)


def settings_of_tests(own: Path) -> dict[str, Any]:
    """The dbt_project.yml of a package's own tests, which are in the folder `own`."""
    text = (own / "dbt_project.yml").read_text()
    given: dict[str, Any] = yaml.safe_load(text.replace("varchar", "string"))  # Spark has no VARCHAR without a length
    return given


def settings(package: Package, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the project that uses the package: those that its own tests have, and its models are maintained."""
    kept = ("name", "vars", "seeds", "quoting", "seed-paths", "macro-paths", "model-paths")
    maintained = {"+materialized": "idivm", "+meta": {"idivm": SETTINGS}}
    return {
        **{name: quoted(given[name]) for name in kept if name in given},
        "dispatch": [{"macro_namespace": "dbt_utils", "search_order": [given["name"], "spark_utils", "dbt_utils"]}],
        "models": {(given["name"] if package.tests else package.name): maintained},
    }


def quoted(settings: Any) -> Any:
    """Settings under which all names of columns of seeds are quoted: in one of the packages a name has a dash."""
    if not isinstance(settings, Mapping):
        return settings
    return {name: name == "+quote_columns" or quoted(value) for name, value in settings.items()}


def add_packages(folder: DbtFolder, names: Sequence[str], installed: Path) -> None:
    """The project uses these packages, without their tests."""
    folder.write("packages.yml", yaml.safe_dump({"packages": [{"local": f"dbt_packages/{name}"} for name in names]}))
    without = shutil.ignore_patterns("integration_tests")
    for name in names:
        shutil.copytree(installed / name, folder.root / "dbt_packages" / name, ignore=without)


def add_tests(folder: DbtFolder, own: Path, with_models: bool) -> None:
    """The seeds of a package's own tests become those of the project, and so do their models, which are maintained."""
    for name in ("seeds", "data", *(("models", "macros", "tests/fixtures") if with_models else ())):
        if (own / name).exists():
            shutil.copytree(own / name, folder.root / name)
    for file in (folder.root / "models").rglob("*.sql"):  # of tests; a package's own files stay as they are
        file.write_text(_TABLE.sub("materialized='idivm'", file.read_text()))


def flat(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Variables, with those of packages."""
    for name, value in variables.items():
        yield from flat(value) if isinstance(value, Mapping) else [(name, value)]


def reason_of(text: str) -> str:
    """The last code in what is said, which is the cause of the others."""
    return next((word.strip(":,.") for word in reversed(text.split()) if word.startswith("IDIVM-")), text[:100])
