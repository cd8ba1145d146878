"""References that follow a changed name: kustomize's name references, its own and those of `configurations:`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Manifest

_POD_FIELDS = {
    "ConfigMap": (
        "volumes/configMap/name",
        "containers/env/valueFrom/configMapKeyRef/name",
        "containers/envFrom/configMapRef/name",
        "initContainers/env/valueFrom/configMapKeyRef/name",
        "initContainers/envFrom/configMapRef/name",
        "volumes/projected/sources/configMap/name",
    ),
    "Secret": (
        "volumes/secret/secretName",
        "containers/env/valueFrom/secretKeyRef/name",
        "containers/envFrom/secretRef/name",
        "initContainers/env/valueFrom/secretKeyRef/name",
        "initContainers/envFrom/secretRef/name",
        "imagePullSecrets/name",
        "volumes/projected/sources/secret/name",
    ),
    "ServiceAccount": ("serviceAccountName",),
    "PersistentVolumeClaim": ("volumes/persistentVolumeClaim/claimName",),
}
_PODS = {
    "Pod": "spec",
    "Deployment": "spec/template/spec",
    "ReplicaSet": "spec/template/spec",
    "DaemonSet": "spec/template/spec",
    "StatefulSet": "spec/template/spec",
    "Job": "spec/template/spec",
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
"""What kustomize knows by itself. No field of Gateway API is among it: a prefix breaks the references of routes."""


def configured(configuration: Any) -> Iterator[NameReference]:
    """The `nameReference` entries of a `configurations:` file."""
    for entry in sequence(mapping(configuration).get("nameReference")):
        for field in sequence(mapping(entry).get("fieldSpecs")):
            if isinstance(field, dict) and text(field.get("path")):
                yield NameReference(text(entry.get("kind")), text(field.get("kind")), text(field.get("path")))


def follow(manifests: list[Manifest], references: Iterable[NameReference]) -> None:
    """Update the fields that name an object whose name has changed."""
    renamed: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for each in manifests:
        for _, name in each.names:
            if name != each.name and name:
                renamed[each.kind, name].append(each)
    if not renamed:
        return
    kinds = {kind for kind, _ in renamed}
    by_referrer: dict[str, list[NameReference]] = defaultdict(list)
    for reference in references:
        if reference.referred in kinds:
            by_referrer[reference.referrer].append(reference)
    if not by_referrer:
        return
    for each in manifests:
        for reference in (*by_referrer.get(each.kind, ()), *(by_referrer.get("", ()) if each.kind else ())):
            for pointer, name in list(_fields(each.body, tuple(reference.path.split("/")), ())):
                found = _meant(renamed.get((reference.referred, name), []), each)
                if found is not None:
                    each.put(pointer, found.name, each.trace.at(pointer))


def _meant(candidates: list[Manifest], referrer: Manifest) -> Manifest | None:
    """The renamed object of the referrer's own namespace; kustomize leaves a reference into another one alone."""
    namespace = referrer.namespace or "default"
    return next((each for each in candidates if (each.namespace or "default") == namespace), None)


def _fields(value: Any, path: tuple[str, ...], so_far: Pointer) -> Iterator[tuple[Pointer, str]]:
    """The texts at a path that passes through lists."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _fields(each, path, (*so_far, index))
    elif not path:
        if isinstance(value, str):
            yield so_far, value
    elif isinstance(value, dict) and path[0] in value:
        yield from _fields(value[path[0]], path[1:], (*so_far, path[0]))
