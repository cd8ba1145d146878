"""Whether one request is let in, by Istio and by Linkerd: predicted from their documentation before it was run.

istio.io/docs/concepts/security, «Authorization policies»; istio.io/docs/reference/config/security/authorization-policy;
istio.io/docs/ambient/usage/l4-policy and l7-features; linkerd.io/2.19/reference/authorization-policy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from policylint.explain.contexts import answers, nodes_of
from policylint.model import ResourceKey
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import RequestError, Trace, Tracer, request
from tests import worlds

ISTIO = "istio.io/gateway-controller"


def deployment(name: str, namespace: str, account: str = "", labels: str = "", port: str = "") -> str:
    pod = f"{{app: {name}{labels and ', ' + labels}}}"
    ports = f"ports: [{{containerPort: 8080{port and ', name: ' + port}}}]"
    spec = f"{account and f'serviceAccountName: {account}, '}containers: [{{name: c, image: x, {ports}}}]"
    return worlds.manifest(
        "apps/v1", "Deployment", name, namespace,
        f"spec: {{selector: {{matchLabels: {pod}}}, template: {{metadata: {{labels: {pod}}}, spec: {{{spec}}}}}}}",
    )  # fmt: skip


def service(name: str = "web", namespace: str = "shop") -> str:
    return worlds.manifest(
        "v1", "Service", name, namespace,
        f"spec: {{selector: {{app: {name}}}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}",
    )  # fmt: skip


def rule(name: str, spec: str, namespace: str = "shop") -> str:
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", name, namespace, f"spec: {{{spec}}}")


def asked(simulation: Simulation, **more: Any) -> Trace:
    given = {"client": "Deployment infra/client", "service": "Service shop/web", "host": "web.shop", "path": "/"}
    return Tracer(simulation).trace(request({**given, "port": 80, **more}))


def end(trace: Trace) -> str:
    """`allowed`, `depends`, the status, or `reset`."""
    if trace.outcome.refused:
        return "reset"
    if trace.outcome.status is not None:
        return str(trace.outcome.status)
    return "depends" if any(each.decision.answer == "depends" for each in trace.admissions) else "allowed"


INJECTED = "{istio-injection: enabled}"
AMBIENT = "{istio.io/dataplane-mode: ambient}"
WAYPOINTED = "{istio.io/dataplane-mode: ambient, istio.io/use-waypoint: way}"
WAYPOINT = worlds.gateway("way", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint")


def mesh(*policies: str, mode: str = INJECTED) -> Simulation:
    """A client of namespace infra, a server of namespace shop."""
    return worlds.simulated(
        worlds.labelled("shop", mode), worlds.labelled("infra", mode), service(), deployment("web", "shop"),
        deployment("client", "infra", "caller"), *policies,
    )  # fmt: skip


def source(attribute: str, action: str = "ALLOW") -> str:
    return rule("p", f"action: {action}, rules: [{{from: [{{source: {{{attribute}}}}}]}}]")


def operation(attribute: str, action: str = "ALLOW", more: str = "") -> str:
    return rule("p", f"{more}action: {action}, rules: [{{to: [{{operation: {{{attribute}}}}}]}}]")


def when(key: str, values: str) -> str:
    return rule("p", f"rules: [{{when: [{{key: '{key}', {values}}}]}}]")


def providers(*names: str) -> str:
    """Return the configuration of the mesh with some authorizers."""
    entries = "".join(f"    - {{name: {name}, envoyExtAuthzHttp: {{service: {name}, port: 80}}}}\n" for name in names)
    data = f"data:\n  mesh: |\n    extensionProviders:\n{entries}"
    return worlds.manifest("v1", "ConfigMap", "istio", "istio-system", data)


SIDECAR = {
    "no policy": ((), {}, "allowed"),
    "allow-nothing": ((rule("p", ""),), {}, "403"),
    "allow-all": ((rule("p", "rules: [{}]"),), {}, "allowed"),
    "allow-nothing of the mesh": ((rule("p", "", "istio-system"),), {}, "403"),
    "allow-nothing of another namespace": ((rule("p", "", "other"),), {}, "allowed"),
    "allow-nothing for other labels": ((rule("p", "selector: {matchLabels: {app: other}}"),), {}, "allowed"),
    "DENY beats ALLOW": ((rule("a", "rules: [{}]"), operation("paths: [/]", "DENY")), {}, "403"),
    "one ALLOW of two is enough": ((rule("a", ""), rule("b", "rules: [{}]")), {}, "allowed"),
    "namespace": ((source("namespaces: [infra]"),), {}, "allowed"),
    "another namespace": ((source("namespaces: [other]"),), {}, "403"),
    "namespace by prefix": ((source('namespaces: ["in*"]'),), {}, "allowed"),
    "not the namespace": ((source("notNamespaces: [infra]"),), {}, "403"),
    "DENY all but a namespace": ((source("notNamespaces: [infra]", "DENY"),), {}, "allowed"),
    "principal": ((source("principals: [cluster.local/ns/infra/sa/caller]"),), {}, "allowed"),
    "principal of another account": ((source("principals: [cluster.local/ns/infra/sa/other]"),), {}, "403"),
    "any principal": ((source('principals: ["*"]'),), {}, "allowed"),
    "principal by suffix": ((source('principals: ["*/sa/caller"]'),), {}, "allowed"),
    "service account with namespace": ((source("serviceAccounts: [infra/caller]"),), {}, "allowed"),
    "service account without: of the policy's namespace": ((source("serviceAccounts: [caller]"),), {}, "403"),
    "addresses are not in manifests": ((source('ipBlocks: ["10.0.0.0/8"]'),), {}, "depends"),
    "every address": ((source('ipBlocks: ["0.0.0.0/0"]'),), {}, "allowed"),
    "methods": ((operation("methods: [GET]"),), {"method": "POST"}, "403"),
    "path prefix": ((operation('paths: ["/admin*"]', "DENY"),), {"path": "/admin/x"}, "403"),
    "path without its query": ((operation("paths: [/admin]", "DENY"),), {"path": "/admin?x=1"}, "403"),
    "path template": ((operation('paths: ["/a/{*}/c"]', "DENY"),), {"path": "/a/b/c"}, "403"),
    "path template of one segment": ((operation('paths: ["/a/{*}"]', "DENY"),), {"path": "/a/b/c"}, "allowed"),
    "path template of any": ((operation('paths: ["/a/{**}"]', "DENY"),), {"path": "/a/b/c"}, "403"),
    "not the path": ((operation("notPaths: [/]", "DENY"),), {"path": "/x"}, "403"),
    "host, in any case": ((operation("hosts: [WEB.shop]", "DENY"),), {}, "403"),
    "the port of the container": ((operation('ports: ["8080"]'),), {}, "allowed"),
    "not the port of the Service": ((operation('ports: ["80"]'),), {}, "403"),
    "header": ((when("request.headers[x-team]", "values: [a]"),), {"headers": {"X-Team": "a"}}, "allowed"),
    "header that is not sent": ((when("request.headers[x-team]", "values: [a]"),), {}, "403"),
    "notValues of a header that is not sent": ((when("request.headers[x-team]", "notValues: [a]"),), {}, "allowed"),
    "the request line among the headers: the method": (
        (when("request.headers[:method]", "values: [POST]"),), {"method": "POST"}, "allowed"),
    "another method": ((when("request.headers[:method]", "values: [POST]"),), {}, "403"),
    "the host": ((when("request.headers[:authority]", "values: [web.shop]"),), {}, "allowed"),
    "the host as HTTP/1 calls it": ((when("request.headers[Host]", "values: [web.shop]"),), {}, "allowed"),
    "another host": ((when("request.headers[host]", "values: [pay.shop]"),), {}, "403"),
    "the path with its query is not known": ((when("request.headers[:path]", "values: [/x]"),), {}, "depends"),
    "a token that nobody checks": ((source('requestPrincipals: ["*"]'),), {"headers": {"Authorization": "b"}}, "403"),
    "a condition that is not known": ((when("connection.sni", "values: [a]"),), {}, "depends"),
    "from, to and when must all hold": (
        (rule("p", "rules: [{from: [{source: {namespaces: [infra]}}], to: [{operation: {methods: [PUT]}}]}]"),),
        {}, "403"),
    "AUDIT decides nothing": ((operation("paths: [/]", "AUDIT"),), {}, "allowed"),
    "CUSTOM is asked": ((operation("paths: [/]", "CUSTOM", "provider: {name: opa}, "),), {}, "depends"),
    "CUSTOM for other paths": ((operation("paths: [/x]", "CUSTOM", "provider: {name: opa}, "),), {}, "allowed"),
    "DENY after CUSTOM": (
        (rule("c", "action: CUSTOM, provider: {name: opa}, rules: [{}]"), operation("paths: [/]", "DENY")), {}, "403"),
    "CUSTOM with a provider of the mesh": (
        (operation("paths: [/]", "CUSTOM", "provider: {name: opa}, "), providers("opa")), {}, "depends"),
    "CUSTOM with a provider that the mesh lacks": (
        (operation("paths: [/]", "CUSTOM", "provider: {name: opa}, "), providers("other")), {}, "403"),
    "nor does it deny other paths": (
        (operation("paths: [/x]", "CUSTOM", "provider: {name: opa}, "), providers("other")), {}, "allowed"),
}  # fmt: skip


@pytest.mark.parametrize("name", SIDECAR)
def test_a_sidecar(name: str) -> None:
    policies, more, expected = SIDECAR[name]
    assert end(asked(mesh(*policies), **more)) == expected


AT_ZTUNNEL = {
    "namespaces are known": ((source("namespaces: [infra]"),), {}, "allowed"),
    "a refusal resets the connection": ((source("namespaces: [other]"),), {}, "reset"),
    "ALLOW by path lets nothing in": ((operation("paths: [/]"),), {}, "reset"),
    "DENY by path alone denies nothing": ((operation("paths: [/]", "DENY"),), {}, "allowed"),
    "DENY by path and port denies the port": ((operation('paths: [/x], ports: ["8080"]', "DENY"),), {}, "reset"),
}


@pytest.mark.parametrize("name", AT_ZTUNNEL)
def test_ztunnel(name: str) -> None:
    policies, more, expected = AT_ZTUNNEL[name]
    assert end(asked(mesh(*policies, mode=AMBIENT), **more)) == expected


ON_SERVICE = "targetRefs: [{group: '', kind: Service, name: web}], "
ON_WAYPOINT = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: way}], "
ON_CLASS = "targetRefs: [{group: gateway.networking.k8s.io, kind: GatewayClass, name: istio-waypoint}], "
DENIES = "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]"
AT_WAYPOINT = {
    "a policy on the Service": ((rule("p", ON_SERVICE + DENIES),), "/admin", "403"),
    "another path": ((rule("p", ON_SERVICE + DENIES),), "/", "allowed"),
    "a policy on the waypoint": ((rule("p", ON_WAYPOINT + DENIES),), "/admin", "403"),
    "a policy on all waypoints": ((rule("p", ON_CLASS + DENIES, "istio-system"),), "/admin", "403"),
    "a policy on all waypoints of the wrong namespace": ((rule("p", ON_CLASS + DENIES),), "/admin", "allowed"),
    "a policy of the namespace does not reach it": ((rule("p", DENIES),), "/admin", "allowed"),
    "ztunnel sees the waypoint, not the client": ((source("namespaces: [infra]"),), "/", "reset"),
    "ztunnel lets the waypoint in": ((source("principals: [cluster.local/ns/shop/sa/way]"),), "/", "allowed"),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (operation('ports: ["8080"]'), "allowed"),
        (operation('ports: ["8081"]'), "403"),
        (operation("methods: [POST]"), "reset"),
    ],
)
def test_a_port_has_a_number_for_each_protocol(policy: str, expected: str, first: bool) -> None:
    """HTTP/3 and DNS have one port by TCP and one by UDP: who connects gets to the first."""
    name = "tcp" if expected == "reset" else "http"
    both = [f"{{name: {name}, port: 80, targetPort: 8080}}", "{name: quic, port: 80, targetPort: 8081, protocol: UDP}"]
    made = worlds.service("web", "shop", f"[{', '.join(both if first else reversed(both))}]", "selector: {app: web}")
    world = worlds.simulated(
        worlds.labelled("shop", INJECTED), worlds.labelled("infra", INJECTED), made, deployment("web", "shop"),
        deployment("client", "infra", "caller"), policy,
    )  # fmt: skip
    assert end(asked(world)) == expected


@pytest.mark.parametrize("name", AT_WAYPOINT)
def test_a_waypoint(name: str) -> None:
    policies, path, expected = AT_WAYPOINT[name]
    assert end(asked(mesh(WAYPOINT, *policies, mode=WAYPOINTED), path=path)) == expected


def test_a_pod_is_called_past_the_waypoint() -> None:
    simulation = mesh(WAYPOINT, rule("p", ON_SERVICE + DENIES), mode=WAYPOINTED)
    straight = {"client": "Deployment infra/client", "pod": "Deployment shop/web", "path": "/admin"}
    for port in ({"port": 8080}, {}):
        trace = Tracer(simulation).trace(request(straight | port))
        assert (end(trace), trace.policies) == ("allowed", ())
        assert [share.key.name for share in trace.outcome.shares] == ["web"]


ON_GATEWAY = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], "
JWT = worlds.manifest(
    "security.istio.io/v1", "RequestAuthentication", "jwt", "infra",
    f"spec: {{{ON_GATEWAY}jwtRules: [{{issuer: https://id}}]}}",
)  # fmt: skip
TOKEN = {"headers": {"Authorization": "Bearer x"}}
AT_GATEWAY = {
    "DENY on the Gateway": ((rule("p", ON_GATEWAY + DENIES, "infra"),), {"path": "/admin"}, "403"),
    "DENY for other paths": ((rule("p", ON_GATEWAY + DENIES, "infra"),), {}, "allowed"),
    "nobody outside is of a namespace": (
        (rule("p", ON_GATEWAY + "rules: [{from: [{source: {namespaces: [infra]}}]}]", "infra"),), {}, "403"),
    "a token is asked for, and none comes": (
        (JWT, rule("p", ON_GATEWAY + 'rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]', "infra")), {}, "403"),
    "a token is asked for, and one comes": (
        (JWT, rule("p", ON_GATEWAY + 'rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]', "infra")),
        TOKEN, "depends"),
    "RequestAuthentication alone asks for nothing": ((JWT,), {}, "allowed"),
    "the pods see the Gateway": ((source("principals: [cluster.local/ns/infra/sa/edge-istio]"),), {}, "allowed"),
    "the pods do not see the client": ((source("namespaces: [other]"),), {}, "403"),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_GATEWAY)
def test_an_ingress_gateway(name: str) -> None:
    policies, more, expected = AT_GATEWAY[name]
    simulation = mesh(
        worlds.gateway_class("istio", ISTIO), worlds.gateway(of_class="istio"),
        worlds.route(more="rules: [{backendRefs: [{name: web, port: 80}]}]"), *policies,
    )  # fmt: skip
    assert end(Tracer(simulation).trace(request({"host": "a", "path": "/", **more}))) == expected


def linkerd(kind: str, name: str, spec: str, version: str = "v1alpha1") -> str:
    return worlds.manifest(f"policy.linkerd.io/{version}", kind, name, "shop", f"spec: {{{spec}}}")


def server(more: str = "", port: str = "8080") -> str:
    return linkerd("Server", "web", f"podSelector: {{matchLabels: {{app: web}}}}, port: {port}{more}", "v1beta3")


def lets(authentication: str, target: str = "group: policy.linkerd.io, kind: Server, name: web") -> str:
    references = f"requiredAuthenticationRefs: [{authentication}]"
    return linkerd("AuthorizationPolicy", "lets", f"targetRef: {{{target}}}, {references}")


def meshed(*identities: str) -> str:
    return linkerd("MeshTLSAuthentication", "who", f"identities: [{', '.join(identities)}]")


def network(cidr: str) -> str:
    return linkerd("NetworkAuthentication", "where", f"networks: [{{cidr: {cidr}}}]")


WHO = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: who}"
WHERE = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: where}"
OWN = '"caller.infra.serviceaccount.identity.linkerd.cluster.local"'
ADMIN = worlds.manifest(
    "policy.linkerd.io/v1beta3", "HTTPRoute", "admin", "shop",
    "spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}],"
    " rules: [{matches: [{path: {value: /admin}}]}]}",
)  # fmt: skip
ON_ADMIN = "group: policy.linkerd.io, kind: HTTPRoute, name: admin"
OLD = "server: {name: web}, client: {unauthenticated: true}"
VARIABLE_IDENTITIES = {
    "${VALUE}": "depends",
    "caller.${NAMESPACE}.serviceaccount.identity.linkerd.cluster.local": "depends",
    "other.${NAMESPACE}.serviceaccount.identity.linkerd.cluster.local": "403",
    "caller.infra.serviceaccount.identity.linkerd.${DOMAIN}": "depends",
    "other.infra.serviceaccount.identity.linkerd.${DOMAIN}": "403",
    "*.infra.serviceaccount.identity.linkerd.${DOMAIN}": "depends",
    "*.other.serviceaccount.identity.linkerd.${DOMAIN}": "403",
    "*.${DOMAIN}": "depends",
    "${CALLER}.serviceaccount.identity.linkerd.cluster.local": "depends",
    "{{ .Values.account }}.infra.serviceaccount.identity.linkerd.cluster.local": "depends",
}
"""Of Linkerd, each with what it leaves open."""
LINKERD = {
    "no Server": ((), {}, "allowed"),
    "a Server denies": ((server(),), {}, "403"),
    "a Server of another port": ((server(port="9090"),), {}, "allowed"),
    "a Server by the port's name": ((server(port="http"),), {}, "403"),
    "accessPolicy lets everybody in": ((server(", accessPolicy: all-unauthenticated"),), {}, "allowed"),
    "accessPolicy audit": ((server(", accessPolicy: audit"),), {}, "allowed"),
    "accessPolicy lets the mesh in": ((server(", accessPolicy: all-authenticated"),), {}, "allowed"),
    "everybody of the mesh": ((server(), lets(WHO), meshed('"*"')), {}, "allowed"),
    "the identity": ((server(), lets(WHO), meshed(OWN)), {}, "allowed"),
    "another identity": (
        (server(), lets(WHO), meshed('"x.infra.serviceaccount.identity.linkerd.cluster.local"')), {}, "403"),
    "a domain of identities": (
        (server(), lets(WHO), meshed('"*.infra.serviceaccount.identity.linkerd.cluster.local"')), {}, "allowed"),
    "a ServiceAccount": ((server(), lets("{kind: ServiceAccount, name: caller, namespace: infra}")), {}, "allowed"),
    "a ServiceAccount of the policy's namespace": ((server(), lets("{kind: ServiceAccount, name: caller}")), {}, "403"),
    "every network": ((server(), lets(WHERE), network("0.0.0.0/0")), {}, "allowed"),
    "a network": ((server(), lets(WHERE), network("10.0.0.0/8")), {}, "depends"),
    "identity and network must both hold": (
        (server(), lets(f"{WHO}, {WHERE}"), meshed("x"), network("0.0.0.0/0")), {}, "403"),
    "without an authentication everybody is let in": ((server(), lets("")), {}, "allowed"),
    "a policy on the namespace": (
        (server(), lets(WHO, "kind: Namespace, name: shop"), meshed('"*"')), {}, "allowed"),
    "a policy on a route of the Server": (
        (server(), ADMIN, lets(WHO, ON_ADMIN), meshed('"*"')), {"path": "/admin"}, "allowed"),
    "no route of the Server takes it": ((server(), ADMIN, lets(WHO, ON_ADMIN), meshed('"*"')), {}, "404"),
    "a route without authorization": ((server(), ADMIN), {"path": "/admin"}, "403"),
    "a ServerAuthorization": (
        (server(), linkerd("ServerAuthorization", "old", OLD, "v1beta1")), {}, "allowed"),
    **{f"an identity with a variable, {identity}": (
        (server(), lets(WHO), meshed(f"'{identity}'")), {}, expected)
        for identity, expected in VARIABLE_IDENTITIES.items()},
    **{f"old, an identity with a variable, {identity}": (
        (server(), linkerd("ServerAuthorization", "old",
        f"server: {{name: web}}, client: {{meshTLS: {{identities: ['{identity}']}}}}", "v1beta1")), {}, expected)
        for identity, expected in VARIABLE_IDENTITIES.items()},
    "old, an account with a variable": (
        (server(), linkerd("ServerAuthorization", "old",
        "server: {name: web}, client: {meshTLS: {serviceAccounts: [{name: '${ACCOUNT}', namespace: infra}]}}",
        "v1beta1")), {}, "depends"),
    "an account of a variable": (
        (server(), lets("{kind: ServiceAccount, name: '${ACCOUNT}', namespace: infra}")), {}, "depends"),
    "an account that a variable stands for": ((server(), lets(WHO), linkerd(
        "MeshTLSAuthentication", "who", "identityRefs: [{kind: ServiceAccount, name: '${NAME}', namespace: infra}]"
        )), {}, "depends"),
    "a network that a variable stands for": ((server(), lets(WHERE), network("'${CIDR}'")), {}, "depends"),
    "identities that a variable stands for": ((server(), lets(WHO), linkerd(
        "MeshTLSAuthentication", "who", "identities: '${IDENTITIES}'")), {}, "depends"),
    "references that a variable stands for": ((server(), lets(WHO), linkerd(
        "MeshTLSAuthentication", "who", "identityRefs: '${REFERENCES}'")), {}, "depends"),
    "networks that a variable stands for": ((server(), lets(WHERE), linkerd(
        "NetworkAuthentication", "where", "networks: '${NETWORKS}'")), {}, "depends"),
    "an authentication by a variable": ((server(), lets("'${AUTHENTICATION}'")), {}, "depends"),
    "authentications by a variable": ((server(), linkerd("AuthorizationPolicy", "lets",
        "targetRef: {group: policy.linkerd.io, kind: Server, name: web}, requiredAuthenticationRefs: '${ALL}'"
        )), {}, "depends"),
    "old, a client by a variable": ((server(), linkerd("ServerAuthorization", "old",
        "server: {name: web}, client: '${CLIENT}'", "v1beta1")), {}, "depends"),
    "old, a mesh by a variable": ((server(), linkerd("ServerAuthorization", "old",
        "server: {name: web}, client: {meshTLS: '${TLS}'}", "v1beta1")), {}, "depends"),
    "old, networks by a variable": ((server(), linkerd("ServerAuthorization", "old",
        "server: {name: web}, client: {unauthenticated: true, networks: '${NETWORKS}'}", "v1beta1")), {}, "depends"),
}  # fmt: skip


def linkerd_world(*policies: str, shop: str = "linkerd.io/inject: enabled") -> Simulation:
    """A client and a server in the mesh; `shop` are the annotations of the server's Namespace."""
    injected = worlds.manifest("v1", "Namespace", "infra", more="annotations: {linkerd.io/inject: enabled}")
    stated = worlds.manifest("v1", "Namespace", "shop", more=f"annotations: {{{shop}}}")
    server, client = deployment("web", "shop", port="http"), deployment("client", "infra", "caller")
    return worlds.simulated(service(), injected, stated, server, client, *policies)


