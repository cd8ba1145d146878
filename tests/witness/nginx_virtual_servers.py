"""NGINX as a witness: what requests get from the proxy that NGINX Ingress Controller sets up for its VirtualServers,
and what `trace` says."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from policylint.doors.nginx_servers import rejected
from policylint.model import mapping
from policylint.trace import Requirements, Trace, Tracer, request
from tests.witness.envoy import Asked, Stubs
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import CERTIFICATE, PRIVATE_KEY
from tests.witness.facts import Facts
from tests.witness.gateway_api import DIALECTS, Controller
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.nginx_requests import ADDRESSES, PROGRAM, Nginx, leads
from tests.witness.programs import HERE

ABOUT = (
    "The real NGINX with the configuration that NGINX Ingress Controller generates for VirtualServers and Policies:"
    " which backend a request gets to, under which path, which status or redirect it gets, who is asked for a password,"
    " whose address is turned away, which preflights are answered, as `trace` has them."
)
API = "k8s.nginx.org/v1"
SOURCE = HERE / "nginx_ingress_controller" / "source"
REQUESTS = 40
"""Per world."""
_HOSTS = ("shop.example", "api.example", "a.shop.example")
_PATHS = ("/", "/api", "/api/", "/api/v1", "/cart", "/cart/a", "/apis", "/a.png", "/cart/b.PNG")
_CLIENTS = ("127.0.0.2", "127.0.0.9")
_POLICIES = ("me", "you", "near", "far", "slow", "cross", "spoilt", "shown", "gone", "two")


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world."""
    return _World(Draw("nginx-virtual-servers", seed, number)).objects


