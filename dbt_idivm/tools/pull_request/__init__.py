"""`idivm diff`: how a change of a project changes plans, ways of maintenance and costs, as a comment on a pull request."""
