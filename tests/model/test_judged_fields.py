"""Every field whose name speaks of protection says in which direction a change of it goes, or why it has none.

The fields are those of all kinds whose schemas are shipped; what they mean stands in `weaker` of a kind or in the words
of schemas/weakenings.yaml. A field that neither speaks of is a row of which nobody knows whether it matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.catalog.naming import groups_with_schemas, shipped_schemas
from policylint.catalog.weakenings import _WRAPPER, _meant, _stands_for
from policylint.compare.protection.spec import weakenings
from policylint.model import PolicyKind, mapping, sequence
from policylint.model.weakness import Weakness
from policylint.schema.known import _shipped

SPEAKING = re.compile(
    r"insecure|skip|verif|fail_?(open|clos|ure)|(tls|ssl|min|max|protocol)\w*version|optional|^mode$|allow|ttl$|secure$"
    r"|httponly|samesite|cidr|require|^disable|^enable|audience|issuer|trusted|bypass|exempt|exclu|anonym|public|permissive"
    r"|dry_?run|shadow|enforc|origins?$|cipher|scopes?$|claim|expir|lifetime|maxage|unauth|plaintext|passthrough"
    r"|credential|strict|ignore|ranges$|deny|denied|policy$|action$|rbac|fail|visibility|xff|pkce|slashes|underscore",
    re.IGNORECASE,
)
"""Names of fields that speak of protection, or might."""
PODS = (
    r"(affinity|\w*Containers|customSidecars|volumes|podTemplate|topologySpread\w*|resources|securityContext|[eE]nv"
    r"|[vV]olumeMounts|\w*Hpa|autoscaling|podDisruptionBudget)"
)
_WATCHING = r"(accessLog\w*|tracing|metrics|stats|[tT]elemetry|observability)"
_SPOKEN = r"(gzip|compress\w*|\w*Compression|buffering|grpc\w*|http1\w*|httpConnectionManagerSettings|dns)"
_REACHED = r"([lL]oadBalanc\w+|failoverConfig|statefulSession|dnsCacheConfig|dnsResolver|dns|autoCapacityDrain)"
_HEALTH = r"(healthCheck|healthchecks|health|outlier\w+|passive\w+|shutdown|[pP]robe\w*)"
NEUTRAL: Mapping[str, str] = {
    rf":(.*\.)?{PODS}(\.|$)": "how a proxy's pods run: what bears on who gets in has other names there",
    r"[pP]ullPolicy$": "when an image is looked for again",
    rf"{_HEALTH}\.": "which backends are thought well",
    rf"{_REACHED}\.": "which backend is asked",
    rf"{_WATCHING}\b.*\.(enable|disable|ignoreCase|exclude|exclusion|skip|mode)\w*": "what is written of a request",
    r"^HTTPProxy:": "a way in: requests are held against it",
    r"^Telemetry:|kube\.stats\.": "what is measured",
    rf"{_SPOKEN}\.\w*(disable|enable|ignored?|respect|excluded)\w*": "how it is spoken",
    r"(request|response)Transformation|transformationTemplate": "what is made of requests: templates are text",
    r"(consistentHash|hashPolicies|cors\w*|headers|sticky)\.([\w*]+\.)*(ttl|\w*[mM]axAge)$": "it is no credential",
    r"faultInjection\.|retries|retry\.|Upgrade\w*s?$|upgradeConfig": "what is tried again, or spoken on",
    r"wristband\.|assertionAudience$|[sS]copes?$|clientAuth\.|gcp\.audience$": "what the proxy itself shows to others",
    r"auth\.credentials$|tls\.credentialNames?$": "with what the proxy itself shows who it is",
    r"[cC]laims?ToHeaders?\.\*\.claim$": "what a backend is told of a login",
    r"polling\.": "when a policy is fetched again",
    r"matcher\.|match\.\*|match\.|headers\.\*\.|ignoreCase$": "conditions of a rule, whatever the rule does",
    r"[rR]ate_?[lL]imit\w*Headers$|EnvoyHeaders$|HostSuffixAppend$": "headers that say how something was done",
    r"(listeners|servers|ingress)\.\*\.tls\.mode$": "who ends TLS, which may ask more or less than the other",
    r"tls\.(mode|caOptional)$|mtls\.mode$|portLevelMtls\.\*\.mode$": "the values left say nothing by themselves",
    r"SetCookie$|ClearRouteCache$|routeCacheAction$|CookieSeed$": "what clients are given, or a route is chosen by",
    r"rewriteClientIP\.mode$|hostRewrite\.mode$|protocolVersion$|alpnPolicy$": "ways of which none is safer",
    r"enabledFor$|percentageShadowed$|disableForRoute$": "what is looked at on the way back, or by browsers",
    r"nestedClaimDelimiter$|spaceDelimitedClaims$|failedRefetchDuration$": "how what is asked is written or fetched",
    r"^AuthorizationPolicy:action$|^EnvoyFilter:": "requests are held against it, or its text is not read",
    r"^PolicyAutomation:|^Policy:|^PolicySet:|^QuotaPolicy:.*mode$": "placements are compared; or it is for reports",
    r"attachFailedStatusToMetadata$|enableMultiCluster$|enableICMP$": "nothing of a request is checked by it",
    r"StickinessConfig\.enabled$|developerPortal": "nothing of a request is checked by it, either",
    r"enforcementLevel$": "what a rule may name differs with it, and the API refuses what does not fit",
    r"disableHTTP2$|preferServerCipherSuites$|disableSessionTickets$": "how a connection is made",
    r"publicKey$|disableRetryOnNetworkError$": "no browser pins keys, and nobody gets in by another try",
    r"websocket\.enabled$|enableReadinessProbeProxyProtocol$": "another protocol, or for who watches the proxy",
}
"""Fields that go in no direction, by kind and path, with why."""


def below(schema: Mapping[str, Any], at: tuple[str, ...] = (), seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the path and schema of every field that holds no others, and of lists of such."""
    if id(schema) in seen or len(at) > 14:
        return
    inner = (*seen, id(schema))
    if fields := mapping(schema.get("properties")):
        for name, field in fields.items():
            yield from below(mapping(field), (*at, name), inner)
        return
    for entries in (schema.get("items"), schema.get("additionalProperties")):
        if mapping(entries).get("properties"):
            yield from below(mapping(entries), (*at, "*"), inner)
            break
    yield ".".join(at), schema


