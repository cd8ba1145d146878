"""kgateway's policies as a witness: what requests get from the real Envoy with its configuration, and from `trace`.

Every policy leaves its own mark: users, keys and headers are called by its name, so that what a request gets tells
whose settings are in force.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.model import mapping, value_at
from policylint.policy.asking import setters
from policylint.trace import Requirements, Trace, Tracer, request
from tests.witness import envoy
from tests.witness.api_server import parted
from tests.witness.envoy import Asked, Proxy, Stubs, token
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import CERTIFICATE, GATEWAY_API, JWKS, PRIVATE_KEY
from tests.witness.envoy_static import values_of
from tests.witness.facts import Facts
from tests.witness.gateway_api import DIALECTS, Controller
from tests.witness.gateway_api import head as of_kgateway
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import installed_envoy

ABOUT = (
    "Its own translation of TrafficPolicies, GatewayExtensions, DirectResponses and delegated routes, in the proxy"
    " itself: who is let in with which password, key or token, whose headers, CORS and limits a request gets, as"
    " `trace` has them."
)
REQUESTS = 30
"""Per world."""
OWN = "gateway.kgateway.dev"
ISSUER = "https://id.example"
POLICIES = ("p1", "p2", "p3", "p4", "p5", "p6")
PORTS = {"web": 8080, "alt": 8081, "more": 8082}
_PATHS = ("/", "/api", "/api/v1", "/cart", "/team", "/team/a")
_HOSTS = ("shop.example", "api.example")
_CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
_LIMIT = 0.4
"""Seconds until a limited request passes again."""
_ASKED_TWICE = 5
_TURNED_AWAY = "turned away"
_BACKEND = "kube_"
"""How the names of clusters begin that stand for Services."""


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world."""
    draw = Draw("kgateway-requests", seed, number)
    return (_Wider(draw) if str(seed).startswith("wider") else _World(draw)).objects


