"""GWP315: a rule about the identity of clients where none arrives: at a Gateway, behind a waypoint, in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from policylint.checks.kit.mesh_policies import IDENTITY_KEYS, Authorizations, action, conditions, is_trial, sources
from policylint.documents import Pointer
from policylint.implementations import Implementation, implementation
from policylint.model import Finding, Resource, ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import AUTHORIZATION
from policylint.model.words import leading
from policylint.policy.mutual_tls import modes
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS, is_workload, pod_template, service_account, services_selecting

RULE = "GWP315"
_IDENTITIES = tuple(IDENTITY_KEYS.values())
_EFFECTS = {
    "ALLOW": "it lets no client in",
    "DENY": "it denies nothing",
    "CUSTOM": "the provider is never asked about them",
}
_OPPOSITE = {
    "ALLOW": "every client is another one, and let in",
    "DENY": "every client is another one, and denied",
    "CUSTOM": "every client is another one, and the provider is asked about it",
}
_NOT = tuple(f"not{name[0].upper()}{name[1:]}" for name in _IDENTITIES)
"""The fields that ask who a client is not, which holds for one without an identity."""


def check(simulation: Simulation) -> Iterator[Finding]:
    authorizations, strangers = Authorizations(simulation), _Strangers(simulation)
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) != AUTHORIZATION or action(state.policy) not in _EFFECTS:
            continue
        name = state.kind.implementation
        gateways = _gateways(simulation, state, implementation(name, simulation.catalog.settings(name)))
        for place, field, _ in (*_places(state.policy), *_excluding(state.policy)) if gateways else ():
            effects = _OPPOSITE if field.startswith("not") else _EFFECTS
            effect = effects[action(state.policy)]
            yield Finding(
                RULE,
                "warning",
                f"{state.key} asks for {field} at {gateways[0].key}, whose clients have no identity: {effect}",
                state.policy.location(*place),
                resources=(state.key, *(gateway.key for gateway in gateways[:3])),
                label="only a mesh certificate carries an identity, and clients present none here",
                help=("fix: match what such clients do have: `requestPrincipals`, `ipBlocks` or `remoteIpBlocks`",),
                field=field,
            )
        if not gateways and action(state.policy) == "ALLOW" and not is_trial(state):
            root = text(simulation.catalog.settings(name).get("rootNamespace"))
            yield from _outside(state, strangers, root)
        if not gateways and action(state.policy) == "DENY" and not is_trial(state):
            behind = list(_behind(simulation, state))
            yield from behind or _in_plain_text(simulation, state, authorizations)


class _Strangers:
    """The workloads that run as an account, or in a namespace, where none of them is in the mesh."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._by_account: dict[tuple[str, str], list[Resource]] | None = None
        self._known: dict[tuple[str, str], list[Resource]] = {}
        self.doubts: dict[str, str] = {}
        """Why those of a namespace may be in the mesh all the same."""

    def of(self, account: tuple[str, str]) -> list[Resource]:
        """Return them by namespace and account, "" for all of the namespace; none where one is in it, or may be.

        A Namespace that nothing takes into the mesh, where other Namespaces are labelled, is taken at its word.
        """
        if self._by_account is None:
            self._by_account = {}
            for kind in WORKLOADS:
                for each in self._simulation.world.of_kind(*kind):
                    for name in ("", service_account(each)):
                        self._by_account.setdefault((each.key.namespace, name), []).append(each)
        if account not in self._known:
            found = self._by_account.get(account, [])
            proxied = self._simulation.meshes.proxied
            answers = {proxied(each) for each in found}
            is_silent = True not in answers and None in answers and self._is_beside(account[0], found)
            if is_silent:
                self.doubts[account[0]] = f"Namespace {account[0]} may be taken into the mesh elsewhere"
            self._known[account] = found if answers == {False} or is_silent else []
        return self._known[account]

    def _is_beside(self, name: str, pods: Sequence[Resource]) -> bool:
        """Return whether a Namespace and pods in it say nothing of the mesh, and other Namespaces of its world do."""
        enrolling = self._simulation.catalog.enrolling().keys()
        stated = (mapping(pod_template(each).get("metadata")) for each in pods)
        if any(
            not enrolling.isdisjoint((*mapping(of.get("labels")), *mapping(of.get("annotations")))) for of in stated
        ):
            return False
        return self._speaking.get(name) is False and any(self._speaking.values())

    @cached_property
    def _speaking(self) -> Mapping[str, bool]:
        """Whether each Namespace says something of the mesh."""
        enrolling = self._simulation.catalog.enrolling().keys()
        return {
            each.key.name: not enrolling.isdisjoint((*map(str, each.labels), *map(str, each.annotations)))
            for each in self._simulation.world.of_kind("", "Namespace")
        }


