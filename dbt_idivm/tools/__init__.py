"""Tools beside the refresh: advice, the difference that a pull request makes, reports and drawings."""
