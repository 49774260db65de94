"""What is believed only after a check: keys, types, that a plan means what the SELECT means; answers for a definition."""
