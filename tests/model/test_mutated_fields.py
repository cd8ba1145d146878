"""Every field whose name speaks of protection, or of a limit, is changed: one of its changes is told as weaker.

Where test_judged_fields asks whether a word or an entry of the catalog speaks of a field, this asks it to say
something: a field that is known for the one value `0.0.0.0/0` alone is a row without a judgement for all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations
from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.catalog.naming import groups_with_schemas, shipped_schemas
from policylint.catalog.weakenings import _WRAPPER, common_weaknesses
from policylint.compare.protection.spec import weakenings
from policylint.model import PolicyKind, mapping, sequence
from policylint.schema.known import _shipped
from tests.model.test_judged_fields import NEUTRAL, SPEAKING, below, meant, spec_with

MORE = re.compile(
    r"skew|leeway|crl|alt(ernative)?names?$|^sans$|^max\w*(requests|connections|streams|count|bytes|size|kb|limit|duration)$"
    r"|checksum|(allow|expose)_?(methods|headers)|rejected|burst|requests_?per|^unit$|^matches$|^builtins$|tokensPerFill"
    r"|fillInterval|^requests?$|trusted|timeout",
    re.IGNORECASE,
)
"""Names of fields of limits and the like."""
VALUES: Mapping[str, tuple[Any, ...]] = {
    r"cipher": (["ECDHE-ECDSA-AES128-GCM-SHA256"], ["ECDHE-ECDSA-AES128-GCM-SHA256", "AES128-SHA"]),
    r"(min|max)\w*version$": ("TLSv1_3", "TLSv1_1", "VersionTLS13", "VersionTLS11"),
    r"cidr$": ("10.0.0.0/8", "0.0.0.0/0"),
    r"cidrs$": (["10.0.0.0/8"], ["10.0.0.0/8", "192.168.0.0/16"], ["0.0.0.0/0"]),
    r"externalTrafficPolicy$": ("Local", "Cluster"),
    r"regex\.action$": ("REJECT", "MASK"),
    r"validationPolicy$": ("REQUIRE_VALID", "ALLOW_MISSING", "ALLOW_MISSING_OR_FAILED"),
    r"UnderscoresAction$": ("REJECT_REQUEST", "DROP_HEADER", "ALLOW"),
    r"EscapedSlashesAction$": ("REJECT_REQUEST", "KEEP_UNCHANGED", "UNESCAPE_AND_FORWARD"),
    r"accessPolicy$": ("deny", "all-authenticated", "all-unauthenticated"),
    r"PrivateLinkTraffic$": ("on", "off"),
    r"^action$": ("DENY_BY_DEFAULT", "CUSTOM", "ALLOW", "DENY"),
}
"""What some fields hold, by kind and path, where the schema does not say."""
COUNTED = re.compile(r"unit|fillInterval")
NUMBERS = ("requests", "tokens", "requestsPerUnit", "tokensPerFill")
"""What a limit counts, in which unit."""
_BACKENDS = r"(backendSettings|[cC]onnectionPool)\.|[kK]eep[aA]live|connect_?Timeout$|HttpProtocolOptions"
_WAITING = r"(connectionIdle|dial|write|read|ping|(maxM|m)essage|drain|delayedClose|connectionInspection|idleConn)"
_ASKED = r"(grpcService|httpService|collector|extensions\.\*|policySource|logSource|rateLimit|default|options|http\.\*)"
UNTOLD: Mapping[str, str] = {
    r"extauth\.|externalAuth\.|extAuth\.|guardrails\.processors": "what who decides gets to see: more is no weakness",
    r"^SecurityPolicy:authorization\.": "requests are held against it",
    r"waf\.auditLogging|semanticCache|caching\.": "what is written down or kept",
    r"disallowIsError$": "what becomes of a change that the service may not make",
    r"cors\.disable$": "browsers then let no other site ask",
    r"jwtAuth\.disable$": "requests tell that nobody is asked",
    r"^ListenerPolicy:": "of its ports one by one, requests tell",
    _BACKENDS: "connections to backends, and how long they are kept",
    rf"{_WAITING}\w*Timeout$|responseHeaderTimeout$|forwardingTimeouts": "how long others may take",
    rf"{_ASKED}\.(idleT|t)imeout(Sec)?$|(timeout|drainingTimeout)Sec(onds)?$|grpcTimeoutHeader": "how long it may take",
    r"sessionPersistence|[hH]ealthCheck": "which backend is asked",
    r"rules\.\*\.matches$|^HTTPRouteFilter:matches$": "requests are held against it",
    r"[tT]elemetry|[tT]racing|\btap\.|proxyLatency": "what is written of requests",
    r"maxProgramSize$|maxResponseBody|bandwidthLimit|corsPolicyMergeSettings": "nobody gets in by it",
    r"passTLSClientCert|maxSkew$|prioritizerPolicy": "nobody gets in by it, either",
    r"httpConnectionManagerSettings\.\w*Timeout$": "how it is spoken",
    r"descriptors\.\*\.unit$": "the limits of the service are elsewhere",
}
"""Fields of which no change is weaker by itself, by kind and path, with why."""


def values(schema: Mapping[str, Any], at: str, name: str) -> tuple[Any, ...]:
    """Return what a field may hold."""
    types, listed = str(schema.get("type")), [each for each in sequence(schema.get("enum")) if each not in ("", None)]
    if listed:
        return tuple(listed[:6])
    for pattern, known in VALUES.items():
        if re.search(pattern, at, re.IGNORECASE) or re.fullmatch(pattern, name):
            return known
    if "boolean" in types:
        return (True, False)
    if "integer" in types or "number" in types:
        return (2, 5)
    if "array" in types:
        entries = mapping(schema.get("items"))
        of_enum = sequence(entries.get("enum"))[:2]
        pair = of_enum or (["a", "b"] if entries.get("type") == "string" else [{"name": "a"}, {"name": "b"}])
        return ([pair[0]], pair, [pair[-1]])
    if "string" in types or "anyOf" in schema:
        return ("10s", "20s", "https://a.example/x", "https://b.example/x", "1Mi", "2Mi")
    return ({"a": "b"}, {"a": "c"}, {"a": "b", "d": "e"})


@cache
def speaking() -> list[tuple[PolicyKind | None, str, str, Any]]:
    """All fields whose names speak of protection or limits: the kind, its name, path, schema."""
    return list(_speaking())


def _speaking() -> Iterator[tuple[PolicyKind | None, str, str, Any]]:
    catalog = load_catalog()
    for group in sorted(groups_with_schemas()):
        for file in sorted(shipped_schemas(group)):
            versions = _shipped(group, file).get("versions", {})
            latest = next(each for each in reversed(versions.values()) if not isinstance(each, str))
            spec = mapping(mapping(latest.get("properties")).get("spec"))
            for path, schema in below(spec):
                name = next((step for step in reversed(path.split(".")) if step != "*"), "")
                if SPEAKING.search(name) or MORE.search(name):
                    yield catalog.get(group, file), file, path, schema


def states(kind: PolicyKind | None, path: str, schema: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield specs that differ in a field: with each of its values, and with something else in its place."""
    plain = path if (bare := _WRAPPER.sub("", path)).startswith("*") else bare
    holder = plain.rpartition(".")[0]
    beside = [weak.where for weak in meant(kind, name, path) if weak.where] or [{}]
    for where in beside[:4]:
        others = {key.removeprefix("/"): value for key, value in where.items()}
        for value in values(schema, f"{name}:{path}", path.rpartition(".")[2]):
            state = spec_with(plain, value)
            for key, expected in others.items():
                _put(state, holder if f"/{key}" not in where and "*" in holder else "", key, expected)
            for number in NUMBERS if COUNTED.fullmatch(plain.rpartition(".")[2]) else ():
                _put(state, holder, number, 100)
            yield state
        yield spec_with(f"{holder}.beside", "x") if holder else {"beside": "x"}


