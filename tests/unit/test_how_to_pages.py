"""The models of docs/how-to/ are planned over the tables of its first page, and are maintained as their page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from benchmarks.pictures import files_of
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.explain import maintained
from dbt_idivm.schema_file import catalog_of, plain_sql
from dbt_idivm.script.plan import Plan, columns_of_plan

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
MODELS = [
    (page.name, Path(name).stem, text)
    for page in sorted(PAGES.glob("*.md"))
    for name, text in files_of(page.read_text(encoding="utf-8")).items()
    if name.endswith(".sql")
]


def tables() -> Catalog:
    listed = yaml.safe_load(files_of((PAGES / "README.md").read_text(encoding="utf-8"))["models/sources.yml"])
    return catalog_of({**listed, "models": listed["snapshots"]})


@pytest.fixture(scope="module")
def plans() -> dict[tuple[str, str], Plan]:
    """The plans of all models. A model may read those that are above it on its page."""
    found: dict[tuple[str, str], Plan] = {}
    for page, name, text in MODELS:
        above = {model: as_table(model, plan) for (there, model), plan in found.items() if there == page}
        catalog = Catalog({**tables().tables, **above}, clock_is_input=True)
        found[page, name] = without_engine(compiled(plain_sql(text), catalog)).plan
    return found


def as_table(name: str, plan: Plan) -> TableInfo:
    return TableInfo(name, columns_of_plan(plan, hidden=True), plan.key, "the model's IDs", visible=plan.visible)


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, name, _ in MODELS])
def test_a_model_is_maintained_as_its_page_says(page: str, name: str, plans: dict[tuple[str, str], Plan]) -> None:
    text = " ".join((PAGES / page).read_text(encoding="utf-8").split())
    assert maintained(plans[page, name]).partition("; tied")[0] in text, maintained(plans[page, name])


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_properties_and_profiles_can_be_read(page: Path) -> None:
    blocks = re.findall(r"^ *```yaml[^\n]*\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert all(isinstance(yaml.safe_load(block), dict) for block in blocks)
