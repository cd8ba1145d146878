"""What a policy names and nobody commits makes it neither invalid nor refused.

Source: docs/design/field-notes.md §1, need 1, three answers.

A tree leaves Secrets and CA bundles out, and what the namespace shows nothing of comes from elsewhere; files that the
user names one by one are all there is, which is how the conformance cases are run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.sources import open_source
from policylint.workspace import open_workspace
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service

CERTIFIED = (
    "[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}},"
    " {name: http, port: 80, protocol: HTTP}]"
)
"""The certificate is one of those that are not committed; kgateway serves nothing of a listener without its own."""
BASE = (
    gateway("gw", "shop", CERTIFIED, of_class="edge"),
    route("web", parents="[{name: gw}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
    service("web", ports="[{port: 80}]"),
)
SERVICE, ROUTE, GATEWAY = "Service/web", "HTTPRoute/web", "Gateway/gw"


def policy(api_version: str, kind: str, target: str, spec: str) -> str:
    return worlds.policy(api_version, kind, "p", target, spec, "shop")


def tls(kind: str) -> str:
    reference = f'{{group: "", kind: {kind}, name: ca}}'
    spec = f"validation: {{hostname: web, caCertificateRefs: [{reference}]}}"
    return policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", SERVICE, spec)


KGATEWAY, AGENTGATEWAY = "gateway.kgateway.dev/v1alpha1", "agentgateway.dev/v1alpha1"
POLICIES = {
    "kgateway, extension": (
        "kgateway.dev/kgateway",
        policy(KGATEWAY, "TrafficPolicy", GATEWAY, "extAuth: {extensionRef: {name: login}}"),
    ),
    "kgateway, API keys": (
        "kgateway.dev/kgateway",
        policy(KGATEWAY, "TrafficPolicy", ROUTE, "apiKeyAuth: {secretRef: {name: keys}}"),
    ),
    "kgateway, API keys by labels": (
        "kgateway.dev/kgateway",
        policy(KGATEWAY, "TrafficPolicy", ROUTE, "apiKeyAuth: {secretSelector: {matchLabels: {a: b}}}"),
    ),
    "kgateway, client certificate": (
        "kgateway.dev/kgateway",
        policy(KGATEWAY, "BackendConfigPolicy", SERVICE, "tls: {secretRef: {name: mine}}"),
    ),
    "kgateway, CA": ("kgateway.dev/kgateway", tls("ConfigMap")),
    "Envoy Gateway, CA": ("gateway.envoyproxy.io/gatewayclass-controller", tls("ConfigMap")),
    "Envoy Gateway, CA in a Secret": ("gateway.envoyproxy.io/gatewayclass-controller", tls("Secret")),
    "Istio, CA": ("istio.io/gateway-controller", tls("ConfigMap")),
    "NGINX Gateway Fabric, CA": ("gateway.nginx.org/nginx-gateway-controller", tls("ConfigMap")),
}


def verdict(tmp_path: Path, controller: str, manifest: str, *more: str, tree: bool = True) -> tuple[str, list[str]]:
    """The verdict on the policy, and the conditions that are False."""
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join((gateway_class("edge", controller), *BASE, manifest, *more)))
    (simulation,) = open_workspace([str(tmp_path if tree else file)]).simulations
    (state,) = simulation.policies.values()
    false = [
        f"{each.type}={each.reason}"
        for ancestor in state.ancestors
        for each in ancestor.conditions
        if each.status == "False" and each.type in ("Accepted", "ResolvedRefs")
    ]
    return state.verdict, false


@pytest.mark.parametrize("name", POLICIES)
def test_in_a_tree_it_is_taken_to_be_there(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, *POLICIES[name]) == ("Enforced", [])


@pytest.mark.parametrize("name", [each for each in POLICIES if each != "Envoy Gateway, CA in a Secret"])
def test_files_named_one_by_one_are_all_there_is(tmp_path: Path, name: str) -> None:
    found, false = verdict(tmp_path, *POLICIES[name], tree=False)
    assert (found, bool(false)) == ("Invalid", True)


def test_a_tree_that_has_such_objects_misses_one_with_another_name(tmp_path: Path) -> None:
    """A GatewayExtension beside the policy is misspelt in it: nothing else would bring it."""
    spec = "spec: {extAuth: {grpcService: {backendRef: {name: checkout, port: 80}}}}"
    other = f"apiVersion: {KGATEWAY}\nkind: GatewayExtension\nmetadata: {{name: logon, namespace: shop}}\n{spec}\n"
    assert verdict(tmp_path, *POLICIES["kgateway, extension"], other)[0] == "Invalid"


def test_a_secret_is_not_missing_beside_others(tmp_path: Path) -> None:
    other = "apiVersion: v1\nkind: Secret\nmetadata: {name: sops, namespace: shop}\n"
    assert verdict(tmp_path, *POLICIES["kgateway, API keys"], other)[0] == "Enforced"


def test_an_agentgateway_policy_is_wholly_valid_in_a_tree(tmp_path: Path) -> None:
    """Its controller accepts a policy in part; what is left of it must not hang on a Secret that nobody commits."""
    spec = "traffic: {apiKeyAuthentication: {secretRef: {name: keys}}}"
    file = tmp_path / "world.yaml"
    manifest = policy(AGENTGATEWAY, "AgentgatewayPolicy", ROUTE, spec)
    file.write_text("---\n".join((gateway_class("edge", "agentgateway.dev/agentgateway"), *BASE, manifest)))
    for path, reason in (tmp_path, "Valid"), (file, "PartiallyValid"):
        (state,) = open_workspace([str(path)]).simulations[0].policies.values()
        assert reason in {each.reason for ancestor in state.ancestors for each in ancestor.conditions}


def test_parameters_of_a_gateway_may_come_with_its_controller(tmp_path: Path) -> None:
    """The chart of NGINX Gateway Fabric makes the NginxProxy; a Gateway that names it is accepted.

    With a listener that is not valid this would be said in place of the parameters.
    """
    reference = "{group: gateway.nginx.org, kind: NginxProxy, name: settings}"
    plain = "[{name: http, port: 80, protocol: HTTP}]"
    named = gateway("gw", "shop", plain, f"infrastructure: {{parametersRef: {reference}}}", of_class="edge")
    controller = "gateway.nginx.org/nginx-gateway-controller"
    (tmp_path / "world.yaml").write_text("---\n".join((gateway_class("edge", controller), named, *BASE[1:])))
    for paths, accepted in ([str(tmp_path)], "True"), ([str(tmp_path / "world.yaml")], "False"):
        (state,) = open_workspace(paths).simulations[0].topology.gateways
        assert [each.status for each in state.conditions if each.type == "Accepted"] == [accepted]


def test_a_new_policy_whose_secret_is_elsewhere_takes_nothing_away(tmp_path: Path) -> None:
    """`diff` finds nothing: the route asks for a key where it asked for nothing before."""
    sides = []
    shop = (gateway_class("edge", "kgateway.dev/kgateway"), *BASE)
    for name, more in ("before", ()), ("after", (POLICIES["kgateway, API keys"][1],)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "world.yaml").write_text("---\n".join((*shop, *more)))
        sides.append(str(tmp_path / name))
    done = CliRunner().invoke(
        main, ["diff", "--rendered-before", sides[0], "--rendered-after", sides[1]], standalone_mode=False
    )
    assert "+ apiKeyAuth" in done.stdout
    assert done.return_value in (None, 0)
    assert "error" not in done.stdout


def test_what_a_source_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("{}")
    assert open_source([str(file)]).named
    assert not open_source([str(file), str(tmp_path)]).named
    assert not open_source(["-"]).named
    assert not open_source([]).named


FILLED = (
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: ca, namespace: infra, "
    "labels: {config.openshift.io/inject-trusted-cabundle: 'true'}}}"
)
CONTROLLERS = (
    "gateway.envoyproxy.io/gatewayclass-controller",
    "istio.io/gateway-controller",
    "kgateway.dev/kgateway",
    "gateway.nginx.org/nginx-gateway-controller",
    "example.net/controller",
)


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize(("holder", "taken"), [(FILLED, True), (FILLED.replace("inject", "other"), False)])
def test_a_bundle_of_authorities_that_the_cluster_fills(controller: str, holder: str, taken: bool) -> None:
    """Whoever reads it, and wherever it is named: by a BackendTLSPolicy, and by a Gateway for its clients."""
    authorities = "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"
    simulation = worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(
            listeners="[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}}]",
            more=f"tls: {{frontend: {{default: {{validation: {{{authorities}}}}}}}}}",
        ),
        worlds.route(namespace="infra", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(namespace="infra"),
        worlds.policy(
            "gateway.networking.k8s.io/v1",
            "BackendTLSPolicy",
            "to",
            "Service/checkout",
            f"validation: {{hostname: x.test, {authorities}}}",
            "infra",
        ),
        holder,
    )
    policy = worlds.state(simulation, "to")
    conditions = [each for ancestor in policy.ancestors for each in ancestor.conditions]
    refused = [each for each in conditions if each.type == "ResolvedRefs" and each.status == "False"]
    assert bool(refused or policy.invalid) is not taken
    (gateway,) = simulation.topology.gateways
    assert [bool(each.reason) for each in gateway.listeners[0].references if each.role == "ca"] in ([], [not taken])
