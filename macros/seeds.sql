{#-
  A seed is replaced, not dropped: its versions continue, and views over it stay incremental.
  dbt-spark's own macro has no table properties and creates a plain table.
-#}
{% macro idivm__create_csv_table(model, agate_table) %}
  {%- if config.get('file_format') != 'delta' -%}
    {{ return(spark__create_csv_table(model, agate_table)) }}
  {%- endif -%}
  {%- set column_override = model['config'].get('column_types', {}) -%}
  {%- set quote_seed_column = model['config'].get('quote_columns', none) -%}
  {% set sql %}
    create or replace table {{ this.render() }} (
      {%- for name in agate_table.column_names -%}
        {%- set type = column_override.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
        {{ adapter.quote_seed_column(name | string, quote_seed_column) }} {{ type }}{{ ', ' if not loop.last }}
      {%- endfor -%}
    )
    {{ file_format_clause() }}
    {{ tblproperties_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ location_clause() }}
    {{ comment_clause() }}
  {% endset %}
  {% call statement('_') %}{{ sql }}{% endcall %}
  {{ return(sql) }}
{% endmacro %}


{% macro idivm__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- if old_relation and not (old_relation.is_delta and config.get('file_format') == 'delta') -%}
    {{ adapter.drop_relation(old_relation) }}
  {%- endif -%}
  {{ return(create_csv_table(model, agate_table)) }}
{% endmacro %}
