"""ClientTrafficPolicy, EnvoyPatchPolicy, BackendTLSPolicy at Envoy Gateway.

Source: docs/design/implementations/envoy-gateway.md §6 and §7.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds
from tests.implementations.worlds_envoy_gateway import CLASS, effective, message, policy, told
from tests.worlds import gateway, listener_set, route, service, simulated, state

ACCEPTED = ["Accepted=True/Accepted"]
INVALID = ["Accepted=False/Invalid"]
USED = ["Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"]
MERGING = (
    CLASS.rstrip().rstrip("}")
    + ", parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy, namespace: infra}}\n"
    + """---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: proxy, namespace: infra}
spec: {mergeGateways: true}
"""
)


def listeners(*each: str) -> str:
    """`name:port[:hostname]`, plaintext HTTP."""
    found = []
    for text in each:
        name, port, *hostname = text.split(":")
        found.append(
            f"{{name: {name}, port: {port}, protocol: HTTP{f', hostname: {hostname[0]}' if hostname else ''}}}"
        )
    return f"[{', '.join(found)}]"


def ctp(name: str, target: str, spec: str = "", **more: str) -> str:
    return policy("CTP", name, target, spec, namespace="infra", **more)


# §6 ClientTrafficPolicy


def test_a_listeners_policy_takes_it_from_the_gateways() -> None:
    simulation = simulated(
        CLASS,
        gateway(listeners=listeners("a:80", "b:81")),
        ctp("wide", "Gateway/edge", "http2: {}"),
        ctp("one", "Gateway/edge#a", "http1: {http10: {}}"),
    )
    assert told(simulation, "wide") == {"Gateway infra/edge": [*ACCEPTED, "Overridden=True/Overridden"]}
    assert message(simulation, "wide", "Overridden").endswith("overriding these sections [a]")
    assert effective(simulation, "CTP", "Listener infra/edge#a")[1] == ["one"]
    assert effective(simulation, "CTP", "Listener infra/edge#b")[1] == ["wide"]
    assert state(simulation, "wide").verdict == "PartiallyEnforced"


def test_a_listener_sets_policy_takes_its_listeners_from_the_gateways() -> None:
    simulation = simulated(
        CLASS,
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("extra", "infra", listeners("ex1:90", "ex2:91")),
        ctp("wide", "Gateway/edge"),
        ctp("set", "ListenerSet/extra"),
    )
    assert told(simulation, "set") == {"ListenerSet infra/extra": ACCEPTED}
    assert message(simulation, "wide", "Overridden").endswith("overriding these sections [ex1 ex2]")


def test_a_listener_of_a_set_that_is_not_let_in_is_taken_all_the_same() -> None:
    """Whether allowedListeners lets a ListenerSet in is not looked at for the policies on it (§2)."""
    simulation = simulated(
        CLASS,
        gateway(),
        listener_set("set", "infra", listeners("x:81")),
        ctp("wide", "ListenerSet/set"),
        ctp("one", "ListenerSet/set#x"),
    )
    assert told(simulation, "one") == {"ListenerSet infra/set#x": ACCEPTED}
    assert told(simulation, "wide") == {"ListenerSet infra/set": [*ACCEPTED, "Overridden=True/Overridden"]}


def test_a_gateways_section_may_be_a_listener_of_its_listener_set() -> None:
    simulation = simulated(
        CLASS,
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("extra", "infra", listeners("x:90")),
        ctp("one", "Gateway/edge#x"),
    )
    assert told(simulation, "one") == {"Gateway infra/edge#x": ACCEPTED}


def test_plaintext_listeners_on_one_port_share_their_settings() -> None:
    """A policy on one of them would act on the other, so it is Invalid; it keeps its scope and does nothing."""
    simulation = simulated(
        CLASS,
        gateway(listeners=listeners("a:80:a.example.com", "b:80:b.example.com")),
        ctp("wide", "Gateway/edge", "http2: {}"),
        ctp("one", "Gateway/edge#a", "http1: {http10: {}}"),
    )
    assert told(simulation, "one") == {"Gateway infra/edge#a": INVALID}
    assert "(infra/edge/b) on the same port" in message(simulation, "one", "Accepted")
    assert (state(simulation, "one").verdict, state(simulation, "one").groups) == ("Invalid", [])
    assert "Overridden=True/Overridden" in told(simulation, "wide")["Gateway infra/edge"]


def test_a_policy_on_the_whole_gateway_may_share_a_port() -> None:
    simulation = simulated(
        CLASS, gateway(listeners=listeners("a:80:a.example.com", "b:80:b.example.com")), ctp("wide", "Gateway/edge")
    )
    assert told(simulation, "wide") == {"Gateway infra/edge": ACCEPTED}


@pytest.mark.parametrize(("of_class", "expected"), [(CLASS, ACCEPTED), (MERGING, INVALID)])
def test_merged_gateways_share_their_ports(of_class: str, expected: list[str]) -> None:
    simulation = simulated(
        of_class,
        gateway(listeners=listeners("a:80:a.example.com")),
        gateway("second", listeners=listeners("b:80:b.example.com")),
        ctp("wide", "Gateway/edge"),
    )
    assert told(simulation, "wide") == {"Gateway infra/edge": expected}


def test_client_validation_over_http3_is_warned_of() -> None:
    https = "[{name: https, port: 443, protocol: HTTPS, tls: {mode: Terminate}}]"
    simulation = simulated(
        CLASS, gateway(listeners=https), ctp("mtls", "Gateway/edge", "http3: {}, tls: {clientValidation: {}}")
    )
    assert told(simulation, "mtls")["Gateway infra/edge"][1:] == ["Warning=True/UnsupportedHTTP3ClientValidation"]


# §7 EnvoyPatchPolicy


def patch(name: str, kind: str, target: str, spec: str = "type: JSONPatch") -> str:
    field = f"targetRef: {{group: gateway.networking.k8s.io, kind: {kind}, name: {target}}}"
    return policy("EnvoyPatchPolicy", name, "", spec, "infra", field=field)


def test_patches_do_not_conflict() -> None:
    simulation = simulated(CLASS, gateway(), patch("a", "Gateway", "edge"), patch("b", "Gateway", "edge"))
    assert told(simulation, "a") == told(simulation, "b") == {"Gateway infra/edge": ACCEPTED}


def test_patches_add_up_in_the_order_of_their_priority() -> None:
    """Every patch is applied, lower spec.priority first: none of them overrides another (§7)."""

    def patching(name: str, *paths: str, priority: int = 0) -> str:
        patches = ", ".join(f"{{type: x, name: edge, operation: {{op: add, path: {path}}}}}" for path in paths)
        target = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"
        spec = f"type: JSONPatch, priority: {priority}, jsonPatches: [{patches}]"
        return policy("EnvoyPatchPolicy", name, "", spec, namespace="infra", field=target)

    simulation = simulated(
        CLASS, gateway(), patching("last", "/x", priority=1), patching("a", "/y", "/z"), patching("b", "/w")
    )
    spec, sources, lost = effective(simulation, "EnvoyPatchPolicy", "Gateway infra/edge")
    assert [each["operation"]["path"] for each in spec["jsonPatches"]] == ["/y", "/z", "/w", "/x"]
    assert sources == ["a", "b", "last"]
    assert lost == []
    assert {state(simulation, name).verdict for name in sources} == {"Enforced"}
    (group,) = simulation.groups
    owners = {place: key.name for place, key in group.effective.owners.items() if place[0] == "jsonPatches"}
    assert owners == {("jsonPatches", index): name for index, name in enumerate(["a", "a", "b", "last"])}


def test_patches_of_merged_gateways_target_the_class() -> None:
    simulation = simulated(MERGING, gateway(), patch("a", "GatewayClass", "any"), patch("b", "Gateway", "edge"))
    assert told(simulation, "a") == {"GatewayClass any": ACCEPTED}
    assert told(simulation, "b") == {"GatewayClass edge": INVALID}
    (found,) = run(simulation, select={"GWP111"})
    assert found.help == ("note: EnvoyPatchPolicy may target a GatewayClass, too",)


def test_patches_of_a_class_whose_gateways_are_not_merged_are_met_with_silence() -> None:
    simulation = simulated(CLASS, gateway(), patch("a", "GatewayClass", "any"))
    assert told(simulation, "a") == {}


# §7 BackendTLSPolicy

BACKEND = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"


def tls(
    name: str, section: str = "", validation: str = "wellKnownCACertificates: System", target: str = "checkout"
) -> str:
    settings = f"validation: {{hostname: h, {validation}}}"
    target = f"Service/{target}#{section}"
    return worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, target, settings, "shop")


def test_a_backend_policy_has_the_parent_refs_of_the_routes_that_use_it() -> None:
    parents = "[{name: edge, namespace: infra, sectionName: http}]"
    simulation = simulated(
        CLASS, gateway(), route(parents=parents, more=BACKEND), service(), tls("used"), tls("idle", target="x")
    )
    assert told(simulation, "used") == {"Gateway infra/edge#http": USED}
    assert told(simulation, "idle") == {}


def test_the_class_says_who_judges_a_core_kind() -> None:
    """No kind of Envoy Gateway's own is in the input; a class of another controller gives the generic ancestors."""
    parents = "[{name: edge, namespace: infra, sectionName: http}]"
    simulation = simulated(
        CLASS.replace("gateway.envoyproxy.io", "example.com"),
        gateway(),
        route(parents=parents, more=BACKEND),
        service(),
        tls("used"),
    )
    assert list(told(simulation, "used")) == ["Gateway infra/edge"]


