"""What a change to authorization opens and closes: addresses, claims, headers, methods and paths, per implementation.

The made changes of test_requests.py are Envoy Gateway's; each here is predicted from the documentation that
tests/reach/test_authorization.py names, and its example is put to `trace` on both sides.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare.pairing import Sides
from policylint.compare.requests import MIRRORED
from policylint.trace import Tracer
from tests import worlds
from tests.compare.test_compare import sides
from tests.compare.test_requests import _as_on_the_command_line, requests, said
from tests.reach.test_authorization import IDS, acl, agent, istio, pattern, rbac
from tests.trace.test_authorization import KINDS

Says = tuple[tuple[str, str], ...]
BACKEND = (worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"), worlds.service())
RED, BLUE = "request.headers['x-team'] == 'red'", "request.headers['x-team'] == 'blue'"
GET, OPEN = "request.method == 'GET'", "request.path.startsWith('/open')"
NETWORKS = "{{from: [{{source: {{{}: [{}]}}}}]}}"


def remote(*networks: str) -> str:
    return istio(NETWORKS.format("remoteIpBlocks", ", ".join(networks)))


def calls(methods: str, paths: str = "'/*'") -> str:
    return istio(f"{{to: [{{operation: {{methods: [{methods}], paths: [{paths}]}}}}]}}")


def of_group(*values: str) -> str:
    return istio(f"{{when: [{{key: 'request.auth.claims[groups]', values: [{', '.join(values)}]}}]}}") + f"\n---\n{IDS}"


def of_team(*values: str) -> str:
    return istio(f"{{when: [{{key: 'request.headers[x-team]', values: [{', '.join(values)}]}}]}}")


CIDRS = "{{cidrs: [{}], action: allow}}"
MADE: tuple[tuple[str, str, str, str, Says], ...] = (
    (
        "a wider list of addresses",
        "kgateway",
        acl(CIDRS.format("10.0.0.0/8")),
        acl(CIDRS.format("10.0.0.0/8, 192.0.2.0/24")),
        (("opened", "* from 192.0.2.0/24"),),
    ),
    (
        "an exception of addresses is gone",
        "kgateway",
        acl("{cidrs: [10.1.0.0/16], action: deny}, {cidrs: [10.0.0.0/8], action: allow}"),
        acl("{cidrs: [10.0.0.0/8], action: allow}"),
        (("opened", "* from 10.1.0.0/16"),),
    ),
    (
        "a network in two halves",
        "kgateway",
        acl(CIDRS.format("10.0.0.0/8")),
        acl(CIDRS.format("10.0.0.0/9, 10.128.0.0/9")),
        (),
    ),
    (
        "one more team",  # without the header CEL fails, which is for the server to say
        "kgateway",
        rbac(RED),
        rbac(RED, BLUE),
        (("opened", "* x-team: blue"),),  # without the header an expression fails, before and after
    ),
    (
        "another path",
        "kgateway",
        rbac("request.path.startsWith('/open')"),
        rbac("request.path.startsWith('/pub')"),
        (("opened", "* ~/pub.*"), ("closed", "* ~/open.*")),
    ),
    (
        "one more method",
        "kgateway",
        rbac("request.method == 'GET'"),
        rbac("request.method == 'GET'", "request.method == 'PUT'"),
        (("opened", "* PUT"),),
    ),
    ("the same in another order", "kgateway", rbac(GET, OPEN), rbac(OPEN, GET), ()),
    (
        "a path is kept out",
        "agentgateway",
        agent("request.path == '/admin'", "Deny"),
        agent("request.path == '/intern'", "Deny"),
        (("opened", "* /admin"), ("closed", "* /intern")),
    ),
    (
        "another method is required",
        "agentgateway",
        agent("request.method == 'GET'", "Require"),
        agent("request.method == 'HEAD'", "Require"),
        (("opened", "* HEAD"), ("closed", "* GET")),
    ),
    (
        "another method is kept out",
        "kuadrant",
        pattern("request.method", "neq", "DELETE"),
        pattern("request.method", "neq", "PATCH"),
        (("opened", "* DELETE"), ("closed", "* PATCH")),
    ),
    (
        "a wider pattern",
        "kuadrant",
        pattern("request.path", "eq", "/open"),
        pattern("request.method", "neq", "DELETE"),
        (("opened", "* not DELETE /** except /open"), ("closed", "* DELETE /open")),
    ),
    ("more addresses", "", remote("10.0.0.0/8"), remote("10.0.0.0/7"), (("opened", "* from 11.0.0.0/8"),)),
    ("fewer addresses", "", remote("10.0.0.0/7"), remote("10.0.0.0/8"), (("closed", "* from 11.0.0.0/8"),)),
    ("halves", "", remote("10.0.0.0/8"), remote("10.0.0.0/9", "10.128.0.0/9"), ()),
    ("a method more", "", calls("GET"), calls("GET, POST"), (("opened", "* POST"),)),
    ("a path more", "", calls("GET", "/a"), calls("GET", "/a, /b"), (("opened", "* GET /b"),)),
    ("a team more", "", of_team("red"), of_team("red", "blue"), (("opened", "* x-team: blue"),)),
    (
        "a group more",
        "",
        of_group("admin"),
        of_group("admin", "ops"),
        (("opened", "* without claim groups: admin with claim groups: ops"),),
    ),
    (
        "a denial is gone",
        "",
        istio("{to: [{operation: {paths: [/admin]}}]}", "DENY"),
        istio("{to: [{operation: {paths: [/intern]}}]}", "DENY"),
        (("opened", "* /admin"), ("closed", "* /intern")),
    ),
)


def pair_of(tmp_path: Path, name: str, before: str, after: str) -> Sides:
    if not name:
        around = worlds.gateway_class("edge", "istio.io/gateway-controller"), worlds.gateway(of_class="edge")
        return sides(tmp_path, (*around, *BACKEND, before), (*around, *BACKEND, after))
    controller, api, kind = KINDS[name]
    around = worlds.gateway_class("edge", controller), worlds.gateway(of_class="edge")
    field = "targetRef" if name == "kuadrant" else "targetRefs"
    own = (worlds.policy(api, kind, "own", "HTTPRoute/checkout", spec, "shop", field=field) for spec in (before, after))
    first, second = ((*around, *BACKEND, policy) for policy in own)
    return sides(tmp_path, first, second)


@pytest.mark.parametrize(
    ("controller", "before", "after", "says"), [made[1:] for made in MADE], ids=[made[0] for made in MADE]
)
def test_a_made_change(tmp_path: Path, controller: str, before: str, after: str, says: Says) -> None:
    pair = pair_of(tmp_path, controller, before, after)
    found = requests(pair)
    assert said(found) == says
    assert (found.unknown, found.same) == ((), not says)
    for change in found.changes:
        (example,) = _as_on_the_command_line(change.example)
        served = [bool(Tracer(side).trace(example).outcome.backends) for side in (pair.before, pair.after)]
        assert served == {"opened": [False, True], "closed": [True, False]}.get(change.change, [True, True])


@pytest.mark.parametrize(
    ("controller", "before", "after", "says"), [made[1:] for made in MADE], ids=[made[0] for made in MADE]
)
def test_going_back_is_the_mirror(tmp_path: Path, controller: str, before: str, after: str, says: Says) -> None:
    back = said(requests(pair_of(tmp_path, controller, after, before)))
    mirror: dict[str, str] = {**MIRRORED}
    assert sorted(back) == sorted((mirror[change], sets) for change, sets in says)


def test_who_was_turned_away_gets_in_where_another_controller_serves_the_class(tmp_path: Path) -> None:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    spec = f"spec: {{{target}, action: DENY, rules: [{{}}]}}"
    denies = worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "closed", "infra", spec)
    before, after = (
        (worlds.gateway_class("edge", name), worlds.gateway(of_class="edge"), *BACKEND, denies)
        for name in ("istio.io/gateway-controller", "example.net/controller")
    )
    found = requests(sides(tmp_path, before, after))
    assert {(each.change, each.severity) for each in found.changes} == {("opened", "error")}
