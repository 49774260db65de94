"""`idivm adopt`: the text of a model that a build of the whole table takes."""

from __future__ import annotations

import random
import re
from itertools import accumulate
from typing import Any

import pytest
from jinja2 import Environment

from dbt_idivm.tools.adopt.edits import Edit, edited
from dbt_idivm.tools.adopt.strip import Stripped, stripped
from dbt_idivm.tools.adopt.template import TemplateError, template

ENVIRONMENT = Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])


def strip(text: str) -> tuple[str, Stripped]:
    found = stripped(text, template(text))
    return edited(text, found.edits), found


def rendered(text: str, dev: bool = False) -> list[str]:
    """The words and signs of a full build, as jinja2 itself renders it."""
    values: dict[str, Any] = {
        "is_incremental": lambda: False,
        "should_full_refresh": lambda: True,
        "flags": {"FULL_REFRESH": True},
        "var": lambda name, default=None: True if name == "full_refresh" else default,
        "target": {"name": "dev" if dev else "prod"},
        "this": "THIS",
        "ref": lambda name: name,
        "config": lambda **settings: "",
        "run_query": lambda query: query,
        "execute": True,
    }
    found = ENVIRONMENT.from_string(text).render(values)
    return re.findall(r"\w+|[^\w\s]", found)


FORMS = {
    "where": (
        "select id, updated_at from {{ ref('orders') }}\n"
        "{% if is_incremental() %}\n"
        "  -- only what is new\n"
        "  where updated_at > (select max(updated_at) from {{ this }})\n"
        "{% endif %}\n",
        "select id, updated_at from {{ ref('orders') }}\n",
    ),
    "and, with whitespace control": (
        "select *\nfrom {{ ref('events') }}\nwhere kind = 'view'\n"
        "{%- if is_incremental() %}\n  and ts >= (select coalesce(max(ts), '1900-01-01') from {{ this }})\n{%- endif -%}\n"
        "order by 1\n",
        "select *\nfrom {{ ref('events') }}\nwhere kind = 'view'\norder by 1\n",
    ),
    "on one line": (
        "select * from {{ ref('a') }} {% if is_incremental() %}where x > (select max(x) from {{ this }}){% endif %} limit 5\n",
        "select * from {{ ref('a') }}  limit 5\n",
    ),
    "else": (
        "select *\n  {% if is_incremental() %}\n  , 'new' as how\n  {% else %}\n  , 'all' as how\n  {% endif %}\nfrom {{ ref('a') }}\n",
        "select *\n  , 'all' as how\nfrom {{ ref('a') }}\n",
    ),
    "not": (
        "{% if not is_incremental() %}\nselect * from {{ ref('history') }} union all\n{% endif %}\nselect * from {{ ref('a') }}\n",
        "select * from {{ ref('history') }} union all\nselect * from {{ ref('a') }}\n",
    ),
    "elif": (
        "select * from {{ ref('a') }}\n{% if is_incremental() %}\nwhere x > 1\n{% elif target.name == 'dev' %}\nwhere x > 2\n"
        "{% else %}\nwhere x > 3\n{% endif %}\n",
        "select * from {{ ref('a') }}\n{% if target.name == 'dev' %}\nwhere x > 2\n{% else %}\nwhere x > 3\n{% endif %}\n",
    ),
    "elif in the middle": (
        "{% if target.name == 'dev' %}\na\n{%- elif is_incremental() and target.name == 'ci' %}\nb\n{% else %}\nc\n{% endif %}\n",
        "{% if target.name == 'dev' %}\na\n{%- else %}\nc\n{% endif %}\n",
    ),
    "elif that is always taken": (
        "{% if target.name == 'dev' %}\na\n{% elif not is_incremental() %}\nb\n{% elif target.name == 'x' %}\nc\n{% endif %}\n",
        "{% if target.name == 'dev' %}\na\n{% else %}\nb\n{% endif %}\n",
    ),
    "nested": (
        "select 1\n{% if target.name != 'dev' %}\n  {% if is_incremental() %}\n    {% if var('late', 3) %} x {% endif %}\n  {% endif %}\n"
        "  from a\n{% endif %}\n",
        "select 1\n{% if target.name != 'dev' %}\n  from a\n{% endif %}\n",
    ),
    "nothing but that": (
        "select 1\n{% if target.name != 'dev' %}\n  {% if is_incremental() %}\n  where x\n  {% endif %}\n{% endif %}\n",
        "select 1\n",
    ),
    "the flag": (
        "select 1\n{% if not flags.FULL_REFRESH %}\nwhere x > (select max(x) from {{ this }})\n{% endif %}\n",
        "select 1\n",
    ),
    "the flag and a relation": (
        "select 1\n{% if load_relation(this) is not none and not flags.FULL_REFRESH %}\nwhere x\n{% endif %}\n",
        "select 1\n",
    ),
    "a variable of the project": (
        "select 1\n{% if is_incremental() and not var('full_refresh', false) %}\nwhere x\n{% endif %}\n",
        "select 1\n",
    ),
    "a variable instead of the flag": (
        "select 1\n{% if var('full_refresh', false) == false %}\nwhere x > (select max(x) from {{ this }})\n{% endif %}\n",
        "select 1\n",
    ),
    "should_full_refresh": (
        "select 1\n{% if should_full_refresh() %}\n-- all\n{% else %}\nwhere x\n{% endif %}\n",
        "select 1\n-- all\n",
    ),
    "set before": (
        "{% set newest %}\n  select max(ts) from {{ this }}\n{% endset %}\n"
        "{%- set days = 3 -%}\n\nselect 1\n{% if is_incremental() %}\nwhere ts > ({{ newest }}) - {{ days }}\n{% endif %}\n",
        "{%- set days = 3 -%}\n\nselect 1\n",
    ),
    "set by a query": (
        "{% set query = 'select max(ts) from ' ~ this %}\n{% if execute %}\n{% set newest = run_query(query) %}\n{% endif %}\n"
        "select 1\n{% if is_incremental() %}\nwhere ts > '{{ newest }}'\n{% endif %}\n",
        "select 1\n",
    ),
    "a name for it": (
        "{% set late = is_incremental() and not flags.FULL_REFRESH %}\nselect 1\n{% if late %}\nwhere x\n{% else %}\nwhere y\n{% endif %}\n",
        "select 1\nwhere y\n",
    ),
    "inside an output": (
        "select 1 from {{ ref('small') if is_incremental() else ref('large') }} {{ 'where x' if is_incremental() }}\n",
        "select 1 from {{ ref('large') }} \n",
    ),
    "a comment": (
        "{# is_incremental() and {{ this }} are not used #}\nselect 1 -- not {{ this }}\n",
        "{# is_incremental() and {{ this }} are not used #}\nselect 1 -- not {{ this }}\n",
    ),
    "raw": ("select '{% raw %}{% if is_incremental() %}{% endraw %}' as t\n", None),
    "a loop": (
        "select\n{% for x in ['a', 'b'] %}\n  {{ x }},\n  {% if is_incremental() %}\n  9 as new_{{ x }},\n  {% endif %}\n{% endfor %}\n  1\n",
        "select\n{% for x in ['a', 'b'] %}\n  {{ x }},\n{% endfor %}\n  1\n",
    ),
    "two blocks": (
        "with a as (\n  select * from {{ ref('a') }}\n  {% if is_incremental() %}\n  where x\n  {% endif %}\n)\n\n"
        "{% if is_incremental() %}\n, old as (select * from {{ this }})\n{% endif %}\n\nselect * from a\n",
        "with a as (\n  select * from {{ ref('a') }}\n)\n\nselect * from a\n",
    ),
    "qualified": ("select 1\n{% if dbt.is_incremental() %}\nwhere x\n{% endif %}\n", "select 1\n"),
    "no line break at the end": ("select 1\n{% if is_incremental() %}where x{% endif %}", "select 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms_in_which_people_write_it(name: str) -> None:
    before, after = FORMS[name]
    found, about = strip(before)
    assert about.obstacles == ()
    assert found == (before if after is None else after)


@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize(
    "name", [name for name in FORMS if "load_relation" not in FORMS[name][0] and "dbt." not in FORMS[name][0]]
)
def test_a_full_build_renders_the_same_words(name: str, dev: bool) -> None:
    before, _ = FORMS[name]
    assert rendered(strip(before)[0], dev) == rendered(before, dev)


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("select 1\nwhere x > (select max(x) from {{ this }})", 2, "reads its own rows"),
        ("select 1\nfrom {{ this.schema }}.other", 2, "reads its own rows"),
        ("{% set m = run_query('select 1 from ' ~ this) %}\nselect {{ m }}", 1, "reads its own rows"),
        ("select 1\n{% if is_incremental %}\nwhere x\n{% endif %}", 2, "is not called, so it is always true"),
        (
            "select 1\n\n{% if flags.FULL_REFRESH and target.name == 'dev' %}x{% endif %}",
            3,
            "depends on more than the kind of the run",
        ),
        (
            "{% if target.name == 'dev' %}\n{% if is_incremental() %}a{% endif %}\n{{ this }}\n{% endif %}",
            3,
            "reads its own rows",
        ),
    ],
)
def test_what_cannot_be_taken_apart_is_said_with_its_line(text: str, line: int, problem: str) -> None:
    _, about = strip(text)
    assert [each.line for each in about.obstacles] == [line]
    assert problem in about.obstacles[0].problem and about.obstacles[0].do


