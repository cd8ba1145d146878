"""Twelve pull requests on real trees of ../shared, as people make them: what docs/comment.md shows, and tests hold."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.diff.history import MAKE, SHARED, commit

TREES = SHARED / "trees"
Edit = Callable[[Path], None]


class Pull(NamedTuple):
    """A pull request: a tree, what was done to it before, and what the pull request does.

    Args:
        what: what its author meant to do.
        headline: what a reviewer must read first.
    """

    name: str
    tree: str
    what: str
    headline: str
    edits: tuple[Edit, ...]
    before: tuple[Edit, ...] = ()


def written(path: str, text: str, listed: str = "") -> Edit:
    """Add a file, and name it in the kustomization beside it."""

    def edit(tree: Path) -> None:
        (tree / path).write_text(text.lstrip(), encoding="utf-8")
        if listed:
            kustomization = (tree / path).parent / "kustomization.yaml"
            text_of = kustomization.read_text(encoding="utf-8")
            kustomization.write_text(text_of.replace(listed, f"{listed}\n  - ./{Path(path).name}"), encoding="utf-8")

    return edit


def _replace(path: str, old: str, new: str, tree: Path) -> None:
    files = sorted(tree.glob(path))
    assert any(old in file.read_text(encoding="utf-8") for file in files), (path, old)
    for file in files:
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def replaced(path: str, old: str, new: str) -> Edit:
    return partial(_replace, path, old, new)


def moved(old: str, new: str) -> Edit:
    def edit(tree: Path) -> None:
        (tree / new).parent.mkdir(parents=True, exist_ok=True)
        (tree / old).rename(tree / new)

    return edit


_LARIVIEREC = "larivierec__home-cluster"
_ENVOY = "kubernetes/main/apps/networking/gateway/envoy/manifests"
_APPS = "kubernetes/main/apps"
_SECURE = written(
    f"{_ENVOY}/internal-secure.yaml",
    """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: internal-secure, namespace: networking}
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: envoy-internal}
  oidc:
    clientID: internal
    clientSecret: {name: internal-oidc}
    provider: {issuer: https://oidc.garb.dev}
  authorization:
    defaultAction: Deny
    rules:
      - action: Allow
        principal:
          clientCIDRs: [10.0.0.0/8, 192.168.0.0/16]
""",
    "  - ./backend-policy.yaml",
)
_CORS = written(
    f"{_APPS}/default/calibre/app/cors.yaml",
    """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: calibre-cors, namespace: default}
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: HTTPRoute, name: calibre}
  cors:
    allowOrigins: ["https://ebooks.garb.dev"]
