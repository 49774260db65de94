"""Random cases before the judge: in which ways they are maintained, under which settings, and what is not counted."""

from __future__ import annotations

from hypothesis import reject
from hypothesis import strategies as st

from tests.property.coverage import MEANT
from tests.property.judge import judge
from tests.property.meaning import OnSpark, not_ansi
from tests.property.strategies import Case
from tests.property.test_equivalence import ALL_WAYS
from tests.property.trials import Discarded

# The ways that users have are tried more often than the others.
_USUAL = ("additive", "additive", "optimised", "additive-feed", "recompute")
WAYS = st.sampled_from((*_USUAL, *_USUAL, *ALL_WAYS))
ENGINES = {"ANSI": OnSpark, "not ANSI": not_ansi}
SETTINGS = st.sampled_from(("ANSI", "ANSI", "not ANSI"))


def judged(case: Case, way: str, setting: str) -> None:
    """The case, unless it cannot be checked."""
    try:
        judge(case, ALL_WAYS[way], MEANT, ENGINES[setting])
    except Discarded as why:
        MEANT.discarded[str(why)] += 1
        reject()
