{#- The columns by which a load is audited: when the row was written, and what it came from. -#}
{% macro audit_columns(record_source) -%}
current_timestamp() as loaded_at,
to_date(current_timestamp()) as load_date,
'{{ record_source }}' as record_source
{%- endmacro %}


{#- The day that was so many days ago. -#}
{% macro days_ago(days) -%}
date_sub(current_date(), {{ days }})
{%- endmacro %}


{#- The columns in which a version holds: from its own time until that of the next one. -#}
{% macro validity(time, versions) -%}
{{ time }} as valid_from,
lead({{ time }}) over {{ versions }} as valid_to,
lead({{ time }}) over {{ versions }} is null as is_current
{%- endmacro %}
