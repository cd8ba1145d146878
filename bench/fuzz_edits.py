"""Edits of real trees as people make them, one at a time: what `diff` says of each, and what it must not be silent of.

A document goes, or one of its lines says something else: its name, namespace, label, port, class, target. `diff` ends
as documented; and it says something where a policy that was in force in an environment is in force no longer, which is
asked of the tree before and after by itself. It says of no such login or authorization that all requests are answered
as before, and not where a request ends otherwise or is asked otherwise (what_differs.py); and a connection that network
policies judge otherwise is among those that it lists.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from campaign import SlowError, Tried, WrongError
from fuzz_tool import ROOT, ToolFuzz
from what_differs import connection_judged_otherwise, network_policies, request_answered_otherwise

MOST_FILES = 400
"""Files of YAML of a tree, beyond which one edit of it takes as long as several of another one."""
EDITS = 4
"""Edits that are tried of one tree, once it is copied; one of a larger tree."""
ENDS = (0, 1, 3)
_SKIPPED = re.compile(r"(^|/)(crds?|templates|node_modules|\.git|tests?|charts)/|crd")
_SEPARATOR = re.compile(r"(?m)^---[ \t]*(?:#.*)?\n")
_KIND = re.compile(r"(?m)^kind:[ \t]*[\"']?(\w+)")
_OTHERS = frozenset({
    "GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "ReferenceGrant",
    "Backend", "EnvoyProxy", "IngressClass", "Ingress", "VirtualService", "ServiceEntry", "EndpointSlice", "Service",
    "ServiceAccount", "Namespace", "Deployment", "StatefulSet", "ConfigMap", "Certificate", "ExternalSecret",
    "HelmRelease", "Kustomization", "Component", "Application", "Placement", "PlacementBinding",
})  # fmt: skip
"""Kinds that are edited beside policies."""
_NAMELESS = frozenset({"Kustomization", "Component"})
"""Kinds that may do without metadata."""
_BOOKKEEPING = frozenset({
    "version", "environments", "compared", "command", "coverage", "findings", "summary", "revisions", "suppressed",
    "configuration", "diagrams",
})  # fmt: skip
"""What a report in JSON holds beside what a change does."""
_FLIPPED = {"true": "false", "false": "true"}
Edit = tuple[str, "re.Pattern[str]", "str | Callable[[re.Match[str]], str]"]
LINES: tuple[Edit, ...] = tuple(
    (words, re.compile(pattern), other)
    for words, pattern, other in (
        ("a target", r"(targetRefs?:[ \t]*\n(?:[ \t]+\S.*\n)*?[ \t]+(?:- )?name:[ \t]*)([\w.-]+)", r"\1\2x"),
        ("a section", r"(sectionName:\s*)([\w.-]+)", r"\1other"),
        ("a host", r"((?:hostnames?|host|hosts):\s*\n?\s*-?\s*)[\"']?([\w*.${}-]+\.[\w.${}-]+)[\"']?", r"\1x-\2"),
        ("a port", r"(\bport:\s*)(\d+)", r"\g<1>9999"),
        ("a class", r"((?:gatewayClassName|ingressClassName|controllerName):\s*)(\S+)", r"\1other"),
        ("a backend", r"(backendRefs:\s*\n\s*-\s*name:\s*)([\w.-]+)", r"\1other"),
        ("a label", r"(\n\s{2,}labels:\s*\n\s+[\w./-]+:\s*)([\w.-]+)", r"\1other"),
        ("a selector", r"([sS]elector:\s*\n\s+(?:matchLabels:\s*\n\s+)?[\w./-]+:\s*)([\w.-]+)", r"\1other"),
        (
            "who may attach",
            r"(from:\s*)(All|Same)\b",
            lambda found: found[1] + ("Same" if found[2] == "All" else "All"),
        ),
        ("a path", r"(value:\s*)[\"']?(/\S*?)[\"']?(?=\n)", r"\1/other"),
        ("a protocol", r"(protocol:\s*)(HTTPS|TLS)\b", r"\1HTTP"),
        ("an account", r"(serviceAccountName:\s*)([\w.-]+)", r"\1other"),
        ("a namespace", r"(\n  namespace:\s*)([\w.-]+)", r"\1\2-x"),
        ("a name", r"(\nmetadata:\n(?:  .*\n)*?  name:\s*)([\w.-]+)", r"\1\2-x"),
        ("a Secret", r"(secretName:\s*)([\w.-]+)", r"\1other"),
        (
            "an action",
            r"(action:\s*)(DENY|Deny)\b",
            lambda found: found[1] + ("ALLOW" if found[2] == "DENY" else "Allow"),
        ),
        ("a mode", r"(mode:\s*)(STRICT)\b", r"\1PERMISSIVE"),
        ("a switch", r"(\n\s+(?:- )?\w+:\s*)(true|false)\b", lambda found: found[1] + _FLIPPED[found[2]]),
        ("an entry", r"\n([ \t]*)- .*(?:\n\1[ \t]+.*)*(?=\n)", ""),
        ("a value", r"(\n[ \t]+[\w.-]+:[ \t]+)[\"']?([\w.-]+)[\"']?(?=\n)", r"\1other"),
    )
)


class ShownError(Exception):
    """What shows a failure: the cause of the error that names it."""


class Found(NamedTuple):
    """A document of a tree: its file, its number in it, and its kind."""

    file: str
    number: int
    kind: str


class Forces(NamedTuple):
    """What is in force in a tree, as it is read by itself.

    Args:
        policies: whether each policy asks for anything, by environment and name.
        written: what each of them says, in the same order; of network policies the name decides nothing.
        refused: the policies that the API server refuses: the cluster keeps what it had.
        network: those of them that are about connections.
        simulations: the environments, by name.
    """

    policies: dict[tuple[str, str], bool]
    written: dict[tuple[str, str], Any]
    refused: set[tuple[str, str]]
    network: set[tuple[str, str]]
    simulations: dict[str, Any]

    def has_renamed(self, lost: tuple[str, str], spec: Any) -> bool:
        """Tell whether a policy of the same kind and namespace says the same."""
        environment, policy = lost
        place = policy.rpartition("/")[0] or policy.partition(" ")[0]
        return any(
            key[0] == environment and (key[1].rpartition("/")[0] or key[1].partition(" ")[0]) == place and other == spec
            for key, other in self.written.items()
        )


class EditsFuzz(ToolFuzz):
    """Tries edits of trees: those of the folders `trees` and `wild` of a directory, the fixtures without one."""

    batch = 1
    seconds = 90
    """CPU time of the edits of one tree."""

    def __init__(self, shared: Path | None = None) -> None:
        super().__init__()
        tops = [ROOT / "fixtures"] if shared is None else [shared.resolve() / name for name in ("trees", "wild")]
        self.trees = [tree for top in tops if top.is_dir() for tree in sorted(top.iterdir()) if tree.is_dir()]
        self.kinds = _OTHERS | _policies()
        self.found: dict[Path, list[Found]] = {}

    def __call__(self, random: Random) -> Tried:
        """Edit one tree a few times."""
        tree = random.choice(self.trees)
        if tree not in self.found:
            self.found[tree] = list(documents(tree, self.kinds))
        if not self.found[tree]:
            return Tried(0, [])
        copy = self.place / "tree"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        os.chdir(copy)
        for words in ("init -q", "add -A -f", "-c user.name=a -c user.email=a@b commit -q -m a --no-gpg-sign"):
            subprocess.run(["git", *words.split()], check=True, capture_output=True)
        before = in_force()
        failures: list[tuple[BaseException, dict[str, str]]] = []
        tried = 1 if sum(1 for _ in tree.rglob("*.y*ml")) > MOST_FILES else EDITS
        for _ in range(tried):
            kind = random.choice(sorted({each.kind for each in self.found[tree]}))
            chosen = random.choice([each for each in self.found[tree] if each.kind == kind])
            words, texts = edited(random, copy, chosen)
            kept = {file: (copy / file).read_bytes() for file in texts}
            for file, text in texts.items():
                (copy / file).write_text(text, encoding="utf-8") if text else (copy / file).unlink()
            what = f"{chosen.kind}: {words}"
            try:
                self._judge(random, before, what)
            except (Exception, SlowError) as error:
                where = f"{tree.name} {chosen.file}, document {chosen.number}: {words}"
                files = {f"after/{file}": text for file, text in texts.items()}
                failures.append((error, {**files, "edit.txt": where}))
            for file, content in kept.items():
                (copy / file).write_bytes(content)
        return Tried(tried, failures)

    def _judge(self, random: Random, before: Forces, what: str) -> None:
        """Hold what `diff` says of an edit against what the tree says after it.

        Raises:
            WrongError: it ends otherwise than documented, or is silent.
        """
        report = self.place / "report.json"
        report.unlink(missing_ok=True)
        code, error = self.run("diff", "HEAD", f"--output=json-v1={report}")
        if code not in ENDS:
            raise WrongError(f"diff ends with {code}: {error.partition(chr(10))[0][:80]}")
        said = json.loads(report.read_text(encoding="utf-8"))
        after = in_force()
        here = sorted(after.simulations.keys() & before.simulations.keys())
        lost = sorted(key for key in before.policies.keys() - after.policies.keys() if key[0] in here)
        gone = [key for key in lost if not (key in before.network and after.has_renamed(key, before.written[key]))]
        if gone and not says(said):
            raise WrongError(f"silence, {what}: {gone[0][1].partition(' ')[0]} is in force no longer")
        for key in sorted(before.written.keys() & after.written.keys() - before.network):
            # Without a field its default holds, which may be what it said.
            if ": no " not in what and before.written[key] != after.written[key] and not says(said):
                raise WrongError(f"silence, {what}: {key[1].partition(' ')[0]} says otherwise")
        for environment, policy in lost:
            key = environment, policy
            stays = key in after.refused or after.has_renamed(key, before.written[key])
            if before.policies[key] and not stays and keeps(said, environment):
                raise WrongError(f"as before, {what}: {policy.partition(' ')[0]} asks no longer")
        for environment in here:
            self._judge_environment(random, before.simulations[environment], after.simulations[environment], said, what)

    def _judge_environment(self, random: Random, before: Any, after: Any, said: dict[str, Any], what: str) -> None:
        """Hold what `diff` says of an environment against what requests and connections meet there on both sides."""
        name = after.world.name
        sworn, silent = keeps(said, name), not says(said)
        request = request_answered_otherwise(random, before, after) if sworn or silent else ""
        if request:
            raise WrongError(f"{'as before' if sworn else 'silence'}, {what}: a request") from ShownError(request)
        listed = any(each["environment"] == name for each in said.get("connections", ()))
        connection = "" if listed else connection_judged_otherwise(random, before, after)
        if connection:
            raise WrongError(f"no connection, {what}") from ShownError(connection)


def _policies() -> frozenset[str]:
    from policylint.catalog.kinds import load_catalog
    from policylint.network.kinds import KINDS

    return frozenset({kind.kind for kind in load_catalog().kinds()}) | {kind for _, kind in KINDS}


def documents(tree: Path, kinds: frozenset[str]) -> Iterator[Found]:
    """Yield the documents of a tree that are edited."""
    for path in sorted(tree.rglob("*.y*ml")):
        if not path.is_file() or path.is_symlink():
            continue
        file = str(path.relative_to(tree))
        text = "" if _SKIPPED.search(file) else path.read_text(encoding="utf-8", errors="replace")
        if "{{" in text or "\ufffd" in text or "\r" in text:
            continue
        for number, document in enumerate(_SEPARATOR.split(text)):
            kind = _KIND.search(document)
            if kind is not None and kind[1] in kinds and ("\nmetadata:" in document or kind[1] in _NAMELESS):
                yield Found(file, number, kind[1])


def edited(random: Random, tree: Path, chosen: Found) -> tuple[str, dict[str, str]]:
    """Return what is done to a document in words, and the files as they are then, "" for those that go."""
    text = (tree / chosen.file).read_text(encoding="utf-8")
    separators, parts = _SEPARATOR.findall(text), _SEPARATOR.split(text)
    old = parts[chosen.number]
    offered = [(words, _once(random, pattern, other, old)) for words, pattern, other in LINES]
    offered = [(words, new) for words, new in offered if new != old] + [*_dropped(old)]
    if offered and random.random() < 0.7:
        words, parts[chosen.number] = random.choice(offered)
    else:
        words, parts[chosen.number] = "gone", ""
    if any(_KIND.search(part) for part in parts):
        return words, {chosen.file: parts[0] + "".join(map("".join, zip(separators, parts[1:], strict=True)))}
    return words, {chosen.file: "", **_unnamed(tree, chosen.file)}


def _once(random: Random, pattern: re.Pattern[str], other: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Return a text with one of the places where an expression matches written otherwise, at random."""
    found = [*pattern.finditer(text)]
    if not found:
        return text
    place = random.choice(found)
    return (
        text[: place.start()] + (place.expand(other) if isinstance(other, str) else other(place)) + text[place.end() :]
    )


