"""GWP304 for objects that the catalog does not know: by the names of their fields, and by what goes with them.

Nobody evaluates them. Words mean the same in every kind (schemas/weakenings.yaml), and a policy that refused
something does so no longer once it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.directions import denials, directed, guards_by_name, is_certain, is_switched_off
from policylint.catalog.products import product_kind
from policylint.catalog.weakenings import Deciding, access, as_step, common_weaknesses, deciding
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay
from policylint.compare.protection.embedded import configuration, flags_told, with_texts_read
from policylint.compare.protection.extensions import is_by_words, said_by, weakened
from policylint.compare.protection.rewriting import REWRITES, is_for_checked, rewriting
from policylint.compare.protection.spec import Weakening, weakenings
from policylint.compare.unknown import undeployed
from policylint.documents import read
from policylint.model import (
    GATEWAY_GROUP,
    Resource,
    ResourceKey,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.model.weakness import Weakness
from policylint.render.left_over import MAKERS
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import WORKLOADS, pod_spec

_ELSEWHERE = frozenset(
    {
        "", "apps", "batch", "networking.k8s.io", "discovery.k8s.io", "policy",
        "apiextensions.k8s.io", "autoscaling", "storage.k8s.io", GATEWAY_GROUP, "policy.open-cluster-management.io",
        "work.open-cluster-management.io", "operator.open-cluster-management.io",
    }
)  # fmt: skip
"""Groups of kinds that have no such fields, or are compared elsewhere."""
_CONFIG_MAP = ("", "ConfigMap")
_NAMESPACE = ("", "Namespace")
_PASSES, _UNMADE = "what it rejected passes", "what it changed or made is as others left it"
_EXPORTED = "it can be reached from elsewhere"
_FIELDS = {("", "ServiceAccount"): ("automountServiceAccountToken",), ("", "Service"): ("externalTrafficPolicy",)}
"""What objects of Kubernetes say that means the same by its name alone."""
_APPLICATION = ("argoproj.io", "Application")
_PARAMETRISED = frozenset({(GATEWAY_GROUP, "Gateway"), (GATEWAY_GROUP, "GatewayClass")})
_OF_SCALING = frozenset({"", "apps", "batch", "autoscaling", "apiextensions.k8s.io", "admissionregistration.k8s.io"})
"""Groups of objects that something else in the cluster writes to as a rule: replicas, bundles, volumes."""


def weakened_anywhere(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the objects themselves."""
    for old, new in (*edited_beside(sides), *emptied_beside(sides)):
        decides = deciding(*new.key[:2]) is not None
        for weakening, certain in directed_changes(new.key[:2], said_beside(old), said_beside(new)):
            cause = weakened(weakening, old, new, "keep it as it was, or say what takes its place")
            kept = cause if decides or certain else cause._replace(severity="note")
            if new.key in sides.pairing.removed:
                kept = kept._replace(location=None)
            yield kept._replace(own=True), "", (whole(new.key),)
    for change, resource, says in (
        *(("is gone", each, _lost(each)) for each in _of(sides.before, sides.pairing.removed, "guards")),
        *(("is gone", each, _PASSES) for each in _guards_gone(sides)),
        *(("is new", each, _EXPORTED) for each in _exports(sides)),
        *(("is new", each, REWRITES) for each in rewriting(sides)),
        *(
            ("is new", each, "it exempts some of what policies reject")
            for each in _of(sides.after, sides.pairing.added, "spares")
        ),
    ):
        fix = f"keep {resource.key}" if change == "is gone" else f"leave {resource.key} out"
        now, was = (resource.name_location, None) if change == "is new" else (None, resource.name_location)
        cause = Cause(resource.key.kind, change, says, (resource.key,), location=now, before=was, fix=fix)
        side = sides.before if change == "is gone" else sides.after
        if says == _EXPORTED or (says in (REWRITES, _UNMADE) and not is_for_checked(resource, side)):
            cause = cause._replace(severity="note")
        yield cause._replace(own=True), "", (whole(resource.key),)


def directed_changes(
    kind: tuple[str, str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Weakening, bool]]:
    """Yield what is weaker between two states of an object that nobody evaluates, each with whether that is certain."""
    was, now = with_texts_read(before, after)
    certain, others = words_on(kind, was, now)
    for weakening in weakenings([*certain, *others, *denials(was, now)], was, now):
        weak = weakening.weak
        sure = weak in certain or weak not in others or is_certain(weak, kind[1])
        yield weakening, sure and weak.severity == "warning" and not is_switched_off(now, weakening.after)


