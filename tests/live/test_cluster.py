"""`--live`: a cluster as kubectl prints it. A program that stands in for kubectl prints the objects of a fixture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from policylint.cli import main
from policylint.sources import kubectl

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures" / "envoy-gateway-shop"
UNWANTED = ("bindings", "configmaps", "pods", "secrets", "widgets.example.com", "helmreleases.helm.toolkit.fluxcd.io")
STAND_IN = """#!{python}
import sys
from pathlib import Path

here = Path(__file__).parent
with (here / "asked").open("a") as asked:
    asked.write(" ".join(sys.argv[1:]) + "\\n")
if (here / "refusal").exists():
    print("Warning: something else", file=sys.stderr)
    sys.exit((here / "refusal").read_text())
print((here / sys.argv[1]).read_text(), end="")
"""
RESOURCES = """\
bindings
configmaps
namespaces
pods
secrets
services
deployments.apps
helmreleases.helm.toolkit.fluxcd.io
networkpolicies.networking.k8s.io
widgets.example.com
gatewayclasses.gateway.networking.k8s.io
gateways.gateway.networking.k8s.io
httproutes.gateway.networking.k8s.io
backendtrafficpolicies.gateway.envoyproxy.io
securitypolicies.gateway.envoyproxy.io
"""


WANTED = ",".join(sorted(name for name in RESOURCES.split() if name not in UNWANTED))


class Cluster:
    """A kubectl in a directory of its own, and what it was asked."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir()
        program = place / "kubectl"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(0o755)
        (place / "api-resources").write_text(RESOURCES)
        documents = (each for file in sorted(SHOP.rglob("*.yaml")) for each in yaml.safe_load_all(file.read_text()))
        self.objects = [each for each in documents if each and each["kind"] not in ("Secret", "EnvoyExtensionPolicy")]
        for number, each in enumerate(self.objects):
            each["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:{number:02}Z"
        self.hold()

    def hold(self) -> None:
        (self.place / "get").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": self.objects}))

    @property
    def asked(self) -> list[str]:
        return (self.place / "asked").read_text().splitlines()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.place}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_what_acts_on_a_route_of_the_cluster(cluster: Cluster) -> None:
    result = run("explain", "HTTPRoute/shop/checkout", "--live", "-o", "json")
    assert result.exit_code == 0, result.stderr
    (explanation,) = json.loads(result.stdout)["explanations"]
    assert "dropped" in result.stdout and "edge-jwt" in result.stdout
    assert explanation["location"]["file"] == "<cluster>/HTTPRoute/shop/checkout"
    assert cluster.asked == [
        "api-resources --verbs=list --output=name --no-headers=true",
        f"get {WANTED} --all-namespaces --output=yaml",
    ], "no Secrets, no ConfigMaps, and nothing that changes anything"


@pytest.mark.parametrize(
    "name", [b"secrets,x", b"--server=http://evil/x", b"-f=/etc/passwd", b"--kubeconfig=x", "sécrets".encode()]
)
def test_what_an_aggregated_api_calls_its_resources_is_no_option_and_no_list(cluster: Cluster, name: bytes) -> None:
    file = cluster.place / "api-resources"
    file.write_bytes(file.read_bytes() + name + b".gateway.networking.k8s.io\n")
    assert run("explain", "HTTPRoute/shop/checkout", "--live").exit_code == 0
    assert cluster.asked[1] == f"get {WANTED} --all-namespaces --output=yaml"


@pytest.mark.usefixtures("cluster")
def test_a_request_to_the_cluster() -> None:
    result = run("trace", "GET", "https://shop.example.com/checkout", "--live")
    assert result.exit_code == 0, result.stderr
    assert "Result: reaches shop/checkout, no login." in result.stdout


def test_a_context_is_handed_on(cluster: Cluster) -> None:
    assert run("list", "policies", "--live", "--context", "staging").exit_code == 0
    assert all(line.endswith(" --context staging") for line in cluster.asked)


