"""Weakenings that the fifth campaign found unsaid, by class, each with a change that harms nobody."""

from __future__ import annotations

from textwrap import indent

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from tests.worlds import gateway, gateway_class, labelled, manifest, policy, route, service, simulated

POD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout, namespace: shop}
spec:
  selector: {matchLabels: {app: checkout}}
  template:
    metadata: {labels: {app: checkout}}
    spec: {containers: [{name: app, image: registry.example.com/checkout, ports: [{containerPort: 8080}]}]}
"""


def world(controller: str = "gateway.envoyproxy.io/gatewayclass-controller", more: str = "") -> list[str]:
    return [
        labelled("infra"),
        labelled("shop", "{istio-injection: enabled}"),
        labelled("dev"),
        gateway_class("any", controller),
        gateway(more=more),
        route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        service(more="selector: {app: checkout}"),
        POD,
    ]


def authorization(spec: str) -> str:
    chosen = "selector: {matchLabels: {app: checkout}}"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "pods", "shop", f"spec: {{{chosen}, {spec}}}")


def client(spec: str) -> str:
    return policy("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "c", "Gateway/edge", spec, "infra")


def security(spec: str) -> str:
    target = "HTTPRoute/checkout"
    return policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "s", target, spec, "shop")


def proxied(audiences: str) -> str:
    provider = f"{{name: a, default: true, issuer: x, {audiences}remoteJWKS: {{uri: 'https://x/k'}}}}"
    host = f"virtualhost: {{fqdn: shop.example.com, jwtProviders: [{provider}]}}"
    routes = "routes: [{services: [{name: checkout, port: 80}]}]"
    return manifest("projectcontour.io/v1", "HTTPProxy", "shop", "shop", f"spec: {{{host}, {routes}}}")


def addon(name: str) -> str:
    return manifest("addon.open-cluster-management.io/v1alpha1", "ManagedClusterAddOn", name, "c1", "spec: {}")


def proxy(spec: str) -> str:
    return manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "proxy", "infra", f"spec: {{{spec}}}")


def grant(namespace: str, kind: str) -> str:
    to = f"to: [{{group: '', kind: {kind}}}]"
    given = f"spec: {{from: [{{group: gateway.networking.k8s.io, kind: Gateway, namespace: {namespace}}}], {to}}}"
    return manifest("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", "certs", "infra", given)


def cilium(header: str) -> str:
    rules = f"rules: {{http: [{{headerMatches: [{{name: x-tenant, value: shop{header}}}]}}]}}"
    ports = f"toPorts: [{{ports: [{{port: '8080', protocol: TCP}}], {rules}}}]"
    return manifest(
        "cilium.io/v2", "CiliumNetworkPolicy", "o", "shop", f"spec: {{endpointSelector: {{}}, ingress: [{{{ports}}}]}}"
    )


GROUPS = {
    "Policy": "policy.open-cluster-management.io/v1",
    "Placement": "cluster.open-cluster-management.io/v1beta1",
    "ManifestWorkReplicaSet": "work.open-cluster-management.io/v1alpha1",
}


def on_clusters(kind: str, body: str) -> str:
    return manifest(GROUPS[kind], kind, "guard", "hub", body)


def template(interval: str) -> str:
    object_definition = (
        "{apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: deny},"
        f" spec: {{remediationAction: enforce, evaluationInterval: {{{interval}}}}}}}"
    )
    return on_clusters(
        "Policy", f"spec: {{disabled: false, policy-templates: [{{objectDefinition: {object_definition}}}]}}"
    )


def authz(action: str, rules: str) -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    spec = f"spec: {{{target}, action: {action}, {rules}}}"
    return manifest("networking.gke.io/v1", "GCPAuthzPolicy", "iap", "infra", spec)


def job(command: str) -> str:
    pods = f"spec: {{restartPolicy: Never, containers: [{{name: main, image: registry.example.com/a, {command}}}]}}"
    return manifest("batch/v1", "Job", "tidy", "shop", f"spec: {{template: {{{pods}}}}}")


def held(text: str) -> str:
    return manifest("v1", "ConfigMap", "held", "shop", "data:\n  run.yaml: |\n" + indent(text, "    "))


def application(labels: str) -> str:
    kept = f"syncPolicy: {{managedNamespaceMetadata: {{labels: {{{labels}}}}}}}"
    return manifest("argoproj.io/v1alpha1", "Application", "shop", "argocd", f"spec: {{project: default, {kept}}}")


FROM_OFFICE = "rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}]"
CA = "caCertificateRefs: [{name: ca}]"
CASES = {
    "an address that clients write": (
        authorization(FROM_OFFICE),
        authorization(FROM_OFFICE.replace("ipBlocks", "remoteIpBlocks")),
        authorization(FROM_OFFICE.replace("[10.0.0.0/8]", "[10.0.0.0/9, 10.128.0.0/9]")),
        "addresses that clients may write count",
    ),
    "the same in a condition": (
        authorization("rules: [{when: [{key: source.ip, values: [10.0.0.0/8]}]}]"),
        authorization("rules: [{when: [{key: remote.ip, values: [10.0.0.0/8]}]}]"),
        authorization("rules: [{when: [{key: source.ip, values: [10.1.0.0/16]}]}]"),
        "addresses that clients may write count",
    ),
    "a ban by an address that clients write": (
        authorization("action: DENY, rules: [{from: [{source: {namespaces: [dev]}}]}]"),
        authorization("action: DENY, rules: [{from: [{source: {namespaces: [dev], remoteIpBlocks: [10.0.0.0/8]}}]}]"),
        authorization("action: DENY, rules: [{from: [{source: {namespaces: [dev, dev]}}]}]"),
        "addresses that clients may write count",
    ),
    "a port that no container declares, in a ban": (
        authorization("action: DENY, rules: [{to: [{operation: {notPorts: ['8080']}}]}]"),
        authorization("action: DENY, rules: [{to: [{operation: {notPorts: ['8080', '9000']}}]}]"),
        authorization("action: DENY, rules: [{to: [{operation: {notPorts: ['8080', '8080']}}]}]"),
        "requests to one more port pass",
    ),
    "a port that no container declares, let in": (
        authorization("rules: [{to: [{operation: {ports: ['8080']}}]}]"),
        authorization("rules: [{to: [{operation: {ports: ['8080', '9000']}}]}]"),
        authorization("action: ALLOW, rules: [{to: [{operation: {ports: ['8080']}}]}]"),
        "requests to one more port pass",
    ),
    "one more client certificate": (
        client(f"tls: {{clientValidation: {{{CA}, spkiHashes: [a]}}}}"),
        client(f"tls: {{clientValidation: {{{CA}, spkiHashes: [a, b]}}}}"),
        client(f"tls: {{clientValidation: {{spkiHashes: [a], {CA}}}}}"),
        "one more client certificate will do",
    ),
    "the order of filters": (
        proxy("filterOrder: [{name: envoy.filters.http.ext_authz, before: envoy.filters.http.wasm}]"),
        proxy("filterOrder: [{name: envoy.filters.http.ext_authz, after: envoy.filters.http.wasm}]"),
        proxy("filterOrder: [{before: envoy.filters.http.wasm, name: envoy.filters.http.ext_authz}]"),
        "filters act in another order",
    ),
    "how proxies start": (
        proxy('bootstrap: {type: Merge, value: "admin:\\n  address: 127.0.0.1\\n"}'),
        proxy('bootstrap: {type: Merge, value: "admin:\\n  address: 0.0.0.0\\n"}'),
        proxy('bootstrap: {type: Merge, value: "admin: {address: 127.0.0.1}\\n# as before\\n"}'),
        "proxies start otherwise",
    ),
    "another header is only written down": (
        cilium(""),
        cilium(", mismatch: LOG"),
        cilium(", secret: {name: a}"),
        "requests with another header pass",
    ),
    "drift on clusters": (
        template("compliant: 10m"),
        template("compliant: never"),
        template("compliant: 5m"),
        "no longer puts right what drifts",
    ),
    "clusters with a taint": (
        on_clusters("Placement", "spec: {tolerations: [{key: edge}]}"),
        on_clusters("Placement", "spec: {tolerations: []}"),
        on_clusters("Placement", "spec: {tolerations: [{key: edge}, {key: a}]}"),
        "no longer chooses clusters with the taint edge",
    ),
    "works for fewer placements": (
        on_clusters("ManifestWorkReplicaSet", "spec: {placementRefs: [{name: a}, {name: b}]}"),
        on_clusters("ManifestWorkReplicaSet", "spec: {placementRefs: [{name: a}]}"),
        on_clusters("ManifestWorkReplicaSet", "spec: {placementRefs: [{name: b}, {name: a}]}"),
        "no longer goes to the clusters of Placement b",
    ),
    "nobody is asked any more": (
        authz("CUSTOM", "customProviders: {cloudIap: {}}"),
        authz("ALLOW", "rules: []"),
        authz("CUSTOM", "customProviders: {cloudIap: {a: b}}"),
        "nobody is asked any more",
    ),
    "a policy that the shipped schema may refuse": (
        authz("ALLOW", "rules: [{to: {operations: [{methods: [GET]}]}}]"),
        authz("ALLOW", "rules: [{to: {operations: [{methods: [GET, POST]}]}}]"),
        authz("ALLOW", "rules: [{to: {operations: [{methods: [GET, GET]}]}}]"),
        "requests of one more sort pass",
    ),
    "a command that deletes": (
        "",
        job("command: [kubectl, delete, securitypolicy, login]"),
        job("command: [kubectl, get, securitypolicy, login]"),
        "Job shop/tidy now runs `kubectl delete securitypolicy login`",
    ),
    "a script that a pod may hold": (
        held("echo a\n"),
        held("echo a\nkubectl patch httproute shop -p x\n"),
        held("echo a\nkubectl get httproute shop\n"),
        "ConfigMap shop/held now runs `kubectl patch httproute shop -p x`",
    ),
    "which classes a controller serves": (
        held("gateway:\n  controllerName: example.net/a\n  level: info\n"),
        held("gateway:\n  controllerName: example.net/b\n  level: info\n"),
        held("gateway:\n  controllerName: example.net/a\n  level: debug\n"),
        "classes of the other name are no longer served by it",
    ),
    "namespaces that a deployer makes": (
        application("istio-injection: enabled, a: b"),
        application("istio-injection: disabled, a: b"),
        application("istio-injection: enabled, a: c"),
        "pods of the namespace that it makes are no longer held to it",
    ),
    "an origin exchanged for all below it": (
        security("cors: {allowOrigins: ['https://app.example.com']}"),
        security("cors: {allowOrigins: ['https://*.example.com']}"),
        security("cors: {allowOrigins: ['https://www.example.com']}"),
        "scripts of more sites may ask",
    ),
    "one more audience": (
        security("jwt: {providers: [{name: a, issuer: x, remoteJWKS: {uri: 'https://x/k'}, audiences: [shop]}]}"),
        security("jwt: {providers: [{name: a, issuer: x, remoteJWKS: {uri: 'https://x/k'}, audiences: [shop, b]}]}"),
        security("jwt: {providers: [{name: a, issuer: x, remoteJWKS: {uri: 'https://x/k'}, audiences: [shop, shop]}]}"),
        "tokens for one more audience are taken",
    ),
    "a door of which the catalog knows what it refers to": (
        proxied("audiences: [shop], "),
        proxied(""),
        proxied("audiences: [shop], ").replace("name: a, default: true", "default: true, name: a"),
        "any will do",
    ),
    "an add-on that enforces policies": (
        addon("config-policy-controller") + "---" + addon("search"),
        addon("search"),
        addon("config-policy-controller"),
        "nothing enforces policies on cluster c1 any more",
    ),
    "Secrets that nobody needs to name": (
        "",
        grant("dev", "Secret"),
        grant("dev", "Service"),
        "they may name Secrets here, and none that was seen does",
    ),
}


def found(before: str, after: str) -> list[str]:
    sides = pair_sides([simulated(*world(), before)], [simulated(*world(), after)])
    return [finding.message for finding in removed_protections(sides, compare(sides)) if finding.rule == "GWP304"]


@pytest.mark.parametrize(("before", "after", "twin", "says"), CASES.values(), ids=CASES)
def test_a_weakening_is_said_and_its_harmless_twin_is_not(before: str, after: str, twin: str, says: str) -> None:
    assert any(says in message for message in found(before, after))
    assert found(before, twin) == []


def test_a_gateway_that_shows_backends_no_certificate() -> None:
    shown = "tls: {backend: {clientCertificateRef: {name: own}}}"
    sides = pair_sides([simulated(*world(more=shown))], [simulated(*world(more="tls: {backend: {}}"))])
    messages = [finding.message for finding in removed_protections(sides, compare(sides))]
    assert [message for message in messages if "no longer see by a certificate who calls them" in message]


def test_a_new_grant_that_something_uses_is_not_told() -> None:
    listener = "[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert, namespace: infra}]}}]"
    user = gateway("own", "dev", listeners=listener)
    assert found("", user + "---" + grant("dev", "Secret")) == []
