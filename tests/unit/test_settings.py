"""Settings of the project, a folder, a properties file and the model merge, in dbt's own reckoning of the config."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.artifacts.resources.v1.model import ModelConfig
from dbt.artifacts.resources.v1.source_definition import SourceConfig

from dbt.adapters.idivm.impl import IdivmConfig
from dbt_idivm.definition.config import model_config
from dbt_idivm.settings import given_config, merged


def through_dbt(*places: dict[str, Any], kind: Any = ModelConfig) -> dict[str, Any]:
    """The config of a node as dbt reckons it, the broadest place first."""
    config = kind.from_dict({})
    for place in places:
        config = config.update_from({key: value for key, value in place.items()}, IdivmConfig, validate=False)
    found: dict[str, Any] = config.finalize_and_validate().to_dict(omit_none=True)
    return found


def in_meta(**own: Any) -> dict[str, Any]:
    return {"meta": {"idivm": own}}


def direct(**own: Any) -> dict[str, Any]:
    return {"idivm": own}


@pytest.mark.parametrize("folder", [in_meta, direct])
@pytest.mark.parametrize("model", [in_meta, direct])
def test_the_narrower_wins_setting_by_setting(folder: Any, model: Any) -> None:
    found = through_dbt(
        folder(strategy="incremental", verify="sample", caches=["a", "b"], keys={"o": "id", "c": "id"}),
        {},
        model(strategy="full", caches=["c"], keys={"o": ["x", "y"], "p": "id"}),
    )
    wanted = {"strategy": "full", "verify": "sample", "caches": ["c"], "keys": {"o": ["x", "y"], "p": "id", "c": "id"}}
    assert given_config({"config": found}) == wanted


def test_a_place_that_says_nothing_repeats_nothing() -> None:
    """`meta.idivm` of the project is still there when dbt comes to the model."""
    found = through_dbt(in_meta(strategy="full"), direct(strategy="auto"), {"meta": {"owner": "x"}}, {})
    assert given_config({"config": found}) == {"strategy": "auto"}
    assert found["meta"] == {"owner": "x", "idivm": {"strategy": "auto"}} and found["idivm"] == {"strategy": "auto"}


def test_beside_meta_is_narrower_in_one_place() -> None:
    found = through_dbt({**in_meta(strategy="full", verify="none"), **direct(strategy="auto")})
    assert given_config({"config": found}) == {"strategy": "auto", "verify": "none"}


def test_what_an_input_is_called_last_comes_first() -> None:
    """The first name in `keys` that means an input counts."""
    found = through_dbt(in_meta(keys={"orders": "a", "x": "id"}), in_meta(keys={"shop.orders": "b", "x": []}))
    assert list(found["idivm"]["keys"].items()) == [("shop.orders", "b"), ("x", []), ("orders", "a")]


@pytest.mark.parametrize("folder", [in_meta, direct])
def test_a_word_for_keys_is_about_the_inputs_that_are_not_named(folder: Any) -> None:
    for places, keys, finds in (
        ([folder(keys="declared"), in_meta(keys={"o": "id"})], {"o": ("id",)}, False),
        ([folder(keys={"o": "id"}), in_meta(keys="declared")], {"o": ("id",)}, False),
        ([folder(keys="declared"), in_meta(keys={"*": "auto"})], {}, True),
        ([folder(keys="declared"), in_meta(keys="Auto")], {}, True),
        ([folder(keys={"o": "id"}), in_meta(keys={"p": "id"})], {"o": ("id",), "p": ("id",)}, True),
    ):
        config = model_config({"idivm": given_config({"config": through_dbt(*places)})})
        assert (config.keys, config.finds_keys) == (keys, finds), places


def test_back_to_the_default() -> None:
    found = given_config({"config": through_dbt(direct(strategy="full", keys={"o": "id"}), in_meta(strategy=None, keys=None))})
    config = model_config({"idivm": found})
    assert config.strategy == "auto" and config.keys == {}


def test_other_settings_merge_as_dbt_s_do() -> None:
    found = through_dbt({"file_format": "delta", "meta": {"a": 1}, "tags": "x"}, {"meta": {"b": 2}, "tags": "y"})
    assert found["file_format"] == "delta" and found["meta"] == {"a": 1, "b": 2} and found["tags"] == ["x", "y"]
    assert "idivm" not in found and given_config({"config": found}) == {}


def test_nodes_of_other_kinds() -> None:
    assert "idivm" not in through_dbt({"meta": {"a": 1}}, kind=SourceConfig)


def test_a_value_that_is_no_mapping() -> None:
    """It is an error of its own (IDIVM-103), wherever nothing narrower replaces it."""
    assert given_config({"config": through_dbt({"idivm": "incremental"})}) == "incremental"
    assert given_config({"config": through_dbt(direct(verify="none"), {"idivm": "incremental"})}) == "incremental"
    assert merged({"strategy": "id"}, None) == {"strategy": "id"} and merged(None, {}) == {}
    assert merged({"keys": "id"}, {"keys": {"o": "id"}}) == {"keys": {"o": "id"}}
    assert merged({"keys": {"o": "id"}}, {"keys": None}) == {"keys": None}


def test_a_manifest_of_another_dbt() -> None:
    assert given_config({"config": {"meta": {"idivm": {"strategy": "id"}}}}) == {"strategy": "id"}
    both = {"meta": {"idivm": {"strategy": "id", "verify": "none"}}, "idivm": {"strategy": "full"}}
    assert given_config({"config": both}) == {"strategy": "full", "verify": "none"}
    assert given_config({"config": {"meta": None, "idivm": None}}) == {}
