{#-
  Relations that deleted or renamed models left behind:
    dbt run-operation idivm_orphans                          lists them
    dbt run-operation idivm_orphans --args '{drop: true}'    drops them
-#}
{% macro idivm_orphans(drop=false) %}
  {%- set left = adapter.idivm_orphans(graph, drop) -%}
  {%- for line in left %}{% do log(('dropped ' if drop else 'orphan: ') ~ line, info=true) %}{% endfor -%}
  {%- if not left %}{% do log('No model of this project left anything behind.', info=true) %}
  {%- elif not drop %}{% do log("Drop them: dbt run-operation idivm_orphans --args '{drop: true}'", info=true) %}{% endif -%}
{% endmacro %}
