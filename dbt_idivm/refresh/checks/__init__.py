"""What is believed only after a check: keys, column types, and that a plan means what the SELECT means."""
