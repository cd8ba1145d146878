"""What a change touches that is no object: files of charts and values, and commands of scripts that change objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from policylint.documents import Document
from policylint.model import Finding, Location, Spot
from policylint.namedtuple import NamedTuple

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


def commands_given(texts: TextChanges) -> Iterator[Finding]:
    """Yield the commands by which scripts come to change objects: what they make of them is not judged."""
    for script, line, command in texts.commands:
        shown = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}…"
        yield Finding(
            _RULE,
            "note",
            f"{script} now runs `{shown}`: its effect on the objects is not evaluated",
            Location(Spot(script, line, 1)),
            label="it changes objects that the manifests describe otherwise",
            field=shown,
        )


__all__ = ["NO_TEXTS", "TextChanges", "commands_given"]
