"""Weakenings that the sixth campaign found unsaid, by class and with siblings, each with a change that harms nobody."""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from policylint.simulation import simulate
from tests.compare.test_fifth_campaign import POD, world
from tests.worlds import gateway, gateway_class, labelled, policy, route, service, simulated

ISTIO = "istio.io/gateway-controller"
CALICO, ANTREA = "crd.projectcalico.org/v1", "crd.antrea.io/v1beta1"


def manifest(api: str, kind: str, name: str, namespace: str, body: str, labels: str = "{}") -> str:
    home = f"namespace: {namespace}, " if namespace else ""
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, {home}labels: {labels}}}\n{body}\n"


def calico(spec: str) -> str:
    return manifest(CALICO, "GlobalNetworkPolicy", "admin", "", f"spec: {{selector: app == 'checkout', {spec}}}")


def networks(labels: str) -> str:
    return manifest(CALICO, "GlobalNetworkSet", "partners", "", "spec: {nets: [192.0.2.0/24]}", labels)


def keys(labels: str) -> str:
    body = "stringData: {api-key: a}"
    return manifest("v1", "Secret", "partner", "gloo-system", body, labels)


def pods(labels: str) -> str:
    return (
        POD.replace("name: checkout", "name: batch", 1)
        .replace("labels: {app: checkout}", f"labels: {labels}")
        .replace("matchLabels: {app: checkout}", "matchLabels: {app: batch}")
    )


BY_ROLE = calico("ingress: [{action: Allow, source: {selector: role == 'trusted'}}]")
BY_NAMESPACE = calico("ingress: [{action: Allow, source: {namespaceSelector: has(trusted)}}]")
WITH_KEYS = manifest(
    "enterprise.gloo.solo.io/v1",
    "AuthConfig",
    "admin",
    "gloo-system",
    "spec: {configs: [{apiKeyAuth: {labelSelector: {team: admin}, headerName: api-key}}]}",
)
SIDECAR = manifest(
    "networking.istio.io/v1",
    "Sidecar",
    "out",
    "shop",
    "spec: {workloadSelector: {labels: {tier: web}}, outboundTrafficPolicy: {mode: REGISTRY_ONLY}}",
)
APPLIED = manifest(
    ANTREA,
    "NetworkPolicy",
    "walls",
    "shop",
    "spec: {appliedTo: [{podSelector: {matchLabels: {tier: web}}}], ingress: [{action: Drop}]}",
)
SELECTED = {
    "keys": (WITH_KEYS, keys("{team: x}"), keys("{team: admin}"), keys("{team: y}")),
    "a Sidecar": (SIDECAR, pods("{tier: web}"), pods("{tier: api}"), pods("{tier: web, a: b}")),
    "another plugin": (APPLIED, pods("{tier: web}"), pods("{app: batch}"), pods("{tier: web, a: b}")),
}


@pytest.mark.parametrize(("by", "before", "after", "twin"), SELECTED.values(), ids=SELECTED)
def test_what_selects_by_labels_and_is_not_evaluated(by: str, before: str, after: str, twin: str) -> None:
    assert [each for each in told([by, before], [by, after]) if " what " in each and ", by label " in each]
    assert told([by, before], [by, twin]) == []


OPENED = {
    "a set of networks": (BY_ROLE, networks("{role: partner}"), networks("{role: trusted}"), networks("{role: x}")),
    "pods of a text": (BY_ROLE, pods("{app: batch}"), pods("{role: trusted}"), pods("{app: batch, a: b}")),
    "a namespace": (BY_NAMESPACE, labelled("shop"), labelled("shop", "{trusted: 'no'}"), labelled("shop", "{a: b}")),
}


@pytest.mark.parametrize(("by", "before", "after", "twin"), OPENED.values(), ids=OPENED)
def test_what_selects_by_labels_opens_connections(by: str, before: str, after: str, twin: str) -> None:
    fixed = "" if "kind: Deployment" in before else pods("{app: batch}")
    assert opened([by, before, fixed], [by, after, fixed])
    assert not opened([by, before, fixed], [by, twin, fixed])


