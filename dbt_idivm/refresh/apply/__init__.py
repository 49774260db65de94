"""Applying the decision: building a view, refreshing it incrementally, its caches, and its watermark."""
