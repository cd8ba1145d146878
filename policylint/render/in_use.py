"""The release that an environment is for, as its tree tells: charts, images, CRDs, and addresses that name a tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Document
from policylint.model import Location, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.sources import SourceFile

if TYPE_CHECKING:
    from policylint.catalog.releases import ReleasedProduct, Version

_RELEASE = ("helm.toolkit.fluxcd.io", "HelmRelease")
_SOURCES = "source.toolkit.fluxcd.io"
_APPLICATION = ("argoproj.io", "Application")
_OF_K3S = ("helm.cattle.io", "HelmChart")
_WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_HOLDERS = (
    *(_RELEASE, _APPLICATION, _OF_K3S),
    *((_SOURCES, kind) for kind in ("OCIRepository", "HelmChart", "GitRepository")),
    *(("apps", kind) for kind in _WORKLOADS),
)
"""Kinds of objects that may tell a release."""
_CONFIGURED = ("", "ConfigMap")
"""Of these only such are read as configure a controller, or as something that is read names."""
_OPERATED = ("ControlPlane", "Operator")
"""What kinds are called of which an operator installs something; else its group says so."""
_ONE = Pattern(r"[~=]?\s*v?\d+\.\d+(\.(\d+|[xX*]))?([-+][\w.+-]+)?")
_STANDARD = Pattern(r"/standard-install\.yaml|/config/crd(/standard)?/?\?")
_TAG = Pattern(r"v?\d+\.\d+[\w.+-]*")
Lines = Callable[[str], Sequence[str]]


class InUse(NamedTuple):
    """A release that something in a tree names.

    Args:
        said: how, such as `chart gateway-helm v1.8.0 of HelmRelease envoy-gateway-system/eg`.
        location: where.
        written: the version, tag or range as it stands there.
    """

    release: Version
    said: str
    location: Location
    written: str

    @property
    def by(self) -> str:
        """What says so, whatever release it names."""
        return self.said.replace(self.written, "")

    @property
    def is_standard(self) -> bool:
        """Whether it is an address of CRDs of the standard channel."""
        return _STANDARD.search(self.said) is not None

    @property
    def is_one(self) -> bool:
        """Whether it names one minor release: no range that goes beyond it."""
        return _ONE.fullmatch(self.written) is not None


class Installed(NamedTuple):
    """A chart that something in a tree installs: who does, its version, and the places of both it and its values."""

    holder: Resource
    version: str
    location: Location
    values: Any
    values_at: tuple[str | int, ...]


class Naming(NamedTuple):
    """A kustomization that may name charts or addresses with tags.

    Args:
        directory: in which it lies, below the root.
    """

    directory: str
    document: Document


def naming(documents: Iterable[Document], files: Iterable[SourceFile]) -> tuple[Naming, ...]:
    """Return the kustomizations among documents that name charts, or addresses with a version in them.

    Args:
        files: those of the tree.
    """
    named = [
        document
        for document in documents
        if document.file.endswith(_KUSTOMIZATIONS) and _may_name(mapping(document.value))
    ]
    by_path = {file.path: file for file in files} if named else {}
    paths = (by_path[each.file].relative if each.file in by_path else each.file for each in named)
    return tuple(Naming(path.rpartition("/")[0], each) for path, each in zip(paths, named, strict=True))


def _may_name(content: Mapping[str, Any]) -> bool:
    from policylint.catalog.releases import version

    entries = map(text, sequence(content.get("resources")))
    return bool(content.get("helmCharts")) or any("/" in entry and version(entry) is not None for entry in entries)


def in_use(product: ReleasedProduct, world: World, kustomizations: Iterable[Naming]) -> list[InUse]:
    """Return what a tree says of the release of a product, the oldest release first; 0.0 stands for a build between
    releases, and says nothing."""
    found = [*_of_charts(product, world), *_of_images(product, world), *_of_crds(product, world)]
    found += [*_of_repositories(product, world), *_of_kustomizations(product, world, kustomizations)]
    found += _of_operators(product, world)
    return sorted((use for use in found if any(use.release)), key=lambda use: (use.release, use.location.sort_key()))


def may_tell(world: World) -> bool:
    """Tell whether anything in an environment may tell a release, or how a controller is configured; kustomizations and
    CRDs may as well."""
    return any(
        each in _HOLDERS or each == _CONFIGURED or each[1].endswith(_OPERATED) or "operator" in each[0]
        for each in world.kinds()
    )


def charts(product: ReleasedProduct, world: World) -> Iterator[tuple[str, Installed]]:
    """Yield the charts of a product that something installs, by name: those that tell its release, and other parts."""
    wanted = {text(name) for field in ("charts", "parts") for name in sequence(product.found.get(field))}
    for holder, name, stated, at, values, values_at in world.once(_installations):
        if name in wanted:
            yield name, Installed(holder, stated, holder.location(*at), values, values_at)


_Found = tuple[Resource, str, str, tuple[str | int, ...], Any, tuple[str | int, ...]]


def _installations(world: World) -> list[_Found]:
    return list(_installing(world))


def _installing(world: World) -> Iterator[_Found]:
    """Yield holder, chart, version, its place, values and theirs for everything that installs a chart."""
    for release in world.of_kind(*_RELEASE):
        values = (release.spec.get("values"), ("spec", "values"))
        inline = mapping(value_at(release.spec, ("chart", "spec")))
        if inline:
            at = ("spec", "chart", "spec", "version" if "version" in inline else "chart")
            yield release, _last(inline.get("chart")), _said(inline.get("version")), at, *values
        reference = mapping(release.spec.get("chartRef"))
        if reference:
            namespace = text(reference.get("namespace")) or release.key.namespace
            key = ResourceKey(_SOURCES, text(reference.get("kind")), namespace, text(reference.get("name")))
            source = world.get(key)
            name = key.name if source is None else _last(source.spec.get("url") or source.spec.get("chart"))
            yield release, name, "", ("spec", "chartRef"), *values
    for source in world.of_kind(_SOURCES, "OCIRepository"):
        ref = mapping(source.spec.get("ref"))
        field = next((field for field in ("tag", "semver") if field in ref), "")
        yield source, _last(source.spec.get("url")), _said(ref.get(field)), ("spec", "ref", field), None, ()
    for kind in ((_SOURCES, "HelmChart"), _OF_K3S):
        for chart in world.of_kind(*kind):
            yield chart, _last(chart.spec.get("chart")), _said(chart.spec.get("version")), ("spec", "version"), None, ()
    for application in world.of_kind(*_APPLICATION):
        for number, listed in enumerate(sequence(application.spec.get("sources"))):
            yield _of_application(application, mapping(listed), ("spec", "sources", number))
        yield _of_application(application, mapping(application.spec.get("source")), ("spec", "source"))


def _of_application(application: Resource, source: Any, at: tuple[str | int, ...]) -> _Found:
    name = _last(source.get("chart") or source.get("repoURL"))
    values = value_at(source, ("helm", "valuesObject"))
    return (
        *(application, name, _said(source.get("targetRevision")), (*at, "targetRevision")),
        *(values, (*at, "helm", "valuesObject")),
    )


def _of_charts(product: ReleasedProduct, world: World) -> Iterator[InUse]:
    from policylint.catalog.releases import version

    telling = {text(name) for name in sequence(product.found.get("charts"))}
    for name, chart in charts(product, world):
        release = version(chart.version)
        if release is not None and name in telling:
            yield InUse(release, f"chart {name} {chart.version} of {chart.holder.key}", chart.location, chart.version)


def _of_images(product: ReleasedProduct, world: World) -> Iterator[InUse]:
    from policylint.catalog.releases import version

    images = tuple(text(name) for name in sequence(product.found.get("images")))
    if not images:
        return
    for repository, tag, workload, number in world.once(_images):
        release = version(tag) if repository.endswith(images) else None
        if release is not None:
            at = ("spec", "template", "spec", "containers", number, "image")
            yield InUse(release, f"image {repository}:{tag} of {workload.key}", workload.location(*at), tag)


def _images(world: World) -> list[tuple[str, str, Resource, int]]:
    """Return the images of workloads and their tags, each with the container that has it."""
    from policylint.load.images import image_of

    return [
        (*image_of(mapping(container)), workload, number)
        for kind in _WORKLOADS
        for workload in world.of_kind("apps", kind)
        for number, container in enumerate(sequence(value_at(workload.spec, ("template", "spec", "containers"))))
    ]


def _of_crds(product: ReleasedProduct, world: World) -> Iterator[InUse]:
    from policylint.catalog.releases import kinds, version

    annotation = text(product.found.get("annotation"))
    if not annotation:
        return
    for (group, kind), (name, _) in kinds().items():
        if name != product.name:
            continue
        for document in world.definitions(group, kind):
            written = text(value_at(document.value, ("metadata", "annotations", annotation)))
            release = version(written)
            if release is not None and world.is_deployed(document):
                at = Location(document, ("metadata", "annotations"))
                yield InUse(release, f"{annotation}: {written}", at, written)
                return


def _of_operators(product: ReleasedProduct, world: World) -> Iterator[InUse]:
    """Yield what objects state from which operators install the product."""
    from policylint.catalog.releases import version

    for entry in map(mapping, sequence(product.found.get("objects"))):
        kind, _, group = text(entry.get("kind")).partition(".")
        at, means = tuple(text(entry.get("at")).split(".")), mapping(entry.get("means"))
        for each in world.of_kind(group, kind):
            written = _said(value_at(each.body, at))
            stated = text(means.get(written or each.version)) if means else written
            release = version(stated)
            if release is not None:
                of_product = "" if stated == written else f", {product.title} {stated},"
                said = f"{written or each.api_version}{of_product} of {each.key}"
                yield InUse(release, said, each.location(*(at if written else ("apiVersion",))), stated)


def _of_repositories(product: ReleasedProduct, world: World) -> Iterator[InUse]:
    from policylint.catalog.releases import version

    repositories = tuple(text(name) for name in sequence(product.found.get("repositories")))
    for source in world.of_kind(_SOURCES, "GitRepository"):
        url = text(source.spec.get("url")).removesuffix(".git").rstrip("/")
        ref = mapping(source.spec.get("ref"))
        field = next((field for field in ("tag", "semver") if field in ref), "")
        release = version(_said(ref.get(field)))
        if release is not None and url.endswith(repositories):
            at = source.location("spec", "ref", field)
            yield InUse(release, f"{field} {ref[field]} of {source.key}", at, _said(ref[field]))
    for application in world.of_kind(*_APPLICATION):
        stated = mapping(application.spec.get("source"))
        release = version(_said(stated.get("targetRevision")))
        url = text(stated.get("repoURL")).removesuffix(".git").rstrip("/")
        if release is not None and url.endswith(repositories):
            said = f"targetRevision {stated['targetRevision']} of {application.key}"
            at = application.location("spec", "source", "targetRevision")
            yield InUse(release, said, at, _said(stated["targetRevision"]))


def _of_kustomizations(product: ReleasedProduct, world: World, kustomizations: Iterable[Naming]) -> Iterator[InUse]:
    """Yield what kustomizations name: charts with their versions, and addresses with a tag."""
    repositories = tuple(text(name) for name in sequence(product.found.get("repositories")))
    names = {text(name) for name in sequence(product.found.get("charts"))}
    for directory, document in kustomizations:
        if not world.entries or any(directory in deployed for deployed in world.entries.values()):
            yield from _of_kustomization(document, repositories, names)


def _of_kustomization(document: Document, repositories: tuple[str, ...], names: set[str]) -> Iterator[InUse]:
    from policylint.catalog.releases import version

    content = mapping(document.value)
    for number, resource in enumerate(sequence(content.get("resources"))):
        address = text(resource)
        named = next((name for name in repositories if f"{name}/" in address or f"{name}?" in address), "")
        release = version(address.partition(named)[2]) if named else None
        if release is not None:
            tag = _TAG.search(address.partition(named)[2])
            yield InUse(release, address, Location(document, ("resources", number)), tag[0] if tag else "")
    for number, listed in enumerate(sequence(content.get("helmCharts"))):
        chart = mapping(listed)
        stated, release = _said(chart.get("version")), version(_said(chart.get("version")))
        if release is not None and _last(chart.get("name")) in names:
            at = Location(document, ("helmCharts", number, "version"))
            yield InUse(release, f"chart {chart['name']} {stated}", at, stated)


def _last(written: object) -> str:
    """Return the last step of an address, or a name."""
    return text(written).rstrip("/").rpartition("/")[2]


def _said(written: object) -> str:
    """Return a version as text; YAML takes 1.9 for a number."""
    return str(written) if isinstance(written, str | int | float) else ""
