"""The model's config: what is accepted, and the errors of mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import parse_one

from dbt_idivm.definition.config import ModelConfig, model_config
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.apply.statements import create_table
from dbt_idivm.script.dialect import DELTA


def codes(**config: Any) -> tuple[str, ...]:
    with pytest.raises(IdivmError) as caught:
        model_config({"idivm": config})
    return caught.value.codes


def test_defaults() -> None:
    assert model_config({}) == ModelConfig(strategy="auto", on_unsupported="full", verify="always", volatile="written")


def test_values_are_taken_over() -> None:
    config = model_config(
        {
            "idivm": {"strategy": "recompute", "keys": {"orders": "id", "shop.log": []}, "cluster_by": ["a", "b"]},
            "dbt": {"unique_key": "id", "partition_by": "day", "tblproperties": {"x": True}},
        }
    )
    assert config.ways == ("recompute",)
    assert config.keys == {"orders": ("id",), "shop.log": ()}
    assert (config.unique_key, config.cluster_by, config.partition_by) == (("id",), ("a", "b"), ("day",))
    assert config.tblproperties == {"x": "true"}


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, True),
        ({"delta.enableDeletionVectors": False}, False),
        ({"DELTA.ENABLEDELETIONVECTORS": "TRUE"}, True),
        ({"delta.universalFormat.enabledFormats": "iceberg"}, False),
        ({"delta.enableIcebergCompatV2": "true"}, False),
    ],
)
def test_deletion_vectors(properties: dict[str, Any], expected: bool) -> None:
    config = model_config({"dbt": {"tblproperties": properties}})
    assert config.deletion_vectors is expected
    text = create_table(DELTA, "main.v", parse_one("SELECT 1 AS a"), config, {}, replace=False).sql
    ours = "'delta.enableDeletionVectors'='true'"
    assert (ours in text.replace(" = ", "=")) is (expected and not properties)


@pytest.mark.parametrize(
    "value, caches",
    [
        (None, "auto"),
        ("ALL", "all"),
        ("None", "none"),
        (["a", "B"], ("a", "B")),
        ([], ()),
    ],
)
def test_caches(value: Any, caches: Any) -> None:
    assert model_config({"idivm": {"caches": value}}).caches == caches


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(IdivmError) as caught:
        model_config({"idivm": {"uniqe_key": "id"}})
    assert caught.value.codes == ("IDIVM-102",) and "did you mean `unique_key`" in str(caught.value)


def test_all_mistakes_are_reported_at_once() -> None:
    assert codes(stategy="full", verify="maybe", keys=["id"]) == ("IDIVM-102", "IDIVM-103", "IDIVM-103")


@pytest.mark.parametrize(
    "config, code",
    [
        ({"strategy": "fast"}, "IDIVM-103"),
        ({"volatile": "later"}, "IDIVM-103"),
        ({"caches": "some"}, "IDIVM-103"),
        ({"caches": 3}, "IDIVM-103"),
        ({"caches": [3]}, "IDIVM-103"),
        ({"optimize_every": -1}, "IDIVM-103"),
        ({"optimize_every": True}, "IDIVM-103"),
        ({"vacuum": "yes"}, "IDIVM-103"),
        ({"unique_key": 3}, "IDIVM-103"),
        ({"keys": {"orders": 1}}, "IDIVM-103"),
        ({"keys": "none"}, "IDIVM-103"),
        ({"keys": {"*": "none"}}, "IDIVM-103"),
        ({"keys": {"*": ["id"]}}, "IDIVM-103"),
        ({"on_unsupported": "skip"}, "IDIVM-103"),
    ],
)
def test_refused(config: dict[str, Any], code: str) -> None:
    assert codes(**config) == (code,)


@pytest.mark.parametrize("key, value", [("on_schema_change", "sync"), ("on_configuration_change", "maybe")])
def test_dbt_s_own_choices_are_checked_too(key: str, value: str) -> None:
    with pytest.raises(IdivmError) as caught:
        model_config({"dbt": {key: value}})
    assert caught.value.codes == ("IDIVM-103",) and key in str(caught.value)


def test_layout_changes_with_what_a_table_is_created_by() -> None:
    assert model_config({"idivm": {"cluster_by": "a"}}).layout != model_config({}).layout
    assert model_config({"idivm": {"verify": "none"}}).layout == model_config({}).layout
