"""The request engine over changed worlds: what its readers say of a request, of a way and of a change is one answer.

The readers are those of tests/contract: `trace`, `reach`, `diff`, guardrails, rules, `explain`, `list`, `simulate`.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

from campaign import SlowError, Tried, WrongError
from drawing import drawn, kinds
from fuzz_tool import ROOT, ToolFuzz, World, documents_of, from_directory
from mutations import copied, places, write

MOST_CHANGES = 4
REQUESTS = 40
"""Requests that are tried at each entry."""
TOGETHER, MOST_TOGETHER = 0.4, 60
"""How often a second world stands beside the first one, and how many documents they may have."""
FLIPPED = {
    "Exact": "PathPrefix", "PathPrefix": "Exact", "ALLOW": "DENY", "DENY": "ALLOW", "Allow": "Deny", "Deny": "Allow",
    "Same": "All", "All": "Same", "STRICT": "PERMISSIVE", "PERMISSIVE": "DISABLE", "Terminate": "Passthrough",
    "HTTP": "HTTPS", "HTTPS": "HTTP", "GET": "POST", "/": "/a", "defaults": "overrides", "overrides": "defaults",
}  # fmt: skip
"""Values and keys, each with one that means something else in the same place."""


_MAKERS = {
    "HelmRelease",
    "Kustomization",
    "Application",
    "ApplicationSet",
    "HelmChart",
    "None",
    "ResourceSet",
    "Component",
}


_TARGETS = ("Gateway", "GRPCRoute", "HTTPRoute", "Service", "TCPRoute", "TLSRoute")


def _attaches(document: Any) -> bool:
    """Tell whether a document is a policy that names what it is attached to."""
    spec = document.get("spec")
    return isinstance(spec, dict) and not spec.keys().isdisjoint(("targetRef", "targetRefs"))


def _identity(document: Any) -> tuple[str, ...]:
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return str(document.get("kind")), str(named.get("namespace")), str(named.get("name"))


def _put_beside(files: dict[str, list[Any]], other: World) -> None:
    """Add to a world what another one has beside it: what stands in both by its name is that of the first one."""
    here = {_identity(document) for documents in files.values() for document in documents}
    more = [document for documents in other.files.values() for document in documents if _identity(document) not in here]
    if files and len(here) + len(more) <= MOST_TOGETHER:
        files[next(iter(files))] += copied(more)


class RequestFuzz(ToolFuzz):
    """Asks all readers of requests about worlds whose routes and policies were changed as people change them."""

    def __init__(self, shared: Path | None = None) -> None:
        super().__init__(shared)
        sys.path.insert(0, str(ROOT))
        import tests.contract.test_contract  # noqa: F401 - what is imported here, no child imports again

        if shared is not None:
            singles = sorted(shared.glob("cases/*/*/")) + sorted(shared.glob("people/*/"))
            found = [world for place in singles for world in from_directory(place)]
            self.worlds.append([world for world in found if world.files])
        self.worlds += of_tests()
        self.worlds = [kept for source in self.worlds if (kept := [world for world in source if _has_routes(world)])]
        self.of_kind: dict[str, list[Any]] = defaultdict(list)
        for document in self.stock:
            self.of_kind[str(document.get("kind"))].append(document)
        self.attaching = [kind for kind in sorted(self.of_kind) if any(map(_attaches, self.of_kind[kind]))]

    def __call__(self, random: Random) -> Tried:
        """Make a world and a change of it, and ask."""
        world = random.choice(random.choice(self.worlds))
        before = {file: copied(documents) for file, documents in world.files.items()}
        if random.random() < TOGETHER:
            _put_beside(before, random.choice(random.choice(self.worlds)))
        for _ in range(random.randrange(MOST_CHANGES)):
            self.change(random, before)
        after = {file: copied(documents) for file, documents in before.items()}
        for _ in range(random.randint(1, MOST_CHANGES)):
            self.change(random, after)
        sides = {
            side: "---\n".join(write(documents) for documents in files.values())
            for side, files in (("before", before), ("after", after))
        }
        (self.place / "world").mkdir(exist_ok=True)
        os.chdir(self.place / "world")
        for side, text in sides.items():
            Path(f"{side}.yaml").write_text(text, encoding="utf-8", errors="replace")
        reproducer = {f"{side}.yaml": text for side, text in sides.items()}
        try:
            different = self.asked(random)
        except (Exception, SlowError) as error:
            return Tried(1, [(error, reproducer)])
        return Tried(1, [(WrongError(kind), {**reproducer, "said.txt": words}) for kind, words in different.items()])

    def asked(self, random: Random) -> dict[str, str]:
        """Return the questions with several answers, each with what is said of one."""
        from policylint.workspace import open_workspace
        from tests.contract.test_contract import disagreements, disagreements_of
        from tests.reach.test_agreement import disagreements as of_requests

        different: dict[str, str] = {}
        before, after = (
            open_workspace([f"{side}.yaml"], alternatives=False, render="off").simulations
            for side in ("before", "after")
        )
        if any(broken.refusal is not None for simulation in (*before, *after) for broken in simulation.broken):
            return {}  # no cluster has it so: what the tool says then is about the text as it is written
        for simulation in after:
            wrong = of_requests(simulation, REQUESTS, random.randrange(1000), mixed=True)[1]
            if wrong:
                different["reach and trace"] = "\n".join(wrong)
            for question, words in disagreements(simulation):
                different.setdefault(question, words)
        if len(before) == len(after) == 1:
            for question, words in disagreements_of(before[0], after[0]):
                different.setdefault(question, words)
        return different

    def change(self, random: Random, files: dict[str, list[Any]]) -> None:
        """Change one document in place as people do, or add or remove one."""
        file = random.choice([*filter(files.get, files)] or [""])
        if not file:
            return
        documents = files[file]
        number = random.randrange(len(documents))
        document = documents[number]
        inside = [*places(document.get("spec"))]
        way = random.randrange(18)
        if way == 17:
            self._hide(random, inside)
        elif way == 16:
            self._draw(random, document)
        elif way >= 14:
            self._attach(random, files, documents, new=True)
        elif way >= 12:
            self._attach(random, files, documents)
        elif way == 0:
            del documents[number]
        elif way == 1:
            other = copied(document)
            if isinstance(other.get("metadata"), dict):
                other["metadata"]["name"] = f"{other['metadata'].get('name')}-2"
            documents.append(other)
        elif way == 2:
            alike = self.of_kind[str(document.get("kind"))]
            documents.append(copied(random.choice(alike)) if alike else copied(document))
        elif inside:
            container, key = random.choice(inside)
            value = container[key]
            if way <= 4:
                del container[key]
            elif way <= 8 and (kindred := self._kindred(random, document, key)):
                container[key] = copied(random.choice(kindred))
            elif isinstance(value, bool):
                container[key] = not value
            elif isinstance(value, int):
                container[key] = max(0, value + random.choice((-1, 1, 80)))
            elif isinstance(value, str):
                container[key] = FLIPPED.get(value) or re.sub(r"^[\w-]+", "other", value)
            elif isinstance(value, list):
                container[key] = [*value, *map(copied, value[:1])] if random.random() < 0.3 else value[:-1]
            elif isinstance(container, dict) and key in FLIPPED:
                container[FLIPPED[key]] = container.pop(key)

    @staticmethod
    def _hide(random: Random, inside: list[Any]) -> None:
        """Put a variable in the place of something, or within a text."""
        if inside:
            container, key = random.choice(inside)
            value = container[key]
            within = isinstance(value, str) and random.random() < 0.5
            container[key] = f"{value[: len(value) // 2]}${{PART}}" if within else "${VALUE}"

    def _attach(self, random: Random, files: dict[str, list[Any]], documents: list[Any], *, new: bool = False) -> None:
        """Attach a policy of any kind there is, so that kinds meet which no world has together, or name a rule.

        Args:
            new: whether it is drawn from its schema.
        """
        found = [each for several in files.values() for each in several if each.get("kind") in _TARGETS]
        if not found or not self.attaching:
            return
        target = random.choice(found)
        named = target.get("metadata") if isinstance(target.get("metadata"), dict) else {}
        reference = {
            "group": "" if target["kind"] == "Service" else "gateway.networking.k8s.io",
            "kind": target["kind"],
            "name": named.get("name"),
        }
        if random.random() < 0.25:
            reference["sectionName"] = random.choice(("http", "https", "rule-1", "rule-2"))
        names = {"name": f"attached-{random.randrange(3)}"}
        if "namespace" in named:
            names["namespace"] = named["namespace"]
        if new:
            drawn_one = drawn(random, *random.choice(kinds()), names, reference)
            documents += [drawn_one] if drawn_one is not None else []
            return
        kind = random.choice(self.attaching)
        policy = copied(random.choice([each for each in self.of_kind[kind] if _attaches(each)]))
        spec, key = policy["spec"], "targetRefs" if "targetRefs" in policy["spec"] else "targetRef"
        spec[key] = [reference] if key == "targetRefs" else reference
        policy["metadata"] = names
        documents.append(policy)

    def _draw(self, random: Random, document: Any) -> None:
        """Give an object a field of its spec as its schema has it, in place of what it has there."""
        group, kind = str(document.get("apiVersion")).rpartition("/")[0], str(document.get("kind"))
        if (group, kind) not in kinds() or not isinstance(document.get("spec"), dict):
            return
        other = drawn(random, group, kind, {"name": "any"})
        if other is not None and other["apiVersion"] == document["apiVersion"] and other.get("spec"):
            field = random.choice(sorted(other["spec"]))
            document["spec"][field] = other["spec"][field]

    def _kindred(self, random: Random, document: Any, key: Any) -> list[Any]:
        """Return values that documents of the same kind have at the same key."""
        alike = self.of_kind[str(document.get("kind"))]
        sampled = random.sample(alike, min(8, len(alike)))
        return [
            container[at] for other in sampled for container, at in places(other.get("spec")) if at == key and key != 0
        ]


def of_tests() -> list[list[World]]:
    """Return the worlds that tests have of all implementations, and those of what readers once said differently."""
    from tests.contract.own import CHANGES, WORLDS
    from tests.implementations.test_predicted import WORLDS as PREDICTED
    from tests.implementations.test_predicted import base_of

    texts = {name: (*base_of(name), *predicted.policies) for name, (_, predicted) in PREDICTED.items()}
    own = {
        **WORLDS,
        **{f"{name} {number}": side for name, sides in CHANGES.items() for number, side in enumerate(sides)},
    }
    return [
        [World(name, {"world.yaml": documents_of("\n---\n".join(manifests))}) for name, manifests in each.items()]
        for each in (texts, own)
    ]


def _has_routes(world: World) -> bool:
    """Tell whether requests come in, and all of a world stands in its files: readers that build it again see no more.

    Objects of other APIs are ways in as routes are: of the worlds with VirtualServices of a mesh few have one as well.
    """
    from policylint.model.kinds import WAYS_IN

    documents = [document for listed in world.files.values() for document in listed]
    kinds = {str(document.get("kind")) for document in documents}
    known = {(str(each.get("apiVersion")).rpartition("/")[0], str(each.get("kind"))) for each in documents}
    led = any(kind.endswith("Route") for kind in kinds) or any(WAYS_IN[each][2] for each in known & WAYS_IN.keys())
    return led and kinds.isdisjoint(_MAKERS)
