"""What a change touches that is no object: files of charts and values, and commands that change objects, of scripts and
of what pods run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from policylint.compare.pairing import Sides
from policylint.documents import Document
from policylint.model import Finding, Location, Resource, Spot, mapping, sequence, texts
from policylint.namedtuple import NamedTuple
from policylint.topology.workloads import WORKLOADS, pod_spec

_RULE = "GWP304"
_LONGEST = 60


class TextChanges(NamedTuple):
    """What differs between two sides beside objects.

    Args:
        files: by path below the root.
        commands: those that are new, each with the script and its line.
        values: files without objects, each as it was and as it is: values for charts may stand there, or charts with
            theirs in a kustomization.
    """

    files: Collection[str] = ()
    commands: Sequence[tuple[str, int, str]] = ()
    values: Sequence[tuple[Document, Document]] = ()
    beside: Sequence[tuple[str, str, str, bool]] = ()


NO_TEXTS = TextChanges()


def commands_given(changes: TextChanges) -> Iterator[Finding]:
    """Yield the commands by which scripts come to change objects: what they make of them is not judged."""
    for script, line, command in changes.commands:
        yield _given(script, command, Location(Spot(script, line, 1)))


def commands_run(sides: Sides) -> Iterator[Finding]:
    """Yield the commands by which pods come to change objects: in what they run, or in scripts that they may hold."""
    for group, kind in (*WORKLOADS, ("", "ConfigMap")):
        for new in sides.after.world.of_kind(group, kind):
            old = sides.before.world.get(sides.pairing.was(new.key))
            if old is None or old.body is not new.body:
                known = set() if old is None else _commands(old)
                for command in sorted(_commands(new) - known):
                    found = _given(str(new.key), command, new.name_location)
                    yield found._replace(resources=(new.key,), environments=(sides.after.world.name,))


def _commands(resource: Resource) -> set[str]:
    """Return the commands in an object that change others."""
    from policylint.render.by_hand import edits

    spec = pod_spec(resource) if resource.key.kind != "ConfigMap" else {}
    containers = [mapping(each) for field in ("containers", "initContainers") for each in sequence(spec.get(field))]
    run = [" ".join((*texts(each.get("command")), *texts(each.get("args")))) for each in containers]
    held = [each for each in mapping(resource.body.get("data")).values() if isinstance(each, str)]
    return {said for content in (*run, *held) for _, said in edits("commands.sh", content.encode())}


def _given(who: str, command: str, location: Location) -> Finding:
    shown = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}…"
    return Finding(
        _RULE,
        "note",
        f"{who} now runs `{shown}`: its effect on the objects is not evaluated",
        location,
        label="it changes objects that the manifests describe otherwise",
        field=shown,
    )


__all__ = ["NO_TEXTS", "TextChanges", "commands_given", "commands_run"]
