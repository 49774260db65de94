{#-
  dbt-spark's own materializations. They also drop the tables behind the relation if the name belonged to a maintained view.
  dbt's clone looks the view materialization up by this exact name.
-#}
{% materialization view, adapter='idivm' %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- set result = create_or_replace_view() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}


{% materialization table, adapter='idivm', supported_languages=['sql', 'python'] %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- set result = materialization_table_spark() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}


{% materialization incremental, adapter='idivm', supported_languages=['sql', 'python'] %}
  {%- set behind = adapter.idivm_behind(load_cached_relation(this)) -%}
  {%- do adapter.idivm_release(load_cached_relation(this)) -%}
  {%- set result = materialization_incremental_spark() -%}
  {%- do idivm_drop_all(behind) -%}
  {{ return(result) }}
{% endmaterialization %}


{% macro idivm_drop_all(relations) %}
  {%- for relation in relations %}{% do adapter.drop_relation(relation) %}{% endfor -%}
{% endmacro %}
