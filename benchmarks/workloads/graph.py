"""Chapter 9 of the GraphIVM thesis: a graph of followers, tweets that are inserted, and joins of growing length and fanout.

Its tables of queries are figures, so the SQL is made from the text: Q1 and Q2 have one join, Q3 has two, and each has an
aggregated form; QFanout is Q1 for users with `fanout` followers each; a join chain has n copies of `follower` or of `retweet`. At
scale 1 the sizes are those of the large data set.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.workload import Change, Query, Step, Table, Workload

USERS, FOLLOWERS_EACH, TWEETS, RETWEETS = 1_000_000, 11, 6_000_000, 7_000_000
CHAIN = 4
THESIS = {"dbt_incremental": "as in the thesis, only propagation is compared"}

Q1 = """
select t.tweet_id, t.user_id, f.follower_id, t.day
from graph.tweet t
join graph.follower f on f.user_id = t.user_id"""

Q2 = """
select r.retweet_id, r.user_id, t.tweet_id, t.user_id as author, t.day
from graph.retweet r
join graph.tweet t on t.tweet_id = r.tweet_id"""

Q3 = """
select r.retweet_id, r.user_id, f.follower_id, t.tweet_id, t.user_id as author
from graph.retweet r
join graph.tweet t on t.tweet_id = r.tweet_id
join graph.follower f on f.user_id = r.user_id"""

Q1_AGG = (
    "select f.follower_id, count(*) as tweets\nfrom graph.tweet t\njoin graph.follower f on f.user_id = t.user_id\n"
    "group by f.follower_id"
)
Q2_AGG = (
    "select t.user_id, count(*) as retweets\nfrom graph.retweet r\njoin graph.tweet t on t.tweet_id = r.tweet_id\n"
    "group by t.user_id"
)
Q3_AGG = (
    "select f.follower_id, count(*) as retweets\nfrom graph.retweet r\njoin graph.tweet t on t.tweet_id = r.tweet_id\n"
    "join graph.follower f on f.user_id = r.user_id\ngroup by f.follower_id"
)


def workload(scale: float = 1.0, fanout: int = FOLLOWERS_EACH) -> Workload:
    users, tweets, retweets = (round(number * scale) for number in (USERS, TWEETS, RETWEETS))
    return Workload(
        name="graph",
        tables=(
            Table(
                "follower",
                f"""
                select id div {fanout} as user_id,
                    (id div {fanout} + 1 + id % {fanout} * {max(1, users // (fanout + 1))}) % {users} as follower_id
                from range({users * fanout})""",
                ("user_id", "follower_id"),
            ),
            Table("tweet", f"{_tweet('id', users, 0)} from range({tweets})", ("tweet_id",)),
            Table("retweet", f"{_retweet('id', users, tweets)} from range({retweets})", ("retweet_id",)),
        ),
        queries=(
            _query("q1", Q1, "tweet_id", "follower_id"),
            _query("q2", Q2, "retweet_id"),
            _query("q3", Q3, "retweet_id", "follower_id"),
            _query("q1_agg", Q1_AGG, "follower_id"),
            _query("q2_agg", Q2_AGG, "user_id"),
            _query("q3_agg", Q3_AGG, "follower_id"),
            _query("fanout", Q1, "tweet_id", "follower_id"),
            *(
                _query(f"followers_{n}", _followers(n), "tweet_id", *(f"follower_{k}" for k in range(1, n + 1)))
                for n in range(1, CHAIN + 1)
            ),
            *(
                _query(f"retweets_{n}", _retweets(n), "follower_id", "tweet_id", *(f"retweet_{k}" for k in range(1, n + 1)))
                for n in range(1, CHAIN + 1)
            ),
        ),
        changes=(
            Change("tweets", "tweet", lambda step: tweets_inserted(step, users)),
            Change("corrections", "tweet", corrections),
            Change("retweets", "retweet", lambda step: retweets_inserted(step, users, tweets)),
            Change("followers", "follower", lambda step: followers_inserted(step, users)),
        ),
    )


def _query(name: str, sql: str, *key: str) -> Query:
    return Query(name, sql, key, without=THESIS)


def _followers(length: int) -> str:
    """A tweet, and those whom it reaches over so many followers of followers."""
    shown = ", ".join(f"f{n}.follower_id as follower_{n}" for n in range(1, length + 1))
    joins = "".join(
        f"\njoin graph.follower f{n} on f{n}.user_id = {f'f{n - 1}.follower_id' if n > 1 else 't.user_id'}"
        for n in range(1, length + 1)
    )
    return f"select t.tweet_id, {shown}\nfrom graph.tweet t{joins}"


def _retweets(length: int) -> str:
    """A follower of an author, and retweets of retweets: a retweet is found as a tweet by its own number."""
    shown = ", ".join(f"r{n}.retweet_id as retweet_{n}" for n in range(1, length + 1))
    joins = "".join(
        f"\njoin graph.retweet r{n} on r{n}.tweet_id = {f'r{n - 1}.retweet_id' if n > 1 else 't.tweet_id'}"
        for n in range(1, length + 1)
    )
    return f"select f.follower_id, t.tweet_id, {shown}\nfrom graph.follower f\njoin graph.tweet t on t.user_id = f.user_id{joins}"


def _tweet(number: str, users: int, day: int) -> str:
    return f"select {number} as tweet_id, pmod(xxhash64({number}, 1), {users}) as user_id, date '2015-01-01' + {day} as day"


def _retweet(number: str, users: int, tweets: int) -> str:
    return (
        f"select {number} as retweet_id, pmod(xxhash64({number}, 2), {users}) as user_id, "
        f"pmod(xxhash64({number}, 3), {tweets}) as tweet_id"
    )


def tweets_inserted(step: Step, users: int) -> Sequence[str]:
    number = f"{step.number} * 1000000000000 + id"
    return (f"insert into graph.tweet {_tweet(number, users, step.number)} from range({step.rows})",)


def corrections(step: Step) -> Sequence[str]:
    """Tweets all over the table are given another day: for each of their followers a row of a join with them changes."""
    return (
        f"update graph.tweet set day = date_add(day, {step.number}) where tweet_id % {step.every} = {step.number} % {step.every}",
    )


def retweets_inserted(step: Step, users: int, tweets: int) -> Sequence[str]:
    number = f"{step.number} * 1000000000000 + id"
    return (f"insert into graph.retweet {_retweet(number, users, tweets)} from range({step.rows})",)


def followers_inserted(step: Step, users: int) -> Sequence[str]:
    """New followers, spread over the users."""
    return (
        f"""insert into graph.follower
                select pmod(id * 31, {users}) as user_id, {step.number} * 1000000000000 + id as follower_id
                from range({step.rows})""",
    )
