from dbt.adapters.idivm.__version__ import version

__all__ = ["version"]
