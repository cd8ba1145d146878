"""What policies leave open that ask something of requests, as a variable stands for a list, an object or a choice.

`authorization: ${RULES}` asks for something that is not known, which is not nothing; of `rules: ${RULES}` below it not
even that is known which is written beside it, nor of `action: ${ACTION}`. A text in the place of a text is read where
it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.model import PolicyKind, Resource, World
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
        hides: the settings, dotted, of which it is not known whether they are there.
    """

    policy: Resource
    place: Pointer
    hides: frozenset[str]

    def __str__(self) -> str:
        return f"{dotted(self.place)} is a variable"


def left_open(group: Group, world: World) -> Iterator[OpenSetting]:
    """Yield the variables in what the policies of a group ask."""
    asking = {tuple(path.split(".")): path for path in asking_paths(group.kind)}
    schemas = Schemas(world.definitions, world.is_deployed_with)
    for attachment in group.effective.stack if asking else ():
        for place in dict.fromkeys(open_fields(attachment.policy, schemas, choices=True)):
            steps = _proper(group.kind, place)
            near = [path for path in asking if steps is not None and path[: len(steps)] == steps[: len(path)]]
            if steps is not None and near:
                hides = frozenset(asking[path] for path in near if len(steps) <= len(path))
                yield OpenSetting(attachment.policy, place, hides)


def _proper(kind: PolicyKind, place: Pointer) -> tuple[str, ...] | None:
    """Return the steps to a place in the spec proper of a policy, entries of lists left out; None elsewhere."""
    if place[:1] != ("spec",):
        return None
    steps = tuple(step for step in place[1:] if isinstance(step, str))
    return steps[1:] if steps and steps[0] in kind.merge.wrappers else steps