@pytest.mark.parametrize("name", LINKERD)
def test_linkerd(name: str) -> None:
    policies, more, expected = LINKERD[name]
    assert end(asked(linkerd_world(*policies), **more)) == expected


def test_the_default_policy_of_a_namespace() -> None:
    annotations = "linkerd.io/inject: enabled, config.linkerd.io/default-inbound-policy: deny"
    other = linkerd("Server", "other", "podSelector: {matchLabels: {app: other}}, port: 1", "v1beta3")
    assert end(asked(linkerd_world(other, shop=annotations))) == "403"


def _installed(policy: str) -> str:
    chart = "chart: {spec: {chart: linkerd-control-plane}}"
    values = f"values: {{proxy: {{defaultInboundPolicy: {policy}}}}}"
    spec = f"spec: {{{chart}, {values}}}"
    return worlds.manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "linkerd", "linkerd", spec)


def _by_argo(policy: str) -> str:
    values = f"valuesObject: {{proxy: {{defaultInboundPolicy: {policy}}}}}"
    source = f"source: {{chart: linkerd-control-plane, helm: {{{values}}}}}"
    return worlds.manifest("argoproj.io/v1alpha1", "Application", "linkerd", "argocd", f"spec: {{{source}}}")


def _rendered(policy: str) -> str:
    container = f"containers: [{{name: policy, image: x, args: [--default-policy={policy}]}}]"
    spec = f"spec: {{template: {{spec: {{{container}}}}}}}"
    return worlds.manifest("apps/v1", "Deployment", "linkerd-destination", "linkerd", spec)


