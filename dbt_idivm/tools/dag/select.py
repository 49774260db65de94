"""Choose what to materialise besides the views so that one refresh of all of them is fastest, and how to maintain each view.

    choices                                       benefit   before    after
    permanently  17: customer ⋈ orders             12.1 s   80.3 s   68.2 s
    transient    9: σ region = 'EU' (nation)        0.9 s   68.2 s   67.3 s

Mistry et al. 2001: the search of `greedy.py` over the costs of `costs.py`, for a maintenance policy (§7.2.2). The greedy choice
is not optimal. To make sure that the adaptive policy is never worse than a forced one, the choices under these are also
considered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dbt_idivm.tools.dag.costs import Costs, Unit
from dbt_idivm.tools.dag.extended import Extended, extended
from dbt_idivm.tools.dag.greedy import Chosen, Options, feeds, search, settled, units_of
from dbt_idivm.tools.dag.plans import Plan, plan_of
from dbt_idivm.tools.dag.update import Mode, State, Storage


@dataclass(frozen=True)
class Choice:
    """A materialised full result, or differentials of one group, with the seconds of a refresh before and after this choice."""

    units: tuple[Unit, ...]
    form: str
    storage: Storage
    before: float
    after: float
    bytes: float

    @property
    def benefit(self) -> float:
        return self.before - self.after

    def show(self) -> str:
        unit = self.units[0]
        tables = "" if unit.is_full else f"δ {', '.join(str(each.table) for each in self.units)} of "
        return (
            f"{self.storage:<11} {tables}{unit.group}: {self.form}  benefit {self.benefit:.4g} s, {self.before:.4g} s -> "
            f"{self.after:.4g} s, {self.bytes:.4g} bytes"
        )


@dataclass(frozen=True)
class Selection:
    """`nothing`: seconds of a refresh if only the views are stored. `dropped`: forms that were kept before, and no longer are."""

    choices: tuple[Choice, ...]
    plan: Plan
    nothing: float
    dropped: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """totalcost(M_p, M_t)."""
        return self.plan.seconds

    @property
    def permanent(self) -> tuple[str, ...]:
        """The forms that are kept permanently, in the order of choice."""
        return tuple(each.form for each in self.choices if each.storage == "permanent")

    @property
    def transient(self) -> tuple[Unit, ...]:
        return tuple(unit for each in self.choices if each.storage == "transient" for unit in each.units)

    def show(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.choices)} results besides the views: {self.nothing:.4g} s -> {self.seconds:.4g} s"
        yield from (each.show() for each in self.choices)
        yield from (f"dropped     {each}" for each in self.dropped)
        yield self.plan.show()


def select(costs: Costs, options: Options | None = None, mode: Mode = "adaptive") -> Selection:
    """Choose the units to materialise greedily."""
    options = options or Options()
    dag = extended(costs, incremental=mode != "recompute")
    found = search(dag, mode, options)
    if mode != "adaptive":
        return _selection(dag, mode, found, options)
    first = _selection(dag, mode, found, options)
    forced: tuple[Mode, ...] = ("incremental", "recompute")
    others = [_selection(dag, mode, _under(costs, dag, each, options), options) for each in forced]
    return min((first, *others), key=lambda each: each.seconds * (options.hysteresis if each.dropped != first.dropped else 1))


def _under(costs: Costs, dag: Extended, mode: Mode, options: Options) -> list[Chosen]:
    """The choices under a forced policy, in the numbers of the extended DAG `dag`, stored as an adaptive policy would."""
    other = dag if mode == "incremental" else extended(costs, incremental=False)
    kept: tuple[Storage, ...] = ("permanent", "transient") if options.sharing != "transient" else ("transient",)
    chosen: list[Chosen] = []
    for each, storage in search(other, mode, options):
        units = tuple(dag.number[other.units[unit]] for unit in each.units)
        chosen.append((replace(each, units=units, storage=kept if other.units[each.units[0]].is_full else each.storage), storage))
    if mode == "incremental":  # all views are fed
        chosen.extend(feeds(State(dag, "adaptive")))
    return settled(dag, "adaptive", chosen)[1]


def _selection(dag: Extended, mode: Mode, chosen: Sequence[Chosen], options: Options) -> Selection:
    """Replay the choices one by one, so that their benefits are those in the resulting plan."""
    state, choices = State(dag, mode), list[Choice]()
    nothing = before = state.total()
    for candidate, storage in chosen:
        state.add(units_of(state, candidate, storage), storage)
        after = state.total()
        units = tuple(dag.units[each] for each in candidate.units)
        form = dag.dag.groups[candidate.group].form
        choices.append(Choice(units, form, storage, before, after, candidate.bytes))
        before = after
    kept = {each.form for each in choices if each.storage == "permanent"}
    return Selection(tuple(choices), plan_of(state), nothing, tuple(sorted(options.kept - kept)))
