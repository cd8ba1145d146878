"""What is gone while something depends on it is a row, and settings that are gone are as good as emptied.

With nothing that depends on it, or together with what did, its going says nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from tests.compare.repositories import diff
from tests.worlds import gateway, gateway_class, labelled, manifest, route, service, simulated

EG = "gateway.envoyproxy.io"
LISTENERS = (
    "[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: web}]}, "
    "allowedRoutes: {namespaces: {from: All}}}]"
)
NAMED = "infrastructure: {parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: p}}"
TEMPLATE = (
    "{metadata: {labels: {app: checkout}}, spec: {serviceAccountName: till, containers: [{name: a, image: a}], "
    "volumes: [{name: v, configMap: {name: rules}}]}}"
)
PODS = manifest(
    "apps/v1", "Deployment", "checkout", "shop", f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {TEMPLATE}}}"
)
WORLD = [
    labelled("infra"),
    gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(listeners=LISTENERS, more=NAMED),
    route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
]
BEHIND = [labelled("shop"), service(more="selector: {app: checkout}"), PODS]


def told(before: list[str], after: list[str]) -> tuple[dict[str, str], list[str], bool]:
    """Return the rows by object, the messages of findings, and whether all is said to be as before."""
    pairs = pair_sides([simulated(*before)], [simulated(*after)])
    (environment,) = compare(pairs)
    rows = {
        str(each.key): each.reason.removesuffix(", and what that does is not evaluated") for each in environment.unknown
    }
    findings = [f"{each.severity}: {each.message}" for each in removed_protections(pairs, [environment])]
    return rows, findings, bool(environment.requests and environment.requests.same)


def certificate(name: str, secret: str, issuer: str = "{name: ca}") -> str:
    return manifest(
        "cert-manager.io/v1", "Certificate", name, "infra", f"spec: {{secretName: {secret}, issuerRef: {issuer}}}"
    )


def issuer(name: str, kind: str = "Issuer") -> str:
    return manifest("cert-manager.io/v1", kind, name, "infra", "spec: {ca: {secretName: root}}")


LOGIN = manifest(
    f"{EG}/v1alpha1",
    "SecurityPolicy",
    "login",
    "shop",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}], "
    "basicAuth: {users: {name: users}}}",
)
STORED = manifest("external-secrets.io/v1", "ExternalSecret", "stored", "shop", "spec: {target: {name: users}}")
PROXY = manifest(f"{EG}/v1alpha1", "EnvoyProxy", "p", "infra", "spec: {backendTLS: {minVersion: '1.3'}}")
SLICE = (
    "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
    "metadata: {name: out, namespace: shop, labels: {kubernetes.io/service-name: checkout}}\n"
    "addressType: IPv4\nendpoints: [{addresses: [192.0.2.1]}]\nports: [{port: 80}]\n"
)
EDGE, SHOP = "Gateway infra/edge", "Service shop/checkout"


@pytest.mark.parametrize(
    ("gone", "kept", "name", "by"),
    [
        pytest.param(PROXY, BEHIND, "EnvoyProxy infra/p", EDGE, id="parameters"),
        pytest.param(certificate("c", "web"), BEHIND, "Certificate infra/c", EDGE, id="what makes a Secret"),
        pytest.param(issuer("ca"), [*BEHIND, certificate("c", "web")], "Issuer infra/ca", EDGE, id="its issuer"),
        pytest.param(STORED, [*BEHIND, LOGIN], "ExternalSecret shop/stored", "SecurityPolicy shop/login", id="for it"),
        pytest.param(PODS, BEHIND[:2], "Deployment shop/checkout", SHOP, id="pods"),
        pytest.param(SLICE, [labelled("shop"), service()], "EndpointSlice shop/out", SHOP, id="addresses"),
        pytest.param(BEHIND[0], BEHIND[1:], "Namespace shop", "HTTPRoute shop/checkout", id="a namespace"),
        pytest.param(
            manifest("v1", "ServiceAccount", "till", "shop"), BEHIND, "ServiceAccount shop/till",
            "Deployment shop/checkout", id="an account",
        ),
        pytest.param(
            manifest("v1", "ConfigMap", "rules", "shop", "data: {a: b}"), BEHIND, "ConfigMap shop/rules",
            "Deployment shop/checkout", id="what pods hold",
        ),
    ],
)  # fmt: skip
def test_what_something_depends_on_is_missed(gone: str, kept: list[str], name: str, by: str) -> None:
    rows, _, same = told([*WORLD, *kept, gone], [*WORLD, *kept])
    assert rows[name] == f"is gone while {by} depends on it"
    assert not same


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(certificate("c", "database"), id="of a Secret that nothing on the way names"),
        pytest.param(manifest("v1", "ServiceAccount", "other", "shop"), id="an account of nobody"),
        pytest.param(manifest("v1", "ConfigMap", "dashboards", "shop", "data: {a.json: '{}'}"), id="of no pods"),
        pytest.param(labelled("empty"), id="a namespace with nothing in it"),
        pytest.param(STORED, id="for a policy that is not there"),
        pytest.param(PODS.replace("name: checkout", "name: worker").replace("app: checkout", "app: worker"), id="pods"),
    ],
)
def test_what_nothing_depends_on_is_not(gone: str) -> None:
    rows, findings, _ = told([*WORLD, *BEHIND, gone], [*WORLD, *BEHIND])
    assert (rows, findings) == ({}, [])


@pytest.mark.parametrize(
    ("new", "kept", "name", "by"),
    [
        pytest.param(PROXY, BEHIND, "EnvoyProxy infra/p", EDGE, id="parameters"),
        pytest.param(WORLD[1], [*WORLD[2:], *BEHIND], "GatewayClass any", EDGE, id="a class"),
        pytest.param(certificate("c", "web"), BEHIND, "Certificate infra/c", EDGE, id="what makes a Secret"),
        pytest.param(PODS, BEHIND[:2], "Deployment shop/checkout", SHOP, id="pods"),
    ],
)
def test_what_was_depended_on_before_it_came_may_change_what_was_there(
    new: str, kept: list[str], name: str, by: str
) -> None:
    world = kept if kept[0] == WORLD[2] else [*WORLD, *kept]
    rows, _, same = told(world, [*world, new])
    assert rows[name] == f"is new, and {by} depended on it before"
    assert not same


@pytest.mark.parametrize(
    ("one", "other", "kept", "row"),
    [
        pytest.param(PROXY, PROXY.replace("name: p", "name: q"), BEHIND, f"EnvoyProxy infra/p: {EDGE}", id="renamed"),
        pytest.param(PROXY, PROXY.replace("infra", "other"), BEHIND, f"EnvoyProxy infra/p: {EDGE}", id="moved"),
        pytest.param(certificate("c", "web"), certificate("d", "web"), BEHIND, "", id="it makes the same Secret"),
        pytest.param(
            certificate("c", "web"), certificate("c", "web").replace("infra", "other"), BEHIND,
            f"Certificate infra/c: {EDGE}", id="it makes a Secret elsewhere",
        ),
        pytest.param(
            manifest("v1", "ConfigMap", "rules", "shop", "data: {a: b}"),
            manifest("v1", "ConfigMap", "laws", "shop", "data: {a: b}"),
            BEHIND, "ConfigMap shop/rules: Deployment shop/checkout", id="what pods hold",
        ),
        pytest.param(PODS, PODS.replace("name: checkout", "name: till"), BEHIND[:2], "", id="pods are found by labels"),
    ],
)  # fmt: skip
def test_what_has_another_name_is_missed_where_it_is_called_by_the_old_one(
    one: str, other: str, kept: list[str], row: str
) -> None:
    rows, _, _ = told([*WORLD, *kept, one], [*WORLD, *kept, other])
    missed = [
        f"{key}: {reason.partition('while ')[2].partition(' depends')[0]}"
        for key, reason in rows.items()
        if "otherwise" in reason
    ]
    assert missed == ([row] if row else [])


def test_what_comes_with_what_depends_on_it_is_no_row() -> None:
    rows, _, _ = told([*WORLD[:2]], [*WORLD, *BEHIND, PROXY, certificate("c", "web")])
    assert not any(each.startswith("is new, and") for each in rows.values())
    rows, _, _ = told([*WORLD, *BEHIND], [*WORLD, *BEHIND, labelled("other"), certificate("c", "database")])
    assert rows == {}


def test_what_takes_its_place_is_no_loss() -> None:
    secret = manifest("v1", "Secret", "web", "infra", "data: {tls.crt: '', tls.key: ''}")
    rows, _, _ = told([*WORLD, *BEHIND, certificate("c", "web")], [*WORLD, *BEHIND, secret])
    assert "Certificate infra/c" not in rows


def test_a_key_that_is_gone_is_missed_where_something_goes_by_it() -> None:
    def secret(data: str) -> str:
        return manifest("v1", "Secret", "web", "infra", f"data: {{{data}}}")

    both, one = secret("tls.crt: YQ==, tls.key: YQ=="), secret("tls.crt: YQ==")
    rows, _, _ = told([*WORLD, *BEHIND, both], [*WORLD, *BEHIND, one])
    assert rows["Secret infra/web"] == f"lacks tls.key, which it had, while {EDGE} depends on it"
    assert told([*WORLD, *BEHIND, one], [*WORLD, *BEHIND, both])[0] == {}


MESH = manifest(
    "v1",
    "ConfigMap",
    "istio",
    "istio-system",
    "data:\n  mesh: |\n    outboundTrafficPolicy: {mode: REGISTRY_ONLY}\n    accessLogFile: /dev/stdout",
)
FELIX = manifest(
    "crd.projectcalico.org/v1", "FelixConfiguration", "default", "default", "spec: {wireguardEnabled: true}"
)
CONSUL = manifest("consul.hashicorp.com/v1alpha1", "Mesh", "mesh", "default", "spec: {tls: {incoming: {verify: true}}}")


@pytest.mark.parametrize("settings", [MESH, FELIX, CONSUL])
def test_settings_that_are_gone_are_told_as_emptied_ones(settings: str) -> None:
    _, findings, same = told([*WORLD, *BEHIND, settings], [*WORLD, *BEHIND])
    assert findings
    assert not same
    assert told([*WORLD, *BEHIND], [*WORLD, *BEHIND, settings])[1] == []


def test_settings_go_with_their_application() -> None:
    configuration = manifest(
        "v1", "ConfigMap", "app", "apps", "data:\n  config.yaml: |\n    auth: {enabled: true}\n    a: b"
    )
    program = PODS.replace("namespace: shop", "namespace: apps")
    assert told([*WORLD, *BEHIND, configuration], [*WORLD, *BEHIND])[1]
    assert told([*WORLD, *BEHIND, configuration, program], [*WORLD, *BEHIND])[1] == []
    other = configuration.replace("name: app,", "name: app-2,")
    assert told([*WORLD, *BEHIND, configuration], [*WORLD, *BEHIND, other])[1] == []


def definition(group: str, kind: str) -> str:
    spec = f"spec: {{group: {group}, names: {{kind: {kind}, plural: x}}, scope: Namespaced, versions: []}}"
    return manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"x.{group}", "", spec)


def test_policies_go_with_their_definition() -> None:
    kept = [*WORLD, *BEHIND, LOGIN]
    crd = definition(EG, "SecurityPolicy")
    _, findings, _ = told([*kept, crd], kept)
    assert findings == [
        f"warning: SecurityPolicy shop/login is deleted with CustomResourceDefinition x.{EG}, which is gone"
    ]
    release = manifest(
        "helm.toolkit.fluxcd.io/v2", "HelmRelease", "crds", "infra", "spec: {chart: {spec: {chart: crds}}}"
    )
    assert [each[:5] for each in told([*kept, crd], [*kept, release])[1]] == ["note:"]
    assert told([*WORLD, *BEHIND, crd], [*WORLD, *BEHIND])[1] == []
    assert told([*kept, definition("example.com", "Widget")], kept)[1] == []


CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: httproutes.gateway.networking.k8s.io
spec:
  group: gateway.networking.k8s.io
  names:
    plural: httproutes
    kind: HTTPRoute
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


@pytest.mark.parametrize(
    ("after", "told"),
    [
        pytest.param({"crds/routes.yaml": "# nothing\n"}, True, id="gone"),
        pytest.param({"crds/routes.yaml": CRD.replace("served: true", "served: false")}, False, id="changed"),
        pytest.param({"crds/routes.yaml": "# nothing\n", "crds/all.yaml": CRD}, False, id="in another file"),
        pytest.param({"crds/routes.yaml": CRD.replace("routes.g", "routings.g", 1)}, True, id="called otherwise"),
    ],
)
def test_routes_go_with_a_definition_that_is_never_read(tmp_path: Path, after: dict[str, str], told: bool) -> None:
    root = {"kustomization.yaml": "resources: [crds, web.yaml]\n", "web.yaml": "---\n".join([*WORLD, *BEHIND])}
    before = {"crds/routes.yaml": CRD}
    sides = [
        {**root, **crds, "crds/kustomization.yaml": f"resources: [{', '.join(path[5:] for path in crds)}]\n"}
        for crds in (before, after)
    ]
    said = " ".join(diff(tmp_path, *sides).split())
    goes = "HTTPRoute shop/checkout is deleted with CustomResourceDefinition httproutes.gateway.networking.k8s.io"
    assert (goes in said) is told, said


@pytest.mark.parametrize(("built", "plural", "kind"), [(True, "servers", "Server"), (False, "servers", "Server")])
def test_what_policies_are_about_goes_with_its_definition(tmp_path: Path, built: bool, plural: str, kind: str) -> None:
    """Whether a kustomization takes the file of the definition in, or nothing does: the policy asks nobody any more."""
    group = "policy.linkerd.io"
    crd = CRD.replace("httproutes.gateway.networking.k8s.io", f"{plural}.{group}")
    crd = crd.replace("gateway.networking.k8s.io", group).replace("httproutes", plural).replace("HTTPRoute", kind)
    web = [
        manifest(f"{group}/v1beta3", "Server", "web", "shop", "spec: {podSelector: {}, port: 80}"),
        manifest(
            f"{group}/v1alpha1",
            "AuthorizationPolicy",
            "own",
            "shop",
            f"spec: {{targetRef: {{group: {group}, kind: Server, name: web}}, requiredAuthenticationRefs: []}}",
        ),
    ]
    root = {"web.yaml": "---\n".join(web)}
    if built:
        root["kustomization.yaml"] = "resources: [crd.yaml, web.yaml]\n"
    said = " ".join(diff(tmp_path, {**root, "crd.yaml": crd}, {**root, "crd.yaml": "# nothing\n"}).split())
    assert f"Server shop/web is deleted with CustomResourceDefinition {plural}.{group}" in said, said
