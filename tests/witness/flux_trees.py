"""A grammar of trees for Flux: Kustomizations and what they build, variables, and files that are not fetched."""

from __future__ import annotations

import json
from typing import Any

from tests.witness.grammar import Draw, Manifest, manifest
from tests.witness.kustomize_trees import NAMES, file

TOOLKIT = "kustomize.toolkit.fluxcd.io"
CLUSTER = "clusters/prod"
VALUES = ("a.example.com", "shop", "8080", "true", "", "x y", "two\nlines\n", "0x1F", "1e3", "it's", "a #b", "~", "é")
NAMES_OF_VALUES = ("HOST", "PORT", "NAME", "FLAG")
OPERATIONS = (
    "${HOST}", "${HOST}", "${HOST}", "${NAME}", "${HOST:=a.example.com}", "${HOST:-b.example.com}", "${HOST-c.example}",
    "${HOST=d.example}", "${NONE:=${HOST}}", "${NONE:-${NONE:=deep}}", "$${HOST}", "$HOST", "${NAME}.${HOST}",
    "${NONE}", "pre-${NAME}-post", "${HOST/example/test}", "${HOST//a/b}", "${HOST^^}", "${HOST,,}", "${HOST^}",
    "${HOST:2}", "${HOST:0:3}", "${#HOST}", "${HOST#a.}", "${HOST%.com}", "${HOST##*.}", "${HOST%%.*}", "${FLAG}",
    "${NONE:+set}", "${PORT}", "${NONE:=8080}", "${NONE:=true}", "${NONE:=\"quoted\"}", "a$$b", "${HOST", "${}",
    "${NONE:?no}", "${1}",
)  # fmt: skip
"""Texts with variables, some of which are none."""
IGNORED = (
    "apps/web/", "/apps/shop", "*.yml", "!apps/web/route0.yaml", "**/route0.yaml", "service1.*", "/*", "!/clusters",
    "!/apps", "# a comment", "apps/**/extra", "extra/", "!*.yaml", "policy?.yaml", "apps/*/route1.yaml",
    "[rs]oute0.yaml",
)  # fmt: skip


def tree(seed: str, number: int) -> list[Manifest]:
    """Return the files of one tree; what is fetched of it and who syncs it stand in its first one."""
    draw = Draw("flux", seed, number)
    source = manifest("source.toolkit.fluxcd.io/v1", "GitRepository", "flux-system", "flux-system")
    source["spec"] = {"url": "https://example.com/fleet", "interval": "1m", "ref": {"branch": "main"}}
    source["spec"] |= draw.maybe(0.25, "ignore", "\n".join(draw.some(IGNORED, 3)) + "\n")
    files = [file(f"{CLUSTER}/flux-system/gotk-sync.yaml", source, _kustomization("flux-system", f"./{CLUSTER}"))]
    if draw.often(0.5):
        files.append(file(f"{CLUSTER}/flux-system/kustomization.yaml", {"resources": ["gotk-sync.yaml"]}))
    owners = []
    for index, name in enumerate(draw.some(NAMES, 3)):
        path = draw.one(f"./apps/{name}", f"./apps/{name}", f"apps/{name}", f"./apps/{name}/", f"/apps/{name}")
        if draw.often(0.04):
            path = "./apps/none"
        owners.append(_owner(draw, name, path))
        files += _directory(draw, f"apps/{name}", index)
    if draw.often(0.6):
        data = {key: draw.of(VALUES) for key in draw.some(NAMES_OF_VALUES, 3)}
        files.append(
            file(f"{CLUSTER}/settings.yaml", manifest("v1", "ConfigMap", "settings", "flux-system", data=data))
        )
    if draw.often(0.5):
        files.append(file(f"{CLUSTER}/apps.yaml", *owners))
    else:
        files += [file(f"{CLUSTER}/{each['metadata']['name']}.yaml", each) for each in owners]
    if draw.often(0.2):
        where = draw.one("", "", "apps/", "apps/shop/")
        files.append(file(f"{where}.sourceignore", text="\n".join(draw.some(IGNORED, 3)) + "\n"))
    return files


def _kustomization(name: str, path: str, **more: Any) -> Manifest:
    made = manifest(f"{TOOLKIT}/v1", "Kustomization", name, "flux-system")
    reference = {"kind": "GitRepository", "name": "flux-system"}
    made["spec"] = {
        "interval": "10m",
        "prune": True,
        "sourceRef": reference,
        **({"path": path} if path else {}),
        **more,
    }
    return made


def _owner(draw: Draw, name: str, path: str) -> Manifest:
    values = {key: draw.of(VALUES) for key in draw.some(NAMES_OF_VALUES, 3)}
    sources: list[dict[str, Any]] = [
        {"kind": "ConfigMap", "name": draw.one("settings", "settings", "none"), "optional": True}
    ]
    if draw.often(0.15):
        sources.append({"kind": "Secret", "name": "none", "optional": True})
    post = {**draw.maybe(0.7, "substitute", values), **draw.maybe(0.4, "substituteFrom", sources)}
    if "substituteFrom" in post:  # what is not in the tree may be in the cluster, so that there are variables
        post.setdefault("substitute", {"FLAG": "true"})
    route = {"kind": draw.one("HTTPRoute", "HTTPRoute", "Service"), **draw.maybe(0.3, "name", ".*")}
    operation = {"op": "add", "path": "/metadata/annotations", "value": {"patched": draw.one("yes", "${HOST}")}}
    part = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "any"}, "spec": {"type": "NodePort"}}
    patches = [
        draw.one(
            {"target": route, "patch": json.dumps([operation])},
            {"target": {"kind": "Service"}, "patch": json.dumps(part)},
        )
    ]
    common = {
        **draw.maybe(0.6, "labels", {"team": draw.one("a", "${HOST}")}),
        **draw.maybe(0.4, "annotations", {"owner": "me", **draw.maybe(0.2, f"{TOOLKIT}/substitute", "disabled")}),
    }
    return _kustomization(
        name,
        path,
        **draw.maybe(0.3, "targetNamespace", draw.one("shop", "web")),
        **draw.maybe(0.15, "namePrefix", "p-"),
        **draw.maybe(0.1, "nameSuffix", "-s"),
        **draw.maybe(0.25, "patches", patches),
        **draw.maybe(0.15, "images", [{"name": "nginx", "newTag": "2"}]),
        **draw.maybe(0.15, "components", [draw.one("../../parts/labels", "../../parts/labels", "../../parts/none")]),
        **draw.maybe(0.1, "ignoreMissingComponents", True),
        **draw.maybe(0.25, "commonMetadata", common),
        **({"postBuild": post} if post and draw.often(0.8) else {}),
    )


