{#- A surrogate key as dbt_utils.generate_surrogate_key makes it: the hash of the columns' texts, NULL having a text of its own. -#}
{% macro surrogate_key(columns) -%}
md5(cast(concat(
    {%- for column in columns -%}
    coalesce(cast({{ column }} as string), '_null_'){{ ", '-', " if not loop.last }}
    {%- endfor -%}
) as string))
{%- endmacro %}


{#- A date as the number that keys of date dimensions are: 20240131. -#}
{% macro date_key(column) -%}
cast(date_format({{ column }}, 'yyyyMMdd') as int)
{%- endmacro %}
