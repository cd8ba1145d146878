"""Where controllers of Ingresses look for the address of a client that comes through other proxies.

Source: schemas/doors.yaml, `addresses`; nginx.tmpl of ingress-nginx (set_real_ip_from); kong.conf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.controllers import settings_of
from policylint.doors.lowered import Guard
from policylint.doors.vendors import Vendor
from policylint.implementations.generic.configuration import configurations
from policylint.implementations.generic.containers import containers
from policylint.load.charts import values_of
from policylint.model import Resource, World, integer, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple

SETTING = "clientAddress"
_ON = frozenset({"true", "on"})


def believed(world: World, vendor: Vendor, ingress: Resource) -> Guard | None:
    """Return which address of a client the lists of an Ingress are held against; None for that of who connects."""
    about = vendor.addresses
    if not about:
        return None
    own = vendor.value(ingress, text(about.get("header"))) if "networks" not in about else ""
    if own:
        return Guard(ingress, {SETTING: {"field": text(about["header"]), "header": own}}, {})
    found = list(_sources(world, vendor))
    if not found:
        return unseen(ingress, vendor.name)
    for holder, settings in found:
        spec = _stated(about, {name: str(value).strip() for name, value in settings.items()})
        if spec:
            place: Pointer = ("data",) if holder.key.kind == "ConfigMap" else ("metadata", "name")
            return Guard(holder, {SETTING: spec}, {(SETTING,): place})
    return None


def unseen(holder: Resource, controller: str) -> Guard:
    """Return that it is not known where a controller looks for clients' addresses."""
    return Guard(holder, {SETTING: {"unseen": f"the settings of {controller} were not seen"}}, {}, unwritten=True)


class TrustedHops(NamedTuple):
    """How many proxies before it a controller trusts, and the object and field that say so; `hops` is 0 for none."""

    holder: Resource
    place: Pointer
    field: str
    hops: int


def stated_hops(world: World, implementation: str, *ways: tuple[str, ...]) -> Iterator[TrustedHops]:
    """Yield the objects that may say how many proxies before it a controller trusts.

    Args:
        ways: where configuration may have the number.
    """
    for each in configurations(world, implementation):
        pointer = next((way for way in ways if each.value(*way) is not None), ways[0])
        hops = integer(each.value(*pointer)) or 0
        yield TrustedHops(each.holder, each.at(*pointer), f"{pointer[-1]}: {hops}", hops)


def counted(world: World, implementation: str, *ways: tuple[str, ...]) -> dict[str, Any] | None:
    """Return how many proxies before it a controller trusts, as a setting of a door; None where nothing was seen."""
    found = list(stated_hops(world, implementation, *ways))
    trusting = next((each for each in found if each.hops), None)
    if trusting is not None:
        return {"field": trusting.field, "hops": trusting.hops}
    return {} if found else None


def _sources(world: World, vendor: Vendor) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
    """Yield what states settings for all Ingresses: ConfigMaps, values of charts, variables of containers."""
    of = mapping(vendor.addresses.get("from"))
    if not of:
        yield from settings_of(world, vendor)
        return
    prefix = text(of.get("environment"))
    for workload, container in containers(world):
        named = {text(each.get("name")): each.get("value") for each in map(mapping, sequence(container.get("env")))}
        stated = {name: value for name, value in named.items() if name.startswith(prefix)}
        if stated:
            yield workload, {name.removeprefix(prefix).lower(): value for name, value in stated.items()}
    chart = mapping(of.get("chart"))
    for release, values, _ in values_of(world, text(chart.get("name"))) if chart else ():
        yield release, mapping(value_at(values, tuple(text(chart.get("values")).split("."))))


def _stated(about: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Return what some settings say of clients' addresses, as a setting of a door; nothing where they say nothing."""
    header = settings.get(text(about.get("header"))) or text(about.get("byDefault"))
    if "networks" not in about:
        return {"field": text(about["header"]), "header": header} if header else {}
    switches = [name for name in sequence(about.get("switches")) if settings.get(name, "").lower() in _ON]
    if "switches" in about and not switches:
        return {}
    stated = settings.get(about["networks"], "")
    networks = [each.strip() for each in stated.split(",")] if stated else [*sequence(about.get("unset"))]
    if not networks:
        return {}
    recursive = about.get("recursive")
    return {
        "field": about["networks"] if stated else switches[0],
        "networks": networks,
        "header": "" if header.lower() == "x-forwarded-for" else header,
        "recursive": recursive is None or settings.get(text(recursive), "").lower() in _ON,
    }
