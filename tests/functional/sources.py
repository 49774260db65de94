"""Sources of tests, as dbt properties."""

from __future__ import annotations

ORDERS_CUST_LOG = """
sources:
  - name: s
    schema: "{{ target.schema }}"
    tables:
      - {name: orders, columns: [{name: id, data_tests: [unique, not_null]}]}
      - {name: cust, columns: [{name: id, data_tests: [unique, not_null]}]}
      - {name: log}
"""