class _World:
    """What is made so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.objects = [
            manifest(f"{GATEWAY_API}/v1", "GatewayClass", "kgateway", spec={"controllerName": "kgateway.dev/kgateway"}),
            manifest("v1", "Namespace", "infra"),
            manifest("v1", "Namespace", "shop"),
            *(
                manifest("v1", "Service", name, "shop", spec={"ports": [{"port": 80}]})
                for name in ("cart", "pay", "login")
            ),
            *(
                manifest("v1", "Secret", name, namespace, labels={"keys": name}, stringData={"me": f"key-{name}"})
                for name in POLICIES
                for namespace in ("infra", "shop")
            ),
        ]
        self._extensions()
        self._gateway()
        self.routes = [self._route(name) for name in draw.some(("alpha", "beta"), 2)]
        self.has_filters = False
        for name in draw.some(POLICIES, 6, 2):
            self._policy(name)

    def _extensions(self) -> None:
        draw = self.draw
        keys = {"local": {"inline": JWKS}}
        provider = {"name": "id", "issuer": ISSUER, "jwks": keys, **draw.maybe(0.2, "audiences", ["shop"])}
        for namespace in ("infra", "shop"):
            for name, spec in (
                ("tokens", {"jwt": {"providers": [provider]}}),
                ("perhaps", {"jwt": {"validationMode": "AllowMissing", "providers": [provider]}}),
                ("asks", {"extAuth": {"grpcService": {"backendRef": {"name": "login", "port": 80}}}}),
                (
                    "opens",
                    {"extAuth": {"grpcService": {"backendRef": {"name": "login", "port": 80}}, "failOpen": True}},
                ),
            ):
                if namespace == "infra" and "extAuth" in spec:
                    spec["extAuth"]["grpcService"]["backendRef"]["namespace"] = "shop"
                self.objects.append(manifest(f"{OWN}/v1alpha1", "GatewayExtension", name, namespace, spec=spec))
        grant = {"from": [{"group": OWN, "kind": "GatewayExtension", "namespace": "infra"}]}
        grant["to"] = [{"group": "", "kind": "Service"}]
        self.objects.append(manifest(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", "asks", "shop", spec=grant))

    def _gateway(self) -> None:
        draw = self.draw
        every = {"namespaces": {"from": "All"}}
        listeners = [
            {"name": name, "port": PORTS[name], "protocol": "HTTP", "allowedRoutes": every}
            | draw.maybe(0.2, "hostname", "*.example")
            for name in ("web", "alt")[: draw.number(1, 2)]
        ]
        spec: dict[str, Any] = {"gatewayClassName": "kgateway", "listeners": listeners}
        spec["allowedListeners"] = every
        labels = {"tier": "front"}
        self.objects.append(manifest(f"{GATEWAY_API}/v1", "Gateway", "edge", "infra", draw.age(), labels, spec=spec))
        self.has_set = draw.often(0.35)
        if self.has_set:
            listener = {"name": "more", "port": PORTS["more"], "protocol": "HTTP", "allowedRoutes": every}
            spec = {"parentRef": {"name": "edge", "namespace": "infra"}, "listeners": [listener]}
            self.objects.append(manifest(f"{GATEWAY_API}/v1", "ListenerSet", "more", "shop", draw.age(), spec=spec))

    def _route(self, name: str) -> Manifest:
        draw = self.draw
        edge = {"name": "edge", "namespace": "infra"}
        parents: list[dict[str, Any]] = [edge | draw.maybe(0.25, "sectionName", draw.one("web", "alt"))]
        if self.has_set and draw.often(0.7):
            parents.append({"group": GATEWAY_API, "kind": "ListenerSet", "name": "more"})
        rules = [self._rule(each) for each in draw.some(("main", "rest"), 2)]
        spec: dict[str, Any] = {"parentRefs": parents, "rules": rules}
        spec |= draw.maybe(0.6, "hostnames", draw.some(_HOSTS, 2))
        labels = {"tier": draw.one("front", "back")}
        if draw.often(0.35):
            child = f"{name}-child"
            under = {"path": {"type": "PathPrefix", "value": "/team"}}
            to = {"group": GATEWAY_API, "kind": "HTTPRoute", "name": child}
            rules.append({"name": "down", "matches": [under], "backendRefs": [to]})
            below: dict[str, Any] = {"rules": [self._rule(each, "/team") for each in draw.some(("main", "rest"), 2)]}
            self.objects.append(
                manifest(f"{GATEWAY_API}/v1", "HTTPRoute", child, "shop", draw.age(), labels, spec=below)
            )
        made = manifest(f"{GATEWAY_API}/v1", "HTTPRoute", name, "shop", draw.age(), labels, spec=spec)
        if draw.often(0.3):
            how = draw.one("ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent")
            made["metadata"]["annotations"] = {"kgateway.dev/inherited-policy-priority": how}
        self.objects.append(made)
        return made

    def _rule(self, name: str, below: str = "") -> dict[str, Any]:
        draw = self.draw
        path = below + draw.one("/", "/a") if below else draw.of(_PATHS[:4])
        rule: dict[str, Any] = {"name": name, "matches": [{"path": {"type": "PathPrefix", "value": path}}]}
        if draw.often(0.1):
            status = draw.one(200, 404, 418)
            body = {"status": status, "body": "no"}
            answer = f"answer-{len(self.objects)}"
            self.objects.append(manifest(f"{OWN}/v1alpha1", "DirectResponse", answer, "shop", spec=body))
            reference = {"group": OWN, "kind": "DirectResponse", "name": answer if draw.often(0.9) else "gone"}
            return rule | {"filters": [{"type": "ExtensionRef", "extensionRef": reference}]}
        rule["backendRefs"] = [{"name": draw.one("cart", "pay", "cart", "pay", "gone"), "port": 80}]
        filters: list[dict[str, Any]] = []
        if draw.often(0.25):
            reference = {"group": OWN, "kind": "TrafficPolicy", "name": draw.of(POLICIES)}
            filters.append({"type": "ExtensionRef", "extensionRef": reference})
        if draw.often(0.1):
            filters.append({"type": "CORS", "cors": {"allowOrigins": ["https://rule.example"]}})
        return rule | ({"filters": filters} if filters else {})

    def _policy(self, name: str) -> None:
        draw = self.draw
        namespace, target = self._target()
        spec: dict[str, Any] = target
        for each in draw.some(self._settings(name), 3):
            spec |= each
        made = manifest(f"{OWN}/v1alpha1", "TrafficPolicy", name, namespace, draw.age(), spec=spec)
        if draw.often(0.2):
            made["metadata"]["annotations"] = {"kgateway.dev/policy-weight": str(draw.one(-1, 1, 10))}
        self.objects.append(made)

    def _target(self) -> tuple[str, dict[str, Any]]:
        draw = self.draw
        gateway = {"group": GATEWAY_API, "kind": "Gateway", "name": "edge"}
        route = {"group": GATEWAY_API, "kind": "HTTPRoute"}
        names = [each["metadata"]["name"] for each in self.objects if each["kind"] == "HTTPRoute"]
        return draw.one(
            ("infra", {"targetRefs": [gateway]}),
            ("infra", {"targetRefs": [gateway | {"sectionName": draw.one("web", "alt")}]}),
            ("shop", {"targetRefs": [{"group": GATEWAY_API, "kind": "ListenerSet", "name": "more"}]}),
            ("shop", {"targetRefs": [route | {"name": draw.of(names)}]}),
            ("shop", {"targetRefs": [route | {"name": draw.of(names)}]}),
            (
                "shop",
                {"targetRefs": [route | {"name": draw.of(names), "sectionName": draw.one("main", "rest", "down")}]},
            ),
            ("shop", {"targetSelectors": [route | {"matchLabels": {"tier": draw.one("front", "back")}}]}),
            ("shop", {}),
        )

    def _settings(self, name: str) -> list[dict[str, Any]]:
        draw = self.draw
        off: dict[str, Any] = {"disable": {}}
        secret = {"apiKeyAuth": {"secretRef": {"name": name}}}
        chosen = {"apiKeyAuth": {"secretSelector": {"matchLabels": {"keys": name}}}}
        hashed = base64.b64encode(hashlib.sha1(name.encode(), usedforsecurity=False).digest()).decode()
        rule = {"matchExpressions": [f"request.headers['x-me'] == '{name}'"]}
        other = draw.one(f"request.headers['x-me'] != '{name}'", f"!(request.headers['x-me'] == '{name}')")
        unlike = {"matchExpressions": [other]}
        wide = {"matchExpressions": ["request.method == 'POST'", "request.path.startsWith('/api')"]}
        bucket = {"maxTokens": 1, "tokensPerFill": 1, "fillInterval": f"{int(_LIMIT * 1000)}ms"}
        site = {"exact": f"{name}.example"}
        return [
            {"headerModifiers": {"response": {"set": [{"name": f"x-by-{name}", "value": "1"}]}}},
            {"headerModifiers": {"response": {"add": [{"name": f"x-by-{name}", "value": "1"}]}}},
            {
                "cors": draw.one(
                    {"allowOrigins": [f"https://{name}.example"]}, {"allowOrigins": [f"https://{name}.example"]}, off
                )
            },
            {"csrf": draw.one({"percentageEnabled": 100, "additionalOrigins": [site]}, {"percentageEnabled": 100}, {})},
            {
                "basicAuth": draw.one(
                    {"users": [f"{name}:{{SHA}}{hashed}"]}, {"users": [f"{name}:{{SHA}}{hashed}"]}, off
                )
            },
            draw.one(secret, chosen, {"apiKeyAuth": off}),
            {"jwtAuth": draw.one({"extensionRef": {"name": draw.one("tokens", "perhaps")}}, off)},
            {"extAuth": draw.one({"extensionRef": {"name": draw.one("asks", "opens")}}, off)},
            {"rbac": {"action": draw.one("Allow", "Deny"), "policy": draw.one(rule, rule, wide, unlike)}},
            {"rbac": {"policy": rule}},
            {"rateLimit": {"local": {"tokenBucket": bucket}}},
            {"buffer": draw.one({"maxRequestSize": "1Ki"}, off)},
            {"timeouts": {"request": f"{draw.number(5, 9)}s"}},
        ]


class _Wider(_World):
    """Worlds with listeners that terminate TLS, and with two on one port."""

    def _gateway(self) -> None:
        super()._gateway()
        draw = self.draw
        (listeners,) = (each["spec"]["listeners"] for each in self.objects if each["kind"] == "Gateway")
        for listener in listeners:
            if draw.often(0.6):
                listener |= {"protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}}
        if draw.often(0.6):
            listeners.append({**listeners[0], "name": "second", "hostname": "api.example"})
        held = {"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY}
        self.objects.append(manifest("v1", "Secret", "cert", "infra", type="kubernetes.io/tls", stringData=held))

    def _target(self) -> tuple[str, dict[str, Any]]:
        namespace, target = super()._target()
        for reference in target.get("targetRefs", ()):
            if reference["kind"] == "Gateway" and "sectionName" in reference and self.draw.often(0.4):
                reference["sectionName"] = "second"
        return namespace, target


def requests(seed: object, number: int, objects: Sequence[Manifest]) -> list[Asked]:
    """Return requests to the Gateway of a world."""
    draw = Draw("kgateway-asked", seed, number)
    listeners = [each for one in objects for each in one.get("spec", {}).get("listeners", ())]
    asked = []
    for _ in range(REQUESTS):
        method, who = draw.one("GET", "GET", "POST"), draw.of(POLICIES)
        headers = draw.maybe(0.5, "x-me", who)
        headers |= draw.maybe(0.4, "origin", f"https://{draw.one('rule', *POLICIES)}.example")
        listener = draw.of(listeners)
        asked.append(
            {
                "gateway": "infra/edge",
                "scheme": listener["protocol"].lower(),
                "port": listener["port"],
                "address": "127.0.0.2",
                "host": draw.of(_HOSTS),
                "method": method,
                "path": draw.of(_PATHS) + draw.one("", "", "/x"),
                "headers": headers,
                "with": draw.some((f"password of {who}", f"key of {draw.of(POLICIES)}", "token"), 3, 0),
            }
        )
    return asked


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    by = f" with {' and '.join(sorted(asked['with']))}" if asked["with"] else ""
    return f"{asked['method']} {asked['host']}:{asked['port']}{asked['path']}{headers}{by}"


def _bearing(asked: Asked) -> Asked:
    headers, path = dict(asked["headers"]), asked["path"]
    for each in asked["with"]:
        name = each.split()[-1]
        if each.startswith("password"):
            headers["authorization"] = "Basic " + base64.b64encode(f"{name}:{name}".encode()).decode()
        elif each.startswith("key"):
            headers["api-key"] = f"key-{name}"
        else:
            path += "?access_token=" + token({"iss": ISSUER, "sub": "me", "aud": "shop", "exp": 4102444800})
    return {**asked, "headers": headers, "path": path}


class Asking(Controller):
    """The running controller, and the proxy that its configuration is for."""

    def __init__(self, program: Path, certificate: str, key: str, directory: Path) -> None:
        dialect = DIALECTS["kgateway"]
        super().__init__(dialect._replace(switches={"WITNESS_PROXIES": "yes"}), program, certificate, key)
        self._directory = directory
        self._envoy = installed_envoy()

    def told(
        self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]], asked: Sequence[Asked], stubs: Stubs
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get, and the objects that the API server refuses."""
        stored, refused = parted(objects, fates)
        answer = self.answer([self._encoded(each) for each in stored])
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        (resources,) = [each["status"] for each in answer["statuses"] if each["kind"] == "Proxy"]
        limited = '"rateLimit"' in json.dumps(stored)
        facts: Facts = {}
        with Proxy(self._envoy, _with_clusters(resources), stubs, self._directory) as proxy:
            if proxy.refused:
                return {"| Envoy": proxy.refused.strip().splitlines()[-1]}, refused
            for number, one in enumerate(asked):
                if limited and number < _ASKED_TWICE:
                    time.sleep(_LIMIT)
                facts |= _told(proxy, one, number, twice=limited and number < _ASKED_TWICE)
        return facts, refused


