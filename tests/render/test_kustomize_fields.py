"""What kustomize changes in single fields, and what it refuses: found by its own library on generated trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.render.kustomize.build import Built
from tests.render.trees import kustomizer

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      initContainers: [{name: first, image: "example.com:5000/team/api:1@sha256:ab"}]
      containers: [{name: main, image: nginx, ports: [{containerPort: 53, protocol: UDP}]}]
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\n"
BINDING = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: web, namespace: shop}, {kind: ServiceAccount, name: default, namespace: x}]
"""
POLICY = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {app: a}}}]}]}
"""
HOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks: [{name: a.example.com, clientConfig: {service: {name: web, namespace: shop}}}]
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: {kept: x}}\ndata: {a: '1'}\n"
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, labels: {app: web}}
spec: {hostnames: [a.example.com], parentRefs: [{name: edge}], rules: [{name: one}, {name: one-more}]}
"""


def built(tmp_path: Path, kustomization: str, *objects: str, **more: str) -> Built:
    files = {"app/objects.yaml": "---\n".join(each.lstrip() for each in objects)} if objects else {}
    files |= {f"app/{path.replace('__', '/')}.yaml": text for path, text in more.items()}
    resources = "resources: [objects.yaml]\n" if objects else ""
    return kustomizer(tmp_path, {**files, "app/kustomization.yaml": resources + kustomization}).whole.build("app")


def made(tmp_path: Path, kustomization: str, *objects: str, **more: str) -> dict[str, Any]:
    """Kind → body of what a kustomization makes of objects."""
    told = built(tmp_path, kustomization, *objects, **more)
    assert not told.journal.failures
    return {each.kind: each.body for each in told.manifests}


def test_images_change_wherever_containers_are(tmp_path: Path) -> None:
    fields = "images:\n- {name: nginx, newName: mirror/nginx, newTag: '2'}\n"
    fields += "- {name: example.com:5000/team/api, digest: sha256:cd}\n"
    pod = made(tmp_path, fields, DEPLOYMENT)["Deployment"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "mirror/nginx:2"
    assert pod["initContainers"][0]["image"] == "example.com:5000/team/api@sha256:cd"


def test_replicas_are_set_and_refused_where_nothing_has_the_name(tmp_path: Path) -> None:
    assert made(tmp_path, "replicas: [{name: web, count: 0}]\n", DEPLOYMENT)["Deployment"]["spec"]["replicas"] == 0
    assert built(tmp_path, "replicas: [{name: other, count: 0}]\n", DEPLOYMENT).journal.failures


def test_selectors_of_network_policies_take_labels_that_go_into_selectors(tmp_path: Path) -> None:
    spec = made(tmp_path, "labels: [{pairs: {team: a}, includeSelectors: true}]\n", POLICY)["NetworkPolicy"]["spec"]
    assert spec["podSelector"]["matchLabels"] == {"app": "web", "team": "a"}
    assert spec["ingress"][0]["from"][0]["podSelector"]["matchLabels"] == {"app": "a", "team": "a"}


def test_names_follow_into_subjects_webhooks_and_pods(tmp_path: Path) -> None:
    objects = made(tmp_path, "namePrefix: p-\nnamespace: prod\n", DEPLOYMENT, ACCOUNT, BINDING, HOOK, SERVICE)
    assert objects["Deployment"]["spec"]["template"]["spec"]["serviceAccountName"] == "p-web"
    subjects = objects["ClusterRoleBinding"]["subjects"]
    assert [(each["namespace"], each["name"]) for each in subjects] == [("prod", "p-web"), ("prod", "default")]
    hook = objects["ValidatingWebhookConfiguration"]["webhooks"][0]
    assert hook["clientConfig"]["service"] == {"name": "p-web", "namespace": "prod"}


def test_a_later_label_changes_what_an_earlier_one_added_in_several_places(tmp_path: Path) -> None:
    """kustomize holds what one transformer adds to an object as one value."""
    base = "resources: [../objects.yaml]\nlabels: [{pairs: {team: a}, includeSelectors: true}]\n"
    overlay = "resources: [base]\nlabels: [{pairs: {team: b}}]\n"
    spec = made(tmp_path, overlay, objects=DEPLOYMENT, base__kustomization=base)["Deployment"]["spec"]
    assert spec["selector"]["matchLabels"]["team"] == spec["template"]["metadata"]["labels"]["team"] == "b"


def test_configurations_add_fields_and_act_in_overlays(tmp_path: Path) -> None:
    base = "resources: [../objects.yaml]\nconfigurations: [../fields.yaml]\n"
    fields = "namespace: [{path: spec/parentRefs/namespace, kind: HTTPRoute, create: true}]\n"
    route = made(
        tmp_path, "resources: [base]\nnamespace: shop\n", objects=ROUTE, base__kustomization=base, fields=fields
    )
    assert route["HTTPRoute"]["spec"]["parentRefs"] == [{"name": "edge", "namespace": "shop"}]


@pytest.mark.parametrize(("behaviour", "data"), [("merge", {"a": "1", "b": "2"}), ("replace", {"b": "2"})])
def test_a_generator_takes_the_place_of_a_map_that_is_there(
    tmp_path: Path, behaviour: str, data: dict[str, str]
) -> None:
    generator = (
        f"configMapGenerator: [{{name: web, behavior: {behaviour}, literals: [b=2], options: {{immutable: true}}}}]\n"
    )
    assert made(tmp_path, generator, MAP)["ConfigMap"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", "labels": {"kept": "x"}},
        "data": data,
        "immutable": True,
    }


def test_secrets_are_generated_in_base64(tmp_path: Path) -> None:
    secret = made(tmp_path, "secretGenerator: [{name: web, literals: [password=test]}]\n")["Secret"]
    assert secret["data"] == {"password": "dGVzdA=="}


def test_patches_for_several_objects_write_null_labels_as_texts(tmp_path: Path) -> None:
    patch = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, labels: {app: null}}}"
    single = made(tmp_path, f"patches: [{{patch: '{patch}'}}]\n", ROUTE)["HTTPRoute"]
    several = made(tmp_path, f"patches: [{{patch: '{patch}', target: {{kind: HTTPRoute}}}}]\n", ROUTE)["HTTPRoute"]
    assert single["metadata"].get("labels") in (None, {})
    assert several["metadata"]["labels"] == {"app": "null"}


