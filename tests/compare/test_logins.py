"""GWP302 for logins that filters of a route name: taken away, exchanged, kept, and where nothing can be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests import worlds
from tests.compare.test_weakening import sides

NGINX = worlds.gateway_class("edge", "gateway.nginx.org/nginx-gateway-controller")
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"


def named(name: str) -> str:
    return (
        "filters: [{type: ExtensionRef, extensionRef: "
        f"{{group: gateway.nginx.org, kind: AuthenticationFilter, name: {name}}}}}], {BACKENDS}"
    )


def login(name: str, spec: str = "type: Basic, basic: {secretRef: {name: users}, realm: x}") -> str:
    return worlds.manifest("gateway.nginx.org/v1alpha1", "AuthenticationFilter", name, "shop", f"spec: {{{spec}}}")


def world(rules: str, *more: str) -> tuple[str, ...]:
    return (
        NGINX,
        worlds.gateway(of_class="edge"),
        worlds.route(more=f"rules: [{rules}]"),
        worlds.service(),
        login("basic"),
        *more,
    )


PLAIN, LOGIN = f"{{{BACKENDS}}}", f"{{{named('basic')}}}"
LOSS = "HTTPRoute shop/checkout loses its authentication: basic of AuthenticationFilter shop/basic"
CHANGES = {
    "taken away": (LOGIN, PLAIN, LOSS),
    "kept": (LOGIN, LOGIN, None),
    "new": (PLAIN, LOGIN, None),
    "exchanged": (LOGIN, f"{{{named('other')}}}", None),
    "of one rule": (
        f"{LOGIN}, {{matches: [{{path: {{value: /a}}}}], {named('basic')}}}",
        f"{PLAIN}, {{matches: [{{path: {{value: /a}}}}], {named('basic')}}}",
        LOSS.replace("authentication:", "authentication in 1 of its 2 rules:"),
    ),
    "no backends any more": (LOGIN, "{filters: [{type: RequestRedirect, requestRedirect: {hostname: x}}]}", None),
}


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES.values(), ids=list(CHANGES))
def test_a_login_by_a_filter(before: str, after: str, expected: str | None, tmp_path: Path) -> None:
    other = login("other", "type: JWT, jwt: {realm: x}")
    pair = sides(tmp_path, world(before, other), world(after, other))
    found = removed_protections([pair], compare([pair]), {"GWP302"})
    assert [(each.severity, each.message) for each in found] == ([("error", expected)] if expected else [])


KONG = "metadata: {name: checkout, namespace: shop, annotations: {konghq.com/plugins: login}}"
FIXES = {
    "the filter goes": (LOGIN, PLAIN, login("basic"), "name AuthenticationFilter shop/basic again"),
    "a rule without it takes over": (
        f"{{name: all, matches: [{{path: {{value: /a}}}}], {named('basic')}}}, {PLAIN}",
        f"{{name: all, matches: [{{path: {{value: /b}}}}], {named('basic')}}}, {PLAIN}",
        login("basic"),
        "name AuthenticationFilter shop/basic by filter in rule rule-2 of HTTPRoute shop/checkout, too",
    ),
    "the object goes": (LOGIN, PLAIN, "", "keep AuthenticationFilter shop/basic"),
}


@pytest.mark.parametrize(("before", "after", "kept", "fix"), FIXES.values(), ids=list(FIXES))
def test_the_fix_puts_back_what_went(before: str, after: str, kept: str, fix: str, tmp_path: Path) -> None:
    then = tuple(each for each in (*world(after)[:-1], kept) if each)
    pair = sides(tmp_path, world(before), then)
    (found,) = removed_protections([pair], compare([pair]), {"GWP302"})
    assert found.help[0].startswith(f"fix: {fix}")


def test_the_fix_puts_back_an_annotation(tmp_path: Path) -> None:
    plugin = worlds.manifest("configuration.konghq.com/v1", "KongPlugin", "login", "shop", "plugin: key-auth")
    around = (worlds.gateway_class("edge", "konghq.com/kic-gateway-controller"), worlds.gateway(of_class="edge"))
    plain = worlds.route(more=f"rules: [{PLAIN}]")
    asking = plain.replace("metadata: {name: checkout, namespace: shop}", KONG)
    assert asking != plain
    pair = sides(tmp_path, (*around, asking, worlds.service(), plugin), (*around, plain, worlds.service(), plugin))
    (found,) = removed_protections([pair], compare([pair]), {"GWP302"})
    assert found.label == "KongPlugin shop/login is no longer named by annotation konghq.com/plugins"
    assert found.help[0] == "fix: name KongPlugin shop/login again"