@pytest.mark.parametrize("by", [_installed, _by_argo, _rendered])
def test_the_default_policy_of_the_cluster(by: Callable[[str], str]) -> None:
    """linkerd.io/2.19/reference/authorization-policy, «Default policies»: `proxy.defaultInboundPolicy` of the chart."""
    assert end(asked(linkerd_world(by("deny")))) == "403"
    assert end(asked(linkerd_world(by("all-unauthenticated")))) == "allowed"
    own = "linkerd.io/inject: enabled, config.linkerd.io/default-inbound-policy: all-unauthenticated"
    assert end(asked(linkerd_world(by("deny"), shop=own))) == "allowed"
    assert end(asked(linkerd_world(by("all-authenticated")))) == "allowed", "the client is in the mesh"


@pytest.mark.parametrize(
    ("shop", "expected"),
    [("linkerd.io/inject: disabled", "allowed"), ("", "depends"), ("linkerd.io/inject: ingress", "403")],
)
def test_a_server_that_nothing_says_is_in_linkerds_mesh(shop: str, expected: str) -> None:
    assert end(asked(linkerd_world(server(), shop=shop))) == expected


PLANE = worlds.manifest(
    "apps/v1", "Deployment", "istiod-canary", "istio-system", more="labels: {app: istiod, istio.io/rev: canary}"
)
ENROLMENT = {
    "nothing says so": ("{}", "", "depends"),
    "switched off": ("{istio-injection: disabled}", "", "allowed"),
    "a revision nobody has seen": ("{istio.io/rev: canary}", "", "depends"),
    "a revision that is there": ("{istio.io/rev: canary}", PLANE, "403"),
    "the default revision": ("{istio.io/rev: default}", "", "403"),
}


