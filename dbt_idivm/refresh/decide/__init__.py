"""Deciding: what is stored against what is defined; whether to refresh, to migrate or to rebuild and why; how it is reported."""
