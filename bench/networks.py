"""Network policies in numbers: `python bench/networks.py` prints each ratio with its bar.

Every measurement is a process of its own (`--world large|small|hostile --what NAME`), which prints CPU seconds and the
peak of its memory as JSON. Ratios are to loading the same YAML with CSafeLoader.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from math import log
from pathlib import Path
from random import Random
from statistics import median

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


def hostile(workloads: int = 10_000, policies: int = 1_000) -> Iterator[str]:
    """Yield a world without any order: every pod has labels of its own, every policy selects at random."""
    random = Random(1)

    def some(number: int, operator: str) -> str:
        values = ", ".join(f"a{random.randrange(workloads)}" for _ in range(number))
        return f"{{matchExpressions: [{{key: id, operator: {operator}, values: [{values}]}}]}}"

    for number in range(workloads):
        labels = f"{{id: a{number}}}"
        yield (
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}, namespace: one, labels: {labels}}}\n"
            "spec: {containers: [{name: main}]}\n"
        )
    for number in range(policies):
        rules = []
        for _ in range(3):
            low = random.randrange(1, 60_000)
            ports = f"ports: [{{port: {low}, endPort: {low + random.randrange(5_000)}}}]"
            rules.append(f"{{from: [{{podSelector: {some(10, random.choice(('In', 'NotIn')))}}}], {ports}}}")
        spec = f"podSelector: {some(100, 'In')}, ingress: [{', '.join(rules)}]"
        head = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
        yield f"{head}metadata: {{name: n{number}, namespace: one}}\nspec: {{{spec}}}\n"


WORLDS = {"large": (200, 50, 50), "small": (8, 50, 10)}
WHATS = ("load", "trace", "explain", "connections", "verdicts")


def measure(world: str, what: str) -> dict[str, float]:
    """Return CPU seconds of loading, and of one thing beyond that; and the peak of memory in MiB."""
    text = "---\n".join(hostile() if world == "hostile" else manifests(*WORLDS[world]))
    begin = time.process_time()
    documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    spent = {"load": time.process_time() - begin}
    del text
    if what != "load":
        from policylint.explain.network import of_workload
        from policylint.network.connections import connections
        from tests.network.worlds import hops_of
        from tests.network.worlds import world as as_world

        read = as_world(documents)
        gc.collect()
        gc.freeze()
        begin = time.process_time()
        network = hops_of(read).network
        if what == "trace":
            network.ask(0, 1, network.universe.ports.at("TCP", 8080))
        elif what == "explain":
            assert list(of_workload(network, 0))
        elif what == "connections":
            connections(network)
        else:
            connections(network)
            begin = time.process_time()
            assert network.statuses.policies
        spent[what] = time.process_time() - begin
    spent["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return spent


def _medians(rounds: int, world: str, what: str) -> dict[str, float]:
    """Return the medians of a measurement, each round in a process of its own."""
    command = [sys.executable, __file__, "--world", world, "--what", what]
    spent = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(rounds)]
    return {name: median(each[name] for each in spent) for name in spent[0]}


def _workloads(world: str) -> int:
    namespaces, each, _ = WORLDS[world]
    return namespaces * each


def table(rounds: int, *, with_hostile: bool = True) -> Iterator[tuple[str, float, float, str]]:
    """Yield each ratio: name, value, bar, what was measured."""
    spent = {what: _medians(rounds, "large", what) for what in WHATS}
    bars = {"trace": 0.1, "explain": 0.1, "connections": 0.5, "verdicts": 0.6}
    for what, bar in bars.items():
        took, load = spent[what][what], spent[what]["load"]
        yield what, took / load, bar, f"{took:.2f} / {load:.2f} s"
    peak, alone = spent["connections"]["peak"], spent["load"]["peak"]
    yield "memory", peak / alone, 1.5, f"{peak:.0f} / {alone:.0f} MiB"
    small = _medians(rounds, "small", "connections")["connections"]
    large = spent["connections"]["connections"]
    exponent = log(large / small) / log(_workloads("large") / _workloads("small"))
    yield "growth", exponent, 1.15, f"the power of the workloads: {large:.3f} / {small:.4f} s for 625 times the pairs"
    if not with_hostile:
        return
    random = _medians(1, "hostile", "connections")
    yield "hostile", random["connections"], 30, f"{random['connections']:.1f} s, {random['peak']:.0f} MiB of 1,024"


def main() -> int:
    """Print one measurement as JSON, or the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--world", choices=(*WORLDS, "hostile"))
    parser.add_argument("--what", choices=WHATS, default="connections")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.world:
        print(json.dumps(measure(chosen.world, chosen.what)))
        return 0
    for name, value, bar, what in table(chosen.rounds):
        print(f"{name:12} {value:6.2f}  must be at most {bar:<4}  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
