"""Requests from inside the mesh: who may send them, predicted from the documentation of Istio and Linkerd.

istio.io/docs/reference/config/security/authorization-policy and peer_authentication; istio.io/docs/tasks/security
/authorization/authz-td-migration, pilot/pkg/security/trustdomain/bundle.go; istio.io/docs/ambient/usage/waypoint;
linkerd.io/2.19/reference/authorization-policy; gateway-api.sigs.k8s.io/geps/gep-1426 (consumer routes).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from policylint.policy.authorizing import PRINCIPAL
from policylint.reach import end_in_words, entries_inside, ways_inside
from policylint.report.kit.display import Paint
from policylint.report.reach import Question, find, write
from policylint.simulation import Simulation, simulate
from policylint.simulation.clients import UNMESHED
from policylint.spaces.dimension import pairs
from policylint.spaces.predicates import Predicate
from policylint.trace import Tracer, request
from tests import worlds
from tests.reach.test_agreement import disagreements
from tests.trace.test_admissions import (
    AMBIENT,
    EVERY,
    INJECTED,
    WAYPOINT,
    WAYPOINTED,
    deployment,
    end,
    lets,
    linkerd,
    linkerd_world,
    mesh,
    meshed,
    rule,
    server,
    service,
    source,
)

CALLER, OTHER, ALIEN = "ServiceAccount/infra/caller", "ServiceAccount/infra/other", "ServiceAccount/third/caller"
CLIENTS = (CALLER, OTHER, ALIEN, UNMESHED)
IN, OUT, CUT, OPEN = "allowed", "403", "reset", "depends"


def mutual(spec: str, name: str = "mtls") -> str:
    return worlds.manifest("security.istio.io/v1", "PeerAuthentication", name, "shop", f"spec: {{{spec}}}")


ELSEWHERE = rule("elsewhere", "", "other")
"""Something of Istio in the tree that asks nothing of the Services here."""
STRICT, DISABLED = mutual("mtls: {mode: STRICT}"), mutual("mtls: {mode: DISABLE}")
AT_PORT = mutual("selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}, portLevelMtls: {8080: {mode: PERMISSIVE}}")
ONLY_CALLER = source("principals: [cluster.local/ns/infra/sa/caller]")
KNOWN = rule("denied", "action: DENY, rules: [{from: [{source: {notPrincipals: ['*']}}]}]")
SIDECARS = {
    "nothing asks": ((ELSEWHERE,), (IN, IN, IN, IN)),
    "one principal": ((ONLY_CALLER,), (IN, OUT, OUT, OUT)),
    "a namespace": ((source("namespaces: [infra]"),), (IN, IN, OUT, OUT)),
    "the namespace of principals": ((source('principals: ["cluster.local/ns/infra/*"]'),), (IN, IN, OUT, OUT)),
    "namespaces by their beginning": ((source('namespaces: ["in*"]'),), (IN, IN, OUT, OUT)),
    "principals by their beginning": (
        (source('principals: ["cluster.local/ns/infra/sa/call*"]'),),
        (IN, OUT, OUT, OUT),
    ),
    "principals by their end": ((source('principals: ["*/sa/caller"]'),), (IN, OUT, IN, OUT)),
    "an end within a namespace": ((source('principals: ["*ra/sa/caller"]'),), (IN, OUT, OUT, OUT)),
    "any principal": ((source('principals: ["*"]'),), (IN, IN, IN, OUT)),
    "no principal of these": ((source("notPrincipals: [cluster.local/ns/infra/sa/caller]"),), (OUT, IN, IN, IN)),
    "no namespace of these": ((source("notNamespaces: [infra]"),), (OUT, OUT, IN, IN)),
    "nobody without a principal": ((KNOWN,), (IN, IN, IN, OUT)),
    "a service account": ((source("serviceAccounts: [infra/other]"),), (OUT, IN, OUT, OUT)),
    "no service account of these": ((source("notServiceAccounts: [infra/other]"),), (IN, OUT, IN, IN)),
    "a principal of elsewhere": ((source("principals: [partner.org/ns/infra/sa/caller]"),), (OUT, OUT, OUT, OUT)),
    "any trust domain": ((source('principals: ["*/ns/infra/sa/caller"]'),), (IN, OUT, OUT, OUT)),
    "mutual TLS": ((STRICT,), (IN, IN, IN, CUT)),
    "mutual TLS and a principal": ((STRICT, ONLY_CALLER), (IN, OUT, OUT, CUT)),
    "no mutual TLS": ((DISABLED, ONLY_CALLER), (OUT, OUT, OUT, OUT)),
    "mutual TLS elsewhere than at the port": ((AT_PORT,), (IN, IN, IN, IN)),
}
AT_ZTUNNEL = {
    "nothing asks": ((ELSEWHERE,), (IN, IN, IN, IN)),
    "one principal": ((ONLY_CALLER,), (IN, CUT, CUT, CUT)),
    "mutual TLS": ((STRICT,), (IN, IN, IN, CUT)),
    "ztunnel cannot do without": ((DISABLED, ONLY_CALLER), (IN, CUT, CUT, CUT)),
}
ON_SERVICE = "targetRefs: [{group: '', kind: Service, name: web}], "
ONLY_WAYPOINT = rule("p", "selector: {matchLabels: {app: web}}, rules: [{from: [{source: {serviceAccounts: [way]}}]}]")
WAYPOINTS = {
    "who is not in the mesh goes past the waypoint": (
        (rule("p", ON_SERVICE + "rules: [{from: [{source: {principals: [cluster.local/ns/infra/sa/caller]}}]}]"),),
        (IN, OPEN, OPEN, IN),  # an identity does not say whether a sidecar sends it, which goes past as well
    ),
    "unless only the waypoint is let in": (
        (ONLY_WAYPOINT,),
        (IN, OPEN, OPEN, CUT),  # the one workload that has the caller's identity has no sidecar
    ),
    "and another workload with the caller's identity has a sidecar": (
        (ONLY_WAYPOINT, deployment("past", "infra", "caller", "sidecar.istio.io/inject: 'true'")),
        (OPEN, OPEN, OPEN, CUT),
    ),
}


def refers(reference: str) -> str:
    return linkerd("MeshTLSAuthentication", "who", f"identityRefs: [{{{reference}}}]")


WHO = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: who}"
IDENTITY = "serviceaccount.identity.linkerd.cluster.local"
LINKERD = {
    "a Server denies": ((server(),), (OUT, OUT, OUT, OUT)),
    "everybody in the mesh": ((server(), lets(WHO), meshed('"*"')), (IN, IN, IN, OUT)),
    "one identity": ((server(), lets(WHO), meshed(f"caller.infra.{IDENTITY}")), (IN, OUT, OUT, OUT)),
    "a namespace": ((server(), lets(WHO), meshed(f'"*.infra.{IDENTITY}"')), (IN, IN, OUT, OUT)),
    "a namespace by reference": (
        (
            server(),
            lets(WHO),
            refers("kind: Namespace, name: infra"),
        ),
        (IN, IN, OUT, OUT),
    ),
    "a service account by reference": (
        (
            server(),
            lets(WHO),
            linkerd(
                "MeshTLSAuthentication", "who", "identityRefs: [{kind: ServiceAccount, name: other, namespace: infra}]"
            ),
        ),
        (OUT, IN, OUT, OUT),
    ),
    "a service account named outright": (
        (server(), lets("{kind: ServiceAccount, name: caller, namespace: third}")),
        (OUT, OUT, IN, OUT),
    ),
    "whoever is not let in is let in": ((server(more=", accessPolicy: all-unauthenticated"),), (IN, IN, IN, IN)),
    "all with an identity": ((server(more=", accessPolicy: all-authenticated"),), (IN, IN, IN, OUT)),
}
WORLDS = {
    **{f"sidecars: {name}": (mesh(*policies), ends) for name, (policies, ends) in SIDECARS.items()},
    **{f"ztunnel: {name}": (mesh(*policies, mode=AMBIENT), ends) for name, (policies, ends) in AT_ZTUNNEL.items()},
    **{
        f"waypoint: {name}": (mesh(WAYPOINT, *policies, mode=WAYPOINTED), ends)
        for name, (policies, ends) in WAYPOINTS.items()
    },
    **{f"Linkerd: {name}": (linkerd_world(*policies), ends) for name, (policies, ends) in LINKERD.items()},
}


def asked(simulation: Simulation, client: str, **more: Any) -> str:
    given = {"service": "Service shop/web", "host": "web.shop", "path": "/", "port": 80}
    return end(Tracer(simulation).trace(request({"client": client, **given, **more})))


def said(simulation: Simulation, client: str = "") -> list[str]:
    """What `reach --to Service/shop/web` says of a client, or of all."""
    tracer = Tracer(simulation)
    ways = ways_inside(tracer, None, tracer.simulation.clients.identities(client) if client else None)
    return [f"{way.requests} -> {(way.doubt and 'depends') or end(way.trace)}" for way in ways]


@pytest.mark.parametrize("name", WORLDS)
def test_who_is_let_in(name: str) -> None:
    """`trace` says what is predicted of each client, and `reach --from` the same of all of its requests."""
    simulation, ends = WORLDS[name]
    assert tuple(asked(simulation, client) for client in CLIENTS) == ends
    assert [said(simulation, client) for client in CLIENTS] == [[f"every request -> {ended}"] for ended in ends]


@pytest.mark.parametrize("world", [*(simulation for simulation, _ in WORLDS.values()), *EVERY])
def test_regions_and_traces_agree(world: Simulation | Callable[[], Simulation]) -> None:
    simulation = world if isinstance(world, Simulation) else world()
    tried, wrong = disagreements(simulation, 200)
    assert wrong == []
    assert tried or not list(entries_inside(Tracer(simulation)))
    assert disagreements(simulation, 50, 1, mixed=True)[1] == []


def test_a_way_says_who_comes_by_it() -> None:
    policies = (
        source("namespaces: [infra]"),
        rule("open", "rules: [{to: [{operation: {paths: [/healthz]}}]}]"),
        rule("tester", "action: DENY, rules: [{from: [{source: {serviceAccounts: [infra/tester]}}]}]"),
    )
    found = find([mesh(*policies)], Question(objects={_service()}))
    assert [(row.way.requests, end_in_words(row.way.trace).partition(" turns")[0]) for row in found.rows] == [
        ("/healthz from others than infra/tester or from infra/* except infra/tester", "shop/web"),
        ("/** except /healthz from others than infra/*", "403: AuthorizationPolicy shop/p"),
        ("from infra/tester", "403: AuthorizationPolicy shop/tester"),
    ]
    (listed,) = write("json", found, Paint(False))
    first, _, second = json.loads(listed)["ways"]
    assert (first["service"], first["client"], second["client"]) == (
        "Service shop/web",
        "unmeshed",
        "ServiceAccount/infra/tester",
    )
    assert second["denied"]["by"] == "AuthorizationPolicy shop/tester"


def test_who_asks_for_an_identity_asks_for_a_login() -> None:
    for policies, expected in (
        ((STRICT,), "identity in the mesh"),
        ((ELSEWHERE,), "none"),
        ((DISABLED,), "none"),
    ):
        rows = find([mesh(*policies)], Question(objects={_service()}, without="authentication")).rows
        kept = find([mesh(*policies)], Question(objects={_service()})).rows
        assert [row.answers["authentication"].state for row in rows] == ["open"] * (expected == "none")
        assert expected in next(write("csv", find([mesh(*policies)], Question(objects={_service()})), Paint(False)))
        assert kept


ROUTE = "rules: [{matches: [{path: {value: /v2}}], backendRefs: [{name: web, namespace: shop, port: 80}]}]"


def route(name: str, namespace: str) -> str:
    return worlds.manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        name,
        namespace,
        f"spec: {{parentRefs: [{{group: '', kind: Service, name: web, namespace: shop}}], {ROUTE}}}",
    )


def test_routes_of_a_service_are_for_clients_in_the_mesh() -> None:
    simulation = mesh(ELSEWHERE, route("producer", "shop"))
    assert said(simulation) == [
        "from outside the mesh -> allowed",
        "/v2/** from the mesh -> allowed",
        "/** except /v2/** from the mesh -> 404",
    ]
    assert (asked(simulation, CALLER), asked(simulation, UNMESHED)) == ("404", "allowed")


def test_what_is_noted_of_one_client_tells_no_requests_apart() -> None:
    """The waypoint sends the caller's requests on as its own; whether others pass it is not known."""
    simulation = mesh(WAYPOINT, ONLY_CALLER, mode=WAYPOINTED)
    assert disagreements(simulation, 200, mixed=True)[1] == []
    given = {"service": "Service shop/web", "host": "web.shop", "path": "/", "port": 80}
    noted = "it lets in other requests only (this one comes from waypoint shop/"
    for client, is_noted in ((CALLER, True), (OTHER, False)):
        reason = Tracer(simulation).trace(request({"client": client, **given})).outcome.reason
        assert (noted in reason) == is_noted