@pytest.mark.usefixtures("cluster")
def test_lint_of_a_cluster_heeds_no_configuration_of_the_directory() -> None:
    Path(".policylint.yaml").write_text("severity: {GWP201: 'off'}\n")
    result = run("lint", "--live", "-o", "concise")
    assert result.exit_code == 1
    assert "<cluster>/SecurityPolicy/shop/checkout-cors:17:11: error[GWP201]" in result.stdout
    assert "certificate" not in result.stdout, "Secrets were not asked for, and so are not missing"


@pytest.mark.usefixtures("cluster")
def test_beside_files_it_is_their_snapshot(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    shutil.copy(SHOP / "shop" / "checkout-cors.yaml", part)
    assert run("lint", str(part), "-o", "concise").stdout.count("GWP201") == 0
    assert "checkout-cors.yaml" in run("lint", str(part), "--live", "-o", "concise").stdout


def test_what_applying_a_directory_would_change(cluster: Cluster, tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    shutil.copy(SHOP / "shop" / "checkout-cors.yaml", part)
    same = run("diff", "--live", str(part))
    assert same.exit_code == 0, same.stderr
    assert same.stdout.startswith("no route changes its effective policy ")
    (policy,) = (each for each in cluster.objects if each["metadata"]["name"] == "checkout-cors")
    cluster.objects.remove(policy)
    cluster.hold()
    changed = run("diff", "--live", str(part))
    assert changed.exit_code == 1
    assert "- jwt" in changed.stdout and "+ cors" in changed.stdout and "GWP201" in changed.stdout
    assert "shop/cart" not in changed.stdout, "what the directory lacks stays in the cluster"


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "--live", "--staged"),
        ("lint", "--live", "--snapshot", "x.yaml"),
        ("explain", "Gateway/infra/edge", "--live", "--at", "HEAD"),
    ],
    ids=" ".join,
)
def test_what_does_not_go_together(arguments: tuple[str, ...], cluster: Cluster) -> None:
    Path("x.yaml").write_text("")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("policylint: ")
    assert cluster.place.is_dir()


def test_what_kubectl_refuses_is_one_line_and_exit_code_3(cluster: Cluster) -> None:
    (cluster.place / "refusal").write_text("Error from server (Forbidden): services is forbidden")
    result = run("lint", "--live")
    assert result.exit_code == 3
    assert result.stderr == (
        "policylint: kubectl api-resources ended with 1: Error from server (Forbidden): services is forbidden\n"
    )


def test_no_program_of_the_tree_is_run(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(cluster.place / "kubectl", "kubectl")
    monkeypatch.setenv("PATH", f".{os.pathsep}{Path.cwd()}")
    result = run("lint", "--live")
    assert result.exit_code == 2 and "no 'kubectl' in PATH outside of what is read" in result.stderr
    assert not Path("asked").exists()


def test_a_configuration_cannot_ask_for_it(cluster: Cluster) -> None:
    for key in ("live", "kubectl"):
        Path(".policylint.yaml").write_text(f"{key}: true\n")
        assert run("lint", ".").exit_code == 2
    assert not (cluster.place / "asked").exists()


def test_kubectl_finds_the_plugin_by_its_name() -> None:
    """As a program, whose process ends with it."""
    source = "from policylint.cli import kubectl_plugin; kubectl_plugin()"
    command = [sys.executable, "-c", source, "explain", "--help"]
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, capture_output=True, text=True, env=known, check=True)
    assert ended.stdout.startswith("Usage: kubectl policylint explain ")


def plugin(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="kubectl policylint")


def test_the_plugin_means_the_cluster_and_says_where_in_it(cluster: Cluster) -> None:
    """Places are objects and the lines that `kubectl get -o yaml` prints of them; hints ask the same cluster."""
    said = plugin("lint", "--context", "staging").stdout
    assert "  --> <cluster>/SecurityPolicy/shop/checkout-cors:17:11\n" in said
    assert "17 |     name: checkout\n" in said
    assert "  ::: <cluster>/SecurityPolicy/infra/edge-jwt:" in said
    assert "= see: policylint explain HTTPRoute/shop/checkout --live --context staging\n" in said
    assert len(cluster.asked) == 2
    assert plugin("explain", "HTTPRoute/shop/checkout").exit_code == 0
    assert len(cluster.asked) == 4


