"""I-diffs, and the rule rows that carry them through an operator."""