def _outside(state: PolicyState, strangers: _Strangers, root: str) -> Iterator[Finding]:
    """Yield the sources of an ALLOW whose pods are here, and none of them in the mesh: they have no identity.

    All of the root namespace of the mesh is more than its pods that are here: its gateways are where it was installed.
    """
    for place, field, source in _places(state.policy):
        named = [_account(field, value, state.policy.key.namespace) for value in texts(source.get(field))]
        found = [[] if each is None or each == (root, "") else strangers.of(each) for each in named]
        if not found or not all(found):
            continue
        pods = [pod for each in found for pod in each]
        doubts = [strangers.doubts[pod.key.namespace] for pod in pods if pod.key.namespace in strangers.doubts]
        yield Finding(
            RULE,
            "warning",
            f"{state.key} asks for {field} of pods outside the mesh, which have no identity: it lets none of them in",
            state.policy.location(*place),
            resources=(state.key, *(pod.key for pod in pods[:3])),
            label=f"{leading([pod.key for pod in pods], 2)} sends without a certificate of the mesh",
            help=("fix: take the pods into the mesh, or allow their addresses (`ipBlocks`)",),
            confidence="assumed" if doubts else "certain",
            ground=next(iter(doubts), ""),
            field=field,
        )


def _account(field: str, value: str, home: str) -> tuple[str, str] | None:
    """Return the namespace and the ServiceAccount that a value of a source names, "" for all accounts; None for
    patterns and variables, and for names of another form."""
    if "*" in value or is_symbolic(value):
        return None
    if field == "namespaces":
        return value, ""
    if field == "serviceAccounts":
        namespace, slash, name = value.rpartition("/")
        return (namespace if slash else home), name
    parts = value.split("/")
    return (parts[-3], parts[-1]) if len(parts) == 5 and parts[-4::2] == ["ns", "sa"] else None


def _behind(simulation: Simulation, state: PolicyState) -> Iterator[Finding]:
    """Yield the sources that a DENY at pods names, and that do not arrive there: a waypoint sends as itself."""
    waypoints = _waypoints(simulation, state)
    for place, field, source in _places(state.policy) if waypoints else ():
        if any(_is_named(source, waypoint.key) for waypoint in waypoints):
            continue
        named = waypoints[0].key
        yield Finding(
            RULE,
            "warning",
            f"{state.key} denies by {field} behind {named}, which sends as itself: it denies nothing there",
            state.policy.location(*place),
            resources=(state.key, *(waypoint.key for waypoint in waypoints[:3])),
            label="requests for their Services reach these pods with the identity of the waypoint",
            help=("fix: target the Service with `targetRefs`, so that the waypoint denies them",),
            field=field,
        )


def _in_plain_text(simulation: Simulation, state: PolicyState, authorizations: Authorizations) -> Iterator[Finding]:
    """Yield the first source that a DENY names at pods that take plain text, whose clients have no identity."""
    reached = list(authorizations.beside(state))
    pods = {node.key for node, _ in reached if node is not None and is_workload(*node.key[:2])}
    if not pods or len(pods) < len({node for node, _ in reached}):
        return
    if any(action(policy) != "DENY" for _, policies in reached for policy in policies):
        return  # it may turn them away
    stated = _transports(simulation, pods)
    if any(spec is not None and "STRICT" in modes(spec) for spec in stated) or any(
        map(partial(_is_tunnelled, simulation), pods)
    ):
        return
    for place, field, _ in list(_places(state.policy))[:1]:
        yield Finding(
            RULE,
            "warning",
            f"{state.key} denies by {field}, and so not clients that send plain text",
            state.policy.location(*place),
            resources=(state.key, *sorted(pods)[:3]),
            label="only mutual TLS tells who a client is, and these pods take plain text as well",
            help=("fix: demand mutual TLS with a PeerAuthentication of mode STRICT",),
            confidence="assumed" if None in stated else "certain",
            ground="a PeerAuthentication elsewhere may demand mutual TLS" if None in stated else "",
            field=field,
        )


