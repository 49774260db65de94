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


@dataclass(frozen=True)
class NotRun:
    """A package that was read and parsed, but not run. `why`: what stops it, in one sentence."""

    owner: str
    name: str
    version: str
    why: str
    parses: bool = True


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

# Explained without Spark: what their models would be, as far as it can be compiled without a database.
NOT_RUN = (
    NotRun(
        "dbt-labs",
        "dbt_project_evaluator",
        "1.3.2",
        "Nine models must be tables, which hooks fill from the project's graph; 36 of the 39 others would be maintained.",
    ),
    NotRun(
        "elementary-data",
        "elementary",
        "0.25.1",
        "16 of 30 models select no rows: hooks fill them, and a refresh would rebuild them empty; 12 of the 14 others would be "
        "maintained.",
    ),
    NotRun("dbt-labs", "codegen", "0.14.1", "It has no models: its macros print code for a developer, and no model calls them."),
    NotRun(
        "Datavault-UK",
        "automate_dv",
        "0.11.5",
        "Its macros `cast_date`, `cast_datetime` and `get_escape_characters` have no branch for Spark; dbt-spark does not parse "
        "it either.",
        parses=False,
    ),
    NotRun(
        "snowplow",
        "snowplow_unified",
        "1.0.0",
        "Its models select one window of events, whose limits macros query while compiling; a maintained view would forget the "
        "windows before.",
    ),
)
