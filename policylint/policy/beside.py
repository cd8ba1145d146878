"""What decides on requests beside policies and is not evaluated: what it says is compared in changes."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey
from policylint.namedtuple import NamedTuple


class Beside(NamedTuple):
    """One thing that an object says, to the disadvantage of what policies protect.

    Args:
        does: a clause that follows the name of the object.
        about: whose requests it decides on; of nobody in particular where it holds for all.
        value: in full; where it is another one the thing is new.
        is_told: whether all of it shows in how requests end, where these are known.
    """

    holder: Resource
    pointer: Pointer
    does: str
    about: tuple[ResourceKey, ...] = ()
    value: str = ""
    is_told: bool = False


__all__ = ["Beside"]
