"""dbt packages that people use on Spark, each with the version that is tried and what it needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package as dbt's registry has it. `name`: of the dbt project, too; `needs`: other packages that it calls; `tests`: its
    models are those of its own tests, because it has macros only."""

    owner: str
    name: str
    version: str
    needs: tuple[Package, ...] = ()
    tests: bool = False


SPARK_UTILS = Package("dbt-labs", "spark_utils", "0.3.3")
FIVETRAN_UTILS = Package("fivetran", "fivetran_utils", "0.4.10")
DBT_UTILS = Package("dbt-labs", "dbt_utils", "1.4.1", needs=(SPARK_UTILS,), tests=True)
DBT_DATE = Package("calogica", "dbt_date", "0.10.0", needs=(SPARK_UTILS, DBT_UTILS), tests=True)
OF_FIVETRAN = (FIVETRAN_UTILS, SPARK_UTILS, DBT_UTILS)

# Each runs over the seeds of its own tests.
PACKAGES = (
    Package("fivetran", "github", "1.0.0", needs=OF_FIVETRAN),
    Package("fivetran", "google_ads", "1.2.0", needs=OF_FIVETRAN),
    Package("fivetran", "zendesk", "1.6.1", needs=OF_FIVETRAN),
    Package("fivetran", "jira", "1.1.0", needs=OF_FIVETRAN),
    Package("fivetran", "stripe", "1.4.0", needs=OF_FIVETRAN),
    Package("fivetran", "hubspot", "1.2.0", needs=OF_FIVETRAN),
    DBT_UTILS,
    DBT_DATE,
    Package("metaplane", "dbt_expectations", "0.10.9", needs=(DBT_DATE, SPARK_UTILS, DBT_UTILS), tests=True),
    Package("dbt-labs", "audit_helper", "0.12.2", needs=(SPARK_UTILS, DBT_UTILS), tests=True),
)
INSTALLED = tuple(dict.fromkeys([*PACKAGES, *(needed for package in PACKAGES for needed in package.needs)]))