@pytest.mark.parametrize(
    "text, expected",
    [
        ("col_{%- if is_incremental() -%} new {%- else -%} all {%- endif -%} _x", "col_all_x"),
        ("a\n{%- if is_incremental() -%} new {%- endif %}\nb", "a\nb"),
        # `-` of the tag before would take the blanks that were after the block
        (
            "{% for x in [1] -%} a {%- endfor -%}\n{% if is_incremental() %} x {% endif %}\nb",
            "{% for x in [1] -%} a {%- endfor %}\nb",
        ),
        ("a\n{% if is_incremental() %} x {% endif %}\n{{- 'b' }}", "a\n{{ 'b' }}"),
        ("a {% if is_incremental() %}{% endif -%} {{- 'b' }}", "a  {{ 'b' }}"),
    ],
)
def test_blanks_that_tags_remove(text: str, expected: str) -> None:
    found, _ = strip(text)
    assert found == expected and rendered(found) == rendered(text)


def test_what_stays_of_an_output_counts() -> None:
    found, about = strip("select 1 from {{ this if is_incremental() else ref('all') }} where {{ 'x' if not is_incremental() }}")
    assert found == "select 1 from {{ ref('all') }} where {{ 'x' }}" and (about.obstacles, about.notes) == ((), ())


def test_a_condition_that_asks_something_else_too_may_stay() -> None:
    """dbt's is_incremental() is false for a model of another kind."""
    text = "select 1\n{% if is_incremental() or target.name == 'ci' %}\nlimit 10\n{% endif %}\n"
    found, about = strip(text)
    assert found == text and about.obstacles == ()
    assert about.notes == (
        "line 2: `is_incremental() or target.name == 'ci'` stays: is_incremental() is false in an idivm model",
    )