def test_a_policy_for_the_very_port_is_chosen_before_one_for_the_whole_service() -> None:
    simulation = simulated(CLASS, gateway(), route(more=BACKEND), service(), tls("a-whole"), tls("b-port", "http"))
    assert told(simulation, "b-port") == {"Gateway infra/edge": USED}
    assert told(simulation, "a-whole") == {}


@pytest.mark.parametrize(
    ("section", "port", "verdict"),
    [("a", 80, "Enforced"), ("b", 443, "Enforced"), ("b", 80, "NoEffect"), ("c", 80, "TargetNotFound")],
)
def test_a_section_that_no_backend_names_is_used_by_nothing(section: str, port: int, verdict: str) -> None:
    """processBackendRefs asks for the policy of the port that a backendRef names, and of no other."""
    ports = "[{name: a, port: 80}, {name: b, port: 443}]"
    asking = route(more=f"rules: [{{backendRefs: [{{name: checkout, port: {port}}}]}}]")
    simulation = simulated(CLASS, gateway(), asking, service(ports=ports), tls("own", section))
    assert worlds.state(simulation, "own").verdict == verdict
    assert list(told(simulation, "own")) == (["Gateway infra/edge"] if verdict == "Enforced" else [])


@pytest.mark.parametrize("backend", ["{name: checkout, port: 80, weight: 0}", "{name: checkout, port: 81}"])
def test_a_backend_that_gets_no_traffic_uses_no_policy(backend: str) -> None:
    idle = route(more=f"rules: [{{backendRefs: [{backend}]}}]")
    simulation = simulated(CLASS, gateway(), idle, service(), tls("idle"))
    assert told(simulation, "idle") == {}


