"""What Policies of NGINX Ingress Controller ask where a VirtualServer, or a route of one, names them.

Source: nginx/kubernetes-ingress, internal/configs/policy.go (generatePolicies and what it calls),
internal/configs/virtualserver.go (addPoliciesCfgToLocation), pkg/apis/configuration/validation/policy.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.addresses import SETTING, unseen
from policylint.doors.lowered import Guard, closing
from policylint.doors.variables import open_guards, words
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, text, value_at

GROUP = "k8s.nginx.org"
KIND = (GROUP, "Policy")
CLOSED = 500
"""What NGINX answers where a policy cannot be had, or not be applied."""
_TYPES = {
    "basicAuth": (("secret", "nginx.org/htpasswd"),),
    "jwt": (("secret", "nginx.org/jwk"), ("trustedCertSecret", "nginx.org/ca")),
    "ingressMTLS": (("clientCertSecret", "nginx.org/ca"),),
    "oidc": (("clientSecret", "nginx.org/oidc"), ("trustedCertSecret", "nginx.org/ca")),
    "apiKey": (("clientSecret", "nginx.org/apikey"),),
    "egressMTLS": (("tlsSecret", "kubernetes.io/tls"), ("trustedCertSecret", "nginx.org/ca")),
}
"""Secrets that policies name, of which type each must be."""
_SECTIONS = (*_TYPES, "accessControl", "rateLimit", "externalAuth", "waf", "cache", "cors", "hsts")
"""What a Policy has one of."""
_AT_INGRESSES = frozenset({"accessControl", "cors", "externalAuth", "ingressMTLS", "egressMTLS", "waf"})
"""What an Ingress takes of them (IsPolicySupportedOnIngress)."""
_FAMILIES = (
    frozenset({"allow", "deny"}),
    frozenset({"basicAuth"}),
    frozenset({"jwt"}),
    frozenset({"login", "externalAuth"}),
    frozenset({"oidc"}),
    frozenset({"rateLimit"}),
    frozenset({"firewall"}),
    frozenset({"backendTLS"}),
)
"""Settings that are one directive of NGINX: a location that has it has nothing of the server's."""
_CERTIFICATES = {"": "clientCertificate", "on": "clientCertificate", "optional": "optionalClientCertificate"}
_SETTINGS = ("set-real-ip-from", "real-ip-header", "real-ip-recursive")
_CONFIG_MAPS = frozenset({"nginx-config", "nginx-ingress"})


class PolicyDemands:
    """What is asked in one context: a server, or a location of it.

    Args:
        guards: what is asked.
        cors: whether preflights are answered before anything is asked.
    """

    __slots__ = ("cors", "guards")

    def __init__(self, guards: Sequence[Guard], *, cors: bool = False) -> None:
        self.guards = tuple(guards)
        self.cors = cors

    @property
    def fails(self) -> bool:
        """Whether all requests are answered with an error, before anything else."""
        return any(guard.failing for guard in self.guards)

    def below(self, server: PolicyDemands) -> PolicyDemands:
        """Return what is asked at a location of a server: of each directive its own, else the server's."""
        if server.fails:
            return server
        named = {name for guard in self.guards for name in guard.spec}
        replaced = {name for family in _FAMILIES if not family.isdisjoint(named) for name in family}
        inherited = () if self.fails else tuple(guard.without(replaced) for guard in server.guards)
        return PolicyDemands((*self.guards, *inherited), cors=self.cors or server.cors)


def asked(
    world: World,
    owner: Resource,
    references: Sequence[Any],
    place: Pointer,
    *,
    of_server: bool,
    secure: bool,
    taken_here: Collection[str] = (),
) -> PolicyDemands:
    """Return what policies ask in the context that names them; the first one that cannot be applied closes it.

    Args:
        owner: the object that names them.
        place: of the list in it.
        of_server: whether the context is a whole server.
        secure: whether the server has TLS.
        taken_here: the sections that the kind of the owner takes; all without any.
    """
    found = open_guards(owner, place)
    lists: dict[str, list[str]] = {}
    of_lists: Resource | None = None
    cors = False
    taken: set[str] = set()
    for number, reference in enumerate(map(mapping, references)):
        if not reference:
            continue  # a variable stands for it
        key = named(owner, reference)
        where: Pointer = (*place, number) if value_at(owner.body, (*place, number)) is not None else place
        policy = world.get(key)
        if policy is None:
            resolution = world.resolve_inner(key)
            if resolution.missing and not world.elsewhere(key):
                return PolicyDemands([closing(owner, where, CLOSED, f"{key} is missing")])
            found.append(Guard(owner, {"unread": str(key)}, {("unread",): where}))
            continue
        if _is_open(policy):
            found.append(Guard(policy, {"unread": str(key)}, {("unread",): ("metadata", "name")}))
            continue
        section = next((name for name in _SECTIONS if name in policy.spec), "")
        why = fault(policy, of_server=of_server, secure=secure)
        if not why and section not in taken:  # a second login of one sort is left aside, whatever it names
            why = _fault_of_secrets(world, policy, section)
        if not why and taken_here and section not in taken_here:
            why = f"`{section}` is not taken at an {owner.key.kind}"
        if not why and section == "apiKey" and section in taken:
            why = "a second policy with `apiKey` in one place is refused"
        if why:
            return PolicyDemands([closing(policy, ("metadata", "name"), CLOSED, f"{key}: {why}")])
        cors = cors or section == "cors"
        if section == "accessControl":
            of_lists = of_lists or policy
            for name in ("allow", "deny"):
                lists.setdefault(name, []).extend(words(mapping(policy.spec[section]).get(name)))
        elif section not in taken or section == "rateLimit":
            found += _guards(policy, section)
        taken.add(section)
    if of_lists is not None:
        name = (
            "allow" if lists["allow"] else "deny"
        )  # who is on a list of the one sort makes the others count for nothing
        found.append(Guard(of_lists, {name: lists[name]}, {(name,): ("spec", "accessControl", name)}))
        found += _addresses(world, of_lists)
    return PolicyDemands(found, cors=cors)