@pytest.mark.usefixtures("cluster")
def test_the_plugin_takes_files_and_revisions_for_what_they_are(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    shutil.copy(SHOP / "shop" / "checkout-cors.yaml", part)
    assert plugin("diff", str(part)).stdout.startswith("no route changes its effective policy ")
    assert (
        "unknown revision" in plugin("diff", "main..HEAD").stderr or "not a git" in plugin("diff", "main..HEAD").stderr
    )
    said = CliRunner().invoke(main, ["lint", "-"], prog_name="kubectl policylint", input="").output
    assert "no Gateway API manifests" in said


def test_objects_of_one_name_and_namespaces_of_any_are_told_apart() -> None:
    item = "- apiVersion: {0}/v1\n  kind: Gateway\n  metadata:\n    name: edge\n    namespace: {1}\n"
    written = f"apiVersion: v1\nitems:\n{item.format('a.io', 'tests')}{item.format('b.io', 'tests')}kind: List\n"
    found = kubectl.by_object(written.encode())
    assert list(found) == ["<cluster>/Gateway/tests/edge", "<cluster>/b.io/Gateway/tests/edge"]
    assert found["<cluster>/Gateway/tests/edge"] == (
        b"apiVersion: a.io/v1\nkind: Gateway\nmetadata:\n  name: edge\n  namespace: tests\n"
    )
    assert list(kubectl.by_object(b'{"kind": "List", "items": []}')) == ["<cluster>"]


def test_an_object_of_a_namespace_called_tests_is_one_of_the_cluster(cluster: Cluster) -> None:
    for each in cluster.objects:
        if each["metadata"].get("namespace") == "shop":
            each["metadata"]["namespace"] = "tests"
        if each["kind"] == "Namespace" and each["metadata"]["name"] == "shop":
            each["metadata"]["name"] = "tests"
    cluster.hold()
    assert "<cluster>/SecurityPolicy/tests/checkout-cors:" in run("lint", "--live", "-o", "concise").stdout


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl")
def test_the_real_kubectl_runs_it(tmp_path: Path) -> None:
    program = tmp_path / "kubectl-policylint"
    source = "from policylint.cli import kubectl_plugin; kubectl_plugin()"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.path[:0] = {sys.path!r}\n{source}\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = ["kubectl", "policylint", "lint", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.startswith("Usage: kubectl policylint lint "), done.stderr


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("kind: List\nitems: [{kind: Gateway\n", "line 3: "),
        ("kind: List\nitems: [\n  {{{\n", "kubectl printed no list of objects"),
        ("", "kubectl printed no list of objects"),
        ("Hello\n", "kubectl printed no list of objects"),
    ],
)
@pytest.mark.parametrize("command", [("lint",), ("list", "policies"), ("simulate",), ("diff", ".")], ids=" ".join)
def test_an_answer_that_is_no_list_is_no_empty_cluster(
    command: tuple[str, ...], answer: str, said: str, cluster: Cluster
) -> None:
    (cluster.place / "get").write_text(answer)
    result = run(*command, "--live")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("policylint: what the cluster holds cannot be read: ") and said in result.stderr


def test_an_answer_without_end_is_not_read_on(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubectl, "MAX_BYTES", 2**20)
    (cluster.place / "kubectl").write_text("#!/bin/sh\nyes 'items: []'\n")
    result = run("lint", "--live")
    assert result.exit_code == 3
    assert result.stderr == "policylint: kubectl api-resources: its answer is longer than 1 MiB, which is not read\n"


def test_an_answer_that_never_comes_is_not_waited_for(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubectl, "_SECONDS", 0.2)
    (cluster.place / "kubectl").write_text("#!/bin/sh\nexec sleep 60\n")
    result = run("lint", "--live")
    assert result.exit_code == 3
    assert result.stderr == "policylint: kubectl api-resources: no answer in 0 s\n"
