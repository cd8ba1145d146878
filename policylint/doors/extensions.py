"""What objects beside an Ingress ask or answer, as far as the catalog of policy kinds does not say it.

Objects that annotations name (`reads`, `answers` of `extensions` in schemas/doors.yaml), and actions and
conditions of the AWS Load Balancer Controller, which are annotations in JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer, read
from policylint.doors.lowered import Guard
from policylint.doors.named import entries, meant
from policylint.doors.vendors import Vendor
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.resource import value_at
from policylint.policy.bindings import is_off, names_reader
from policylint.policy.results import FailingSetting

_REFUSES = 400
"""The least status that refuses a request."""


def in_force(world: World, vendor: Vendor, named: Iterable[ResourceKey]) -> Iterator[ResourceKey]:
    """Yield which objects act of those that an Ingress names and then its Service, and of those for everything.

    Where objects are of sorts (`sort`), one of each acts, the first: developer.konghq.com/gateway/entities/plugin,
    «Plugin precedence». One that is switched off, acts for some clients alone, or is perhaps not read leaves the others
    be.
    """
    about = vendor.extensions
    whole, sort = text(about.get("clusterKind")), text(about.get("sort"))
    of_all = {each.key.name: each for each in world.of_kind(about["group"], whole)} if whole else {}
    keys = []
    for key in named:
        for_all = of_all.get(key.name)
        keys.append(for_all.key if for_all is not None and world.get(key) is None else key)
    names = {key.name for key in keys}
    chosen = [each for each in of_all.values() if mapping(about["everywhere"]).items() <= each.labels.items()]
    sorts = Counter(text(value_at(each.body, _path(sort))) for each in chosen)
    keys += [  # of two of a sort none acts
        each.key
        for each in chosen
        if each.key.name not in names and (not sort or sorts[text(value_at(each.body, _path(sort)))] == 1)
    ]
    acting: set[str] = set()
    for key in keys:
        resource = world.get(key) if sort else None
        said = "" if resource is None else text(value_at(resource.body, _path(sort)))
        if said in acting:
            continue
        if (
            resource is not None
            and said
            and not is_off(resource, text(about.get("off")))
            and _says_whose(resource, about)
            and not is_of_some(world, vendor, key)
        ):
            acting.add(said)
        yield key


def overruled(
    world: World, vendor: Vendor, ingress: Resource, service: Resource
) -> Iterator[tuple[Resource, Resource]]:
    """Yield what a Service names and an Ingress keeps from acting on its requests, by one of the same sort: the two."""
    about, name = vendor.extensions, text(vendor.extensions.get("annotation"))
    if not about.get("sort"):
        return
    own, of_service = (
        [meant(world, about, each, holder.key.namespace) for each in entries(vendor.value(holder, name))]
        for holder in (ingress, service)
    )
    acting = list(filter(None, map(world.get, in_force(world, vendor, filter(None, (*own, *of_service))))))
    sort = _path(about["sort"])
    for lost in filter(None, (world.get(key) for key in of_service if key is not None)):
        said = value_at(lost.body, sort)
        winner = next((each for each in acting if value_at(each.body, sort) == said and each.key in own), None)
        if winner is not None and lost not in acting:
            yield lost, winner


def is_of_some(world: World, vendor: Vendor, key: ResourceKey) -> bool:
    """Return whether an object that stands for clients names an object: it acts for these alone."""
    about = vendor.extensions
    holders = (each for kind in about.get("clients", ()) for each in world.of_kind(about["group"], kind))
    name = text(about.get("annotation"))
    return any(
        key.name in entries(vendor.value(holder, name)) and key.namespace in ("", holder.key.namespace)
        for holder in holders
    )


def guards_of(extension: Resource, about: Mapping[str, Any]) -> Iterator[Guard]:
    """Yield what an object asks of all requests that it acts on, by its fields.

    A login of one for all namespaces, which is no filter of a route, is among it. Whether one is read at all that does
    not say whose it is hangs on the class that is the cluster's default.
    """
    if is_off(extension, text(about.get("off"))):
        return
    if _says_whose(extension, about):
        yield from _asked(extension, about)
    elif any(_asked(extension, about)):
        sort = text(value_at(extension.body, _path(about.get("sort"))))
        yield Guard(extension, {"unread": sort}, {("unread",): ("metadata", "name")})


def _asked(extension: Resource, about: Mapping[str, Any]) -> Iterator[Guard]:
    for entry in map(mapping, sequence(about.get("reads"))):
        at = _path(entry.get("path"))
        value = value_at(extension.body, at)
        if _holds(extension, entry) and is_symbolic(around := text(value_at(extension.body, at[:1]))):
            yield Guard(extension, {"unread": around}, {("unread",): at[:1]})
        elif _holds(extension, entry) and value:
            networks = texts(value) or [text(value)]
            yield Guard(extension, {text(entry.get("at")): networks}, {(text(entry.get("at")),): at})
    if extension.key.kind == about.get("clusterKind"):
        yield from _login(extension, about)
    for entry in map(mapping, sequence(about.get("answers"))):
        if _holds(extension, entry):
            status = value_at(extension.body, _path(entry.get("path")))
            yield answering(extension, status if isinstance(status, int) else entry.get("unset", 503))


def _says_whose(extension: Resource, about: Mapping[str, Any]) -> bool:
    return names_reader(extension, text(mapping(about.get("readWith")).get(extension.key.kind)))


def _login(extension: Resource, about: Mapping[str, Any]) -> Iterator[Guard]:
    at = _path(about.get("sort"))
    is_login = text(value_at(extension.body, at)) in sequence(about.get("logins"))
    if is_login and not any(value_at(extension.body, _path(path)) for path in sequence(about.get("optional"))):
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
