"""What the Flux Operator makes of ResourceSets: text of YAML, filled in by Go's templates, read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.model import World
from tests.render.test_flux import cluster, kustomization
from tests.render.trees import codes, place, workspace

HEAD = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: set, namespace: web}\nspec:\n"
SERVICE = "  - apiVersion: v1\n    kind: Service\n    metadata: {name: a}\n    spec:\n      ports:\n      - port: 80\n"


def world(tmp_path: Path, spec: str, **files: str) -> World:
    """The world of a cluster that deploys one ResourceSet, whose spec is given, and other files beside it."""
    tree = cluster(kustomization("app", "./sets"), **{"sets/set.yaml": HEAD + spec, **files})
    return workspace(tmp_path, tree).simulations[0].world


def services(found: World) -> list[str]:
    return sorted(f"{each.key.namespace}/{each.key.name}" for each in found.of_kind("", "Service"))


@pytest.mark.parametrize(
    ("given", "written", "expected"),
    [
        ("8080", "<< inputs.x >>", 8080),
        ('"8080"', "<< inputs.x >>", 8080),
        ("8080", '"<< inputs.x >>"', 8080),  # the text is plain: what is YAML for a text that needs no quotes
        ("8080", "<< inputs.x | quote >>", "8080"),
        ("8080", "p<< inputs.x >>", "p8080"),
        ("8080", "<< inputs.x | int >>", 8080),
        ("true", "<< inputs.x >>", True),
        ("{x: [1, b]}", "<< inputs.x.x | toYaml | nindent 10 >>", [1, "b"]),
        ("http", '<< if eq inputs.x "http" >>web<< else >>other<< end >>', "web"),
        ("a", '<< index inputs "y" | default "b" >>', "b"),
        ("Shop Front", "<< slugify inputs.x >>", "shop-front"),
        ("a", "<< inputs.provider.name >>", "set"),
        ("a", "<< inputs.id >>", "<< inputs.id >>"),
        ("ä", "<< slugify inputs.x >>", "<< slugify inputs.x >>"),
    ],
)
def test_values_are_read_again_after_the_template_was_filled_in(
    tmp_path: Path, given: str, written: str, expected: Any
) -> None:
    quoted = written if written.startswith('"') else f"'{written}'"
    spec = f"  inputs: [{{x: {given}}}]\n  resources:\n{SERVICE}        targetPort: {quoted}\n"
    (service,) = world(tmp_path, spec).of_kind("", "Service")
    assert service.spec["ports"][0]["targetPort"] == expected


def test_a_template_of_several_documents(tmp_path: Path) -> None:
    template = (
        "  inputs: [{app: a, extra: true}, {app: b}]\n  resourcesTemplate: |\n"
        "    apiVersion: v1\n    kind: Service\n    metadata:\n      name: << inputs.app >>\n"
        '    <<- if (index inputs "extra") >>\n    ---\n    apiVersion: v1\n    kind: Service\n'
        "    metadata:\n      name: << inputs.app >>-extra\n    <<- end >>\n"
    )
    assert services(world(tmp_path, template)) == ["web/a", "web/a-extra", "web/b"]


STATIC = (
    "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\n"
    "metadata: {{name: {name}, namespace: web, labels: {{for: shop}}}}\n"
    "spec: {{type: {type}, defaultValues: {{app: {name}}}}}\n"
)
NAMED = "  resources:\n  - {apiVersion: v1, kind: Service, metadata: {name: '<< inputs.app >>'}}\n"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("{kind: ResourceSetInputProvider, name: a}", ["web/a"]),
        ("{kind: ResourceSetInputProvider, selector: {matchLabels: {for: shop}}}", ["web/a", "web/b"]),
        ("{kind: ResourceSetInputProvider, selector: {matchLabels: {for: other}}}", ["web/<< inputs.app >>"]),
        ("{kind: ResourceSetInputProvider, name: elsewhere}", ["web/<< inputs.app >>"]),
    ],
)
def test_static_providers_give_their_default_values(tmp_path: Path, reference: str, expected: list[str]) -> None:
    providers = "---\n".join(STATIC.format(name=name, type="Static") for name in "ab")
    found = world(tmp_path, f"  inputsFrom: [{reference}]\n{NAMED}", **{"sets/providers.yaml": providers})
    assert services(found) == expected


def test_what_a_provider_finds_elsewhere_is_not_known(tmp_path: Path) -> None:
    provider = STATIC.format(name="a", type="GitHubBranch")
    spec = "  inputsFrom: [{kind: ResourceSetInputProvider, name: a}]\n"
    branch = (
        "  resources:\n  - {apiVersion: v1, kind: Service, metadata: {name: '<< inputs.app >>-<< inputs.branch >>'}}\n"
    )
    assert services(world(tmp_path, spec + branch, **{"sets/provider.yaml": provider})) == ["web/a-<< inputs.branch >>"]


def test_what_two_sets_of_inputs_make_alike_is_made_once(tmp_path: Path) -> None:
    assert services(world(tmp_path, f"  inputs: [{{app: a}}, {{app: a}}]\n{NAMED}")) == ["web/a"]


def test_labels_for_all_it_makes(tmp_path: Path) -> None:
    spec = f"  commonMetadata: {{labels: {{team: shop}}}}\n  inputs: [{{app: a}}]\n{NAMED}"
    (service,) = world(tmp_path, spec).of_kind("", "Service")
    assert service.metadata["labels"] == {"team": "shop"}


def test_an_object_can_be_left_out(tmp_path: Path) -> None:
    annotation = "annotations: {fluxcd.controlplane.io/reconcile: '<< inputs.on >>'}"
    spec = f"  inputs: [{{app: a, 'on': disabled}}, {{app: b, 'on': enabled}}]\n{NAMED[:-3]}, {annotation}}}}}\n"
    assert services(world(tmp_path, spec)) == ["web/b"]


def test_steps(tmp_path: Path) -> None:
    steps = "  inputs: [{app: a}]\n  steps:\n  - name: one\n" + NAMED.replace("  resources", "    resources").replace(
        "  - {", "    - {"
    )
    assert services(world(tmp_path, steps)) == ["web/a"]


def test_a_set_that_another_one_makes(tmp_path: Path) -> None:
    inner = "{apiVersion: v1, kind: Service, metadata: {name: '<< inputs.app >>'}}"
    spec = (
        "  inputs: [{app: a}]\n  resources:\n  - apiVersion: fluxcd.controlplane.io/v1\n    kind: ResourceSet\n"
        f"    metadata: {{name: inner}}\n    spec: {{resources: [{inner}]}}\n"
    )
    assert services(world(tmp_path, spec)) == ["web/a"]


def test_a_key_that_is_not_there_ends_the_whole_set(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./sets"), **{"sets/set.yaml": f"{HEAD}  inputs: [{{app: a}}, {{apps: b}}]\n{NAMED}"}
    )
    found = workspace(tmp_path, files)
    assert services(found.simulations[0].world) == []
    assert "not-generated" in codes(found)


def test_a_course_that_hangs_on_what_is_not_seen_is_noted(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./sets"),
        **{
            "sets/set.yaml": f"{HEAD}  inputsFrom: [{{kind: ResourceSetInputProvider, name: x}}]\n"
            "  resourcesTemplate: |\n    <<- if inputs.on >>\n    apiVersion: v1\n    kind: Service\n"
            "    metadata: {name: a}\n    <<- end >>\n"
        },
    )
    found = workspace(tmp_path, files)
    assert services(found.simulations[0].world) == []
    assert "template-patch" in codes(found)


def test_values_are_found_where_the_template_has_them(tmp_path: Path) -> None:
    spec = f"  inputs: [{{x: 8080}}]\n  resources:\n{SERVICE}        targetPort: << inputs.x >>\n"
    (service,) = world(tmp_path, spec).of_kind("", "Service")
    assert place(service.location("spec", "ports", 0, "targetPort"), tmp_path) == "sets/set.yaml:13"


def test_values_of_a_text_are_found_at_the_text(tmp_path: Path) -> None:
    template = (
        "  inputs: [{app: a}]\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: Service\n"
        "    metadata: {name: << inputs.app >>}\n    spec: {ports: [{port: 80}]}\n"
    )
    (service,) = world(tmp_path, template).of_kind("", "Service")
    assert place(service.location("spec", "ports", 0, "port"), tmp_path) == "sets/set.yaml:6"
