"""The AND-OR DAG of many views (Mistry et al. 2001): which subviews they share, and what is worth keeping."""