class _World:
    """What is made so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.objects = [manifest("v1", "Namespace", name) for name in ("shop", "infra")]
        for name, address in ADDRESSES.items():
            for namespace in ("shop", "infra"):
                spec = {"clusterIP": address, "ports": [{"port": 80}]}
                self.objects.append(manifest("v1", "Service", name, namespace, spec=spec))
        for name in ("me", "you"):
            held = {"htpasswd": f"{name}:{{PLAIN}}{name}\n"}
            self.objects.append(manifest("v1", "Secret", name, "shop", type="nginx.org/htpasswd", stringData=held))
        pair = {"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY}
        self.objects += [
            manifest("v1", "Secret", "other", "shop", type="Opaque", stringData={"htpasswd": "a:{PLAIN}a\n"}),
            manifest("v1", "Secret", "cert", "shop", type="kubernetes.io/tls", stringData=pair),
            manifest("v1", "Secret", "ca", "shop", type="nginx.org/ca", stringData={"ca.crt": CERTIFICATE}),
        ]
        self._policies()
        self.objects.append(manifest(API, "VirtualServerRoute", "filler", "shop", spec={"host": "filler.example"}))
        hosts = draw.some((*_HOSTS, "*.example", "*.shop.example"), 3)
        days = draw.some(range(1, 7), 4, 4)
        for index, host in enumerate(hosts):
            self._server(f"s{index}", host, days[index])
        if draw.often(0.15):
            self._server("twin", hosts[0], days[3])

    def _policies(self) -> None:
        stated: dict[str, dict[str, Any]] = {
            "me": {"basicAuth": {"secret": "me", "realm": "me"}},
            "you": {"basicAuth": {"secret": "you", "realm": "you"}},
            "near": {"accessControl": {"allow": ["127.0.0.0/30"]}},
            "far": {"accessControl": {"deny": ["127.0.0.0/30"]}},
            "slow": {"rateLimit": {"rate": "1r/m", "key": "${http_x_once}", "zoneSize": "1M", "rejectCode": 429}},
            "cross": {"cors": {"allowOrigin": ["https://a.example"]}},
            "spoilt": {"basicAuth": {"secret": "other"}},
            "shown": {"ingressMTLS": {"clientCertSecret": "ca", "verifyClient": "on"}},
            "two": {"basicAuth": {"secret": "me"}, "accessControl": {"allow": ["127.0.0.0/30"]}},
        }
        for name, spec in stated.items():
            self.objects.append(manifest(API, "Policy", name, "shop", spec=spec))

    def _named(self, chance: float) -> dict[str, Any]:
        draw = self.draw
        often = ("me", "you", "near", "far", "cross", "slow")
        names = draw.some(_POLICIES if draw.often(0.25) else often, draw.one(1, 1, 2, 3))
        return draw.maybe(chance, "policies", [{"name": name, "namespace": "shop"} for name in names])

    def _upstreams(self) -> list[dict[str, Any]]:
        return [{"name": name, "service": name, "port": 80} for name in ADDRESSES]

    def _server(self, name: str, host: str, day: int) -> None:
        draw = self.draw
        spec: dict[str, Any] = {"host": host, "upstreams": self._upstreams(), **self._named(0.5)}
        if draw.often(0.5):
            redirect = {"enable": True} | draw.maybe(0.4, "code", draw.one(302, 308))
            redirect |= draw.maybe(0.3, "basedOn", "x-forwarded-proto")
            spec["tls"] = {"secret": "cert"} | draw.maybe(0.4, "redirect", redirect)
        paths = draw.some((*_PATHS, "= /api", "=/cart", "~ ^/c", "~* [.]png$", "~ /v1$", "^~ /api", "^~ /cart/"), 5)
        spec["routes"] = [self._route(path, host, f"{name}-{index}") for index, path in enumerate(paths)]
        age = f"2026-01-0{day}T00:00:00Z"
        self.objects.append(manifest(API, "VirtualServer", name, "shop", age, spec=spec))

    def _route(self, path: str, host: str, name: str) -> dict[str, Any]:
        draw = self.draw
        route: dict[str, Any] = {"path": path, **self._named(0.4)}
        if draw.often(0.25):
            namespace = draw.one("shop", "infra")
            self._below(path, host, name, namespace)
            return route | {"route": draw.one(f"{namespace}/{name}", f"{namespace}/{name}", "shop/gone")}
        return route | self._decision(path)

    def _decision(self, path: str) -> dict[str, Any]:
        draw = self.draw
        decided: dict[str, Any] = {"action": self._action(path)}
        if draw.often(0.15):
            decided = {"splits": [{"weight": 100, "action": self._sent()}, {"weight": 0, "action": self._sent()}]}
        if draw.often(0.3):
            decided["matches"] = [
                {"conditions": [self._condition() for _ in range(draw.one(1, 1, 2))], "action": self._inner()}
                for _ in range(draw.one(1, 1, 2))
            ]
        return decided

    def _below(self, path: str, host: str, name: str, namespace: str) -> None:
        draw = self.draw
        own = [path, *(f"{path.rstrip('/')}{more}" for more in ("/x", "/x/", "y"))]
        paths = [path] if path[0] in "~=" else draw.some(own, 2)
        if draw.often(0.1):
            paths.append("/elsewhere")
        subroutes = [{"path": each, **self._named(0.3), **self._decision(each)} for each in paths]
        spec = {"host": draw.one(host, host, host, "else.example"), "upstreams": self._upstreams()}
        spec["subroutes"] = subroutes
        self.objects.append(manifest(API, "VirtualServerRoute", name, namespace, draw.age(), spec=spec))

    def _condition(self) -> dict[str, Any]:
        draw = self.draw
        value = draw.one("yes", "no", "!yes", "~^y", "~*^Y", "1")
        named = draw.one(
            {"header": "X-Canary"},
            {"argument": "v"},
            {"cookie": "canary"},
            {"variable": "$request_method"},
            {"variable": "$scheme"},
        )
        if "variable" in named:
            value = draw.one("GET", "POST") if named["variable"] == "$request_method" else draw.one("http", "https")
        return {**named, "value": value}

    def _sent(self) -> dict[str, Any]:
        return {"pass": self.draw.of([*ADDRESSES])}

    def _inner(self) -> dict[str, Any]:
        return self.draw.one(self._sent(), self._sent(), {"return": {"code": 418, "body": "tea"}})

    def _action(self, path: str) -> dict[str, Any]:
        draw = self.draw
        kind = draw.one("pass", "pass", "pass", "redirect", "return", "proxy")
        if kind == "redirect":
            url = draw.one("http://other.example/new", "https://other.example${request_uri}", "${scheme}://${host}/new")
            return {"redirect": {"url": url} | draw.maybe(0.5, "code", draw.one(302, 307))}
        if kind == "return":
            return {"return": {"body": "hello"} | draw.maybe(0.6, "code", draw.one(403, 418, 200))}
        if kind == "proxy":
            rewritten = draw.maybe(0.7, "rewritePath", "/new/" if path.endswith("/") else "/new")
            return {"proxy": {"upstream": draw.of([*ADDRESSES]), **rewritten}}
        return self._sent() if draw.often(0.97) else {"pass": "nowhere"}


def requests(seed: object, number: int, objects: Sequence[Manifest]) -> list[Asked]:  # noqa: ARG001
    """Return requests to the servers of a world."""
    draw = Draw("nginx-servers-asked", seed, number)
    asked = []
    for _ in range(REQUESTS):
        scheme, method = draw.one("http", "https"), draw.one("GET", "GET", "GET", "POST", "OPTIONS")
        headers = draw.maybe(0.35, "x-canary", draw.one("yes", "no", "Yes", "YES"))
        headers |= draw.maybe(0.2, "cookie", draw.one("canary=yes", "a=b; canary=no"))
        headers |= draw.maybe(0.2, "x-forwarded-proto", draw.one("http", "https"))
        path = draw.of(_PATHS) + draw.one("", "", "", "/x", "x", "/x/", "y", "?v=1", "?w=2&v=yes")
        asked.append(
            {
                "scheme": scheme,
                "port": 443 if scheme == "https" else 80,
                "address": draw.of(_CLIENTS),
                "host": draw.of(_HOSTS),
                "method": method,
                "path": path.replace("//", "/"),
                "headers": headers,
                "with": draw.one("", "", "me", "you"),
                "twice": draw.often(0.2),
            }
        )
    return asked


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    by = f" with the password of {asked['with']}" if asked["with"] else ""
    return f"{asked['method']} {asked['scheme']}://{asked['host']}{asked['path']}{headers}{by} from {asked['address']}"


_MAIN = """user root; daemon off; worker_processes 1; error_log /etc/nginx/logs/error.log; pid /etc/nginx/nginx.pid;
events { worker_connections 512; }
http {
    access_log off;
    map $request_uri $request_uri_no_args { "~^(?P<path>[^?]*)(\\?.*)?$" $path; }
    map $http_upgrade $default_connection_header { default ""; }
    map $http_upgrade $vs_connection_header { default upgrade; '' $default_connection_header; }
    include /etc/nginx/conf.d/*.conf;
    server { listen 80 default_server; return 404; }
    server { listen 443 ssl default_server; ssl_reject_handshake on; }
    server { listen unix:/var/lib/nginx/nginx-502-server.sock; return 502; }
    server { listen unix:/var/lib/nginx/nginx-418-server.sock; return 418; }
}
"""
"""What the template of the image says, as far as it is about requests to these servers."""


class Asking(Controller):
    """The running controller, and the proxy that its configuration is for."""

    def __init__(self, program: Path, certificate: str, key: str, directory: Path) -> None:
        switches = {"WITNESS_SOURCE": str(SOURCE.resolve())}
        super().__init__(DIALECTS["nginx-gateway-fabric"]._replace(switches=switches), program, certificate, key)
        self._directory = directory

    def told(
        self,
        objects: Sequence[Manifest],
        fates: Sequence[Mapping[str, Any]],  # noqa: ARG002
        asked: Sequence[Asked],
        stubs: Stubs,
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get; all objects of these worlds are such that the API server takes them."""
        refused = ()
        answer = self.answer([self._encoded(each) for each in objects])
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        files = next(each["status"] for each in answer["statuses"] if each["kind"] == "Proxy")
        fixed = {"/etc/nginx/nginx.conf": _MAIN, "/etc/nginx/mime.types": ""}
        facts: Facts = {}
        with TemporaryDirectory(dir=self._directory) as place, Nginx(files, stubs, Path(place), fixed) as proxy:
            if proxy.refused:
                return {
                    "world | NGINX": proxy.refused.strip()
                    .splitlines()[-1]
                    .partition("emerg] ")[2]
                    .split(" ", 1)[1][:18]
                }, refused
            for number, one in enumerate(asked):
                facts |= _told(proxy, one, number)
        return facts, refused


def _told(proxy: Nginx, asked: Asked, number: int) -> Facts:
    name, asks = named(asked), _bearing(asked, number)
    answer, headers = proxy.exchange(asks, str(number))
    if answer in ("301", "302", "303", "307", "308"):
        to = urlsplit(headers.get("location", ""))
        there = f"{to.path}?{to.query}" if to.query else to.path
        port = next((port for port, own in proxy.listening.items() if own == to.port), to.port)
        return {f"{name} | answer": leads(answer, to.scheme, to.hostname or "", port, there)}
    facts = {f"{name} | answer": answer}
    if "x-got-path" in headers:
        facts[f"{name} | path"] = headers["x-got-path"]
        if asked["twice"]:
            again = [proxy.exchange(asks, str(number))[0] for _ in range(2)][-1]
            facts[f"{name} | limited"] = again if again == "429" else "no"
    return facts


def _bearing(asked: Asked, number: int) -> Asked:
    headers = dict(asked["headers"])
    if asked["twice"]:
        headers["x-once"] = f"{number}"
    if asked["with"]:
        headers["authorization"] = "Basic " + base64.b64encode(f"{asked['with']}:{asked['with']}".encode()).decode()
    return {**asked, "headers": headers}


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return what policylint says of the requests, as far as the proxy was asked."""
    simulation = simulated([each for each in objects if name_of(each) not in refused])
    if any("which NGINX has already" in each.does for each in rejected(simulation.world)):
        return {"world | NGINX": "duplicate location"}
    tracer = Tracer(simulation)
    told: Facts = {}
    for one in asked:
        ours, answer = _ours(tracer, one), f"{named(one)} | answer"
        ends_alike = real.get(answer) in ours[answer]
        for fact, values in ours.items():
            if fact in real:
                same = real[fact] in values or not (ends_alike or fact == answer)
                told[fact] = real[fact] if same else " or ".join(values)
    return told


def _ours(tracer: Tracer, asked: Asked) -> dict[str, list[str]]:
    fields = {name: value for name, value in asked.items() if name not in ("with", "twice")}
    trace = tracer.trace(request(fields))
    name, asking = named(asked), Requirements(tracer)
    told = {f"{name} | answer": _answers(trace, asking, asked)}
    limits = [mapping(met.spec.get("rateLimit")) for met in trace.policies]
    told[f"{name} | limited"] = [str(each.get("rejectCode", 503)) for each in limits if each] or ["no"]
    if trace.forwarded is not None:
        told[f"{name} | path"] = [trace.forwarded.path]
    return told


def _answers(trace: Trace, asking: Requirements, asked: Asked) -> list[str]:
    """Return what policylint says of a request."""
    outcome = trace.outcome
    if asked["scheme"] == "https" and any("clientCertificate" in met.spec for met in trace.policies):
        return ["400"]  # nothing is looked at of a request without a certificate
    demands = asking.of(trace, "authentication").demands
    refusals = [each for each in trace.judged if each.decision.answer == "denied" and not each.decision.direct]
    by_itself = [each for each in refusals if each.decision.pointer == ("answer",)]
    turned_away = [each for each in refusals if each not in by_itself]
    if turned_away:
        return [str(turned_away[0].decision.status)]
    for demand in demands:
        if demand.must and (demand.policy is None or demand.policy.name != asked["with"]):
            return ["401"]
    if by_itself and not (trace.rule and trace.rule.section.endswith(" else")):
        return [str(by_itself[0].decision.status)]
    if trace.depends or outcome.unknown:
        return ["depends"]
    if outcome.refused:
        return ["reset"]
    if outcome.redirect is not None:
        return [leads(str(outcome.redirect.status), *outcome.redirect[1:])]
    said = [f"200 {ADDRESSES.get(key.name, key.name)}" for key in outcome.backends]
    if outcome.status is not None:
        said.append(str(outcome.status))
    if trace.rule is None or trace.rule.section.endswith(" else"):
        # What the server asks first is not looked into of requests that nothing takes, nor which methods files take;
        # and a host without a certificate has no server where there is TLS.
        said += ["400", "401", "403", "405", "reset"]
    return said


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    asked = subprocess.run([str(PROGRAM), "-v"], capture_output=True, text=True, check=True)
    version = asked.stderr.rpartition("/")[2].strip()
    return {
        "title": "VirtualServers",
        "about": ABOUT,
        "versions": {"kubernetes-ingress": "0eb3072d1", "nginx": version},
    }
