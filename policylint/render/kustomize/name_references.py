"""References that follow a changed name: kustomize's name references, its own and those of `configurations:`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from policylint.budget import Budget
from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Manifest

_CONTAINERS = ("containers", "initContainers")
_POD_FIELDS = {
    "ConfigMap": (
        "volumes/configMap/name",
        "volumes/projected/sources/configMap/name",
        *(f"{containers}/env/valueFrom/configMapKeyRef/name" for containers in _CONTAINERS),
        *(f"{containers}/envFrom/configMapRef/name" for containers in _CONTAINERS),
    ),
    "Secret": (
        "volumes/secret/secretName",
        "volumes/projected/sources/secret/name",
        "imagePullSecrets/name",
        *(f"{containers}/env/valueFrom/secretKeyRef/name" for containers in _CONTAINERS),
        *(f"{containers}/envFrom/secretRef/name" for containers in _CONTAINERS),
    ),
    "ServiceAccount": ("serviceAccountName",),
    "PersistentVolumeClaim": ("volumes/persistentVolumeClaim/claimName",),
}
_PODS = {
    "Pod": "spec",
    **dict.fromkeys(("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job"), "spec/template/spec"),
    "CronJob": "spec/jobTemplate/spec/template/spec",
}


class NameReference(NamedTuple):
    """A field of one kind that holds the name of another: `referred` kind, `referrer` kind ("" for every), `path`."""

    referred: str
    referrer: str
    path: str


BUILT_IN = (
    *(
        NameReference(referred, pod, f"{place}/{field}")
        for referred, fields in _POD_FIELDS.items()
        for field in fields
        for pod, place in _PODS.items()
    ),
    NameReference("Service", "StatefulSet", "spec/serviceName"),
    NameReference("Service", "Ingress", "spec/rules/http/paths/backend/service/name"),
    NameReference("Service", "Ingress", "spec/defaultBackend/service/name"),
    NameReference("Secret", "Ingress", "spec/tls/secretName"),
    NameReference("Secret", "ServiceAccount", "secrets/name"),
    NameReference("Secret", "ServiceAccount", "imagePullSecrets/name"),
)
"""References that kustomize knows by itself. Gateway API has none among them: a prefix breaks its routes."""


def configured(configuration: Any) -> Iterator[NameReference]:
    """Yield the `nameReference` entries of a `configurations:` file."""
    for entry in sequence(mapping(configuration).get("nameReference")):
        for field in sequence(mapping(entry).get("fieldSpecs")):
            if isinstance(field, dict) and text(field.get("path")):
                yield NameReference(text(entry.get("kind")), text(field.get("kind")), text(field.get("path")))


def follow(manifests: list[Manifest], references: Iterable[NameReference], budget: Budget) -> None:
    """Update the fields that name an object whose name has changed.

    Raises:
        ExhaustedError: that is more than the budget allows.
    """
    renamed: dict[tuple[str, str, str], Manifest] = {}
    for manifest in manifests:
        budget.spend(1 + len(manifest.names))
        for _, name in manifest.names:
            if name != manifest.name and name:
                renamed.setdefault((manifest.kind, name, manifest.namespace or "default"), manifest)
    kinds = {kind for kind, _, _ in renamed}
    by_referrer: dict[str, list[NameReference]] = defaultdict(list)
    for reference in references:
        if reference.referred in kinds:
            by_referrer[reference.referrer].append(reference)
    for referrer in manifests if by_referrer else ():
        for reference in (*by_referrer.get(referrer.kind, ()), *(by_referrer.get("", ()) if referrer.kind else ())):
            budget.spend(1)
            for pointer, name in list(_fields(referrer.body, tuple(reference.path.split("/")), ())):
                # Kustomize leaves a reference into another namespace alone.
                referred = renamed.get((reference.referred, name, referrer.namespace or "default"))
                if referred is not None:
                    budget.spend(1 + referrer.weight // 32)
                    referrer.put(pointer, referred.name, referrer.origin.at(*pointer))


def _fields(value: Any, path: tuple[str, ...], so_far: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts at a path that passes through lists, with their pointers."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, path, (*so_far, index))
    elif not path:
        if isinstance(value, str):
            yield so_far, value
    elif isinstance(value, dict) and path[0] in value:
        yield from _fields(value[path[0]], path[1:], (*so_far, path[0]))
