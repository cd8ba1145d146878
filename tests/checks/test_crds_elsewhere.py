"""A CRD that lies in another part of the tree is not certain to be the one of objects that nothing deploys either."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shapings.acme.example}
spec:
  group: acme.example
  names: {kind: ShapingPolicy, plural: shapings}
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                rate: {type: integer}
                mode: {type: string, enum: [audit, enforce]}
                ref: {type: object, properties: {branch: {type: string}}}
                targetRef: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
SHAPING = """
apiVersion: acme.example/v1alpha1
kind: ShapingPolicy
metadata: {name: slow, namespace: shop}
spec: {FIELD, targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}}
"""
MISSPELT, UNKNOWN, LONGER, WRONG = "rates: 5", "burstiness: 5", "rateUp: 5", "rate: high"
NEIGHBOR = "branch: main"
BEFORE, WORD, CASE, SLIP = "celRate: 5", "mode: warn", "mode: Audit", "mode: enfroce"
CERTAIN, ASSUMED, NOTE = ("error", "certain"), ("warning", "assumed"), ("note", "assumed")


def said(folder: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    """Severity and confidence of what GWP501 says of the policy."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    found = open_workspace([str(folder)]).findings()
    return [(each.severity, each.confidence) for each in found if each.rule == "GWP501"]


@pytest.mark.parametrize(
    ("crd", "policy"),
    [
        ("crd.yaml", "apps/shop/slow.yaml"),
        ("crds/crd.yaml", "apps/shop/slow.yaml"),
        ("config/crd/bases/crd.yaml", "config/samples/slow.yaml"),
        ("apps/crd.yaml", "apps/slow.yaml"),
    ],
)
@pytest.mark.parametrize("field", [MISSPELT, UNKNOWN, LONGER, WRONG, BEFORE, WORD, CASE, SLIP])
def test_one_beside_them_is_theirs(tmp_path: Path, crd: str, policy: str, field: str) -> None:
    assert said(tmp_path, {crd: CRD, policy: SHAPING.replace("FIELD", field)}) == [CERTAIN]


@pytest.mark.parametrize(
    ("crd", "policy"),
    [("terraform/cluster/manifests/crd.yaml", "apps/slow.yaml"), ("a/b/crd.yaml", "slow.yaml")],
)
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        *((MISSPELT, ASSUMED), (UNKNOWN, NOTE), (LONGER, NOTE), (BEFORE, NOTE), (WRONG, ASSUMED)),
        *((WORD, NOTE), (CASE, NOTE), (SLIP, ASSUMED), (NEIGHBOR, ASSUMED)),
    ],
)
@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1"])
def test_one_in_another_part_of_the_tree_may_not_be(
    tmp_path: Path, crd: str, policy: str, field: str, expected: tuple[str, str], version: str
) -> None:
    """A later release has more fields, and more words, of a stable version as well."""
    texts = (CRD, SHAPING.replace("FIELD", field))
    there, written = (each.replace("v1alpha1", version) for each in texts)
    if field == WRONG and "alpha" not in version:  # of these the types stay
        expected = CERTAIN
    assert said(tmp_path, {crd: there, policy: written}) == [expected]


def test_the_one_beside_counts_alone(tmp_path: Path) -> None:
    files = {
        "terraform/cluster/manifests/crd.yaml": CRD,
        "apps/crds/crd.yaml": CRD.replace("rate: {", "rates: {"),
        "apps/slow.yaml": SHAPING.replace("FIELD", "rates: 5"),
        "terraform/slow.yaml": SHAPING.replace("FIELD", "rate: 5").replace("slow", "other"),
    }
    assert said(tmp_path, files) == []
    (tmp_path / "apps/slow.yaml").write_text(files["terraform/slow.yaml"])
    assert CERTAIN in said(tmp_path, {"apps/slow.yaml": SHAPING.replace("FIELD", "rate: 5").replace("slow", "third")})
