"""Keys against a net diff: a change that breaks a declared key is an error, never a wrong view (ADR 0001).

Two post-state rows of one key in the diff itself cost nothing to see. Whether a row that came meets one that was there
already is a read of the table at its new version, restricted to these keys.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.block import hinted, subquery
from dbt_idivm.algebra.expressions import column, conjunction, same
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.types import type_of
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.catalog.invocation import Invocation
from dbt_idivm.refresh.changes.net_diffs import Move, feed_of
from dbt_idivm.refresh.checks.keys import Key
from dbt_idivm.refresh.decide.config import ModelConfig
from dbt_idivm.refresh.engine.client import Engine, Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row
from dbt_idivm.script.key_ranges import add_key_ranges
from dbt_idivm.script.value_range import TEXT

SAMPLE = 100  # so many of the keys that came are looked up under `verify: sample`
_STORED, _CAME = "stored", "came"


def verify_change(engine: Engine, invocation: Invocation, config: ModelConfig, found: Input, key: Key, move: Move,
                  diff: NetDiff) -> Steps[None]:
    """Check a key against the net diff of its table. Raises IDIVM-306."""
    if key.trusted:
        return
    limit = SAMPLE if config.verify == "sample" else None
    came = _came(found, key, move, diff)
    if config.verify == "none" or came == ():
        return
    question = ("key change", move.table, key.columns, move.consumed.version, move.to_version, limit)
    broken = yield from invocation.once(question, lambda: _repeated(engine, found, key, move, (came, limit)))
    if broken is not None:
        raise violation(found, key, move.to_version, broken)


def violation(found: Input, key: Key, version: int, values: tuple[Any, ...]) -> IdivmError:
    example = ", ".join(f"{name} = {value}" for name, value in zip(key.columns, values, strict=True))
    return IdivmError(finding(306, source=found.name, key=", ".join(key.columns), declared=key.declared,
                              version=version, example=example))


def _came(found: Input, key: Key, move: Move, diff: NetDiff) -> tuple[Row, ...] | None:
    """The keys that only post-state rows carry; None if they are in the feed only. Raises where one occurs twice."""
    if isinstance(diff, FeedDiff) or not set(key.columns) <= set(diff.columns):
        return None
    plus, minus = _by_key(diff, key, 1), _by_key(diff, key, -1)
    for values, count in plus.items():
        if count > 1:
            raise violation(found, key, move.to_version, values)
    return tuple(values for values in plus if values not in minus)


def _by_key(diff: InlineDiff, key: Key, sign: int) -> Counter[Row]:
    places = [diff.columns.index(name) for name in key.columns]
    counts: Counter[Row] = Counter()
    for row, weight in diff.rows:
        if weight * sign > 0:
            counts[tuple(row[place] for place in places)] += abs(weight)
    return counts


def _repeated(engine: Engine, found: Input, key: Key, move: Move,
              came: tuple[tuple[Row, ...] | None, int | None]) -> Steps[tuple[Any, ...] | None]:
    """A key that came and occurs more than once in the table at its new version."""
    rows, limit = came
    keys = _changed_keys(key, move) if rows is None else _literal_keys(found, key, rows[:limit])
    if rows is None and limit is not None:
        keys = keys.limit(limit)
    names = [column(name, _STORED) for name in key.columns]
    on = conjunction(same(name, column(alias, _CAME)) for name, alias in zip(names, _aliases(key), strict=True))
    table = exp.alias_(DELTA.table(move.table, move.to_version), _STORED, table=True)
    query = (exp.Select(expressions=names).from_(table)
             .join(exp.Join(this=subquery(keys, _CAME), on=on)).group_by(*(name.copy() for name in names))
             .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))).limit(1))
    query = hinted(query, [_CAME] if rows is not None or feed_of(move).broadcast else [])
    label = f"check new keys ({', '.join(key.columns)}) of {move.table}"
    answer = yield from engine.ask(Statement(DELTA.sql(add_key_ranges(query, _texts(found, key))), "read", label))
    return tuple(answer.rows[0]) if answer.rows else None


def _aliases(key: Key) -> list[str]:
    """Names for the key's columns among those that came: the columns' own may be anything."""
    return [f"k{number}" for number in range(1, len(key.columns) + 1)]


def _texts(found: Input, key: Key) -> frozenset[tuple[str, str]]:
    return frozenset((found.table, a.name) for a in found.facts.columns
                     if a.name in key.columns and type_of(a.type).this in TEXT)


def _literal_keys(found: Input, key: Key, rows: tuple[Row, ...]) -> exp.Select:
    types = {attribute.name: attribute.type for attribute in found.facts.columns}
    return DELTA.rows(tuple(zip(_aliases(key), (types[name] for name in key.columns), strict=True)), rows, "rows")


def _changed_keys(key: Key, move: Move) -> exp.Select:
    signed = DELTA.signed_feed(feed_of(move), tuple(zip(key.columns, _aliases(key), strict=True)), SIGN)
    came = exp.GT(this=column(SIGN), expression=exp.Literal.number(0))
    return (exp.Select(expressions=[column(name) for name in _aliases(key)])
            .from_(subquery(signed, "changes")).where(came).distinct())
