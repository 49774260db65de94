"""Reading the engine's exceptions: Spark's error class and the message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeGuard

from dbt_idivm.refresh.protocol import EngineError

# `[DELTA_MISSING_CHANGE_DATA] Error getting change data ..`, `[A.B] ..`, also after a Java class name.
BRACKETED = re.compile(r"\[([A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)?)\]")

# The prefix of a message: a Java class; over Thrift two of them, with the error class in between.
JAVA_CLASSES = re.compile(
    r"^(?:(?:[\w.]+Exception: )?Error running query: \[[A-Z0-9_.]+\] )?"
    r"(?:\w+\.)+\w+(?:Exception|Error):\s+(?=\[)"
)
# The causes of an error, as text after the stack trace.
CAUSED_BY = re.compile(
    r"^Caused by: (?:\w+\.)+[\w$]+: (?=\[)(.*?)(?=\n\s*at \w|\n\s*\.\.\. |\nCaused by: |\Z)", re.MULTILINE | re.DOTALL
)
# The exception of raise_error() in a task of Spark 3.5. Newer versions have an error class for it, and show a SQLSTATE with every
# error.
RAISED = re.compile(
    r"^Caused by: java\.lang\.RuntimeException: ((?!\[).*?)(?=\n\s*at \w|\n\s*\.\.\. |\nCaused by: |\Z)", re.MULTILINE | re.DOTALL
)
STATE = "SQLSTATE"
# The error classes with a SQLSTATE of class 22 that data can cause. Spark 3.5 does not show the state.
OF_DATA = frozenset(
    (
        "ARITHMETIC_OVERFLOW",
        "BINARY_ARITHMETIC_OVERFLOW",
        "CANNOT_DECODE_URL",
        "CANNOT_PARSE_DECIMAL",
        "CANNOT_PARSE_JSON_FIELD",
        "CANNOT_PARSE_TIMESTAMP",
        "CAST_INVALID_INPUT",
        "CAST_OVERFLOW",
        "CONVERSION_INVALID_INPUT",
        "DATETIME_OVERFLOW",
        "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
        "DIVIDE_BY_ZERO",
        "INTERVAL_ARITHMETIC_OVERFLOW",
        "INTERVAL_DIVIDED_BY_ZERO",
        "INVALID_ARRAY_INDEX",
        "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
        "INVALID_BITMAP_POSITION",
        "INVALID_FRACTION_OF_SECOND",
        "INVALID_INDEX_OF_ZERO",
        "INVALID_JSON_ROOT_FIELD",
        "INVALID_PARAMETER_VALUE",
        "MALFORMED_RECORD_IN_PARSING",
        "NULL_MAP_KEY",
        "NUMERIC_OUT_OF_SUPPORTED_RANGE",
        "NUMERIC_VALUE_OUT_OF_RANGE",
        "SECOND_FUNCTION_ARGUMENT_NOT_INTEGER",
        "USER_RAISED_EXCEPTION",
    )
)
# A syntax error shows the statement from its beginning, where dbt inserts its comment.
QUERY_COMMENT = re.compile(r"(== SQL[^\n]*==\s*)/\*.*?\*/\s*", re.DOTALL)
# Errors that have no class of their own in older versions of Spark and Delta, with their class in newer versions.
_NAMED_LATER = tuple(
    (re.compile(text, re.MULTILINE), name)
    for text, name in (
        (
            r"(?:Lost task [^\n]*|^Caused by): java\.lang\.RuntimeException: ",
            "USER_RAISED_EXCEPTION",
        ),  # of raise_error(): Spark 3.5
        (r"\[_LEGACY_ERROR_TEMP_1013\]", "EXPECT_TABLE_NOT_VIEW"),  # DESCRIBE HISTORY of a view: Spark 3.5
        (r"\[_LEGACY_ERROR_TEMP_1113\]", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),  # Spark 3.5
        (r"\.VersionNotFoundException: ", "DELTA_VERSION_NOT_FOUND"),  # Delta 3.3
        (
            r"IllegalArgumentException: Provided Start version\(\d+\) for reading change data",  # Delta before 4.2
            "DELTA_CDC_START_VERSION_AFTER_LATEST",
        ),
    )
)
# Error classes that name the place where a statement failed instead of the cause.
_WRAPPERS = ("", "TASK_WRITE_FAILED")
STACK_TRACE = re.compile(r"\n\s*at \w+(?:\.\w+)+[.$]|\nJVM stacktrace:")


def is_engine_exception(error: BaseException | None) -> TypeGuard[BaseException]:
    """Whether this is an exception of pyspark or py4j. It is recognised by its module name, because neither need be installed."""
    return error is not None and type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def engine_message(error: BaseException | None) -> str:
    """The message, without Java class names before it, the stack trace after it, and dbt's comment inside it.

    If it only reports that a task failed, the message of the task comes first.
    """
    message = _plain(_text(error))
    found = BRACKETED.match(message)
    cause = _cause(error) if (found[1] if found else "") in _WRAPPERS else None
    return message if cause is None else f"{cause[1]}\n{message}"


def _plain(text: str) -> str:
    return QUERY_COMMENT.sub(r"\1", JAVA_CLASSES.sub("", STACK_TRACE.split(text, maxsplit=1)[0].strip()))


def _cause(error: BaseException | None) -> tuple[str, str] | None:
    """(error class, message) of the innermost Spark error that caused this one, from
    the JVM if it is local, else from the text.
    """
    found = None
    java = getattr(getattr(error, "java_exception", None), "getCause", lambda: None)()
    while java is not None:
        condition = _java_condition(java)
        found = (condition, _plain(str(java.getMessage()))) if condition else found
        java = java.getCause()
    whole = _text(error, whole=True) if found is None else ""
    for text in CAUSED_BY.findall(whole):
        bracketed = BRACKETED.match(text)
        found = (bracketed[1], _plain(text)) if bracketed else found
    if found is None and STATE not in whole and (raised := RAISED.search(whole)):
        return "USER_RAISED_EXCEPTION", _plain(raised[1])
    return found


def _java_condition(java: Any) -> str:
    try:
        return java.getCondition() or ""
    except Exception:  # py4j's error if the exception is not one of Spark's and has no such method
        return ""


def has_stack_trace(error: BaseException | None) -> bool:
    return STACK_TRACE.search(_text(error)) is not None


def _text(error: BaseException | None, whole: bool = False) -> str:
    """The whole message. A dbt exception has it in `msg`, without indentation. `whole`: including the stack trace of the JVM."""
    java = None if whole else getattr(error, "java_exception", None)
    return str(java.toString() if java is not None else getattr(error, "msg", None) or error)


def engine_error(error: BaseException) -> EngineError:
    """An exception, or one that it was raised from, as a coded error for the refresh driver."""
    for cause in _chain(error):
        condition = _condition(cause)
        if condition and condition not in _WRAPPERS:
            return EngineError(condition, engine_message(cause))
    causes = [cause for cause in _chain(error) if is_engine_exception(cause)]
    source = causes[0] if causes else error
    message = engine_message(source)
    found = BRACKETED.search(message)
    name = found[1] if found else ""
    said = f"{message}\n{_text(source, whole=True)}"
    return EngineError(name, message) if STATE in said else _as_newer_servers(EngineError(name, message), said)


def _as_newer_servers(error: EngineError, said: str) -> EngineError:
    """The error as newer servers report it: with an error class, and with a SQLSTATE if it is caused by data."""
    name = error.error_class
    if name in _WRAPPERS:
        name = next((later for pattern, later in _NAMED_LATER if pattern.search(said)), name)
    first, *more = error.message.split("\n", 1)
    is_of_data = name.partition(".")[0] in OF_DATA
    return EngineError(name, "\n".join((f"{first} {STATE}: 22000", *more)) if is_of_data else error.message)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _condition(error: BaseException) -> str:
    for name in ("getCondition", "getErrorClass"):
        method = getattr(error, name, None)
        if method is not None:
            return method() or ""
    return ""
