"""The entries of `require`, as values; schemas/config.json has checked their form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from policylint.config.addresses import EVERYWHERE, is_network, listed
from policylint.model import ResourceKey
from policylint.model.spelling import same_kind
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import CLIENT
from policylint.reach import EntryPoint, Stated, WayIn
from policylint.regex import expression
from policylint.spaces.addresses import address_set
from policylint.spaces.boxes import Box
from policylint.spaces.predicates import Predicate, below
from policylint.trace.hosts import serves

OUTSIDE = "outside"
_BELOW = "/**"


class RequestPattern(NamedTuple):
    """Requests as the configuration names them; "" stands for all.

    Args:
        gateway: `infra/public`, with `*` for any run of characters.
        host: a hostname, or `*.example.com` for those below it.
        path: `/healthz` alone, `/api/**` with all below it.
        method: `GET`.
        clients: the networks of those who send them, with commas, as `AddressSet.text` writes it.
        route: that takes them, `shop/blog`, with `*` for any run of characters.
        reason: why they may pass all the same, of an exemption.
    """

    gateway: str = ""
    host: str = ""
    path: str = ""
    method: str = ""
    clients: str = ""
    route: str = ""
    reason: str = ""

    def __str__(self) -> str:
        named = [("", self.host), ("", self.method), ("", self.path), ("of route ", self.route)]
        named += [("through ", self.gateway), ("from ", self.clients)]
        return " ".join(f"{word}{value}" for word, value in named if value) or "everything"

    @property
    def predicates(self) -> list[tuple[str, Predicate]]:
        """The dimensions that it restricts, each with how."""
        found = []
        if self.path.endswith(_BELOW):
            found.append(("path", below(self.path.removesuffix(_BELOW) or "/")))
        elif self.path:
            found.append(("path", Predicate("Exact", self.path)))
        if self.method:
            found.append(("method", Predicate("Exact", self.method.upper())))
        if self.clients:
            found.append((CLIENT, Predicate("Network", self.clients)))
        return found

    def meets(self, entry: EntryPoint) -> bool:
        """Return whether requests at an entry may be meant."""
        return _means(self.gateway, entry.gateway) and (not self.host or serves(entry.host, self.host))

    def takes_route(self, way: WayIn) -> bool:
        """Return whether the route that takes the requests of a way may be meant."""
        return not self.route or (way.trace.route is not None and self.means(way.trace.route.key))

    def means(self, route: ResourceKey) -> bool:
        """Return whether a route may be meant."""
        return _means(self.route, route)

    def box(self, way: WayIn) -> Box:
        """Return the requests that are meant, over the dimensions of a way: paths and methods say nothing of calls."""
        stated = dict(self.predicates)
        return tuple(
            dimension.masks[stated[dimension.name]] if dimension.name in stated else dimension.all
            for dimension in way.dimensions
        )


class Guardrail(NamedTuple):
    """One entry of `require`.

    Args:
        number: its index, from 0.
        form: whether all of some requests must be asked for something, or who may not get somewhere, or who alone may.
        ask: a purpose, a setting, or `issuer`.
        issuer: whose tokens must be asked for.
        requests, exceptions: of `ask`; where sources are networks, the requests that must not get to the target.
        sources: `outside`, or objects as `Deployment/shop/web`, `namespace/shop`, with `*` for any run of characters;
            or networks of clients.
        target: likewise.
        port: None for every port.
    """

    name: str
    number: int
    form: Literal["ask", "never", "only"]
    ask: str = ""
    issuer: str = ""
    requests: RequestPattern = RequestPattern()
    exceptions: tuple[RequestPattern, ...] = ()
    sources: tuple[str, ...] = ()
    target: str = ""
    port: int | None = None

    @property
    def is_by_address(self) -> bool:
        """Whether it is about who gets somewhere by the addresses of clients."""
        return any(map(is_network, self.sources))

    @property
    def stated(self) -> Stated:
        """The predicates by which it tells requests apart."""
        predicates: dict[str, set[Predicate]] = {}
        for pattern in (self.requests, *self.exceptions):
            for name, predicate in pattern.predicates:
                predicates.setdefault(name, set()).add(predicate)
        return Stated(predicates)

    @property
    def hosts(self) -> list[str]:
        """The hosts that it names."""
        return [pattern.host for pattern in (self.requests, *self.exceptions) if pattern.host]


def guardrails(entries: Iterable[Mapping[str, Any]]) -> list[Guardrail]:
    """Return the guardrails that a configuration states, in their order."""
    return [_guardrail(number, entry) for number, entry in enumerate(entries)]


def _guardrail(number: int, entry: Mapping[str, Any]) -> Guardrail:
    name = entry["name"]
    if "ask" in entry:
        ask = entry["ask"]
        issuer = ask["issuer"] if isinstance(ask, dict) else ""
        exceptions = tuple(map(_pattern, entry.get("except", ())))
        requests = _pattern(entry.get("requests", {}))
        return Guardrail(name, number, "ask", "issuer" if issuer else ask, issuer, requests, exceptions)
    form: Literal["never", "only"] = "never" if "never" in entry else "only"
    between = entry[form]
    sources = listed(between["from"])
    guardrail = Guardrail(name, number, form, sources=sources, target=between["to"], port=between.get("port"))
    if not guardrail.is_by_address:
        return guardrail
    meant = _pattern({"from": between["from"]})
    return guardrail._replace(requests=meant) if form == "never" else guardrail._replace(exceptions=(meant,))


def _pattern(entry: Mapping[str, Any]) -> RequestPattern:
    networks = listed(entry.get("from", []))
    everybody = any(network in EVERYWHERE for network in networks)
    clients = "" if everybody else address_set(networks).text
    return RequestPattern(clients=clients, **{name: value for name, value in entry.items() if name != "from"})


def like(pattern: str, text: str) -> bool:
    """Return whether a text is as a pattern says, in which `*` stands for any run of characters; "" is every text."""
    if "*" not in pattern:
        return not pattern or pattern == text
    return bool(expression(".*".join(map(re.escape, pattern.split("*")))).is_whole(text))


def _means(pattern: str, key: ResourceKey) -> bool:
    """Return whether a pattern is of an object, with or without its kind: `infra/edge`, `Gateway/infra/edge`."""
    kind, apart, path = pattern.replace(" ", "/", 1).partition("/")
    name, _, group = kind.partition(".")
    of_kind = bool(apart) and same_kind(name, key.kind) and group in ("", key.group)
    return like(pattern, key.path) or (of_kind and like(path, key.path))


def names(pattern: str, key: ResourceKey) -> bool:
    """Return whether a pattern names an object: `Service/payments/*`, `namespace/payments` for all in it."""
    if pattern.lower().startswith("namespace/"):
        return bool(key.namespace) and like(pattern[len("namespace/") :], key.namespace)
    return like(pattern, f"{key.kind}/{key.path}")


def any_names(patterns: Sequence[str], key: ResourceKey) -> bool:
    """Return whether one of some patterns names an object."""
    return any(names(pattern, key) for pattern in patterns)