def opened(before: list[str], after: list[str]) -> bool:
    sides = pair_sides(*([simulated(*world(ISTIO), *filter(None, each))] for each in (before, after)))
    changes = (each.change for environment in compare(sides) for each in environment.connections)
    return any(change == "opened" for change in changes)


def told(before: list[str], after: list[str], controller: str = ISTIO) -> list[str]:
    sides = pair_sides([simulated(*world(controller), *before)], [simulated(*world(controller), *after)])
    return [finding.message for finding in removed_protections(sides, compare(sides))]


def validated(*ports: str, default: str = "AllowValidOnly") -> str:
    own = "listeners: [{name: a, port: 443, protocol: HTTPS}, {name: b, port: 8443, protocol: HTTPS}]"

    def validation(mode: str) -> str:
        return f"validation: {{mode: {mode}, caCertificateRefs: [{{group: '', kind: ConfigMap, name: ca}}]}}"

    listed = ", ".join(
        f"{{port: {each.split()[0]}, tls: {{{validation(each.split()[1])}}}}}" for each in ports if " " in each
    )
    more = f"perPort: [{listed}]" if listed else ""
    spec = f"{own}, tls: {{frontend: {{default: {{{validation(default)}}}, {more}}}}}"
    return manifest(
        "gateway.networking.k8s.io/v1", "Gateway", "own", "infra", f"spec: {{gatewayClassName: any, {spec}}}"
    )


WEAK, STRICT = "AllowInsecureFallback", "AllowValidOnly"
PORTS = {
    "a port of its own": (validated(), validated(f"8443 {WEAK}"), validated(f"9443 {WEAK}")),
    "the default takes over": (
        validated(f"8443 {STRICT}", default=WEAK),
        validated(default=WEAK),
        validated(f"443 {STRICT}", f"8443 {STRICT}", default=WEAK),
    ),
}


@pytest.mark.parametrize(("before", "after", "twin"), PORTS.values(), ids=PORTS)
def test_client_certificates_by_port(before: str, after: str, twin: str) -> None:
    assert any("for port 8443" in each and STRICT in each for each in told([before], [after]))
    assert told([before], [twin]) == []


def patched(kind: str, name: str) -> str:
    patch = (
        f"{{type: type.googleapis.com/envoy.config.{kind}, name: {name}, operation: {{op: add, path: /a, value: b}}}}"
    )
    spec = f"type: JSONPatch, jsonPatches: [{patch}]"
    return policy("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy", "p", "Gateway/edge", spec, "infra")


@pytest.mark.parametrize("kind", ["listener.v3.Listener", "route.v3.RouteConfiguration"])
def test_a_text_for_a_listener_that_gets_another_name(kind: str) -> None:
    eg = "gateway.envoyproxy.io/gatewayclass-controller"
    rest = [labelled("infra"), gateway_class("any", eg), route(), service()]

    def of(listener: str, named: str) -> list[str]:
        listeners = f"[{{name: {listener}, port: 80, protocol: HTTP}}]"
        sides = [
            simulated(
                *rest, gateway(listeners="[{name: http, port: 80, protocol: HTTP}]"), patched(kind, "infra/edge/http")
            ),
            simulated(*rest, gateway(listeners=listeners), patched(kind, f"infra/edge/{named}")),
        ]
        pairs = pair_sides(sides[:1], sides[1:])
        return [each.message for each in removed_protections(pairs, compare(pairs)) if each.rule == "GWP325"]

    assert of("web", "http") == [
        "EnvoyPatchPolicy infra/p changes raw proxy configuration of listener infra/edge/http, which is gone"
    ]
    assert of("web", "web") == of("http", "http") == []


