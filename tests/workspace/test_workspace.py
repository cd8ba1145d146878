"""From paths to simulations: identities, namespaces, lists, snapshots, editions, and what is read at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import UsageError, Workspace, open_workspace

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: NAME}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]
  timeout: {http: {requestTimeout: 5s}}
"""


def opened(tmp_path: Path, *documents: str, name: str = "all.yaml", **options: object) -> Workspace:
    (tmp_path / name).write_text("---".join(documents), encoding="utf-8")
    return open_workspace([str(tmp_path)], **options)  # type: ignore[arg-type]


def keys(workspace: Workspace) -> list[str]:
    return sorted(str(key) for key in workspace.simulations[0].world.resources)


def test_plain_manifests_land_in_the_default_namespace(tmp_path: Path) -> None:
    assert keys(opened(tmp_path, GATEWAY)) == ["Gateway default/g"]


@pytest.mark.parametrize("kind", ["List", "GatewayList"])
def test_lists_are_taken_apart_and_their_items_keep_their_places(tmp_path: Path, kind: str) -> None:
    item = "- {apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {}}"
    workspace = opened(tmp_path, f"apiVersion: v1\nkind: {kind}\nitems:\n{item}\n")
    assert keys(workspace) == ["Gateway default/g"]
    (gateway,) = workspace.simulations[0].world.resources.values()
    assert gateway.name_location.at() == (4, 78)


def test_kinds_that_nothing_reads_are_counted_not_parsed(tmp_path: Path) -> None:
    recipe = "apiVersion: example.org/v1\nkind: Recipe\nmetadata: {name: r}\nspec: {}\n"
    workspace = opened(tmp_path, recipe, GATEWAY)
    assert workspace.coverage.unread == 1
    assert keys(workspace) == ["Gateway default/g"]
    assert keys(opened(tmp_path, recipe, GATEWAY, strict=True)) == ["Gateway default/g", "Recipe default/r"]


def test_what_a_route_refers_to_is_read_after_all(tmp_path: Path) -> None:
    route = (
        "\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\n"
        "spec: {rules: [{backendRefs: [{group: example.org, kind: Recipe, name: soup}]}]}\n"
    )
    recipe = "\napiVersion: example.org/v1\nkind: Recipe\nmetadata: {name: soup}\n"
    assert "Recipe default/soup" in keys(opened(tmp_path, recipe, route))


def test_a_cluster_scoped_kind_of_a_crd_has_no_namespace(tmp_path: Path) -> None:
    crd = (
        "\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: widepolicies.example.org}\n"
        "spec:\n  group: example.org\n  scope: Cluster\n  names: {kind: WidePolicy, plural: widepolicies}\n"
        "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
    )
    policy = (
        "\napiVersion: example.org/v1\nkind: WidePolicy\nmetadata: {name: w}\n"
        "spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g, namespace: default}, x: 1}\n"
    )
    simulation = opened(tmp_path, crd, policy, GATEWAY).simulations[0]
    assert {str(key): state.verdict for key, state in simulation.policies.items()} == {"WidePolicy w": "Enforced"}


def test_a_snapshot_supplies_real_ages_and_objects_that_are_not_in_git(tmp_path: Path) -> None:
    """Two policies claim one Gateway: by name the first keeps it, by their real ages the second."""
    policies = POLICY.replace("NAME", "a"), POLICY.replace("NAME", "b")
    dump = tmp_path / "dump.yaml"
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    by_name = opened(manifests, GATEWAY, *policies)
    assert refused(by_name) == ["b"]
    ages = (("a", "2026-02-01T00:00:00Z"), ("b", "2026-01-01T00:00:00Z"))
    dump.write_text(
        "---".join(
            POLICY.replace("NAME", f"{name}, namespace: default, creationTimestamp: '{age}'") for name, age in ages
        )
        + "---\napiVersion: v1\nkind: Service\nmetadata: {name: live, namespace: default}\n"
    )
    by_age = open_workspace([str(manifests)], snapshot=str(dump))
    assert refused(by_age) == ["a"]
    assert "Service default/live" in keys(by_age)


def refused(workspace: Workspace) -> list[str]:
    return [name for name, verdict in verdicts(workspace).items() if verdict == "Conflicted"]


def verdicts(workspace: Workspace) -> dict[str, str]:
    return {key.name: state.verdict for key, state in workspace.simulations[0].policies.items()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"semantics": "gep-1"}, "unknown semantics 'gep-1'"),
        ({"snapshot": "nowhere.yaml"}, "cannot read snapshot 'nowhere.yaml'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(tmp_path, GATEWAY, **options)


def test_the_same_input_gives_the_same_answer_whatever_the_order_of_files(tmp_path: Path) -> None:
    forward, backward = tmp_path / "forward", tmp_path / "backward"
    documents = [GATEWAY, POLICY.replace("NAME", "a"), POLICY.replace("NAME", "b")]
    for folder, ordered in ((forward, documents), (backward, documents[::-1])):
        folder.mkdir()
        for number, document in enumerate(ordered):
            (folder / f"{number}.yaml").write_text(document)
    assert verdicts(open_workspace([str(forward)])) == verdicts(open_workspace([str(backward)]))


@pytest.mark.parametrize(
    ("kind", "resolution"),
    [
        ("multicluster.x-k8s.io/v1alpha1, kind: ServiceImport", "missing"),
        ("inference.networking.k8s.io/v1, kind: InferencePool", "missing"),
        ("multicluster.x-k8s.io/v1alpha1, kind: ServiceExport", "missing"),
        ("example.org/v1, kind: Recipe", "unknown"),
    ],
)
def test_of_an_operators_input_a_service_may_be_made_of_a_backend_none(
    tmp_path: Path, kind: str, resolution: str
) -> None:
    other = f"\n{{apiVersion: {kind}, metadata: {{name: other}}}}\n"
    route = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\n"
        "spec: {rules: [{backendRefs: [{name: gone, port: 80}]}]}\n---\n"
        "{apiVersion: v1, kind: Service, metadata: {name: here}}\n"
    )
    (state,) = opened(tmp_path, route, other).simulations[0].topology.routes
    assert state.backends[0].resolution.state == resolution
