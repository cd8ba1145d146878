"""Write a seeded GitOps tree: N documents in files of ordinary size, whose references all resolve.

usage: python bench/corpus.py DIRECTORY [--documents 10000] [--seed 713]

The same count and seed give the same bytes. At least 40 % of the bytes are in kinds that policylint reads (Gateway API,
policies, Services, Namespaces, Deployments); there are no CRDs. Teams, each with a Gateway of its own, grow with the
count, so that ten times the documents are ten times the work and not a hundred.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from manifests import FILES, GATEWAY_CLASS, App, namespace, team_platform

NAMESPACES_PER_TEAM = 20
NAMES = ("cart", "checkout", "catalog", "search", "billing", "ledger", "mailer", "assets", "quote", "stock", "login")
APPS_PER_NAMESPACE = 8
FILLER = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: filler-{number}
  namespace: space-0000
data:
  number: '{number}'
"""
READ_KINDS = frozenset(
    {"Namespace", "Service", "Deployment", "GatewayClass", "Gateway", "HTTPRoute"}
    | {"ClientTrafficPolicy", "BackendTrafficPolicy", "SecurityPolicy"}
)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, for the head of the benchmark's table."""

    documents: int
    files: int
    size: int
    read_size: int

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.documents:,} documents in {self.files:,} files, {self.size / 1e6:.1f} MB, "
            f"{self.read_size / self.size:.0%} of the bytes in kinds that are read"
        )


def files(random: Random) -> Iterator[tuple[str, list[str]]]:
    """Yield (path, documents) without end, namespace by namespace, a file only after the ones it refers to."""
    yield "platform/gateway-class.yaml", [GATEWAY_CLASS]
    number = 0
    while True:
        space = f"space-{number:04}"
        team = f"team-{number // NAMESPACES_PER_TEAM:03}"
        if number % NAMESPACES_PER_TEAM == 0:
            yield f"platform/{team}/gateway.yaml", team_platform(team)
        yield f"apps/{team}/{space}/namespace.yaml", namespace(space, team)
        names = [f"{name}-{number:04}" for name in random.sample(NAMES, APPS_PER_NAMESPACE)]
        apps = [App(name, space, team, names[position - 1], random) for position, name in enumerate(names)]
        for file, documents_of in FILES.items():
            for app in apps:
                yield f"apps/{team}/{space}/{app.name}/{file}", documents_of(app)
        number += 1


def write_corpus(directory: Path, documents: int = 10_000, seed: int = 713) -> Written:
    """Write exactly `documents` documents below `directory`."""
    left, count, size, read = documents, 0, 0, 0
    for file, contents in files(Random(seed)):
        path = directory / file
        if len(contents) > left:
            contents = [FILLER.format(number=number) for number in range(left)]
            path = directory / "apps" / "filler.yaml"
        text = "---\n" + "---\n".join(contents)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        count, size, left = count + 1, size + len(text), left - len(contents)
        read += sum(len(document) for document in contents if kind_of(document) in READ_KINDS)
        if not left:
            break
    return Written(documents, count, size, read)


def kind_of(document: str) -> str:
    """Return the kind of a generated document."""
    found = re.search(r"^kind: (\w+)$", document, re.MULTILINE)
    return found[1] if found else ""


def main() -> None:
    """Write a corpus and say what it holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=713)
    arguments = parser.parse_args()
    print(write_corpus(arguments.directory, arguments.documents, arguments.seed))


if __name__ == "__main__":
    main()
