"""Which address a proxy takes for the client's: what it believes, who can forge that, and what helps."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Location, Resource, sequence, text
from policylint.namedtuple import NamedTuple

EVERYONE = "every sender is trusted, so the first address of X-Forwarded-For counts"
LAST_ADDRESS = "the last address of X-Forwarded-For counts, which who connects writes"
PROXY_HEADER = "whoever connects may send a PROXY header of its own, with any address"
PAST_PROXIES = "a client that reaches the Gateway directly, not through your proxy, can set X-Forwarded-For"
LOGIN = "or require a login or a client certificate as well"


class Trust(NamedTuple):
    """What a proxy believes of a client's address.

    Args:
        pointer: of the setting, below the spec of what says so.
        why: how somebody forges an address.
        certain: whether every client can, or only one that does not come through the proxies that are counted on.
        fix: what helps.
    """

    pointer: Pointer
    why: str
    certain: bool
    fix: str = f"trust only the addresses of the proxies in front (`trustedCIDRs`, `xffTrustedCIDRs`), {LOGIN}"


class Believed(NamedTuple):
    """What a proxy believes, and where that is written: in which object, `owner`."""

    owner: Resource
    place: Location
    trust: Trust


def trusts_everyone(ranges: object) -> int | None:
    """Return the index of a range of addresses that leaves none out, None without one."""
    return next((index for index, entry in enumerate(sequence(ranges)) if text(entry).endswith("/0")), None)


def is_positive(number: object) -> bool:
    return isinstance(number, int) and number > 0
