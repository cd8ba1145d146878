"""The part of a comparison that concerns a scope: what changes there, and what a change there does elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.compare.change import EnvironmentChange, SubjectChange
from policylint.compare.subjects import subject_of

if TYPE_CHECKING:
    from policylint.compare.requests import RequestChanges
    from policylint.model import ResourceKey
    from policylint.workspace.scope import WorldScope


def within(
    environments: Sequence[EnvironmentChange], scopes: Mapping[str, Sequence[WorldScope]]
) -> list[EnvironmentChange]:
    """Return the changes that concern a scope.

    Args:
        scopes: by the name of the environment, of both sides; environments without any are left out.
    """
    return [
        _within(environment, scopes[environment.name]) for environment in environments if environment.name in scopes
    ]


def _within(environment: EnvironmentChange, scopes: Sequence[WorldScope]) -> EnvironmentChange:
    def is_there(key: ResourceKey | None) -> bool:
        return key is not None and any(scope.holds_object(key) for scope in scopes)

    hit = {key for change in environment.objects if is_there(change.key) for key in change.routes}
    subjects = tuple(
        subject
        for subject in environment.subjects
        if subject.key in hit or is_there(subject.key) or is_there(subject.was) or any(map(is_there, _causes(subject)))
    )
    kept = {subject.key for subject in subjects}
    return environment._replace(
        contexts=tuple(change for change in environment.contexts if subject_of(change.path) in kept),
        subjects=subjects,
        policies=tuple(
            change for change in environment.policies if any(map(is_there, (change.policy, change.was, *change.by)))
        ),
        objects=tuple(
            change
            for change in environment.objects
            if is_there(change.key) or is_there(change.was) or not kept.isdisjoint(change.routes)
        ),
        placements=tuple(
            change for change in environment.placements if any(map(is_there, (change.policy, *change.by)))
        ),
        requests=_requests(environment.requests, is_there),
    )


def _requests(requests: RequestChanges | None, is_there: Callable[[ResourceKey], bool]) -> RequestChanges | None:
    """Return the changes of requests to the routes of a scope, and those that it does elsewhere."""
    if requests is None:
        return None
    concerned = tuple(
        change
        for change in requests.changes
        if any(map(is_there, (*change.routes, *(who.policy for who in change.by))))
    )
    return requests._replace(changes=concerned)


def _causes(subject: SubjectChange) -> Iterator[ResourceKey]:
    """Yield the policies on which a change of a subject rests, on either side."""
    for part in subject.parts:
        for setting in (*part.settings, *part.lost):
            if setting.change != "unchanged":
                for responsible in (*setting.sources_before, *setting.sources_after, *setting.by):
                    yield responsible.policy
