"""kgateway: fields, weights, delegation, what is lost to whom.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policylint.checks.synthetic_rule_name import check
from policylint.policy.results import Effective
from policylint.simulation import Simulation
from policylint.trace import Requirements, Tracer, request
from tests import worlds
from tests.worlds import gateway, gateway_class, manifest, opened, route, service

BASE = (
    gateway_class("kgateway", "kgateway.dev/kgateway"),
    gateway(
        "gw",
        "default",
        "[{name: http, port: 80, protocol: HTTP}, "
        "{name: https, port: 443, protocol: HTTPS, hostname: safe.example.com, tls: {mode: Terminate}}]",
        of_class="kgateway",
    ),
    service("web", "default", "[{port: 80}]"),
)


def chain(priority: str) -> str:
    """A route that delegates to another one."""
    parent = route(
        "parent",
        "default",
        "[{name: gw, sectionName: https}]",
        more="rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]}]",
        annotations=f"kgateway.dev/inherited-policy-priority: {priority}",
    )
    child = route("child", "default", parents="", more="rules: [{name: own, backendRefs: [{name: web, port: 80}]}]")
    return f"{parent}---\n{child}"


def simulate(path: Path, *parts: str, filters: str = "[]", rule: str = "name: pay, ") -> Simulation:
    rule = f"{{{rule}filters: {filters}, backendRefs: [{{name: web, port: 80}}]}}"
    shop = route("shop", "default", "[{name: gw, sectionName: http}]", more=f"rules: [{rule}]")
    return opened(path, *BASE, shop, *parts)


def policy(name: str, target: str, spec: str, *, weight: str = "", kind: str = "TrafficPolicy") -> str:
    annotations = f"annotations: {{kgateway.dev/policy-weight: {weight!r}}}" if weight else ""
    return worlds.policy("gateway.kgateway.dev/v1alpha1", kind, name, target, spec, more=annotations)


def extension(name: str) -> str:
    spec = "spec: {extAuth: {grpcService: {backendRef: {name: web, port: 80}}}}"
    return manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", name, "default", spec)


def at(simulation: Simulation, node: str) -> Effective:
    """The effective policy of the context that ends at a rule or listener."""
    (found,) = [
        group.effective for group in simulation.groups for path in group.contexts() if str(path[-1]).endswith(node)
    ]
    return found


def owned(result: Effective) -> dict[str, list[str]]:
    return {field: [each.name for each in owners] for field, owners in result.origins().items()}


def lost(result: Effective) -> set[tuple[str, str, str]]:
    return {("/".join(map(str, each.pointer)), each.policy.name, each.by[0].name) for each in result.lost}


def said(simulation: Simulation, name: str) -> tuple[str, list[str], list[str]]:
    """The verdict, by whom, and the reasons of all conditions."""
    state = next(state for key, state in simulation.policies.items() if key.name == name)
    reasons = sorted({condition.reason for each in state.ancestors for condition in each.conditions})
    return state.verdict, [each.name for each in state.by], reasons


def test_filters_come_before_rule_policies_before_route_policies(tmp_path: Path) -> None:
    """§2.2: one level; each adds the fields that are not yet set, whole."""
    filters = (
        "[{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: TrafficPolicy, name: by-filter}}]"
    )
    simulation = simulate(
        tmp_path,
        policy("by-filter", "", "timeouts: {request: 1s}"),
        policy("on-rule", "HTTPRoute/shop#pay", "timeouts: {request: 2s}, cors: {allowOrigins: [rule]}"),
        policy("on-route", "HTTPRoute/shop", "cors: {allowOrigins: [route]}, csrf: {percentageEnabled: 3}"),
        filters=filters,
    )
    result = at(simulation, "shop#pay")
    assert result.spec == {
        "timeouts": {"request": "1s"},
        "cors": {"allowOrigins": ["rule"]},
        "csrf": {"percentageEnabled": 3},
    }
    assert owned(result) == {"timeouts": ["by-filter"], "cors": ["on-rule"], "csrf": ["on-route"]}
    assert lost(result) == {
        ("timeouts/request", "on-rule", "by-filter"),
        ("cors/allowOrigins", "on-route", "on-rule"),
    }
    assert said(simulation, "by-filter") == ("Enforced", [], ["Merged", "Valid"])


def test_the_weight_sorts_inside_one_list_only(tmp_path: Path) -> None:
    """§2.2: a heavy policy on the route beats its likes, not the policy on the rule."""
    simulation = simulate(
        tmp_path,
        policy("a-light", "HTTPRoute/shop", "timeouts: {request: 1s}, retry: {attempts: 1, statusCodes: [500]}"),
        policy(
            "b-heavy", "HTTPRoute/shop", "timeouts: {request: 2s}, retry: {attempts: 2, statusCodes: [500]}", weight="9"
        ),
        policy("on-rule", "HTTPRoute/shop#pay", "retry: {attempts: 3, statusCodes: [500]}"),
    )
    assert at(simulation, "shop#pay").spec == {
        "timeouts": {"request": "2s"},
        "retry": {"attempts": 3, "statusCodes": [500]},
    }
    assert said(simulation, "a-light") == ("Overridden", ["b-heavy", "on-rule"], ["Overridden", "Valid"])


def test_rate_limits_local_and_global_are_two_fields(tmp_path: Path) -> None:
    """trafficpolicy/merge.go: mergeLocalRateLimit and mergeGlobalRateLimit."""
    shared = {"descriptors": [], "extensionRef": {"name": "limits"}}
    service = "grpcService: {backendRef: {name: web, port: 80}}"
    simulation = simulate(
        tmp_path,
        policy("limits", "", f"type: RateLimit, rateLimit: {{domain: d, {service}}}", kind="GatewayExtension"),
        policy("a", "HTTPRoute/shop", "rateLimit: {local: {tokenBucket: {maxTokens: 1, fillInterval: 1s}}}"),
        policy(
            "b",
            "HTTPRoute/shop",
            f"rateLimit: {{global: {json.dumps(shared)}, local: {{tokenBucket: {{maxTokens: 2, fillInterval: 1s}}}}}}",
        ),
    )
    assert at(simulation, "shop#pay").spec == {
        "rateLimit": {
            "local": {"tokenBucket": {"maxTokens": 1, "fillInterval": "1s"}},
            "global": shared,
        }
    }


def test_a_route_never_overrides_a_gateway_policy_in_the_status(tmp_path: Path) -> None:
    """§2.2: per filter Envoy takes the most specific configuration, without a word in the status."""
    simulation = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", "timeouts: {request: 9s}, csrf: {percentageEnabled: 1}"),
        policy("shop", "HTTPRoute/shop", "timeouts: {request: 1s}"),
    )
    result = at(simulation, "shop#pay")
    assert owned(result) == {"csrf": ["edge"], "timeouts": ["shop"]}
    assert lost(result) == {("timeouts/request", "edge", "shop")}
    assert said(simulation, "edge") == ("PartiallyEnforced", ["shop"], ["Attached", "Valid"])


def test_a_section_takes_a_listener_with_tls_from_the_gateway(tmp_path: Path) -> None:
    """§2.2 and §2.6: a listener with TLS has one route config, in which both stand; without TLS a section is
    a virtual host below the Gateway's.

    The condition says Overridden as soon as one target is lost (§2.5); the verdict counts what survives anywhere.
    """
    on_https = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", "timeouts: {request: 9s}"),
        policy("section", "Gateway/gw#https", "timeouts: {request: 1s}"),
    )
    assert said(on_https, "edge") == ("PartiallyEnforced", ["section"], ["Overridden", "Valid"])
    on_http = simulate(
        tmp_path,
        policy("edge", "Gateway/gw", "timeouts: {request: 9s}"),
        policy("section", "Gateway/gw#http", "timeouts: {request: 1s}"),
    )
    assert said(on_http, "edge") == ("PartiallyEnforced", ["section"], ["Attached", "Valid"])


@pytest.mark.parametrize(
    ("priority", "action", "cidrs", "timeout"),
    [
        ("ShallowMergePreferChild", "deny", ["child"], "1s"),
        ("nonsense", "deny", ["child"], "1s"),
        ("ShallowMergePreferParent", "deny", ["parent"], "9s"),
        ("DeepMergePreferChild", "deny", ["child", "parent"], "1s"),
        ("DeepMergePreferParent", "deny", ["parent", "child"], "9s"),
    ],
)
def test_delegation(tmp_path: Path, priority: str, action: str, cidrs: list[str], timeout: str) -> None:
    """§2.3: the annotation of the parent decides; deep only for acl, extAuth, extProc and transformation."""
    acl = "acl: {{defaultAction: deny, rules: [{{action: allow, cidrs: [{0}]}}]}}, timeouts: {{request: {1}}}"
    simulation = simulate(
        tmp_path,
        chain(priority),
        policy("of-parent", "HTTPRoute/parent", acl.format("parent", "9s") + ", csrf: {percentageEnabled: 1}"),
        policy("of-child", "HTTPRoute/child", acl.format("child", "1s")),
    )
    spec: Any = at(simulation, "child#own").spec
    assert spec["acl"]["defaultAction"] == action
    assert [each["cidrs"][0] for each in spec["acl"]["rules"]] == cidrs
    assert spec["timeouts"] == {"request": timeout}
    assert spec["csrf"] == {"percentageEnabled": 1}, "what the child leaves unset comes from the parent in any case"


def test_two_providers_of_external_authorization_become_a_list(tmp_path: Path) -> None:
    """§2.3: a deep merge of extAuth runs both providers, the preferred one first."""
    simulation = simulate(
        tmp_path,
        extension("one"),
        extension("two"),
        chain("DeepMergePreferParent"),
        policy("of-parent", "HTTPRoute/parent", "extAuth: {extensionRef: {name: one}}"),
        policy("of-child", "HTTPRoute/child", "extAuth: {extensionRef: {name: two}}"),
    )
    result = at(simulation, "child#own")
    assert result.spec == {"extAuth": [{"extensionRef": {"name": "one"}}, {"extensionRef": {"name": "two"}}]}
    assert owned(result) == {"extAuth": ["of-child", "of-parent"]}
    assert not result.lost


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("extAuth: {extensionRef: {name: absent}}", id="GatewayExtension"),
        pytest.param("basicAuth: {secretRef: {name: absent}}", id="Secret"),
        pytest.param("apiKeyAuth: {secretSelector: {matchLabels: {app: absent}}}", id="Secrets by label"),
    ],
)
def test_what_refers_to_nothing_is_left_out_of_the_merge(tmp_path: Path, spec: str) -> None:
    """§2.2, last item: Accepted=False/Invalid and Attached=False/Pending."""
    simulation = simulate(tmp_path, policy("broken", "HTTPRoute/shop", f"{spec}, timeouts: {{request: 1s}}"))
    assert said(simulation, "broken") == ("Invalid", [], ["Invalid", "Pending"])
    (group,) = simulation.groups
    assert not group.effective.spec
    assert str(group.effective.refused) == "TrafficPolicy default/broken"


@pytest.mark.parametrize("target", ["HTTPRoute/shop", "Gateway/gw"])
@pytest.mark.parametrize("opens", ["true", "false"])
def test_routes_of_what_does_not_translate_answer_500(tmp_path: Path, target: str, opens: str) -> None:
    """irtranslator/route.go; failOpen is for a service that does not answer (gateway_extension.go), not for none."""
    calling = f"spec: {{extAuth: {{failOpen: {opens}, grpcService: {{backendRef: {{name: gone, port: 9}}}}}}}}"
    simulation = simulate(
        tmp_path,
        manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", "ext", "default", calling),
        policy("broken", target, "extAuth: {extensionRef: {name: ext}}"),
        policy("fine", "HTTPRoute/shop", "timeouts: {request: 1s}"),
    )
    assert said(simulation, "broken")[0] == "Invalid"
    assert said(simulation, "fine")[0] == "Enforced"
    outcome = Tracer(simulation).trace(request({"host": "shop.example.com", "path": "/"})).outcome
    assert outcome.status == 500
    assert "TrafficPolicy default/broken is refused" in outcome.reason


def test_listener_policies_are_merged_inside_default_and_per_port(tmp_path: Path) -> None:
    """§2.4: http settings one by one; what a port has of its own stands for `default` there (getPolicy)."""
    simulation = simulate(
        tmp_path,
        policy(
            "a",
            "Gateway/gw",
            "default: {httpSettings: {idleTimeout: 1s}}, perPort: [{port: 443, listener: {proxyProtocol: {}}}]",
            kind="ListenerPolicy",
        ),
        policy(
            "b",
            "Gateway/gw",
            "default: {httpSettings: {idleTimeout: 2s, maxHeadersCount: 9}},"
            " perPort: [{port: 443, listener: {perConnectionBufferLimitBytes: 5}}]",
            kind="ListenerPolicy",
        ),
    )
    result = at(simulation, "gw#http")
    assert result.spec == {"httpSettings": {"idleTimeout": "1s", "maxHeadersCount": 9}}
    assert lost(result) == {("httpSettings/idleTimeout", "b", "a")}
    of_port = at(simulation, "gw#https")
    assert of_port.spec == {"proxyProtocol": {}, "perConnectionBufferLimitBytes": 5}
    assert ("httpSettings/maxHeadersCount", "b", "a") in lost(of_port)
    place = of_port.location_of(("perConnectionBufferLimitBytes",))
    assert place is not None and place.pointer[:4] == ("spec", "perPort", 0, "listener")
    assert said(simulation, "a")[2] == ["Merged", "Valid"]


def test_a_backend_tls_policy_takes_tls_away(tmp_path: Path) -> None:
    """§2.4: the `tls` of a BackendConfigPolicy is ignored, the rest stands."""
    validation = "validation: {hostname: web, wellKnownCACertificates: System}"
    tls = worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "btp", "Service/web", validation)
    config = policy(
        "bcp",
        "Service/web",
        "tls: {sni: mine, insecureSkipVerify: true}, connectTimeout: 1s",
        kind="BackendConfigPolicy",
    )
    simulation = simulate(
        tmp_path, tls, config.replace("gateway.networking.k8s.io, kind: Service", '"", kind: Service')
    )
    (result,) = [group.effective for group in simulation.groups if group.kind.kind == "BackendConfigPolicy"]
    assert result.spec == {"connectTimeout": "1s"}
    assert lost(result) == {("tls/insecureSkipVerify", "bcp", "btp"), ("tls/sni", "bcp", "btp")}
    assert said(simulation, "bcp")[0] == "PartiallyEnforced"
    assert said(simulation, "bcp")[2] == ["Attached", "ConflictedWithBackendTLSPolicy", "Valid"]


def test_a_policy_that_a_filter_names_hangs_on_no_rule_number(tmp_path: Path) -> None:
    """A filter stands in its rule and moves with it, so that GWP110 has nothing to say of an unnamed rule."""
    filters = "[{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: DirectResponse, name: gone}}]"
    gone = policy("gone", "", "status: 410", kind="DirectResponse")
    simulation = simulate(tmp_path, gone, filters=filters, rule="")
    assert at(simulation, "shop#rule-1").spec == {"status": 410}
    assert said(simulation, "gone") == ("Enforced", [], ["Attached", "Valid"])
    assert not list(check(simulation))


def test_dns_settings_are_fields_of_their_own(tmp_path: Path) -> None:
    """backendconfigpolicy/merge.go: refreshRate, jitter and respectTTL are merged one by one."""
    simulation = simulate(
        tmp_path,
        policy(
            "a",
            "",
            "targetRefs: [{group: '', kind: Service, name: web}], dns: {jitter: 1s}",
            kind="BackendConfigPolicy",
        ),
        policy(
            "b",
            "",
            "targetRefs: [{group: '', kind: Service, name: web}], dns: {jitter: 2s, refreshRate: 9s}",
            kind="BackendConfigPolicy",
        ),
    )
    result = at(simulation, "web")
    assert result.spec == {"dns": {"jitter": "1s", "refreshRate": "9s"}}
    assert [said(simulation, name)[2] for name in "ab"] == [["Attached", "Valid"]] * 2  # backends tell of no merge


@pytest.mark.parametrize("target", ["{group: '', kind: Service, name: web}", "{group: '', kind: Service, name: other}"])
def test_every_policy_on_a_backend_is_attached(tmp_path: Path, target: str) -> None:
    """proxy_syncer/status.go: each is reported by itself, though the older one's timeout is what counts."""
    specs = {"a": "connectTimeout: 5s", "b": "connectTimeout: 9s"}
    other = "apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: default}\nspec: {ports: [{port: 80}]}\n"
    policies = [
        policy(name, "", f"targetRefs: [{target}], {spec}", kind="BackendConfigPolicy") for name, spec in specs.items()
    ]
    simulation = simulate(tmp_path, other, *policies)
    assert [said(simulation, name)[2] for name in "ab"] == [["Attached", "Valid"]] * 2
    assert said(simulation, "b")[0] == "Overridden"


