"""What holds of every custom merge, whatever the policies say: the result is told whole, and so is what was lost.

Kinds whose merging is code: Envoy Gateway, NGINX Gateway Fabric, kgateway, agentgateway, Gloo, Istio.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.documents import Pointer
from policylint.policy.results import Effective
from policylint.policy.units import leaves
from policylint.simulation import Simulation
from tests.nightly import examples
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

PODS = "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {}}}"
SHOP = (
    gateway("g", "ns", "[{name: http, port: 80, protocol: HTTP}]", of_class="c"),
    route("r", "ns", "[{name: g}]", more="rules: [{name: one, backendRefs: [{name: s, port: 80}]}]"),
    service("s", "ns", "[{port: 80}]"),
    manifest("apps/v1", "Deployment", "w", "ns", PODS),
)
GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g"}
ROUTE = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}
DURATION = st.sampled_from(["1s", "2s", "3s"])
NUMBER = st.integers(1, 3)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of these fields."""
    return st.fixed_dictionaries({}, optional=dict(fields))


def keyed(*keys: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    item = st.builds(lambda key, number: {"type": key, "minContentLength": number}, st.sampled_from(keys), NUMBER)
    return st.lists(item, max_size=2, unique_by=lambda each: each["type"])


class Custom(NamedTuple):
    """A kind, what its policies may say, and where they may stand."""

    api_version: str
    kind: str
    controller: str
    spec: st.SearchStrategy[dict[str, Any]]
    targets: tuple[dict[str, Any], ...] = ()
    selectors: bool = False


OF_SOME = {"clientSelectors": [{"headers": [{"name": "x-tier", "value": "free"}]}]}
"""What makes a rule none of the default ones, of which Envoy Gateway refuses a second."""
BACKEND_TRAFFIC = some(
    timeout=some(http=some(requestTimeout=DURATION), tcp=some(connectTimeout=DURATION)),
    retry=some(numRetries=NUMBER),
    compressor=keyed("Gzip", "Brotli"),
    rateLimit=some(
        local=some(
            rules=st.lists(
                st.builds(lambda each: {**OF_SOME, "limit": {"requests": each, "unit": "Minute"}}, NUMBER), max_size=2
            )
        )
    ),
    mergeType=st.sampled_from(["StrategicMerge", "JSONMerge"]),
)
KINDS = [
    Custom(
        "gateway.envoyproxy.io/v1alpha1",
        "BackendTrafficPolicy",
        "gateway.envoyproxy.io/gatewayclass-controller",
        BACKEND_TRAFFIC,
        (GATEWAY, {**GATEWAY, "sectionName": "http"}, ROUTE, {**ROUTE, "sectionName": "one"}),
    ),
    Custom(
        "gateway.nginx.org/v1alpha1",
        "ProxySettingsPolicy",
        "gateway.nginx.org/nginx-gateway-controller",
        some(timeout=some(connect=DURATION, read=DURATION), buffering=some(disable=st.booleans())),
        (GATEWAY, ROUTE),
    ),
    Custom(
        "gateway.kgateway.dev/v1alpha1",
        "TrafficPolicy",
        "kgateway.dev/kgateway",
        some(
            timeouts=some(request=DURATION, streamIdle=DURATION),
            retry=some(attempts=NUMBER),
            acl=some(defaultAction=st.sampled_from(["allow", "deny"]), rules=st.lists(some(cidr=DURATION), max_size=2)),
        ),
        (GATEWAY, {**GATEWAY, "sectionName": "http"}, ROUTE, {**ROUTE, "sectionName": "one"}),
    ),
    Custom(
        "gateway.solo.io/v1",
        "RouteOption",
        "solo.io/gloo-gateway",
        some(options=some(timeout=DURATION, faults=some(abort=some(httpStatus=NUMBER)), prefixRewrite=DURATION)),
        (ROUTE,),
    ),
    Custom(
        "agentgateway.dev/v1alpha1",
        "AgentgatewayPolicy",
        "agentgateway.dev/agentgateway",
        some(
            traffic=some(timeouts=some(request=DURATION), retry=some(attempts=NUMBER), hostRewrite=some(mode=DURATION))
        ),
        (GATEWAY, {**GATEWAY, "sectionName": "http"}, ROUTE, {**ROUTE, "sectionName": "one"}),
    ),
    Custom(
        "security.istio.io/v1",
        "PeerAuthentication",
        "istio.io/gateway-controller",
        some(mtls=some(mode=st.sampled_from(["STRICT", "PERMISSIVE", "UNSET"]))),
        selectors=True,
    ),
    Custom(
        "networking.istio.io/v1beta1",
        "ProxyConfig",
        "istio.io/gateway-controller",
        some(concurrency=NUMBER, environmentVariables=some(A=DURATION, B=DURATION)),
        selectors=True,
    ),
    Custom(
        "telemetry.istio.io/v1",
        "Telemetry",
        "istio.io/gateway-controller",
        some(
            tracing=st.lists(some(randomSamplingPercentage=NUMBER, disableSpanReporting=st.booleans()), max_size=1),
            accessLogging=st.lists(some(providers=st.just([{"name": "envoy"}]), disabled=st.booleans()), max_size=2),
        ),
        selectors=True,
    ),
]
IN_PLACE = frozenset(
    {"BackendTrafficPolicy", "ProxySettingsPolicy", "TrafficPolicy", "RouteOption", "AgentgatewayPolicy"}
)
"""Kinds whose effective spec is in the shape of the policies' own."""


@st.composite
def policies(draw: st.DrawFn, kind: Custom) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        metadata: dict[str, Any] = {"name": f"p{number}", "namespace": "ns"}
        spec = draw(kind.spec)
        if kind.selectors:
            metadata["namespace"] = draw(st.sampled_from(["ns", "istio-system"]))
            if draw(st.booleans()):
                spec["selector"] = {"matchLabels": {"a": "b"}}
        else:
            spec["targetRefs"] = [draw(st.sampled_from(kind.targets))]
            if spec["targetRefs"][0]["kind"] == "Gateway":
                spec.pop("mergeType", None)
        if draw(st.booleans()):
            metadata["creationTimestamp"] = f"2026-01-0{draw(st.integers(1, 3))}T00:00:00Z"
        found.append({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec})
    return found


def judged(kind: Custom, documents: list[dict[str, Any]]) -> Simulation:
    return simulated(gateway_class("c", kind.controller), *SHOP, *map(json.dumps, documents))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_worlds_of_this_file_have_contexts(kind: Custom) -> None:
    """Else what follows would hold of nothing."""
    spec: dict[str, Any] = {} if kind.selectors else {"targetRefs": [kind.targets[0]]}
    if kind.kind == "AgentgatewayPolicy":
        spec["traffic"] = {"retry": {"attempts": 1}}
    metadata = {"name": "p", "namespace": "ns"}
    document = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}
    assert judged(kind, [document]).groups


