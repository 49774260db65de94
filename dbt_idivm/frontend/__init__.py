"""From SQL text to operators: parse, resolve names as Spark does, refuse what has no rule, lower."""