def test_what_a_filter_of_a_backend_names_is_attached_to_nothing(tmp_path: Path) -> None:
    """irtranslator/route.go, runBackendPolicies: it is accepted at the parent of the route, and that is all."""
    named = "{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: KIND, name: NAME}}"
    traffic, answer = named.replace("KIND", "TrafficPolicy"), named.replace("KIND", "DirectResponse")
    rules = f"""rules:
  - backendRefs: [{{name: web, port: 80, filters: [{traffic.replace("NAME", "a")}]}}]
  - matches: [{{path: {{type: PathPrefix, value: /b}}}}]
    filters: [{traffic.replace("NAME", "b")}]
    backendRefs: [{{name: web, port: 80, filters: [{traffic.replace("NAME", "b")}]}}]
  - matches: [{{path: {{type: PathPrefix, value: /c}}}}]
    backendRefs: [{{name: web, port: 80, filters: [{answer.replace("NAME", "c")}]}}]"""
    route = f"""apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: filtered, namespace: default}}
spec:
  parentRefs: [{{name: gw}}]
  {rules}
"""
    policies = [policy(name, "", "timeouts: {request: 5s}") for name in "ab"]
    answers = policy("c", "", "status: 200", kind="DirectResponse")
    simulation = simulate(tmp_path, route, *policies, answers)
    assert said(simulation, "a")[2] == ["Pending", "Valid"]
    assert said(simulation, "b")[2] == ["Attached", "Valid"]
    assert said(simulation, "c")[2] == ["Pending", "Valid"]


