"""What run.py and its test have in common: the data, the batches of change, dbt's runs, and how they are shown."""
