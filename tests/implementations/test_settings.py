"""Settings of controllers that stand in no manifest: defaults, other values, and what they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from policylint.catalog.kinds import load_catalog
from policylint.cli import main
from policylint.implementations.istio.labels import ROOT_NAMESPACE
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from policylint.workspace import UsageError, open_workspace
from tests import worlds
from tests.implementations.test_istio import deployment, gateway, policy
from tests.worlds import manifest, verdicts

ROOT = Path(__file__).parents[2]
CATALOG = load_catalog()
IMPLEMENTATIONS = ("agentgateway", "envoy-gateway", "gloo", "istio", "kgateway")
CASES = ROOT.parent / "shared" / "cases"


def simulated(tmp_path: Path, *manifests: str, **settings: Any) -> Simulation:
    (tmp_path / "world.yaml").write_text("---\n".join(manifests))
    given = {name.replace("_", "-"): each for name, each in settings.items()}
    return open_workspace([str(tmp_path)], settings=given).simulations[0]


# --- the list ---------------------------------------------------------------------------------------------------------


def test_the_schema_of_the_configuration_is_that_of_the_catalog() -> None:
    schema = json.loads((ROOT / "schemas" / "config.json").read_text())["properties"]["implementations"]["properties"]
    assert sorted(schema) == list(IMPLEMENTATIONS)
    for name, of in schema.items():
        known = {setting: dict(each.schema) for setting, each in CATALOG.known_settings(name).items()}
        assert of["properties"] == known


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_defaults_are_values_and_are_told(implementation: str) -> None:
    page = (ROOT / "docs" / "implementations.md").read_text()
    for name, each in CATALOG.known_settings(implementation).items():
        jsonschema.validate(each.default, each.schema)
        shown = each.default if isinstance(each.default, str) and each.default else json.dumps(each.default)
        assert f"| `{implementation}` | `{name}` | `{shown}` |" in page


def test_the_default_root_namespace_is_the_one_of_the_code() -> None:
    assert CATALOG.settings("istio")["rootNamespace"] == ROOT_NAMESPACE


def test_kinds_shows_them() -> None:
    shown = CliRunner().invoke(main, ["kinds", "PeerAuthentication"]).output
    assert 'rootNamespace (default "istio-system")' in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 100
    assert "implementations:" not in CliRunner().invoke(main, ["kinds", "ClientSettingsPolicy"]).output


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"isto": {}}, "implementations: no settings of 'isto' (did you mean 'istio'?)"),
        ({"istio": {"rootnamespace": "x"}}, "implementations.istio: no setting 'rootnamespace' (did you mean 'rootNa"),
        ({"kgateway": {"validationMode": "lax"}}, "implementations.kgateway.validationMode: 'lax' is not one of"),
    ],
)
def test_what_there_cannot_be_is_refused(tmp_path: Path, settings: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_workspace([str(tmp_path)], settings=settings)
    assert str(caught.value).startswith(message)


def test_the_configuration_file_sets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "world.yaml").write_text(
        "---\n".join((deployment(), policy("AuthorizationPolicy", "all", "action: DENY, rules: [{}]", "mesh-root")))
    )

    def reached() -> list[Any]:
        shown = CliRunner().invoke(main, ["simulate", "-o", "json"])
        assert shown.exit_code == 0, shown.output
        return [each["path"] for each in json.loads(shown.stdout)["effective"]]

    assert reached() == []
    (tmp_path / ".policylint.yaml").write_text("implementations: {istio: {rootNamespace: mesh-root}}\n")
    assert reached() == [["Deployment foo/web"]]
    assert "istio" in CliRunner().invoke(main, ["config", "show"]).stdout
    (tmp_path / ".policylint.yaml").write_text("implementations: {istio: {rootNamespce: mesh-root}}\n")
    refused = CliRunner().invoke(main, ["simulate"])
    assert refused.exit_code == 2
    assert '.policylint.yaml:1:27: unknown key "rootNamespce" (did you mean "rootNamespace"?)' in refused.output


# --- Istio ------------------------------------------------------------------------------------------------------------


def test_istio_root_namespace(tmp_path: Path) -> None:
    manifests = (deployment(), policy("PeerAuthentication", "strict", "mtls: {mode: STRICT}", "mesh-root"))
    assert not simulated(tmp_path, *manifests).groups
    (group,) = simulated(tmp_path, *manifests, istio={"rootNamespace": "mesh-root"}).groups
    assert [str(node) for path in group.contexts() for node in path] == ["Deployment foo/web"]


def test_istio_gateways_that_take_no_selectors(tmp_path: Path) -> None:
    manifests = (
        gateway(),
        policy("AuthorizationPolicy", "wide", "action: DENY, rules: [{}]"),
        policy(
            "AuthorizationPolicy",
            "selected",
            "selector: {matchLabels: {gateway.networking.k8s.io/gateway-name: edge}}, action: DENY, rules: [{}]",
        ),
    )
    assert verdicts(simulated(tmp_path, *manifests)) == {"wide": "Enforced", "selected": "Enforced"}
    closed = simulated(tmp_path, *manifests, istio={"selectorBasedGatewayPolicy": False})
    assert verdicts(closed) == {"wide": "NoEffect", "selected": "TargetNotFound"}


# --- kgateway and Envoy Gateway: the projects' own cases --------------------------------------------------------------


def _case(name: str) -> Path:
    directory = CASES / name
    if not directory.is_dir():
        pytest.skip("the conformance cases are not beside this checkout")
    return directory / "manifests.yaml"


def conditions(simulation: Simulation, name: str) -> set[tuple[str, str, str]]:
    (state,) = (each for key, each in simulation.policies.items() if key.name == name)
    return {(each.type, each.status, each.reason) for one in state.ancestors for each in one.conditions}


def test_kgateway_strict_validation() -> None:
    file = _case("vendors/kgw-route-replacement-strict-attachment-gateway-listener-invalid-out")
    refused = {("Accepted", "False", "Invalid"), ("Attached", "False", "Pending")}
    for mode, wanted in (
        ("standard", {("Accepted", "True", "Valid"), ("Attached", "True", "Attached")}),
        ("strict", refused),
    ):
        simulation = open_workspace([str(file)], settings={"kgateway": {"validationMode": mode}}).simulations[0]
        assert conditions(simulation, "listener-level-invalid-policy") == wanted


@pytest.mark.parametrize(
    ("case", "mode", "verdict"),
    [
        ("permissive-extensionref-no-grant", "permissive", "Enforced"),
        ("permissive-extensionref-no-grant", "strict", "Invalid"),
        ("strict-extensionref-no-grant", "strict", "Invalid"),
        ("strict-extensionref-with-grant", "strict", "Enforced"),
        ("strict-extensionref-no-grant", "off", "Enforced"),
    ],
)
def test_kgateway_reference_grants(case: str, mode: str, verdict: str) -> None:
    file = _case(f"vendors/kgw-reference-grant-mode-{case}")
    simulation = open_workspace([str(file)], settings={"kgateway": {"referenceGrantMode": mode}}).simulations[0]
    assert set(verdicts(simulation).values()) == {verdict}


@pytest.mark.parametrize("field", ["extauth", "extproc", "transformation"])
def test_kgateway_deep_merge(field: str) -> None:
    file = _case(f"vendors/kgw-traffic-policy-{field}-deep-merge")
    name = {"extauth": "extAuth", "extproc": "extProc"}.get(field, field)
    shallow = open_workspace([str(file)]).simulations[0]
    settings = {"kgateway": {"policyMerge": {"trafficPolicy": {name: "DeepMerge"}}}}
    deep = open_workspace([str(file)], settings=settings).simulations[0]
    assert "False" in {status for key in shallow.policies for _, status, _ in conditions(shallow, key.name)}
    assert {each for key in deep.policies for each in conditions(deep, key.name)} <= {
        ("Accepted", "True", "Valid"),
        ("Attached", "True", "Attached"),
        ("Attached", "True", "Merged"),
    }


def test_kgateway_global_policy_namespace(tmp_path: Path) -> None:
    shop = manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        "shop",
        "shop",
        "spec: {parentRefs: [{name: edge}], rules: [{}]}",
        more="labels: {team: shop}",
    )
    edge = worlds.gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="kgateway")
    selectors = "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {team: shop}}]"
    spec = f"{selectors}, timeouts: {{request: 1s}}"
    traffic = worlds.policy("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", "global", "", spec, "policies")
    assert verdicts(simulated(tmp_path, shop, edge, traffic)) == {"global": "TargetNotFound"}
    found = simulated(tmp_path, shop, edge, traffic, kgateway={"globalPolicyNamespace": "policies"})
    assert verdicts(found) == {"global": "Enforced"}


def test_envoy_gateway_without_patches() -> None:
    file = _case("envoy-gateway/envoypatchpolicy-invalid-feature-disabled")
    settings = {"envoy-gateway": {"enableEnvoyPatchPolicy": False}}
    simulation = open_workspace([str(file)], settings=settings).simulations[0]
    assert conditions(simulation, "edit-conn-buffer-bytes") == {("Accepted", "False", "Disabled")}


def test_envoy_gateway_without_lua() -> None:
    file = _case("envoy-gateway/envoyextensionpolicy-lua-feature-disabled")
    simulation = open_workspace([str(file)], settings={"envoy-gateway": {"disableLua": True}}).simulations[0]
    assert ("Accepted", "False", "Invalid") in conditions(simulation, "policy-for-gateway")
    assert ("Overridden", "True", "Overridden") in conditions(simulation, "policy-for-gateway")
    assert set(verdicts(simulation).values()) == {"Invalid"}


def test_envoy_gateway_without_backends() -> None:
    file = _case("envoy-gateway/backend-invalid-feature-disabled")
    simulation = open_workspace([str(file)], settings={"envoy-gateway": {"enableBackend": False}}).simulations[0]
    assert ("Accepted", "False", "Invalid") in conditions(simulation, "envoy-gateway")
    (route,) = simulation.topology.routes
    (resolved,) = (each for each in route.parents[0].conditions if each.type == "ResolvedRefs")
    assert (resolved.status, resolved.reason) == ("False", "UnsupportedValue")
    assert resolved.message == (
        "Failed to process route rule 0 backendRef 0: Backend is disabled in Envoy Gateway configuration."
    )


def test_istio_with_several_authorizers(tmp_path: Path) -> None:
    from policylint.checks import run

    spec = "action: CUSTOM, provider: {name: %s}, rules: [{}]"
    manifests = [deployment(), *(policy("AuthorizationPolicy", each, spec % each) for each in ("a", "b"))]
    assert [each.rule for each in run(simulated(tmp_path, *manifests))] == ["GWP211"]
    assert [*run(simulated(tmp_path, *manifests, istio={"multipleCustomProviders": True}))] == []


def test_istio_default_providers(tmp_path: Path) -> None:
    """An entry without providers is about those of the mesh; without any it is ignored.

    Source: docs/design/implementations/istio.md §4.
    """
    manifests = (deployment(), policy("Telemetry", "logs", "accessLogging: [{filter: {expression: x}}]"))
    (group,) = simulated(tmp_path, *manifests).groups
    assert group.effective.spec == {}
    (group,) = simulated(tmp_path, *manifests, istio={"defaultProviders": {"accessLogging": ["envoy"]}}).groups
    logs = {"envoy": {"disabled": False, "filter": {"expression": "x"}}}
    assert group.effective.spec == {"accessLogging": logs}


@pytest.mark.parametrize(("settings", "reached"), [({}, True), ({"inferenceExtension": False}, False)])
def test_inference_pools_of_istio_are_backends_where_it_is_told_so(
    tmp_path: Path, settings: dict[str, Any], reached: bool
) -> None:
    """Source: pilot/pkg/config/kube/gateway/conversion.go, buildDestination (1.31)."""
    pool = "{group: inference.networking.k8s.io, kind: InferencePool, name: llm}"
    simulation = simulated(
        tmp_path,
        worlds.gateway_class("istio", "istio.io/gateway-controller"),
        worlds.gateway(of_class="istio"),
        worlds.route(more=f"rules: [{{backendRefs: [{pool}]}}]"),
        manifest(
            "inference.networking.k8s.io/v1", "InferencePool", "llm", "shop", "spec: {targetPorts: [{number: 80}]}"
        ),
        istio=settings,
    )
    outcome = Tracer(simulation).trace(request({"host": "a.example"})).outcome
    assert bool(outcome.backends) is reached
    assert outcome.status == (None if reached else 500)
    ((parent,),) = [route.parents for route in simulation.topology.routes]
    expected = "ResolvedRefs=True/ResolvedRefs" if reached else "ResolvedRefs=False/InvalidKind"
    assert expected in worlds.conditions(parent.conditions)
