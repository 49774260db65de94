"""`idivm adopt`: an existing model of dbt as a maintained one."""
