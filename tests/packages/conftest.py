"""The packages of the catalogue, as `dbt deps` leaves them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from tests.functional.dbt_folder import DbtFolder
from tests.packages.catalogue import INSTALLED


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with one package in each of its folders: PACKAGES, if it is set; else what `dbt deps` finds."""
    given = os.environ.get("PACKAGES")
    if given:
        return Path(given)
    folder = DbtFolder(tmp_path_factory.mktemp("packages"))
    folder.profile(schema="packages", catalog="in-memory")
    wanted = [{"package": f"{package.owner}/{package.name}", "version": package.version} for package in INSTALLED]
    folder.write("packages.yml", yaml.safe_dump({"packages": wanted}))
    folder.dbt("deps")
    return folder.root / "dbt_packages"
