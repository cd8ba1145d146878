"""The built-in kustomize: what comes out, and where each value is written."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.trees import KUSTOMIZATION, ROUTE, SERVICE, deployed, kustomizer, spot, workspace, written

ON_ROUTES = "- target: {kind: HTTPRoute}\n  patch: "
PORT = "{apiVersion: v1, kind: Service, metadata: {name: shop}, spec: {ports: [{name: tls, port: 443}]}}"
FILES = {"app/route.yaml": ROUTE, "app/service.yaml": SERVICE}


def build(tmp_path: Path, kustomization: str, **more: str) -> dict[str, dict[str, object]]:
    """Kind → body of what `app/` makes with a kustomization."""
    files = {**FILES, **more, "app/kustomization.yaml": KUSTOMIZATION + kustomization}
    return {each.kind: each.body for each in kustomizer(tmp_path, files).build("app").manifests}


RESOURCES = "resources: [route.yaml, service.yaml]\n"


def test_resources_are_shared_not_copied(tmp_path: Path) -> None:
    built = kustomizer(tmp_path, {**FILES, "app/kustomization.yaml": RESOURCES}).build("app").manifests
    assert [each.body is each.origin.document.value for each in built] == [True, True]  # type: ignore[attr-defined]


def test_namespace_overwrites_and_points_into_the_kustomization(tmp_path: Path) -> None:
    files = {
        "app/kustomization.yaml": KUSTOMIZATION + "namespace: shop\nresources: [route.yaml, class.yaml, ns.yaml]\n",
        "app/route.yaml": ROUTE.replace("name: shop", "name: shop\n  namespace: elsewhere"),
        "app/class.yaml": "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: envoy}\n",
        "app/ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: not-used}\n",
    }
    built = {each.kind: each for each in kustomizer(tmp_path, files).build("app").manifests}
    assert {kind: (each.namespace, each.name) for kind, each in built.items()} == {
        "HTTPRoute": ("shop", "shop"),
        "GatewayClass": ("", "envoy"),
        "Namespace": ("", "shop"),
    }
    assert spot(built["HTTPRoute"], tmp_path, "metadata", "namespace") == "app/kustomization.yaml:3"
    assert spot(built["HTTPRoute"], tmp_path, "spec", "rules") == "app/route.yaml:11"


@pytest.mark.parametrize(
    ("patch", "pointer", "line"),
    [
        ("- path: patch.yaml\n", ("spec", "hostnames"), "app/patch.yaml:6"),
        ("- path: patch.yaml\n", ("spec", "parentRefs"), "app/route.yaml:8"),
        (
            f"{ON_ROUTES}|\n    - op: add\n      path: /spec/hostnames/0\n      value: b.example.com\n",
            ("spec", "hostnames", 0),
            "app/kustomization.yaml:9",
        ),
        (
            "- target: {kind: HTTPRoute}\n  patch: |\n    - op: remove\n      path: /spec/rules/0\n",
            ("spec", "rules", 0, "name"),
            "app/route.yaml:11",
        ),
    ],
    ids=["set by a patch file", "beside a patch", "set by an inline operation", "moved by an operation"],
)
def test_a_patched_value_is_located_where_a_person_would_change_it(
    tmp_path: Path, patch: str, pointer: tuple[str | int, ...], line: str
) -> None:
    body = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: shop\nspec:\n  hostnames: [b]\n"
    )
    files = {**FILES, "app/patch.yaml": body}
    files["app/kustomization.yaml"] = f"{KUSTOMIZATION}resources: [route.yaml]\npatches:\n{patch}"
    route = kustomizer(tmp_path, files).build("app").manifests[0]
    assert spot(route, tmp_path, *pointer) == line


V1 = "gateway.networking.k8s.io/v1"
THREE = f"{{apiVersion: {V1}, kind: HTTPRoute, metadata: {{name: NAME}}, spec: {{rules: [{{name: three}}]}}}}"
PATCHES = {
    "core lists are merged by their key, the patch's items first": (
        f"patchesStrategicMerge:\n- |\n  {PORT}\n",
        "Service",
        ["tls", "http"],
    ),
    "lists of custom resources are replaced": (
        f"patches:\n- patch: |\n    {THREE.replace('NAME', 'shop')}\n",
        "HTTPRoute",
        ["three"],
    ),
    "a name in a patch with a target does not count": (
        f"patches:\n- target: {{kind: HTTP.*, name: sh.*}}\n  patch: |\n    {THREE.replace('NAME', '_')}\n",
        "HTTPRoute",
        ["three"],
    ),
    "patchesJson6902 come last": (
        f'patchesJson6902:\n{ON_ROUTES}\'[{{"op": "remove", "path": "/spec/rules/1"}}]\'\n',
        "HTTPRoute",
        ["one"],
    ),
    "a label selector that does not match": (
        f'patches:\n{ON_ROUTES.replace("}", ", labelSelector: a=b}")}\'[{{"op": "remove", "path": "/spec"}}]\'\n',
        "HTTPRoute",
        ["one", "two"],
    ),
}


@pytest.mark.parametrize(("patch", "kind", "expected"), PATCHES.values(), ids=PATCHES)
def test_patches(tmp_path: Path, patch: str, kind: str, expected: list[str]) -> None:
    spec = build(tmp_path, RESOURCES + patch)[kind]["spec"]
    assert isinstance(spec, dict)
    assert [each["name"] for each in spec["ports" if kind == "Service" else "rules"]] == expected


def test_a_patch_may_delete_an_object(tmp_path: Path) -> None:
    patch = "patches:\n- patch: |\n    {apiVersion: v1, kind: Service, metadata: {name: shop}, $patch: delete}\n"
    assert set(build(tmp_path, RESOURCES + patch)) == {"HTTPRoute"}


def test_prefixes_follow_references_that_kustomize_knows_and_leave_those_of_routes_alone(tmp_path: Path) -> None:
    files = {
        "app/kustomization.yaml": KUSTOMIZATION
        + "namePrefix: p-\nnameSuffix: -s\nresources: [route.yaml, service.yaml, ingress.yaml]\n",
        "app/route.yaml": ROUTE.replace("- name: one", "- backendRefs: [{name: shop, port: 80}]"),
        "app/service.yaml": SERVICE,
        "app/ingress.yaml": "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec:\n"
        "  defaultBackend: {service: {name: shop}}\n",
    }
    source = kustomizer(tmp_path, files)
    built = {each.kind: each for each in source.build("app").manifests}
    assert {each.name for each in built.values()} <= {"p-shop-s", "p-i-s"}
    assert built["HTTPRoute"].body["spec"]["rules"][0]["backendRefs"][0]["name"] == "shop"


def test_labels_reach_selectors_only_where_asked(tmp_path: Path) -> None:
    labelled = build(tmp_path, RESOURCES + "labels:\n- pairs: {a: b}\n- pairs: {c: d}\n  includeSelectors: true\n")
    assert labelled["HTTPRoute"]["metadata"] == {"name": "shop", "labels": {"a": "b", "c": "d"}}
    assert labelled["Service"]["spec"]["selector"] == {"app": "shop", "c": "d"}  # type: ignore[index]


def test_a_component_changes_what_its_parent_has(tmp_path: Path) -> None:
    component = (
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: HTTPRoute}\n"
        '  patch: \'[{"op": "replace", "path": "/spec/hostnames", "value": [c.example.com]}]\'\n'
    )
    built = build(tmp_path, RESOURCES + "components: [../part]\n", **{"part/kustomization.yaml": component})
    assert built["HTTPRoute"]["spec"]["hostnames"] == ["c.example.com"]  # type: ignore[index]


@pytest.mark.parametrize(("remote", "is_refused"), [("", True), (", https://example.com/x.yaml", False)])
def test_a_component_patches_what_its_parent_has_not_seen(tmp_path: Path, remote: str, is_refused: bool) -> None:
    """A patch of a component is for what the remote base of its parent may hold."""
    patch = "apiVersion: v1\nkind: Service\nmetadata: {name: far}\nspec: {type: NodePort}\n"
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatchesStrategicMerge: [patch.yaml]\n"
    files = {**FILES, "part/kustomization.yaml": component, "part/patch.yaml": patch}
    listed = f"resources: [route.yaml, service.yaml{remote}]\ncomponents: [../part]\n"
    files["app/kustomization.yaml"] = KUSTOMIZATION + listed
    assert bool(kustomizer(tmp_path, files).build("app").journal.failures) is is_refused


def test_a_generated_name_ends_in_the_hash_kustomize_gives_it(tmp_path: Path) -> None:
    made = build(tmp_path, "configMapGenerator:\n- name: cm\n  files: [v.yaml]\n", **{"app/v.yaml": "a: 1\n"})
    assert made["ConfigMap"]["metadata"] == {"name": "cm-5fk5tt6tgt"}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_a_file_that_is_no_text_is_generated_as_bytes(tmp_path: Path, kind: str) -> None:
    """kustomize asks whether it is UTF-8; nothing in it is a variable, a host or a key."""
    content = b"\x89PNG ${\xff HOST}" + bytes(60)
    (tmp_path / "app").mkdir()
    (tmp_path / "app/a.png").write_bytes(content)
    generator = f"{kind[0].lower()}{kind[1:]}Generator:\n- name: a\n  files: [a.png, v.txt]\n"
    made = build(tmp_path, generator, **{"app/v.txt": "${HOST}"})[kind]
    field = "data" if kind == "Secret" else "binaryData"
    assert base64.b64decode(made[field]["a.png"]) == content  # type: ignore[index]
    assert made["data"].keys() == ({"v.txt"} if kind == "ConfigMap" else {"a.png", "v.txt"})  # type: ignore[attr-defined]


@pytest.mark.parametrize(("behavior", "names"), [("merge", {"a.png", "b.png"}), ("replace", {"b.png"})])
def test_generated_bytes_are_merged_as_texts_are(tmp_path: Path, behavior: str, names: set[str]) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.png").write_bytes(b"\xff\xfe")
    entry = "configMapGenerator: [{{name: m, files: [{}.png]{}}}]\n"
    files = {
        "a/kustomization.yaml": KUSTOMIZATION + entry.format("a", ""),
        "b/kustomization.yaml": KUSTOMIZATION + "resources: [../a]\n" + entry.format("b", f", behavior: {behavior}"),
    }
    (made,) = kustomizer(tmp_path, files).build("b").manifests
    assert made.body["binaryData"].keys() == names


def test_a_replacement_copies_a_field(tmp_path: Path) -> None:
    entry = (
        "replacements:\n- source: {kind: Service, name: shop, fieldPath: 'spec.ports.[name=http].port'}\n"
        "  targets:\n  - select: {kind: HTTPRoute}\n    fieldPaths: [spec.rules.*.port]\n    options: {create: true}"
    )
    rules = build(tmp_path, RESOURCES + entry)["HTTPRoute"]["spec"]["rules"]  # type: ignore[index]
    assert rules == [{"name": "one", "port": 80}, {"name": "two", "port": 80}]


STATED = "sourceValue: {}, targets: [{{select: {{kind: HTTPRoute}}, fieldPaths: {}}}]"


@pytest.mark.parametrize("in_a_file", [False, True])
@pytest.mark.parametrize(
    ("value", "path", "made"),
    [
        ("shop.example.com", "[spec.hostnames.0]", {"hostnames": ["shop.example.com"]}),
        ("three", "['spec.rules.[name=two].name']", {"rules": [{"name": "one"}, {"name": "three"}]}),
        ("''", "['spec.rules.[name=two].name']", {"rules": [{"name": "one"}, {"name": ""}]}),
    ],
)
def test_a_replacement_may_state_its_value(
    tmp_path: Path, value: str, path: str, made: dict[str, object], in_a_file: bool
) -> None:
    one = "{" + STATED.format(value, path) + "}"
    files = {"app/more.yaml": f"- {one}\n"} if in_a_file else {}
    own = FILES | {
        "app/kustomization.yaml": RESOURCES + f"replacements: [{'{path: more.yaml}' if in_a_file else one}]\n"
    }
    if "hostnames" in made:
        own["app/route.yaml"] = FILES["app/route.yaml"].replace("spec:\n", "spec:\n  hostnames: [a.example.com]\n")
    built = kustomizer(tmp_path, {**own, **files}).build("app")
    (route,) = (each for each in built.manifests if each.kind == "HTTPRoute")
    (field,) = made
    step = {"hostnames": (0,), "rules": (1, "name")}[field]
    document, pointer = route.origin.locate(("spec", field, *step))
    place = "app/more.yaml" if in_a_file else "app/kustomization.yaml"
    assert (route.body["spec"][field], built.journal.notes) == (made[field], [])
    assert (document.file.endswith(place), pointer[-1]) == (True, "sourceValue")


@pytest.mark.parametrize("wrong", ["source: {kind: Service}, sourceValue: a", "sourceValue: 5"])
def test_kustomize_refuses_a_value_beside_a_source_and_what_is_no_text(tmp_path: Path, wrong: str) -> None:
    entry = f"replacements: [{{{wrong}, targets: [{{select: {{kind: HTTPRoute}}}}]}}]\n"
    built = kustomizer(tmp_path, FILES | {"app/kustomization.yaml": RESOURCES + entry}).build("app")
    assert [each.code for each in built.journal.notes] == ["replacement-not-applied"]


def test_two_overlays_of_one_base_do_not_see_each_other(tmp_path: Path) -> None:
    overlay = KUSTOMIZATION + "namespace: {}\nresources: [../app]\n"
    files = {**FILES, "app/kustomization.yaml": RESOURCES}
    files |= {f"{name}/kustomization.yaml": overlay.format(name) for name in ("one", "two")}
    source = kustomizer(tmp_path, files)
    found = {name: {each.namespace for each in source.build(name).manifests} for name in ("one", "app", "two")}
    assert found == {"one": {"one"}, "app": {""}, "two": {"two"}}


def test_images_and_replicas_are_taken_and_mean_nothing_here(tmp_path: Path) -> None:
    more = "images: [{name: a, newTag: '2'}]\nreplicas: [{name: a, count: 2}]\n"
    files = {"kustomization.yaml": f"resources: [route.yaml]\n{more}", "route.yaml": ROUTE}
    built = kustomizer(tmp_path, files).build("")
    assert ([str(each) for each in built.manifests], built.journal.notes) == (["HTTPRoute shop"], [])


def test_bases_are_resources(tmp_path: Path) -> None:
    files = {"a/kustomization.yaml": "bases: [../b]\n", "b/kustomization.yaml": "resources: [route.yaml]\n"}
    built = kustomizer(tmp_path, {**files, "b/route.yaml": ROUTE}).build("a")
    assert [str(each) for each in built.manifests] == ["HTTPRoute shop"]


CHART = "helmCharts: [{name: csi, repo: 'oci://charts.example/csi', releaseName: csi}]\n"


@pytest.mark.parametrize(
    ("more", "noted"),
    [
        (CHART, ["chart"]),
        ("resources: [base]\n", ["chart"]),
        ("generators: [made.yaml]\n", ["not-covered"]),
        ("", ["patch-without-target"]),
    ],
)
def test_a_patch_may_be_for_what_a_chart_or_a_generator_makes(tmp_path: Path, more: str, noted: list[str]) -> None:
    patch = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: csi}, spec: {replicas: 2}}"
    files = {
        "kustomization.yaml": f"{more}patches:\n- patch: '{patch}'\n",
        "base/kustomization.yaml": CHART,
        "made.yaml": "{apiVersion: example.org/v1, kind: Maker, metadata: {name: m}}\n",
    }
    assert [each.code for each in kustomizer(tmp_path, files).build(str(tmp_path)).journal.notes] == noted
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    files |= {
        "kustomization.yaml": f"{more}components: [part]\n",
        "part/kustomization.yaml": f"{component}components: [../deeper]\n",
        "deeper/kustomization.yaml": f"{component}patches:\n- patch: '{patch}'\n",
    }
    assert [each.code for each in kustomizer(tmp_path, files).build(str(tmp_path)).journal.notes] == noted


def test_a_component_runs_over_what_a_chart_makes(tmp_path: Path) -> None:
    """kustomize, kusttarget.go, accumulateTarget: resources, generators (charts are some), components, transformers."""
    files = {
        "kustomization.yaml": "helmCharts: [{name: web, releaseName: web}]\ncomponents: [part]\n",
        "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        "charts/web/templates/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n",
        "part/kustomization.yaml": "kind: Component\npatches:\n- target: {kind: Service, name: web}\n"
        "  patch: '[{op: add, path: /spec/type, value: NodePort}]'\n",
    }
    (simulation,) = open_workspace([str(written(tmp_path, files))]).simulations
    assert [each.spec for each in simulation.world.of_kind("", "Service")] == [{"type": "NodePort"}]


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("{kind: Service, name: shop}", "", ""),
        ("{kind: Service}", "", ""),
        ("{kind: Ingress}", "", ""),
        ('{kind: Service, name: "shop|cart"}', "", ""),
        ("{kind: Service, name: cart}", "target-absent", "holds no Service cart"),
        ("{kind: Service, name: shop, namespace: elsewhere}", "target-missed", "has namespace elsewhere"),
        ("{kind: Service, name: shop, version: core/v1}", "target-missed", "has version core/v1, and the object v1"),
        ("{kind: service, name: shop}", "target-missed", "has kind service, and the object"),
        ("{kind: HTTPRoute, name: shop, group: gateway.k8s.io}", "target-missed", "gateway.networking.k8s.io"),
        (
            "{kind: HTTPRoute, name: shop, group: gateway.networking.k8s.io, version: v1beta2, namespace: elsewhere}",
            "target-missed",
            "has namespace elsewhere and version v1beta2, and the object",
        ),
    ],
)
def test_a_patch_for_one_object_that_is_not_there_is_noted(tmp_path: Path, target: str, code: str, said: str) -> None:
    """kubernetes-sigs/kustomize#5796: a target that selects nothing is no error."""
    patch = f"patches:\n- target: {target}\n  patch: '{{apiVersion: v1, kind: any, metadata: {{name: any}}}}'\n"
    files = {**FILES, "app/kustomization.yaml": KUSTOMIZATION + RESOURCES + patch}
    notes = kustomizer(tmp_path, files).build("app").journal.notes
    assert [(note.rule, note.code) for note in notes] == ([("GWP915", code)] if code else [])
    assert all(said in note.message for note in notes)


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("v1", "PersistentVolume"),
    ],
)
@pytest.mark.parametrize("moved", ["", "namespace: moved\n"])
def test_an_object_of_no_namespace_is_in_none_whatever_it_states(
    tmp_path: Path, version: str, kind: str, moved: str
) -> None:
    """kustomize, `ResId.EffectiveNamespace`."""
    patch = f"patches:\n- target: {{kind: {kind}, name: a, namespace: shop}}\n  patch: '[{{op: remove, path: /x}}]'\n"
    body = f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: a, namespace: shop}}}}\n"
    files = {"kustomization.yaml": f"{moved}resources: [a.yaml]\n{patch}", "a.yaml": body}
    (note,) = kustomizer(tmp_path, files).build(str(tmp_path)).journal.notes
    assert note.message.endswith("its target has namespace shop, and the object no namespace")


