"""The values that the engine hands on: targets, attachments, effective policies, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import Location, Node, PolicyKind, Resolution, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.paths import Path, Paths
from policylint.topology.state import Condition

Verdict = Literal[
    "Conflicted", "Enforced", "Invalid", "NoEffect", "Overridden", "PartiallyEnforced", "TargetNotFound", "Unknown"
]
TargetProblem = Literal[
    "",
    "not-found",  # the object is not deployed
    "kind-not-allowed",  # the policy kind cannot target this kind, or group/kind is misspelt
    "section-not-found",  # the object is there, the section is not
    "section-not-allowed",  # this policy kind takes no sectionName for this target kind
    "other-namespace",  # the policy kind allows no other namespace
    "not-granted",  # no ReferenceGrant in the target's namespace
    "no-match",  # a selector without a match
    "malformed",  # no name, or not a mapping
]


class Target(NamedTuple):
    """One declared reference of a policy, and what it resolves to.

    Args:
        pointer: of the entry below the policy object, e.g. ("spec", "targetRefs", 1).
        key: the object that is named; for a selector the name is "".
        section: sectionName, "" without one.
        resolution: whether the target (section included) is there.
        nodes: what it resolves to: one node, for a selector any number.
        problem: why it does not attach, "" when it does.
        detail: one clause that explains the problem to a person.
        selector: the label selector, None for a reference by name.
        denied: of a selector that finds others too, the objects that no ReferenceGrant lets it have.
        lenient: what was read leniently, e.g. "group carries a version" or "kind is written in lower case"; ""
            normally.
        filter: for a rule that names the policy in an ExtensionRef filter, the place of that filter; None for a
            reference of the policy itself.
    """

    pointer: Pointer
    key: ResourceKey
    section: str = ""
    resolution: Resolution = Resolution("found")
    nodes: tuple[Node, ...] = ()
    problem: TargetProblem = ""
    detail: str = ""
    selector: Mapping[str, Any] | None = None
    lenient: str = ""
    denied: tuple[ResourceKey, ...] = ()
    filter: int | None = None

    def __str__(self) -> str:
        """As `simulate` prints it: `HTTPRoute shop/checkout`, with a section `Listener infra/edge#https`."""
        if len(self.nodes) == 1:
            return str(self.nodes[0])
        if self.selector is not None:
            return f"{self.key.kind} {self.key.namespace}/*" if self.key.namespace else f"{self.key.kind} *"
        return f"{self.key}#{self.section}" if self.section else str(self.key)


class Declared(NamedTuple):
    """A spec proper as one policy declares it.

    Args:
        proper: the settings, without target references, strategy and wrapper.
        prefix: where they are written, e.g. ("spec", "defaults").
        mode: whether a more specific policy (defaults) or this one (overrides) prevails.
        granularity: atomic, patch, strategic, units, field or none.
    """

    proper: Mapping[str, Any]
    prefix: Pointer
    mode: Literal["defaults", "overrides"]
    granularity: str


class Attachment(NamedTuple):
    """A policy resolved to a node: the unit that is ordered and merged."""

    policy: Resource
    node: Node
    target: Target
    declared: tuple[Declared, ...]

    @property
    def key(self) -> ResourceKey:
        return self.policy.key


class Lost(NamedTuple):
    """A leaf that a policy set and that has no effect in a context.

    Args:
        pointer: below the spec proper.
        policy: who set it.
        by: who prevailed: the owner of the value that stands there now, or, where nothing stands there (a whole policy
            was replaced), the owners of what replaced it. May name an object (2023 edition). Empty where nobody did:
            what it calls is not there.
        location: where the lost value is written.
        replaced: whether another value stands in its place now; False means that the setting is simply gone.
    """

    pointer: Pointer
    policy: ResourceKey
    by: tuple[ResourceKey, ...]
    location: Location
    replaced: bool = False


class Losses(tuple[Lost, ...]):
    """Lost leaves, found by policy without looking at all of them."""

    @cached_property
    def by_policy(self) -> dict[ResourceKey, list[Lost]]:
        """Return the leaves that each policy lost, in their order."""
        by_policy: dict[ResourceKey, list[Lost]] = {}
        for lost in self:
            by_policy.setdefault(lost.policy, []).append(lost)
        return by_policy


class FailingSetting(NamedTuple):
    """What requests meet at a setting that cannot do its work: the service that it calls is certainly not there.

    Args:
        status: with which they are answered.
        why: one clause.
        by: the policy that sets it.
        certain: whether all of them are; otherwise it depends on the request.
    """

    status: int
    why: str
    by: ResourceKey
    certain: bool = True


class Effective(NamedTuple):
    """The effective policy of one stack of policies of one kind (GEP-713 «Effective policies»).

    Args:
        spec: the spec proper that applies.
        owners: for every leaf of spec (pointer below it) the policy, or in the 2023 edition the object, it came from.
        lost: every leaf that was set and lost.
        stack: the attachments from least to most specific, those of one node by creation order.
        refused: the policy that prevails although the controller refuses it: every request is answered with an error.
        failing: the settings that answer requests with an error, by their pointers below the spec proper.
        beside: owners that only act from less specific places of the proxy, next to others' settings of the same name.
    """

    spec: Mapping[str, Any]
    owners: Mapping[Pointer, ResourceKey]
    lost: Losses
    stack: tuple[Attachment, ...]
    refused: ResourceKey | None = None
    failing: Mapping[Pointer, FailingSetting] = {}
    beside: frozenset[ResourceKey] = frozenset()

    @property
    def sources(self) -> tuple[ResourceKey, ...]:
        """Return the owners of at least one surviving leaf, sorted: `from` in outputs."""
        return tuple(sorted(set(self.owners.values())))

    def lost_by(self, policy: ResourceKey) -> list[Lost]:
        """Return what one policy of the stack has lost."""
        return self.lost.by_policy.get(policy, [])

    def survives(self, policy: ResourceKey) -> bool:
        """Return whether anything of a policy of the stack takes effect; what sets nothing loses nothing."""
        return policy in self.owners.values() or not self.lost_by(policy)

    def origins(self) -> dict[str, list[ResourceKey]]:
        """Return the owners per top-level field, sorted."""
        fields: dict[str, set[ResourceKey]] = {}
        for pointer, owner in self.owners.items():
            if pointer:
                fields.setdefault(str(pointer[0]), set()).add(owner)
        return {name: sorted(owners) for name, owners in sorted(fields.items())}

    def leaves(self, place: Pointer) -> list[Pointer]:
        """Return the leaves below a place, else the one that it is a part of, in their order: who owns them set it."""
        return [at for at in self.owners if at[: len(place)] == place or place[: len(at)] == at]

    def location_of(self, pointer: Pointer) -> Location | None:
        """Return where the surviving leaf at a pointer is written, None where nothing stands."""
        owner = self.owners.get(pointer)
        for attachment in self.stack:
            if attachment.key == owner:
                for declared in attachment.declared:
                    if holds(declared.proper, pointer):
                        return attachment.policy.location(*declared.prefix, *pointer)
        return None


class Group(NamedTuple):
    """All contexts of one kind that share one stack of policies: they have one result.

    Args:
        kind: of the policies.
        effective: the result.
        contexts: yields the paths, from the least to the most specific node, on demand (there can be very many),
            sorted.
        nodes: for every node at or below a target that lies on one of the paths, the policies attached at it or above
            it.
        partly: the contexts of which only some requests meet it.
    """

    kind: PolicyKind
    effective: Effective
    contexts: Paths
    nodes: Mapping[Node, frozenset[ResourceKey]]
    partly: frozenset[Path] = frozenset()

    def routes(self) -> list[ResourceKey]:
        """Return the routes that the paths of this group go through, sorted."""
        return sorted({node.key for node in self.nodes if node.key.kind.endswith("Route") and not node.section})


class Refusal(NamedTuple):
    """An attachment that does not take part: who claimed the node first.

    `stated` says whether the order is stated in the input; where it is not, the outcome could be the reverse.
    """

    attachment: Attachment
    by: ResourceKey
    stated: bool
    reason: str = "Conflicted"


class OrderDependence(NamedTuple):
    """Policies on one node whose result hangs on a creation order that no manifest states.

    Source: docs/design/semantics.md §6, trap 3.
    """

    kind: PolicyKind
    node: Node
    policies: tuple[ResourceKey, ...]
    winner: ResourceKey
    otherwise: ResourceKey


class Idle(NamedTuple):
    """Why a policy that is accepted does nothing, where its implementation knows.

    Args:
        target: the reference that leads nowhere.
        why, fix: one clause each.
        unknown: something that was not seen could make it act after all.
        on: what it does nothing on, where that is not all that the reference leads to.
    """

    target: Target
    why: str
    fix: str = ""
    unknown: bool = False
    on: str = ""


class Ancestor(NamedTuple):
    """One entry of a policy's status.ancestors; `port` where a parentRef on whose behalf it is names one."""

    ancestor: Node
    controller: str
    conditions: tuple[Condition, ...]
    port: int | None = None


