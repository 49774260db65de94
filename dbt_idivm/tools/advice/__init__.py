"""`idivm advise`: how the models of a dbt project are best stored and maintained at given sizes and rates."""
