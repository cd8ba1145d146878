"""GWP502: kinds that controllers read once (schemas/former-kinds.yaml)."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.catalog.former import _table
from tests.worlds import manifest


@pytest.mark.parametrize("kind", _table(), ids=str)
def test_what_is_read_no_more_is_told(tmp_path: Path, kind: tuple[str, str]) -> None:
    """Read from files: other kinds of such groups stay unparsed."""
    group, name = kind
    (tmp_path / "a.yaml").write_text(manifest(f"{group}/v1", name, "old", "shop", "spec: {}"), encoding="utf-8")
    found = policylint.lint(tmp_path).known
    told = [each for each in found if each.rule == "GWP502"]
    assert [each.resources[0].kind for each in told] == [name]
    assert _table()[kind].instead in (told[0].label or "")


@pytest.mark.parametrize("kind", ["gateway.nginx.org/AuthenticationFilter", "traefik.io/IngressRoute"])
def test_kinds_of_the_same_name_are_read(tmp_path: Path, kind: str) -> None:
    group, _, name = kind.partition("/")
    (tmp_path / "a.yaml").write_text(manifest(f"{group}/v1alpha1", name, "own", "shop", "spec: {}"), encoding="utf-8")
    assert not [each for each in policylint.lint(tmp_path).known if each.rule == "GWP502"]


def running(image: str) -> str:
    pods = f"{{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: a, image: '{image}'}}]}}}}"
    return manifest("apps/v1", "Deployment", "a", "system", f"spec: {{selector: {{}}, template: {pods}}}")


def crd(group: str, kind: str) -> str:
    names = f"{{kind: {kind}, plural: {kind.lower()}s}}"
    versions = "[{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"
    spec = f"spec: {{group: {group}, names: {names}, scope: Namespaced, versions: {versions}}}"
    return manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{kind.lower()}s.{group}", "", spec)


def operated(api_version: str, kind: str, spec: str) -> str:
    return manifest(api_version, kind, "basic", "istio-system", f"spec: {spec}")


@pytest.mark.parametrize(
    ("group", "kind", "beside", "told"),
    [
        (
            "authentication.istio.io",
            "Policy",
            operated("maistra.io/v1", "ServiceMeshControlPlane", "{istio: {}}"),
            False,
        ),
        (
            "rbac.istio.io",
            "ServiceRole",
            operated("maistra.io/v1", "ServiceMeshControlPlane", "{version: v1.1}"),
            False,
        ),
        ("rbac.istio.io", "ServiceRole", operated("maistra.io/v2", "ServiceMeshControlPlane", "{version: v2.0}"), True),
        ("rbac.istio.io", "ServiceRole", operated("maistra.io/v2", "ServiceMeshControlPlane", "{version: v2.6}"), True),
        ("rbac.istio.io", "RbacConfig", operated("maistra.io/v1", "ServiceMeshMemberRoll", "{members: []}"), True),
        ("rbac.istio.io", "RbacConfig", operated("install.istio.io/v1alpha1", "IstioOperator", "{tag: 1.5.1}"), False),
        ("rbac.istio.io", "RbacConfig", operated("install.istio.io/v1alpha1", "IstioOperator", "{hub: x}"), True),
        ("rbac.istio.io", "RbacConfig", operated("sailoperator.io/v1", "Istio", "{version: v1.24-latest}"), True),
        ("authentication.istio.io", "Policy", running("docker.io/istio/pilot:1.5.0-beta.5"), False),
        ("authentication.istio.io", "Policy", running("docker.io/istio/pilot:1.22.1"), True),
        ("rbac.istio.io", "ServiceRole", running("gcr.io/istio-release/pilot:1.4.2"), False),
        ("authentication.istio.io", "Policy", crd("authentication.istio.io", "Policy"), False),
        ("rbac.istio.io", "ServiceRole", crd("authentication.istio.io", "Policy"), True),
        (
            "rbac.istio.io",
            "ServiceRole",
            crd("rbac.istio.io", "ServiceRole") + "\n---\n" + running("istio/pilot:1.22.1"),
            True,
        ),
        ("gateway.kgateway.dev", "RoutePolicy", running("cr.kgateway.dev/kgateway-dev/kgateway:v1.18.0"), False),
        ("gateway.kgateway.dev", "RoutePolicy", running("cr.kgateway.dev/kgateway-dev/kgateway:v2.0.1"), True),
        ("gateway.envoyproxy.io", "AuthenticationFilter", running("envoyproxy/gateway:v0.5.0"), False),
    ],
)
def test_an_older_release_reads_it(tmp_path: Path, group: str, kind: str, beside: str, told: bool) -> None:
    """christian-posta/istio-demos: an installation of Istio 1.5 whole, with the policies of its add-ons."""
    made = manifest(f"{group}/v1alpha1", kind, "old", "shop", "spec: {}")
    (tmp_path / "a.yaml").write_text(f"{made}\n---\n{beside}", encoding="utf-8")
    found = [each for each in policylint.lint(tmp_path).known if each.rule == "GWP502"]
    assert bool(found) is told


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"istio/install.sh": "cd istio-1.2.2\nkubectl apply -f install/kubernetes/istio-demo.yaml\n"}, False),
        ({"README.md": "curl -L https://istio.io/downloadIstio | ISTIO_VERSION=1.4.3 sh -\nkubectl get ns\n"}, False),
        ({"README.md": "```\nkubectl apply -f ~/istio-1.5.0/samples/a.yaml\n```\n"}, False),
        ({"Makefile": 'ISTIO_VERSION="1.5.10"\nup:\n\tkubectl apply -f crds\n'}, False),
        ({"a/up.sh": "cd istio-1.4.3\nkubectl get ns\n", "b/up.sh": "cd istio-1.6.0\nkubectl get ns\n"}, True),
        ({"up.sh": "cd istio-1.20.1\nkubectl get ns\n"}, True),
        ({"up.sh": "cd other-1.2.2\nkubectl get ns\n"}, True),
        ({"up.sh": "cd my-istio-1.2.2\nkubectl get ns\n"}, True),
    ],
)
@pytest.mark.parametrize("kind", ["authentication.istio.io/Policy", "rbac.istio.io/ServiceRole"])
def test_what_scripts_unpack_or_fetch_tells_the_release(
    tmp_path: Path, files: dict[str, str], told: bool, kind: str
) -> None:
    group, _, name = kind.partition("/")
    files = {**files, "lab/a.yaml": manifest(f"{group}/v1alpha1", name, "own", "shop", "spec: {}")}
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    assert bool([each for each in policylint.lint(tmp_path).known if each.rule == "GWP502"]) == told


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("az aks create --node-count 1 --kubernetes-version 1.13.12 \\\n  --name a", False),
        ("minikube start --kubernetes-version=v1.15.3", False),
        ("gcloud container clusters create a --cluster-version=1.14", False),
        ("kind create cluster --image kindest/node:v1.15.3@sha256:abc", False),
        ("k3d cluster create a --image rancher/k3s:v1.20.4-k3s1", False),
        ("docker run --privileged rancher/k3s:v1.19.1-k3s1 server", False),
        ("curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION=v1.18.2+k3s1 sh -", False),
        ("curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION='v1.27.2+k3s1' sh -", True),
        ("k3d cluster create a --image rancher/k3s:v1.22.4-k3s1", True),
        ("minikube start --kubernetes-version=v1.22.0", True),
        ("minikube start --kubernetes-version=v1.15.3\nminikube start --kubernetes-version=v1.30.0", True),
        ("az aks create --other-version 1.13.12", True),
    ],
)
def test_what_scripts_make_a_cluster_of_tells_what_it_reads(tmp_path: Path, script: str, told: bool) -> None:
    (tmp_path / "README.md").write_text(f"```\n{script}\nkubectl get nodes\n```\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(manifest("extensions/v1beta1", "Ingress", "a", "shop", "spec: {}"), "utf-8")
    assert bool([each for each in policylint.lint(tmp_path).known if each.rule == "GWP502"]) == told
