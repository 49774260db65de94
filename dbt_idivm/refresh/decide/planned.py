"""The model as it will be maintained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.cost.sizes import Size
from dbt_idivm.definition.compiling import Compiled
from dbt_idivm.definition.fingerprint import LAYOUT, fingerprint, used_columns
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding
from dbt_idivm.refresh.catalog.clock import Clock
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import Input, Inputs
from dbt_idivm.refresh.catalog.relations import Described
from dbt_idivm.refresh.catalog.state import Kept
from dbt_idivm.refresh.checks.keys import KeyedInput
from dbt_idivm.refresh.checks.plan_proof import Proof, Question
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.protocol import InputChange
from dbt_idivm.relation_name import HIDDEN_SUFFIX, LOG_SUFFIX, with_suffix
from dbt_idivm.script.plan import Cache, Plan

# Codes of refusals for which a rebuild over unchanged inputs may give other rows: sampling, random values, time, unknown
# functions.
_UNREPEATABLE = frozenset({"IDIVM-204", "IDIVM-206", "IDIVM-213", "IDIVM-226", "IDIVM-230", "IDIVM-234", "IDIVM-236"})


@dataclass(frozen=True)
class Planned:
    """The model as it will be maintained. Without a plan it is rebuilt, and `why_no_plan` says why."""

    inputs: Inputs
    keys: Mapping[str, Key]
    plan: Plan | None
    why_no_plan: Finding | None
    table: str
    repeatable: bool
    fingerprint: Mapping[str, str]
    used: Mapping[str, Mapping[str, str]]  # input → {column: type} of the columns that are used
    through: Mapping[str, InputChange] = field(default_factory=dict)  # input, as the user wrote it → what the caches read of it
    proof: Proof | None = None
    keeps_view: bool = True  # if not, `table` is the log of its changes
    compiled: Compiled | None = None
    kept: Kept = field(default_factory=Kept)
    sizes: Mapping[str, Size] = field(default_factory=dict)  # table → size, if known; for estimates only
    clock: Clock | None = None  # if the plan reads it
    times: Mapping[str, str] = field(default_factory=dict)  # column → the time of writing that it has, with a plan or without
    uncached: tuple[Finding, ...] = ()  # why it has not all caches that the config names

    def laid_out(self, layout: str) -> Planned:
        """The planned model for a table that will be created with this layout, instead of keeping a former one."""
        return replace(self, fingerprint={**self.fingerprint, LAYOUT: layout})

    @property
    def caches(self) -> tuple[Cache, ...]:
        return self.plan.caches if self.plan is not None else ()

    @property
    def hidden(self) -> bool:
        """Whether the model's relation is a view over its ID-extended table."""
        return self.keeps_view and self.plan is not None and self.plan.hidden

    @property
    def own_inputs(self) -> dict[str, Input]:
        """The inputs without the caches."""
        caches = {cache.table for cache in self.caches}
        return {name: found for name, found in self.inputs.tables.items() if name not in caches}

    @property
    def keyed_inputs(self) -> tuple[KeyedInput, ...]:
        return tuple(KeyedInput(found, self.keys.get(name)) for name, found in self.inputs.tables.items())

    @property
    def found(self) -> dict[str, tuple[str, ...]]:
        """Input → columns of its key, where that was found in the data."""
        return {name: key.columns for name, key in self.keys.items() if key.found}

    @property
    def is_misread(self) -> bool:
        """Whether there was a plan, but it does not mean what the SELECT means."""
        return self.proof is not None and self.proof.refusal is not None


def planned_model(
    job: Job, inputs: Inputs, keys: Mapping[str, Key], plan: Plan | None, why_no_plan: Finding | None, codes: tuple[str, ...] = ()
) -> Planned:
    """Combine the parts. `codes`: codes of the errors that prevent a plan."""
    relation, keeps_view, facts = job.request.relation, job.config.keeps_view, inputs.for_definition
    suffix = LOG_SUFFIX if not keeps_view else HIDDEN_SUFFIX if plan and plan.hidden else ""
    return Planned(
        inputs,
        keys,
        plan,
        why_no_plan,
        with_suffix(relation, suffix),
        inputs.is_versioned and _UNREPEATABLE.isdisjoint(codes),
        fingerprint(job.request, job.config, facts, keys, plan),
        used_columns(facts, plan),
        keeps_view=keeps_view,
    )


def with_cache(planned: Planned, cache: Cache, facts: Described, commit: Commit) -> Planned:
    """Add the cache, as it was after `commit`, to the inputs."""
    found = Input(cache.table, cache.table, facts, commit)
    key = {cache.table: Key(cache.key, "the IDs of a cache", found.for_definition.has_unique_ids)} if cache.key else {}
    inputs = replace(planned.inputs, tables={**planned.inputs.tables, cache.table: found})
    return replace(planned, inputs=inputs, keys={**planned.keys, **key})


def question(job: Job, planned: Planned) -> Question:
    """The question whether the plan means what the SELECT means, over base inputs."""
    assert planned.plan is not None
    return Question(job.request.sql, planned.plan, replace(planned.inputs, tables=planned.own_inputs), job.dialect, planned.clock)


def proof_key(job: Job, planned: Planned) -> str:
    """Key of the proof: equal for the same SELECT and plan."""
    return question(job, planned).key({part: value for part, value in planned.fingerprint.items() if part != LAYOUT})
