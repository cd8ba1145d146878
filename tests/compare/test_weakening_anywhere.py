"""GWP304 for objects of kinds that the catalog does not know, and what is not sworn of requests beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, route
from tests.compare.test_weakening import sides

BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: routes}
spec: {policyName: routes, validationActions: [Deny]}
"""
ADMITTING = """\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: routes}
spec:
  failurePolicy: Fail
  rules: [{name: login, match: {any: [{resources: {kinds: [HTTPRoute]}}]}, exclude: {any: [{resources: {names: [a]}}]}}]
"""
SPARED = """\
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: demo, namespace: shop}
spec: {exceptions: [{policyName: routes, ruleNames: [login]}]}
"""
HOST_POLICY = """\
apiVersion: cilium.io/v2
kind: CiliumClusterwideNetworkPolicy
metadata: {name: nodes}
spec: {nodeSelector: {matchLabels: {}}, ingress: [{fromEntities: [cluster]}]}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: shop}}, values: {login: {auth: {enabled: true}}, office: [10.0.0.0/8]}}
"""
OF_BITNAMI = RELEASE.replace("login: {auth: {enabled: true}}", "networkPolicy: {allowExternal: false}")
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {namespace: shop}
  source:
    repoURL: https://charts.example.com
    chart: shop
    helm: {parameters: [{name: auth.enabled, value: "true"}]}
"""
DOOR = """\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec: {virtualhost: {fqdn: shop.example.com, authorization: {authPolicy: {disabled: false}}}}
"""
CALICO = """\
apiVersion: projectcalico.org/v3
kind: NetworkPolicy
metadata: {name: fence, namespace: shop}
spec:
  order: 100
  selector: all()
  types: [Ingress]
  ingress:
  - {action: Deny, source: {selector: role == 'guest'}}
  - {action: Allow}
"""
OPEN = """\
---
apiVersion: projectcalico.org/v3
kind: NetworkPolicy
metadata: {name: open, namespace: shop}
spec: {order: 500, selector: all(), types: [Ingress], ingress: [{action: Allow}]}
"""
ALLOWED = "  - {action: Allow}\n"
PROXY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: proxy, namespace: infra}
spec:
  provider:
    type: Kubernetes
    kubernetes: {envoyService: {type: ClusterIP, annotations: {networking.gke.io/load-balancer-type: Internal}}}
"""
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data:
  proxy.cfg: |
    # who gets in
    email_domains = ["example.com"]
    skip_auth_routes = ["/health"]
  config.yaml: |
    rateLimit:
      failClosed: true
      timeout: 1s
---
apiVersion: v1
kind: Pod
metadata: {name: proxy, namespace: shop}
spec: {containers: [{name: proxy, image: oauth2-proxy}], volumes: [{name: a, configMap: {name: settings}}]}
"""
ASKING = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: login, namespace: shop}
spec:
  selector: {matchLabels: {app: login}}
  template:
    metadata: {labels: {app: login}, annotations: {config.linkerd.io/default-inbound-policy: deny}}
    spec:
      containers:
      - name: login
        image: quay.io/oauth2-proxy/oauth2-proxy:v7
        args: [--email-domain=example.com, --reverse-proxy, --upstream, static://202]
        env: [{name: OAUTH2_PROXY_SKIP_AUTH_ROUTES, value: /health}]
"""
ISSUER = """\
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: corporate}
spec: {ca: {secretName: root}}
"""
INTENTIONS = """\
apiVersion: consul.hashicorp.com/v1alpha1
kind: ServiceIntentions
metadata: {name: shop, namespace: shop}
spec: {destination: {name: shop}, sources: [{name: web, action: allow}, {name: "*", action: deny}]}
"""
LISTENING = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: partners, namespace: infra}
spec:
  gatewayClassName: eg
  listeners:
  - {name: tls, port: 443, protocol: HTTPS, tls: {options: {kgateway.dev/min-tls-version: "1.3"}}}
