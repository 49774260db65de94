"""`cached_property` as in Python 3.12 and later, without a lock.

Python 3.11 holds one lock per class while a value is computed. Facts about a tree are computed by descending from class to class.
So two threads that plan at the same time, as dbt's do, may wait for each other's classes forever.
Without the lock a value may be computed twice, which is harmless: nodes are frozen, and the results are equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

if sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:
    T = TypeVar("T")

    class cached_property(Generic[T]):  # the library's name
        """A method whose value is stored in the object, in place of the method, at its first use."""

        def __init__(self, function: Callable[[Any], T]) -> None:
            self._function = function
            self.__doc__ = function.__doc__
            self.__isabstractmethod__ = getattr(function, "__isabstractmethod__", False)

        def __set_name__(self, owner: type[Any], name: str) -> None:
            self._name = name

        @overload
        def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...

        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

        def __get__(self, instance: object | None, owner: type[Any] | None = None) -> cached_property[T] | T:
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._function(instance)
            return found
