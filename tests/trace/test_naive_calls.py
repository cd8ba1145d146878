"""gRPC precedence and the choice of a listener against naive evaluations.

Source: docs/design/request-precedence.md §2 and §5.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.catalog.kinds import load_catalog
from policylint.simulation import simulate
from policylint.trace import Trace, Tracer, request
from tests.nightly import examples
from tests.trace.test_naive import exact_length, headers, serves
from tests.worlds import gateway, world

SERVICES, METHODS = ("", "p.A", "p.AB", "A"), ("", "Get", "GetAll")
STAMPS = ("", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")

a_match = st.fixed_dictionaries(
    {},
    optional={
        "method": st.tuples(st.sampled_from(SERVICES), st.sampled_from(METHODS))
        .filter(any)
        .map(lambda pair: {name: value for name, value in zip(("service", "method"), pair, strict=True) if value}),
        "headers": st.lists(
            st.tuples(st.sampled_from(["h", "H", "i"]), st.sampled_from("12")).map(
                lambda pair: {"name": pair[0], "value": pair[1]}
            ),
            max_size=2,
        ),
    },
)
a_route = st.tuples(
    st.lists(st.sampled_from(["a.test", "*.test"]), max_size=2, unique=True),
    st.sampled_from(STAMPS),
    st.lists(st.lists(a_match, max_size=2), min_size=1, max_size=3),
)


def traced(manifests: list[str], asked: dict[str, Any]) -> Trace:
    return Tracer(simulate(world(*manifests), load_catalog())).trace(request(asked))


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(a_route, min_size=1, max_size=4),
    st.sampled_from(["a.test", "b.test"]),
    st.sampled_from(["/p.A/Get", "/p.AB/GetAll", "/A/Get", "/p.A/Other"]),
    st.dictionaries(st.sampled_from(["H", "i"]), st.sampled_from("12")),
)
def test_the_first_rule_of_a_call_is_the_naive_one(
    routes: list[Any], host: str, path: str, sent: dict[str, str]
) -> None:
    manifests = [gateway()]
    for number, (hosts, stamp, rules) in enumerate(routes):
        metadata = {"name": f"r{number}", "namespace": "shop", **({"creationTimestamp": stamp} if stamp else {})}
        spec = {
            "parentRefs": [{"name": "edge", "namespace": "infra"}],
            "hostnames": hosts,
            "rules": [{"matches": matches} for matches in rules],
        }
        body = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GRPCRoute", "metadata": metadata, "spec": spec}
        manifests.append(json.dumps(body))
    asked = {"protocol": "grpc", "method": "POST", "host": host, "path": path, "headers": sent}
    trace = traced(manifests, asked)
    said = None if trace.rule is None else (trace.rule.key.name, int(trace.rule.section.removeprefix("rule-")))
    service, name = path[1:].split("/")
    folded = {key.lower(): value for key, value in sent.items()}
    rows = []
    for number, (hosts, stamp, rules) in enumerate(routes):
        for pattern in hosts or [""]:
            for place, matches in enumerate(rules):
                for match in matches or [{}]:
                    wanted = match.get("method", {})
                    fits = serves(pattern, host) and wanted.get("service", service) == service
                    fits = fits and wanted.get("method", name) == name
                    if fits and all(folded.get(key) == value for key, value in headers(match).items()):
                        row = (
                            -exact_length(pattern),
                            -len(pattern),
                            -len(wanted.get("service", "")),
                            -len(wanted.get("method", "")),
                            -len(headers(match)),
                            stamp or "9",
                            number,
                            place,
                        )
                        rows.append((row, (f"r{number}", place + 1)))
    assert said == (min(rows)[1] if rows else None)


PATTERNS = ("", "*.test", "*.a.test", "b.a.test", "a.test")


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([80, 81]), st.sampled_from(PATTERNS)), min_size=1, max_size=5, unique=True),
    st.sampled_from(["a.test", "b.a.test", "c.b.a.test", "z.test", "other"]),
    st.sampled_from([80, 81, 82]),
)
def test_the_listener_is_the_narrowest_one_on_the_port(listeners: list[tuple[int, str]], host: str, port: int) -> None:
    """Each listener has a route of its own, so that the request also shows that listeners are isolated."""
    listed = [
        {
            "name": f"l{number}",
            "port": on,
            "protocol": "HTTP",
            "allowedRoutes": {"namespaces": {"from": "All"}},
            **({"hostname": pattern} if pattern else {}),
        }
        for number, (on, pattern) in enumerate(listeners)
    ]
    edge = {"name": "edge", "namespace": "infra"}
    bodies: list[Any] = [
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": edge,
            "spec": {"gatewayClassName": "any", "listeners": listed},
        }
    ]
    for number in range(len(listeners)):
        spec = {
            "parentRefs": [{**edge, "sectionName": f"l{number}"}],
            "rules": [{"filters": [{"type": "RequestRedirect", "requestRedirect": {"hostname": f"l{number}.test"}}]}],
        }
        bodies.append(
            {
                "apiVersion": "gateway.networking.k8s.io/v1",
                "kind": "HTTPRoute",
                "metadata": {"name": f"r{number}", "namespace": "infra"},
                "spec": spec,
            }
        )
    trace = traced([json.dumps(each) for each in bodies], {"host": host, "port": port, "path": "/"})
    serving = [
        ((not pattern, pattern.startswith("*"), -pattern.count(".")), number)
        for number, (on, pattern) in enumerate(listeners)
        if on == port and serves(pattern, host)
    ]
    if not serving:
        assert trace.outcome.refused == all(on != port for on, _ in listeners)
        assert trace.listener is None
        return
    best = min(serving)[1]
    assert trace.listener is not None
    assert trace.listener.name == f"l{best}"
    assert trace.outcome.redirect is not None
    assert trace.outcome.redirect.host == f"l{best}.test"
