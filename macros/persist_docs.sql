{#- Comments are commits, and a refresh that finds nothing to do must leave no commit: only what differs is set. -#}
{% macro idivm_persist_docs(relation) %}
  {% if config.persist_relation_docs() or config.persist_column_docs() %}
    {% for sql in adapter.idivm_comments(relation, model, config.persist_relation_docs(), config.persist_column_docs()) %}
      {% call statement() %}{{ sql }}{% endcall %}
    {% endfor %}
  {% endif %}
{% endmacro %}
