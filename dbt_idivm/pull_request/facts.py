"""What `idivm diff` finds: facts without layout, which are rendered as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dbt_idivm.advice.setting import WORTH

FailOn = Literal["full", "recompute"]
Kind = Literal["incremental", "rebuilt", "error", "unknown", "other"]
UNMEASURED = "a small machine, as no refresh has been measured"  # whose prices are taken without an engine's
Change = Literal["added", "removed", "edited", "layout", "upstream"]


@dataclass(frozen=True)
class Side:
    """A model in one state of the project.

    `kind`: `incremental`, where `how` says in which way; `rebuilt` on each run, `error`, with which the run fails, as the config
    wants, or `unknown`, where `code` and `why` say why; `other`: not maintained, but materialised as `how` says. `recomputes`:
    it is rebuilt, or rows or groups are recomputed.
    `hidden`: columns that are stored besides the user's; `caches`: tables. `seconds`: of a refresh, None if it is not known.
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
        """Whether it is what `fail_on` is about; what fails or cannot be planned is so in any case."""
        return self.kind in ("rebuilt", "error", "unknown") or (fail_on == "recompute" and self.recomputes)

    def same_way(self, other: Side) -> bool:
        """Whether the other is maintained the same way, or rebuilt for the same reason."""
        return (self.kind, self.how, self.code, self.why) == (other.kind, other.how, other.code, other.why)


@dataclass(frozen=True)
class NextRun:
    """What the next run does with a model because of the change. `rebuilds` is None where nobody can say. `migrates`: it takes
    the stored rows over into the new definition, and does not rebuild; `seconds` and `rebuild` are estimates of both then, None
    where sizes are not known."""

    rebuilds: bool | None
    why: str = ""
    migrates: bool = False
    seconds: float | None = None
    rebuild: float | None = None


@dataclass(frozen=True)
class Changed:
    """One model that differs.

    `change`: `edited` in SQL or config, `layout`: in comments and layout of its SQL only, `upstream`: its own text is the same,
    and `because_of` names what it reads that differs. `before` is None for an added one, `after` for a removed one. `config`,
    `tree` and `sql` are unified diffs; "" where there is no difference, and for the tree of what has no plan any more.
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
        """Whether the change makes it what `fail_on` is about: it was none before, or no maintained model."""
        was = self.before is not None and self.before.fails(fail_on)
        return self.after is not None and self.after.fails(fail_on) and not was

    def _is(self, kind: str) -> bool:
        return self.after is not None and self.after.kind == kind and (self.before is None or self.before.kind != kind)

    @property
    def becomes_incremental(self) -> bool:
        """Whether it existed before, and was not maintained incrementally."""
        return self.before is not None and self._is("incremental")

    @property
    def becomes_rebuilt(self) -> bool:
        """Whether it is new, or was no maintained model that is rebuilt on each run."""
        return self._is("rebuilt")

    @property
    def becomes_error(self) -> bool:
        """Whether the run fails with it, and did not before."""
        return self._is("error")

    @property
    def becomes_unknown(self) -> bool:
        """Whether it is new, or could be planned before."""
        return self._is("unknown")


@dataclass(frozen=True)
class Estimate:
    """Seconds of a refresh of all maintained models that have an estimate in both states. `without`: the models that have none;
    `unknown`: tables whose rows nobody says. `engine`: whose prices these are, None for those of a small machine."""

    before: float
    after: float
    without: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    refreshes: float = 24.0
    engine: str | None = None


@dataclass(frozen=True)
class Difference:
    """Of two states of a project. `estimate` is None where no rate of change is given. `notes`: what else is to be known."""

    models: tuple[Changed, ...]
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()

    def of(self, *changes: Change) -> tuple[Changed, ...]:
        """The models with one of these changes."""
        return tuple(each for each in self.models if each.change in changes)

    @property
    def changed(self) -> tuple[Changed, ...]:
        """Those that the change is about, without those that it reaches through what they read."""
        return self.of("added", "removed", "edited", "layout")


def is_noticeable(before: float | None, after: float | None) -> bool:
    """Whether the seconds of a refresh differ by more than such estimates do anyway."""
    return _differ(before, after, WORTH, 0.1)


def is_worth_a_row(before: float | None, after: float | None) -> bool:
    """Whether they differ by so much that a model is listed of which nothing else differs."""
    return _differ(before, after, 2 / 3, 1.0)


def _differ(before: float | None, after: float | None, part: float, least: float) -> bool:
    if before is None or after is None:
        return before is not after
    return min(before, after) < part * max(before, after) and abs(before - after) >= least


def in_order(models: Iterable[Changed]) -> tuple[Changed, ...]:
    """What fails first, then what becomes rebuilt, what can no longer be planned, what becomes recomputed, then by name."""
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
