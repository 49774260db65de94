"""The result of `idivm diff`: facts without layout, which are rendered as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dbt_idivm.tools.advice.setting import WORTH

FailOn = Literal["full", "recompute"]
Kind = Literal["incremental", "rebuilt", "error", "unknown", "other"]
UNMEASURED = "a small machine, as no refresh has been measured"  # whose prices are used if there is no engine with experience
Change = Literal["added", "removed", "edited", "layout", "upstream"]


@dataclass(frozen=True)
class Side:
    """A model in one state of the project.

    `kind`: `incremental`: maintained by the way `how`. `rebuilt` on each run, `error` (the run fails, as the config demands), and
    `unknown`: for the reason `code` and `why`. `other`: not maintained, but materialised as `how`.
    `recomputes`: it is rebuilt, or rows or groups are recomputed. `hidden`: stored columns besides the user's; `caches`: tables.
    `seconds`: estimated duration of a refresh, None if unknown.
    """

    kind: Kind
    how: str = ""
    code: str = ""
    why: str = ""
    recomputes: bool = False
    hidden: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    seconds: float | None = None

    def fails(self, fail_on: FailOn) -> bool:
        """Whether it counts as a failure for `fail_on`. Models that fail or cannot be planned always do."""
        return self.kind in ("rebuilt", "error", "unknown") or (fail_on == "recompute" and self.recomputes)

    def same_way(self, other: Side) -> bool:
        """Whether both are maintained in the same way, or rebuilt for the same reason."""
        return (self.kind, self.how, self.code, self.why) == (other.kind, other.how, other.code, other.why)


@dataclass(frozen=True)
class NextRun:
    """What the next run does with a model because of the change. `rebuilds`: None if unknown. `migrates`: it adapts the stored
    rows to the new definition instead of rebuilding; `seconds` and `rebuild` are then estimates of both, None if sizes are
    unknown."""

    rebuilds: bool | None
    why: str = ""
    migrates: bool = False
    seconds: float | None = None
    rebuild: float | None = None


@dataclass(frozen=True)
class Changed:
    """A model that differs.

    `change`: `edited`: its SQL or config; `layout`: only comments and layout of its SQL; `upstream`: its own text is unchanged,
    and `because_of` names its differing inputs. `before` is None for an added model, `after` for a removed one. `config`, `tree`
    and `sql` are unified diffs; "" if there is no difference, and `tree` also if the model no longer has a plan.
    """

    model: str
    unique_id: str
    change: Change
    before: Side | None
    after: Side | None
    next_run: NextRun
    because_of: tuple[str, ...] = ()
    config: str = ""
    tree: str = ""
    sql: str = ""

    def becomes(self, fail_on: FailOn) -> bool:
        """Whether it becomes a failure for `fail_on` by the change: before, it was none, or no maintained model."""
        was = self.before is not None and self.before.fails(fail_on)
        return self.after is not None and self.after.fails(fail_on) and not was

    def _is(self, kind: str) -> bool:
        return self.after is not None and self.after.kind == kind and (self.before is None or self.before.kind != kind)

    @property
    def becomes_incremental(self) -> bool:
        """Whether it existed before without being maintained incrementally, and now is."""
        return self.before is not None and self._is("incremental")

    @property
    def becomes_rebuilt(self) -> bool:
        """Whether it is now rebuilt on each run, and before was not, or did not exist."""
        return self._is("rebuilt")

    @property
    def becomes_error(self) -> bool:
        """Whether it now makes the run fail, and before did not."""
        return self._is("error")

    @property
    def becomes_unknown(self) -> bool:
        """Whether it now cannot be planned, and before could, or did not exist."""
        return self._is("unknown")


@dataclass(frozen=True)
class Estimate:
    """Seconds of refreshing all maintained models that have an estimate in both states. `without`: models without one; `unknown`:
    tables of unknown size. `engine`: the engine whose prices are used, None for those of a small machine."""

    before: float
    after: float
    without: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    refreshes: float = 24.0
    engine: str | None = None


@dataclass(frozen=True)
class Difference:
    """The differences between two states of a project. `estimate` is None if no rate of change is given. `notes`: additional
    remarks."""

    models: tuple[Changed, ...]
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()

    def of(self, *changes: Change) -> tuple[Changed, ...]:
        """The models with one of these changes."""
        return tuple(each for each in self.models if each.change in changes)

    @property
    def changed(self) -> tuple[Changed, ...]:
        """The models changed themselves, without those affected only through their inputs."""
        return self.of("added", "removed", "edited", "layout")


def is_noticeable(before: float | None, after: float | None) -> bool:
    """Whether the seconds of a refresh differ by more than the uncertainty of such estimates."""
    return _differ(before, after, WORTH, 0.1)


def is_worth_a_row(before: float | None, after: float | None) -> bool:
    """Whether they differ so much that a model is listed even if nothing else differs."""
    return _differ(before, after, 2 / 3, 1.0)


def _differ(before: float | None, after: float | None, part: float, least: float) -> bool:
    if before is None or after is None:
        return before is not after
    return min(before, after) < part * max(before, after) and abs(before - after) >= least


def in_order(models: Iterable[Changed]) -> tuple[Changed, ...]:
    """Sort the models: new errors first, then new rebuilds, then those that can no longer be planned, then new recomputations;
    then by name."""
    return tuple(
        sorted(
            models,
            key=lambda each: (
                not each.becomes_error,
                not each.becomes_rebuilt,
                not each.becomes("full"),
                not each.becomes("recompute"),
                each.model,
                each.unique_id,
            ),
        )
    )