"""
PLACED = """apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted, team: shop}}
"""
CHANGES = [
    (SETTINGS, SETTINGS.replace('["example.com"]', '["*"]'), "proxy-cfg.email_domains"),
    (SETTINGS, SETTINGS.replace('["/health"]', '["/health", "/api"]'), "proxy-cfg.skip_auth_routes"),
    (SETTINGS, SETTINGS.replace("      failClosed: true\n", ""), "config-yaml.rateLimit.failClosed"),
    (SETTINGS, SETTINGS.replace("# who gets in", "# all of them"), ""),
    (ASKING, ASKING.replace("=example.com", "=*"), "login.email-domain"),
    (ASKING, ASKING.replace("value: /health", "value: '/health,/api'"), "skip_auth_routes"),
    (ASKING, ASKING.replace("--reverse-proxy, ", "").replace("static://202", "static://202, --reverse-proxy"), ""),
    (ASKING, ASKING.replace("policy: deny", "policy: all-unauthenticated"), "annotation default-inbound-policy"),
    (PLACED, PLACED.replace("restricted", "privileged"), "label enforce of Namespace shop goes from restricted to"),
    (PLACED, PLACED.replace("team: shop", "team: web"), ""),
    (PLACED, PLACED.replace("pod-security.kubernetes.io/enforce: restricted, ", ""), "enforce"),
    (ISSUER, ISSUER.replace("ca: {secretName: root}", "selfSigned: {}"), "spec.ca of ClusterIssuer corporate is gone"),
    (ISSUER, ISSUER.replace("name: corporate", "name: corporate, labels: {team: pki}"), ""),
    (INTENTIONS, INTENTIONS.replace("action: deny", "action: allow"), "goes from deny to allow"),
    (LISTENING, LISTENING.replace('"1.3"', '"1.0"'), "option min-tls-version"),
    (LISTENING, LISTENING.replace('"1.3"', "'1.3'"), ""),
    (CALICO, CALICO.replace(ALLOWED, "").replace("  ingress:\n", "  ingress:\n" + ALLOWED), "has a denial behind"),
    (CALICO + OPEN, CALICO.replace("order: 100", "order: 900") + OPEN, "to the other side of NetworkPolicy shop/open"),
    (CALICO + OPEN, CALICO.replace("order: 100", "order: 200") + OPEN, ""),
    (CALICO, CALICO.replace("  - {action: Deny, source: {selector: role == 'guest'}}\n", ""), "loses"),
    (CALICO, CALICO.replace(ALLOWED, ""), ""),
    (PROXY, PROXY.replace("networking.gke.io/load-balancer-type", "team"), "load-balancer-type"),
    (BINDING, BINDING.replace("[Deny]", "[Audit]"), "goes from"),
    (BINDING, BINDING.replace("[Deny]", "[Deny, Audit]"), ""),
    (BINDING, "", "is gone"),
    (ADMITTING, ADMITTING.replace("Fail", "Ignore"), "goes from Fail to Ignore"),
    (ADMITTING, ADMITTING.replace("Ignore", "Fail").replace("names: [a]", "names: [a]"), ""),
    (ADMITTING, ADMITTING + "---\n" + SPARED, "is new"),
    (HOST_POLICY, "", "is gone"),
    (RELEASE, RELEASE.replace("enabled: true", "enabled: false"), "values.login.auth"),
    (RELEASE, RELEASE.replace("[10.0.0.0/8]", "[10.0.0.0/8, 0.0.0.0/0]"), "now holds 0.0.0.0/0"),
    (RELEASE, RELEASE.replace("interval: 1h", "interval: 2h"), ""),
    (OF_BITNAMI, OF_BITNAMI.replace("false", "true"), "its rule names no peers any more"),
    (OF_BITNAMI, OF_BITNAMI.replace("networkPolicy: {allowExternal: false}", "networkPolicy: {}"), "allowExternal"),
    (OF_BITNAMI, OF_BITNAMI.replace("allowExternal: false", "allowExternal: false, extraIngress: []"), ""),
    (OF_BITNAMI.replace("false", "true"), OF_BITNAMI, ""),
    (
        OF_BITNAMI.replace("External", "ExternalEgress"),
        OF_BITNAMI.replace("External: false", "ExternalEgress: true"),
        "Egress",
    ),
    (APPLICATION, APPLICATION.replace('value: "true"', 'value: "false"'), "auth"),
    (
        APPLICATION.replace("auth.enabled", "networkPolicy.allowExternal").replace('"true"', '"false"'),
        APPLICATION.replace("auth.enabled", "networkPolicy.allowExternal"),
        "allowExternal",
    ),
    (DOOR, DOOR.replace("disabled: false", "disabled: true"), "authPolicy"),
]


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES)
def test_unknown_kinds_are_read_by_their_words(tmp_path: Path, before: str, after: str, expected: str) -> None:
    pair = sides(tmp_path, (GATEWAY, SERVICE, route("checkout"), before), (GATEWAY, SERVICE, route("checkout"), after))
    found = [each.message for each in removed_protections([pair], compare([pair]), {"GWP304"})]
    assert len(found) == bool(expected), found
    assert expected in "".join(found)


@pytest.mark.parametrize(
    ("before", "after", "sworn"),
    [
        (BINDING, BINDING.replace("[Deny]", "[Deny, Audit]"), False),
        (DOOR, DOOR.replace("shop.example.com", "www.example.com"), False),
        (HOST_POLICY, HOST_POLICY.replace("cluster", "host"), False),
        (DOOR, DOOR.replace("namespace: shop", "namespace: shop, labels: {team: web}"), True),
    ],
)
def test_what_decides_and_is_not_evaluated_keeps_nobody_from_swearing(
    tmp_path: Path, before: str, after: str, sworn: bool
) -> None:
    pair = sides(tmp_path, (GATEWAY, SERVICE, route("checkout"), before), (GATEWAY, SERVICE, route("checkout"), after))
    (change,) = compare([pair])
    assert change.requests is not None
    assert change.requests.same == sworn


PLACES = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: ag}
spec: {controllerName: agentgateway.dev/agentgateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: shop}
spec: {gatewayClassName: ag, listeners: [{name: web, port: 80, protocol: HTTP}]}
---
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: public, sectionName: web}]
  traffic: {extAuth: {backendRef: {name: checkout, port: 80}, http: {}}}
"""
FIRST = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [{name: public}]
  rules: [{backendRefs: [{name: checkout, port: 80}]}]