def test_a_variable_that_is_still_used_stays() -> None:
    text = "{% set late = is_incremental() %}\nselect {{ late | int }}\n{% if late %}\nwhere x\n{% endif %}\n"
    found, about = strip(text)
    assert found == "{% set late = is_incremental() %}\nselect {{ late | int }}\n" and about.obstacles == ()


def test_a_variable_that_is_set_twice_is_not_known() -> None:
    text = "{% set late = is_incremental() %}\n{% set late = target.name == 'dev' %}\n{% if late %}\nwhere x\n{% endif %}\n"
    found, _ = strip(text)
    assert "where x" in found


@pytest.mark.parametrize(
    "text, line",
    [
        ("select 1\n{% if is_incremental() %}", 2),
        ("select 1\n\n{% endif %}", 3),
        ("{% for x in y %}{% else %}", 1),
        ("{{ 'open }}", 1),
        ("{% if x %}{% else %}{% elif y %}{% endif %}", 1),
    ],
)
def test_a_text_that_is_no_template(text: str, line: int) -> None:
    with pytest.raises(TemplateError) as error:
        template(text)
    assert error.value.line == line


def test_the_pieces_are_the_text() -> None:
    text = "a  {%- if x -%}\n  b {# c #}{% raw %}{{ d }}{% endraw %} {{- e }}\n\n{% endif %}\n\n"
    places = [place for piece in template(text) for place in (piece.start, piece.end)]
    assert places[0] == 0 and places[-1] == len(text)
    assert all(end == start for end, start in zip(places[1:-1:2], places[2::2], strict=True))


