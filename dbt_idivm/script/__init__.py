"""Δ-scripts: i-diffs bound to versions and diffs, and the one MERGE that applies them."""
