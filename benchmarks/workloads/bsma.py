"""Social media analytics as in section 7.1 of the idIVM paper: BSMA's schema, its queries Q7, Q10, Q11, Q15, Q18, and Q*1 to Q*3.

The paper describes each query in one line (its figure 9b); the SQL here is our reading of it. As in the paper, the queries show
the users' `tweetsnum` and `favornum` and have no LIMIT. In the first five the aggregate does not depend on these two, in the last
three it does. Sizes at scale 1 are the paper's, and it updates 100 users; `friends` is the number of friends of a user.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.workload import Change, Query, Step, Table, Workload

USERS, TWEETS, RETWEETS, MENTIONS, EVENT_TWEETS = 1_000_000, 20_000_000, 4_000_000, 8_000_000, 16_000_000
CITIES, EVENTS, DAYS = 100, 1_000, 365
RANGE = "between date '2024-03-01' and date '2024-06-30'"

Q7 = f"""
select u.uid, u.tweetsnum, u.favornum, c.mentions
from (select m.uid, count(*) as mentions
      from bsma.mentions m join bsma.microblog b on b.mid = m.mid where b.day {RANGE} group by m.uid) c
join bsma.users u on u.uid = c.uid"""

Q10 = f"""
select u.uid, u.tweetsnum, u.favornum, c.retweets
from (select b.uid, count(*) as retweets
      from bsma.retweets r join bsma.microblog b on b.mid = r.mid
      join bsma.friendlist f on f.uid = r.uid and f.friend = b.uid
      where b.day {RANGE} group by b.uid) c
join bsma.users u on u.uid = c.uid"""

Q11 = """
select c.author, a.tweetsnum, a.favornum, c.retweeter, r.tweetsnum as tweetsnum_2, r.favornum as favornum_2, c.retweets
from (select b.uid as author, r.uid as retweeter, count(*) as retweets
      from bsma.retweets r join bsma.microblog b on b.mid = r.mid group by b.uid, r.uid) c
join bsma.users a on a.uid = c.author
join bsma.users r on r.uid = c.retweeter"""

Q15 = f"""
select c.eid, c.uid, u.tweetsnum, u.favornum, c.tweets
from (select e.eid, b.uid, count(*) as tweets
      from bsma.rel_event_microblog e join bsma.microblog b on b.mid = e.mid where b.day {RANGE} group by e.eid, b.uid) c
join bsma.users u on u.uid = c.uid"""

Q18 = """
select c.author, a.tweetsnum, a.favornum, c.mentioned, m.tweetsnum as tweetsnum_2, m.favornum as favornum_2, c.mentions
from (select b.uid as author, m.uid as mentioned, count(*) as mentions
      from bsma.mentions m join bsma.microblog b on b.mid = m.mid group by b.uid, m.uid) c
join bsma.users a on a.uid = c.author
join bsma.users m on m.uid = c.mentioned"""

QS1 = """
select f.uid, sum(o.tweetsnum) as tweetsnum, sum(o.favornum) as favornum, count(*) as friends
from bsma.friendlist f
join bsma.friendlist g on g.uid = f.friend
join bsma.users u on u.uid = f.uid
join bsma.users o on o.uid = g.friend
where o.city = u.city
group by f.uid"""

QS2 = """
select b.uid, sum(u.tweetsnum) as tweetsnum, sum(u.favornum) as favornum, count(*) as retweets
from bsma.retweets r
join bsma.microblog b on b.mid = r.mid
join bsma.users u on u.uid = r.uid
group by b.uid"""

QS3 = """
select e.eid, sum(u.tweetsnum) as tweetsnum, sum(u.favornum) as favornum, count(*) as tweets
from bsma.rel_event_microblog e
join bsma.microblog b on b.mid = e.mid
join bsma.users u on u.uid = b.uid
group by e.eid"""

PAPERS_OWN = {"dbt_incremental": "the groups of an updated user would have to be found by a second query over the same joins"}


def workload(scale: float = 1.0, friends: int = 100) -> Workload:
    return Workload(
        name="bsma",
        tables=_tables(scale, friends),
        queries=(
            _of_users("q7", Q7, ("uid",), "u"),
            _of_users("q10", Q10, ("uid",), "u"),
            _of_users("q11", Q11, ("author", "retweeter"), "a", "r"),
            _of_users("q15", Q15, ("eid", "uid"), "u"),
            _of_users("q18", Q18, ("author", "mentioned"), "a", "m"),
            Query("qs1", QS1, ("uid",), without=PAPERS_OWN),
            Query("qs2", QS2, ("uid",), without=PAPERS_OWN),
            Query("qs3", QS3, ("eid",), without=PAPERS_OWN),
        ),
        changes=(Change("users", "users", users_updated),),
    )


def _tables(scale: float, friends: int) -> tuple[Table, ...]:
    users, tweets = round(USERS * scale), round(TWEETS * scale)
    return (
        Table(
            "users",
            f"""
            select id as uid, concat('user ', id) as name, concat('city ', pmod(xxhash64(id, 1), {CITIES})) as city,
                pmod(xxhash64(id, 2), 5000) as tweetsnum, pmod(xxhash64(id, 3), 900) as favornum, 0 as batch
            from range({users})""",
            ("uid",),
        ),
        # not of oneself, and no friend twice: the strides are below the number of users
        Table(
            "friendlist",
            f"""
            select id div {friends} as uid,
                (id div {friends} + 1 + id % {friends} * {max(1, users // (friends + 1))}) % {users} as friend
            from range({users * friends})""",
            ("uid", "friend"),
        ),
        Table(
            "microblog",
            f"""
            select id as mid, {_popular(users, "id, 4")} as uid,
                date '2024-01-01' + cast(id * {DAYS} div {tweets} as int) as day
            from range({tweets})""",
            ("mid",),
        ),
        Table(
            "retweets",
            f"""
            select id as rid, {_popular(tweets, "id, 5")} as mid, {_popular(users, "id, 6")} as uid
            from range({round(RETWEETS * scale)})""",
            ("rid",),
        ),
        Table(
            "mentions",
            f"""
            select id, pmod(xxhash64(id, 7), {tweets}) as mid, {_popular(users, "id, 8")} as uid
            from range({round(MENTIONS * scale)})""",
            ("id",),
        ),
        Table(
            "rel_event_microblog",
            f"""
            select id, {_popular(EVENTS, "id, 9")} as eid, pmod(xxhash64(id, 10), {tweets}) as mid
            from range({round(EVENT_TWEETS * scale)})""",
            ("id",),
        ),
    )


def _of_users(name: str, sql: str, key: tuple[str, ...], *users: str) -> Query:
    """A view whose rows show users: by hand, those of the batch's users are computed again."""
    changed = " or ".join(f"{user}.batch = $batch" for user in users)
    same = " and ".join(f"v.{column} = n.{column}" for column in key)
    merge = f"merge into $lane.{name} v\nusing ({sql}\nwhere {changed}) n on {same}\nwhen matched then update set *"
    return Query(name, sql, key, merge=merge, merge_for=("users",))


def _popular(number: int, seed: str) -> str:
    """One of `number`, the small ones more often than the large ones."""
    return f"cast(floor({number} * pow(pmod(xxhash64({seed}), 1000000) / 1000000, 2)) as bigint)"


def users_updated(step: Step) -> Sequence[str]:
    return (
        f"""update bsma.users set tweetsnum = tweetsnum + 1, favornum = favornum + 2, batch = {step.number}
                where pmod(uid + {step.number * 31}, {step.every}) = 0""",
    )
