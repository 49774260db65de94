{#-
  dbt-spark's sets a column NOT NULL, which Delta outside of Databricks refuses for a table that exists, and leaves out a
  column's CHECKs. As CHECK constraints of the table both can be set, for tables as for maintained views.
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
