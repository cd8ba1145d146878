"""NGINX as a witness: what requests get from the proxy that NGINX Gateway Fabric sets up, and what `trace` says.

Every filter and policy leaves its own mark, so that what a request gets tells whose settings are in force.
"""

from __future__ import annotations

import base64
import re
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from policylint.model import mapping, value_at
from policylint.trace import Requirements, Trace, Tracer, request
from policylint.trace.filters import WELL_KNOWN
from tests.witness.api_server import parted
from tests.witness.envoy import Asked, Reached, Stubs, container, free
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import CERTIFICATE, GATEWAY_API, PRIVATE_KEY
from tests.witness.facts import Facts
from tests.witness.gateway_api import DIALECTS, Controller
from tests.witness.gateway_api import head as of_controller
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import CACHE, HERE

ABOUT = (
    "The real NGINX with the configuration that NGINX Gateway Fabric generates: which backend a request gets to, under"
    " which path and host, which status or redirect it gets, who is asked for a password, whose headers, CORS, and"
    " limits it gets, as `trace` has them."
)
NAME = "nginx-gateway-fabric"
REQUESTS = 40
"""Per world."""
OWN = "gateway.nginx.org"
PROGRAM = CACHE / "nginx" / "sbin" / "nginx"
SCRIPTS = HERE / "nginx_gateway_fabric" / "source" / "internal" / "controller" / "nginx"
ADDRESSES = {"cart": "10.0.0.1", "pay": "10.0.0.2", "login": "10.0.0.3"}
PORTS = {"web": 80, "alt": 8080, "more": 8082}
POLICIES = ("p1", "p2", "p3", "p4", "p5")
_PATHS = ("/", "/api", "/api/v1", "/cart", "/cart/a", "/apis", "/api.html")
_HOSTS = ("shop.example", "api.example", "a.shop.example")
_CALLS = ("/shop.Cart/Add", "/shop.Cart/Get", "/shop.Pay/Add")
_LARGE = 3000
"""Bytes of a large body; the limits of policies are one and eight kilobytes."""
_WAIT = 10.0


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world."""
    return _World(Draw("nginx-requests", seed, number)).objects


class _World:
    """What is made so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        parameters = {"group": OWN, "kind": "NginxProxy", "name": "nginx", "namespace": "infra"}
        of_class = {"controllerName": DIALECTS[NAME].controller, "parametersRef": parameters}
        self.objects = [
            manifest(f"{GATEWAY_API}/v1", "GatewayClass", "nginx", spec=of_class),
            manifest(f"{OWN}/v1alpha2", "NginxProxy", "nginx", "infra", spec={"ipFamily": "ipv4"}),
            manifest("v1", "Namespace", "infra"),
            manifest("v1", "Namespace", "shop"),
            *(
                manifest("v1", "Service", name, "shop", spec={"clusterIP": address, "ports": [{"port": 80}]})
                for name, address in ADDRESSES.items()
            ),
        ]
        for name in ("me", "you"):
            users = {"auth": f"{name}:{{PLAIN}}{name}\n"}
            self.objects.append(manifest("v1", "Secret", name, "shop", type="nginx.org/htpasswd", stringData=users))
            basic = {"secretRef": {"name": name}, "realm": name}
            spec = {"type": "Basic", "basic": basic}
            self.objects.append(manifest(f"{OWN}/v1alpha1", "AuthenticationFilter", name, "shop", spec=spec))
        self._gateway()
        self.routes = [self._route(name) for name in draw.some(("alpha", "beta", "gamma"), 3)]
        if draw.often(0.3):
            self._calls()
        for name in draw.some(POLICIES, 4, 0):
            self._policy(name)

    def _gateway(self) -> None:
        draw = self.draw
        every = {"namespaces": {"from": "All"}}
        listeners = [
            {"name": name, "port": PORTS[name], "protocol": "HTTP", "allowedRoutes": every}
            | draw.maybe(0.3, "hostname", draw.one("*.example", "shop.example"))
            for name in ("web", "alt")[: draw.number(1, 2)]
        ]
        if draw.often(0.4):
            listeners[0] |= {"protocol": "HTTPS", "port": 443, "tls": {"certificateRefs": [{"name": "cert"}]}}
            held = {"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY}
            self.objects.append(manifest("v1", "Secret", "cert", "infra", type="kubernetes.io/tls", stringData=held))
        if draw.often(0.4):
            first = {each: value for each, value in listeners[0].items() if each != "hostname"}
            listeners.append({**first, "name": "second", "hostname": draw.one("api.example", "*.shop.example")})
        spec: dict[str, Any] = {"gatewayClassName": "nginx", "listeners": listeners, "allowedListeners": every}
        self.objects.append(manifest(f"{GATEWAY_API}/v1", "Gateway", "edge", "infra", draw.age(), spec=spec))
        self.has_set = draw.often(0.3)
        if self.has_set:
            listener = {"name": "more", "port": PORTS["more"], "protocol": "HTTP", "allowedRoutes": every}
            spec = {"parentRef": {"name": "edge", "namespace": "infra"}, "listeners": [listener]}
            self.objects.append(manifest(f"{GATEWAY_API}/v1", "ListenerSet", "more", "shop", draw.age(), spec=spec))

    def _parents(self) -> list[dict[str, Any]]:
        draw = self.draw
        edge = {"name": "edge", "namespace": "infra"}
        parents: list[dict[str, Any]] = [edge | draw.maybe(0.25, "sectionName", draw.one("web", "alt", "second"))]
        if self.has_set and draw.often(0.7):
            parents.append({"group": GATEWAY_API, "kind": "ListenerSet", "name": "more"})
        return parents

    def _route(self, name: str) -> Manifest:
        draw = self.draw
        spec: dict[str, Any] = {"parentRefs": self._parents()}
        spec["rules"] = [self._rule(f"{name}-{number}") for number in range(draw.number(1, 3))]
        hosts = (*_HOSTS, "*.example", "*.shop.example")
        spec |= draw.maybe(0.6, "hostnames", draw.some(hosts, 2))
        made = manifest(f"{GATEWAY_API}/v1", "HTTPRoute", name, "shop", draw.age(), spec=spec)
        self.objects.append(made)
        return made

    def _calls(self) -> None:
        draw = self.draw
        rules: list[dict[str, Any]] = []
        for _ in range(draw.number(1, 2)):
            method = {"service": "shop.Cart", "method": draw.one("Add", "Get")}
            rule: dict[str, Any] = {"backendRefs": [{"name": draw.one("cart", "pay"), "port": 80}]}
            rules.append(rule | {"matches": [{"method": method} | self._headers(0.2)]})
        spec = {"parentRefs": self._parents(), "rules": rules, **draw.maybe(0.4, "hostnames", draw.some(_HOSTS, 1))}
        self.objects.append(manifest(f"{GATEWAY_API}/v1", "GRPCRoute", "calls", "shop", draw.age(), spec=spec))

    def _headers(self, chance: float) -> dict[str, Any]:
        draw = self.draw
        header = {"name": "x-canary", "value": draw.one("yes", "no")}
        header |= draw.maybe(0.3, "type", "RegularExpression") or {"type": "Exact"}
        return draw.maybe(chance, "headers", [header])

    def _match(self) -> dict[str, Any]:
        draw = self.draw
        kind = draw.one("PathPrefix", "PathPrefix", "Exact", "RegularExpression")
        value = draw.one("/api.*", "/(cart|api)", "/c[a-z]+/a") if kind == "RegularExpression" else draw.of(_PATHS)
        if kind == "PathPrefix" and draw.often(0.2) and value != "/":
            value += "/"
        match: dict[str, Any] = draw.maybe(0.9, "path", {"type": kind, "value": value})
        match |= draw.maybe(0.2, "method", draw.one("GET", "POST")) | self._headers(0.2)
        query = {"name": "v", "value": draw.one("1", "2")} | draw.maybe(0.3, "type", "RegularExpression")
        return match | draw.maybe(0.15, "queryParams", [query])

    def _rule(self, mark: str) -> dict[str, Any]:
        draw = self.draw
        rule: dict[str, Any] = draw.maybe(0.95, "matches", [self._match() for _ in range(draw.one(1, 1, 2))])
        matches = rule.get("matches", [{}])
        is_prefix = len(matches) == 1 and matches[0].get("path", {}).get("type") == "PathPrefix"
        filters = [each for each in self._filters(mark, is_prefix=is_prefix) if draw.often(0.18)]
        kinds = [each["type"] for each in filters]
        if "RequestRedirect" in kinds:
            return rule | {"filters": [each for each in filters if each["type"] != "URLRewrite"]}
        backends = [{"name": draw.one(*ADDRESSES, *ADDRESSES, "gone"), "port": 80}]
        if draw.often(0.1):
            backends.append({"name": draw.of(list(ADDRESSES)), "port": 80, "weight": draw.one(0, 1)})
        rule |= draw.maybe(0.95, "backendRefs", backends)
        return rule | ({"filters": filters} if filters else {})

    def _filters(self, mark: str, *, is_prefix: bool) -> list[dict[str, Any]]:
        draw = self.draw
        path = {"type": "ReplaceFullPath", "replaceFullPath": draw.one("/new", "/")}
        if is_prefix and draw.often(0.6):
            path = {"type": "ReplacePrefixMatch", "replacePrefixMatch": draw.one("/new", "/", "/new/")}
        redirect = draw.maybe(0.5, "hostname", "other.example") | draw.maybe(0.5, "path", path)
        redirect |= draw.maybe(0.4, "scheme", draw.one("http", "https")) | draw.maybe(0.3, "port", draw.one(80, 8443))
        redirect |= draw.maybe(0.5, "statusCode", draw.one(301, 302, 307, 308))
        rewrite = draw.maybe(0.4, "hostname", "inner.example") or {}
        rewrite |= draw.maybe(0.8, "path", path)
        login = {"group": OWN, "kind": "AuthenticationFilter", "name": draw.one("me", "you", "me", "you", "gone")}
        site = {"allowOrigins": [f"https://{mark}.example"], **draw.maybe(0.3, "allowCredentials", True)}
        header = [{"name": f"x-by-{mark}", "value": "1"}]
        asked = draw.one({"set": header}, {"add": header}, {"remove": ["x-by-client"]})
        return [
            {"type": "RequestRedirect", "requestRedirect": redirect},
            {"type": "URLRewrite", "urlRewrite": rewrite or {"hostname": "inner.example"}},
            {"type": "ExtensionRef", "extensionRef": login},
            {"type": "ExtensionRef", "extensionRef": login},
            {"type": "CORS", "cors": site},
            {"type": "ResponseHeaderModifier", "responseHeaderModifier": draw.one({"set": header}, {"add": header})},
            {"type": "RequestHeaderModifier", "requestHeaderModifier": asked},
        ]

    def _policy(self, name: str) -> None:
        draw = self.draw
        routes = [each for each in self.objects if each["kind"].endswith("Route")]
        of_routes = [(each["kind"], each["metadata"]["name"]) for each in routes]
        namespace, (kind, target) = draw.one(("infra", ("Gateway", "edge")), ("shop", draw.of(of_routes)))
        reference = {"group": GATEWAY_API, "kind": kind, "name": target}
        spec: dict[str, Any]
        if draw.often(0.5):
            own, size = "ClientSettingsPolicy", draw.one("1k", "8k", "0")
            spec = {"targetRef": reference, "body": {"maxSize": size} | draw.maybe(0.2, "timeout", "9s")}
        else:
            own = "RateLimitPolicy"
            rule = {"rate": "1r/m", "key": "$http_x_once"} | draw.maybe(0.2, "burst", 1)
            limits = {"local": {"rules": [rule]}} | draw.maybe(0.5, "rejectCode", draw.one(429, 503))
            limits |= draw.maybe(0.1, "dryRun", True)
            spec = {"targetRefs": [reference], "rateLimit": limits}
        self.objects.append(manifest(f"{OWN}/v1alpha1", own, name, namespace, draw.age(), spec=spec))


def requests(seed: object, number: int, objects: Sequence[Manifest]) -> list[Asked]:
    """Return requests to the Gateway of a world."""
    draw = Draw("nginx-asked", seed, number)
    listeners = [each for one in objects for each in one.get("spec", {}).get("listeners", ())]
    sites = [mapping(each.get("cors")) for one in objects for each in _filters_of(one)]
    origins = [origin for each in sites for origin in each.get("allowOrigins", ())]
    has_calls = any(each["kind"] == "GRPCRoute" for each in objects)
    asked = []
    for _ in range(REQUESTS):
        listener, method = draw.of(listeners), draw.one("GET", "GET", "POST")
        headers = draw.maybe(0.3, "x-canary", draw.one("yes", "no", "yes-no"))
        headers |= draw.maybe(0.3, "origin", draw.of([*origins, "https://else.example"]))
        headers |= draw.maybe(0.2, "x-by-client", "1")
        path = draw.of(_PATHS) + draw.one("", "", "", "/x", "/", "?v=1", "?w=2&v=2", "?v=12")
        if has_calls and draw.often(0.3):
            path, method = draw.of(_CALLS), "POST"
            headers |= {"content-type": "application/grpc"}
        large = method == "POST" and draw.often(0.4)
        asked.append(
            {
                "gateway": "infra/edge",
                "scheme": listener["protocol"].lower(),
                "port": listener["port"],
                "address": "127.0.0.2",
                "host": draw.of(_HOSTS),
                "method": method,
                "path": path.replace("//", "/"),
                "headers": headers,
                "with": draw.one("", "", "me", "you"),
                "large": large,
                "twice": draw.often(0.25),
            }
        )
    return asked


def _filters_of(route: Manifest) -> list[dict[str, Any]]:
    return [each for rule in route.get("spec", {}).get("rules", ()) for each in rule.get("filters", ())]


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    by = f" with the password of {asked['with']}" if asked["with"] else ""
    size = " large" if asked["large"] else ""
    scheme = f"{asked['scheme']}://"
    return f"{asked['method']} {scheme}{asked['host']}:{asked['port']}{asked['path']}{headers}{by}{size}"


class Nginx(Reached):
    """A running NGINX with the files that a Gateway's gets; a context manager."""

    def __init__(
        self, files: Mapping[str, str], stubs: Stubs, place: Path, fixed: Mapping[str, str] | None = None
    ) -> None:
        self._place = place
        self.listening = ports = {port: free() for port in sorted(_ports({**(fixed or {}), **files}))}
        super().__init__(stubs, {("TCP", container(port)): own for port, own in ports.items()})
        for name, text in {**(_fixed() if fixed is None else fixed), **files}.items():
            own = self._moved(name)
            file = Path(own)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._moved(self._local(text, ports)) if own.endswith(".conf") else text)
        for folder in ("main-includes", "events-includes", "conf.d", "stream-conf.d", "logs"):
            (place / folder).mkdir(exist_ok=True)
        command = [str(PROGRAM), "-p", str(place), "-c", str(place / "nginx.conf"), "-e", str(place / "start.log")]
        self._started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.refused = self._settled([own for port, own in ports.items() if port != _READY])

    def _moved(self, text: str) -> str:
        """Return a text with the folders of a pod below the place."""
        for folder in ("/etc/nginx", "/var/run/nginx", "/var/lib/nginx"):
            text = text.replace(folder, str(self._place))
        return text

    def _local(self, text: str, ports: Mapping[int, int]) -> str:
        """Return a configuration that listens on loopback, and speaks to stubs there."""

        def stub(found: re.Match[str]) -> str:
            address, port = self._stubs.place(found[1], int(found[2]))
            return f"server {address}:{port}"

        text = re.sub(r"listen (\d+)", lambda found: f"listen 127.0.0.1:{ports[int(found[1])]}", text)
        text = re.sub(r"server (10\.[\d.]+):(\d+)", stub, text)
        # A stub speaks no HTTP/2, which a call is not told by: what gets there counts.
        text = text.replace("grpc_pass grpc://", "proxy_pass http://").replace("grpc_set_header", "proxy_set_header")
        return text.replace("error_log stderr", "error_log error.log")

    def _settled(self, ports: Sequence[int]) -> str:
        """Wait until it serves; return why it does not take its configuration, "" where it does."""
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            if self._started.poll() is not None:
                return (self._place / "start.log").read_text()[-2000:] or "it ended"
            for port in ports:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)):
                        break
            else:
                return ""
            time.sleep(0.02)
        return "it did not become ready"

    def __enter__(self) -> Nginx:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.terminate()
        self._started.wait()


