"""The settings of this adapter in dbt's config of a node, merged by the rules of `dbt_idivm/settings.py`.

dbt merges the settings from several places one after the other, the broadest first, and the class of the adapter's own settings
decides how. In `meta` dbt replaces `meta.idivm` as a whole. So the merged settings are kept under `idivm`, and also written to
`meta.idivm` if that is given: then manifest.json contains them, and every command reads the same.
"""

from __future__ import annotations

from typing import Any

from dbt_idivm.settings import merged

OWN = "idivm"


class MergedSettings:
    """A mixin to be listed before the class of an engine's settings."""

    @classmethod
    def _merge_dicts(cls, src: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        """The config entries that the next place changes.

        `src`: the config so far, which already has the `meta` of this place. `data`: the other settings of the place.
        Within a place `idivm` overrides `meta.idivm`.
        """
        here, meta = data.pop(OWN, None), src.get("meta")
        in_meta = meta.get(OWN) if isinstance(meta, dict) else None
        found: dict[str, Any] = super()._merge_dicts(src, data)  # type: ignore[misc]
        own = merged(merged(src.get(OWN), in_meta), here)
        if own is not None:
            found[OWN] = own
            if in_meta is not None:
                found["meta"] = {**src["meta"], OWN: own}
        return found
