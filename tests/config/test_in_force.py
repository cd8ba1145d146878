"""What a configuration changes about a run of `lint`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "shop").mkdir()
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "shop" / "route.yaml").write_text(ROUTE)
    (tmp_path / "shop" / "cors.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str, config: str | None = None) -> Result:
    if config is not None:
        Path(".policylint.yaml").write_text(config)
    result = CliRunner().invoke(main, list(arguments))
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def rules(*arguments: str, config: str | None = None) -> list[tuple[str, str]]:
    result = run("lint", *arguments, "-o", "json", config=config)
    assert result.exit_code in (0, 1), result.output
    return sorted({(each["rule"], each["severity"]) for each in json.loads(result.stdout)["findings"]})


def test_the_schema_is_one() -> None:
    schema = json.loads((ROOT / "schemas" / "config.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.usefixtures("tree")
def test_severity_select_and_ignore() -> None:
    assert ("GWP101", "error") in rules()
    assert ("GWP101", "note") in rules(config="severity: {target-not-found: note}\n")
    assert ("GWP101", "warning") in rules(config="severity: {GWP1: note, GWP101: warning}\n")
    assert "GWP101" not in dict(rules(config="severity: {GWP101: 'off'}\n"))
    assert "GWP101" not in dict(rules(config="severity: {GWP101: off}\n")), "which YAML reads as false"
    assert "GWP101" not in dict(rules(config="ignore: [GWP1]\n"))
    assert "GWP101" in dict(rules("--select", "GWP101", config="ignore: [GWP1]\n")), "named outright"
    assert "GWP101" not in dict(rules("--select", "GWP1", config="ignore: [GWP101]\n"))
    assert rules("--select", "GWP101", config="select: [GWP4]\n") == [("GWP101", "error")]


@pytest.mark.usefixtures("tree")
def test_fail_on_and_min_severity_are_apart() -> None:
    assert run("lint", config="fail-on: never\n").exit_code == 0
    assert run("lint", "--fail-on", "error").exit_code == 1
    assert run("lint", config="severity: {GWP101: warning}\nmin-severity: error\n").exit_code == 0
    result = run("lint", config="severity: {GWP101: warning}\nmin-severity: error\nfail-on: warning\n")
    assert result.exit_code == 1
    assert "[GWP101]" not in result.stdout


def test_paths_and_exclude(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GWP101" not in dict(rules(config="paths: [gateway.yaml]\n"))
    assert "GWP101" in dict(rules("shop", config="paths: [gateway.yaml]\n"))
    assert "GWP101" not in dict(rules(config="exclude: [/shop/cors.yaml]\n"))
    monkeypatch.chdir(tree / "shop")
    assert "GWP101" not in dict(rules())


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("entry", ["HTTPRoute shop/chekout", "HTTPRoute/shop/chekout", "HTTPRoute shop/ch*"])
def test_assumed_objects_are_there(entry: str) -> None:
    assert "GWP101" not in dict(rules(config=f"assume: ['{entry}']\n"))
    assert "GWP101" in dict(rules(config=f"assume: ['{entry.replace('HTTPRoute', 'GRPCRoute')}']\n"))


def test_what_is_said_of_an_assumed_object_counts(tree: Path) -> None:
    (tree / "gateway.yaml").write_text(GATEWAY.replace("edge", "other"))
    known = "assume: [{kind: Gateway, namespace: shop, name: edge, spec: {listeners: [%s]}}]\n"
    http, tls = "{name: http, port: 80, protocol: HTTP}", "{name: tls, port: 443, protocol: TLS}"
    assert "GWP401" in dict(rules(config=""))
    assert not {"GWP401", "GWP403", "GWP409", "GWP501"} & dict(rules(config=known % http)).keys()
    assert "GWP403" in dict(rules(config=known % tls))


def test_labels_of_namespaces(tree: Path) -> None:
    selected = "protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}"
    (tree / "gateway.yaml").write_text(GATEWAY.replace("protocol: HTTP", selected))
    assert "GWP403" in dict(rules(config="namespaces: {shop: {team: b}}\n"))
    assert "GWP403" not in dict(rules(config="namespaces: {shop: {team: a}}\n"))


HUB = """
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: pod, namespace: policies}
spec: {remediationAction: enforce, disabled: false, policy-templates: []}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: bind, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: place}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: pod}]
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: place, namespace: policies}
spec:
  predicates:
    - requiredClusterSelector:
        labelSelector: {matchLabels: {env: prod}}
        claimSelector: {matchExpressions: [{key: platform, operator: In, values: [AWS]}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: live, namespace: policies}
spec: {clusterSet: live}
"""
INVENTORY = """
clusters:
  eu: {set: live, labels: {env: prod}, claims: {platform: AWS}}
  us: {set: live, labels: {env: prod}, claims: {platform: Azure}}
  far: {labels: {env: prod}, claims: {platform: AWS}}
  gpu: {set: live, labels: {env: prod}, claims: {platform: AWS}, taints: [{key: gpu, effect: NoSelect}]}
"""


def placed(config: str) -> list[tuple[list[str] | None, list[str], str]]:
    """Clusters for certain, those that may be, and the reason, of each entry of `bindings`."""
    shown = json.loads(run("simulate", "-o", "json", config=config).stdout)
    return [(entry["clusters"], entry["possible"], entry["reason"]) for entry in shown["bindings"]]


def test_an_inventory_makes_placements_sure(tree: Path) -> None:
    (tree / "hub.yaml").write_text(HUB)
    assert placed("{}\n") == [(None, [], "clusters-unknown")]
    assert placed(INVENTORY) == [(["eu"], [], "")]
    assert placed("clusters: {eu: {set: live, labels: {env: prod}}}\n") == [(None, ["eu"], "claims-unknown")]
    (tree / "chart.yaml").write_text(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: y}\n"
        "spec: {chart: {spec: {chart: x}}}\n"
    )
    assert placed(INVENTORY) == [(["eu"], [], "")], "it lists all clusters"


def test_a_set_that_is_assumed_to_be_bound(tree: Path) -> None:
    parts = HUB.split("---\n")
    (tree / "hub.yaml").write_text("---\n".join(parts[:-1]))
    assert placed(INVENTORY) == [(None, ["eu", "far"], "set-bindings-unknown")]
    bound = (
        "{group: cluster.open-cluster-management.io, kind: ManagedClusterSetBinding, namespace: policies, name: live"
    )
    assert placed(f"{INVENTORY}assume: [{bound}, spec: {{clusterSet: live}}}}]\n") == [(["eu"], [], "")]


def test_what_a_manifest_says_of_a_cluster_counts_more_than_the_inventory(tree: Path) -> None:
    cluster = "\n---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"
    (tree / "hub.yaml").write_text(f"{HUB}{cluster}metadata: {{name: eu, labels: {{env: dev}}}}\n")
    assert placed(INVENTORY) == [([], [], "no-match")]


def test_kinds_of_ones_own(tree: Path) -> None:
    (tree / "own.yaml").write_text(
        "apiVersion: shop.example.com/v1\nkind: ShopPolicy\nmetadata: {name: x, namespace: shop}\n"
        "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}]}\n"
    )
    kind = "{group: shop.example.com, kind: ShopPolicy, class: Direct, %s, merge: {strategy: none}}"
    target = "targets: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]"
    (tree / "shop" / "cors.yaml").unlink()
    assert "GWP101" in dict(rules(config="")), "a kind of that shape has a target, whatever it does"
    assert "GWP101" in dict(rules(config=f"kinds: [{kind % target}]\n"))
    assert "GWP102" in dict(rules(config=f"kinds: [{kind % target.replace('HTTPRoute', 'Gateway')}]\n"))
    result = run("lint", config=f"kinds: [{kind % 'targets: 4'}]\n")
    assert result.exit_code == 2
    assert result.stderr.startswith("policylint: .policylint.yaml:1:9: kinds[0].targets: 4 is not of type 'array'")


def test_environments_are_worlds_apart(tree: Path) -> None:
    for name in ("prod", "test"):
        (tree / name).mkdir()
        (tree / name / "all.yaml").write_text("---\n".join((GATEWAY, ROUTE)))
    for path in ("gateway.yaml", "shop/route.yaml", "shop/cors.yaml"):
        (tree / path).unlink()
    assert "GWP503" not in dict(rules(config=""))
    assert json.loads(run("lint", "-o", "json").stdout)["environments"] == ["prod", "test"]  # alternatives
    both = "environments: [{name: live, roots: [prod]}, {name: trial, roots: [test]}]\n"
    assert "GWP503" not in dict(rules(config=both))
    found = json.loads(run("lint", "-o", "json").stdout)
    assert found["environments"] == ["live", "trial"]
    assert json.loads(run("lint", "-o", "json", "--env", "trial").stdout)["environments"] == ["trial"]
    assert run("lint", "--env", "nowhere").exit_code == 2


def test_which_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GWP101" in dict(rules("--no-config", config="ignore: [GWP1]\n"))
    (tree / "other.yaml").write_text("ignore: [GWP4]\n")
    with (tree / "huge.toml").open("wb") as file:
        file.truncate(1 << 36)
    assert "GWP101" in dict(rules("--config", "other.yaml"))
    monkeypatch.setenv("POLICYLINT_CONFIG", "other.yaml")
    assert "GWP101" in dict(rules())
    for arguments, message in (
        (("--config", "gone.yaml"), "policylint: cannot read configuration 'gone.yaml': no such file or directory"),
        (("--config", "huge.toml"), "policylint: cannot read configuration 'huge.toml': it is larger than 1 MiB"),
        (("--config", "other.yaml", "--no-config"), "policylint: --config and --no-config cannot be used together"),
    ):
        result = run("lint", *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith(message)


@pytest.mark.usefixtures("tree")
def test_mistakes_end_with_2_in_one_line() -> None:
    for command in ("lint", "simulate"):
        result = run(command, config="fail-on: error\n\nsevrity: {}\n")
        assert result.exit_code == 2
        assert result.stderr == 'policylint: .policylint.yaml:3:1: unknown key "sevrity" (did you mean "severity"?)\n'
    result = run("lint", config="ignore:\n  - {rule: GWP1, path: a, reason: b}\n  - GWP999\n")
    assert result.stderr == "policylint: .policylint.yaml:3:5: unknown rule 'GWP999'\n"
    result = run("lint", config="severity: {target-not-fund: note}\n")
    assert "1:29: unknown rule 'target-not-fund' (did you mean 'target-not-found'?)" in result.stderr


@pytest.mark.usefixtures("tree")
def test_config_show_names_the_origin_of_each_value() -> None:
    result = run("config", "show", config="fail-on: warning\nseverity: {GWP2: note}\n")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "# .policylint.yaml"
    assert "fail-on: warning # .policylint.yaml:1:10" in lines
    assert "GWP2: note # .policylint.yaml:2:18" in lines
    assert "semantics: gep-713 # default" in lines
    assert run("config", "show", "--no-config").stdout.startswith("# no configuration file: these are the defaults\n")
    assert run("config", "show", config="severity: {GWP999: note}\n").exit_code == 2


@pytest.mark.usefixtures("tree")
def test_what_config_show_prints_is_a_configuration() -> None:
    config = (
        "exclude: ['*.gen.yaml', 'no']\nassume: [Service media/*, {kind: Gateway, name: x}]\n"
        "ignore: [GWP1, {rule: [GWP2, GWP3], path: 'a', reason: 'no: \"x\"'}]\nnamespaces: {shop: {team: 'on'}}\n"
        "clusters: {eu: {set: live, labels: {env: prod}}}\n"
    )
    shown = run("config", "show", config=config).stdout
    again = run("config", "show", config=shown).stdout
    assert [line.partition("  # ")[0] for line in again.splitlines()] == [
        line.partition("  # ")[0] for line in shown.splitlines()
    ]


KUSTOMIZATION = "resources: [gateway.yaml, shop/route.yaml]\n"


def test_render_is_that_of_the_option(tree: Path) -> None:
    """Nothing deploys shop/cors.yaml: only with `off` are files taken as they are."""
    (tree / "kustomization.yaml").write_text(KUSTOMIZATION)
    assert "GWP101" not in dict(rules(config="{}\n"))
    assert "GWP101" in dict(rules(config="render: 'off'\n"))
    assert "GWP101" in dict(rules(config="render: off\n")), "which YAML reads as false"
    assert "GWP101" not in dict(rules("--render", "builtin", config="render: off\n")), "the option wins"
    shown = run("config", "show").stdout
    assert 'render: "off"' in shown and ".policylint.yaml:1:9" in shown


def test_snapshot_is_that_of_the_option(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "cluster").mkdir()
    (tree / "cluster" / "dump.yaml").write_text(ROUTE.replace("checkout", "chekout"))
    (tree / "empty.yaml").write_text("{}\n")
    assert "GWP101" not in dict(rules(config="snapshot: cluster/dump.yaml\nexclude: [/cluster/]\n"))
    assert "GWP101" in dict(rules("--snapshot", "empty.yaml")), "the option wins"
    monkeypatch.chdir(tree / "shop")
    assert "GWP101" not in dict(rules()), "its path starts at the directory of the file"


@pytest.mark.usefixtures("tree")
def test_what_is_wrong_with_render_and_snapshot_is_said_with_its_place() -> None:
    result = run("lint", config="paths: [shop]\nsnapshot: nowhere.yaml\n")
    assert (result.exit_code, result.stderr) == (2, "policylint: .policylint.yaml:2:11: no such file: 'nowhere.yaml'\n")
    result = run("lint", config="render: externl\n")
    assert result.exit_code == 2
    assert ':1:9: render cannot be "externl" (did you mean "external"?); it is one of builtin, ' in result.stderr


def test_the_schema_knows_every_way_to_render() -> None:
    from policylint.workspace import RENDERERS

    schema = json.loads((ROOT / "schemas" / "config.json").read_text())
    assert {*schema["properties"]["render"]["enum"]} == {*RENDERERS, False}
