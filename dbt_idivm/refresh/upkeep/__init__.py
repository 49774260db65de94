"""Keeping what surrounds a view in order: auxiliary tables, ownership, comments, constraints."""
