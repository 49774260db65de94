{#-
  The results of dbt-spark's versions depend on the row order, or on ANSI mode. These macros return the same value where that is
  determined, and otherwise always the same value for the same rows. A project can override them by dispatching `dbt` to its own
  macros.
-#}
{% macro idivm__any_value(expression) -%}
  max({{ expression }})
{%- endmacro %}


{#- NULL if the value cannot be cast, even in ANSI mode. Texts of nested values are treated as in dbt-spark. -#}
{% macro idivm__safe_cast(field, type) -%}
  {%- set nested = cast_from_string_unsupported_for(type) and field is string -%}
  try_cast({{ field.strip('"').strip("'") if nested else field }} as {{ type }})
{%- endmacro %}


{#-
  The values in the requested order, with ties broken by the values themselves; without one, ordered by the values. dbt-spark ignores
  the order. The first `limit_num` values, and distinct values, are always ordered by themselves.
-#}
{% macro idivm__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- set distinct = measure.strip().lower().startswith('distinct') -%}
  {%- if order_by_clause and not limit_num and not distinct -%}
    {%- set text = 'cast(' ~ measure ~ ' as string)' -%}
    coalesce(listagg({{ text }}, {{ delimiter_text }}) within group ({{ order_by_clause }}, {{ text }}), '')
  {%- else -%}
    {%- if order_by_clause -%}
      {%- do exceptions.warn('order_by_clause is ignored by listagg of ' ~ measure ~ ': values are in their own order') -%}
    {%- endif -%}
    {%- set values = 'array_sort(collect_list(' ~ measure ~ '))' -%}
    array_join({{ 'slice(' ~ values ~ ', 1, ' ~ limit_num ~ ')' if limit_num else values }}, {{ delimiter_text }})
  {%- endif -%}
{%- endmacro %}


{% macro idivm_databricks__any_value(expression) -%}
  {{ return(idivm__any_value(expression)) }}
{%- endmacro %}


{% macro idivm_databricks__safe_cast(field, type) -%}
  {{ return(idivm__safe_cast(field, type)) }}
{%- endmacro %}


{% macro idivm_databricks__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {{ return(idivm__listagg(measure, delimiter_text, order_by_clause, limit_num)) }}
{%- endmacro %}
