"""agentgateway (docs/design/implementations/kgateway-nginx-gloo.md §4): fields, locks, sections, expressions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.cel.syntax import is_expression
from policylint.checks import no_effective_target, policy_refused, run
from policylint.compare import compare, removed_protections
from policylint.model import ResourceKey
from policylint.policy.results import Effective, PolicyState
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests import worlds
from tests.compare.test_compare import sides
from tests.worlds import gateway, gateway_class, listener_set, manifest, opened, route, service

API = "agentgateway.dev/v1alpha1"
PRIMARY = "{providers: [{name: primary, openai: {}}]}"
BASE = (
    gateway_class("agentgateway", "agentgateway.dev/agentgateway"),
    gateway("gw", "default", "[{name: http, port: 80, protocol: HTTP}]", of_class="agentgateway"),
    route("shop", "default", "[{name: gw}]", more="rules: [{name: pay, backendRefs: [{name: web, port: 80}]}]"),
    service("web", "default", "[{port: 80}]"),
    manifest(API, "AgentgatewayBackend", "llm", "default", f"spec: {{ai: {{groups: [{PRIMARY}]}}}}"),
)


def simulate(path: Path, *parts: str) -> Simulation:
    return opened(path, *BASE, *parts)


def policy(name: str, target: str, spec: str) -> str:
    target = target.replace("AgentgatewayBackend/", "AgentgatewayBackend.agentgateway.dev/")
    return worlds.policy(API, "AgentgatewayPolicy", name, target, spec)


def only(simulation: Simulation) -> Effective:
    (result,) = {id(group.effective): group.effective for group in simulation.groups}.values()
    return result


def state(simulation: Simulation, name: str = "p") -> PolicyState:
    return worlds.state(simulation, name)


def words(simulation: Simulation, name: str = "p") -> dict[str, list[str]]:
    return {str(each.ancestor): [one.reason for one in each.conditions] for each in state(simulation, name).ancestors}


ADMITS = "allowedListeners: {namespaces: {from: All}}"
LOCK = "strategy: {inheritance: Override}, "


def test_the_more_specific_field_replaces_the_broader(tmp_path: Path) -> None:
    """Field by field inside the blocks; rate limits local and global are two."""
    descriptors = [{"entries": [{"name": "a", "expression": "'b'"}]}]
    shared = {"domain": "d", "backendRef": {"name": "limits", "port": 80}, "descriptors": descriptors}
    rate_limit = f"rateLimit: {{global: {json.dumps(shared)}}}"
    simulation = simulate(
        tmp_path,
        policy(
            "edge",
            "Gateway/gw",
            "traffic: {timeouts: {request: 9s}, rateLimit: {local: [{requests: 9, unit: Seconds}]}}",
        ),
        policy("shop", "HTTPRoute/shop", f"traffic: {{timeouts: {{request: 1s}}, {rate_limit}}}"),
    )
    result = only(simulation)
    assert result.spec == {
        "traffic": {
            "timeouts": {"request": "1s"},
            "rateLimit": {"local": [{"requests": 9, "unit": "Seconds"}], "global": shared},
        }
    }
    assert [(each.pointer, each.policy.name, each.by[0].name) for each in result.lost] == [
        (("traffic", "timeouts", "request"), "edge", "shop")
    ]
    assert state(simulation, "edge").verdict == "PartiallyEnforced"


def test_override_locks_the_fields_that_it_sets(tmp_path: Path) -> None:
    """strategy.inheritance Override: for traffic, and for those fields alone."""
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", LOCK + "traffic: {timeouts: {request: 9s}}"),
        policy("wide", "Gateway/gw", "backend: {http: {version: HTTP1}}"),
        policy(
            "shop", "HTTPRoute/shop", "traffic: {timeouts: {request: 1s}, csrf: {}}, backend: {http: {version: HTTP2}}"
        ),
    )
    owners = {"/".join(map(str, pointer)): owner.name for pointer, owner in only(simulation).owners.items()}
    assert owners == {"traffic/timeouts/request": "edge", "traffic/csrf": "shop", "backend/http/version": "shop"}


@pytest.mark.parametrize(
    ("lock", "sources"), [("", ["edge", "listener", "shop"]), (LOCK, ["edge", "listener"])], ids=["open", "locked"]
)
def test_authorization_adds_up_until_a_lock(tmp_path: Path, lock: str, sources: list[str]) -> None:
    rules = "traffic: {{authorization: {{policy: {{matchExpressions: ['{0}']}}}}}}"
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", rules.format("a")),
        policy("listener", "Gateway/gw#http", lock + rules.format("b")),
        policy("shop", "HTTPRoute/shop", rules.format("c")),
    )
    result = only(simulation)
    assert [each.name for each in result.sources] == sources
    assert {each.policy.name for each in result.lost} == {"edge", "listener", "shop"} - set(sources)


def test_for_the_backend_block_a_route_is_more_specific_than_a_service(tmp_path: Path) -> None:
    """binds.rs (internal_backend_policies), against the type's comment; the CRD lets no `traffic` target a Service."""
    traffic, backend = "traffic: {{timeouts: {{request: {0}}}}}", "backend: {{http: {{requestTimeout: {0}}}}}"
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", "backend: {tcp: {connectTimeout: 4s}, http: {requestTimeout: 4s}}"),
        policy("route", "HTTPRoute/shop", f"{traffic}, {backend}".format("1s")),
        policy("service", "Service/web", "backend: {http: {requestTimeout: 2s}, tcp: {connectTimeout: 2s}}"),
        policy("refused", "Service/web", traffic.format("3s")),
    )
    assert simulation.policies[ResourceKey("agentgateway.dev", "AgentgatewayPolicy", "default", "refused")].invalid
    assert only(simulation).spec == {
        "traffic": {"timeouts": {"request": "1s"}},
        "backend": {"http": {"requestTimeout": "1s"}, "tcp": {"connectTimeout": "2s"}},
    }
    assert state(simulation, "edge").verdict == "Overridden"


