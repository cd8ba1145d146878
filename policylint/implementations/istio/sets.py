"""Sets of routes with one hostname of their own, each a VirtualService, one behind the other by age.

Source: pilot/pkg/config/kube/gateway/route_collections.go, mergeHTTPRoutes; core/route/route.go, SortVHostRoutes and
BuildHTTPRoutesForVirtualService. Seen by tests/witness (istio-routes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.implementations.generic.traffic import ServingMatch
from policylint.matches import path_of
from policylint.model import sequence
from policylint.spaces.predicates import PREFIX
from policylint.topology.hostnames import patterns, widest_written


def placed(found: Sequence[ServingMatch]) -> list[tuple[int, int]] | None:
    """Return the matches for one host, each with the place of its set: that with the oldest route comes first.

    What takes every request is after all sets, and ends its own. None where there is one set.
    """
    sets: dict[str, list[int]] = {}
    for number, each in enumerate(found):
        written = patterns(sequence(each.route.spec.get("hostnames")))
        sets.setdefault((written and widest_written(each.hostname, written)) or "*", []).append(number)
    return list(_in_order(found, sets)) if len(sets) > 1 else None


def _in_order(found: Sequence[ServingMatch], sets: dict[str, list[int]]) -> Iterator[tuple[int, int]]:
    places = sorted((min(found[number].route.age[0] for number in own), name) for name, own in sets.items())
    for place, (_, name) in enumerate(places):
        for number in sorted(sets[name], key=lambda number: found[number].order):
            match = found[number].match
            takes_all = path_of(match.value) == (PREFIX, "/") and len(match.conditions) == 1
            yield number, place + takes_all * len(places)
            if takes_all:
                break
