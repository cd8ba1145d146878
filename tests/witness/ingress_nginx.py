"""The real NGINX, asked about worlds of Ingresses: what it answers stands in recorded/ingress-nginx.json.

The configuration is written here from what the documentation of ingress-nginx and of NGINX say of annotations: one
server for each world, told apart by its host. NGINX decides which location takes a request, in which order it is
redirected, turned away and asked for a login. Run `python -m tests.witness.ingress_nginx` to renew the record; it needs
Debian's nginx with its module for Lua, and openssl, and talks to loopback alone.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.doors.asking import ingress

RECORD = Path(__file__).parent / "recorded" / "ingress-nginx.json"
MODULES = Path("/usr/lib/nginx/modules")
WORLDS = 250
SEED = 20261128
OFFICE, OUTSIDE = "127.0.0.9", "127.9.9.9"
"""Addresses of loopback that clients have: lists let in, or keep out, 127.0.0.0/16 or one of them."""
PATHS = ("/", "/api", "/api/", "/api/v1", "/shop", "/.well-known/acme-challenge", "/Admin", "/a[bp]i", "/api/v[0-9]+")
ASKED = (
    "/", "/api", "/api/", "/apix", "/API", "/api/v1", "/api/v1/x", "/api/v22", "/shop", "/shop/1", "/Admin", "/admin/x",
    "/.well-known/acme-challenge/t", "/abi",
)  # fmt: skip
REWRITES = ("/", "/new")


class Entry(NamedTuple):
    """One Ingress of a world, with one path."""

    name: str
    path: str
    kind: str
    backend: str
    annotations: Mapping[str, str]
    tls: bool


class Question(NamedTuple):
    """A request, and whether it comes with what a login wants."""

    scheme: str
    path: str
    client: str


World = list[Entry]


def worlds(number: int = WORLDS) -> Iterator[tuple[str, World]]:
    """Yield hosts with their Ingresses, always the same ones."""
    for index in range(number):
        yield f"w{index}.example.com", list(_world(random.Random(SEED + index)))


def _world(chance: random.Random) -> Iterator[Entry]:
    tls = chance.random() < 0.5
    patterns = chance.random() < 0.35
    paths = [path for path in PATHS if patterns or "[" not in path]
    taken = set()
    for number in range(chance.randint(1, 3)):
        path = chance.choice(paths)
        kind = chance.choice(("Prefix", "Prefix", "Exact", "ImplementationSpecific"))
        kind = "ImplementationSpecific" if "[" in path else kind
        place = path.rstrip("/"), kind == "Exact"
        if place in taken:  # two locations of one name are no configuration
            continue
        taken.add(place)
        annotations = dict(_annotations(chance))
        if "[" in path:
            annotations["use_regex"] = "true"
        yield Entry(f"i{number}", path, kind, chance.choice(("web", "next")), annotations, tls)


def _annotations(chance: random.Random) -> Iterator[tuple[str, str]]:
    some = chance.random
    if some() < 0.3:
        yield "auth_url", "http://sso.invalid/auth"
    elif some() < 0.3:
        yield "auth_type", "basic"
        if some() < 0.85:
            yield "auth_secret", "users"
    if some() < 0.3:
        yield "whitelist_source_range", chance.choice(("127.0.0.0/16", "127.9.0.0/16, 127.0.0.9"))
    if some() < 0.2:
        yield "denylist_source_range", chance.choice(("127.9.0.0/16", "127.0.0.9"))
    if some() < 0.25:
        yield "satisfy", chance.choice(("any", "all"))
    if some() < 0.2:
        yield "ssl_redirect", chance.choice(("true", "false"))
    if some() < 0.1:
        yield "force_ssl_redirect", "true"
    if some() < 0.12:
        yield "permanent_redirect", "https://new.example.com/there"
    if some() < 0.15:
        yield "use_regex", "true"
    if some() < 0.15:
        yield "rewrite_target", chance.choice(REWRITES)
    if some() < 0.1:
        yield "app_root", "/shop"


def manifests(host: str, world: World) -> list[str]:
    """Return the Ingresses as YAML."""
    return [
        ingress(each.name, f"{each.path} {each.kind} {each.backend}", host, tls=each.tls, **each.annotations)
        for each in world
    ]


def questions() -> Iterator[Question]:
    for scheme in ("http", "https"):
        for path in ASKED:
            for client in (OFFICE, OUTSIDE):
                yield Question(scheme, path, client)


class _Location(NamedTuple):
    entry: Entry
    path: str
    kind: str


def _locations(world: World) -> list[_Location]:
    """Return the locations of a server: ImplementationSpecific is Prefix, and a prefix that is no expression has two.

    One of them is exact; the first Ingress that has a path of a type keeps it.
    """
    stated: dict[tuple[str, str], Entry] = {}
    for each in world:
        stated.setdefault((each.path, "Exact" if each.kind == "Exact" else "Prefix"), each)
    found = []
    for (path, kind), each in stated.items():
        if kind == "Exact" or path == "/" or _is_expression(each):
            found.append(_Location(each, path, kind))
            continue
        found.append(_Location(each, f"{path.rstrip('/')}/", "Prefix"))
        if (path, "Exact") not in stated:
            found.append(_Location(each, path, "Exact"))
    found.sort(key=lambda at: at.path, reverse=True)
    return sorted(found, key=lambda at: len(at.path), reverse=True)


def _is_expression(entry: Entry) -> bool:
    return entry.annotations.get("use_regex") == "true" or _rewrites(entry)


def _rewrites(entry: Entry) -> bool:
    return entry.annotations.get("rewrite_target", entry.path) != entry.path


def configuration(folder: Path, ports: Mapping[str, int]) -> str:
    """Return the configuration of NGINX for all worlds."""
    servers = "\n".join(_server(host, world, folder, ports) for host, world in worlds())
    backends = "\n".join(
        f"  server {{ listen 127.0.0.1:{ports[name]}; location / {{ return 200 '{name} $request_uri'; }} }}"
        for name in ("web", "next")
    )
    return f"""\
