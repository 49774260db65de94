{#-
  Shows what the next refresh of each idivm model would do, why, and how much has changed. Nothing is written.
    dbt compile && dbt run-operation idivm_plan                         the models that were compiled
    dbt run-operation idivm_plan --args '{sql: true}'                   with the MERGE of each
    dbt run-operation idivm_plan --args '{as_json: true}'               as JSON
  `idivm plan` does both steps and leaves dbt's artifacts unchanged; this operation writes a manifest without compiled SQL, unless
  --no-write-json is given. `compiled`: the run_results.json to use instead of the one in the target folder.
-#}
{% macro idivm_plan(sql=false, full_refresh=false, as_json=false, compiled=none) %}
  {%- do print(adapter.idivm_plan(graph, invocation_id, full_refresh, sql, as_json, compiled)) -%}
{% endmacro %}
