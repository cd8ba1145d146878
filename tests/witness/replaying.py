"""Records replayed, and the page made of them: `python -m tests.witness.replaying > docs/verified.md`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import islice
from math import floor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.witness import (
    api_server,
    api_server_objects,
    argo,
    argo_source_trees,
    argo_sources,
    argo_trees,
    cilium,
    deployed,
    envoy,
    envoy_gateway,
    flux,
    flux_trees,
    gateway_api,
    go_template_texts,
    go_templates,
    helm,
    helm_charts,
    istio_connections,
    istio_requests,
    istio_routes,
    istio_sidecars,
    kgateway_requests,
    kuadrant,
    kustomize,
    kustomize_trees,
    network,
    network_worlds,
    nginx_requests,
    nginx_virtual_servers,
    open_cluster_management,
)
from tests.witness.envoy_gateway_wider import world
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest, digest, name_of
from tests.witness.recording import RECORDED, Answer, head_of, read
from tests.witness.tally import Tally

REQUESTS = 40
"""Per world."""
DEPLOYERS: Mapping[str, tuple[Callable[[str, int], list[Manifest]], deployed.Witness, str]] = {
    "argo": (argo_trees.tree, argo, "argo"),
    "argo-sources": (argo_source_trees.tree, argo_sources, "argo"),
    "go-templates": (go_template_texts.texts, go_templates, "argo"),
    "helm": (helm_charts.tree, helm, "deployers"),
    "flux": (flux_trees.tree, flux, "deployers"),
    "kustomize": (kustomize_trees.tree, kustomize, "deployers"),
}
"""The grammar of trees for each deployer, who asks about them, and the program that is asked."""
PROXIES: Mapping[str, tuple[ModuleType, str]] = {
    "istio-routes": (istio_routes, "istio ./routes"),
    "istio-sidecars": (istio_sidecars, "istio ./sidecars"),
    "kgateway-requests": (kgateway_requests, "kgateway"),
    "nginx-requests": (nginx_requests, "nginx_gateway_fabric"),
    "nginx-virtual-servers": (nginx_virtual_servers, "nginx_ingress_controller"),
}
"""Who asks the proxy that a controller sets up, and the program (and package) that is asked for its configuration."""
KNOWN = Path(__file__).with_name("known.toml")
PREDICTED = Path(__file__).with_name("predicted.md")
"""What the page says of worlds that people predicted, and no program was asked about."""
CAMPAIGNS = Path(__file__).parents[2] / "bench" / "campaigns.toml"
CHANGED = "the grammar has made another world of {} since: ask the real program again (tests/witness/README.md)"
HEAD = """# Verified

