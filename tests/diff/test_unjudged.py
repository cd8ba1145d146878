"""What a change touches that nobody evaluates is told, whatever its kind, and never sworn to change nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import worlds
from tests.diff.history import commit, run

TREE = "---".join(
    (
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="eg"),
        worlds.route(),
        worlds.service(),
    )
)
LOGIN = """\
apiVersion: sso.example.net/v1
kind: LoginRule
metadata: {name: staff, namespace: shop}
spec:
  strictness: 3
  image: login:1
  servers: [a, b]
"""
BUCKET = """\
apiVersion: storage.example.net/v1
kind: Bucket
metadata: {name: logs, namespace: shop, labels: {net.example/visibility: cluster-local}}
spec:
  region: eu
  access: {mode: private}
  refreshInterval: 1h
  logging: {access: true}
  settings: {minTLSVersion: "1.2"}
  notes: |
    # who may read
    allow staff
    colour blue
"""
OPENED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  users.anonymous.enabled: "false"
  url: https://argo.example.com
"""
DASHBOARD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: dashboard, namespace: shop}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: dashboard, image: "d:1", args: [--port=1]}]}
"""
BROKER = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: nats, namespace: shop}
data:
  nats.conf: |
    port: 4222
    authorization { users = [{user: shop, password: $P, publish: [orders]}] }
"""
BOUND = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, name: staff}]
"""
ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
"""
FUNNEL = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: tail, namespace: shop, annotations: {tailscale.com/tags: x}}
spec: {ingressClassName: tailscale, defaultBackend: {service: {name: checkout, port: {number: 80}}}}
"""


def findings(place: Path, before: dict[str, str | None], after: dict[str, str | None]) -> tuple[list[str], str]:
    """The messages of new GWP304s, and the report in words."""
    commit(place, {"tree.yaml": TREE, **before})
    commit(place, after)
    _, out, _ = run(place, "diff", "HEAD~1..HEAD", "-o", "json")
    new = [each for each in json.loads(out)["findings"] if each["state"] == "new" and each["rule"] == "GWP304"]
    _, words, _ = run(place, "diff", "HEAD~1..HEAD")
    return [each["message"] for each in new], words


@pytest.mark.parametrize(
    ("before", "old", "new", "expected"),
    [
        (LOGIN, "strictness: 3", "strictness: 1", "strictness"),
        (LOGIN, "[a, b]", "[a]", "servers"),
        (BUCKET, "private", "public", "access.mode"),
        (BUCKET, "allow staff", "allow all", "notes"),
        (BUCKET, "visibility: cluster-local", "visibility: everywhere", "net.example/visibility"),
        (BUCKET, '"1.2"', '"1.0"', "an older version of TLS will do"),
        (OPENED, '"false"', '"true"', "users-anonymous-enabled"),
        (DASHBOARD, "--port=1", "--port=1, --enable-skip-login", "enable-skip-login"),
        (BROKER, "[orders]", "['>']", "nats-conf"),
        (BOUND, "name: staff", "name: system:authenticated", "subjects"),
        (BOUND, "name: view", "name: cluster-admin", "goes from view to cluster-admin"),
        (ROLE, "[configmaps]", "[configmaps, secrets]", "now holds secrets"),
        (ROLE, "[get]", "[get, escalate]", "now holds escalate"),
        (FUNNEL, "tags: x", "funnel: 'true'", "tailscale.com/funnel"),
    ],
)
def test_a_change_of_what_may_bear_on_access_is_told(
    tmp_path: Path, before: str, old: str, new: str, expected: str
) -> None:
    assert old in before
    messages, words = findings(tmp_path, {"more.yaml": before}, {"more.yaml": before.replace(old, new)})
    assert len(messages) == 1, messages
    assert expected in messages[0]
    assert "as before" not in words


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (LOGIN, "login:1", "login:2"),
        (LOGIN, "[a, b]", "[b, a]"),
        (LOGIN, "strictness: 3", 'strictness: "3"'),
        (BUCKET, "region: eu", "region: us"),
        (BUCKET, "1h", "2h"),
        (BUCKET, "access: true", "access: false"),
        (BUCKET, '"1.2"', '"1.3"'),
        (BUCKET, "blue", "green"),
        (BUCKET, "# who may read", "# who may write"),
        (DASHBOARD, "d:1", "d:2"),
        (OPENED, "https://argo", "https://cd"),
        (ROLE, "reader}", "reader, labels: {team: shop}}"),
    ],
)
def test_versions_orders_and_texts_are_not(tmp_path: Path, before: str, old: str, new: str) -> None:
    assert old in before
    messages, _ = findings(tmp_path, {"more.yaml": before}, {"more.yaml": before.replace(old, new)})
    assert messages == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"more.yaml": LOGIN.replace("LoginRule", "AccessFirewall")}, {"more.yaml": None}, "is gone"),
        ({}, {"more.yaml": LOGIN.replace("LoginRule", "VhostPermission")}, "is new"),
    ],
)
def test_what_guards_and_goes_or_grants_and_comes_is_told(
    tmp_path: Path, before: dict[str, str | None], after: dict[str, str | None], expected: str
) -> None:
    messages, _ = findings(tmp_path, before, after)
    assert len(messages) == 1
    assert expected in messages[0]


def test_a_patch_of_a_kustomization_reads_what_it_patches(tmp_path: Path) -> None:
    patch = "patches:\n- target: {kind: LoginRule}\n  patch: |\n    - {op: replace, path: /spec/strictness, value: 1}\n"
    base = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [tree.yaml, more.yaml]\n"
    before: dict[str, str | None] = {"kustomization.yaml": base, "more.yaml": LOGIN}
    messages, _ = findings(tmp_path, before, {"kustomization.yaml": base + patch})
    assert len(messages) == 1
    assert "strictness" in messages[0]


@pytest.mark.parametrize(
    ("patch", "reference"),
    [
        ("name: staff", "- path: patch.yaml"),
        ("name: any", "- {path: patch.yaml, target: {kind: LoginRule}}"),
        ("name: any", "- {path: patch.yaml, target: {kind: Login.*, name: staff}}"),
        ("name: any", "- {path: patch.yaml, target: {labelSelector: team=shop}}"),
    ],
)
def test_an_edited_patch_reads_what_it_patches(tmp_path: Path, patch: str, reference: str) -> None:
    of_file = LOGIN.replace("name: staff", patch).partition("  image")[0]
    before: dict[str, str | None] = {
        "kustomization.yaml": f"resources: [tree.yaml, more.yaml]\npatches:\n{reference}\n",
        "more.yaml": LOGIN.replace("namespace: shop", "namespace: shop, labels: {team: shop}"),
        "patch.yaml": of_file,
    }
    messages, _ = findings(tmp_path, before, {"patch.yaml": of_file.replace("3", "1")})
    assert len(messages) == 1
    assert "strictness" in messages[0]


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  source: {repoURL: https://git.example.com/shop.git, path: charts/shop}
  destination: {server: https://kubernetes.default.svc, namespace: shop}
"""


