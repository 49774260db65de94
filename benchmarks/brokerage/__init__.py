"""A broker's warehouse: 49 maintained models in three layers over logs of changes and files, loaded once and changed day by day.

The subject is that of TPC-DI; schema, data and SQL are our own. `python -m benchmarks.brokerage` runs it.
"""
