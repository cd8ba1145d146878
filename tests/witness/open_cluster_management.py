"""Open Cluster Management as a witness: where its hub puts the policies of generated worlds, against policylint."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.clusters.fleet import DEFAULT, GLOBAL, SET_LABEL
from policylint.clusters.state import PER_TEMPLATE
from tests.witness.api_server import parted
from tests.witness.envoy_gateway import simulated
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import Program

ABOUT = (
    "The hub's own scheduler and propagator: which of the clusters each Placement selects, whether it is misconfigured,"
    " and on which clusters there is a copy of each Policy, with which action. What hangs on the time at which somebody"
    " asks, or on what was decided before, is left out, once it is among what policylint calls possible."
)
CLUSTER = "cluster.open-cluster-management.io"
POLICY = "policy.open-cluster-management.io"
_HUB = ("policies", "other")
_CLUSTERS = ("c1", "c2", "c3", "c4", "c5", "c6")
_LABELS: Mapping[str, tuple[str, ...]] = {
    "env": ("prod", "dev", "test"),
    "region": ("eu", "us"),
    "vendor": ("OpenShift", "EKS"),
    "name": _CLUSTERS,
}
_CLAIMS: Mapping[str, tuple[str, ...]] = {
    "platform.open-cluster-management.io": ("AWS", "GCP"),
    "version.openshift.io": ("4.16.1", "4.9.12"),
}
_SETS = ("fleet", "edge", "labelled", "none", GLOBAL, DEFAULT)
_EXPRESSIONS = (
    "managedCluster.metadata.labels['env'] == 'prod'",
    "managedCluster.metadata.labels.env in ['prod', 'test']",
    "'region' in managedCluster.metadata.labels",
    "managedCluster.metadata.name.startsWith('c') && managedCluster.metadata.name != 'c2'",
    "has(managedCluster.metadata.labels.vendor)",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'version.openshift.io' && c.value == '4.16.1')",
    "managedCluster.spec.hubAcceptsClient",
    "managedCluster.metadata.labels['env'].matches('^(prod|dev)$')",
    "size(managedCluster.metadata.labels) > 2",
    "managedCluster.metadata.labels['nothing'] == 'x'",
    "!has(managedCluster.spec.taints)",
    "semver(managedCluster.status.clusterClaims[0].value).isGreaterThan(semver('4.10.0'))",
    "managedCluster.metadata.labels['env']",
    "managedCluster.metadata.labels['env'] ==",
    "nothing.metadata.name == 'c1'",
)


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: clusters in sets, Placements, and policies bound to them."""
    draw = Draw("open-cluster-management", seed, number)
    objects = [manifest("v1", "Namespace", each) for each in _HUB]
    objects += [_cluster(draw, name) for name in draw.some(_CLUSTERS, 6, 3)]
    objects += [_set(draw, name) for name in draw.some(("fleet", "edge", "labelled"), 3)]
    for namespace in _HUB:
        objects += [_set_binding(name, namespace) for name in draw.some(_SETS, 3, 0)]
    objects += [_placement(draw, name) for name in draw.some(("p1", "p2", "p3", "p4"), 4)]
    objects += [_policy(draw, name) for name in draw.some(("a", "b", "c"), 3)]
    objects += [_policy_set(draw, name) for name in draw.some(("s1", "s2"), 2, 0)]
    return objects + [_binding(draw, f"b{each}") for each in range(draw.number(1, 5))]


def _cluster(draw: Draw, name: str) -> Manifest:
    labels = {key: name if key == "name" else draw.of(values) for key, values in _LABELS.items() if draw.often(0.75)}
    labels |= draw.maybe(0.6, SET_LABEL, draw.one("fleet", "edge", "default", "none"))
    taints = [
        {
            "key": draw.one("gpu", "drain"),
            **draw.maybe(0.5, "value", draw.one("yes", "no")),
            "effect": draw.one("NoSelect", "NoSelect", "PreferNoSelect", "NoSelectIfNew"),
            "timeAdded": "2026-01-01T00:00:00Z",
        }
        for _ in range(draw.one(0, 0, 1, 2))
    ]
    spec: dict[str, Any] = {"hubAcceptsClient": draw.often(0.9), **({"taints": taints} if taints else {})}
    claims = [{"name": claim, "value": draw.of(values)} for claim, values in _CLAIMS.items() if draw.often(0.7)]
    body = manifest(f"{CLUSTER}/v1", "ManagedCluster", name, labels=labels, spec=spec)
    return body | {"status": {"clusterClaims": claims, "conditions": [], "version": {}}}


def _set(draw: Draw, name: str) -> Manifest:
    selector: dict[str, Any] = {"selectorType": "ExclusiveClusterSetLabel"}
    if name == "labelled":
        selector = {"selectorType": "LabelSelector", "labelSelector": _selector(draw, _LABELS)}
    return manifest(f"{CLUSTER}/v1beta2", "ManagedClusterSet", name, spec={"clusterSelector": selector})


