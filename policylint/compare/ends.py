"""GWP325: what a change does at the ends of requests, which no request tells: other pods, doors, contents.

Requests are compared up to the Service that gets them, and by what policies say. What a Service stands for, who runs
under a name, and what the objects hold that policies go by is looked at here, for the objects that a change touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.compare.carried import led_to
from policylint.compare.doors import doors_past_logins
from policylint.compare.pairing import Sides
from policylint.compare.relied import relied_on
from policylint.doors import is_on_node, node_ports, published_as, with_doors
from policylint.model import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    Finding,
    Location,
    Resource,
    ResourceKey,
    Severity,
    World,
    is_symbolic,
    mapping,
    sequence,
    texts,
)
from policylint.model import text as text_of
from policylint.model.embedded import json_in
from policylint.model.kinds import ADDRESSES_OF
from policylint.model.selectors import matches
from policylint.model.words import count, listing
from policylint.network.addressed import destinations, service_named
from policylint.network.addresses import PRIVATE
from policylint.patterns import Pattern
from policylint.policy.asking import asks
from policylint.policy.content import content_references
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.spaces.addresses import cidr, number_of
from policylint.topology import GatewayState
from policylint.topology.ancestry import implementation_of
from policylint.topology.service_ports import ports
from policylint.topology.workloads import WORKLOADS, is_workload, pod_spec, workloads_selected

RULE = "GWP325"
_SLICE = ("discovery.k8s.io", "EndpointSlice")
_OF_SERVICE = "kubernetes.io/service-name"
_ASKED = "every other route to it asks for one"
_CREDENTIALS = frozenset({"secretSelector", "configMapSelector"})
_SELECTED = frozenset({"apiKey", "x509", "basicAuth", "mtls"})
"""Settings whose `selector` says by the labels of Secrets who gets in."""
_INSIDE = Pattern(r"internal|intranet|private|rilb", 2)  # re.IGNORECASE
_OUTSIDE = Pattern(r"external|public|internet|gxlb|xlb", 2)
_HOLDERS = (("", "ConfigMap"), ("", "Secret"))
_MOUNTS = {
    "configMap": "ConfigMap", "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap",
    "secret": "Secret", "secretRef": "Secret", "secretKeyRef": "Secret",
}  # fmt: skip
_ADDRESSES = Pattern(r"/(load-?balancer-?)?ips?$", 2)
"""Annotations of Services that ask for addresses: of MetalLB, kube-vip, Cilium."""
_VERSION = Pattern(r"(?::[^:/@]*)?(?:@.*)?$")
"""The tag and the digest of an image."""
_CONTENTS = ("data", "stringData", "binaryData")


def ends_changed(sides: Sides) -> Iterator[Finding]:
    """Yield a finding for each object of which a change alters what requests end at, or what policies go by."""
    if sides.before.world.resources and sides.after.world.resources:
        ends = _Ends(sides)
        yield from ends.other_pods()
        yield from ends.other_containers()
        yield from ends.other_hosts()
        yield from ends.other_addresses()
        yield from ends.other_networks()
        yield from ends.other_ways()
        yield from ends.other_doors()
        yield from ends.other_accounts()
        yield from ends.other_contents()
        yield from ends.other_deciders()
        yield from ends.other_credentials()
        yield from ends.other_controllers()


class _Ends:
    """Both sides of a change, and what they know of the ends of requests."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before.world, sides.after.world

    @cached_property
    def _changed(self) -> list[tuple[Resource, Resource]]:
        """The objects that both sides have and that are not the same, as they were and as they are."""
        pairs = (
            (self._before.get(self._sides.pairing.was(key)), resource)
            for key, resource in self._after.resources.items()
        )
        return [
            (old, new) for old, new in pairs if old is not None and old.body is not new.body and old.body != new.body
        ]

    @cached_property
    def _named(self) -> Mapping[ResourceKey, list[ResourceKey]]:
        """What policies name in their content, on either side, with the policies."""
        found: dict[ResourceKey, list[ResourceKey]] = {}
        for simulation in (self._sides.after, self._sides.before):
            for state in simulation.policies.values():
                for reference in content_references(state.policy, simulation.world):
                    owners = found.setdefault(reference.wanted, [])
                    if state.key not in owners:
                        owners.append(state.key)
        return found

    @cached_property
    def _relied_on(self) -> Mapping[ResourceKey, list[ResourceKey]]:
        """What others name by whose content they ask who calls, on either side."""
        return {**relied_on(self._sides.before), **relied_on(self._sides.after)}

    @cached_property
    def _routed(self) -> frozenset[ResourceKey]:
        """The Services that routes at Gateways send requests to, on the side before."""
        return led_to(self._sides.before)

    @cached_property
    def _served(self) -> frozenset[ResourceKey]:
        """The Services that requests come to on the side before, through Gateways or beside them."""
        return led_to(with_doors(self._sides.before))

    @cached_property
    def _guarded(self) -> tuple[frozenset[ResourceKey], frozenset[ResourceKey]]:
        """The routes that ask for a login, on each side."""
        return with_login(self._sides.before), with_login(self._sides.after)

    def _is_used(self, service: ResourceKey) -> bool:
        return service in self._served or service in self._named

    def other_pods(self) -> Iterator[Finding]:
        """Yield Services behind which there are pods that were there before, and not behind them."""
        touched = {new.key for _, new in self._changed}
        places = {key.namespace for key in touched if (key.group, key.kind) in WORKLOADS}
        for service in self._after.of_kind("", "Service"):
            former = self._before.get(self._sides.pairing.was(service.key))
            if service.key not in touched and service.key.namespace not in places:
                continue  # neither it nor any pods that it may select
            if former is None or not self._is_used(former.key):
                continue
            behind = {workload.key for workload in workloads_selected(self._before, former)}
            now = workloads_selected(self._after, service)
            if not ({service.key, *(workload.key for workload in now)} & touched):
                continue
            joined = [each.key for each in now if each.key not in behind and self._before.get(each.key) is not None]
            if joined:
                left = "" if behind & {each.key for each in now} else f", no longer {listing(sorted(map(str, behind)))}"
                yield self._finding(
                    service,
                    "warning",
                    f"{service.key} now leads to {listing(map(str, joined))}{left}",
                    service.location("spec", "selector"),
                    f"{self._users(former.key)} sent to these pods",
                    joined,
                )

    def other_hosts(self) -> Iterator[Finding]:
        """Yield Services and Backends that stand for a host by its name, and did not, or for another one."""
        for old, new in self._changed:
            if new.key[:2] in ADDRESSES_OF and self._is_used(old.key):
                yield from self._other_destinations(old, new)
            host = _external_host(new)
            if new.key[:2] != ("", "Service") or not host or host == _external_host(old):
                continue
            gone, is_used = self._pods_left(new.key), self._is_used(old.key)
            if gone or is_used:
                whose = self._users(old.key) if is_used else "what its clients send is"
                yield self._finding(
                    new,
                    "warning",
                    f"{new.key} now leads to host {host}{f', no longer {listing(gone, most=3)}' if gone else ''}",
                    new.location("spec", "externalName"),
                    f"{whose} sent there, past the policies of its pods",
                    [],
                )

    def _other_destinations(self, old: Resource, new: Resource) -> Iterator[Finding]:
        """Yield what a Backend leads to, if it did not before."""
        former, present = _destinations(self._before, old), _destinations(self._after, new)
        joined, gone = sorted(present - former), sorted(former - present)
        if joined:
            also, left = ("", f", no longer {listing(gone, most=3)}") if gone else ("also ", "")
            yield self._finding(
                new,
                "warning",
                f"{new.key} now {also}leads to {listing(joined, most=3)}{left}",
                new.location("spec"),
                f"{self._users(old.key)} sent there, with all credentials in them",
                [],
            )

    def other_addresses(self) -> Iterator[Finding]:
        """Yield EndpointSlices with addresses that a Service did not have."""
        of_service, now = (self._addresses(world) for world in (self._before, self._after))
        for (service, _), resource in self._slices(self._after).items():
            former, present = of_service.get(service, set()), now.get(service, set())
            new = sorted(_addresses(resource) - former)
            gone = [*sorted(former - present), *(self._pods_left(service) if new else ())]
            also, left = ("", f", no longer {listing(gone, most=3)}") if gone else ("also ", "")
            if new and self._before.get(service) is not None and self._is_used(service):
                yield self._finding(
                    resource,
                    "warning",
                    f"{service} now {also}leads to {listing(new, most=3)}{left} (by {resource.key})",
                    resource.location("endpoints"),
                    f"{self._users(service)} sent there",
                    [service],
                )

    def _pods_left(self, service: ResourceKey) -> list[str]:
        """Return the workloads that a Service selected and that it does not select now."""
        was, now = self._before.get(self._sides.pairing.was(service)), self._after.get(service)
        kept = {each.key for each in workloads_selected(self._after, now)} if now is not None else set()
        found = {self._sides.pairing.key(each.key) for each in workloads_selected(self._before, was)} if was else set()
        return sorted(str(key) for key in found - kept)

    def other_networks(self) -> Iterator[Finding]:
        """Yield the Gateways and Services that asked for addresses of private networks alone, and ask for others."""
        for old, new in self._changed:
            was, now = _asked_for(old), _asked_for(new)
            joined = [each for each in now if not _is_inside(each)]
            if was and joined and all(map(_is_inside, was)):
                yield self._finding(
                    new,
                    "warning",
                    f"{new.key} now asks for {listing(joined, most=3)}, no address of a private network",
                    new.location("spec", "addresses") if "addresses" in new.spec else new.name_location,
                    f"it asked for {listing(was, most=3)}",
                    [],
                )

    def _addresses(self, world: World) -> dict[ResourceKey, set[str]]:
        """Return the addresses of each Service that EndpointSlices give it."""
        of_service: dict[ResourceKey, set[str]] = {}
        for (service, _), each in self._slices(world).items():
            of_service.setdefault(service, set()).update(_addresses(each))
        return of_service

    def other_ways(self) -> Iterator[Finding]:
        """Yield routes without a login that lead to a Service to which all routes before asked for one."""
        leading: dict[ResourceKey, set[ResourceKey]] = {}
        for state in self._sides.before.topology.routes:
            for backend in state.backends:
                leading.setdefault(backend.wanted, set()).add(state.route.key)
        for state in self._sides.after.topology.routes:
            was = self._sides.pairing.was(state.route.key)
            for backend in state.backends:
                others = leading.get(self._sides.pairing.was(backend.wanted), set())
                if not others or was in others or not any(parent.attached for parent in state.parents):
                    continue
                if others <= self._guarded[0] and state.route.key not in self._guarded[1]:
                    yield self._finding(
                        state.route,
                        "warning",
                        f"{state.route.key} now leads to {backend.wanted} without the login of {min(others)}",
                        state.route.location(*backend.pointer),
                        _ASKED,
                        [backend.wanted, *sorted(others)],
                    )

    def _slices(self, world: World) -> dict[tuple[ResourceKey, ResourceKey], Resource]:
        return {
            (ResourceKey("", "Service", each.key.namespace, text_of(each.labels.get(_OF_SERVICE))), each.key): each
            for each in world.of_kind(*_SLICE)
            if each.labels.get(_OF_SERVICE)
        }

    def other_doors(self) -> Iterator[Finding]:
        """Yield the new doors to pods: those past a login, and those past a Gateway or a network policy alone."""
        past: set[ResourceKey] = set()
        for finding in doors_past_logins(self._sides):
            past.update(finding.resources)
            yield finding
        for service in self._after.of_kind("", "Service"):
            former = self._before.get(self._sides.pairing.was(service.key))
            opened = _published(service) - _published(former)
            if not opened:
                continue
            reached = [each for each in workloads_selected(self._after, service) if self._is_guarded(each.key)]
            if reached and past.isdisjoint(each.key for each in reached):
                field = "externalIPs" if "externalIPs" in opened else "type"
                yield self._finding(
                    service,
                    "warning",
                    f"{service.key} can now be reached without a Gateway: {listing(sorted(opened))}",
                    service.location("spec", field),
                    f"{reached[0].key} was guarded on every way before",
                    [each.key for each in reached],
                )
        for old, new in self._changed:
            if (new.key.group, new.key.kind) in WORKLOADS and self._is_guarded(old.key):
                opened = _on_node(new) - _on_node(old)
                if opened and new.key not in past:
                    yield self._finding(
                        new,
                        "warning",
                        f"{new.key} can now be reached at its nodes: {listing(sorted(opened))}",
                        new.name_location,
                        "without a Gateway; network policies do not apply to pods on the network of the node",
                        [],
                    )

    def _is_guarded(self, workload: ResourceKey) -> bool:
        """Tell whether a workload was there before, behind a route, or where network policies select pods."""
        resource = self._before.get(workload)
        if resource is None:
            return False
        return any(
            each.key in self._routed and workload in {behind.key for behind in workloads_selected(self._before, each)}
            for each in self._before.in_namespace("", "Service", workload.namespace)
        ) or bool(self._before.in_namespace("networking.k8s.io", "NetworkPolicy", workload.namespace))

    def other_accounts(self) -> Iterator[Finding]:
        """Yield workloads that run under an account that policies name, and did not before."""
        for old, new in self._changed:
            if (new.key.group, new.key.kind) not in WORKLOADS:
                continue
            was, now = (text_of(pod_spec(each).get("serviceAccountName")) or "default" for each in (old, new))
            if was == now or is_symbolic(now):
                continue
            naming = [
                state.key
                for state in self._sides.after.policies.values()
                if _names_account(state.policy.spec, new.key.namespace, now)
            ]
            if naming:
                yield self._finding(
                    new,
                    "warning",
                    f"{new.key} now runs as ServiceAccount {new.key.namespace}/{now}, which {naming[0]} refers to",
                    new.name_location,
                    f"it ran as {was}",
                    naming,
                )

    def other_contents(self) -> Iterator[Finding]:
        """Yield Secrets and ConfigMaps with other contents, by which policies, or what asks like them, go."""
        for old, new in self._changed:
            if (new.key.group, new.key.kind) not in _HOLDERS:
                continue
            users = self._named.get(new.key) or self._relied_on.get(new.key) or []
            if not users:
                continue
            encrypted = "sops" in new.body
            fields = [name for name in _CONTENTS if not _holds_the_same(old.body.get(name), new.body.get(name))]
            if fields:
                yield self._finding(
                    new,
                    "note" if encrypted else "warning",
                    f"{users[0]} relies on the content of {new.key}, which changes",
                    new.location(fields[0]) if fields[0] in new.body else new.name_location,
                    "its effect on access is not evaluated",
                    users,
                )

    def other_deciders(self) -> Iterator[Finding]:
        """Yield what the pods go by whom policies ask, and that holds something else now."""
        changed = {new.key: (old, new) for old, new in self._changed if (new.key.group, new.key.kind) in _HOLDERS}
        programs = {new.key: (old, new) for old, new in self._changed if (new.key.group, new.key.kind) in WORKLOADS}
        services = sorted(key for key in self._named if key[:2] == ("", "Service")) if changed or programs else []
        for asked in filter(None, map(self._after.get, services)):
            for workload in workloads_selected(self._after, asked):
                old, new = programs.pop(workload.key, (workload, workload))
                if joined := sorted(_images(new) - _images(old)):
                    yield self._finding(
                        new,
                        "warning",
                        f"{self._named[asked.key][0]} asks {new.key}, which now runs {listing(joined)}",
                        new.name_location,
                        f"it ran {listing(sorted(_images(old)))}",
                        self._named[asked.key],
                    )
                for key in sorted(_mounted(workload) & changed.keys()):
                    old, new = changed.pop(key)
                    if all(_holds_the_same(old.body.get(name), new.body.get(name)) for name in _CONTENTS):
                        continue
                    yield self._finding(
                        new,
                        "warning",
                        f"{self._named[asked.key][0]} asks {workload.key}, whose {key} changes",
                        new.name_location,
                        "its effect on decisions is not evaluated",
                        [workload.key, *self._named[asked.key]],
                    )

    def other_containers(self) -> Iterator[Finding]:
        """Yield Services whose port leads past the container of the pods that it led to."""
        touched = {new.key for _, new in self._changed}
        around = {key.namespace for key in touched if is_workload(key.group, key.kind)}
        for service in self._after.of_kind("", "Service"):
            if service.key not in touched and service.key.namespace not in around:
                continue
            former = self._before.get(self._sides.pairing.was(service.key))
            if former is None or not self._is_used(former.key):
                continue
            for workload in workloads_selected(self._after, service):
                was = self._before.get(self._sides.pairing.was(workload.key))
                if was is None or touched.isdisjoint((service.key, workload.key)):
                    continue
                targets = _targets(former)
                for (protocol, port), target in _targets(service).items():
                    left, now = _container(was, targets.get((protocol, port))), _container(workload, target)
                    if left and left != now and (now in _containers(was) or left in _containers(workload)):
                        yield self._finding(
                            service,
                            "warning",
                            f"port {port} of {service.key} now leads to {f'container {now}' if now else 'another port'}"
                            f" of {workload.key} instead of container {left}",
                            service.location("spec", "ports"),
                            f"{self._users(former.key)} sent past {left}",
                            [workload.key],
                        )

    def other_credentials(self) -> Iterator[Finding]:
        """Yield Secrets and ConfigMaps that policies select by labels now, and did not before."""
        selectors: list[tuple[ResourceKey, Mapping[str, Any]]] | None = None
        for old, new in self._changed:
            if (new.key.group, new.key.kind) not in _HOLDERS or old.labels == new.labels:
                continue
            if selectors is None:
                states = self._sides.after.policies.values()
                selectors = [(state.key, each) for state in states for each in _credential_selectors(state.policy.spec)]
            by = [key for key, each in selectors if matches(each, new.labels) and not matches(each, old.labels)]
            if by:
                yield self._finding(
                    new,
                    "warning",
                    f"{by[0]} now accepts the credentials of {new.key}",
                    new.location("metadata", "labels"),
                    "its labels match the policy's selector now",
                    by,
                )

    def other_controllers(self) -> Iterator[Finding]:
        """Yield Gateways of another class that another controller may serve, with policies on them."""
        for state in self._sides.after.topology.gateways:
            former = self._sides.before.topology.gateway(self._sides.pairing.was(state.gateway.key))
            if former is None:
                continue
            classes = [text_of(each.gateway.spec.get("gatewayClassName")) for each in (former, state)]
            if _INSIDE.search(classes[0]) and _OUTSIDE.search(classes[1]) and not _INSIDE.search(classes[1]):
                yield self._finding(
                    state.gateway,
                    "warning",
                    f"{state.gateway.key} changes from class {classes[0]} to {classes[1]}",
                    state.gateway.location("spec", "gatewayClassName"),
                    "to judge by the names, it was internal and becomes public",
                    [],
                )
            if former.controller == state.controller:
                continue
            if classes[0] == classes[1] and not (former.controller and state.controller):
                continue  # its class came into the tree, or left it
            there = [each for each in self._sides.before.policies.values() if _is_at(each, former.gateway.key)]
            if not there:
                continue
            who, was = (
                each.controller or f"the controller of class {name} (not in this repository)"
                for each, name in ((state, classes[1]), (former, classes[0]))
            )
            doubtful = [each for each in there if _is_doubtful(each, state, self._sides.after.catalog)]
            lost = [each.key for each in doubtful or there]
            applied = f"{count(len(there), 'policy', 'policies')} applied there before"
            unread = f": {lost[0]} may not be read there" if doubtful else ""
            yield self._finding(
                state.gateway,
                "error" if doubtful and state.controller else "warning",
                f"{state.gateway.key} is now served by {who} instead of {was}{unread}",
                state.gateway.location("spec", "gatewayClassName"),
                f"{applied}, {lost[0]} among them",
                lost,
            )

    def _users(self, service: ResourceKey) -> str:
        """Return who sends to a Service, as the subject of a sentence."""
        names = self._named.get(service)
        if names:
            return f"requests of {names[0]} are"
        return "requests of routes are"

    def _finding(
        self,
        resource: Resource,
        severity: Severity,
        message: str,
        location: Location,
        label: str,
        others: Iterable[ResourceKey],
    ) -> Finding:
        return Finding(
            RULE,
            severity,
            message,
            location,
            resources=(resource.key, *others),
            label=label,
            environments=(self._after.name,),
        )