_READY = 8081
"""Where the probe of the pod asks."""


def _ports(files: Mapping[str, str]) -> set[int]:
    return {int(port) for text in files.values() for port in re.findall(r"listen (\d+)", text)}


def _fixed() -> dict[str, str]:
    """Return the files of the image: the configuration that includes the others, and the scripts."""
    main = (SCRIPTS / "conf" / "nginx.conf").read_text()
    main = main.replace("load_module modules/ngx_http_js_module.so;", "user root; daemon off;")
    modules = SCRIPTS / "modules" / "src"
    main = main.replace("modules/njs/", f"{modules}/").replace("/dev/stdout", "stream.log")
    made = {"/etc/nginx/nginx.conf": main, "/etc/nginx/mime.types": "types { text/html html; }\n"}
    for name in ("grpc-error-locations.conf", "grpc-error-pages.conf"):
        made[f"/etc/nginx/{name}"] = (SCRIPTS / "conf" / name).read_text()
    return made


class Asking(Controller):
    """The running controller, and the proxy that its configuration is for."""

    def __init__(self, program: Path, certificate: str, key: str, directory: Path) -> None:
        super().__init__(DIALECTS[NAME]._replace(switches={"WITNESS_PROXIES": "yes"}), program, certificate, key)
        self._directory = directory

    def told(
        self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]], asked: Sequence[Asked], stubs: Stubs
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get, and the objects that the API server refuses."""
        stored, refused = parted(objects, fates)
        answer = self.answer([self._encoded(each) for each in stored])
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        made = [each["status"] for each in answer["statuses"] if each["kind"] == "Proxy"]
        if not made:
            return {f"{named(one)} | answer": "reset" for one in asked}, refused
        facts: Facts = {}
        with TemporaryDirectory(dir=self._directory) as place, Nginx(made[0], stubs, Path(place)) as proxy:
            if proxy.refused:
                return {"| NGINX": proxy.refused.strip().splitlines()[-1]}, refused
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
    if answer.startswith("200 "):
        facts[f"{name} | path"] = headers["x-got-path"]
        facts[f"{name} | host"] = headers["x-got-host"]
        facts[f"{name} | headers"] = _marks(headers, "x-by-")
        facts[f"{name} | to the backend"] = _marks(headers, "x-got-x-by-")
        if "origin" in asked["headers"]:
            facts[f"{name} | cors"] = "yes" if "access-control-allow-origin" in headers else "no"
        if asked["twice"]:
            again = [proxy.exchange(asks, str(number))[0] for _ in range(2)][-1]
            facts[f"{name} | limited"] = again if again in ("429", "503") else "no"
    return facts


def leads(status: str, scheme: str, host: str, port: int | None, path: str) -> str:
    """Return where a redirect leads, as a fact says it."""
    return f"{status} {scheme}://{host}:{port or WELL_KNOWN.get(scheme)}{path}"


def _marks(headers: Mapping[str, str], before: str) -> str:
    return " ".join(sorted(name.removeprefix(before) for name in headers if name.startswith(before))) or "-"


def _bearing(asked: Asked, number: int) -> Asked:
    headers = dict(asked["headers"])
    if asked["twice"]:
        headers["x-once"] = f"{number}"
    if asked["with"]:
        headers["authorization"] = "Basic " + base64.b64encode(f"{asked['with']}:{asked['with']}".encode()).decode()
    return {**asked, "headers": headers, "body": "x" * _LARGE if asked["large"] else ""}


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return what policylint says of the requests, as far as the proxy was asked."""
    tracer = Tracer(simulated([each for each in objects if name_of(each) not in refused]))
    told: Facts = {}
    for one in asked:
        ours, answer = _ours(tracer, one), f"{named(one)} | answer"
        ends_alike = real.get(answer) in ours[answer]
        for fact, values in ours.items():
            if fact in real:
                # What else is said of a request that ends elsewhere is no difference of its own.
                same = real[fact] in values or not (ends_alike or fact == answer)
                told[fact] = real[fact] if same else " or ".join(values)
    return told


