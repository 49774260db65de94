"""Names that are not taken yet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count


def fresh_name(base: str, is_taken: Callable[[str], bool]) -> str:
    """The first name of `base`, `base_2`, `base_3`, … that is not taken.

    >>> fresh_name("a", {"a", "a_2"}.__contains__)
    'a_3'
    """
    tried = (base if number == 1 else f"{base}_{number}" for number in count(1))
    return next(name for name in tried if not is_taken(name))