"""


def test_the_first_route_of_a_gateway_takes_no_login_from_it(tmp_path: Path) -> None:
    pair = sides(tmp_path, (PLACES, SERVICE), (PLACES, SERVICE, FIRST))
    found = removed_protections([pair], compare([pair]), {"GWP302", "GWP304"})
    assert [each.message for each in found] == []


FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://example.com/a.git, interval: 1h}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}, interval: 1h, prune: true}
"""
APPS = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: plex, namespace: media}
spec:
  interval: 1h
  chart: {spec: {chart: app-template, version: 4.0.0, sourceRef: {kind: HelmRepository, name: bjw-s}}}
  values:
    controllers: {plex: {containers: {app: {image: {repository: plex}, env: {ALLOWED_GROUPS: family}}}}}
    service: {app: {controller: plex, ports: {http: {port: 80}}}}
    route:
      app:
        hostnames: [plex.example.com]
        parentRefs: [{name: internal, namespace: media}]
        rules: [{backendRefs: [{identifier: app, port: 80}]}]
    authentication: {mode: strict}
"""


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ("name: internal", "name: external", []),
        ("[{name: internal, namespace: media}]", "[{name: internal, namespace: media}, {name: external}]", []),
        ("hostnames: [plex.example.com]", "hostnames: [plex.example.com, public.example.com]", []),
        ("GROUPS: family", "GROUPS: friends", ["values.controllers.plex.containers.app.env.ALLOWED_GROUPS"]),
        ("mode: strict", "mode: lax", ["values.authentication.mode"]),
    ],
)  # fmt: skip
def test_values_that_make_an_object_are_told_of_that_object(
    tmp_path: Path, before: str, after: str, fields: list[str]
) -> None:
    simulations = []
    for name, apps in (("before", APPS), ("after", APPS.replace(before, after))):
        for folder, text in (("flux", FLUX), ("apps", apps)):
            place = tmp_path / name / folder / "all.yaml"
            place.parent.mkdir(parents=True)
            place.write_text(text, encoding="utf-8")
        simulations.append(open_workspace([str(tmp_path / name)]).simulations)
    (pair,) = pair_sides(*simulations)
    found = removed_protections([pair], compare([pair]), {"GWP304"})
    assert [each.field for each in found] == fields
