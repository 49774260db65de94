"""What an adapter of ours calls itself.

Packages branch on `target.type`, and know the type that this one extends: `{% if target.type in ['spark', 'databricks'] %}`. So
the type equals that one, too, without a line in the user's project. It is written, and looked up, under its own name.
"""

from __future__ import annotations


class OwnType(str):
    """The name of an adapter, which equals that of the one that it extends as well."""

    __slots__ = ()
    extends = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and (str.__eq__(self, other) or str.__eq__(other, self.extends))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class LikeSpark(OwnType):
    """`spark`, for conditions."""

    __slots__ = ()
    extends = "spark"


class LikeDatabricks(OwnType):
    """`databricks`, for conditions."""

    __slots__ = ()
    extends = "databricks"
