"""`kustomize build`, for everything that decides identity, references and the content of Gateway API and policies.

A directory in, its objects out, each value with its provenance; what cannot be done is noted and the rest goes on,
where the real kustomize would stop: a finding each, and as much of the picture as there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from policylint.budget import ExhaustedError, size_of
from policylint.documents import read
from policylint.load.facts import KUSTOMIZATION_FILES
from policylint.model import Spot, mapping, sequence, text
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.patterns import Pattern
from policylint.render.journal import NOT_RENDERED, Journal
from policylint.render.kustomize.as_read import as_read
from policylint.render.kustomize.external import External, external
from policylint.render.kustomize.field_specs import (
    BUILT_IN as BUILT_IN_FIELDS,
)
from policylint.render.kustomize.field_specs import (
    FieldSpec,
    FieldSpecError,
    Specs,
    effective_namespace,
    merged,
)
from policylint.render.kustomize.field_specs import (
    read as fields_of,
)
from policylint.render.kustomize.generators import add_hash, generated, merge_generated
from policylint.render.kustomize.metadata import (
    add_annotations,
    add_labels,
    add_to_names,
    is_local,
    scale,
    set_images,
    set_namespace,
)
from policylint.render.kustomize.name_references import BUILT_IN, NameReference, NameReferenceError, configured, follow
from policylint.render.kustomize.patches import KustomizePatch, apply_patches, patches
from policylint.render.kustomize.refusals import refusals, refused_objects
from policylint.render.kustomize.replacements import ReplacementError, replace
from policylint.render.kustomize.targets import Targets
from policylint.render.kustomize.transformers import NamespaceMove, moves
from policylint.render.origins import locate
from policylint.render.provenance import Manifest, Provenance, entries, manifests_of
from policylint.render.tree import Fetched, Tree, inside, join

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts

MAX_DEPTH = 60
"""Kustomizations inside kustomizations; deeper ones are noted, not followed."""
_FOR_AN_OBJECT = 8
"""Steps of work that it costs to take in an object, or to change one in one place."""
_FOR_A_KUSTOMIZATION = 100
_LETTERS = 8
"""Letters of a name that cost a step when it is written anew."""
_REMOTE = Pattern(
    r"^(?:[a-z+]+://|git@|git::|github\.com/|gitlab\.com/|bitbucket\.org/)|[?&]ref=|^[\w-]+\.[\w.-]+/.+//"
)
_NOT_BUILT_IN = ("transformers", "generators", "validators", "vars", "helmChartInflationGenerator")
_NOT_COVERED = "not-covered"
_CHANGING = ("transformers", "vars")
"""Those of them that change objects."""


_Id = tuple[str, str, str, str]


class Built(NamedTuple):
    """The output of a kustomization.

    Args:
        manifests: the objects; to be copied before they are changed.
        journal: notes and gaps.
        reached: files and directories that were read for it.
        place: where it is written.
    """

    manifests: list[Manifest]
    journal: Journal
    reached: set[str]
    place: Provenance


class Kustomizer:
    """Builds the kustomizations of one tree; what is built twice is built once.

    Args:
        cluster_scoped: kinds (group, kind) of the tree's CRDs that have no namespace.
        unread: kinds whose objects were not parsed: a patch for one of them has its target unseen.
        external: renders a directory with the user's own kustomize, for what is not covered here.
        charts: renders charts of the tree with the user's own helm.
    """

    def __init__(
        self,
        tree: Tree,
        cluster_scoped: frozenset[tuple[str, str]] = frozenset(),
        unread: frozenset[tuple[str, str]] = frozenset(),
        external: External | None = None,
        charts: Charts | None = None,
    ) -> None:
        self.tree = tree
        self.cluster_scoped = CLUSTER_SCOPED | cluster_scoped
        self.unread = unread
        self.charts = charts
        self.budget = tree.budget
        self.references: dict[str, list[NameReference]] = {}
        self.fields: dict[str, list[tuple[str, FieldSpec]]] = {}
        """Directory → the fields of transformers that its `configurations:` add."""
        self.with_variables: set[str] = set()
        """Directories whose kustomizations have `vars`, which are filled in wherever they lead to."""
        self._external = external
        self._built: dict[str, Built] = {}
        self._whole: Kustomizer | None = None
        self._of: dict[Fetched, Kustomizer] = {}

    def of(self, fetched: Fetched) -> Kustomizer:
        """Return one that builds the kustomizations of what is fetched of the tree."""
        known = self._of.get(fetched)
        if known is None:
            tree = self.tree.without(fetched.lacks)
            own = None if self._external is None else external(tree)
            self._of[fetched] = known = Kustomizer(tree, self.cluster_scoped, self.unread, own, self.charts)
        return known

    @property
    def whole(self) -> Kustomizer:
        """One that builds objects of all kinds, also those that no rule reads: policies wrap any."""
        if self._whole is None:
            own = self._external
            self._whole = Kustomizer(self.tree.whole(), self.cluster_scoped, external=own, charts=self.charts)
            self._whole._whole = self._whole
        return self._whole

    def build(self, directory: str, kustomization: tuple[dict[str, Any], Provenance] | None = None) -> Built:
        """Return the finished output of a directory, as `kustomize build` prints it.

        Args:
            kustomization: what to build instead of the directory's own one: an amended one, or one made for a directory
                that has none.

        Raises:
            ExhaustedError: finishing it would pass the budget; what was cut off before is returned as far as it got.
        """
        own = self.tree.kustomization(directory)
        if kustomization is None or (own is not None and own[0] is kustomization[0]):
            base = self.base(directory, ())
        else:
            base = _Run(self, directory, *kustomization, [], ()).built()
        return base if self.budget.cut is not None else base._replace(manifests=self.finished(base))

    def finished(self, base: Built) -> list[Manifest]:
        """Return the finished objects of a directory; its own are left as they are.

        Raises:
            ExhaustedError: finishing them would pass the budget.
        """
        self.budget.spend(_FOR_AN_OBJECT * len(base.manifests))
        return self._finished([manifest.copy() for manifest in base.manifests], base)

    def _finished(self, manifests: list[Manifest], base: Built) -> list[Manifest]:
        """Hash generated names, update references to changed names, and leave out local configuration."""
        kept = []
        for manifest in manifests:
            annotations = manifest.metadata.get("annotations")
            if annotations == {}:  # kustomize drops them, whoever emptied them
                bare = {name: value for name, value in manifest.metadata.items() if name != "annotations"}
                manifest.body = {**manifest.body, "metadata": bare}
            if manifest.hashed:
                self.budget.spend(manifest.weight)
                add_hash(manifest)
            kept.append(manifest)
        extra = [reference for path in sorted(base.reached) for reference in self.references.get(path, ())]
        for directory in sorted(base.reached & self.with_variables):
            for manifest in kept:
                manifest.leave_open(f"`vars` of {directory or 'the top directory'} are not rendered")
        try:
            if any(manifest.names for manifest in kept):
                follow(kept, (*BUILT_IN, *extra), self.budget)
        except (FieldSpecError, NameReferenceError) as error:
            base.journal.fail(f"{error}: kustomize refuses to build it", base.place, code="kustomization-refused")
        return [manifest for manifest in kept if not is_local(manifest)]

    def base(self, directory: str, above: tuple[str, ...]) -> Built:
        """Return a directory's objects before they are finished, built once.

        Args:
            above: the directories whose kustomizations led here.
        """
        known = self._built.get(directory)
        if known is None:
            body, origin = self.tree.kustomization(directory) or ({}, Provenance(Spot(directory)))
            known = self._covered(directory, body, origin, _Run(self, directory, body, origin, [], above).built())
            if not above or not any(note.code in ("cycle", "too-deep") for note in known.journal.notes):
                self._built[directory] = known
        return known

    def _covered(self, directory: str, body: dict[str, Any], origin: Provenance, built: Built) -> Built:
        """Return what was built, or what the user's own kustomize makes of a kustomization that is not covered here.

        Its output says nothing of where a value comes from: one that the object has here, too, is located as it is
        here, and a new one at the field that asks for what made it.
        """
        asked = [name for name in _NOT_BUILT_IN if body.get(name)] if self._external is not None else []
        noted = {note.location.pointer for note in built.journal.notes if note.code == _NOT_COVERED}
        field = next((name for name in asked if origin.child(name).pointer in noted), None)
        output = self._external(directory) if self._external is not None and field is not None else None
        if output is None or field is None:
            return built
        place = origin.child(field)
        made = [Manifest(manifest.body, place) for manifest in manifests_of(read(output, f"{directory}/").documents)]
        locate(made, built.manifests, place)
        built.journal.forget(_NOT_COVERED)
        return built._replace(manifests=made)


class _Run:
    """One kustomization over the objects that its parent has so far (none, unless it is a component)."""

    def __init__(
        self,
        kustomizer: Kustomizer,
        directory: str,
        body: dict[str, Any],
        origin: Provenance,
        manifests: list[Manifest],
        above: tuple[str, ...],
        reached: Iterable[str] = (),
    ) -> None:
        self._kustomizer = kustomizer
        self._tree = kustomizer.tree
        self._directory = directory
        self._body = body
        self._origin = origin
        self._manifests = manifests
        self._above = (*above, directory)
        self._budget = kustomizer.budget
        self._at = self._budget.bounded("this kustomization", origin)
        self._known = {_id(manifest): manifest for manifest in manifests}
        """The objects so far, by what tells them apart."""
        self._journal = Journal()
        self._reached = {*reached, directory}
        self._unseen = False
        """Whether there may be objects that were not seen."""
        self._moves: list[NamespaceMove] = []

    def built(self) -> Built:
        """Take in resources and components, generate, and transform; what the budget does not allow is cut off."""
        with self._at:
            self._build()
            self._journal.settle(self._tree.leaves_out)
            return Built(self._manifests, self._journal, self._reached, self._origin)
        self._leave_open("rendering was cut off")
        return Built(self._manifests, self._journal, self._reached, self._origin)

    def _build(self) -> None:
        """Do so.

        Raises:
            ExhaustedError: more is asked for than the budget allows.
        """
        body, origin, journal = self._body, self._origin, self._journal
        self._budget.spend(_FOR_A_KUSTOMIZATION)
        for message, place in refusals(body, origin):
            journal.fail(message, place, code="kustomization-refused")
        files = [name for name in KUSTOMIZATION_FILES if name in self._tree.files.get(self._directory, ())]
        if len(files) > 1:
            message = f"{' and '.join(files)} are both kustomizations: kustomize refuses to build it"
            journal.fail(message, origin, code="kustomization-refused")
        for field in ("resources", "bases"):
            for entry, place in self._entries(field, "this resource"):
                self._resource(text(entry), place)
        self._configurations()
        self._generate()
        self._manifests = [*self._manifests]
        for entry, place in self._entries("helmCharts", "this chart"):
            self._inflate(mapping(entry), place)
        covered = {"generators": self._policy_generators, "transformers": self._transformers}
        for name in filter(body.get, _NOT_BUILT_IN):
            if name not in covered or not covered[name]():
                journal.note(f"`{name}` are not rendered by policylint itself", origin.child(name), code=_NOT_COVERED)
                for entry, place in entries(body, origin, name):  # configuration may lie elsewhere, too
                    if "\n" not in text(entry) and _REMOTE.search(text(entry)):
                        journal.remote(text(entry), place)
                self._unseen = True
        for entry, place in self._entries("components", "this component"):  # kusttarget.go: over what generators made
            self._component(text(entry), place)
        if body.get("vars"):
            self._kustomizer.with_variables.add(self._directory)
        if changing := [name for name in _CHANGING if body.get(name) and not (name == "transformers" and self._moves)]:
            self._leave_open(f"`{changing[0]}` of {origin.document.file} are not rendered")
        self._unseen = self._unseen or bool(journal.gaps)
        self._transform()

    def _policy_generators(self) -> bool:
        """Add what PolicyGenerators make; return whether there are no other generators."""
        from policylint.render.kustomize.policy_generator import is_policy_generator

        covered = True
        for entry, place in self._entries("generators", "this generator"):
            configurations = self._configurations_of(text(entry), place)
            ours = [configuration for configuration in configurations if is_policy_generator(configuration[0])]
            covered = covered and bool(ours) and len(ours) == len(configurations)
            for configuration, origin in ours:
                self._policies(configuration, origin)
        return covered

    def _transformers(self) -> bool:
        """Keep what transformers do, which comes last; return whether all of them are known."""
        entered = self._entries("transformers", "this transformer")
        self._moves = moves(each for entry, place in entered for each in self._configurations_of(text(entry), place))
        return bool(self._moves)

    def _configurations_of(self, entry: str, place: Provenance) -> list[tuple[dict[str, Any], Provenance]]:
        """Return the objects that an entry of `generators` stands for: written in it, in a file, or built."""
        path = join(self._directory, entry)
        if "\n" in entry:
            found = self._tree.texts.documents(entry, place)[0]
        elif path is None or not entry:
            return []
        elif self._tree.is_directory(path):
            return [(manifest.body, manifest.origin) for manifest in self._directory_of_policies(path, place)[0]]
        else:
            found = self._kustomizer.whole.tree.values(path)
            self._reached.add(path)
        return [(value, origin) for value, origin in found if isinstance(value, dict)]

    def _policies(self, configuration: dict[str, Any], origin: Provenance) -> None:
        """Add what a PolicyGenerator makes; one that the plugin refuses may have been meant to make anything."""
        from policylint.render.kustomize.policy_generator import generated_policies, namespace_of
        from policylint.render.kustomize.policy_manifests import GeneratorFiles, GeneratorRefusedError

        tree = self._kustomizer.whole.tree
        files = GeneratorFiles(self._directory, tree, self._journal, self._directory_of_policies)
        try:
            made = generated_policies(configuration, origin, files)
        except GeneratorRefusedError as error:
            self._journal.note(f"PolicyGenerator: {error}", error.place, code="generator-refused", fails=True)
            self._leave_policies_open(origin, namespace_of(configuration))
            made = []
        except ExhaustedError:
            self._leave_policies_open(origin, namespace_of(configuration))
            raise
        finally:
            self._reached |= files.reached
        self._admit(made, origin)
        self._manifests.extend(made)

    def _leave_policies_open(self, origin: Provenance, namespace: str) -> None:
        reason = f"the PolicyGenerator of {origin.document.file} is not rendered"
        self._journal.gap(reason, namespace, gateway_api=False)

    def _directory_of_policies(self, path: str, place: Provenance) -> tuple[list[Manifest], str]:
        """Return what a directory for a generator builds, and why there may be more; it is not for this cluster."""
        if self._is_hostile(path, path, place):
            return [], f"{path} leads back"
        kustomizer = self._kustomizer.whole
        built = kustomizer.base(path, self._above)
        self._budget.spend(_FOR_AN_OBJECT * len(built.manifests) + len(built.reached) + built.journal.size)
        self._journal.add(built.journal, gaps=False)
        self._reached |= built.reached
        gap = next((gap.reason for gap in built.journal.gaps), "")
        if not gap and built.journal.notes:
            gap = f"{built.journal.notes[0].message} in {path}"
        return kustomizer.finished(built), gap

    def _entries(self, field: str, what: str) -> Iterator[tuple[Any, Provenance]]:
        """Yield the entries of a field, each of which is what is being worked on as long as it is."""
        for entry, place in entries(self._body, self._origin, field):
            self._at.what, self._at.place = what, place
            self._budget.spend(_FOR_AN_OBJECT)
            yield entry, place

    def _transform(self) -> None:
        """Run the transformers, in kustomize's order."""
        body, origin = self._body, self._origin
        self._patch("patchesStrategicMerge", "patches")
        try:
            self._transform_fields(self._specs())
        except FieldSpecError as error:
            self._journal.fail(f"{error}: kustomize refuses to build it", origin, code="kustomization-refused")
        replacements = list(entries(body, origin, "replacements"))
        if replacements:
            targets = Targets(self._manifests, self._budget)
            for entry, place in self._entries("replacements", "this replacement"):
                self._replace(mapping(entry), place, targets)
        for move in self._moves:
            self._move("transformers", move)
        self._known.clear()  # patches and replacements may have changed names
        self._admit((manifest for manifest in self._manifests if not manifest.hashed), origin)

    def _specs(self) -> Specs:
        """Return the fields of transformers, with those that configurations here and below add.

        Raises:
            FieldSpecError: they contradict one another.
        """
        added = [each for path in sorted(self._reached) for each in self._kustomizer.fields.get(path, ())]
        specs = dict(BUILT_IN_FIELDS)
        for name, spec in added:
            specs[name] = merged(specs.get(name, ()), (spec,))
        return specs

    def _transform_fields(self, specs: Specs) -> None:
        """Run the transformers of single fields.

        Raises:
            FieldSpecError: kustomize refuses one of them.
        """
        body, origin = self._body, self._origin
        if namespace := text(body.get("namespace")):
            self._move("namespace", NamespaceMove(namespace, origin.child("namespace"), specs["namespace"]))
        prefix, suffix = text(body.get("namePrefix")), text(body.get("nameSuffix"))
        if prefix or suffix:
            self._change("namePrefix" if prefix else "nameSuffix", len(prefix) + len(suffix))
            add_to_names(self._manifests, prefix, suffix, specs)
        for field in ("labels", "commonLabels", "commonAnnotations", "images"):
            if body.get(field):
                self._change(field, size_of(body[field])[0])
        add_labels(self._manifests, body, origin, specs)
        annotations = mapping(body.get("commonAnnotations"))
        add_annotations(self._manifests, annotations, origin.child("commonAnnotations"), specs)
        self._patch("patchesJson6902")
        for entry, place in self._entries("replicas", "this number of replicas"):
            self._budget.spend(len(self._manifests))
            if not scale(self._manifests, mapping(entry), place, specs) and not self._unseen:
                message = f"no object of the name {text(mapping(entry).get('name'))} can be scaled"
                self._journal.fail(f"{message}: kustomize refuses to build it", place, code="kustomization-refused")
        for field in ("images", "imageTags"):
            for entry, place in self._entries(field, "this image"):
                self._budget.spend(sum(manifest.weight for manifest in self._manifests))
                set_images(self._manifests, mapping(entry), place, specs)

    def _move(self, field: str, move: NamespaceMove) -> None:
        """Put every object into a namespace."""
        self._change(field, len(move.namespace))
        set_namespace(self._manifests, *move, self._kustomizer.cluster_scoped)
        self._journal.move(move.namespace)
        self._known.clear()
        self._admit(self._manifests, move.place)

    def _change(self, field: str, size: int) -> None:
        """Spend what it costs to give every object something of a size."""
        self._at.what, self._at.place = f"`{field}`", self._origin.child(field)
        for manifest in self._manifests:
            names = len(manifest.names)
            self._budget.spend(_FOR_AN_OBJECT + 2 * size + (names and names + len(manifest.name) // _LETTERS))

    def _resource(self, entry: str, place: Provenance) -> None:
        """Add what one entry of `resources:` stands for."""
        path = join(self._directory, entry)
        if path is not None and entry:
            if self._tree.is_directory(path):
                self._base(entry, path, place)
                return
            if (documents := self._tree.documents(path)) is not None:
                manifests = as_read(documents, path, self._tree)
                self._budget.spend(_FOR_AN_OBJECT * len(manifests))
                for message, where in refused_objects(documents, manifests):
                    self._journal.fail(message, where, code="kustomization-refused")
                self._admit(manifests, place)
                self._manifests.extend(manifests)
                self._reached.add(path)
                self._unseen |= not documents and not self._tree.is_left_unread(path)
                return
        self._unseen = True
        if _REMOTE.search(entry):
            self._journal.remote(entry, place)
        elif path is None:
            self._journal.note(f"resource {entry!r} is outside of the tree", place, code="outside")
        else:
            lacking = path if "." in path.rpartition("/")[2] else f"{path}/"
            message = f"resource {entry!r} {self._tree.absence(lacking)}"
            self._journal.note(message, place, code="missing-file", lacking=lacking)
            self._journal.absent(entry)

    def _base(self, entry: str, path: str, place: Provenance) -> None:
        """Add the objects of another kustomization."""
        if self._is_hostile(entry, path, place):
            self._unseen = True
            return
        if self._tree.kustomization_file(path) is None:
            lacking = inside(path, KUSTOMIZATION_FILES[0])
            self._journal.note(f"directory {entry!r} has no kustomization", place, code="missing-file", lacking=lacking)
            self._unseen = True
            return
        self._check_kind(path, "Kustomization", place)
        base = self._kustomizer.base(path, self._above)
        self._take_in(base)
        copies = [manifest.copy() for manifest in base.manifests]
        self._admit(copies, place)
        self._manifests.extend(copies)
        self._unseen |= any(note.rule == NOT_RENDERED for note in base.journal.notes)

    def _admit(self, manifests: Iterable[Manifest], place: Provenance) -> None:
        """Note an object that is there already, unless one was: kustomize then builds nothing, and once is enough."""
        if any(failure.note.code == "duplicate" for failure in self._journal.failures):
            return
        for manifest in manifests:
            earlier = self._known.setdefault(_id(manifest), manifest)
            if earlier is not manifest and manifest.name and not (earlier.provisional or manifest.provisional):
                self._journal.fail(f"{manifest} is there twice", place, code="duplicate")

    def _component(self, entry: str, place: Provenance) -> None:
        """Run a component over what there is so far."""
        path = join(self._directory, entry)
        if path is not None and self._is_hostile(entry, path, place):
            return
        kustomization = None if path is None or not entry else self._tree.kustomization(path)
        if path is not None and kustomization is not None:
            self._check_kind(path, "Component", place)
            run = _Run(self._kustomizer, path, *kustomization, self._manifests, self._above, self._reached)
            run._unseen = self._unseen or bool(self._journal.gaps)
            built = run.built()
            self._take_in(built)
            self._manifests = built.manifests
            self._known = {_id(manifest): manifest for manifest in self._manifests}
        else:
            self._leave_open(f"component {entry!r} was not seen")
            if _REMOTE.search(entry):
                self._journal.remote(entry, place)
            else:
                message = f"component {entry!r} does not exist"
                lacking = None if path is None else inside(path, KUSTOMIZATION_FILES[0])
                self._journal.note(message, place, code="missing-file", lacking=lacking)

    def _check_kind(self, directory: str, expected: str, place: Provenance) -> None:
        """Note a component that is taken for a kustomization, or one that is not taken for one."""
        found = self._tree.kustomization(directory)
        kind = text(mapping(found[0]).get("kind"), "Kustomization") if found else ""
        if {kind, expected} == {"Kustomization", "Component"}:
            field = "components" if expected == "Component" else "resources"
            message = f"{directory} is a {kind}, which kustomize refuses to take from `{field}`"
            self._journal.fail(message, place, code="kustomization-refused")

    def _leave_open(self, reason: str) -> None:
        """Mark the objects as changed by something that was not seen."""
        for manifest in self._manifests:
            manifest.leave_open(reason)

    def _take_in(self, built: Built) -> None:
        self._budget.spend(_FOR_AN_OBJECT * len(built.manifests) + len(built.reached) + built.journal.size)
        self._journal.add(built.journal)
        self._reached |= built.reached

    def _is_hostile(self, entry: str, path: str, place: Provenance) -> bool:
        """Return whether following an entry would never end; noted."""
        if path in self._above:
            code, message = "cycle", f"{entry!r} leads back to {path or 'the top'}: a cycle"
        elif len(self._above) >= MAX_DEPTH:
            code, message = "too-deep", f"kustomizations nested deeper than {MAX_DEPTH} levels"
        else:
            return False
        self._journal.note(message, place, code=code, fails=code == "cycle")
        return True

    def _patch(self, *fields: str) -> None:
        def unseen(patch: KustomizePatch) -> bool:
            if patch.target is not None:  # a component runs over many kustomizations, and not all hold its targets
                kind = text(patch.target.get("kind"))
                is_unread = not kind or any(kind == unread for _, unread in self._kustomizer.unread)
                return self._unseen or is_unread or self._body.get("kind") == "Component"
            content = mapping(patch.content)
            group = text(content.get("apiVersion")).rpartition("/")[0]
            return self._unseen or (group, text(content.get("kind"))) in self._kustomizer.unread

        some = patches(self._directory, self._body, self._origin, fields, self._tree, self._journal)
        self._manifests = apply_patches(some, self._manifests, self._journal, self._budget, unseen=unseen, at=self._at)

    def _generate(self) -> None:
        if not any(self._body.get(field) for field in ("configMapGenerator", "secretGenerator")):
            return
        known: dict[tuple[str, str, str], list[Manifest]] = {}
        self._budget.spend(len(self._manifests))
        for manifest in self._manifests:
            _remember(manifest, known)
        made = generated(self._directory, self._body, self._origin, self._tree, self._journal, self._at)
        for manifest, behaviour in made:
            former = known.get((manifest.kind, manifest.namespace or "default", manifest.name), [])
            is_known = behaviour in ("merge", "replace")
            if is_known == (len(former) == 1):
                if is_known:
                    self._budget.spend(former[0].weight)
                    merge_generated(former[0], manifest, replaces=behaviour == "replace")
                    former[0].weight += manifest.weight
                    continue
            elif former or not (self._unseen or ("", manifest.kind) in self._kustomizer.unread):
                why = "is there" if former else "is not there"
                message = f"{manifest} {why}: kustomize refuses to {behaviour if is_known else 'create'} it"
                self._journal.fail(message, manifest.origin, code="generator-refused")
            self._manifests.append(manifest)
            _remember(manifest, known)

    def _inflate(self, chart: Any, place: Provenance) -> None:
        """Add the objects of a chart; one that is not rendered is a gap in its namespace."""
        name = text(chart.get("releaseName")) or text(chart.get("name"))
        namespace = text(chart.get("namespace")) or text(self._body.get("namespace"))
        for path in self._value_files(chart):
            if ":/" not in path and self._tree.read(path) is None:
                self._journal.note(f"value file {path!r} does not exist", place, code="missing-file", lacking=path)
        if (objects := self._rendered_chart(chart, name, namespace, place)) is not None:
            self._manifests += objects
            return
        from policylint.render.helm import published
        from policylint.render.helm.app_template.release import Release, major_of
        from policylint.render.helm.unrendered import known_of

        values, origin = self._chart_values(chart, place)
        own_name, version = text(chart.get("name")), text(chart.get("version"))
        self._budget.spend(size_of(values)[0])
        major = major_of(own_name, version)
        known = known_of(Release(name, namespace or "default", values, origin, self._budget, own_name, major), version)
        lacks_files = any(self._tree.read(path) is None for path in self._value_files(chart))
        for manifest in known.objects if lacks_files else ():
            manifest.leave_open(f"not all values of chart {name} were seen")
        self._manifests += known.objects
        if known.is_whole(own_name):
            return
        lacking = "the chart's own values are not seen" if known.of_family else "charts are not rendered"
        makes = published.source(own_name, values if lacks_files else known.rest)
        self._journal.gap(f"chart {name} may create it; {lacking}", namespace, source=makes)
        if known.of_family:
            return
        notes = self._journal.notes
        if not any(note.code == "chart" and note.location.pointer == place.pointer for note in notes):
            self._journal.note(f"chart {name} is not rendered", place, code="chart")

    def _rendered_chart(self, chart: Any, name: str, namespace: str, place: Provenance) -> list[Manifest] | None:
        """Return what helm makes of a chart; None where it may not run, the chart is elsewhere, or it cannot."""
        charts = self._kustomizer.charts
        home = text(mapping(self._body.get("helmGlobals")).get("chartHome"), "charts")
        lies_in = join(self._directory, f"{home}/{text(chart.get('name'))}")
        if charts is None or lies_in is None or not charts.holds(lies_in):
            return None
        from policylint.render.helm.charts import Installation
        from policylint.render.helm.value_places import HelmValues

        paths = self._value_files(chart)
        layers = [layer for path in paths for layer in charts.values(path)]
        inline = mapping(chart.get("valuesInline"))
        if inline:
            own = HelmValues(inline, place.child("valuesInline"))
            # `merge` lets the file win, `replace` leaves the inline values alone; `override` is the default.
            merge = text(chart.get("valuesMerge"))
            layers = [own, *layers] if merge == "merge" else [own] if merge == "replace" else [*layers, own]
        installation = Installation(lies_in, name, namespace, tuple(layers), place, bare=bool(chart.get("valuesFile")))
        return charts.objects(installation, self._journal)

    def _value_files(self, chart: Any) -> list[str]:
        """Return the paths of the files with values of a chart, later ones over earlier ones."""
        files = [text(chart.get("valuesFile")), *map(text, sequence(chart.get("additionalValuesFiles")))]
        return [path for file in files if file and (path := join(self._directory, file)) is not None]

    def _chart_values(self, chart: Any, place: Provenance) -> tuple[Any, Provenance]:
        """Return the values that a chart is given, as far as they are there."""
        from policylint.render.helm.layers import Layers, merged

        paths = self._value_files(chart)
        of_files: Layers = [each for path in paths for each in self._tree.values(path)[:1] if isinstance(each[0], dict)]
        inline: Layers = [(mapping(chart.get("valuesInline")), place.child("valuesInline"))]
        merge = text(chart.get("valuesMerge"))
        layers = [*inline, *of_files] if merge == "merge" else inline if merge == "replace" else [*of_files, *inline]
        self._reached.update(paths)
        return merged(layers, self._budget)

    def _configurations(self) -> None:
        references: list[NameReference] = []
        added: list[tuple[str, FieldSpec]] = []
        for entry, place in entries(self._body, self._origin, "configurations"):
            path = join(self._directory, text(entry))
            values = [] if path is None else self._tree.values(path)
            if not values:
                message = f"configuration {text(entry)!r} does not exist"
                self._journal.note(message, place, code="missing-file", lacking=path)
            for value, _ in values:
                references.extend(configured(value))
                added += [(name, spec) for name, fields in mapping(value).items() for spec in fields_of(fields)]
        if references:
            self._kustomizer.references[self._directory] = references
        if added:
            self._kustomizer.fields[self._directory] = added

    def _replace(self, entry: Any, place: Provenance, targets: Targets) -> None:
        """Apply an entry of `replacements:`, or all those in the file that it names."""
        replacements = [(entry, place)]
        if text(entry.get("path")):
            path = join(self._directory, entry["path"])
            values = [] if path is None else self._tree.values(path)
            if not values:
                message = f"replacement file {entry['path']!r} does not exist"
                self._journal.note(message, place, code="missing-file", lacking=path)
                self._leave_open(message)
            replacements = []
            for value, origin in values:
                all_of = value if isinstance(value, list) else ()
                replacements += [(each, origin.child(number)) for number, each in enumerate(all_of)]
                replacements += [] if isinstance(value, list) else [(value, origin)]
        for replacement, at in replacements:
            self._budget.spend(_FOR_AN_OBJECT)
            try:
                replace(targets, dict(mapping(replacement)), at, self._budget)
            except ReplacementError as error:
                message = f"this replacement does not apply: {error}"
                kind = text(mapping(mapping(replacement).get("source")).get("kind"))
                is_read = kind not in {kind for _, kind in self._kustomizer.unread}
                fails = error.certain and is_read and not self._unseen
                self._journal.note(message, place, code="replacement-not-applied", fails=fails)


def _id(manifest: Manifest) -> _Id:
    """Return what kustomize tells objects apart by; no namespace is `default`."""
    api_version, kind, namespace, name = manifest.told
    return api_version, kind, effective_namespace(manifest, namespace), name


def _remember(manifest: Manifest, known: dict[tuple[str, str, str], list[Manifest]]) -> None:
    """Make a map known by all namespaces and names that it has had."""
    if manifest.kind in ("ConfigMap", "Secret"):
        for namespace, name in {(manifest.namespace, manifest.name), *manifest.names}:
            same = known.setdefault((manifest.kind, namespace or "default", name), [])
            if manifest not in same:
                same.append(manifest)
