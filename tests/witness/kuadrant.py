"""Kuadrant as a witness: what its operator makes of generated policies, and what policylint says of them.

The operator takes the statuses of Gateways and routes from the controller behind their class. They are policylint's
here, of Istio, with which its own controller agrees (`istio` in known.toml).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.documents import Pointer
from policylint.model import Node
from policylint.policy.results import Group
from policylint.report.simulate.status import stanzas
from policylint.simulation import Simulation
from policylint.topology.hostnames import covers
from tests.witness.api_server import parted
from tests.witness.envoy_gateway import simulated
from tests.witness.facts import Facts, of_statuses
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import Program

ABOUT = (
    "Its operator's own topology and reconcilers, with Istio below: the conditions of every policy, and of each rule"
    " that is effective on a way from a listener to a rule of a route, from which policy it comes."
)
CONTROLLER = "istio.io/gateway-controller"
GATEWAY_API = "gateway.networking.k8s.io"
KINDS = {"AuthPolicy": "v1", "RateLimitPolicy": "v1", "TokenRateLimitPolicy": "v1alpha1"}
_NAMES = ("a", "b", "c")
_PREDICATES = (
    "auth.identity.userid == 'x'",
    "ratelimit.domain == 'x'",
    "request.path ==",
    "nothing.path == '/x'",
    "request.path.nothing('x')",
    "nothing(request.path)",
    "request.path.contains('x') && size(request.path) > 3",
    "request.path in ['/x', '/y']",
    "'A'.lowerAscii() == request.path",
    "requestBodyJSON('/model') == 'x'",
    "source.address.startsWith('10.')",
    "metadata.filter_metadata == 'x'",
    "has(request.headers.x) ? request.headers.x == 'y' : true",
    "request.headers.exists(h, h == 'x')",
    "request.time > timestamp('2026-01-01T00:00:00Z')",
    "request.path.split('/').size() > 2 && string(1) == '1'",
    "request.headers['x'].replace('a', 'b').trim().substring(0, 1) == 'b'",
    "request.headers.all(h, h.startsWith('x')) || [1, 2].map(n, n * 2).exists_one(n, n == 4)",
    "request.time.getHours('UTC') > 3 && request.path.indexOf('a') >= 0 && ['a'].join(',') == 'a'",
    "queryMap(request.query).x == 'y'",
    "'%s'.format(['a']) == request.path && request.path.matches('^/x')",
    "optional.of(request.path).hasValue()",
    "math.greatest(1, 2) == 2",
    "1 + 'x'",
)
_CALLED = {"###_TOP_LEVEL_PREDICATES_###": "conditions#"}
"""Rules of limits that are called otherwise in AuthPolicies."""
_SECTIONS: tuple[tuple[Pointer, str], ...] = (
    (("patterns",), "patterns"),
    (("rules", "authentication"), "authentication"),
    (("rules", "metadata"), "metadata"),
    (("rules", "authorization"), "authorization"),
    (("rules", "callbacks"), "callbacks"),
    (("rules", "response", "success", "headers"), "response.success.headers"),
    (("rules", "response", "success", "filters"), "response.success.metadata"),
)
_WHOLE = 5
"""GatewayClass, Gateway, listener, route, rule."""
_ANSWERS = ("unauthenticated", "unauthorized")
_MIXED = "of several policies"


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: few Gateways and routes, and many policies for them."""
    draw = Draw("kuadrant", seed, number)
    objects = [
        manifest(f"{GATEWAY_API}/v1", "GatewayClass", "istio", spec={"controllerName": CONTROLLER}),
        manifest("v1", "Namespace", "infra"),
        manifest("v1", "Namespace", "shop"),
        manifest("v1", "Service", "cart", "shop", spec={"ports": [{"port": 80}], "selector": {"app": "cart"}}),
    ]
    objects += [_gateway(draw, name) for name in draw.some(("edge", "inner"), 2)]
    objects += [_route(draw, name) for name in draw.some(("alpha", "beta", "gamma"), 3)]
    return objects + [_policy(draw, f"p{each}") for each in range(draw.number(1, 7))]


def _gateway(draw: Draw, name: str) -> Manifest:
    listeners = [
        {
            "name": each,
            "port": port,
            "protocol": "HTTP",
            **({"hostname": hostname} if hostname else {}),
            "allowedRoutes": {"namespaces": {"from": "Same" if draw.often(0.1) else "All"}},
        }
        for each, port, hostname in draw.some(
            (("web", 80, ""), ("api", 8080, "api.example"), ("any", 8081, "*.example")), 3
        )
    ]
    spec = {"gatewayClassName": "istio", "listeners": listeners}
    return manifest(f"{GATEWAY_API}/v1", "Gateway", name, draw.one("infra", "shop"), draw.age(), spec=spec)


