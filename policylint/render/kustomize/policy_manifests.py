"""The manifests of a PolicyGenerator's policies: read, patched and wrapped into policy templates.

Source: policy-generator-plugin, internal/utils.go, internal/patches.go and internal/expanders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.journal import Journal
from policylint.render.kustomize.strategic_merge import DELETED, is_core, merge
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.tree import Tree, inside, join

_OCM = "policy.open-cluster-management.io"
_STEPS = 20
"""What it costs to read a file, or to patch an object, of nothing."""
_LETTERS = 8
"""Characters of a file that cost a step."""
_OF_A_TEMPLATE = (
    "evaluationInterval", "namespaceSelector", "pruneObjectBehavior", "remediationAction", "severity",
    "extraDependencies", "ignorePending",
)  # fmt: skip
"""Options of one manifest that are its ConfigurationPolicy's, and so the same for all that one of them wraps."""
_UNKNOWN_ACTION = "<remediationAction>"
_RAW = ("object-templates-raw", "object-templates")
_ABSENT = (None, "")
_INFORMING = {
    "remediationAction": "inform",
    "namespaceSelector": {"include": ["*"], "exclude": ["kube-*"]},
}
"""Options of the policies that report what another engine finds."""


class GeneratorRefusedError(Exception):
    """The plugin refuses its configuration, or something that it reads.

    Attributes:
        place: where that is written.
    """

    def __init__(self, message: str, place: Provenance) -> None:
        super().__init__(message)
        self.place = place


