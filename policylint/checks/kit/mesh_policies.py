"""The settings of a mesh's policies, for the rules about them (docs/design/implementations/istio.md §0, §1, §5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.model import Node, Resource, mapping, sequence, text
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

EXTENSIONS = ("TrafficExtension", "WasmPlugin")
_OF_REQUESTS = {
    "source": ("requestPrincipals", "notRequestPrincipals"),
    "operation": ("hosts", "notHosts", "methods", "notMethods", "paths", "notPaths"),
}
IDENTITY_KEYS = {
    "source.principal": "principals",
    "source.namespace": "namespaces",
    "source.serviceAccount": "serviceAccounts",
}
"""The keys of conditions that ask what a field of a source asks: who the client is, by its certificate."""
_CLIENT_KEYS = ("source.", "remote.", "request.auth.")
"""How the keys begin that are about who calls, and from where."""
_LOWEST = -(2**31)
"""The priority that istiod gives to a policy without one."""


def is_wide(policy: Resource) -> bool:
    """Return whether a policy covers its whole namespace, or the mesh: it names no target and selects nothing."""
    named = sequence(policy.spec.get("targetRefs")) or mapping(policy.spec.get("targetRef"))
    return not named and not mapping(mapping(policy.spec.get("selector")).get("matchLabels"))


def action(policy: Resource) -> str:
    """Return the action of an AuthorizationPolicy."""
    return text(policy.spec.get("action")) or "ALLOW"


def matches_all(rule: object) -> bool:
    """Return whether a rule of an AuthorizationPolicy has no condition at all."""
    return isinstance(rule, dict) and not any(rule.values())


def http_only(rule: object) -> list[str]:
    """Return the HTTP attributes of a rule, sorted; none where it also has attributes that a connection has."""
    attributes: set[str] = set()
    for field, inner in (("from", "source"), ("to", "operation")):
        for clause in sequence(mapping(rule).get(field)):
            named = {name for name, values in mapping(mapping(clause).get(inner)).items() if values}
            if not named.issubset(_OF_REQUESTS[inner]):
                return []
            attributes |= named
    for condition in sequence(mapping(rule).get("when")):
        key = text(mapping(condition).get("key"))
        if not key.startswith("request."):
            return []
        attributes.add(key)
    return sorted(attributes)


def ignored_on_connections(rule: object) -> list[str]:
    """Return the HTTP attributes of a rule that has others as well and states no ports, sorted: what a connection
    has decides alone."""
    if http_only(rule) or any(operation.get("ports") for operation in operations(rule)):
        return []
    named = {name for source in sources(rule) for name in source} & {*_OF_REQUESTS["source"]}
    named |= {name for operation in operations(rule) for name in operation} & {*_OF_REQUESTS["operation"]}
    keys = {text(condition.get("key")) for condition in conditions(rule)}
    return sorted(named | {key for key in keys if key.startswith("request.")})


def extension_place(extension: Resource) -> tuple[str, int]:
    """Return the phase in which a WasmPlugin or TrafficExtension runs, and its priority there."""
    priority = extension.spec.get("priority")
    return text(extension.spec.get("phase")) or "UNSPECIFIED_PHASE", priority if isinstance(priority, int) else _LOWEST


def sources(rule: object) -> list[Mapping[str, Any]]:
    """Return the `source` of each entry of a rule's `from`."""
    return [mapping(mapping(entry).get("source")) for entry in sequence(mapping(rule).get("from"))]


def operations(rule: object) -> list[Mapping[str, Any]]:
    """Return the `operation` of each entry of a rule's `to`."""
    return [mapping(mapping(entry).get("operation")) for entry in sequence(mapping(rule).get("to"))]


def conditions(rule: object) -> list[Mapping[str, Any]]:
    """Return the entries of a rule's `when`."""
    return [mapping(entry) for entry in sequence(mapping(rule).get("when"))]


def client_place(rule: object) -> Pointer:
    """Return where a rule first asks who calls or from where: its `from`, or a condition of `when`; () where it asks
    nobody."""
    if mapping(rule).get("from"):
        return ("from",)
    keys = (text(condition.get("key")) for condition in conditions(rule))
    return next((("when", index) for index, key in enumerate(keys) if key.startswith(_CLIENT_KEYS)), ())


def asks_for_token(policy: Resource, written: Collection[str] = ()) -> bool:
    """Return whether an AuthorizationPolicy tells requests with a valid token from those without one.

    An ALLOW does by what a token must say, a DENY by what it must not lack. An external authorizer (CUSTOM) may.

    Args:
        written: the headers in lower case that claims of the token are written into.
    """
    keys = ("request.auth.", *(f"request.headers[{header}]" for header in written))
    kind = action(policy)
    if kind == "CUSTOM":
        return True
    principals, values = ("requestPrincipals", "values") if kind == "ALLOW" else ("notRequestPrincipals", "notValues")
    return kind in ("ALLOW", "DENY") and any(
        any(source.get(principals) for source in sources(rule))
        or any(text(each.get("key")).lower().startswith(keys) and each.get(values) for each in conditions(rule))
        for rule in sequence(policy.spec.get("rules"))
    )


def of_controller(simulation: Simulation, kind: tuple[str, str] = AUTHORIZATION) -> Mapping[str, Any]:
    """Return the settings of the controller of a kind."""
    known = simulation.catalog.get(*kind)
    return {} if known is None else simulation.catalog.settings(known.implementation)


def stated_as(simulation: Simulation, setting: str) -> str:
    """Return the name by which the controller of authorizations knows a setting, with which its description begins."""
    known = simulation.catalog.get(*AUTHORIZATION)
    settings = {} if known is None else simulation.catalog.known_settings(known.implementation)
    return settings[setting].about.partition(" ")[0] if setting in settings else setting


def is_trial(state: PolicyState) -> bool:
    """Return whether a policy is only tried out: it decides nothing."""
    return implementation(state.kind.implementation).is_trial(state.policy)


class Authorizations:
    """The AuthorizationPolicies that are enforced, by the path to each proxy."""

    __slots__ = ("_policies", "_root", "_stacks")

    def __init__(self, simulation: Simulation) -> None:
        self._root = text(of_controller(simulation).get("rootNamespace"))
        states = [state for state in simulation.policies.values() if (state.key.group, state.key.kind) == AUTHORIZATION]
        self._policies = [state.policy for state in states if not (state.invalid_code or is_trial(state))]
        self._stacks = {
            path: [each.policy for each in group.effective.stack]
            for group in simulation.groups
            if (group.kind.group, group.kind.kind) == AUTHORIZATION
            for path in group.contexts()
        }

    def beside(self, state: PolicyState) -> Iterator[tuple[Node | None, list[Resource]]]:
        """Yield the proxies that a policy reaches, and the AuthorizationPolicies at each.

        Where a policy is in order and reaches proxies that were not seen (a gateway that a chart brings), the proxy is
        None and all policies of its namespace and of the root namespace may be there.
        """
        paths = [path for group in state.groups for path in group.contexts()]
        for path in paths:
            yield path[-1], self._stacks.get(path, [])
        broken = state.invalid_code or state.idle or any(target.problem for target in state.targets)
        if not paths and not broken:
            near = (state.key.namespace, self._root)
            yield None, [policy for policy in self._policies if policy.key.namespace in near]
