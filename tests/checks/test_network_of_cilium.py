"""GWP618: when a policy of Cilium closes its pods although it only means to refuse some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import lint, only, rules

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}
"""


def refusing(spec: str, name: str = "refusing", kind: str = "CiliumNetworkPolicy") -> str:
    return f"""
apiVersion: {"networking.k8s.io/v1" if kind == "NetworkPolicy" else "cilium.io/v2"}
kind: {kind}
metadata: {{name: {name}, namespace: shop}}
spec: {spec}
"""


METADATA = refusing("{endpointSelector: {}, egressDeny: [{toCIDR: [169.254.169.254/32]}]}")


def test_refusals_alone_close_pods(tmp_path: Path) -> None:
    said = only(lint(tmp_path, WEB, METADATA), "GWP618")
    assert said.message.endswith("denies some egress, which closes all other egress of Deployment shop/web")
    assert "enableDefaultDeny: {egress: false}" in said.help[0]


@pytest.mark.parametrize(
    "manifest",
    [
        METADATA.replace("egressDeny", "enableDefaultDeny: {egress: false}, egressDeny"),
        METADATA.replace("egressDeny", "egress: [{toEntities: [all]}], egressDeny"),
        METADATA.replace("toCIDR: [169.254.169.254/32]", "toEntities: [all]"),
        METADATA.replace("endpointSelector: {}", "endpointSelector: {matchLabels: {app: other}}"),
        METADATA + "---" + refusing("{endpointSelector: {}, egress: [{toEntities: [world]}]}", "world"),
        METADATA + "---" + refusing("{podSelector: {}, policyTypes: [Egress]}", "closed", "NetworkPolicy"),
        METADATA + "---" + refusing("{podSelector: {}, egress: [{}]}", "open", "NetworkPolicy"),
    ],
)
def test_who_opens_or_closes_on_purpose_is_left_alone(manifest: str, tmp_path: Path) -> None:
    assert "GWP618" not in rules(lint(tmp_path, WEB, manifest))


def test_another_refusal_closes_as_well(tmp_path: Path) -> None:
    other = refusing("{endpointSelector: {}, egressDeny: [{toCIDR: [192.0.2.0/24]}]}", "other")
    assert rules(lint(tmp_path, WEB, METADATA, other)).count("GWP618") == 2


FQDN = "{toFQDNs: [{matchName: api.example.com}], toPorts: [{ports: [{port: '443', protocol: TCP}]}]}"
KUBE_DNS = "{matchLabels: {k8s-app: kube-dns, 'k8s:io.kubernetes.pod.namespace': kube-system}}"


def names(name: str, selector: str, *egress: str, kind: str = "CiliumNetworkPolicy") -> str:
    spec = f"spec: {{endpointSelector: {selector}, egress: [{', '.join(egress)}]}}"
    return worlds.manifest("cilium.io/v2", kind, name, "" if "Cluster" in kind else "shop", spec)


def dns(rules: str = "") -> str:
    ports = "ports: [{port: '53', protocol: ANY}]"
    return f"{{toEndpoints: [{KUBE_DNS}], toPorts: [{{{ports}{rules and f', rules: {rules}'}}}]}}"


READ = "{dns: [{matchPattern: '*'}]}"


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ((names("dns", "{}", dns()),), True),
        ((names("dns", "{}", dns(READ)),), False),
        ((names("dns", "{matchLabels: {app: other}}", dns(READ)), names("open", "{}", dns())), True),
        ((names("dns", "{}", dns(READ), kind="CiliumClusterwideNetworkPolicy"),), False),
        ((), False),  # GWP610: they cannot look names up at all
    ],
)
def test_addresses_of_names_are_learnt_from_answers_that_are_read(
    tmp_path: Path, others: tuple[str, ...], told: bool
) -> None:
    pods = "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: []}}"
    web = worlds.manifest("apps/v1", "Deployment", "web", "shop", f"spec: {{{pods}}}")
    found = lint(tmp_path, web, names("api", "{matchLabels: {app: web}}", FQDN), *others)
    assert ("GWP619" in {each.rule for each in found}) == told


