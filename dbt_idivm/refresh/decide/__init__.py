"""Deciding: configuration, plan, whether to refresh incrementally or to rebuild and why, and how it is reported."""
