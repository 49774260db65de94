"""What a refresh costs before it is done: rows, work, seconds, and which way is the cheapest. Pure functions, no I/O."""
