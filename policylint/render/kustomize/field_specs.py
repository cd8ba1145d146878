"""The fields that kustomize's transformers change, by kind: its own lists, and what `configurations:` add to them.

Source: kustomize, `api/internal/konfig/builtinpluginconsts` and `api/filters/fieldspec`, as of v5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import MAX_DEPTH, Pointer
from policylint.model import mapping, sequence, text
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Manifest


class FieldSpecError(Exception):
    """Fields that kustomize refuses to change; the message is for users."""


class FieldSpec(NamedTuple):
    """A field of a kind; "" stands for any kind, group and version.

    Args:
        path: with `/` between its steps, through lists without a step of their own.
        create: whether it is made where it is missing.
    """

    path: str
    kind: str = ""
    group: str = ""
    version: str = ""
    create: bool = False

    def fits(self, manifest: Manifest) -> bool:
        return (
            self.kind in ("", manifest.kind)
            and self.group in ("", manifest.group)
            and self.version in ("", manifest.version)
        )

    def within(self, other: FieldSpec) -> bool:
        """Return whether this is the other field, of the same kinds or of fewer."""
        return (
            self.path == other.path
            and other.kind in ("", self.kind)
            and other.group in ("", self.group)
            and other.version in ("", self.version)
        )

    def places(self, body: Any) -> Iterator[Pointer]:
        """Yield where the field is, or would be, in an object.

        Raises:
            FieldSpecError: a text, number or boolean is in its way.
        """
        steps = steps_of(self.path)
        if 0 < len(steps) < MAX_DEPTH:
            yield from _places(body, steps, (), create=self.create)


KNOWN_WITHOUT_NAMESPACE = frozenset(
    (group, kind)
    for group, kind in CLUSTER_SCOPED
    if group == "" or (group.endswith(".k8s.io") and not group.endswith(".networking.k8s.io"))
)
"""The cluster-scoped kinds whose schema kustomize knows; it takes all others for namespaced."""


def effective_namespace(manifest: Manifest, namespace: str) -> str:
    """Return the namespace that an object is in with a namespace, as kustomize tells objects apart; "" for none."""
    return "" if (manifest.group, manifest.kind) in KNOWN_WITHOUT_NAMESPACE else namespace or "default"


Specs = Mapping[str, tuple[FieldSpec, ...]]
"""Field of a kustomization, or of a configuration → what it changes."""


def merged(known: tuple[FieldSpec, ...], more: Iterable[FieldSpec]) -> tuple[FieldSpec, ...]:
    """Return both, each field once: where it is there for the same kinds, it stays as it is.

    Raises:
        FieldSpecError: one is made where it is missing, and the same one is not.
    """
    for new in more:
        same = next((each for each in known if each.within(new)), None)
        if same is None:
            known = (*known, new)
        elif same.create != new.create:
            raise FieldSpecError(f"field {new.path} has two settings of `create`")
    return known


def read(entries: Any) -> Iterator[FieldSpec]:
    """Yield the fields that a list of field specs states."""
    for entry in map(mapping, sequence(entries)):
        path, kind, group, version = (text(entry.get(name)) for name in ("path", "kind", "group", "version"))
        yield FieldSpec(path, kind, group, version, entry.get("create") is True)


def steps_of(path: str) -> tuple[str, ...]:
    """Return the steps of a path, in which `\\/` is a slash of a name."""
    parts = path.replace("\\/", "\0").split("/")
    return tuple(part.replace("\0", "/") for part in parts if part)


def _places(value: Any, steps: tuple[str, ...], so_far: Pointer, *, create: bool) -> Iterator[Pointer]:
    if not steps:
        yield so_far
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, steps, (*so_far, index), create=create)
    elif isinstance(value, dict):
        name = steps[0].removesuffix("[]")
        if value.get(name) is not None:
            yield from _places(value[name], steps[1:], (*so_far, name), create=create)
        elif create and name == steps[0] and all(not step.endswith("[]") for step in steps):
            yield (*so_far, *steps)
    elif value is not None:
        raise FieldSpecError(f"field {'/'.join(map(str, so_far))} holds no fields")


_PODS = {
    ("Deployment", ""): "spec/template",
    ("ReplicaSet", ""): "spec/template",
    ("DaemonSet", ""): "spec/template",
    ("StatefulSet", "apps"): "spec/template",
    ("ReplicationController", ""): "spec/template",
    ("Job", "batch"): "spec/template",
    ("CronJob", "batch"): "spec/jobTemplate/spec/template",
}


def _templates(what: str) -> tuple[FieldSpec, ...]:
    own = (FieldSpec(f"metadata/{what}", create=True),)
    jobs = FieldSpec(f"spec/jobTemplate/metadata/{what}", "CronJob", "batch", create=True)
    pods = (FieldSpec(f"{place}/metadata/{what}", *of, create=True) for of, place in _PODS.items())
    return (*own, jobs, *pods)


_AFFINITIES = (
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "topologySpreadConstraints/labelSelector/matchLabels",
)
_CLAIMS = (FieldSpec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", "apps", create=True),)
_NETWORK = ("spec/podSelector", "spec/ingress/from/podSelector", "spec/egress/to/podSelector")
BUILT_IN: Specs = {
    "templateLabels": _templates("labels"),
    "volumeClaimTemplateLabels": _CLAIMS,
    "commonAnnotations": _templates("annotations"),
    "commonLabels": (
        FieldSpec("spec/selector", "Service", version="v1", create=True),
        FieldSpec("spec/selector", "ReplicationController", version="v1", create=True),
        *(
            FieldSpec("spec/selector/matchLabels", kind, create=True)
            for kind in ("Deployment", "ReplicaSet", "DaemonSet")
        ),
        FieldSpec("spec/selector/matchLabels", "StatefulSet", "apps", create=True),
        *(
            FieldSpec(f"spec/template/spec/{path}", kind, "apps")
            for kind in ("Deployment", "StatefulSet")
            for path in _AFFINITIES
        ),
        FieldSpec("spec/selector/matchLabels", "Job", "batch"),
        FieldSpec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
        FieldSpec("spec/selector/matchLabels", "PodDisruptionBudget", "policy"),
        *(FieldSpec(f"{path}/matchLabels", "NetworkPolicy", "networking.k8s.io") for path in _NETWORK),
        *_templates("labels"),
        *_CLAIMS,
    ),
    "namePrefix": (FieldSpec("metadata/name"),),
    "nameSuffix": (FieldSpec("metadata/name"),),
    "namespace": (
        FieldSpec("metadata/name", "Namespace", create=True),
        FieldSpec("spec/service/namespace", "APIService", "apiregistration.k8s.io", create=True),
        FieldSpec(
            "spec/conversion/webhook/clientConfig/service/namespace", "CustomResourceDefinition", "apiextensions.k8s.io"
        ),
    ),
    "replicas": tuple(
        FieldSpec("spec/replicas", kind, create=True)
        for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
    ),
    "images": (
        *(
            FieldSpec(f"spec/{template}{field}")
            for template in ("", "template/spec/")
            for field in ("containers[]/image", "initContainers[]/image", "volumes[]/image/reference")
        ),
        FieldSpec("spec/jobTemplate/spec/template/spec/volumes[]/image/reference"),
    ),
}