def test_no_limit_is_no_setting(tmp_path: Path) -> None:
    """listenerpolicy/http.go: maxRequestsPerConnection counts only above 0."""
    limit = "default: {httpSettings: {maxRequestsPerConnection: LIMIT}}"
    simulation = simulate(
        tmp_path,
        policy("a", "Gateway/gw", limit.replace("LIMIT", "0"), kind="ListenerPolicy"),
        policy("b", "Gateway/gw", limit.replace("LIMIT", "5"), kind="ListenerPolicy"),
    )
    assert said(simulation, "b")[2] == ["Attached", "Valid"]


def test_client_certificates_count_in_the_status(tmp_path: Path) -> None:
    """listenerpolicy/merge.go, mergeClientCertificateValidation @ v2.4.0: the older validation beats the younger."""
    ca = "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"
    simulation = simulate(
        tmp_path,
        policy(
            "a",
            "Gateway/gw",
            f"default: {{clientCertificateValidation: {{mode: Require, {ca}}}, proxyProtocol: {{}}}}",
            kind="ListenerPolicy",
        ),
        policy(
            "b",
            "Gateway/gw",
            "default: {clientCertificateValidation: "
            "{mode: Optional, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}",
            kind="ListenerPolicy",
        ),
    )
    assert said(simulation, "a")[2] == ["Attached", "Valid"]
    assert said(simulation, "b")[2] == ["Overridden", "Valid"]
    assert "clientCertificateValidation" not in at(simulation, "gw#http").spec  # read of single listeners alone


