"""Adapting a stored view to another definition of it, instead of building it again."""