def test_the_second_policy_for_one_target_conflicts_where_the_first_is_used() -> None:
    simulation = simulated(CLASS, gateway(), route(more=BACKEND), service(), tls("a"), tls("b"))
    assert told(simulation, "b") == {"Gateway infra/edge": ["Accepted=False/Conflicted"]}
    assert message(simulation, "b", "Accepted") == "Policy conflicts with BackendTLSPolicy shop/a."


AUTHORITY = """apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: shop}
data: {ca.crt: pem}
"""
BUNDLE = """apiVersion: certificates.k8s.io/v1beta1
kind: ClusterTrustBundle
metadata: {name: all}
spec: {trustBundle: pem}
"""


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ('{group: "", kind: ConfigMap, name: none}', "InvalidCACertificateRef"),
        ("{group: example.com, kind: Thing, name: x}", "InvalidKind"),
        ("{group: '', kind: ConfigMap, name: ca}, {group: '', kind: ConfigMap, name: none}", "InvalidCACertificateRef"),
        ("{group: '', kind: ConfigMap, name: none}, {group: '', kind: ConfigMap, name: ca}", "InvalidCACertificateRef"),
        ("{group: example.com, kind: ConfigMap, name: none}", "InvalidCACertificateRef"),
    ],
)
def test_a_policy_without_a_usable_ca_is_not_accepted(reference: str, reason: str) -> None:
    bad = tls("bad", validation=f"caCertificateRefs: [{reference}]")
    simulation = simulated(CLASS, gateway(), route(more=BACKEND), service(), bad, AUTHORITY)
    assert told(simulation, "bad") == {
        "Gateway infra/edge": ["Accepted=False/NoValidCACertificate", f"ResolvedRefs=False/{reason}"]
    }
    assert state(simulation, "bad").verdict == "Invalid"


