"""Kuadrant's policies on listeners, and its conditions (docs/design/semantics.md §5 and §6, traps 9 and 21)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.implementations.kuadrant import conditions
from policylint.model import mapping, text
from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import gateway, route, simulated, state

LISTENERS = (
    "[{name: tls, port: 443, protocol: HTTPS, hostname: a.example, tls: {certificateRefs: [{name: a}]}},"
    " {name: plain, port: 80, protocol: HTTP, hostname: b.example}]"
)
ISSUER = "issuerRef: {name: x}"


def policy(kind: str, name: str, section: str = "", spec: str = ISSUER, created: str = "") -> str:
    target = f"Gateway/edge#{section}"
    return worlds.policy("kuadrant.io/v1", kind, name, target, spec, "infra", created, field="targetRef")


def judged(*policies: str) -> Simulation:
    return simulated(gateway(listeners=LISTENERS), *policies)


def reached(simulation: Simulation) -> dict[str, list[str]]:
    """Per listener the policies that have something to say there."""
    return {
        path[-1].section: [each.name for each in group.effective.sources]
        for group in simulation.groups
        for path in group.contexts()
    }


def test_a_tls_policy_is_for_listeners_with_tls() -> None:
    assert reached(judged(policy("TLSPolicy", "wide"))) == {"tls": ["wide"]}


def test_a_tls_policy_of_a_listener_without_tls_does_nothing() -> None:
    simulation = judged(policy("TLSPolicy", "plain", "plain"))
    assert state(simulation, "plain").verdict == "NoEffect"
    (found,) = run(simulation, select={"GWP106"})
    assert (found.rule, found.message) == ("GWP106", "TLSPolicy infra/plain has no effect on Listener infra/edge#plain")
    assert found.label == "Listener infra/edge#plain has no TLS, and a TLSPolicy passes such listeners over"


@pytest.mark.parametrize(
    ("kind", "listener", "why"),
    [
        ("DNSPolicy", "protocol: HTTP", "has no hostname"),
        ("TLSPolicy", "protocol: HTTPS, tls: {certificateRefs: [{name: a}]}", "has no hostname"),
        ("TLSPolicy", "protocol: HTTPS, hostname: a.example", "names no Secret for its certificate"),
        ("TLSPolicy", "protocol: TLS, hostname: a.example, tls: {mode: Passthrough}", "passes TLS on"),
        (
            "TLSPolicy",
            "protocol: HTTPS, hostname: a.example, tls: {certificateRefs: [{name: a}, {name: b, kind: ConfigMap}]}",
            "names a certificate that is no Secret",
        ),
        (
            "TLSPolicy",
            "protocol: HTTPS, hostname: a.example, tls: {certificateRefs: [{name: a, namespace: other}]}",
            "names a Secret of another namespace",
        ),
        ("DNSPolicy", "protocol: HTTP, hostname: '${HOST}'", ""),
        ("TLSPolicy", "protocol: TLS, hostname: a.example, tls: {mode: '${M}', certificateRefs: [{name: a}]}", ""),
    ],
)
@pytest.mark.parametrize("section", ["", "only"])
def test_listeners_are_passed_over(kind: str, listener: str, why: str, section: str) -> None:
    """reconcile of the DNSPolicies, validateGatewayListenerBlock of the TLSPolicies; the status says Enforced."""
    listeners = f"[{{name: only, port: 443, {listener}}}]"
    simulation = simulated(gateway(listeners=listeners), policy(kind, "p", section))
    found = state(simulation, "p")
    assert found.verdict == ("NoEffect" if why else "Enforced")
    assert (reached(simulation) == {}) is bool(why)
    assert [f"{each.type}={each.status}/{each.reason}" for each in found.conditions] == [
        "Accepted=True/Accepted",
        "Enforced=True/Enforced",
    ]
    labels = [finding.label for finding in run(simulation, select={"GWP106"})]
    over = f"Listener infra/edge#only {why}, and a {kind} passes such listeners over"
    assert labels == ([over] if why else [])


def test_a_listeners_policy_takes_it_from_the_gateways() -> None:
    simulation = judged(policy("TLSPolicy", "wide"), policy("TLSPolicy", "narrow", "tls"))
    assert reached(simulation) == {"tls": ["narrow"]}
    assert (state(simulation, "wide").verdict, [each.name for each in state(simulation, "wide").by]) == (
        "Overridden",
        ["narrow"],
    )


def test_a_policy_of_a_listener_that_the_api_server_refuses_is_not_there() -> None:
    """It lacks what its kind requires; trap 9 is about what the operator refuses."""
    simulation = judged(policy("TLSPolicy", "wide"), policy("TLSPolicy", "narrow", "tls", spec=""))
    assert state(simulation, "narrow").verdict == "Invalid"
    assert reached(simulation) == {"tls": ["wide"]}
    assert state(simulation, "wide").verdict == "Enforced"


def test_what_is_affected_includes_the_gateway() -> None:
    affected = {
        str(node): [each.name for each in keys]
        for node, keys in judged(policy("TLSPolicy", "w")).acting.affected().items()
    }
    assert affected == {"Gateway infra/edge": ["w"], "Listener infra/edge#tls": ["w"]}


@pytest.mark.parametrize(
    ("ages", "verdicts"),
    [
        (("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), ["Enforced", "Conflicted"]),
        (("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"), ["Conflicted", "Enforced"]),
        (("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), ["Enforced", "Enforced"]),  # trap 21: no tie-break
        (("", ""), ["Enforced", "Enforced"]),
    ],
)
def test_only_a_strictly_older_policy_of_one_target_refuses_another(ages: tuple[str, str], verdicts: list[str]) -> None:
    policies = [policy("DNSPolicy", name, spec="", created=age) for name, age in zip("ab", ages, strict=True)]
    simulation = judged(*policies)
    assert [state(simulation, name).verdict for name in "ab"] == verdicts
    for name, verdict in zip("ab", verdicts, strict=True):
        said = [f"{each.type}={each.status}/{each.reason}" for each in state(simulation, name).conditions]
        accepted = ["Accepted=True/Accepted", "Enforced=True/Enforced"]
        assert said == (accepted if verdict == "Enforced" else ["Accepted=False/Conflicted"])


RULES = "rules: {authentication: {a: {anonymous: {}}}}"
LIMITS = "limits: {a: {rates: [{limit: 1, window: 1s}]}}"


@pytest.mark.parametrize(
    ("kind", "spec", "why"),
    [
        # Empty maps are no rules.
        ("AuthPolicy", "rules: {}", "`spec.rules` defines no rule"),
        ("AuthPolicy", "rules: {authentication: {}}", "`spec.rules` defines no rule"),
        ("AuthPolicy", "rules: {response: {success: {headers: {}}}}", "`spec.rules` defines no rule"),
        ("AuthPolicy", "patterns: {p: {allOf: []}}", "`spec.rules` defines no rule"),
        ("AuthPolicy", "defaults: {rules: {metadata: {}}}", "`spec.defaults.rules` defines no rule"),
        ("AuthPolicy", "overrides: {when: [{predicate: 'true'}]}", "`spec.overrides.rules` defines no rule"),
        ("AuthPolicy", "rules: {response: {unauthorized: {}}}", ""),
        ("AuthPolicy", "rules: {callbacks: {c: {http: {url: http://a}}}}", ""),
        ("AuthPolicy", "rules: {response: {success: {filters: {f: {plain: {value: x}}}}}}", ""),
        # What is there but empty is there.
        ("AuthPolicy", f"when: [], defaults: {{{RULES}}}", "`when` and `defaults`"),
        ("AuthPolicy", f"patterns: {{}}, overrides: {{{RULES}}}", "`patterns` and `overrides`"),
        ("RateLimitPolicy", f"limits: {{}}, defaults: {{{LIMITS}}}", "`limits` and `defaults`"),
        ("RateLimitPolicy", f"when: [], defaults: {{{LIMITS}}}", ""),
        ("RateLimitPolicy", f"limits: null, overrides: {{{LIMITS}}}", ""),
        # Single fields.
        ("DNSPolicy", "delegate: true, providerRefs: [{name: aws}]", "mutually exclusive"),
        ("DNSPolicy", "delegate: false, providerRefs: [{name: aws}]", ""),
        ("DNSPolicy", "healthCheck: {failureThreshold: 0}", "greater than 0"),
        ("DNSPolicy", "healthCheck: {port: 8443, protocol: HTTPS, failureThreshold: 3}", ""),
        ("DNSPolicy", "healthCheck: {port: 81}", "Only ports"),
        ("DNSPolicy", "healthCheck: {protocol: TCP}", "Only HTTP or HTTPS"),
        ("TLSPolicy", "issuerRef: {name: x, kind: Vault}", "issuerRef.kind"),
        ("TLSPolicy", "issuerRef: {name: x, kind: ClusterIssuer}", ""),
    ],
)
def test_what_the_crds_refuse(kind: str, spec: str, why: str) -> None:
    simulation = judged(policy(kind, "p", spec=spec), route("r", "infra", "[{name: edge}]", more="rules: [{}]"))
    found = state(simulation, "p")
    assert (found.verdict, why in found.invalid) == ("Invalid" if why else "Enforced", True)


@pytest.mark.parametrize(
    ("provider", "why"),
    [
        ("{clientID: x, issuerURL: https://a}", ""),
        ("{clientID: x, issuerURL: https://a, jwksURL: https://b}", "Use one of"),
        ("{clientID: x, jwksURL: https://b, tokenEndpoint: https://c}", "When jwksURL is set"),
    ],
)
def test_an_oidc_provider_is_found_one_way(provider: str, why: str) -> None:
    text = policy("OIDCPolicy", "p", spec=f"provider: {provider}").replace("kuadrant.io/v1", "kuadrant.io/v1alpha1")
    found = state(judged(text.replace("kuadrant.io/", "extensions.kuadrant.io/")), "p")
    assert (found.verdict == "Invalid", why in found.invalid) == (bool(why), True)


@pytest.mark.parametrize(("kind", "verdict"), [("HTTPRoute", "Enforced"), ("GRPCRoute", "NoEffect")])
def test_tokens_are_counted_on_rules_of_http_routes(kind: str, verdict: str) -> None:
    text = policy("TokenRateLimitPolicy", "p", spec=LIMITS).replace("kuadrant.io/v1", "kuadrant.io/v1alpha1")
    simulation = judged(text, route("r", "infra", "[{name: edge}]", kind, more="rules: [{}]"))
    assert state(simulation, "p").verdict == verdict
    reached = {path[-1].key.kind for group in simulation.groups for path in group.contexts()}
    assert reached == ({kind} if verdict == "Enforced" else set())


def issuer(name: str, namespace: str = "", kind: str = "Issuer") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return f"apiVersion: cert-manager.io/v1\nkind: {kind}\nmetadata: {{name: {name}{where}}}\nspec: {{}}\n"


@pytest.mark.parametrize(
    ("reference", "issuers", "verdict"),
    [
        ("{name: x}", [], "Enforced"),  # nobody shows any: they come from elsewhere
        ("{name: x}", [issuer("x", "infra")], "Enforced"),
        ("{name: x}", [issuer("z", "infra")], "Invalid"),
        ("{name: x, kind: Issuer}", [issuer("x", "other")], "Invalid"),
        ("{name: x, kind: ClusterIssuer}", [issuer("x", kind="ClusterIssuer")], "Enforced"),
        ("{name: x, kind: ClusterIssuer}", [issuer("z", kind="ClusterIssuer")], "Invalid"),
        ("{name: x, kind: ClusterIssuer}", [issuer("x", "infra")], "Enforced"),
    ],
)
def test_an_issuer_has_to_be_there(reference: str, issuers: list[str], verdict: str) -> None:
    """tlspolicies_validator.go."""
    found = state(judged(policy("TLSPolicy", "p", spec=f"issuerRef: {reference}"), *issuers), "p")
    assert (found.verdict, found.invalid) == (verdict, "unable to find issuer" if verdict == "Invalid" else "")


@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        ("[10.1.2.3/8, '2001:db8::/32', example.com, 10.0.0.1]", "Accepted"),
        ("[10.0.0.1/33]", "Unknown"),
        ("[10.0.0.0/255.0.0.0]", "Unknown"),
        ("[example.com/8]", "Unknown"),
    ],
)
def test_excluded_addresses_are_addresses(addresses: str, reason: str) -> None:
    """ExcludeAddresses.Validate; its error has no reason of its own."""
    found = state(judged(policy("DNSPolicy", "p", spec=f"excludeAddresses: {addresses}")), "p")
    assert (found.verdict == "Invalid", found.conditions[0].reason) == (reason == "Unknown", reason)


def of_secrets(*names: str) -> str:
    tls = "{{name: {0}, port: 443, protocol: HTTPS, hostname: {0}.example, tls: {{certificateRefs: [{{name: {1}}}]}}}}"
    return f"[{', '.join(tls.format(chr(97 + number), name) for number, name in enumerate(names))}]"


@pytest.mark.parametrize(
    ("secrets", "policies", "waiting"),
    [
        (("one", "one"), [("wide", "")], ["wide"]),
        (("one", "two"), [("wide", "")], []),
        (("one", "one"), [("first", "a")], []),
        (("one", "one"), [("first", "a"), ("second", "b")], ["first", "second"]),
    ],
)
def test_listeners_that_share_a_secret(
    secrets: tuple[str, ...], policies: list[tuple[str, str]], waiting: list[str]
) -> None:
    """tlspolicy_status_updater.go: shared certificate references are not supported, Enforced is False."""
    written = [policy("TLSPolicy", name, section) for name, section in policies]
    simulation = simulated(gateway(listeners=of_secrets(*secrets)), *written)
    told = [finding.resources[0].name for finding in run(simulation, select={"GWP111"})]
    assert told == waiting
    for name, _ in policies:
        enforced = {each.status for each in state(simulation, name).conditions if each.type == "Enforced"}
        assert enforced == {"False" if name in waiting else "True"}


@pytest.mark.parametrize(
    ("kind", "predicate", "compiles"),
    [
        ("AuthPolicy", "request.path.startsWith('/a')", True),
        ("AuthPolicy", "request.path.startWith('/a')", False),
        ("AuthPolicy", "lower(request.path) == '/a'", False),
        ("AuthPolicy", "request.headers.exists(name, name.lowerAscii() == 'x')", True),
        ("AuthPolicy", "ratelimit.domain == 'a'", False),
        ("RateLimitPolicy", "ratelimit.domain == 'a'", True),
        ("RateLimitPolicy", "request.path.startWith('/a')", False),
        ("TokenRateLimitPolicy", "requestBodyJSON('/model') == 'a'", True),
        ("TokenRateLimitPolicy", "requestBody('/model') == 'a'", False),
    ],
)
def test_what_predicates_may_name_and_call(kind: str, predicate: str, compiles: bool) -> None:
    """As the operator's own checker has it (tests/witness, internal/cel/kuadrant_validator.go)."""
    assert (conditions.fault(predicate, kind) == "") == compiles


