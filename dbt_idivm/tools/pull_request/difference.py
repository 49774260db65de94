"""Compare two states of a project: which models differ, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import Any

import yaml

from dbt_idivm.artifacts import Node, dbt_config
from dbt_idivm.cached import cached_property
from dbt_idivm.declared_keys import written_name
from dbt_idivm.explain import outline
from dbt_idivm.project import Project, label
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.storing import MAINTAINED
from dbt_idivm.tools.advice.variants import materialized
from dbt_idivm.tools.pull_request.costs import Costs, Seconds
from dbt_idivm.tools.pull_request.facts import (
    UNMEASURED,
    Changed,
    Difference,
    Estimate,
    Kind,
    NextRun,
    Side,
    in_order,
    is_worth_a_row,
)
from dbt_idivm.tools.pull_request.next_run import code, next_run, unstored
from dbt_idivm.tools.pull_request.states import States


def difference(states: States, costs: Costs) -> Difference:
    """The differences between two states of a project whose models have these costs."""
    pair = _Pair(states.before, states.after, costs)
    models = {unique_id for project in (states.before, states.after) for unique_id in map(_id, project.nodes_of_models())}
    found = in_order(each for unique_id in sorted(models) if (each := pair.changed(unique_id)) is not None)
    assumed = dict.fromkeys(f"{each.summary}; {each.why}." for each in (*states.after.notes, *states.before.notes))
    notes = (*states.notes, *assumed, *costs.notes, *_prices(found, costs))
    return Difference(found, pair.estimate(models) if costs.is_asked else None, notes)


def _prices(found: Sequence[Changed], costs: Costs) -> Iterator[str]:
    """A note on the prices behind seconds, if only migrations have any."""
    if not costs.is_asked and any(each.next_run.seconds is not None for each in found):
        yield f"Seconds of the next run are estimates at the prices of {costs.engine or UNMEASURED}."


@dataclass
class _Pair:
    before: Project
    after: Project
    costs: Costs
    different: dict[str, bool] = field(default_factory=dict)  # unique ID → whether its definition differs

    @cached_property
    def _relations_before(self) -> dict[str, Node]:
        return _by_relation(self.before)

    @cached_property
    def _relations_after(self) -> dict[str, Node]:
        return _by_relation(self.after)

    def changed(self, unique_id: str) -> Changed | None:
        """The change of a model that is maintained in at least one of the states; None if it is the same in both."""
        old, new = self.before.keys.nodes.get(unique_id), self.after.keys.nodes.get(unique_id)
        if old is not None and new is not None:
            return self._in_both(old, new)
        if new is not None:
            now = _side(self.after, new, self.costs.after)
            tree = _diff([], _outline(self.after, new))
            return Changed(label(new), unique_id, "added", None, now, self._next_run(new, now), tree=tree)
        assert old is not None
        was, heir = _side(self.before, old, self.costs.before), self._relations_after.get(str(old.get("relation_name")))
        told = "its table remains" if heir is None else f"its relation now belongs to `{label(heir)}`"
        return Changed(label(old), unique_id, "removed", was, None, NextRun(False, told))

    def _in_both(self, old: Node, new: Node) -> Changed | None:
        was, now = _side(self.before, old, self.costs.before), _side(self.after, new, self.costs.after)
        told = self._next_run(new, now)
        planned = _outline(self.after, new)
        tree = _diff(_outline(self.before, old), planned) if planned else ""
        found = Changed(label(new), _id(new), "edited", was, now, told, tree=tree)
        if _is_edited(old, new):
            return replace(found, config=_diff(_config(old), _config(new)), sql=_diff(_sql(old), _sql(new)))
        if tree or not was.same_way(now) or (told.rebuilds and now.kind != "rebuilt") or is_worth_a_row(was.seconds, now.seconds):
            return replace(found, change="upstream", because_of=self._edited_above(new))
        return replace(found, change="layout") if old.get("compiled_code") != new.get("compiled_code") else None

    def _next_run(self, new: Node, now: Side) -> NextRun:
        """What the next run does with the model. The table with its relation name may have belonged to another model before."""
        stored = self._relations_before.get(str(new.get("relation_name")))
        known = self.before.keys.nodes.get(_id(new))
        if stored is None:
            return unstored(now, None if known is None else known.get("relation_name"))
        told = next_run(self.before, self.after, stored, new, _side(self.before, stored, {}), now, self.costs.migrations)
        if known is stored:
            return told
        return replace(told, why=": ".join(filter(None, (f"it takes the relation of `{label(stored)}`", told.why))))

    def estimate(self, models: set[str]) -> Estimate:
        """The sums over models that have an estimate in each state in which they exist."""
        nodes = {unique_id: self.after.keys.nodes.get(unique_id) or self.before.keys.nodes[unique_id] for unique_id in models}
        sides = ((self.before, self.costs.before), (self.after, self.costs.after))
        without = {
            unique_id
            for unique_id in models
            for project, seconds in sides
            if unique_id in project.keys.nodes and unique_id not in seconds
        }
        before, after = (sum(seconds.get(each, 0.0) for each in models - without) for _, seconds in sides)
        return Estimate(
            before,
            after,
            tuple(sorted(label(nodes[each]) for each in without)),
            self.costs.unknown,
            self.costs.refreshes,
            self.costs.engine,
        )

    def _edited_above(self, node: Node) -> tuple[str, ...]:
        """The differing nodes that a model depends on, nearest first."""
        found: dict[str, None] = {}
        level, seen = _read(node), set[str]()
        while level:
            seen.update(level)
            above: list[str] = []
            for unique_id in level:
                known = self.after.keys.nodes.get(unique_id) or self.before.keys.nodes.get(unique_id)
                if known is not None and self._differs(unique_id):
                    found[label(known) if known.get("resource_type") == "model" else written_name(known)] = None
                above += _read(known or {})
            level = [each for each in dict.fromkeys(above) if each not in seen]
        return tuple(found)

    def _differs(self, unique_id: str) -> bool:
        """Whether models that read the node may differ because of it."""
        if unique_id not in self.different:
            sides = ((project, project.keys.nodes.get(unique_id)) for project in (self.before, self.after))
            was, now = (None if node is None else _definition(project, node) for project, node in sides)
            self.different[unique_id] = was != now
        return self.different[unique_id]


def _id(node: Node) -> str:
    return str(node["unique_id"])


def _by_relation(project: Project) -> dict[str, Node]:
    """Name of a relation → the node from which dbt builds it."""
    return {
        str(node["relation_name"]): node
        for node in project.keys.nodes.values()
        if node.get("relation_name") and node.get("resource_type") in ("model", "seed", "snapshot")
    }


def _read(node: Node) -> list[str]:
    return sorted(node.get("depends_on", {}).get("nodes", ()))


def _side(project: Project, node: Node, seconds: Seconds) -> Side:
    known = seconds.get(_id(node))
    if materialized(node) != MAINTAINED:
        return Side("other", materialized(node), seconds=known)
    found = project.explanation(node)
    if found.how is None:
        kind: Kind = "unknown" if found.problem else "error" if found.is_error else "rebuilt"
        number, _, why = found.why.partition(" ") if found.why.startswith("IDIVM-") else ("", "", found.why)
        return Side(kind, "", number, why, True, seconds=known)
    plan = project.plan(node)
    return Side(
        "incremental",
        found.how,
        recomputes=found.fails("recompute"),
        seconds=known,
        hidden=tuple(column.name for column in plan.columns if column.hidden),
        caches=tuple(cache.table for cache in plan.caches),
    )


def _is_edited(old: Node, new: Node) -> bool:
    """Whether the user changed the model itself, in more than comments and layout."""
    return code(old) != code(new) or any(of(old) != of(new) for of in _OWN)


_OWN: Sequence[Callable[[Node], Any]] = (
    materialized,
    own_config,
    lambda node: dbt_config(node["config"]),
    lambda node: node.get("relation_name"),
)


def _definition(project: Project, node: Node) -> object:
    """All properties of a node that its readers depend on; the node may also be a source, a seed or a table."""
    config = node.get("config") or {}
    columns = {name: each.get("data_type") for name, each in (node.get("columns") or {}).items()}
    keys = {key.columns for key in project.keys.declared(node)}
    return (
        code(node),
        config.get("materialized"),
        own_config({"config": config}),
        dbt_config(config),
        node.get("relation_name"),
        columns,
        keys,
    )


def _outline(project: Project, node: Node) -> list[str]:
    """The printed plan; empty if there is none."""
    if materialized(node) != MAINTAINED or project.explanation(node).how is None:
        return []
    return outline(project.plan(node))


def _config(node: Node) -> list[str]:
    own = own_config(node)
    found = {"materialized": materialized(node), **dbt_config(node["config"]), **({"idivm": own} if own else {})}
    return str(yaml.safe_dump(found, sort_keys=True, allow_unicode=True, width=1_000)).split("\n")[:-1]


def _sql(node: Node) -> list[str]:
    return str(node.get("compiled_code") or "").strip("\n").split("\n")


def _diff(before: list[str], after: list[str]) -> str:
    """A unified diff without file names; "" if there is no difference."""
    return "\n".join(_lines(before, after))


def _lines(before: list[str], after: list[str]) -> Iterator[str]:
    lines = unified_diff(before, after, lineterm="")
    next(lines, None)
    next(lines, None)
    yield from lines
