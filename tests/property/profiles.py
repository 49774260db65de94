"""How many cases: profiles quick (the default, always the same few), daily (1,000 on each engine), long (50,000 on each, hours)
and dev.

`pytest --hypothesis-profile=dev` from this folder; with `--hypothesis-seed=N` the cases of that seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., object])
DEFAULT = "quick"
DAILY = "daily"
LONG = "long"
_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much)

for name, examples in ((DEFAULT, 12), ("dev", 50), (DAILY, 60), (LONG, 3500)):
    settings.register_profile(
        name, max_examples=examples, deadline=None, suppress_health_check=_CHECKS, derandomize=name == DEFAULT, print_blob=True
    )


# There are eighteen tests of that many cases.
_ON_SPARK = {DAILY: 52, LONG: 3000}


def is_long() -> bool:
    """Whether the run may take hours."""
    return settings().max_examples >= settings.get_profile(LONG).max_examples


def fewer(test: Test) -> Test:
    """A third of the profile's cases, for a property that looks at each case in more detail."""
    return settings(max_examples=max(5, settings().max_examples // 3))(test)


def few(test: Test) -> Test:
    """An eighth, for cases that take seconds."""
    return settings(max_examples=max(5, settings().max_examples // 8))(test)


def more(test: Test) -> Test:
    """Three times the profile's cases, for one that looks at few kinds of views."""
    return settings(max_examples=settings().max_examples * 3)(test)


def on_spark(test: Test) -> Test:
    """As many of the profile's cases as there is time for on Spark's meaning."""
    known = {settings.get_profile(name).max_examples: cases for name, cases in _ON_SPARK.items()}
    return settings(max_examples=known.get(settings().max_examples, settings().max_examples))(test)
