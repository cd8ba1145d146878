"""GWP304 in what nobody evaluates: which words alone make a warning (docs/design/decisions/0017)."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.catalog.directions import guards_by_name, sense_of
from policylint.compare.protection.anywhere import directed_changes

CERTAIN: list[tuple[Any, Any, str]] = [
    # switches, by their own name or by that above
    ({"auth": {"enabled": True}}, {"auth": {"enabled": False}}, "auth.enabled"),
    ({"tls": {"config": {"enabled": "true"}}}, {"tls": {"config": {"enabled": "false"}}}, "tls.config.enabled"),
    ({"requireLogin": True}, {"requireLogin": False}, "requireLogin"),
    ({"oidc": {"required": True}}, {"oidc": {"required": False}}, "oidc.required"),
    ({"a": 1, "noTlsVerify": False}, {"a": 1, "noTlsVerify": True}, "noTlsVerify"),
    ({"a": {"b": 1}}, {"a": {"b": 1, "insecure": True}}, "a.insecure"),
    ({"auth": {"anonymous": {"enabled": False}}}, {"auth": {"anonymous": {"enabled": True}}}, "anonymous.enabled"),
    ({"a": 1, "allow_any_authenticated_user": False}, {"a": 1, "allow_any_authenticated_user": True}, "allow_any"),
    ({"a": 1, "blockPublicAccess": True}, {"a": 1, "blockPublicAccess": False}, "blockPublicAccess"),
    ({"a": 1, "publiclyAccessible": False}, {"a": 1, "publiclyAccessible": True}, "publiclyAccessible"),
    ({"login": {"disabled": False}}, {"login": {"disabled": True}}, "login.disabled"),
    # values that say it
    ({"security": {"type": "JWT"}}, {"security": {"type": "KEY_LESS"}}, "security.type"),
    ({"authMode": "required"}, {"authMode": "optional"}, "authMode"),
    ({"sslmode": "verify-full"}, {"sslmode": "require"}, "sslmode"),
    ({"upstream": {"protocol": "HTTPS"}}, {"upstream": {"protocol": "HTTP"}}, "upstream.protocol"),
    ({"login": {"url": "https://id/x"}}, {"login": {"url": "http://id/x"}}, "login.url"),
    ({"acl": "private"}, {"acl": "public-read"}, "acl"),
    ({"access": {"required": True}}, {"access": {"required": False}}, "access.required"),
    ({"authorizer": {"handler": "remote"}}, {"authorizer": {"handler": "allow"}}, "authorizer.handler"),
    ({"passthroughMode": "None"}, {"passthroughMode": "All"}, "passthroughMode"),
    # lists
    ({"allowedUsers": ["a"]}, {"allowedUsers": ["a", "b"]}, "allowedUsers"),
    ({"allowedUsers": ["a"]}, {"allowedUsers": ["*"]}, "allowedUsers"),
    ({"allowedUsers": {"a": "read"}}, {"allowedUsers": {"a": "read", "b": "read"}}, "allowedUsers"),
    ({"roles": ["staff"]}, {"roles": ["everyone"]}, "roles"),
    ({"claims_to_roles": [{"value": "ops"}]}, {"claims_to_roles": [{"value": "*"}]}, "claims_to_roles.*.value"),
    ({"deniedHosts": ["a", "b"]}, {"deniedHosts": ["b"]}, "deniedHosts"),
    ({"auth": {"excluded": ["/a"]}}, {"auth": {"excluded": ["/a", "/b"]}}, "auth.excluded"),
    ({"exclude": {"any": ["a"]}}, {"exclude": {"any": ["a", "b"]}}, "exclude.any"),
    ({"skip_path_regex": "^/health$"}, {"skip_path_regex": "^/.*"}, "skip_path_regex"),
    ({"rules": [{"action": "Deny", "to": "a"}, {"action": "Allow"}]}, {"rules": [{"action": "Allow"}]}, "rules"),
    ({"rules": [{"type": "Deny", "nets": ["a", "b"]}]}, {"rules": [{"type": "Deny", "nets": ["b"]}]}, "nets"),
    (
        {"rules": [{"action": "Drop", "cidr": "10.0.0.0/16"}]},
        {"rules": [{"action": "Drop", "cidr": "10.0.0.0/24"}]},
        "cidr",
    ),
    ({"fromEntities": ["cluster"]}, {"fromEntities": ["cluster", "world"]}, "fromEntities"),
    ({"a": {"DISABLE_REGISTRATION": True}}, {"a": {"DISABLE_REGISTRATION": False}}, "DISABLE_REGISTRATION"),
    ({"a": {"preventVulnerable": "true"}}, {"a": {"preventVulnerable": "false"}}, "preventVulnerable"),
    ({"extraArgs": ["--insecure=false", "--a"]}, {"extraArgs": ["--insecure=true", "--a"]}, "insecure"),
    ({"extraArgs": ["--a"]}, {"extraArgs": ["--a", "--enable-skip-login"]}, "enable-skip-login"),
    # texts
    ({"f": "port 1\nprotected-mode yes"}, {"f": "port 1\nprotected-mode no"}, "f.protected-mode"),
    ({"f": "[auth]\non = 1\nenabled = true"}, {"f": "[auth]\non = 1\nenabled = false"}, "f.auth.enabled"),
    ({"f": "Port 1\nPermitRootLogin no"}, {"f": "Port 1\nPermitRootLogin yes"}, "f.PermitRootLogin"),
    ({"f": 'x "tcp" {\n tls_verify = true\n}'}, {"f": 'x "tcp" {\n tls_verify = false\n}'}, "tls_verify"),
    ({"f": 'a {\n b = { allow_list = ["x"] }\n}'}, {"f": 'a {\n b = { allow_list = ["x", "y"] }\n}'}, "allow_list"),
    ({"c.ini": {"auth.basic": {"enabled": True}}}, {"c.ini": {"auth.basic": {"enabled": False}}}, "enabled"),
]
UNCERTAIN: list[tuple[Any, Any]] = [
    ({"auth": {"enabled": True}}, {"auth": {}}),  # gone: who knows the default
    ({"oidc": {"enabled": True}}, {"oidc": {"enabled": False}}),  # one way to log in of several
    ({"issuer": "https://a"}, {"issuer": "https://b"}),  # exchanged
    ({"cache": {"enabled": True}}, {"cache": {"enabled": False}}),
    ({"auth": {"cache": {"enabled": True}}}, {"auth": {"cache": {"enabled": False}}}),
    ({"enabled": False, "auth": {"enabled": True}}, {"enabled": False, "auth": {"enabled": False}}),
    ({"allowLogin": True}, {"allowLogin": False}),
    ({"metrics": {"tls": {"enabled": True}}}, {"metrics": {"tls": {"enabled": False}}}),
    ({"securityContext": {"enabled": True}}, {"securityContext": {"enabled": False}}),
    ({"hosts": ["a"]}, {"hosts": ["*"]}),
    (
        {"auth": {"trustedProxy": {"userHeader": "a"}}},
        {"auth": {"trustedProxy": {"userHeader": "a", "roleHeader": "b"}}},
    ),
    ({"allowedClient": {"name": "a"}}, {"allowedClient": {"name": "a", "secret": "b"}}),
    ({"install": {"skipCRDs": False}}, {"install": {"skipCRDs": True}}),
    ({"a": {"skipSchemaValidation": False}}, {"a": {"skipSchemaValidation": True}}),
    ({"a": {"skip-provider-button": False}}, {"a": {"skip-provider-button": True}}),
    ({"a": {"disable_login_form": False}}, {"a": {"disable_login_form": True}}),
    ({"a": {"oauth_auto_login": True}}, {"a": {"oauth_auto_login": False}}),
    ({"rbac": {"enabled": True}}, {"rbac": {"enabled": False}}),
    ({"admissionWebhooks": {"enabled": True}}, {"admissionWebhooks": {"enabled": False}}),
    ({"scripts": {"a": "echo one\nexit 0"}}, {"scripts": {"a": "echo two\nexit 0"}}),
]


def certain(before: Any, after: Any) -> list[str]:
    """Return the paths of what is weaker for certain."""
    return [each.weak.path for each, sure in directed_changes(("example.org", "Thing"), before, after) if sure]


@pytest.mark.parametrize(("before", "after", "path"), CERTAIN)
def test_names_and_values_say_the_direction(before: Any, after: Any, path: str) -> None:
    found = certain(before, after)
    assert found and all(path in each for each in found)
    back = [each for each in certain(after, before) if each in found]
    assert not back, "its reverse is stronger"


@pytest.mark.parametrize(("before", "after"), UNCERTAIN)
def test_what_is_not_certain_warns_of_nothing(before: Any, after: Any) -> None:
    assert certain(before, after) == []
    assert certain(after, before) == []


@pytest.mark.parametrize(
    ("name", "sense"),
    [
        ("requireAuth", 1), ("skipVerify", -1), ("insecureSkipVerify", -1), ("disableAnonymous", 1), ("noAuth", -1),
        ("rejectUnauthorized", 1), ("allowAnonymous", -1), ("authDisabled", -1), ("allowLogin", 0), ("replicas", 0),
        ("guest_access_disabled", 1), ("author", 0),
    ],
)  # fmt: skip
def test_a_name_says_what_being_on_means(name: str, sense: int) -> None:
    assert sense_of(name) == sense


@pytest.mark.parametrize(
    ("kind", "guards"),
    [
        ("AccessPolicy", True), ("FirewallRule", True), ("JWTAuthenticationPolicy", True), ("VaultAuth", False),
        ("PasswordPolicy", False), ("Policy", False), ("SecurityGroup", False),
    ],
)  # fmt: skip
def test_a_kind_says_that_it_refuses(kind: str, guards: bool) -> None:
    assert guards_by_name(kind) is guards
