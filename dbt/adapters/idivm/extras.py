"""Installation advice for packages that only some connection methods need."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

# extra → the modules that it needs. PyHive alone does not install the packages that it needs to connect to a server.
MODULES = {
    "pyspark": ("pyspark",),
    "pyhive": ("pyhive", "thrift", "thrift_sasl"),
    "spark-connect": ("pyspark", "grpc", "grpc_status", "google.rpc", "pyarrow", "pandas"),
}


def missing_module(extra: str) -> str | None:
    """The first module of an extra that cannot be imported here; None if all can."""
    modules = MODULES[extra]
    if extra == "spark-connect" and _asks_for("zstandard"):
        modules += ("zstandard",)
    return next((module for module in modules if not _is_here(module)), None)


def install_advice(extra: str) -> str:
    """How to install an extra's packages. They are given by name, because this package may come from any index or file."""
    if extra == "spark-connect" and missing_module("pyspark") is None:
        return "Install with: pip install 'pyspark[connect]'"
    declared = (text.partition(";") for text in requires("dbt-idivm") or ())
    packages = [name.strip() for name, _, marker in declared if marker.replace('"', "'").strip() == f"extra == '{extra}'"]
    return "Install with: pip install " + " ".join(f"'{package}'" for package in packages)


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor is the package around it
        return False


def _asks_for(package: str) -> bool:
    """Whether the installed pyspark asks for the package: since 4.1 its client needs zstandard."""
    for distribution in ("pyspark", "pyspark-client"):
        try:
            return any(each.startswith(package) for each in requires(distribution) or ())
        except PackageNotFoundError:
            continue
    return False
