"""A variable in the place of a list or an object of a way in leaves open what requests meet: nothing else is sworn."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.reach import entries, ways_in
from policylint.trace import Requirements, Tracer, request
from tests.variables import OF_IDENTITY, at_place, places, with_variable
from tests.worlds import opened, service

WORLDS = {
    "Contour": """
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: app, namespace: shop}
spec:
  virtualhost: {fqdn: app.example.com}
  includes: [{name: part, namespace: shop, conditions: [{prefix: /part}]}]
  routes:
  - {conditions: [{prefix: /x}], services: [{name: other, port: 80}]}
  - {conditions: [{prefix: /}], services: [{name: web, port: 80}], ipAllowPolicy: [{cidr: 10.0.0.0/8, source: Peer}]}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: part, namespace: shop}
spec:
  routes: [{conditions: [{prefix: /y}], services: [{name: other, port: 80}]}]
""",
    "Traefik": """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: app, namespace: shop}
spec:
  entryPoints: [web]
  routes:
  - {kind: Rule, match: 'Host(`app.example.com`) && PathPrefix(`/x`)', services: [{name: other, port: 80}]}
  - {kind: Rule, match: 'Host(`app.example.com`)', middlewares: [{name: auth}], services: [{name: web, port: 80}]}
---
apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: auth, namespace: shop}
spec: {basicAuth: {secret: users}}
""",
    "Istio": """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gw, namespace: shop}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*.example.com']}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: app, namespace: shop}
spec:
  hosts: [app.example.com]
  gateways: [gw]
  http:
  - {match: [{uri: {prefix: /x}}], route: [{destination: {host: other, port: {number: 80}}}]}
  - {route: [{destination: {host: web, port: {number: 80}}}]}
""",
    "NGINX": """
apiVersion: k8s.nginx.org/v1
kind: VirtualServer
metadata: {name: app, namespace: shop}
spec:
  host: app.example.com
  upstreams: [{name: web, service: web, port: 80}, {name: other, service: other, port: 80}]
  routes:
  - {path: /x, action: {pass: other}}
  - {path: /y, matches: [{conditions: [{header: h, value: v}], action: {pass: other}}], action: {pass: web}}
  - {path: /, policies: [{name: login}], action: {pass: web}}
---
apiVersion: k8s.nginx.org/v1
kind: Policy
metadata: {name: login, namespace: shop}
spec: {basicAuth: {secret: users}}
""",
    "Ingress": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: app, namespace: shop}
spec:
  ingressClassName: nginx
  tls: [{hosts: [app.example.com], secretName: tls}]
  rules:
  - host: app.example.com
    http:
      paths:
      - {path: /x, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
""",
    "Ingress without TLS": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: app, namespace: shop}
spec:
  ingressClassName: kong
  defaultBackend: {service: {name: web, port: {number: 80}}}
  rules:
  - host: app.example.com
    http: {paths: [{path: /x, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}]}
""",
    "Gateway API": """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: shop}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP, hostname: '*.example.com'}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app, namespace: shop}
spec:
  parentRefs: [{name: gw}]
  hostnames: [app.example.com]
  rules:
  - {matches: [{path: {type: PathPrefix, value: /x}}], backendRefs: [{name: other, port: 80}]}
  - {backendRefs: [{name: web, port: 80}]}
""",
}
CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""
ASKED = [("app.example.com", path) for path in ("/x", "/part/y", "/y", "/z")] + [("other.example.com", "/z")]
SELECTING = ("selector", "allowedRoutes")
"""Of proxies, and of namespaces: fields that other tests are about."""


def read(world: str) -> list[Any]:
    return list(yaml.safe_load_all(WORLDS[world]))


def answers(folder: Path, documents: list[Any]) -> list[str]:
    """Return what is said of each request, with a `?` wherever something of it is not known."""
    manifests = [service(name, "shop", "[{port: 80}]") for name in ("web", "other")]
    simulation = opened(folder, CLASS, *manifests, *map(yaml.safe_dump, documents))
    tracer = Tracer(simulation)
    found = []
    for host, path in ASKED:
        trace = tracer.trace(request({"scheme": "http", "host": host, "path": path}))
        outcome, asked = trace.outcome, Requirements(tracer).of(trace, "authentication").state
        end = outcome.status or sorted(key.name for key in outcome.backends) or bool(outcome.redirect)
        assumed = any("taken to be" in note or "may not be attached" in note for note in trace.notes)
        is_open = outcome.unknown or assumed or asked == "unknown"
        found.append(f"{end} {asked}{' ?' if is_open else ''}")
    for entry in entries(tracer):
        list(ways_in(tracer, entry))
    return found


STRUCTURES = [
    (world, place)
    for world in WORLDS
    for place in places(read(world), (*OF_IDENTITY, *SELECTING))
    if len(place) > 1 and isinstance(at_place(read(world), place), (dict, list))
]


@pytest.mark.parametrize(("world", "place"), STRUCTURES)
def test_a_variable_for_a_list_or_an_object_makes_nothing_certain(
    tmp_path: Path, world: str, place: tuple[Any, ...]
) -> None:
    before = answers(tmp_path, read(world))
    after = answers(tmp_path, with_variable(read(world), place))
    sworn = [(was, said) for was, said in zip(before, after, strict=True) if said != was and "?" not in said]
    assert sworn == []


TEXTS = [
    (world, place)
    for world in WORLDS
    for place in places(read(world), (*OF_IDENTITY, *SELECTING))
    if len(place) > 1 and not isinstance(at_place(read(world), place), (dict, list))
]


@pytest.mark.parametrize(("world", "place"), random.Random(59).sample(TEXTS, 40))
def test_a_variable_for_a_text_is_read(tmp_path: Path, world: str, place: tuple[Any, ...]) -> None:
    assert len(answers(tmp_path, with_variable(read(world), place))) == len(ASKED)
