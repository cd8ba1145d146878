"""Proxies that send requests where a header of the client says, past routes and policies of whatever took them in."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Resource
from policylint.namedtuple import NamedTuple


class OpenRelay(NamedTuple):
    """A workload whose proxy goes by a header that nothing seen takes off.

    Args:
        holder, pointer: what has it do so, and where.
        fix: what to do instead, one clause.
    """

    workload: Resource
    header: str
    holder: Resource
    pointer: Pointer
    fix: str
