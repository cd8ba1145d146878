"""GWP912: variables in a Kustomization of Flux that its own `postBuild` sets."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated

SETS = "postBuild: {substitute: {CLUSTER: blue}}"


def told(spec: str) -> list[str]:
    kustomization = manifest(
        "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "iam", "flux-system", f"spec: {{{spec}}}"
    )
    return [each.message for each in run(simulated(kustomization), select={"GWP912"})]


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("healthChecks: [{kind: Role, name: 'eks-${CLUSTER}'}]", "spec.healthChecks[0].name"),
        ("path: './clusters/${CLUSTER}'", "spec.path"),
        ("dependsOn: [{name: '${CLUSTER}-base'}]", "spec.dependsOn[0].name"),
    ],
)
def test_a_variable_that_it_sets_for_what_it_builds_stays_in_itself(field: str, place: str) -> None:
    whose = "Kustomization flux-system/iam"
    assert told(f"{SETS}, {field}") == [f"{place} of {whose} holds ${{CLUSTER}}, which its postBuild does not fill in"]
    assert told(field) == []  # whoever applies it may fill it in


@pytest.mark.parametrize("field", ["patches: [{patch: 'a: ${CLUSTER}'}]", "targetNamespace: '${CLUSTER}'", "path: ./a"])
def test_what_becomes_part_of_the_build_is_filled_in(field: str) -> None:
    assert told(f"{SETS}, {field}") == []


@pytest.mark.parametrize(
    ("name", "namespace", "value"),
    [
        ("iam", "${CLUSTER}", "blue"),
        ("${CLUSTER}-iam", "flux-system", "blue"),
        ("iam", "flux-system", "${CLUSTER}"),
        ("iam", "flux-system", "${CLUSTER:=blue}"),
    ],
)
def test_what_it_has_from_who_applies_it_is_filled_in_everywhere(name: str, namespace: str, value: str) -> None:
    """mesosphere/kommander-applications: the variables of the workspace, which it passes on."""
    spec = f"spec: {{postBuild: {{substitute: {{CLUSTER: '{value}'}}}}, healthChecks: [{{name: '${{CLUSTER}}'}}]}}"
    kustomization = manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", f"'{name}'", f"'{namespace}'", spec)
    assert not list(run(simulated(kustomization), select={"GWP912"}))


@pytest.mark.parametrize(("namespace", "told"), [("flux-system", True), ("${HOME_OF_IT}", False)])
def test_what_a_variable_places_may_be_there(namespace: str, told: bool) -> None:
    group = "toolkit.fluxcd.io"
    waiting = manifest(
        f"kustomize.{group}/v1", "Kustomization", "db", f"'{namespace}'", "spec: {dependsOn: [{name: operator}]}"
    )
    release = manifest(f"helm.{group}/v2", "HelmRelease", "operator", f"'{namespace}'", "spec: {}")
    found = [each.message for each in run(simulated(waiting, release), select={"GWP914"})]
    assert bool(found) is told