""",
    "  - ./helm-release.yaml",
)
_XUNHOLY = "xunholy__k8s-gitops"
_N8N = "kubernetes/apps/base/ai-system/n8n/app/httproute.yaml"
_MATHERLY = "MatherlyNet__talos-cluster"
_OIDC = "kubernetes/apps/network/envoy-gateway/app"
_SHOP = "GoogleCloudPlatform__microservices-demo"

PULLS = (
    Pull(
        "app-moves",
        _LARIVIEREC,
        "One app moves from the internal Gateway, which has a login and an allow-list, to the external one",
        "`lidarr.garb.dev` loses its allow-list and its login",
        (replaced(f"{_APPS}/default/lidarr/app/helm-release.yaml", "name: envoy-internal", "name: envoy-external"),),
        (_SECURE,),
    ),
    Pull(
        "apps-move",
        _LARIVIEREC,
        "Every app of the internal Gateway moves at once",
        "hosts lose their allow-list and their login",
        (replaced(f"{_APPS}/**/helm-release.yaml", "name: envoy-internal", "name: envoy-external"),),
        (_SECURE,),
    ),
    Pull(
        "everybody-allowed",
        _LARIVIEREC,
        "An allow-list gets 0.0.0.0/0",
        "hosts become reachable from outside 10.0.0.0/8 and 192.168.0.0/16 (login: oidc)",
        (replaced(f"{_ENVOY}/internal-secure.yaml", "[10.0.0.0/8, 192.168.0.0/16]", "[0.0.0.0/0]"),),
        (_SECURE,),
    ),
    Pull(
        "login-deleted",
        _MATHERLY,
        "The policy that asks for a login is dropped from its kustomization",
        "2 hosts lose their login",
        (replaced(f"{_OIDC}/kustomization.yaml", "  - ./securitypolicy-oidc.yaml\n", ""),),
    ),
    Pull(
        "policy-replaced",
        _LARIVIEREC,
        "A route gets a policy of its own, with nothing but CORS",
        "`ebooks.garb.dev` loses its allow-list and its login",
        (_CORS,),
        (_SECURE,),
    ),
    Pull(
        "canary",
        _XUNHOLY,
        "A tenth of the requests goes to another Service",
        "requests to 2 hosts go to",
        (
            replaced(
                _N8N,
                "          weight: 100\n",
                "          weight: 90\n        - name: open-webui\n          port: 8080\n          weight: 10\n",
            ),
        ),
    ),
    Pull(
        "header-removed",
        _XUNHOLY,
        "A route drops a header that its backend knows the user by",
        "x-auth-request-user",
        (
            replaced(
                _N8N,
                "    - backendRefs:\n",
                "    - filters:\n"
                "        - type: RequestHeaderModifier\n"
                "          requestHeaderModifier: {remove: [x-auth-request-user]}\n"
                "      backendRefs:\n",
            ),
        ),
    ),
    Pull(
        "connections-close",
        _SHOP,
        "A network policy names another caller than the one that calls",
        "frontend",
        (
            replaced(
                "kustomize/components/network-policies/network-policy-checkoutservice.yaml",
                "app: frontend",
                "app: storefront",
            ),
        ),
        (
            replaced(
                "kustomize/kustomization.yaml",
                "components:",
                "components:\n- components/network-policies",
            ),
        ),
    ),
    Pull(
        "label-lost",
        _MATHERLY,
        "A route loses the label by which a policy selects it",
        "loses its login",
        (
            replaced(
                f"{_OIDC}/httproutes.yaml",
                "  name: hubble-ui\n  namespace: network\n  labels:\n    security: oidc-protected",
                "  name: hubble-ui\n  namespace: network\n  labels:\n    security: internal",
            ),
        ),
    ),
    Pull(
        "target-misspelt",
        _XUNHOLY,
        "The name of a policy's target is misspelt",
        "`hass-code.${CLUSTER_DOMAIN}",
        (
            replaced(
                "kubernetes/apps/base/home-system/home-assistant/app/securitypolicy.yaml",
                "      name: home-assistant-code\n",
                "      name: home-asistant-code\n",
            ),
        ),
    ),
    Pull(
        "listener-closes",
        "rcdailey__home-ops",
        "A listener no longer takes routes of other namespaces",
        "no longer reachable",
        (
            replaced(
                "kubernetes/apps/network/envoy-gateway/external.yaml", "        from: All\n", "        from: Same\n"
            ),
        ),
    ),
    Pull(
        "refactoring",
        _XUNHOLY,
        "A route moves to another file",
        "no route changes",
        (
            moved(_N8N, _N8N.replace("httproute.yaml", "route.yaml")),
            replaced(_N8N.replace("httproute.yaml", "kustomization.yaml"), "httproute.yaml", "route.yaml"),
        ),
    ),
)


def opened(pull: Pull, place: Path) -> str:
    """Make the repository of a pull request, its base on `main` and its head on `change`; the revisions to compare."""
    shutil.copytree(TREES / pull.tree, place, symlinks=True)
    for file in (each for each in place.rglob("*") if each.is_file() and not each.is_symlink()):
        file.chmod(0o644)
    for edit in pull.before:
        edit(place)
    MAKE.git(place, "init", "-q", "-b", "main")
    commit(place, {}, "base")
    MAKE.git(place, "switch", "-q", "-c", "change")
    for edit in pull.edits:
        edit(place)
    commit(place, {}, pull.what)
    return "main...change"
