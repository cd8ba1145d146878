"""What a script applies is there, though no deployer of the tree takes it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.render.by_hand import starts
from policylint.render.scripts import ScriptText
from tests.workspace.test_alternatives import GATEWAY, ROUTE, SERVICE, tree

FILES = {
    "apps/kustomization.yaml": "resources: [route.yaml, service.yaml]\n",
    "apps/route.yaml": ROUTE.format(section=""),
    "apps/service.yaml": SERVICE,
    "other/kustomization.yaml": "resources: [gateway.yaml]\n",
    "other/gateway.yaml": GATEWAY.format(listener="http").replace("name: edge", "name: other"),
    "clusters/main/apps.yaml": """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other, namespace: flux-system}
spec: {path: ./other, sourceRef: {kind: GitRepository, name: flux-system}}
""",
    "bootstrap/gateway.yaml": GATEWAY.format(listener="http"),
}


def missing(root: Path, files: dict[str, str]) -> list[str]:
    return [each.confidence for each in tree(root, files).findings() if each.rule == "GWP401"]


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("setup.sh", "kubectl apply -f bootstrap/gateway.yaml"),
        ("bootstrap/run.sh", "kubectl apply --server-side -f gateway.yaml"),
        ("Makefile", "up:\n\tkubectl --context kind apply -f bootstrap/"),
        ("setup.sh", "kubectl apply \\\n  --namespace shop \\\n  -f ./bootstrap/gateway.yaml"),
        ("README.md", "```sh\noc apply -f bootstrap/gateway.yaml\n```"),
        ("hack/up.sh", "cd ../bootstrap\nkubectl apply -f gateway.yaml"),
        ("Makefile", "up:\n\t@cd bootstrap && kubectl apply -f gateway.yaml"),
        ("Makefile", "KUBECTL ?= kubectl\nup:\n\t$(KUBECTL) apply -f bootstrap/gateway.yaml"),
        ("hack/up.sh", 'kubectl apply -f "${ROOT}/bootstrap/gateway.yaml"'),
        ("deploy/scripts/up.sh", 'kubectl apply -f "$ROOT/bootstrap/gateway.yaml"'),
        ("Vagrantfile", "kubectl apply -f /vagrant/bootstrap/gateway.yaml"),
        ("up.sh", "kubectl apply -f a.yaml,bootstrap/gateway.yaml"),
        ("up.sh", "kubectl apply -f bootstrap/*.yaml"),
        ("up.sh", "kustomize build --load-restrictor LoadRestrictionsNone bootstrap | kubectl apply -f -"),
        (".github/workflows/e2e.yml", "working-directory: bootstrap\nrun: kubectl apply -f gateway.yaml"),
    ],
)
def test_a_gateway_that_a_script_applies_is_not_missing(script: str, command: str, tmp_path: Path) -> None:
    assert missing(tmp_path, {**FILES, script: command}) == ["unknown"]


@pytest.mark.parametrize(
    "command",
    [
        *("", "kubectl apply -f bootstrap/other.yaml", "echo bootstrap/gateway.yaml"),
        *("cd other && kubectl apply -f gateway.yaml", "kustomize build bootstrap", "kubectl apply -f other/*.yaml"),
    ],
)
def test_one_that_no_script_applies_is(command: str, tmp_path: Path) -> None:
    assert missing(tmp_path, {**FILES, "setup.sh": command}) == ["certain"]


SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: apps, namespace: flux-system}
spec: {url: oci://localhost:5050/apps-sync, ref: {tag: local}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: %s, sourceRef: {kind: OCIRepository, name: apps}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: base, namespace: flux-system}
spec: {path: ./base, sourceRef: {kind: GitRepository, name: flux-system}}
"""
PUSHED = {
    "base/kustomization.yaml": "resources: [service.yaml]\n",
    "base/service.yaml": SERVICE,
    "kubernetes/apps/kustomization.yaml": "resources: [web]\n",
    "kubernetes/apps/web/kustomization.yaml": "resources: [route.yaml]\n",
    "kubernetes/apps/web/route.yaml": ROUTE.format(section=""),
}


def routes(root: Path, path: str, files: dict[str, str]) -> list[str]:
    workspace = tree(root, {**PUSHED, "clusters/main/all.yaml": SOURCE % path, **files})
    return [key.path for each in workspace.simulations for key in each.world.resources if key.kind == "HTTPRoute"]


