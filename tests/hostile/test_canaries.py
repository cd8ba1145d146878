"""A world with a credential in every place where one may stand: none of them is in any output."""

# ruff: noqa: E501 - manifests on one line each
from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from tests.diff.history import run
from tests.hostile.test_output import COMMANDS
from tests.hostile.world import laid
from tests.worlds import gateway, gateway_class, policy, route, service

ENVOY = "gateway.envoyproxy.io/v1alpha1"
KEY = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEACanaryKeyCanaryKeyCanaryKey\\nAAAACanaryKeyAAAAAAAA\\nCanary==\\n-----END RSA PRIVATE KEY-----\\n"
TOKEN = "eyJhbGciOiJDYW5hcnki.eyJzdWIiOiJDYW5hcnki.Canary-signature"
APPLIED = '{\\"kind\\":\\"Secret\\",\\"data\\":{\\"k\\":\\"Canary-applied\\"}}'
USERS = "admin:$apr1$Canary00$Canary11Canary22Canary3"
ENCODED = base64.b64encode(b"Canary in base64").decode()
SECRET = f"""apiVersion: v1
kind: Secret
metadata: {{name: NAME, namespace: infra, annotations: {{kubectl.kubernetes.io/last-applied-configuration: "{APPLIED}"}}}}
"""
SECRETS = {
    "data": f"{SECRET}data:\n  k: {ENCODED}\n  tls.key: Canary\n  tls.key: Canary\n",
    "text": f"{SECRET}stringData:\n  k: Canary\n  k: |\n    Canary\n  bad: [Canary\n",
    "flow": f"{SECRET}stringData: {{k: Canary, k: Canary-2}}\n",
    "binary": f"{SECRET}binaryData: {{k: {ENCODED}, k: Canary}}\n",
    "anchor": f"{SECRET}stringData: &it\n  k: &value Canary\n  k: *value\nmore: *it\nmore:\n  <<: *it\n",
    "merge": "x: &s {kind: Secret}\n<<: *s\napiVersion: v1\nmetadata: {name: NAME, namespace: infra}\n"
    "stringData:\n  k: Canary\n  k: Canary\n",
    "alias": "apiVersion: v1\nx: &s Secret\nkind: *s\nmetadata: {name: NAME, namespace: infra}\nstringData:\n  k: Canary\n  k: Canary\n",
    "quoted": '{"apiVersion":"v1","kind":\n"Secret","metadata":{"name":"NAME","namespace":"infra"},"stringData":\n'
    '{"k":"Canary",\n"k":"Canary"}}\n',
    "escaped": 'apiVersion: v1\n"k\\u0069nd": "Secre\\x74"\nmetadata: {name: NAME, namespace: infra}\nstringData:\n  k: Canary\n  k: Canary\n',
    "folded": "apiVersion: v1\nkind: >-\n  Secret\nmetadata: {name: NAME, namespace: infra}\nstringData:\n  k: Canary\n  k: Canary\n",
    "tagged": "apiVersion: v1\nkind: !!str Secret\nmetadata: {name: NAME, namespace: infra}\nstringData:\n  ? k\n  : Canary\n  ? k\n  : Canary\n",
    "list": f"apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {{name: NAME, namespace: infra}}\n  data:\n    k: {ENCODED}\n    k: Canary\n",
    "broken": f"{SECRET}stringData:\n  k: \"Canary\n  l: Canary: Canary\n   m: Canary\n\tn: Canary\n",
    "sops": f"{SECRET}stringData:\n  k: ENC[AES256_GCM,data:Canary,iv:Canary,tag:Canary,type:str]\n  k: Canary\nsops:\n  mac: Canary\n",
    "config": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: infra}\ndata:\n"
    f"  key.pem: \"{KEY}\"\n  key.pem: \"{KEY}\"\n  htpasswd: \"{USERS}\"\n  htpasswd: {USERS}\n",
    "pem": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: infra}\ndata:\n  key.pem: |\n"
    + "".join(f"    {line}\n" for line in KEY.split("\\n")[:-1]) + "  a: b\n  a: b\n",
}  # fmt: skip


