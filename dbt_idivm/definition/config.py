"""Validate the model's config. An unknown key or value is an error that names the nearest known one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dbt_idivm.context import WORDS, Caches, caches_of
from dbt_idivm.digests import digest
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.frontend.user_functions import is_built_in
from dbt_idivm.relation_name import as_named, name_parts
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, WayName
from dbt_idivm.settings import FINDING, OTHERS, by_input

CHOOSING = ("auto", "incremental")  # strategies that choose the cheapest way for each refresh
# key → accepted values; None: checked by a function of its own
_CHOICES: Mapping[str, tuple[str, ...] | None] = {
    "strategy": (*CHOOSING, "id", "tuple", "recompute", "full"),
    "on_unsupported": ("full", "error"),
    "output": ("view", "diffs", "both"),
    "verify": ("always", "sample", "none"),
    "verify_build": ("auto", "always", "never"),
    "volatile": ("written", "error", "full"),
    "ties": ("keep", "rebuild"),
    "caches": None,
    "keys": None,
    "unique_key": None,
    "cluster_by": None,
    "deterministic_functions": None,
    "optimize_every": None,
    "vacuum": None,
}
# dbt's own settings. The schema always follows the SELECT; `fail` forbids that it changes
_DBT_CHOICES: Mapping[str, tuple[str, ...]] = {
    "on_configuration_change": ("apply", "continue", "fail"),
    "on_schema_change": ("ignore", "append_new_columns", "sync_all_columns", "fail"),
}

T = TypeVar("T")

FEED = "delta.enableChangeDataFeed"
DELETION_VECTORS = "delta.enableDeletionVectors"
_FUNCTION_PARTS = 3
_VOLATILE = "IDIVM-206"
_ICEBERG = ("delta.enableicebergcompat", "delta.universalformat")


@dataclass(frozen=True)
class ModelConfig:
    """The user's settings for a model. `keys` names inputs as the user writes them in `ref` and `source`. `finds_keys`: whether
    keys of other inputs may be found in their data."""

    strategy: str = "auto"
    on_unsupported: str = "full"
    output: str = "view"
    verify: str = "always"
    verify_build: str = "auto"
    volatile: str = "written"
    ties: str = "keep"
    caches: Caches = "auto"
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    finds_keys: bool = True
    unique_key: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    deterministic_functions: tuple[str, ...] = ()  # by name (`relation_name.py`)
    optimize_every: int = 100  # writes of refreshes; 0: never
    vacuum: bool = False
    on_configuration_change: str = "apply"
    on_schema_change: str = "ignore"
    partition_by: tuple[str, ...] = ()
    location_root: str | None = None
    tblproperties: Mapping[str, str] = field(default_factory=dict)

    @property
    def ways(self) -> tuple[WayName, ...]:
        """The ways of the strategy in order of preference; all ways if the cheapest is chosen. Without a stored view only `tuple`
        is possible."""
        return self.cache_ways if self.keeps_view else ("tuple",)

    @property
    def cache_ways(self) -> tuple[WayName, ...]:
        """The ways of its caches. Caches are always stored."""
        if self.strategy in CHOOSING:
            return ALL_WAYS
        return STRATEGIES[self.strategy if self.strategy in STRATEGIES else "id"]  # type: ignore[index]

    @property
    def chooses(self) -> bool:
        """Whether each refresh chooses the cheapest way, instead of the first one whose guard holds."""
        return self.keeps_view and self.strategy in CHOOSING

    @property
    def keeps_view(self) -> bool:
        """Whether the view's rows are stored."""
        return self.output != "diffs"

    @property
    def may_rebuild(self) -> bool:
        """Whether a rebuild is one of the alternatives."""
        return self.keeps_view and self.strategy == "auto"

    def forbids(self, error: IdivmError) -> tuple[Finding, ...]:
        """The findings that make the run fail without a plan; empty if the view may be rebuilt instead."""
        volatile = tuple(each for each in error.findings if each.code == _VOLATILE)
        if volatile and self.volatile != "full":
            return volatile
        return tuple(error.findings) if self.on_unsupported == "error" else ()

    @property
    def keeps_times(self) -> bool:
        """Whether rows keep their time of writing (`algebra/written_time.py`)."""
        return self.volatile == "written" and self.output == "view"

    @property
    def keeps_ties(self) -> bool:
        """Whether orders that do not determine rows are completed. Without a stored view, readers see the rows of the SELECT."""
        return self.ties == "keep" and self.keeps_view

    @property
    def reads_clock(self) -> bool:
        """Whether the clock is an input of the view, where it is not a time of writing."""
        return self.keeps_times and not isinstance(self.caches, tuple)

    @property
    def looks_for_keys(self) -> bool:
        """Whether keys are looked for where none is declared. Each change has to be checked then, because nobody vouches for the
        key."""
        return self.finds_keys and self.verify == "always"

    @property
    def chooses_caches(self) -> bool:
        """Whether intermediate caches are chosen by cost."""
        return self.may_rebuild and self.caches == "auto"

    @property
    def deletion_vectors(self) -> bool:
        """Whether the view's table has deletion vectors: yes, unless the user says otherwise, or the table is shared as Iceberg,
        which cannot have them. With them a refresh marks rows as deleted instead of rewriting their files (ADR 0018)."""
        given = {key.lower(): value for key, value in self.tblproperties.items()}
        default = str(not any(key.startswith(_ICEBERG) for key in given))
        return given.get(DELETION_VECTORS.lower(), default).lower() == "true"

    @property
    def column_mapping(self) -> bool:
        """Whether the table's columns may have any name."""
        return self.tblproperties.get("delta.columnMapping.mode", "none").lower() != "none"

    @property
    def layout(self) -> str:
        """Hash of the settings whose change requires a new table."""
        return digest(self.cluster_by, self.partition_by, self.location_root, dict(self.tblproperties))


