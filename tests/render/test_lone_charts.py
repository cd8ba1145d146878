"""Charts that nothing in the tree installs: with their own values, as far as seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import policylint
from policylint.model import Finding
from policylint.render import lone_charts
from policylint.session.diff import DiffResult
from policylint.workspace import Workspace, open_workspace
from tests.render.test_charts import CHART, GATEWAY
from tests.render.trees import KUSTOMIZATION, deployed, place, written

MADE = ["HTTPRoute default/shop-web", "Service default/shop-web"]
TAKEN = "what installs 1 chart: it is taken with the default values"
POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {{ .Values.target | quote }}}]
  basicAuth: {users: {name: users}}
"""
WITH_POLICY = {
    **CHART,
    "charts/shop/templates/login.yaml": POLICY,
    "charts/shop/values.yaml": CHART["charts/shop/values.yaml"] + "target: shop-web\n",
}


def read(directory: Path, files: dict[str, str], render: str = "builtin") -> Workspace:
    return open_workspace([str(written(directory, files))], render=render)


def found(directory: Path, files: dict[str, str], rule: str) -> list[Finding]:
    return [each for each in read(directory, files).findings() if each.rule == rule]


def changed(directory: Path, change: dict[str, str]) -> DiffResult:
    """What a change to the chart with a policy is said to do."""
    written(directory, {**WITH_POLICY, "gateway.yaml": GATEWAY})
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "before")):
        subprocess.run(["git", "-C", str(directory), *words], check=True)
    written(directory, change)
    return policylint.diff("HEAD", repository=directory)


def test_what_it_makes_is_among_the_other_manifests(tmp_path: Path) -> None:
    workspace = read(tmp_path, {**CHART, "gateway.yaml": GATEWAY})
    assert deployed(workspace) == {"default": ["Gateway infra/edge", *MADE]}
    assert workspace.coverage.not_rendered == (TAKEN,)


def test_so_it_is_where_there_is_nothing_else(tmp_path: Path) -> None:
    assert deployed(read(tmp_path, CHART)) == {"default": MADE}


def test_a_chart_at_the_top_is_called_as_it_says(tmp_path: Path) -> None:
    top = {path.removeprefix("charts/shop/"): text for path, text in CHART.items()}
    assert deployed(read(tmp_path, top)) == {"default": MADE}


@pytest.mark.parametrize(
    "deployer",
    [
        {"kustomization.yaml": KUSTOMIZATION + "resources: [gateway.yaml]\n"},
        {"values.txt": "no chart below examples counts"},
    ],
    ids=["something else deploys", "an example"],
)
def test_others_are_left_alone(tmp_path: Path, deployer: dict[str, str]) -> None:
    is_example = "values.txt" in deployer
    chart = {f"examples/{path}": text for path, text in CHART.items()} if is_example else CHART
    workspace = read(tmp_path, {**chart, **deployer, "gateway.yaml": GATEWAY})
    assert deployed(workspace) == {"default": ["Gateway infra/edge"]}


def test_off_renders_nothing(tmp_path: Path) -> None:
    workspace = read(tmp_path, {**CHART, "gateway.yaml": GATEWAY}, "off")
    assert deployed(workspace) == {"default": ["Gateway infra/edge"]}


def test_a_finding_rests_on_the_values_and_says_so(tmp_path: Path) -> None:
    """The section is not among the listeners: an error, were it sure that the chart is installed so."""
    values = CHART["charts/shop/values.yaml"].replace("http", "https")
    placed = CHART["charts/shop/templates/route.yaml"].replace(
        "metadata:\n  name", "metadata:\n  namespace: infra\n  name"
    )
    files = {**CHART, "charts/shop/values.yaml": values, "charts/shop/templates/route.yaml": placed}
    (finding,) = found(tmp_path, {**files, "gateway.yaml": GATEWAY}, "GWP402")
    assert (finding.severity, finding.confidence) == ("warning", "assumed")
    assert finding.ground == "chart charts/shop with its default values, as nothing here installs it"
    assert place(finding.location, tmp_path) == "charts/shop/values.yaml:2"


def test_who_installs_it_says_into_which_namespace(tmp_path: Path) -> None:
    """The Gateway takes routes of its own namespace, and the chart may well be installed into that."""
    own = GATEWAY.replace(", allowedRoutes: {namespaces: {from: All}}", "")
    (finding,) = found(tmp_path, {**CHART, "gateway.yaml": own}, "GWP403")
    assert finding.confidence == "unknown"
    assert finding.ground == "who installs chart charts/shop says into which namespace"