What real programs say of generated worlds, and whether policylint says the same. Each program is the release named
here, started on a developer's machine; its answers are kept in `tests/witness/recorded/`, and every run of the tests
compares policylint with them. Generated: `python -m tests.witness.replaying > docs/verified.md`.
"""


class Reason(NamedTuple):
    """A known sort of difference, `*` for anything, and why it is left."""

    sort: str
    why: str

    def fits(self, sort: str) -> bool:
        return fnmatchcase(sort, self.sort)


def known(witness: str) -> tuple[float, list[Reason]]:
    """Return which percentage of the answers must be the same, and the known differences of a witness."""
    told = tomllib.loads(KNOWN.read_text(encoding="utf-8"))[witness]
    return told["least"], [Reason(**each) for each in told.get("differences", ())]


@cache
def replayed(record: Path, share: int) -> Tally:
    """Ask policylint what a record says, of one of so many worlds."""
    tally = Tally()
    grammars = {
        "api-server": api_server_objects.world,
        "istio-connections": istio_connections.world,
        "istio-requests": istio_requests.world,
        "kuadrant": kuadrant.world,
        "cilium": cilium.world,
        "network": network_worlds.world,
        "open-cluster-management": open_cluster_management.world,
    }
    made = grammars.get(record.stem, world)
    deployer = DEPLOYERS.get(record.stem)
    if deployer is not None:
        made = deployer[0]
    proxies, _ = PROXIES.get(record.stem, (None, ""))
    if proxies is not None:
        made = proxies.world
    dialect = gateway_api.DIALECTS.get(record.stem)
    if dialect is not None:
        made = partial(gateway_api.world, record.stem)
    for answer in islice(read(record), share // 2, None, share):
        objects = made(answer.seed, answer.number)
        name = f"{answer.seed}/{answer.number}"
        if record.stem == "api-server":
            ours = api_server.our_facts(objects, answer.facts)
            tally.add(name, objects, {fact: answer.facts[fact] for fact in ours}, ours)
            continue
        assert digest(objects) == answer.digest, CHANGED.format(name)
        if record.stem == "network":
            packets = network_worlds.packets(answer.seed, answer.number, objects, network.PACKETS)
            tally.add(name, objects, *network.compared(objects, packets, answer.facts))
        elif record.stem == "cilium":
            packets = cilium.packets(answer.seed, answer.number, objects, cilium.PACKETS)
            tally.add(name, objects, *cilium.compared(objects, packets, answer.facts))
        elif deployer is not None:
            tally.add(name, objects, *deployer[1].compared(objects, answer.facts))
        elif dialect is not None:
            tally.add(name, objects, answer.facts, gateway_api.our_facts(dialect, objects, answer.refused))
        elif record.stem == "istio-connections":
            ours = istio_connections.our_facts(objects, answer.refused, answer.facts)
            tally.add(name, objects, answer.facts, ours)
        elif record.stem == "istio-requests":
            asked = istio_requests.requests(answer.seed, answer.number)
            tally.add(name, objects, answer.facts, istio_requests.our_answers(objects, answer.refused, asked))
        elif proxies is not None:
            asked = proxies.requests(answer.seed, answer.number, objects)
            ours = proxies.our_answers(objects, answer.refused, asked, answer.facts)
            tally.add(name, objects, answer.facts, ours)
        elif record.stem == "kuadrant":
            tally.add(name, objects, answer.facts, kuadrant.our_facts(objects, answer.refused))
        elif record.stem == "open-cluster-management":
            tally.add(name, objects, *open_cluster_management.compared(objects, answer.refused, answer.facts))
        elif record.stem == "envoy":
            ours = _of_requests(answer, objects)
            tally.add(name, objects, envoy.judged(answer.facts, ours), ours)
        else:
            tally.add(name, objects, answer.facts, _of_statuses(answer, objects))
    return tally


def _of_statuses(answer: Answer, objects: list[Manifest]) -> Facts:
    refused = envoy_gateway.refused(answer.facts)
    stored = [each for each in objects if name_of(each) not in refused]
    return envoy_gateway.our_facts(objects, stored)


def _of_requests(answer: Answer, objects: list[Manifest]) -> Facts:
    stored = [each for each in objects if name_of(each) not in answer.refused]
    asked = envoy.requests(answer.seed, answer.number, stored, REQUESTS)
    return envoy.our_answers(envoy_gateway.simulated(stored), objects, asked, answer.facts)


def asked_of(record: Path) -> str:
    """Return how the row of a record begins: who was asked, and of how many worlds."""
    head, worlds = head_of(record), sum(1 for _ in read(record))
    releases = ", ".join(f"{name.rsplit('/', 1)[-1]} {version}" for name, version in sorted(head["versions"].items()))
    return f"| {head['title']} | {releases} | {worlds:,} |"


def row(record: Path) -> str:
    """Return what docs/verified.md says of a record."""
    tally = replayed(record, 1)
    return f"{asked_of(record)} {tally.facts:,} | {floor(10 * tally.share) / 10} % |"


def page() -> str:
    """Return docs/verified.md."""
    lines = [HEAD, "| witness | release | worlds | answers | the same |", "|---|---|---|---|---|"]
    differences = []
    for record in sorted(RECORDED.glob("*.jsonl")):
        head, tally = head_of(record), replayed(record, 1)
        lines.append(row(record))
        rows = []
        others = dict(tally.times)
        for reason in known(record.stem)[1]:
            times = sum(number for sort, number in others.items() if reason.fits(sort))
            others = {sort: number for sort, number in others.items() if not reason.fits(sort)}
            if times:
                rows.append(f"| `{reason.sort.replace('|', '·')}` | {times} | {reason.why} |")
        if others:
            rows.append(f"| {len(others)} other sorts | {sum(others.values())} | not yet looked into |")
        table = ["| what differs | how often | why |", "|---|---|---|", *rows] if rows else ["Nothing differs."]
        differences += [f"\n## {head['title']}\n\n{head['about']}\n", *table]
    predicted = PREDICTED.read_text(encoding="utf-8").rstrip("\n")
    return "\n".join([*lines, *differences]) + f"\n{predicted}\n\n{campaigns()}"


def campaigns() -> str:
    """Return what docs/verified.md says of the campaigns of bench/fuzz.py."""
    tried = tomllib.loads(CAMPAIGNS.read_text(encoding="utf-8"))["campaign"]
    hours = sum(each["minutes"] for each in tried) / 60
    runs = sum(each["runs"] for each in tried)
    rows = [
        f"| {each['what']} | {each['seeds']} | {each['inputs']:,} | {each['runs']:,} | {each['minutes']:.0f}"
        f" | {each['kinds']} | {each['found'] or 'nothing'} |"
        for each in tried
    ]
    told = f"{runs:,} runs in {hours:.1f} hours of one core, on seeds that were not tried before."
    table = [
        "| what | seeds | inputs | runs | minutes | kinds of failures | found |",
        "|---|---|---|---|---|---|---|",
        *rows,
    ]
    return "\n".join([f"## Campaigns\n\n`python bench/fuzz.py WHAT`: {told}\n", *table]) + "\n"


if __name__ == "__main__":
    print(page(), end="")
