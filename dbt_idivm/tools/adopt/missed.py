"""What the logic of an incremental model misses, as far as the model itself shows it. A maintained model misses nothing of this.

Each rule takes the facts of a model and returns a sentence, or None where it is not clear that something is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from dbt_idivm.errors import listed
from dbt_idivm.tools.adopt.batches import Batches, Bound
from dbt_idivm.tools.adopt.old import INCREMENTAL, Old
from dbt_idivm.tools.adopt.pseudo import sql_of

Rule = Callable[[Old], str | None]
_OVERWRITING = ("insert_overwrite", "microbatch")
_SHOWN = 3
_LONGEST = 80


def missed(old: Old) -> tuple[str, ...]:
    """All that is missed; nothing for a table and a view, which are built from all rows."""
    if old.kind != INCREMENTAL:
        return ()
    return tuple(found for rule in RULES if (found := rule(old)) is not None)


def deletes(old: Old) -> str | None:
    """No strategy that adds and replaces rows removes those whose input rows are gone."""
    if not old.inputs or old.strategy is None or old.strategy in _OVERWRITING or old.config.get("not_matched_by_source_action"):
        return None
    return f"Deleted rows: when a row of {_any_of(old.inputs)} is deleted, what was made of it stays in the table."


def late(old: Old) -> str | None:
    """A bound by the largest value that was loaded leaves out what comes later with a smaller value."""
    found = _clear(old)
    if found is None or found.rereads or old.strategy == "microbatch":
        return None
    bound = found.bounds[0]
    column, whose = sql_of(bound.column), f"a row of `{bound.input}`"
    if bound.kind == "clock":
        return f"Late rows: {whose} that arrives when its `{column}` is already older than the filter allows is never loaded."
    if not bound.exact:
        return f"Late rows: {whose} that arrives when its `{column}` is already below the filter's bound is never loaded."
    smaller = "smaller than" if bound.or_equal else "not larger than"
    return f"Late rows: {whose} that arrives with a `{column}` {smaller} the largest one loaded before is never loaded."


def windows(old: Old) -> str | None:
    """Window functions are evaluated over the rows of the batch."""
    found = _clear(old)
    if found is None or found.rereads:
        return None
    calls = [each for each in found.windows() if not is_latest_of_key(each, old)]
    if not calls:
        return None
    return f"Window functions: {_code(calls[0])} sees the rows of one batch only, not those that were loaded before."


def joined(old: Old) -> str | None:
    """Rows of the other inputs are read for the rows of the batch only."""
    if old.strategy == "microbatch":
        others: tuple[str, ...] = tuple(name for name in old.inputs if name not in old.timed) if old.timed else ()
    else:
        found = _clear(old)
        others = found.joined() if found is not None else ()
    if not others:
        return None
    return (
        f"Changes of what is joined: the filter is on another input. When a row of {_any_of(others)} changes, the rows that "
        "were loaded with it before keep the old values."
    )


def aggregates(old: Old) -> str | None:
    """A group that spans two batches has the rows of the last one only, or a row of each."""
    found = _clear(old)
    if found is None or found.rereads or old.strategy == "microbatch":
        return None
    for scope, bounds in found.groupings():
        keys = _keys(scope.expression)
        if keys and bounds and all(_spans(found, scope, bound, keys) for bound in bounds):
            shown = listed([sql_of(each) for _, each in keys[:_SHOWN]])
            result = "is replaced by what the last batch alone gives" if old.keeps_one_row else "gets a row for each batch"
            return f"Aggregates: a group by {shown} whose rows come in several batches {result}."
    return None


def appended(old: Old) -> str | None:
    """Rows that a second run takes again are added again."""
    if old.strategy not in ("append", "merge") or old.keeps_one_row:
        return None
    how = "the strategy `append` adds rows" if old.strategy == "append" else "`merge` without a `unique_key` adds rows"
    if not old.has_filter:
        return f"Duplicates: {how}, and each run selects all rows: they are added again each time."
    found = _clear(old)
    if found is None or not any(each.or_equal or not each.exact for each in found.bounds):
        return None
    return f"Duplicates: {how}, and the filter takes rows again that were loaded before: they are in the table twice."


def overwritten(old: Old) -> str | None:
    """Only partitions that have rows in the batch are written."""
    if old.strategy != "insert_overwrite" or not old.has_filter:
        return None
    found = _clear(old)
    if not old.partition_by:
        return "Partitions: without `partition_by` each run replaces the whole table by its batch." if found else None
    whole = "a partition without rows in the batch stays as it was, whatever was changed or deleted in its inputs"
    by = {each.lower() for each in old.partition_by}
    cut = [each for each in (found.bounds if found else ()) if _cuts_partitions(each, by)]
    more = f"; and one with rows in it loses those that the filter on `{sql_of(cut[0].column)}` leaves out" if cut else ""
    return f"Partitions: {whole}{more}."


def lookback(old: Old) -> str | None:
    """Microbatch builds the newest batches again."""
    if old.strategy != "microbatch":
        return None
    size = str(old.config.get("batch_size") or "batch")
    given = old.config.get("lookback")
    count = given if isinstance(given, int) else 1
    before = f" and the {count} before it are" if count > 1 else " and the one before it are" if count else " is"
    kept = f"the current {size}{before}"
    return (
        f"Late rows: only {kept} built again. Rows that arrive later for an older {size}, and changes and deletions of "
        "older rows, are missed."
    )


def frozen_columns(old: Old) -> str | None:
    """Columns that a MERGE does not update."""
    if old.strategy != "merge" or not old.unique_key:
        return None
    updated, excluded = old.config.get("merge_update_columns"), old.config.get("merge_exclude_columns")
    if updated:
        return f"Columns: all but {_code_list(updated)} keep the value with which their row came first (`merge_update_columns`)."
    if excluded:
        return f"Columns: {_code_list(excluded)} keep the value with which their row came first (`merge_exclude_columns`)."
    return None


RULES: tuple[Rule, ...] = (deletes, late, joined, aggregates, windows, appended, overwritten, lookback, frozen_columns)


def _clear(old: Old) -> Batches | None:
    return old.batches if old.batches is not None and old.batches.is_clear else None


def is_latest_of_key(window: exp.Window, old: Old) -> bool:
    """Whether rows are numbered within the key by which they are merged: the newest row of a key replaces the stored one."""
    if not old.keeps_one_row or not isinstance(window.this, exp.RowNumber | exp.Rank | exp.DenseRank):
        return False
    parts = [each.name.lower() for each in window.args.get("partition_by") or () if isinstance(each, exp.Column)]
    return sorted(parts) == sorted(map(str.lower, old.unique_key))


def _cuts_partitions(bound: Bound, by: Collection[str]) -> bool:
    """Whether a partition may be on both sides of the bound: it is by the largest value of a column that is none of theirs."""
    is_plain = bound.exact and isinstance(bound.column, exp.Column) and bool(bound.own)
    return is_plain and not {bound.column.name.lower(), str(bound.own).lower()} & set(by)


def _keys(select: exp.Expr) -> list[tuple[str, exp.Expr]]:
    """(name in the result, expression) of what a SELECT groups by; empty if that is not written out."""
    assert isinstance(select, exp.Select)
    group, found = select.args["group"], []
    if any(group.args.get(each) for each in ("all", "grouping_sets", "cube", "rollup", "totals")):
        return []
    for each in group.expressions:
        selected = next((item for item in select.selects if _is_meant(each, item, select)), None)
        if selected is None and isinstance(each, exp.Literal):
            return []
        found.append((selected.alias_or_name.lower() if selected is not None else "", selected.unalias() if selected else each))
    return found


def _is_meant(key: exp.Expr, item: exp.Expr, select: exp.Select) -> bool:
    if isinstance(key, exp.Literal) and not key.is_string:
        return select.selects.index(item) == int(key.name) - 1
    return item.unalias() == key or (isinstance(key, exp.Column) and not key.table and item.alias_or_name == key.name)


def _spans(found: Batches, scope: Scope, bound: Bound, keys: Sequence[tuple[str, exp.Expr]]) -> bool:
    """Whether rows of one group may be on both sides of the bound. Groups by the bound's own column, or by one that the bound
    reads of the stored rows, are in one batch as a whole."""
    column = bound.column.find(exp.Column)
    assert column is not None
    bounded = found.origin(bound.scope, column)

    def is_apart(key: exp.Expr) -> bool:
        origins = [found.origin(scope, each) for each in key.find_all(exp.Column)]
        if not origins or None in origins or key.find(exp.Query) is not None:
            return False
        if bounded not in origins:
            return True
        # max(updated_at) lies inside of the last day that was loaded
        is_by_value = bound.exact and bound.kind == "rows" and isinstance(bound.column, exp.Column) and bool(bound.own)
        return is_by_value and not isinstance(key, exp.Column)

    return all(name != (bound.own or "").lower() and is_apart(key) for name, key in keys)


def _code(node: exp.Expr) -> str:
    text = sql_of(node)
    return f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + ' …'}`"


def _code_list(value: object) -> str:
    found = [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
    return ", ".join(f"`{each}`" for each in found)


def _any_of(names: tuple[str, ...]) -> str:
    """`a`, `b` or `c`"""
    more = len(names) - _SHOWN
    shown = [f"`{each}`" for each in names[:_SHOWN]] + ([f"{more} others"] if more > 0 else [])
    return " or ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