JWT = "jwtAuthentication: {{mode: {0}, providers: [{{issuer: {0}, jwks: {{inline: '{{}}'}}}}]}}"


def test_what_acts_before_routing_does_not_meet_what_acts_after_it(tmp_path: Path) -> None:
    """binds.rs: gateway_policies and route_policies read one phase each; a route's Optional opens nothing."""
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", f"{LOCK}traffic: {{phase: PreRouting, {JWT.format('Strict')}, cors: {{}}}}"),
        policy("shop", "HTTPRoute/shop", f"traffic: {{{JWT.format('Optional')}, csrf: {{}}}}"),
    )
    result = only(simulation)
    assert result.spec["preRouting"]["jwtAuthentication"]["mode"] == "Strict"
    assert result.spec["traffic"]["jwtAuthentication"]["mode"] == "Optional"
    assert set(result.spec["traffic"]) == {"jwtAuthentication", "cors", "csrf"}
    assert not result.lost
    assert [state(simulation, name).verdict for name in ("edge", "shop")] == ["Enforced", "Enforced"]
    (met,) = Tracer(simulation).trace(request({"path": "/"})).policies
    assert {ask.path: ask.must for ask in met.asks} == {
        "preRouting.jwtAuthentication": True,
        "traffic.jwtAuthentication": False,
    }


def test_requests_have_to_pass_the_rules_of_both_phases(tmp_path: Path) -> None:
    rules = "traffic: {{{0}authorization: {{policy: {{matchExpressions: ['{1}']}}}}}}"
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", rules.format("phase: PreRouting, ", 'request.path == "/a"')),
        policy("shop", "HTTPRoute/shop", rules.format("", 'request.path.startsWith("/")')),
    )
    answers = [Tracer(simulation).trace(request({"path": path})).outcome for path in ("/a", "/b")]
    assert [answer.status for answer in answers] == [None, 403]


