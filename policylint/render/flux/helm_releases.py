"""HelmReleases: what their charts create, where that is known, and else that they may create anything."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from policylint.model import Spot, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.helm import app_template, known_charts
from policylint.render.helm.app_template import Release
from policylint.render.journal import Journal
from policylint.render.kustomize.patches import apply_patch, patches
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts

_GROUP = "helm.toolkit.fluxcd.io"
_OF_ROUTES = re.compile(
    r"^(?:routes?|httproutes?|grpcroutes?|gateways?|gatewayapi|parentrefs?)$"
    r"|^(?:extra|additional|raw)_?(?:objects?|deploy|manifests?|resources?|templates?)$|^manifests$",
    re.IGNORECASE,
)


_Known = dict[tuple[str, str], list[Manifest]]
"""Objects that releases refer to, by kind and name."""


class _Values(NamedTuple):
    """The values of a release.

    Args:
        layers: in the order in which they overwrite each other, each with its place.
        seen: whether all of them were seen, but for Secrets.
    """

    layers: list[tuple[Any, Trace]]
    seen: bool

    def merged(self) -> tuple[Any, Trace]:
        value, trace = self.layers[0]
        for over, place in self.layers[1:]:
            value, trace = merge(value, trace, dict(over), place, core=False)
        return value, trace


def released(
    manifests: list[Manifest], tree: Tree, journal: Journal, charts: Charts | None = None
) -> tuple[list[Manifest], int, int]:
    """The objects that releases of known charts create, and how many releases are known and unknown.

    The namespaces of the others are noted as gaps.

    Args:
        charts: renders charts that lie in the tree; None leaves them unknown.
    """
    by_name: _Known = defaultdict(list)
    for each in manifests:
        if each.kind in ("OCIRepository", "HelmChart", "ConfigMap", "Secret", "GitRepository"):
            by_name[each.kind, each.name].append(each)
    own = _own_sources(manifests, tree) if charts is not None else frozenset()
    made: list[Manifest] = []
    known = unknown = 0
    for each in manifests:
        if each.kind == "HelmRelease" and each.group == _GROUP:
            spec = mapping(each.body.get("spec"))
            namespace = text(spec.get("targetNamespace")) or each.namespace or "default"
            values = _values(each, spec, by_name, tree)
            objects: list[Manifest] | None = None
            if charts is not None:
                objects = _installed(each, spec, namespace, values, (by_name, own), (charts, tree, journal))
            merged, trace = values.merged()
            if objects is None and (is_app_template(spec, each.namespace, by_name) or app_template.looks_like(merged)):
                objects = app_template.objects(Release(_release_name(each, spec), namespace, merged, trace))
            if objects is None:
                unknown += 1
                release = Release(_release_name(each, spec), namespace, merged, trace)
                made += known_charts.routes(_chart_name(spec, each.namespace, by_name), release)
                routes = not values.seen or _may_make_routes(spec, merged)
                journal.gap(f"{each} may create it; its chart is not rendered", namespace, gateway_api=routes)
                continue
            known += 1
            if not values.seen:
                journal.gap(f"{each} may create it; not all of its values are seen", namespace)
            made += _post_rendered(objects, each, spec, tree, journal)
    return made, known, unknown


def _own_sources(manifests: list[Manifest], tree: Tree) -> frozenset[tuple[str, str]]:
    """The sources that are this tree: those from which Kustomizations deploy what is here."""
    found = {("GitRepository", "flux-system")}
    for each in manifests:
        spec = mapping(each.body.get("spec"))
        if each.kind == "Kustomization" and each.group == "kustomize.toolkit.fluxcd.io":
            reference, path = mapping(spec.get("sourceRef")), text(spec.get("path"))
            if path and tree.placed(tree.path_of(each.file), path) is not None:
                found.add((text(reference.get("kind")), text(reference.get("name"))))
    return frozenset(found)


def _installed(
    release: Manifest,
    spec: Any,
    namespace: str,
    values: _Values,
    known: tuple[_Known, frozenset[tuple[str, str]]],
    means: tuple[Charts, Tree, Journal],
) -> list[Manifest] | None:
    """What helm makes of a chart of this tree for a release; None where its chart is elsewhere, or it cannot."""
    from policylint.render.helm.charts import Installation, installed
    from policylint.render.helm.value_places import Layer

    by_name, own = known
    charts, tree, journal = means
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    place = release.trace.at(("spec", "chart", "spec"))
    reference = mapping(spec.get("chartRef"))
    if reference.get("kind") == "HelmChart":
        named = by_name.get(("HelmChart", text(reference.get("name"))), [])
        chart = mapping(named[0].body.get("spec")) if named else {}
        place = release.trace.at(("spec", "chartRef"))
    source = mapping(chart.get("sourceRef"))
    origin = (text(source.get("kind")), text(source.get("name")))
    if origin[0] not in ("GitRepository", "OCIRepository", "Bucket"):
        return None
    if origin not in own and origin in by_name:
        return None
    found = tree.placed(tree.path_of(release.file), text(chart.get("chart")))
    if found is None or not charts.holds(found[0]):
        return None
    directory, prefix = found
    files = [text(each) for each in sequence(chart.get("valuesFiles"))]
    below = [f"{prefix}/{each.removeprefix('./')}" if prefix else each.removeprefix("./") for each in files]
    layers = [layer for path in below for layer in charts.values(path)]
    layers += [Layer(value, trace) for value, trace in values.layers]
    bare = bool(below) and f"{directory}/values.yaml" not in below
    wanted = Installation(
        directory, _release_name(release, spec), namespace, tuple(layers), place.child("chart"), (), bare
    )
    objects = charts.objects(wanted, journal)
    if objects is not None:
        installed(objects, namespace, tree.cluster_scoped)
    return objects


def _post_rendered(
    objects: list[Manifest], release: Manifest, spec: Any, tree: Tree, journal: Journal
) -> list[Manifest]:
    """The objects after the release's post-renderers: kustomize patches, as Flux applies them."""
    place = release.trace.at(("spec", "postRenderers"))
    for index, each in enumerate(sequence(spec.get("postRenderers"))):
        body = mapping(mapping(each).get("kustomize"))
        fields = ("patchesStrategicMerge", "patches", "patchesJson6902")
        where = place.child(index).child("kustomize")
        for patch in patches("", {name: body.get(name) for name in fields}, where, fields, tree, journal):
            # What these charts make is not all known here: a patch for something else is no mistake.
            objects = apply_patch(patch, objects, journal, unseen=True)
    return objects


