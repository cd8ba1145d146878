"""The real Traefik, asked what its middlewares do: what it said stands in recorded/traefik-middlewares.json.

Each world is an IngressRoute of one rule with some Middlewares, alone or in a chain. Traefik's own constructors make
the handlers (traefik/main.go). Run `python -m tests.witness.traefik_middlewares` to renew the record.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.witness.programs import built
from tests.witness.traefik_rules import CLIENTS, Request
from tests.worlds import manifest

RECORD = Path(__file__).parent / "recorded" / "traefik-middlewares.json"
WORLDS, REQUESTS, SEED = 400, 16, 20261128
HOSTS = ("shop.example.com", "www.example.com")
PATHS = ("/", "/api", "/api/v1/x", "/old/page", "/old", "/apix", "/v22/a", "/Old/page")
REGEXES = (
    ("^https?://www.example.com/(.*)", "https://shop.example.com/${1}"),
    ("^http://shop.example.com/old/(.*)", "https://shop.example.com/new/$1"),
    ("^https?://www\\.(.+)", "https://${1}"),
    ("^https://shop\\.example\\.com/?$", "https://shop.example.com/home"),
    ("^https?://[^/]+/old$", "/new"),
    ("/old/(.*)", "/new/${1}"),
    ("^http://(.*)", "https://$1"),
    ("^(https?)://([^/]+)/api(.*)", "${1}://$2/v2$3"),
    ("^https?://(?:www\\.)?example\\.com/(.*)", "https://example.com/${1}"),
    ("^https?://shop.example.com(:[0-9]+)?/old(.*)", "https://shop.example.com/fresh$2"),
)
Middleware = Mapping[str, Mapping[str, Any]]


class World(NamedTuple):
    middlewares: tuple[Middleware, ...]
    in_chain: bool
    requests: tuple[Request, ...]


class Asked(NamedTuple):
    """A request, with the scheme at which it comes."""

    request: Request
    scheme: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.request.host}{self.request.path}"


def worlds(number: int = WORLDS, seed: int = SEED) -> Iterator[World]:
    """Yield worlds, always the same ones of a seed."""
    for index in range(number):
        chance = random.Random(seed + index)
        middlewares = tuple(_middleware(chance) for _ in range(chance.randint(1, 4)))
        yield World(middlewares, chance.random() < 0.3, tuple(_request(chance) for _ in range(REQUESTS)))


def _middleware(chance: random.Random) -> Middleware:
    pick, some = chance.choice, chance.random
    match pick(("scheme", "regex", "regex", "allow", "strip", "pattern", "add", "headers")):
        case "scheme":
            said: dict[str, Any] = {"scheme": pick(("https", "https", "http")), "permanent": some() < 0.5}
            return {"redirectScheme": said | ({"port": pick(("443", "8443", "80"))} if some() < 0.4 else {})}
        case "regex":
            regex, replacement = pick(REGEXES)
            return {"redirectRegex": {"regex": regex, "replacement": replacement, "permanent": some() < 0.5}}
        case "allow":
            return {"ipAllowList": {"sourceRange": pick((["10.0.0.0/8"], ["203.0.113.9", "192.168.0.0/16"]))}}
        case "strip":
            return {"stripPrefix": {"prefixes": pick((["/api"], ["/old", "/api"], ["/api/v1"]))}}
        case "pattern":
            return {"stripPrefixRegex": {"regex": [pick(("^/v[0-9]+", "/api/[a-z0-9]+", "^/(old|api)"))]}}
        case "add":
            return {"addPrefix": {"prefix": pick(("/pre", "/old"))}}
    if some() < 0.5:
        return {"headers": {"allowedHosts": [pick(HOSTS)]}}
    return {"headers": {"customRequestHeaders": {"X-Team": "shop"}}}


def _request(chance: random.Random) -> Request:
    path = chance.choice(PATHS) + (chance.choice(("?page=1", "?next=/old/x")) if chance.random() < 0.25 else "")
    return Request(chance.choice(("GET", "GET", "POST")), chance.choice(HOSTS), path, (), chance.choice(CLIENTS))


def questions(world: World) -> Iterator[Asked]:
    """Yield the requests, each over http and https in turn."""
    for number, request in enumerate(world.requests):
        yield Asked(request, "https" if number % 2 else "http")


def manifests(world: World) -> list[str]:
    """Return the IngressRoutes, one without TLS and one with, and their Middlewares."""
    names = [f"m{number}" for number in range(len(world.middlewares))]
    objects = [
        manifest("traefik.io/v1alpha1", "Middleware", name, "shop", f"spec: {json.dumps(said)}")
        for name, said in zip(names, world.middlewares, strict=True)
    ]
    if world.in_chain:
        members = ", ".join(f"{{name: {name}}}" for name in names)
        spec = f"spec: {{chain: {{middlewares: [{members}]}}}}"
        objects.append(manifest("traefik.io/v1alpha1", "Middleware", "all", "shop", spec))
    named = ", ".join(f"{{name: {name}}}" for name in (["all"] if world.in_chain else names))
    rule = f"{{match: 'PathPrefix(`/`)', kind: Rule, middlewares: [{named}], services: [{{name: b0, port: 80}}]}}"
    for name, more in (("web", "entryPoints: [web]"), ("websecure", "entryPoints: [websecure], tls: {}")):
        spec = f"spec: {{{more}, routes: [{rule}]}}"
        objects.append(manifest("traefik.io/v1alpha1", "IngressRoute", name, "shop", spec))
    return objects


def asked(program: Path, many: Sequence[World]) -> list[list[str]]:
    """Return what Traefik says of worlds: the path that the backend gets, or status and Location."""
    lines = "\n".join(json.dumps(_given(world)) for world in many)
    done = subprocess.run([str(program)], input=lines, capture_output=True, text=True, check=True)
    return [list(json.loads(line)["ends"]) for line in done.stdout.splitlines()]


def _given(world: World) -> Mapping[str, object]:
    requests = [
        {"method": each.request.method, "url": each.url, "headers": {}, "client": each.request.client}
        for each in questions(world)
    ]
    return {"rules": [{"rule": "PathPrefix(`/`)", "middlewares": world.middlewares}], "requests": requests}


def main() -> None:
    """Ask Traefik about all worlds, and write the record."""
    answers = asked(built("traefik"), [*worlds()])
    lines = ",\n".join(json.dumps(said) for said in answers)
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
