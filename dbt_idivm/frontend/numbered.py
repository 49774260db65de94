"""ROW_NUMBER over rows that nothing of the SELECT tells apart → γ and μ: only how many rows a partition has matters.

    SELECT row_number() OVER (ORDER BY 1) - 1 AS n FROM t        π(μ_{sequence(1, c) → n}(γ_{(); count(*) → c}(t)))

Which row gets which number is not defined, but where the SELECT uses nothing of a row but its number and what its partition
determines, each choice gives the same rows. dbt's macros write spines of dates and numbers like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import are_identical, determined_by
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Aggregate, Unnest
from dbt_idivm.operators.aggregate import Call
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.annotate import Facts

if TYPE_CHECKING:
    from dbt_idivm.frontend.names import Names


def is_determined(call: WindowCall, partition: tuple[str, ...], used: frozenset[str], rows: Operator, facts: Facts) -> bool:
    """Whether the numbers 1 to n of each partition are all that there is to know: `used` are the attributes of `rows` that the
    SELECT uses beside the number."""
    if not isinstance(call.function, exp.RowNumber) or not used <= determined_by(frozenset(partition), facts.dependencies):
        return False
    return are_identical({*partition, *used}, rows.certain_types)


def numbered(call: WindowCall, partition: tuple[str, ...], used: frozenset[str], rows: Operator, names: Names) -> Operator:
    """The partitions, each as often as it has rows, with their numbers as the attribute of `call`."""
    count, place = names.attribute(call.name, "rows"), names.attribute(call.name, "pos")
    groups = tuple(dict.fromkeys((*partition, *sorted(used))))
    last = exp.Cast(this=column(count), to=exp.DataType.build("int"))
    numbers: exp.Expr = exp.GenerateSeries(start=exp.Literal.number(1), end=last)
    if not groups:  # the numbers from 1 to 0 are two for Spark
        some = exp.GT(this=column(count), expression=exp.Literal.number(0))
        numbers = exp.Case(ifs=[exp.If(this=some, true=numbers)])
    grouped = Aggregate(rows, groups, (Call.of(count, "count"),), by_key=not used <= {*partition})
    return Unnest(grouped, numbers, place, (call.name,), outer=False)
