"""dbt packages that people use on Spark, each with the version that is tried and what it needs."""

from __future__ import annotations

from dataclasses import dataclass

# As dbt's registry has them; the second part is the name of the dbt project, too.
VERSIONS = {
    "fivetran/github": "1.0.0",
    "fivetran/google_ads": "1.2.0",
    "fivetran/zendesk": "1.6.1",
    "fivetran/jira": "1.1.0",
    "fivetran/stripe": "1.4.0",
    "fivetran/hubspot": "1.2.0",
    "fivetran/fivetran_utils": "0.4.10",
    "dbt-labs/spark_utils": "0.3.3",
    "dbt-labs/dbt_utils": "1.4.1",
    "dbt-labs/audit_helper": "0.12.2",
    "dbt-labs/codegen": "0.14.1",
    "dbt-labs/dbt_project_evaluator": "1.3.2",
    "calogica/dbt_date": "0.10.0",
    "metaplane/dbt_expectations": "0.10.9",
    "elementary-data/elementary": "0.25.1",
    "Datavault-UK/automate_dv": "0.11.5",
}
FIVETRAN = ("fivetran_utils", "spark_utils", "dbt_utils")


@dataclass(frozen=True)
class Package:
    """A package, which runs over the seeds of its own tests. `name`: of the dbt project; `needs`: other packages that it calls;
    `tests`: the models are those of its own tests, because it has macros only; `maintained`: whether its models are."""

    name: str
    needs: tuple[str, ...] = FIVETRAN
    tests: bool = False
    maintained: bool = True


PACKAGES = (
    Package("github"),
    Package("google_ads"),
    Package("zendesk"),
    Package("jira"),
    Package("stripe"),
    Package("hubspot"),
    Package("dbt_utils", needs=("spark_utils",), tests=True),
    Package("dbt_date", needs=("spark_utils", "dbt_utils"), tests=True),
    Package("dbt_expectations", needs=("dbt_date", "spark_utils", "dbt_utils"), tests=True),
    Package("audit_helper", needs=("spark_utils", "dbt_utils"), tests=True),
)