def test_clients_with_routes_of_their_own_come_in_by_themselves() -> None:
    simulation = mesh(ELSEWHERE, route("consumer", "infra"))
    entries = [entry.consumer for entry in entries_inside(Tracer(simulation)) if entry.gateway.name == "web"]
    assert entries == ["", "infra"]
    assert said(simulation, CALLER) == ["/v2/** -> allowed", "/** except /v2/** -> 404"]
    assert said(simulation, ALIEN) == ["every request -> allowed"]
    assert disagreements(simulation, 200)[1] == []


@pytest.mark.parametrize(
    ("home", "policy", "ends"),
    [
        ("shop", ELSEWHERE, ["every request -> allowed"]),
        ("shop", ONLY_CALLER, ["from infra/caller -> allowed", "from others than infra/caller -> reset"]),
        ("infra", ONLY_CALLER, ["from infra/* except infra/caller -> reset", "from infra/caller -> allowed"]),
    ],
)
@pytest.mark.parametrize("protocol", ["tcp", "mongo", "tls"])
def test_rules_of_requests_tell_no_connections_apart(protocol: str, home: str, policy: str, ends: list[str]) -> None:
    web = service().replace("name: http", f"name: {protocol}-web")
    apart = (worlds.labelled(name, INJECTED) for name in ("shop", "infra"))
    behind = deployment("web", "shop"), deployment("client", "infra", "caller")
    simulation = worlds.simulated(*apart, web, *behind, policy, route("a", home))
    assert disagreements(simulation, 200)[1] == []
    assert set(ends) <= set(said(simulation))


