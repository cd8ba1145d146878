"""What trace says around the answer: nearest misses, what came second, notes, refusals, checks, the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.report.trace.expecting import checks
from policylint.trace import RequestError, Requirements, Tracer, from_url, request
from policylint.workspace import open_workspace
from tests import worlds
from tests.conftest import Golden
from tests.implementations.predicted import istio as of_istio
from tests.worlds import gateway, route, service

WORLDS = Path(__file__).parent / "worlds"
SHOP = Path(__file__).parents[2] / "fixtures" / "envoy-gateway-shop"


def run(*words: str) -> Any:
    return CliRunner().invoke(main, ["trace", *words], standalone_mode=False)


def text(*words: str) -> str:
    result = run(*words)
    assert result.exception is None, result.exception
    return str(result.output)


@pytest.fixture(scope="module")
def precedence() -> Tracer:
    return Tracer(open_workspace([str(WORLDS / "precedence.yaml")]).simulations[0])


@pytest.mark.parametrize(
    ("asked", "loser", "why"),
    [
        ({"host": "paths.test", "path": "/abc/def"}, "longer", "PathPrefix /abc/def comes after Exact"),
        ({"host": "paths.test", "path": "/abc/def/g"}, "prefix", "PathPrefix /abc is shorter"),
        ({"host": "cond.test", "path": "/p", "method": "POST"}, "plain", "it has no method match"),
        ({"host": "cond.test", "path": "/p", "headers": {"x-one": "1"}}, "plain", "no header matches against 1"),
        ({"host": "cond.test", "path": "/p?q=1&r=2"}, "query", "1 query match against 2"),
        ({"host": "cond.test", "path": "/same"}, "second", "it comes later in the route"),
        ({"host": "age.test"}, "rule-1", "the other route is older"),
        ({"host": "name.test"}, "rule-1", "shop/a-name comes first by name (no creation time is stated)"),
        (
            {"host": "www.example.com", "path": "/longer"},
            "rule-1",
            "hostname *.example.com is less specific than www.example.com",
        ),
    ],
)
def test_what_came_second(precedence: Tracer, asked: dict[str, Any], loser: str, why: str) -> None:
    trace = precedence.trace(request(asked))
    assert (loser, why) in [(each.rule.section, each.because) for each in trace.considered]


def test_an_order_that_nobody_states_is_noted(precedence: Tracer) -> None:
    trace = precedence.trace(request({"host": "name.test"}))
    assert any("no manifest says which is" in note for note in trace.notes)
    assert not any("no manifest" in note for note in precedence.trace(request({"host": "age.test"})).notes)


@pytest.mark.parametrize(
    ("asked", "nearest", "needs"),
    [
        ({"host": "cond.test", "path": "/hre"}, "header-regex", ("header v ~ v[12]",)),
        ({"host": "cond.test", "path": "/get", "method": "PUT"}, "only-get", ("method GET",)),
        ({"host": "cond.test", "path": "/twic", "headers": {"x-a": "1"}}, "twice", ("PathPrefix /twice",)),
    ],
)
def test_a_404_names_the_nearest_rule(
    precedence: Tracer, asked: dict[str, Any], nearest: str, needs: tuple[str, ...]
) -> None:
    trace = precedence.trace(request(asked))
    assert trace.outcome.status == 404
    assert (trace.nearest[0].node.section, trace.nearest[0].needs) == (nearest, needs)


def test_a_route_that_is_not_attached_is_the_nearest(precedence: Tracer) -> None:
    trace = precedence.trace(request({"host": "any.test", "port": 8080}))
    assert trace.nearest[0].node.key.name == "refused"
    assert "allows only its own namespace" in trace.nearest[0].needs[0]


def test_a_port_without_a_listener_names_those_there_are() -> None:
    assert "refused: nothing listens on port 80; https is" not in text("GET", "http://shop.example.com/", str(SHOP))
    assert "needs port 443, protocol HTTPS" in text("GET", "http://shop.example.com/", str(SHOP))


def test_the_page(golden: Golden) -> None:
    golden("canary.txt", text("GET", "https://shop.example.com/checkout", "-H", "x-canary: 1", str(SHOP)))


def test_the_page_of_a_404(golden: Golden) -> None:
    golden("missing.txt", text("GET", "https://shop.example.com/checkut", str(SHOP)))


def test_json_is_a_list_of_one() -> None:
    said = json.loads(text("GET", "https://shop.example.com/checkout", "-o", "json", str(SHOP)))
    assert said["version"] == "trace-v1"
    (one,) = said["requests"]
    assert one["listener"] == "Listener infra/edge#https"
    assert one["outcome"] == {"backends": {"Service shop/checkout": 1.0}}
    assert one["considered"] == []
    assert {each["kind"] for each in one["policies"]} == {"BackendTrafficPolicy", "SecurityPolicy"}


def test_the_policies_are_those_of_simulate() -> None:
    from policylint.report.kit.identity import Names
    from policylint.report.simulate.simulation_v1 import sections
    from policylint.report.trace.trace_v1 import entry

    workspace = open_workspace([str(SHOP)])
    simulation = workspace.simulations[0]
    names = Names(simulation.world.resources)
    trace = Tracer(simulation).trace(from_url("GET", "https://shop.example.com/checkout"))
    path = names.path(trace.path)
    effective = next(entries for name, entries in sections(workspace.simulations) if name == "effective")
    theirs = {each["kind"]: each["spec"] for each in effective if each["path"][: len(path)] == path}
    assert {each["kind"]: each["spec"] for each in entry(trace, names)["policies"]} == theirs


def test_mesh_from_the_command_line() -> None:
    said = text("GET", "http://cart.shop/v2", "--from", "Deployment/third/x", str(WORLDS / "mesh.yaml"))
    assert "HTTPRoute shop/producer, rule 1" in said and "reaches shop/cart-v2" in said


def test_grpc_from_the_command_line() -> None:
    said = text("grpc", "http://grpc.test/pkg.Items/Get", str(WORLDS / "precedence.yaml"))
    assert "GRPCRoute shop/calls, rule by-both" in said


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"hots": "x"}, "no field 'hots' (did you mean 'host'?)"),
        ({"scheme": "ftp"}, "scheme 'ftp' is none of"),
        ({"port": "x"}, "port 'x' is not a number"),
        ([], "a request is a mapping"),
        ({"headers": ["x"]}, "headers is a mapping"),
    ],
)
def test_what_cannot_be_asked(given: Any, complaint: str) -> None:
    with pytest.raises(RequestError) as error:
        request(given)
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "METHOD and URL are missing"),
        (("shop.example.com", str(SHOP)), "try https://shop.example.com"),
        (("GET", "http://x/", "-H", "nocolon", str(SHOP)), "is not a header"),
        (("GET", "http://x:abc/", str(SHOP)), "is not a URL"),
        (
            ("GET", "https://x/", "--gateway", "edg", str(SHOP)),
            "there is no Gateway 'edg' (did you mean Gateway infra/edge?)",
        ),
        (("--requests", "nowhere.yaml", str(SHOP)), "cannot read 'nowhere.yaml'"),
        (
            ("GET", "http://cart/", "--from", "Deployment/shop/web", "--to", "Service/shop/kart", str(SHOP)),
            "did you mean",
        ),
    ],
)
def test_wrong_usage(words: tuple[str, ...], complaint: str) -> None:
    result = run(*words)
    assert complaint in str(result.exception)


def test_check_passes_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "requests.yaml"
    good = {
        "scheme": "https",
        "host": "shop.example.com",
        "path": "/checkout",
        "expect": {"backend": "Service shop/checkout"},
    }
    file.write_text(json.dumps([good]))
    result = run("--requests", str(file), "--check", str(SHOP))
    assert (result.return_value, result.output) == (0, "1 of 1 requests do what is expected\n")
    file.write_text(json.dumps([good, {**good, "expect": {"status": 404}}, {**good, "expect": {}}]))
    result = run("--requests", str(file), "--check", str(SHOP))
    assert result.return_value == 1
    assert "status: expected 404, got 200" in result.output
    assert "1 of 2 requests do what is expected, 1 without `expect`" in result.output


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"policies": ["SecurityPolicy infra/edge-jwt"]}, True),
        ({"policies": ["SecurityPolicy infra/edge-jwt", "SecurityPolicy infra/other"]}, False),
        ({"policies": []}, False),
        ({"hasNot": {"policies": ["SecurityPolicy infra/other"]}}, True),
        ({"hasNot": {"policies": ["SecurityPolicy infra/other", "SecurityPolicy infra/edge-jwt"]}}, False),
    ],
)
def test_policies_are_at_least_those_expected(expect: dict[str, Any], holds: bool) -> None:
    (tracer,) = (Tracer(simulation) for simulation in open_workspace([str(SHOP)]).simulations)
    trace = tracer.trace(request({"scheme": "https", "host": "shop.example.com", "path": "/cart"}))
    (check,) = checks(trace, expect)
    assert check.holds is holds, check.got


@pytest.mark.parametrize("unwanted", [{}, [], {"policy": ["x"]}, {"policies": []}, "SecurityPolicy infra/other"])
def test_has_not_that_names_nothing_is_refused(precedence: Tracer, unwanted: object) -> None:
    trace = precedence.trace(request({"host": "paths.test", "path": "/"}))
    with pytest.raises(RequestError, match="hasNot"):
        list(checks(trace, {"hasNot": unwanted}))


def test_check_needs_something_expected(tmp_path: Path) -> None:
    file = tmp_path / "requests.yaml"
    file.write_text("[{host: shop.example.com, expect: {bakend: x}}]")
    assert "did you mean 'backend'?" in str(run("--requests", str(file), "--check", str(SHOP)).exception)
    file.write_text("[{host: shop.example.com}]")
    assert "--check needs" in str(run("--requests", str(file), "--check", str(SHOP)).exception)
    file.write_text("{a: b}")
    assert "expected a list of requests" in str(run("--requests", str(file), str(SHOP)).exception)


def test_two_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True
        )

    for file in ("infra/gateway.yaml", "infra/edge-jwt.yaml", "shop/checkout.yaml"):
        (tmp_path / Path(file).name).write_text((SHOP / file).read_text())
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "checkout-cors.yaml").write_text((SHOP / "shop/checkout-cors.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    url = "https://shop.example.com/checkout"
    said = text("GET", url, "--at", "main..")
    assert "Result: reaches shop/checkout, no login." in said
    assert "On main: reaches shop/checkout, jwt required." in said
    assert "Result: reaches shop/checkout, jwt required." in text("GET", url, "--at", "main")
    data = json.loads(text("GET", url, "--at", "main..", "-o", "json"))
    assert (data["revision"], len(data["before"])) == ("main", 1)
    assert "On HEAD: reaches shop/checkout, jwt required, by the same rule and policies." in text(
        "GET", url, "--at", "HEAD..main"
    )
    assert "unknown" in str(run("GET", url, "--at", "nope").exception)
    merge_base = text("GET", url, "--at", "HEAD...main")
    assert re.search("On [0-9a-f]{40}: reaches shop/checkout, jwt required, by the same rule and policies", merge_base)
    assert "cannot read revision 'a'" in str(run("GET", url, "--at", "a...b").exception)


def test_variables_in_hostnames_may_be_anything(tmp_path: Path) -> None:
    world = (WORLDS / "precedence.yaml").read_text().replace("paths.test", '"paths.${DOMAIN}"')
    (tmp_path / "world.yaml").write_text(world)
    tracer = Tracer(open_workspace([str(tmp_path)]).simulations[0])
    trace = tracer.trace(request({"host": "paths.shop.org", "path": "/abc"}))
    assert trace.rule is not None and trace.rule.section == "prefix"
    assert trace.notes == ("paths.${DOMAIN} is taken to be paths.shop.org: nothing in the tree fills in its variable",)
    assert tracer.trace(request({"host": "path.shop.org", "path": "/abc"})).outcome.status == 404


def test_a_host_that_no_route_serves_names_the_likeliest(precedence: Tracer) -> None:
    trace = precedence.trace(request({"host": "path.test", "path": "/abc"}))
    assert trace.outcome.reason == "no route of this listener serves host path.test"
    assert (trace.nearest[0].node.key.name, trace.nearest[0].needs) == ("paths", ("host paths.test",))


def test_timeouts_retries_and_parts_of_mirrors_are_said() -> None:
    certificates = open_workspace([str(WORLDS / "certificates.yaml")]).simulations[0]
    asked = {"scheme": "https", "host": "x.test", "path": "/", "clientCertificate": "Secret shop/mine"}
    trace = Tracer(certificates).trace(request(asked))
    assert [each.what for each in trace.steps] == [
        "request timeout 10s",
        "timeout of each try none",
        "retry 3 times on 500",
    ]
    assert trace.notes == ("whether Secret shop/mine is signed by the right authority is not checked",)
    merged = open_workspace([str(WORLDS / "merged.yaml")]).simulations[0]
    trace = Tracer(merged).trace(request({"host": "refs.test", "path": "/copy"}))
    assert [each.what for each in trace.steps] == ["mirror 20 % of the requests", "mirror 0 % of the requests"]


def test_a_certificate_that_is_kept_out_of_the_repository_is_taken_to_be_there(tmp_path: Path) -> None:
    """Private keys are rarely in git: that the Secret is not among the manifests closes no listener."""
    world = (WORLDS / "certificates.yaml").read_text().replace("metadata: {name: cert,", "metadata: {name: another,")
    (tmp_path / "world.yaml").write_text(world)
    simulation = open_workspace([str(tmp_path)]).simulations[0]
    trace = Tracer(simulation).trace(request({"scheme": "https", "host": "x.test", "port": 8443, "path": "/"}))
    assert list(map(str, trace.outcome.backends)) == ["Service shop/a"]
    assert trace.notes == ("Secret shop/cert is taken to be there: nothing in the tree deploys it",)


def test_a_secret_whose_text_is_no_certificate_is_no_proof_that_the_listener_is_closed(tmp_path: Path) -> None:
    """Who writes a stand-in into the tree must not be able to keep requests from being looked at."""
    world = (WORLDS / "certificates.yaml").read_text().replace('tls.crt: "${CERT}"', 'tls.crt: "nothing"')
    (tmp_path / "world.yaml").write_text(world)
    simulation = open_workspace([str(tmp_path)]).simulations[0]
    trace = Tracer(simulation).trace(request({"scheme": "https", "host": "x.test", "port": 8443, "path": "/"}))
    assert list(map(str, trace.outcome.backends)) == ["Service shop/a"]
    assert trace.notes == ("Secret shop/cert has no PEM in tls.crt: it is taken for a stand-in",)


REFUSED = "{name: cert, namespace: pay}"


@pytest.mark.parametrize(
    ("references", "notes"),
    [
        (f"[{{name: gone}}, {REFUSED}]", ["Secret shop/gone is taken to be there: nothing in the tree deploys it"]),
        (f"[{REFUSED}, {{name: gone}}]", ["Secret shop/gone is taken to be there: nothing in the tree deploys it"]),
        ("[{name: gone}, {name: own}]", []),
        (f"[{{name: own}}, {REFUSED}]", []),
    ],
)
def test_what_one_certificate_is_taken_for_is_said_whatever_is_wrong_with_another(
    references: str, notes: list[str]
) -> None:
    """One that the listener may not use leaves it to the one that nothing deploys; one that is there is enough."""
    listener = f"{{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: {references}}}}}"
    pair = "data: {tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t, tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t}"
    simulation = worlds.simulated(
        worlds.gateway_class("edge", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(namespace="shop", of_class="edge", listeners=f"[{listener}]"),
        worlds.route(parents="[{name: edge}]", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.manifest("v1", "Secret", "own", "shop", f"type: kubernetes.io/tls\n{pair}"),
        worlds.manifest("v1", "Secret", "cert", "pay", f"type: kubernetes.io/tls\n{pair}"),
    )
    trace = Tracer(simulation).trace(request({"scheme": "https", "host": "x.test"}))
    assert list(trace.notes) == notes


def test_what_two_policies_decide_is_two_conditions(tmp_path: Path) -> None:
    from policylint.report.kit.identity import Names
    from policylint.report.trace.text import result

    login = "rules: {authentication: {k: {apiKey: {selector: {}}}}, authorization: {claims: {opa: {rego: x}}}}"
    simulation = worlds.opened(
        tmp_path,
        worlds.gateway(of_class="istio"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy("kuadrant.io/v1", "AuthPolicy", "a", "HTTPRoute/checkout", login, "shop", field="targetRef"),
        worlds.policy(
            "security.istio.io/v1", "AuthorizationPolicy", "b", "Gateway/edge",
            "rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}]", "infra",
        ),
    )  # fmt: skip
    tracer = Tracer(simulation)
    trace = tracer.trace(request({"host": "a.test"}))
    assert result(trace, Names.of((simulation,)), Requirements(tracer).of(trace, "authentication")) == (
        "reaches shop/checkout, authentication required, if AuthPolicy shop/a allows it (claims), and if let in: "
        "that depends on the client's address (infra/b)."
    )


def test_a_refusal_behind_a_waypoint_says_whose_identity_is_seen(tmp_path: Path) -> None:
    """The policy names the caller, and ztunnel sees the waypoint."""
    behind = "selector: {matchLabels: {app: web}}, "
    simulation = worlds.opened(tmp_path, *of_istio.BEHIND, of_istio.rule(behind + of_istio.FROM_CALLER))
    trace = Tracer(simulation).trace(request({**of_istio.REQUEST, "host": "web.shop"}))
    assert trace.outcome.reason.endswith(
        "at Deployment shop/web: it lets in other requests only (this one comes from waypoint shop/way)"
    )


def test_a_backend_of_another_repository_is_taken_to_be_there_one_of_this_is_missing(tmp_path: Path) -> None:
    edges = (gateway("inner", "infra"), gateway("outer", "infra"))
    parents = "[{name: inner, namespace: infra}, {name: outer, namespace: infra}]"
    web = route("web", parents=parents, more="rules: [{backendRefs: [{name: app, port: 80}]}]")
    for name, *more in (("elsewhere",), ("here", service("other"))):
        place = tmp_path / name
        place.mkdir()
        (place / "world.yaml").write_text("---\n".join((*edges, web, *more)), encoding="utf-8")
    elsewhere, here = (text("GET", "http://a.test/", "-C", str(tmp_path / name)) for name in ("elsewhere", "here"))
    assert "Result: reaches shop/app, no login." in elsewhere
    assert "note: Service shop/app is taken to be there: no Service of namespace shop is in the tree" in elsewhere
    assert "note: Gateway infra/outer would answer it too" in elsewhere
    assert "Result: 500: nothing deploys Service shop/app." in here
    assert "taken to be there" not in here


@pytest.mark.parametrize(
    ("controller", "stated", "steps"),
    [
        ("networking.gke.io/gateway", "retry: {attempts: 2}", []),
        ("konghq.com/kic-gateway-controller", "timeouts: {request: 60s}, retry: {attempts: 2}", []),
        ("konghq.com/kic-gateway-controller", "timeouts: {backendRequest: 60s}", ["timeout of each try 1m"]),
        ("gateway.nginx.org/nginx-gateway-controller", "timeouts: {backendRequest: 60s}", []),
        ("gateway.envoyproxy.io/gatewayclass-controller", "retry: {attempts: 2}", ["retry 2 times"]),
    ],
)
def test_what_a_controller_does_not_read_of_a_rule_does_nothing(controller: str, stated: str, steps: list[str]) -> None:
    """As GWP526 says of the same fields."""
    more = f"rules: [{{{stated}, backendRefs: [{{name: checkout, port: 80}}]}}]"
    simulation = worlds.simulated(
        worlds.gateway_class("any", controller), worlds.gateway(), worlds.route(more=more), worlds.service()
    )
    assert [step.what for step in Tracer(simulation).trace(from_url("GET", "http://a.example.com/")).steps] == steps
