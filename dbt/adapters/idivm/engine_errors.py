"""What the engine's exceptions say: Spark's error class and its message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dbt_idivm.refresh.protocol import EngineError

# `[DELTA_MISSING_CHANGE_DATA] Error getting change data ..`, `[A.B] ..`, also behind a Java class name.
BRACKETED = re.compile(r"\[([A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)?)\]")

# Before the message: a Java class, and over Thrift two of them, with the error class between.
JAVA_CLASSES = re.compile(r"^(?:(?:[\w.]+Exception: )?Error running query: \[[A-Z0-9_.]+\] )?"
                          r"(?:\w+\.)+\w+(?:Exception|Error):\s+(?=\[)")
STACK_TRACE = re.compile(r"\n\s*at \w+(?:\.\w+)+[.$]|\nJVM stacktrace:")


def is_engine_exception(error: BaseException | None) -> bool:
    """Does it come from pyspark or py4j? Told by the module, because neither need be installed."""
    return error is not None and type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def engine_message(error: BaseException | None) -> str:
    """The message, without the names of Java classes before it and the stack trace after it."""
    return JAVA_CLASSES.sub("", STACK_TRACE.split(_text(error), maxsplit=1)[0].strip())


def has_stack_trace(error: BaseException | None) -> bool:
    return STACK_TRACE.search(_text(error)) is not None


def _text(error: Any) -> str:
    """All that it says; a dbt exception has it in `msg`, without indentation."""
    java = getattr(error, "java_exception", None)
    return str(java.toString() if java is not None else getattr(error, "msg", None) or error)


def engine_error(error: BaseException) -> EngineError:
    """An exception, or anything that it was raised from, as a coded error for the refresh driver."""
    for cause in _chain(error):
        condition = _condition(cause)
        if condition:
            return EngineError(condition, engine_message(cause))
    message = engine_message(error)
    found = BRACKETED.search(message)
    return EngineError(found[1] if found else "", message)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _condition(error: Any) -> str:
    for name in ("getCondition", "getErrorClass"):
        method = getattr(error, name, None)
        if method is not None:
            return method() or ""
    return ""
