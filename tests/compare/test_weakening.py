"""GWP304: what a change to the policies of each implementation weakens, and what looks like it and does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.compare import compare, compare_findings, removed_protections
from policylint.model import Finding
from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.compare.test_compare import sides

WORLD = (GATEWAY, route(), SERVICE)
CHECKOUT = "kind: HTTPRoute, name: checkout"
ISSUER = "issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com}"
JWT = f"providers: [{{name: staff, {ISSUER}, audiences: [shop]}}]"
EXTERNAL = "\n  extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}"
TOKEN = "{provider: staff, claims: [{name: role, values: [admin]}, {name: team, values: [a]}]}"
OFFICE = "clientCIDRs: [10.0.0.0/8]"


def weakened(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[Finding]:
    """What GWP304 says of two states."""
    pair = sides(tmp_path, before, after)
    return removed_protections([pair], compare([pair]), {"GWP304"})


def said(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.severity, each.message.partition(": ")[2]) for each in found]


def security(fields: str, target: str = CHECKOUT) -> str:
    return policy("SecurityPolicy", "login", target, fields)


def client(fields: str) -> str:
    return policy("ClientTrafficPolicy", "tls", "kind: Gateway, name: edge", fields, namespace="infra")


def of(
    group: str, kind: str, spec: str, name: str = "login", namespace: str = "shop", version: str = "v1alpha1"
) -> str:
    return f"""
