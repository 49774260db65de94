"""How many cases: profiles dev, ci (the default, 2,000 in all), long (20,000 in all) and debug.

`pytest --hypothesis-profile=debug` from this folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., object])
DEFAULT = "ci"
_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

for name, examples in (("dev", 50), (DEFAULT, 141), ("long", 1400), ("debug", 10)):
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=_CHECKS,
                              derandomize=name == DEFAULT, print_blob=True)


def fewer(test: Test) -> Test:
    """A third of the profile's cases, for a property that looks at each case in more detail."""
    return settings(max_examples=max(5, settings().max_examples // 3))(test)