OPEN = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: {{ .Chart.Name }}}
spec: {selector: {matchLabels: {app: {{ .Chart.Name }}}}, rules: [{}]}
"""
SERVING = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: {{ .Chart.Name }}SPACE}
spec:
  selector: {istio: ingress}
  servers:
    - port: {number: 443, name: https, protocol: HTTPS}
      hosts: ["{{ .Chart.Name }}.example.com"]
      tls: {mode: SIMPLE, credentialName: site}
"""


@pytest.mark.parametrize(("space", "confidence"), [("", "unknown"), (", namespace: shop", "assumed")])
def test_two_charts_may_be_installed_far_from_each_other(tmp_path: Path, space: str, confidence: str) -> None:
    files = {}
    for name in ("cart", "web"):
        files[f"charts/{name}/Chart.yaml"] = f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n"
        files[f"charts/{name}/templates/gateway.yaml"] = SERVING.replace("SPACE", space)
        files[f"charts/{name}/templates/policy.yaml"] = OPEN
    (finding,) = found(tmp_path, files, "GWP419")
    assert finding.confidence == confidence
    if not space:
        assert finding.ground == "nothing says that charts charts/cart and charts/web are installed in one place"


@pytest.mark.parametrize(
    ("template", "confidence"),
    [
        ("hostnames: [{{ .Values.host | quote }}]", "unknown"),
        ("hostnames:\n    - {{ .Values.host | quote }}", "unknown"),
        ('hostnames: [""]', "assumed"),
    ],
    ids=["a value to fill in", "values to fill in", "written in the template"],
)
def test_an_empty_default_is_no_mistake(tmp_path: Path, template: str, confidence: str) -> None:
    head, _, rest = CHART["charts/shop/templates/route.yaml"].partition("  {{- with")
    route = f"{head}  {template}\n{rest[rest.index('  rules:') :]}"
    values = 'gateway: edge\nsection: http\nhost: ""\n'
    files = {**CHART, "charts/shop/templates/route.yaml": route, "charts/shop/values.yaml": values}
    assert {each.confidence for each in found(tmp_path, files, "GWP501")} == {confidence}


OWN_GATEWAY = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: own}
spec:
  selector: {istio: ingressgateway}
  servers:
    - port: {number: 80, name: http, protocol: HTTP}
      hosts:
