"""What controllers of Ingresses say for all of them: which class is theirs, which is the default, and what they ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.lowered import Guard
from policylint.doors.vendors import Vendor, vendor_of, vendors
from policylint.implementations.generic.containers import arguments, containers, runs
from policylint.load.charts import values_of
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.model.resource import value_at
from policylint.topology.workloads import WORKLOADS

CLASS = "IngressClass"
_ANNOTATION = "kubernetes.io/ingress.class"
_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


class Classes:
    """The classes of Ingresses, and who serves them, as IngressClasses and the charts of controllers say."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._installed = _of_charts(world)
        of_chart = next((name for name, (_, is_default) in self._installed.items() if is_default), "")
        self._default = _default_class(world) or of_chart
        self._beginning = world.once(_beginnings)

    def name(self, ingress: Resource) -> str:
        """Return the name of the class of an Ingress, "" where it has none and none is the default."""
        stated = text(ingress.spec.get("ingressClassName")) or text(ingress.annotations.get(_ANNOTATION))
        return stated or self._default

    def controller(self, name: str) -> str:
        """Return the controller that a class names, "" where the class was not seen."""
        seen = self._world.get(ResourceKey(INGRESS[0], CLASS, "", name))
        return "" if seen is None else text(seen.spec.get("controller"))

    def installed(self, name: str) -> str:
        """Return the usual controller of the chart that makes a class, "" where none does."""
        known = self._installed.get(name)
        return "" if known is None else text(known[0].arguments.get("otherwise"))

    def vendor(self, ingress: Resource, name: str) -> tuple[Vendor, bool]:
        """Return who serves an Ingress of a class, and whether the class says so, or the chart that makes it."""
        controller = self.controller(name)
        known = self._installed.get(name) if not controller else None
        vendor = known[0] if known is not None else vendor_of(controller, name, ingress)
        stated = controller or self.installed(name)
        if prefix := self._beginning.get((vendor.name, stated)):
            vendor = vendor.beginning(prefix)
        return vendor, bool(controller) or known is not None


def _beginnings(world: World) -> dict[tuple[str, str], str]:
    """Return how annotations begin for controllers that are told so: by whose they are, and their name in a class."""
    found: dict[tuple[str, str], str] = {}
    for vendor in vendors():
        of_prefix, of_class = (text(vendor.arguments.get(each)) for each in ("prefix", "controller"))
        if not of_prefix:
            continue
        for stated in (*_arguments(world, of_prefix), *(stated for stated, _ in _of_values(world, vendor))):
            prefix = text(stated.get(of_prefix)).rstrip("/")
            if prefix and not is_symbolic(prefix):
                called = text(stated.get(of_class)) or text(vendor.arguments.get("otherwise"))
                found[vendor.name, called] = f"{prefix}/"
    own = {vendor.name: vendor.prefix for vendor in vendors()}
    return {key: prefix for key, prefix in found.items() if not prefix.startswith(own[key[0]])}


def _arguments(world: World, wanted: str) -> Iterator[dict[str, str]]:
    """Yield the arguments `--name=value` of containers that state one, by name."""
    for _, container in containers(world, WORKLOADS):
        stated = dict(arguments(container))
        if wanted in stated:
            yield stated


def is_told(world: World, vendor: Vendor, flag: str) -> bool | None:
    """Return whether a flag is among the arguments of a controller; None where neither its containers nor all values of
    its chart were seen."""
    seen = None
    for _, container in containers(world, WORKLOADS):
        if runs(container, vendor.images):
            if _is_set(flag, arguments(container)):
                return True
            seen = False
    for stated, is_whole in _of_values(world, vendor):
        if _is_set(flag, stated.items()):
            return True
        seen = False if is_whole else seen
    return seen


def is_allowed(option: Mapping[str, Any], world: World) -> bool | None:
    """Return whether an option is set, which is off otherwise; None where neither the arguments of its controller nor
    all values of its chart were seen.

    Args:
        option: the `argument`, the beginning of those `among` which it stands, the `chart`, the `value` of it that sets
            the option, and the one with `further` arguments; arguments in any case.
    """
    argument, among = option["argument"].lower(), option["among"].lower()
    asked: bool | None = None
    for _, container in containers(world):
        said = [each.lower() for each in texts(container.get("args"))]
        if any(each in (argument, f"{argument}=true") for each in said):
            return True
        asked = False if any(each.startswith(among) for each in said) else asked
    for _, values, is_whole in values_of(world, option["chart"]):
        own = value_at(values, tuple(option["value"].split(".")))
        said = [each.lower() for each in texts(values.get(option["further"]))]
        if own is True or any(each in (argument, f"{argument}=true") for each in said):
            return True
        if not is_whole or own not in (None, False):
            return None
        asked = False
    return asked


