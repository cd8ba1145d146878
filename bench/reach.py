"""What is computed for all requests at once, in a process of its own: CPU seconds and peak memory, as JSON.

`python bench/run.py --only reach` sets them against a lint of the same files, as users start it.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

HEAD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec: {selector: {app: app}, ports: [{port: 80}]}
"""
ROUTE = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: route-{number}, namespace: shop}}
spec:
  parentRefs: [{{name: edge}}]
  hostnames: [shop.example.com]
  rules: [{{matches: [{match}], backendRefs: [{{name: app, port: 80}}]}}]
"""


def host(place: Path, rules: int = 1_000, headers: int = 3, values: int = 10) -> Path:
    """Write a host of many rules, each by a path and by some of a few headers."""
    random = Random(1)
    routes = []
    for number in range(rules):
        named = [f"{{name: h{header}, value: v{random.randrange(values)}}}" for header in range(headers)]
        chosen = ", ".join(condition for condition in named if random.random() < 0.6)
        match = f"{{path: {{value: /p{random.randrange(max(1, rules // 10))}}}, headers: [{chosen}]}}"
        routes.append(ROUTE.format(number=number, match=match))
    place.mkdir(parents=True, exist_ok=True)
    (place / "world.yaml").write_text("".join([HEAD, *routes]), encoding="utf-8")
    return place


def measure(place: Path) -> dict[str, float]:
    """Return CPU seconds of all ways in and of what is asked on each, and the peak of memory in MiB."""
    from policylint.report.reach import Question, find
    from policylint.workspace import open_workspace

    simulations = open_workspace([str(place)]).simulations
    begin = time.process_time()
    find(simulations, Question())
    spent = time.process_time() - begin
    return {"regions": spent, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def gateways(tree: Path) -> list[str]:
    """Return the Gateways of a tree through which there is a way in, as `--gateway` takes them."""
    from policylint.model.spelling import spelled
    from policylint.reach import doors
    from policylint.trace import Tracer
    from policylint.workspace import open_workspace

    simulations = open_workspace([str(tree)]).simulations
    return sorted({spelled(key) for simulation in simulations for key, _, _ in doors(Tracer(simulation))})


def main() -> int:
    """Print a measurement, or the Gateways of a tree, as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("place", type=Path)
    parser.add_argument("--gateways", action="store_true", help="list its Gateways instead")
    chosen = parser.parse_args()
    print(json.dumps(gateways(chosen.place) if chosen.gateways else measure(chosen.place)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
