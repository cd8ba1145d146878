"""Input that is wrong on purpose: one note each, and the rest is rendered all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.test_flux import cluster, kustomization
from tests.render.trees import KUSTOMIZATION, ROUTE, codes, deployed, kustomizer, place, workspace

ON_ROUTES = "resources: [route.yaml]\npatches:\n- target: {kind: HTTPRoute}\n  patch:"
BROKEN = {
    "a resource that includes its parent": ("resources: [route.yaml, ../..]\n", "cycle"),
    "a resource that is itself": ("resources: [route.yaml, .]\n", "cycle"),
    "a path out of the repository": ("resources: [route.yaml, ../../../../../etc/passwd]\n", "outside"),
    "an absolute path": ("resources: [route.yaml, /etc/passwd]\n", "outside"),
    "a file that is not there": ("resources: [route.yaml, gone.yaml]\n", "missing-file"),
    "a remote base": ("resources: [route.yaml, 'https://example.com/a//b?ref=main']\n", "remote-base"),
    "a patch whose object is not there": (
        "resources: [route.yaml]\npatches:\n- patch: '{apiVersion: v1, kind: Service, metadata: {name: x}}'\n",
        "patch-without-target",
    ),
    "a JSON patch without a target": (
        'resources: [route.yaml]\npatches:\n- patch: \'[{"op": "remove", "path": "/spec"}]\'\n',
        "patch-without-target",
    ),
    "a patch that does not apply": (
        ON_ROUTES + ' \'[{"op": "replace", "path": "/spec/nothing/0", "value": 1}]\'\n',
        "patch-not-applied",
    ),
    "a patch that is no operation": (
        "resources: [route.yaml]\npatches:\n- target: {kind: HTTPRoute}\n  patch: '[1]'\n",
        "patch-not-applied",
    ),
    "a patch that is no YAML": (
        "resources: [route.yaml]\npatches:\n- target: {kind: HTTPRoute}\n  patch: '{'\n",
        "patch-not-read",
    ),
    "a patch file that is not there": ("resources: [route.yaml]\npatches:\n- path: gone.yaml\n", "missing-file"),
    "a component that is not there": ("resources: [route.yaml]\ncomponents: [../gone]\n", "missing-file"),
    "a replacement without a source": (
        "resources: [route.yaml]\nreplacements:\n- source: {kind: Secret}\n  targets: [{select: {kind: HTTPRoute}}]\n",
        "replacement-not-applied",
    ),
    "a replacement from an object of a kind that is none": (
        """resources: [route.yaml]
replacements:
- source: {kind: {a: 1}, name: x}
  targets: [{select: {kind: HTTPRoute}, fieldPaths: [spec.a]}]