@pytest.mark.parametrize("file", ["charts/shop/values.yaml", "charts/shop/templates/login.yaml"])
def test_a_chart_of_the_tree_that_is_not_rendered_is_unknown(tmp_path: Path, file: str) -> None:
    chart: dict[str, str | None] = {
        "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
        "charts/shop/values.yaml": "login: {required: true}\n",
        "charts/shop/templates/login.yaml": '{{ $_ := set .Values.login "by" (randAlpha 3) }}\nkind: Login\n',
        "argocd/shop.yaml": APPLICATION,
    }
    _, words = findings(tmp_path, chart, {file: f"{chart[file]}# other\n"})
    assert f"{file} changes, and Application shop is not" in " ".join(words.split())
    assert "as before" not in words


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("kubectl -n shop patch securitypolicy login --type=json -p '[]'", True),
        ("oc delete networkpolicy deny -n shop", True),
        ("kubectl -n shop label namespace shop istio-injection-", True),
        ("kubectl -n shop get securitypolicy", False),
        ("kubectl -n shop delete pod web", False),
    ],
)
def test_a_script_that_comes_to_change_objects_is_told(tmp_path: Path, command: str, expected: bool) -> None:
    messages, words = findings(tmp_path, {"deploy.sh": "#!/bin/sh\n"}, {"deploy.sh": f"#!/bin/sh\n{command}\n"})
    assert bool(messages) == expected
    assert not messages or ("deploy.sh" in messages[0] and "as before" not in words)


