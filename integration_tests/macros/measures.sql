{#- One column per value: a pivot as it is written where there is no PIVOT. -#}
{% macro pivot_sum(measure, column, values, prefix='') -%}
{%- for value in values %}
sum(case when {{ column }} = '{{ value }}' then {{ measure }} else 0 end) as {{ prefix }}{{ value }}{{ ',' if not loop.last }}
{%- endfor %}
{%- endmacro %}


{#- A share in percent; NULL where the whole is zero. -#}
{% macro percent_of(part, whole, digits=2) -%}
round(100 * {{ part }} / nullif({{ whole }}, 0), {{ digits }})
{%- endmacro %}


{#- An amount in euros, at the rate of its day. -#}
{% macro in_euros(amount, rate) -%}
cast(round({{ amount }} * {{ rate }}, 2) as decimal(14, 2))
{%- endmacro %}