def test_a_guide_that_changes_directory_many_times_is_read_at_once() -> None:
    """Each move may be from where the last one led, or from the start: not from everywhere that it ever was."""
    moves = "\n".join(f"cd step-{number}\nkubectl apply -f here.yaml" for number in range(60))
    known = starts("guides/all.md", ScriptText(f"cd lab/one\n{moves}\n"))
    assert len(known) < 600
    assert {"lab/one", "guides/lab/one", "lab/one/step-0", "step-59", "guides/step-59"} <= set(known)


@pytest.mark.parametrize("path", ["./", "./web", "web/"])
@pytest.mark.parametrize(
    ("script", "command"),
    [
        (
            "README.md",
            "flux push artifact oci://localhost:5050/apps-sync:local \\\n  --path=kubernetes/apps \\\n  --source=x",
        ),
        (
            ".github/workflows/push.yaml",
            'run: flux push artifact "oci://ghcr.io/me/apps-sync" --path ./kubernetes/apps',
        ),
        ("kubernetes/push.sh", "flux push artifact oci://r.example.com/apps-sync@sha256:0 --path=apps --revision=1"),
    ],
)
def test_what_a_script_pushes_is_what_an_artifact_holds(path: str, script: str, command: str, tmp_path: Path) -> None:
    assert routes(tmp_path, path, {script: command}) == ["shop/checkout"]


@pytest.mark.parametrize(
    "command",
    [
        "",
        "flux push artifact oci://localhost:5050/other:local --path=kubernetes/apps",
        "flux push artifact oci://localhost:5050/apps-sync --path=$DIRECTORY",
        "flux push artifact oci://r/apps-sync --path=kubernetes/apps\nflux push artifact oci://r/apps-sync --path=base",
    ],
    ids=["none", "another artifact", "a variable", "two directories"],
)
def test_what_nobody_pushes_for_certain_is_not_seen(command: str, tmp_path: Path) -> None:
    assert routes(tmp_path, "./", {"push.sh": command}) == []


def missing_beside(place: Path, script: str, command: str) -> list[str]:
    """Return how sure it is that the Service of a route is missing, where a script has a command."""
    plain = {"gateway.yaml": GATEWAY.format(listener="http"), "route.yaml": ROUTE.format(section="")}
    of_another = SERVICE.replace("checkout", "other")
    findings = tree(place, {**plain, "service.yaml": of_another, script: command}).findings()
    return [each.confidence for each in findings if each.rule == "GWP406"]


INTO_SHOP = "helm upgrade --install checkout acme/checkout"


@pytest.mark.parametrize(
    ("script", "command", "found"),
    [
        ("Makefile", f"up:\n\t{INTO_SHOP} -n shop -f values.yaml", "unknown"),
        ("Makefile", f"NS := shop\nup:\n\t{INTO_SHOP} -n $(NS)", "unknown"),
        ("up.sh", f'NAMESPACE="${{NAMESPACE:-shop}}"\n{INTO_SHOP} --namespace "$NAMESPACE"', "unknown"),
        ("up.sh", "helm install checkout \\\n  oci://example.com/charts/checkout \\\n  --namespace=shop", "unknown"),
        ("README.md", f"Run `{INTO_SHOP} --namespace shop --create-namespace`.", "unknown"),
        (".github/workflows/up.yml", f"jobs:\n  up:\n    steps:\n      - run: {INTO_SHOP} -n shop\n", "unknown"),
        # of another namespace, of none that is said, no installation
        ("Makefile", f"up:\n\t{INTO_SHOP} -n pay", "certain"),
        ("Makefile", f"up:\n\t{INTO_SHOP} -n $(NS)", "certain"),
        ("Makefile", f"up:\n\t{INTO_SHOP}", "certain"),
        ("Makefile", "up:\n\thelm uninstall checkout -n shop", "certain"),
        ("Makefile", "up:\n\thelm repo add checkout https://example.com -n shop", "certain"),
    ],
)
def test_a_service_of_a_chart_that_a_script_installs_is_not_missing(
    script: str, command: str, found: str, tmp_path: Path
) -> None:
    assert missing_beside(tmp_path, script, command) == [found]


