"""Which relation feeds which in a dbt project, as a graph, and how it is written: for Mermaid, or drawn as SVG."""