def _set_binding(name: str, namespace: str) -> Manifest:
    return manifest(f"{CLUSTER}/v1beta2", "ManagedClusterSetBinding", name, namespace, spec={"clusterSet": name})


def _selector(draw: Draw, labels: Mapping[str, Sequence[str]], *, pairs: bool = True) -> dict[str, Any]:
    """Return a selector of labels or claims, some of them of a form that nobody takes."""
    keys = draw.some(labels, 2)
    selector: dict[str, Any] = {}
    if pairs:
        selector = draw.maybe(0.6, "matchLabels", {key: draw.of(labels[key]) for key in keys[:1]})
    if draw.often(0.5) or not selector:
        expressions = []
        for key in keys[-1:]:
            operator = draw.one("In", "In", "NotIn", "Exists", "DoesNotExist")
            values = draw.some(labels[key], 2) if operator in ("In", "NotIn") else []
            if draw.often(0.03):
                values = [] if values else ["x"]
            expressions.append({"key": key, "operator": operator, **({"values": values} if values else {})})
        selector["matchExpressions"] = expressions
    if draw.often(0.03):
        selector.setdefault("matchExpressions", []).append({"key": "not a key", "operator": "Exists"})
    if draw.often(0.03):
        selector.setdefault("matchExpressions", []).append({"key": "env", "operator": "In", "values": ["not/a value"]})
    return selector


def _placement(draw: Draw, name: str) -> Manifest:
    spec: dict[str, Any] = draw.maybe(0.4, "clusterSets", draw.some(_SETS, 2))
    spec |= draw.maybe(0.25, "numberOfClusters", draw.number(0, 4))
    predicates = []
    for _ in range(draw.one(0, 1, 1, 1, 2)):
        required: dict[str, Any] = draw.maybe(0.7, "labelSelector", _selector(draw, _LABELS))
        required |= draw.maybe(0.3, "claimSelector", _selector(draw, _CLAIMS, pairs=False))
        required |= draw.maybe(0.25, "celSelector", {"celExpressions": draw.some(_EXPRESSIONS, 2)})
        predicates.append({"requiredClusterSelector": required})
    spec |= {"predicates": predicates} if predicates else {}
    tolerations = []
    for _ in range(draw.one(0, 0, 1, 2)):
        toleration = draw.maybe(0.9, "key", draw.one("gpu", "drain"))
        toleration |= draw.maybe(0.7, "operator", draw.one("Exists", "Equal"))
        toleration |= draw.maybe(0.4, "value", draw.one("yes", "no"))
        toleration |= draw.maybe(0.3, "effect", draw.one("NoSelect", "NoSelectIfNew", "PreferNoSelect"))
        tolerations.append(toleration | draw.maybe(0.1, "tolerationSeconds", 60))
    spec |= {"tolerations": tolerations} if tolerations else {}
    spec |= draw.maybe(
        0.1,
        "decisionStrategy",
        {"groupStrategy": {"clustersPerDecisionGroup": draw.one(1, "50%", 100)}},
    )
    if draw.often(0.1):
        scored = {"type": "BuiltIn", "builtIn": draw.one("Steady", "ResourceAllocatableMemory", "Nothing")}
        spec["prioritizerPolicy"] = {
            "mode": draw.one("Exact", "Additive"),
            "configurations": [{"scoreCoordinate": scored, "weight": draw.one(0, 1, 5)}],
        }
    return manifest(f"{CLUSTER}/v1beta1", "Placement", name, draw.one(*_HUB, _HUB[0]), spec=spec)


def _policy(draw: Draw, name: str) -> Manifest:
    spec: dict[str, Any] = {"disabled": draw.often(0.1), "policy-templates": []}
    spec |= draw.maybe(0.8, "remediationAction", draw.one("inform", "enforce", "Inform", "Enforce"))
    namespace = "c1" if draw.often(0.05) else draw.one(*_HUB, _HUB[0])
    return manifest(f"{POLICY}/v1", "Policy", name, namespace, spec=spec)


def _policy_set(draw: Draw, name: str) -> Manifest:
    spec = {"policies": draw.some(("a", "b", "c", "none"), 3)}
    return manifest(f"{POLICY}/v1beta1", "PolicySet", name, draw.one(*_HUB, _HUB[0]), spec=spec)


def _binding(draw: Draw, name: str) -> Manifest:
    subjects = []
    for _ in range(draw.number(1, 2)):
        kind = draw.one("Policy", "Policy", "PolicySet")
        named = draw.one("a", "b", "c", "none") if kind == "Policy" else draw.one("s1", "s2")
        subjects.append({"apiGroup": POLICY, "kind": kind, "name": named})
    place = {"apiGroup": CLUSTER, "kind": "Placement", "name": draw.one("p1", "p2", "p3", "p4", "p5")}
    if draw.often(0.04):
        place = {"apiGroup": "apps.open-cluster-management.io", "kind": "Placement", "name": "p1"}
    body = manifest(f"{POLICY}/v1", "PlacementBinding", name, draw.one(*_HUB, _HUB[0]), placementRef=place)
    body |= {"subjects": subjects}
    body |= draw.maybe(0.25, "bindingOverrides", {"remediationAction": draw.one("enforce", "Enforce")})
    return body | draw.maybe(0.2, "subFilter", "restricted")