def _directory(draw: Draw, path: str, index: int) -> list[Manifest]:
    files = []
    names = []
    for number in range(draw.number(1, 3)):
        make = draw.one(_route, _service, _policy, _map, _workload)
        made = make(draw, f"{draw.of(NAMES)}-{index}{number}")
        name = f"{make.__name__[1:]}{number}.{draw.one('yaml', 'yaml', 'yml')}"
        place = draw.one("", "", "", "extra/")
        names.append(place + name)
        files.append(file(f"{path}/{place}{name}", made))
    kind = draw.one("none", "none", "all", "some", "inner")
    body: dict[str, Any] = {"resources": names if kind == "all" else names[:1]}
    body |= draw.maybe(
        0.3, "images", [{"name": "nginx", "newName": "mirror/nginx", "newTag": "1", "digest": "sha256:ab"}]
    )
    body |= draw.maybe(0.2, "namespace", "base")
    body |= draw.maybe(0.2, "namePrefix", "b-")
    if kind in ("all", "some"):
        files.append(file(f"{path}/{draw.one('kustomization.yaml', 'kustomization.yml', 'Kustomization')}", body))
    inner = [each for each in names if each.startswith("extra/")]
    if kind == "inner" and inner:
        files.append(
            file(f"{path}/extra/kustomization.yaml", {"resources": [each[6:] for each in inner], "nameSuffix": "-i"})
        )
    if index == 0:
        part = {
            "apiVersion": "kustomize.config.k8s.io/v1alpha1",
            "kind": "Component",
            "labels": [{"pairs": {"part": "x"}}],
        }
        files.append(file("parts/labels/kustomization.yaml", part))
    return files


def _marked(draw: Draw, made: Manifest) -> Manifest:
    """Add metadata with variables, and with what Flux reads of it."""
    metadata = made["metadata"]
    metadata |= draw.maybe(0.3, "labels", {"host": draw.of(OPERATIONS)})
    metadata |= draw.maybe(0.2, "annotations", {"about": draw.of(OPERATIONS), **draw.maybe(0.1, "${NAME}", "x")})
    if draw.often(0.08):
        mark, value = draw.one(
            ("substitute", "disabled"), ("reconcile", "disabled"), ("ssa", "Ignore"), ("ssa", "Merge")
        )
        metadata.setdefault(draw.one("labels", "annotations"), {})[f"{TOOLKIT}/{mark}"] = draw.one(value, value.upper())
    if draw.often(0.04):
        metadata.setdefault("annotations", {})[f"{TOOLKIT}/ssa"] = "IfNotPresent"
    return made


def _place(draw: Draw) -> str:
    return draw.one("", "shop", "web", "shop")


def _route(draw: Draw, name: str) -> Manifest:
    name = f"{name}-${{NAME}}" if draw.often(0.05) else name
    spec: dict[str, Any] = {"hostnames": [draw.of(OPERATIONS)], "parentRefs": [{"name": draw.one("edge", "${NAME}")}]}
    spec["rules"] = [{"backendRefs": [{"name": draw.of(NAMES), "port": draw.one(80, "${PORT}", "${NONE:=8080}")}]}]
    return _marked(draw, manifest("gateway.networking.k8s.io/v1", "HTTPRoute", name, _place(draw), spec=spec))


def _service(draw: Draw, name: str) -> Manifest:
    spec = {"selector": {"app": draw.one("web", draw.of(OPERATIONS))}, "ports": [{"port": draw.one(80, "${PORT}")}]}
    return _marked(draw, manifest("v1", "Service", name, _place(draw), spec=spec))


def _policy(draw: Draw, name: str) -> Manifest:
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": draw.one(*NAMES, "${NAME}")}
    spec = {
        "targetRefs": [target],
        "cors": {"allowOrigins": [draw.of(OPERATIONS)], "allowCredentials": draw.one(True, "${FLAG}")},
    }
    return _marked(draw, manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", name, _place(draw), spec=spec))


def _map(draw: Draw, name: str) -> Manifest:
    data = {"a": draw.of(OPERATIONS), "b": f"text: {draw.of(OPERATIONS)}\nmore: {draw.of(OPERATIONS)}\n"}
    return _marked(draw, manifest("v1", "ConfigMap", name, _place(draw), data=data))


def _workload(draw: Draw, name: str) -> Manifest:
    pod = {"containers": [{"name": "main", "image": draw.one("nginx", "nginx:1.25", "${NAME}:1")}]}
    spec = {"template": {"metadata": {"labels": {"app": "web"}}, "spec": pod}}
    return _marked(draw, manifest("apps/v1", "Deployment", name, _place(draw), spec=spec))
