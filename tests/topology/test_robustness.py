"""Manifests may hold anything anywhere: nothing raises, and nothing is quadratic."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.model import Resource, World
from policylint.topology import build
from tests.nightly import examples
from tests.worlds import gateway, grant, listener_set, paths, resources, route, service

WHOLE = "\n---\n".join(
    [
        gateway(
            listeners="""[{name: a, port: 443, protocol: HTTPS, hostname: '*.x.com', tls: {mode: Terminate,
              certificateRefs: [{name: tls, namespace: certs}]}, allowedRoutes: {kinds: [{group: g, kind: HTTPRoute}],
              namespaces: {from: Selector, selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In,
              values: [b]}]}}}}, {name: b, port: 80, protocol: HTTP}]""",
            more="""allowedListeners: {namespaces: {from: All}},
              infrastructure: {parametersRef: {group: g, kind: k, name: n}},
              tls: {frontend: {default: {validation: {mode: M, caCertificateRefs: [{kind: ConfigMap, name: ca}]}},
              perPort: [{port: 443, tls: {validation: {caCertificateRefs: [{}]}}}]},
              backend: {clientCertificateRef: {name: tls}}}, addresses: [{type: IPAddress}]""",
        ),
        listener_set("extra", "shop", "[{name: c, port: 81, protocol: TCP}]"),
        grant("certs", "{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}", "{kind: Secret}"),
        service(),
        route(
            more="""hostnames: [a.x.com, '*.y.com'], rules: [{name: r, matches: [{path: {type: Exact, value: /}}],
              filters: [{type: RequestMirror, requestMirror: {backendRef: {name: m, port: 1}}}],
              backendRefs: [{name: checkout, port: 80, filters: [{type: CORS}]}, {kind: HTTPRoute,
              group: gateway.networking.k8s.io, name: '*'}]}]"""
        ),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: tls, namespace: certs}\ndata: {tls.crt: eA==, tls.key: eA==}",
    ]
)
JUNK = st.sampled_from([None, [], {}, "", 0, -1, True, "${X}", "*", "?", [None], [[]], {"a": None}, ["x"], 3.5])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        found += places(each, (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], junk)
    return copy


PLACES = [(number, path) for number, each in enumerate(resources(WHOLE)) for path in places(each.body.get("spec", {}))]


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(PLACES), JUNK)
def test_any_value_may_be_anything(place: tuple[int, tuple[Any, ...]], junk: Any) -> None:
    objects = resources(WHOLE)
    number, path = place
    broken = objects[number]
    body = {**broken.body, "spec": replaced(broken.body["spec"], path, junk)}
    objects[number] = Resource(broken.key, broken.version, body, broken.document)
    paths(build(World("default", objects)))


def test_ten_times_the_routes_take_about_ten_times_as_long() -> None:
    def spent(count: int) -> float:
        manifests = [gateway()]
        for number in range(count):
            kind = "HTTPRoute" if number % 2 else "GRPCRoute"
            more = f"hostnames: [h{number}.x.com], rules: [{{backendRefs: [{{name: s, port: 80}}]}}]"
            manifests.append(route(f"r{number}", kind=kind, more=more))
        world = World("default", resources("\n---\n".join([*manifests, service("s")])))
        started = time.process_time()
        build(world)
        return time.process_time() - started

    small = min(spent(200) for _ in range(3))
    assert spent(2000) < 40 * small
