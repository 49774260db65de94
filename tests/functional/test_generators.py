"""Generators, PIVOT, UNPIVOT, the ALL of set operations and LIMIT on Spark + Delta, by each way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.project import Project, project_in

KEYS = {"posts": ["id"], "authors": ["aid"]}
VIEWS = {
    "words": "select p.id, a.name, t.place, t.word from $.posts p join $.authors a on a.aid = p.aid "
    "lateral view posexplode(split(p.words, ' ')) t as place, word",
    "counts": "select word, count(*) as n, sum(likes) as likes from $.posts lateral view explode(split(words, ' ')) t as word "
    "group by word",
    "kept": "select id, explode_outer(map_from_arrays(array('likes', 'by'), array(likes, aid))) as (what, number) from $.posts",
    "tall": "select id, what, number from (select id, likes, aid from $.posts) "
    "unpivot (number for what in (likes, aid as author))",
    "wide": "select * from (select aid, words, likes from $.posts) pivot (sum(likes) as s, count(likes) as n for words in "
    "('a b' as ab, 'c' as c))",
    "left_over": "select mark from $.marks except all select words from $.posts",
    "top": "select id, likes from $.posts order by likes desc nulls last, id limit 2",
}


@pytest.fixture
def blog(spark: Any) -> Iterator[Project]:
    with project_in(spark, "generators") as project:
        project.table("authors", "aid int, name string", "(1, 'ann')", "(2, 'bob')")
        project.table(
            "posts",
            "id int, aid int, words string, likes int",
            "(1, 1, 'a b', 5)",
            "(2, 1, 'c', 7)",
            "(3, 2, null, 9)",
            "(4, 2, 'a a', null)",
        )
        project.table("marks", "mark string", "('c')", "('c')", "('a b')", "(null)", "('x')")
        yield project


def maintained(blog: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = blog.created(VIEWS, names, KEYS, strategy)
    # fewer elements, more, the first of a row, other columns, a row with them
    blog.sql(
        "update $.posts set words = 'b' where id = 1",
        "update $.posts set words = 'c d c', likes = 1 where id = 2",
        "update $.posts set words = 'a b' where id = 3",
        "insert into $.posts values (5, 1, 'e a', 2)",
        "insert into $.marks values ('x'), ('b')",
    )
    first = blog.refreshed(views)
    # no elements, a row that goes with them, what no element is made of, an author of several posts
    blog.sql(
        "update $.posts set words = null where id = 2",
        "delete from $.posts where id in (3, 5)",
        "update $.posts set likes = 10 where id = 4",
        "update $.authors set name = 'eve' where aid = 1",
        "delete from $.marks where mark = 'c'",
    )
    return first | blog.refreshed(views)


@pytest.mark.long
def test_elements(blog: Project) -> None:
    assert maintained(blog, ("words", "counts"), "id") <= {"id", "recompute"}


@pytest.mark.long
def test_by_idiffs(blog: Project) -> None:
    assert maintained(blog, tuple(VIEWS), "id") <= {"id", "recompute"}


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["incremental", "tuple", "recompute"])
def test_other_strategies(blog: Project, strategy: str) -> None:
    assert maintained(blog, tuple(VIEWS), strategy).isdisjoint({"full", None})
