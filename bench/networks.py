"""Network policies in numbers: `python bench/networks.py --namespaces 200` measures one world, in one process.

Prints as JSON the CPU seconds of loading it with CSafeLoader, of all connections, of all verdicts, and of one question.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

TEAMS = 20


def manifests(namespaces: int, workloads: int, cluster: int) -> Iterator[str]:
    """Yield a world: namespaces with five NetworkPolicies each, and AdminNetworkPolicies."""
    for number in range(namespaces):
        space, team = f"ns{number}", f"t{number % TEAMS}"
        yield f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}, labels: {{team: {team}}}}}\n"
        for app in range(workloads):
            tier, port = ("web" if app % 3 else "db"), 8000 + app % 3
            yield (
                f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app{app}, namespace: {space}}}\n"
                f"spec:\n  template:\n    metadata: {{labels: {{app: app{app}, tier: {tier}}}}}\n"
                f"    spec: {{containers: [{{name: main, ports: [{{name: http, containerPort: {port}}}]}}]}}\n"
            )
        system = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}"
        edge = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ns0}}}"
        web, db = "{matchLabels: {tier: web}}", "{matchLabels: {tier: db}}"
        own = f"{{namespaceSelector: {{matchLabels: {{team: {team}}}}}}}"
        for name, spec in (
            ("deny", "podSelector: {}, policyTypes: [Ingress, Egress]"),
            ("dns", f"podSelector: {{}}, policyTypes: [Egress], egress: [{{to: [{system}], ports: [{{port: 53}}]}}]"),
            ("gateway", f"podSelector: {web}, ingress: [{{from: [{edge}], ports: [{{port: http}}]}}]"),
            ("app", f"podSelector: {db}, ingress: [{{from: [{{podSelector: {web}}}], ports: [{{port: 8003}}]}}]"),
            ("team", f"podSelector: {{}}, ingress: [{{from: [{own}]}}], egress: [{{to: [{own}]}}]"),
        ):
            head = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
            yield f"{head}metadata: {{name: {name}, namespace: {space}}}\nspec: {{{spec}}}\n"
    for number in range(cluster):
        peer = f"{{namespaces: {{matchLabels: {{team: t{(number + 1) % TEAMS}}}}}}}"
        yield (
            "apiVersion: policy.networking.k8s.io/v1alpha1\nkind: AdminNetworkPolicy\n"
            f"metadata: {{name: admin{number}}}\nspec:\n  priority: {number}\n"
            f"  subject: {{namespaces: {{matchLabels: {{team: t{number % TEAMS}}}}}}}\n"
            f"  ingress: [{{action: {'Deny' if number % 2 else 'Pass'}, from: [{peer}], "
            f"ports: [{{portNumber: {{protocol: TCP, port: {3000 + number}}}}}]}}]\n"
        )


def measure(namespaces: int, workloads: int, cluster: int) -> dict[str, float]:
    """Return CPU seconds by what was done."""
    from policylint.network.connections import connections
    from policylint.network.hops import Hops
    from tests.network.worlds import world

    text = "---\n".join(manifests(namespaces, workloads, cluster))
    begin = time.process_time()
    documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    spent = {"load": time.process_time() - begin}
    read = world(documents)
    gc.collect()
    gc.freeze()
    begin = time.process_time()
    network = Hops(read).network
    network.ask(0, 1, network.universe.ports.at("TCP", 8080))
    spent["question"] = time.process_time() - begin
    begin = time.process_time()
    network = Hops(read).network
    connections(network)
    spent["connections"] = time.process_time() - begin
    begin = time.process_time()
    assert network.statuses.policies
    spent["verdicts"] = time.process_time() - begin
    return spent


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namespaces", type=int, default=200)
    parser.add_argument("--workloads", type=int, default=50)
    parser.add_argument("--cluster", type=int, default=50)
    print(json.dumps(measure(**vars(parser.parse_args()))))
