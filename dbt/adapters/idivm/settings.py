"""The settings of this adapter in dbt's config of a node, which merge as `dbt_idivm/settings.py` says.

dbt merges what is given in several places one place after the other, the broadest first, and asks the class of the adapter's own
settings how. Of `meta` it replaces `meta.idivm` as a whole. So what has been merged is kept under `idivm`, and put back under
`meta.idivm` where it is given there, too: manifest.json has it, and every command reads the same.
"""

from __future__ import annotations

from typing import Any

from dbt_idivm.settings import merged

OWN = "idivm"


class MergedSettings:
    """To be put before the class of an engine's settings."""

    @classmethod
    def _merge_dicts(cls, src: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        """What changes by the next place. `src`: the config so far, which has the `meta` of this place already; `data`: what the
        place has besides. In one place `idivm` is narrower than `meta.idivm`."""
        here, meta = data.pop(OWN, None), src.get("meta")
        in_meta = meta.get(OWN) if isinstance(meta, dict) else None
        found: dict[str, Any] = super()._merge_dicts(src, data)  # type: ignore[misc]
        own = merged(merged(src.get(OWN), in_meta), here)
        if own is not None:
            found[OWN] = own
            if in_meta is not None:
                found["meta"] = {**src["meta"], OWN: own}
        return found