def at(spec: Any, pointer: Pointer) -> Any:
    for step in pointer:
        spec = spec[step]
    return spec


def told(simulation: Simulation) -> list[Any]:
    return sorted(
        (str(path), json.dumps(group.effective.spec, sort_keys=True), sorted(map(str, group.effective.sources)))
        for group in simulation.groups
        for path in group.contexts()
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_story_of_a_merge_is_whole(kind: Custom, data: st.DataObject) -> None:
    documents = data.draw(policies(kind))
    simulation = judged(kind, documents)
    for group in simulation.groups:
        effective = group.effective
        stack = {each.key: each for each in effective.stack}
        assert_owned(effective, stack.keys())
        for lost in effective.lost:
            assert lost.by
            assert lost.policy not in lost.by
            assert {lost.policy, *lost.by} <= stack.keys()
            at(stack[lost.policy].declared[0].proper, lost.pointer)  # is written there
        if kind.kind in IN_PLACE:
            assert_nothing_is_forgotten(effective)


def assert_owned(effective: Effective, keys: Any) -> None:
    """Every leaf has an owner out of the stack, and every owned place is there."""
    for pointer, owner in effective.owners.items():
        at(effective.spec, pointer)
        assert owner in keys
    for leaf in leaves(effective.spec):
        if leaf.value == {}:
            continue
        mine = [each for each in effective.owners if each[: len(leaf.pointer)] == leaf.pointer]
        mine += [each for each in effective.owners if each == leaf.pointer[: len(each)]]
        assert mine or leaf.value in ([], "PERMISSIVE"), leaf  # the default of a mesh is nobody's


def assert_nothing_is_forgotten(effective: Effective) -> None:
    """What a policy sets stands in the result with its value, or is lost."""
    for attachment in {each.key: each for each in effective.stack}.values():
        lost = {each.pointer for each in effective.lost_by(attachment.key)}
        for leaf in leaves(attachment.declared[0].proper):
            told_lost = any(
                each == leaf.pointer[: len(each)] or each[: len(leaf.pointer)] == leaf.pointer for each in lost
            )
            assert told_lost or stands(effective, leaf.pointer, leaf.value), (attachment.key, leaf)


def stands(effective: Effective, pointer: Pointer, value: Any) -> bool:
    here: Any = effective.spec
    for step in pointer:
        if not isinstance(here, Mapping) or step not in here:
            return value in (None, {}, [], False)
        here = here[step]
    if isinstance(value, list) and isinstance(here, list):
        return all(any(includes(item, each) for item in here) for each in value)
    return isinstance(here, Mapping) if value == {} else bool(here == value)


def includes(item: Any, wanted: Any) -> bool:
    """Whether an item of a list has all that a policy says of it, or another policy's item of the same type does."""
    if isinstance(item, Mapping) and isinstance(wanted, Mapping) and "type" in wanted:
        return item.get("type") == wanted["type"]
    return bool(item == wanted)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_order_of_documents_means_nothing(kind: Custom, data: st.DataObject) -> None:
    documents = data.draw(policies(kind))
    shuffled = data.draw(st.permutations(documents))
    one, other = judged(kind, documents), judged(kind, list(shuffled))
    assert told(one) == told(other)
    assert [(str(key), state.verdict, state.by) for key, state in one.policies.items()] == [
        (str(key), state.verdict, state.by) for key, state in other.policies.items()
    ]


def merged(base: Any, patch: Any) -> Any:
    """RFC 7386, without deletions: typed objects have no nulls, and leave empty lists of rules out."""
    if not isinstance(patch, dict):
        return base if patch == [] and base else patch
    result = dict(base) if isinstance(base, dict) else {}
    for name, value in patch.items():
        result[name] = merged(result.get(name), value)
    return result


@settings(max_examples=examples(60), deadline=None)
@given(base=BACKEND_TRAFFIC, patch=BACKEND_TRAFFIC)
def test_json_merge_is_rfc_7386(base: dict[str, Any], patch: dict[str, Any]) -> None:
    """docs/design/implementations/envoy-gateway.md §5: the route's policy patched onto the Gateway's."""
    base.pop("mergeType", None)
    patch["mergeType"] = "JSONMerge"
    kind = KINDS[0]
    documents = [
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {**spec, "targetRefs": [target]},
        }
        for name, spec, target in (("wide", base, GATEWAY), ("narrow", patch, ROUTE))
    ]
    (group,) = judged(kind, documents).groups
    patch.pop("mergeType")
    assert dict(group.effective.spec) == merged(base, patch)
