"""Lists of addresses, and limits by them, beside Gateway API, with what is believed of the addresses of clients."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Location, Resource
from policylint.namedtuple import NamedTuple
from policylint.policy.client_addresses import Believed


class ForgedRule(NamedTuple):
    """A list of addresses, or a limit by them, in its `holder`, what it is for, and what is believed of addresses."""

    believed: Believed
    rule: Location
    holder: Resource
    subject: Resource
    is_limit: bool = False


class ProxiedList(NamedTuple):
    """A list of addresses that is held against who connects, with its place below the spec, and networks that it holds:
    all, or those of proxies."""

    holder: Resource
    pointer: Pointer
    networks: tuple[str, ...]
