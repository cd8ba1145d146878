"""Whose X-Forwarded-For Traefik believes, and which address a list of them is held against where a strategy says so.

Source: traefik v3.7 pkg/middlewares/forwardedheaders (who is not trusted has the header taken off), pkg/ip/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.generic.entry_points import arguments_of
from policylint.load.charts import values_of
from policylint.model import World, integer, mapping, texts
from policylint.patterns import Pattern
from policylint.policy.authorizing import RequestFacts
from policylint.spaces.addresses import EVERYBODY, address_set, means_everybody, number_of

_FORWARDED = "x-forwarded-for"
_TRUSTED = Pattern(r"--entrypoints\.([^.=]+)\.forwardedheaders\.trustedips=(.*)$")
_INSECURE = Pattern(r"--entrypoints\.([^.=]+)\.forwardedheaders\.insecure(?:=true)?$")
_BY_SCHEME = {"http": "web", "https": "websecure"}
_NOT_SEEN, _WHO_CONNECTS = "the `forwardedHeaders` of its entry points, which were not seen", "who connects (--from)"
DEPENDS = frozenset({_NOT_SEEN, _WHO_CONNECTS})
"""What an address depends on that is not known."""


def trusted(world: World, scheme: str) -> tuple[str, ...] | None:
    """Return the networks whose X-Forwarded-For is believed; None where that is not known."""
    found: dict[str, tuple[str, ...]] = {}
    seen = False
    given = list(values_of(world, "traefik"))
    of_charts = ([each.lower() for each in texts(values.get("additionalArguments"))] for _, values, _ in given)
    for arguments in (*arguments_of(world), *of_charts):
        for argument in arguments:
            seen = True
            if match := _TRUSTED.match(argument):
                found[match[1]] = tuple(each.strip() for each in match[2].split(","))
        found |= {match[1]: EVERYBODY for argument in arguments if (match := _INSECURE.match(argument))}
    for _, values, is_whole in given:
        seen = seen or is_whole
        for name, port in mapping(values.get("ports")).items():
            stated = mapping(mapping(port).get("forwardedHeaders"))
            if stated.get("insecure") is True:
                found[name] = EVERYBODY
            elif "trustedIPs" in stated:
                found[name] = tuple(texts(stated["trustedIPs"]))
    if not seen:
        return None
    own = _BY_SCHEME.get(scheme, "")
    if own in found:
        return found[own]
    if found.keys() & {*_BY_SCHEME.values()} and own:
        return ()
    return next(iter(found.values()), ()) if len(set(found.values())) < 2 else None


def address_by(strategy: Mapping[str, Any], message: RequestFacts, networks: tuple[str, ...] | None) -> tuple[str, str]:
    """Return the address that a strategy finds, and on what it depends, or why there is none.

    Args:
        networks: whose header is believed, None where that is not known.
    """
    depth, excluded = integer(strategy.get("depth")) or 0, texts(strategy.get("excludedIPs"))
    words = f"depth: {depth}" if depth > 0 else "excludedIPs"
    if networks is None:
        return "", _NOT_SEEN
    if not networks:
        return "", f"its entry points believe no X-Forwarded-For (forwardedHeaders), so {words} finds no address"
    number = number_of(message.peer) if message.peer else None
    if not means_everybody(networks):
        if number is None:
            return "", _WHO_CONNECTS
        if not address_set(networks).holds(number):
            return "", f"{message.peer} is in none of forwardedHeaders.trustedIPs, so {words} finds no address"
    listed = [each.strip() for each in message.headers.get(_FORWARDED, "").split(",") if each.strip()]
    if depth > 0:
        found = listed[-depth] if len(listed) >= depth else ""
        return found, "" if found else f"X-Forwarded-For has no address for {words}"
    passed_over = address_set(tuple(excluded))
    for each in reversed(listed):
        number = number_of(each)
        if number is None or not passed_over.holds(number):
            return each, ""
    return "", f"X-Forwarded-For has no address beyond {words}"
