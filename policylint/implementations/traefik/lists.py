"""Lists of addresses of Middlewares, and limits by them: held against what clients write, or against proxies.

Source: traefik v3.7 pkg/ip/strategy.go (without a strategy who connects counts) and pkg/middlewares/forwardedheaders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.documents import Pointer
from policylint.implementations.generic.forged import ForgedRule, ProxiedList
from policylint.implementations.traefik.forwarding import trusted
from policylint.model import World, mapping, texts
from policylint.model.resource import value_at
from policylint.network.addresses import PRIVATE
from policylint.policy.client_addresses import LOGIN, PAST_PROXIES, Believed, Trust
from policylint.spaces.addresses import cidr, means_everybody

_MIDDLEWARE = ("traefik.io", "Middleware")
_STRATEGIES: tuple[tuple[Pointer, bool], ...] = (
    (("ipAllowList", "ipStrategy"), False),
    (("ipWhiteList", "ipStrategy"), False),
    (("rateLimit", "sourceCriterion", "ipStrategy"), True),
    (("inFlightReq", "sourceCriterion", "ipStrategy"), True),
)
"""Where a Middleware says which address of X-Forwarded-For counts, and whether it counts requests by that."""
_ENTRY_POINTS = f"trust only the proxies in front (`forwardedHeaders.trustedIPs` of the entry points), {LOGIN}"


def forgeable(world: World) -> Iterator[ForgedRule]:
    """Yield the Middlewares that go by addresses which clients write, where the entry points believe everybody."""
    networks = [trusted(world, scheme) for scheme in ("http", "https")] if world.of_kind(*_MIDDLEWARE) else []
    if not any(each and means_everybody(each) for each in networks):
        return
    trust = Trust((), PAST_PROXIES.replace("the Gateway", "Traefik"), certain=False, fix=_ENTRY_POINTS)
    for middleware in world.of_kind(*_MIDDLEWARE):
        for place, is_limit in _STRATEGIES:
            if mapping(value_at(middleware.spec, place)):
                at = middleware.location("spec", *place)
                own = Believed(middleware, at, trust._replace(pointer=place))
                yield ForgedRule(own, at, middleware, middleware, is_limit)


def against_proxies(world: World) -> Iterator[ProxiedList]:
    """Yield the lists of Middlewares that are held against who connects, and hold proxies, with the networks of these:
    one that holds none of them keeps out what comes through these, and one of a provider's proxies lets in what comes
    through these alone, as they may be meant to."""
    middlewares = world.of_kind(*_MIDDLEWARE)
    stated = [trusted(world, scheme) or () for scheme in ("http", "https")] if middlewares else []
    networks = tuple(dict.fromkeys(each for found in stated for each in found))
    if not networks or means_everybody(networks):
        return
    for listed in by_connection(world):
        ranges = listed.networks
        within = tuple(each for each in networks if _overlap(ranges, (each,)) and _overlap(PRIVATE, (each,)))
        if within and not means_everybody(ranges):
            yield listed._replace(networks=within)


def by_connection(world: World) -> Iterator[ProxiedList]:
    """Yield the lists of Middlewares that are held against who connects, each with its networks."""
    for middleware in world.of_kind(*_MIDDLEWARE):
        for field in ("ipAllowList", "ipWhiteList"):
            listed = mapping(middleware.spec.get(field))
            if (ranges := texts(listed.get("sourceRange"))) and "ipStrategy" not in listed:
                yield ProxiedList(middleware, (field, "sourceRange"), tuple(ranges))


def _overlap(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether two lists of networks have an address in common."""
    parsed = [[found for each in networks if (found := cidr(each)) is not None] for networks in (some, others)]
    return any(one.low < other.high and other.low < one.high for one in parsed[0] for other in parsed[1])
