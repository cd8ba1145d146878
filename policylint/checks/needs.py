"""What rules need to have anything to say, as questions about a simulation that cost next to nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from policylint.model import mapping, sequence, text
from policylint.model.kinds import DEFINITION, INGRESS, WAYS_IN, WORKLOADS

if TYPE_CHECKING:
    from policylint.policy.results import PolicyState, Target
    from policylint.simulation import Simulation
    from policylint.topology import ParentState

    Need = Callable[[Simulation], bool]

_OF_BALANCERS = "service.beta.kubernetes.io/"
IN_PLACE = "acme.cert-manager.io/http01-edit-in-place"
"""The annotation by which cert-manager answers challenges in the Ingress that bears it."""


def anything(simulation: Simulation) -> bool:  # noqa: ARG001 - what every need takes
    """Run the rule on every environment."""
    return True


def any_policy(simulation: Simulation) -> bool:
    return bool(simulation.policies)


def verifying(simulation: Simulation) -> bool:
    """Need a policy that says for which names the certificate of a backend must be."""
    return any(state.kind.secures.get("checked") for state in simulation.policies.values())


def kinds_or_versions_of_nobody(simulation: Simulation) -> bool:
    """Need an object whose kind may be another one misspelt, or a policy of a version that is not known."""
    from policylint.catalog.naming import meant

    catalog, world = simulation.catalog, simulation.world
    return any(
        meant(*kind) is not None
        if known is None
        else any(each.version not in known.versions for each in world.of_kind(*kind))
        for kind in world.kinds()
        for known in (catalog.get(*kind) if catalog.describes(*kind) else None,)
    )


def any_route(simulation: Simulation) -> bool:
    return bool(simulation.topology.routes)


def enrolling(simulation: Simulation) -> bool:
    """Need a namespace, or what makes pods, of which a mesh may be told something."""
    return not {("", "Namespace"), *WORKLOADS}.isdisjoint(simulation.world.kinds())


def read_by_class(simulation: Simulation) -> bool:
    """Need an object that its controller reads by an annotation for its class."""
    kinds = (simulation.catalog.get(*key) for key in simulation.world.kinds())
    return any(kind is not None and kind.read_with for kind in kinds)


def redirecting_route(simulation: Simulation) -> bool:
    """Need a rule that redirects requests, an object beside Gateway API that speaks of it, or a load balancer in front
    of what may."""
    from policylint.topology.routes import rules

    services = simulation.world.of_kind("", "Service")
    if any(str(name).startswith(_OF_BALANCERS) for service in services for name in service.annotations):
        from policylint.doors.ended_before import may_end

        if may_end(simulation.world):
            return True
    if any("redirect" in str(each.body).lower() for kind in WAYS_IN for each in simulation.world.of_kind(*kind)):
        return True
    return any(
        mapping(http_filter).get("type") == "RequestRedirect"
        for state in simulation.topology.routes
        for rule in rules(state.route)
        for http_filter in sequence(rule.body.get("filters"))
    )


def any_mesh(simulation: Simulation) -> bool:
    return bool(simulation.meshes.all)


def any_gateway(simulation: Simulation) -> bool:
    return bool(simulation.topology.gateways or simulation.topology.listener_sets)


def classes_or_parameters(simulation: Simulation) -> bool:
    """Need a Gateway, which names its class, or an object that names its parameters."""
    return bool(simulation.topology.gateways or simulation.bindings)


def any_problem(simulation: Simulation) -> bool:
    return bool(simulation.world.problems)


def any_note(simulation: Simulation) -> bool:
    """Need something that came up when the environment was rendered or simulated."""
    return bool(simulation.world.notes or simulation.cut)


def any_crd(simulation: Simulation) -> bool:
    return bool(simulation.world.of_kind(*DEFINITION))


def policies_and_gateways(simulation: Simulation) -> bool:
    return bool(simulation.policies and simulation.topology.gateways)


def called_workloads(simulation: Simulation) -> bool:
    """Need a policy, and an object that tells the API server to call a Service."""
    groups = ("admissionregistration.k8s.io", "apiregistration.k8s.io")
    return bool(simulation.policies) and any(group in groups for group, _ in simulation.world.kinds())


def logins_and_challenges(simulation: Simulation) -> bool:
    """Need a login with a callback, an issuer of tokens at a host of a route, or one of certificates."""
    from policylint.catalog.content import places

    hosts = {host for route in simulation.topology.routes for host in route.hostnames}

    def vouches(policy: PolicyState) -> bool:
        sessions = policy.kind.sessions
        urls = (
            text(value).partition("://")[2]
            for weakness in policy.kind.weaker
            if weakness.anchor
            for _, value in places(policy.policy.spec, weakness.path, ())
        )
        return bool(sessions and sessions.path in policy.policy.spec) or any(
            url.partition("/")[0].partition(":")[0] in hosts for url in urls
        )

    if any(IN_PLACE in ingress.annotations for ingress in simulation.world.of_kind(*INGRESS)):
        return True
    issuing = any(group == "cert-manager.io" for group, _ in simulation.world.kinds())
    return issuing or (bool(hosts) and any(map(vouches, simulation.policies.values())))


def preflights(simulation: Simulation) -> bool:
    """Need what answers preflights (a policy, a filter, what routes name), and what keeps them from it: a rule with
    a method or header, or a policy that answers none."""
    from policylint.topology.routes import rules

    catalog, world = simulation.catalog, simulation.world
    known = (catalog.get(*kind) for kind in world.kinds() if catalog.describes(*kind))
    named = any(kind is not None and kind.preflight and kind.bound_by != "reference" for kind in known)
    others = (each.spec for kind in WAYS_IN.keys() - {INGRESS} for each in world.of_kind(*kind))
    if named or any("'corsPolicy': {" in str(spec) for spec in others):
        return True
    bodies = [rule.body for state in simulation.topology.routes for rule in rules(state.route)]
    filters = (mapping(each).get("type") for body in bodies for each in sequence(body.get("filters")))
    answering = [
        policy
        for policy in simulation.policies.values()
        if policy.kind.preflight and policy.kind.preflight.split(".")[0] in policy.policy.spec
    ]
    has_filters = "CORS" in filters
    if not answering and not has_filters:
        return False
    logins = some_policy(lambda policy: bool(policy.kind.settings.authorization) and not policy.kind.preflight)
    met = {key for policy in answering for group in policy.groups for key in group.routes()}
    return logins(simulation) or any(
        {"method", "headers"} & mapping(match).keys()
        for state in simulation.topology.routes
        if has_filters or state.route.key in met
        for rule in rules(state.route)
        for match in sequence(rule.body.get("matches"))
    )


def authorizing_at_gateways(simulation: Simulation) -> bool:
    """Need a policy at a Gateway of a kind that authorizes, and two hosts of routes that it names, or nearly one."""
    from policylint.checks.kit.wording import misspelt_hosts

    hosts = {host for route in simulation.topology.routes for host in route.hostnames if host}
    said: set[str] = set()
    for policy in simulation.policies.values() if hosts else ():
        if policy.kind.settings.authorization and any(each.key.kind == "Gateway" for each in policy.targets):
            words = {word for word in re.split(r"[^\w.*-]+", str(policy.policy.spec)) if "." in word}
            if len(words & hosts) > 1:
                return True
            said |= words
    return bool(said and misspelt_hosts(said, hosts))


def some_policy(condition: Callable[[PolicyState], bool]) -> Need:
    """Need a policy that meets a condition."""
    return lambda simulation: any(map(condition, simulation.policies.values()))


def either(*needs: Need) -> Need:
    """Need what one of some rules' halves needs."""
    return lambda simulation: any(need(simulation) for need in needs)


