"""NGINX Gateway Fabric (docs/design/implementations/kgateway-nginx-gloo.md §1): what the score does not compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.checks import run
from policylint.policy.results import Effective
from policylint.report.simulate.status import stanzas
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests import worlds
from tests.worlds import gateway, gateway_class, grant, manifest, opened, route, service, state

API = "gateway.nginx.org/v1alpha1"
CONTROLLER = "gateway.nginx.org/nginx-gateway-controller"
WEB = "rules: [{backendRefs: [{name: web, port: 80}]}]"
HTTP = "[{name: http, port: 80, protocol: HTTP}]"


def simulate(path: Path, *parts: str, parameters: str = "", controller: str = CONTROLLER) -> Simulation:
    return opened(
        path,
        gateway_class("nginx", controller, parameters),
        gateway("gw", "default", HTTP, of_class="nginx"),
        route("shop", "default", "[{name: gw}]", more=f"hostnames: [shop.example.com], {WEB}"),
        service("web", "default", "[{port: 80}]"),
        service("idle", "default", "[{port: 80}]"),
        *parts,
    )


def policy(kind: str, name: str, target: str, spec: str, created: str = "") -> str:
    field = "targetRef" if kind in ("ClientSettingsPolicy", "PayloadProcessor") else "targetRefs"
    target = target.replace("Service/", "Service.core/")
    return worlds.policy(API, kind, name, target, spec, created=created, field=field)


def verdict(simulation: Simulation, name: str) -> tuple[str, list[str]]:
    found = state(simulation, name)
    return found.verdict, [winner.name for winner in found.by]


def accepted(simulation: Simulation, name: str) -> dict[str, tuple[str, str]]:
    """Per ancestor the reasons of Accepted and Programmed."""
    found = {}
    for each in state(simulation, name).ancestors:
        reasons = {condition.type: condition.reason for condition in each.conditions}
        found[str(each.ancestor)] = (reasons["Accepted"], reasons["Programmed"])
    return found


def effective(simulation: Simulation, kind: str) -> Effective:
    (group,) = [group for group in simulation.groups if group.kind.kind == kind]
    return group.effective


def owned(result: Effective) -> dict[str, str]:
    return {"/".join(map(str, pointer)): owner.name for pointer, owner in result.owners.items()}


def lost(result: Effective) -> dict[str, tuple[str, list[str]]]:
    return {
        "/".join(map(str, each.pointer)): (each.policy.name, [winner.name for winner in each.by])
        for each in result.lost
    }


def test_a_route_replaces_its_gateway_by_directive(tmp_path: Path) -> None:
    """§1.4: the lowest NGINX context that has a directive counts; keepalive_timeout is one with both of its values."""
    simulation = simulate(
        tmp_path,
        policy(
            "ClientSettingsPolicy",
            "edge",
            "Gateway/gw",
            "body: {maxSize: 1m, timeout: 5s}, keepAlive: {timeout: {server: 10s, header: 9s}}",
        ),
        policy(
            "ClientSettingsPolicy",
            "shop",
            "HTTPRoute/shop",
            "body: {maxSize: 9m}, keepAlive: {timeout: {server: 1s}}",
        ),
    )
    result = effective(simulation, "ClientSettingsPolicy")
    assert result.spec == {"body": {"maxSize": "9m", "timeout": "5s"}, "keepAlive": {"timeout": {"server": "1s"}}}
    assert owned(result) == {
        "body/maxSize": "shop",
        "body/timeout": "edge",
        "keepAlive/timeout/server": "shop",
    }
    assert lost(result) == {
        "body/maxSize": ("edge", ["shop"]),
        "keepAlive/timeout/header": ("edge", ["shop"]),
        "keepAlive/timeout/server": ("edge", ["shop"]),
    }
    assert verdict(simulation, "edge") == ("PartiallyEnforced", ["shop"])
    assert verdict(simulation, "shop") == ("Enforced", [])


def test_rate_limits_on_one_target_add_up(tmp_path: Path) -> None:
    """§1.3: rules never conflict; every rule has its own owner."""
    rule = "rateLimit: {{local: {{rules: [{{rate: {}, key: $binary_remote_addr}}]}}}}"
    simulation = simulate(
        tmp_path,
        policy("RateLimitPolicy", "a", "HTTPRoute/shop", rule.format("1r/s")),
        policy("RateLimitPolicy", "b", "HTTPRoute/shop", rule.format("2r/s")),
    )
    result = effective(simulation, "RateLimitPolicy")
    rules: Any = result.spec["rateLimit"]["local"]["rules"]
    assert [each["rate"] for each in rules] == ["1r/s", "2r/s"]
    assert owned(result) == {"rateLimit/local/rules/0": "a", "rateLimit/local/rules/1": "b"}
    assert result.origins() == {"rateLimit": sorted(result.sources)}


def test_who_loses_on_one_target_is_off_on_all(tmp_path: Path) -> None:
    """§1.3: the verdict is on the policy; and who is off is in nobody's way."""
    targets = "targetRefs: [{group: core, kind: Service, name: web}, {group: core, kind: Service, name: idle}]"
    both = manifest(API, "UpstreamSettingsPolicy", "b-both", "default", f"spec: {{{targets}, zoneSize: 2m}}")
    idle = "hostnames: [other.example.com], rules: [{backendRefs: [{name: idle, port: 80}]}]"
    simulation = simulate(
        tmp_path,
        route("other", "default", "[{name: gw}]", more=idle),
        both,
        policy("UpstreamSettingsPolicy", "a-first", "Service/web", "zoneSize: 1m"),
        policy("UpstreamSettingsPolicy", "c-last", "Service/idle", "zoneSize: 3m"),
    )
    assert verdict(simulation, "a-first") == ("Enforced", [])
    assert verdict(simulation, "b-both") == ("Conflicted", ["a-first"])
    assert verdict(simulation, "c-last") == ("Enforced", [])
    assert accepted(simulation, "b-both") == {"Gateway default/gw": ("Conflicted", "Overridden")}