%s
"""


@pytest.mark.parametrize(
    ("hosts", "confidence"),
    [("        - {{ .Values.host }}", "unknown"), ("        {{- toYaml .Values.hosts | nindent 8 }}", "unknown")],
)
def test_nor_is_one_that_a_controller_refuses(tmp_path: Path, hosts: str, confidence: str) -> None:
    values = CHART["charts/shop/values.yaml"] + "host:\nhosts: []\n"
    files = {**CHART, "charts/shop/values.yaml": values, "charts/shop/templates/own.yaml": OWN_GATEWAY % hosts}
    told = [each for each in found(tmp_path, files, "GWP415") if "without hosts" in each.message]
    assert [each.confidence for each in told] == [confidence]


def test_what_a_template_says_itself_is(tmp_path: Path) -> None:
    own = (OWN_GATEWAY % "        - shop.example.com").replace("protocol: HTTP}", "protocol: HTTPS}")
    told = found(tmp_path, {**CHART, "charts/shop/templates/own.yaml": own}, "GWP415")
    assert [each.confidence for each in told] == ["assumed"]


@pytest.mark.parametrize(
    ("more", "ground"),
    [
        (
            {"charts/shop/templates/login.yaml": f"{{{{- if .Values.login }}}}{POLICY}{{{{- end }}}}\n"},
            "1 values file not seen",
        ),
        ({}, ""),
    ],
    ids=["it has a template of a policy", "it has none"],
)
def test_what_other_values_may_make_is_the_ground_of_an_answer(
    tmp_path: Path, more: dict[str, str], ground: str
) -> None:
    written(tmp_path, {**CHART, **more, "gateway.yaml": GATEWAY})
    command = [sys.executable, "-m", "policylint", "reach", "--format", "json", str(tmp_path)]
    (way,) = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)["ways"]
    asked = way["asked"]["authentication"]
    assert (asked["state"], asked.get("ground", "")) == ("open", ground)


@pytest.mark.parametrize(
    "change",
    [
        {"charts/shop/templates/login.yaml": ""},
        {"charts/shop/values.yaml": WITH_POLICY["charts/shop/values.yaml"].replace("shop-web", "other")},
        {"charts/shop/.helmignore": "login.yaml\n"},
    ],
    ids=["in its template", "in its values", "in what it leaves out"],
)
def test_a_login_that_is_no_longer_asked_is_lost(tmp_path: Path, change: dict[str, str]) -> None:
    result = changed(tmp_path, change)
    losses = [each for each in result.new if each.rule == "GWP302"]
    assert [(each.severity, str(each.resources[0])) for each in losses] == [("error", "HTTPRoute default/shop-web")]
    unread = [each for each in result.comparison.environments[0].subjects if "not rendered" in each.reason]
    assert unread == []


@pytest.mark.parametrize(
    "change",
    [
        {"charts/shop/templates/login.yaml": "# Who may shop.\n" + POLICY},
        {
            "charts/shop/templates/login.yaml": POLICY.replace(".Values.target", ".Values.policy.target"),
            "charts/shop/values.yaml": CHART["charts/shop/values.yaml"] + "policy: {target: shop-web}\n",
        },
    ],
    ids=["a comment", "a value renamed"],
)
def test_a_template_that_makes_the_same_changes_nothing(tmp_path: Path, change: dict[str, str]) -> None:
    result = changed(tmp_path, change)
    assert (result.new, [each.key for each in result.comparison.environments[0].subjects]) == ([], [])


def test_a_policy_of_a_chart_acts(tmp_path: Path) -> None:
    world = read(tmp_path, {**WITH_POLICY, "gateway.yaml": GATEWAY}).simulations[0]
    assert [str(key) for key in world.policies] == ["SecurityPolicy default/login"]


def test_what_cannot_be_told_is_not_rendered(tmp_path: Path) -> None:
    by_chance = CHART["charts/shop/templates/route.yaml"].replace('{{ include "name" . }}', "{{ uuidv4 }}")
    workspace = read(tmp_path, {**CHART, "charts/shop/templates/route.yaml": by_chance, "gateway.yaml": GATEWAY})
    assert deployed(workspace) == {"default": ["Gateway infra/edge"]}
    assert workspace.coverage.not_rendered == ("1 chart not rendered",)


def test_charts_that_make_the_same_are_alternatives(tmp_path: Path) -> None:
    gateway = GATEWAY.replace("name: http", "name: {{ .Values.section }}")
    files = {**CHART, "charts/shop/templates/gateway.yaml": gateway}
    other = {path.replace("charts/shop", "charts/stall"): text for path, text in files.items()}
    assert {
        name: [key for key in keys if "Gateway" in key]
        for name, keys in deployed(read(tmp_path, files | other)).items()
    } == {
        "shop": ["Gateway infra/edge"],
        "stall": ["Gateway infra/edge"],
    }


@pytest.mark.parametrize(
    "files",
    [
        {"charts/shop/templates/route.yaml": "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"},
        {f"charts/{number}/Chart.yaml": CHART["charts/shop/Chart.yaml"] for number in range(lone_charts.MOST)},
    ],
    ids=["nothing to check", "a collection"],
)
def test_charts_are_left_where_they_are_for_others(tmp_path: Path, files: dict[str, str]) -> None:
    workspace = read(tmp_path, {**CHART, **files, "gateway.yaml": GATEWAY})
    assert deployed(workspace) == {"default": ["Gateway infra/edge"]}
    several = len(files) > 1
    assert workspace.coverage.not_rendered == ((f"{lone_charts.MOST + 1} charts not rendered",) if several else ())


@pytest.mark.parametrize("files", [{}, {"kustomization.yaml": KUSTOMIZATION + "resources: [gateway.yaml]\n"}])
def test_without_charts_no_engine_is_loaded(tmp_path: Path, files: dict[str, str]) -> None:
    written(tmp_path, {"gateway.yaml": GATEWAY, **files})
    program = (
        "import sys, policylint\n"
        f"policylint.lint({str(tmp_path)!r})\n"
        "print([name for name in sys.modules if 'go_template' in name or 'helm.charts' in name or 'helm.own' in name])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


# --- what somebody asks for -------------------------------------------------------------------------------------------

PROD = {"charts/shop/prod.yaml": "section: https\n"}


@pytest.mark.parametrize(
    ("files", "made"),
    [
        (
            {"deploy.sh": "helm upgrade --install web charts/shop -n front -f charts/shop/prod.yaml\n"},
            ["front/web-web"],
        ),
        ({"Makefile": "NS := front\n\nup:\n\thelm install web ./charts/shop --namespace $(NS)\n"}, ["front/web-web"]),
        ({"charts/up.sh": "helm install web shop --set section=https --values shop/prod.yaml\n"}, ["default/web-web"]),
        (
            {"up.sh": "helm install a charts/shop -n one\nhelm install b charts/shop -n two\n"},
            ["one/a-web", "two/b-web"],
        ),
        (
            {
                "helmfile.yaml": "releases:\n  - name: web\n    namespace: front\n    chart: ./charts/shop\n"
                "    values: [charts/shop/prod.yaml, {section: http}]\n    set: [{name: a, value: true}]\n"
            },
            ["front/web-web"],
        ),
        (
            {
                "skaffold.yaml": "apiVersion: skaffold/v4beta6\nkind: Config\ndeploy: {helm: {releases: [{name: web, "
                "chartPath: charts/shop, namespace: front, valuesFiles: [charts/shop/prod.yaml]}]}}\n"
            },
            ["front/web-web"],
        ),
        (
            {
                "helmfile.yaml.gotmpl": '{{- $domain := env "DOMAIN" | default "example.com" }}\n'
                "repositories:\n{{- range .Values.repos }}\n  - {name: {{ .name }}, url: {{ .url }}}\n{{- end }}\n"
                "releases:\n  - name: web\n    namespace: front\n    chart: ./charts/shop\n"
                "    values: [charts/shop/prod.yaml]\n"
                "  - name: {{ .Values.other }}\n    chart: other/chart\n"
            },
            ["front/web-web"],
        ),
        (
            {
                "helmfile.d/10-web.yaml.gotmpl": "releases:\n  - name: web\n    namespace: front\n"
                "    chart: ../charts/shop\n    values: ['../values/{{ .Environment.Name }}.yaml']\n",
                "values/default.yaml": "section: https\n",
            },
            ["front/web-web"],
        ),
        ({"hack/up.sh": "cd ..\ncd charts && helm install web ./shop -f shop/prod.yaml\n"}, ["default/web-web"]),
        (
            {"hack/up.sh": 'helm install web "${ROOT}/charts/shop" -f "$ROOT/charts/shop/prod.yaml"\n'},
            ["default/web-web"],
        ),
        ({"Makefile": "up:\n\t$(HELM) upgrade --install web charts/shop\nHELM ?= helm\n"}, ["default/web-web"]),
    ],
    ids=[
        *("a script", "a Makefile", "beside it", "two releases", "helmfile", "skaffold", "a template of a helmfile"),
        *("the default environment", "another directory", "a variable for the top", "a tool of the Makefile"),
    ],
)
def test_who_installs_it_is_asked(tmp_path: Path, files: dict[str, str], made: list[str]) -> None:
    workspace = read(tmp_path, {**CHART, **PROD, **files})
    assert deployed(workspace) == {
        "default": sorted(f"{kind} {name}" for kind in ("HTTPRoute", "Service") for name in made)
    }
    assert workspace.coverage.not_rendered == ()


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "helm install web charts/shop -n front\n"},
        {"deploy.sh": "helm install web charts/shop -n $NAMESPACE\n"},
        {"deploy.sh": "helm install web charts/shop -f charts/shop/values-$ENV.yaml\n"},
        {"deploy.sh": "helm install web charts/shop -f charts/shop/gone.yaml\n"},
        {"deploy.sh": "helm install web oci://registry.example.com/charts/shop\n"},
        {"deploy.sh": "helm install web charts/shop\nhelm install web charts/shop --set section=https\n"},
        {"helmfile.yaml": "releases: [{name: web, chart: ./charts/shop, values: ['{{ .Environment.Name }}.yaml']}]\n"},
        {
            "helmfile.yaml.gotmpl": "releases:\n  - name: web\n    chart: ./charts/shop\n    values:\n"
            "      - charts/shop/prod.yaml\n{{- if .Values.secure }}\n      - section: https\n{{- end }}\n"
        },
        {
            "helmfile.yaml.gotmpl": "releases:\n{{ if .Values.web }}\n  - name: web\n    chart: ./charts/shop\n"
            "    namespace: front\n{{ end }}\n"
        },
        {"helmfile.yaml": "releases: [{name: web, chart: ./charts/shop, namespace: front, condition: web.enabled}]\n"},
        {"helmfile.yaml": "releases: [{name: web, chart: ./charts/shop, namespace: front, installed: false}]\n"},
        {"helmfile.yaml.gotmpl": "releases:\n- {name: a, chart: charts/shop, values: [{section: {{ .Values.s }}}]}\n"},
    ],
    ids=[
        *("a README", "a namespace", "an environment", "a file", "another chart", "twice", "a template"),
        *("a value with a condition", "a release with one", "a condition", "not installed", "an open value"),
    ],
)
def test_what_is_not_told_is_taken_with_the_default_values(tmp_path: Path, files: dict[str, str]) -> None:
    workspace = read(tmp_path, {**CHART, **PROD, **files})
    assert deployed(workspace) == {"default": MADE}
    assert workspace.coverage.not_rendered == (TAKEN,)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"charts/shop/values.yaml": "gateway: edge\nsection: none\n"}, "unknown"),
        ({"up.sh": "helm install web charts/shop -n front --set section=none\n"}, "certain"),
    ],
    ids=["by nobody", "by a script"],
)
def test_what_is_asked_for_is_certain(tmp_path: Path, files: dict[str, str], said: str) -> None:
    (found_,) = found(tmp_path, {**CHART, "gateway.yaml": GATEWAY, **files}, "GWP402")
    assert found_.confidence == said


TRUSTING = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: inside}
spec:
  targetRefs: [{group: "", kind: Service, name: shop-web}]
  validation: {hostname: shop.example.com, caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ca}
data: {ca.crt: "{{ .Values.ca }}"}
"""


