"""Answer the questions that come up while a model is planned, by statements."""

from __future__ import annotations

from typing import Any

from dbt_idivm.definition.questions import Asks, ColumnsOf, FunctionNamed, Question, T, UnsupportedTypes
from dbt_idivm.refresh.catalog.user_functions import describe_function
from dbt_idivm.refresh.checks.unsupported_types import unsupported_types
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


def answered(client: Client, asks: Asks[T]) -> Steps[T]:
    """The result of what asks. Raises what it raises, and the failure of a statement that it does not handle."""
    try:
        question = next(asks)
        while True:
            try:
                answer = yield from _answer(client, question)
            except EngineFailure as failure:
                question = asks.throw(failure)
            else:
                question = asks.send(answer)
    except StopIteration as stop:
        found: T = stop.value
        return found


def _answer(client: Client, question: Question[Any]) -> Steps[Any]:
    match question:
        case ColumnsOf(sql, what):
            return (yield from client.columns(sql, what))
        case FunctionNamed(name):
            return (yield from describe_function(client, name))
        case UnsupportedTypes(scans):
            return (yield from unsupported_types(client, scans))
    raise TypeError(f"there is no answer to {question}")