""",
        "replacement-not-applied",
    ),
    "a transformer": ("resources: [route.yaml]\ntransformers: [t.yaml]\n", "not-covered"),
}


@pytest.mark.parametrize(("kustomization", "code"), BROKEN.values(), ids=BROKEN)
def test_one_note_and_the_run_goes_on(tmp_path: Path, kustomization: str, code: str) -> None:
    files = {
        "kustomization.yaml": KUSTOMIZATION + "resources: [a/app]\n",
        "a/app/kustomization.yaml": KUSTOMIZATION + kustomization,
        "a/app/route.yaml": ROUTE,
    }
    built = kustomizer(tmp_path, files).build("")
    assert [note.code for note in built.journal.notes] == [code]
    assert [str(each) for each in built.manifests] == ["HTTPRoute shop"]


@pytest.mark.parametrize(
    "kustomization",
    [
        "resources: 5\n",
        "resources: [{}, [], 1, null, '']\n",
        "patches: [1, {}, {patch: 5}, {target: 5, patch: x}]\nresources: [route.yaml]\n",
        "labels: [1, {pairs: 5}]\ncommonLabels: 5\nresources: [route.yaml]\n",
        "configMapGenerator: [1, {name: 5}, {name: a, literals: 5, files: [{}]}]\n",
        "replacements: [1, {source: 5, targets: 5}]\nresources: [route.yaml]\n",
        "namespace: [a]\nnamePrefix: {}\nresources: [route.yaml]\n",
        "[]",
        "5",
    ],
)
def test_nonsense_is_survived(tmp_path: Path, kustomization: str) -> None:
    files = {"app/kustomization.yaml": kustomization, "app/route.yaml": ROUTE}
    kustomizer(tmp_path, files).build("app")


@pytest.mark.parametrize(("broken", "code"), BROKEN.values(), ids=BROKEN)
def test_a_finding_each_at_the_line_that_is_wrong(tmp_path: Path, broken: str, code: str) -> None:
    """Seen from the outside: a finding in the broken application, an error where kustomize refuses it, and the one
    beside it is checked all the same."""
    files = cluster(
        kustomization("app", "./a/app"),
        **{
            "kustomization.yaml": KUSTOMIZATION + "resources: [a/app]\n",
            "a/app/kustomization.yaml": KUSTOMIZATION + broken,
            "a/app/route.yaml": ROUTE,
            "clusters/prod/well.yaml": kustomization("well", "./well"),
            "well/route.yaml": ROUTE.replace("name: shop", "name: well"),
        },
    )
    found = workspace(tmp_path, files)
    (finding,) = [each for each in found.findings() if each.rule in ("GWP911", "GWP914")]
    assert (finding.rule, finding.severity) in (("GWP911", "note"), ("GWP914", "error"))
    assert codes(found) == [code]
    assert "kustomization.yaml:" in place(finding.location, tmp_path)
    assert deployed(found) == {"prod": ["HTTPRoute default/shop", "HTTPRoute default/well"]}


def test_a_cycle_of_flux_kustomizations_and_paths_out_of_the_tree_end(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./app"),
        **{
            "clusters/prod/up.yaml": kustomization("up", "../../../../etc"),
            "clusters/prod/self.yaml": kustomization("self", "./clusters"),
            "clusters/prod/a.yaml": kustomization("a", "./a"),
            "a/b.yaml": kustomization("b", "./b"),
            "b/a.yaml": kustomization("a", "./a"),
        },
    )
    found = workspace(tmp_path, files)
    assert list(deployed(found).values()) == [["HTTPRoute default/shop", "Service default/shop"]]
    assert [place(each.location, tmp_path) for each in found.findings() if each.rule == "GWP911"] == [
        "clusters/prod/up.yaml:7"
    ]


def test_a_thousand_kustomizations_deep(tmp_path: Path) -> None:
    """Flux Kustomizations, each of which deploys the next, are no nesting: all of them are followed."""
    files = {f"k{n}/next.yaml": kustomization(f"k{n}", f"./k{n + 1}") for n in range(1000)}
    found = workspace(tmp_path, cluster(kustomization("app", "./k0"), **files, **{"k1000/route.yaml": ROUTE}))
    assert deployed(found) == {"prod": ["HTTPRoute default/shop"]}


def test_a_chain_of_a_thousand_bases_ends_in_a_note(tmp_path: Path) -> None:
    files = {f"k{n}/kustomization.yaml": f"resources: [../k{n + 1}]\n" for n in range(1000)}
    files["k1000/kustomization.yaml"] = "resources: []\n"
    built = kustomizer(tmp_path, files).build("k0")
    assert [note.code for note in built.journal.notes] == ["too-deep"]


@pytest.mark.slow
def test_bases_that_double_at_every_level_are_cut_off(tmp_path: Path) -> None:
    files = {f"k{n}/kustomization.yaml": f"resources: [../k{n + 1}, ../k{n + 1}]\n" for n in range(30)}
    files |= {"k30/kustomization.yaml": "resources: [route.yaml]\n", "k30/route.yaml": ROUTE}
    made = kustomizer(tmp_path, files)
    made.base("k0", ())
    assert made.budget.cut is not None and made.budget.cut.what == "this resource"


def test_a_symbolic_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(ROUTE)
    tree = tmp_path / "tree"
    source = kustomizer(tree, {"kustomization.yaml": "resources: [link.yaml]\n", "x.yaml": ROUTE})
    (tree / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    assert source.build("").manifests == []


def test_components_that_multiply_are_cut_off(tmp_path: Path) -> None:
    files = {f"k{n}/kustomization.yaml": f"components: [../k{n + 1}, ../k{n + 1}]\n" for n in range(30)}
    files["k30/kustomization.yaml"] = "resources: []\n"
    made = kustomizer(tmp_path, files)
    made.base("k0", ())
    assert made.budget.cut is not None


@pytest.mark.slow
def test_bases_that_all_include_each_other_end(tmp_path: Path) -> None:
    everyone = ", ".join(f"../k{n}" for n in range(12))
    files = {f"k{n}/kustomization.yaml": f"resources: [{everyone}]\n" for n in range(12)}
    made = kustomizer(tmp_path, files)
    assert "cycle" in {note.code for note in made.base("k0", ()).journal.notes} or made.budget.cut is not None


@pytest.mark.parametrize("names", [[f"n{number}" for number in range(60)], ["again"] * 1000], ids=["wide", "deep"])
def test_a_patch_that_copies_itself_ends(tmp_path: Path, names: list[str]) -> None:
    operations = "".join(f"    - {{op: copy, from: /spec, path: /spec/{name}}}\n" for name in names)
    patch = f"resources: [route.yaml]\npatches:\n- target: {{kind: HTTPRoute}}\n  patch: |\n{operations}"
    files = {"kustomization.yaml": patch, "route.yaml": ROUTE}
    made = kustomizer(tmp_path, files)
    noted = [note.code for note in made.build("").journal.notes]
    assert noted == ["patch-not-applied"] or made.budget.cut is not None


def test_a_slow_pattern_is_not_tried(tmp_path: Path) -> None:
    patch = "resources: [route.yaml]\npatches:\n- target: {name: '(s+)+x'}\n  patch: '[{op: remove, path: /spec}]'\n"
    files = {"kustomization.yaml": patch, "route.yaml": ROUTE.replace("name: shop", f"name: {'s' * 200}")}
    assert len(kustomizer(tmp_path, files).build("").manifests) == 1
