"""How deeply expressions may nest: sqlglot and the planner walk trees recursively, and Python's default limit is too low.

Spark's own parser fails at some 200 to 400 nested calls, and at some 500 operands of `+`. Up to there nothing may fail here: each
level takes up to 25 calls in sqlglot's parser, and each operand of a chain takes five in the planner.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from dbt_idivm.errors import IdivmError, finding

# Calls of Python functions by Python use no C stack; 10,000 calls through C, which do, fit into a thread's 8 MB.
_CALLS = 10_000

_lock = Lock()
_inside = 0
_before = 0


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit while the block runs. Raises IDIVM-231 if even the raised limit is exceeded.

    The limit belongs to the process: it stays raised while any thread is inside, and the last one to leave resets it.
    """
    _enter()
    try:
        yield
    except RecursionError as error:
        raise IdivmError(finding(231)) from error
    finally:
        _leave()


def _enter() -> None:
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _CALLS))
        _inside += 1


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            sys.setrecursionlimit(_before)
