"""What objects beside an Ingress ask or answer, as far as the catalog of policy kinds does not say it.

Objects that annotations name (`reads`, `answers` of `extensions` in schemas/doors.yaml), and actions and
conditions of the AWS Load Balancer Controller, which are annotations in JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer, read
from policylint.doors.lowered import Guard
from policylint.doors.vendors import Vendor
from policylint.model import Resource, mapping, sequence, text, texts
from policylint.model.resource import value_at
from policylint.policy.results import FailingSetting

_REFUSES = 400
"""The least status that refuses a request."""


def guards_of(extension: Resource, about: Mapping[str, Any]) -> Iterator[Guard]:
    """Yield what an object asks of all requests that it acts on, by its fields.

    A login of one for all namespaces, which is no filter of a route, is among it.
    """
    if value_at(extension.body, _path(about.get("off"))) is True:
        return
    for entry in map(mapping, sequence(about.get("reads"))):
        at = _path(entry.get("path"))
        value = value_at(extension.body, at)
        if _holds(extension, entry) and value:
            networks = texts(value) or [text(value)]
            yield Guard(extension, {text(entry.get("at")): networks}, {(text(entry.get("at")),): at})
    if extension.key.kind == about.get("clusterKind"):
        yield from _login(extension, mapping(about.get("logins")))
    for entry in map(mapping, sequence(about.get("answers"))):
        if _holds(extension, entry):
            status = value_at(extension.body, _path(entry.get("path")))
            yield answering(extension, status if isinstance(status, int) else entry.get("unset", 503))


def _login(extension: Resource, about: Mapping[str, Any]) -> Iterator[Guard]:
    at = _path(about.get("path"))
    is_login = text(value_at(extension.body, at)) in texts(about.get("of"))
    if is_login and not value_at(extension.body, _path(about.get("optional"))):
        yield Guard(extension, {"login": {"by": extension.key.name}}, {("login",): at})


def answering(holder: Resource, status: int) -> Guard:
    """Return what answers all requests in place of a backend."""
    why = f"{holder.key} answers by itself" if status >= _REFUSES else ""
    failing: dict[Pointer, FailingSetting] = {("answer",): FailingSetting(status, why, holder.key)}
    return Guard(holder, {"answer": {"status": status}}, {}, failing)


def _holds(extension: Resource, entry: Mapping[str, Any]) -> bool:
    return all(value_at(extension.body, _path(path)) == wanted for path, wanted in mapping(entry.get("when")).items())


def _path(written: object) -> Pointer:
    return tuple(text(written).split("."))


def action(vendor: Vendor, ingress: Resource, backend: Mapping[str, Any]) -> tuple[dict[str, Any] | None, Guard | None]:
    """Return where the action that a backend names redirects requests, or what answers them."""
    service = mapping(backend.get("service"))
    if not vendor.actions or mapping(service.get("port")).get("name") != vendor.actions.get("port"):
        return None, None
    stated = _json(vendor.value(ingress, f"{text(vendor.actions.get('prefix'))}{text(service.get('name'))}"))
    redirect = {name.lower(): value for name, value in mapping(stated.get("redirectConfig")).items()}
    if redirect:
        moved: dict[str, Any] = {"statusCode": 302 if "302" in text(redirect.get("statuscode")) else 301}
        scheme, host, path, port = (text(redirect.get(name)) for name in ("protocol", "host", "path", "port"))
        if scheme and "#" not in scheme:
            moved["scheme"] = scheme.lower()
        if host and "#" not in host:
            moved["hostname"] = host
        if path and "#" not in path:
            moved["path"] = {"type": "ReplaceFullPath", "replaceFullPath": path}
        if (number := whole_number(port)) is not None and port not in ("80", "443"):
            moved["port"] = number
        return moved, None
    fixed = mapping(stated.get("fixedResponseConfig"))
    if fixed:
        status = whole_number(str(fixed.get("statusCode", fixed.get("StatusCode", "503"))))
        return None, answering(ingress, 503 if status is None else status)
    return None, None


def sources_of(vendor: Vendor, ingress: Resource, service: str) -> list[str]:
    """Return the networks that a condition of a backend names: requests of others are not taken."""
    written = vendor.value(ingress, f"conditions.{service}") if vendor.actions else ""
    return [
        network
        for entry in map(mapping, sequence(_json(f'{{"all": {written}}}').get("all")) if written else ())
        if entry.get("field") == "source-ip"
        for network in texts(mapping(entry.get("sourceIpConfig")).get("values"))
    ]


def _json(written: str) -> Mapping[str, Any]:
    documents = read(written.encode(), "annotation").documents
    return mapping(documents[0].value) if documents else {}
