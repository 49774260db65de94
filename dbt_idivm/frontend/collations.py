"""Values with an explicit collation, `s COLLATE UTF8_LCASE`, by which rows are grouped, joined or chosen further up.

Under a collation different texts are equal. A refresh writes values as literals, which do not have the collation, and would find
other rows with them. Which of the equal texts names a group depends on the order of rows. In a condition (`s COLLATE UTF8_LCASE =
'a'`) the collation stands beside the comparison, and in the result nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_idivm.algebra.expressions import is_collated
from dbt_idivm.algebra.operator import Operator, handed_down
from dbt_idivm.algebra.types import is_known, is_text
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.window import Window


# Wrong without it: of two texts that are equal under the collation, the group would keep the one that is gone.
def compared_collations(root: Operator) -> Iterator[Finding]:
    """IDIVM-228 for a value with a collation on which a condition, a group, a partition or an ID depends."""
    for node, above in handed_down(root, frozenset[str](), _compared, Operator):  # type: ignore[type-abstract]
        for name, made in node.defined:
            if name in above and is_collated(made) and _may_have_texts(node.types[name]):
                yield finding(228, what=f"rows that are compared by {made.sql('spark')}, under a collation")
                return


def _may_have_texts(kind: exp.DataType) -> bool:
    return not is_known(kind) or any(map(is_text, kind.find_all(exp.DataType)))


def _compared(node: Operator, above: frozenset[str]) -> tuple[frozenset[str], ...]:
    """For each input the attributes that rows are compared by."""
    own = (*node.partition, *node.reads) if isinstance(node, Window) else ()
    return tuple(each.union(own) for each in node.conditional(above))
