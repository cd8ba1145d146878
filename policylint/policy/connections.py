"""What is left of policies where a TCPRoute, TLSRoute or UDPRoute passes connections on: nothing that only HTTP has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from policylint.model import Node
from policylint.policy.own_fields import narrowed
from policylint.policy.results import Effective, Group, Losses
from policylint.topology import Topology

STREAM_ROUTES = ("TCPRoute", "TLSRoute", "UDPRoute")
"""Kinds of routes behind which no request is read."""


def without_http(groups: list[Group], of_http: Collection[str], topology: Topology) -> list[Group]:
    """Return groups in which settings that only HTTP has neither count nor are lost behind routes of connections.

    Args:
        of_http: top-level fields of the spec proper.
    """
    if not of_http or not any(state.route.key.kind in STREAM_ROUTES for state in topology.routes):
        return groups
    return list(chain.from_iterable(_split(group, of_http) for group in groups))


def _split(group: Group, of_http: Collection[str]) -> Iterator[Group]:
    effective = group.effective
    places = (*effective.owners, *(lost.pointer for lost in effective.lost))
    if not any(place and place[0] in of_http for place in places) or not _is_stream(list(group.nodes)):
        yield group
        return
    rest = narrowed(group, lambda path: not _is_stream(path))
    if rest is not None:
        yield rest
    left = _without(effective, of_http)
    streams = narrowed(group, _is_stream) if left.owners or left.lost else None
    if streams is not None:
        yield streams._replace(effective=left)


def _is_stream(path: Sequence[Node]) -> bool:
    return any(node.key.kind in STREAM_ROUTES for node in path)


def _without(effective: Effective, fields: Collection[str]) -> Effective:
    return effective._replace(
        spec={name: value for name, value in effective.spec.items() if name not in fields},
        owners={leaf: owner for leaf, owner in effective.owners.items() if not leaf or leaf[0] not in fields},
        lost=Losses(lost for lost in effective.lost if not lost.pointer or lost.pointer[0] not in fields),
    )