@pytest.mark.parametrize(("ca", "refused"), [("", False), ("\n", False), ("none", True)])
def test_a_certificate_is_given_by_who_installs_it(tmp_path: Path, ca: str, refused: bool) -> None:
    """cloudfoundry/kind-deployment: `caCert` is empty until the helmfile says another one."""
    values = {"charts/shop/values.yaml": f"{CHART['charts/shop/values.yaml']}ca: '{ca}'\n"}
    files = {**CHART, **values, "charts/shop/templates/tls.yaml": TRUSTING, "gateway.yaml": GATEWAY}
    assert ["GWP111"] * refused == [each.rule for each in found(tmp_path, files, "GWP111")]


CLUSTERWIDE = """
apiVersion: cilium.io/v2
kind: CiliumClusterwideNetworkPolicy
metadata: {name: dns}
spec:
  endpointSelector: {}
  egress:
    - toEndpoints: [{matchLabels: {k8s:io.kubernetes.pod.namespace: kube-system, k8s:k8s-app: kube-dns}}]
      toPorts: [{ports: [{port: "53", protocol: ANY}], rules: {dns: [{matchPattern: "*"}]}}]
"""
CLOSED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ops}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
---
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: web, namespace: ops}
spec:
  endpointSelector: {matchLabels: {app: web}}
  egress: [{toFQDNs: [{matchName: api.example.com}], toPorts: [{ports: [{port: "443"}]}]}]
