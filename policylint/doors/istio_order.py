"""Rules of VirtualServices that no request meets, since one before them takes all of theirs: the first counts.

Source: istio.io/docs/reference/config/networking/virtual-service, «HTTPRoute» and «HTTPMatchRequest» (prefixes are
text), «L4MatchAttributes», «TLSMatchAttributes»; pilot/pkg/networking/core, route/BuildHTTPRoutesForVirtualService and
tls.go, buildSidecarOutboundTCPTLSFilterChainOpts; istio/istio#46410, #39188.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from policylint.model import Resource, World, is_symbolic, mapping, sequence, text
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.namedtuple import NamedTuple

_WORDS = frozenset({"name", "statPrefix", "uri", "ignoreUriCase"})
"""Fields of a match that ask nothing, or that are compared as paths."""
_LISTS = frozenset({"destinationSubnets", "gateways", "sniHosts"})
"""Fields of which a match takes what is one of a list."""
SECTIONS = ("http", "tls", "tcp")
_ANY = (".*", "/.*", "^.*$", "^/.*$")


class Unmet(NamedTuple):
    """A rule of an object that is never used, and the one before it; both by their place in a section of `spec`."""

    holder: Resource
    section: str
    number: int
    by: int


def unmet(world: World) -> Iterator[Unmet]:
    """Yield the rules that come after one that takes all of their requests, one for each that takes them."""
    for virtual, section in product(world.of_kind(*VIRTUAL_SERVICE), SECTIONS):
        rules = [mapping(rule) for rule in sequence(virtual.spec.get(section))]
        taking: list[tuple[int, Mapping[str, Any]]] = []
        for number, rule in enumerate(rules):
            matches = [mapping(match) for match in sequence(rule.get("match"))] or [{}]
            by = [next((earlier for earlier, taken in taking if _holds(taken, match)), None) for match in matches]
            if None not in by:
                yield Unmet(virtual, section, number, max(each for each in by if each is not None))
            elif "delegate" not in rule:  # what another object makes of requests may leave some
                taking += [(number, match) for match in matches]


def _holds(match: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a match takes every request of another one, for certain."""
    if is_symbolic(str(dict(match))) or is_symbolic(str(dict(other))):
        return match == other
    for field, wanted in match.items():
        if field in _WORDS or wanted in (None, "", {}, []):
            continue
        stated = other.get(field)
        if isinstance(wanted, dict) and field in ("headers", "queryParams", "sourceLabels", "withoutHeaders"):
            if any(mapping(stated).get(name) != value for name, value in wanted.items()):
                return False
        elif field in _LISTS:
            if not isinstance(stated, Sequence) or not set(map(str, stated)) <= set(map(str, sequence(wanted))):
                return False
        elif stated != wanted:
            return False
    return _path_holds(match, other)


def _path_holds(match: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    uri, within = mapping(match.get("uri")), mapping(other.get("uri"))
    if not uri or text(uri.get("regex")) in _ANY or uri.get("prefix") == "/":
        return True
    folds = match.get("ignoreUriCase") is True
    if other.get("ignoreUriCase") is True and not folds:
        return False
    prefix, exact = text(uri.get("prefix")), text(uri.get("exact"))
    least = text(within.get("prefix")) or text(within.get("exact"))
    if folds:
        prefix, exact, least = prefix.lower(), exact.lower(), least.lower()
    if prefix:
        return bool(least) and least.startswith(prefix)
    if exact:
        return "exact" in within and least == exact
    return uri == within
