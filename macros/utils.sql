{#-
  dbt-spark's wording of these depends on the order of rows, or on ANSI mode. These give the same where that is determined, and
  one value for the same rows always. A project that dispatches `dbt` to macros of its own has those.
-#}
{% macro idivm__any_value(expression) -%}
  max({{ expression }})
{%- endmacro %}


{#- NULL where the value cannot be cast, on ANSI mode as well. Texts of nested values are treated as dbt-spark does. -#}
{% macro idivm__safe_cast(field, type) -%}
  {%- set nested = cast_from_string_unsupported_for(type) and field is string -%}
  try_cast({{ field.strip('"').strip("'") if nested else field }} as {{ type }})
{%- endmacro %}


{#-
  The values in the order that is asked for, and equal ones of that in their own; else in their own. dbt-spark knows no order. The
  first `limit_num` values, and distinct ones, are in their own order always.
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
