"""HelmReleases: what their charts create, where that is known, and else that they may create anything."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from policylint.budget import size_of
from policylint.documents import MAX_DEPTH
from policylint.model import mapping, sequence, text
from policylint.model.keys import ENCRYPTED_VALUE
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.flux.sources import SourceAddress
from policylint.render.helm import published
from policylint.render.helm.app_template.release import Release, major_of
from policylint.render.helm.layers import Layers
from policylint.render.helm.layers import merged as merged_values
from policylint.render.helm.unrendered import known_of
from policylint.render.journal import Journal
from policylint.render.kustomize.patches import apply_patches, patches
from policylint.render.provenance import Manifest, Provenance, entries, fill_in_namespace, manifests_of
from policylint.render.tree import Tree

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts

_FOR_A_RELEASE = 50
"""Steps of work that a release, or a source of its values, costs."""
_REFERENCED = frozenset({"OCIRepository", "HelmChart", "ConfigMap", "Secret", "GitRepository", "Bucket"})
_GROUP = "helm.toolkit.fluxcd.io"
_OF_ROUTES = Pattern(
    r"^(?:routes?|httproutes?|grpcroutes?|gateways?|gatewayapi|parentrefs?)$"
    r"|^(?:extra|additional|raw)_?(?:objects?|deploy|manifests?|resources?|templates?)$|^manifests$",
    re.IGNORECASE,
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_INTEGER = Pattern(r"0|-?[1-9][0-9]{0,17}")
_Known = dict[tuple[str, str], list[Manifest]]
"""Objects that releases refer to, by kind and name."""


class _Values(NamedTuple):
    """The values of a release.

    Args:
        layers: in the order in which they overwrite each other, each with its place.
        seen: whether all of them were seen, but for Secrets.
    """

    layers: Layers
    seen: bool


def released(
    manifests: list[Manifest], tree: Tree, journal: Journal, charts: Charts | None = None, environment: str = ""
) -> tuple[list[Manifest], int, int]:
    """Return the objects that releases of known charts create, and how many releases are known and unknown.

    The namespaces of the others are noted as gaps.

    Args:
        charts: renders charts that lie in the tree; None leaves them unknown.
        environment: the name of the one that they are installed in.
    """
    by_name, budget = _referenced(manifests), tree.budget
    own = _own_sources(manifests, tree) if charts is not None else frozenset()
    made: list[Manifest] = []
    known = unknown = 0
    for manifest in manifests:
        if not _is_release(manifest):
            continue
        with budget.bounded(f"what {manifest} installs", manifest.origin.child("spec")):
            budget.spend(_FOR_A_RELEASE + manifest.weight)
            installed = _released(manifest, by_name, own, tree, journal, charts, environment)
            made += installed.objects
            known, unknown = known + installed.is_known, unknown + (not installed.is_known)
    return made, known, unknown


class WrittenRelease(NamedTuple):
    """A release of a chart of the tree that no deployer of the tree applies.

    Args:
        seen: kinds, namespaces as written, and names of the release and of its source: what they bring is here.
        objects: what its chart makes.
        journal: what was left out on the way.
    """

    seen: frozenset[tuple[str, str, str]]
    objects: list[Manifest]
    journal: Journal


def written_releases(tree: Tree, charts: Charts) -> dict[str, list[WrittenRelease]]:
    """Return the releases that stand in a tree without a deployer, by the directories of their charts.

    A release that is written twice is left out: nothing says which of the two is applied.
    """
    manifests = [
        manifest
        for path, document in tree.all_documents()
        if tree.is_live(path)
        for manifest in manifests_of([document])
        if manifest.kind in _REFERENCED or manifest.kind in ("HelmRelease", "Kustomization")
    ]
    by_name = _referenced(manifests)
    own = _own_sources(manifests, tree) if any(_is_synced(each) for each in manifests) else frozenset()
    releases = [each for each in manifests if _is_release(each)]
    times = Counter((each.namespace, each.name) for each in releases)
    found: dict[str, list[WrittenRelease]] = defaultdict(list)
    for manifest in releases:
        chart = None if times[manifest.namespace, manifest.name] > 1 else _in_tree(manifest, by_name, own, charts, tree)
        if chart is None:
            continue
        journal = Journal()
        with tree.budget.bounded(f"what {manifest} installs", manifest.origin.child("spec")):
            tree.budget.spend(_FOR_A_RELEASE + manifest.weight)
            installed = _released(manifest, by_name, own, tree, journal, charts, "")
            if installed.is_known:
                about = (manifest, *(() if chart.why else by_name.get(chart.source, ())))
                seen = frozenset((each.kind, each.namespace, each.name) for each in about)
                found[chart.directory].append(WrittenRelease(seen, installed.objects, journal))
    return found


def _is_release(manifest: Manifest) -> bool:
    return manifest.kind == "HelmRelease" and manifest.group == _GROUP


def _is_synced(manifest: Manifest) -> bool:
    return manifest.kind == "Kustomization" and manifest.group == "kustomize.toolkit.fluxcd.io"


def _referenced(manifests: Iterable[Manifest]) -> _Known:
    """Return the objects that releases may refer to, by kind and name."""
    by_name: _Known = defaultdict(list)
    for manifest in manifests:
        if manifest.kind in _REFERENCED:
            by_name[manifest.kind, manifest.name].append(manifest)
    return by_name


class _Installed(NamedTuple):
    """The objects that a release creates, and whether its chart is known."""

    objects: list[Manifest]
    is_known: bool


def _released(
    manifest: Manifest,
    by_name: _Known,
    own: frozenset[tuple[str, str]],
    tree: Tree,
    journal: Journal,
    charts: Charts | None,
    environment: str,
) -> _Installed:
    """Return what one release creates.

    Raises:
        ExhaustedError: that is more than the budget of the tree allows.
    """
    target = text(manifest.spec.get("targetNamespace"))
    if (given := tree.given_release(manifest.namespace or "default", manifest.name, environment)) is not None:
        fill_in_namespace(given, target or manifest.namespace or "default", tree.cluster_scoped, None)
        return _Installed(_post_rendered(given, manifest, tree, journal), is_known=True)
    name = text(manifest.spec.get("releaseName")) or (f"{target}-{manifest.name}" if target else manifest.name)
    values = _values(manifest, by_name, tree)
    chart = _chart(manifest, by_name)
    namespace = target or manifest.namespace or "default"
    own_name = chart.name or text(mapping(manifest.spec.get("chartRef")).get("name"))
    merged, origin = merged_values(values.layers, tree.budget)
    release = Release(name, namespace, merged, origin, tree.budget, own_name, major_of(own_name, chart.version))
    objects: list[Manifest] | None = None
    in_tree = None if charts is None else _in_tree(manifest, by_name, own, charts, tree)
    if charts is not None and in_tree is not None:
        objects = _installed(in_tree, release, values, charts, tree, journal)
    known = known_of(release, chart.version) if objects is None else None
    if known is not None and known.of_family:
        objects = known.objects
        if not known.is_whole(own_name):
            own_values = f"{manifest} may create it; the chart's own values are not seen"
            journal.gap(own_values, release.namespace, source=published.source(own_name, release.values))
    if objects is None:
        may_make_routes = not values.seen or _may_make_routes(manifest.spec, release.values)
        message = f"{manifest} may create it; its chart is not rendered"
        left = known.rest if known is not None and values.seen else release.values
        kinds = published.source(own_name, left, seen=values.seen)
        journal.gap(message, release.namespace, gateway_api=may_make_routes, source=kinds)
        made_so = known.objects if known is not None else []
        for made in made_so if not values.seen else ():
            made.leave_open(f"not all values of {manifest} were seen")
        return _Installed(made_so, is_known=False)
    if not values.seen:
        lacking = f"{manifest} may create it; not all of its values are seen"
        journal.gap(lacking, release.namespace, source=published.source(own_name, release.values, seen=False))
        for made in objects:
            made.leave_open(f"not all values of {manifest} were seen")
    for made in objects if manifest.provisional else ():
        made.leave_open(manifest.provisional)
    return _Installed(_post_rendered(objects, manifest, tree, journal), is_known=True)


def _own_sources(manifests: list[Manifest], tree: Tree) -> frozenset[tuple[str, str]]:
    """Return the sources that are this tree: those from which Kustomizations deploy what is here."""
    sources = {("GitRepository", "flux-system")}
    for manifest in manifests:
        if _is_synced(manifest):
            reference, path = mapping(manifest.spec.get("sourceRef")), text(manifest.spec.get("path"))
            if path and tree.placed(tree.path_of(manifest.file), path) is not None:
                sources.add((text(reference.get("kind")), text(reference.get("name"))))
    return frozenset(sources)


class _InTree(NamedTuple):
    """The chart of a release that lies in the tree.

    Args:
        directory, prefix: where it lies, and below what its path begins.
        spec: what the release says of it.
        place: where it says so.
        source: kind and name of where it is fetched.
        why: why it may be another one; "" where it is this.
    """

    directory: str
    prefix: str
    spec: Any
    place: Provenance
    source: tuple[str, str]
    why: str


def _in_tree(
    owner: Manifest, by_name: _Known, own: frozenset[tuple[str, str]], charts: Charts, tree: Tree
) -> _InTree | None:
    """Return the chart of this tree that a release installs; None where its chart is elsewhere."""
    chart = mapping(mapping(owner.spec.get("chart")).get("spec"))
    place = owner.origin.at("spec", "chart", "spec")
    reference = mapping(owner.spec.get("chartRef"))
    if reference.get("kind") == "HelmChart":
        named = by_name.get(("HelmChart", text(reference.get("name"))), [])
        chart = named[0].spec if named else {}
        place = owner.origin.at("spec", "chartRef")
    reference = mapping(chart.get("sourceRef"))
    source = (text(reference.get("kind")), text(reference.get("name")))
    if source[0] not in ("GitRepository", "OCIRepository", "Bucket"):
        return None
    in_tree = tree.placed(tree.path_of(owner.file), text(chart.get("chart")))
    if in_tree is None or not charts.holds(in_tree[0]):
        return None
    is_own = source in own or source not in by_name or _is_of_one_address(source, own, by_name)
    if is_own is False:
        return None
    why = "" if is_own else f"{' '.join(source)} may be another repository than this"
    return _InTree(*in_tree, chart, place, source, why)


def _installed(
    chart: _InTree, release: Release, values: _Values, charts: Charts, tree: Tree, journal: Journal
) -> list[Manifest] | None:
    """Return what helm makes of a chart of this tree for a release; None where it cannot."""
    from policylint.render.helm.charts import Installation
    from policylint.render.helm.value_places import HelmValues

    files = [text(file).removeprefix("./") for file in sequence(chart.spec.get("valuesFiles"))]
    paths = [f"{chart.prefix}/{file}" if chart.prefix else file for file in files]
    layers = [layer for path in paths for layer in charts.values(path)]
    layers += [HelmValues(value, origin) for value, origin in values.layers]
    bare = bool(paths) and f"{chart.directory}/values.yaml" not in paths
    what = (chart.directory, release.name, release.namespace, tuple(layers), chart.place.child("chart"), (), bare)
    objects = charts.objects(Installation(*what), journal)
    fill_in_namespace(objects or (), release.namespace, tree.cluster_scoped, None)
    for made in objects if objects and chart.why else ():
        made.leave_open(chart.why)
    return objects


def _is_of_one_address(source: tuple[str, str], own: Collection[tuple[str, str]], by_name: _Known) -> bool | None:
    """Tell whether a source has the address of this tree, under another name; None where that is not seen.

    Where nothing deploys the tree, what has a chart at this very place is taken for it.
    """
    if not own:
        return True
    theirs = _addresses([source], by_name)
    ours = _addresses(own, by_name)
    if not theirs or not ours:
        return None
    return any(one.may_hold(other) for one in theirs for other in ours)


def _addresses(sources: Iterable[tuple[str, str]], by_name: _Known) -> list[SourceAddress]:
    found = (SourceAddress.of(text(each.spec.get("url"))) for source in sources for each in by_name.get(source, ()))
    return [address for address in found if address is not None]


def _post_rendered(objects: list[Manifest], release: Manifest, tree: Tree, journal: Journal) -> list[Manifest]:
    """Return the objects after the release's post-renderers: kustomize patches, as Flux applies them."""
    fields = ("patchesStrategicMerge", "patches", "patchesJson6902")
    for renderer, place in entries(release.spec, release.origin.child("spec"), "postRenderers"):
        body = mapping(mapping(renderer).get("kustomize"))
        some = patches("", body, place.child("kustomize"), fields, tree, journal)
        # What these charts make is not all known here: a patch for something else is no mistake.
        objects = apply_patches(some, objects, journal, tree.budget, unseen=lambda _: True)
    return objects