def _ours(tracer: Tracer, asked: Asked) -> dict[str, list[str]]:
    fields = {name: value for name, value in asked.items() if name not in ("with", "large", "twice")}
    if asked["headers"].get("content-type") == "application/grpc":
        fields["protocol"] = "grpc"
    trace = tracer.trace(request(fields))
    name, asking = named(asked), Requirements(tracer)
    told = {f"{name} | answer": _answers(trace, asking, asked)}
    origin = asked["headers"].get("origin", "")
    told[f"{name} | cors"] = ["yes" if origin in _origins(trace) else "no"]
    told[f"{name} | limited"] = _limits(trace, asking)
    if trace.forwarded is not None:
        got = trace.forwarded
        told[f"{name} | path"] = [got.path]
        told[f"{name} | host"] = [got.host]
        told[f"{name} | to the backend"] = [_marks(got.headers, "x-by-")]
    told[f"{name} | headers"] = [_marks(trace.response, "x-by-")]
    return told


def _limits(trace: Trace, asking: Requirements) -> list[str]:
    said = []
    for met in trace.policies:
        limit = mapping(met.spec.get("rateLimit"))
        if limit and not limit.get("dryRun") and asking.of(trace, "rateLimit").demands:
            said.append(str(limit.get("rejectCode", 503)))
    return said or ["no"]


