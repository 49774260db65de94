"""What changed in the inputs: versions, net diffs, and the checks of their keys and texts."""