"""
BY_KUSTOMIZE = {"apps/kustomization.yaml": KUSTOMIZATION + "resources: [web.yaml]\n", "apps/web.yaml": CLOSED}
BY_FLUX = {
    "apps/web.yaml": CLOSED,
    "clusters/main/apps.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
    "metadata: {name: apps, namespace: flux-system}\n"
    "spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}\n",
}
BY_ARGO = {
    "apps/web.yaml": CLOSED,
    "argo/web.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n"
    "spec: {project: default, destination: {namespace: ops, server: https://kubernetes.default.svc}, "
    "source: {repoURL: https://example.com/x.git, path: apps}}\n",
}
TERRAFORM = """
resource "helm_release" "web" {
  name  = "web"
  chart = "${path.module}/../charts/shop"
%s}
"""
BOOTSTRAP = {
    "bootstrap/policies/Chart.yaml": "apiVersion: v2\nname: policies\nversion: 0.1.0\n",
    "bootstrap/policies/templates/dns.yaml": CLUSTERWIDE,
}


@pytest.mark.parametrize("deployer", [BY_KUSTOMIZE, BY_FLUX, BY_ARGO], ids=["kustomize", "Flux", "Argo CD"])
def test_a_chart_beside_a_deployer_may_open_what_seems_closed(tmp_path: Path, deployer: dict[str, str]) -> None:
    assert len(found(tmp_path / "without", deployer, "GWP610")) == 1
    assert found(tmp_path / "with", {**deployer, **BOOTSTRAP}, "GWP610") == []


@pytest.mark.parametrize("deployer", [BY_KUSTOMIZE, BY_FLUX, BY_ARGO], ids=["kustomize", "Flux", "Argo CD"])
@pytest.mark.parametrize(
    ("file", "how"),
    [
        ("up.sh", "helm upgrade --install web charts/shop -n front\n"),
        ("helmfile.yaml", "releases: [{name: web, namespace: front, chart: ./charts/shop}]\n"),
        (
            "infra/charts.tf",
            TERRAFORM % '  namespace = "front"\n  depends_on = [helm_release.cilium]\n',
        ),
    ],
    ids=["a script", "helmfile", "Terraform"],
)
def test_a_chart_beside_a_deployer_is_checked_where_something_installs_it(
    tmp_path: Path, deployer: dict[str, str], file: str, how: str
) -> None:
    workspace = read(tmp_path, {**CHART, **deployer, file: how})
    ((_, objects),) = deployed(workspace).items()
    assert {"HTTPRoute front/web-web", "Service front/web-web"} <= {*objects}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"up.sh": "helm install web charts/shop -n $NAMESPACE\n"},
        {"infra/x.tf": TERRAFORM % '  set = [{name = "a"}]\n'},
    ],
    ids=["by nobody", "by a script, into some namespace", "by Terraform, with some values"],
)
def test_a_chart_that_nobody_places_is_left_alone(tmp_path: Path, more: dict[str, str]) -> None:
    assert deployed(read(tmp_path, {**CHART, **BY_KUSTOMIZE, **more})) == {
        "default": ["CiliumNetworkPolicy ops/web", "Deployment ops/web"]
    }


def test_what_a_deployer_has_is_not_had_twice(tmp_path: Path) -> None:
    """The same application as a chart and as a kustomization."""
    files = {
        **BOOTSTRAP,
        "bootstrap/policies/templates/web.yaml": CLOSED,
        "up.sh": "helm install p bootstrap/policies\n",
    }
    assert deployed(read(tmp_path, {**files, **BY_KUSTOMIZE})) == {
        "default": ["CiliumNetworkPolicy ops/web", "Deployment ops/web"]
    }


def test_a_chart_that_a_deployer_installs_is_not_alone(tmp_path: Path) -> None:
    application = BY_ARGO["argo/web.yaml"].replace("path: apps", "path: charts/shop")
    files = {**CHART, "argo/web.yaml": application, "up.sh": "helm install other charts/shop -n front\n"}
    ((_, objects),) = deployed(read(tmp_path, files)).items()
    assert objects == ["HTTPRoute ops/web-web", "Service ops/web-web"]


CLOSED = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress:
RULES
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {selector: {app: app}, ports: [{port: 80}]}
"""
APP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: example.com/app, ports: [{containerPort: 80}]}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: app}
spec:
  rules:
  - host: app.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: app, port: {number: 80}}}}]}