def _login(more: str = "", by: str = "apiKey", where: str = "rules: {}") -> str:
    rules = f"{{authentication: {{key: {{{by}: {{selector: {{matchLabels: {{app: shop}}}}{more}}}}}}}}}"
    spec = where.replace("{}", rules)
    return worlds.policy("kuadrant.io/v1", "AuthPolicy", "login", "Gateway/edge", spec, "infra", field="targetRef")


def _key(namespace: str, labels: str) -> str:
    return worlds.manifest("v1", "Secret", "alice", namespace, "stringData: {api_key: x}", more=f"labels: {{{labels}}}")


WATCHED = "authorino.kuadrant.io/managed-by: authorino"
INSTANCE = worlds.manifest("kuadrant.io/v1beta1", "Kuadrant", "kuadrant", "kuadrant-system", "spec: {}")
ISTIO = worlds.gateway_class("istio", "istio.io/gateway-controller")
EVERYWHERE = ", allNamespaces: true"


@pytest.mark.parametrize(
    ("login", "key", "said"),
    [
        (_login(), _key("kuadrant-system", f"app: shop, {WATCHED}"), ""),
        (_login(EVERYWHERE), _key("infra", f"app: shop, {WATCHED}"), ""),
        (_login(), _key("infra", f"app: shop, {WATCHED}"), "finds none of the Secrets here"),
        (_login(by="x509"), _key("infra", f"app: shop, {WATCHED}"), "finds none of the Secrets here"),
        (_login(where="defaults: {rules: {}}"), _key("infra", f"app: shop, {WATCHED}"), "finds none of the Secrets"),
        (_login(EVERYWHERE), _key("infra", WATCHED), "selects no Secret here"),
        (_login(), _key("infra", WATCHED), ""),  # of something else: keys are sought in kuadrant-system
        (_login(EVERYWHERE), _key("infra", "app: shop"), "selects a Secret that Authorino does not watch"),
        (_login(EVERYWHERE), "", ""),  # few trees hold Secrets
    ],
)
def test_keys_that_authorino_does_not_find(login: str, key: str, said: str) -> None:
    """Kuadrant/docs.kuadrant.io#194, kuadrant-operator#72 and #127."""
    found = list(
        run(
            simulated(
                ISTIO,
                gateway(of_class="istio"),
                route(more="rules: [{name: all}]"),
                INSTANCE,
                login,
                *filter(None, [key]),
            ),
            select={"GWP526"},
        )
    )
    assert [each.severity for each in found] == (["warning"] if said else [])
    assert all(said in each.message for each in found)


