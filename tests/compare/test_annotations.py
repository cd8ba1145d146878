"""Annotations that a controller reads are no text: a change of them touches requests, and nothing is "as before"."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.compare import compare, removed_protections
from tests import worlds
from tests.compare.test_compare import sides
from tests.doors.asking import ingress

KONG = worlds.gateway_class("any", "konghq.com/gateway-operator")
PLUGIN = worlds.manifest("configuration.konghq.com/v1", "KongPlugin", "login", "shop", "plugin: key-auth")
RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"


def shop(annotations: str = "") -> tuple[str, ...]:
    gateway = worlds.gateway(
        listeners="[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    )
    return KONG, gateway, worlds.route(more=RULES, annotations=annotations), worlds.service(), PLUGIN


def test_a_plugin_that_an_annotation_names_no_more_is_missed(tmp_path: Path) -> None:
    (found,) = compare([sides(tmp_path, shop("konghq.com/plugins: login"), shop())])
    assert found.requests is not None
    assert [(each.change, each.before) for each in found.requests.changes] == [("opened", "key-auth by shop/login")]
    assert not found.requests.same


def test_a_remark_changes_nothing(tmp_path: Path) -> None:
    (found,) = compare([sides(tmp_path, shop("example.com/owner: shop"), shop())])
    assert (found.objects, found.requests and found.requests.changes) == ((), ())


@pytest.mark.parametrize(
    ("annotation", "read"),
    [
        ("konghq.com/plugins", True),
        ("kgateway.dev/inherited-policy-priority", True),
        ("config.linkerd.io/default-inbound-policy", True),
        ("networking.istio.io/exportTo", True),
        ("kubectl.kubernetes.io/last-applied-configuration", False),
        ("argocd.argoproj.io/sync-wave", False),
        ("reloader", False),
    ],
)
def test_which_may_be_read(annotation: str, read: bool) -> None:
    assert load_catalog().may_be_read(annotation) is read


LOGIN = {"auth_url": "https://id.example.com/auth"}
HEADERS = {"auth_response_headers": "X-User, X-Groups"}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            LOGIN | HEADERS,
            {},
            [
                ("GWP304", "note", "auth-response-headers"),
                ("GWP302", "error", "loses its authentication: externalAuth"),
            ],
        ),
        (LOGIN, {}, [("GWP302", "error", "loses its authentication: externalAuth")]),
        (LOGIN | HEADERS, LOGIN, [("GWP304", "note", "auth-response-headers")]),
    ],
)
def test_a_login_that_goes_with_its_headers_is_called_a_login(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], told: list[tuple[str, str, str]]
) -> None:
    """Headers that clients may write themselves were named as the cause, and the login was not."""
    was, now = ((worlds.service("web"), ingress(**annotations)) for annotations in (before, after))
    pair = sides(tmp_path, was, now)
    found = removed_protections([pair], compare([pair]), {"GWP302", "GWP304"})
    assert [(each.rule, each.severity) for each in found] == [(rule, severity) for rule, severity, _ in told]
    assert all(words in each.message for each, (_, _, words) in zip(found, told, strict=True))