"""


@pytest.mark.parametrize(
    ("rules", "values", "confidence"),
    [
        ("{{ toYaml .Values.rules | indent 4 }}", "", "unknown"),
        ("    {{ .Values.rules }}", "", "unknown"),
        ("    {{ .Values.rules | quote }}", "", "unknown"),
        ("    {{ $.Values.of.rules | toJson }}", "of: {}\n", "unknown"),
        ('    {{ include "shop.rules" . }}', "", "unknown"),
        ("{{ range list 1 }}    {{ toYaml $.Values.rules }}{{ end }}", "", "unknown"),
        ("{{ toYaml .Values.rules | indent 4 }}", "rules: []\n", "assumed"),
        ("{{ toYaml .Values.rules | indent 4 }}", "rules:\n", "assumed"),
        ("    {{ .Values.rules }}", "rules:\n", "unknown"),
        ("    {{ .Values.rules | quote }}", "rules: ~\n", "unknown"),
        ("    {{ $.Values.of.rules }}", "of: {rules: null}\n", "unknown"),
        ("    {{ .Values.rules | default list | toJson }}", "rules:\n", "assumed"),
        ("    {{ .Values.rules | default list | toJson }}", "", "assumed"),
        ("    {{ with .Values.rules }}{{ toJson . }}{{ end }}", "", "assumed"),
        ("    {{ if .Values.rules }}{{ toJson .Values.rules }}{{ end }}", "", "assumed"),
        ("    {{ $rules := .Values.rules }}", "", "assumed"),
        ("    {{ (.Values.rules | default list) | toJson }}", "", "assumed"),
    ],
)
def test_a_value_that_is_printed_without_a_default_is_to_be_given(
    tmp_path: Path, rules: str, values: str, confidence: str
) -> None:
    files = {
        **CHART,
        "charts/shop/templates/closed.yaml": CLOSED.replace("RULES", rules),
        "charts/shop/templates/app.yaml": APP,
        "charts/shop/templates/_rules.tpl": '{{ define "shop.rules" }}{{ .Values.rules }}{{ end }}\n',
        "charts/shop/values.yaml": CHART["charts/shop/values.yaml"] + values,
    }
    said = found(tmp_path, files, "GWP604")
    assert {each.confidence for each in said} == {confidence}
    if confidence == "unknown":
        assert said[0].ground.startswith(
            "NetworkPolicy default/closed may be deployed with other values: who installs chart charts/shop gives it `"
        )


# --- what somebody installs with other values -------------------------------------------------------------------------

APART = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "charts/shop/values.yaml": "port: 80\n",
    "charts/shop/templates/all.yaml": """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: {{ .Values.port }}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge}]
  rules: [{backendRefs: [{name: web, port: 8080}]}]