def _rule_of(trace: Trace) -> Mapping[str, Any]:
    return mapping(value_at(trace.route.body, trace.rule_pointer[:3])) if trace.route is not None else {}


def _origins(trace: Trace) -> set[str]:
    filters = _rule_of(trace).get("filters", ())
    return {origin for each in filters for origin in mapping(each.get("cors")).get("allowOrigins", ())}


def _answers(trace: Trace, asking: Requirements, asked: Asked) -> list[str]:
    """Return what policylint says of a request."""
    outcome, said = trace.outcome, []
    for demand in asking.of(trace, "authentication").demands:
        if demand.must and (demand.policy is None or demand.policy.name != asked["with"]):
            said.append("401")
    if asked["large"] and any(mapping(met.spec.get("body")).get("maxSize") == "1k" for met in trace.policies):
        said.append("413")
    if said:  # who is turned away may get an error before
        return [*said, "500"] if outcome.status == 500 or outcome.failing else said
    if trace.denied:
        return ["403"]
    if trace.depends or outcome.unknown:
        return ["depends"]
    if outcome.refused:
        return ["reset"]
    if outcome.redirect is not None:
        return [leads(str(outcome.redirect.status), *outcome.redirect[1:])]
    said = [f"200 {ADDRESSES.get(key.name, key.name)}" for key in outcome.backends]
    if outcome.failing:
        said.append("500")
    if outcome.status is not None:
        said.append(str(outcome.status))
    if asked["large"] and trace.rule is None:
        said.append("413")  # of requests that no rule takes nobody asks which limit they meet
    return said


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    asked = subprocess.run([str(PROGRAM), "-v"], capture_output=True, text=True, check=True)
    version = asked.stderr.rpartition("/")[2].strip()
    versions = of_controller(NAME)["versions"] | {"nginx": version}
    return {"title": "NGINX", "about": ABOUT, "versions": versions}
