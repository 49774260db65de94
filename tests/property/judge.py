"""Cases on Spark's meaning: Spark's result for the user's own text, and whether the maintained view equals it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.steps import DATA_EXCEPTION
from dbt_idivm.script.diff import Row
from tests.meaning.spark_meaning import SparkRefuses, spark_meaning
from tests.property.coverage import Coverage
from tests.property.engine import Engine
from tests.property.harness import Options, World
from tests.property.meaning import OnSpark, not_ansi
from tests.property.strategies import Case, Content
from tests.property.trials import TRIED, Discarded, Judge, Trial

# Spark runs these queries; it is a table with such columns, of the view or of a cache, that cannot be.
NO_TABLE = frozenset({"IDIVM-111", "IDIVM-224", "IDIVM-225"})


class WronglyRefused(AssertionError):
    """The planner reports an error of the user's query, and Spark runs it."""


class WronglyRaises(AssertionError):
    """A build or refresh ends in an error of the engine's on rows on which the query has none."""


def judge(case: Case, options: Options, coverage: Coverage, engine: Callable[[], Engine] = OnSpark) -> None:
    """Maintain the view of `case`; as bags and with its columns and types it is what Spark makes of its text.

    Raises `Discarded` where the case cannot be checked. Where the query itself ends in an error on the rows, the refresh may,
    too. Where only the refresh does, on a value, the view is rebuilt, as the product does (IDIVM-417), and that is counted.
    """
    setting: Judge = "not ANSI" if engine is not_ansi else "ANSI"
    with TRIED.trial(Trial(setting, options, case), coverage):
        _judge(case, options, coverage, engine)


def _judge(case: Case, options: Options, coverage: Coverage, engine: Callable[[], Engine]) -> None:
    try:
        world = World(case.tables, case.sql, options, engine)
    except IdivmError as refusal:
        raise Discarded(_justified(case, refusal, engine)) from refusal
    except SparkRefuses as error:  # asked for the types of a cache
        if (found := _refused(case, engine)) is None:
            raise
        raise Discarded(f"Spark says {found.error_class}, the planner nothing") from error
    with world:
        world.fill(case.start)
        try:
            columns = spark_meaning().schema(case.sql)
        except SparkRefuses as error:
            raise Discarded(f"Spark says {error.error_class}, the planner nothing") from error
        if _expected(world) is None:
            raise Discarded("the query ends in an error on the first rows")
        _unraised(case, world.build)
        times = {each.place for each in world.plan.times}  # no part of what is compared (`World.recomputed`)
        compared = [each for place, each in enumerate(columns) if place not in times]
        assert world.types() == compared, "other columns or types"
        coverage.cases += 1
        _compare(world)
        for batch in case.batches:
            if not _refreshed(case, world, batch, coverage):
                return
            _compare(world)


def _refreshed(case: Case, world: World, batch: Content, coverage: Coverage) -> bool:
    """Whether the view was refreshed. It may not be where the query itself ends in an error on the new rows."""
    failure = None
    try:
        diffs = world.change(batch)
        script = world.script(diffs)
        world.apply(script)
        coverage.refresh(world.plan, diffs, script)
        coverage.applied.update(world.applied)
        world.applied.clear()
    except SparkRefuses as error:
        failure = _own(error)
    if _expected(world) is None:
        return False
    if failure is not None:
        if not DATA_EXCEPTION.search(str(failure)):
            raise WronglyRaises(case.sql) from failure
        _unraised(case, world.build)
        coverage.shapes["rebuilt"] += 1
    return True


def _justified(case: Case, refusal: IdivmError, engine: Callable[[], Engine]) -> str:
    """Why a refused case cannot be checked. Fails if the planner reports an error of the user and Spark accepts the text."""
    codes = ", ".join(sorted(set(refusal.codes)))
    error = _refused(case, engine)
    if error is not None:
        return f"Spark says {error.error_class}, the planner {codes}"
    if refusal.is_refusal or set(refusal.codes) <= NO_TABLE:
        return f"the planner says {codes}"
    raise WronglyRefused(f"{case.sql}\n{refusal}")


def _refused(case: Case, engine: Callable[[], Engine]) -> SparkRefuses | None:
    """Spark's error about the user's text; None if it accepts it."""
    world = engine()
    for table in case.tables:
        world.create(table.name, table.columns)
    try:
        spark_meaning().schema(case.sql)
    except SparkRefuses as error:
        return _own(error)
    return None


def _expected(world: World) -> Counter[Row] | None:
    try:
        return world.recomputed()
    except SparkRefuses as error:
        _own(error)
        return None


def _unraised(case: Case, step: Callable[[], None]) -> None:
    try:
        step()
    except SparkRefuses as error:
        raise WronglyRaises(case.sql) from error


# Spark 4.1 cannot rewrite LISTAGG with an order beside two different DISTINCT.
_FAULTS = ("ListAgg.$anonfun$withNewChildrenInternal",)


def _own(error: SparkRefuses) -> SparkRefuses:
    """The error, if it is one of Spark's; what fails inside the engine is no result for the case, unless Spark fails so itself."""
    if not error.own and not any(each in str(error) for each in _FAULTS):
        raise error
    return error


def _compare(world: World) -> None:
    assert world.maintained() == world.recomputed()
    assert not world.wrong_caches()
    if world.plan.hidden:
        assert world.stored() == world.extended(), "hidden columns or operator caches differ"
