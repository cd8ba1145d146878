"""GWP324: what a change opens is a finding once, where it is edited, and the same in every run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from policylint.checks import run as lint
from policylint.compare import compare, removed_protections
from policylint.compare.pairing import Sides
from policylint.model import Finding
from tests.compare.test_compare import sides
from tests.compare.test_requests import (
    ALLOW,
    APP,
    CLASS,
    EDGE,
    JWT,
    MADE,
    OFFICE,
    Made,
    login,
    rule,
    rules,
    web,
    worlds,
)
from tests.diff.history import MAKE, SHARED, commit, run
from tests.implementations.predicted import istio as mesh
from tests.implementations.predicted import istio_beside as mesh_beside

SCHEMA = SHARED / "sarif" / "sarif-schema-2.1.0.json"
TOLD = {
    "no login",
    "a login becomes optional",
    "a rule before the one with the login",
    "a header that leads past the login",
    "CORS of a route takes the login of the Gateway away",
    "one login of two",
    "no allow list",
    "an exception is gone",
    "a header instead of an address",
    "the default lets in",
    "a rule of its own without the allow list",
}
"""Made changes of which another rule says what they open."""
KEPT_OUT = {
    "a wider CIDR": "warning",
    "a CIDR around the one that was let in": "warning",
    "one more value of a claim": "warning",
    "an exception after the rule that lets in": "error",
    "a claim is no longer asked": "error",
    "other methods": "warning",
}
"""Made changes by which requests get in that a policy turned away: a warning where a new entry names them."""


def found(pair: Sides) -> list[Finding]:
    return removed_protections([pair], compare([pair]), None, list(lint(pair.after)))


def opened(pair: Sides) -> list[Finding]:
    return [finding for finding in found(pair) if finding.rule == "GWP324"]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_what_opens_is_told_once(tmp_path: Path, made: Made) -> None:
    openings = [sets for change, sets in made.says if change in ("opened", "less-asked")]
    findings = opened(worlds(tmp_path, made))
    assert len(findings) == (0 if made.name in TOLD else len(openings))
    assert all(sets in finding.message for sets, finding in zip(openings, findings, strict=False))
    assert {finding.severity for finding in findings} <= {KEPT_OUT.get(made.name, "note")}


def allowing(*networks: str) -> str:
    return login(rules(f"{{action: Allow, principal: {{clientCIDRs: [{', '.join(networks)}]}}}}"))


HALVES = ("0.0.0.0/1", "128.0.0.0/1")
NO_TOKEN = f"{{action: Allow, principal: {{clientCIDRs: [{', '.join(HALVES)}]}}}}"


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (allowing("10.0.0.0/8"), allowing(*HALVES), "error"),
        (allowing("10.0.0.0/8"), allowing("10.0.0.0/8", "'::ffff:0.0.0.0/96'"), "error"),
        (allowing("10.0.0.0/8"), allowing("10.0.0.0/8", "'::/0'"), "error"),
        (allowing("10.0.0.0/8"), allowing("10.0.0.0/8", "203.0.113.0/24"), "warning"),
        (allowing("10.0.0.0/8"), allowing("10.0.0.0/8", "'2001:db8::/32'"), "warning"),
        (login(f"{JWT}, {rules(OFFICE)}"), login(f"{JWT}, {rules(NO_TOKEN)}"), "error"),
    ],
    ids=["all addresses", "mapped", "all of IPv6", "some more", "an IPv6 network", "all addresses, with a token"],
)
def test_anybody_is_an_error_and_who_is_named_a_warning(tmp_path: Path, before: str, after: str, severity: str) -> None:
    (finding,) = found(worlds(tmp_path, Made("", (web(), APP, before), (web(), APP, after))))
    assert finding.severity == severity


def test_two_policies_that_open_are_two_findings_and_one_of_them_is_told(tmp_path: Path) -> None:
    of_rest = "kind: HTTPRoute, name: web, sectionName: rest"
    routes = web(rule("/a", more="name: a, "), rule("/", more="name: rest, "))
    of_a = login(rules(OFFICE), "of-a", "kind: HTTPRoute, name: web, sectionName: a")
    open_default = of_a.replace("defaultAction: Deny", "defaultAction: Allow")
    wider = login(rules(OFFICE.replace("10.0.0.0/8", "10.0.0.0/7")), "of-rest", of_rest)
    before = (routes, APP, of_a, login(rules(OFFICE), "of-rest", of_rest))
    findings = found(worlds(tmp_path, Made("", before, (routes, APP, open_default, wider))))
    assert [(finding.rule, str(finding.resources[0])) for finding in findings] == [
        ("GWP304", "HTTPRoute shop/web"),
        ("GWP324", "SecurityPolicy shop/of-rest"),
    ]


def test_what_is_told_of_another_setting_tells_nothing_of_this_one(tmp_path: Path) -> None:
    before = login(f"{JWT}, {ALLOW}")
    optional = before.replace("jwt: {", "jwt: {optional: true, ")
    both = optional.replace("[10.0.0.0/8]", "[10.0.0.0/8, 192.168.0.0/16]")
    for after, expected in ((optional, {"GWP304"}), (both, {"GWP304", "GWP324"})):
        findings = found(worlds(tmp_path, Made("", (web(), APP, before), (web(), APP, after))))
        assert {finding.rule for finding in findings} == expected


def test_what_is_gone_is_told_of_at_the_route_that_takes_the_requests(tmp_path: Path) -> None:
    refuses = web(rule("/admin", "nowhere"), name="refuses")
    (finding,) = opened(worlds(tmp_path, Made("", (web(), refuses, APP), (web(), APP))))
    assert finding.message.startswith("removing HTTPRoute shop/refuses opens shop.example.com /admin/**, through")
    (related,) = finding.related
    assert finding.location.file.endswith("after/world.yaml")
    assert related.location.file.endswith("before/world.yaml")
    assert related.message == "HTTPRoute shop/refuses was written here before the change"


def test_a_way_around_a_login_is_told_already(tmp_path: Path) -> None:
    side = EDGE.replace("name: edge", "name: side")
    on_edge = login(target="kind: Gateway, name: edge", namespace="infra")
    both = "[{name: edge, namespace: infra}, {name: side, namespace: infra}]"
    before, after = (web(), APP, EDGE, side, on_edge), (web(parents=both), APP, EDGE, side, on_edge)
    assert [finding.rule for finding in found(worlds(tmp_path, Made("", before, after)))] == ["GWP302"]


def test_hosts_of_which_nothing_is_known_are_no_finding(tmp_path: Path) -> None:
    elsewhere = web(parents="[{name: elsewhere, namespace: infra}]")
    assert opened(worlds(tmp_path, Made("", (elsewhere, APP, login()), (elsewhere, APP)))) == []


LIST = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata:
  name: office
  namespace: shop
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: web
  authorization:
    defaultAction: Deny
    rules:
      - action: Allow
        principal:
          clientCIDRs:
            - 10.0.0.0/8
"""
WIDER = LIST + "            - 192.168.0.0/16\n"
WORLD = "---\n".join((web(), APP))