def of_kind(*kinds: str) -> Need:
    """Need a policy of one of some kinds."""
    return lambda simulation: any(key.kind in kinds for key in simulation.policies)


def has(*kinds: str) -> Need:
    """Need an object of one of some kinds, whatever its group, that is no policy."""
    return lambda simulation: any(each in kinds for _, each in simulation.world.kinds())


def ways_in(simulation: Simulation) -> bool:
    """Need an object by which requests come in past Gateways."""
    return not WAYS_IN.keys().isdisjoint(simulation.world.kinds())


def several(kind: str) -> Need:
    """Need two objects of a kind, whatever its group."""
    return lambda simulation: sum(key.kind == kind for key in simulation.world.resources) > 1


def some_target(condition: Callable[[Target], bool]) -> Need:
    """Need a policy with a target that meets a condition."""
    return some_policy(lambda policy: any(map(condition, policy.targets)))


def some_parent(condition: Callable[[ParentState], bool]) -> Need:
    """Need a parent of a route that meets a condition."""
    return lambda simulation: any(condition(parent) for route in simulation.topology.routes for parent in route.parents)


def port_of_service(simulation: Simulation) -> bool:
    """Need a backend that is a port of a Service."""
    return any(backend.port_found for route in simulation.topology.routes for backend in route.backends)


