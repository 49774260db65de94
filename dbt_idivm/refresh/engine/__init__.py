"""Talking to the engine: what it can do, the statements it is asked, and their replies."""