def test_without_a_kuadrant_nobody_knows_where_keys_are_sought() -> None:
    key = _key("infra", f"app: shop, {WATCHED}")
    assert (
        list(
            run(
                simulated(ISTIO, gateway(of_class="istio"), route(more="rules: [{name: all}]"), _login(), key),
                select={"GWP526"},
            )
        )
        == []
    )


LIMIT = 'limits: {a: {rates: [{limit: 5, window: 10s}], when: [{predicate: "%s"}]}}'
LOGIN = 'when: [{predicate: "%s"}], rules: {authentication: {k: {apiKey: {selector: {matchLabels: {a: b}}}}}}'
OF_RULE = 'rules: {authorization: {a: {opa: {rego: "allow = false"}, when: [{predicate: "%s"}]}}}'


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        ("request.path == '/admin'", True),
        ("request.method == 'GET' && request.path == '/admin'", True),
        ("request.url_path == '/admin'", False),
        ("request.path.endsWith('/admin')", True),
        ("!request.path.endsWith('.css')", False),
        ("request.path.startsWith('/admin')", False),
        ("request.path in ['/admin', '/users']", True),
        ("request.path.matches('^/admin$')", True),
        ("request.path.matches('^/admin')", False),
        ("request.path.matches('^/admin([?].*)?$')", False),
        ("request.path.startsWith('/admin')", False),
        ("request.path == '/admin' || request.path.startsWith('/admin?')", False),
        ("request.path == '/shop.Cart/Add'", False),
        ("request.path != '/admin'", False),
    ],
)
@pytest.mark.parametrize(("kind", "spec"), [("AuthPolicy", LOGIN), ("AuthPolicy", OF_RULE), ("RateLimitPolicy", LIMIT)])
@pytest.mark.parametrize("above", ["%s", "defaults: {%s}", "overrides: {%s}"])
def test_a_path_with_a_query_is_no_path(kind: str, spec: str, above: str, predicate: str, told: bool) -> None:
    asked = worlds.policy(
        "kuadrant.io/v1", kind, "p", "Gateway/edge", above % spec % predicate, "infra", field="targetRef"
    )
    found = list(run(simulated(ISTIO, gateway(of_class="istio"), asked), select={"GWP526"}))
    assert [each.help for each in found] == ([("fix: compare `request.url_path`",)] if told else [])