def _put(state: dict[str, Any], holder: str, key: str, value: Any) -> None:
    """State a field that a weakness asks for, at the top or beside the one that differs."""
    at: Any = state
    for step in filter(None, holder.split(".")):
        at = at[0] if step == "*" else at[step]
    expected = value[0] if isinstance(value, list) and value else value
    *above, last = key.split(".")
    for step in above:
        at = at.setdefault(step, {}) if isinstance(at, dict) else {}
    if isinstance(at, dict) and expected is not None:
        at.setdefault(last, expected)


def is_told(kind: PolicyKind | None, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    own = () if kind is None else kind.weaker
    return any(weakenings([*own, *common_weaknesses(name, before, after, kind)], before, after))


def reason(at: str) -> str:
    return next((why for table in (NEUTRAL, UNTOLD) for pattern, why in table.items() if re.search(pattern, at)), "")


def untold() -> Iterator[str]:
    """Yield the fields of which no change is told."""
    for kind, name, path, schema in speaking():
        idle = () if kind is None else kind.idle
        if reason(f"{name}:{path}") or path in idle:
            continue
        if not any(is_told(kind, name, *pair) for pair in permutations(states(kind, path, schema, name), 2)):
            yield f"{name}: {path}"


def test_some_change_of_each_field_is_told() -> None:
    left = list(untold())
    assert not left, f"say in schemas/ which changes of these {len(left)} are weaker, or here why none is"


def test_the_fields_are_many() -> None:
    assert sum(not reason(f"{name}:{path}") for _, name, path, _ in speaking()) > 700


@pytest.mark.parametrize("pattern", UNTOLD)
def test_no_reason_is_given_for_nothing(pattern: str) -> None:
    assert any(re.search(pattern, f"{name}:{path}") for _, name, path, _ in speaking())