def test_one_that_is_switched_off_switches_all_off(tmp_path: Path) -> None:
    """trafficpolicy/merge.go: in a deep merge `disable` holds for all providers, wherever it comes from."""
    simulation = simulate(
        tmp_path,
        chain("DeepMergePreferChild"),
        policy("of-parent", "HTTPRoute/parent", "extAuth: {disable: {}}"),
        policy("of-child", "HTTPRoute/child", "extAuth: {extensionRef: {name: one}}"),
        extension("one"),
    )
    result = at(simulation, "child#own")
    assert result.spec == {"extAuth": {"disable": {}}}
    assert owned(result) == {"extAuth": ["of-parent"]}
    assert lost(result) == {("extAuth/extensionRef/name", "of-child", "of-parent")}


CALLED = "grpcService: {backendRef: {name: web, port: 80}}"
BLOCKS = {
    "extAuth": f"extAuth: {{{CALLED}}}",
    "extProc": f"extProc: {{{CALLED}}}",
    "jwtAuth": 'jwt: {providers: [{name: id, issuer: i, jwks: {local: {inline: \'{"keys": [{"kty": "oct"}]}\'}}}]}',
    "oauth2": "oauth2: {issuerURI: https://id.example}",
}
"""Fields with a filter for each extension, and what an extension says of them."""
ABOVE = ["Gateway/gw", "Gateway/gw#http"]


