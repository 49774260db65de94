{#- To try changes by hand: dbt run-operation change --args "{statement: 'update nycflights.planes set ..'}" -#}
{% macro change(statement) %}
  {% do run_query(statement) %}
{% endmacro %}