def model_config(given: Mapping[str, Any]) -> ModelConfig:
    """Parse the config under `idivm`, and dbt's own settings under `dbt`. Raises IdivmError with all findings."""
    own = given.get("idivm") or {}
    if not isinstance(own, Mapping):
        raise IdivmError(_not_accepted("idivm", own, "a mapping such as `{strategy: incremental}`"))
    ours, dbts = dict(own), dict(given.get("dbt") or {})
    findings = [found for key, value in ours.items() for found in _check(key, value)]
    findings += [
        _not_accepted(key, dbts[key], listed(accepted))
        for key, accepted in _DBT_CHOICES.items()
        if key in dbts and _word(dbts[key]) not in accepted
    ]
    if findings:
        raise IdivmError(findings)
    keys = dict(by_input(ours.get("keys") or {}))
    others = str(keys.pop(OTHERS, None) or "auto").lower()
    chosen = {key: str(ours[key]).lower() for key, values in _CHOICES.items() if values is not None and ours.get(key) is not None}
    return ModelConfig(
        **chosen,
        **{key: _word(dbts[key]) for key in _DBT_CHOICES if key in dbts},
        caches=caches_of("auto" if ours.get("caches") is None else ours["caches"]),
        keys={str(name): names(columns) for name, columns in keys.items()},
        finds_keys=others == "auto",
        unique_key=names(ours.get("unique_key") or dbts.get("unique_key")),
        cluster_by=names(ours.get("cluster_by")),
        deterministic_functions=tuple(dict.fromkeys(map(as_named, names(ours.get("deterministic_functions"))))),
        optimize_every=_or_default(ours.get("optimize_every"), ModelConfig.optimize_every),
        vacuum=_or_default(ours.get("vacuum"), ModelConfig.vacuum),
        partition_by=names(dbts.get("partition_by")),
        location_root=dbts.get("location_root"),
        tblproperties=_properties(dbts.get("tblproperties") or {}),
    )


def _properties(given: Mapping[Any, Any]) -> dict[str, str]:
    """The table properties, without the one for the change data feed: views always have a feed, and dbt adds the property to
    models."""
    return {str(key): _property(value) for key, value in given.items() if str(key).lower() != FEED.lower()}


def names(value: Any) -> tuple[str, ...]:
    """A column name, or a list of column names."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(each) for each in value)


def _check(key: str, value: Any) -> list[Finding]:
    if key not in _CHOICES:
        return [finding(102, key=key, nearest=listed(nearest(key, _CHOICES)))]
    if value is None:
        return []
    accepted = _CHOICES[key]
    if accepted is None:
        return _CHECKS[key](key, value)
    return [] if str(value).lower() in accepted else [_not_accepted(key, value, listed(accepted))]


def _or_default(value: T | None, default: T) -> T:
    return default if value is None else value


def _commits(key: str, value: Any) -> list[Finding]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return []
    return [_not_accepted(key, value, "a number of refreshes, such as `100`; `0` means never")]


def _switch(key: str, value: Any) -> list[Finding]:
    return [] if isinstance(value, bool) else [_not_accepted(key, value, "`true` or `false`")]


def _columns(key: str, value: Any) -> list[Finding]:
    if isinstance(value, str) or _is_list_of_names(value):
        return []
    return [_not_accepted(key, value, "a column or a list of columns")]


def _keys(key: str, value: Any) -> list[Finding]:
    given = by_input(value)
    if isinstance(given, Mapping) and all(
        (isinstance(v, str) and v.lower() in FINDING) if name == OTHERS else isinstance(v, str) or _is_list_of_names(v)
        for name, v in given.items()
    ):
        return []
    wanted = f"{listed(FINDING)}, or a mapping from inputs, written as in `ref` and `source`, to lists of columns"
    return [_not_accepted(key, value, wanted)]


def _caches(key: str, value: Any) -> list[Finding]:
    if (isinstance(value, str) and value.lower() in WORDS) or _is_list_of_names(value):
        return []
    return [_not_accepted(key, value, f"{listed(WORDS)}, or a list of CTEs and derived tables")]


def _functions(key: str, value: Any) -> list[Finding]:
    if not isinstance(value, str) and not _is_list_of_names(value):
        return [_not_accepted(key, value, "a list of names of functions")]
    found = []
    for name in names(value):
        if not 1 <= len(name_parts(name)) <= _FUNCTION_PARTS:
            found.append(
                _not_accepted(key, name, "names of functions, written as in their calls: `f`, `schema.f` or `catalog.schema.f`")
            )
        elif is_built_in(name):
            found.append(_not_accepted(key, name, "functions that you created; Spark's own functions are known already"))
    return found


_CHECKS = {
    "keys": _keys,
    "unique_key": _columns,
    "cluster_by": _columns,
    "caches": _caches,
    "deterministic_functions": _functions,
    "optimize_every": _commits,
    "vacuum": _switch,
}


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _word(value: Any) -> str:
    """A choice as lower-case text, from YAML or from one of dbt's enumerations."""
    return str(getattr(value, "value", value)).lower()


def _not_accepted(key: str, value: Any, accepted: str) -> Finding:
    return finding(103, key=key, value=value, accepted=accepted)


def _property(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