class Operator(Program):
    """The running program."""

    def facts(self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]]) -> tuple[Facts, tuple[str, ...]]:
        """Return what the hub says of a world, and the objects that the API server refuses.

        Args:
            fates: of the objects by the API server.
        """
        stored, refused = parted(objects, fates)
        answer = self.answer(_on_hub(stored))
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        facts: Facts = {}
        for each in answer["statuses"]:
            about, status = f"{each['kind']} {each['namespace']}/{each['name']}", each["status"]
            if each["kind"] == "Placement":
                facts[f"{about} | clusters"] = " ".join(status["clusters"])
                wrong = str(status["conditions"].get("PlacementMisconfigured", "")).startswith("True")
                facts[f"{about} | misconfigured"] = str(wrong)
            elif status["root"] == "kept":
                for cluster in _CLUSTERS:
                    action = status["placed"].get(cluster)
                    facts[f"{about} {cluster} | action"] = "-" if action is None else action or PER_TEMPLATE
        return facts, refused


def _on_hub(stored: Sequence[Manifest]) -> list[Manifest]:
    """Return the objects as they lie on a hub: it has two sets of its own, and its webhook puts clusters in one.

    Source: OCM pkg/registration/webhook/v1/managedcluster_mutating.go, pkg/registration/hub/managedclusterset.
    """
    there = {name_of(each) for each in stored}
    own = [each for each in _own_sets() if name_of(each) not in there]
    labelled = []
    for body in stored:
        if body["kind"] == "ManagedCluster":
            labels = {SET_LABEL: DEFAULT, **body["metadata"].get("labels", {})}
            body = body | {"metadata": body["metadata"] | {"labels": labels}}
        labelled.append(body)
    return own + labelled


def _own_sets() -> list[Manifest]:
    by_label, every = (
        {"selectorType": "ExclusiveClusterSetLabel"},
        {"selectorType": "LabelSelector", "labelSelector": {}},
    )
    return [
        manifest(f"{CLUSTER}/v1beta2", "ManagedClusterSet", name, spec={"clusterSelector": selector})
        for name, selector in ((DEFAULT, by_label), (GLOBAL, every))
    ]


def compared(objects: Sequence[Manifest], refused: Collection[str], real: Facts) -> tuple[Facts, Facts]:
    """Return the answers of which policylint is certain, or that are not among those it calls possible, and its own."""
    hub = simulated([each for each in objects if name_of(each) not in refused]).hub
    fleet, ours, open_facts = hub.fleet, Facts(), set()
    for placement in hub.world.of_kind(CLUSTER, "Placement"):
        about, selection = f"Placement {placement.key.path}", hub.selection(placement.key)
        sure, maybe = (set(fleet.named(bits)) for bits in (selection.chosen.sure, selection.chosen.maybe))
        told = set(real.get(f"{about} | clusters", "").split())
        if sure != maybe and sure <= told <= maybe:
            open_facts.add(f"{about} | clusters")
        else:
            ours[f"{about} | clusters"] = " ".join(sorted(sure)) + (
                f" ?{sorted(maybe - sure)}" if maybe != sure else ""
            )
        misconfigured = f"{about} | misconfigured"
        ours[misconfigured] = str(selection.reason == "misconfigured")
        if not told and real.get(misconfigured) == str(False):  # nobody looks at what is asked where no cluster is left
            open_facts.add(misconfigured)
    for policy, places in hub.policies.items():
        for cluster in _CLUSTERS:
            bit = fleet.bits([cluster])
            sure = {each.action for each in places if each.clusters & bit}
            maybe = {each.action for each in places if (each.clusters | each.possible) & bit}
            fact = f"Policy {policy.path} {cluster} | action"
            if maybe != sure and real.get(fact, "-") in maybe | {"-"} and not sure - {real.get(fact, "-")}:
                open_facts.add(fact)
            else:
                ours[fact] = " or ".join(sorted(maybe)) or "-"
    certain = {fact: value for fact, value in real.items() if fact not in open_facts}
    return certain, {fact: value for fact, value in ours.items() if fact not in open_facts}


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    written = (Path(__file__).parent / "open_cluster_management" / "go.mod").read_text()
    versions = dict(re.findall(r"open-cluster-management.io/(ocm|governance-policy-propagator) (v\S+)", written))
    return {"title": "Open Cluster Management", "about": ABOUT, "versions": versions}
