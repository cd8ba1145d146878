"""The real Traefik, asked about worlds of IngressRoutes: which rule takes a request stands in recorded/traefik.json.

Its own muxer reads the rules, orders them by priority and matches requests (traefik/main.go, built with Go from the
module that go.mod pins). Run `python -m tests.witness.traefik_rules` to renew the record.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.witness.programs import built
from tests.worlds import manifest

RECORD = Path(__file__).parent / "recorded" / "traefik.json"
WORLDS, REQUESTS, SEED = 300, 24, 20261128
NONE, BROKEN = "404", "refused"
HOSTS = ("shop.example.com", "api.example.com", "*.example.com", "Shop.example.com", "app.example.com")
PATHS = ("/", "/api", "/api/", "/api/v1", "/admin", "/index.php")
PATTERNS = ("^/api/.*", "/v[0-9]+", "^/(api|admin)$", "\\\\.php$", "^/api", "(?i)^/ADMIN", "/api/v1|/admin")
VALUES = ("1", "yes", "2x")
HEADER_PATTERNS = ("^(1|2)$", "yes", "^[0-9]+")
HOST_PATTERNS = ("^[a-z]+\\\\.example\\\\.com$", "^api\\\\.", "example")
ASKED_HOSTS = ("shop.example.com", "api.example.com", "other.example.com", "app.example.com", "example.org")
ASKED_PATHS = ("/", "/api", "/api/", "/apix", "/api/v1", "/api/v1/x", "/admin", "/Admin", "/index.php", "/v22", "/x")
CLIENTS = ("10.0.0.9", "203.0.113.9")


class Rule(NamedTuple):
    """One route of an IngressRoute; the priority 0 is the length of the rule."""

    written: str
    syntax: str
    priority: int

    @property
    def rank(self) -> int:
        return self.priority or len(self.written)


class Request(NamedTuple):
    method: str
    host: str
    path: str
    headers: tuple[tuple[str, str], ...]
    client: str

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


class World(NamedTuple):
    rules: tuple[Rule, ...]
    requests: tuple[Request, ...]


def worlds(number: int = WORLDS, seed: int = SEED) -> Iterator[World]:
    """Yield worlds, always the same ones of a seed."""
    for index in range(number):
        chance = random.Random(seed + index)
        yield World(tuple(_rules(chance)), tuple(_request(chance) for _ in range(REQUESTS)))


def _rules(chance: random.Random) -> Iterator[Rule]:
    syntax = "v2" if chance.random() < 0.25 else "v3"
    ranks: set[int] = set()
    for _ in range(chance.randint(1, 5)):
        rule = Rule(_tree(chance, syntax, 2), syntax, chance.randint(1, 90) if chance.random() < 0.2 else 0)
        while rule.rank in ranks:  # which of two alike comes first is chance
            rule = rule._replace(priority=rule.rank + 1)
        ranks.add(rule.rank)
        yield rule


def _tree(chance: random.Random, syntax: str, depth: int) -> str:
    some = chance.random()
    if depth and some < 0.55:
        parts = [_tree(chance, syntax, depth - 1) for _ in range(2)]
        parts = [f"({part})" if "||" in part else part for part in parts]
        return " && ".join(parts)
    if depth and some < 0.7:
        return " || ".join(_tree(chance, syntax, depth - 1) for _ in range(2))
    if depth and some < 0.75:
        return f"!{_leaf(chance, syntax)}"
    return _leaf(chance, syntax)


def _leaf(chance: random.Random, syntax: str) -> str:
    pick = chance.choice
    kinds = ("Host", "Host", "Host", "PathPrefix", "PathPrefix", "Path", "Method", "Header", "Query", "Pattern")
    kind = pick(kinds)
    older = syntax == "v2"
    match kind:
        case "Host":
            names = [pick(HOSTS[:2])] if older else [pick(HOSTS)]
            return f"Host({', '.join(f'`{name}`' for name in names + [HOSTS[0]] * (older and chance.random() < 0.3))})"
        case "PathPrefix" | "Path":
            return f"{kind}(`{pick(PATHS)}`)"
        case "Method":
            return f"Method(`{pick(('GET', 'POST'))}`)" if not older else "Method(`GET`, `POST`)"
        case "Header":
            return f"{'Headers' if older else 'Header'}(`X-Canary`, `{pick(VALUES)}`)"
        case "Query":
            return f"Query(`page={pick(VALUES)}`)" if older else f"Query(`page`, `{pick(VALUES)}`)"
    further = pick(("path", "header", "client", "host", "query"))
    match further:
        case "path" if older:
            return "PathPrefix(`/api/{name:v[0-9]+}`)"
        case "path":
            return f'PathRegexp("{pick(PATTERNS)}")'
        case "header":
            return f"{'HeadersRegexp' if older else 'HeaderRegexp'}(`X-Canary`, `{pick(HEADER_PATTERNS)}`)"
        case "client":
            return f"ClientIP(`{pick(('10.0.0.0/8', '203.0.113.9'))}`)"
        case "query" if not older:
            return pick(("Query(`page`)", "QueryRegexp(`page`, `^[0-9]+$`)"))
    return "HostRegexp(`{name:[a-z]+}.example.com`)" if older else f'HostRegexp("{pick(HOST_PATTERNS)}")'


def _request(chance: random.Random) -> Request:
    pick, some = chance.choice, chance.random
    path = pick(ASKED_PATHS)
    if some() < 0.4:
        path += pick(("?page=1", "?page=yes", "?page=", "?other=1"))
    headers = (("X-Canary", pick(VALUES)),) if some() < 0.4 else ()
    return Request("POST" if some() < 0.25 else "GET", pick(ASKED_HOSTS), path, headers, pick(CLIENTS))


def manifests(world: World) -> list[str]:
    """Return the IngressRoutes as YAML: rules of even numbers in one, each other one in its own."""
    found = []
    shared: list[str] = []
    for number, rule in enumerate(world.rules):
        fields = [f"match: {json.dumps(rule.written)}", "kind: Rule", f"services: [{{name: b{number}, port: 80}}]"]
        fields += [f"priority: {rule.priority}"] if rule.priority else []
        fields += ["syntax: v2"] if rule.syntax == "v2" else []
        entry = f"{{{', '.join(fields)}}}"
        if number % 2:
            found.append(_ingress_route(f"r{number}", [entry]))
        else:
            shared.append(entry)
    return [_ingress_route("shared", shared), *found]


def _ingress_route(name: str, entries: Sequence[str]) -> str:
    body = f"spec: {{entryPoints: [web], routes: [{', '.join(entries)}]}}"
    return manifest("traefik.io/v1alpha1", "IngressRoute", name, "shop", body)


def asked(program: Path, many: Sequence[World]) -> list[list[str]]:
    """Return what Traefik says of worlds: for each request the backend of the rule that takes it, or that none does."""
    lines = "\n".join(json.dumps(_given(world)) for world in many)
    done = subprocess.run([str(program)], input=lines, capture_output=True, text=True, check=True)
    return [_told(json.loads(line)) for line in done.stdout.splitlines()]


def _given(world: World) -> Mapping[str, object]:
    rules = [{"rule": each.written, "syntax": each.syntax, "priority": each.priority} for each in world.rules]
    requests = [
        {"method": each.method, "url": each.url, "headers": dict(each.headers), "client": each.client}
        for each in world.requests
    ]
    return {"rules": rules, "requests": requests}


def _told(answer: Mapping[str, list[int]]) -> list[str]:
    return [NONE if number < 0 else f"b{number}" for number in answer["taken"]]


def main() -> None:
    """Ask Traefik about all worlds, and write the record."""
    answers = asked(built("traefik"), [*worlds()])
    lines = ",\n".join(json.dumps(said) for said in answers)
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