def test_what_a_script_installs_beside_a_deployer(tmp_path: Path) -> None:
    files = {path: content for path, content in FILES.items() if path != "apps/service.yaml"}
    files["apps/kustomization.yaml"] = "resources: [route.yaml, other.yaml]\n"
    files["apps/other.yaml"] = SERVICE.replace("checkout", "other")
    before = [each.confidence for each in tree(tmp_path / "a", files).findings() if each.rule == "GWP406"]
    files["Makefile"] = f"up:\n\t{INTO_SHOP} -n shop"
    after = [each.confidence for each in tree(tmp_path / "b", files).findings() if each.rule == "GWP406"]
    assert (before, after) == (["certain"], ["unknown"])


HELD = "apiVersion: v1\nkind: Service\nmetadata:\n  labels: {a: b}\n  name: checkout\n  namespace: shop\n"
QUICKSTART = "https://example.com/releases/download/v1.5.0"


@pytest.mark.parametrize(
    ("script", "command", "found"),
    [
        ("up.sh", f"cat <<EOF | kubectl apply -f -\n{HELD}EOF\n", "unknown"),
        ("up.sh", f"oc create -f - <<-'END'\nkind: Namespace\n---\n{HELD}END\n", "unknown"),
        ("docs/README.md", f"```sh\nkubectl apply -n shop -f - <<EOF\n{HELD}EOF\n```\n", "unknown"),
        ("up.sh", f"kubectl apply -f {QUICKSTART}/quickstart.yaml -n shop", "unknown"),
        ("README.md", f"kubectl apply -f {QUICKSTART}/samples/httpbin.yaml", "unknown"),
        (
            "README.md",
            "kubectl apply -f https://raw.githubusercontent.com/acme/shop-demo/main/deploy/all.yaml",
            "unknown",
        ),
        ("README.md", "kubectl apply -f https://github.com/acme/examples/raw/main/a/all.yaml", "unknown"),
        ("README.md", "kubectl apply -f https://raw.githubusercontent.com/acme/shop/main/deploy/all.yaml", "certain"),
        (
            "README.md",
            "kubectl apply -n shop -f https://raw.githubusercontent.com/acme/shop/main/deploy/all.yaml",
            "unknown",
        ),
        ("up.sh", "NS=shop\nkubectl -n $NS apply -f https://github.com/acme/shop/raw/main/deploy/all.yaml", "unknown"),
        ("up.sh", "kubectl -n pay apply -f https://github.com/acme/shop/raw/main/deploy/all.yaml", "certain"),
        # tetratelabs/istio-0to60, its guide on discovery: samples of elsewhere are called by what they hold
        ("docs/README.md", "kubectl apply -f samples/checkout/checkout.yaml", "unknown"),
        ("docs/README.md", "kubectl create -n shop -f ../samples/checkout.yml", "unknown"),
        ("README.md", "kubectl apply -f https://example.com/acme/samples/checkout.yaml", "unknown"),
        ("README.md", "kubectl apply -f samples/bookinfo/platform/kube/bookinfo.yaml", "unknown"),
        ("README.md", "kubectl apply -f samples/payment/payment.yaml", "certain"),
        ("README.md", "kubectl apply -n pay -f samples/checkout/checkout.yaml", "certain"),
        ("README.md", "kubectl apply -f checkout.yaml", "certain"),  # which the reader writes
        ("README.md", "kubectl apply -f samples/checkout/", "unknown"),
        ("README.md", "kubectl apply -k ../samples/checkout", "unknown"),
        ("README.md", "kubectl apply -f samples/apps/", "certain"),  # a directory of the tree is called so
        ("README.md", "kubectl apply -f samples/service.yaml -f samples/all.yaml", "certain"),
        ("README.md", "kubectl apply -f checkout/", "certain"),
        ("README.md", "kubectl apply -f elsewhere/route.yaml", "certain"),  # is there
        ("README.md", "kubectl delete -f samples/checkout/checkout.yaml", "certain"),
        # another name, another kind, nobody applies it, a controller's own manifests
        ("up.sh", f"cat <<EOF | kubectl apply -f -\n{HELD.replace('checkout', 'payment')}EOF\n", "certain"),
        ("up.sh", f"cat <<EOF | kubectl apply -f -\n{HELD.replace('Service', 'Secret')}EOF\n", "certain"),
        ("up.sh", f"cat <<EOF | kubectl apply -f -\n{HELD.replace('shop', 'pay')}EOF\n", "certain"),
        ("up.sh", f"cat <<EOF > service.yaml\n{HELD}EOF\nkubectl version\n", "certain"),
        ("up.sh", f"kubectl apply -f {QUICKSTART}/install.yaml", "certain"),
        ("up.sh", f"kubectl delete -f {QUICKSTART}/quickstart.yaml", "certain"),
    ],
)
def test_a_service_that_a_script_holds_or_brings_is_not_missing(
    script: str, command: str, found: str, tmp_path: Path
) -> None:
    assert missing_beside(tmp_path, script, command) == [found]