def at_ingress(world: World, ingress: Resource, named: str, annotation: str, *, secure: bool) -> tuple[Guard, ...]:
    """Return what is asked at an Ingress by the policies that its annotation names, `namespace/name` or `name`."""
    parts = [each.strip().rpartition("/") for each in dict.fromkeys(named.split(",")) if each.strip()]
    listed = [{"namespace": namespace, "name": name} for namespace, _, name in parts]
    place: Pointer = ("metadata", "annotations", annotation)
    return asked(world, ingress, listed, place, of_server=True, secure=secure, taken_here=_AT_INGRESSES).guards


def named(owner: Resource, reference: Mapping[str, Any]) -> ResourceKey:
    """Return the Policy that a reference means."""
    return ResourceKey(*KIND, text(reference.get("namespace")) or owner.key.namespace, text(reference.get("name")))


def fault(policy: Resource, *, of_server: bool = True, secure: bool = True) -> str:
    """Return why a Policy closes what names it, whatever else is there; "" where it does not."""
    if _is_open(policy):
        return ""
    held = [name for name in _SECTIONS if name in policy.spec]
    if len(held) != 1:
        return f"it has {' and '.join(f'`{name}`' for name in held) or 'no section'}, and must have one"
    section = mapping(policy.spec[held[0]])
    if held[0] == "accessControl" and len([name for name in ("allow", "deny") if name in section]) != 1:
        return "`accessControl` must have one of `allow` and `deny`"
    if held[0] == "ingressMTLS" and not of_server:
        return "`ingressMTLS` is not allowed at a route"
    if held[0] == "ingressMTLS" and not secure:
        return "`ingressMTLS` needs TLS"
    return ""


def _is_open(policy: Resource) -> bool:
    """Tell whether a variable stands for what a Policy says, or for a section of it."""
    return any(map(is_symbolic, (policy.body.get("spec"), *policy.spec.values())))


def _fault_of_secrets(world: World, policy: Resource, section: str) -> str:
    stated = mapping(policy.spec.get(section))
    faults = (
        fault_of_secret(world, policy, text(stated.get(field)), wanted) for field, wanted in _TYPES.get(section, ())
    )
    return next(filter(None, faults), "")


def fault_of_secret(world: World, holder: Resource, name: str, wanted: str) -> str:
    """Return what is wrong with a Secret that is here; one that is not may be made by anybody."""
    key = ResourceKey("", "Secret", holder.key.namespace, name)
    secret = world.get(key) if name else None
    written = wanted if secret is None else text(secret.body.get("type"), "Opaque")
    if secret is None or secret.provisional or written == wanted or is_symbolic(written):
        return ""
    return f"{key} is of type {written}, and must be of type {wanted}"


def _guards(policy: Resource, section: str) -> Iterator[Guard]:
    """Yield what one section of a Policy asks."""
    stated = dict(mapping(policy.spec[section]))
    names: dict[str, Callable[[], tuple[str, Any]]] = {
        "basicAuth": lambda: ("basicAuth", stated),
        "jwt": lambda: ("jwt", stated),
        "externalAuth": lambda: ("externalAuth", stated),
        "oidc": lambda: ("oidc", stated),
        "apiKey": lambda: ("login", {"by": f"API key of {policy.key}"}),
        "ingressMTLS": lambda: (_CERTIFICATES.get(text(stated.get("verifyClient")), ""), stated),
        "rateLimit": lambda: ("" if stated.get("dryRun") is True else "rateLimit", stated),
        "waf": lambda: ("firewall" if stated.get("enable") is True else "", stated),
        "egressMTLS": lambda: ("backendTLS", stated),
    }
    setting, value = names[section]() if section in names else ("", None)
    if setting:
        yield Guard(policy, {setting: value}, {(setting,): ("spec", section)})


def _addresses(world: World, policy: Resource) -> Iterator[Guard]:
    """Yield where NGINX looks for the address of a client: as its ConfigMap says, else at who connects."""
    maps = [each for each in world.of_kind("", "ConfigMap") if each.key.name in _CONFIG_MAPS or _states(each)]
    stated = next((mapping(each.body.get("data")) for each in maps if _states(each)), {})
    networks = [each.strip() for each in text(stated.get(_SETTINGS[0])).split(",") if each.strip()]
    header = text(stated.get(_SETTINGS[1]))
    if networks:
        spec = {
            "field": _SETTINGS[0],
            "networks": networks,
            "header": "" if header.lower() == "x-forwarded-for" else header or "X-Real-IP",
            "recursive": text(stated.get(_SETTINGS[2])).lower() == "true",
        }
        yield Guard(policy, {SETTING: spec}, {})
    elif not maps:
        yield unseen(policy, "NGINX")


def _states(config: Resource) -> bool:
    return any(name in mapping(config.body.get("data")) for name in _SETTINGS[:2])
