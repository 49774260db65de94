"""A package, not a file: `dbt init` offers every adapter with a file of this name, even if dbt-databricks is not installed."""

from dbt.adapters.idivm.__version__ import version

__all__ = ["version"]