def _may_make_routes(spec: Any, values: Any) -> bool:
    """Whether a chart that is not known may create routes or Gateways with these values.

    Published charts do so when the values speak of them, or carry whole objects; a chart of one's own repository, or
    values that are not seen, may do anything.
    """
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    if mapping(chart.get("sourceRef")).get("kind") in ("GitRepository", "Bucket"):
        return True
    if any(mapping(each).get("kind") == "Secret" for each in sequence(spec.get("valuesFrom"))):
        return True
    return speaks_of_routes(values)


def speaks_of_routes(values: Any) -> bool:
    """Whether a key of the values has to do with Gateway API, or whole objects are among them."""
    pending = [values]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            if "apiVersion" in here and "kind" in here:
                return True
            for name, value in here.items():
                if _OF_ROUTES.search(name) and value not in (None, False, {}, []):
                    if not isinstance(value, dict) or value.get("enabled") is not False:
                        return True
                elif isinstance(value, (dict, list)):
                    pending.append(value)
        elif isinstance(here, list):
            pending.extend(each for each in here if isinstance(each, (dict, list)))
        elif isinstance(here, str) and "kind: " in here:
            return True
    return False


def _release_name(manifest: Manifest, spec: Any) -> str:
    target = text(spec.get("targetNamespace"))
    return text(spec.get("releaseName")) or (f"{target}-{manifest.name}" if target else manifest.name)


def is_app_template(spec: Any, namespace: str, by_name: _Known) -> bool:
    """Whether a release's chart is app-template, by the chart's name or by what its chartRef leads to."""
    name = _chart_name(spec, namespace, by_name)
    return (name or text(mapping(spec.get("chartRef")).get("name"))) == app_template.CHART


def _chart_name(spec: Any, namespace: str, by_name: _Known) -> str:
    """The last step of the address of a release's chart; "" where its chartRef leads to nothing that was seen."""
    chart = text(mapping(mapping(spec.get("chart")).get("spec")).get("chart"))
    if not chart:
        reference = mapping(spec.get("chartRef"))
        wanted = text(reference.get("namespace")) or namespace
        candidates = by_name.get((text(reference.get("kind")), text(reference.get("name"))), [])
        source = next((each for each in candidates if each.namespace == wanted), next(iter(candidates), None))
        fields = {} if source is None else mapping(source.body.get("spec"))
        chart = text(fields.get("url")) or text(fields.get("chart"))
    return chart.rstrip("/").rpartition("/")[2]


def _values(manifest: Manifest, spec: Any, by_name: _Known, tree: Tree) -> _Values:
    """The values of a release: those of ConfigMaps and Secrets in their order, over them its own."""
    layers: list[tuple[Any, Trace]] = []
    seen = True
    for reference in sequence(spec.get("valuesFrom")):
        reference = mapping(reference)
        kind = text(reference.get("kind"))
        maps = by_name.get((kind, text(reference.get("name"))), [])
        source = next((each for each in maps if each.namespace in (manifest.namespace, "")), None)
        key = text(reference.get("valuesKey"), "values.yaml")
        content, place = _content(source, key)
        target = text(reference.get("targetPath"))
        if content is None or "[" in target:
            seen = seen and (kind == "Secret" or reference.get("optional") is True)
        elif target:
            value: Any = content
            trace = place
            for step in reversed(target.split(".")):
                value, trace = {step: value}, Trace(place.document, place.pointer, {step: trace})
            layers.append((value, trace))
        else:
            found = tree.texts.documents(content, place)[0][:1]
            layers += [(value, at) for value, at in found if isinstance(value, dict)]
    layers.append((mapping(spec.get("values")), manifest.trace.at(("spec", "values"))))
    return _Values(layers, seen)


def _content(source: Manifest | None, key: str) -> tuple[str | None, Trace]:
    """The text under a key of a ConfigMap or Secret, and its place; a Secret's `data` is encoded and never read."""
    if source is None:
        return None, Trace(Spot(""))
    field = "stringData" if source.kind == "Secret" else "data"
    content = mapping(source.body.get(field)).get(key)
    return (content, source.trace.at((field, key))) if isinstance(content, str) else (None, source.trace)
