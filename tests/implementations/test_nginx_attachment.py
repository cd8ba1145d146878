"""Which listeners and routes NGINX Gateway Fabric serves, as its own code says (tests/witness)."""

from __future__ import annotations

from pathlib import Path

from policylint.checks.route_refused import check
from policylint.checks.shadowed_route_match import check as shadowed
from policylint.simulation import Simulation
from policylint.trace.request import from_url
from policylint.trace.tracing import Tracer
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, manifest, policy, route, service, simulated

GATEWAY_API = "gateway.networking.k8s.io"
CLASS = gateway_class("nginx", "gateway.nginx.org/nginx-gateway-controller")
OPEN = "allowedRoutes: {namespaces: {from: All}}"
TO_WEB = "rules: [{backendRefs: [{name: web, port: 80}]}]"


def world(directory: Path, *manifests: str) -> Simulation:
    file = directory / "world.yaml"
    file.write_text("---\n".join((CLASS, *manifests)))
    return open_workspace([str(file)]).simulations[0]


def edge(*listeners: str, more: str = "") -> str:
    return gateway("edge", "shop", f"[{', '.join(f'{{{each}}}' for each in listeners)}]", more, of_class="nginx")


def reasons(simulation: Simulation) -> dict[str, str]:
    """Return the reason of Accepted of each listener, "" where nothing is said of it."""
    (state,) = simulation.topology.gateways
    return {
        each.name: next((told.reason for told in each.conditions if told.type == "Accepted"), "")
        for each in state.listeners
    }


def outcome(simulation: Simulation, path: str = "/", method: str = "GET") -> str:
    """Return who gets a request, or the status of its answer."""
    end = Tracer(simulation).trace(from_url(method, f"http://a.example{path}")).outcome
    return str(end.status or " ".join(map(str, end.backends)))


def test_listeners_of_a_gateway_on_one_port_lose_together(tmp_path: Path) -> None:
    mixed = (
        "name: a, port: 80, protocol: HTTP",
        "name: b, port: 80, protocol: TCP",
        "name: c, port: 81, protocol: HTTP",
    )
    assert reasons(world(tmp_path, edge(*mixed))) == {"a": "ProtocolConflict", "b": "ProtocolConflict", "c": "Accepted"}


def test_of_two_with_one_hostname_the_first_one_stands(tmp_path: Path) -> None:
    twins = "name: a, port: 80, protocol: HTTP", "name: b, port: 80, protocol: HTTP"
    assert reasons(world(tmp_path, edge(*twins))) == {"a": "Accepted", "b": "HostnameConflict"}


def test_the_port_of_metrics_is_taken(tmp_path: Path) -> None:
    assert reasons(world(tmp_path, edge("name: a, port: 9113, protocol: HTTP"))) == {"a": "UnsupportedValue"}


def test_a_kind_of_routes_that_does_not_fit_closes_a_listener(tmp_path: Path) -> None:
    """Gateway API has the others of the list count all the same."""
    kinds = "allowedRoutes: {kinds: [{kind: HTTPRoute}, {kind: TLSRoute}]}"
    simulation = world(
        tmp_path,
        edge(f"name: a, port: 80, protocol: HTTP, {kinds}"),
        route("web", parents="[{name: edge}]", more=TO_WEB),
        service("web", ports="[{port: 80}]"),
    )
    assert reasons(simulation) == {"a": ""}
    (state,) = simulation.topology.routes
    assert [each.reason for each in state.parents[0].conditions if each.type == "Accepted"] == ["InvalidListener"]


def test_a_listener_set_with_a_name_of_the_gateway_takes_its_routes_away(tmp_path: Path) -> None:
    """A route that names no section stands for both, and one that names a listener twice is not looked at."""
    manifests = (
        edge(f"name: web, port: 80, protocol: HTTP, {OPEN}", more="allowedListeners: {namespaces: {from: All}}"),
        route("web", parents="[{name: edge}]", more=TO_WEB),
        service("web", ports="[{port: 80}]"),
    )
    (own := tmp_path / "own").mkdir()
    assert outcome(world(own, *manifests)) == "Service shop/web"
    late = "spec: {parentRef: {name: edge}, listeners: [{name: web, port: 81, protocol: HTTP}]}"
    both = world(tmp_path, *manifests, manifest(f"{GATEWAY_API}/v1", "ListenerSet", "late", "shop", late))
    assert outcome(both) == "404"
    (told,) = check(both)
    assert "it names listener web twice, and nothing is made of such a route" in told.message
    assert told.label == "no status says so"


