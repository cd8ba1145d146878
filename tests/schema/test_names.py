"""Objects with names that no API server takes: findings, and no part in anything, whatever their kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.doors import with_doors
from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import gateway, gateway_class, policy, route, service

CLASS = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
LOGIN = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
BASIC = "basicAuth: {users: {name: users}}"
TO_CHECKOUT = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"


def shop(
    tmp_path: Path, *, of_route: str = "checkout", of_policy: str = "login", of_service: str = "checkout"
) -> Simulation:
    """A shop whose only route has a login."""
    manifests = (
        CLASS,
        gateway(),
        route(of_route, more=TO_CHECKOUT),
        service(of_service),
        policy(*LOGIN, of_policy, f"HTTPRoute/{of_route}", BASIC, "shop"),
    )
    return worlds.opened(tmp_path, *manifests)


def about_names(simulation: Simulation) -> list[str]:
    return [f"{each.rule} {each.severity} {each.message}" for each in run(simulation) if each.field == "metadata.name"]


READ_AS_FALSE = "which the cluster reads as false, a boolean, not a string"
NAMES = {
    "Admin": ['GWP501 error HTTPRoute shop/Admin is called "Admin", which no API server takes'],
    "under_score": ['GWP501 error HTTPRoute shop/under_score is called "under_score", which no API server takes'],
    "-begins": ['GWP501 error HTTPRoute shop/-begins is called "-begins", which no API server takes'],
    "n": [
        f"GWP505 error HTTPRoute shop/false has `n` in metadata.name, {READ_AS_FALSE}",
    ],
    "12": ["GWP501 error HTTPRoute shop/12 has an integer in metadata.name, which takes a string"],
    "a.b-1": [],
    "'12'": [],
    "'${NAME}'": [],
    "tenant-COMPANY-NAME": [],
    "cluster-CLUSTER_NAME": [],
    "APP_NAME.ENV_1": [],
    "Cluster_Zone": ['GWP501 error HTTPRoute shop/Cluster_Zone is called "Cluster_Zone", which no API server takes'],
    "cluster_name": [],
    "SHOP": [],
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items(), ids=list(NAMES))
def test_a_route(name: str, expected: list[str], tmp_path: Path) -> None:
    simulation = shop(tmp_path, of_route=name)
    assert about_names(simulation) == expected
    assert bool(simulation.topology.routes) is not bool(expected), "what is refused is no route of any Gateway"


def test_a_policy_protects_nothing(tmp_path: Path) -> None:
    simulation = shop(tmp_path, of_policy="Login")
    (state,) = simulation.policies.values()
    assert (state.verdict, state.groups) == ("Invalid", [])
    assert simulation.acting.owners == {}


def test_a_service_is_not_known(tmp_path: Path) -> None:
    """A cluster may have a Service of the name, which then is another one; of 63 letters at most, and without dots."""
    for name in ("Checkout", "check.out", "c" * 64):
        found = about_names(shop(tmp_path, of_service=name))
        assert found == [f'GWP501 error Service shop/{name} is called "{name}", which no API server takes']


DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s, labels: {gateway.networking.k8s.io/policy: Inherited}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: WaitPolicy, plural: waitpolicies}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                targetRefs: {type: array, items: {type: object, properties: {kind: {type: string, enum: [%s]}}}}
"""


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [
        ("waitpolicies.example.com", True),
        ("waitpolicies.example.com-2", False),
        ("waitpolicy.example.com", False),
        ("'${PLURAL}.example.com'", True),
    ],
)
def test_a_definition_is_called_by_what_it_defines(tmp_path: Path, name: str, is_taken: bool) -> None:
    found = about_names(worlds.opened(tmp_path, DEFINITION % (name, "Gateway")))
    assert [each.split()[:2] for each in found] == ([] if is_taken else [["GWP501", "error"]])


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        ("storage: true", "storage: false", "stores none of its versions"),
        ("group: example.com", "group: example", 'has group "example"'),
        (
            "    - name: v1\n",
            "    - {name: v2, served: true, storage: true}\n    - name: v1\n",
            "stores 2 of its versions",
        ),
        (
            "    - name: v1\n",
            "    - {name: v1, served: true, storage: false, schema: {}}\n    - name: v1\n",
            "has two versions of one name",
        ),
        (
            "    - name: v1\n",
            "    - {name: v2, served: true, storage: false}\n    - name: v1\n",
            "has a version without a schema",
        ),
        ("storage: true", "storage: ${STORED}", ""),
    ],
)
def test_a_definition_has_a_group_and_one_version_that_is_stored(
    tmp_path: Path, written: str, instead: str, says: str
) -> None:
    name = "waitpolicies.example" if instead == "group: example" else "waitpolicies.example.com"
    simulation = worlds.opened(tmp_path, (DEFINITION % (name, "Gateway")).replace(written, instead))
    found = [each.message for each in run(simulation, select={"GWP501"}) if "no API server takes" in each.message]
    assert [says in each for each in found] == ([True] if says else [])