class FaultyPart(NamedTuple):
    """What is wrong with a part of a policy that its controller accepts.

    Args:
        pointer: where, below the policy.
        message: one clause.
        passing: whether it is a matter of running alone, such as keys that are not fetched yet.
        fix: what to write instead, "" where the message says it.
        outcome: what becomes of it, for a sentence about a setting that is not used.
        ground: what else may be, "" where it is certain.
    """

    pointer: Pointer
    message: str
    passing: bool = False
    fix: str = ""
    outcome: str = "has no effect"
    ground: str = ""


class PolicyState:
    """Everything that is known of one policy after the simulation.

    Attributes:
        policy, kind: the object and its catalog entry.
        targets: its declared references, resolved.
        declared: its spec(s) proper; empty when the policy is invalid.
        invalid: why the API server or the controller refuses it, "" when it does not.
        invalid_code: which check refused it: "both-forms", "too-many", "duplicate-target", "no-target",
            "both-wrappers", "unknown-strategy", "bare-and-wrapped", "cluster-scope", "required", "schema", or an
            implementation's own.
        invalid_pointer: where the fault is written, below the policy.
        faults: what its controller finds wrong with parts of it, and accepts it all the same.
        refused: attachments lost to another policy's claim.
        verdict, by: see docs/design/architecture.md §3.
        groups: the groups of contexts that this policy takes part in.
        idle: why it does nothing though it is accepted, None where nothing can be said.
        stanza: the status of a controller that writes neither ancestors nor conditions; empty otherwise.
    """

    __slots__ = (
        "ancestors",
        "by",
        "conditions",
        "declared",
        "faults",
        "groups",
        "idle",
        "invalid",
        "invalid_code",
        "invalid_pointer",
        "kind",
        "policy",
        "refused",
        "stanza",
        "targets",
        "verdict",
    )

    def __init__(self, policy: Resource, kind: PolicyKind) -> None:
        self.policy = policy
        self.kind = kind
        self.targets: tuple[Target, ...] = ()
        self.declared: tuple[Declared, ...] = ()
        self.invalid = ""
        self.invalid_code = ""
        self.invalid_pointer: Pointer = ()
        self.faults: tuple[FaultyPart, ...] = ()
        self.refused: list[Refusal] = []
        self.groups: list[Group] = []
        self.idle: Idle | None = None
        self.verdict: Verdict = "Unknown"
        self.by: tuple[ResourceKey, ...] = ()
        self.ancestors: tuple[Ancestor, ...] = ()
        self.conditions: tuple[Condition, ...] = ()
        self.stanza: Mapping[str, Any] = {}

    @property
    def told_faults(self) -> tuple[FaultyPart, ...]:
        """What its controller says is wrong with parts of it, where it says anything of the policy."""
        is_told = self.verdict != "Invalid" and bool(self.ancestors or self.conditions)
        return tuple(fault for fault in self.faults if not fault.passing) if is_told else ()

    def resolved(self) -> PolicyState:
        """Return the state of the same policy of which nothing is known but its targets, settings and validity."""
        state = PolicyState(self.policy, self.kind)
        state.targets, state.declared = self.targets, self.declared
        state.invalid, state.invalid_code, state.invalid_pointer = self.invalid, self.invalid_code, self.invalid_pointer
        return state

    @property
    def key(self) -> ResourceKey:
        return self.policy.key

    @property
    def is_of_shape(self) -> bool:
        """Whether nothing is known of its kind but that its objects name targets: it is not evaluated."""
        return self.kind.origin == "shape"

    @property
    def is_inert(self) -> bool:
        """Whether it is attached and sets nothing, of a kind that only its CRD tells of, and that has settings."""
        if self.kind.origin != "crd" or self.invalid_code or not (self.kind.merge.wrappers or self.kind.settings):
            return False
        is_attached = any(target.nodes for target in self.targets)
        return is_attached and not any(declared.proper for declared in self.declared)


def holds(value: object, pointer: Pointer) -> bool:
    """Return whether there is something at a pointer."""
    for step in pointer:
        if isinstance(value, list):
            if not isinstance(step, int) or step >= len(value):
                return False
            value = value[step]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return True