RAW = "https://raw.githubusercontent.com/acme/shop/main/deploy"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (f"kubectl apply -f {RAW}/gateway.yaml", "unknown"),
        (f"kubectl apply -f {RAW}/shop-gateways.yml", "unknown"),
        ("kubectl create -f https://github.com/acme/shop/raw/main/gateway.yaml", "unknown"),
        # kiali/kiali hack/istio: of another distribution, named by a variable
        ('GATEWAY="${ISTIO_DIR}/samples/edge-gateway.yaml"\nkubectl apply -f ${GATEWAY}', "certain"),  # in prose
        ("kubectl apply -f samples/gateway/edge.yaml", "certain"),
        # of another kind, of what reads Gateways, and what is not applied
        (f"kubectl apply -f {RAW}/routes.yaml", "certain"),
        (f"kubectl apply -f {RAW}/httproute.yaml", "certain"),
        (f"kubectl apply -f {RAW}/gateway-api.yaml", "certain"),
        (f"kubectl apply -f {RAW}/gateway-crds.yaml", "certain"),
        (f"kubectl apply -f {RAW}/gateway-controller-install.yaml", "certain"),
        (f"curl -O {RAW}/gateway.yaml", "certain"),
    ],
)
def test_a_file_of_another_repository_may_be_called_by_what_it_holds(command: str, found: str, tmp_path: Path) -> None:
    gateway = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: shop}\n"
        "spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
    )
    route = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: shop}\n"
        "spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n"
    )
    files = {"a/gateway.yaml": gateway, "a/route.yaml": route, "README.md": command}
    assert [each.confidence for each in tree(tmp_path, files).findings() if each.rule == "GWP401"] == [found]


def test_a_script_that_goes_from_one_directory_to_another_a_thousand_times(tmp_path: Path) -> None:
    """Each move could begin wherever any one before it ended."""
    moves = "".join(f"cd dir-{number}\ncd ..\ncd $ROOT/dir-{number}\n" for number in range(1_000))
    script = f"cd bootstrap\nkubectl apply -f gateway.yaml\n{moves}"
    assert missing(tmp_path, {**FILES, "up.sh": script}) == ["unknown"]
    assert len(starts("up.sh", ScriptText(moves))) <= 620


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (
            'GATEWAY_YAML="${ISTIO_DIR}/samples/gateway-api/edge-gateway.yaml"\n$KUBECTL apply -f ${GATEWAY_YAML}',
            "unknown",
        ),
        ("  local yaml=../samples/edge-gateway.yml\nkubectl apply -f $yaml", "unknown"),
        ("yaml=samples/other-gateway.yaml\nkubectl apply -f $yaml", "certain"),
        ("yaml=samples/edge-gateway.json\nkubectl apply -f $yaml", "certain"),
        ("yaml=a/route.yaml\nkubectl apply -f $yaml", "certain"),
    ],
)
def test_a_gateway_that_a_script_takes_from_elsewhere_is_not_missing(script: str, found: str, tmp_path: Path) -> None:
    """kiali/kiali hack/istio/install-bookinfo-demo.sh applies the samples of Istio's distribution."""
    route = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: shop}\n"
        "spec: {parentRefs: [{name: edge-gateway}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n"
    )
    other = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: side, namespace: shop}\n"
        "spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
    )
    files = {"a/gateway.yaml": other, "a/route.yaml": route, "up.sh": f"kubectl version\n{script}\n"}
    assert [each.confidence for each in tree(tmp_path, files).findings() if each.rule == "GWP401"] == [found]
