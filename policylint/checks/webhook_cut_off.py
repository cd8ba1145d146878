"""GWP605: a webhook or aggregated API that the API server cannot call.

A network policy isolates its pods, or their proxies take nothing from who is in no mesh.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.network import doubt
from policylint.documents import Pointer
from policylint.model import Finding, Related, Resource, ResourceKey, mapping, sequence, text, value_at
from policylint.model.kinds import DEFINITION
from policylint.network.hops import Hop
from policylint.network.kinds import NETWORK_POLICY
from policylint.network.rules import Pods
from policylint.network.selecting import Labels
from policylint.policy.authorizing import Checkpoint, Client, Decision, RequestFacts
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.namespaces import NAME_LABEL
from policylint.topology.workloads import container_port, is_written_later

RULE = "GWP605"
_HTTPS = 443
_ADMISSION = "admissionregistration.k8s.io"
_KINDS = (
    (_ADMISSION, "ValidatingWebhookConfiguration"),
    (_ADMISSION, "MutatingWebhookConfiguration"),
    ("apiregistration.k8s.io", "APIService"),
    DEFINITION,
)
_TUNNEL = "kube-system"
"""Where the agents of a control plane that is hosted elsewhere run: its calls come from their pods (konnectivity)."""


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in _KINDS:
        for resource in simulation.world.of_kind(*kind):
            said: set[ResourceKey] = set()
            for pointer, service, failing in _called(resource):
                namespace, name = (text(service.get(field)) for field in ("namespace", "name"))
                key = ResourceKey("", "Service", namespace, name)
                port = service.get("port", _HTTPS)
                if key in said or not isinstance(port, int):
                    continue
                hops = simulation.hops.from_api_server(key, port) if simulation.network_policies else []
                denied_all = hops and all(hop.verdict == "denied" for hop in hops)
                if denied_all and not _tunnelled(simulation, hops) and not _selects_later(simulation, hops):
                    said.add(key)
                    yield _finding(simulation, resource, pointer, key, hops[0], failing)
                denied = None if key in said else _refusal(simulation, key, port)
                if denied is not None and denied.by is not None:
                    said.add(key)
                    yield _refused(resource, pointer, key, denied, denied.by, failing)


def _called(resource: Resource) -> Iterator[tuple[Pointer, Any, str]]:
    """Yield the Services that the API server calls for an object: pointer, reference, what follows where it cannot."""
    kind = resource.key.kind
    if kind == "APIService":
        yield ("spec", "service"), mapping(resource.spec.get("service")), "the API that it serves is not available"
        return
    if kind == "CustomResourceDefinition":
        pointer: Pointer = ("spec", "conversion", "webhook", "clientConfig", "service")
        called = mapping(value_at(resource.body, pointer))
        yield pointer, called, "objects of the kind that are stored in another version cannot be read"
        return
    for number, webhook in enumerate(map(mapping, sequence(resource.body.get("webhooks")))):
        called = mapping(mapping(webhook.get("clientConfig")).get("service"))
        fails = "the objects that it is asked about are refused (`failurePolicy: Fail`)"
        if webhook.get("failurePolicy") == "Ignore":
            fails = "the objects are taken without asking it (`failurePolicy: Ignore`)"
        yield ("webhooks", number, "clientConfig", "service"), called, fails


def _tunnelled(simulation: Simulation, hops: list[Hop]) -> bool:
    """Return whether a policy opens the pods to others in the namespace from which a hosted control plane calls."""
    network = simulation.network
    there = Labels([({NAME_LABEL: _TUNNEL}, True)])
    return any(
        isinstance(peer, Pods) and (peer.home == _TUNNEL or (peer.home is None and there.select(peer.namespaces).maybe))
        for hop in hops
        for entry in network.entries(simulation.hops.number(hop.target), "ingress")
        for rule, _ in entry.rules
        if rule.action == "Allow"
        for peers, _ in rule.peers
        for peer in peers
    )


def _selects_later(simulation: Simulation, hops: list[Hop]) -> bool:
    """Return whether a policy with rules selects the pods by a label that they may get when they start."""
    namespace = hops[0].target.namespace  # a Service's pods are all in one
    templates = [each.labels for each in simulation.network.universe.endpoints if each.namespace == namespace]
    for policy in simulation.world.in_namespace(*NETWORK_POLICY, namespace):
        wanted = mapping(mapping(policy.spec.get("podSelector")).get("matchLabels"))
        shown = {name: value for name, value in wanted.items() if not is_written_later(name, templates)}
        opens_later = len(shown) < len(wanted) and bool(policy.spec.get("ingress"))
        if opens_later and any(shown.items() <= hop.target.labels.items() for hop in hops):
            return True
    return False


def _finding(
    simulation: Simulation, resource: Resource, pointer: Pointer, service: ResourceKey, hop: Hop, failing: str
) -> Finding:
    step = hop.deciding
    assert step is not None
    assert step.policy is not None
    policy = step.policy
    severity, confidence, ground = doubt(simulation, service.namespace)
    return Finding(
        RULE,
        severity,
        f"{policy.key} keeps the API server from {service}, which {resource.key} names: no rule opens {hop.port} of "
        f"{hop.target} to it",
        policy.resource.location(*(("metadata", "name") if step.rule is None else step.rule.pointer)),
        resources=(policy.key, service, resource.key),
        label="calls come from an address outside the pods: from a node, as a rule",
        related=(Related("the API server is told to call it here", resource.location(*pointer)),),
        help=(f"note: {failing}", f"fix: open {hop.port} without `from`, or to the addresses of the API server"),
        confidence=confidence,
        ground=ground,
        field="ingress",
    )


def _refusal(simulation: Simulation, key: ResourceKey, port: int) -> Decision | None:
    """Return why the proxies of all pods of a Service refuse the API server, which is in no mesh; None where one takes
    it."""
    world, service = simulation.world, simulation.world.get(key)
    workloads = simulation.acting.workloads(key)
    if service is None or not workloads:
        return None
    wanted = next(
        (each for each in map(mapping, sequence(service.spec.get("ports"))) if each.get("port") == port), None
    )
    if wanted is None:
        return None
    refusals = []
    for workload in workloads:
        call = RequestFacts(
            "", "", "", {}, container_port(workload, wanted.get("targetPort", port)), stream=True,
            sender=Client(None, "", original=True), dialled=port, service=service,
        )  # fmt: skip
        hop = Checkpoint((whole(workload.key),), workload)
        answers = (
            mesh.admit(
                call, hop, [group for group in simulation.groups if group.kind.implementation == mesh.name], world
            )
            for mesh in simulation.meshes.all
        )
        refusals.append(next((each for each in answers if each is not None and each.answer == "denied"), None))
    return refusals[0] if all(refusals) else None


def _refused(
    resource: Resource, pointer: Pointer, service: ResourceKey, denied: Decision, by: Resource, failing: str
) -> Finding:
    return Finding(
        RULE,
        "error",
        f"{by.key} keeps the API server from {service}, which {resource.key} names: {denied.why}",
        by.location(*denied.pointer) if denied.pointer else by.name_location,
        resources=(by.key, service, resource.key),
        label="the API server is in no mesh, and calls without its certificates",
        related=(Related("the API server is told to call it here", resource.location(*pointer)),),
        help=(f"note: {failing}", "fix: let the port of the webhook in without mutual TLS"),
        field="mesh",
    )