load_module {MODULES}/ndk_http_module.so;
load_module {MODULES}/ngx_http_lua_module.so;
pid {folder}/nginx.pid;
{"user root;" if os.geteuid() == 0 else ""}
error_log {folder}/error.log error;
daemon off;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off;
  port_in_redirect off;
  server_names_hash_max_size 4096;
  server_names_hash_bucket_size 128;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  ssl_certificate {folder}/cert.pem;
  ssl_certificate_key {folder}/key.pem;
{backends}
  server {{ listen 127.0.0.1:{ports["sso"]}; location / {{
    if ($http_x_pass = "yes") {{ return 204; }}
    return 401; }} }}
{servers}
}}
"""


def _server(host: str, world: World, folder: Path, ports: Mapping[str, int]) -> str:
    secured = any(each.tls for each in world)
    forced = any(map(_is_expression, world))
    locations = _locations(world)
    lines = [
        f"  server {{ server_name {host};",
        f"    listen 127.0.0.1:{ports['http']};",
        f"    listen 127.0.0.1:{ports['https']} ssl;",
    ]
    roots = [at.entry.annotations["app_root"] for at in locations if "app_root" in at.entry.annotations]
    lines += [f"    if ($uri = /) {{ return 302 $scheme://$http_host{root}; }}" for root in roots]
    for number, at in enumerate(locations):
        if forced:
            modifier = f'~* "^{at.path}"'
        else:
            modifier = f"= {at.path}" if at.kind == "Exact" else at.path
        lines += [*_authoriser(number, at, ports), f"    location {modifier} {{", *_body(number, at, folder, secured)]
        lines += [*_proxied(at, ports), "    }"]
    if not any(at.path == "/" and at.kind == "Prefix" for at in locations):
        lines.append("    location " + ('~* "^/"' if forced else "/") + " { return 404; }")
    return "\n".join([*lines, "  }"])


def _authoriser(number: int, at: _Location, ports: Mapping[str, int]) -> Iterator[str]:
    if "auth_url" in at.entry.annotations:
        yield f"    location = /_external-auth-{number} {{ internal; proxy_pass_request_body off;"
        yield f'      proxy_set_header Content-Length ""; proxy_pass http://127.0.0.1:{ports["sso"]}; }}'


def _body(number: int, at: _Location, folder: Path, secured: bool) -> Iterator[str]:
    """Yield what decides in a location, in the order of the template; the phases of NGINX order it anew."""
    notes = at.entry.annotations
    challenge = at.path.startswith("/.well-known/acme-challenge")
    wanted = notes.get("force_ssl_redirect") == "true" or (secured and notes.get("ssl_redirect") != "false")
    if wanted and not challenge:
        target = '"https://" .. ngx.var.host .. ngx.var.request_uri'
        yield f'      rewrite_by_lua_block {{ if ngx.var.scheme == "http" then ngx.redirect({target}, 308) end }}'
    if notes.get("auth_type") and not notes.get("auth_secret"):
        yield "      return 503;"
        return
    yield f"      satisfy {notes.get('satisfy', 'all')};"
    for network in filter(None, notes.get("denylist_source_range", "").split(", ")):
        yield f"      deny {network};"
    allowed = [*filter(None, notes.get("whitelist_source_range", "").split(", "))]
    yield from (f"      allow {network};" for network in allowed)
    if allowed:
        yield "      deny all;"
    if not challenge:
        if "auth_url" in notes:
            yield f"      auth_request /_external-auth-{number};"
        if "auth_secret" in notes and notes.get("auth_type"):
            yield f'      auth_basic "login"; auth_basic_user_file {folder}/users;'
    if url := notes.get("permanent_redirect"):
        yield f"      return 301 {url};"


def _proxied(at: _Location, ports: Mapping[str, int]) -> Iterator[str]:
    if at.entry.annotations.get("auth_type") and not at.entry.annotations.get("auth_secret"):
        return  # a location that is closed is led nowhere
    if _rewrites(at.entry):
        yield f'      rewrite "(?i){at.path}" {at.entry.annotations["rewrite_target"]} break;'
    yield f"      proxy_pass http://127.0.0.1:{ports[at.entry.backend]};"


class Nginx:
    """NGINX with all worlds, while the context lasts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE
        self.ports = dict(zip(("http", "https", "web", "next", "sso"), _free(5), strict=True))

    def __enter__(self) -> Nginx:
        folder = self._folder
        subject = ["-subj", "/CN=example.com", "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
        _run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject)
        (folder / "users").write_text("user:{PLAIN}secret\n", encoding="utf-8")
        (folder / "nginx.conf").write_text(configuration(folder, self.ports), encoding="utf-8")
        command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "start.log")]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE)
        for _ in range(100):
            if self._process.poll() is not None:
                raise RuntimeError((folder / "start.log").read_text(encoding="utf-8"))
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.ports["http"])) == 0:
                    return self
            time.sleep(0.1)
        raise RuntimeError("nginx does not answer")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)

    def answer(self, host: str, question: Question, *, with_login: bool) -> tuple[int, str, str]:
        """Return status, where a redirect leads, and which backend got which path."""
        source = (question.client, 0)
        port = self.ports[question.scheme]
        if question.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                "127.0.0.1", port, timeout=20, source_address=source, context=self._context
            )
        else:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=source)
        headers = {"Host": host}
        if with_login:
            headers |= {"X-Pass": "yes", "Authorization": "Basic dXNlcjpzZWNyZXQ="}
        connection.request("GET", question.path, headers=headers)
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        return response.status, response.getheader("Location", ""), content if response.status == 200 else ""


def _free(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def is_there() -> bool:
    """Tell whether everything is there to ask NGINX."""
    lua = MODULES / "ngx_http_lua_module.so"
    return all(map(shutil.which, ("nginx", "openssl"))) and lua.exists() and os.name == "posix"


def facts(nginx: Nginx, host: str) -> list[str]:
    """Return what NGINX answers each question, as `end` or `end, login`."""
    return [told(nginx, host, question) for question in questions()]


def told(nginx: Nginx, host: str, question: Question) -> str:
    bare = nginx.answer(host, question, with_login=False)
    known = nginx.answer(host, question, with_login=True)
    status, location, content = known
    end = content.split(" ")[0] if status == 200 else f"{status} {location}".strip()
    return f"{end}, login" if bare[0] == 401 and status == 200 else end


def main() -> None:
    """Ask NGINX about all worlds, and write the record."""
    with tempfile.TemporaryDirectory() as folder, Nginx(Path(folder)) as nginx:
        answers = {host: facts(nginx, host) for host, _ in worlds()}
    lines = ",\n".join(f"{json.dumps(host)}: {json.dumps(said)}" for host, said in answers.items())
    RECORD.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