def repository(tmp_path: Path, before: str, after: str, **more: str) -> Path:
    around = "---\n".join((CLASS, EDGE, WORLD))
    files = {name.replace("_", "."): text for name, text in more.items()}
    commit(tmp_path / "repository", {"world.yaml": around, "office.yaml": before, **files})
    commit(tmp_path / "repository", {"office.yaml": after})
    return tmp_path / "repository"


def diff(place: Path, *arguments: str, form: str = "sarif") -> tuple[int, str]:
    code, out, err = run(place, "diff", "HEAD~1..HEAD", "-o", form, *arguments)
    assert err == ""
    return code, out


def results(place: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(diff(place)[1])["runs"][0]["results"]
    return listed


@pytest.mark.skipif(not SCHEMA.exists(), reason="../shared is not here")
def test_sarif(tmp_path: Path) -> None:
    import jsonschema

    place = repository(tmp_path, LIST, WIDER)
    _, text = diff(place)
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(json.loads(text))
    (result,) = json.loads(text)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("GWP324", "warning")
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == ("office.yaml", 18)
    said = result["message"]["text"]
    assert "opens shop.example.com from 192.168.0.0/16, through Gateway infra/edge (http 80)" in said
    assert "403: denied by SecurityPolicy shop/office -> shop/app" in said
    assert "policylint trace GET http://shop.example.com/ --from 192.168.0.1" in said
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "world.yaml"


def test_fingerprints_stay_while_lines_move(tmp_path: Path) -> None:
    moved = "# a line\n# and another one\n"
    first = results(repository(tmp_path / "a", LIST, WIDER))
    second = results(repository(tmp_path / "b", moved + LIST, moved + WIDER))
    lines = [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in (*first, *second)]
    assert lines == [18, 20]
    assert first[0]["partialFingerprints"] == second[0]["partialFingerprints"]
    other = results(repository(tmp_path / "c", LIST, LIST + "            - 172.16.0.0/12\n"))
    assert first[0]["partialFingerprints"]["policylint/v1"] != other[0]["partialFingerprints"]["policylint/v1"]


@pytest.mark.parametrize("form", ["sarif", "json-v1", "junit", "codeclimate", "github"])
def test_formats_of_findings_have_it(tmp_path: Path, form: str) -> None:
    code, out = diff(repository(tmp_path, LIST, WIDER), form=form)
    assert (code, "GWP324" in out) == (0, True)


@pytest.mark.parametrize("form", ["text", "concise"])
def test_formats_that_list_requests_do_not_say_it_twice(tmp_path: Path, form: str) -> None:
    place = repository(tmp_path, LIST, WIDER, _policylint_yaml="severity: {GWP324: note}\n")
    _, out = diff(place, form=form)
    assert (out.count("from 192.168.0.0/16"), "GWP324" in out) == (1, False)


def test_more_than_a_note_is_named_where_requests_are_listed(tmp_path: Path) -> None:
    place = repository(tmp_path, LIST, WIDER, _policylint_yaml="severity: {GWP324: error}\n")
    code, out = diff(place, form="text")
    assert code == 1
    assert (out.count("from 192.168.0.0/16"), out.count("GWP324")) == (1, 1)
    assert "1 new error" in out


@pytest.mark.parametrize("severity", ["note", "error"])
@pytest.mark.parametrize("form", ["markdown", "summary"])
def test_a_comment_says_it_in_its_headline_and_in_one_row(tmp_path: Path, form: str, severity: str) -> None:
    """The row has the reason and the rule; the setting that did it has no row of its own."""
    place = repository(tmp_path, LIST, WIDER, _policylint_yaml=f"severity: {{GWP324: {severity}}}\n")
    _, out = diff(place, form=form)
    assert "`shop.example.com from 192.168.0.0/16` becomes reachable without a login" in out
    read = re.sub(r"</?(?:wbr|code)>|`", "", out)  # a long word may break, as code of HTML
    assert "| **shop.example.com** from 192.168.0.0/16 | 403: denied by SecurityPolicy shop/office |" in read
    assert f"**Why** `office.yaml:11` (`SecurityPolicy shop/office`) ({severity} GWP324)" in out
    assert f"1 new {severity}" in out
    assert (read.count("from 192.168.0.0/16"), out.count("GWP324"), out.count("| before | after |")) == (2, 1, 1)


def test_a_stored_comment_names_it_too(tmp_path: Path) -> None:
    place = repository(tmp_path, LIST, WIDER, _policylint_yaml="severity: {GWP324: error}\n")
    (place / "diff.json").write_text(diff(place, form="json-v1")[1], encoding="utf-8")
    _, out, _ = run(place, "comment", "--dry-run", "--on", "github", "--from-json", "diff.json")
    assert "(`SecurityPolicy shop/office`) (error GWP324)" in out
    assert (out.count("GWP324"), out.count("| before | after |")) == (1, 1)


def test_it_can_fail_a_run(tmp_path: Path) -> None:
    place = repository(tmp_path, LIST, WIDER)
    assert [diff(place, "--fail-on", severity)[0] for severity in ("error", "warning")] == [0, 1]
    assert diff(place, "--fail-on", "warning", "--ignore", "GWP324")[0] == 0
    assert results(repository(tmp_path / "back", WIDER, LIST)) == []


def test_the_hook_fails_where_it_is_to(tmp_path: Path) -> None:
    place = repository(tmp_path, LIST, LIST, _policylint_yaml="severity: {GWP324: error}\n")
    (place / "office.yaml").write_text(WIDER, encoding="utf-8")
    MAKE.git(place, "add", "-A")
    code, out, _ = run(place, "diff", "--hook", "--staged", "-o", "concise")
    assert code == 1
    assert "GWP324" in out


def test_a_suppression_answers_for_it(tmp_path: Path) -> None:
    meant = "            # policylint: ignore[GWP324] reason: the second office\n            - 192.168.0.0/16\n"
    place = repository(tmp_path, LIST, LIST + meant)
    assert results(place) == []
    assert "newly suppressed" in diff(place, form="text")[1]


def test_nothing_comes_in_the_place_of_what_is_suppressed(tmp_path: Path) -> None:
    meant = "  # policylint: ignore[GWP304] reason: it moves elsewhere\n  authorization:\n"
    after = LIST.replace("  authorization:\n", meant).replace("defaultAction: Deny", "defaultAction: Allow")
    assert results(repository(tmp_path, LIST, after)) == []


def of_clients(namespace: str) -> str:
    """A DestinationRule that takes mTLS from the clients of a Service."""
    spec = "spec: {host: '*.shop.svc.cluster.local', trafficPolicy: {tls: {mode: DISABLE}}}"
    return mesh.worlds.manifest(mesh_beside.NETWORKING, "DestinationRule", "plain", namespace, spec)


@pytest.mark.parametrize("namespace", ["infra", "shop", "istio-system"])
def test_a_client_that_shows_its_certificate_again_opens_pods(tmp_path: Path, namespace: str) -> None:
    """Of the Gateway's namespace, of the Service's and of the mesh, wherever the Gateway and the pods are."""
    strict = (*mesh.BASE, mesh.tls("STRICT"))
    pair = sides(tmp_path, (*strict, of_clients(namespace)), strict)
    told = sorted(finding.message.partition(",")[0] for finding in opened(pair))
    clients = "infra/*" if namespace == "infra" else "the mesh"
    assert told == ["HTTPRoute shop/web opens *", f"the change opens web.shop from {clients}"]
