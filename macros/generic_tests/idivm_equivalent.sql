{#- Fails with the rows by which a maintained view and its definition differ as bags. -#}
{% test idivm_equivalent(model, as_of='refresh') %}
  {#- in a new environment `dbt compile` comes before the first run, when there is nothing to compare yet -#}
  {%- if execute and not (flags.WHICH == 'compile' and model is not string and load_relation(model) is none) -%}
    {{ adapter.idivm_equivalence(model, as_of) }}
  {%- else -%}
    select 1 as difference where false
  {%- endif -%}
{% endtest %}