@pytest.mark.parametrize("name", ENROLMENT)
def test_a_server_that_nothing_says_is_in_istios_mesh(name: str) -> None:
    """istio.io/docs/setup/additional-setup/sidecar-injection: namespaces are labelled, often by hand."""
    labels, plane, expected = ENROLMENT[name]
    simulation = worlds.simulated(
        worlds.labelled("shop", labels), worlds.labelled("infra", INJECTED), service(), deployment("web", "shop"),
        deployment("client", "infra", "caller"), rule("none", ""), *([plane] if plane else []),
    )  # fmt: skip
    assert end(asked(simulation)) == expected


def test_without_a_namespace_in_the_tree_the_client_is_not_known() -> None:
    simulation = worlds.simulated(
        worlds.labelled("shop", INJECTED), service(), deployment("web", "shop"),
        deployment("client", "infra", "caller"), source("principals: [cluster.local/ns/infra/sa/caller]"),
    )  # fmt: skip
    assert end(asked(simulation)) == "depends"


EVERY = [
    *(partial(mesh, *policies) for policies, _, _ in SIDECAR.values()),
    *(partial(mesh, *policies, mode=AMBIENT) for policies, _, _ in AT_ZTUNNEL.values()),
    *(partial(mesh, WAYPOINT, *policies, mode=WAYPOINTED) for policies, _, _ in AT_WAYPOINT.values()),
    *(partial(linkerd_world, *policies) for policies, _, _ in LINKERD.values()),
]
"""What makes each world, when its test is run: all processes collect all tests."""


