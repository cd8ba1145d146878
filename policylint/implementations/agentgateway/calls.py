"""What becomes of requests where the service that a policy calls about them is certainly not there.

The controller sends such a call without a target, and the proxy goes by its `failureMode`: FailOpen lets every request
pass, FailClosed answers each with an error (controller/pkg/agentgateway/plugins/traffic_plugin.go, buildExtAuthSpec,
processExtProcTraffic, processGlobalRateLimitTraffic; crates/agentgateway/src/http/{ext_authz,ext_proc}.rs,
proxy/mod.rs @ 42956ebc8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.merging import EARLY
from policylint.implementations.agentgateway.references import References
from policylint.model import Node, World, mapping, sequence
from policylint.model.resource import value_at
from policylint.policy.authorizing import Decision
from policylint.policy.own_fields import narrowed, without_effect
from policylint.policy.results import Effective, FailingSetting, Group, holds

_STATUSES: Mapping[Pointer, int] = {("extAuth",): 403, ("extProc",): 500, ("rateLimit", "global"): 500}
"""The calls, and with which status a request fails by each."""
_OF_SOME = frozenset({("rateLimit", "global")})
"""Calls that are made for some requests alone: those for which a descriptor has a value."""
_PLACES: tuple[Pointer, ...] = (
    *((block, *name) for block in (EARLY, "traffic") for name in _STATUSES),
    ("backend", "extAuth"),
)
_OPEN = "FailOpen"
_TOOLS: Pointer = ("backend", "mcp", "authentication")


def with_failures(group: Group, world: World, granted: bool) -> Group:
    """Return a group without the calls that let everything pass, and marked with those that let nothing pass.

    Args:
        granted: whether backends of other namespaces need a ReferenceGrant.
    """
    effective = group.effective
    failing = dict(effective.failing)
    for place, calls in _calls(effective):
        owner = next((owner for leaf, owner in effective.owners.items() if _overlaps(leaf, place)), None)
        policy = next((attachment.policy for attachment in effective.stack if attachment.key == owner), None)
        if policy is None:
            continue
        references = References(policy, world, granted)
        named = [call for call in calls if "backendRef" in call]  # others are addresses
        faults = [next(references.backend(mapping(call["backendRef"])), "") for call in named]
        broken = [(call, fault) for call, fault in zip(named, faults, strict=True) if fault]
        closed = next((fault for call, fault in broken if call.get("failureMode") != _OPEN), "")
        if closed:
            certain = place[1:] not in _OF_SOME and holds(effective.spec, (*place, "backendRef"))
            failing[place] = FailingSetting(_STATUSES[place[1:]], closed, policy.key, certain)
        elif broken and len(broken) == len(calls):
            effective = without_effect(effective, place)
    return group._replace(effective=effective._replace(failing=failing) if failing else effective)


def at_tools(group: Group, world: World) -> Iterator[Group]:
    """Yield a group, apart from it the contexts that do not end at an MCP backend: nobody logs in there.

    Source: internal_backend_policies; only the handler of MCP backends reads `mcp_authentication`.
    """
    if value_at(group.effective.spec, _TOOLS) is None:
        yield group
        return

    def ends_there(path: tuple[Node, ...]) -> bool:
        backend = world.get(path[-1].key)
        return backend is None or "mcp" in backend.spec

    there, elsewhere = narrowed(group, ends_there), narrowed(group, lambda path: not ends_there(path))
    if there is not None:
        yield there
    if elsewhere is not None:
        yield elsewhere._replace(effective=without_effect(group.effective, _TOOLS)._replace(lost=group.effective.lost))


def direct_response(spec: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield the answer that a policy gives itself, to all requests or to some (processDirectResponseTraffic)."""
    response = mapping(mapping(spec.get("traffic")).get("directResponse"))
    place: Pointer = ("traffic", "directResponse")
    if isinstance(response.get("status"), int):
        yield Decision("denied", place, status=response["status"], direct=True)
    elif response.get("conditional"):
        yield Decision("depends", place, "conditions of `directResponse`", direct=True)


def _calls(effective: Effective) -> Iterator[tuple[Pointer, list[Mapping[str, Any]]]]:
    """Yield the calls: where they are set, and each that is made under some condition."""
    for place in _PLACES:
        call = mapping(value_at(effective.spec, place))
        if "backendRef" in call:
            yield place, [call]
        elif "conditional" in call:
            yield place, [mapping(mapping(entry).get("policy")) for entry in sequence(call.get("conditional"))]


def _overlaps(leaf: Pointer, place: Pointer) -> bool:
    return leaf[: len(place)] == place or place[: len(leaf)] == leaf