def _is_tunnelled(simulation: Simulation, pods: ResourceKey) -> bool:
    """Return whether connections to pods come through a tunnel that tells who the client is, whatever it dials."""
    ends = (end for end in simulation.network.universe.endpoints if end.key == pods)
    return any(simulation.meshes.tunnel(end, end) is not None for end in ends)


def _transports(simulation: Simulation, pods: Iterable[ResourceKey]) -> list[Mapping[str, Any] | None]:
    """Return what is stated about the transport of each of some pods; None where nothing is."""
    stated = {
        path[-1].key: group.effective.spec
        for group in simulation.groups
        if (group.kind.group, group.kind.kind) == (AUTHORIZATION[0], "PeerAuthentication")
        for path in group.contexts()
    }
    return [stated.get(pod) for pod in pods]


def _waypoints(simulation: Simulation, state: PolicyState) -> list[Resource]:
    """Return the waypoints before the Services of the pods at which a policy acts; none where one has none."""
    found: dict[ResourceKey, Resource] = {}
    for path in (path for group in state.groups for path in group.contexts()):
        workload = simulation.world.get(path[-1].key)
        if workload is None or not is_workload(*workload.key[:2]):
            return []
        services = services_selecting(simulation.world, workload)
        for service in services:
            fronts = simulation.acting.fronts(service.key, None)
            if not fronts or any(front.resource.key == service.key for front in fronts):
                return []
            found.update((front.resource.key, front.resource) for front in fronts)
        if not services:
            return []
    return list(found.values())


def _is_named(source: Mapping[str, Any], waypoint: ResourceKey) -> bool:
    """Return whether a source may be a waypoint, which runs as the ServiceAccount of its name."""
    account = f"{waypoint.namespace}/{waypoint.name}"
    identity = f"/ns/{waypoint.namespace}/sa/{waypoint.name}"
    principals = ("*" in each or each.endswith(identity) for each in texts(source.get("principals")))
    namespaces = ("*" in each or each == waypoint.namespace for each in texts(source.get("namespaces")))
    accounts = (each in (account, waypoint.name) for each in texts(source.get("serviceAccounts")))
    return any((*principals, *namespaces, *accounts))


def _gateways(simulation: Simulation, state: PolicyState, behaviour: Implementation) -> list[Resource]:
    """Return the Gateways without identities at which a policy acts; none where it acts elsewhere as well."""
    gateways: dict[ResourceKey, Resource] = {}
    for path in (path for group in state.groups for path in group.contexts()):
        place = simulation.world.get(path[-1].key)
        if place is not None and is_workload(*place.key[:2]):
            found = behaviour.nameless(place, simulation.world)
        else:
            is_gateway = place is not None and place.key.kind == "Gateway"
            found = () if place is None or not is_gateway else (place,)
            found = () if any(behaviour.identifies_clients(each, simulation.world) for each in found) else found
        if not found:
            return []
        gateways.update((gateway.key, gateway) for gateway in found)
    return list(gateways.values())


def _places(policy: Resource) -> Iterator[tuple[Pointer, str, Mapping[str, Any]]]:
    """Yield where a policy asks who a client of the mesh is, the field that says so, and the source that it stands for.

    A rule asks so once in an entry of `from`, and by conditions of `when`.
    """
    for rule_index, rule in enumerate(sequence(policy.spec.get("rules"))):
        for index, source in enumerate(sources(rule)):
            field = next((name for name in _IDENTITIES if source.get(name)), "")
            if field:
                yield ("spec", "rules", rule_index, "from", index, "source", field), field, source
        for index, condition in enumerate(conditions(rule)):
            key = text(condition.get("key"))
            if key in IDENTITY_KEYS and condition.get("values"):
                stated = {IDENTITY_KEYS[key]: condition["values"]}
                yield ("spec", "rules", rule_index, "when", index, "values"), key, stated


def _excluding(policy: Resource) -> Iterator[tuple[Pointer, str, Mapping[str, Any]]]:
    """Yield where a policy asks who a client is not, but for those that ask for clients without an identity (`*`)."""
    for rule_index, rule in enumerate(sequence(policy.spec.get("rules"))):
        for index, source in enumerate(sources(rule)):
            field = next((name for name in _NOT if source.get(name)), "")
            if field and "*" not in texts(source.get(field)) and not any(source.get(name) for name in _IDENTITIES):
                yield ("spec", "rules", rule_index, "from", index, "source", field), field, source
