"""What demo.py and its test have in common: the data, the rounds of changes, and how they are shown."""
