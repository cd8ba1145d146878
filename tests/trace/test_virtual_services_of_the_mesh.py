"""VirtualServices of the mesh: where requests of clients for a Service end by what their sidecars have of them.

What is expected was read in istio/istio first: pilot/pkg/model/virtualservice.go and sidecar.go,
pilot/pkg/networking/core/httproute.go and route/route.go. What a variable may stand for is not sworn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from policylint.reach import entries_inside, ways_in
from policylint.simulation import Simulation
from policylint.trace import Request, Tracer
from tests.worlds import manifest, opened, service

ELSEWHERE = "http: [{route: [{destination: {host: other.shop.svc.cluster.local}}]}]"
THERE = "[{destination: {host: other}}]"
HERE = "[{destination: {host: db}}]"
BOTH = "[{destination: {host: db}, weight: 9}, {destination: {host: other}, weight: 1}]"
THIRD = "http: [{route: [{destination: {host: third}}]}]"
ABORT = "{abort: {httpStatus: 418, percentage: {value: 100}}}"
OPEN = "?"


def namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{istio-injection: enabled}}}}\n"


def workload(name: str, home: str, labels: str = "") -> str:
    labels = f"{{app: {name}{labels}}}"
    pods = f"{{serviceAccountName: {name}, containers: [{{name: app, image: 'app:1'}}]}}"
    template = f"{{metadata: {{labels: {labels}}}, spec: {pods}}}"
    spec = f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", name, home, spec)


def virtual(body: str, home: str = "shop", name: str = "v", created: str = "") -> str:
    more = f"creationTimestamp: '{created}'" if created else ""
    return manifest("networking.istio.io/v1", "VirtualService", name, home, f"spec: {{{body}}}", more=more)


def meshed(folder: Path, *more: str) -> Simulation:
    return opened(
        folder,
        namespace("shop"),
        namespace("away"),
        workload("near", "shop", ", tier: front"),
        workload("far", "away"),
        *(workload(name, "shop") for name in ("db", "other", "third")),
        *(
            service(name, "shop", "[{port: 80, name: http}]", more=f"selector: {{app: {name}}}")
            for name in ("db", "other", "third")
        ),
        service("far-off", "shop", "[{port: 81, name: http}]"),
        manifest("networking.istio.io/v1", "DestinationRule", "third", "shop", "spec: {host: third, subsets: []}"),
        *more,
    )


def end(tracer: Tracer, client: str, path: str = "/x", headers: Sequence[tuple[str, str]] = ()) -> str:
    asked = Request(service="Service/shop/db", client=client, host="db.shop", path=path, headers=tuple(headers))
    outcome = tracer.trace(asked).outcome
    if outcome.unknown:
        return OPEN if "VirtualService" in outcome.reason or "match" in outcome.reason else outcome.reason
    if outcome.redirect is not None:
        return f"{outcome.redirect.status} {outcome.redirect.host}"
    return " or ".join(key.name for key in outcome.backends) or str(outcome.status)


def ends(tracer: Tracer) -> tuple[str, str]:
    return end(tracer, "Deployment/shop/near"), end(tracer, "Deployment/away/far")


def of_reach(tracer: Tracer) -> set[str]:
    """Return where the requests of any client for the Service end, by `reach`."""
    ways = (way for entry in entries_inside(tracer) if entry.gateway.name == "db" for way in ways_in(tracer, entry))
    outcomes = (way.trace.outcome for way in ways)
    return {
        OPEN if each.unknown else " or ".join(key.name for key in each.backends) or str(each.status)
        for each in outcomes
    }


@pytest.mark.parametrize(
    ("body", "home", "near", "far"),
    [
        # whom it is for, and who sees it
        (f"hosts: [db], {ELSEWHERE}", "shop", "other", "other"),
        (f"hosts: [db.shop.svc.cluster.local], {ELSEWHERE}", "away", "other", "other"),
        (f"hosts: [db.shop.svc.cluster.local], gateways: [mesh, edge], {ELSEWHERE}", "away", "other", "other"),
        (f"hosts: [DB], {ELSEWHERE}", "shop", "other", "other"),
        (f"hosts: [third, db], {ELSEWHERE}", "shop", "other", "other"),
        (f"hosts: [third], {ELSEWHERE}", "shop", "db", "db"),
        (f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}", "shop", "other", "other"),
        (f"hosts: ['*.away.svc.cluster.local'], {ELSEWHERE}", "shop", "db", "db"),
        (f"hosts: [db], gateways: [edge], {ELSEWHERE}", "shop", "db", "db"),
        (f"hosts: [db], {ELSEWHERE}", "away", "db", "db"),
        (f"hosts: [db], exportTo: ['.'], {ELSEWHERE}", "shop", "other", "db"),
        (f"hosts: [db.shop.svc.cluster.local], exportTo: ['.'], {ELSEWHERE}", "away", "db", "other"),
        (f"hosts: [db], exportTo: [away], {ELSEWHERE}", "shop", "db", "other"),
        (f"hosts: [db], exportTo: ['~'], {ELSEWHERE}", "shop", "db", "db"),
        (f"hosts: [db], exportTo: ['*'], {ELSEWHERE}", "shop", "other", "other"),
        (f"hosts: [db], exportTo: [''], {ELSEWHERE}", "shop", "db", "db"),
        # what variables may stand for, and a name of its own that is no Service's
        (f"hosts: [db.shop], gateways: [mesh, edge], {ELSEWHERE}", "away", OPEN, OPEN),
        (f"hosts: [db.shop], exportTo: ['.'], {ELSEWHERE}", "away", "db", OPEN),
        (f"hosts: '${{HOSTS}}', {ELSEWHERE}", "shop", OPEN, OPEN),
        (f"hosts: ['${{HOST}}.shop.svc.cluster.local'], {ELSEWHERE}", "away", OPEN, OPEN),
        (f"hosts: ['${{HOST}}.away.svc.cluster.local'], {ELSEWHERE}", "away", "db", "db"),
        (f"hosts: [db], gateways: '${{GATEWAYS}}', {ELSEWHERE}", "shop", OPEN, OPEN),
        (f"hosts: [db], gateways: ['${{NAMESPACE}}/edge'], {ELSEWHERE}", "shop", "db", "db"),
        (f"hosts: [db], exportTo: ['${{READERS}}'], {ELSEWHERE}", "shop", OPEN, OPEN),
        ("hosts: [db], http: '${RULES}'", "shop", OPEN, OPEN),
        ("hosts: [db], http: [{route: '${ROUTE}'}]", "shop", OPEN, OPEN),
        # matches that some proxies alone have
        (f"hosts: [db], http: [{{match: [{{sourceLabels: {{tier: front}}}}], route: {THERE}}}]", "shop", "other", "db"),
        (f"hosts: [db], http: [{{match: [{{sourceLabels: {{tier: back}}}}], route: {THERE}}}]", "shop", "db", "db"),
        (f"hosts: [db], http: [{{match: [{{sourceNamespace: away}}], route: {THERE}}}]", "shop", "db", "other"),
        (
            f"hosts: [db], http: [{{match: [{{sourceLabels: {{tier: back}}, gateways: [mesh]}}], route: {THERE}}}]",
            "shop",
            "other",
            "other",
        ),
        (f"hosts: [db], http: [{{match: [{{gateways: [edge]}}], route: {THERE}}}]", "shop", "db", "db"),
        (f"hosts: [db], http: [{{match: [{{port: 81}}], route: {THERE}}}]", "shop", "db", "db"),
        (f"hosts: [db], http: [{{match: [{{port: 80}}], route: {THERE}}}]", "shop", "other", "other"),
        (
            f"hosts: [db], http: [{{match: [{{sourceNamespace: away}}, {{uri: {{prefix: /x}}}}], route: {THERE}}}]",
            "shop",
            "other",
            "other",
        ),
        # a destination without a port has that of the client, whatever its Service has
        ("hosts: [db], http: [{route: [{destination: {host: far-off}}]}]", "shop", "503", "503"),
        (
            "hosts: [db], http: [{route: [{destination: {host: far-off, port: {number: 81}}}]}]",
            "shop",
            "far-off",
            "far-off",
        ),
        # what becomes of requests
        (f"hosts: [db], http: [{{match: [{{uri: {{prefix: /y}}}}], route: {THERE}}}]", "shop", "404", "404"),
        (f"hosts: [db], http: [{{match: [{{uri: {{exact: /x}}}}], route: {THERE}}}]", "shop", "other", "other"),
        ("hosts: [db], http: [{directResponse: {status: 418}}]", "shop", "418", "418"),
        ("hosts: [db], http: [{redirect: {authority: other}}]", "shop", "301 other", "301 other"),
        (
            f"hosts: [db], http: [{{fault: {ABORT}, route: {HERE}}}]",
            "shop",
            "418",
            "418",
        ),
        (f"hosts: [db], http: [{{route: {BOTH}}}]", "shop", "db or other", "db or other"),
        (f"hosts: [db], http: [{{route: {HERE}}}]", "shop", "db", "db"),
        ("hosts: [db], http: [{route: [{destination: {host: third, subset: v9}}]}]", "shop", "503", "503"),
        ("hosts: [db], http: [{route: [{destination: {host: nothing}}]}]", "shop", "503", "503"),
        (f"hosts: [db], http: [{{delegate: {{name: nobody}}}}, {{route: {THERE}}}]", "shop", "other", "other"),
        (f"hosts: [db], tcp: [{{route: {THERE}}}]", "shop", "db", "db"),
    ],
)
def test_where_requests_for_a_service_end(tmp_path: Path, body: str, home: str, near: str, far: str) -> None:
    tracer = Tracer(meshed(tmp_path, virtual(body, home)))
    assert ends(tracer) == (near, far)
    told = of_reach(tracer)
    assert {near, far} - {"301 other"} <= told or "301 other" in (near, far)


def test_a_variable_for_all_that_is_said(tmp_path: Path) -> None:
    whole = manifest("networking.istio.io/v1", "VirtualService", "v", "shop", "spec: '${SPEC}'")
    assert ends(Tracer(meshed(tmp_path, whole))) == (OPEN, OPEN)


def test_who_alone_sees_one_may_be_of_a_namespace_that_is_not_in_the_tree(tmp_path: Path) -> None:
    tracer = Tracer(meshed(tmp_path, virtual(f"hosts: [db], exportTo: [nowhere], {ELSEWHERE}")))
    assert of_reach(tracer) == {"db", "other"}


OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("objects", "near", "far"),
    [
        # of several for one host the first one has it all
        (
            (
                virtual(f"hosts: [db], http: [{{route: {THERE}}}]", created=NEW),
                virtual(f"hosts: [db], {THIRD}", name="w", created=OLD),
            ),
            "third",
            "third",
        ),
        (
            (
                virtual(f"hosts: [db], http: [{{match: [{{uri: {{prefix: /y}}}}], route: {THERE}}}]", created=OLD),
                virtual(f"hosts: [db], {THIRD}", name="w", created=NEW),
            ),
            "404",
            "404",
        ),
        (
            (
                virtual(f"hosts: [db], http: [{{route: {THERE}}}]"),
                virtual(f"hosts: [db], {THIRD}", name="w"),
            ),
            OPEN,
            OPEN,
        ),
        # but not by rules that are none for it
        (
            (
                virtual(f"hosts: [db], http: [{{match: [{{gateways: [edge]}}], route: {THERE}}}]", created=OLD),
                virtual(f"hosts: [db], {THIRD}", name="w", created=NEW),
            ),
            "third",
            "third",
        ),
        (
            (
                virtual(f"hosts: [db], http: [{{match: [{{sourceNamespace: away}}], route: {THERE}}}]", created=OLD),
                virtual(f"hosts: [db], {THIRD}", name="w", created=NEW),
            ),
            "third",
            "other",
        ),
        # that of the client's namespace alone before all others, one that names it before those for everybody
        (
            (
                virtual(f"hosts: [db], exportTo: ['.'], http: [{{route: {THERE}}}]", created=NEW),
                virtual(f"hosts: [db], {THIRD}", name="w", created=OLD),
            ),
            "other",
            "third",
        ),
        (
            (
                virtual(f"hosts: [db], exportTo: [away], http: [{{route: {THERE}}}]", created=NEW),
                virtual(f"hosts: [db], {THIRD}", name="w", created=OLD),
            ),
            "third",
            "other",
        ),
        (
            (
                virtual(f"hosts: [db], exportTo: ['.'], http: [{{route: {THERE}}}]"),
                virtual(f"hosts: [db], {THIRD}", name="w"),
            ),
            "other",
            "third",
        ),
        # a name in full before wildcards, the longest wildcard before others
        (
            (
                virtual(f"hosts: ['*.svc.cluster.local'], {ELSEWHERE}", created=OLD),
                virtual(
                    f"hosts: ['*.shop.svc.cluster.local'], {THIRD}",
                    name="w",
                    created=NEW,
                ),
            ),
            "third",
            "third",
        ),
        (
            (
                virtual(f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}", created=OLD),
                virtual(f"hosts: [db], {THIRD}", name="w", created=NEW),
            ),
            "third",
            "third",
        ),
        # of which it is enough that it is there
        (
            (
                virtual(f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}", created=OLD),
                virtual(
                    f"hosts: [db], http: [{{match: [{{gateways: [edge]}}], route: {HERE}}}]", name="w", created=NEW
                ),
            ),
            "db",
            "db",
        ),
    ],
)
def test_one_virtual_service_of_several_counts(tmp_path: Path, objects: Sequence[str], near: str, far: str) -> None:
    assert ends(Tracer(meshed(tmp_path, *objects))) == (near, far)


def route(to: str, home: str = "shop", created: str = "") -> str:
    rule = f"{{backendRefs: [{{name: {to}, namespace: shop, port: 80}}]}}"
    spec = f"spec: {{parentRefs: [{{group: '', kind: Service, name: db, namespace: shop}}], rules: [{rule}]}}"
    more = f"creationTimestamp: '{created}'" if created else ""
    return manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "r", home, spec, more=more)


GRANT = manifest(
    "gateway.networking.k8s.io/v1",
    "ReferenceGrant",
    "g",
    "shop",
    "spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: away}],"
    " to: [{group: '', kind: Service}]}",
)


@pytest.mark.parametrize(
    ("objects", "near", "far"),
    [
        # in the namespace of the Service its route comes first, elsewhere the older of both
        ((virtual(f"hosts: [db], {ELSEWHERE}", created=OLD), route("third", created=NEW)), "third", "other"),
        ((virtual(f"hosts: [db], {ELSEWHERE}", created=NEW), route("third", created=OLD)), "third", "third"),
        ((virtual(f"hosts: [db], {ELSEWHERE}"), route("third")), "third", OPEN),
        # what a namespace has for itself alone comes before routes
        (
            (virtual(f"hosts: [db], exportTo: ['.'], {ELSEWHERE}", created=NEW), route("third", created=OLD)),
            "other",
            "third",
        ),
        # the route of a client's namespace is for it alone
        (
            (virtual(f"hosts: [db], {ELSEWHERE}", created=OLD), route("third", "away", created=NEW), GRANT),
            "other",
            "third",
        ),
        # any route for a Service has its name in full
        (
            (virtual(f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}", created=OLD), route("third", created=NEW)),
            "third",
            "third",
        ),
        (
            (
                virtual(f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}", created=OLD),
                route("third", "away", created=NEW),
                GRANT,
            ),
            "db",
            "third",
        ),
        # rules that are for others take nothing from it
        (
            (
                virtual(f"hosts: [db], http: [{{match: [{{port: 81}}], route: {THERE}}}]", created=OLD),
                route("third", created=NEW),
            ),
            "third",
            "third",
        ),
    ],
)
def test_routes_of_gateway_api_beside_them(tmp_path: Path, objects: Sequence[str], near: str, far: str) -> None:
    assert ends(Tracer(meshed(tmp_path, *objects))) == (near, far)


def sidecar(hosts: str, home: str = "away", more: str = "") -> str:
    return manifest("networking.istio.io/v1", "Sidecar", "s", home, f"spec: {{egress: [{{hosts: {hosts}{more}}}]}}")


@pytest.mark.parametrize(
    ("body", "home", "limits", "far"),
    [
        (f"hosts: [db], {ELSEWHERE}", "shop", sidecar("['./*', 'shop/*']"), "other"),
        (f"hosts: [db.shop.svc.cluster.local], {ELSEWHERE}", "away", sidecar("['shop/*']"), "db"),
        (f"hosts: [db.shop.svc.cluster.local], {ELSEWHERE}", "away", sidecar("['./*', 'shop/*']"), "other"),
        (
            f"hosts: [db.shop.svc.cluster.local], {ELSEWHERE}",
            "away",
            sidecar("['*/db.shop.svc.cluster.local']"),
            "other",
        ),
        (
            f"hosts: ['*.svc.cluster.local'], {ELSEWHERE}",
            "shop",
            sidecar("['shop/db.shop.svc.cluster.local', 'shop/other.shop.svc.cluster.local']"),
            "other",
        ),
        (
            f"hosts: [db], {ELSEWHERE}",
            "shop",
            sidecar("['shop/*']", more=", port: {number: 80, protocol: HTTP, name: http}"),
            "other",
        ),
    ],
)
def test_what_a_sidecar_lets_in(tmp_path: Path, body: str, home: str, limits: str, far: str) -> None:
    assert ends(Tracer(meshed(tmp_path, virtual(body, home), limits)))[1] == far


def test_a_route_for_a_service_that_a_sidecar_does_not_show_is_not_known_to_count(tmp_path: Path) -> None:
    named = virtual(f"hosts: [db.shop.svc.cluster.local], exportTo: ['.'], {ELSEWHERE}", "pay")
    own = (route("third", "away", created=OLD), GRANT, named)
    assert ends(Tracer(meshed(tmp_path, *own)))[1] == "third"
    assert ends(Tracer(meshed(tmp_path, *own, sidecar("['pay/*', './*']"))))[1].endswith("is not known")


def ambient(waypoint: bool) -> tuple[str, ...]:
    """Return clients without sidecars, and a Service with a waypoint or without."""
    labelled = "{istio.io/dataplane-mode: ambient}"
    named = "labels: {istio.io/use-waypoint: way}" if waypoint else ""
    listener = "[{name: mesh, port: 15008, protocol: HBONE}]"
    spec = f"spec: {{gatewayClassName: istio-waypoint, listeners: {listener}}}"
    return (
        *(
            f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {labelled}}}\n"
            for name in ("shop", "away")
        ),
        manifest("gateway.networking.k8s.io/v1", "Gateway", "way", "shop", spec),
        *(
            workload(*each)
            for each in (("near", "shop", ", tier: front"), ("far", "away"), ("db", "shop"), ("other", "shop"))
        ),
        manifest(
            "v1", "Service", "db", "shop", "spec: {ports: [{port: 80, name: http}], selector: {app: db}}", more=named
        ),
        service("other", "shop", "[{port: 80, name: http}]", more="selector: {app: other}"),
        service("third", "shop", "[{port: 81, name: http}]", more="selector: {app: third}"),
    )


@pytest.mark.parametrize(
    ("waypoint", "objects", "near", "far"),
    [
        (False, (virtual(f"hosts: [db], {ELSEWHERE}"),), "db", "db"),
        (True, (virtual(f"hosts: [db], {ELSEWHERE}"),), "other", "other"),
        (True, (virtual(f"hosts: [db.shop.svc.cluster.local], {ELSEWHERE}", "away"),), "db", "db"),
        (True, (virtual(f"hosts: ['*.shop.svc.cluster.local'], {ELSEWHERE}"),), "other", "other"),
        (True, (virtual(f"hosts: [db], gateways: [edge], {ELSEWHERE}"),), "db", "db"),
        (
            True,
            (virtual(f"hosts: [db], http: [{{match: [{{sourceLabels: {{tier: front}}}}], route: {THERE}}}]"),),
            "db",
            "db",
        ),
        (True, (virtual(f"hosts: [db], http: [{{match: [{{sourceNamespace: away}}], route: {THERE}}}]"),), "db", "db"),
        (
            True,
            (virtual(f"hosts: [db], http: [{{match: [{{sourceNamespace: shop}}], route: {THERE}}}]"),),
            "other",
            "other",
        ),
        # which port a waypoint takes is that of the Service, and so is not that of a sidecar
        (True, (virtual(f"hosts: [db], {THIRD}"),), OPEN, OPEN),
        (True, (virtual(f"hosts: [db], http: [{{match: [{{uri: {{prefix: /y}}}}], route: {THERE}}}]"),), "404", "404"),
        # rules of several are added up
        (
            True,
            (
                virtual(f"hosts: [db], http: [{{match: [{{uri: {{prefix: /y}}}}], route: {HERE}}}]", created=OLD),
                virtual(f"hosts: [db], {ELSEWHERE}", name="w", created=NEW),
            ),
            "other",
            "other",
        ),
        (
            True,
            (
                virtual(f"hosts: [db], {ELSEWHERE}"),
                virtual("hosts: [db], http: [{directResponse: {status: 418}}]", name="w"),
            ),
            OPEN,
            OPEN,
        ),
        (True, (virtual(f"hosts: [db], {ELSEWHERE}", created=OLD), route("other", created=NEW)), OPEN, OPEN),
    ],
)
def test_waypoints_read_them_for_clients_without_sidecars(
    tmp_path: Path, waypoint: bool, objects: Sequence[str], near: str, far: str
) -> None:
    assert ends(Tracer(opened(tmp_path, *ambient(waypoint), *objects))) == (near, far)


def test_clients_outside_of_the_mesh_meet_none(tmp_path: Path) -> None:
    bare = "apiVersion: v1\nkind: Namespace\nmetadata: {name: bare}\n"
    tracer = Tracer(meshed(tmp_path, bare, workload("out", "bare"), virtual(f"hosts: [db], {ELSEWHERE}")))
    assert end(tracer, "unmeshed") == "db"
    assert end(tracer, "Deployment/bare/out") == OPEN  # nothing says whether it is in the mesh


def test_who_may_be_several_workloads_meets_what_each_of_them_does(tmp_path: Path) -> None:
    body = f"hosts: [db], http: [{{match: [{{sourceLabels: {{tier: front}}}}], route: {THERE}}}]"
    tracer = Tracer(meshed(tmp_path, virtual(body)))
    asked = Request(service="Service/shop/db", client="Namespace/shop", host="db.shop", path="/x")
    outcome = tracer.trace(asked).outcome
    assert outcome.unknown
    assert "which workload" in outcome.reason or "hangs on" in outcome.reason


TCP = f"tcp: [{{route: {THERE}}}]"
OF_A_PORT = "port: '${PORT}'"
WIDE = "destinationSubnets: [10.0.0.0/8]"
OTHERS = f"hosts: [db], {TCP}"
NAMED = "sniHosts: [a.example]"
WILD = "sniHosts: ['*.example']"


def tcp(match: str, to: str = THERE) -> str:
    return f"{{match: [{{{match}}}], route: {to}}}"


def connected(tracer: Tracer, client: str, scheme: str = "tcp", host: str = "db.shop") -> str:
    asked = Request(service="Service/shop/db", client=client, host=host, scheme=scheme)
    outcome = tracer.trace(asked).outcome
    return OPEN if outcome.unknown else " or ".join(key.name for key in outcome.backends) or "refused"


@pytest.mark.parametrize(
    ("body", "near", "far"),
    [
        (f"hosts: [db], {TCP}", "other", "other"),
        (f"hosts: [db], tcp: [{{route: {BOTH}}}]", "db or other", "db or other"),
        (f"hosts: ['*.shop.svc.cluster.local'], {TCP}", "other", "other"),
        (f"hosts: [third], {TCP}", "db", "db"),
        (f"hosts: [db], exportTo: ['.'], {TCP}", "other", "db"),
        (f"hosts: [db], gateways: [edge], {TCP}", "db", "db"),
        (f"hosts: [db], {ELSEWHERE}", "db", "db"),
        (f"hosts: [db], tls: [{tcp('sniHosts: [a.example]')}]", "db", "db"),
        # matches: what a proxy knows of itself, its port, and where connections go to
        (f"hosts: [db], tcp: [{tcp('port: 80')}]", "other", "other"),
        (f"hosts: [db], tcp: [{tcp('port: 81')}]", "db", "db"),
        (f"hosts: [db], tcp: [{tcp('gateways: [mesh]')}]", "other", "other"),
        (f"hosts: [db], tcp: [{tcp('gateways: [edge]')}]", "db", "db"),
        (f"hosts: [db], tcp: [{tcp('sourceLabels: {tier: front}')}]", "other", "db"),
        (f"hosts: [db], tcp: [{tcp('sourceNamespace: away')}]", "db", "other"),
        (f"hosts: [db], tcp: [{tcp('gateways: [mesh], sourceNamespace: away')}]", "db", "other"),
        (f"hosts: [db], tcp: [{tcp('sourceLabels: {tier: front}', HERE)}, {{route: {THERE}}}]", "db", "other"),
        (f"hosts: [db], tcp: [{tcp('destinationSubnets: [10.0.0.0/8]')}]", "other", "other"),
        (f"hosts: [db], tcp: [{tcp('destinationSubnets: [10.1.2.3]')}]", "other", "other"),
        (f"hosts: [db], tcp: [{tcp('destinationSubnets: [192.168.0.0/16]')}]", "db", "db"),
        (f"hosts: [db], tcp: [{tcp(WIDE)}, {tcp('destinationSubnets: [10.1.2.0/24]', HERE)}]", "db", "db"),
        (f"hosts: [db], tcp: [{{route: {HERE}}}, {tcp('destinationSubnets: [10.0.0.0/8]')}]", "db", "db"),
        (f"hosts: [db], tcp: [{tcp('destinationSubnets: [10.0.0.0/8]')}, {{route: {HERE}}}]", "other", "other"),
        # what a variable may stand for
        ("hosts: [db], tcp: '${RULES}'", OPEN, OPEN),
        (f"hosts: [db], tcp: [{tcp(OF_A_PORT)}]", OPEN, OPEN),
        ("hosts: [db], tcp: [{route: [{destination: {host: '${HOST}'}}]}]", OPEN, OPEN),
    ],
)
def test_rules_for_connections_at_a_port_of_connections(tmp_path: Path, body: str, near: str, far: str) -> None:
    stream = service("db", "shop", "[{port: 80, name: tcp}]", more="selector: {app: db}, clusterIP: 10.1.2.3")
    tracer = Tracer(meshed(tmp_path, stream, virtual(body)))
    for scheme in ("tcp", "http"):
        assert connected(tracer, "Deployment/shop/near", scheme) == near
        assert connected(tracer, "Deployment/away/far", scheme) == far
        assert connected(tracer, "unmeshed", scheme) == "db"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        # all that name a Service are tried, whatever host they name it by: the oldest first
        ([f"hosts: [db], tcp: [{tcp('port: 81')}]", f"hosts: [db], {TCP}"], "other"),
        (["hosts: ['*.shop.svc.cluster.local'], tcp: [{route: [{destination: {host: third}}]}]", OTHERS], "third"),
        ([f"hosts: [db], exportTo: ['*'], tcp: [{{route: {HERE}}}]", f"hosts: [db], exportTo: ['.'], {TCP}"], "other"),
    ],
)  # fmt: skip
def test_virtual_services_for_connections_are_tried_one_after_the_other(
    tmp_path: Path, objects: Sequence[str], expected: str
) -> None:
    stream = service("db", "shop", "[{port: 80, name: tcp}]", more="selector: {app: db}")
    made = [virtual(body, name=f"v{at}", created=f"2026-01-0{at}T00:00:00Z") for at, body in enumerate(objects, 1)]
    assert connected(Tracer(meshed(tmp_path, stream, *made)), "Deployment/shop/near") == expected


def test_which_of_two_is_older_decides_on_connections(tmp_path: Path) -> None:
    stream = service("db", "shop", "[{port: 80, name: tcp}]", more="selector: {app: db}")
    made = [virtual(f"hosts: [db], {TCP}"), virtual(f"hosts: [db], tcp: [{{route: {HERE}}}]", name="w")]
    assert connected(Tracer(meshed(tmp_path, stream, *made)), "Deployment/shop/near") == OPEN


def test_a_block_without_a_known_address_is_not_known(tmp_path: Path) -> None:
    stream = service("db", "shop", "[{port: 80, name: tcp}]", more="selector: {app: db}")
    rule = virtual(f"hosts: [db], tcp: [{tcp('destinationSubnets: [10.0.0.0/8]')}]")
    assert connected(Tracer(meshed(tmp_path, stream, rule)), "Deployment/shop/near") == OPEN


@pytest.mark.parametrize(
    ("rules", "host", "expected"),
    [
        (tcp("sniHosts: [a.example]"), "a.example", "other"),
        (tcp("sniHosts: [A.example]"), "a.example", "other"),
        (tcp("sniHosts: ['*.example']"), "a.example", "other"),
        (tcp("sniHosts: ['*']"), "a.example", "other"),
        (f"{tcp(WILD, HERE)}, {tcp('sniHosts: [a.example]')}", "a.example", "other"),
        (f"{tcp(WILD)}, {tcp('sniHosts: [a.example]', HERE)}", "b.example", "other"),
        (f"{tcp('sniHosts: [a.example]', HERE)}, {tcp('sniHosts: [b.example]')}", "b.example", "other"),
        # the closest name, whichever stands first; of the same names the first
        (f"{tcp('sniHosts: [x.example, a.example]')}, {tcp('sniHosts: [y.example]', HERE)}", "a.example", "other"),
        (f"{tcp('sniHosts: [a.example]')}, {tcp('sniHosts: [a.example]', HERE)}", "a.example", "other"),
        (f"{tcp(f'{NAMED}, sourceLabels: {{tier: back}}', HERE)}, {tcp(NAMED)}", "a.example", "other"),
        # none is for it: past them goes what the mesh lets out
        (tcp("sniHosts: [a.example]"), "b.example", OPEN),
        (tcp("sniHosts: [a.example], port: 81"), "a.example", "db"),
    ],
)  # fmt: skip
def test_rules_for_servers_at_a_port_of_tls(tmp_path: Path, rules: str, host: str, expected: str) -> None:
    stream = service("db", "shop", "[{port: 80, name: tls}]", more="selector: {app: db}")
    tracer = Tracer(meshed(tmp_path, stream, virtual(f"hosts: [db], tls: [{rules}]")))
    assert connected(tracer, "Deployment/shop/near", "tls", host) == expected


def test_reach_tells_apart_who_connects(tmp_path: Path) -> None:
    stream = service("db", "shop", "[{port: 80, name: tcp}]", more="selector: {app: db}")
    rule = virtual(f"hosts: [db], tcp: [{tcp('sourceLabels: {tier: front}')}]")
    assert {"other", "db"} <= of_reach(Tracer(meshed(tmp_path, stream, rule)))
    stream = service("db", "shop", "[{port: 80, name: tls}]", more="selector: {app: db}")
    rule = virtual(f"hosts: [db], tls: [{tcp('sniHosts: [a.example]')}]")
    assert "other" in of_reach(Tracer(meshed(tmp_path, stream, rule)))
