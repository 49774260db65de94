"""The frozen set of random trials, which reaches every rule, shape and statement, and what failed once on drawn cases."""

from __future__ import annotations

import pytest

from tests.property.coverage import FROZEN, FROZEN_AND_MEANT
from tests.property.judge import judge
from tests.property.judged import ENGINES
from tests.property.test_equivalence import check
from tests.property.trials import Trial, stored


@pytest.mark.parametrize("trial", stored(), ids=lambda trial: trial.name)
def test_trial(trial: Trial) -> None:
    if trial.judge == "DuckDB":
        FROZEN.cases += 1
        check(trial.case, trial.options, FROZEN)
    else:
        judge(trial.case, trial.options, FROZEN_AND_MEANT, ENGINES[trial.judge])