def test_a_call_is_matched_by_service_and_method_alone(tmp_path: Path) -> None:
    """Of a rule that names only one of them nothing is made."""
    calls = "rules: [{matches: [{method: {method: Add}}], backendRefs: [{name: web, port: 80}]}, {matches: [{method:"
    calls += " {service: a.Cart, method: Add}}], backendRefs: [{name: web, port: 80}]}]"
    simulation = world(
        tmp_path,
        edge("name: a, port: 80, protocol: HTTP"),
        route("calls", parents="[{name: edge}]", more=calls, kind="GRPCRoute"),
        service("web", ports="[{port: 80}]"),
    )
    assert outcome(simulation, "/a.Cart/Add", "POST") == "Service shop/web"
    assert outcome(simulation, "/a.Stock/Add", "POST") == "404"


def test_a_backend_whose_tls_policy_is_not_valid_gets_no_requests(tmp_path: Path) -> None:
    validation = "validation: {hostname: web.example, caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]}"
    simulation = world(
        tmp_path,
        edge("name: a, port: 80, protocol: HTTP"),
        route("web", parents="[{name: edge}]", more=TO_WEB),
        service("web", ports="[{port: 80}]"),
        policy(f"{GATEWAY_API}/v1", "BackendTLSPolicy", "tls", "Service/web", validation, "shop"),
    )
    assert outcome(simulation) == "500"


def test_sessions_that_end_here_are_for_tls_routes_alone(tmp_path: Path) -> None:
    simulation = world(tmp_path, edge("name: a, port: 443, protocol: TLS, tls: {certificateRefs: [{name: cert}]}"))
    (state,) = simulation.topology.gateways
    assert state.listeners[0].supported_kinds == ("TLSRoute",)


def test_a_route_for_sessions_has_one_rule_with_one_backend(tmp_path: Path) -> None:
    """Of another one nothing is made, though it is said to be accepted."""
    backends = "rules: [{backendRefs: [{name: web, port: 80}, {name: web, port: 81}]}]"
    manifests = (
        edge("name: a, port: 443, protocol: TLS, tls: {mode: Passthrough}"),
        route("web", parents="[{name: edge}]", more=f"hostnames: [a.example], {backends}", kind="TLSRoute"),
        service("web", ports="[{port: 80}, {port: 81}]"),
    )
    simulation = world(tmp_path, *manifests)
    (told,) = check(simulation)
    assert told.message.endswith("it must have one rule with one backend, and nothing is made of any other")
    (state,) = simulation.topology.gateways
    assert state.listeners[0].attached_routes == 0
    assert {each.reason for each in simulation.topology.routes[0].parents[0].conditions} == {
        "Accepted",
        "UnsupportedValue",
    }
    for each in (simulation, simulated(*manifests)):  # the class may be known by its name alone
        assert not Tracer(each).trace(from_url("tls", "tls://a.example:443")).outcome.backends


def test_such_a_route_for_a_gateway_with_two_listeners_stops_its_controller(tmp_path: Path) -> None:
    """removeDuplicateIndexParentRefs reads what is not there (seen by tests/witness)."""
    listeners = "name: a, port: 443, protocol: TLS, tls: {mode: Passthrough}", "name: b, port: 80, protocol: HTTP"
    backends = "rules: [{backendRefs: [{name: web, port: 80}, {name: web, port: 81}]}]"
    sessions = route("web", parents="[{name: edge}]", more=f"hostnames: [a.example], {backends}", kind="TLSRoute")
    (told,) = check(world(tmp_path, edge(*listeners), sessions, service("web", ports="[{port: 80}, {port: 81}]")))
    assert "its controller ends in a panic over it" in told.message


def test_a_route_that_is_left_out_takes_no_requests_of_another(tmp_path: Path) -> None:
    """GWP408 said so, and `trace` that the other one gets them."""
    late = "spec: {parentRef: {name: edge}, listeners: [{name: web, port: 81, protocol: HTTP}]}"
    simulation = world(
        tmp_path,
        edge("name: web, port: 80, protocol: HTTP", more="allowedListeners: {namespaces: {from: All}}"),
        manifest(f"{GATEWAY_API}/v1", "ListenerSet", "late", "shop", late),
        route("first", parents="[{name: edge}]", more=TO_WEB),
        route("second", parents="[{name: edge, sectionName: web}]", more=TO_WEB),
        service("web", ports="[{port: 80}]"),
    )
    assert outcome(simulation) == "Service shop/web"
    assert list(shadowed(simulation)) == []
