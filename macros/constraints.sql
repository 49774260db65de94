{#-
  dbt-spark's version sets a column NOT NULL, which Delta outside of Databricks refuses for an existing table, and ignores the
  CHECKs of columns. Both can be set as CHECK constraints of the table, for tables as well as for maintained views.
-#}
{% macro idivm__persist_constraints(relation, model) %}
  {%- if config.get('contract').enforced and config.get('file_format') == 'delta' -%}
    {%- for column in model.columns.values() -%}
      {%- for constraint in column.constraints if constraint.type not in ('check', 'not_null') -%}
        {%- do exceptions.warn('The constraint ' ~ constraint.type ~ ' of column ' ~ column.name ~ ' is not enforced.') -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- do adapter.idivm_persist_constraints(relation, model) -%}
  {%- endif -%}
{% endmacro %}
