"""Choose how a maintained relation is brought up to date: by which way, or by a rebuild, and why. Nothing is written here.

There are two choices. The first, before net diffs are read: which ways are possible, and whether a rebuild is cheaper however few
rows have changed. The second, after that: the cheapest of the ways whose guard holds for these net diffs and, under `strategy:
auto`, the rebuild. Other strategies take the first of the ways that they name (ADR 0017).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dbt_idivm.cost.choice import REBUILD, Choice
from dbt_idivm.cost.work import Situation, application_of, fetched_of
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.changes.left_keys import verify_left
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.changes.read import Changes, read_changes
from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.refresh.decide.observe import Observed, observe_inputs, observe_sizes
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.found_rows import Forms, Reach, forms
from dbt_idivm.script.render import Fetched, applications, possible
from dbt_idivm.script.ways import Application, Way


@dataclass(frozen=True)
class Ready:
    """Everything that an incremental refresh needs. `application`: None if nothing in the view changes. `few`: whether the source
    of its statement has few rows, None if unknown. `fetched`: which part of the source is fetched first.
    `form`: the form of the application for the rows that changes reach, if these are found first; `wanted`: which ones."""

    changes: Changes
    application: Application | None
    few: bool | None = None
    fetched: Fetched = "nothing"
    form: Application | None = None
    wanted: Reach = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """How a view or cache is brought up to date. `action`: what an incremental refresh needs, or the reason to rebuild. `choice`:
    the alternatives, if there were any and sizes are known. `moves`: the moves of the inputs, if observed. `again`: the decision
    to follow if the reached rows are not as expected, given what was wanted of the tables in vain."""

    work: Work
    action: Ready | Finding
    choice: Choice | None = None
    moves: Mapping[str, Move] = field(default_factory=dict)
    again: Callable[[Reach], Decision] | None = None


def decide(seen: Observed) -> Steps[Decision]:
    """Decide for a view or cache whose own caches are up to date. Raises IDIVM-306."""
    seen = yield from observe_inputs(seen)
    ways = choose_ways(seen)
    if isinstance(ways, Finding):
        return Decision(seen.work, ways)
    state = seen.work.stored.state
    assert state is not None
    if not ways:
        return Decision(replace(seen.work, unverified=state.unverified), Ready(Changes(seen.moves), None))
    seen = yield from observe_sizes(seen)
    job, planned, costs = seen.work.job, seen.work.planned, Costs(seen)
    assert planned.plan is not None
    started = job.client.invocation.seconds()
    early = choose_early(costs)
    if early is not None:
        return _timed(replace(early, moves=seen.moves), started, started)
    look_up = partial(verify_left, job.client, planned.keyed_inputs, state, job.config.verify)
    try:
        changes = yield from read_changes(
            job.client, planned.plan, planned.keyed_inputs, job.config.verify, seen.moves, planned.sizes, seen.clock
        )
    except IdivmError:
        # an apparent violation may be of a key that was broken when a rebuild read it, and holds now
        broken = yield from look_up()
        if broken is None:
            raise
        return Decision(seen.work, broken)
    if isinstance(changes, Finding):
        return Decision(seen.work, changes)
    decision = choose_late(costs, changes)
    if isinstance(decision.action, Ready):
        broken = yield from look_up()
        if broken is not None:
            return Decision(seen.work, broken)
    return _timed(_after_look_up(decision, seen), started, job.client.invocation.seconds())


def _after_look_up(decision: Decision, seen: Observed) -> Decision:
    """The decision, also the one to follow, after the keys that a rebuild left unverified were looked up."""
    again = decision.again
    if isinstance(decision.action, Ready):
        state = seen.work.stored.state
        assert state is not None
        left = {} if seen.work.job.config.verify == "always" else state.unverified
        decision = replace(decision, work=replace(decision.work, unverified=left))
    return replace(decision, moves=seen.moves, again=again and (lambda unreached: _after_look_up(again(unreached), seen)))


def _timed(decision: Decision, started: float, decided: float) -> Decision:
    choice = decision.choice
    return decision if choice is None else replace(decision, choice=replace(choice, started=started, decided=decided))


def choose_ways(seen: Observed) -> tuple[Way, ...] | Finding:
    """The possible ways in order of preference, empty if neither an input nor the clock moved; or the reason to rebuild."""
    if seen.reason is not None:
        return seen.reason
    if not any(move.moved for move in seen.moves.values()) and seen.clock is None:
        return ()
    planned = seen.work.planned
    if planned.plan is None:
        assert planned.why_no_plan is not None
        return planned.why_no_plan
    return planned.plan.ways


def may_rebuild(seen: Observed) -> bool:
    """Whether a rebuild is an alternative. It is not if this run has pinned an older version of an input than the view was built
    from."""
    inputs, moves = seen.work.planned.inputs.tables.values(), seen.moves
    return seen.work.job.config.may_rebuild and all(
        each.version is None or each.version >= moves[each.table].consumed.version for each in inputs
    )


def choose_early(costs: Costs) -> Decision | None:
    """A rebuild, if it is cheaper than every way at its best; None if the net diffs should be read first."""
    seen = costs.seen
    if not may_rebuild(seen):
        return None
    if costs.unknown is not None:
        return None if costs.are_few else Decision(seen.work, finding(418, source=costs.unknown))
    situation = costs.expected()
    found = possible(costs.plan, (application_of(way, situation) for way in costs.plan.ways))
    if found is None:
        return None
    decision = _decision(costs, found, situation, is_read=False)
    return decision if isinstance(decision.action, Finding) else None


def choose_late(costs: Costs, changes: Changes, unreached: tuple[Reach, ...] = ()) -> Decision:
    """The decision for net diffs that were read: a way whose guard holds, or a rebuild. `unreached`: what was wanted of
    tables in vain: there are too many reached rows, or values of them fail."""
    found = applications(costs.plan, changes.net)
    if found is None:
        return Decision(costs.seen.work, Ready(changes, None))
    if costs.unknown is not None:
        return Decision(costs.seen.work, Ready(changes, found[0], fetched="rows" if changes.are_inlined else "nothing"))
    decision = _decision(costs, found, costs.read(changes.net), is_read=True, changes=changes, unreached=unreached)
    return replace(decision, again=lambda more: choose_late(costs, changes, (*unreached, more)))


def choose_unread(costs: Costs) -> Choice | None:
    """The expected choice, according to commits; None if nothing is to be done, or a size is unknown."""
    if costs.unknown is not None:
        return None
    situation = costs.unread()
    found = possible(costs.plan, (application_of(way, situation) for way in costs.plan.ways))
    return None if found is None else _decision(costs, found, situation, is_read=False).choice


def _decision(
    costs: Costs,
    found: Sequence[Application],
    situation: Situation,
    *,
    is_read: bool,
    changes: Changes | None = None,
    unreached: tuple[Reach, ...] = (),
) -> Decision:
    """Choose among the applications and the rebuild."""
    seen, invocation, config = costs.seen, costs.seen.work.job.client.invocation, costs.seen.work.job.config
    reading = 0.0 if is_read else costs.reading_seconds
    is_known = changes.net.is_known if changes is not None else lambda _: costs.are_few
    reached: dict[str, Forms] = {each.way: _without(forms(each, is_known), unreached) for each in found}
    ways = [costs.way(each, situation, reached[each.way]) for each in found]
    full = [costs.rebuild(situation)] if may_rebuild(seen) else []
    now = [*(replace(each, seconds=each.seconds + reading) for each in ways), *full]
    name = invocation.choose(now).name if config.chooses else now[0].name
    alternatives = (*ways, *full)
    chosen = next(each for each in alternatives if each.name == name)
    choice = Choice(chosen, alternatives, costs.reading_seconds, costs.reading, is_read)
    if name != REBUILD:
        done = _of(found, name)
        few, fetched = costs.is_few(done, situation), fetched_of(done, situation)
        ready = Ready(changes or Changes(seen.moves), done, few, fetched, chosen.form, chosen.wanted)
        return Decision(seen.work, ready, choice)
    best = choice.best_way
    pays = costs.pays(situation, _of(found, best.name), reading, reached[best.name]) if best is not None else ""
    return Decision(replace(seen.work, unverified=costs.unverified), costs.reason(choice, pays), choice)


def _without(found: Forms, unreached: tuple[Reach, ...]) -> Forms:
    """The forms that want fewer rows of a table than what was wanted in vain."""

    def is_as_large(wanted: Reach, other: Reach) -> bool:
        return any(table in wanted and {*wanted[table].finders} >= {*each.finders} for table, each in other.items())

    return tuple((form, wanted) for form, wanted in found if not any(is_as_large(wanted, each) for each in unreached))


def _of(found: Sequence[Application], name: str) -> Application:
    return next(each for each in found if each.way == name)
