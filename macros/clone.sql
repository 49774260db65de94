{#- Outside of Databricks, Delta cannot clone into a table that has rows, so `dbt clone --full-refresh` drops the old one. -#}
{% macro idivm__create_or_replace_clone(this_relation, defer_relation) %}
  {%- do adapter.drop_relation(this_relation) -%}
  create table {{ this_relation }} shallow clone {{ defer_relation }}
{% endmacro %}