def _route(draw: Draw, name: str) -> Manifest:
    parents = []
    for gateway in draw.some(("edge", "inner"), 2):
        parent = {"name": gateway, "namespace": draw.one("infra", "infra", "shop")}
        parents.append(parent | draw.maybe(0.4, "sectionName", draw.one("web", "api", "any", "none")))
    rules = []
    for _ in range(draw.number(1, 3)):
        rule: dict[str, Any] = {"backendRefs": [{"name": "cart", "port": 80}]}
        rules.append(draw.maybe(0.3, "name", draw.one("main", "rule-1", "rule-2")) | rule)
    named = {rule["name"]: rule for rule in rules if "name" in rule}
    rules = [rule for rule in rules if "name" not in rule or named[rule["name"]] is rule]
    spec = {"parentRefs": parents, "rules": rules}
    spec |= draw.maybe(0.5, "hostnames", [draw.one("api.example", "www.example", "*.example", "elsewhere.test")])
    kind = "GRPCRoute" if name == "gamma" else "HTTPRoute"
    return manifest(f"{GATEWAY_API}/v1", kind, name, "shop", draw.age(), spec=spec)


def _policy(draw: Draw, name: str) -> Manifest:
    kind = draw.one(
        "AuthPolicy", "AuthPolicy", "AuthPolicy", "RateLimitPolicy", "RateLimitPolicy", "TokenRateLimitPolicy"
    )
    target = draw.one(
        {"kind": "Gateway", "name": draw.one("edge", "inner")},
        {"kind": "HTTPRoute", "name": draw.one("alpha", "beta")},
        {"kind": "HTTPRoute", "name": draw.one("alpha", "beta", "none")},
        {"kind": "GRPCRoute", "name": "gamma"},
    )
    sections = ("web", "api", "any", "none") if target["kind"] == "Gateway" else ("rule-1", "rule-2", "rule-3", "main")
    namespace = draw.one("infra", "shop") if target["kind"] == "Gateway" else "shop"
    spec: dict[str, Any] = {
        "targetRef": {"group": GATEWAY_API, **target, **draw.maybe(0.3, "sectionName", draw.of(sections))}
    }
    proper = _proper(draw, kind, name)
    form = draw.one("", "", "defaults", "defaults", "overrides", "overrides")
    if form:
        proper |= draw.maybe(0.7, "strategy", draw.one("atomic", "merge", "merge"))
        spec[form] = proper
        if draw.often(0.03):
            spec |= _proper(draw, kind, name)
    else:
        spec |= proper
    return manifest(f"kuadrant.io/{KINDS[kind]}", kind, name, namespace, draw.age(), spec=spec)


def _proper(draw: Draw, kind: str, name: str) -> dict[str, Any]:
    """Return settings; most of their CEL is the policy's own, so that nothing is equal by chance."""
    mine = f"request.path != '/{name}'"
    asked = draw.of(_PREDICATES) if draw.often(0.2) else mine
    proper: dict[str, Any] = draw.maybe(0.2, "when", [{"predicate": asked}])
    if kind != "AuthPolicy":
        limit = {"rates": [{"limit": draw.number(1, 99), "window": "10s"}], "when": [{"predicate": asked}]}
        return proper | draw.maybe(0.9, "limits", dict.fromkeys(draw.some(_NAMES, 3, 0), limit))
    when = {"when": [{"predicate": mine}]}
    pattern = {"patternMatching": {"patterns": [{"predicate": mine}]}}
    value = {"plain": {"value": name}}
    rules: dict[str, Any] = {}
    rules |= draw.maybe(0.7, "authentication", {each: {"anonymous": {}, **when} for each in draw.some(_NAMES, 3)})
    rules |= draw.maybe(0.4, "authorization", {each: {**pattern, **when} for each in draw.some(_NAMES, 2)})
    rules |= draw.maybe(
        0.2, "metadata", {each: {"http": {"url": f"http://{name}.test"}, **when} for each in draw.some(_NAMES, 2)}
    )
    rules |= draw.maybe(
        0.1, "callbacks", {each: {"http": {"url": f"http://{name}.test"}} for each in draw.some(_NAMES, 2)}
    )
    success: dict[str, Any] = draw.maybe(0.5, "headers", dict.fromkeys(draw.some(_NAMES, 2), value))
    success |= draw.maybe(0.4, "filters", dict.fromkeys(draw.some(_NAMES, 2), value))
    response: dict[str, Any] = draw.maybe(0.5, "success", success)
    for each in _ANSWERS:
        response |= draw.maybe(0.4, each, {"code": 403, "message": {"value": name}})
    rules |= draw.maybe(0.3, "response", response)
    proper |= draw.maybe(0.2, "patterns", {each: {"allOf": [{"predicate": mine}]} for each in draw.some(_NAMES, 2)})
    return proper | draw.maybe(0.9, "rules", rules)


class Operator(Program):
    """The running program."""

    def facts(self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]]) -> tuple[Facts, tuple[str, ...]]:
        """Return what the operator says of a world, and the objects that the API server refuses.

        Args:
            fates: of the objects by the API server.
        """
        stored, refused = parted(objects, fates)
        simulation = simulated(stored)
        answer = self.answer(list(_with_statuses(stored, simulation)))
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        return _real_facts(answer["statuses"], _ways(simulation)), refused