def release(rendered: str) -> str:
    chart = "chart: {spec: {chart: grafana, sourceRef: {kind: HelmRepository, name: grafana}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "g", "shop", f"spec: {{{chart}, {rendered}}}")


LOGIN = "nginx.ingress.kubernetes.io~1auth-url"
WHOLE = {
    "what is made of a chart": "postRenderers: [{kustomize: {patches: [{target: {kind: Ingress}, patch: 'a'}]}}]",
    "an annotation in it": f"postRenderers: [{{kustomize: {{patches: [{{patch: 'path: {LOGIN}, value: x'}}]}}}}]",
    "a list of the values": "values: {controller: {accessRules: [{path: /admin, clients: office}]}}",
}


@pytest.mark.parametrize("lost", WHOLE.values(), ids=WHOLE)
def test_a_list_that_goes_whole(lost: str) -> None:
    assert told([release(lost)], [release("interval: 1h")]) != []
    assert told([release(lost)], [release(f"{lost}, interval: 1h")]) == []


MORE = {
    "exportTo": ("networking.istio.io/v1", "DestinationRule", "host: b, trafficPolicy: {tls: {mode: SIMPLE}}",
                 "exportTo: ['*']", "exportTo: ['.']", "no longer follow it"),
    "ports": ("extensions.istio.io/v1alpha1", "WasmPlugin", "url: oci://x/y", "", "match: [{ports: [{number: 1}]}]",
              "it acts on some"),
}  # fmt: skip


@pytest.mark.parametrize(("api", "kind", "spec", "was", "now", "says"), MORE.values(), ids=MORE)
def test_fields_with_a_default(api: str, kind: str, spec: str, was: str, now: str, says: str) -> None:
    """What is written and what holds where nothing is written are the same: no row says that something changes."""

    def of(more: str) -> str:
        return manifest(api, kind, "x", "shop", f"spec: {{{', '.join(filter(None, (spec, more)))}}}")

    assert any(says in each for each in told([of(was)], [of(now)]))
    assert told([of(was)], [of("")]) == []
    sides = pair_sides([simulated(*world(ISTIO), of(was))], [simulated(*world(ISTIO), of(""))])
    assert [each.subjects for each in compare(sides)] == [()]


def test_a_backend_that_is_no_longer_one_host() -> None:
    def of(type_of: str) -> str:
        backend = manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "b", "shop", f"spec: {{{type_of}}}")
        named = "rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: b}]}]"
        return f"{backend}---{route('b', more=named)}"

    assert any(
        "it leads to whatever host clients name" in each for each in told([of("")], [of("type: DynamicResolver")])
    )
    assert told([of("")], [of("type: Endpoints")]) == []


def mesh(name: str) -> str:
    config = "discoverySelectors: [{matchLabels: {mesh: live}}]"
    return manifest("v1", "ConfigMap", "istio", "istio-system", f"data: {{mesh: '{config}'}}".replace("live", name))


def text_of(selector: str) -> str:
    respond = "h:respond({[':status']='403'}, '')"
    patch = f'{{applyTo: HTTP_FILTER, patch: {{operation: INSERT_BEFORE, value: {{inline: "{respond}"}}}}}}'
    spec = f"spec: {{workloadSelector: {{labels: {{app: {selector}}}}}, configPatches: [{patch}]}}"
    return manifest("networking.istio.io/v1alpha3", "EnvoyFilter", "deny", "shop", spec)


def tokens(more: str) -> str:
    rule = f"jwtRules: [{{issuer: x, jwksUri: 'https://x/k'{more}}}]"
    return manifest("security.istio.io/v1", "RequestAuthentication", "t", "shop", f"spec: {{{rule}}}")


def at_addresses(*addresses: str) -> str:
    listed = ", ".join(f"{{value: {each}}}" for each in addresses)
    spec = f"gatewayClassName: any, addresses: [{listed}], listeners: [{{name: a, port: 80, protocol: HTTP}}]"
    return manifest("gateway.networking.k8s.io/v1", "Gateway", "own", "infra", f"spec: {{{spec}}}")


