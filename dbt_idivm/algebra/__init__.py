"""Relations as frozen trees, scalar expressions, and their way to SQL."""