def _may_make_routes(spec: Any, values: Any) -> bool:
    """Return whether a chart that is not known may create routes or Gateways with these values.

    Published charts do so when the values speak of them, or carry whole objects; a chart of one's own repository, or
    values that are not seen, may do anything.
    """
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    if mapping(chart.get("sourceRef")).get("kind") in ("GitRepository", "Bucket"):
        return True
    if any(mapping(reference).get("kind") == "Secret" for reference in sequence(spec.get("valuesFrom"))):
        return True
    return speaks_of_routes(values)


def speaks_of_routes(values: Any) -> bool:
    """Return whether a key of the values has to do with Gateway API, or whole objects are among them."""
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if "apiVersion" in value and "kind" in value:
                return True
            for name, inner in value.items():
                if _OF_ROUTES.search(name) and inner not in (None, False, {}, []):
                    if not isinstance(inner, dict) or inner.get("enabled") is not False:
                        return True
                elif isinstance(inner, (dict, list)):
                    pending.append(inner)
        elif isinstance(value, list):
            pending.extend(item for item in value if isinstance(item, (dict, list)))
    return False


class _Chart(NamedTuple):
    """The chart of a release: the last step of its address, and its version; "" where nothing that was seen says it."""

    name: str
    version: str


def _chart(release: Manifest, by_name: _Known) -> _Chart:
    spec = mapping(mapping(release.spec.get("chart")).get("spec"))
    chart, version = text(spec.get("chart")), text(spec.get("version"))
    if not chart:
        reference = mapping(release.spec.get("chartRef"))
        namespace = text(reference.get("namespace")) or release.namespace
        candidates = by_name.get((text(reference.get("kind")), text(reference.get("name"))), [])
        source = next(
            (candidate for candidate in candidates if candidate.namespace == namespace), next(iter(candidates), None)
        )
        if source is not None:
            chart = text(source.spec.get("url")) or text(source.spec.get("chart"))
            tagged = mapping(source.spec.get("ref"))
            version = text(tagged.get("tag")) or text(tagged.get("semver")) or text(source.spec.get("version"))
    return _Chart(chart.rstrip("/").rpartition("/")[2], version)


