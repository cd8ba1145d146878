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