def test_who_denies_is_who_holds_the_rule(tmp_path: Path) -> None:
    """Of rules that add up, the one that decides: a Require that does not match, the last Allow where none does."""
    rules = "traffic: {{authorization: {{action: {0}, policy: {{matchExpressions: ['{1}']}}}}}}"
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", rules.format("Require", 'request.method == "GET"')),
        policy("shop", "HTTPRoute/shop", rules.format("Allow", 'request.path == "/a"')),
    )
    asked = [{"path": "/b"}, {"path": "/a", "method": "POST"}]
    reasons = [Tracer(simulation).trace(request(each)).outcome.reason for each in asked]
    assert [name in reason for name, reason in zip(("shop", "edge"), reasons, strict=True)] == [True, True]


def test_backend_settings_of_a_listener_set_are_not_looked_up(tmp_path: Path) -> None:
    """binds.rs, internal_backend_policies: of listeners only those of the Gateway are asked."""
    simulation = simulate(
        tmp_path,
        listener_set("extra", "default", "[{name: x, port: 90, protocol: HTTP}]", parent="gw").replace(
            "infra", "default"
        ),
        gateway("gw", "default", "[{name: http, port: 80, protocol: HTTP}]", more=ADMITS, of_class="agentgateway"),
        route(
            "more",
            "default",
            "[{kind: ListenerSet, name: extra}]",
            more="rules: [{backendRefs: [{name: web, port: 80}]}]",
        ),
        policy("idle", "ListenerSet/extra", "backend: {http: {requestTimeout: 1s}}"),
        policy("acts", "ListenerSet/extra", "traffic: {timeouts: {request: 1s}}"),
    )
    assert state(simulation, "acts").verdict == "Enforced"
    assert state(simulation, "idle").verdict == "NoEffect"
    (finding,) = no_effective_target.check(simulation)
    assert "AgentgatewayPolicy default/idle has no effect" in finding.message


def test_what_adds_up_and_what_is_merged_in_parts(tmp_path: Path) -> None:
    """binds.rs: NetworkAuthorization and McpAuthorization compose; llm policies and header modifiers go by part."""
    network = "frontend: {{networkAuthorization: {{policy: {{matchExpressions: ['{0}']}}}}}}"
    mcp = "mcp: {{authorization: {{policy: {{matchExpressions: ['{0}']}}}}}}"
    simulation = simulate(
        tmp_path,
        policy("one", "Gateway/gw", network.format("a")),
        policy("two", "Gateway/gw", network.format("b")),
        policy(
            "edge",
            "Gateway/gw",
            "traffic: {buffer: {request: {maxBytes: 1}}, headerModifiers: {request: {remove: [a]}}}, "
            f"backend: {{ai: {{routes: {{a: Messages}}}}, {mcp.format('a')}}}",
        ),
        policy(
            "shop",
            "HTTPRoute/shop",
            "traffic: {buffer: {response: {maxBytes: 2}}, headerModifiers: {response: {remove: [b]}}}, "
            f"backend: {{ai: {{defaults: [{{field: x, value: 1}}]}}, {mcp.format('b')}}}",
        ),
    )
    result = only(simulation)
    assert len(result.spec["frontend"]["networkAuthorization"]) == 2
    assert len(result.spec["backend"]["mcp"]["authorization"]) == 2
    assert set(result.spec["backend"]["ai"]) == {"routes", "defaults"}
    assert set(result.spec["traffic"]["headerModifiers"]) == {"request", "response"}
    assert set(result.spec["traffic"]["buffer"]) == {"request"}, "the broadest buffer stays"
    assert [state(simulation, name).verdict for name in ("one", "two", "edge")] == ["Enforced"] * 3
    assert state(simulation, "shop").verdict == "PartiallyEnforced"


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("Service/web#80", True),
        ("Service/web#9999", False),
        ("AgentgatewayBackend/llm#primary", True),
        ("AgentgatewayBackend/llm#other", False),
        ("HTTPRoute/absent", False),
    ],
)
def test_sections_of_backends_and_what_attaches_to_nothing(tmp_path: Path, target: str, found: bool) -> None:
    """Ports by number, providers by name; the rest is summed up under StatusSummary."""
    rules = "rules: [{backendRefs: [{group: agentgateway.dev, kind: AgentgatewayBackend, name: llm}]}]"
    to_llm = route("ai", "default", "[{name: gw}]", more=rules)
    simulation = simulate(tmp_path, to_llm, policy("p", target, "backend: {http: {version: HTTP2}}"))
    if found:
        assert words(simulation) == {"Gateway default/gw": ["Valid", "Attached"]}
    else:
        assert words(simulation) == {"agentgateway.dev/StatusSummary": ["Valid", "Pending"]}
        assert state(simulation).verdict == "TargetNotFound"