def balanced(field: str) -> str:
    body = f"spec: {{type: LoadBalancer, selector: {{app: other}}, ports: [{{port: 80}}], loadBalancerIP: {field}}}"
    return manifest("v1", "Service", "lb", "shop", body)


def announced(address: str) -> str:
    service_of = manifest("v1", "Service", "lb", "shop", "spec: {type: LoadBalancer, ports: [{port: 80}]}")
    return service_of.replace("labels: {}", f"annotations: {{metallb.io/loadBalancerIPs: {address}}}")


HEADER = ", outputClaimToHeaders: [{header: x-role, claim: role}]"
CASES = {
    "a namespace that the mesh leaves out": (
        [text_of("checkout"), mesh("live"), labelled("lab", "{mesh: live}")],
        [text_of("checkout"), mesh("live"), labelled("lab", "{mesh: dead}")],
        [text_of("checkout"), mesh("live"), labelled("lab", "{mesh: live, a: b}")],
        "now leaves out namespace lab, whose policies are not read",
    ),
    "a text that acts on other pods": (
        [text_of("checkout")],
        [text_of("chekout")],
        [text_of("checkout").replace("name: deny", "labels: {a: b}, name: deny")],
        "EnvoyFilter shop/deny no longer acts where it did",
    ),
    "a header that a proxy wrote": (
        [tokens(HEADER)],
        [tokens("")],
        [tokens(HEADER)],
        "RequestAuthentication shop/t asks less of",
    ),
    "a Gateway's address": (
        [at_addresses("10.0.0.7")],
        [at_addresses("198.51.100.7")],
        [at_addresses("10.0.0.8", "fd00::1")],
        "Gateway infra/own now asks for 198.51.100.7, no address of a private network",
    ),
    "a Service's address": (
        [balanced("192.168.1.9")],
        [balanced("198.51.100.7")],
        [balanced("192.168.1.8")],
        "Service shop/lb now asks for 198.51.100.7",
    ),
    "an address in an annotation": (
        [announced("10.1.1.1")],
        [announced("'10.1.1.1,198.51.100.7'")],
        [announced("10.1.1.1").replace("type: LoadBalancer, ", "type: LoadBalancer,  ")],
        "Service shop/lb now asks for 198.51.100.7",
    ),
}


@pytest.mark.parametrize(("before", "after", "twin", "says"), CASES.values(), ids=CASES)
def test_a_weakening_is_said_and_its_twin_is_not(
    before: list[str], after: list[str], twin: list[str], says: str
) -> None:
    assert [each for each in told(before, after) if says in each]
    assert told(before, twin) == []


@pytest.mark.parametrize(
    ("versions", "before", "after", "outgrown"),
    [
        ("'^1\\.2[5-6].*'", (1, 26), (1, 27), True),
        ("'^1\\.2[5-7].*'", (1, 26), (1, 27), False),
        ("1.26.3", (1, 26), (1, 27), True),
        ("'^1\\.27.*'", (1, 26), (1, 27), False),  # it begins to act
        ("'^1\\.2[5-6].*'", (1, 26), (1, 26), False),
    ],
)
def test_a_text_for_proxies_of_other_releases(
    versions: str, before: tuple[int, int], after: tuple[int, int], outgrown: bool
) -> None:
    text = text_of("checkout").replace(
        "HTTP_FILTER, ", f"HTTP_FILTER, match: {{proxy: {{proxyVersion: {versions}}}}}, "
    )
    sides = [
        simulate(each.world, each.catalog.of_releases({"istio": release}, {}))
        for each, release in ((simulated(*world(ISTIO), text), before), (simulated(*world(ISTIO), text), after))
    ]
    pairs = pair_sides(sides[:1], sides[1:])
    found = [each.message for each in removed_protections(pairs, compare(pairs), {"GWP325"})]
    assert any("which the proxies are past" in each for each in found) is outgrown