def _with_statuses(stored: Sequence[Manifest], simulation: Simulation) -> Iterator[Manifest]:
    """Yield the objects as they lie in a cluster whose gateways run."""
    written = {name_of(each): each["status"] for each in stanzas(simulation)}
    for body in stored:
        made = json.loads(json.dumps(body))
        if body["kind"] in ("Gateway", "HTTPRoute", "GRPCRoute"):
            status = made["status"] = json.loads(json.dumps(written.get(name_of(body), {})))
            status["parents"] = [each for each in status.get("parents", ()) if each.get("controllerName") == CONTROLLER]
            for listener in status.get("listeners", ()):
                listener["conditions"].append({"type": "Programmed", "status": "True", "reason": "Programmed"})
            for each in (status, *status["parents"], *status.get("listeners", ())):
                for condition in each.get("conditions", ()):
                    condition |= {"lastTransitionTime": "2026-01-01T00:00:00Z", "message": ""}
        yield made


def _real_facts(told: Sequence[Mapping[str, Any]], ways: Collection[tuple[str, str]]) -> Facts:
    """Return what the operator says, of ways only those that a listener has: it does not ask for namespaces."""
    facts = _of_policies([each for each in told if each["kind"] in KINDS])
    for each in told:
        kind = each["kind"].removeprefix("Effective")
        if kind != each["kind"] and tuple(each["name"].split("|")[2:4]) in ways:
            for rule, source in each["status"].items():
                facts[f"{kind} {each['name']} | {_CALLED.get(rule, rule)}"] = source.partition(":")[2]
    return facts


def our_facts(objects: Sequence[Manifest], refused: Collection[str]) -> Facts:
    """Return what policylint says of the objects that the API server does not refuse."""
    simulation = simulated([each for each in objects if name_of(each) not in refused])
    told = [
        {"kind": each["kind"], "namespace": "", **each["metadata"], "status": each["status"]}
        for each in stanzas(simulation)
        if each["kind"] in KINDS
    ]
    facts, ways = _of_policies(told), _ways(simulation)
    for group in simulation.groups:
        if group.kind.kind in KINDS:
            rules = _rules(group)
            for path in group.contexts():
                if len(path) == _WHOLE and (_spelled(path[2:3]), _spelled(path[3:4])) in ways:
                    facts |= {f"{group.kind.kind} {_spelled(path)} | {rule}": source for rule, source in rules.items()}
    return facts


def _of_policies(told: Sequence[Mapping[str, Any]]) -> Facts:
    """Return the conditions of policies, and of those in force whether they are in part."""
    facts = of_statuses(told)
    for each in told:
        for condition in each["status"].get("conditions", ()):
            if condition["reason"] == "Enforced":
                extent = "partially" if "partially" in condition["message"] else "successfully"
                facts[f"{each['kind']} {each['namespace']}/{each['name']} | extent"] = extent
    return facts


def _rules(group: Group) -> dict[str, str]:
    """Return the rules of an effective policy, as the operator names them, and where each comes from."""
    found: dict[str, str] = {}
    for pointer, owner in group.effective.owners.items():
        rule = _rule(pointer)
        if rule:
            found[rule] = owner.path if found.get(rule, owner.path) == owner.path else _MIXED
    return found


def _rule(pointer: Pointer) -> str:
    if pointer[:1] == ("when",):
        return "conditions#"
    if pointer[:1] == ("limits",):
        return str(pointer[1])
    if pointer[:2] == ("rules", "response") and pointer[2] in _ANSWERS:
        return f"response.{pointer[2]}#"
    for section, name in _SECTIONS:
        if pointer[: len(section)] == section and len(pointer) > len(section):
            return f"{name}#{pointer[len(section)]}"
    return ""


def _ways(simulation: Simulation) -> set[tuple[str, str]]:
    """Return the listeners and the routes that they serve for hostnames within their own.

    For others the operator has no way. It makes one filter for a Gateway, which tells requests by host and not by port,
    so that the policies of another listener may act.
    """
    topology = simulation.topology
    found = set()
    for route in topology.routes:
        for node in route.attached:
            listener = topology.listener(node)
            if listener is not None and any(
                covers(listener.hostname, hostname) for hostname in route.hostnames or ("",)
            ):
                found.add((_spelled([node]), route.route.key.path))
    return found


def _spelled(path: Sequence[Node]) -> str:
    """Return a path as Kuadrant spells it: a rule without a name is `rule-2` there, whatever others are called."""
    sections = (node.section.removesuffix(" without a name") for node in path)
    return "|".join(
        f"{node.key.namespace}/{node.key.name}" + (f"#{section}" if section else "")
        for node, section in zip(path, sections, strict=True)
    )


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    written = (Path(__file__).parent / "kuadrant" / "go.mod").read_text()
    versions = dict(re.findall(r"github.com/kuadrant/(kuadrant-operator|policy-machinery) (v\S+)", written))
    return {"title": "Kuadrant", "about": ABOUT, "versions": versions}