class PolicyOptions:
    """The options of a policy or of one of its manifests, over those of what holds it.

    Attributes:
        own: those that it states itself.
        place: where it is written.
    """

    __slots__ = ("_layers", "own", "place")

    def __init__(self, *layers: tuple[Mapping[str, Any], Provenance]) -> None:
        self._layers = layers
        self.own, self.place = layers[0]

    def find(self, name: str) -> tuple[Any, Provenance] | None:
        """Return the value of an option and where it is written; None where nobody states it."""
        for body, place in self._layers:
            if body.get(name) not in _ABSENT:
                return body[name], place.child(name)
        return None

    def text(self, name: str, default: str = "") -> str:
        """Return an option that is a text."""
        return text((self.find(name) or ("",))[0]) or default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return an option that is true or false; what is neither counts as unsaid."""
        return next((body[name] for body, _ in self._layers if isinstance(body.get(name), bool)), default)

    def over(self, body: Mapping[str, Any], place: Provenance) -> PolicyOptions:
        """Return options that count before these."""
        return PolicyOptions((body, place), *self._layers)


class GeneratorFiles:
    """What a PolicyGenerator may read: below the directory of its kustomization, but for placements.

    Args:
        directory: that of the kustomization.
        build: builds a directory that has a kustomization; returns the objects, and why there may be others.

    Attributes:
        budget: the work that it may cost.
        reached: the files that were read.
    """

    def __init__(
        self,
        directory: str,
        tree: Tree,
        journal: Journal,
        build: Callable[[str, Provenance], tuple[list[Manifest], str]],
    ) -> None:
        self._directory = directory
        self._tree = tree
        self._journal = journal
        self._build = build
        self.budget: Budget = tree.budget
        self.reached: set[str] = set()

    def placements(self, path: str, place: Provenance) -> list[Manifest] | None:
        """Return the objects of the file that a placement is in; None where it was not seen, which is noted."""
        file = join(self._directory, path)
        if file is None:
            self._journal.note(f"{path!r} is outside of the tree", place, code="outside")
            return None
        found = self._file(file)
        if found is None:
            self._journal.note(f"placement file {path!r} does not exist", place, code="missing-file", lacking=file)
        return found

    def note_unnamed(self, message: str, place: Provenance) -> None:
        """Record an object without a name, which is not made."""
        self._journal.note(message, place, code="without-name", rule="GWP720")

    def manifests(self, path: str, place: Provenance) -> tuple[list[Manifest], str]:
        """Return the objects of a file, of a folder without those below it, or of a kustomization, and what is unseen.

        Raises:
            GeneratorRefusedError: the path leads out of the directory, or a document is no object.
        """
        file = join(self._directory, path)
        below = inside(self._directory, "")
        if file is None or not file.startswith(below) or file == self._directory:
            raise GeneratorRefusedError(f"{path!r} does not lie below the directory of the kustomization", place)
        if not self._tree.is_directory(file):
            found = self._file(file)
        elif any(name in self._tree.files.get(file, ()) for name in ("kustomization.yaml", "kustomization.yml")):
            return self._build(file, place)
        else:
            found = []
            for name in sorted(self._tree.files.get(file, ())):
                found += self._file(inside(file, name)) or []
        if found is None:
            self._journal.note(f"manifest {path!r} does not exist", place, code="missing-file", lacking=file)
            return [], f"{path} was not seen"
        return found, ""

    def _file(self, path: str) -> list[Manifest] | None:
        """Return the objects of a file, None if it is not there.

        Raises:
            GeneratorRefusedError: a document of it is no object.
        """
        self.budget.spend(_STEPS)
        documents = self._tree.documents(path)
        if documents is None:
            return None
        self.reached.add(path)
        self.budget.spend(len(self._tree.read(path) or b"") // _LETTERS)
        for document in documents:
            if document.value is not None and not isinstance(document.value, dict):
                raise GeneratorRefusedError("a manifest of a policy is a mapping", Provenance(document))
        return [
            Manifest(document.value, Provenance(document), weight=document.size)
            for document in documents
            if document.value is not None
        ]


class PolicyTemplates(NamedTuple):
    """The policy templates of one policy.

    Args:
        values, origins: the entries of `policy-templates`, and where each is written.
        action: the remediation action on which they agree, "" if they do not; a placeholder where some were not seen.
        incomplete: why there may be others, "" if there are not.
    """

    values: list[dict[str, Any]]
    origins: list[Provenance]
    action: str
    incomplete: str


class _Wrapped(NamedTuple):
    """An entry of `object-templates` and where it is written."""

    value: dict[str, Any]
    origin: Provenance


def policy_templates(policy: PolicyOptions, namespace: str, files: GeneratorFiles) -> PolicyTemplates:
    """Return the policy templates of a policy: its policies as they are, all else in ConfigurationPolicies.

    Raises:
        GeneratorRefusedError: the plugin refuses something of it.
        ExhaustedError: it is more than the budget allows.
    """
    return _Templates(policy, namespace, files).made()


def dependencies(found: tuple[Any, Provenance] | None, namespace: str) -> list[dict[str, Any]]:
    """Return dependencies with what they leave out: they are Policies of the same namespace, and compliant.

    Raises:
        GeneratorRefusedError: one names nothing.
    """
    filled = []
    for number, dependency in enumerate(map(mapping, sequence(found[0])) if found else ()):
        if not text(dependency.get("name")) and found:
            raise GeneratorRefusedError("a dependency has no name", found[1].child(number))
        kind = text(dependency.get("kind")) or "Policy"
        placed = {"namespace": text(dependency.get("namespace")) or (namespace if kind == "Policy" else "")}
        known = {
            "apiVersion": text(dependency.get("apiVersion")) or f"{_OCM}/v1",
            "kind": kind,
            "name": dependency["name"],
            "compliance": text(dependency.get("compliance")) or "Compliant",
        }
        filled.append({**known, **(placed if placed["namespace"] else {})})
    return filled


class _Templates:
    """The templates of one policy while they are made."""

    def __init__(self, policy: PolicyOptions, namespace: str, files: GeneratorFiles) -> None:
        self._policy = policy
        self._namespace = namespace
        self._files = files
        self._values: list[dict[str, Any]] = []
        self._origins: list[Provenance] = []
        self._called: Counter[str] = Counter()
        self._ordered = policy.flag("orderManifests")
        self._consolidated = policy.flag("consolidateManifests", default=not self._ordered)

    def made(self) -> PolicyTemplates:
        policy = self._policy
        listed = list(entries(policy.own, policy.place, "manifests"))
        if not listed:
            raise GeneratorRefusedError(f"the policy {policy.own['name']} has no manifests", policy.place)
        if self._ordered and (self._consolidated or policy.find("extraDependencies")):
            excluded = "consolidateManifests" if self._consolidated else "extraDependencies"
            raise GeneratorRefusedError(f"orderManifests and {excluded} exclude each other", policy.place)
        incomplete = ""
        together: list[_Wrapped] = []
        named = ""
        informing: list[tuple[PolicyOptions, Manifest]] = []
        for entry, place in listed:
            options = policy.over(mapping(entry), place)
            self._check(options, place)
            manifests, unseen = self._manifests(options)
            incomplete = incomplete or unseen
            for manifest in manifests:
                incomplete = incomplete or manifest.provisional
                wrapped = list(self._wrap(manifest, options))
                together += wrapped
                named = named or (text(mapping(entry).get("name")) if wrapped else "")
            informing += ((options, manifest) for manifest in manifests)
        if together:
            self._configuration(policy, together, self._numbered(named))
        if not self._values and not incomplete:
            raise GeneratorRefusedError(f"the manifests of the policy {policy.own['name']} are empty", policy.place)
        for options, manifest in informing:
            for name, objects in _informing(manifest, policy):
                found = [_Wrapped(value, manifest.origin) for value in objects]
                self._configuration(options.over(_INFORMING, options.place), found, name)
        if self._ordered:
            self._order()
        action = _UNKNOWN_ACTION if incomplete else _agreed(self._values)
        return PolicyTemplates(self._values, self._origins, action, incomplete)

    def _check(self, options: PolicyOptions, place: Provenance) -> None:
        """Refuse an entry of `manifests` without a path, or with one that a shared ConfigurationPolicy cannot have."""
        if not text(options.own.get("path")):
            raise GeneratorRefusedError("an entry of manifests has no path", place)
        for name in _OF_A_TEMPLATE if self._consolidated else ():
            value = options.own.get(name)
            if value not in _ABSENT and value != (self._policy.find(name) or (None,))[0]:
                raise GeneratorRefusedError(
                    f"{name} of one manifest needs `consolidateManifests: false`", place.child(name)
                )

    def _manifests(self, options: PolicyOptions) -> tuple[list[Manifest], str]:
        """Return the objects of an entry of `manifests`, patched."""
        path, place = options.own["path"], options.place
        manifests, unseen = self._files.manifests(path, place.child("path"))
        patches = [(mapping(patch), source) for patch, source in entries(options.own, place, "patches")]
        if not patches or unseen:
            return manifests, unseen
        manifests = [manifest.copy() for manifest in manifests]
        for manifest in manifests:
            if not (manifest.api_version and manifest.kind and manifest.name):
                raise GeneratorRefusedError(
                    f"what {path} holds needs an apiVersion, a kind and a name to be patched", place
                )
        if not manifests:
            raise GeneratorRefusedError(f"there is nothing to patch in {path}", place.child("patches"))
        if len(manifests) == 1 == len(patches):
            _rename(manifests[0], *patches[0])
        for patch, source in patches:
            self._patch(patch, source, manifests, path)
        if options.own.get("openapi"):
            unseen = f"the schema of {path}, which says how lists are patched, is not read"
        return manifests, unseen

    def _patch(self, patch: Mapping[str, Any], source: Provenance, manifests: list[Manifest], path: str) -> None:
        """Merge a patch into the object that it names; where there is but one, it need not name it."""
        only = manifests[0] if len(manifests) == 1 else None
        asked = [
            text(written) or (known if only is not None else "")
            for written, known in (
                (patch.get("apiVersion"), only.api_version if only else ""),
                (patch.get("kind"), only.kind if only else ""),
                (mapping(patch.get("metadata")).get("name"), only.name if only else ""),
                (mapping(patch.get("metadata")).get("namespace"), only.namespace if only else ""),
            )
        ]
        if not all(asked[:3]):
            raise GeneratorRefusedError(
                "a patch for one of several manifests has an apiVersion, a kind and a name", source
            )
        asked[3] = asked[3] or "default"
        for number, manifest in enumerate(manifests):
            known = [manifest.api_version, manifest.kind, manifest.name, manifest.namespace or "default"]
            if known == asked:
                self._files.budget.spend(_STEPS + size_of(patch)[0] + manifest.weight // 16)
                core = is_core(manifest.group)
                body, origin = merge(manifest.body, manifest.origin, dict(patch), source, core=core)
                if body is DELETED:
                    del manifests[number]
                else:
                    manifest.body, manifest.origin = body, origin
                return
        raise GeneratorRefusedError(f"this patch is for {asked[1]} {asked[2]}, which {path} does not hold", source)

    def _wrap(self, manifest: Manifest, options: PolicyOptions) -> Iterator[_Wrapped]:
        """Add a policy as a template, and yield what is to be wrapped together with others."""
        body, origin = manifest.body, manifest.origin
        self._files.budget.spend(_STEPS + manifest.weight)
        raw = next((name for name in _RAW if name in body), "")
        if raw and len(body) == 1:
            called = self._numbered(text(options.own.get("name")))
            self._configuration(options, [], called, content={raw: body[raw]}, written=origin)
            return
        if not manifest.api_version or not manifest.kind:
            raise GeneratorRefusedError("a manifest of a policy has an apiVersion and a kind", origin)
        is_ocm = manifest.group == _OCM
        if is_ocm and manifest.kind == "Policy":
            raise GeneratorRefusedError("a Policy cannot be in a policy: apply it to the hub", origin)
        is_gatekeeper = manifest.group == "constraints.gatekeeper.sh" or manifest.kind == "ConstraintTemplate"
        alone = is_gatekeeper and not self._policy.flag("informGatekeeperPolicies", default=True)
        if alone or (is_ocm and manifest.kind.endswith("Policy")):
            self._add(body, origin, options if is_ocm else None)
            return
        wrapped: dict[str, Any] = {"complianceType": options.text("complianceType", "musthave")}
        if metadata_type := options.text("metadataComplianceType"):
            wrapped["metadataComplianceType"] = metadata_type
        wrapped["objectDefinition"] = body
        entry = _Wrapped(wrapped, options.place.with_child("objectDefinition", origin))
        if self._consolidated:
            yield entry
        else:
            self._configuration(options, [entry], self._numbered(text(options.own.get("name"))))

    def _numbered(self, name: str) -> str:
        """Return the name of a ConfigurationPolicy, the policy's by default, with a number from the second one on."""
        base = name or text(self._policy.own["name"])
        self._called[base] += 1
        return f"{base}{self._called[base]}" if self._called[base] > 1 else base

    def _configuration(
        self,
        options: PolicyOptions,
        wrapped: list[_Wrapped],
        called: str,
        content: dict[str, Any] | None = None,
        written: Provenance | None = None,
    ) -> None:
        """Add a ConfigurationPolicy of that name.

        Args:
            content: what it holds instead of wrapped objects, written at `written`.
        """
        place = self._policy.place
        spec: dict[str, Any] = dict(content or {"object-templates": [entry.value for entry in wrapped]})
        listed = place.child("manifests").with_items(entry.origin for entry in wrapped)
        origin = place.with_children({field: (written or place).child(field) for field in content or ()})
        origin = origin.with_child("object-templates", listed) if content is None else origin
        for field in ("evaluationInterval", "namespaceSelector", "pruneObjectBehavior", "customMessage"):
            if known := options.find(field):
                spec[field], origin = known[0], origin.with_child(field, known[1])
        spec["remediationAction"] = options.text("remediationAction", "inform")
        spec["severity"] = options.text("severity", "low")
        for field in ("remediationAction", "severity"):
            origin = origin.with_child(field, (options.find(field) or (None, place))[1])
        metadata: dict[str, Any] = {"name": called}
        if known := options.find("configurationPolicyAnnotations"):
            metadata["annotations"] = known[0]
        body = {"apiVersion": f"{_OCM}/v1", "kind": "ConfigurationPolicy", "metadata": metadata, "spec": spec}
        named = place.with_child("metadata", place.with_child("name", place.child("name")))
        self._add(body, named.with_child("spec", origin), options)

    def _add(self, body: dict[str, Any], origin: Provenance, options: PolicyOptions | None) -> None:
        """Add a template; one of another engine takes no options."""
        template: dict[str, Any] = {"objectDefinition": body}
        if options is not None:
            waits = dependencies(options.find("extraDependencies"), self._namespace)
            template |= {"extraDependencies": waits} if waits else {}
            template |= {"ignorePending": True} if options.flag("ignorePending") else {}
        self._values.append(template)
        self._origins.append(self._policy.place.child("manifests").with_children({"objectDefinition": origin}))

    def _order(self) -> None:
        """Let each template wait for the one before it."""
        for before, template in zip(self._values, self._values[1:], strict=False):
            earlier = before["objectDefinition"]
            wait = {"apiVersion": earlier.get("apiVersion"), "kind": earlier.get("kind"), "compliance": "Compliant"}
            template["extraDependencies"] = [{**wait, "name": mapping(earlier.get("metadata")).get("name")}]