@pytest.mark.parametrize(
    "patch", ["[{op: add, path: /metadata/labels, value: {a: b}}]", "{metadata: {labels: {a: b}}}"]
)
def test_an_empty_target_selects_all(tmp_path: Path, patch: str) -> None:
    """utilitywarehouse/system-manifests; kubectl kustomize builds it so."""
    found = built(tmp_path, f"patches: [{{patch: '{patch}', target: {{}}}}]\n", ROUTE, SERVICE)
    assert found.journal.failures == []
    assert [each.body["metadata"]["labels"]["a"] for each in found.manifests] == ["b", "b"]


@pytest.mark.parametrize(
    "patch", ["- op: add\n  path: /spec/x\n  '{{ .wave }}'\n", "{{ if .more }}\n- op: add\n", "# nothing yet\n"]
)
def test_what_a_patch_of_which_nothing_can_be_read_is_for_may_be_anything(tmp_path: Path, patch: str) -> None:
    """kenlasko/k8s: its names were to be replaced, and it was said that one is there twice."""
    lines = "".join(f"    {line}\n" for line in patch.splitlines())
    told = built(tmp_path, f"patches:\n- target: {{kind: HTTPRoute}}\n  patch: |\n{lines}", ROUTE, SERVICE)
    assert [(each.kind, bool(each.provisional)) for each in told.manifests] == [("HTTPRoute", True), ("Service", False)]
    assert [note.code for note in told.journal.notes] == ["patch-not-read"]


@pytest.mark.parametrize("target", ["", ", target: null"])
def test_a_json_patch_without_a_target_patches_nothing(tmp_path: Path, target: str) -> None:
    patch = f"patches: [{{patch: '[{{op: remove, path: /metadata/labels}}]'{target}}}]\n"
    assert built(tmp_path, patch, ROUTE, SERVICE).journal.failures


