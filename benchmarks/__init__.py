"""What refreshes cost, beside rebuilding and beside the cheapest possible MERGE. `docs/benchmarks.md` explains it."""
