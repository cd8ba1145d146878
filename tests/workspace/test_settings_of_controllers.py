"""What controllers are set to, as the tree states it: every setting of the catalog is read from where it stands.

Predicted from envoyproxy/gateway, api/v1alpha1/envoygateway_types.go (Backend and EnvoyPatchPolicy are off by default),
istio/istio, pilot/pkg/features and MeshConfig, and kgateway's chart (install/helm/kgateway/templates/deployment.yaml).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policylint.catalog.kinds import shipped_catalog
from policylint.catalog.releases import about, names
from policylint.checks import run
from policylint.model import mapping, sequence, text
from policylint.session import upgrade
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from policylint.workspace import open_workspace
from tests import worlds
from tests.worlds import gateway, gateway_class, manifest, route, service

UNREAD = {"gloo": {"namespace"}, "envoy-gateway": {"authorizesConnections", "mergesAtListenerSets"}}
"""Settings that no configuration of the controller has: where Gloo is installed says under which name it writes, and
the release of Envoy Gateway whether it authorizes connections, and where it merges."""
BACKEND = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "Backend",
    "out",
    "shop",
    "spec: {endpoints: [{fqdn: {hostname: api.vendor.example, port: 443}}]}",
)
ENVOY = "\n---\n".join(
    [
        gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway(),
        route(more="rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: out}]}]"),
        BACKEND,
    ]
)
ON, OFF = "extensionApis: {enableBackend: true}", "extensionApis: {enableEnvoyPatchPolicy: true}"
ISTIOD = "registry.example/istio/pilot:1.29.0"


def own(*lines: str, name: str = "envoy-gateway-config") -> str:
    """Return a configuration of Envoy Gateway as its chart writes it."""
    body = "\n".join(f"    {line}" for line in ("kind: EnvoyGateway", *lines))
    return manifest("v1", "ConfigMap", name, "eg", f"data:\n  envoy-gateway.yaml: |\n{body}")


def in_braces(configuration: str, field: str = "envoy-gateway.yaml", name: str = "config") -> str:
    """Return a ConfigMap whose data are written in flow style, on one line."""
    return manifest("v1", "ConfigMap", name, "istio-system", f"data: {{{field}: {json.dumps(configuration)}}}")


def release(chart: str, values: str, more: str = "") -> str:
    named = f"chart: {{spec: {{chart: {chart}, sourceRef: {{kind: HelmRepository, name: r}}}}}}"
    spec = f"spec: {{{named}, values: {values}{more}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", chart, "system", spec)


def by_k3s(configuration: str) -> str:
    values = f"valuesContent: 'config: {{envoyGateway: {configuration}}}'"
    return manifest(
        "helm.cattle.io/v1",
        "HelmChart",
        "eg",
        "kube-system",
        f"spec: {{chart: oci://r.example/gateway-helm, {values}}}",
    )


def mesh(config: str, name: str = "istio") -> str:
    return manifest("v1", "ConfigMap", name, "istio-system", f"data:\n  mesh: |\n    {config}")


def istiod(variables: str) -> str:
    container = f"{{name: discovery, image: '{ISTIOD}', env: [{variables}]}}"
    spec = f"spec: {{template: {{spec: {{containers: [{container}]}}}}}}"
    return manifest("apps/v1", "Deployment", "istiod", "istio-system", spec)


def settled(simulation: Simulation, implementation: str, name: str) -> Any:
    return simulation.catalog.settings(implementation)[name]


def test_every_setting_says_where_it_stands() -> None:
    for file in shipped_catalog():
        implementation, known = file.implementation, set(file.settings())
        written = mapping(about(implementation).configuration) if implementation in names() else {}
        read = {text(mapping(each).get("name")) for each in sequence(written.get("settings"))}
        assert known - read == UNREAD.get(implementation, set()), implementation
        assert read <= known, implementation


@pytest.mark.parametrize(
    ("configurations", "status"),
    [
        ([], None),
        ([own()], 500),
        ([own(OFF)], 500),
        ([own(ON)], None),
        ([own("extensionApis: {enableBackend: ${ON}}")], None),
        ([own(OFF), own(ON, name="other")], None),
        ([in_braces(f"kind: EnvoyGateway\n{OFF}\n")], 500),
        ([in_braces(f"apiVersion: a/v1\nkind: EnvoyGateway\n{ON}\n")], None),
        ([in_braces(json.dumps({"kind": "EnvoyGateway", "extensionApis": {"enableBackend": False}}))], 500),
        ([release("gateway-helm", "{}")], 500),
        ([release("gateway-helm", f"{{config: {{envoyGateway: {{{OFF}}}}}}}")], 500),
        ([release("gateway-helm", f"{{config: {{envoyGateway: {{{ON}}}}}}}")], None),
        ([release("gateway-helm", "{}", ", valuesFrom: [{kind: ConfigMap, name: more}]")], None),
        ([release("gateway-crds-helm", "{}")], None),
        ([by_k3s("{logging: {}}")], 500),
        ([by_k3s(f"{{{ON}}}")], None),
    ],
)
def test_backends_are_off_where_the_configuration_does_not_turn_them_on(
    configurations: list[str], status: int | None, tmp_path: Path
) -> None:
    simulation = worlds.opened(tmp_path, ENVOY, *configurations)
    assert Tracer(simulation).trace(request({"host": "shop.example", "path": "/"})).outcome.status == status
    told = [each.message for each in run(simulation, select={"GWP406"}) if "is disabled" in each.message]
    assert bool(told) == (status == 500)


def test_patches_are_off_where_the_configuration_does_not_turn_them_on(tmp_path: Path) -> None:
    kind = "type.googleapis.com/envoy.config.listener.v3.Listener"
    operation = "{op: add, path: /per_connection_buffer_limit_bytes, value: 1}"
    patches = f"jsonPatches: [{{type: {kind}, name: infra/edge/http, operation: {operation}}}]"
    target = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"
    spec = f"spec: {{{target}, type: JSONPatch, {patches}}}"
    patch = manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy", "patch", "infra", spec)
    assert worlds.verdicts(worlds.opened(tmp_path, ENVOY, patch))["patch"] != "Invalid"
    assert worlds.verdicts(worlds.opened(tmp_path, ENVOY, patch, own(ON)))["patch"] == "Invalid"


@pytest.mark.parametrize(
    ("stated", "name", "value"),
    [
        (mesh("trustDomain: corp.example"), "trustDomain", "corp.example"),
        (
            in_braces("trustDomain: corp.example", "mesh").replace("name: config", "name: istio"),
            "trustDomain",
            "corp.example",
        ),
        (
            in_braces("trustDomain: corp.example", '"mesh"').replace("name: config", "name: istio"),
            "trustDomain",
            "corp.example",
        ),
        (mesh("trustDomainAliases: [old.example]"), "trustDomainAliases", ["old.example"]),
        (mesh("rootNamespace: mesh"), "rootNamespace", "mesh"),
        (mesh("rootNamespace: mesh", "istio-canary"), "rootNamespace", "mesh"),
        (mesh("rootNamespace: mesh", "other"), "rootNamespace", "istio-system"),
        (mesh("rootNamespace: [mesh]"), "rootNamespace", "istio-system"),
        (mesh("defaultConfig: {gatewayTopology: {numTrustedProxies: 2}}"), "numTrustedProxies", 2),
        (mesh("outboundTrafficPolicy: {mode: REGISTRY_ONLY}"), "outboundTrafficPolicy", "REGISTRY_ONLY"),
        (mesh("outboundTrafficPolicy: {mode: NONE}"), "outboundTrafficPolicy", "ALLOW_ANY"),
        (
            mesh("defaultProviders: {accessLogging: [envoy]}"),
            "defaultProviders",
            {"metrics": ["prometheus"], "accessLogging": ["envoy"]},
        ),
        (release("istiod", "{meshConfig: {trustDomain: corp.example}}"), "trustDomain", "corp.example"),
        (release("istiod", "{pilot: {env: {ENABLE_MCS_HOST: 'true'}}}"), "mcsHosts", True),
        (release("istiod", "{env: {ISTIO_GATEWAY_STRIP_HOST_PORT: true}}"), "stripHostPort", True),
        (istiod("{name: PILOT_ENABLE_ALPHA_GATEWAY_API, value: 'false'}"), "alphaGatewayApi", False),
        (
            istiod("{name: ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY, value: '0'}"),
            "selectorBasedGatewayPolicy",
            False,
        ),
        (
            istiod("{name: PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS, value: 'true'}"),
            "multipleCustomProviders",
            True,
        ),
        (istiod("{name: ENABLE_GATEWAY_API_INFERENCE_EXTENSION, value: 'false'}"), "inferenceExtension", False),
        (istiod("{name: ENABLE_MCS_HOST, valueFrom: {fieldRef: {fieldPath: a}}}"), "mcsHosts", False),
        (
            manifest(
                "install.istio.io/v1alpha1",
                "IstioOperator",
                "mesh",
                "istio-system",
                "spec: {meshConfig: {trustDomain: corp.example}}",
            ),
            "trustDomain",
            "corp.example",
        ),
    ],
)
def test_the_mesh_is_as_its_configuration_says(stated: str, name: str, value: object, tmp_path: Path) -> None:
    simulation = worlds.opened(tmp_path, gateway_class("any", "istio.io/gateway-controller"), gateway(), stated)
    assert settled(simulation, "istio", name) == value


@pytest.mark.parametrize(
    ("variables", "is_on"),
    [
        ("", False),
        ("{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}", False),
        ("{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}", True),
        ("{name: PILOT_ENABLE_ALPHA_GATEWAY_API, value: 'true'}", True),
    ],
)
def test_what_is_off_by_default_is_off_where_all_variables_were_seen(
    variables: str, is_on: bool, tmp_path: Path
) -> None:
    """The image tells the release, and with it the defaults, unless a variable may come from elsewhere."""
    edge = gateway_class("any", "istio.io/gateway-controller")
    simulation = worlds.opened(tmp_path, edge, gateway(), istiod(variables))
    assert settled(simulation, "istio", "alphaGatewayApi") == is_on


def test_configurations_that_differ_say_nothing(tmp_path: Path) -> None:
    both = (mesh("trustDomain: a.example", "istio-a"), mesh("trustDomain: b.example", "istio-b"))
    simulation = worlds.opened(tmp_path, gateway_class("any", "istio.io/gateway-controller"), *both)
    assert settled(simulation, "istio", "trustDomain") == "cluster.local"


DEEP = {"trafficPolicy": {"extAuth": "DeepMerge"}}


@pytest.mark.parametrize(
    ("values", "name", "value"),
    [
        ("{policyMerge: {trafficPolicy: {extAuth: DeepMerge}}}", "policyMerge", DEEP),
        (
            '{controller: {extraEnv: {KGW_POLICY_MERGE: \'{"trafficPolicy": {"extAuth": "DeepMerge"}}\'}}}',
            "policyMerge",
            DEEP,
        ),
        ("{validation: {level: strict}}", "validationMode", "strict"),
        ("{controller: {extraEnv: {KGW_REFERENCE_GRANT_MODE: strict}}}", "referenceGrantMode", "strict"),
        ("{controller: {extraEnv: {KGW_GLOBAL_POLICY_NAMESPACE: edge}}}", "globalPolicyNamespace", "edge"),
    ],
)
def test_values_of_the_chart_of_kgateway(values: str, name: str, value: object, tmp_path: Path) -> None:
    edge = gateway_class("any", "kgateway.dev/kgateway")
    simulation = worlds.opened(tmp_path, edge, gateway(), release("kgateway", values))
    assert settled(simulation, "kgateway", name) == value


def test_values_of_the_chart_of_agentgateway(tmp_path: Path) -> None:
    values = "{controller: {extraEnv: {AGW_BACKEND_REF_GRANT_MODE: none}}}"
    edge = gateway_class("any", "agentgateway.dev/agentgateway")
    simulation = worlds.opened(tmp_path, edge, gateway(), release("agentgateway", values), service())
    assert settled(simulation, "agentgateway", "backendRefGrantMode") == "none"


@pytest.mark.parametrize(
    ("configuration", "authority", "told"),
    [
        (OFF, "wellKnownCACertificates: System", True),
        (OFF, "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]", True),
        (ON, "wellKnownCACertificates: System", False),
        (ON, "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]", False),  # the policy says why
    ],
)
def test_a_refused_policy_hides_no_backend_that_is_off(
    configuration: str, authority: str, told: bool, tmp_path: Path
) -> None:
    spec = (
        "spec: {targetRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: out}], "
        f"validation: {{hostname: api.vendor.example, {authority}}}}}"
    )
    policy = manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "out", "shop", spec)
    simulation = worlds.opened(tmp_path, ENVOY, policy, own(configuration))
    assert bool(list(run(simulation, select={"GWP406"}))) is told


@pytest.mark.parametrize("kind", ["RequestMirror", "ExternalAuth"])
def test_a_filter_is_told_of_as_what_it_is(kind: str, tmp_path: Path) -> None:
    named = "backendRef: {group: gateway.envoyproxy.io, kind: Backend, name: out}"
    field = {"RequestMirror": "requestMirror", "ExternalAuth": "externalAuth"}[kind]
    filters = f"filters: [{{type: {kind}, {field}: {{protocol: HTTP, {named}}}}}]"
    calling = route("calling", more=f"rules: [{{{filters}, backendRefs: [{{name: checkout, port: 80}}]}}]")
    simulation = worlds.opened(tmp_path, ENVOY, calling, worlds.service(), own(OFF))
    found = [each.message for each in run(simulation, select={"GWP406"}) if "calling" in each.message]
    assert [f"Failed to validate the {kind} filter: Backend is disabled" in each for each in found] == [True]


@pytest.mark.parametrize(
    "configuration", [own, lambda said: release("gateway-helm", f"{{config: {{envoyGateway: {{{said}}}}}}}")]
)
def test_an_upgrade_knows_the_settings_of_each_environment(configuration: Any, tmp_path: Path) -> None:
    """What a configuration says for one environment is nothing to the other one, for `upgrade` as for `lint`."""
    for name, said in (("one", ON), ("two", "extensionApis: {enableBackend: false}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.yaml").write_text("\n---\n".join([ENVOY, configuration(said)]), encoding="utf-8")
        (tmp_path / name / "kustomization.yaml").write_text("resources: [all.yaml]\n", encoding="utf-8")
    workspace = open_workspace([str(tmp_path)])
    judged = {settled(each, "envoy-gateway", "enableBackend") for each in workspace.simulations}
    assert judged == {True, False}
    for simulation in workspace.simulations:
        said_of_it = upgrade._settings(simulation, workspace, {"envoy-gateway": (1, 8)})["envoy-gateway"]
        assert said_of_it["enableBackend"] is settled(simulation, "envoy-gateway", "enableBackend")


def test_containers_are_looked_at_once_for_all_products(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from policylint.render import controllers

    body = "spec: {template: {spec: {containers: [{name: main, image: registry.example/some/program:1.0.0}]}}}"
    classes = [
        gateway_class("one", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway_class("other", "istio.io/gateway-controller"),
        gateway_class("third", "kgateway.dev/kgateway"),
    ]
    programs = [manifest("apps/v1", "Deployment", f"program-{number}", "shop", body) for number in range(5)]
    (tmp_path / "world.yaml").write_text("---\n".join([*classes, gateway(), *programs]))
    asked: list[Any] = []
    image_of = controllers.image_of
    monkeypatch.setattr(controllers, "image_of", lambda container: asked.append(container) or image_of(container))
    assert open_workspace([str(tmp_path)]).simulations
    assert len(asked) == len(programs)
