"""Facts about a maintained model in the form that dbt docs can show: named texts, each with a label and a description."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt_idivm.cache_names import without_digest
from dbt_idivm.project import Project
from dbt_idivm.relation_name import HIDDEN_SUFFIX, LOG_SUFFIX, name_parts, with_suffix
from dbt_idivm.script.plan import Plan
from dbt_idivm.tools.report import text
from dbt_idivm.tools.report.facts import Model, Refresh
from dbt_idivm.tools.report.rate import rate_of

PREFIX = "idivm_"  # of all keys
# dbt docs sorts by labels; the common first word keeps ours together.
_LABEL = "Maintenance"
_BESIDE = {HIDDEN_SUFFIX: "rows with hidden columns", LOG_SUFFIX: "log of changes"}


@dataclass(frozen=True)
class Fact:
    """`name`: key for programs; `about`: the label after the common first word; `description`: tooltip of the label in dbt
    docs."""

    name: str
    about: str
    value: str
    description: str

    @property
    def key(self) -> str:
        return PREFIX + self.name

    @property
    def columns(self) -> Mapping[str, str | bool]:
        """The fact as a statistic: columns of the table from which dbt builds its catalog."""
        label = f"{_LABEL}: {self.about}" if self.about else _LABEL
        found: dict[str, str | bool] = {"label": label, "value": self.value, "description": self.description, "include": True}
        return {f"stats:{self.key}:{name}": value for name, value in found.items()}


def is_known(project: Project, unique_id: str) -> bool:
    """Whether the SQL of a model, and of all models that its plan depends on, is compiled. With `--select` dbt compiles only
    some."""
    node = project.keys.nodes[unique_id]
    below = (
        each
        for each in project.keys.inputs(node).values()
        if each.get("resource_type") == "model" and each["config"].get("materialized") in ("idivm", "view")
    )
    return bool(node.get("compiled_code")) and all(is_known(project, str(each["unique_id"])) for each in below)


def of_plan(model: Model, plan: Plan | None) -> Iterator[Fact]:
    """How the model is maintained, or why it is rebuilt, and its IDs and hidden columns."""
    yield _maintenance(model)
    if plan is None or model.how is None:
        return
    if ids := ids_of(plan):
        yield Fact(
            "ids",
            "IDs",
            ", ".join(ids),
            "Together they identify a row of the stored table. Refreshes find the rows to change by them.",
        )
    if hidden := [each.name for each in plan.columns if each.hidden]:
        yield Fact(
            "hidden_columns",
            "hidden columns",
            ", ".join(hidden),
            "Stored beside the model's own columns, which are all that it shows. Refreshes need them: IDs, counts, and "
            "what conditions and ranks depend on.",
        )


def ids_of(plan: Plan) -> tuple[str, ...]:
    """The stored columns that identify a row; empty if rows may be equal, or there is only one row."""
    return tuple(dict.fromkeys(plan.stored(each) for each in plan.root.ids)) if plan.root.unique else ()


def of_table(model: Model, hidden: Mapping[str, str]) -> Iterator[Fact]:
    """Facts from the engine: where the rows are, how many, and what the last refresh did. `hidden`: its `hidden_tables`."""
    if model.stored is None:
        return
    if hidden:
        yield Fact(
            "hidden_tables",
            "hidden tables",
            "; ".join(f"{name} ({what})" for name, what in hidden.items()),
            "They belong to the model, and are refreshed and dropped with it. Of these only a log of changes is for "
            "others to read.",
        )
    if size := text.stored(model.size):
        yield Fact("size", "size", size, "Of the table with the rows: counted from its commits, without reading it.")
    if model.last is not None:
        yield Fact(
            "last_refresh",
            "last refresh",
            _refresh(model.last),
            _inputs(model.last) + "A refresh that finds nothing changed leaves no commit, so it is not seen here.",
        )
    if rate := text.rate(rate_of(model)):
        yield Fact("changes", "changes", rate, "On average of the newest incremental refreshes.")


def hidden_tables(model: Model, there: Collection[str]) -> Mapping[str, str]:
    """Name → description of the tables in `there` that a model has besides its own relation."""
    if model.stored is None:
        return {}
    beside = {with_suffix(model.relation, suffix): what for suffix, what in _BESIDE.items()}
    caches = {each: f"cache of {without_digest(name_parts(each)[-1])}" for each in model.stored.caches}
    return {name: what for name, what in {**beside, **caches}.items() if name in there}


def of_hidden(what: str, models: Iterable[str]) -> Fact:
    """The fact for such a table itself, if a project declares it as a source."""
    return Fact(
        "hidden_table",
        "hidden table",
        f"{what}, of {', '.join(sorted(models))}",
        "dbt-idivm writes it with each refresh. Nobody else should write to it.",
    )


def _maintenance(model: Model) -> Fact:
    if model.refused is not None:
        return Fact(
            "maintenance",
            "",
            f"rebuilt on every run, {model.refused.code} {model.refused.sentence}",
            " ".join(filter(None, (model.refused.why, model.refused.do))),
        )
    if model.how is None:
        return Fact("maintenance", "", f"not known, {model.problem}", "`idivm explain --project .` says more.")
    return Fact(
        "maintenance",
        "",
        model.how,
        "How changes of what it reads reach its rows. `idivm explain --project .` shows it for all models.",
    )


def _refresh(last: Refresh) -> str:
    took = "" if last.seconds is None else text.seconds(last.seconds)
    at = "" if last.at is None else f"at {text.when(last.at)}"
    return ", ".join(filter(None, (last.what, text.changes(last), took, at, last.why)))


def _inputs(last: Refresh) -> str:
    moves = ", ".join(f"{name} {'' if before is None else f'{before} '}→ {after}" for name, before, after in last.moves)
    return f"Versions of what it reads: {moves}. " if moves else ""