@pytest.mark.parametrize("field", BLOCKS)
@pytest.mark.parametrize("target", ABOVE)
def test_extensions_of_a_route_and_of_what_is_above_act_side_by_side(tmp_path: Path, target: str, field: str) -> None:
    """Each is a filter of its own, and Envoy takes the settings of its routes, virtual hosts and all (handleJwt)."""
    merged = _merged(tmp_path, target, f"{field}: {{extensionRef: {{name: one}}}}", f"{field}: {EXTENSION}")
    assert merged.spec[field] == [{"extensionRef": {"name": "two"}}, {"extensionRef": {"name": "one"}}]
    assert not merged.lost


@pytest.mark.parametrize("field", BLOCKS)
@pytest.mark.parametrize("target", ABOVE)
def test_what_is_switched_off_above_no_route_switches_on(tmp_path: Path, target: str, field: str) -> None:
    """`disable` is a filter that is on for all that is below (jwt.go, jwtGlobalDisableFilterName)."""
    merged = _merged(tmp_path, target, f"{field}: {{disable: {{}}}}", f"{field}: {EXTENSION}")
    assert merged.spec[field] == {"disable": {}}
    assert {each[1] for each in lost(merged)} == {"of-route"}


@pytest.mark.parametrize("field", ["basicAuth", "apiKeyAuth", "cors", "buffer"])
def test_of_a_single_filter_the_route_has_the_last_word(tmp_path: Path, field: str) -> None:
    merged = _merged(tmp_path, "Gateway/gw", f"{field}: {{disable: {{}}}}", f"{field}: {{own: yes}}")
    assert merged.spec[field] == {"own": "yes"} or merged.spec[field] == {"own": True}


