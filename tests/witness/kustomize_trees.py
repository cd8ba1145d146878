"""A grammar of trees for kustomize: bases, components and overlays, with every field that changes objects."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.witness.grammar import Draw, Manifest, manifest, name_of

NAMES = ("shop", "web", "api")
NAMESPACES = ("", "", "", "shop", "web", "default")
LABELS = {"app": ("shop", "web"), "tier": ("front", "back"), "team": ("a", "b"), "on": ("true", "1")}
_WITHOUT_NAMESPACE = ("ClusterRole", "ClusterRoleBinding", "GatewayClass", "IngressClass", "Namespace")
_WITHOUT_NAMESPACE += ("ValidatingWebhookConfiguration",)
FILES = {
    "app.env": "MODE=fast\n# a comment\n\nLEVEL=2\n",
    "text.txt": "several\nlines: of text\n",
    "a.json": '{"a": [1]}',
}
"""Files that generators read."""
ADDRESS = "https://example.com/base.yaml"


def file(path: str, *documents: Any, text: str = "") -> Manifest:
    """Return a file of a tree as the shrinker takes it: an object whose name is its path."""
    content = {"documents": list(documents)} if documents else {"text": text}
    return {"apiVersion": "v1", "kind": "File", "metadata": {"name": path}, **content}


def link(path: str, target: str) -> Manifest:
    """Return a symbolic link of a tree."""
    return {"apiVersion": "v1", "kind": "File", "metadata": {"name": path}, "link": target}


def links(files: Sequence[Manifest]) -> dict[str, str]:
    """Return where the links of a tree lead, by path."""
    return {each["metadata"]["name"]: each["link"] for each in files if "link" in each}


def texts(files: Sequence[Manifest]) -> dict[str, str]:
    """Return what the files hold, by path."""
    return {
        each["metadata"]["name"]: "---\n".join(
            document if isinstance(document, str) else json.dumps(document, indent=1) + "\n"
            for document in each.get("documents", [each.get("text", "")])
        )
        for each in files
        if "link" not in each
    }


def tree(seed: str, number: int) -> list[Manifest]:
    """Return the files of one tree; the last one is the kustomization that is built."""
    draw = Draw("kustomize", seed, number)
    files: list[Manifest] = []
    known: list[Manifest] = []
    bases = [_directory(draw, f"base{index}", files, known, []) for index in range(draw.one(1, 1, 2))]
    parts = [
        _directory(draw, f"part{index}", files, known, [], is_component=True) for index in range(draw.one(0, 0, 1, 2))
    ]
    if draw.often(0.15) and len(bases) > 1:
        bases[1:] = []
    path = _directory(draw, "app", files, known, bases, parts)
    if draw.often(0.4):
        path = _directory(draw, "prod", files, known, [path], parts if draw.often(0.2) else [])
    return files


def _directory(
    draw: Draw,
    path: str,
    files: list[Manifest],
    known: list[Manifest],
    bases: list[str],
    parts: Sequence[str] = (),
    is_component: bool = False,
) -> str:
    """Add a directory with its kustomization to the files, and its objects to the known ones."""
    own: list[Manifest] = []
    for _ in range(draw.number(0 if bases or is_component else 2, 1 if is_component else 4)):
        made = an_object(draw)
        if all(_id(made) != _id(each) for each in (*own, *known)) or draw.often(0.02):
            own.append(made)
    named = []
    for index, each in enumerate(own):
        same = index and draw.often(0.15)
        if same:
            files[-1]["documents"].append(each)
        else:
            named.append(f"{each['kind'].lower()}{index}.{draw.one('yaml', 'yaml', 'yml', 'json')}")
            files.append(file(f"{path}/{named[-1]}", each))
    if named and draw.often(0.05):
        wrapped = {"apiVersion": "v1", "kind": "List", "items": files[-1]["documents"]}
        files[-1]["documents"] = [wrapped]
    known += own
    body: dict[str, Any] = {}
    if draw.often(0.8):
        version = "v1alpha1" if is_component else "v1beta1"
        body = {"apiVersion": f"kustomize.config.k8s.io/{version}"}
    if body or is_component:
        body["kind"] = "Component" if is_component else "Kustomization"
    resources = [*(f"../{each}{draw.one('', '/')}" for each in bases), *named]
    if draw.often(0.03):
        resources.append(ADDRESS)
    if draw.often(0.02) and resources:
        resources.append(draw.of(resources))
    if not resources and not parts:
        body["labels"] = [{"pairs": {"team": "c"}}]
    field = "bases" if draw.often(0.03) else "resources"
    body |= {field: resources} if resources else {}
    body |= {"components": [f"../{each}" for each in parts]} if parts else {}
    extra = [file(f"{path}/{name}", text=text) for name, text in FILES.items()]
    for chance, make in _FIELDS:
        if draw.often(chance * (0.7 if bases else 0.4)):
            made, more = make(draw, known)
            body |= made
            extra += [file(f"{path}/{name}", *documents) for name, documents in more.items()]
    mentioned = json.dumps(body)
    files += [each for each in extra if each["metadata"]["name"].rpartition("/")[2] in mentioned]
    name = draw.one(*["kustomization.yaml"] * 4, "kustomization.yml", "Kustomization")
    if draw.often(0.01):
        files.append(file(f"{path}/kustomization.yml", {"resources": []}))
    files.append(file(f"{path}/{name}", body))
    return path


def _id(made: Manifest) -> str:
    return name_of(made).replace(" default/", " /")


def an_object(draw: Draw) -> Manifest:
    name, namespace = draw.of(NAMES), draw.of(NAMESPACES)
    version, kind, make = draw.of(_KINDS)
    namespace = "" if kind in _WITHOUT_NAMESPACE else namespace
    made = manifest(version, kind, name, namespace, labels=_labels(draw, 0.5), **make(draw, name))
    if draw.often(0.2):
        made["metadata"]["annotations"] = {"note": draw.one("x", "y"), **draw.maybe(0.2, "example.com/a", "b/c")}
    if draw.often(0.02):
        made["metadata"].setdefault("annotations", {})["config.kubernetes.io/local-config"] = "true"
    return made


def _labels(draw: Draw, chance: float) -> dict[str, str]:
    return {key: draw.of(values) for key, values in LABELS.items() if draw.often(chance)}


def _pod(draw: Draw) -> dict[str, Any]:
    return {
        **draw.maybe(0.4, "serviceAccountName", draw.of(NAMES)),
        **draw.maybe(0.2, "imagePullSecrets", [{"name": draw.of(NAMES)}]),
        **draw.maybe(0.1, "priorityClassName", draw.of(NAMES)),
        **draw.maybe(0.2, "initContainers", [{"name": "first", "image": draw.of(_IMAGES)}]),
        "containers": [_container(draw, name) for name in draw.some(("main", "side"), 2)],
        **draw.maybe(0.4, "volumes", [_volume(draw, name) for name in draw.some(("data", "conf"), 2)]),
        **draw.maybe(0.1, "topologySpreadConstraints", [_spread(draw)]),
    }


_IMAGES = ("nginx", "nginx:1.25", "example.com/nginx:1", "example.com:5000/team/api:2@sha256:ab", "redis:7")


def _spread(draw: Draw) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": _labels(draw, 0.5)},
    }


def _container(draw: Draw, name: str) -> dict[str, Any]:
    reference = draw.one("configMap", "secret")
    values = [
        {"name": "A", "value": "1"},
        {"name": "B", "valueFrom": {f"{reference}KeyRef": {"name": draw.of(NAMES), "key": "k"}}},
    ]
    return {
        "name": name,
        "image": draw.of(_IMAGES),
        **draw.maybe(0.4, "env", draw.some(values, 2)),
        **draw.maybe(0.3, "envFrom", [{f"{draw.one('configMap', 'secret')}Ref": {"name": draw.of(NAMES)}}]),
        **draw.maybe(0.4, "ports", [{"containerPort": port} for port in draw.some((80, 8080), 2)]),
        **draw.maybe(0.2, "args", ["--a", draw.one("$(NAME)", "b")]),
        **draw.maybe(0.2, "volumeMounts", [{"name": "data", "mountPath": "/data"}]),
    }


def _volume(draw: Draw, name: str) -> dict[str, Any]:
    return {
        "name": name,
        **draw.one(
            {"configMap": {"name": draw.of(NAMES)}},
            {"secret": {"secretName": draw.of(NAMES)}},
            {"persistentVolumeClaim": {"claimName": draw.of(NAMES)}},
            {"projected": {"sources": [{"configMap": {"name": draw.of(NAMES)}}, {"secret": {"name": draw.of(NAMES)}}]}},
            {"emptyDir": {}},
        ),
    }


def _template(draw: Draw) -> dict[str, Any]:
    return {**draw.maybe(0.7, "metadata", {"labels": _labels(draw, 0.6)}), "spec": _pod(draw)}


def _workload(draw: Draw, _: str) -> dict[str, Any]:
    selector = draw.maybe(0.8, "selector", {"matchLabels": _labels(draw, 0.5)})
    return {"spec": {**draw.maybe(0.5, "replicas", 1), **selector, "template": _template(draw)}}


def _stateful(draw: Draw, _: str) -> dict[str, Any]:
    made = _workload(draw, "")
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": draw.of(NAMES)}}
    made["spec"] |= {"serviceName": draw.of(NAMES), **draw.maybe(0.4, "volumeClaimTemplates", [claim])}
    return made


def _service(draw: Draw, _: str) -> dict[str, Any]:
    ports = [
        {"port": 80, "name": "http", "targetPort": 8080},
        {"port": 443, "name": "tls"},
        {"port": 80, "protocol": "UDP"},
    ]
    return {"spec": {**draw.maybe(0.8, "selector", _labels(draw, 0.5)), "ports": draw.some(ports, 2)}}


def _ingress(draw: Draw, name: str) -> dict[str, Any]:
    backend = {"service": {"name": draw.of(NAMES), "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {
        "spec": {
            **draw.maybe(0.3, "ingressClassName", draw.of(NAMES)),
            **draw.maybe(0.3, "defaultBackend", copy.deepcopy(backend)),
            "rules": [{"host": f"{name}.example.com", "http": {"paths": [path]}}],
            **draw.maybe(0.4, "tls", [{"hosts": [f"{name}.example.com"], "secretName": draw.of(NAMES)}]),
        }
    }


def _route(draw: Draw, name: str) -> dict[str, Any]:
    rules = [
        {"name": each, "backendRefs": [{"name": draw.of(NAMES), "port": 80}]} for each in draw.some(("one", "two"), 2)
    ]
    return {"spec": {"hostnames": [f"{name}.example.com"], "parentRefs": [{"name": draw.of(NAMES)}], "rules": rules}}


def _gateway(draw: Draw, _: str) -> dict[str, Any]:
    listeners = [{"name": each, "port": 80, "protocol": "HTTP"} for each in draw.some(("a", "b"), 2)]
    return {"spec": {"gatewayClassName": draw.of(NAMES), "listeners": listeners}}


def _policy(draw: Draw, _: str) -> dict[str, Any]:
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": draw.of(NAMES)}
    return {
        "spec": {
            "targetRefs": [target],
            "cors": {"allowOrigins": ["https://a.example"]},
            **draw.maybe(0.3, "weight", 0.5),
        }
    }


def _network_policy(draw: Draw, _: str) -> dict[str, Any]:
    peer = {"podSelector": {"matchLabels": _labels(draw, 0.5)}}
    return {"spec": {"podSelector": draw.one({}, {"matchLabels": _labels(draw, 0.6)}), "ingress": [{"from": [peer]}]}}


def _data(draw: Draw, _: str) -> dict[str, Any]:
    return {"data": {"k": draw.one("v", "w", "true"), **draw.maybe(0.3, "other", "x")}}


def _secret(draw: Draw, _: str) -> dict[str, Any]:
    return draw.one(
        {"data": {"k": "dg=="}},
        {"stringData": {"k": "v"}, "type": "Opaque"},
        {"data": {"a": "YQ=="}, "stringData": {"k": "v"}},
    )


def _scaler(draw: Draw, _: str) -> dict[str, Any]:
    kind = draw.one("Deployment", "StatefulSet")
    return {
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": draw.of(NAMES)}, "maxReplicas": 3}
    }


def _binding(draw: Draw, _: str) -> dict[str, Any]:
    subject = {
        "kind": "ServiceAccount",
        "name": draw.one(*NAMES, "default"),
        **draw.maybe(0.5, "namespace", draw.one("shop", "web")),
    }
    kind = draw.one("Role", "ClusterRole")
    return {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": draw.of(NAMES)},
        "subjects": [subject],
    }


def _rules(draw: Draw, _: str) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "resources": ["secrets"],
        "verbs": ["get"],
        **draw.maybe(0.6, "resourceNames", [draw.of(NAMES)]),
    }
    return {"rules": [rule]}


def _hook(draw: Draw, _: str) -> dict[str, Any]:
    service = {"name": draw.of(NAMES), "namespace": draw.one("shop", "web", "default")}
    return {"webhooks": [{"name": "a.example.com", "clientConfig": {"service": service}}]}


def _nothing(draw: Draw, name: str) -> dict[str, Any]:
    return draw.one({}, {"spec": {"a": name}})


_KINDS: Sequence[tuple[str, str, Callable[[Draw, str], dict[str, Any]]]] = (
    *[("v1", "Service", _service)] * 4,
    *[("apps/v1", "Deployment", _workload)] * 4,
    ("apps/v1", "DaemonSet", _workload),
    ("apps/v1", "StatefulSet", _stateful),
    ("batch/v1", "Job", _workload),
    (
        "batch/v1",
        "CronJob",
        lambda draw, name: {"spec": {"schedule": "* * * * *", "jobTemplate": _workload(draw, name)}},
    ),
    ("v1", "Pod", lambda draw, _: {"spec": _pod(draw)}),
    *[("gateway.networking.k8s.io/v1", "HTTPRoute", _route)] * 4,
    *[("gateway.networking.k8s.io/v1", "Gateway", _gateway)] * 2,
    ("gateway.networking.k8s.io/v1", "GatewayClass", _nothing),
    *[("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", _policy)] * 3,
    *[("networking.k8s.io/v1", "Ingress", _ingress)] * 2,
    ("networking.k8s.io/v1", "IngressClass", _nothing),
    *[("networking.k8s.io/v1", "NetworkPolicy", _network_policy)] * 2,
    *[("v1", "ConfigMap", _data)] * 3,
    *[("v1", "Secret", _secret)] * 2,
    ("v1", "ServiceAccount", lambda draw, _: draw.maybe(0.5, "imagePullSecrets", [{"name": draw.of(NAMES)}])),
    ("v1", "Namespace", _nothing),
    ("v1", "PersistentVolumeClaim", lambda draw, _: {"spec": draw.maybe(0.5, "storageClassName", draw.of(NAMES))}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", _scaler),
    (
        "policy/v1",
        "PodDisruptionBudget",
        lambda draw, _: {"spec": {"selector": {"matchLabels": _labels(draw, 0.5)}}},
    ),
    ("rbac.authorization.k8s.io/v1", "Role", _rules),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", _rules),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", _binding),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", _binding),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", _hook),
    ("example.com/v1", "Thing", _nothing),
)

Made = tuple[dict[str, Any], dict[str, list[Any]]]
"""Fields of a kustomization, and the files that they name."""


def _generator(draw: Draw, known: Sequence[Manifest], kind: str) -> dict[str, Any]:
    there = [each["metadata"] for each in known if each["kind"] == kind]
    name, namespace, behaviour = draw.one("web", "settings", "settings"), draw.one("", "", "shop"), {}
    if there and draw.often(0.6):
        one = draw.of(there)
        name, namespace = one["name"], one.get("namespace", "")
        behaviour = draw.maybe(0.95, "behavior", draw.one("merge", "replace"))
    elif draw.often(0.1):
        behaviour = {"behavior": draw.one("create", "merge")}
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **behaviour,
        **draw.maybe(0.7, "literals", draw.some(("a=b", "k=<&é>", "q='quoted'", "e=", "n=1"), 3)),
        **draw.maybe(0.3, "files", draw.some(("text.txt", "other=text.txt", "a.json"), 2)),
        **draw.maybe(0.2, "envs", ["app.env"]),
        **draw.maybe(0.05, "env", "app.env"),
        **(draw.maybe(0.3, "type", draw.one("Opaque", "kubernetes.io/tls")) if kind == "Secret" else {}),
        **draw.maybe(0.3, "options", _options(draw)),
    }


def _options(draw: Draw) -> dict[str, Any]:
    return {
        **draw.maybe(0.5, "labels", _labels(draw, 0.4)),
        **draw.maybe(0.3, "annotations", {"made": "x"}),
        **draw.maybe(0.5, "disableNameSuffixHash", draw.one(True, True, False)),
        **draw.maybe(0.15, "immutable", True),
    }


def _patch(draw: Draw, known: Sequence[Manifest]) -> dict[str, Any]:
    one = draw.of(known)
    if draw.often(0.5):
        operations = [_operation(draw, one) for _ in range(draw.one(1, 1, 2))]
        return {"target": _target(draw, one), "patch": json.dumps(operations)}
    part = {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": {"name": one["metadata"]["name"]}}
    if "namespace" in one["metadata"] and draw.often(0.95):
        part["metadata"]["namespace"] = one["metadata"]["namespace"]
    if draw.often(0.1):
        part["$patch"] = "delete"
    else:
        part["metadata"] |= draw.maybe(0.4, "labels", {draw.one("app", "new"): draw.one("x", None)})
        part["metadata"] |= draw.maybe(0.3, "annotations", {"note": draw.one("z", None)})
        part |= draw.maybe(0.8, *_changed(draw, one))
    made: dict[str, Any] = {"patch": json.dumps(part)}
    if draw.often(0.4):
        made["target"] = _target(draw, one)
        if draw.often(0.3):
            part["metadata"]["name"] = "renamed"
            made["patch"] = json.dumps(part)
            made |= draw.maybe(0.6, "options", {"allowNameChange": True})
            made["target"]["kind"] = one["kind"]
    return made


def _changed(draw: Draw, one: Manifest) -> tuple[str, Any]:
    """Return a field of an object and what a patch makes of it."""
    field = next((each for each in ("spec", "data", "rules", "webhooks", "roleRef") if each in one), "spec")
    part = copy.deepcopy(one.get(field, {}))
    if not isinstance(part, dict):
        return field, draw.one(part, [], None)
    for name in list(part):
        if draw.often(0.5):
            del part[name]
        elif draw.often(0.2):
            part[name] = None
        elif isinstance(part[name], list) and draw.often(0.5):
            part[name] = [_similar(draw, each) for each in part[name][:1]]
        elif isinstance(part[name], dict) and draw.often(0.3):
            part[name] = {**part[name], **draw.one({"new": "x"}, {"$patch": "replace"}, {"app": None})}
    if part.get("template"):
        containers = [
            {
                "name": draw.one("main", "new"),
                "image": "patched:1",
                **draw.maybe(0.3, "env", [{"name": "A", "value": "2"}]),
            }
        ]
        containers += [{"name": "side", "$patch": "delete"}] if draw.often(0.3) else []
        part["template"] = {
            "spec": {"containers": containers, **draw.maybe(0.3, "volumes", [{"name": "data", "emptyDir": {}}])}
        }
    return field, part


def _similar(draw: Draw, item: Any) -> Any:
    if not isinstance(item, dict):
        return draw.one(item, "other")
    return {name: value for name, value in item.items() if draw.often(0.8)} | draw.maybe(
        0.3, "name", draw.one("new", "http")
    )


def _target(draw: Draw, one: Manifest) -> dict[str, Any]:
    group, _, version = one["apiVersion"].rpartition("/")
    name, namespace = one["metadata"]["name"], one["metadata"].get("namespace", "")
    made = {
        **draw.maybe(0.9, "kind", draw.one(one["kind"], one["kind"], one["kind"], one["kind"][:4] + ".*")),
        **draw.maybe(0.6, "name", draw.one(name, name, name[0] + ".*", f"(p-)?{name}", ".*")),
        **draw.maybe(0.2 if namespace else 0.05, "namespace", draw.one(namespace or "default", ".*", "shop|web")),
        **draw.maybe(0.2 if group else 0.05, "group", group),
        **draw.maybe(0.1, "version", version),
        **draw.maybe(
            0.1, "labelSelector", draw.one("app=shop", "app in (shop,web)", "!tier", "team!=a", "app=web,on=true")
        ),
        **draw.maybe(0.05, "annotationSelector", draw.one("note", "note=x", "note!=x")),
    }
    return made or {"kind": one["kind"]}


def _operation(draw: Draw, one: Manifest) -> dict[str, Any]:
    """Return an operation whose path is in the object, but for a few."""
    places = _pointers(one)
    path = draw.of(places)
    if draw.often(0.3) and "labels" in one["metadata"]:
        path = "/metadata/labels/" + draw.one(*one["metadata"]["labels"], "new")
    kind = draw.one("add", "add", "add", "replace", "replace", "replace", "test", "copy", draw.one("move", "remove"))
    if path.count("/") < 2:
        path, kind = "/metadata/annotations", "add"
    held: Any = one
    for step in path.split("/")[1:]:
        step = step.replace("~1", "/")
        held = held[int(step)] if isinstance(held, list) else held.get(step) if isinstance(held, dict) else None
    value: Any = {"a": "b"} if isinstance(held, dict) else ["x"] if isinstance(held, list) else draw.one("x", 1, True)
    if isinstance(held, str) or draw.often(0.05):
        value = "x"
    if "annotations" in path or "labels" in path:
        value = {"note": "set"} if path.endswith(("annotations", "labels")) else "set"
    if kind == "test":
        value = held if draw.often(0.9) else "other"
    if kind == "add" and path[-1].isdigit() and draw.often(0.3):
        path = path.rpartition("/")[0] + "/-"
    if kind in ("copy", "move"):
        return {"op": kind, "from": path, "path": draw.one("/metadata/moved", f"{path.rpartition('/')[0]}/moved")}
    return {"op": kind, "path": path, **({} if kind == "remove" else {"value": value})}


def _pointers(value: Any, path: str = "") -> list[str]:
    found = [path] if path.count("/") > 1 and not path.startswith(("/metadata/name",)) else []
    if path.count("/") < 6 and isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in pairs:
            found += _pointers(inner, f"{path}/{str(step).replace('~', '~0').replace('/', '~1')}")
    return found or ["/spec"]


def _of_patches(draw: Draw, known: Sequence[Manifest]) -> Made:
    made = [_patch(draw, known) for _ in range(draw.one(1, 1, 2))] if known else []
    more: dict[str, list[Any]] = {}
    for index, each in enumerate(made):
        if draw.often(0.3):
            name = f"patch{index}.{draw.one('yaml', 'json')}"
            more[name] = [each.pop("patch")]
            each["path"] = name
    if draw.often(0.1) and all("target" not in each for each in made):
        return {"patchesStrategicMerge": [each.get("path") or each["patch"] for each in made]}, more
    if draw.often(0.1) and all("target" in each and "[" in json.dumps(each.get("patch", "")) for each in made):
        return {"patchesJson6902": made}, more
    return {"patches": made}, more


def _of_labels(draw: Draw, _: Sequence[Manifest]) -> Made:
    fields = [
        {"path": draw.one("spec/selector", "metadata/labels", "spec/extra/labels"), "create": draw.one(True, False)}
    ]
    fields[0] |= draw.maybe(0.6, "kind", draw.one("Service", "HTTPRoute"))
    entry = {
        "pairs": _labels(draw, 0.4) or {"app": "x"},
        **draw.maybe(0.3, "includeSelectors", draw.one(True, True, False)),
        **draw.maybe(0.3, "includeTemplates", draw.one(True, True, False)),
        **draw.maybe(0.15, "fields", fields),
    }
    return {"labels": [entry]}, {}


def _of_replacements(draw: Draw, known: Sequence[Manifest]) -> Made:
    if len(known) < 2:
        return {}, {}
    source, aim = draw.some(known, 2, 2)
    paths = [
        "metadata.name",
        "metadata.namespace",
        "metadata.labels.app",
        "spec.hostnames.0",
        "data.k",
        "spec.replicas",
    ]
    fitting = [each for each in paths if _has(source, each)] or ["metadata.name"]
    targets = [
        "metadata.labels.app",
        "metadata.annotations.note",
        "metadata.annotations.[example.com/a]",
        "spec.hostnames.0",
    ]
    targets += [
        "spec.template.spec.containers.[name=main].image",
        "spec.rules.*.name",
        "spec.parentRefs.0.name",
        "data.k",
    ]
    existing = [each for each in targets if _has(aim, each)] or ["metadata.name"]
    select = {"kind": aim["kind"], **draw.maybe(0.5, "name", aim["metadata"]["name"])}
    options = {
        **draw.maybe(0.4, "create", True),
        **draw.maybe(0.4, "delimiter", draw.one(".", "/", ":")),
        **draw.maybe(0.3, "index", draw.one(0, 1, 5, -1)),
    }
    field_paths = [draw.of(existing) if draw.often(0.9) else draw.of(targets)]
    aimed = {"select": select, **draw.maybe(0.9, "fieldPaths", field_paths), **draw.maybe(0.4, "options", options)}
    aimed |= draw.maybe(0.1, "reject", [{"name": draw.of(NAMES)}])
    own = {**draw.maybe(0.3, "delimiter", "."), **draw.maybe(0.3, "index", draw.one(0, 1, 9))}
    made = {
        "source": {
            "kind": source["kind"],
            "name": source["metadata"]["name"],
            **draw.maybe(0.8, "fieldPath", draw.of(fitting)),
            **draw.maybe(0.2, "options", own),
        },
        "targets": [aimed],
    }
    if draw.often(0.2):
        return {"replacements": [{"path": "replacement.yaml"}]}, {"replacement.yaml": [draw.one(made, [made])]}
    return {"replacements": [made]}, {}


def _has(value: Any, path: str) -> bool:
    for step in path.split("."):
        if isinstance(value, list):
            value = value[0] if value else None
        elif isinstance(value, dict) and step.strip("[]").split("=")[0] in value:
            value = value[step.strip("[]").split("=")[0]]
        elif not step.startswith("[") and step != "*":
            return False
    return value is not None


def _of_images(draw: Draw, _: Sequence[Manifest]) -> Made:
    made = {
        "name": draw.one("nginx", "example.com/nginx", "example.com:5000/team/api", "redis", "none"),
        **draw.maybe(0.5, "newName", draw.one("mirror/nginx", "other.example:5000/x")),
        **draw.maybe(0.6, "newTag", draw.one("2", "v3")),
        **draw.maybe(0.2, "digest", "sha256:cd"),
        **draw.maybe(0.1, "tagSuffix", "-alpine"),
    }
    return {"images": [made]}, {}


def _of_replicas(draw: Draw, known: Sequence[Manifest]) -> Made:
    scaled = [each["metadata"]["name"] for each in known if each["kind"] in ("Deployment", "StatefulSet")]
    return ({"replicas": [{"name": draw.of(scaled), "count": draw.one(0, 3)}]} if scaled else {}), {}


def _of_configurations(draw: Draw, _: Sequence[Manifest]) -> Made:
    reference = {"kind": draw.one("Service", "Gateway"), "fieldSpecs": []}
    path = "spec/rules/backendRefs/name" if reference["kind"] == "Service" else "spec/parentRefs/name"
    reference["fieldSpecs"] = [{"kind": "HTTPRoute", "path": path}]
    made: dict[str, Any] = {"nameReference": [reference]}
    made |= draw.maybe(0.2, "namespace", [{"path": "spec/parentRefs/namespace", "kind": "HTTPRoute", "create": True}])
    made |= draw.maybe(0.2, "commonLabels", [{"path": "spec/selector", "kind": "Thing", "create": True}])
    made |= draw.maybe(0.2, "namePrefix", [{"path": "spec/gatewayClassName", "kind": "Gateway"}])
    return {"configurations": ["configuration.yaml"]}, {"configuration.yaml": [made]}


def _of_vars(draw: Draw, known: Sequence[Manifest]) -> Made:
    one = draw.of(known)
    about = {"apiVersion": one["apiVersion"], "kind": one["kind"], "name": one["metadata"]["name"]}
    return {"vars": [{"name": "NAME", "objref": about}]}, {}


_FIELDS: Sequence[tuple[float, Callable[[Draw, Sequence[Manifest]], Made]]] = (
    (0.4, lambda draw, _: ({"namespace": draw.one("shop", "web", "prod")}, {})),
    (0.3, lambda draw, _: ({"namePrefix": draw.one("p-", "q-")}, {})),
    (0.2, lambda draw, _: ({"nameSuffix": draw.one("-s", "-v2")}, {})),
    (0.4, _of_labels),
    (0.15, lambda draw, _: ({"commonLabels": _labels(draw, 0.4) or {"app": "x"}}, {})),
    (0.2, lambda draw, _: ({"commonAnnotations": {"owner": draw.one("me", "you")}}, {})),
    (0.35, lambda draw, known: ({"configMapGenerator": [_generator(draw, known, "ConfigMap")]}, {})),
    (0.2, lambda draw, known: ({"secretGenerator": [_generator(draw, known, "Secret")]}, {})),
    (0.15, lambda draw, _: ({"generatorOptions": _options(draw)}, {})),
    (0.7, _of_patches),
    (0.25, _of_replacements),
    (0.25, _of_images),
    (0.15, _of_replicas),
    (0.1, _of_configurations),
    (0.03, _of_vars),
    (0.02, lambda *_: ({"sortOptions": {"order": "legacy"}}, {})),
    (0.01, lambda draw, _: ({draw.one("resource", "patch", "labelz"): []}, {})),
)
