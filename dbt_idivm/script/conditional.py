"""Ask, then apply: an application whose statement depends on stored rows, which a query finds first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.source_rows import SourceQuery, SourceRows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Application, Change, Shape


class Question(ABC):
    """What an application has to know of the stored view, and what it does with the answer."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The CTE that gets the rows of the answer, and what they are."""

    @property
    @abstractmethod
    def perhaps(self) -> tuple[Relation, ...]:
        """The relations that are evaluated only if the answer requires it."""

    @abstractmethod
    def query(self, view: Stored, binder: StatementBinder, target: str) -> SourceQuery:
        """The query for the answer."""

    @abstractmethod
    def applied(self, rows: SourceRows) -> Application:
        """The application for this answer."""


@dataclass(frozen=True, kw_only=True)
class Conditional(Application):
    """An application that needs the answer to `question` before its statement can be made.

    `otherwise` is for an answer that is too large, or cannot be inlined. `shown` is one for an answer that is not known yet: it
    is printed, and estimated together with `perhaps`.
    """

    question: Question
    shown: Application
    otherwise: Application

    def answered(self, rows: SourceRows | None) -> Application:
        """The application for this answer. None: the answer is too large, or cannot be inlined."""
        return self.otherwise if rows is None else self.question.applied(rows)

    @property
    def shape(self) -> Shape:
        return self.shown.shape

    @property
    def relations(self) -> tuple[Relation, ...]:
        return self.shown.relations

    @property
    def perhaps(self) -> tuple[Relation, ...]:
        return self.question.perhaps

    @property
    def reads_view(self) -> bool:
        return True

    @property
    def assigned(self) -> frozenset[str]:
        return self.shown.assigned

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Change:
        return self.shown.statement(view, binder, target)