GATE = """\
apiVersion: gate.example.org/v1
kind: AccessPolicy
metadata: {name: shop, namespace: shop}
spec: {level: strict, login: {required: true}, roles: [staff]}
"""
ANNOTATED = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: shop, annotations: {door.example.net/login: "true", door.example.net/title: a}}
spec: {rules: [{host: shop.example.com}]}
"""
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: board, namespace: shop}
spec:
  selector: {matchLabels: {app: board}}
  template:
    metadata: {labels: {app: board}, annotations: {door.example.net/login-required: "true"}}
    spec: {containers: [{name: board, image: "board:1", env: [{name: BOARD_AUTH_REQUIRED, value: "true"}]}]}
"""
ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: shop, namespace: shop}
automountServiceAccountToken: false
"""
OTHER = GATE.replace("name: shop,", "name: other,")
DIRECTED = [
    (GATE, GATE.replace("required: true", "required: false"), "warning"),
    (GATE, GATE.replace("required: true", "required: 'true'"), ""),
    (GATE, GATE.replace("[staff]", "['*']"), "warning"),
    (GATE, GATE.replace("level: strict", "level: lax"), "note"),  # whose level, and which one is stronger?
    (GATE, "", "warning"),
    (GATE, OTHER, ""),  # another one of the kind comes instead
    (ANNOTATED, ANNOTATED.replace('"true"', '"false"'), "warning"),
    (ANNOTATED, ANNOTATED.replace("title: a", "title: b"), ""),
    (POD, POD.replace("login-required: \"true\"", "login-required: \"false\""), "warning"),
    (POD, POD.replace("value: \"true\"", "value: \"false\""), "warning"),
    (POD, POD.replace("board:1", "board:2"), ""),
    (ACCOUNT, ACCOUNT.replace("false", "true"), "note"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "severity"), DIRECTED)
def test_what_is_certain_by_its_words_warns(tmp_path: Path, before: str, after: str, severity: str) -> None:
    commit(tmp_path, {"tree.yaml": TREE, "more.yaml": before})
    commit(tmp_path, {"more.yaml": after or None})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    new = [each for each in json.loads(out)["findings"] if each["state"] == "new" and each["rule"] == "GWP304"]
    assert [each["severity"] for each in new] == ([severity] if severity else [])


VALUES = "# of the board\nauth:\n  required: true\n  allowedUsers: [ada]\ncolor: blue\n"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("required: true", "required: false", 3), ("[ada]", "[ada, '*']", 4), ("blue", "red", 0), ("of the", "of a", 0)],
)
@pytest.mark.parametrize("file", ["chart/values.yaml", "apps/board/values-prod.yaml"])
def test_values_of_charts_are_read_by_their_words(tmp_path: Path, file: str, old: str, new: str, line: int) -> None:
    chart = {"chart/Chart.yaml": "apiVersion: v2\nname: board\nversion: 0.1.0\n"} if file.startswith("chart") else {}
    commit(tmp_path, {"tree.yaml": TREE, file: VALUES, **chart})
    commit(tmp_path, {file: VALUES.replace(old, new)})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    found = [each for each in json.loads(out)["findings"] if each["state"] == "new"]
    assert [(each["severity"], each["location"]["line"]) for each in found] == ([("warning", line)] if line else [])


BY_NAME = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: board, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  sources:
    - {repoURL: https://charts.example.com, chart: board, targetRevision: 1.0.0, helm: {valueFiles: [$v/prod.yaml]}}
    - {repoURL: https://git.example.com/fleet, targetRevision: main, ref: v}
"""
IN_KUSTOMIZATION = """\
kind: Kustomization
apiVersion: kustomize.config.k8s.io/v1beta1
helmCharts:
  - {name: board, repo: https://a.example.com, valuesInline: {auth: {required: true}, args: [--insecure=false]}}
"""


@pytest.mark.parametrize(
    ("files", "file", "old", "new"),
    [
        ({"app.yaml": BY_NAME, "prod.yaml": VALUES}, "prod.yaml", "required: true", "required: false"),
        ({"kustomization.yaml": IN_KUSTOMIZATION}, "kustomization.yaml", "required: true", "required: false"),
        ({"kustomization.yaml": IN_KUSTOMIZATION}, "kustomization.yaml", "insecure=false", "insecure=true"),
    ],
)
def test_values_are_found_by_what_takes_them(
    tmp_path: Path, files: dict[str, str], file: str, old: str, new: str
) -> None:
    commit(tmp_path, {"tree.yaml": TREE, **files})
    commit(tmp_path, {file: files[file].replace(old, new)})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    found = [each for each in json.loads(out)["findings"] if each["state"] == "new"]
    assert [(each["severity"], each["location"]["file"]) for each in found] == [("warning", file)]


def test_a_file_that_nothing_takes_holds_no_values(tmp_path: Path) -> None:
    commit(tmp_path, {"tree.yaml": TREE, "compose.yaml": VALUES})
    commit(tmp_path, {"compose.yaml": VALUES.replace("required: true", "required: false")})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    assert not [each for each in json.loads(out)["findings"] if each["state"] == "new"]