def _dropped(document: str) -> Iterator[tuple[str, str]]:
    """Yield what is left of a document without one field of its spec."""
    spec = re.search(r"(?m)^spec:\n((?:[ #-].*\n|\n)*)", document)
    for field in re.finditer(r"(?m)^  (\w+):.*\n(?:(?:   .*|  - .*)?\n)*", spec[1]) if spec else ():
        assert spec is not None
        yield f"no {field[1]}", document[: spec.start(1) + field.start()] + document[spec.start(1) + field.end() :]


def _unnamed(tree: Path, file: str) -> dict[str, str]:
    """Return the kustomizations beside a file that goes, without its name."""
    found = {}
    for name in ("kustomization.yaml", "kustomization.yml"):
        path = tree / Path(file).parent / name
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            line = rf"(?m)^\s*-\s*[\"']?(\./)?{re.escape(Path(file).name)}[\"']?\s*(#.*)?\n"
            if (other := re.sub(line, "", text)) != text:
                found[str(path.relative_to(tree))] = other
    return found


def in_force() -> Forces:
    """Return what is in force in the tree; of network policies those that keep something from a pod of it: what
    one only lets in besides shows where connections are asked, or nowhere."""
    from policylint.workspace import open_workspace

    found = Forces({}, {}, set(), set(), {})
    for simulation in open_workspace(["."]).simulations:
        name = simulation.world.name
        found.simulations[name] = simulation
        for key, state in simulation.policies.items():
            place = name, str(key)
            if state.verdict == "Invalid":
                found.refused.add(place)
            if state.verdict in ("Enforced", "PartiallyEnforced") and state.idle is None:
                settings = state.kind.settings
                asking = {*settings.authentication, *settings.authorization}
                owners = (each for group in state.groups for each in group.effective.owners.items())
                owned = {leaf[0] for leaf, owner in owners if owner == key}
                found.policies[place] = bool(asking & owned)
                found.written[place] = state.policy.spec
        for policy in network_policies(simulation):
            if not (policy.isolates or any(rule.action != "Allow" or rule.calls is not None for rule in policy.rules)):
                continue
            found.network.add((name, str(policy.key)))
            found.policies[name, str(policy.key)] = False
            found.written[name, str(policy.key)] = policy.resource.spec
    return found


def says(report: dict[str, Any]) -> bool:
    """Tell whether a report says anything of what a change does."""
    new = any(finding["state"] != "unchanged" for finding in report["findings"])
    requests = any(entry["changes"] or entry["unknown"] for entry in report.get("requests", ()))
    return new or requests or any(report[name] for name in report.keys() - _BOOKKEEPING - {"requests"})


def keeps(report: dict[str, Any], environment: str) -> bool:
    """Tell whether a report says of an environment that all requests are answered as before."""
    entries = (entry for entry in report.get("requests", ()) if entry["environment"] == environment)
    return any(entry["as_before"] and not entry["changes"] and not entry["unknown"] for entry in entries)
