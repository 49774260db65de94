"""The refresh: state, version vectors, and the driver that yields statements and takes results."""
