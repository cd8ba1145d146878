"""Formats of texts; the API server itself was asked about most of them (tests/witness)."""

from __future__ import annotations

import pytest

from policylint.cel.formats import OF_CEL, OF_SCHEMAS
from policylint.cel.urls import read_url

JUDGED = {
    "byte": (["YQ==", "YWFh"], ["", "a", "YQ=", "a b="]),
    "cidr": (["10.0.0.0/8", "010.0.0.0/8", "2001:db8::/32", "10.0.0.0/0"], ["10.0.0.0", "10.0.0.0/33", "a/8", "::/08"]),
    "date": (["2026-02-28", "2024-02-29"], ["2026-02-29", "2026-2-1", "2026-13-01"]),
    "date-time": (["2026-01-01T00:00:00Z", "2026-01-01t00:00:00.5+02:00"], ["2026-01-01", "2026-01-01T24:00:00Z"]),
    "duration": (["1s", "1h30m", "0", "1.5s", "2 days", "3 weeks"], ["", "1", "s", "1 x"]),
    "ipv4": (["10.0.0.1"], ["10", "256.0.0.1", "::1"]),
    "ipv6": (["::1", "::ffff:10.0.0.1"], ["10.0.0.1", "g::"]),
    "uri": (["/", "https://a.example/x", "mailto:a"], ["", "a.example", "http://a b"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123"]),
}


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_formats_of_schemas(name: str) -> None:
    good, bad = JUDGED[name]
    assert [value for value in good if not OF_SCHEMAS[name](value)] == []
    assert [value for value in bad if OF_SCHEMAS[name](value)] == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("dns1123Label", "a-1", "a.b"),
        ("dns1123LabelPrefix", "a-", "-a"),
        ("dns1123Subdomain", "a.b-1", "a..b"),
        ("dns1123SubdomainPrefix", "a.b-", "A"),
        ("dns1035Label", "a1", "1a"),
        ("dns1035LabelPrefix", "a-", "1"),
        ("labelValue", "", "-a"),
        ("qualifiedName", "a.example/B_1", "a/b/c"),
        ("qualifiedName", "a", "/a"),
    ],
)
def test_formats_of_cel(name: str, good: str, bad: str) -> None:
    assert OF_CEL[name](good)
    assert not OF_CEL[name](bad)


@pytest.mark.parametrize(
    ("text", "hostname"),
    [
        ("http://u:p@A.example:80/x?y", "A.example"),
        ("http://[::1]:80/", "::1"),
        ("/x y", ""),
        ("*", ""),
        ("http://a:", "a"),
        ("http://a:x", None),
        ("http://a:1:2", None),
        ("http://[::1", None),
        ("http://[a]", None),
        ("http://a/%zz", None),
        ("http://a%20b/", None),
        ("http://u p@a/", None),
        (":a", None),
        ("1a://b", None),
        ("http://a\n", None),
    ],
)
def test_urls_are_those_of_go(text: str, hostname: str | None) -> None:
    found = read_url(text)
    assert (None if found is None else found.hostname) == hostname