def _typed(content: str) -> Any:
    """Return a text as the value that `helm --set` makes of it: a number, a truth value, null, else the text itself.

    Source: Helm's strvals (typedVal), and Flux, which takes a text in quotes for a text.
    """
    if content[:1] in ("'", '"') and content[1:].endswith(content[0]):
        return content[1:-1]
    if content in _CONSTANTS:
        return _CONSTANTS[content]
    return int(content) if _INTEGER.fullmatch(content) else content


def _values(release: Manifest, by_name: _Known, tree: Tree) -> _Values:
    """Return the values of a release: those of ConfigMaps and Secrets in their order, over them its own."""
    layers: list[tuple[Any, Provenance]] = []
    seen = True
    budget = tree.budget
    for reference in map(mapping, sequence(release.spec.get("valuesFrom"))):
        kind = text(reference.get("kind"))
        candidates = by_name.get((kind, text(reference.get("name"))), [])
        source = next((candidate for candidate in candidates if candidate.namespace in (release.namespace, "")), None)
        key = text(reference.get("valuesKey"), "values.yaml")
        # A Secret's `data` is encoded and never read.
        field = "stringData" if kind == "Secret" else "data"
        content = None if source is None else mapping(source.body.get(field)).get(key)
        target = text(reference.get("targetPath"))
        budget.spend(_FOR_A_RELEASE)
        content = None if text(content).startswith(ENCRYPTED_VALUE) else content
        if source is None or not isinstance(content, str) or "[" in target or target.count(".") > MAX_DEPTH // 2:
            seen = seen and (kind == "Secret" or reference.get("optional") is True)
            continue
        place = source.origin.at(field, key)
        if target:
            value: Any = _typed(content)
            origin = place
            for step in reversed(target.split(".")):
                value, origin = {step: value}, place.with_children({step: origin})
            layers.append((value, origin))
        else:
            budget.spend_on_text(len(content))
            layers += tree.texts.mappings(content, place)
            if layers:
                budget.spend(size_of(layers[-1][0])[0])
    layers.append((mapping(release.spec.get("values")), release.origin.at("spec", "values")))
    return _Values(layers, seen)
