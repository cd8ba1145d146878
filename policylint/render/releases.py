"""HelmReleases: what their charts create, where that is known, and else that they may create anything."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render import app_template
from policylint.render.app_template import Release
from policylint.render.inline import Texts
from policylint.render.notes import Journal
from policylint.render.strategic import merge
from policylint.render.trace import Manifest, Trace

_GROUP = "helm.toolkit.fluxcd.io"
_OF_ROUTES = re.compile(
    r"^(?:routes?|httproutes?|grpcroutes?|gateways?|gatewayapi|parentrefs?)$"
    r"|^(?:extra|additional|raw)_?(?:objects?|deploy|manifests?|resources?|templates?)$|^manifests$",
    re.IGNORECASE,
)


def released(manifests: list[Manifest], texts: Texts, journal: Journal) -> tuple[list[Manifest], int, int]:
    """The objects that releases of known charts create, and how many releases are known and unknown.

    The namespaces of the others are noted as gaps.
    """
    by_name: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for each in manifests:
        if each.kind in ("OCIRepository", "HelmChart", "ConfigMap"):
            by_name[each.kind, each.name].append(each)
    made: list[Manifest] = []
    known = unknown = 0
    for each in manifests:
        if each.kind == "HelmRelease" and each.group == _GROUP:
            spec = mapping(each.body.get("spec"))
            namespace = text(spec.get("targetNamespace")) or each.namespace or "default"
            values, trace = _values(each, spec, by_name, texts)
            if is_app_template(spec, each.namespace, by_name) or app_template.looks_like(values):
                known += 1
                made += app_template.objects(Release(_release_name(each, spec), namespace, values, trace))
            else:
                unknown += 1
                routes = _may_make_routes(spec, values)
                journal.gap(f"{each} may create it; its chart is not rendered", namespace, gateway_api=routes)
    return made, known, unknown


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


def is_app_template(spec: Any, namespace: str, by_name: dict[tuple[str, str], list[Manifest]]) -> bool:
    """Whether a release's chart is app-template, by the chart's name or by what its chartRef leads to."""
    chart = text(mapping(mapping(spec.get("chart")).get("spec")).get("chart"))
    if chart:
        return chart.rpartition("/")[2] == app_template.CHART
    reference = mapping(spec.get("chartRef"))
    kind, name = text(reference.get("kind")), text(reference.get("name"))
    wanted = text(reference.get("namespace")) or namespace
    candidates = by_name.get((kind, name), [])
    source = next((each for each in candidates if each.namespace == wanted), next(iter(candidates), None))
    if source is None:
        return name == app_template.CHART
    fields = mapping(source.body.get("spec"))
    address = text(fields.get("url")) or text(fields.get("chart"))
    return address.rstrip("/").rpartition("/")[2] == app_template.CHART


def _values(
    manifest: Manifest, spec: Any, by_name: dict[tuple[str, str], list[Manifest]], texts: Texts
) -> tuple[Any, Trace]:
    """The values of a release: those of ConfigMaps in their order, over them its own."""
    own = mapping(spec.get("values"))
    place = manifest.trace.at(("spec", "values"))
    values: Any = None
    trace = place
    for reference in sequence(spec.get("valuesFrom")):
        reference = mapping(reference)
        maps = by_name.get(("ConfigMap", text(reference.get("name"))), []) if not reference.get("targetPath") else []
        source = next((each for each in maps if each.namespace in (manifest.namespace, "")), None)
        if source is None:
            continue
        key = text(reference.get("valuesKey"), "values.yaml")
        content = mapping(source.body.get("data")).get(key)
        if isinstance(content, str):
            for value, at in texts.documents(content, source.trace.at(("data", key)))[0][:1]:
                values, trace = (value, at) if values is None else merge(values, trace, value, at, core=False)
    if values is None:
        return own, place
    return merge(values, trace, dict(own), place, core=False)
