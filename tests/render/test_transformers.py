"""`transformers:` of kustomizations: namespaces, as kustomize gives them; nothing else is covered."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.test_against_kubectl import differences
from tests.render.test_flux import SYNC
from tests.render.test_flux import kustomization as of_flux
from tests.render.trees import KUSTOMIZATION, ROUTE, codes, deployed, workspace, written

MOVE = """
apiVersion: builtin
kind: NamespaceTransformer
metadata: {name: into, namespace: NAMESPACE}
unsetOnly: false
fieldSpecs:
- {path: metadata/name, kind: Namespace, create: true}
- {path: spec/targetNamespace, group: kustomize.toolkit.fluxcd.io, kind: Kustomization, create: true}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: none}\n"
BINDING = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: other}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: other}, {kind: ServiceAccount, name: x, namespace: other}]
"""
APP = {
    "app/kustomization.yaml": KUSTOMIZATION + "resources: [ns.yaml, route.yaml, binding.yaml, ks.yaml]\nTRANSFORMERS\n",
    "app/ns.yaml": NAMESPACE,
    "app/route.yaml": ROUTE,
    "app/binding.yaml": BINDING,
    "app/ks.yaml": of_flux("inner", "./inner"),
}
SHARED = {
    "shared/kustomization.yaml": KUSTOMIZATION + "resources: [move.yaml]\n",
    "shared/move.yaml": MOVE.replace("NAMESPACE}", ".invalid}"),
    "app/transformers/kustomization.yaml": KUSTOMIZATION + "namespace: network\nresources: [../../shared]\n",
}
"""One configuration for all namespaces, whose own namespace is what they give."""


def app(field: str, **more: str) -> dict[str, str]:
    changed = APP["app/kustomization.yaml"].replace("TRANSFORMERS", field)
    return {**APP, "app/kustomization.yaml": changed, **more}


WAYS = {
    "a file": app("transformers: [move.yaml]", **{"app/move.yaml": MOVE.replace("NAMESPACE}", "network}")}),
    "a directory": app("transformers: [transformers]", **SHARED),
    "after its own namespace": app("namespace: own\ntransformers: [transformers]", **SHARED),
    "one after the other": app(
        "transformers: [first.yaml, move.yaml]",
        **{
            "app/first.yaml": MOVE.replace("NAMESPACE}", "first}"),
            "app/move.yaml": MOVE.replace("NAMESPACE}", "network}"),
        },
    ),
    "written in the field": app(
        "transformers:\n- |\n" + "".join(f"  {line}\n" for line in MOVE.replace("NAMESPACE}", "network}").splitlines())
    ),
    "no fields": app(
        "transformers: [move.yaml]",
        **{"app/move.yaml": MOVE.replace("NAMESPACE}", "network}").partition("fieldSpecs")[0]},
    ),
}


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS)
def test_kubectl_makes_the_same(tmp_path: Path, files: dict[str, str]) -> None:
    assert differences(written(tmp_path, files)) == []


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS)
def test_every_object_is_in_the_namespace_that_it_gives(tmp_path: Path, files: dict[str, str]) -> None:
    found = workspace(tmp_path, files)
    assert "HTTPRoute network/shop" in deployed(found)["default"]
    assert codes(found) == []


def test_a_kustomization_of_flux_hands_it_on(tmp_path: Path) -> None:
    """As home-ops repositories do it: the namespace of a directory is that of all its applications."""
    files = {
        **app("transformers: [transformers]", **SHARED),
        SYNC: of_flux("flux-system", "./app"),
        "inner/route.yaml": ROUTE.replace("name: shop", "name: inner"),
    }
    (routes,) = deployed(workspace(tmp_path, files)).values()
    assert [key for key in routes if "HTTPRoute" in key] == ["HTTPRoute network/inner", "HTTPRoute network/shop"]


OTHERS = {
    "another transformer": MOVE.replace("NAMESPACE}", "network}").replace("NamespaceT", "LabelT"),
    "another field": MOVE.replace("NAMESPACE}", "network}") + "more: 1\n",
    "only where there is none": MOVE.replace("NAMESPACE}", "network}").replace("false", "true"),
    "no namespace": MOVE.replace(", namespace: NAMESPACE", ""),
    "all subjects": MOVE.replace("NAMESPACE}", "network}") + "setRoleBindingSubjects: allServiceAccounts\n",
}


@pytest.mark.parametrize("configuration", OTHERS.values(), ids=OTHERS)
def test_others_are_not_covered(tmp_path: Path, configuration: str) -> None:
    found = workspace(tmp_path, app("transformers: [t.yaml]", **{"app/t.yaml": configuration}))
    assert codes(found) == ["not-covered"]
    route = next(each for each in found.simulations[0].world.resources.values() if each.key.kind == "HTTPRoute")
    assert (
        route.provisional == f"`transformers` of {tmp_path}/app/kustomization.yaml are not rendered"
        or route.provisional
    )


def test_where_it_is_written(tmp_path: Path) -> None:
    found = open_workspace([str(written(tmp_path, WAYS["a file"]))])
    (route,) = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    assert route.location("metadata", "namespace").at()[0] == 3
    assert route.location("metadata", "namespace").file.endswith("app/move.yaml")