@pytest.mark.parametrize(
    "reference",
    [
        "{group: core, kind: ConfigMap, name: ca}",
        "{group: example.com, kind: ConfigMap, name: ca}",
        "{group: core, kind: ClusterTrustBundle, name: all}",
        "{group: example.com, kind: Vault, name: ca}, {group: '', kind: ConfigMap, name: ca}",
    ],
)
def test_what_holds_a_ca_is_known_by_its_kind_alone(reference: str) -> None:
    good = tls("good", validation=f"caCertificateRefs: [{reference}]")
    simulation = simulated(CLASS, gateway(), route(more=BACKEND), service(), good, AUTHORITY, BUNDLE)
    assert told(simulation, "good") == {"Gateway infra/edge": USED}


GRANT = """apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: callers, namespace: shop}
spec:
  from: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: infra}]
  to: [{group: "", kind: Service}]
"""


def test_an_authoriser_of_a_security_policy_uses_the_policy_too() -> None:
    caller = policy(
        "SP",
        "caller",
        "Gateway/edge",
        "extAuth: {http: {backendRefs: [{name: checkout, namespace: shop, port: 80}]}}",
        "infra",
    )
    assert told(simulated(CLASS, gateway(), service(), caller, tls("used")), "used") == {}
    simulation = simulated(CLASS, gateway(), service(), caller, tls("used"), GRANT)
    assert told(simulation, "used") == {"SecurityPolicy infra/caller": USED}


def endpoint(name: str, skips: str) -> str:
    spec = f"{{endpoints: [{{fqdn: {{hostname: h, port: 443}}}}], tls: {{insecureSkipVerify: {skips}}}}}"
    return f"""apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {{name: {name}, namespace: shop}}
spec: {spec}
"""


ENDPOINT = "{group: gateway.envoyproxy.io, kind: Backend, name: NAME}"


@pytest.mark.parametrize(
    ("skips", "verdict"),
    [("false false", "Enforced"), ("true false", "PartiallyEnforced"), ("true true", "NoEffect")],
)
def test_a_backend_that_skips_verification_voids_the_policy_on_it(skips: str, verdict: str) -> None:
    refs = [ENDPOINT.replace("NAME", name) for name in "ab"]
    backends = ", ".join(f"{ref[:-1]}, port: 443}}" for ref in refs)
    written = f"""apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {{name: tls, namespace: shop}}
spec: {{targetRefs: [{", ".join(refs)}], validation: {{hostname: h, wellKnownCACertificates: System}}}}
"""
    simulation = simulated(
        CLASS,
        gateway(),
        route(more=f"rules: [{{backendRefs: [{backends}]}}]"),
        *(endpoint(name, skip) for name, skip in zip("ab", skips.split(), strict=True)),
        written,
    )
    found = state(simulation, "tls")
    assert found.verdict == verdict
    assert (found.idle is not None) == (verdict == "NoEffect")
    reached = {node.key.name for group in found.groups for node in group.nodes if node.key.kind == "Backend"}
    assert reached == {name for name, skip in zip("ab", skips.split(), strict=True) if skip == "false"}


def test_a_patch_of_a_merged_gateway_is_not_enforced() -> None:
    """The verdict is that of the conditions beside it."""
    patch = policy("EnvoyPatchPolicy", "patch", "Gateway/edge", "", "infra", field="targetRef")
    found = state(simulated(MERGING, gateway(), patch), "patch")
    assert found.verdict == "Invalid"
    assert [condition.reason for ancestor in found.ancestors for condition in ancestor.conditions] == ["Invalid"]
