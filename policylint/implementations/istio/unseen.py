"""Whether policies act on pods that no manifest shows: those behind a Service whose workload comes from elsewhere.

Source: docs/design/implementations/istio.md §0; such pods have at least the labels that their Service selects, if any.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.istio import labels
from policylint.implementations.istio.calling import Sender
from policylint.implementations.istio.mesh import Mesh, may_inject
from policylint.implementations.istio.validation import is_refused
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text
from policylint.policy.authorizing import RequestFacts
from policylint.policy.mutual_tls import modes

_GROUP = "security.istio.io"


def may_refuse(call: RequestFacts, service: Resource, mesh: Mesh, world: World, root: str) -> bool:
    """Tell whether a policy may turn a request away at the pods of a Service."""
    home = service.key.namespace
    if not may_inject(home, world):
        return False
    if any(_denies(policy) for policy in _reaching(labels.AUTHORIZATION, service, world, root)):
        return True
    strict = any(map(_asks_for_mtls, _reaching(labels.PEER_AUTHENTICATION, service, world, root)))
    return strict and not Sender(call, mesh, world, root, checked=False, plain=False).principal


def _reaching(kind: str, service: Resource, world: World, root: str) -> Iterator[Resource]:
    """Yield the policies of a kind that reach, or may reach, the pods of a Service."""
    selector = mapping(service.spec.get("selector"))
    for namespace in dict.fromkeys((service.key.namespace, root)):
        for policy in world.once(_accepted).get((kind, namespace), ()):
            wanted = labels.match_labels(policy)
            ignored = wanted and kind == labels.PEER_AUTHENTICATION and namespace == root
            # whatever stands behind a Service that selects nothing, policies of all of a namespace may be about it
            differs = any(selector.get(name, value) != value for name, value in wanted.items()) if selector else wanted
            if not ignored and not differs:
                yield policy


def _accepted(world: World) -> dict[tuple[str, str], list[Resource]]:
    """Return the policies without references that the webhook takes, by kind and namespace."""
    found: dict[tuple[str, str], list[Resource]] = {}
    for kind in (labels.AUTHORIZATION, labels.PEER_AUTHENTICATION):
        for policy in world.of_kind(_GROUP, kind):
            if not labels.has_references(policy) and not is_refused(policy):
                found.setdefault((kind, policy.key.namespace), []).append(policy)
    return found


def _denies(policy: Resource) -> bool:
    """Tell whether an AuthorizationPolicy turns any away: all but AUDIT, dry runs and an ALLOW of everything."""
    action = text(policy.spec.get("action")) or "ALLOW"
    everything = any(rule == {} for rule in sequence(policy.spec.get("rules")))
    return not labels.is_dry_run(policy) and action != "AUDIT" and not (action == "ALLOW" and everything)


def _asks_for_mtls(policy: Resource) -> bool:
    return any(mode == "STRICT" or is_symbolic(mode) for mode in modes(policy.spec))
