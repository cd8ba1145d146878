"""The values that a comparison returns: what changes, for which objects, and because of which policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from policylint.model import Finding, Location, Node, PolicyKind, ResourceKey
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.compare.connections import ConnectionChange
    from policylint.compare.placements import PlacementChange
    from policylint.compare.requests import RequestChanges
    from policylint.policy.results import Effective

SettingChangeKind = Literal["added", "removed", "changed", "moved", "unchanged"]
SubjectChangeKind = Literal["added", "removed", "renamed", "changed", "unknown"]
ObjectChangeKind = Literal["added", "removed", "changed", "renamed"]
FindingState = Literal["new", "fixed", "moot", "unchanged"]


class Responsible(NamedTuple):
    """A policy and the place in it where it sets something, or where it names its target."""

    policy: ResourceKey
    location: Location | None


class SettingChange(NamedTuple):
    """One top-level setting of one kind, before and after.

    Args:
        name: the field, e.g. `jwt`.
        change: `moved` is the same value from another policy.
        before, after: the values; None where there is none (see `change`).
        sources_before, sources_after: the policies that set it.
        by: for a setting that is gone, what prevails instead; empty where its policy is gone or has other targets.
        because: why it is gone, in words, e.g. `deleted`.
        weaker: whether it stays and, by the catalog, asks for less than before.
    """

    kind: PolicyKind
    name: str
    change: SettingChangeKind
    before: Any
    after: Any
    sources_before: tuple[Responsible, ...] = ()
    sources_after: tuple[Responsible, ...] = ()
    by: tuple[Responsible, ...] = ()
    because: str = ""
    weaker: bool = False


class ContextChange(NamedTuple):
    """One context, or one path that only one side has, whose effective policy of one kind is not the same.

    Args:
        path: as it is after, or as it was where it is gone.
        standing: `both` if both sides have the path, `gone` or `new` if only one has it.
    """

    environment: str
    kind: PolicyKind
    path: tuple[Node, ...]
    standing: Literal["both", "gone", "new"]
    before: Effective | None
    after: Effective | None


class Part(NamedTuple):
    """Settings of a subject that change together.

    Args:
        rules: the rules of the route that they change for, () where the kinds do not reach rules.
        all_rules: whether these are all rules of the route.
        gateways: the Gateways that the contexts run through.
        settings: changed ones first, then those that stay.
        lost: for a new subject, settings that another policy would give, with that policy and who prevails.
    """

    rules: tuple[Node, ...]
    all_rules: bool
    gateways: tuple[ResourceKey, ...]
    settings: tuple[SettingChange, ...]
    lost: tuple[SettingChange, ...] = ()


class AttachmentChange(NamedTuple):
    """A way to a route that opens or closes: a listener, a rule, or what the route's status says of a parent.

    Args:
        what: `listener`, `rule`, `answers` (requests that a refused policy makes fail), or the type of a condition.
        name: the name of the listener, rule or parent; for `answers` which requests.
        before, after: its state, "" where there is none.
    """

    what: str
    name: str
    before: str
    after: str
    message: str = ""


class SubjectChange(NamedTuple):
    """A route (or a Gateway, a Service) and what changes for it.

    Args:
        key: as it is after, or as it was where it is gone.
        reach: the ways to it that open and close.
        was: its former identity where it was renamed.
        location: where it is written, on the side after if it is there.
        reason: why its state is not known.
        rules: how many rules it has after.
    """

    environment: str
    key: ResourceKey
    change: SubjectChangeKind
    location: Location | None
    parts: tuple[Part, ...] = ()
    reach: tuple[AttachmentChange, ...] = ()
    was: ResourceKey | None = None
    reason: str = ""
    rules: int = 0

    @property
    def is_route(self) -> bool:
        return self.key.kind.endswith("Route")


class PolicyChange(NamedTuple):
    """A policy that starts, stops or changes having effect; a verdict is "" where the policy is not there."""

    environment: str
    policy: ResourceKey
    before: str
    after: str
    by: tuple[ResourceKey, ...]
    location: Location
    was: ResourceKey | None = None


class ObjectChange(NamedTuple):
    """A changed object and its blast radius."""

    environment: str
    key: ResourceKey
    change: ObjectChangeKind
    routes: tuple[ResourceKey, ...] = ()
    rules: tuple[Node, ...] = ()
    hostnames: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    was: ResourceKey | None = None


class FindingChange(NamedTuple):
    """A finding with its state; the location of one that is gone is on the side before.

    One that is gone is `moot` where what it was about a protection of is not protected any more: nobody mended it.
    """

    finding: Finding
    state: FindingState


class EnvironmentChange(NamedTuple):
    """Everything that changes in one environment.

    Args:
        change: whether the whole environment is new or gone, "" normally.
        routes: how many routes there are after.
        truncated: there are more contexts than can be compared one by one; routes stand for theirs.
        connections: what network policies let through on one side alone.
        requests: what is answered otherwise; None where the whole environment is new or gone.
        placements: policies for clusters that are placed elsewhere, or with another action.
    """

    name: str
    change: Literal["", "added", "removed"]
    routes: int
    contexts: tuple[ContextChange, ...] = ()
    subjects: tuple[SubjectChange, ...] = ()
    policies: tuple[PolicyChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    truncated: bool = False
    renamed: Mapping[ResourceKey, ResourceKey] = {}
    connections: tuple[ConnectionChange, ...] = ()
    requests: RequestChanges | None = None
    placements: tuple[PlacementChange, ...] = ()

    @property
    def known(self) -> tuple[SubjectChange, ...]:
        """The subjects whose changes are known."""
        return tuple(subject for subject in self.subjects if subject.change != "unknown")

    @property
    def unknown(self) -> tuple[SubjectChange, ...]:
        """The subjects for which nothing can be told."""
        return tuple(subject for subject in self.subjects if subject.change == "unknown")

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        beside = self.connections or self.placements
        return not (self.contexts or self.subjects or self.policies or self.objects or beside)


class Comparison(NamedTuple):
    """The whole answer of a diff."""

    environments: tuple[EnvironmentChange, ...]
    findings: tuple[FindingChange, ...]

    def of(self, state: FindingState) -> list[Finding]:
        """Return the findings of one state."""
        return [change.finding for change in self.findings if change.state == state]

    @property
    def routes(self) -> list[SubjectChange]:
        """Routes that change, appear or disappear."""
        return [subject for environment in self.environments for subject in environment.known if subject.is_route]

    @property
    def changes_policy(self) -> bool:
        """Whether anything changes in effect; `--exit-code` asks this."""
        return any(
            environment.known or environment.policies or environment.connections or environment.placements
            for environment in self.environments
        )