def _credential_selectors(value: Any, above: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield the selectors of credentials in a policy: of API keys, certificates, users."""
    if isinstance(value, list):
        for each in value:
            yield from _credential_selectors(each, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            of_credentials = name in _CREDENTIALS or (name == "selector" and above in _SELECTED)
            if of_credentials and ("matchLabels" in mapping(inner) or "matchExpressions" in mapping(inner)):
                yield mapping(inner)
            else:
                yield from _credential_selectors(inner, str(name))


def with_login(side: Simulation) -> frozenset[ResourceKey]:
    """Return the routes on a way to which some policy, or a filter, asks for a login."""
    found = {binding.holder.key for binding in side.bindings if binding.authenticates}
    for group in side.groups:
        if any(ask.purpose == "authentication" and ask.must for ask in asks(group.kind, group.effective.spec)):
            found |= {node.key for path in group.contexts() for node in path if node.key.kind in ROUTE_KINDS}
    return frozenset(found)


def _mounted(workload: Resource) -> set[ResourceKey]:
    """Return the ConfigMaps and Secrets that the pods of a workload hold as files or variables."""
    found: set[ResourceKey] = set()
    pending: list[Any] = [pod_spec(workload)]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
            for field, kind in _MOUNTS.items():
                inner = mapping(value.get(field))
                name = text_of(inner.get("name")) or text_of(inner.get("secretName"))
                if name:
                    found.add(ResourceKey("", kind, workload.key.namespace, name))
    return found


def _holds_the_same(before: Any, after: Any) -> bool:
    """Return whether two contents are the same, or the same JSON written otherwise."""
    if before == after:
        return True
    was, now = mapping(before), mapping(after)
    return was.keys() == now.keys() and all(
        value == now[name] or (json_in(value) is not None and json_in(value) == json_in(now[name]))
        for name, value in was.items()
    )


def _targets(service: Resource) -> dict[tuple[str, int], int | str | None]:
    """Return the port of the pods for each port of a Service, which may have one of each protocol by a number."""
    return {(each.protocol, each.number): each.target for each in ports(service) if each.number is not None}


def _containers(workload: Resource) -> dict[str, list[Mapping[str, Any]]]:
    """Return the ports of each container of a workload's pods, by its name."""
    spec = pod_spec(workload)
    listed = (mapping(each) for field in ("containers", "initContainers") for each in sequence(spec.get(field)))
    return {text_of(each.get("name")): [mapping(port) for port in sequence(each.get("ports"))] for each in listed}


def _images(workload: Resource) -> set[str]:
    """Return what the containers of a workload run, whatever its version."""
    images = (text_of(mapping(each).get("image")) for each in sequence(pod_spec(workload).get("containers")))
    return {_VERSION.sub("", image) for image in images if image and not is_symbolic(image)}


def _container(workload: Resource, target: Any) -> str:
    """Return the container that a port of a workload's pods belongs to, "" where none says so."""
    of_port = (
        name
        for name, ports in _containers(workload).items()
        if any(target is not None and target in (port.get("containerPort"), port.get("name")) for port in ports)
    )
    return next(of_port, "")


def _destinations(world: World, backend: Resource) -> set[str]:
    """Return where a Backend leads: `Service shop/app port 80`, `host api.example.com port 443`."""
    found = set()
    for host, _, port in destinations(world, backend, None):
        named = service_named(world, host)
        found.add(f"{named or f'host {host.lower()}'}" + ("" if port is None else f" port {port}"))
    return found


def _external_host(service: Resource) -> str:
    """Return the host that a Service stands for, "" for one that has pods."""
    return text_of(service.spec.get("externalName")).lower() if service.spec.get("type") == "ExternalName" else ""


def _addresses(resource: Resource) -> set[str]:
    return {
        address
        for endpoint in map(mapping, sequence(resource.body.get("endpoints")))
        for address in texts(endpoint.get("addresses"))
    }


def _asked_for(resource: Resource) -> list[str]:
    """Return the addresses at which a Gateway or Service asks to be reached."""
    if resource.key[:2] == (GATEWAY_GROUP, "Gateway"):
        listed = map(mapping, sequence(resource.spec.get("addresses")))
        return [text_of(each.get("value")) for each in listed if each.get("type", "IPAddress") == "IPAddress"]
    if resource.key[:2] != ("", "Service"):
        return []
    noted = (text_of(value) for key, value in resource.annotations.items() if _ADDRESSES.search(key))
    written = (each.strip() for value in noted for each in value.split(","))
    return [each for each in (text_of(resource.spec.get("loadBalancerIP")), *written) if each]


def _is_inside(address: str) -> bool:
    """Tell whether an address is one of a private network, or none that is written."""
    number = number_of(address)
    return number is None or any(each.low <= number < each.high for each in filter(None, map(cidr, PRIVATE)))


def _published(service: Resource | None) -> set[str]:
    """Return the fields by which a Service is reached from outside."""
    kinds = published_as(service) if service is not None else []
    return {"externalIPs" if kind == "ExternalIP" else f"type {kind}" for kind in kinds}


def _on_node(workload: Resource) -> set[str]:
    """Return the fields by which the pods of a workload are reached at their node."""
    if is_on_node(workload):
        return {"hostNetwork"}
    return {f"hostPort {number}" for _, number in node_ports(workload)}


def _names_account(value: Any, namespace: str, account: str, at: tuple[str, ...] = ()) -> bool:
    """Tell whether a policy names an account, by its identity or, in a list of accounts, by its name."""
    if isinstance(value, dict):
        return any(_names_account(inner, namespace, account, (*at, str(key))) for key, inner in value.items())
    if isinstance(value, list):
        return any(_names_account(inner, namespace, account, at) for inner in value)
    if not isinstance(value, str) or (at and at[-1].startswith("not")):
        return False
    if value.endswith(f"/ns/{namespace}/sa/{account}"):
        return True
    return "serviceAccounts" in at and value in (account, f"{namespace}/{account}")


def _is_at(policy: Any, gateway: ResourceKey) -> bool:
    """Tell whether a policy acted at a Gateway."""
    return any(node.key == gateway for group in policy.groups for path in group.contexts() for node in path)


def _is_doubtful(policy: PolicyState, gateway: GatewayState, catalog: Catalog) -> bool:
    """Tell whether a policy protects, and the controller of a Gateway may not read it."""
    named = {name for spec in policy.declared for name in spec.proper}
    return not named.isdisjoint(policy.kind.settings.security) and catalog.may_not_read(
        implementation_of(gateway, catalog), policy.kind
    )


__all__ = ["ends_changed", "with_login"]