def test_one_extension_above_and_at_a_route_asks_once(tmp_path: Path) -> None:
    merged = _merged(tmp_path, "Gateway/gw", f"extAuth: {EXTENSION}", f"extAuth: {EXTENSION}")
    assert merged.spec["extAuth"] == {"extensionRef": {"name": "two"}}


def test_extensions_of_one_name_in_two_namespaces_are_two(tmp_path: Path) -> None:
    merged = _merged(
        tmp_path, "Gateway/gw", "jwtAuth: {extensionRef: {name: two, namespace: other}}", f"jwtAuth: {EXTENSION}"
    )
    assert len(merged.spec["jwtAuth"]) == 2


def test_changes_of_headers_come_from_all_places(tmp_path: Path) -> None:
    """Envoy, header_mutation: mutations at all levels are evaluated."""
    one, two = ({"name": name, "value": "1"} for name in ("one", "two"))
    above, own = (f"headerModifiers: {{response: {{set: [{json.dumps(each)}]}}}}" for each in (one, two))
    merged = _merged(tmp_path, "Gateway/gw", above, own)
    assert merged.spec["headerModifiers"] == {"response": {"set": [two, one]}}
    assert not merged.lost


def test_a_login_that_a_gateway_switches_off_is_not_required(tmp_path: Path) -> None:
    simulation = simulate(
        tmp_path,
        extension("two"),
        policy("above", "Gateway/gw", "extAuth: {disable: {}}"),
        policy("of-route", "HTTPRoute/shop", f"extAuth: {EXTENSION}"),
    )
    tracer = Tracer(simulation)
    trace = tracer.trace(request({"host": "shop.example.com", "path": "/"}))
    assert str(Requirements(tracer).of(trace, "authentication")) == "none"


