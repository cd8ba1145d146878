"""What Argo CD Applications deploy, grouped by the cluster they deploy to.

An Application's kustomize, directory and app-template sources are rendered; other charts are gaps in its namespace. Its
destination namespace fills in what objects do not say; it never overwrites.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policylint.model import is_symbolic, mapping, sequence, text
from policylint.model.keys import CLUSTER_SCOPED
from policylint.render.flux.deployment import Deployed, extended
from policylint.render.flux.helm_releases import speaks_of_routes
from policylint.render.flux.roots import is_below, is_live
from policylint.render.helm import app_template
from policylint.render.journal import Journal
from policylint.render.kustomize.build import Kustomizer, manifests_of, remote
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts

GROUP = "argoproj.io"
MAX_APPLICATIONS = 20_000
_HERE = frozenset({"https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local", "in-cluster", ""})


class Argo:
    """The walk through a tree's Applications."""

    def __init__(self, tree: Tree, kustomizer: Kustomizer, charts: Charts | None = None) -> None:
        self._tree = tree
        self._kustomizer = kustomizer
        self._charts = charts
        self._clusters: dict[str, Deployed] = {}
        self._seen: set[tuple[str, str, str]] = set()
        self._waiting: deque[Manifest] = deque()
        self._in_this_tree = False

    def deploy(self) -> dict[str, Deployed]:
        """What lands in which cluster; nothing if the tree has no Applications, or none of what they deploy."""
        for root in self._roots():
            self._waiting.append(root)
        while self._waiting:
            manifest = self._waiting.popleft()
            if manifest.kind == "ApplicationSet":
                journal = Journal()
                self._waiting.extend(_of_set(manifest, self._tree, journal))
                if journal.notes:
                    self._cluster("in-cluster").journal.add(journal)
                continue
            key = (manifest.namespace, manifest.name, str(_destination(manifest)))
            if key not in self._seen and len(self._seen) < MAX_APPLICATIONS:
                self._seen.add(key)
                self._application(manifest)
        return self._clusters if self._in_this_tree else {}

    def _roots(self) -> list[Manifest]:
        """Applications and sets that no other Application of the tree deploys."""
        found = [
            (path, manifest)
            for path, document in self._tree.all_documents()
            if is_live(self._tree.below_base(path))
            for manifest in manifests_of([document])
            if is_application(manifest)
        ]
        paths: dict[str, set[str]] = {}
        for path, manifest in found:
            made = [manifest] if manifest.kind == "Application" else list(_of_set(manifest, self._tree, Journal()))
            paths.setdefault(path, set()).update(each for one in made for each in self._paths(one))
        roots = []
        for path, manifest in found:
            others = (each for file, taken in paths.items() if file != path for each in taken)
            if not any(is_below(path, each) for each in others):
                roots.append(manifest)
        return roots or [manifest for _, manifest in found]

    def _cluster(self, name: str) -> Deployed:
        return self._clusters.setdefault(name, Deployed([], Journal(), set()))

    def _application(self, manifest: Manifest) -> None:
        cluster = self._cluster(_destination(manifest))
        cluster.manifests.append(manifest)
        cluster.reached.add(self._tree.path_of(manifest.file))
        spec = mapping(manifest.body.get("spec"))
        namespace = text(mapping(spec.get("destination")).get("namespace"))
        place = manifest.trace.at(("spec",))
        sources = [(mapping(spec.get("source")), place.child("source"))] if spec.get("source") else []
        sources += [
            (mapping(each), place.child("sources").child(index))
            for index, each in enumerate(sequence(spec.get("sources")))
        ]
        for source, where in sources:
            made = self._source(manifest, source, where, namespace, cluster)
            if namespace:
                self._fill_in(made, namespace, place.child("destination").child("namespace"))
            for each in made:
                if is_application(each):
                    self._waiting.append(each)
                else:
                    cluster.manifests.append(each)

    def _source(self, owner: Manifest, source: Any, place: Trace, namespace: str, cluster: Deployed) -> list[Manifest]:
        """What one source of an Application holds."""
        if self._charts is not None and not source.get("chart"):
            made = self._installed(owner, source, place, namespace, cluster)
            if made is not None:
                return made
        if source.get("chart") or source.get("helm"):
            return self._chart(owner, source, place, namespace, cluster)
        if source.get("ref") and not source.get("path"):
            return []
        directory = self._directory_of(owner, text(source.get("path")))
        if directory is None:
            remote(f"{owner} from {text(source.get('repoURL'))}", place, cluster.journal, namespace=namespace)
            return []
        self._in_this_tree = True
        cluster.reached.add(directory)
        known = self._tree.kustomization(directory)
        if known is not None:
            body, trace = _amended(*known, mapping(source.get("kustomize")), place.child("kustomize"))
            built = self._kustomizer.build(directory, (body, trace))
            cluster.journal.add(built.journal)
            cluster.reached.update(built.reached)
            cluster.reached.add(self._tree.kustomization_file(directory) or "")
            return built.manifests
        if self._tree.read(f"{directory}/Chart.yaml") is not None or source.get("plugin"):
            cluster.journal.gap(f"{owner} may create it; its source is not rendered", namespace)
            cluster.journal.note(f"the chart of {owner} is not rendered", place, code="chart")
            return []
        return self._directory(directory, mapping(source.get("directory")), cluster)

    def _directory_of(self, owner: Manifest, path: str) -> str | None:
        """The directory in this tree that an Application's path means."""
        if is_symbolic(path):
            return None
        if path.strip("./") == "":
            return self._tree.base
        found = self._tree.placed(self._tree.path_of(owner.file), path)
        return None if found is None else found[0]

    def _paths(self, owner: Manifest) -> set[str]:
        """The directories that an Application deploys."""
        spec = mapping(owner.body.get("spec"))
        sources = [mapping(spec.get("source")), *map(mapping, sequence(spec.get("sources")))]
        found = (self._directory_of(owner, text(each.get("path"))) for each in sources if text(each.get("path")))
        return {each for each in found if each}

    def _directory(self, directory: str, options: Any, cluster: Deployed) -> list[Manifest]:
        """Plain manifests; subdirectories only where the Application says so."""
        made: list[Manifest] = []
        pending = [directory]
        while pending:
            here = pending.pop()
            for name in self._tree.files.get(here, ()):
                path = f"{here}/{name}" if here else name
                cluster.reached.add(path)
                made += manifests_of(self._tree.documents(path) or ())
            if options.get("recurse") is True:
                pending += [f"{here}/{name}" if here else name for name in self._tree.directories.get(here, ())]
        return made

    def _installed(
        self, owner: Manifest, source: Any, place: Trace, namespace: str, cluster: Deployed
    ) -> list[Manifest] | None:
        """What helm makes of a chart of this tree; None where there is none, or it cannot."""
        from policylint.render.argo.charts import installation

        directory = self._directory_of(owner, text(source.get("path")))
        if self._charts is None or directory is None or not self._charts.holds(directory):
            return None
        self._in_this_tree = True
        cluster.reached.update(self._tree.files_below(directory))
        wanted = installation(owner, source, place, directory, namespace, self._tree, self._charts)
        return self._charts.objects(wanted, cluster.journal)

    def _chart(self, owner: Manifest, source: Any, place: Trace, namespace: str, cluster: Deployed) -> list[Manifest]:
        helm = mapping(source.get("helm"))
        at = place.child("helm")
        values: Any = mapping(helm.get("valuesObject"))
        trace = at.child("valuesObject")
        inline = text(helm.get("values"))
        if not values and inline:
            for value, where in self._tree.texts.documents(inline, at.child("values"))[0][:1]:
                values, trace = mapping(value), where
        if text(source.get("chart")) == app_template.CHART or (source.get("chart") and app_template.looks_like(values)):
            name = text(helm.get("releaseName")) or owner.name
            self._in_this_tree = True
            release = app_template.Release(name, namespace or "default", values, trace)
            return app_template.objects(release)
        unseen = bool(helm.get("valueFiles")) or not source.get("chart") or speaks_of_routes(values)
        cluster.journal.gap(f"{owner} may create it; its chart is not rendered", namespace, gateway_api=unseen)
        cluster.journal.note(f"the chart of {owner} is not rendered", place, code="chart")
        return []

    def _fill_in(self, manifests: list[Manifest], namespace: str, source: Trace) -> None:
        without = CLUSTER_SCOPED | self._kustomizer.cluster_scoped
        for each in manifests:
            if not each.namespace and (each.group, each.kind) not in without:
                each.put(("metadata", "namespace"), namespace, source)