def world(*, later: bool = False) -> dict[str, str]:
    """Return the files; `later` as they are after a change."""
    address = f"https://user:Canary{later}@id.example.com/jwks?x=1"
    provider = f"{{name: j, issuer: '{address}', remoteJWKS: {{uri: '{address}'}}, audiences: ['{TOKEN}', \"{KEY}\", '{USERS}']}}"
    documents = [
        gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("gateway", of_class="envoy", listeners="[{name: tls, port: 443, protocol: HTTPS, allowedRoutes:"
                " {namespaces: {from: All}}, tls: {certificateRefs: [{name: data}, {name: text}, {name: pem}]}}]"),
        route("route", parents="[{name: gateway, namespace: infra}]",
              annotations=f"kubectl.kubernetes.io/last-applied-configuration: \"{APPLIED}\", link: '{address}'",
              more=f"rules: [{{backendRefs: [{{name: checkout, port: 80}}], filters: [{{type: RequestHeaderModifier,"
              f" requestHeaderModifier: {{set: [{{name: authorization, value: 'Bearer {TOKEN}'}}]}}}}]}}]"),
        service(),
        policy(ENVOY, "SecurityPolicy", "edge", "Gateway/gateway", f"jwt: {{providers: [{provider}]}}", "infra"),
        policy(ENVOY, "SecurityPolicy", "own", "HTTPRoute/route", f"cors: {{allowOrigins: ['{address}']}}, extra: \"{KEY}\"", "shop"),
        policy(ENVOY, "SecurityPolicy", f"lost-{later}", "HTTPRoute/gone", f"jwt: {{providers: [{provider}]}}", "shop"),
    ]  # fmt: skip
    files = {f"secrets/{name}.yaml": text.replace("NAME", name) for name, text in SECRETS.items()}
    generator = (
        "resources: [../gone]\nsecretGenerator:\n- name: made\n  literals: [k=Canary, k=Canary]\n  envs: [.env]\n"
    )
    chart = f"password: Canary\npassword: Canary\nurl: {address}\nbad: [Canary\n"
    return files | {
        "world.yaml": "---".join(documents),
        "overlay/kustomization.yaml": generator,
        "overlay/.env": "K=Canary\nCanary\n",
        "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
        "chart/values.yaml": chart,
        "chart/templates/a.yaml": "kind: {{ .Values.password }}\n",
        "release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: infra}\nspec:\n"
        "  chart: {spec: {chart: gone}}\n  values:\n    password: Canary\n    password: Canary\n",
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("canaries")
    laid(directory / "before", world())
    laid(directory / "after", world(later=True))
    (directory / "requests.json").write_text(
        f"- {{host: x.example.com, path: '/?t={TOKEN}', headers: {{a: Bearer {TOKEN}}}}}\n"
    )
    (directory / "broken.json").write_text(f"- {{host: 'https://user:Canary@x, path: '/', headers: [{TOKEN}\n")
    return directory


@pytest.mark.parametrize(
    "command", [*COMMANDS.values(), "trace --requests broken.json after", "trace GET https://x/ after"]
)
def test_no_credential_leaves(place: Path, command: str) -> None:
    for name, real in (("HTTPRoute/NAME", "HTTPRoute/route"), ("Gateway/NAME", "Gateway/gateway"), ("EDGE", "edge"),
                       ("SecurityPolicy/NAME", "SecurityPolicy/edge")):  # fmt: skip
        command = command.replace(name, real)
    code, out, err = run(
        place, *command.split(" "), *(() if command.startswith(("rule", "kinds", "config")) else ("--verbose",))
    )
    assert code in (0, 1, 2), err
    shown = out + err
    assert not re.search(f"Canary|{ENCODED[:12]}|eyJzdWIi", shown), re.findall(
        f".*(?:Canary|{ENCODED[:12]}|eyJzdWIi).*", shown
    )[:5]
