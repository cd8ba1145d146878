"""Which TLS options Traefik has for a host: those of its routers where all of them name the same ones.

They are chosen by the name that a client asks for before it sends a request, so that a router has none of its own.

Source: traefik/traefik @ v3.7, pkg/server/router/tcp/manager.go, buildEntryPointHandler; pkg/server/aggregator.go;
doc.traefik.io/traefik, TLS options.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors.annotations import served
from policylint.doors.lowered import Guard, Opening
from policylint.doors.named import meant
from policylint.doors.traefik_rules import alternatives
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple

_GROUP = "traefik.io"
_KIND = "TLSOption"
_DEFAULT = "default"
_ASKING = frozenset({"RequireAnyClientCert", "RequireAndVerifyClientCert"})
_TAKING = frozenset({"RequestClientCert", "VerifyClientCertIfGiven"})
ENTRY_POINTS = {"web": Opening("http", 80), "websecure": Opening("https", 443)}
"""Those of the chart, which are what a route has that names none."""
_SAME_PROVIDER = "@kubernetescrd"
_CLASS = "kubernetes.io/ingress.class"
_UNCLASSED = ("", "traefik")
"""What a Traefik reads that is told no class."""


def is_for_tls(point: str) -> bool:
    """Return whether an entry point of the chart is for TLS."""
    return point in ENTRY_POINTS and ENTRY_POINTS[point].scheme == "https"


def class_of(route: Resource) -> str:
    """Return the class by which one of several Traefiks reads an object; "" for those that are told none.

    Source: pkg/provider/kubernetes/crd/kubernetes.go, shouldProcessIngress and getIngressClassName @ v3.7.13.
    """
    stated = route.spec.get("ingressClassName", route.annotations.get(_CLASS))
    return "" if text(stated) in _UNCLASSED else text(stated)


class Claim(NamedTuple):
    """What an object says of the options for a host: which ones (None for the default), and where."""

    holder: Resource
    option: ResourceKey | None
    place: Pointer


class Overruled(NamedTuple):
    """TlsOptions that are not used for a host, and why: another claim on it, or None where no rule names a host."""

    claim: Claim
    host: str
    other: Claim | None

    def asks(self, world: World) -> bool:
        """Return whether they demand certificates of clients."""
        named = None if self.claim.option is None else world.get(self.claim.option)
        return named is not None and _asked(named) in _ASKING


class TlsOptions:
    """The claims on the hosts of a world, by class, entry point and host."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._claims: dict[tuple[str, str, str], list[Claim]] = {}
        self._unheard: list[Claim] = []
        for route in world.of_kind(_GROUP, "IngressRoute"):
            self._of_route(route)
        classes = {name for name, _, _ in self._claims}
        for ingress, vendor, _ in served(world) if self._claims or self._unheard else ():
            if vendor.name == "traefik":
                name = class_of(ingress) if class_of(ingress) in classes else ""
                self._of_ingress(ingress, name, vendor.value(ingress, "router.tls.options"), vendor.prefix)
        defaults = [each for each in world.of_kind(_GROUP, _KIND) if each.key.name == _DEFAULT]
        self._default = defaults[0] if len(defaults) == 1 else None

    def guards(self, name: str, point: str, host: str) -> tuple[Guard, ...]:
        """Return what is asked of clients that ask for a host at an entry point of the Traefik of a class."""
        claims = self._claims.get((name, point, host), [])
        named = {claim.option for claim in claims}
        option = next(iter(named)) if len(named) == 1 else None
        found = self._default if option is None else self._world.get(option)
        return () if found is None else demanded(found)

    def overruled(self) -> Iterator[Overruled]:
        """Yield the options that objects name for hosts and that are not used for these."""
        seen: set[tuple[ResourceKey, str]] = set()
        for (_, _, host), claims in self._claims.items():
            for claim in claims if len({each.option for each in claims}) > 1 else ():
                if claim.option is not None and (claim.holder.key, host) not in seen:
                    seen.add((claim.holder.key, host))
                    yield Overruled(claim, host, next(each for each in claims if each.option != claim.option))
        for claim in self._unheard:
            yield Overruled(claim, "", None)

    def _of_route(self, route: Resource) -> None:
        tls = route.spec.get("tls")
        if not isinstance(tls, dict):
            return
        stated = mapping(tls.get("options"))
        name, namespace = text(stated.get("name")), text(stated.get("namespace")) or route.key.namespace
        if is_symbolic(name):
            return
        option = self._meant(name, namespace)
        claim = Claim(route, option, ("spec", "tls", "options") if stated else ("spec", "tls"))
        rules = [text(mapping(each).get("match")) for each in sequence(route.spec.get("routes"))]
        hosts = [list(_hosts(rule)) for rule in rules]
        for point in texts(route.spec.get("entryPoints")) or ENTRY_POINTS:
            for host in dict.fromkeys(host for named in hosts for host in named):
                self._claims.setdefault((class_of(route), point, host), []).append(claim)
        if option is not None and rules and not any(hosts):
            self._unheard.append(claim)

    def _of_ingress(self, ingress: Resource, name: str, named: str, prefix: str) -> None:
        is_secure = ingress.spec.get("tls") or ingress.annotations.get(f"{prefix}router.tls") in ("true", True)
        stated = text(ingress.annotations.get(f"{prefix}router.entrypoints"))
        points = [part.strip() for part in stated.split(",")] if stated else list(ENTRY_POINTS)
        about = {"group": _GROUP, "kind": _KIND, "named": _SAME_PROVIDER}
        option = meant(self._world, about, named, ingress.key.namespace) if named else None
        place: Pointer = ("metadata", "annotations", f"{prefix}router.tls.options") if named else ("spec",)
        for rule in map(mapping, sequence(ingress.spec.get("rules"))) if is_secure else ():
            host = text(rule.get("host"))
            for point in points if host and not is_symbolic(host) and (option is not None or not named) else ():
                self._claims.setdefault((name, point, host.lower()), []).append(Claim(ingress, option, place))

    def _meant(self, name: str, namespace: str) -> ResourceKey | None:
        """Return the options that a name means, None for the default ones."""
        if name.endswith(_SAME_PROVIDER):
            return meant(self._world, {"group": _GROUP, "kind": _KIND, "named": _SAME_PROVIDER}, name, namespace)
        return ResourceKey(_GROUP, _KIND, namespace, name) if name not in ("", _DEFAULT) else None


def overruled(world: World) -> Iterator[Overruled]:
    """Yield the options that objects name for hosts and that are not used there."""
    if world.of_kind(_GROUP, "IngressRoute"):
        yield from world.once(TlsOptions).overruled()


def demanded(option: Resource) -> tuple[Guard, ...]:
    """Return what options ask of clients: a certificate, one if they have any, or nothing."""
    wanted = _asked(option)
    there: Pointer = ("spec", "clientAuth", "clientAuthType")
    setting = "clientCertificate" if wanted in _ASKING else "optionalClientCertificate"
    guard = Guard(option, {setting: {"type": wanted}}, {(setting,): there})
    return (guard,) if wanted in _ASKING or wanted in _TAKING else ()


def _asked(option: Resource) -> str:
    return text(mapping(option.spec.get("clientAuth")).get("clientAuthType"))


def _hosts(rule: str) -> Iterator[str]:
    """Yield the names that a rule names with Host: no expressions, of which nothing is known before a request."""
    for matchers in alternatives(rule) or ():
        for matcher in matchers:
            if matcher.name in ("Host", "HostHeader"):
                yield from (argument.lower() for argument in matcher.arguments if not is_symbolic(argument))