def plans(name: str, target: str, namespace: str = "shop") -> str:
    spec = "plans: [{tier: gold, predicate: 'true', limits: {daily: 9}}]"
    return worlds.policy(
        "extensions.kuadrant.io/v1alpha1", "PlanPolicy", name, target, spec, namespace, field="targetRef"
    )


def test_plans_of_a_route_take_the_place_of_the_gateways() -> None:
    """The RateLimitPolicy a PlanPolicy makes, and what the registry writes into the AuthConfig: the Gateway's first."""
    simulation = simulated(
        gateway(), route("a"), route("b"), plans("wide", "Gateway/edge", "infra"), plans("own", "HTTPRoute/a")
    )
    assert {
        each.key.name: [source.name for source in group.effective.sources]
        for group in simulation.groups
        for path in group.contexts()
        for each in path
        if each.key.kind == "HTTPRoute"
    } == {"a": ["own"], "b": ["wide"]}
    assert (state(simulation, "own").verdict, state(simulation, "wide").verdict) == ("Enforced", "PartiallyEnforced")
    simulation = simulated(gateway(), route("a"), plans("wide", "Gateway/edge", "infra"), plans("own", "HTTPRoute/a"))
    assert (state(simulation, "own").verdict, state(simulation, "wide").verdict) == ("Enforced", "Overridden")


def logins(name: str, target: str, issuer: str, namespace: str = "shop") -> str:
    spec = f"provider: {{issuerURL: 'https://{issuer}.example.com', clientID: {name}}}"
    return worlds.policy(
        "extensions.kuadrant.io/v1alpha1", "OIDCPolicy", name, target, spec, namespace, field="targetRef"
    )


def test_the_provider_of_a_gateway_stands_before_that_of_a_route() -> None:
    """The AuthPolicies that OIDCPolicies make hold overrides whose rules have one name (buildMainAuthPolicy)."""
    wide, own = logins("wide", "Gateway/edge", "all", "infra"), logins("own", "HTTPRoute/a", "other")
    simulation = simulated(gateway(), route("a"), wide, own)
    issuers = {
        text(mapping(group.effective.spec.get("provider")).get("issuerURL"))
        for group in simulation.groups
        for path in group.contexts()
        if any(each.key.kind == "HTTPRoute" for each in path)
    }
    assert issuers == {"https://all.example.com"}
    assert (state(simulation, "wide").verdict, state(simulation, "own").verdict) == ("Enforced", "Overridden")
    simulation = simulated(gateway(), route("a"), own)
    assert state(simulation, "own").verdict == "Enforced"