def _is_set(flag: str, stated: Iterable[tuple[str, Any]]) -> bool:
    return any(name == flag and str(value).lower() != "false" for name, value in stated)


def _of_values(world: World, vendor: Vendor) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield the arguments that values of a controller's chart hold, and whether these are all values."""
    chart = text(mapping(vendor.config.get("chart")).get("name"))
    place = tuple(text(vendor.arguments.get("chart")).split("."))
    for _, values, is_whole in values_of(world, chart):
        yield mapping(value_at(values, place)), is_whole


def _default_class(world: World) -> str:
    """Return the class that is marked as the one of Ingresses which name none; "" without one."""
    classes = world.of_kind(INGRESS[0], CLASS)
    return next((each.key.name for each in classes if each.annotations.get(_DEFAULT) in ("true", True)), "")


def _of_charts(world: World) -> dict[str, tuple[Vendor, bool]]:
    """Return the classes that charts of controllers make, each with whose it is, and whether it is the default."""
    found: dict[str, tuple[Vendor, bool]] = {}
    for vendor in vendors():
        chart = mapping(vendor.config.get("chart"))
        for _, values, _ in values_of(world, text(chart.get("name"))) if "class" in chart else ():
            stated = mapping(value_at(values, tuple(chart["class"].split("."))))
            name = text(stated.get("name"), text(chart["called"]))
            found.setdefault(name, (vendor, stated.get("default") is True))
    return found


def settings_of(world: World, vendor: Vendor) -> list[tuple[Resource, Mapping[str, Any]]]:
    """Return the settings for all Ingresses of a controller that are in the tree, each with what holds them."""
    config = vendor.config
    labels = mapping(config.get("labels"))
    found: list[tuple[Resource, Mapping[str, Any]]] = []
    for each in world.of_kind("", "ConfigMap"):
        if each.key.name in texts(config.get("names")) or (labels and labels.items() <= each.labels.items()):
            found.append((each, mapping(each.body.get("data"))))
    chart = mapping(config.get("chart"))
    for release, values, _ in values_of(world, text(chart.get("name"))) if chart else ():
        found.append((release, mapping(value_at(values, tuple(text(chart.get("values")).split("."))))))
    return found


def of_all(vendor: Vendor, ingress: Resource, own: Guard, holder: Resource, settings: Mapping[str, Any]) -> Guard:
    """Return what the settings for all ask at an Ingress."""
    config = vendor.config
    spec: dict[str, Any] = {}
    url = text(settings.get(text(config.get("externalAuth"))))
    if url and "externalAuth" not in own.spec and vendor.value(ingress, text(config.get("optOut"))) != "false":
        spec["externalAuth"] = {"url": url}
    for setting in ("allow", "deny"):
        networks = ",".join(filter(None, (text(settings.get(name)) for name in texts(config.get(setting)))))
        if networks and setting not in own.spec:
            spec[setting] = [part.strip() for part in networks.split(",")]
    snippets = {name: settings[name] for name in texts(config.get("text")) if text(settings.get(name))}
    if snippets:
        spec["snippets"] = snippets
    place: Pointer = ("data",) if holder.key.kind == "ConfigMap" else ("spec", "values")
    return Guard(holder, spec, {(name,): place for name in spec})


def secured(ingresses: Iterable[Resource]) -> Iterator[tuple[Resource, str]]:
    """Yield the hosts for which a certificate is named, with the Ingresses that do."""
    for ingress in ingresses:
        named = [host for rule in map(mapping, sequence(ingress.spec.get("rules"))) if (host := text(rule.get("host")))]
        for entry in map(mapping, sequence(ingress.spec.get("tls"))):
            yield from ((ingress, host) for host in texts(entry.get("hosts")) or named)


def covers(certificate: str, host: str) -> bool:
    """Tell whether a certificate for a name is one for a host."""
    return certificate == host or (certificate.startswith("*.") and host.partition(".")[2] == certificate[2:])
