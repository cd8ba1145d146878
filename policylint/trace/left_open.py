"""What policies leave open that ask something of requests, as a variable stands for a list, an object or a choice.

`authorization: ${RULES}` asks for something that is not known, which is not nothing; of `rules: ${RULES}` below it not
even that is known which is written beside it, nor of `action: ${ACTION}`. A text in the place of a text is read where
it is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.documents import Pointer
from policylint.model import PolicyKind, Resource
from policylint.model.resource import dotted
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import asking_paths
from policylint.policy.results import Group
from policylint.schema.known import Schemas
from policylint.schema.open_values import open_fields


class OpenSetting(NamedTuple):
    """A variable in what a policy asks.

    Args:
        place: where it stands.
        asking: the settings in which, or around which, it stands: their steps in the spec proper.
        hides: those of them, dotted, of which it is not known whether they are there.
    """

    policy: Resource
    place: Pointer
    asking: tuple[tuple[str, ...], ...]
    hides: frozenset[str]

    def __str__(self) -> str:
        return f"{dotted(self.place)} is a variable"


def left_open(group: Group, schemas: Schemas) -> Iterator[OpenSetting]:
    """Yield the variables in what the policies of a group ask."""
    settings = {tuple(path.split(".")): path for path in asking_paths(group.kind)}
    for attachment in group.effective.stack if settings else ():
        for place in dict.fromkeys(open_fields(attachment.policy, schemas, choices=True)):
            steps = _proper(group.kind, place)
            asking = tuple(each for each in settings if is_near(each, (steps,)))
            if asking and place[:1] == ("spec",):
                hides = frozenset(settings[each] for each in asking if len(steps) <= len(each))
                yield OpenSetting(attachment.policy, place, asking, hides)


def is_near(place: Pointer, others: Iterable[Pointer]) -> bool:
    """Return whether a place is one of some others, lies in one, or holds one."""
    return any(place[: len(other)] == other[: len(place)] for other in others)


def _proper(kind: PolicyKind, place: Pointer) -> tuple[str, ...]:
    """Return the steps from the spec proper of a policy to a place in it, entries of lists left out."""
    steps = tuple(step for step in place[1:] if isinstance(step, str))
    return steps[1:] if steps and steps[0] in kind.merge.wrappers else steps
