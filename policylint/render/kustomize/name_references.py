"""References that follow a changed name: kustomize's name references, its own and those of `configurations:`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from policylint.budget import Budget
from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.kustomize.field_specs import FieldSpec, effective_namespace, read
from policylint.render.provenance import Manifest


class NameReferenceError(Exception):
    """A name that may mean several objects; the message is for users."""


class NameReference(NamedTuple):
    """A field that holds the name of another object: what kind that is (its path is nothing), and the field."""

    referred: FieldSpec
    field: FieldSpec


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
    "PriorityClass": ("priorityClassName",),
}
_PODS = {
    "Pod": "spec",
    "PodTemplate": "template/spec",
    **dict.fromkeys(("Deployment", "DaemonSet", "StatefulSet", "Job"), "spec/template/spec"),
    "ReplicaSet": "spec/template/spec",
    "ReplicationController": "spec/template/spec",
    "CronJob": "spec/jobTemplate/spec/template/spec",
}
_OF_DATA = frozenset({*_PODS} - {"ReplicationController"})
"""What is known to name ConfigMaps and Secrets; the others are known to name the rest."""
_OF_OTHERS = frozenset({*_PODS} - {"PodTemplate", "ReplicaSet"})
_RBAC = "rbac.authorization.k8s.io"
_HOOKS = "admissionregistration.k8s.io"
_V1 = {kind: FieldSpec("", kind, version="v1") for kind in ("ConfigMap", "Secret", "Service", "ServiceAccount")}
_V1 |= {kind: FieldSpec("", kind, version="v1") for kind in ("PersistentVolumeClaim", "PersistentVolume")}
_V1 |= {"StorageClass": FieldSpec("", "StorageClass", "storage.k8s.io", "v1")}
_V1 |= {"PriorityClass": FieldSpec("", "PriorityClass", "scheduling.k8s.io", "v1")}
_FIELDS: dict[FieldSpec, dict[str, str]] = {
    **{
        FieldSpec("", kind): {"spec/scaleTargetRef/name": "HorizontalPodAutoscaler"}
        for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
    },
    _V1["ConfigMap"]: {
        "spec/configSource/configMap": "Node",
        "rules/resourceNames": "Role ClusterRole",
        "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap": "Ingress",
    },
    _V1["Secret"]: {
        "spec/tls/secretName": "Ingress",
        "metadata/annotations/ingress.kubernetes.io\\/auth-secret": "Ingress",
        "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret": "Ingress",
        "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret": "Ingress",
        "imagePullSecrets/name": "ServiceAccount",
        "parameters/secretName": "StorageClass",
        "parameters/adminSecretName": "StorageClass",
        "parameters/userSecretName": "StorageClass",
        "parameters/secretRef": "StorageClass",
        "rules/resourceNames": "Role ClusterRole",
        "spec/template/spec/containers/env/valueFrom/secretKeyRef/name": "Service.serving.knative.dev",
        "spec/azureFile/secretName": "PersistentVolume",
    },
    _V1["Service"]: {
        "spec/serviceName": "StatefulSet.apps",
        "spec/rules/http/paths/backend/serviceName": "Ingress",
        "spec/backend/serviceName": "Ingress",
        "spec/rules/http/paths/backend/service/name": "Ingress",
        "spec/defaultBackend/service/name": "Ingress",
        "spec/service/name": "APIService.apiregistration.k8s.io",
        "webhooks/clientConfig/service": " ".join(
            f"{verb}WebhookConfiguration.{_HOOKS}" for verb in ("Validating", "Mutating")
        ),
    },
    FieldSpec("", "Role", _RBAC): {"roleRef/name": f"RoleBinding.{_RBAC}"},
    FieldSpec("", "ClusterRole", _RBAC): {"roleRef/name": f"RoleBinding.{_RBAC} ClusterRoleBinding.{_RBAC}"},
    _V1["ServiceAccount"]: {"subjects": f"RoleBinding.{_RBAC} ClusterRoleBinding.{_RBAC}"},
    _V1["PersistentVolume"]: {"spec/volumeName": "PersistentVolumeClaim", "rules/resourceNames": "ClusterRole"},
    _V1["StorageClass"]: {
        "spec/storageClassName": "PersistentVolume PersistentVolumeClaim",
        "spec/volumeClaimTemplates/spec/storageClassName": "StatefulSet",
    },
    FieldSpec("", "ValidatingAdmissionPolicy", _HOOKS): {
        "spec/policyName": f"ValidatingAdmissionPolicyBinding.{_HOOKS}"
    },
}
BUILT_IN = (
    *(
        NameReference(_V1[referred], FieldSpec(f"{place}/{field}", pod))
        for referred, fields in _POD_FIELDS.items()
        for field in fields
        for pod, place in _PODS.items()
        if pod in (_OF_DATA if referred in ("ConfigMap", "Secret") else _OF_OTHERS)
    ),
    *(
        NameReference(referred, FieldSpec(path, *kind.partition(".")[::2]))
        for referred, fields_ in _FIELDS.items()
        for path, kinds in fields_.items()
        for kind in kinds.split()
    ),
)
"""References that kustomize knows by itself. Gateway API has none among them: a prefix breaks its routes."""


def configured(configuration: Any) -> Iterator[NameReference]:
    """Yield the `nameReference` entries of a `configurations:` file."""
    for entry in map(mapping, sequence(mapping(configuration).get("nameReference"))):
        kind, group, version = (text(entry.get(name)) for name in ("kind", "group", "version"))
        referred = FieldSpec("", kind, group, version)
        for field in read(entry.get("fieldSpecs")):
            if field.path:
                yield NameReference(referred, field)


def follow(manifests: list[Manifest], references: Iterable[NameReference], budget: Budget) -> None:
    """Update the fields that name an object whose name, or namespace, has changed.

    Raises:
        ExhaustedError: that is more than the budget allows.
        NameReferenceError: a name may mean several of them.
        FieldSpecError: a field that shall hold a name holds none.
    """
    former: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        budget.spend(1 + len(manifest.names))
        for name in {name for _, name in manifest.names}:
            former[name].append(manifest)
    originals = set(map(_original, manifests))
    kinds = {manifest.kind for those in former.values() for manifest in those}
    by_referrer: dict[str, list[NameReference]] = defaultdict(list)
    for reference in references:
        if reference.referred.kind in kinds or not reference.referred.kind:
            by_referrer[reference.field.kind].append(reference)
    for referrer in manifests if by_referrer else ():
        for reference in (*by_referrer.get(referrer.kind, ()), *(by_referrer.get("", ()) if referrer.kind else ())):
            budget.spend(1)
            if reference.field.fits(referrer):
                _follow(referrer, reference, former, originals, budget)


def _follow(
    referrer: Manifest, reference: NameReference, former: dict[str, list[Manifest]], originals: set[str], budget: Budget
) -> None:
    for pointer, held in list(_held(referrer.body, reference.field)):
        is_object = isinstance(held, dict)
        name = text(held.get("name")) if is_object else held
        if is_object and not name:
            raise NameReferenceError(f"{reference.field.path} of {referrer} has no name")
        candidates = [
            each
            for each in former.get(name, ())
            if reference.referred.fits(each)
            and _is_near(referrer, each)
            and _is_of_role(referrer, reference.field, each)
        ]
        if is_object and "namespace" in held:
            candidates = _of_namespace(text(held["namespace"]), candidates, originals)
        budget.spend(len(candidates))
        referred = _chosen(referrer, name, candidates, with_namespace=is_object)
        if referred is None:
            continue
        budget.spend(1 + referrer.weight // 32)
        if is_object:
            referrer.put((*pointer, "name"), referred.name, referrer.origin.at(*pointer, "name"))
            if referred.namespace:
                place = referred.origin.at("metadata", "namespace")
                referrer.put((*pointer, "namespace"), referred.namespace, place)
        elif referred.name != name:
            referrer.put(pointer, referred.name, referrer.origin.at(*pointer))


def _held(body: Any, field: FieldSpec) -> Iterator[tuple[Pointer, Any]]:
    """Yield what a field holds, each item of a list on its own."""
    for pointer in field.places(body):
        value = body
        for step in pointer:
            value = value[step]
        items = enumerate(value) if isinstance(value, list) else None
        for place, item in (
            [(pointer, value)] if items is None else [((*pointer, index), item) for index, item in items]
        ):
            if isinstance(item, (str, dict)):
                yield place, item


def _is_near(referrer: Manifest, referred: Manifest) -> bool:
    """Return whether an object may be named: in the same namespace, without one, or a subject of a binding."""
    places = [effective_namespace(each, each.namespace) for each in (referrer, referred)]
    if "" in places or places[0] == places[1]:
        return True
    subjects = map(mapping, sequence(referrer.body.get("subjects"))) if referrer.kind == "RoleBinding" else ()
    named = {text(each.get("namespace")) for each in subjects if each.get("kind") == "ServiceAccount"}
    return referred.kind == "ServiceAccount" and referred.namespace in named


def _is_of_role(referrer: Manifest, field: FieldSpec, referred: Manifest) -> bool:
    role = mapping(referrer.body.get("roleRef"))
    if not field.path.endswith("roleRef/name") or "apiGroup" not in role or "kind" not in role:
        return True
    return text(role["apiGroup"]) in ("", referred.group) and role["kind"] == referred.kind


def _original(manifest: Manifest) -> str:
    return effective_namespace(manifest, manifest.names[0][0] if manifest.names else manifest.namespace)


def _of_namespace(namespace: str, candidates: list[Manifest], originals: set[str]) -> list[Manifest]:
    """Return those that were in a namespace at first, where anything was; otherwise those that are in it."""
    if namespace in originals:
        return [each for each in candidates if _original(each) == namespace]
    return [each for each in candidates if effective_namespace(each, each.namespace) == namespace]


def _chosen(referrer: Manifest, name: str, candidates: list[Manifest], *, with_namespace: bool) -> Manifest | None:
    """Return the object that is meant: the only one, or the one that was renamed along with what names it.

    Raises:
        NameReferenceError: there are several.
    """
    if len(candidates) < 2:
        return next(iter(candidates), None)
    candidates = [each for each in candidates if _same_affixes(referrer, each, lenient=True)]
    if len(candidates) > 1:
        candidates = [each for each in candidates if _same_affixes(referrer, each, lenient=False)]
    if len({(each.name, each.namespace if with_namespace else "") for each in candidates}) > 1:
        raise NameReferenceError(f"{name} of {referrer} may be {' or '.join(map(str, candidates))}")
    return next(iter(candidates), None)


def _same_affixes(one: Manifest, other: Manifest, *, lenient: bool) -> bool:
    pairs = [
        ([each[side] for each in one.affixes if each[side]], [each[side] for each in other.affixes if each[side]])
        for side in (0, 1)
    ]
    return all((lenient and (not mine or not theirs)) or _same_end(mine, theirs) for mine, theirs in pairs)


def _same_end(mine: list[str], theirs: list[str]) -> bool:
    short = min(len(mine), len(theirs))
    return mine == theirs if not short else mine[-short:] == theirs[-short:]