@pytest.mark.parametrize(
    ("kind", "spec", "valid"),
    [
        ("ClientSettingsPolicy", "body: {maxSize: 10m}", True),
        ("ClientSettingsPolicy", "body: {maxSize: ten}", False),
        ("ClientSettingsPolicy", "body: {maxSize: '${SIZE}'}", True),
        ("ClientSettingsPolicy", "keepAlive: {timeout: {header: 5s}}", False),
        ("ProxySettingsPolicy", "buffering: {bufferSize: 8k, busyBuffersSize: 8k}", False),
        ("ProxySettingsPolicy", "buffering: {buffers: {number: 4, size: 8k}, busyBuffersSize: 16k}", True),
        ("ProxySettingsPolicy", "buffering: {buffers: {number: 4, size: 8k}, busyBuffersSize: 24k}", False),
        ("RateLimitPolicy", "rateLimit: {local: {rules: [{rate: 10r/h, key: a}]}}", False),
        ("RateLimitPolicy", "rateLimit: {local: {rules: [{rate: 10r/s, key: a, noDelay: true}]}}", True),
        ("RateLimitPolicy", "rateLimit: {local: {rules: [{rate: 10r/s, key: a, noDelay: true, delay: 3}]}}", False),
    ],
)
def test_values_that_nginx_could_not_read(tmp_path: Path, kind: str, spec: str, valid: bool) -> None:
    """§1.1 Validate(): sizes, durations, rates; an invalid policy is reported on its target."""
    simulation = simulate(tmp_path, policy(kind, "p", "HTTPRoute/shop", spec))
    assert verdict(simulation, "p")[0] == ("Enforced" if valid else "Invalid")
    expected = ("Accepted", "Programmed") if valid else ("Invalid", "Reconciling")
    assert accepted(simulation, "p") == {"HTTPRoute default/shop": expected}


def test_routes_with_one_location_keep_policies_away(tmp_path: Path) -> None:
    """§1.2: a rule without matches is the path `/`; headers do not tell routes apart."""
    canary = "matches: [{path: {type: PathPrefix, value: /}, headers: [{name: x-canary, value: '1'}]}]"
    rules = f"rules: [{{{canary}, backendRefs: [{{name: web, port: 80}}]}}]"
    twin = route("twin", "default", "[{name: gw}]", more=f"hostnames: [shop.example.com], {rules}")
    simulation = simulate(tmp_path, twin, policy("ClientSettingsPolicy", "p", "HTTPRoute/shop", "body: {maxSize: 1m}"))
    assert verdict(simulation, "p") == ("Invalid", ["twin"])
    assert accepted(simulation, "p") == {"HTTPRoute default/shop": ("TargetConflict", "Reconciling")}


