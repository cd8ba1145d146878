"""Requests that are not asked for a login any more and get elsewhere: to what was open, to a proxy that asks itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests import worlds
from tests.compare.test_weakening import sides
from tests.worlds import ENVOY_EDGE, manifest

LOGIN = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "shop",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: admin}], "
    "jwt: {providers: [{name: a, remoteJWKS: {uri: https://id.example/jwks}}]}}",
)
MIDDLEWARE = manifest(
    "traefik.io/v1alpha1", "Middleware", "login", "shop", "spec: {forwardAuth: {address: 'http://id.shop'}}"
)
TRAEFIK = manifest("apps/v1", "Deployment", "traefik", "traefik", "spec: {template: {spec: {containers: []}}}")


def gateway_api(*rules: tuple[str, str, bool]) -> list[str]:
    """Return routes at one host: path, backend, and whether a login is asked."""
    made = [ENVOY_EDGE]
    for asks in (True, False):
        own = [
            f"{{matches: [{{path: {{type: PathPrefix, value: {path}}}}}], backendRefs: [{{name: {to}, port: 80}}]}}"
            for path, to, is_asked in rules
            if is_asked == asks
        ]
        name = "admin" if asks else "shop"
        if own:
            spec = f"hostnames: [shop.example], rules: [{', '.join(own)}]"
            made.append(worlds.route(name, parents="[{name: edge}]", more=spec))
    return [*made, LOGIN] if any(asks for *_, asks in rules) else made


def ingress_route(*rules: tuple[str, str, bool]) -> list[str]:
    """Return the same as the rules of one IngressRoute."""
    own = [
        f"{{kind: Rule, match: 'Host(`shop.example`) && PathPrefix(`{path}`)', "
        + ("middlewares: [{name: login}], " if asks else "")
        + f"services: [{{name: {to}, port: 80}}]}}"
        for path, to, asks in rules
    ]
    spec = f"spec: {{entryPoints: [web], routes: [{', '.join(own)}]}}"
    return [TRAEFIK, MIDDLEWARE, manifest("traefik.io/v1alpha1", "IngressRoute", "shop", "shop", spec)]


def ingresses(*rules: tuple[str, str, bool]) -> list[str]:
    """Return the same as an Ingress of ingress-nginx for each rule."""
    made = []
    for number, (path, to, asks) in enumerate(rules):
        auth = "annotations: {nginx.ingress.kubernetes.io/auth-url: 'http://id.example/auth'}" if asks else ""
        made.append(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\n"
            f"metadata: {{name: i-{to}-{'open' if path == '/' else number}, namespace: shop, {auth}}}\n"
            "spec: {ingressClassName: nginx, rules: [{host: shop.example, http: {paths: [{pathType: Prefix, "
            f"path: {path}, backend: {{service: {{name: {to}, port: {{number: 80}}}}}}}}]}}}}]}}\n"
        )
    return made


def app(name: str, pods: str, image: str = "app") -> list[str]:
    spec = (
        f"spec: {{selector: {{matchLabels: {{app: {pods}}}}}, template: {{metadata: {{labels: {{app: {pods}}}}}, "
        f"spec: {{containers: [{{name: c, image: '{image}'}}]}}}}}}"
    )
    return [
        worlds.service(name, more=f"selector: {{app: {pods}}}"),
        *([manifest("apps/v1", "Deployment", pods, "shop", spec)] if name == pods else []),
    ]


APPS = [*app("admin", "admin"), *app("web", "web"), *app("also-admin", "admin"), *app("gate", "gate", "oauth2-proxy:7")]
Door = Callable[..., list[str]]
DOORS = [gateway_api, ingress_route, ingresses]
GUARDED, OPEN = ("/admin", "admin", True), ("/", "web", False)


def severities(tmp_path: Path, before: list[str], after: list[str]) -> list[str]:
    pair = sides(tmp_path, (*APPS, *before), (*APPS, *after))
    return [each.severity for each in removed_protections([pair], compare([pair]), {"GWP302"})]


@pytest.mark.parametrize("door", DOORS)
class TestWhatWasOpenBefore:
    """A warning where they get to what others in the same rule reached before, and nobody past the login to its app."""

    def test_the_rule_with_the_login_goes(self, door: Door, tmp_path: Path) -> None:
        assert severities(tmp_path, door(GUARDED, OPEN), door(OPEN)) == ["warning"]

    def test_the_app_moves_behind_its_login(self, door: Door, tmp_path: Path) -> None:
        after = door(("/moved", "admin", True), OPEN)
        assert severities(tmp_path, door(GUARDED, OPEN), after) == ["warning"]

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ((GUARDED, ("/", "admin", False)), (("/", "admin", False),)),  # one app behind both
            ((GUARDED, ("/", "also-admin", False)), (("/", "also-admin", False),)),  # the same pods
            ((GUARDED, OPEN), (OPEN, ("/moved", "admin", False))),  # its app is open elsewhere now
            ((GUARDED, OPEN), (("/admin", "web", False), OPEN)),  # a rule of its own: it was not there before
            ((GUARDED,), (("/admin", "admin", False),)),
        ],
    )
    def test_any_other_loss_is_an_error(
        self, door: Door, before: tuple[object, ...], after: tuple[object, ...], tmp_path: Path
    ) -> None:
        assert "error" in severities(tmp_path, door(*before), door(*after))

    def test_rules_that_only_move_up_lose_nothing(self, door: Door, tmp_path: Path) -> None:
        first = ("/first", "web", False)
        assert severities(tmp_path, door(first, GUARDED, OPEN), door(GUARDED, OPEN)) == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("proxy", ["gate", "oauth2-proxy"])
def test_a_proxy_that_asks_itself_may_take_the_place_of_a_login(door: Door, proxy: str, tmp_path: Path) -> None:
    """By the image of its pods, or by its own name."""
    apps = worlds.service("oauth2-proxy")
    before, after = door(GUARDED, OPEN), door(("/admin", proxy, False), OPEN)
    pair = sides(tmp_path, (*APPS, apps, *before), (*APPS, apps, *after))
    change = compare([pair])
    assert [each.message for each in removed_protections([pair], change, {"GWP302"})] == []
    requests = change[0].requests
    assert requests is not None
    assert requests.unknown == ((f"Service shop/{proxy} may ask for it", 1),)
