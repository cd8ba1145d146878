"""What rendering finds on real trees, and how it compares with `kubectl kustomize`: one command, two tables.

python bench/rendering.py                 # routes, parents and policy targets per tree, seconds
python bench/rendering.py --kubectl       # every kustomization against kubectl's output, and the time of both
python bench/rendering.py --kubectl -v    # and each difference

The first table is held against the one that came with the trees; DIFFERENCES says where a tree is more than 3 % away
from it, and why. Either table ends with exit code 1 where it falls short.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from policylint.documents import read
from policylint.load.objects import cluster_scoped_kinds
from policylint.load.reading import load
from policylint.model import GATEWAY_GROUP, ResourceKey, mapping, sequence, text
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.render.kustomize.build import Kustomizer
from policylint.render.tree import Tree
from policylint.simulation import Simulation
from policylint.sources import open_source
from policylint.workspace import known_groups, open_workspace

TREES = Path(__file__).resolve().parents[2] / "shared" / "trees"
KUBECTL = ("kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone")
TIMEOUT = 20
_ANSWERS = ("found", "missing", "unknown")
FOUND, NEAR, EQUAL, FASTER = 0.98, 0.03, 0.99, 30
"""The bars: found parents, distance from the table, equal kustomizations, times faster than kubectl."""
DIFFERENCES = {
    "xunholy__k8s-gitops": (
        "75 found, 74 of 80 in the table: six are the parents of the routes backstage, crowdsec and zigbee2mqtt, which"
        " nothing deploys (orphans); of the deployed ones this walk reaches one more"
    ),
    "MatherlyNet__talos-cluster": "3 of 4 targets: the fourth is a selector that matches nothing, reported as GWP105",
    "rcdailey__home-ops": "33 found, 33 of 34 in the table: the other one is an orphan's",
}
"""Trees that are further from the table, or look so, and why."""
_LISTED = re.compile(r"^\| ([\w/-]+) \| [^|]*Flux[^|]*\| (\d+)/(\d+)[^|]*\| (\d+)/(\d+)", re.MULTILINE)
_CARRIERS = frozenset({"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io"})
"""Groups that are compared, too: what Flux and Helm make of them decides what is deployed."""


class Compared(NamedTuple):
    """One kustomization: its directory, what differs ("" when nothing does), the seconds kubectl took."""

    directory: str
    differences: tuple[str, ...]
    seconds: float


def trees() -> list[Path]:
    return sorted(each for each in TREES.iterdir() if each.is_dir()) if TREES.is_dir() else []


def parents(simulation: Simulation) -> Iterator[str]:
    """The answer for every parentRef of every route."""
    world = simulation.world
    for state in simulation.topology.routes:
        route = state.route
        for each in sequence(route.spec.get("parentRefs")):
            reference = mapping(each)
            group, kind = text(reference.get("group"), GATEWAY_GROUP), text(reference.get("kind"), "Gateway")
            namespace = text(reference.get("namespace")) or route.key.namespace
            yield world.resolve(ResourceKey(group, kind, namespace, text(reference.get("name")))).state


def targets(simulation: Simulation) -> Iterator[str]:
    """The answer for every target of every policy."""
    for state in simulation.policies.values():
        for target in state.targets:
            if target.selector is not None:
                yield "found" if target.nodes else "missing"
            else:
                yield target.resolution.state


class Row(NamedTuple):
    """What was found in one tree."""

    tree: str
    environments: tuple[str, ...]
    routes: int
    parents: Counter[str]
    targets: Counter[str]
    seconds: float

    def share(self) -> float:
        """The part of the parents that was found."""
        return self.parents["found"] / (sum(self.parents.values()) or 1)

    def __str__(self) -> str:
        listed = table().get(self.tree.partition("__")[0])
        wanted = f"{listed[0]}/{listed[1]}, {listed[2]}/{listed[3]}" if listed else "-"
        counted = ("/".join(str(each[answer]) for answer in _ANSWERS) for each in (self.parents, self.targets))
        names = ", ".join(self.environments)
        return f"| {self.tree} | {names} | {self.routes} | {' | '.join(counted)} | {wanted} | {self.seconds:.2f} |"

    def is_near(self) -> bool:
        """Whether parents and targets are as many as the table has, within 3 %, orphans left out."""
        listed = table().get(self.tree.partition("__")[0])
        if listed is None:
            return True
        pairs = ((sum(self.parents.values()), listed[0]), (sum(self.targets.values()), listed[3]))
        return all(abs(counted - wanted) <= NEAR * wanted for counted, wanted in pairs)


def table() -> dict[str, tuple[int, int, int, int]]:
    """Parents resolved and all, targets resolved and all, by tree, as the page beside the trees has them."""
    text_ = (TREES / "README.md").read_text() if (TREES / "README.md").is_file() else ""
    return {match[1]: (int(match[2]), int(match[3]), int(match[4]), int(match[5])) for match in _LISTED.finditer(text_)}


def row(tree: Path) -> Row:
    """One line of the first table."""
    start = time.perf_counter()
    workspace = open_workspace([str(tree)], render="builtin")
    seconds = time.perf_counter() - start
    found: Counter[str] = Counter()
    aimed: Counter[str] = Counter()
    for simulation in workspace.simulations:
        found.update(parents(simulation))
        aimed.update(targets(simulation))
    names = tuple(each.world.name for each in workspace.simulations)
    return Row(tree.name, names, workspace.coverage.routes, found, aimed, seconds)


def objects(bodies: Iterator[Any], groups: frozenset[str]) -> dict[tuple[str, ...], Any]:
    """The objects that are compared, by identity; what kustomize writes into cluster-scoped kinds by mistake is not."""
    found: dict[tuple[str, ...], Any] = {}
    for body in bodies:
        body = mapping(body)
        metadata = mapping(body.get("metadata"))
        group, kind = text(body.get("apiVersion")).rpartition("/")[0], text(body.get("kind"))
        if group not in groups and (group, kind) not in (("", "Namespace"), ("", "Service")):
            continue
        if (group, kind) in CLUSTER_SCOPED:
            metadata = {name: value for name, value in metadata.items() if name != "namespace"}
        key = (group, kind, text(metadata.get("namespace")), text(metadata.get("name")))
        found[key] = {**body, "metadata": metadata}
    return found


def compare(
    tree: Path, most: int | None = None, command: tuple[str, ...] = KUBECTL
) -> tuple[list[Compared], int, float]:
    """Every kustomization of a tree against kubectl's: those that it can build, how many it cannot, our seconds.

    Args:
        most: compare only so many of them, evenly spread.
        command: what builds the directory that follows it.
    """
    source = open_source([str(tree)])
    loaded = load(source, known_groups())
    files = Tree(source, loaded)
    groups = known_groups() | {GATEWAY_GROUP} | _CARRIERS
    scoped = loaded.cluster_scoped | cluster_scoped_kinds(loaded.documents)
    directories = [each for each in files.kustomizations() if not _is_component(files, each)]
    if most is not None:
        directories = directories[:: max(1, len(directories) // most)]
    start = time.perf_counter()
    kustomizer = Kustomizer(files, scoped)
    built = {each: kustomizer.build(each).manifests for each in directories}
    ours = time.perf_counter() - start
    rows, refused = [], 0
    for directory in directories:
        start = time.perf_counter()
        output = _kubectl(Path(source.root or tree) / directory, command)
        seconds = time.perf_counter() - start
        if output is None:
            refused += 1
            continue
        theirs = objects((each.value for each in read(output, directory).documents), groups)
        mine = objects((each.body for each in built[directory]), groups)
        different = tuple(" ".join(key) for key in sorted({*theirs, *mine}) if theirs.get(key) != mine.get(key))
        rows.append(Compared(f"{tree.name}/{directory}", different, seconds))
    return rows, refused, ours


def _is_component(files: Tree, directory: str) -> bool:
    kustomization = files.kustomization(directory)
    return kustomization is not None and kustomization[0].get("kind") == "Component"


def _kubectl(directory: Path, command: tuple[str, ...]) -> bytes | None:
    try:
        done = subprocess.run([*command, str(directory)], capture_output=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubectl", action="store_true", help="compare with `kubectl kustomize`")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every difference")
    options = parser.parse_args()
    if not trees():
        print(f"skipped: no trees at {TREES}")
        return 0
    return _against_kubectl(verbose=options.verbose) if options.kubectl else _tables()


def _tables() -> int:
    print(
        "| tree | environments | routes | parents found/missing/unknown | targets found/missing/unknown | table | s |"
    )
    print("|---|---|---|---|---|---|---|")
    short = False
    for tree in trees():
        found = row(tree)
        print(found)
        short |= found.share() < FOUND
        short |= not found.is_near() and found.tree not in DIFFERENCES
    for name, words in DIFFERENCES.items():
        print(f"{name}: {words}")
    return int(short)


def _against_kubectl(*, verbose: bool) -> int:
    rows: list[Compared] = []
    refused, ours = 0, 0.0
    for tree in trees():
        more, failed, seconds = compare(tree)
        rows += more
        refused += failed
        ours += seconds
    different = [each for each in rows if each.differences]
    for each in different if verbose else ():
        print(f"{each.directory}: {'; '.join(each.differences)}")
    theirs = sum(each.seconds for each in rows)
    equal = len(rows) - len(different)
    print(f"{equal} of {len(rows)} kustomizations equal ({equal / len(rows):.2%}); kubectl cannot build {refused} more")
    print(f"kubectl {theirs:.1f} s, built in {ours:.2f} s for all: {theirs / ours:.0f} times faster")
    return int(equal < EQUAL * len(rows) or theirs < FASTER * ours)


if __name__ == "__main__":
    sys.exit(main())