@pytest.mark.parametrize("simulate", EVERY)
def test_explain_and_trace_agree(simulate: Callable[[], Simulation]) -> None:
    """Whoever turns a request away, or is asked, is among the policies that explain and trace name."""
    simulation = simulate()
    trace = asked(simulation)
    told = {
        key
        for node in ("Service", "Deployment")
        for answer in answers(simulation, nodes_of(simulation, whole(_key(node)))).listed
        for group in answer.groups
        for key in group.effective.sources
    }
    met = {key for each in trace.policies for key in each.group.effective.sources}
    owners = [admission.decision.by for admission in trace.admissions]
    deciding = {owner.key for owner in owners if owner is not None and owner.key in simulation.policies}
    assert met <= told
    assert deciding <= told


def _key(kind: str) -> ResourceKey:
    return ResourceKey("apps" if kind == "Deployment" else "", kind, "shop", "web")


def test_the_result_says_who_turns_it_away_and_what_it_depends_on() -> None:
    denied, unknown = mesh(rule("p", "")), mesh(source('ipBlocks: ["10.0.0.0/8"]'))
    names = Names(denied.world.resources)
    assert result(asked(denied), names) == (
        "403: AuthorizationPolicy shop/p turns it away at Deployment shop/web: it lets nothing in."
    )
    assert result(asked(unknown), names) == (
        "reaches shop/web, if let in: that depends on the client's address (shop/p)."
    )


