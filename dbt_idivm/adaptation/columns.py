"""columns: the stored columns of the new view, each derived from what is available.

    SELECT id, price * 2 AS double, cid FROM o      SELECT id, price * 2 + 1 AS more FROM o
                                                    π id, double + 1 → more (stored)

Sound: each stored row results from one row of the old block, and both blocks have the same rows. An expression is evaluated for
exactly these rows, so it fails for a stored value if and only if a rebuild would. Not where a column is neither a stored
expression nor composed of stored expressions: `price` cannot be derived from `price * 2`.
"""

from __future__ import annotations

from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.operators import Project


def _adapt(part: Part) -> Part | None:
    found = [(name, part.derived(each)) for name, each in part.difference.new.names.items()]
    definitions = tuple((name, each) for name, each in found if each is not None)
    return None if len(definitions) < len(found) else part.over(Project(part.rows, definitions))


COLUMNS = Rule("columns over stored ones", lambda part: True, _adapt)
