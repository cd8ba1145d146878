"""How proxies connect to a backend: in the clear or by TLS, and what they verify of its certificate.

What a kind of settings says is data (`secures` of the catalog); where they stand, and what holds without any, is each
implementation's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from policylint.catalog.content import known_object, places
from policylint.documents import Pointer
from policylint.model import Resource, integer, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple

State = Literal["plain", "encrypted", "unverified", "verified"]
RANKS: tuple[State, ...] = ("plain", "unverified", "encrypted", "verified")
"""From the weakest on; `encrypted` is by TLS of which nothing here says whether the certificate is verified."""


class BackendSession(NamedTuple):
    """How a proxy connects to a backend.

    Args:
        against: what is verified of the certificate, or why that is not known, in words.
        by: the object that says so, and where in it; None where it is what holds without any.
        sni: the name of the server that is asked for.
        names: of which the certificate must have one; none where that is not said, or is not known.
    """

    state: State
    against: str = ""
    by: Resource | None = None
    pointer: Pointer = ()
    sni: str = ""
    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The session in words: `by TLS, verified for a.example by ConfigMap ca`."""
        if self.state == "plain":
            return "in the clear"
        if self.state == "unverified":
            return "by TLS, without verifying the certificate"
        joined = " " if self.state == "verified" else ": "
        said = "by TLS, verified" if self.state == "verified" else "by TLS"
        return f"{said}{joined}{self.against}" if self.against else said


def stated(secures: Mapping[str, Any], holder: Resource, place: Pointer = ("spec",)) -> BackendSession | None:
    """Return the session that the settings at a place of an object ask for, by the words of the catalog; None where
    they ask for none."""
    spec, at = value_at(holder.body, place), text(secures.get("at"))
    asking = mapping(spec) if not at else value_at(mapping(spec), tuple(at.split(".")))
    if asking is None or not isinstance(spec, dict):
        return None
    pointer = (*place, *at.split(".")) if at else place
    sni = text(value_at(spec, tuple(text(secures.get("name")).split(".")))) if secures.get("name") else ""
    for entry in map(text, sequence(secures.get("unverified"))):
        path, _, wanted = entry.partition("=")
        off = next((where for where, value in places(spec, path, place) if value == (wanted or True)), None)
        if off is not None:
            return BackendSession("unverified", "", holder, off, sni)
    names = _names(spec, map(text, sequence(secures.get("checked"))))
    authorities = list(_authorities(spec, map(text, sequence(secures.get("authorities")))))
    system = text(secures.get("system"))
    if not authorities and (secures.get("otherwise") == "system" or (system and any(places(spec, system, ())))):
        authorities = ["the authorities of the system"]
    if not authorities and secures.get("authorities"):
        return BackendSession("unverified", "", holder, pointer, sni)
    return BackendSession("verified", against(names, authorities), holder, pointer, sni, tuple(names))


def against(names: Iterable[str], authorities: Iterable[str]) -> str:
    """Return what a certificate is verified against: `for a.example by ConfigMap ca`."""
    named = listing(list(names), word="or")
    return " ".join(filter(None, (f"for {named}" if named else "", f"by {listing(list(authorities))}")))


def of_object(holder: Resource) -> BackendSession | None:
    """Return the session that an object which is no policy asks for, by what the catalog says of its kind."""
    about = mapping(known_object(*holder.key[:2]))
    return stated(mapping(about.get("secures")), holder) if about.get("secures") else None


def port_of_service(service: Resource | None, number: int | None) -> Mapping[str, Any]:
    """Return the entry of a Service's port, empty where it was not seen."""
    ports = [] if service is None else [mapping(each) for each in sequence(service.spec.get("ports"))]
    return next((port for port in ports if integer(port.get("port")) == number), {})


def by_port(
    service: Resource | None, number: int | None, encrypting: Iterable[str], state: State
) -> BackendSession | None:
    """Return the session to a port of a Service whose `appProtocol` alone says it; None where that was not seen.

    Args:
        encrypting: the protocols that are TLS, in lower case.
        state: of a session with TLS.
    """
    port = port_of_service(service, number)
    if service is None or not port:
        return None
    is_secure = text(port.get("appProtocol")).lower() in set(encrypting)
    place = ("spec", "ports", sequence(service.spec.get("ports")).index(port), "appProtocol")
    return BackendSession(state, "", service, place) if is_secure else BackendSession("plain")


def _names(spec: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
    found = ([str(name) for _, name in places(spec, path, ()) if isinstance(name, str) and name] for path in paths)
    return next(filter(None, found), [])


def _authorities(spec: Mapping[str, Any], paths: Iterable[str]) -> Iterator[str]:
    """Yield the objects that hold the authorities, as they are named: `ConfigMap ca`, `ca`."""
    for path in paths:
        for _, named in places(spec, path, ()):
            if isinstance(named, dict):
                yield " ".join(filter(None, (text(named.get("kind")), text(named.get("name")))))
            elif isinstance(named, str) and named:
                kind = "ConfigMap " if path.endswith("onfigMap") else "Secret " if "ecret" in path else ""
                yield f"{kind}{named}"
