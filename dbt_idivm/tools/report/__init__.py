"""A page about a project to look at: `idivm report`. From facts to HTML, without dbt and Spark."""
