"""What `make bench` and `make bench-full` measure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from benchmarks.experiment import Experiment
from benchmarks.workload import Amount

WAYS = ("full", "tuple", "id", "floor")
AGAINST_FULL = ("full", "auto", "floor")
ALL = ("full", "dbt_incremental", "tuple", "id", "auto", "floor")
PERCENTS = (0.001, 0.01, 0.1, 1, 5, 10, 50)
NOTHING = ("nothing", Amount())
# Queries of TPC-H that are maintained; others would be rebuilt in every lane.
MAINTAINED = tuple(f"q{number}" for number in range(1, 23))
# With every table changed these have the largest statements.
LARGEST = ("q5", "q7", "q8", "q9")


def percents(change: str, *amounts: float) -> tuple[tuple[str, Amount], ...]:
    return tuple((change, Amount(percent=each)) for each in amounts)


def rows(change: str, *numbers: int) -> tuple[tuple[str, Amount], ...]:
    return tuple((change, Amount(rows=each)) for each in numbers)


# About twenty minutes on two cores: small sizes, where a refresh is mostly what it costs however little has changed.
BENCH = (
    Experiment("devices_parts", 0.04, percents("prices", 0.1), queries=("view", "total")),
    Experiment("flights", 1, (("day", Amount()),), ("full", "auto")),
    Experiment("append_only", 0.05, percents("appends", 0.1), ("full", "dbt_incremental", "auto", "floor")),
    Experiment("bsma", 0.005, rows("users", 100), ("full", "tuple", "id"), ("q7", "qs2"), parameters={"friends": 10}),
    Experiment("tpch", 0.05, percents("refresh", 0.1), ("full", "tuple", "id"), ("q3", "q6")),
    Experiment("devices_parts", 0.02, percents("prices", 0.01, 1, 50), AGAINST_FULL, ("view",), purpose="changed"),
)


def _sweeps(scale: float) -> tuple[Experiment, ...]:
    """The parameters of idIVM's figure 12, one varied at a time: d, j, s and f."""
    lanes, queries = ("full", "tuple", "id"), ("total",)
    return (
        Experiment("devices_parts", scale, rows("prices", 100, 200, 300, 400, 500), lanes, queries, purpose="diff"),
        Experiment("devices_parts", scale, rows("prices", 200), lanes, tuple(f"joins_{j}" for j in range(2, 7)), purpose="joins"),
        *(
            Experiment(
                "devices_parts", scale, rows("prices", 200), lanes, queries, parameters={"selectivity": s}, purpose="selectivity"
            )
            for s in (6, 12, 25, 50, 100)
        ),
        *(
            Experiment("devices_parts", scale, rows("prices", 200), lanes, queries, parameters={"fanout": f}, purpose="fanout")
            for f in (5, 10, 15, 20, 25)
        ),
    )


FULL = tuple(
    chain(
        [Experiment("devices_parts", 1, (NOTHING, *rows("prices", 1, 200, 1000)), ALL, ("view", "total"))],
        [Experiment("devices_parts", 0.2, percents("prices", *PERCENTS), WAYS, ("view", "total"), purpose="changed")],
        [
            Experiment("devices_parts", scale, rows("prices", 200), WAYS, ("view", "total"), purpose="view_rows")
            for scale in (0.1, 0.2, 0.5, 1)
        ],
        [Experiment("devices_parts", 0.2, (*percents("categories", 0.1), *percents("links", 0.1)), WAYS, ("view", "total"))],
        [Experiment("devices_parts", 0.4, rows("mixed", 200), ("full", "auto", "incremental"), ("view", "total", "left"))],
        _sweeps(0.2),
        [Experiment("bsma", 0.1, rows("users", 100), ALL, parameters={"friends": 20})],
        [
            Experiment("graph", 0.1, rows("tweets", 5000), WAYS, ("q1", "q1_agg")),
            Experiment("graph", 0.1, rows("retweets", 5000), WAYS, ("q2", "q3", "q2_agg", "q3_agg")),
        ],
        [
            Experiment("graph", 0.01, rows("tweets", 500), WAYS, ("fanout",), parameters={"fanout": fanout}, purpose="fanout")
            for fanout in (1, 10, 50, 100)
        ],
        [
            Experiment(
                "graph",
                0.01,
                rows("tweets", 500),
                WAYS,
                tuple(f"followers_{n}" for n in range(1, 4)),
                purpose="joins",
                parameters={"fanout": 5},
            ),
            Experiment(
                "graph",
                0.01,
                rows("followers", 500),
                WAYS,
                tuple(f"retweets_{n}" for n in range(1, 5)),
                purpose="joins",
                parameters={"fanout": 5},
            ),
        ],
        [
            Experiment("tpch", scale, (*percents("refresh", 0.1), *percents("dimensions", 0.1)), lanes, MAINTAINED)
            for scale, lanes in ((1, ("full", "tuple", "id", "auto")), (10, ("full", "auto")))
        ],
        [Experiment("tpch", scale, percents("everything", 0.1), ("full", "incremental"), LARGEST) for scale in (0.01, 1)],
        [
            Experiment("flights", scale, (("day", Amount()), *percents("delays", 0.1), NOTHING), ("full", "id", "auto", "floor"))
            for scale in (1, 10, 100)
        ],
        [Experiment("append_only", 1, (*percents("appends", 0.1), *percents("late", 0.1)), ALL)],
        [Experiment("dbt_graph", scale, ()) for scale in (0.01, 1)],
    )
)

SUITES: Mapping[str, tuple[Experiment, ...]] = {"bench": BENCH, "full": FULL}