apiVersion: {group}/{version}
kind: {kind}
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  {spec}
"""


OIDC = "{provider: {issuer: 'https://id.example.com'}, clientID: a, clientSecret: {name: s}}"


def jwt(fields: str = "") -> str:
    return f"jwt: {{{fields + ', ' * bool(fields)}{JWT}}}"


def rules(allow: str, more: str = "", default: str = "Deny") -> str:
    listed = f"rules: [{{name: staff, action: Allow, {allow}}}{more}]"
    return f"authorization: {{defaultAction: {default}, {listed}}}\n  jwt: {{{JWT}}}"


BAD = "{name: bad, action: Deny, principal: {clientCIDRs: [9.9.9.9/32]}}"
ENVOY_GATEWAY = [
    (
        "authorization: {defaultAction: Deny}",
        "authorization: {defaultAction: Allow}",
        ("error", "authorization.defaultAction of SecurityPolicy shop/login goes from Deny to Allow, "),
    ),
    (
        "authorization: {rules: [{action: Deny, principal: {clientCIDRs: [9.9.9.9/32]}}]}",
        "authorization: {defaultAction: Allow, rules: [{action: Deny, principal: {clientCIDRs: [9.9.9.9/32]}}]}",
        ("error", "authorization.defaultAction of SecurityPolicy shop/login goes from Deny to Allow"),
    ),
    ("authorization: {defaultAction: Allow}", "authorization: {defaultAction: Deny}", None),
    ("cors: {allowOrigins: ['https://a.example.com']}", "authorization: {defaultAction: Allow}", None),
    (
        jwt(),
        jwt("optional: true"),
        ("error", "jwt.optional of SecurityPolicy shop/login goes from false to true, requests without a token pass"),
    ),
    (
        jwt("optional: false") + EXTERNAL,
        jwt("optional: true") + EXTERNAL,
        ("warning", "jwt.optional of SecurityPolicy shop/login goes from false to true"),
    ),
    (jwt("optional: true"), jwt(), None),
    (jwt(), jwt("failOpen: true"), ("error", "jwt.failOpen of SecurityPolicy shop/login goes")),
    (
        jwt(),
        f"jwt: {{providers: [{{name: staff, {ISSUER}, audiences: [shop]}}, {{name: b, {ISSUER}}}]}}",
        ("warning", "jwt.providers of SecurityPolicy shop/login gains b, tokens of one more issuer are taken"),
    ),
    (
        jwt(),
        "jwt: {providers: [{name: b, issuer: https://b, audiences: [shop], remoteJWKS: {uri: https://b}}]}",
        (
            "warning",
            "jwt.providers of SecurityPolicy shop/login holds b in place of staff, tokens of another issuer are",
        ),
    ),  # exchanged, whatever the name
    (jwt(), jwt().replace("staff", "personnel"), None),  # the same under another name
    (
        jwt(),
        f"jwt: {{providers: [{{name: staff, {ISSUER}}}]}}",
        (
            "error",
            "jwt.providers[0].audiences of SecurityPolicy shop/login is gone, tokens for any audience are taken",
        ),
    ),
    (
        jwt(),
        f"jwt: {{providers: [{{name: staff, {ISSUER}, audiences: [shop, cart]}}]}}",
        ("note", "jwt.providers[0].audiences of SecurityPolicy shop/login gains cart, tokens for one more audience"),
    ),
    (
        "extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}",
        "extAuth: {failOpen: true, http: {backendRefs: [{name: '${AUTH}', port: 80}]}}",
        ("warning", "extAuth.failOpen of SecurityPolicy shop/login goes from false to true"),
    ),
    (
        "extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}",
        "extAuth: {failOpen: false, http: {backendRefs: [{name: '${AUTH}', port: 80}]}}",
        None,
    ),
    (
        "apiKeyAuth: {extractFrom: [{headers: [x]}], credentialRefs: [{name: a}]}",
        "apiKeyAuth: {extractFrom: [{headers: [x]}], credentialRefs: [{name: a}, {name: b}]}",
        ("note", "apiKeyAuth.credentialRefs of SecurityPolicy shop/login gains b"),
    ),
    (
        jwt() + EXTERNAL,
        "extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}",
        ("warning", "jwt of SecurityPolicy shop/login is gone, extAuth alone asks"),
    ),
    (jwt(), "extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}", None),  # exchanged
    (jwt(), "cors: {allowOrigins: ['https://a.example.com']}", None),  # GWP302 says it
    (
        rules(f"principal: {{{OFFICE}, jwt: {TOKEN}}}"),
        rules(f"principal: {{{OFFICE}}}"),
        ("error", "authorization.rules[0].principal.jwt of SecurityPolicy shop/login is gone, "),
    ),
    (
        rules(f"principal: {{{OFFICE}, jwt: {TOKEN}}}"),
        rules(f"principal: {{jwt: {TOKEN}}}"),
        ("error", "authorization.rules[0].principal.clientCIDRs of SecurityPolicy shop/login is gone"),
    ),
    (
        rules(f"principal: {{jwt: {TOKEN}}}"),
        rules("principal: {jwt: {provider: staff, claims: [{name: team, values: [a]}]}}"),
        ("error", "authorization.rules[0].principal.jwt.claims of SecurityPolicy shop/login loses role"),
    ),
    (
        rules(f"principal: {{{OFFICE}}}"),
        rules("principal: {clientCIDRs: [10.0.0.0/8, 0.0.0.0/0]}"),
        ("error", "authorization.rules[0].principal.clientCIDRs of SecurityPolicy shop/login now holds 0.0.0.0/0, "),
    ),
    (rules(f"principal: {{{OFFICE}}}"), rules("principal: {clientCIDRs: [10.0.0.0/8, 192.168.0.0/16]}"), None),
    (
        rules(f"principal: {{{OFFICE}}}", ", {name: bad, action: Deny, principal: {clientCIDRs: [9.9.9.9/32]}}"),
        rules(f"principal: {{{OFFICE}}}"),
        ("warning", "authorization.rules of SecurityPolicy shop/login loses bad"),  # the default alone denies it
    ),
    (
        f"authorization: {{defaultAction: Allow, rules: [{BAD}]}}",
        "authorization: {defaultAction: Allow, rules: []}",
        ("error", "authorization.rules of SecurityPolicy shop/login loses bad, what it denied is no longer denied"),
    ),
    (
        rules(f"principal: {{{OFFICE}}}"),
        rules(f"principal: {{{OFFICE}}}", ", {name: bad, action: Deny, principal: {clientCIDRs: [0.0.0.0/0]}}"),
        None,
    ),
    (
        "cors: {allowCredentials: true, allowOrigins: ['https://a.example.com']}",
        "cors: {allowCredentials: true, allowOrigins: ['https://a.example.com', '*']}",
        ("warning", "cors.allowOrigins of SecurityPolicy shop/login now holds *"),
    ),
    (
        "cors: {allowOrigins: ['*']}",
        "cors: {allowCredentials: true, allowOrigins: ['*']}",
        ("warning", "cors.allowOrigins of SecurityPolicy shop/login now holds *"),
    ),
    ("cors: {allowOrigins: ['https://a.example.com']}", "cors: {allowOrigins: ['*']}", None),
    (
        jwt(),
        jwt().replace("issuer: https://id.example.com, ", ""),
        ("error", "jwt.providers[0].issuer of SecurityPolicy shop/login is gone, tokens of any issuer with these"),
    ),
    (
        f"{jwt()}\n  oidc: {OIDC}",
        f"{jwt()}\n  oidc: {OIDC.replace('{', '{passThroughAuthHeader: true, ', 1)}",
        ("warning", "oidc.passThroughAuthHeader of SecurityPolicy shop/login goes from false to true"),
    ),
    ("csrf: {}", "cors: {allowOrigins: ['https://a.example.com']}", ("warning", "csrf of SecurityPolicy shop/login")),
    (
        "csrf: {additionalOrigins: ['https://a.example.com']}",
        "csrf: {additionalOrigins: ['*']}",
        ("warning", "csrf.additionalOrigins of SecurityPolicy shop/login now holds *"),
    ),
    (
        "csrf: {}",
        "csrf: {shadowFraction: {numerator: 100}}",
        ("warning", "csrf.shadowFraction of SecurityPolicy shop/login is new"),
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), ENVOY_GATEWAY)
def test_security_policy(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    found = said(weakened(tmp_path, (*WORLD, security(before)), (*WORLD, security(after))))
    assert_is(found, expected)


def assert_is(found: list[tuple[str, str]], expected: tuple[str, str] | None) -> None:
    if expected is None:
        assert found == []
    else:
        ((severity, message),) = found
        assert severity == expected[0]
        assert message.startswith(expected[1])


def validation(fields: str) -> str:
    return client(f"tls: {{clientValidation: {{caCertificateRefs: [{{name: ca}}], {fields}}}}}")


CLIENTS = [
    (
        validation(""),
        client("connection: {bufferLimit: 1Mi}"),
        (
            "warning",
            "tls.clientValidation of ClientTrafficPolicy infra/tls is gone, nobody asks for a client certificate",
        ),
    ),
    (validation(""), "", ("warning", "tls.clientValidation of ClientTrafficPolicy infra/tls is gone")),
    (
        validation(""),
        validation("optional: true"),
        ("warning", "tls.clientValidation.optional of ClientTrafficPolicy infra/tls is now true"),
    ),
    (validation("optional: true"), validation("mode: VerifyIfGiven"), None),
    (validation("mode: VerifyIfGiven"), validation("mode: RequireAny"), None),
    (
        validation("mode: VerifyIfGiven"),
        validation("mode: Request"),
        ("warning", "tls.clientValidation.mode of ClientTrafficPolicy infra/tls goes from VerifyIfGiven to Request"),
    ),
    (validation("spkiHashes: [a]"), validation("spkiHashes: [b]"), None),
    (
        validation("spkiHashes: [a]"),
        validation(""),
        ("warning", "tls.clientValidation.spkiHashes of ClientTrafficPolicy infra/tls is gone"),
    ),
    (client("connection: {bufferLimit: 1Mi}"), validation("mode: Request"), None),
    (
        client("tls: {minVersion: '1.3'}"),
        client("tls: {minVersion: Auto}"),
        (
            "warning",
            "tls.minVersion of ClientTrafficPolicy infra/tls goes from 1.3 to Auto, clients with an older version",
        ),
    ),
    (
        client("tls: {minVersion: '1.3'}"),
        "",
        ("warning", "tls.minVersion of ClientTrafficPolicy infra/tls goes from 1.3 t"),
    ),
    (
        client("connection: {bufferLimit: 1Mi}"),
        client("tls: {minVersion: '1.0'}"),
        ("warning", "tls.minVersion of ClientTrafficPolicy infra/tls goes from 1.2 to 1.0"),
    ),
    (client("tls: {minVersion: '1.2'}"), "", None),
    (client("tls: {minVersion: Auto}"), client("tls: {minVersion: '1.2'}"), None),
    (
        client("connection: {bufferLimit: 1Mi}"),
        client("headers: {xForwardedClientCert: {mode: AlwaysForwardOnly}}"),
        ("warning", "headers.xForwardedClientCert.mode of ClientTrafficPolicy infra/tls goes from Sanitize to Always"),
    ),
    (
        client("clientIPDetection: {xForwardedFor: {trustedCIDRs: [10.0.0.0/8]}}"),
        client("clientIPDetection: {xForwardedFor: {trustedCIDRs: [0.0.0.0/0]}}"),
        (
            "warning",
            "clientIPDetection.xForwardedFor.trustedCIDRs of ClientTrafficPolicy infra/tls now holds 0.0.0.0/0",
        ),
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), CLIENTS)
def test_client_certificates(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    found = weakened(tmp_path, (*WORLD, before), (*WORLD, after) if after else WORLD)
    assert_is(said(found), expected)
    assert all(each.message.startswith("HTTPRoute shop/checkout is less protected: ") for each in found)


def limits(rule: str, scope: str = "global") -> str:
    rules = f"[{{{rule}limit: {{requests: 9, unit: Minute}}}}]"
    fields = f"rateLimit: {{type: {scope.capitalize()}, {scope}: {{rules: {rules}}}}}"
    return policy("BackendTrafficPolicy", "limits", CHECKOUT, fields)


SOME = "clientSelectors: [{headers: [{name: x, value: a}]}], "
LIMITS = [
    (
        limits(""),
        limits("shadowMode: true, "),
        "rules[0].shadowMode of BackendTrafficPolicy shop/limits goes from false",
    ),
    (limits(""), limits(SOME), "rules of BackendTrafficPolicy shop/limits now has clientSelectors in every entry"),
    (
        limits("", "local"),
        limits(SOME, "local"),
        "rules of BackendTrafficPolicy shop/limits now has clientSelectors in every entry",
    ),
    (limits(SOME), limits(SOME.replace("value: a", "value: b")), ""),
    (limits("", "local"), limits("shadowMode: true, ", "local"), ""),  # for global limits alone
]


@pytest.mark.parametrize(("before", "after", "expected"), LIMITS)
def test_rate_limits(tmp_path: Path, before: str, after: str, expected: str) -> None:
    found = said(weakened(tmp_path, (*WORLD, before), (*WORLD, after)))
    assert len(found) == bool(expected)
    assert all(expected in message for _, message in found), found
    assert weakened(tmp_path, (*WORLD, after), (*WORLD, before)) == []


EDGE = "kind: Gateway, name: edge"


def edge(fields: str) -> str:
    return policy("SecurityPolicy", "edge", EDGE, fields, namespace="infra")


def test_one_cause_is_one_finding_on_the_line_that_changed(tmp_path: Path) -> None:
    world = (GATEWAY, route(), route("cart"), SERVICE)
    (found,) = weakened(tmp_path, (*world, edge(jwt())), (*world, edge(jwt("optional: true"))))
    assert found.message == (
        "2 routes have no authentication in effect any more: jwt.optional of SecurityPolicy infra/edge goes from false "
        "to true, requests without a token pass"
    )
    line, column = found.location.at()
    written = (tmp_path / "after" / "world.yaml").read_text(encoding="utf-8").splitlines()
    assert written[line - 1][column - 1 :].startswith("optional: true")
    assert [str(each) for each in found.resources] == ["HTTPRoute shop/cart", "SecurityPolicy infra/edge"]
    assert [each.message for each in found.related] == [
        "it was written here before the change",
        "HTTPRoute shop/cart is concerned",
        "HTTPRoute shop/checkout is concerned",
    ]
    assert found.help == ("fix: keep `jwt.optional` at false",)


def test_what_is_overridden_weakens_nothing(tmp_path: Path) -> None:
    world = (GATEWAY, route(), SERVICE, security(jwt()))
    assert weakened(tmp_path, (*world, edge(jwt())), (*world, edge(jwt("optional: true")))) == []


def test_a_more_specific_policy_that_asks_for_less(tmp_path: Path) -> None:
    world = (GATEWAY, route(), route("cart"), SERVICE, edge(jwt()))
    (found,) = weakened(tmp_path, world, (*world, security(jwt("optional: true"))))
    assert found.message.startswith("HTTPRoute shop/checkout has no authentication in effect any more: jwt.optional of "
                                    "SecurityPolicy shop/login goes from false to true")  # fmt: skip


def test_one_rule_of_a_route(tmp_path: Path) -> None:
    world = (GATEWAY, route(), SERVICE)
    of_rule = [security(each, f"{CHECKOUT}, sectionName: all") for each in (jwt(), jwt("optional: true"))]
    (found,) = weakened(tmp_path, (*world, of_rule[0]), (*world, of_rule[1]))
    assert found.message.startswith(
        "HTTPRoute shop/checkout has no authentication in effect any more in 1 of its 2 rules"
    )


def test_rules_that_redirect_let_nobody_in(tmp_path: Path) -> None:
    redirect = "filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]"
    world = (GATEWAY, route().replace("backendRefs: [{name: checkout, port: 8080}]", redirect), SERVICE)
    assert weakened(tmp_path, (*world, edge(jwt())), (*world, edge(jwt("optional: true")))) == []


def test_another_kind_that_asks_makes_it_a_warning(tmp_path: Path) -> None:
    spec = f"""targetRef: {{group: gateway.networking.k8s.io, {CHECKOUT}}}
  rules: {{authentication: {{keys: {{apiKey: {{selector: {{matchLabels: {{app: a}}}}}}}}}}}}"""
    keys = of("kuadrant.io", "AuthPolicy", spec, version="v1")
    world = (GATEWAY, route(), SERVICE, keys)
    (found,) = weakened(tmp_path, (*world, edge(jwt())), (*world, edge(jwt("optional: true"))))
    assert found.severity == "warning"


def test_a_loss_is_told_once(tmp_path: Path) -> None:
    """GWP302 where nothing asks any more, GWP201 where a more specific policy drops it, GWP304 for the rest."""
    world = (GATEWAY, route(), SERVICE, edge(jwt() + EXTERNAL))
    after = (*world, security("extAuth: {http: {backendRefs: [{name: '${AUTH}', port: 80}]}}"))
    pair = sides(tmp_path, world, after)
    environments = compare([pair])
    weaker = removed_protections([pair], environments)
    assert [each.rule for each in weaker] == ["GWP304"]
    changes = compare_findings([pair], environments, run(pair.before), [*run(pair.after), *weaker])
    told = [each.finding.rule for each in changes if each.state == "new"]
    assert "GWP201" in told
    assert "GWP304" not in told
    gone = sides(tmp_path, (*WORLD, security(jwt("optional: true"))), (*WORLD, security("csrf: {}")))
    assert {each.rule for each in removed_protections([gone], compare([gone]))} == {"GWP302"}


def test_a_route_that_comes_with_the_change_loses_nothing(tmp_path: Path) -> None:
    world = (GATEWAY, SERVICE, security(jwt("optional: true")))
    assert weakened(tmp_path, world, (*world, route())) == []


def test_a_policy_whose_target_was_not_seen_may_still_ask(tmp_path: Path) -> None:
    before = client("tls: {clientValidation: {caCertificateRefs: [{name: ca}]}}")
    assert len(weakened(tmp_path, (*WORLD, before), WORLD)) == 1
    assert weakened(tmp_path, (*WORLD, before), (*WORLD, before.replace("name: edge}", "name: '${NAME}'}"))) == []


def test_an_exemption_is_an_error_of_the_change_that_makes_it(tmp_path: Path) -> None:
    """What lint takes for meant (a note of GWP201) is for whoever reviews the change."""
    world = (GATEWAY, route(), SERVICE, edge(jwt()))
    pair = sides(tmp_path, world, (*world, security("authorization: {defaultAction: Allow}")))
    environments = compare([pair])
    weaker = removed_protections([pair], environments)
    changes = compare_findings([pair], environments, run(pair.before), [*run(pair.after), *weaker])
    told = {each.finding.rule: each.finding.severity for each in changes if each.state == "new"}
    assert told == {"GWP201": "note", "GWP302": "error"}