def test_a_client_of_no_kind_of_workload_is_an_error() -> None:
    world = worlds.simulated(worlds.service())
    asked = {"host": "checkout.shop", "path": "/", "service": "shop/checkout"}
    for client in ("shop/Deployment/web", "web/shop/web"):
        with pytest.raises(RequestError, match="no kind of workload"):
            Tracer(world).trace(request({**asked, "client": client}))
    assert not Tracer(world).trace(request({**asked, "client": "Deployment/elsewhere/web"})).outcome.refused


@pytest.mark.parametrize(("kept", "gone"), [("", True), (", forwardOriginalToken: true", False)])
def test_a_token_that_is_checked_beside_the_workload_goes_no_further(kept: str, gone: bool) -> None:
    """istio/api security/v1beta1/request_authentication.proto, `forwardOriginalToken`; istio/istio#40112."""
    spec = f"spec: {{jwtRules: [{{issuer: 'https://id.example.org'{kept}}}]}}"
    checked = worlds.manifest("security.istio.io/v1", "RequestAuthentication", "jwt", "shop", spec)
    world = worlds.simulated(
        worlds.manifest("v1", "Namespace", "shop", more=f"labels: {INJECTED}"),
        service(), deployment("web", "shop"), deployment("client", "infra"), checked,
    )  # fmt: skip
    trace = asked(world, headers={"authorization": "Bearer x"})
    assert trace.forwarded is not None
    assert ("authorization" not in map(str.lower, trace.forwarded.headers)) is gone
    assert any("takes Authorization off the request" in note for note in trace.notes) is gone


