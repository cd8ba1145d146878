"""Where charts are installed, by HelmReleases of Flux, Applications of Argo CD and, with what values, by K3s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import read
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, value_at

RELEASE = ("helm.toolkit.fluxcd.io", "HelmRelease")
APPLICATION = ("argoproj.io", "Application")
_OCI = ("source.toolkit.fluxcd.io", "OCIRepository")
_K3S, _K3S_FURTHER = ("helm.cattle.io", "HelmChart"), ("helm.cattle.io", "HelmChartConfig")
_OTHER_VALUES = frozenset({"valueFiles", "parameters", "fileParameters"})
"""Where an Application has values that may come before those of `valuesObject`, or after them."""


def installed(world: World, chart: str) -> Iterator[str]:
    """Yield the namespaces in which something installs a chart."""
    for release, _, _ in values_of(world, chart):
        if namespace := namespace_of(release):
            yield namespace
    yield from world.unseen.installing(chart)
    yield from world.once(_labelled).get(chart, ())


def namespace_of(release: Resource) -> str:
    """Return the namespace into which something installs its chart; "" where an Application does not state it.

    Source: fluxcd.io/flux/components/helm/helmreleases, «Target namespace»; k3s-io/helm-controller,
    pkg/controllers/chart/chart.go, job.
    """
    if release.key[:2] == APPLICATION:
        return text(mapping(release.spec.get("destination")).get("namespace"))
    return text(release.spec.get("targetNamespace")) or release.key.namespace


def name_of(release: Resource) -> str:
    """Return the name under which something installs its chart.

    Source: fluxcd.io/flux/components/helm/helmreleases, «Release name»; argo-cd.readthedocs.io, «Helm», release name.
    """
    if release.key[:2] == APPLICATION:
        sources = [release.spec.get("source"), *sequence(release.spec.get("sources"))]
        stated = (text(value_at(source, ("helm", "releaseName"))) for source in sources)
        return next(filter(None, stated), release.key.name)
    above = text(release.spec.get("targetNamespace")) if release.key[:2] == RELEASE else ""
    return text(release.spec.get("releaseName")) or f"{above}-{release.key.name}".lstrip("-")


def values_of(world: World, chart: str) -> Iterator[tuple[Resource, Mapping[str, Any], bool]]:
    """Yield what installs a chart, with the values that it states, and whether these are all that are set."""
    for release in world.once(_releases).get(chart, ()):
        yield release, *given(world, release)
    for application in world.of_kind(*APPLICATION):
        for source in (application.spec.get("source"), *sequence(application.spec.get("sources"))):
            if text(mapping(source).get("chart")).rpartition("/")[2] == chart:
                helm = mapping(mapping(source).get("helm"))
                is_whole = not (helm.keys() & _OTHER_VALUES or application.provisional)
                own = mapping(helm.get("valuesObject")) or _written(helm.get("values"))
                laid = [] if is_whole else world.unseen.values_of(chart)  # with those of value files
                yield application, over(mapping(laid[0]), own) if len(laid) == 1 else own, is_whole
    further = {each.key.name: each for each in world.of_kind(*_K3S_FURTHER)}
    for each in world.of_kind(*_K3S):
        if chart in (text(each.spec.get("chart")).rpartition("/")[2], each.key.name):
            own, config = _written(each.spec.get("valuesContent")), further.pop(each.key.name, None)
            yield each, own if config is None else {**own, **_written(config.spec.get("valuesContent"))}, True
    if chart in further:
        yield further[chart], _written(further[chart].spec.get("valuesContent")), True


def given(world: World, release: Resource) -> tuple[Mapping[str, Any], bool]:
    """Return the values that a HelmRelease gives its chart, and whether these are all: those of ConfigMaps and Secrets
    that stand in the tree, in their order, over them its own.

    Source: fluxcd.io/flux/components/helm/helmreleases, «Values references»; render/flux reads them with their places.
    """
    known = world.once(_of_releases)
    if release.key not in known:
        known[release.key] = _laidover(world, release)
    return known[release.key]


def _of_releases(_: World) -> dict[ResourceKey, tuple[Mapping[str, Any], bool]]:
    return {}


def _laidover(world: World, release: Resource) -> tuple[Mapping[str, Any], bool]:
    values: Mapping[str, Any] = {}
    is_whole = not release.provisional
    for reference in map(mapping, sequence(release.spec.get("valuesFrom"))):
        key = ResourceKey("", text(reference.get("kind")), release.key.namespace, text(reference.get("name")))
        held, target = world.get(key), text(reference.get("targetPath"))
        data = mapping(held.body.get("stringData" if key.kind == "Secret" else "data")) if held is not None else {}
        content = data.get(text(reference.get("valuesKey"), "values.yaml"))
        if held is None or held.provisional or not isinstance(content, str) or target:
            is_whole = False
        else:
            values = over(values, _written(content))
    return over(values, mapping(release.spec.get("values"))), is_whole


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return values over others, of charts or of settings, mappings at any depth together."""
    merged = dict(below)
    for name, value in above.items():
        under = merged.get(name)
        merged[name] = over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _written(values: object) -> Mapping[str, Any]:
    """Return values that stand in a text."""
    documents = read(text(values).encode(), "values").documents
    return mapping(documents[0].value) if documents else {}


def _releases(world: World) -> dict[str, list[Resource]]:
    """Return the HelmReleases by each name that their charts may have."""
    found: dict[str, list[Resource]] = {}
    for release in world.of_kind(*RELEASE):
        for chart in dict.fromkeys(charts_of(world, release)):
            found.setdefault(chart, []).append(release)
    return found


def _labelled(world: World) -> dict[str, list[str]]:
    """Return the namespaces of Deployments by the chart that their labels name."""
    found: dict[str, list[str]] = {}
    for deployment in world.of_kind("apps", "Deployment"):
        chart = text(deployment.labels.get("helm.sh/chart")).rpartition("-v")[0]
        found.setdefault(chart, []).append(deployment.key.namespace)
    return found


def charts_of(world: World, release: Resource) -> Iterator[str]:
    """Yield the names that the chart of a HelmRelease may have."""
    yield text(at(release.spec, "chart.spec.chart")).rpartition("/")[2]
    reference = mapping(release.spec.get("chartRef"))
    if reference.get("name"):
        namespace = text(reference.get("namespace")) or release.key.namespace
        source = world.get(ResourceKey(_OCI[0], text(reference.get("kind")), namespace, text(reference["name"])))
        yield text(source.spec.get("url") if source is not None else "").rpartition("/")[2]
        yield text(reference["name"])


def at(value: object, path: str) -> Any:
    """Return what stands at a dotted path, None where nothing does."""
    return value_at(value, tuple(path.split(".")))