AGENT = (
    WEB.replace("name: web", "name: agent")
    .replace("app: web", "app: agent")
    .replace("spec: {con", "spec: {hostNetwork: true, con")
)
FROM_AGENT = refusing(
    "{endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {app: agent}}]}]}"
)


def test_pods_on_their_nodes_network_are_no_peers_by_label(tmp_path: Path) -> None:
    said = only(lint(tmp_path, WEB, AGENT, FROM_AGENT), "GWP607")
    assert said.message.endswith("names pods in ingress[0].from which use the network of their node")
    assert said.label.startswith("Deployment shop/agent uses its node's network (`hostNetwork`)")


@pytest.mark.parametrize(
    "beside",
    [
        AGENT.replace("hostNetwork: true, ", ""),
        AGENT + "---" + AGENT.replace("hostNetwork: true, ", "").replace("name: agent", "name: other", 1),
    ],
)
def test_pods_on_their_own_network_are(tmp_path: Path, beside: str) -> None:
    assert "GWP607" not in rules(lint(tmp_path, WEB, beside, FROM_AGENT))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("{endpointSelector: {}, ingress: []}", ["GWP615"]),
        ("{endpointSelector: {}, ingress: [], egress: [], egressDeny: []}", ["GWP615"]),
        ("{endpointSelector: {}, ingress: [{}]}", []),
        ("{endpointSelector: {}, ingress: [{}], egress: []}", []),
        ("{endpointSelector: {}, ingressDeny: [{fromEntities: [world]}], ingress: []}", []),
        ("{endpointSelector: {}, ingress: [], enableDefaultDeny: {ingress: true}}", []),
    ],
)
@pytest.mark.parametrize("kind", ["CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"])
def test_lists_without_rules_are_no_denial(spec: str, expected: list[str], kind: str, tmp_path: Path) -> None:
    said = [rule for rule in rules(lint(tmp_path, WEB, refusing(spec, kind=kind))) if rule == "GWP615"]
    assert said == expected


def test_one_of_several_specs_without_rules(tmp_path: Path) -> None:
    several = refusing("{}").replace(
        "spec: {}", "specs: [{endpointSelector: {}, ingress: []}, {endpointSelector: {}, egress: [{}]}]"
    )
    assert only(lint(tmp_path, WEB, several), "GWP615").message.endswith("ingress: [] is no rule")
    denied = refusing("{podSelector: {}, policyTypes: [Ingress], ingress: []}", kind="NetworkPolicy")
    assert "GWP615" not in rules(lint(tmp_path, WEB, denied)), "Kubernetes' own denies everything so"


@pytest.mark.parametrize(
    ("spec", "places"),
    [
        ("{endpointSelector: {}, ingress: [{}]}", ["spec.ingress[0]"]),
        ("{endpointSelector: {}, egress: [{toEntities: [all]}, {}]}", ["spec.egress[1]"]),
        ("{endpointSelector: {}, ingressDeny: [{}], egress: [{}]}", ["spec.ingressDeny[0]", "spec.egress[0]"]),
        ("{endpointSelector: {}, ingress: [{fromEntities: [all]}], egress: [{toPorts: []}]}", ["spec.egress[0]"]),
        ("{endpointSelector: {}, ingress: []}", []),
    ],
)
def test_what_an_empty_rule_does_depends_on_the_release(tmp_path: Path, spec: str, places: list[str]) -> None:
    said = [each for each in lint(tmp_path, WEB, refusing(spec)) if each.rule == "GWP616"]
    assert sorted(each.message.split()[1] for each in said) == sorted(places)


def test_an_empty_rule_of_a_network_policy_is_plain(tmp_path: Path) -> None:
    plain = refusing("{podSelector: {}, ingress: [{}]}", kind="NetworkPolicy")
    assert "GWP616" not in rules(lint(tmp_path, WEB, plain))
