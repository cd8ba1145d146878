"""The objects that Argo CD Applications deploy, grouped by the cluster they deploy to.

An Application's kustomize, directory and app-template sources are rendered; other charts are gaps in its namespace. Its
destination namespace fills in what objects do not say; it never overwrites.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from policylint.budget import size_of
from policylint.load.facts import is_kustomization_path
from policylint.model import is_symbolic, mapping, sequence, text
from policylint.patterns import Pattern
from policylint.render.argo.applied import applied
from policylint.render.argo.left_alone import LeftAlone
from policylint.render.argo.projects import HERE, LOCAL, Projects
from policylint.render.argo.sources import (
    DIRECTORY,
    HELM,
    KUSTOMIZE,
    PLUGIN,
    RefusedSourceError,
    UnfitSourceError,
    builds_with_kustomize,
    check,
    is_jsonnet,
    looks_like_a_manifest,
    misnamed,
    overridden,
    plain_files,
    type_of,
    with_options,
)
from policylint.render.flux.deployment import Build, Deployed
from policylint.render.flux.helm_releases import speaks_of_routes
from policylint.render.flux.roots import is_below, live_manifests
from policylint.render.helm import published
from policylint.render.helm.app_template.release import Release, major_of
from policylint.render.helm.layers import Layers, merged
from policylint.render.helm.unrendered import known_of, usual_of
from policylint.render.journal import Journal
from policylint.render.kustomize.build import Kustomizer
from policylint.render.live import CALLED, ENVIRONMENT_MARKERS, ENVIRONMENTS, PLATFORMS
from policylint.render.provenance import Manifest, Provenance, entries, fill_in_namespace, identity, manifests_of
from policylint.render.stops import REFUSED
from policylint.render.tree import Tree, directories_above, join

if TYPE_CHECKING:
    from policylint.render.argo.bootstraps import Bootstrap
    from policylint.render.helm.charts import Charts

GROUP = "argoproj.io"
_KINDS = ("Application", "ApplicationSet")
_HOMES_OF_ARGO = frozenset({"argocd", "argo-cd", "argo", "openshift-gitops"})
"""Namespaces in which Argo CD is installed: one of a name here and one there are not for one cluster, either."""
_FOR_AN_OBJECT = 10
"""Steps of work that it costs to take in an object."""
_FOR_AN_APPLICATION = 100
_Repository = tuple[str, str]
"""The address and the revision of what an Application deploys."""
_USUAL_BRANCHES = frozenset({"HEAD", "main", "master"})
_TAG_OR_COMMIT = Pattern(r"(?:refs/tags/.*|[0-9a-f]{7,40}|[v~^<>=]*\d+(?:\.[\dx*]+)+.*)")
_ELSEWHERE = Pattern(r"://|[*?$<>{}\[\]]")
"""Value files that helm fetches, decrypts or is told of by a variable."""
_HERE = frozenset({HERE, f"{HERE}.cluster.local", LOCAL, ""})

_EDITION = Pattern(r"v?\d+(?:\.\d+)*")
"""What an edition is called."""
_REFERENCE = Pattern(r"[a-zA-Z0-9_-]+")
_CANNOT = "Argo CD cannot apply"
_BESIDE = "cnoe://"
"""Begins the address of a directory beside the Application's file, which idpbuilder pushes to a repository of its own
(cnoe-io/idpbuilder, pkg/controllers/custompackage/controller.go)."""


class Argo:
    """The walk through a tree's Applications."""

    def __init__(self, tree: Tree, kustomizer: Kustomizer, charts: Charts | None = None) -> None:
        self._tree = tree
        self._kustomizer = kustomizer
        self._charts = charts
        self._clusters: dict[str, Deployed] = {}
        self._seen: set[tuple[str, str, str]] = set()
        self._waiting: deque[Manifest] = deque()
        self._taken_from: dict[Manifest, _Repository] = {}
        """The Applications and sets that another Application brings along from the top of the tree."""
        self._in_this_tree = False
        self._budget = tree.budget
        self._of_charts: list[Bootstrap] | None = None
        self._entered: set[str] = set()
        """The directories that Applications deploy which were met so far."""

    @cached_property
    def _left_alone(self) -> LeftAlone:
        return LeftAlone(self._tree)

    @cached_property
    def _projects(self) -> Projects:
        beside = {path.rpartition("/")[0] for path, _ in self._owners}
        return Projects(self._tree, self._kustomizer, self._deployers.keys(), beside)

    @cached_property
    def _owners(self) -> list[tuple[str, Manifest]]:
        """The Applications and sets of the tree, each with its path."""
        manifests = live_manifests(self._tree, lambda body: body.get("kind") in _KINDS)
        written = [(path, manifest) for path, manifest in manifests if is_application(manifest)]
        of_charts = (each for chart in self._bootstraps(written) for each in chart.made if is_application(each))
        return [*written, *((self._tree.path_of(each.file), each) for each in of_charts)]

    def _bootstraps(self, written: Sequence[tuple[str, Manifest]]) -> list[Bootstrap]:
        """Return the charts of Applications that no written Application deploys: somebody installs them by hand, as a
        rule with their own values; each with what it makes."""
        if self._charts is None:
            return []
        if self._of_charts is None:
            from policylint.render.argo.bootstraps import bootstraps

            deployed = {each for _, owner in written for each in self._directories(owner)}
            self._of_charts = []
            self._of_charts = bootstraps(self._tree, self._charts, deployed, self._entered_from if written else set)
        return self._of_charts

    def _entered_from(self) -> Collection[str]:
        """Return the directories that Applications deploy, those that charts of others make among them."""
        if self._charts is not None:
            self._charts.remember()
        walk = Argo(self._tree, self._kustomizer, self._charts)
        walk._of_charts = []
        walk._walk(walk._roots())
        return walk._entered

    @cached_property
    def _deployers(self) -> Mapping[str, set[str]]:
        """The directories that Applications deploy, each with the paths of these."""
        deployers: dict[str, set[str]] = defaultdict(set)
        for path, manifest in self._owners:
            with self._budget.bounded(f"what {manifest} deploys", manifest.origin.child("spec")):
                made = [manifest] if manifest.kind == "Application" else _of_set(manifest, self._tree, Journal())
                for application in made:
                    for directory in self._directories(application):
                        deployers[directory].add(path)
        return deployers

    def deploy(self) -> dict[str, Deployed]:
        """Return what lands in which cluster; nothing if the tree has no Applications, or none of what they deploy."""
        roots = self._roots()
        sites = _sites(self._tree, roots)
        if sites:
            return self._apart(roots, sites)
        sites = _stages(self._tree, roots)
        if not sites and (tops := _tops([self._directories(root) for root in roots], roots)):
            sites = tops if self._makes_twice(roots) else {}
        if sites:
            if self._charts is not None:
                self._charts.remember()
            clusters = self._apart(roots, sites)
            if self._exclude_each_other(roots, sites, clusters):
                return clusters
        return self._walk(roots)

    def _makes_twice(self, roots: list[Manifest]) -> bool:
        """Return whether one Argo CD would make an object twice of some roots."""
        for deployed in Argo(self._tree, self._kustomizer, self._charts)._walk(roots).values():
            own = [identity(each) for each in deployed.manifests if each.namespace and not is_application(each)]
            if len(set(own)) < len(own):
                return True
        return False

    def _exclude_each_other(
        self, roots: list[Manifest], sites: Mapping[str, set[int]], clusters: Mapping[str, Deployed]
    ) -> bool:
        """Return whether roots of two sites make the same object, which one Argo CD cannot give to both."""
        special = set[int]().union(*sites.values())
        others = [root for number, root in enumerate(roots) if number not in special]
        common = Argo(self._tree, self._kustomizer, self._charts)._walk(others)
        known = {identity(each) for deployed in common.values() for each in deployed.manifests}
        seen: set[tuple[str, str, str, str]] = set()
        for site in sorted(sites.keys() & clusters.keys()):
            own = (each for each in clusters[site].manifests if each.namespace and not is_application(each))
            made = set(map(identity, own)) - known
            if not seen.isdisjoint(made):
                return True
            seen |= made
        return False

    def _apart(self, roots: list[Manifest], sites: Mapping[str, set[int]]) -> dict[str, Deployed]:
        """Return what lands in the clusters of several Argo CDs, each named by its directory."""
        special = set[int]().union(*sites.values())
        clusters: dict[str, Deployed] = {}
        for site, own in sorted(sites.items()):
            chosen = [root for number, root in enumerate(roots) if number in own or number not in special]
            known = Argo(self._tree, self._kustomizer, self._charts)._walk(chosen)
            for name, deployed in known.items():
                known_as = site if name == LOCAL else name
                clusters[f"{site}/{name}" if known_as in clusters else known_as] = deployed
        return clusters

    def _walk(self, roots: list[Manifest]) -> dict[str, Deployed]:
        self._waiting.extend(roots)
        for chart in self._of_charts or ():
            if any(root is each for root in roots for each in chart.made):
                cluster = self._cluster(LOCAL)
                cluster.manifests.extend(each for each in chart.made if not is_application(each))
                cluster.reach(chart.directory, self._tree.files_below(chart.directory))
                cluster.journal.add(chart.journal)
        while self._waiting:
            manifest = self._waiting.popleft()
            with self._budget.bounded(f"what {manifest} deploys", manifest.origin.child("spec")):
                self._budget.spend(_FOR_AN_APPLICATION)
                self._deploy(manifest)
        return self._clusters if self._in_this_tree else {}

    def _deploy(self, manifest: Manifest) -> None:
        """Queue the Applications of a set, or deploy an Application unless that has been done."""
        if manifest.kind == "ApplicationSet":
            journal = Journal()
            origin = self._taken_from.get(manifest)
            try:
                for application in _of_set(manifest, self._tree, journal):
                    self._waiting.append(application)
                    if origin is not None:
                        self._taken_from[application] = origin
            finally:
                if journal.notes:
                    self._cluster(LOCAL).journal.add(journal)
            return
        key = (manifest.namespace, manifest.name, str(_destination(manifest)))
        if key not in self._seen:
            self._seen.add(key)
            self._application(manifest)

    def _roots(self) -> list[Manifest]:
        """Return the Applications and sets that no other Application of the tree deploys."""
        roots = []
        for path, manifest in self._owners:
            others = (self._deployers.get(directory, set()) - {path} for directory in directories_above(path))
            if not any(others):
                roots.append(manifest)
        return roots or [manifest for _, manifest in self._owners]

    def _cluster(self, name: str) -> Deployed:
        return self._clusters.setdefault(name, Deployed.empty())

    def _application(self, manifest: Manifest) -> None:
        """Deploy the sources of an Application, and queue the Applications among them."""
        cluster = self._cluster(_destination(manifest))
        cluster.manifests.append(manifest)
        cluster.reached.add(self._tree.path_of(manifest.file))
        self._entered |= self._directories(manifest)
        spec, place = manifest.spec, manifest.origin.child("spec")
        namespace = text(mapping(spec.get("destination")).get("namespace"))
        several = [(mapping(source), origin) for source, origin in entries(spec, place, "sources")]
        sources = several or [(mapping(spec["source"]), place.child("source"))] if several or spec.get("source") else []
        whole: list[Manifest] = []
        surely: list[Manifest] = []  # a short path may be one of another repository
        before = len(cluster.builds)
        if message := _refused_references(source for source, _ in several):
            self._refuse(manifest, sources, message, place.child("sources"), cluster)
        for source, origin in sources:
            if several and not source.get("path") and not source.get("chart"):
                continue  # others refer to it
            made = self._source(manifest, source, origin, namespace, cluster)
            made = applied(made, cluster.journal, namespace)
            made = self._left_alone.out(made, cluster.journal, namespace, _server(manifest))
            if self._pin(manifest, source, origin, made, cluster):
                del cluster.builds[before:]
            if "/" in text(source.get("path")).strip("./") or self._is_own(manifest, source):
                surely += self._projects.known(made)
            if namespace:
                fill_in_namespace(
                    made, namespace, self._kustomizer.cluster_scoped, place.at("destination", "namespace")
                )
            self._budget.spend(_FOR_AN_OBJECT * len(made))
            whole += made
            applications = [resource for resource in made if is_application(resource)]
            self._waiting.extend(applications)
            path = text(source.get("path"))
            if applications and path.strip("./") == self._directory_of(manifest, source):
                self._taken_from.update(dict.fromkeys(applications, _repository(source)))
        # What several sources take from one place, the last one of them has the say on.
        last = {(id(each.origin.document), each.origin.pointer, str(each)): each for each in whole}
        cluster.manifests.extend(
            each
            for each in whole
            if not is_application(each) and last[id(each.origin.document), each.origin.pointer, str(each)] is each
        )
        forbidden = self._projects.forbids(manifest, sources, surely)
        if forbidden is not None:
            journal = Journal()
            journal.fail(forbidden.why, forbidden.place, code="project")
            paths = dict.fromkeys(text(source.get("path") or source.get("chart")) for source, _ in sources)
            cluster.builds.append(Build(_CANNOT, ", ".join(filter(None, paths)), journal.failures, set(), []))
        # All sources of an Application are applied, or none.
        known = set(map(id, whole))
        cluster.builds[before:] = [
            build._replace(manifests=[*whole, *(each for each in build.manifests if id(each) not in known)])
            for build in cluster.builds[before:]
        ]

    def _refuse(
        self,
        owner: Manifest,
        sources: Sequence[tuple[Any, Provenance]],
        message: str,
        place: Provenance,
        cluster: Deployed,
    ) -> None:
        """Record that Argo CD makes nothing of some sources, whatever lies in their directories."""
        journal = Journal()
        journal.fail(message, place, code=REFUSED)
        stated = {text(source.get("path")): source for source, _ in sources if source.get("path")}
        lost: list[Manifest] = []
        for directory in filter(None, (self._directory_of(owner, source) for source in stated.values())):
            for path in plain_files(self._tree, directory, {"recurse": True}):
                self._budget.spend(_FOR_AN_OBJECT)
                cluster.reach(directory, (path,))
                lost += manifests_of(self._tree.documents(path) or ())
        cluster.builds.append(Build(_CANNOT, ", ".join(stated), journal.failures, set(), lost))

    def _pin(self, owner: Manifest, source: Any, place: Provenance, made: list[Manifest], cluster: Deployed) -> bool:
        """Leave open what an Application deploys as it is at another revision than that of this tree: a tag or a
        commit, or a branch beside that from which the Application itself is deployed. Return whether it is."""
        address, revision = _repository(source)
        from_address, from_revision = self._taken_from.get(owner, (address, revision))
        is_branch_beside = address == from_address and len({revision, from_revision} - _USUAL_BRANCHES) > (
            revision == from_revision
        )
        if source.get("chart") or is_symbolic(revision):
            return False
        if not (_TAG_OR_COMMIT.fullmatch(revision) or is_branch_beside):
            return False
        if made:
            message = f"{owner} deploys revision {revision}, which may differ from these files"
            cluster.journal.note(message, place.child("targetRevision"), code="other-revision")
            for manifest in made:
                manifest.leave_open(f"it is deployed from revision {revision}")
        return True

    def _source(
        self, owner: Manifest, source: Any, place: Provenance, namespace: str, cluster: Deployed
    ) -> list[Manifest]:
        """Return what one source of an Application holds."""
        path = text(source.get("path"))
        try:
            if path.startswith("/") or (join("", path) is None and not is_symbolic(path)):
                raise RefusedSourceError(f"path {path} leads out of the repository", place.child("path"))
            return self._made(owner, source, place, namespace, cluster)
        except UnfitSourceError as error:
            if not self._is_own(owner, source):
                if source.get("helm"):
                    return self._chart(owner, source, place, namespace, cluster)
                cluster.journal.remote(f"{owner} from {text(source.get('repoURL'))}", place, namespace)
                return []
            self._refuse(owner, [(source, place)], str(error), error.place, cluster)
        except RefusedSourceError as error:
            self._refuse(owner, [(source, place)], str(error), error.place, cluster)
        return []

    def _is_own(self, owner: Manifest, source: Any) -> bool:
        """Return whether a source is certainly of this tree's repository: of that from which its owner is deployed, or
        from which another source of its owner takes a directory that is here."""
        repository = _repository(source)
        others = (mapping(each) for each in sequence(owner.spec.get("sources")))
        return self._taken_from.get(owner) == repository or any(
            _repository(other) == repository
            and other.get("path") not in (None, source.get("path"))
            and self._directory_of(owner, other)
            for other in others
        )

    def _made(
        self, owner: Manifest, source: Any, place: Provenance, namespace: str, cluster: Deployed
    ) -> list[Manifest]:
        """Return what a source holds whose path is one.

        Raises:
            RefusedSourceError: Argo CD makes nothing of it.
        """
        made = self._taken(owner, source, place, namespace, cluster)
        journal = Journal()
        for message, where in misnamed(owner, source, place):
            journal.fail(message, where, code="value-file")
        if journal.failures:
            chart = text(source.get("chart"))
            what = f"chart {chart}" if chart else self._directory_of(owner, source) or text(source.get("path"))
            cluster.builds.append(Build(_CANNOT, what, journal.failures, set(), made))
        return made

    def _taken(
        self, owner: Manifest, source: Any, place: Provenance, namespace: str, cluster: Deployed
    ) -> list[Manifest]:
        directory = self._directory_of(owner, source)
        if source.get("chart") or (directory is None and source.get("helm")):
            return self._chart(owner, source, place, namespace, cluster)
        if directory is None:
            if not self._is_absent(owner, source, place, cluster):
                cluster.journal.remote(f"{owner} from {text(source.get('repoURL'))}", place, namespace)
            return []
        source, place = overridden(source, place, self._tree, directory, owner.name)
        kind = type_of(source, place, self._tree, directory)
        if kind == PLUGIN and builds_with_kustomize(source, self._tree, directory):
            kind = KUSTOMIZE
            cluster.journal.gap(f"{owner} may create it; its plugin may make more of {directory}", namespace)
        if kind in (HELM, PLUGIN):
            if kind == HELM and self._charts is not None:
                made = self._installed(owner, source, place, namespace, self._charts, cluster)
                if made is not None:
                    return made
            if source.get("helm"):
                return self._chart(owner, source, place, namespace, cluster)
        self._in_this_tree = True
        cluster.reach(self._tree.path_of(owner.file), (directory,))
        if kind in (HELM, PLUGIN):
            what = "chart" if kind == HELM else "plugin's output"
            cluster.journal.gap(f"{owner} may create it; its source is not rendered", namespace)
            cluster.journal.note(f"the {what} of {owner} is not rendered", place, code="chart")
            return []
        if kind == KUSTOMIZE:
            return self._built(owner, source, place, directory, cluster)
        return self._plain(owner, source, directory, namespace, cluster)

    def _built(
        self, owner: Manifest, source: Any, place: Provenance, directory: str, cluster: Deployed
    ) -> list[Manifest]:
        """Return what the kustomization in a directory makes, given the options of its source."""
        known = self._tree.kustomization(directory)
        if known is None:
            return []
        spec = owner.spec
        variables = {
            "ARGOCD_APP_NAME": owner.name,
            "ARGOCD_APP_NAMESPACE": text(mapping(spec.get("destination")).get("namespace")),
            "ARGOCD_APP_PROJECT_NAME": text(spec.get("project")),
            "ARGOCD_APP_SOURCE_REPO_URL": text(source.get("repoURL")),
            "ARGOCD_APP_SOURCE_PATH": text(source.get("path")),
            "ARGOCD_APP_SOURCE_TARGET_REVISION": text(source.get("targetRevision")),
        }
        options = mapping(source.get(KUSTOMIZE))
        kustomization = with_options(known, options, place.child(KUSTOMIZE), self._tree, directory, variables)
        built = self._kustomizer.build(directory, kustomization)
        self._budget.spend(len(built.reached) + built.journal.size)
        cluster.journal.add(built.journal)
        cluster.reach(directory, {*built.reached, self._tree.kustomization_file(directory) or ""})
        cluster.builds.append(Build(_CANNOT, directory, built.journal.failures, built.reached, built.manifests))
        return built.manifests

    def _plain(self, owner: Manifest, source: Any, directory: str, namespace: str, cluster: Deployed) -> list[Manifest]:
        """Return what the plain files of a directory hold; none of them is applied where one cannot be read."""
        journal = Journal()
        written: list[Manifest] = []
        needed: set[str] = set()
        for path in plain_files(self._tree, directory, mapping(source.get(DIRECTORY))):
            self._budget.spend(_FOR_AN_OBJECT)
            if is_jsonnet(path):
                shown = self._tree.shown(path)
                cluster.journal.gap(f"{owner} may create it; {shown} is not rendered", namespace)
                continue
            cluster.reach(directory, (path,))
            # A short path may be one of another repository: `.`, `deploy`.
            if "/" in directory or self._is_own(owner, source):
                try:
                    check(self._tree, path)
                except RefusedSourceError as error:
                    journal.fail(str(error), error.place, code=REFUSED)
                if looks_like_a_manifest(self._tree, path):
                    needed.add(path)
            if not is_kustomization_path(path):
                made = manifests_of(self._tree.documents(path) or ())
                written += made if made and made[0].kind else ()  # else a file of another sort, such as of values
        cluster.builds.append(Build(_CANNOT, directory, journal.failures, needed, written))
        return written

    def _directory_of(self, owner: Manifest, source: Any) -> str | None:
        """Return the directory in this tree that a source of an Application means."""
        path, address = text(source.get("path")), text(source.get("repoURL"))
        if is_symbolic(path):
            return None
        if address.startswith(_BESIDE):
            home = self._tree.path_of(owner.file).rpartition("/")[0]
            beside = join(home, f"{address.removeprefix(_BESIDE)}/{path}")
            return beside if beside is not None and self._tree.is_directory(beside) else None
        if path.strip("./") == "":
            return self._tree.base
        placed = self._tree.placed(self._tree.path_of(owner.file), path)
        return None if placed is None else placed[0]

    def _is_absent(self, owner: Manifest, source: Any, place: Provenance, cluster: Deployed) -> bool:
        """Record an Application that deploys nothing because its path is not there, if it must be in this tree: the
        Application that brings it along takes it from the same repository and revision, or another source of its own is
        of these and here («app path does not exist»)."""
        path = text(source.get("path"))
        directory = join("", path)
        if directory is None or is_symbolic(path) or owner.provisional:
            return False
        if not self._is_own(owner, source) or any(map(str.isdigit, _repository(source)[1])):  # a tag or a commit
            return False
        message = f"path {path} of {owner} does not exist"
        cluster.journal.note(message, place.at("path"), code="missing-path")
        cluster.journal.gap(
            f"{message}, and may have it", text(mapping(owner.spec.get("destination")).get("namespace"))
        )
        journal = Journal()
        journal.note(message, place.at("path"), code="missing-path", lacking=f"{directory}/")
        cluster.builds.append(Build(_CANNOT, directory, journal.failures, set(), []))
        return True

    def _directories(self, owner: Manifest) -> set[str]:
        """Return the directories that an Application deploys."""
        sources = [mapping(source) for source in (owner.spec.get("source"), *sequence(owner.spec.get("sources")))]
        stated = [source for source in sources if source.get("path")]
        return {directory for source in stated if (directory := self._directory_of(owner, source))}

    def _installed(
        self, owner: Manifest, source: Any, place: Provenance, namespace: str, charts: Charts, cluster: Deployed
    ) -> list[Manifest] | None:
        """Return what helm makes of a chart of this tree, given `valueFiles`, over them `values` or `valuesObject`, and
        over them `parameters`; None where there is none, or it cannot."""
        from policylint.render.helm.charts import Installation
        from policylint.render.helm.value_places import HelmValues

        directory = self._directory_of(owner, source)
        if directory is None or not charts.holds(directory):
            return None
        self._in_this_tree = True
        cluster.reach(self._tree.path_of(owner.file), self._tree.files_below(directory))
        helm, helm_place = mapping(source.get("helm")), place.child("helm")
        paths = [self._value_file(owner, text(entry), directory) for entry in sequence(helm.get("valueFiles"))]
        layers = [layer for path in paths if path is not None for layer in charts.values(path)]
        if isinstance(helm.get("valuesObject"), dict):
            layers.append(HelmValues(helm["valuesObject"], helm_place.child("valuesObject")))
        else:
            inline = self._tree.texts.mappings(text(helm.get("values")), helm_place.child("values"))
            layers += [HelmValues(value, origin) for value, origin in inline]
        settings = []
        for parameter in map(mapping, sequence(helm.get("parameters"))):
            flag = "--set-string" if parameter.get("forceString") is True else "--set"
            value = parameter.get("value")
            written = str(value).lower() if isinstance(value, bool) else str(value or "")
            if text(parameter.get("name")):
                settings.append((flag, f"{parameter['name']}={written}"))
        name, namespace = text(helm.get("releaseName")) or owner.name, text(helm.get("namespace")) or namespace
        place = helm_place if helm else place
        installation = Installation(directory, name, namespace, tuple(layers), place, tuple(settings))
        made = charts.objects(installation, cluster.journal)
        self._without_files(owner, source, helm_place, directory, made or [], cluster)
        return made

    def _without_files(
        self,
        owner: Manifest,
        source: Any,
        place: Provenance,
        directory: str,
        made: list[Manifest],
        cluster: Deployed,
    ) -> None:
        """Record the files that helm is given (`-f`, `--set-file`) and that are not there: it makes nothing then."""
        helm = mapping(source.get("helm"))
        journal = Journal()
        refs = {text(mapping(each).get("ref")): each for each in sequence(owner.spec.get("sources"))}
        optional = helm.get("ignoreMissingValueFiles") is True or bool(owner.provisional)
        files = [] if optional else [("valueFiles", each) for each in map(text, sequence(helm.get("valueFiles")))]
        parameters = map(mapping, sequence(helm.get("fileParameters")))
        files += [("fileParameters", text(each.get("path"))) for each in parameters if text(each.get("path"))]
        for number, (field, entry) in enumerate(files):
            name, _, rest = entry.partition("/")
            named = refs.get(name[1:]) if name.startswith("$") else None
            if _ELSEWHERE.search(entry.removeprefix("$")) or (name.startswith("$") and named is None):
                continue
            if named is not None and _repository(named)[0] != _repository(source)[0]:
                continue
            path = self._value_file(owner, entry, directory)
            path = path or join("", rest if entry[:1] in ("/", "$") else entry)
            if path is not None and self._tree.read(path) is None:
                what = "value file" if field == "valueFiles" else "file"
                message = f"the {what} {entry} of {owner} is not at {path}"
                journal.note(message, place.child(field).child(number), code="value-file", lacking=path)
        if journal.failures:
            cluster.builds.append(Build(_CANNOT, directory, journal.failures, set(), made))

    def _value_file(self, owner: Manifest, entry: str, directory: str) -> str | None:
        """Return the path of a value file: beside the chart, from the top of the repository (`/x`), or of a named
        source (`$values/x`), which is this tree if the file is there."""
        if entry.startswith("$"):
            entry = f"/{entry.partition('/')[2]}"
        if not entry.startswith("/"):
            return join(directory, entry)
        candidates = (join(prefix, entry.lstrip("/")) for prefix in directories_above(self._tree.path_of(owner.file)))
        return next((path for path in candidates if path and self._tree.read(path) is not None), None)

    def _chart(
        self, owner: Manifest, source: Any, place: Provenance, namespace: str, cluster: Deployed
    ) -> list[Manifest]:
        """Return the objects of an app-template release; any other chart is noted, and a gap."""
        if (given := self._tree.given_release(namespace or "default", owner.name)) is not None:
            self._in_this_tree = True
            return given
        helm, helm_place = mapping(source.get("helm")), place.child("helm")
        files = [self._value_file(owner, text(entry), "") for entry in sequence(helm.get("valueFiles"))]
        layers: Layers = [each for path in files if path for each in self._tree.values(path)[:1] if each[0]]
        if isinstance(helm.get("valuesObject"), dict):
            layers.append((helm["valuesObject"], helm_place.child("valuesObject")))
        else:
            layers += self._tree.texts.mappings(text(helm.get("values")), helm_place.child("values"))
        layers = [(value, where) for value, where in layers if isinstance(value, dict)]
        values, origin = merged(layers or [({}, helm_place)], self._budget)
        lacks_files = not all(path and self._tree.read(path) is not None for path in files)
        self._budget.spend(size_of(values)[0])
        name, chart = text(helm.get("releaseName")) or owner.name, text(source.get("chart")).rpartition("/")[2]
        version = text(source.get("targetRevision"))
        release = Release(name, namespace or "default", values, origin, self._budget, chart, major_of(chart, version))
        known = known_of(release, version) if chart else usual_of(release)
        if known.of_family:
            self._in_this_tree = True
            if not known.is_whole(chart):
                own_values = f"{owner} may create it; the chart's own values are not seen"
                cluster.journal.gap(own_values, namespace, source=published.source(chart, values))
            if lacks_files:
                unseen = f"{owner} may create it; not all of its values are seen"
                cluster.journal.gap(unseen, namespace, source=published.source(chart, values))
            for manifest in known.objects if lacks_files else ():
                manifest.leave_open(f"not all values of {owner} were seen")
            return known.objects
        may_make_routes = lacks_files or not source.get("chart") or speaks_of_routes(values)
        message = f"{owner} may create it; its chart is not rendered"
        makes = published.source(chart, values if lacks_files or helm.get("parameters") else known.rest)
        cluster.journal.gap(message, namespace, gateway_api=may_make_routes, source=makes)
        cluster.journal.note(f"the chart of {owner} is not rendered", place, code="chart")
        for manifest in known.objects if lacks_files or helm.get("parameters") else ():
            manifest.leave_open(f"not all values of {owner} were seen")
        return known.objects