@pytest.mark.parametrize(
    "spec",
    [
        "traffic: {transformation: {request: {set: [{name: a, value: 'x_{{y}}'}]}}}",
        "traffic: {extAuth: {backendRef: {name: absent, port: 1}, grpc: {}}}",
        "backend: {tls: {mtlsCertificateRef: [{name: absent}]}}",
        "frontend: {accessLog: {filter: 'response.code >'}}",
    ],
)
def test_what_does_not_resolve_makes_a_policy_partly_valid(tmp_path: Path, spec: str) -> None:
    simulation = simulate(tmp_path, policy("p", "Gateway/gw", spec))
    assert words(simulation) == {"Gateway default/gw": ["PartiallyValid"]}
    assert state(simulation).verdict == "Enforced"


def test_plain_values_are_no_expressions(tmp_path: Path) -> None:
    """headerModifiers hold text where transformation holds CEL."""
    spec = "traffic: {headerModifiers: {request: {set: [{name: a, value: 'not a {{cel'}]}}}"
    assert words(simulate(tmp_path, policy("p", "Gateway/gw", spec))) == {"Gateway default/gw": ["Valid", "Attached"]}


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "request.headers['x-a'] == \"b\" && !(jwt.sub in ['a', 'b'])",
        "size(request.path) > 3 ? 'long' : r'\\short'",
        "{'a': 1, 'b': [2.5e3, 0xFF, 7u]}.map(k, k)",
        "google.protobuf.Duration{seconds: -1}",
        "has(a.b) || a[0].c(1, )",
        "a // the rest is a comment",
    ],
)
def test_expressions(text: str) -> None:
    assert is_expression(text)


@pytest.mark.parametrize(
    "text", ["", "a b", "a ==", "foo_{{bar}}", "'open", "if (a)", "a ? b", "[1, 2", "a.1", "$x", "a = b", "a..b"]
)
def test_no_expressions(text: str) -> None:
    assert not is_expression(text)


# --- what is accepted in part -----------------------------------------------------------------------------------------

AUTHZ = service("authz", "default", "[{port: 9000}]")
OPEN = "failureMode: FailOpen"


def ext_auth(name: str = "gone", mode: str = "", **more: str) -> str:
    """`extAuth` by a Service; `more` are fields of its backendRef."""
    reference = ", ".join([f"name: {name}", "port: 9000", *(f"{key}: {value}" for key, value in more.items())])
    return f"extAuth: {{backendRef: {{{reference}}}, grpc: {{}}{mode and ', ' + mode}}}"


def parts(simulation: Simulation) -> list[str]:
    return [finding.message for finding in policy_refused.check(simulation) if finding.severity == "warning"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (f"traffic: {{{ext_auth()}}}", "unable to find the Service default/gone"),
        (f"traffic: {{{ext_auth(mode=OPEN)}}}", "unable to find the Service default/gone"),
        ("traffic: {extProc: {backendRef: {name: gone, port: 1}}}", "unable to find the Service default/gone"),
        ("frontend: {accessLog: {filter: 'response.code >'}}", "'response.code >' is not a valid CEL expression"),
        ("backend: {tls: {mtlsCertificateRef: [{name: gone}]}}", "Secret default/gone is missing"),
    ],
)
def test_lint_warns_of_a_part_that_does_nothing(tmp_path: Path, spec: str, message: str) -> None:
    simulation = simulate(tmp_path, policy("p", "Gateway/gw", spec))
    assert parts(simulation) == [f"AgentgatewayPolicy default/p is accepted in part: {message}"]
    assert words(simulation) == {"Gateway default/gw": ["PartiallyValid"]}