""",
}
"""Two objects that fit together with another value than the default one."""
PINNED = "releases:\n  - {name: web, namespace: front, chart: acme/shop, values: [/etc/defaults/shop.yaml, web.yaml]}\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, ("assumed", "chart charts/shop with its default values, as nothing here installs it")),
        ({"helmfile.d/web.yaml": PINNED}, "helmfile.d/web.yaml"),
        (
            {"helmfile.d/web/helmfile.yaml": PINNED.replace("acme", "oci://registry.example.com/charts")},
            "helmfile.d/web",
        ),
        ({"helmfile.d/web.yaml": PINNED.replace("acme", "../charts")}, "helmfile.d/web.yaml"),
        ({"up.sh": "helm upgrade --install web acme/shop -f $ENVIRONMENT.yaml\n"}, "up.sh"),
        ({"up.sh": "helm install web shop --repo https://charts.example.com\n"}, "up.sh"),
        ({"up.sh": "helm install web charts/shop --values values-$ENVIRONMENT.yaml\n"}, "up.sh"),
        (
            {
                "main.tf": 'resource "helm_release" "web" {\n  name = "web"\n  chart = "shop"\n'
                '  repository = "https://charts.example.com"\n  values = [var.values]\n}\n'
            },
            "main.tf",
        ),
        ({"helmfile.d/web.yaml": PINNED.replace("shop,", "stall,")}, ("assumed", "")),
        ({"README.md": "helm install web acme/shop\n"}, ("assumed", "")),
    ],
    ids=[
        *("by nothing", "out of a repository", "out of a registry", "by its path", "a script", "a repository named"),
        *("values of a variable", "Terraform", "another chart", "a README"),
    ],
)
def test_how_objects_of_a_chart_fit_together_hangs_on_who_installs_it(
    tmp_path: Path, files: dict[str, str], said: str | tuple[str, str]
) -> None:
    """wikimedia/operations-deployment-charts: a helmfile switches on the proxy whose port kartotherian publishes."""
    (told,) = found(tmp_path, {**APART, "gateway.yaml": GATEWAY, **files}, "GWP406")
    confidence, ground = said if isinstance(said, tuple) else ("unknown", said)
    assert told.confidence == confidence
    assert ground in told.ground


def test_what_is_wrong_whatever_the_values_are_is_still_told(tmp_path: Path) -> None:
    route = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: b}, spec: {rules: {a: b}}}"
    files = {**APART, "charts/shop/templates/other.yaml": route, "helmfile.d/web.yaml": PINNED}
    assert [each.confidence for each in found(tmp_path, files, "GWP501")] == ["assumed"]