def _told(proxy: Proxy, asked: Asked, number: int, *, twice: bool) -> Facts:
    name = named(asked)
    answer, headers = proxy.exchange(_bearing(asked), str(number))
    if answer == "429":
        return {f"{name} | limited": "yes"}
    facts = {f"{name} | answer": _TURNED_AWAY if answer in ("401", "403") else answer}
    if answer.startswith("200 "):
        by = sorted(each.removeprefix("x-by-") for each in headers if each.startswith("x-by-"))
        facts[f"{name} | headers"] = " ".join(by) or "-"
        if "origin" in asked["headers"]:
            facts[f"{name} | cors"] = "yes" if "access-control-allow-origin" in headers else "no"
        if twice:
            again, _ = proxy.exchange(_bearing(asked), str(number))
            facts[f"{name} | limited"] = "yes" if again == "429" else "no"
    return facts


def _with_clusters(resources: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return a configuration with a cluster of one stub for each Service that it names, called by it."""
    made = {url: list(each) for url, each in resources.items()}
    clusters = made.setdefault(_CLUSTER, [])
    clusters.clear()
    named = (*values_of(resources, "cluster"), *values_of(resources, "clusterName"))
    for name in sorted({each for each in named if isinstance(each, str) and each.startswith(_BACKEND)}):
        address = {"socketAddress": {"address": name, "portValue": 80}}
        assignment = {"clusterName": name, "endpoints": [{"lbEndpoints": [{"endpoint": {"address": address}}]}]}
        clusters.append({"name": name, "loadAssignment": assignment, "connectTimeout": "5s"})
    return made


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return what policylint says of the requests, as far as the proxy was asked."""
    tracer = Tracer(simulated([each for each in objects if name_of(each) not in refused]))
    told: Facts = {}
    for one in asked:
        for fact, values in _ours(tracer, one).items():
            if fact in real:
                told[fact] = real[fact] if real[fact] in values else " or ".join(values)
    return told


def _ours(tracer: Tracer, asked: Asked) -> dict[str, list[str]]:
    fields = {name: value for name, value in asked.items() if name != "with"}
    claims = {"sub": "me", "iss": ISSUER} if "token" in asked["with"] else {}
    trace = tracer.trace(request({**fields, "claims": claims}))
    name, asking = named(asked), Requirements(tracer)
    in_force = _origins(trace)
    site = asked["headers"].get("origin", "").removeprefix("https://").removesuffix(".example")
    return {
        f"{name} | answer": _answers(trace, asking, asked),
        f"{name} | headers": [" ".join(sorted(_setters(trace, "headerModifiers"))) or "-"],
        f"{name} | cors": ["yes" if site in in_force else "no"],
        f"{name} | limited": ["yes" if any(asking.of(trace, "rateLimit").demands) else "no"],
    }


def _origins(trace: Trace) -> set[str]:
    """Return the sites whose scripts may read the answer: those that the rule names, or a policy that is in force."""
    rule = mapping(value_at(trace.route.body, trace.rule_pointer[:3])) if trace.route is not None else {}
    if any("cors" in each for each in rule.get("filters", ())):
        return {"rule"}
    stated = [mapping(met.spec["cors"]) for met in trace.policies if "cors" in met.spec]
    return set() if any("disable" in each for each in stated) else _setters(trace, "cors")


def _setters(trace: Trace, setting: str) -> set[str]:
    return {key.name for met in trace.policies if setting in met.spec for key in setters(met.group.effective, setting)}


def _opens(trace: Trace) -> bool:
    """Tell whether each external authorization that is in force lets requests pass while its service is silent."""
    stated = [each for met in trace.policies for each in _listed(met.spec.get("extAuth"))]
    return all(each.get("extensionRef", {}).get("name") == "opens" for each in stated)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _answers(trace: Trace, asking: Requirements, asked: Asked) -> list[str]:
    """Return what policylint says of a request: where an error awaits who is turned away, either may come first."""
    outcome, said = trace.outcome, []
    if not _passes(trace, asking, asked) or trace.denied or trace.authorization == "denied":
        said.append(_TURNED_AWAY)
    if outcome.status == 500 or outcome.failing:
        said.append("500")
    if said:
        return said
    if trace.depends or trace.authorization == "depends" or outcome.unknown:
        return ["depends"]
    if outcome.status is not None or outcome.refused:
        return ["reset" if outcome.refused else str(outcome.status)]
    return [f"200 {_BACKEND}{each.namespace}_{each.name}_80" for each in outcome.backends]


def _passes(trace: Trace, asking: Requirements, asked: Asked) -> bool:
    """Tell whether a request shows all that it is asked for."""
    for demand in asking.of(trace, "authentication").demands:
        name = "" if demand.policy is None else demand.policy.name
        shown = {"basicAuth": f"password of {name}", "apiKeyAuth": f"key of {name}", "jwtAuth": "token"}
        opens = demand.setting == "extAuth" and _opens(trace)  # the service does not answer
        if demand.must and not opens and shown.get(demand.setting, "") not in asked["with"]:
            return False
    return True


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    versions = of_kgateway("kgateway")["versions"] | {"envoy": envoy.head()["versions"]["envoy"]}
    return {"title": "kgateway's policies", "about": ABOUT, "versions": versions}
