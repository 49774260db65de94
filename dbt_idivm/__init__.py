"""ID-based incremental view maintenance: the planner. Every dbt run on a machine imports this module; it stays empty."""