@pytest.mark.parametrize(
    ("weight", "more", "expected"),
    [
        ("20", "", "depends"),
        ("0", "", "403"),
        ("100", "", "allowed"),
        ("20", ", {group: '', kind: Service, name: web}", "403"),
        ("20", ", {group: gateway.networking.k8s.io, kind: Gateway, name: new}", "403"),
    ],
)
def test_a_second_waypoint_takes_a_share(weight: str, more: str, expected: str) -> None:
    """istio/istio#60801 (1.31): a policy for one waypoint alone turns nothing away that goes through the other one."""
    labels = "istio.io/dataplane-mode: ambient, istio.io/use-waypoint: old, istio.io/use-waypoint-canary: new"
    around = f"labels: {{{labels}}}, annotations: {{istio.io/use-waypoint-canary-weight: '{weight}'}}"
    mesh = "[{name: mesh, port: 15008, protocol: HBONE}]"
    target = f"targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: old}}{more}]"
    world = worlds.simulated(
        worlds.manifest("v1", "Namespace", "shop", more=around),
        worlds.gateway_class("istio-waypoint", "istio.io/mesh-controller"),
        worlds.gateway("old", "shop", mesh, of_class="istio-waypoint"),
        worlds.gateway("new", "shop", mesh, of_class="istio-waypoint"),
        service(), deployment("web", "shop"), deployment("client", "shop"),
        rule("l7", f"{target}, rules: [{{to: [{{operation: {{methods: [GET]}}}}]}}]"),
    )  # fmt: skip
    assert end(asked(world, client="Deployment shop/client", method="POST")) == expected