EXTENSION = "{extensionRef: {name: two}}"


def _merged(path: Path, target: str, above: str, own: str) -> Effective:
    """The effective policy of the rule, of one policy above and one of the route."""
    block = next((said for field, said in BLOCKS.items() if own.startswith(field)), BLOCKS["extAuth"])
    places = (("one", "default"), ("two", "default"), ("two", "other"))
    kind = ("gateway.kgateway.dev/v1alpha1", "GatewayExtension")
    simulation = simulate(
        path,
        *(manifest(*kind, name, namespace, f"spec: {{{block}}}") for name, namespace in places),
        policy("above", target, above),
        policy("of-route", "HTTPRoute/shop", own),
    )
    return at(simulation, "shop#pay")


@pytest.mark.parametrize(
    ("expression", "action", "answer"),
    [
        ("request.headers['x-me'] == 'a'", "Allow", "denied"),
        ("request.headers['x-me'] != 'a'", "Allow", "denied"),
        ("!(request.headers['x-me'] == 'a')", "Allow", "denied"),
        ("request.headers['x-me'] == 'a' || request.method == 'GET'", "Allow", "allowed"),
        ("request.headers['x-me'] == 'a'", "Deny", "allowed"),
        ("request.headers['x-me'] != 'a'", "Deny", "allowed"),
    ],
)
def test_an_expression_on_a_header_that_is_not_there_does_not_hold(
    tmp_path: Path, expression: str, action: str, answer: str
) -> None:
    """Envoy's matcher takes an expression that fails for one that does not match (seen at v2.4.0)."""
    rules = f"rbac: {{action: {action}, policy: {{matchExpressions: [{json.dumps(expression)}]}}}}"
    simulation = simulate(tmp_path, policy("rules", "HTTPRoute/shop", rules))
    trace = Tracer(simulation).trace(request({"host": "shop.example.com", "path": "/"}))
    assert [each.decision.answer for each in trace.judged] == [answer]


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        pytest.param("/team/a/x", "child#own", id="a match of the child"),
        pytest.param("/team/b", "parent#rest", id="none of the child's"),
        pytest.param("/team", "parent#rest", id="only the rule that delegates"),
        pytest.param("/team/a/deep", "parent#deep", id="a longer path beside them"),
    ],
)
def test_what_no_delegated_route_takes_another_rule_takes(tmp_path: Path, path: str, taken: str) -> None:
    """flattenDelegatedRoutes: the matches of delegated routes stand among all others."""

    def rule(name: str, prefix: str, backend: str) -> str:
        return f"{{name: {name}, matches: [{{path: {{value: {prefix}}}}}], backendRefs: [{backend}]}}"

    down = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}"
    web = "{name: web, port: 80}"
    rules = ", ".join((rule("rest", "/", web), rule("down", "/team", down), rule("deep", "/team/a/deep", web)))
    simulation = opened(
        tmp_path,
        *BASE,
        route("parent", "default", "[{name: gw, sectionName: http}]", more=f"rules: [{rules}]"),
        route("child", "default", parents="", more=f"rules: [{rule('own', '/team/a', web)}]"),
    )
    trace = Tracer(simulation).trace(request({"host": "shop.example.com", "path": path}))
    assert str(trace.rule).endswith(taken)
    assert trace.outcome.backends


def test_who_acts_beside_is_an_origin_and_not_the_source(tmp_path: Path) -> None:
    """Envoy gets the filters of the Gateway's extension apart: the route's policy is what prevails at the route."""

    def asks(name: str, target: str, more: str = "") -> tuple[str, str]:
        return extension(name), policy(name, target, f"extAuth: {{extensionRef: {{name: {name}}}}}{more}")

    own = asks("own", "HTTPRoute/shop")
    for more, expected in ((", timeouts: {request: 5s}", ["above", "own"]), ("", ["own"])):
        effective = at(simulate(tmp_path, *asks("above", "Gateway/gw", more), *own), "shop#pay")
        assert [key.name for key in effective.sources if key not in effective.beside] == expected
        assert [key.name for key in effective.origins()["extAuth"]] == ["above", "own"]
