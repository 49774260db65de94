"""How long changes are kept, and the warning of a view that has not read them for half of that time."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.retention import age, in_words, kept_changes, kept_commits
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from tests.unit.fake_engine import FakeEngine, drive, model

MODEL = model("select id, name from main.o", {"o": "id"})
LOG, FILES = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"


class At(Invocation):
    def __init__(self, now: dt.datetime) -> None:
        super().__init__()
        self._now = now

    def now(self) -> dt.datetime:
        return self._now


@pytest.mark.parametrize(
    ("properties", "days"),
    [
        ({}, 7),
        ({FILES: "interval 3 days"}, 3),
        ({FILES: "interval 1 week 12 hours"}, 7.5),
        ({LOG: "interval 2 days"}, 2),
        ({LOG: "INTERVAL 60 DAYS", FILES: "interval 40 days"}, 40),
        ({FILES.lower(): "interval 36 hours"}, 1.5),
        ({FILES: "for ever"}, None),
    ],
)
def test_how_long_changes_are_kept(properties: dict[str, str], days: float | None) -> None:
    assert kept_changes(properties) == (None if days is None else dt.timedelta(days=days))


def test_how_long_commits_are_kept() -> None:
    assert kept_commits({}) == dt.timedelta(days=30) == kept_commits({LOG: "for ever"})
    assert kept_commits({LOG: "interval 1 week"}) == dt.timedelta(days=7)


def test_the_age_of_a_commit_is_in_the_session_s_zone() -> None:
    now = dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC)
    commit = Commit(1, "2024-07-01 12:00:00", "WRITE", frozenset(), {}, None)
    assert age(commit, now, "UTC") == dt.timedelta(0)
    assert age(commit, now, "Europe/Berlin") == dt.timedelta(hours=2)


@pytest.mark.parametrize(("hours", "words"), [(1.5, "1.5 hours"), (36, "36 hours"), (84, "3.5 days"), (168, "7 days")])
def test_durations_in_words(hours: float, words: str) -> None:
    assert in_words(dt.timedelta(hours=hours)) == words


@pytest.mark.parametrize(
    ("properties", "hours", "warned"),
    [
        ({}, 84, False),
        ({}, 85, True),
        ({FILES: "interval 2 days"}, 23, False),
        ({FILES: "interval 2 days"}, 25, True),
        ({FILES: "interval 90 days", LOG: "interval 90 days"}, 85, False),
    ],
)
def test_a_view_that_is_behind_for_half_of_the_time(properties: dict[str, str], hours: float, warned: bool) -> None:
    engine = FakeEngine()
    source = engine.source("o", id="int", name="string")
    source.properties |= properties
    engine.drive(MODEL)
    at = dt.datetime(2024, 7, 1, tzinfo=dt.UTC)
    source.epoch = "2024-07-01 00:00:0"  # the version follows, as seconds
    source.commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    told = drive(engine, forecast(replace(MODEL, existing="table"), At(at + dt.timedelta(hours=hours)), engine.kind))
    outcome = engine.drive(MODEL, At(at + dt.timedelta(hours=hours)))
    assert outcome.mode == told.mode == "incremental"
    assert bool(outcome.warnings) is warned
    assert told.warnings == outcome.warnings
    if warned:
        waited, kept = in_words(dt.timedelta(hours=hours)), in_words(kept_changes(properties) or dt.timedelta())
        assert outcome.warnings == (
            f"main.v has not read the changes of main.o for {waited}, and they are kept for "
            f"{kept}: refresh it more often, or lengthen {LOG} and {FILES} of main.o",
        )
    source.epoch = "2024-07-09 00:00:0"
    assert engine.drive(MODEL, At(at + dt.timedelta(days=30))).warnings == (), "it has read them"


def test_an_edited_view_is_warned_of_once() -> None:
    """Its inputs are looked at when it is decided that its stored rows are taken over, and for the refresh after that."""
    engine = FakeEngine()
    source = engine.source("o", id="int", name="string")
    engine.drive(MODEL)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    source.epoch = "2024-07-01 00:00:0"
    source.commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    edited = replace(MODEL, sql="select id, name from main.o where id > 1")
    outcome = engine.drive(edited, At(dt.datetime(2024, 7, 5, tzinfo=dt.UTC)))
    assert outcome.mode == "migrated"
    assert [each.partition(" for ")[0] for each in outcome.warnings] == ["main.v has not read the changes of main.o"]


@pytest.mark.parametrize(
    ("properties", "hours", "moved"),
    [
        ({}, 83, False),
        ({}, 85, True),
        ({FILES: "interval 2 days"}, 23, False),
        ({FILES: "interval 2 days"}, 25, True),
    ],
)
def test_the_watermark_moves_in_time(properties: dict[str, str], hours: float, moved: bool) -> None:
    """Over changes that are none for the view."""
    engine = FakeEngine()
    source = engine.source("o", id="int", name="string", other="int")
    source.properties |= properties
    engine.drive(MODEL)
    source.epoch = "2024-07-01 00:00:0"
    source.commit("WRITE", {"numOutputRows": "1"})
    engine.drive(MODEL, At(dt.datetime(2024, 7, 1, tzinfo=dt.UTC) + dt.timedelta(hours=hours)))
    assert ("move the watermark of main.v" in engine.labels("write")) is moved