@pytest.mark.parametrize("is_first", [True, False])
def test_a_definition_that_no_api_server_takes_defines_nothing(tmp_path: Path, is_first: bool) -> None:
    manifests = [DEFINITION % ("waitpolicies.example.com", "Gateway"), DEFINITION % ("other.example.com", "HTTPRoute")]
    wait = worlds.manifest("example.com/v1", "WaitPolicy", "wait", "shop", "spec: {targetRefs: []}")
    simulation = worlds.opened(tmp_path, *(manifests if is_first else manifests[::-1]), wait)
    kind = simulation.catalog.get("example.com", "WaitPolicy")
    assert kind is not None
    assert [each.kind for each in kind.targets] == ["Gateway"]


def test_a_definition_whose_name_a_variable_fills_in_defines_its_kind(tmp_path: Path) -> None:
    wait = worlds.manifest("example.com/v1", "WaitPolicy", "wait", "shop", "spec: {targetRefs: []}")
    simulation = worlds.opened(tmp_path, DEFINITION % ("'${PLURAL}.example.com'", "Gateway"), wait)
    kind = simulation.catalog.get("example.com", "WaitPolicy")
    assert kind is not None
    assert [each.kind for each in kind.targets] == ["Gateway"]


HOSTS = "virtualhost: {fqdn: shop.example.com}, routes: [{services: [{name: web, port: 80}]}]"
SERVER = (
    "host: shop.example.com, upstreams: [{name: web, service: web, port: 80}], routes: [{path: /, action: {pass: web}}]"
)
CLOSED = "endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: x}}]}]"
RULE = "match: 'Host(`shop.example.com`)', kind: Rule, services: [{name: web, port: 80}]"
BACKED = "backend: {service: {name: web, port: {number: 80}}}"
RULES = f"rules: [{{host: shop.example.com, http: {{paths: [{{path: /, pathType: Prefix, {BACKED}}}]}}}}]"
UNSHIPPED = {
    "HTTPProxy": ("projectcontour.io/v1", HOSTS),
    "VirtualServer": ("k8s.nginx.org/v1", SERVER),
    "IngressRoute": ("traefik.io/v1alpha1", f"entryPoints: [web], routes: [{{{RULE}}}]"),
    "Ingress": ("networking.k8s.io/v1", RULES),
    "Middleware": ("traefik.io/v1alpha1", "basicAuth: {secret: users}"),
}


@pytest.mark.parametrize("kind", UNSHIPPED)
@pytest.mark.parametrize("name", ["n", "Web"])
def test_a_name_is_judged_whatever_the_kind(kind: str, name: str) -> None:
    version, spec = UNSHIPPED[kind]
    simulation = worlds.simulated(worlds.manifest(version, kind, name, "shop", f"spec: {{{spec}}}"), service("web"))
    assert len(about_names(simulation)) == 1
    assert len(simulation.refused) == 1
    assert not with_doors(simulation).topology.routes


@pytest.mark.parametrize("kind", UNSHIPPED)
def test_a_name_that_is_taken_serves(kind: str) -> None:
    version, spec = UNSHIPPED[kind]
    simulation = worlds.simulated(worlds.manifest(version, kind, "web", "shop", f"spec: {{{spec}}}"), service("web"))
    assert bool(with_doors(simulation).topology.routes) == (kind != "Middleware")


def test_a_policy_of_cilium_with_such_a_name_isolates_nobody() -> None:
    closed = worlds.manifest("cilium.io/v2", "CiliumNetworkPolicy", "n", "shop", f"spec: {{{CLOSED}}}")
    [policy_] = worlds.simulated(closed).network_policies
    assert policy_.refused


@pytest.mark.parametrize("kind", ["ClusterRole", "Role"])
def test_names_that_are_segments_of_paths_are_taken(kind: str) -> None:
    role = worlds.manifest("rbac.authorization.k8s.io/v1", kind, "system:node", "shop", "rules: []")
    assert not about_names(worlds.simulated(role))


OF_PROXIES = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httpproxies.projectcontour.io}
spec:
"""
BODY = (
    "group: projectcontour.io, scope: Namespaced, names: {plural: httpproxies, kind: HTTPProxy}, "
    "versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"
)


@pytest.mark.parametrize("is_flow", [True, False])
def test_a_door_of_a_version_that_its_crd_does_not_list_serves_nobody(*, is_flow: bool, tmp_path: Path) -> None:
    lines = (
        "  group: projectcontour.io\n  scope: Namespaced\n  names:\n    plural: httpproxies\n    kind: HTTPProxy\n"
        "  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
    )
    crd = OF_PROXIES + (f"  {{{BODY}}}\n" if is_flow else lines)
    proxy = worlds.manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{HOSTS}}}")
    simulation = worlds.opened(tmp_path, crd, proxy, service("web"))
    assert [each.key.kind for each in (broken.resource for broken in simulation.broken)] == ["HTTPProxy"]
    assert not with_doors(simulation).topology.routes