def test_a_service_without_routes_is_no_target(tmp_path: Path) -> None:
    """§1.1, item 2."""
    simulation = simulate(tmp_path, policy("UpstreamSettingsPolicy", "p", "Service/idle", "zoneSize: 1m"))
    assert verdict(simulation, "p") == ("TargetNotFound", [])
    assert accepted(simulation, "p") == {}


@pytest.mark.parametrize(
    ("proxy", "verdict_", "reason"),
    [
        ("telemetry: {exporter: {endpoint: 'otel:4317'}}", "Enforced", "Accepted"),
        (
            "telemetry: {exporter: {endpoint: 'otel:4317'}, disabledFeatures: [DisableTracing]}",
            "Invalid",
            "NginxProxyConfigNotSet",
        ),
        ("ipFamily: dual", "Invalid", "NginxProxyConfigNotSet"),
    ],
)
def test_tracing_needs_telemetry(tmp_path: Path, proxy: str, verdict_: str, reason: str) -> None:
    """§1.5: in the NginxProxy of the class, or of the Gateway over it."""
    nginx = manifest("gateway.nginx.org/v1alpha2", "NginxProxy", "np", "default", f"spec: {{{proxy}}}")
    simulation = simulate(
        tmp_path,
        nginx,
        policy("ObservabilityPolicy", "p", "HTTPRoute/shop", "tracing: {strategy: parent}").replace(
            "v1alpha1", "v1alpha2"
        ),
        parameters="parametersRef: {group: gateway.nginx.org, kind: NginxProxy, name: np, namespace: default}",
    )
    assert verdict(simulation, "p")[0] == verdict_
    assert accepted(simulation, "p")["HTTPRoute default/shop"][0] == reason


def test_a_policy_for_gateways_and_routes_at_once_is_refused(tmp_path: Path) -> None:
    """The CRDs' CEL rule on targetRefs."""
    mixed = policy("ProxySettingsPolicy", "p", "Gateway/gw", "timeout: {read: 5s}").replace(
        "name: gw}", "name: gw}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}"
    )
    assert verdict(simulate(tmp_path, mixed), "p") == ("Invalid", [])


@pytest.mark.parametrize(
    ("controller", "ours"), [("gateway.envoyproxy.io/gatewayclass-controller", False), ("example.org/own", True)]
)
def test_gateways_of_other_controllers_are_not_ours_to_report_on(tmp_path: Path, controller: str, ours: bool) -> None:
    """§1.1, item 1: a reference to what NGF does not own is passed over; an unknown controller may be ours."""
    spec = policy("ClientSettingsPolicy", "p", "Gateway/gw", "body: {maxSize: 1m}")
    found = accepted(simulate(tmp_path, spec, controller=controller), "p")
    assert found == ({"Gateway default/gw": ("Accepted", "Programmed")} if ours else {})


@pytest.mark.parametrize(("others", "attached"), [(0, True), (15, True), (16, False)])
def test_a_status_that_others_have_filled_leaves_no_room(tmp_path: Path, others: int, attached: bool) -> None:
    """§1.6: at most sixteen ancestors, those of other controllers included; the target says so, not the policy."""
    entry = "{ancestorRef: {name: x}, controllerName: example.com/other, conditions: []}"
    status = f"status: {{ancestors: [{', '.join([entry] * others)}]}}\n"
    full = policy("ClientSettingsPolicy", "uploads", "HTTPRoute/shop", "body: {maxSize: 1m}") + status
    simulation = simulate(tmp_path, full)
    (state,) = simulation.policies.values()
    assert state.verdict == ("Enforced" if attached else "NoEffect")
    assert [str(each.ancestor) for each in state.ancestors] == ["HTTPRoute default/shop"] * attached
    said = {(str(each.node), each.condition.type, each.condition.reason) for each in simulation.target_conditions}
    assert (("HTTPRoute default/shop", "Accepted", "AncestorLimitReached") in said) is not attached
    (written,) = (each["status"] for each in stanzas(simulation) if each["kind"] == "HTTPRoute")
    accepted = [each["status"] for each in written["parents"][0]["conditions"] if each["type"] == "Accepted"]
    assert accepted == [str(attached)]


