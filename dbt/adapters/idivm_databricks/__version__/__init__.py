"""A package: `dbt init` offers every adapter that has a file of this name, also where dbt-databricks is not installed."""

from dbt.adapters.idivm.__version__ import version

__all__ = ["version"]
