{#- The loop around the refresh driver. It runs the driver's statements and builds no SQL itself. -#}
{% materialization idivm, default, supported_languages=['sql'] %}
  {% if target.type not in ('idivm', 'idivm_databricks') %}
    {% do log('not refreshed: ' ~ this ~ ' is left to `idivm run`', info=True) %}
    {% call noop_statement('main', 'left to idivm run') %}{% endcall %}
    {{ return({'relations': [this]}) }}
  {% endif %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set grant_config = config.get('grants') -%}

  {{ idivm_hooks(pre_hooks) }}

  {% if config.get('contract').enforced %}
    {% do get_assert_columns_equivalent(sql) %}
  {% endif %}

  {% set run = adapter.idivm_begin({
      'model': model,
      'sql': sql,
      'relation': this,
      'existing': existing,
      'graph': graph,
      'full_refresh': should_full_refresh(),
      'restricted': flags.EMPTY or invocation_args_dict.get('sample'),
      'run_id': invocation_id,
  }) %}
  {% for _ in range(100000) %}
    {% if run.done %}{% break %}{% endif %}
    {% do adapter.idivm_step(run) %}
  {% endfor %}

  {% set relations = adapter.idivm_finish(run) %}
  {% set target = relations[0] %}
  {% do write(adapter.idivm_executed(run)) %}
  {% do store_result('main', response=adapter.idivm_response(run)) %}
  {% for warning in run.warnings %}
    {% do exceptions.warn(warning) %}
  {% endfor %}

  {% do apply_grants(target, grant_config, should_revoke(existing, full_refresh_mode=(run.mode == 'create'))) %}
  {% if config.persist_relation_docs() or config.persist_column_docs() %}
    {% set missing = adapter.idivm_persist_docs(target, model, config.persist_relation_docs(), config.persist_column_docs()) %}
    {% if missing %}
      {#- the text of dbt's own warning for tables -#}
      {% do exceptions.warn('In relation ' ~ target.render() ~ ': The following columns are specified in the schema but are'
                            ~ ' not present in the database: ' ~ missing | join(', ')) %}
    {% endif %}
  {% endif %}
  {% if config.get('contract').enforced and (not target.is_view or relations | length > 1) %}
    {% do adapter.idivm_persist_constraints(relations[1] if target.is_view else target, model) %}
  {% endif %}

  {{ idivm_hooks(post_hooks) }}

  {{ return({'relations': relations}) }}
{% endmaterialization %}


{#- Replaces dbt's run_hooks, which sends a literal `commit;` before hooks outside of a transaction; Spark cannot parse that. -#}
{% macro idivm_hooks(hooks) %}
  {% for hook in hooks %}
    {% set rendered = render(hook.get('sql')) | trim %}
    {% if rendered | length > 0 %}
      {% call statement(auto_begin=False) %}
        {{ rendered }}
      {% endcall %}
    {% endif %}
  {% endfor %}
{% endmacro %}