@cache
def fields() -> list[tuple[str, str, str, Any]]:
    """All fields whose names speak of protection: group, kind, path, schema."""
    found = []
    for group in sorted(groups_with_schemas()):
        for file in sorted(shipped_schemas(group)):
            versions = _shipped(group, file).get("versions", {})
            latest = next(each for each in reversed(versions.values()) if not isinstance(each, str))
            spec = mapping(latest.get("properties"))
            for path, schema in below(mapping(spec.get("spec"))):
                name = next((step for step in reversed(path.split(".")) if step != "*"), "")
                if SPEAKING.search(name):
                    found.append((group, file, path, schema))
    return found


def meant(kind: PolicyKind | None, name: str, path: str) -> list[Weakness]:
    """Return what the catalog, or else the words, say that a field means."""
    plain = _WRAPPER.sub("", path)
    own = () if kind is None else kind.weaker
    said = [
        weak
        for weak in own
        for each in (weak.path, weak.instead, *([] if weak.rate is None else _of_rate(weak)))
        if each and any(_stands_for(tuple(each.split(".")), tuple(at.split("."))) for at in (path, plain))
    ]
    idle = () if kind is None else kind.idle
    if any(_stands_for(tuple(each.split(".")), tuple(path.split("."))) for each in idle):
        return [Weakness(path, "it does nothing there")]
    return said or list(_meant(path, name))


def _of_rate(weak: Weakness) -> list[str]:
    assert weak.rate is not None
    return [f"{weak.path}.{each}" for each in (weak.rate.number, weak.rate.each) if each]


def reason(path: str) -> str:
    """Return why a field goes in no direction, "" where no line says so."""
    return next((why for pattern, why in NEUTRAL.items() if re.search(pattern, path)), "")


def unjudged() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the fields of which nothing is said: the kind, the path, and which of the values of an enumeration."""
    catalog = load_catalog()
    for group, name, path, schema in fields():
        said = meant(catalog.get(group, name), name, path)
        listed = [each for each in sequence(schema.get("enum")) if each not in ("", None)]
        if "boolean" in str(schema.get("type")):
            listed = [True, False]
        orders = [weak for weak in said if weak.order]
        placed = {repr(value) for weak in orders for step in weak.order for value in step}
        left = [str(each) for each in listed if repr(each) not in placed] if len(orders) == len(said) else []
        if (not said or left) and not reason(f"{name}:{path}"):
            yield name, path, left


def test_each_field_that_speaks_of_protection_is_judged() -> None:
    left = [f"{name}: {path} {', '.join(values)}".strip() for name, path, values in unjudged()]
    assert not left, f"say in schemas/ what these {len(left)} mean, or here why they have no direction"


def test_the_fields_are_many_and_few_are_left_out() -> None:
    listed = fields()
    assert len(listed) > 1_300
    catalog = load_catalog()
    said = [each for each in listed if meant(catalog.get(*each[:2]), each[1], each[2])]
    assert len(said) > 800


@pytest.mark.parametrize("pattern", NEUTRAL)
def test_no_reason_is_given_for_nothing(pattern: str) -> None:
    assert any(re.search(pattern, f"{name}:{path}") for _, name, path, _ in fields())


def spec_with(path: str, value: Any) -> dict[str, Any]:
    """Return the least that says a value at a path."""
    for step in reversed(path.split(".")):
        value = [value] if step == "*" else {step: value}
    assert isinstance(value, dict)
    return value


def test_no_change_is_weaker_both_ways() -> None:
    catalog = load_catalog()
    both, told = [], 0
    for group, name, path, schema in fields():
        said = [weak for weak in meant(catalog.get(group, name), name, path) if weak.order]
        values = ["true", "false"] if "boolean" in str(schema.get("type")) else sequence(schema.get("enum"))
        for one, other in combinations([{"true": True, "false": False}.get(each, each) for each in values], 2):
            states = [spec_with(_WRAPPER.sub("", path), value) for value in (one, other)]
            there, back = (any(weakenings(said, *pair)) for pair in (states, states[::-1]))
            both += [f"{name}: {path} {one} {other}"] if there and back else []
            told += there or back
    # Without it the proxy's own neighbour is taken for the client, with it whoever connects says who the client is.
    assert both == ["ClientTrafficPolicy: enableProxyProtocol True False"]
    assert told > 600