def _rename(manifest: Manifest, patch: Mapping[str, Any], source: Provenance) -> None:
    """Give the only object of a file the name and namespace of its only patch."""
    for field in ("name", "namespace"):
        value = text(mapping(patch.get("metadata")).get(field))
        if value:
            manifest.put(("metadata", field), value, source.at("metadata", field))


def _agreed(templates: list[dict[str, Any]]) -> str:
    """Return the remediation action of all templates that have one; "" where they differ."""
    specs = (mapping(mapping(template["objectDefinition"]).get("spec")) for template in templates)
    written = [spec["remediationAction"] for spec in specs if isinstance(spec.get("remediationAction"), str)]
    actions = {"inform" if action.lower() == "informonly" else action for action in written}
    return actions.pop() if len(actions) == 1 else ""


def _informing(manifest: Manifest, policy: PolicyOptions) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the policies that report what another engine finds: the name of each, and what it wraps."""
    name = manifest.name
    if not name:
        return
    is_kyverno = manifest.api_version == "kyverno.io/v1" and manifest.kind in ("ClusterPolicy", "Policy")
    if is_kyverno and policy.flag("informKyvernoPolicies", default=True):
        failed = {"apiVersion": "wgpolicyk8s.io/v1alpha2", "results": [{"policy": name, "result": "fail"}]}
        kinds = ("ClusterPolicyReport", "PolicyReport")
        yield f"inform-kyverno-{name}", [_unwanted({**failed, "kind": kind}) for kind in kinds]
    is_constraint = manifest.api_version == "constraints.gatekeeper.sh/v1beta1"
    if is_constraint and policy.flag("informGatekeeperPolicies", default=True):
        head = {"apiVersion": manifest.api_version, "kind": manifest.kind, "metadata": {"name": name}}
        audited = {"complianceType": "musthave", "objectDefinition": {**head, "status": {"totalViolations": 0}}}
        yield f"inform-gatekeeper-audit-{name}", [audited]
        denied = {"constraint_action": "deny", "constraint_kind": manifest.kind, "constraint_name": name}
        event = {"apiVersion": "v1", "kind": "Event", "annotations": {**denied, "event_type": "violation"}}
        yield f"inform-gatekeeper-admission-{name}", [_unwanted(event)]


def _unwanted(body: dict[str, Any]) -> dict[str, Any]:
    return {"complianceType": "mustnothave", "objectDefinition": body}