def test_edits() -> None:
    assert edited("a b c", [Edit(2, 3, "x"), Edit(2, 2)]) == "a x c"
    assert edited("a\n\n b \n\nc\n", [Edit(4, 5)]) == "a\n\nc\n"
    assert edited("a\n b c\n", [Edit(3, 4)]) == "a\n  c\n"


CONDITIONS = (
    "is_incremental()",
    "not is_incremental()",
    "is_incremental() and target.name == 'dev'",
    "target.name == 'dev'",
    "not flags.FULL_REFRESH",
    "is_incremental() and not var('full_refresh', false)",
    "target.name == 'dev' or not is_incremental()",
    "is_incremental() or target.name == 'dev'",
    "late",
)


def drawn(chance: random.Random, depth: int, words: list[int]) -> str:
    """A random template: texts, conditionals with branches, loops."""
    found = []
    for _ in range(chance.randint(1, 3)):
        words[0] += 1
        blank = chance.choice([" ", "\n", "\n  ", "\n\n"])
        if depth == 0 or chance.random() < 0.4:
            found.append(f"{blank}w{words[0]}{chance.choice([' ', chr(10)])}")
            continue
        left, right = chance.choice(["{%", "{%-"]), chance.choice(["%}", "-%}"])
        if chance.random() < 0.15:
            found.append(f"{blank}{left} for i in [1, 2] {right} {drawn(chance, depth - 1, words)} {left} endfor {right} ")
            continue
        text = f"{blank}{left} if {chance.choice(CONDITIONS)} {right} {drawn(chance, depth - 1, words)} "
        for _ in range(chance.choice([0, 0, 1, 2])):
            text += f"{left} elif {chance.choice(CONDITIONS)} {right} {drawn(chance, depth - 1, words)} "
        if chance.random() < 0.5:
            text += f"{left} else {right} {drawn(chance, depth - 1, words)} "
        found.append(f"{text}{left} endif {right} ")
    return "".join(found)


def ends(words: list[str]) -> set[int]:
    """Where the words end, without blanks."""
    return set(accumulate(map(len, words)))


def test_random_templates_render_the_same_words() -> None:
    """Blanks that separate words in a full build separate them in the new text."""
    chance, compared = random.Random(20261130), 0
    for _ in range(50):
        text = "{% set late = is_incremental() %}" + drawn(chance, 2, [0])
        found, about = strip(text)
        if about.obstacles:
            continue
        compared += 1
        for dev in (False, True):
            ours, theirs = rendered(found, dev), rendered(text, dev)
            is_same = "".join(ours) == "".join(theirs) and ends(ours) >= ends(theirs)
            assert is_same, text
        assert strip(found)[0] == found, text
    assert compared > 30