def _of_set(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """Return the Applications of a set; what that takes is not imported for trees without one."""
    from policylint.render.argo.application_sets import applications

    return applications(manifest, tree, journal)


def is_application(manifest: Manifest) -> bool:
    """Return whether an object is an Argo CD Application or ApplicationSet."""
    return manifest.group == GROUP and manifest.kind in _KINDS


def _repository(source: Any) -> _Repository:
    address = text(source.get("repoURL")).removesuffix("/").removesuffix(".git")
    return address, text(source.get("targetRevision"), "HEAD")


def _destination(manifest: Manifest) -> str:
    """Return the name of the cluster an Application deploys to."""
    destination = mapping(manifest.spec.get("destination"))
    cluster = text(destination.get("name")) or text(destination.get("server"))
    if cluster in _HERE:
        return LOCAL
    return "each-cluster" if is_symbolic(cluster) else cluster.removeprefix("https://")


def _server(manifest: Manifest) -> str:
    """Return the address of the cluster an Application deploys to; "" where it goes by a name that says none."""
    destination = mapping(manifest.spec.get("destination"))
    return HERE if destination.get("name") == "in-cluster" else text(destination.get("server"))


def _refused_references(sources: Iterable[Any]) -> str:
    """Return why Argo CD does not take the names that sources refer to each other by; "" where it does."""
    names = [text(source.get("ref")) for source in sources]
    for name in filter(None, names if len(names) > 1 else ()):
        if not _REFERENCE.fullmatch(name):
            return f"the name {name} of a source has other characters than letters, digits, `_` and `-`"
        if names.count(name) > 1:
            return f"two sources have the name {name}"
    return ""


def _sites(tree: Tree, roots: Sequence[Manifest]) -> dict[str, set[int]]:
    """Return the roots, by their numbers, of each Argo CD, by the directory that is its own; none where all may be of
    one.

    Two Applications of one name that deploy different directories cannot be in one Argo CD: their files lie in a
    directory for each cluster. What else lies there belongs to the same. Where all of these are called by numbers, as
    editions of a course are, so are the others beside them directories for clusters of their own.
    """
    paths = [tree.path_of(root.file) for root in roots]
    named: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, root in enumerate(roots):
        source = repr((root.spec.get("source"), root.spec.get("sources")))
        if root.kind == "Application" and root.name and _destination(root) == LOCAL:
            namespace = "" if root.namespace in _HOMES_OF_ARGO else root.namespace
            named[namespace, root.name].setdefault(source, number)
    for rivals in named.values():
        steps = [paths[number].split("/") for number in rivals.values()]
        depth = next((at for at, there in enumerate(zip(*steps, strict=False)) if len(set(there)) > 1), None)
        if len(rivals) < 2 or depth is None or any(len(each) == depth + 1 for each in steps):
            continue
        places = {"/".join(each[: depth + 1]) for each in steps}
        if len(places) == len(rivals):
            if all(_EDITION.fullmatch(place.rpartition("/")[2]) for place in places):
                others = ("/".join(path.split("/")[: depth + 1]) for path in paths if path.count("/") > depth)
                above = next(iter(places)).rpartition("/")[0]
                places.update(
                    each for each in others if _EDITION.fullmatch(each.removeprefix(f"{above}/" if above else ""))
                )
            return {
                place.rpartition("/")[2]: {number for number, path in enumerate(paths) if is_below(path, place)}
                for place in places
            }
    return {}


def _stages(tree: Tree, roots: Sequence[Manifest]) -> dict[str, set[int]]:
    """Return the roots, by their numbers, of each of several directories that are called as environments are or as
    what clusters run on, or lie in one that holds environments; none where a root says which cluster it is for."""
    stages: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, root in enumerate(roots):
        steps = tree.path_of(root.file).split("/")
        above = ["", *steps]
        depth = next(
            (at for at in range(len(steps) - 1) if above[at] in ENVIRONMENT_MARKERS or steps[at] in CALLED), None
        )
        if depth is not None and (root.kind != "Application" or _destination(root) == LOCAL):
            stages["/".join(steps[:depth])][steps[depth]].add(number)
    return next((dict(of_one) for _, of_one in sorted(stages.items()) if len(of_one) > 1), {})


def _tops(entered: Sequence[Collection[str]], roots: Sequence[Manifest]) -> dict[str, set[int]]:
    """Return the roots, by their numbers, that each deploy one of several directories which differ in one step, of
    which one at least is called as environments are, or two as what clusters run on, or all are in one that holds
    environments: `apps/production`, `apps/local`; none where there are no such directories.

    Args:
        entered: the directories that each root deploys.
    """
    named: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, (root, directories) in enumerate(zip(roots, entered, strict=True)):
        if root.kind == "Application" and _destination(root) == LOCAL and len(directories) == 1:
            steps = next(iter(directories)).split("/")
            for at, step in enumerate(steps):
                named["/".join(steps[:at]), "/".join(steps[at + 1 :])][step].add(number)
    for (above, _), stages in sorted(named.items()):
        is_marked = above.rpartition("/")[2] in ENVIRONMENT_MARKERS or not ENVIRONMENTS.isdisjoint(stages)
        if len(stages) > 1 and (is_marked or len(PLATFORMS.intersection(stages)) > 1):
            return dict(stages)
    return {}
