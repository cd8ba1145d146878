"""Which clients of a mesh a change lets in or turns away: made changes, each with its mirror and a witness."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare.requests import MIRRORED, doors_in_words
from policylint.trace import Tracer, from_url
from policylint.trace.request import arguments
from tests import worlds
from tests.compare.test_compare import sides
from tests.compare.test_requests import Made, requests, said
from tests.reach.test_inside import DISABLED, ELSEWHERE, ON_SERVICE, ONLY_CALLER, STRICT, WHO, route
from tests.trace.test_admissions import INJECTED, deployment, lets, meshed, rule, server, service, source

ISTIO = (worlds.labelled("shop", INJECTED), service(), deployment("web", "shop"), ELSEWHERE)
LINKERD = (
    worlds.manifest("v1", "Namespace", "shop", more="annotations: {linkerd.io/inject: enabled}"),
    service(),
    deployment("web", "shop", port="http"),
    server(),
)
BOTH = source("principals: [cluster.local/ns/infra/sa/caller, cluster.local/ns/ops/sa/bot]")
ON_PATH = "rules: [{from: [{source: {namespaces: [infra]}}], to: [{operation: {methods: [GET], paths: [/charge]}}]}]"
DENIES = "action: DENY, rules: [{from: [{source: {notPrincipals: ['*']}}], to: [{operation: {paths: [/admin]}}]}]"
TENANTS = worlds.manifest(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "n",
    "shop",
    "spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {tier: tenant}}}]}]}",
)
TENANTS_OF_CILIUM = worlds.manifest(
    "cilium.io/v2",
    "CiliumNetworkPolicy",
    "n",
    "shop",
    "spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels:"
    " {k8s:io.kubernetes.pod.namespace.labels.tier: tenant}}]}]}",
)
"""Which namespaces are tenants was not seen."""
OF = "serviceaccount.identity.linkerd.cluster.local"

MADE = (
    Made("one more principal", (*ISTIO, ONLY_CALLER), (*ISTIO, BOTH), (("opened", "web.shop from ops/bot"),)),
    Made(
        "a namespace may call one path",
        (*ISTIO, rule("p", "")),
        (*ISTIO, rule("p", ON_PATH)),
        (("opened", "web.shop GET /charge from infra/*"),),
    ),
    Made(
        "the policy is gone",
        (*ISTIO, ONLY_CALLER),
        ISTIO,
        (("opened", "web.shop from others than infra/caller"),),
    ),
    *(
        Made(
            f"one more principal, whom a {behind} may stop",
            (*mesh, behind_it, *before),
            (*mesh, behind_it, *after),
            (("opened", opened),),
        )
        for behind, behind_it in (("NetworkPolicy", TENANTS), ("CiliumNetworkPolicy", TENANTS_OF_CILIUM))
        for mesh, before, after, opened in (
            (ISTIO, (ONLY_CALLER,), (source("principals: ['*']"),), "web.shop from the mesh except infra/caller"),
            (
                LINKERD,
                (lets(WHO), meshed(f"caller.infra.{OF}")),
                (lets(WHO), meshed('"*"')),
                "web.shop from the mesh except infra/caller",
            ),
        )
    ),
    Made(
        "who has no identity is denied a path",
        ISTIO,
        (*ISTIO, rule("d", DENIES)),
        (("closed", "web.shop /admin from outside the mesh"),),
    ),
    Made("mutual TLS", ISTIO, (*ISTIO, STRICT), (("closed", "web.shop from outside the mesh"),)),
    Made(
        "no mutual TLS: nobody is known any more",
        (*ISTIO, ONLY_CALLER),
        (*ISTIO, ONLY_CALLER, DISABLED),
        (("closed", "web.shop from infra/caller"),),
    ),
    Made(
        "a namespace in place of a service account",
        (*ISTIO, ONLY_CALLER),
        (*ISTIO, source("namespaces: [infra]")),
        (("opened", "web.shop from infra/* except infra/caller"),),
    ),
    Made("the same in other words", (*ISTIO, ONLY_CALLER), (*ISTIO, source("serviceAccounts: [infra/caller]"))),
    Made("a rule twice", (*ISTIO, ONLY_CALLER), (*ISTIO, ONLY_CALLER, ONLY_CALLER.replace("name: p", "name: q"))),
    Made("a policy that nobody asks", ISTIO, (*ISTIO, rule("p", f"{ON_SERVICE}rules: [{{}}]"))),
    Made(
        "a route for one path",
        (*ISTIO, route("r", "shop").replace("/v2", "/")),
        (*ISTIO, route("r", "shop")),
        (("closed", "web.shop /** except /v2/** from the mesh"),),
    ),
    Made(
        "Linkerd: everybody in the mesh",
        (*LINKERD, lets(WHO), meshed(f"caller.infra.{OF}")),
        (*LINKERD, lets(WHO), meshed('"*"')),
        (("opened", "web.shop from the mesh except infra/caller"),),
    ),
    Made(
        "Linkerd: the authorization is gone",
        (*LINKERD, lets(WHO), meshed(f'"*.infra.{OF}"')),
        (*LINKERD, meshed(f'"*.infra.{OF}"')),
        (("closed", "web.shop from infra/*"),),
    ),
)


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_a_made_change(tmp_path: Path, made: Made) -> None:
    found = requests(sides(tmp_path, made.before, made.after))
    assert said(found) == made.says
    assert all(doors_in_words(change) == "inside the mesh to Service shop/web (http 80)" for change in found.changes)
    assert found.unknown == ()


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_the_example_is_answered_as_it_is_said(tmp_path: Path, made: Made) -> None:
    pair = sides(tmp_path, made.before, made.after)
    for change in requests(pair).changes:
        method, url, *options = arguments(change.example)
        told = dict(zip(options[::2], options[1::2], strict=True))
        example = from_url(method, url, client=told["--from"], service=told["--to"])
        served = [bool(Tracer(side).trace(example).outcome.backends) for side in (pair.before, pair.after)]
        assert served == [change.change == "closed", change.change == "opened"]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_going_back_is_the_mirror(tmp_path: Path, made: Made) -> None:
    for name in ("there", "back"):
        (tmp_path / name).mkdir()
    there = requests(sides(tmp_path / "there", made.before, made.after))
    back = requests(sides(tmp_path / "back", made.after, made.before))
    assert [(MIRRORED[change], words) for change, words in said(there)] == list(said(back))
    assert there.same == back.same


def test_a_loss_counts_though_nothing_says_that_the_pods_are_in_the_mesh(tmp_path: Path) -> None:
    unlabelled = (worlds.labelled("shop", "{}"), *ISTIO[1:])
    found = requests(sides(tmp_path, (*unlabelled, ONLY_CALLER), unlabelled))
    (change,) = found.changes
    assert (change.change, change.severity, change.ground) == ("opened", "error", "whether its pods are in the mesh")
    assert change.before == "denied by AuthorizationPolicy shop/p (it depends on whether its pods are in the mesh)"
    assert not found.same


def test_where_no_mesh_is_nothing_is_looked_at(tmp_path: Path) -> None:
    after = service().replace("port: 80", "port: 81")
    for around, looked_at in ((worlds.labelled("shop", "{}"), 0), (ISTIO[0], 1)):
        before, others = (around, *ISTIO[1:3]), (around, after, ISTIO[2])
        place = tmp_path / str(looked_at)
        place.mkdir()
        found = requests(sides(place, before, others))
        assert ([each.change for each in found.changes], found.hosts) == (["opened", "closed"] * looked_at, looked_at)


ROUTED = "parentRefs: [{group: '', kind: Service, name: web%s}], rules: [{backendRefs: [{name: next, port: 80}]}]"
KINDS = ("HTTPRoute", "GRPCRoute", "TCPRoute", "HTTPRoute.policy.linkerd.io/v1beta3")


@pytest.mark.parametrize(
    "around", [LINKERD[0], worlds.labelled("shop", "{}"), ISTIO[0]], ids=["Linkerd", "any", "Istio"]
)
@pytest.mark.parametrize("port", ["", ", port: 80"], ids=["every port", "one port"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_port_that_goes_closes_what_came_to_it_without_any_policy(
    tmp_path: Path, kind: str, port: str, around: str
) -> None:
    name, _, api = kind.partition(".")
    own = worlds.manifest(api or "gateway.networking.k8s.io/v1", name, "own", "shop", f"spec: {{{ROUTED % port}}}")
    rest = (around, worlds.service("next", "shop"), own)
    found = requests(sides(tmp_path, (*rest, service()), (*rest, service().replace("port: 80", "port: 81"))))
    assert not found.same
    closed = {each.after for each in found.changes if each.change == "closed"}
    assert closed == {"refused: Service shop/web has no port 80"}


@pytest.mark.parametrize("around", [LINKERD[0], worlds.labelled("shop", "{}")], ids=["Linkerd", "any"])
def test_connections_that_a_route_takes_are_requests_as_well_where_no_route_is_for_these(
    tmp_path: Path, around: str
) -> None:
    streams, calls = (
        worlds.manifest("gateway.networking.k8s.io/v1", kind, kind.lower(), "shop", f"spec: {{{ROUTED % ''}}}")
        for kind in ("TCPRoute", "HTTPRoute")
    )
    rest = (around, service(), worlds.service("next", "shop"))
    own = calls.replace("name: next", "name: web")
    for before, after, told in (((streams,), (), ["rerouted"]), ((streams, own), (own,), [])):
        place = tmp_path / str(len(before))
        place.mkdir()
        found = requests(sides(place, (*rest, *before), (*rest, *after)))
        assert [each.change for each in found.changes] == told


def test_connections_of_a_route_are_no_requests_at_istio(tmp_path: Path) -> None:
    spec = ROUTED % ""
    streams = worlds.manifest("gateway.networking.k8s.io/v1", "TCPRoute", "own", "shop", f"spec: {{{spec}}}")
    found = requests(
        sides(tmp_path, (*ISTIO, worlds.service("next", "shop"), streams), (*ISTIO, worlds.service("next", "shop")))
    )
    assert found.changes == ()


def of_tcp(spec: str) -> tuple[str, ...]:
    """Return two Services with a port of connections, and a route or the like between them."""
    ports = "ports: [{name: tcp, port: 9000}]"
    services = [worlds.manifest("v1", "Service", name, "shop", f"spec: {{{ports}}}") for name in ("web", "next")]
    return (*services, spec)


BY_NAME = worlds.manifest(
    "gateway.networking.k8s.io/v1",
    "TLSRoute",
    "names",
    "shop",
    "spec: {parentRefs: [{group: '', kind: Service, name: web}], hostnames: [db.example.com],"
    " rules: [{backendRefs: [{name: next, port: 9000}]}]}",
)
INSIDE = "spec: {hosts: [web.shop.svc.cluster.local], tcp: [{route: [{destination: {host: next}}]}]}"


def test_a_tls_route_of_a_service_leads_by_server_name(tmp_path: Path) -> None:
    found = requests(sides(tmp_path, of_tcp(BY_NAME), of_tcp("")))
    assert not found.same
    assert [(each.change, each.before, each.after) for each in found.changes] == [("rerouted", "shop/next", "shop/web")]
    assert {each.scheme for change in found.changes for each in change.requests} == {"tls"}


@pytest.mark.parametrize("gateways", ["", "gateways: [mesh, public], "])
def test_a_virtual_service_inside_tells_of_its_mesh_by_itself(tmp_path: Path, gateways: str) -> None:
    virtual = worlds.manifest(
        "networking.istio.io/v1", "VirtualService", "v", "istio-system", INSIDE.replace("{h", "{" + gateways + "h", 1)
    )
    found = requests(sides(tmp_path, of_tcp(virtual), of_tcp("")))
    assert (found.same, found.unknown) == (False, ())
    nowhere = "refused: nothing deploys Service istio-system/next"
    assert [(each.change, each.before, each.after) for each in found.changes] == [
        ("opened", nowhere, "shop/web, no login")
    ]