@pytest.mark.parametrize(
    ("manifests", "strict", "permissive"),
    [
        (
            (worlds.labelled("shop", "{}"), deployment("web", "shop")),
            ["every request -> depends"],
            ["every request -> allowed"],
        ),
        ((worlds.labelled("shop", INJECTED),), ["every request -> depends"], ["every request -> allowed"]),
        ((worlds.labelled("shop", "{istio-injection: disabled}"), deployment("web", "shop")), [], []),
    ],
    ids=["nothing says that its pods are in the mesh", "its pods were not seen", "its pods are not in the mesh"],
)
def test_membership_that_was_not_seen_decides_where_somebody_may_refuse(
    manifests: tuple[str, ...], strict: list[str], permissive: list[str]
) -> None:
    """Whoever lets everybody in lets everybody in, whether its pods are in the mesh or not."""
    for mode, strangers in ((STRICT, strict), (STRICT.replace("STRICT", "PERMISSIVE"), permissive)):
        assert said(worlds.simulated(service(), mode, *manifests), UNMESHED) == strangers


def test_without_a_mesh_nobody_comes_from_inside() -> None:
    assert said(worlds.simulated(worlds.labelled("shop"), service(), deployment("web", "shop"))) == []


def test_a_namespace_that_is_injected_is_in_a_mesh_without_any_policy() -> None:
    for around in (INJECTED, "{istio.io/dataplane-mode: ambient}"):
        simulation = worlds.simulated(worlds.labelled("shop", around), service(), deployment("web", "shop"))
        assert said(simulation) == ["every request -> allowed"]