REMOTE = (
    "jwtAuthentication: {providers: [{issuer: a, jwks: {remote: {backendRef: {name: NAME, port: 80}, jwksPath: /k}}}]}"
)


@pytest.mark.parametrize(("name", "told"), [("web", 0), ("gone", 1)])
def test_key_sets_that_are_not_fetched_yet_are_no_defect(tmp_path: Path, name: str, told: int) -> None:
    """The controller says PartiallyValid until they are; that the Service to fetch them from is missing is one."""
    simulation = simulate(tmp_path, policy("p", "Gateway/gw", f"traffic: {{{REMOTE.replace('NAME', name)}}}"))
    assert words(simulation) == {"Gateway default/gw": ["PartiallyValid"]}
    assert len(parts(simulation)) == told


@pytest.mark.parametrize("name", ["'${AUTHZ}'", "authz"])
def test_what_was_not_seen_is_no_defect(tmp_path: Path, name: str) -> None:
    spec = f"traffic: {{{ext_auth(name)}}}"
    chart = worlds.manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "auth", "default", "spec: {chart: {}}")
    simulation = simulate(tmp_path, policy("p", "Gateway/gw", spec), chart)
    assert parts(simulation) == []
    assert end(simulation) == "extAuth required"


def test_nothing_is_said_of_a_policy_at_another_controllers_gateway(tmp_path: Path) -> None:
    foreign = (
        gateway_class("other", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("theirs", "default", "[{name: http, port: 80, protocol: HTTP}]", of_class="other"),
    )
    simulation = simulate(tmp_path, *foreign, policy("p", "Gateway/theirs", f"traffic: {{{ext_auth()}}}"))
    assert parts(simulation) == []


def end(simulation: Simulation, path: str = "/") -> str:
    trace = Tracer(simulation).trace(request({"path": path}))
    if trace.outcome.status is not None:
        return str(trace.outcome.status)
    asks = {ask.name: "required" if ask.must else "not required" for met in trace.policies for ask in met.asks}
    return "depends" if trace.depends else ", ".join(f"{name} {word}" for name, word in asks.items())


GLOBAL = "rateLimit: {{global: {{backendRef: {{name: gone, port: 1}}, domain: d, descriptors: []{0}}}}}"
PROC = "extProc: {{backendRef: {{name: gone, port: 1}}{0}}}"


@pytest.mark.parametrize(
    ("spec", "ends"),
    [
        (ext_auth(), "403"),
        (ext_auth(mode="failureMode: FailClosed"), "403"),
        (ext_auth(mode=OPEN), ""),
        (f"phase: PreRouting, {ext_auth()}", "403"),
        (f"phase: PreRouting, {ext_auth(mode=OPEN)}", ""),
        (ext_auth("web").replace(", port: 9000", ""), ""),  # the API server refuses it
        (ext_auth("authz"), "extAuth required"),
        (ext_auth("authz", OPEN), "extAuth required"),
        (PROC.format(""), "500"),
        (PROC.format(", " + OPEN), ""),
        (GLOBAL.format(""), "depends"),
        (GLOBAL.format(", " + OPEN), ""),
    ],
)
def test_a_call_to_what_is_not_there_goes_by_its_failure_mode(tmp_path: Path, spec: str, ends: str) -> None:
    """ext_authz.rs, handle_auth_failure; ext_proc.rs; proxy/mod.rs: the spec is sent without a target."""
    simulation = simulate(tmp_path, AUTHZ, policy("p", "Gateway/gw", f"traffic: {{{spec}}}"))
    assert end(simulation) == ends


CONDITIONAL = "extAuth: {{conditional: [{0}]}}"
ADMIN = "{{condition: 'request.path.startsWith(\"/admin\")', policy: {0}}}"


@pytest.mark.parametrize(
    ("entries", "ends"),
    [
        (ADMIN.format("{backendRef: {name: authz, port: 9000}, grpc: {}}"), "extAuth not required"),
        (
            ADMIN.format("{backendRef: {name: authz, port: 9000}, grpc: {}}")
            + ", {policy: {backendRef: {name: authz, port: 9000}, grpc: {}}}",
            "extAuth required",
        ),
        (ADMIN.format("{backendRef: {name: gone, port: 9000}, grpc: {}}"), "depends"),
        (ADMIN.format(f"{{backendRef: {{name: gone, port: 9000}}, grpc: {{}}, {OPEN}}}"), ""),
    ],
)
def test_a_call_under_conditions_is_not_made_for_everybody(tmp_path: Path, entries: str, ends: str) -> None:
    """processConditionalEntries; the CRD lets only the last entry be without a condition."""
    simulation = simulate(tmp_path, AUTHZ, policy("p", "Gateway/gw", f"traffic: {{{CONDITIONAL.format(entries)}}}"))
    assert not state(simulation).invalid
    assert end(simulation) == ends


def test_diff_reports_a_login_that_becomes_one_for_some(tmp_path: Path) -> None:
    call = "{backendRef: {name: authz, port: 9000}, grpc: {}}"
    everybody = policy("p", "HTTPRoute/shop", f"traffic: {{{ext_auth('authz')}}}")
    some = policy("p", "HTTPRoute/shop", f"traffic: {{{CONDITIONAL.format(ADMIN.format(call))}}}")
    pair = sides(tmp_path, (*BASE, AUTHZ, everybody), (*BASE, AUTHZ, some))
    (finding,) = removed_protections([pair], compare([pair]))
    assert finding.rule == "GWP304"
    assert "requests that meet no condition are not asked" in finding.message


def test_an_open_call_to_nobody_replaces_the_gateways_login_all_the_same(tmp_path: Path) -> None:
    """The spec of the route is sent without a target, and is the more specific one: nobody is asked."""
    simulation = simulate(
        tmp_path,
        AUTHZ,
        policy("edge", "Gateway/gw", f"traffic: {{{ext_auth('authz')}}}"),
        policy("shop", "HTTPRoute/shop", f"traffic: {{{ext_auth(mode=OPEN)}}}"),
    )
    assert end(simulation) == ""
    assert [state(simulation, name).verdict for name in ("edge", "shop")] == ["Overridden", "NoEffect"]
    assert state(simulation, "shop").by == ()


def test_the_other_settings_of_such_a_policy_stay(tmp_path: Path) -> None:
    simulation = simulate(
        tmp_path, policy("p", "HTTPRoute/shop", f"traffic: {{timeouts: {{request: 1s}}, {ext_auth(mode=OPEN)}}}")
    )
    assert only(simulation).spec == {"traffic": {"timeouts": {"request": "1s"}}}
    assert (state(simulation).verdict, state(simulation).by) == ("PartiallyEnforced", ())
    assert {finding.rule for finding in run(simulation)} == {"GWP111"}


def test_a_lock_does_not_save_a_call_to_nobody_nor_does_the_routes_own_filter_need_it(tmp_path: Path) -> None:
    asking = "{protocol: GRPC, grpc: {}, backendRef: {name: authz, port: 9000}}"
    own = f"filters: [{{type: ExternalAuth, externalAuth: {asking}}}]"
    filtering = route(
        "shop", "default", "[{name: gw}]", more=f"rules: [{{name: pay, {own}, backendRefs: [{{name: web, port: 80}}]}}]"
    )
    edge = policy("edge", "Gateway/gw", f"traffic: {{{ext_auth()}}}")
    world = [part for part in BASE if "HTTPRoute" not in part]
    (tmp_path / "own").mkdir()
    replaced = opened(tmp_path / "own", *world, filtering, AUTHZ, edge)
    assert Tracer(replaced).trace(request({"path": "/"})).outcome.status is None
    (tmp_path / "locked").mkdir()
    locked = opened(tmp_path / "locked", *world, filtering, AUTHZ, edge.replace("traffic:", f"{LOCK}traffic:"))
    assert Tracer(locked).trace(request({"path": "/"})).outcome.status == 403


@pytest.mark.parametrize(("mode", "change"), [(OPEN, "GWP304"), ("failureMode: FailClosed", "")])
def test_diff_follows_a_service_that_goes(tmp_path: Path, mode: str, change: str) -> None:
    """With FailOpen a login goes with the Service that is asked; with FailClosed nobody gets in any more."""
    login = policy("p", "HTTPRoute/shop", f"traffic: {{{ext_auth('authz', mode)}}}")
    pair = sides(tmp_path, (*BASE, login, AUTHZ), (*BASE, login))
    comparison = compare([pair])
    findings = removed_protections([pair], comparison)
    assert {finding.rule for finding in findings} == ({change} if change else set())
    (environment,) = comparison
    assert environment.requests is not None
    assert [each.change for each in environment.requests.changes] == (["opened"] if change else ["closed"])


# --- what a policy names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("traffic: {basicAuthentication: {secretRef: {name: users}}}", ""),
        ("traffic: {basicAuthentication: {secretRef: {name: empty}}}", ".htaccess"),
        ("traffic: {apiKeyAuthentication: {secretRef: {name: keys}}}", ""),
        ("traffic: {apiKeyAuthentication: {secretRef: {name: odd-keys}}}", "exactly one"),
        ("traffic: {apiKeyAuthentication: {secretSelector: {matchLabels: {of: odd}}}}", "exactly one"),
        ("traffic: {apiKeyAuthentication: {secretSelector: {matchLabels: {of: none}}}}", ""),
        ("traffic: {apiKeyAuthentication: {secretRef: {name: short}}}", "64 hex"),
        ("backend: {auth: {secretRef: {name: users}}}", "Authorization"),
        ("backend: {auth: {secretRef: {name: users, key: .htaccess}}}", ""),
        ("backend: {auth: {aws: {secretRef: {name: half-aws}}}}", "secretKey"),
        ("backend: {auth: {azure: {secretRef: {name: half-aws}}}}", "clientID"),
        ("backend: {auth: {gcp: {secretRef: {name: empty}}}}", "credentials.json"),
        ("backend: {tls: {mtlsCertificateRef: [{name: users}]}}", "no PEM in tls.crt"),
        ("backend: {tls: {caCertificateRefs: [{name: no-pem}]}}", "no PEM in ca.crt"),
        ("backend: {tunnel: {backendRef: {name: web}}}", "needs a port"),
        ("backend: {tunnel: {backendRef: {group: example.com, kind: Other, name: web}}}", "no kind of backend"),
        ("backend: {ai: {promptGuard: {request: [{webhook: {backendRef: {name: no, port: 1}}}]}}}", "unable to find"),
        (
            (
                "backend: {ai: {promptGuard: {response: [{bedrockGuardrails: "
                "{policies: {auth: {secretRef: {name: no}}}}}]}}}"
            ),
            "",
        ),
        ("traffic: {jwtAuthentication: {mcp: {}, providers: [{issuer: a}, {issuer: b}]}}", "exactly one provider"),
        ("traffic: {extAuth: {backendRef: {name: web, port: 80}, grpc: {}, cache: {key: ['1'], ttl: 5m}}}", ""),
        ("traffic: {extAuth: {backendRef: {name: web, port: 80}, grpc: {}, cache: {key: ['1'], ttl: '5 m'}}}", "CEL"),
        ("traffic: {delay: {duration: 100ms}}", ""),
    ],
)
def test_what_is_read_in_secrets_and_backends(tmp_path: Path, spec: str, fault: str) -> None:
    hashed, full = f'{{"keyHash": "sha256:{"0" * 64}"}}', '{"key": "x", "metadata": {"a": 1}}'

    def secret(name: str, content: str = "", labels: str = "") -> str:
        return manifest("v1", "Secret", name, "default", content, more=labels)

    """traffic_plugin.go, backend_policies.go: each place has its keys; nothing of moderation is reported."""
    simulation = simulate(
        tmp_path,
        secret("users", 'stringData: {.htaccess: "a:b"}'),
        secret("empty"),
        secret("half-aws", "data: {accessKey: eA==}"),
        secret("keys", f"stringData: {{raw: sesame, hashed: '{hashed}', full: '{full}'}}"),
        secret("odd-keys", """stringData: {odd: '{"metadata": {}}'}""", labels="labels: {of: odd}"),
        secret("short", """stringData: {odd: '{"keyHash": "sha256:00"}'}"""),
        manifest("v1", "ConfigMap", "no-pem", "default", "data: {ca.crt: none}"),
        policy("p", "HTTPRoute/shop", spec),
    )
    (ancestor,) = state(simulation).ancestors
    accepted = ancestor.conditions[0]
    assert accepted.reason == ("PartiallyValid" if fault else "Valid")
    assert fault in accepted.message


