"""Which rows an incremental run takes as its batch, and what its SELECT does with them.

A batch is made by conditions that compare a column with a value of the model's own rows, such as
`updated_at > (select max(updated_at) from {{ this }})`, or with the time of the run. Nothing is said where that is not clear.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from dbt_idivm.cached import cached_property
from dbt_idivm.tools.adopt.pseudo import OWN_ROWS, Pseudo, conditions, incremental_query, sql_of, where
from dbt_idivm.tools.adopt.template import Piece

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE}
_CLOCK = ("current_date", "curdate", "current_timestamp", "now", "localtimestamp", "getdate")


@dataclass(frozen=True)
class Bound:
    """A condition by which rows are in the batch: `column` is larger than `own`, the largest value of a column of the model's
    rows, or later than a time before the run (`clock`). `exact`: nothing is subtracted from that value. `or_equal`: rows with the
    value itself are in the batch. `input`: whose column it is; None if that is not clear."""

    kind: Literal["rows", "clock"]
    scope: Scope
    column: exp.Expr
    own: str | None
    exact: bool
    or_equal: bool
    input: str | None


class Batches:
    """The incremental run of a model."""

    def __init__(self, found: Pseudo) -> None:
        """Raises SqlglotError if names of relations are ambiguous."""
        self.names, self.always, self.query = found.inputs, found.always, found.query
        self.scopes = [each for each in traverse_scope(found.query) if not _reads_only_own(each)]
        for each in self.scopes:
            _sources(each)

    @classmethod
    def of(cls, text: str, pieces: tuple[Piece, ...]) -> Batches | None:
        """The incremental run of a template; None if its SELECT cannot be read."""
        found = incremental_query(text, pieces)
        with suppress(SqlglotError):
            return cls(found) if found is not None else None
        return None

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        return tuple(bound for scope in self.scopes for bound in self._bounds(scope))

    @cached_property
    def is_clear(self) -> bool:
        """Whether the batch is known: there are bounds, each of one input, and no other conditions that a full build has not."""
        own = sum(1 for scope in self.scopes for _ in self._own_conditions(scope))
        return bool(self.bounds) and all(each.input for each in self.bounds) and own == len(self.bounds)

    @cached_property
    def rereads(self) -> bool:
        """Whether an input is read with the bound and, in another place, without it, or the model's own rows are joined: then the
        run may read again what belongs to the rows of the batch."""
        return any(
            name in {each.input for each in self.bounds}
            for scope in self.scopes
            for source in _sources(scope).values()
            if isinstance(source, exp.Table) and (name := self.input_of(source)) and not self._is_bounded(scope, source)
        ) or any(
            isinstance(source, exp.Table) and source.name == OWN_ROWS
            for scope in self.scopes
            for source in _sources(scope).values()
        )

    def input_of(self, table: exp.Table) -> str | None:
        return self.names.get(table.name)

    def is_batch(self, scope: Scope) -> bool:
        """Whether the rows of a SELECT, before it groups them, are those of the batch."""
        return any(each.scope is scope for each in self.bounds) or any(
            isinstance(source, Scope) and self._is_batch_of(source) for source in _sources(scope).values()
        )

    def joined(self) -> tuple[str, ...]:
        """The inputs that are joined to the batch, or looked up for its rows, and are not part of it."""
        bounded = {each.input for each in self.bounds}
        found: dict[str, None] = {}
        for scope in self.scopes:
            sources = _sources(scope)
            own = [each for each in self.bounds if each.scope is scope]
            taken = {name for each in own for name in [_source_of(scope, each.column)] if name}
            taken |= {name for name, source in sources.items() if isinstance(source, Scope) and self._is_batch_of(source)}
            if not taken:
                continue
            others = [source for name, source in sources.items() if name not in taken]
            for source in [*others, *(each for each in scope.subquery_scopes if not _reads_only_own(each))]:
                found.update(dict.fromkeys(self._inputs(source)))
        return tuple(name for name in found if name not in bounded)

    def windows(self) -> tuple[exp.Window, ...]:
        """The window functions over the rows of the batch."""
        return tuple(each for scope in self.scopes if self.is_batch(scope) for each in scope.find_all(exp.Window))

    def groupings(self) -> tuple[tuple[Scope, tuple[Bound, ...]], ...]:
        """The SELECTs that group rows of the batch, with the bounds of these."""
        return tuple(
            (scope, tuple(self._bounds_below(scope)))
            for scope in self.scopes
            if isinstance(scope.expression, exp.Select) and scope.expression.args.get("group") and self.is_batch(scope)
        )

    def _is_batch_of(self, scope: Scope) -> bool:
        if isinstance(scope.expression, exp.SetOperation):
            return bool(scope.set_operation_scopes) and all(self._is_batch_of(each) for each in scope.set_operation_scopes)
        return self.is_batch(scope)

    def _bounds_below(self, scope: Scope) -> Iterator[Bound]:
        yield from (each for each in self.bounds if each.scope is scope)
        for source in [*_sources(scope).values(), *scope.set_operation_scopes]:
            if isinstance(source, Scope):
                yield from self._bounds_below(source)

    def _inputs(self, source: exp.Expr | Scope) -> Iterator[str]:
        if isinstance(source, exp.Table):
            if name := self.input_of(source):
                yield name
        elif isinstance(source, Scope):
            for each in [*_sources(source).values(), *source.set_operation_scopes, *source.subquery_scopes]:
                yield from self._inputs(each)

    def _is_bounded(self, scope: Scope, table: exp.Table) -> bool:
        return any(each.input == self.input_of(table) for each in self.bounds if _reaches(each.scope, scope))

    def _own_conditions(self, scope: Scope) -> Iterator[exp.Expr]:
        """The conditions that only an incremental run has."""
        yield from self._not_always(conditions(scope.expression))

    def _not_always(self, found: Iterator[exp.Expr]) -> Iterator[exp.Expr]:
        return (each for each in found if sql_of(each) not in self.always)

    def _bounds(self, scope: Scope) -> Iterator[Bound]:
        for each in self._not_always(where(scope.expression)):
            kind = _FLIPPED.get(type(each), type(each))
            if not isinstance(each, exp.Binary) or kind not in (exp.GT, exp.GTE):
                continue
            column, value = (each.left, each.right) if kind is type(each) else (each.right, each.left)
            columns = list(column.find_all(exp.Column))
            if column.find(exp.Query) is not None or len(columns) != 1 or _reads_clock(column):
                continue
            own = [table for table in value.find_all(exp.Table) if table.name == OWN_ROWS]
            largest = value.find(exp.Max)
            if own and largest is not None:
                named = largest.this.name if isinstance(largest.this, exp.Column) else None
                exact = _is_exact(value)
                yield Bound("rows", scope, column, named, exact, kind is exp.GTE, self._input(scope, columns[0]))
            elif not own and _reads_clock(value) and value.find(exp.Query) is None:
                yield Bound("clock", scope, column, None, False, kind is exp.GTE, self._input(scope, columns[0]))

    def origin(self, scope: Scope, column: exp.Column) -> tuple[str, str] | None:
        """The input that a column is read from unchanged, and its name there; None if that is not clear."""
        name = _source_of(scope, column)
        source = _sources(scope).get(name) if name else None
        if isinstance(source, exp.Table):
            read = self.input_of(source)
            return (read, column.name.lower()) if read else None
        if not isinstance(source, Scope) or not isinstance(source.expression, exp.Select):
            return None
        selects = source.expression.selects
        for each in selects:
            if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
                alone = exp.column(column.name, table=each.table if isinstance(each, exp.Column) else None)
                return self.origin(source, alone) if len(selects) == 1 else None
            if each.alias_or_name.lower() == column.name.lower():
                inner = each.unalias()
                return self.origin(source, inner) if isinstance(inner, exp.Column) else None
        return None

    def _input(self, scope: Scope, column: exp.Column) -> str | None:
        found = self.origin(scope, column)
        return found[0] if found else None


def _sources(scope: Scope) -> dict[str, exp.Expr | Scope]:
    """The relations in FROM and JOIN, by their names in the SELECT."""
    return {name: source for name, (_, source) in scope.selected_sources.items()}


def _source_of(scope: Scope, column: exp.Expr) -> str | None:
    """The name of the relation that the one column of an expression belongs to."""
    found = column if isinstance(column, exp.Column) else column.find(exp.Column)
    names = list(_sources(scope))
    if found is None:
        return None
    if found.table:
        return next((name for name in names if name.lower() == found.table.lower()), None)
    return names[0] if len(names) == 1 else None


def _reaches(above: Scope, below: Scope) -> bool:
    return above is below or any(
        _reaches(each, below) for each in [*_sources(above).values(), *above.set_operation_scopes] if isinstance(each, Scope)
    )


def _reads_only_own(scope: Scope) -> bool:
    """Whether a SELECT reads the model's own rows and nothing else: it computes a bound."""
    tables = list(scope.expression.find_all(exp.Table))
    return bool(tables) and all(each.name == OWN_ROWS for each in tables)


def _reads_clock(node: exp.Expr) -> bool:
    """Whether an expression asks for the time of the run; calls without arguments are not read as functions of their own."""
    if node.find(exp.CurrentDate, exp.CurrentTimestamp) is not None:
        return True
    return any(str(each.this).lower() in _CLOCK for each in node.find_all(exp.Anonymous))


def _is_exact(value: exp.Expr) -> bool:
    """Whether it is the largest value itself, if there is one: `(select coalesce(max(x), '1900-01-01') from {{ this }})`."""
    while True:
        if isinstance(value, exp.Paren | exp.Subquery | exp.Coalesce | exp.Cast | exp.Alias):
            value = value.this
        elif isinstance(value, exp.Select):
            if len(value.selects) != 1 or value.args.get("where") is not None:
                return False
            value = value.selects[0]
        else:
            return isinstance(value, exp.Max) and isinstance(value.this, exp.Column)
