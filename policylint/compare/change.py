"""The values that a comparison hands on: what changes for whom, and who did it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from policylint.model import Finding, Location, Node, PolicyKind, ResourceKey
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.policy.results import Effective

SettingChange = Literal["added", "removed", "changed", "moved", "unchanged"]
SubjectChange = Literal["added", "removed", "renamed", "changed", "unknown"]
ObjectChange = Literal["added", "removed", "changed", "renamed"]
FindingState = Literal["new", "fixed", "unchanged"]


class Responsible(NamedTuple):
    """A policy and the place in it: where it sets something, or where it takes aim."""

    policy: ResourceKey
    location: Location | None


class Setting(NamedTuple):
    """One top-level setting of one kind, before and after.

    Args:
        name: the field, e.g. `jwt`.
        change: `moved` is the same value from another policy.
        before, after: the values; None where there is none (see `change`).
        sources_before, sources_after: who says so.
        by: for a setting that is gone, what prevails instead; empty where its policy is gone or aims elsewhere.
        because: why it is gone, in words, e.g. `deleted`.
    """

    kind: PolicyKind
    name: str
    change: SettingChange
    before: Any
    after: Any
    sources_before: tuple[Responsible, ...] = ()
    sources_after: tuple[Responsible, ...] = ()
    by: tuple[Responsible, ...] = ()
    because: str = ""


class ContextChange(NamedTuple):
    """One context, or one path that only one side has, whose effective policy of one kind is not the same.

    Args:
        path: as it is after, or as it was where it is gone.
        standing: `both`: the path is there on both sides; `gone` and `new`: it is not.
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
        rules: of the route that are concerned, () where the kinds do not reach rules.
        all_rules: whether these are all rules of the route.
        gateways: through which the contexts run.
        settings: changed ones first, then those that stay.
        whole: the part is new with the subject: nothing is compared, `lost` may say what does not reach it.
        lost: names of settings that another policy would give, with that policy and who prevails.
    """

    rules: tuple[Node, ...]
    all_rules: bool
    gateways: tuple[ResourceKey, ...]
    settings: tuple[Setting, ...]
    lost: tuple[Setting, ...] = ()


class Reach(NamedTuple):
    """A way to a route that opens or closes: a listener, a rule, or what the route's status says of a parent.

    Args:
        what: `listener`, `rule`, or the type of a condition.
        name: which.
        before, after: "" where there was or is none.
    """

    what: str
    name: str
    before: str
    after: str
    message: str = ""


class Subject(NamedTuple):
    """A route (or a Gateway, a Service) and what changes for it.

    Args:
        key: as it is after, or as it was where it is gone.
        was: its former identity where it was renamed.
        location: where it is written, on the side after if it is there.
        reason: why its state is not known.
    """

    environment: str
    key: ResourceKey
    change: SubjectChange
    location: Location | None
    parts: tuple[Part, ...] = ()
    reach: tuple[Reach, ...] = ()
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


class Touched(NamedTuple):
    """A changed object and its blast radius."""

    environment: str
    key: ResourceKey
    change: ObjectChange
    routes: tuple[ResourceKey, ...] = ()
    rules: tuple[Node, ...] = ()
    hostnames: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    was: ResourceKey | None = None


class FindingChange(NamedTuple):
    """A finding with its state; the location of a fixed one is on the side before."""

    finding: Finding
    state: FindingState


class EnvironmentChange(NamedTuple):
    """All that changes in one environment.

    Args:
        change: whether the whole environment is new or gone, "" normally.
        routes: how many routes there are after.
        truncated: there are more contexts than can be compared one by one; routes stand for theirs.
    """

    name: str
    change: Literal["", "added", "removed"]
    routes: int
    contexts: tuple[ContextChange, ...] = ()
    subjects: tuple[Subject, ...] = ()
    policies: tuple[PolicyChange, ...] = ()
    objects: tuple[Touched, ...] = ()
    truncated: bool = False
    renamed: Mapping[ResourceKey, ResourceKey] = {}

    @property
    def known(self) -> tuple[Subject, ...]:
        return tuple(each for each in self.subjects if each.change != "unknown")

    @property
    def unknown(self) -> tuple[Subject, ...]:
        return tuple(each for each in self.subjects if each.change == "unknown")

    @property
    def is_empty(self) -> bool:
        return not (self.contexts or self.subjects or self.policies or self.objects)


class Comparison(NamedTuple):
    """The whole answer of a diff."""

    environments: tuple[EnvironmentChange, ...]
    findings: tuple[FindingChange, ...]

    def of(self, state: FindingState) -> list[Finding]:
        """The findings of one state."""
        return [each.finding for each in self.findings if each.state == state]

    @property
    def routes(self) -> list[Subject]:
        """Routes that change, appear or disappear."""
        return [each for env in self.environments for each in env.known if each.is_route]

    @property
    def changes_policy(self) -> bool:
        """Whether anything changes in effect: what `--exit-code` asks."""
        return any(env.known or env.policies for env in self.environments)