@pytest.mark.parametrize(
    ("mode", "reason"), [("route", "Valid"), ("none", "Valid"), ("route-and-policy", "PartiallyValid")]
)
def test_policies_need_grants_for_backends_only_if_told(tmp_path: Path, mode: str, reason: str) -> None:
    """AGW_BACKEND_REF_GRANT_MODE, by default `route`."""
    far = service("auth", "far")
    it = policy("p", "Gateway/gw", "traffic: {extAuth: {backendRef: {name: auth, namespace: far, port: 80}, grpc: {}}}")
    simulation = opened(tmp_path, *BASE, far, it, settings={"agentgateway": {"backendRefGrantMode": mode}})
    assert words(simulation)["Gateway default/gw"][0] == reason


def test_policies_lead_to_the_backends_that_they_name(tmp_path: Path) -> None:
    """BackendReferencesFromPolicy: the Gateway of the policy that names a backend is an ancestor of the backend's own
    policies, also by a chain of policies."""
    simulation = simulate(
        tmp_path,
        service("auth", "default"),
        service("proxy", "default"),
        policy("asks", "Gateway/gw", "traffic: {extAuth: {backendRef: {name: auth, port: 80}, grpc: {}}}"),
        policy("through", "Service/auth", "backend: {tunnel: {backendRef: {name: proxy, port: 80}}}"),
        policy("p", "Service/proxy", "backend: {http: {version: HTTP2}}"),
    )
    assert words(simulation) == {"Gateway default/gw": ["Valid", "Attached"]}


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (80, {"Gateway default/gw": ["Valid", "Attached"]}),
        (81, {"agentgateway.dev/StatusSummary": ["Valid", "Pending"]}),
    ],
)
def test_listeners_are_named_by_port(tmp_path: Path, port: int, said: dict[str, list[str]]) -> None:
    """validateGatewayListener: frontend policies may name the port of a Gateway in place of a listener."""
    it = policy("p", "Gateway/gw", "frontend: {tcp: {keepalive: {retries: 1}}}")
    simulation = simulate(tmp_path, it.replace("name: gw}", f"name: gw, port: {port}}}"))
    assert words(simulation) == said


def test_a_sole_provider_is_the_section_backend(tmp_path: Path) -> None:
    """validateBackendSection: without groups the provider of `ai` is called backend."""
    sole = manifest(API, "AgentgatewayBackend", "sole", "default", "spec: {ai: {provider: {openai: {}}}}")
    for section, problem in (("backend", ""), ("other", "section-not-found")):
        it = policy("p", f"AgentgatewayBackend/sole#{section}", "backend: {http: {version: HTTP2}}")
        assert [each.problem for each in state(simulate(tmp_path, sole, it)).targets] == [problem]