def words_on(
    kind: tuple[str, str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[list[Weakness], list[Weakness]]:
    """Return what fields that differ mean: what is certain of a product's kind or by words, and what words say else."""
    known = product_kind(*kind)
    own = list(directed(kind[1], before, after))
    others = list(common_weaknesses(kind[1], before, after))
    if known is None:
        return own, others
    said = known.speaks_of
    return [*known.weaker, *(weak for weak in own if not said(weak.path))], [
        weak for weak in others if not said(weak.path)
    ]


def _lost(resource: Resource) -> str:
    """Return what comes of an object's being gone, in words."""
    entry = deciding(*resource.key[:2])
    return _PASSES if entry is None or entry.refuses(resource) else _UNMADE


def _guards_gone(sides: Sides) -> Iterator[Resource]:
    """Yield the policies by name that are gone, while there is still something in their namespace to guard.

    One of the same kind that is new there takes their place.
    """
    taken = {(key.group, key.kind, key.namespace) for key in sides.pairing.added}
    kept: set[str] | None = None
    for key in sorted(sides.pairing.removed):
        known = product_kind(*key[:2])
        guards = guards_by_name(key.kind) if known is None else known.guards
        if not guards or not is_beside(sides, *key[:2]) or deciding(*key[:2]) is not None:
            continue
        resource = sides.before.world.get(key)
        if resource is None or (key.group, key.kind, key.namespace) in taken or key.group in access().silent:
            continue
        if kept is None:
            kept = {each.namespace for each in sides.after.world.resources}
        if not key.namespace or key.namespace in kept:
            yield resource


def _exports(sides: Sides) -> Iterator[Resource]:
    """Yield the new objects with which something can be reached from elsewhere."""
    for key in sorted(sides.pairing.added):
        known = product_kind(*key[:2])
        resource = sides.after.world.get(key) if known is not None and known.exports else None
        if resource is not None:
            yield resource


def edited_beside(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects that are compared by words alone: not what both sides have for routes, by which requests go."""
    routed = (sides.before.topology.route, sides.after.topology.route)
    for group, name in sides.after.world.kinds():
        if is_beside(sides, group, name):
            pairs = sides.edited(group, name)
            yield from (
                pair for pair in pairs if not all(route(each.key) for route, each in zip(routed, pair, strict=True))
            )
        elif (entry := deciding(group, name)) is not None and entry.holding:
            yield from (pair for pair in sides.edited(group, name) if all(_applies(entry, each) for each in pair))
    for key, was, now in undeployed(sides):
        if now is not None and is_beside(sides, *key[:2]):
            yield was, now


def emptied_beside(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield settings that are gone while what they were for stays, as they were and with nothing in them: what holds
    by default is in force then. With an application its own go, and what comes beside them may take their place."""
    taken = {(key.kind, key.namespace) for key in sides.pairing.added}
    left = {key.namespace for key in sides.pairing.removed if key[:2] in WORKLOADS or key[:2] in MAKERS}
    left |= {key.name for key in sides.pairing.removed if key[:2] == _NAMESPACE}
    for key in sorted(sides.pairing.removed):
        entry = deciding(*key[:2])
        if key[:2] == _CONFIG_MAP or (entry is not None and entry.settings):
            old = sides.before.world.get(key)
            if old is not None and (key.kind, key.namespace) not in taken and key.namespace not in {*left} - {""}:
                fields = ("data", "binaryData") if key[:2] == _CONFIG_MAP else ("spec", "config")
                yield old, old.replaced(body={**old.body, **{field: {} for field in fields if field in old.body}})


def decides_beside(sides: Sides) -> bool:
    """Tell whether a change touches objects that decide on something and that nobody evaluates."""
    before, after, pairing = sides
    if any(decided_otherwise(sides)):
        return True
    touched: list[Resource] = []
    for side, keys in ((before, pairing.removed), (after, pairing.added)):
        touched += filter(None, map(side.world.get, keys))
    return any(_applies(deciding(*each.key[:2]), each) for each in touched)


def decided_otherwise(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects that decide on something, that nobody evaluates, and that say something else than before."""
    for kind in sides.after.world.kinds():
        if (entry := deciding(*kind)) is not None:
            for old, new in sides.edited(*kind):
                if said_by(old) != said_by(new) and _applies(entry, new):
                    yield old, new


def _applies(entry: Deciding | None, resource: Resource) -> bool:
    """Tell whether an object is one of those that an entry speaks of."""
    return entry is not None and (not entry.holding or entry.holding in resource.spec)


def _of(side: Simulation, keys: Iterable[ResourceKey], what: str) -> Iterator[Resource]:
    """Yield the objects among some that guard, or spare."""
    for key in keys:
        entry = deciding(*key[:2])
        resource = side.world.get(key) if entry is not None and getattr(entry, what) else None
        if resource is not None and _applies(entry, resource):
            yield resource


def is_beside(sides: Sides, group: str, name: str) -> bool:
    """Tell whether objects of a kind are compared by words alone."""
    if (group, name) == _CONFIG_MAP or (group, name) in _PARAMETRISED:
        return True
    if (group, name) in WORKLOADS or (group, name) in _FIELDS:
        return True
    return is_by_words(sides.after, group, name) and (group not in _ELSEWHERE or deciding(group, name) is not None)


def said_beside(resource: Resource) -> Mapping[str, Any]:
    """Return what such an object says, by the names of fields."""
    if resource.key[:2] == _CONFIG_MAP:
        entries = mapping(resource.body.get("data"))
        texts = {name: value for name, value in entries.items() if isinstance(value, str)}
        plain = {name: value for name, value in texts.items() if "\n" in value.strip() or not is_symbolic(value)}
        return {as_step(name): configuration(value) for name, value in plain.items()}
    if resource.key[:2] in WORKLOADS:
        containers = map(mapping, sequence(pod_spec(resource).get("containers")))
        return {as_step(text(each.get("name"))): _told(each) for each in containers}
    if resource.key[:2] in _PARAMETRISED:
        holder = mapping(resource.spec.get("infrastructure")) if resource.key.kind == "Gateway" else resource.spec
        return {name: holder[name] for name in ("parametersRef",) if name in holder}
    if resource.key[:2] in _FIELDS:
        held = resource.spec or resource.body
        return {name: held[name] for name in _FIELDS[resource.key[:2]] if name in held}
    if resource.key[:2] == _APPLICATION:
        sources = [resource.spec.get("source"), *sequence(resource.spec.get("sources"))]
        values = [_of_helm(mapping(mapping(source).get("helm"))) for source in sources if source]
        made = mapping(mapping(resource.spec.get("syncPolicy")).get("managedNamespaceMetadata"))
        marks = {field: {as_step(key): each for key, each in mapping(made.get(field)).items()} for field in made}
        namespaces = {"syncPolicy": {"managedNamespaceMetadata": marks}} if marks else {}
        return {"values": values, "ignoreDifferences": _kept_as_they_are(resource), **namespaces}
    return said_by(resource)


def _told(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a program is told by its arguments and variables, those without the name of the program before."""
    told = flags_told([text(each) for field in ("command", "args") for each in sequence(container.get(field))])
    program = text(container.get("image")).rpartition("/")[2].partition(":")[0].replace("-", "_").lower()
    for variable in map(mapping, sequence(container.get("env"))):
        name = text(variable.get("name")).lower().removeprefix(f"{program}_")
        told.setdefault(as_step(name), text(variable.get("value")))
    return {name: {"true": True, "false": False}.get(value, value) for name, value in told.items()}


def _kept_as_they_are(application: Resource) -> list[Any]:
    """Return the objects whose fields an application leaves as they are in the cluster, whatever is written."""
    options = sequence(mapping(application.spec.get("syncPolicy")).get("syncOptions"))
    if "RespectIgnoreDifferences=true" not in options:
        return []
    entries = map(mapping, sequence(application.spec.get("ignoreDifferences")))
    return [entry for entry in entries if text(entry.get("group")) not in _OF_SCALING]


def _of_helm(helm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a chart as Argo CD puts them together, each parameter at its place."""
    written = text(helm.get("values"))
    documents = read(written.encode(), "values").documents[:1] if written else ()
    values = {"name": "helm", **{key: value for each in documents for key, value in mapping(each.value).items()}}
    values |= mapping(helm.get("valuesObject"))
    for parameter in map(mapping, sequence(helm.get("parameters"))):
        at: dict[str, Any] = values
        *above, last = text(parameter.get("name")).split(".")
        for step in above:
            inner = dict(mapping(at.get(step)))
            at[step] = inner
            at = inner
        at[last] = {"true": True, "false": False}.get(text(parameter.get("value")), parameter.get("value"))
    return values


__all__ = [
    "decided_otherwise",
    "decides_beside",
    "edited_beside",
    "emptied_beside",
    "is_beside",
    "said_beside",
    "weakened_anywhere",
    "words_on",
]