@pytest.mark.parametrize(
    ("spec", "valid"),
    [
        ("tracing: {strategy: ratio, ratio: 5, context: extract}", True),
        ("tracing: {strategy: parent, ratio: 5}", False),
        ("tracing: {strategy: ratio, context: drop}", False),
        ("tracing: {strategy: never}", False),
    ],
)
def test_what_tracing_may_say(tmp_path: Path, spec: str, valid: bool) -> None:
    one = policy("ObservabilityPolicy", "p", "HTTPRoute/shop", spec)
    state = next(iter(simulate(tmp_path, one).policies.values()))
    assert (state.invalid_code == "invalid-value") is not valid


@pytest.mark.parametrize(("spec", "valid"), [("hash", False), ("hash, hashMethodKey: $uri", True), ("ip_hash", True)])
def test_a_hash_needs_a_key(tmp_path: Path, spec: str, valid: bool) -> None:
    one = policy("UpstreamSettingsPolicy", "p", "Service/web", f"loadBalancingMethod: {spec}")
    assert verdict(simulate(tmp_path, one), "p")[0] == ("Enforced" if valid else "Invalid")


GRANT = grant(
    "guards", "{group: gateway.nginx.org, kind: PayloadProcessor, namespace: default}", "{group: '', kind: Service}"
)
GUARD = service("guard", "guards", "[{port: 80}]")


@pytest.mark.parametrize(
    ("process", "granted", "reason"),
    [
        ("backendRef: {name: web, port: 80}", False, "Accepted"),
        ("backendRef: {name: web, port: 81}", False, "Invalid"),
        ("backendRef: {name: nobody, port: 80}", False, "Invalid"),
        ("backendRef: {name: guard, namespace: guards, port: 80}", False, "RefNotPermitted"),
        ("backendRef: {name: guard, namespace: guards, port: 80}", True, "Accepted"),
    ],
)
def test_what_a_payload_processor_calls_must_be_there(tmp_path: Path, process: str, granted: bool, reason: str) -> None:
    """state/graph/payloadprocessor.go: the Service and its port, and a grant where it is in another namespace."""
    processors = f"processors: [{{type: ExtProcess, extProcess: {{{process}}}}}]"
    one = policy("PayloadProcessor", "p", "HTTPRoute/shop", processors)
    simulation = simulate(tmp_path, GUARD, *([GRANT] if granted else []), one)
    assert accepted(simulation, "p")["HTTPRoute default/shop"][0] == reason


@pytest.mark.parametrize(
    ("target", "verdict_", "reported"),
    [
        ("HTTPRoute/alone", "TargetNotFound", {"HTTPRoute default/alone": ("TargetNotFound", "Reconciling")}),
        ("HTTPRoute/elsewhere", "TargetNotFound", {}),  # no Gateway of ours leads to it: the controller never sees it
        ("HTTPRoute/unlistened", "NoEffect", {"HTTPRoute default/unlistened": ("Accepted", "Programmed")}),
        ("Gateway/named", "TargetNotFound", {"Gateway default/named": ("TargetNotFound", "Reconciling")}),
        ("Gateway/unset", "Enforced", {"Gateway default/unset": ("Accepted", "Programmed")}),
    ],
)
def test_targets_that_take_no_policy(
    tmp_path: Path, target: str, verdict_: str, reported: dict[str, tuple[str, str]]
) -> None:
    """§1.1, §1.6: «The TargetRef is invalid» for a route without parents and a Gateway with a hostname for an address.

    A Gateway whose NginxProxy is not there is valid all the same (validateGateway).
    """

    def parented(name: str, parents: str) -> str:
        return route(name, "default", f"[{parents}]", more=f"hostnames: [{name}.example.com], {WEB}")

    parameters = "parametersRef: {group: gateway.nginx.org, kind: NginxProxy, name: gone}"
    simulation = simulate(
        tmp_path,
        parented("alone", ""),
        parented("elsewhere", "{name: gone}"),
        parented("unlistened", "{name: gw, sectionName: gone}"),
        gateway("named", "default", HTTP, "addresses: [{type: Hostname, value: a.example.com}]", "nginx"),
        gateway("unset", "default", HTTP, f"infrastructure: {{{parameters}}}", "nginx"),
        policy("ClientSettingsPolicy", "p", target, "body: {maxSize: 1m}"),
    )
    assert verdict(simulation, "p")[0] == verdict_
    assert accepted(simulation, "p") == reported


ON = "telemetry: {exporter: {endpoint: 'otel:4317'}}"
OFF = "ipFamily: dual"