def test_what_is_kept_out_of_a_mesh_says_of_none() -> None:
    outside = deployment("web", "shop", labels="sidecar.istio.io/inject: 'false'")
    assert said(worlds.simulated(worlds.labelled("shop"), service(), outside, deployment("other", "shop"))) == []


def test_the_trust_domain_of_the_mesh_and_its_aliases() -> None:
    settings = {"istio": {"trustDomain": "new.org", "trustDomainAliases": ["old.org"]}}
    for principal, expected in (
        ("new.org/ns/infra/sa/caller", IN),
        ("old.org/ns/infra/sa/caller", IN),
        ("cluster.local/ns/infra/sa/caller", IN),
        ("other.org/ns/infra/sa/caller", OUT),
        ("new.org/ns/infra/*", IN),
        ("old.org/ns/infra/*", OUT),
    ):
        world = mesh(source(f'principals: ["{principal}"]')).world
        from policylint.catalog.kinds import load_catalog

        assert asked(simulate(world, load_catalog(settings=settings)), CALLER) == expected, principal


def test_pairs_are_told_apart_by_all_that_is_said_of_them() -> None:
    globs = ["a/b", "a/*", "ab*/b", "*/b", "*/c*", "*b/*d", "*/*", "other/*", "o*/r"]
    dimension = pairs(PRINCIPAL, [Predicate("Pair", glob) for glob in globs])
    values = [
        None,
        *(f"{left}/{right}" for left in ("a", "ab", "abb", "b", "z", "o") for right in ("b", "c", "cd", "d", "r")),
    ]
    known = {frozenset(each for each in dimension.masks if each.takes(witness)) for witness in dimension.witnesses}
    assert {frozenset(each for each in dimension.masks if each.takes(value)) for value in values} <= known
    for number, witness in enumerate(dimension.witnesses):
        for predicate, mask in dimension.masks.items():
            assert bool(mask >> number & 1) == bool(predicate.takes(witness)), (witness, predicate)


def _service() -> Any:
    return next(key for key in mesh().world.resources if key.kind == "Service")


def test_identities_that_too_many_patterns_cut_are_not_told_apart() -> None:
    """1,400 namespaces beside 1,400 ends of principals would be two million classes of clients."""
    names = ", ".join(f"n{number}" for number in range(1_400))
    ends = ", ".join(f"'*/sa/s{number}'" for number in range(1_400))
    simulation = mesh(
        source(f"namespaces: [{names}]"), rule("q", f"rules: [{{from: [{{source: {{principals: [{ends}]}}}}]}}]")
    )
    (way,) = ways_inside(Tracer(simulation))
    assert (way.trace.outcome.unknown, way.undecided) == (
        True,
        ("authorization asks for the principal, which is not told apart",),
    )