def _of_set(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """The Applications of a set; what that takes is not imported for trees without one."""
    from policylint.render.argo.application_sets import applications

    return applications(manifest, tree, journal)


def is_application(manifest: Manifest) -> bool:
    """Whether an object is an Argo CD Application or ApplicationSet."""
    return manifest.group == GROUP and manifest.kind in ("Application", "ApplicationSet")


def _destination(manifest: Manifest) -> str:
    """The name of the cluster an Application deploys to."""
    destination = mapping(mapping(manifest.body.get("spec")).get("destination"))
    found = text(destination.get("name")) or text(destination.get("server"))
    if found in _HERE:
        return "in-cluster"
    return "each-cluster" if is_symbolic(found) else found.removeprefix("https://")


def _amended(body: dict[str, Any], trace: Trace, options: Any, place: Trace) -> tuple[dict[str, Any], Trace]:
    """A kustomization with what the Application's own kustomize options add."""
    for field in ("namespace", "namePrefix", "nameSuffix"):
        if text(options.get(field)):
            body = {**body, field: options[field]}
            trace = trace.with_child(field, place.child(field))
    for field in ("patches", "components"):
        added = sequence(options.get(field))
        if added:
            body, trace = extended(body, trace, field, added, place.child(field))
    labels = mapping(options.get("commonLabels"))
    if labels:
        body = {**body, "commonLabels": {**mapping(body.get("commonLabels")), **labels}}
        own = trace.child("commonLabels")
        marked: dict[str | int, Trace] = {name: place.child("commonLabels").child(name) for name in labels}
        trace = trace.with_child("commonLabels", Trace(own.document, own.pointer, {**own.children, **marked}))
    return body, trace