@pytest.mark.parametrize(
    ("target", "proxies", "verdict_", "reason", "acts"),
    [
        ("HTTPRoute/both", {"one": ON, "two": ON}, "Enforced", "Accepted", {"one", "two"}),
        ("HTTPRoute/both", {"one": ON, "two": OFF}, "PartiallyEnforced", "NginxProxyConfigNotSet", {"one"}),
        ("HTTPRoute/both", {"one": OFF, "two": OFF}, "Invalid", "NginxProxyConfigNotSet", set()),
        ("HTTPRoute/both", {"one": ON, "two": ""}, "Enforced", "Accepted", {"one", "two"}),
        ("HTTPRoute/both", {"one": "", "two": ""}, "Enforced", "Accepted", {"one", "two"}),
        ("HTTPRoute/both", {"one": "", "two": OFF}, "PartiallyEnforced", "NginxProxyConfigNotSet", {"one"}),
    ],
)
def test_each_gateway_with_a_proxy_is_asked(
    tmp_path: Path, target: str, proxies: dict[str, str], verdict_: str, reason: str, acts: set[str]
) -> None:
    """attachPolicyToRoute, internal/controller/state/graph/policies.go: InvalidForGateways, one by one."""
    parts = [gateway_class("nginx", CONTROLLER), service("web", "default", "[{port: 80}]")]
    parts.append(route("both", "default", "[{name: one}, {name: two}]", more=WEB))
    for name, spec in proxies.items():
        reference = f"parametersRef: {{group: gateway.nginx.org, kind: NginxProxy, name: {name}}}"
        more = f"infrastructure: {{{reference}}}" if spec else ""
        parts.append(gateway(name, "default", HTTP, more, of_class="nginx"))
        if spec:
            parts.append(manifest("gateway.nginx.org/v1alpha2", "NginxProxy", name, "default", f"spec: {{{spec}}}"))
    own = policy("ObservabilityPolicy", "p", target, "tracing: {strategy: parent}").replace("v1alpha1", "v1alpha2")
    simulation = opened(tmp_path, *parts, own)
    assert verdict(simulation, "p")[0] == verdict_
    assert accepted(simulation, "p")["HTTPRoute default/both"][0] == reason
    ways = {node.key.name for group in simulation.groups for path in group.contexts() for node in path}
    assert ways & {"one", "two"} == acts


def test_a_gateway_that_is_the_target_needs_a_proxy(tmp_path: Path) -> None:
    """attachPolicyToGateway asks without one, too."""
    own = policy("WAFPolicy", "p", "Gateway/gw", "policySource: {fileLocation: x}")
    simulation = simulate(tmp_path, own)
    assert accepted(simulation, "p")["Gateway default/gw"][0] == "NginxProxyConfigNotSet"


AUTHORISED = (
    "rules: [{filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: web, port: 80}%s}}],"
    " backendRefs: [{name: web, port: 80}]}]"
)


@pytest.mark.parametrize(
    ("forwarded", "kind", "target", "spec", "answers"),
    [
        (", forwardBody: {maxSize: 4096}", "ClientSettingsPolicy", "HTTPRoute/api", "body: {maxSize: 10m}", 500),
        (", forwardBody: {maxSize: 4096}", "ClientSettingsPolicy", "HTTPRoute/api", "body: {timeout: 1s}", None),
        (", forwardBody: {maxSize: 4096}", "ClientSettingsPolicy", "HTTPRoute/shop", "body: {maxSize: 10m}", None),
        (", forwardBody: {maxSize: 4096}", "ClientSettingsPolicy", "Gateway/gw", "body: {maxSize: 10m}", None),
        ("", "ClientSettingsPolicy", "HTTPRoute/api", "body: {maxSize: 10m}", None),
    ],
)
def test_two_limits_of_a_body(
    tmp_path: Path, forwarded: str, kind: str, target: str, spec: str, answers: int | None
) -> None:
    """state/graph/httproute.go, validateExternalAuthConflicts: of the route's own policies."""
    more = f"hostnames: [api.example.com], {AUTHORISED % forwarded}"
    simulation = simulate(
        tmp_path, route("api", "default", "[{name: gw}]", more=more), policy(kind, "body", target, spec)
    )
    outcome = Tracer(simulation).trace(request({"host": "api.example.com", "path": "/"})).outcome
    assert outcome.status == answers
    told = [finding.message for finding in run(simulation, select={"GWP406"})]
    assert ["forwardBody.maxSize" in message for message in told] == ([True] if answers else [])