@pytest.mark.parametrize(
    ("kind", "own", "noted"),
    [
        ("Service", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n", ["GWP915"]),
        ("Service", "apiVersion: batch.example.org/v1\nkind: Task\nmetadata:\n  name: a\n", ["GWP915"]),
        ("Task", "apiVersion: batch.example.org/v1\nkind: Task\nmetadata:\n  name: a\n", []),
        ("Service", "{{ range .services }}\n{{ . }}\n{{ end }}\n", []),
    ],
)
def test_objects_of_kinds_that_nothing_reads_are_no_targets_of_another_kind(
    tmp_path: Path, kind: str, own: str, noted: list[str]
) -> None:
    patch = f"\npatches:\n- target: {{kind: {kind}, name: cart}}\n  patch: '[{{op: remove, path: /spec}}]'\n"
    kept = {**FILES, "app/own.yaml": own}
    files = {**kept, "app/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml, own.yaml]" + patch}
    assert [each.rule for each in workspace(tmp_path, files).findings() if each.rule == "GWP915"] == noted


@pytest.mark.parametrize(
    "more", ["resources: [route.yaml, gone.yaml]", "resources: [route.yaml]\nconfigurations: [gone.yaml]"]
)
def test_a_target_may_be_in_what_was_not_seen(tmp_path: Path, more: str) -> None:
    patch = "\npatches:\n- target: {kind: Service, name: cart}\n  patch: '[{op: remove, path: /spec}]'\n"
    files = {**FILES, "app/kustomization.yaml": KUSTOMIZATION + more + patch}
    expected = [] if "resources: [route.yaml, gone" in more else ["GWP915"]
    assert [note.rule for note in kustomizer(tmp_path, files).build("app").journal.notes if note.rule == "GWP915"] == (
        expected
    )


def test_a_component_need_not_find_its_targets(tmp_path: Path) -> None:
    patch = "patches:\n- target: {kind: Service, name: cart}\n  patch: '[{op: remove, path: /spec}]'\n"
    component = f"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n{patch}"
    body = KUSTOMIZATION + RESOURCES + "components: [component]\n"
    files = {**FILES, "app/kustomization.yaml": body, "app/component/kustomization.yaml": component}
    assert kustomizer(tmp_path, files).build("app").journal.notes == []


def test_a_word_that_is_a_boolean_to_the_api_server_alone_is_a_text(tmp_path: Path) -> None:
    route = ROUTE.replace("name: shop", "name: n", 1) + "\n"
    found = workspace(tmp_path, {"kustomization.yaml": f"{KUSTOMIZATION}\nresources: [r.yaml]\n", "r.yaml": route})
    assert deployed(found) == {"default": ["HTTPRoute default/n"]}
    assert [each.rule for each in found.findings({"GWP501", "GWP505", "GWP914"})] == []
