{#- The same as inherited.sql, for type `idivm_databricks` and the materializations of dbt-databricks. -#}
{% materialization view, adapter='idivm_databricks' %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- set result = materialization_view_databricks() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}


{% materialization table, adapter='idivm_databricks', supported_languages=['sql', 'python'] %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- set result = materialization_table_databricks() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}


{% materialization incremental, adapter='idivm_databricks', supported_languages=['sql', 'python'] %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- do adapter.idivm_release(load_cached_relation(this)) -%}
  {%- set result = materialization_incremental_databricks() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}
