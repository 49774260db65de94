"""aggregates: aggregates that the old view lacks, added to those that it has.

    SELECT cid, sum(price) AS total FROM o GROUP BY cid     SELECT cid, sum(price) AS total, max(price) AS best FROM o …
                                                            π cid, total, best (stored ⋈ cid <=> cid γ cid; max(price) (o))

Sound: both γ group the same rows by the same attributes, so each stored row matches exactly one group, compared NULL-safely. The
new aggregates are evaluated over the sources at the versions in the old state. Stored aggregates are not computed again, which
matters most for floats. It reads as much as a rebuild, so it pays if the other aggregates are the expensive ones. Not where all
aggregates except counts are new: then nothing stored is worth reading.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.algebra.expressions import column, conjunction, same
from dbt_idivm.operators import Join


def _adapt(part: Part) -> Part | None:
    rows = part.rows
    for node, names in part.difference.missing_calls:
        if not any(call.name in part.difference.known and call.function != "count" for call in node.calls):
            return None
        mine = [part.derived(column(name)) for name in node.groups]
        if None in mine:
            return None
        tests = (same(each, column(name)) for each, name in zip(mine, node.groups, strict=True) if each is not None)
        found = replace(node, calls=tuple(call for call in node.calls if call.name in names))
        rows = Join(rows, found, conjunction(tests) or exp.true())
    return part.over(rows)


AGGREGATES = Rule("aggregate added", lambda part: part.held is not None and bool(part.difference.missing_calls), _adapt)
