"""GWP501 and GWP505 beyond the examples of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, WORLD, lint, only, route, rules

HEAD = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x, namespace: shop}\n"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: knobpolicies.example.com}
spec:
  group: example.com
  names: {kind: KnobPolicy, plural: knobpolicies}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                targetRefs:
                  type: array
                  items:
                    type: object
                    properties:
                      group: {type: string}
                      kind: {type: string}
                      name: {type: string}
                level: {type: string, enum: [low, high]}
                count: {type: integer, maximum: 3}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
KNOB = """
apiVersion: example.com/v1
kind: KnobPolicy
metadata: {name: knob, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]
"""


@pytest.mark.parametrize(
    ("spec", "message", "pointed_at"),
    [
        ("spec: {hostname: a}\n", "sets spec.hostname, which is no field", "hostname: a}"),
        ("spec: {hostnames: a}\n", "has a string in spec.hostnames, which takes a list", "a}"),
        ('spec: {hostnames: [""]}\n', "leaves spec.hostnames[0] empty", '""]}'),
        ("spec: {hostnames: [Upper]}\n", 'has "Upper" in spec.hostnames[0], which has another form', "Upper]}"),
        (
            "spec: {rules: [{matches: [{method: GTE}]}]}\n",
            'has "GTE" in spec.rules[0].matches[0].method, which takes other values',
            "GTE}]}]}",
        ),
        (
            "spec: {parentRefs: [{namespace: infra}]}\n",
            "lacks spec.parentRefs[0].name",
            "{namespace: infra}]}",
        ),
    ],
)
def test_what_breaks_a_shipped_schema(tmp_path: Path, spec: str, message: str, pointed_at: str) -> None:
    said = only(lint(tmp_path, HEAD + spec), "GWP501")
    assert said.message == f"HTTPRoute shop/x {message}"
    assert said.pointed_at == pointed_at
    has_limit = "empty" in message or "another form" in message  # a later release may have moved it
    assert (said.severity, said.confidence) == (("warning", "assumed") if has_limit else ("error", "certain"))


@pytest.mark.parametrize(
    "spec",
    [
        'spec: {hostnames: ["${HOST}"], rules: [{matches: [{method: "${METHOD}"}]}]}\n',
        "spec: {hostnames: null}\n",
        "spec: {rules: [{sessionPersistence: {type: Cookie}}]}\n",  # the experimental channel knows it
        "spec: {}\nstatus: {whatever: 1}\n",
    ],
)
def test_what_does_not(tmp_path: Path, spec: str) -> None:
    assert "GWP501" not in rules(lint(tmp_path, HEAD + spec))


def test_what_is_experimental_may_have_other_names_in_the_cluster(tmp_path: Path) -> None:
    said = only(lint(tmp_path, f"{HEAD}spec: {{rules: [{{sessionPersistence: {{sessionName: a}}}}]}}\n"), "GWP501")
    assert said.confidence == "unknown"


def test_a_crd_of_the_tree_tells_of_its_kind(tmp_path: Path) -> None:
    said = only(lint(tmp_path, *WORLD, CRD, f"{KNOB}  levl: low\n  free: {{what: ever}}\n"), "GWP501")
    assert said.message == "KnobPolicy shop/knob sets spec.levl, which is no field"
    assert said.label == 'no such field (did you mean "level"?)'
    assert said.confidence == "certain"
    assert said.related == ("the CRD whose schema says so",)
    assert "GWP501" not in rules(lint(tmp_path, *WORLD, CRD, f"{KNOB}  level: low\n"))


def test_a_crd_that_was_left_unread_is_parsed_for_its_kind(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "shared" / "crds" / "gateway-api" / "standard"
    if not folder.is_dir():
        pytest.skip("no ../shared/crds")
    (tmp_path / "crd.yaml").write_bytes((folder / "gateway.networking.k8s.io_httproutes.yaml").read_bytes())
    route = f"{HEAD}spec: {{rules: [{{sessionPersistence: {{type: Cookie}}}}]}}\n"
    (tmp_path / "route.yaml").write_text(route, encoding="utf-8")
    (found,) = (each for each in open_workspace([str(tmp_path)]).findings({"GWP501"}))
    assert found.message == "HTTPRoute shop/x sets spec.rules[0].sessionPersistence, which is no field"
    assert found.confidence == "certain"  # the standard channel is what this tree installs


@pytest.mark.parametrize(
    ("text", "reads"),
    [("on", "true"), ("010", "8"), ("1e3", "1000"), ("1.10", "1.1"), ("1_000", "1000"), ("n", "false")],
)
def test_scalars_that_are_read_as_something_else(tmp_path: Path, text: str, reads: str) -> None:
    spec = f"spec: {{rules: [{{matches: [{{headers: [{{name: a, value: {text}}}]}}]}}]}}\n"
    found = lint(tmp_path, HEAD + spec)
    said = only(found, "GWP505")
    assert f"`{text}`" in said.message
    assert f"reads as {reads}" in said.message
    assert said.help == (f'fix: write `"{text}"`',)
    assert "GWP501" not in rules(found)


def test_a_plain_number_breaks_the_schema_and_surprises_nobody(tmp_path: Path) -> None:
    spec = "spec: {rules: [{matches: [{headers: [{name: a, value: 8080}]}]}]}\n"
    assert [each for each in rules(lint(tmp_path, HEAD + spec)) if each in ("GWP501", "GWP505")] == ["GWP501"]


def test_labels_and_selectors_hold_text(tmp_path: Path) -> None:
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: x, labels: {a: on, b: '1'}}\nspec: {selector: {v: 1.10}}\n"
    )
    found = [each.message for each in lint(tmp_path, service) if each.rule == "GWP505"]
    assert len(found) == 2
    assert "metadata.labels.a" in found[0]
    assert "spec.selector.v" in found[1]


def test_a_key_that_is_read_as_something_else(tmp_path: Path) -> None:
    said = only(lint(tmp_path, "apiVersion: v1\nkind: Service\nmetadata: {name: x, labels: {y: a}}\n"), "GWP505")
    assert said.label == "this sets `true`, not `y`"
    assert said.pointed_at == "y: a}}"


def test_a_crd_that_keeps_everything_takes_everything(tmp_path: Path) -> None:
    """`x-kubernetes-preserve-unknown-fields` at the root: the API server keeps what no schema lists."""
    begin = CRD.index("          properties:\n")
    crd = f"{CRD[:begin]}          x-kubernetes-preserve-unknown-fields: true\n"
    assert only(lint(tmp_path, *WORLD, CRD, KNOB + "  unheard: of\n"), "GWP501").label.startswith("no such field")
    assert "GWP501" not in rules(lint(tmp_path, *WORLD, crd, KNOB + "  unheard: of\n"))


def test_the_api_server_fills_in_defaults_before_it_judges(tmp_path: Path) -> None:
    """`type` of an address defaults to IPAddress, which the two branches of its rule tell apart."""
    addresses = GATEWAY + "  addresses: [{value: %s}]\n"
    assert rules(lint(tmp_path, addresses % "192.0.2.7", route(), SERVICE)) == []
    named = GATEWAY + "  addresses: [{type: Hostname, value: edge.example.com}]\n"
    assert rules(lint(tmp_path, named, route(), SERVICE)) == []


def test_a_network_policy_is_judged_where_nothing_else_is_wrong(tmp_path: Path) -> None:
    policy = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: x, namespace: shop}
spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: nowhere}}]}]}
"""
    assert only(lint(tmp_path, policy), "GWP501").message == "NetworkPolicy shop/x is refused: 'nowhere' is no CIDR"
