"""Names that are none yet: what a script, a chart or a person fills in before a file is applied."""

from __future__ import annotations

from time import perf_counter

import pytest

from policylint.model import is_symbolic
from policylint.model.keys import filled_in, is_no_host_yet
from policylint.trace.hosts import may_be


@pytest.mark.parametrize(
    "text",
    [
        *("${DOMAIN}", "web.${DOMAIN}", "{{ .Release.Name }}", "<gateway>"),
        *("$GATEWAY", "web.$DOMAIN", "$(NAMESPACE)", "@GATEWAY@", "@@GATEWAY@@", "__GATEWAY__", "web.__domain__"),
        *("%GATEWAY%", "[[ .Gateway ]]", "REPLACE_ME", "gke-CHANGE_ME", "YOUR_DOMAIN", "DOMAIN_HERE"),
        *("REPO_PREFIX/gitops-system", "https://GIT_URL", "MY_AWS_REGION", "PROJECT_REPOSITORY"),
        *("{GATEWAY}", "web-{THREAD_ID}"),
        "service_name",
        "httproute_address",
        *("CHANGEME", "web.CHANGEME.example", "changeme.example.com", "replace-me", "portal-REPLACEME", "TODO"),
        *("web.DOMAIN.com", "web.DOMAIN", "DOMAIN.com", "DOMAIN", "web.SUBDOMAIN.example.com", "web.YOURDOMAIN.com"),
    ],
)
def test_symbolic(text: str) -> None:
    assert is_symbolic(text)


@pytest.mark.parametrize(
    "text",
    [
        "web",
        "/users/{id}",
        "/{*}",
        "a{2}",
        "web.example.com",
        "app_kubernetes_io",
        "a__b__c",
        "^/api$",
        "a$|b$",
        "50%",
        "a@b",
        "HTTPRoute",
        *("todo.example.com", "X-REAL-IP", "README.md", "/a/README.md", "fix-menu", "time.example.com", "OPTIONS"),
        *("a.example.com b.example.com", "web 8080", "Host(`a.example.com`) && Path(`/b`)", "10.0.0.1", "Hello world"),
        None,
    ],
)
def test_certain(text: str | None) -> None:
    assert not is_symbolic(text)


@pytest.mark.parametrize(
    ("host", "is_none_yet"),
    [
        *((each, True) for each in ("your host here", "web.your domain", "web.도메인을 입력하세요", "web.${DOMAIN}")),
        ("web.domain eingeben, etwa example.com", True),
        *((each, False) for each in ("web.example.com", "a.example.com b.example.com", "web 8080", "a, b", "*")),
    ],
)
def test_who_tells_people_what_to_write_is_no_host(host: str, is_none_yet: bool) -> None:
    assert is_no_host_yet(host) is is_none_yet


@pytest.mark.parametrize(
    "pattern", ["web.$domain", "web.__domain__", "*.@domain@", "web.domain_here", "%name%.example.com"]
)
def test_a_host_with_a_placeholder_may_be_any_that_fits(pattern: str) -> None:
    assert may_be("web.example.com", pattern)
    assert not may_be("api", pattern)


@pytest.mark.parametrize("mark", ["@", "[[", "%a", "__", "$(", "a_", "<", "a"])
def test_long_texts_take_linear_time(mark: str) -> None:
    begin = perf_counter()
    is_symbolic(mark * 200_000 + "_")
    assert perf_counter() - begin < 1


@pytest.mark.parametrize(
    ("written", "name", "expected"),
    [
        ("${CLUSTER}-vars", "east-vars", ["east"]),
        ("${A}-${B}", "eu-west-1", ["eu", "west-1"]),
        ("${A:=${B}}-vars", "east-vars", ["east"]),
        ("@ZONE@.${B}", "eu.east", ["eu", "east"]),
        ("plain", "plain", []),
        ("${A}-vars", "-vars", None),
        ("${A}-${B}", "eu", None),
        ("a${A}a", "aa", None),
        ("plain", "plane", None),
    ],
)
def test_variables_are_filled_in_to_make_a_name(written: str, name: str, expected: list[str] | None) -> None:
    assert filled_in(written, name) == expected
