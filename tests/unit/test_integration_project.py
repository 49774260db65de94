"""The models of integration_tests/ are planned as the project says. They use every construct of the support matrix, and the idioms
of real projects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt_idivm.support import CONSTRUCTS as SUPPORTED
from tests.unit.integration_constructs import CONSTRUCTS, FURTHER, OF_INPUTS, Used
from tests.unit.integration_idioms import IDIOMS
from tests.unit.integration_project import Model, Project

PROJECT = Project()
MODELS = PROJECT.maintained
LEAST_MODELS, LEAST_USES, LEAST_OF_AN_IDIOM, LONGEST = 80, 3, 5, 40


@pytest.fixture(scope="module")
def used() -> list[Used]:
    return [Used(model, PROJECT.tree(model.name), PROJECT.plan(model.name)) for model in MODELS]


def test_there_are_many_models() -> None:
    assert len(MODELS) >= LEAST_MODELS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_maintained(model: Model) -> None:
    assert PROJECT.plan(model.name).ways


def test_each_model_is_described_and_compared_with_its_query() -> None:
    for model in MODELS:
        about = PROJECT.properties[model.name]
        assert about["description"] and "idivm_equivalent" in about["data_tests"], model.name


def test_models_are_short() -> None:
    found = {model.name: len(model.path.read_text(encoding="utf-8").splitlines()) for model in PROJECT.models.values()}
    assert {name: lines for name, lines in found.items() if lines > LONGEST} == {}


def test_the_constructs_are_those_of_the_support_matrix() -> None:
    assert [construct.name for construct in SUPPORTED] == list(CONSTRUCTS)


@pytest.mark.parametrize(
    ("name", "uses"), [*CONSTRUCTS.items(), *FURTHER.items()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_construct_is_used_by_several_models(name: str, uses: Callable[[Used], bool], used: list[Used]) -> None:
    assert len([each for each in used if uses(each)]) >= LEAST_USES


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_is_used_by_several_models(name: str, used: list[Used]) -> None:
    found = [each.model.name for each in used if IDIOMS[name](each)]
    assert len(found) >= LEAST_OF_AN_IDIOM, found


@pytest.mark.parametrize("name", OF_INPUTS)
def test_a_kind_of_input_is_read_by_several_models(name: str) -> None:
    kinds = {model.name: model.materialized for model in PROJECT.models.values()}
    found = [model.name for model in MODELS if OF_INPUTS[name] in {kinds.get(ref) for ref in model.refs}]
    assert len(found) >= LEAST_USES
