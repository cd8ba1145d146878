"""Who serves Ingresses, and what their annotations say: schemas/doors.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from policylint.catalog.kinds import shipped_catalog
from policylint.catalog.placements import placements
from policylint.documents import read
from policylint.doors import DOOR_GUARDS
from policylint.model import PolicyKind, Resource, integer, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.model.policy_kind import policy_kind
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple
from policylint.topology.service_ports import BY_NUMBER_OR_NAME, OF_ANY, Word


class Vendor:
    """One controller of Ingresses, as its entry describes it; of one that nobody knows no annotation is understood."""

    __slots__ = ("_entry",)

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = entry

    @property
    def name(self) -> str:
        """The implementation, "" for one that nobody knows."""
        return text(self._entry.get("implementation"))

    @property
    def ports(self) -> tuple[Word, ...]:
        """By what Ingresses name ports of Services; of a controller that nobody knows it may be what some go by."""
        return OF_ANY if not self.name or self._entry.get("targets") is True else BY_NUMBER_OR_NAME

    @property
    def any_port(self) -> bool:
        """Whether it takes any port of a Service that is a name for a host."""
        return self._entry.get("anyPort") is True

    @property
    def catalogued(self) -> str:
        """The implementation, as the catalog calls it."""
        return text(self._entry.get("catalogued")) or self.name

    @property
    def prefix(self) -> str:
        """How its annotations begin; "" where that is not known."""
        return text(self._entry.get("prefix"))

    @property
    def proxies(self) -> Mapping[str, Any]:
        """Where its chart says how connections come to its proxies; empty where that is not known."""
        return mapping(self._entry.get("proxies"))

    @property
    def chart(self) -> str:
        """The chart that installs its proxies, as the catalog names it."""
        return next(filter(None, (text(placement.get("chart")) for placement in self._placements)), "")

    @property
    def images(self) -> list[str]:
        """Patterns of the images of its proxies, as the catalog has them."""
        return [image for placement in self._placements for image in texts(placement.get("images"))]

    @property
    def _placements(self) -> Sequence[Mapping[str, Any]]:
        return placements(self.catalogued)

    @property
    def risky(self) -> Mapping[str, Any]:
        """What its annotations of text need in its settings, and since which release."""
        return mapping(self._entry.get("risky"))

    @property
    def arguments(self) -> Mapping[str, str]:
        """Which arguments of its containers state how its annotations begin, and which class is its own."""
        return mapping(self._entry.get("arguments"))

    @property
    def secured(self) -> str:
        """Which annotation has TLS ended where the entry point does not for all; "" where ports decide."""
        return text(self._entry.get("secured"))

    @property
    def passing(self) -> str:
        """Which argument lets TLS pass where an annotation asks for that; "" where the annotation is enough."""
        return text(self._entry.get("passing"))

    @property
    def says_prefix(self) -> bool:
        """Whether an argument says how its annotations begin: those of everybody else are not read then."""
        return self._entry.get("saysPrefix") is True

    def beginning(self, prefix: str) -> Vendor:
        """Return the same controller, told to read annotations that begin otherwise."""
        former = {self.prefix: prefix}
        return Vendor({**self._entry, "prefix": prefix, "former": former, "saysPrefix": True})

    @property
    def former(self) -> Mapping[str, str]:
        """What annotations were called that older releases read, or how they began, with what that is called today."""
        return mapping(self._entry.get("former"))

    @property
    def reads(self) -> Mapping[str, Any]:
        """What its annotations mean, by their names without the prefix."""
        return mapping(self._entry.get("reads"))

    @property
    def services(self) -> Mapping[str, Any]:
        """What Services name that asks for something, and by which annotation."""
        return mapping(self._entry.get("services"))

    @property
    def redirect(self) -> Mapping[str, Any]:
        """When it redirects to https."""
        return mapping(self._entry.get("redirect"))

    @property
    def unencrypted(self) -> Mapping[str, int]:
        """Which annotations answer requests over http for a host, with the status."""
        return mapping(self._entry.get("unencrypted"))

    @property
    def unserved(self) -> int | None:
        """The status of requests whose backends are missing, None where nobody wrote it down."""
        return integer(self._entry.get("unserved"))

    @property
    def unmade(self) -> str:
        """Without which of its backends there is no rule for a path: `any`, `all`, one that is `missing`; "" where it
        stays, and its requests are answered with `unserved`."""
        return text(self._entry.get("unmade"))

    @property
    def externals(self) -> Mapping[str, Any]:
        """The option without which it uses no Services that are names (`controllers.is_allowed`); empty for none."""
        return mapping(self._entry.get("externals"))

    @property
    def defaults_alone(self) -> bool:
        """Whether the default backend of an Ingress counts only where it has no rules."""
        return self._entry.get("defaults") == "alone"

    @property
    def certificate(self) -> str:
        """The type of Secrets without which it turns TLS handshakes away; "" where it has another certificate then."""
        return text(self._entry.get("certificate"))

    @property
    def aliases(self) -> str:
        """Which annotation has further names for the hosts of an Ingress."""
        return text(self._entry.get("aliases"), "server-alias")

    def methods(self, ingress: Resource) -> list[str]:
        """Return the methods that the paths of an Ingress take; none where they take all."""
        name = text(self._entry.get("methods"))
        return [each.strip().upper() for each in self.value(ingress, name).split(",") if each.strip()] if name else []

    def expression_in(self, ingress: Resource, path: str, kind: str) -> str:
        """Return the expression that a path of some type states by how it begins, "" where it states none."""
        mark = self.mark(ingress)[0]
        return path[len(mark) :].removeprefix("^") if mark and kind != "Exact" and path.startswith(mark) else ""

    def mark(self, ingress: Resource) -> tuple[str, tuple[str, str], str]:
        """Return how paths begin that are expressions, "" where none does, and the kind with the field of it by which
        others are such, too."""
        about = mapping(self._entry.get("begins"))
        mark = self.value(ingress, text(about.get("annotation"))) or text(about.get("mark"))
        group, _, kind = text(about.get("unless")).partition("/")
        return mark, (group, kind), text(about.get("field"))

    @property
    def pools(self) -> str:
        """Among which certificates the name asked for chooses: `all`, those of an `ingress`; "" where it has one."""
        return text(self._entry.get("pools"))

    @property
    def connects(self) -> Mapping[str, Any]:
        """Which annotations say how it connects to backends; empty where its implementation knows."""
        return mapping(self._entry.get("connects"))

    @property
    def root(self) -> str:
        """Which annotation redirects the path / of the hosts of an Ingress; "" where none does."""
        return text(self._entry.get("root"))

    @property
    def front(self) -> Mapping[str, Any]:
        """Which annotation names an object that may redirect to https, and what of it says so."""
        return mapping(self._entry.get("front"))

    @property
    def is_of_services(self) -> bool:
        """Whether its annotations may stand at a Service as well."""
        return self._entry.get("ofServices") is True

    @property
    def policies(self) -> str:
        """Which annotation names Policies of NGINX Ingress Controller; "" where none does."""
        return text(self._entry.get("policies"))

    @property
    def actions(self) -> Mapping[str, Any]:
        """How annotations that hold actions begin, and the name of the port of a backend that means one."""
        return mapping(self._entry.get("actions"))

    @property
    def order(self) -> Mapping[str, Any]:
        """Which annotations say where an Ingress stands among the rules of its group; empty where paths decide."""
        return mapping(self._entry.get("order"))

    @property
    def moves(self) -> Mapping[str, int]:
        """Which annotations redirect all requests, with the status."""
        return mapping(self._entry.get("moves"))

    @property
    def config(self) -> Mapping[str, Any]:
        """Where the settings for all of its Ingresses stand."""
        return mapping(self._entry.get("config"))

    @property
    def addresses(self) -> Mapping[str, Any]:
        """Which settings say where clients' addresses are looked for; empty where nothing but the connection counts."""
        return mapping(self._entry.get("addresses"))

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Which annotation names objects that act on requests, and of which kind they are, with what the catalog says
        of that kind."""
        return _extensions(self.name) if "extensions" in self._entry else {}

    @property
    def names(self) -> Sequence[Mapping[str, Any]]:
        """What else its annotations name, with the words of `extensions`."""
        return [mapping(each) for each in sequence(self._entry.get("names"))]

    @property
    def specific(self) -> str:
        """What a path of type ImplementationSpecific means."""
        return text(self._entry.get("specific"), "text")

    @property
    def serves(self) -> Sequence[Any]:
        """Which annotations say whether it takes http, https, or both."""
        return sequence(self._entry.get("serves"))

    @property
    def adds_slash(self) -> bool:
        """Whether it redirects from a path that ends with a slash, but for the slash, to that path."""
        return self._entry.get("slash") is True

    @property
    def prefixes(self) -> str:
        """What a path of type Prefix means."""
        return text(self._entry.get("prefixes"), "elements")

    @property
    def is_outside(self) -> bool:
        """Whether its load balancers are no pods: no mesh has them, and they show no certificate of one."""
        return self._entry.get("outside") is True

    def list(self, field: str) -> list[str]:
        """Return a list of its entry: `text`, `expressions`, `server`, `exempt`."""
        return texts(self._entry.get(field))

    def value(self, ingress: Resource, name: str) -> str:
        """Return an annotation of an Ingress by its name without the prefix, "" without one."""
        return text(ingress.annotations.get(f"{self.prefix}{name}")).strip() if self.prefix else ""

    def answers_to(self, controller: str) -> bool:
        return any(fnmatchcase(controller, pattern) for pattern in self.list("controllers"))

    def may_be_called(self, class_name: str) -> bool:
        return any(fnmatchcase(class_name, pattern) for pattern in self.list("classes"))


def vendors() -> tuple[Vendor, ...]:
    """Return all that are described."""
    return _vendors()


def vendor_of(controller: str, class_name: str, ingress: Resource) -> Vendor:
    """Return who serves an Ingress: by its class, else by the name of that, else by whose annotations it has.

    Args:
        controller: of the IngressClass, "" where that was not seen.
    """
    if controller:
        return next((each for each in vendors() if each.answers_to(controller)), Vendor({}))
    marked = [each for each in vendors() if any(str(name).startswith(each.prefix) for name in ingress.annotations)]
    called = [each for each in vendors() if each.may_be_called(class_name)]
    both = [each for each in called if each in marked]
    return next(iter((*both, *called, *marked)), Vendor({}))


@lru_cache(maxsize=1)
def guards() -> PolicyKind:
    """Return the kind of policy that the guards of a door are."""
    entry = {
        "group": INGRESS[0],
        "kind": INGRESS[1],
        "class": "Direct",
        "targets": [],
        "merge": {"strategy": "none", "wrappers": {}},
        "settings": mapping(_content().get("guards")),
        "status": "none",
    }
    return policy_kind(entry, DOOR_GUARDS, "door")


def protection_name(setting: str) -> str:
    """Return what a door calls a protection that a kind of policy has its own name for: `rateLimit`."""
    known = mapping(_content().get("protections"))
    return next((name for name, others in known.items() if setting in texts(others)), setting)


def closest(setting: str, implementation: str | None) -> str:
    """Return what comes closest to a guard of a door at the routes of an implementation, "" where nobody says."""
    known = mapping(mapping(_content().get("closest")).get(setting.partition(".")[0]))
    return text(known.get(implementation or "*")) or text(known.get("*"))


@lru_cache(maxsize=1)
def ranges_of_services() -> tuple[str, ...]:
    """Return the annotations of a Service that say which addresses its load balancer lets in."""
    return tuple(texts(_content().get("ranges")))


@lru_cache(maxsize=1)
def addresses_of_services() -> tuple[str, ...]:
    """Return the annotations of a Service that say which addresses its load balancer has."""
    return tuple(texts(_content().get("given")))


def keeping() -> Mapping[str, Any]:
    """Return what keeps the addresses of clients at Services that are published."""
    return mapping(_content().get("keeping"))


def balancers() -> list[Mapping[str, Any]]:
    """Return by which annotations of Services load balancers end TLS."""
    return [mapping(entry) for entry in sequence(_content().get("balancers"))]


def streams() -> list[Mapping[str, Any]]:
    """Return the kinds whose objects take connections, each with where in them what stands."""
    return [mapping(entry) for entry in sequence(_content().get("streams"))]


@lru_cache(maxsize=1)
def stream_kinds() -> list[tuple[str, str]]:
    """Return groups and names of these kinds."""
    written = (text(entry.get("kind")).rpartition("/") for entry in streams())
    return [(group, name) for group, _, name in written]


def unserved(group: str, kind: str) -> tuple[int | None, str]:
    """Return the status of requests that objects of a kind send to what cannot be used, None where nobody wrote it
    down, and without which of these there is no rule for them (`Vendor.unmade`)."""
    own = mapping(mapping(_content().get("unserved")).get(f"{group}/{kind}"))
    return integer(own.get("status")), text(own.get("unmade"))


class ServiceNames(NamedTuple):
    """A kind whose objects name Services.

    Args:
        at: where they do so, below their spec.
        is_address: whether by addresses.
        port: the field with a port of the Service, beside its name; "" where none is known.
    """

    kind: tuple[str, str]
    at: tuple[str, ...]
    is_address: bool
    port: str


@lru_cache(maxsize=1)
def naming() -> list[ServiceNames]:
    """Return the kinds whose objects name Services."""
    found = []
    for entry in map(mapping, sequence(_content().get("names"))):
        group, _, kind = text(entry.get("kind")).rpartition("/")
        at, port = tuple(texts(entry.get("at"))), text(entry.get("port"))
        found.append(ServiceNames((group, kind), at, entry.get("address") is True, port))
    return found


def objects_named() -> list[Mapping[str, Any]]:
    """Return where objects name others than Services."""
    return [mapping(entry) for entry in sequence(_content().get("objects"))]


@lru_cache(maxsize=64)
def _extensions(implementation: str) -> Mapping[str, Any]:
    """Return what the annotations of a controller name, with what the catalog says of the kind: by which field one is
    of a sort or switched off, who names it for some clients alone, where it acts everywhere, by which annotation it is
    read, which sorts log in."""
    entry = next(each for each in sequence(_content().get("ingress")) if each.get("implementation") == implementation)
    about = mapping(entry.get("extensions"))
    kinds = {kind.kind: kind for file in shipped_catalog() if file.mentions(about["group"]) for kind in file.kinds()}
    kind, of_all = kinds[about["kind"]], kinds.get(text(about.get("clusterKind")))
    if not kind.says:
        return about
    asked = (each.partition("=") for each in kind.settings.authentication)
    return {
        "sort": kind.says,
        "off": kind.off,
        "clients": () if kind.clients is None else kind.clients.kinds,
        "everywhere": {} if of_all is None else of_all.everywhere,
        "readWith": {each.kind: each.read_with for each in (kind, of_all) if each is not None},
        "logins": [sort for field, _, sort in asked if field == kind.says],
        "optional": [weak.path for weak in kind.weaker if weak.opens == "authentication"],
        **about,
    }


@lru_cache(maxsize=1)
def _vendors() -> tuple[Vendor, ...]:
    return tuple(Vendor(mapping(entry)) for entry in sequence(_content().get("ingress")))


@lru_cache(maxsize=1)
def _content() -> Mapping[str, Any]:
    documents = read(shipped_data("schemas", "doors.yaml"), "doors.yaml").documents
    return mapping(documents[0].value) if documents else {}