def decided_by_address(simulation: Simulation) -> bool:
    """Return whether anything may find out a client's address, or decide by it."""
    detecting = of_kind("ClientTrafficPolicy", "ListenerPolicy", "AuthorizationPolicy")
    from policylint.doors.peculiar import LISTING

    beside = any(simulation.world.of_kind(*kind) for kind in LISTING)
    return beside or detecting(simulation) or any(binding.form == "parameters" for binding in simulation.bindings)


def addresses_in_lists(simulation: Simulation) -> bool:
    """Return whether anything may list addresses of clients: policies that authorize, Ingresses, network policies."""
    from policylint.doors.peculiar import LISTING

    if any_network_policy(simulation) or any(simulation.world.of_kind(*kind) for kind in LISTING):
        return True
    from policylint.implementations import implementation

    names = {group.kind.implementation for group in simulation.groups}
    behaviours = {name: implementation(name, simulation.catalog.settings(name)) for name in names}
    return any(
        behaviours[group.kind.implementation].address_rule(group.kind, attachment.policy.spec)
        for group in simulation.groups
        for attachment in group.effective.stack
    )


def routes_and_authentication(simulation: Simulation) -> bool:
    """Need two routes, and a policy of a kind that authenticates."""
    authenticates = some_policy(lambda policy: bool(policy.kind.settings.authentication))
    return len(simulation.topology.routes) > 1 and authenticates(simulation)


def lost_settings(simulation: Simulation) -> bool:
    """Need a setting that another policy replaced."""
    return any(group.effective.lost for group in simulation.groups)


def stacked_policies(simulation: Simulation) -> bool:
    """Need two policies of one kind that act on one request."""
    return any(len(group.effective.stack) > 1 for group in simulation.groups)


def unstated_order(simulation: Simulation) -> bool:
    """Need a result that depends on an order of creation that is not stated."""
    return bool(simulation.order_dependent)


def any_network_policy(simulation: Simulation) -> bool:
    from policylint.network.kinds import has_policies

    return simulation.world.once(has_policies)  # two dozen rules ask


def any_cluster_network_policy(simulation: Simulation) -> bool:
    """Need an AdminNetworkPolicy, or one of the other kinds that are ordered and deny by their own rules."""
    from policylint.network.kinds import CLUSTER

    return any(simulation.world.of_kind(*kind) for kind in CLUSTER)


def any_ordered_network_policy(simulation: Simulation) -> bool:
    """Need a network policy of which the rules are tried one after the other."""
    from policylint.network.kinds import CALICO, CLUSTER

    return any(simulation.world.of_kind(*kind) for kind in (*CLUSTER, *CALICO))


def releases_are_told(simulation: Simulation) -> bool:
    """Need something that tells the release of a controller: a chart, an image."""
    from policylint.render.in_use import may_tell

    return may_tell(simulation.world)


def routes_and_network_policies(simulation: Simulation) -> bool:
    """Need a network policy, and a route or another way in: an Ingress or the like, a Service that is published."""
    from policylint.doors import entrances

    return any_network_policy(simulation) and (any_route(simulation) or any(True for _ in entrances(simulation)))


def any_cluster_policy(simulation: Simulation) -> bool:
    from policylint.clusters.kinds import has_policies

    return has_policies(simulation.world)


def any_set_binding(simulation: Simulation) -> bool:
    """Need what binds clusters to a namespace: the policies that are placed there may lie in another repository."""
    from policylint.clusters.kinds import SET_BINDING

    return bool(simulation.world.of_kind(*SET_BINDING))


def broken_objects(simulation: Simulation) -> bool:
    """Need an object that its schema refuses, or one of a kind whose schema is not shipped."""
    return bool(simulation.broken) or any_network_policy(simulation) or any_cluster_policy(simulation)
