"""The type names of our adapters.

Packages branch on `target.type` and know the type that ours extends: `{% if target.type in ['spark', 'databricks'] %}`. So our
type equals that one as well, and the user's project needs no changes. It is printed and looked up under its own name.
"""

from __future__ import annotations


class OwnType(str):
    """The name of an adapter type, which also equals the name of the type that it extends."""

    __slots__ = ()
    extends = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and (str.__eq__(self, other) or str.__eq__(other, self.extends))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class LikeSpark(OwnType):
    """A name that also equals `spark` in conditions."""

    __slots__ = ()
    extends = "spark"


class LikeDatabricks(OwnType):
    """A name that also equals `databricks` in conditions."""

    __slots__ = ()
    extends = "databricks"