def test_a_patch_of_a_port_names_it_by_number_and_protocol(tmp_path: Path) -> None:
    ports = "[{port: 53, protocol: UDP, name: dns}]"
    patch = f"{{apiVersion: v1, kind: Service, metadata: {{name: web, namespace: shop}}, spec: {{ports: {ports}}}}}"
    service = SERVICE.replace("{port: 80}", "{port: 53, protocol: TCP}, {port: 53, protocol: UDP}")
    changed = made(tmp_path, f"patches: [{{patch: '{patch}'}}]\n", service)["Service"]["spec"]["ports"]
    assert changed == [{"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 53, "protocol": "TCP"}]


def test_what_kustomize_loses_of_ports_is_not_known(tmp_path: Path) -> None:
    patch = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, labels: {a: b}}}"
    service = SERVICE.replace("{port: 80}", "{port: 53}, {port: 53, protocol: UDP}")
    told = built(tmp_path, f"patches: [{{patch: '{patch}'}}]\n", service)
    assert [bool(each.provisional) for each in told.manifests] == [True]


def test_items_of_a_replacement_target_are_found_by_an_expression(tmp_path: Path) -> None:
    replacement = (
        "replacements:\n- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n"
        "  - select: {kind: HTTPRoute}\n    fieldPaths: ['spec.rules.[name=one].timeout']\n"
        "    options: {create: true}\n"
    )
    rules = made(tmp_path, replacement, ROUTE, MAP)["HTTPRoute"]["spec"]["rules"]
    assert rules == [{"name": "one", "timeout": 1}, {"name": "one-more", "timeout": 1}]


TARGETED = "{target: {kind: HTTPRoute}, patch: '[{op: remove, path: /spec/rules}]'}"
OF_WEB = "- source: {kind: ConfigMap, name: web, fieldPath: data.a"
REFUSED = {
    "a generator of what is there": "configMapGenerator: [{name: web, literals: [a=b]}]\n",
    "a generator that merges with nothing": "configMapGenerator: [{name: other, behavior: merge, literals: [a=b]}]\n",
    "a key that is generated twice": "configMapGenerator: [{name: other, literals: [a=b, a=c]}]\n",
    "a literal without a key": "configMapGenerator: [{name: other, literals: [a]}]\n",
    "an old JSON patch without a name": f"patchesJson6902: [{TARGETED}]\n",
    "a replacement of a field that is not there": (
        f"replacements:\n{OF_WEB}}}\n  targets: [{{select: {{kind: HTTPRoute}}, fieldPaths: [spec.none]}}]\n"
    ),
    "a replacement of a part that is not there": (
        f"replacements:\n{OF_WEB}, options: {{delimiter: '.', index: 4}}}}\n"
        "  targets: [{select: {kind: HTTPRoute}, fieldPaths: [spec.hostnames.0]}]\n"
    ),
    "a field with two settings of create": "labels: [{pairs: {a: b}, fields: [{path: metadata/labels}]}]\n",
    "two objects that a patch gives one name": (
        "patches: [{target: {kind: HTTPRoute}, options: {allowNameChange: true}, patch: "
        "'{apiVersion: a, kind: HTTPRoute, metadata: {name: same}}'}]\n"
    ),
}


@pytest.mark.parametrize("kustomization", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path: Path, kustomization: str) -> None:
    assert built(tmp_path, kustomization, ROUTE, ROUTE.replace("name: web", "name: other"), MAP).journal.failures


def test_components_and_kustomizations_are_not_taken_for_one_another(tmp_path: Path) -> None:
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {a: b}}]\n"
    assert built(tmp_path, "resources: [part]\n", part__kustomization=component).journal.failures
    whole = "labels: [{pairs: {a: b}}]\n"
    assert built(tmp_path, "components: [part]\n", part__kustomization=whole).journal.failures


def test_one_directory_twice_is_refused(tmp_path: Path) -> None:
    base = "resources: [../objects.yaml]\n"
    assert built(tmp_path, "resources: [base, base]\n", objects=ROUTE, base__kustomization=base).journal.failures
