"""columns: the stored columns of the new view, each over what there is.

    SELECT id, price * 2 AS double, cid FROM o      SELECT id, price * 2 + 1 AS more FROM o
                                                    π id, double + 1 → more (stored)

Sound: each stored row comes of one row of the old block, and both blocks have the same rows; an expression is evaluated for
exactly these, so that it fails for a stored value as it would in a rebuild. Not where a column is none of the stored expressions
and is not made of them: `price` cannot be had of `price * 2`.
"""

from __future__ import annotations

from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.operators import Project


def _adapt(part: Part) -> Part | None:
    found = [(name, part.derived(each)) for name, each in part.difference.new.names.items()]
    definitions = tuple((name, each) for name, each in found if each is not None)
    return None if len(definitions) < len(found) else part.over(Project(part.rows, definitions))


COLUMNS = Rule("columns over stored ones", lambda part: True, _adapt)
