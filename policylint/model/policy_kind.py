"""A kind of policy as the engine knows it: an entry of schemas/policy-kinds/, or what a CRD in the input declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from policylint.model.kinds import group_of
from policylint.model.resource import mapping, sequence, text, texts
from policylint.model.weakness import Weakness, weakness
from policylint.namedtuple import NamedTuple

Strategy = Literal[
    "none",
    "atomic-defaults",
    "patch-defaults",
    "atomic-overrides",
    "patch-overrides",
    "field",
    "units",
    "union",
    "each",
    "custom",
]
PolicyClass = Literal["Direct", "Inherited", "Other"]
ReferenceForm = Literal["ref", "refs", "selectors", "workload-selector", "namespace-selector", "label-selector"]
Origin = Literal["catalog", "crd", "configuration", "shape", "door"]
BoundBy = Literal["reference", "extension-ref", "parameters-ref", "annotation", "object", "none"]

UNLIMITED = 2**31
"""`max_targets` of kinds whose list of references has no bound."""


class Reference(NamedTuple):
    """A field below spec that names targets.

    Args:
        sections: its field that lists sections, each of which is a target; "" where `sectionName` names one.
        inside: the field of an entry that holds the reference; "" where the entry is one.
        kind: what a reference without a kind means.
        optional: whether a policy without it is no mistake: something else may name the policy.
        group: whether the API server refuses one that leaves its group out.
    """

    path: str
    form: ReferenceForm
    deprecated: str = ""
    sections: str = ""
    inside: str = ""
    kind: str = ""
    optional: bool = False
    group: bool = False


class ContentField(NamedTuple):
    """A field of an object's content that names another object.

    Args:
        path: below spec, or below the object where it has none; `*` for every entry, `**` for any way down.
        kinds: (group, kind) of what may be named; the first is what a reference without a kind means.
        missing: what the controller does where the object is not there, "" where that is not known.
        home: whether it is looked for in the namespace that the reference states, by default the object's own.
    """

    path: str
    kinds: tuple[tuple[str, str], ...]
    missing: Literal["", "refused", "ignored", "fails", "closed"] = ""
    home: bool = True

    @property
    def name(self) -> str:
        """The name of the field itself."""
        return next(step for step in reversed(self.path.split(".")) if step != "*")


class TargetKind(NamedTuple):
    """A kind that a policy may target; `*` stands for any group or kind.

    Args:
        virtual: a kind that exists in no API server.
        groupless: why it is not known whether the controller takes an empty group for it; "" where it does not.
        but: groups that `*` does not stand for.
    """

    group: str
    kind: str
    sections: bool = False
    virtual: bool = False
    groupless: str = ""
    but: tuple[str, ...] = ()

    def covers(self, group: str, kind: str) -> bool:
        """Return whether a reference to this group and kind fits."""
        if group in self.but:
            return False
        return self.group in ("*", group_of(group)) and self.kind in ("*", kind)


class Directive(NamedTuple):
    """The field by which a policy chooses the merge strategy, and what its values mean.

    Args:
        since: the release that brought it, where many installations are older.
    """

    field: str
    values: Mapping[str, str]
    on: Literal["established", "challenger"] = "established"
    since: str = ""


class Merge(NamedTuple):
    """How two policies of a kind combine (GEP-713 «Merge strategies»; docs/design/semantics.md §3 step 6).

    Args:
        wrapped: whether settings stand in a wrapper alone; the API server drops what stands beside it.
    """

    strategy: Strategy
    wrappers: Mapping[str, Literal["defaults", "overrides"]]
    directive: Directive | None = None
    both: bool = False
    wrapped: bool = False
    units: tuple[str, ...] = ()
    empty_without: tuple[str, ...] = ()
    empty_opts_out: bool = False
    maps: tuple[str, ...] = ()
    lists: Mapping[str, str] = {}
    ignore: tuple[str, ...] = ()


class HealthProbe(NamedTuple):
    """The request by which a load balancer finds out which pods are healthy.

    Args:
        path: of the URL path below the spec proper.
        unset: that URL path where no policy sets it.
        grpc: where a gRPC service is asked instead, below the spec proper.
    """

    path: str
    unset: str
    grpc: str = ""


class NodePorts(NamedTuple):
    """Whether a load balancer sends to the ports of nodes.

    Args:
        path: of what says so, below the spec proper.
        unset: what holds where no policy does.
        value: the word for the ports of nodes.
    """

    path: str
    unset: str
    value: str


class Answer(NamedTuple):
    """How an object that filters name answers requests by itself.

    Args:
        path: of the status code below its spec; it answers where the object that holds the field is there.
        unset: the status without the field.
        alone: whether a rule that has backends, a redirect or another such filter too answers 500.
    """

    path: str
    unset: int | None = None
    alone: bool = False


class Consumption(NamedTuple):
    """A header of requests that a setting takes for itself, so that the backend does not get it.

    Args:
        path: of the setting below the spec, `*` for every entry.
        header: the header, where the setting does not name another one.
        named: path below the setting of the headers that it names instead.
        where: the field of the setting that has to be true for that; "" where it always does.
        keeps: the field of the setting that leaves the header there if it is true.
        unless: path below the spec of what hands it on all the same.
    """

    path: str
    header: str = "Authorization"
    named: str = ""
    where: str = ""
    keeps: str = ""
    unless: str = ""


class Misleading(NamedTuple):
    """A setting that does not do what it appears to do.

    Args:
        path: below the spec; `*` is every entry of a list or map.
        holds: an expression in CEL on the value there, `self`, that is false where it misleads.
        says: what it does instead.
        repair: what to write.
        together: fields of which each must stand there; it is not asked of other values.
        severity: `warning` where what stands there cannot be meant.
    """

    path: str
    holds: str
    says: str
    repair: str = ""
    together: tuple[str, ...] = ()
    severity: Literal["note", "warning"] = "note"


class Refusing(NamedTuple):
    """A shape that the controller refuses.

    Args:
        paths: below the spec, of what is looked at; `*` is every entry of a list or map, "" the spec itself.
        says: why; `{}` stands for the value.
        code: which of its refusals it is.
        matches: a regular expression that a value has to match as a whole.
        holds: an expression in CEL on the value, `self`, that must not be false.
        among: the values of which it has to be one.
        where: fields of an object, each with values of which it has one; null for a field that is not there.
        has: fields that are not empty, of a list one of them.
        states: fields that are there, be they empty.
        lacks: fields that are not there, or empty.
        at: the field that is wrong, where it is not the object.
    """

    paths: Sequence[str]
    says: str
    code: str = "value"
    matches: str = ""
    holds: str = ""
    among: Sequence[str] = ()
    where: Mapping[str, Sequence[Any]] = {}
    has: Sequence[str | Sequence[str]] = ()
    states: Sequence[str] = ()
    lacks: Sequence[str] = ()
    at: str = ""


class Exposing(NamedTuple):
    """What a policy finds out that policies behind it may read: attributes below a root.

    Args:
        root: the name under which expressions find them.
        path: of the attributes by name, below the spec proper.
        inside: where one of them has fields by name; what has none there may have any.
        also: groups whose objects may add others.
    """

    root: str
    path: str
    inside: str
    also: tuple[str, ...] = ()


class Attributes(NamedTuple):
    """The expressions of a policy that read attributes of others.

    Args:
        root: the name under which they find them.
        paths: of the expressions, below the spec proper.
        otherwise: what happens where an expression fails, for a sentence.
    """

    root: str
    paths: tuple[str, ...]
    otherwise: str


class Sessions(NamedTuple):
    """A login that keeps its sessions in cookies, whose names are those of the policy unless it names them.

    Args:
        path: of the login below the spec.
        names: its field with the names of the cookies.
        same: its fields in which logins agree that are meant as one.
        domain: its field with the domain of the cookies.
        callback: its field with the URL to which the provider sends browsers back.
        otherwise: that URL where the field is not there; `%REQ(…)%` is a part of the request.
    """

    path: str
    names: str
    same: tuple[str, ...]
    domain: str
    callback: str = ""
    otherwise: str = ""


class Clients(NamedTuple):
    """Objects that stand for clients, and may name objects of a kind for themselves.

    What one of them and a route name runs for the two together alone, what one has of a sort before that of a route.

    Args:
        kinds: of the same group.
        name: the field by which others call one of them.
        anonymous: the field of the kind that calls the one that stands for whoever does not log in.
        refuses: what `says` of the object that turns away all requests of a client that names it.
        mistaken: a field of theirs beside their name in the cluster by which nobody calls one, whatever it is called.
    """

    kinds: tuple[str, ...] = ()
    name: str = ""
    anonymous: str = ""
    refuses: str = ""
    mistaken: str = ""


class SettingPurposes(NamedTuple):
    """The top-level fields of the spec proper that serve a security purpose, by what is lost with them.

    `optional` are those that let requests pass which come without anything to check, `outside` those that are the word
    of a service; `inside` names, by purpose, the part of a field that serves it, where one field serves several. `code`
    are those that may ask for anything, as they run what nobody reads here, `raw` those that may where a word of their
    text can; `plain` are values of a field that certainly ask for nothing.
    """

    authentication: tuple[str, ...] = ()
    authorization: tuple[str, ...] = ()
    protection: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    inside: Mapping[str, str] = {}
    code: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()

    @property
    def security(self) -> frozenset[str]:
        """The fields that serve any of the purposes."""
        return frozenset((*self.authentication, *self.authorization, *self.protection))

    @property
    def asks_nobody(self) -> bool:
        """Whether whoever comes without anything passes: another policy has to ask for what this one checks."""
        return bool(self.optional) and set(self.authentication) <= set(self.optional)

    @property
    def asking(self) -> frozenset[str]:
        """The top-level fields by which requests are asked for something, or turned away."""
        return frozenset(path.partition(".")[0] for path in (*self.authentication, *self.authorization))


class PolicyKind(NamedTuple):
    """One kind of policy; the fields are those of schemas/policy-kind.json."""

    group: str
    kind: str
    implementation: str
    policy_class: PolicyClass
    merge: Merge
    targets: tuple[TargetKind, ...]
    references: tuple[Reference, ...]
    plural: str = ""
    versions: tuple[str, ...] = ()
    deprecated_versions: Mapping[str, str] = {}
    cluster_scoped: bool = False
    label: str = ""
    default_target: Literal["none", "namespace", "mesh"] = "none"
    cross_namespace: Literal["no", "grant", "yes", "ignored", "clients"] = "no"
    selects_across_namespaces: bool = False
    max_targets: int = 16
    conflict: str = "none"
    conflict_fields: tuple[str, ...] = ()
    shadowed_by_section: bool = False
    effective_at: str = ""
    synthetic_rule_names: bool = False
    any_case: bool = False
    required: tuple[str, ...] = ()
    settings: SettingPurposes = SettingPurposes()
    weaker: tuple[Weakness, ...] = ()
    idle: tuple[str, ...] = ()
    status: Literal["ancestors", "conditions", "none"] = "ancestors"
    ancestor: str = "none"
    conditions: Mapping[str, tuple[str, ...]] = {}
    target_condition: str = ""
    bound_by: BoundBy = "reference"
    annotation: str = ""
    says: str = ""
    off: str = ""
    members: str = ""
    everywhere: Mapping[str, str] = {}
    clients: Clients | None = None
    read_with: str = ""
    unresolved: Literal["fails", "skipped", "unrouted"] = "fails"
    extension_ref: bool = False
    answers: Answer | None = None
    probes: HealthProbe | None = None
    node_ports: NodePorts | None = None
    narrows: str = ""
    preflight: str = ""
    misleads: tuple[Misleading, ...] = ()
    refuses: tuple[Refusing, ...] = ()
    exposes: Exposing | None = None
    expects: Attributes | None = None
    consumes: tuple[Consumption, ...] = ()
    sessions: Sessions | None = None
    waits: Mapping[str, str] = {}
    headers: Mapping[str, Any] = {}
    secures: Mapping[str, Any] = {}
    refers: tuple[ContentField, ...] = ()
    verified: Literal["yes", "partly", "no"] = "no"
    origin: Origin = "catalog"
    source: str = ""
    notes: str = ""

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def may_target(self, group: str, kind: str) -> TargetKind | None:
        """Return the entry that allows a target kind, the most specific one; None where the kind cannot be targeted."""
        covering = [target for target in self.targets if target.covers(group, kind)]
        return min(covering, key=lambda target: (target.kind == "*", target.group == "*"), default=None)

    @property
    def target_fields(self) -> frozenset[str]:
        """First path segments below spec that hold references; they are no part of the spec proper.

        Source: docs/design/semantics.md §6, trap 14.
        """
        return frozenset(reference.path.split(".")[0] for reference in self.references)


DEFAULT_REFERENCES = (Reference("targetRefs", "refs"), Reference("targetRef", "ref"))
DEFAULT_WRAPPERS: Mapping[str, Literal["defaults", "overrides"]] = {
    "defaults": "defaults",
    "default": "defaults",
    "overrides": "overrides",
    "override": "overrides",
}


def policy_kind(entry: Mapping[str, Any], implementation: str, origin: Origin = "catalog") -> PolicyKind:
    """Return the kind that an entry of the catalog's YAML describes, already valid by schemas/policy-kind.json."""
    merge = mapping(entry.get("merge"))
    settings = mapping(entry.get("settings"))
    answers = mapping(entry.get("answers"))
    probes = mapping(entry.get("probes"))
    node_ports = mapping(entry.get("nodePorts"))
    clients = mapping(entry.get("clients"))
    sessions = mapping(entry.get("sessions"))
    exposes, expects = mapping(entry.get("exposes")), mapping(entry.get("expects"))
    max_targets = entry.get("maxTargets", 16)
    references = tuple(
        Reference(
            reference["path"],
            reference.get("form", "refs"),
            reference.get("deprecated", ""),
            text(reference.get("sections")),
            text(reference.get("inside")),
            text(reference.get("kind")),
            reference.get("optional", False),
            reference.get("group", False),
        )
        for reference in sequence(entry.get("references"))
    )
    return PolicyKind(
        group=entry["group"],
        kind=entry["kind"],
        implementation=implementation,
        policy_class=entry["class"],
        merge=Merge(
            strategy=merge.get("strategy", "none"),
            wrappers=merge.get("wrappers", DEFAULT_WRAPPERS),
            directive=_directive(mapping(merge.get("directive"))),
            both=bool(merge.get("both", False)),
            wrapped=bool(merge.get("wrapped", False)),
            units=_texts(merge.get("units")),
            empty_without=_texts(merge.get("emptyWithout")),
            empty_opts_out=bool(merge.get("emptyOptsOut", False)),
            maps=_texts(merge.get("maps")),
            lists=mapping(merge.get("lists")),
            ignore=_texts(merge.get("ignore")),
        ),
        targets=tuple(
            TargetKind(
                target.get("group", ""),
                target["kind"],
                target.get("sections", False),
                target.get("virtual", False),
                text(target.get("groupless")),
                _texts(target.get("except")),
            )
            for target in sequence(entry.get("targets"))
        ),
        references=references or DEFAULT_REFERENCES,
        plural=text(entry.get("plural")),
        versions=_texts(entry.get("versions")),
        deprecated_versions=mapping(entry.get("deprecatedVersions")),
        cluster_scoped=entry.get("scope") == "Cluster",
        label=text(entry.get("label")),
        default_target=entry.get("default-target", "none"),
        cross_namespace=entry.get("crossNamespace", "no"),
        selects_across_namespaces=bool(entry.get("selectsAcrossNamespaces", False)),
        max_targets=UNLIMITED if max_targets is None else max_targets,
        conflict=entry.get("conflict", "none"),
        conflict_fields=_texts(entry.get("conflictFields")),
        shadowed_by_section=bool(entry.get("shadowedBySection", False)),
        effective_at=entry.get("effectiveAt", ""),
        synthetic_rule_names=bool(entry.get("syntheticRuleNames", False)),
        any_case=bool(entry.get("anyCase", False)),
        required=_texts(entry.get("required")),
        settings=SettingPurposes(
            _texts(settings.get("authentication")),
            _texts(settings.get("authorization")),
            _texts(settings.get("protection")),
            _texts(settings.get("optional")),
            _texts(settings.get("outside")),
            mapping(settings.get("inside")),
            _texts(settings.get("code")),
            _texts(settings.get("raw")),
            _texts(settings.get("plain")),
        ),
        weaker=tuple(weakness(weak) for weak in sequence(entry.get("weaker"))),
        idle=_texts(entry.get("idle")),
        status=entry.get("status", "ancestors"),
        ancestor=entry.get("ancestor", "none"),
        conditions={name: _texts(reasons) for name, reasons in mapping(entry.get("conditions")).items()},
        target_condition=text(entry.get("targetCondition")),
        bound_by=entry.get("boundBy", "reference"),
        annotation=text(entry.get("annotation")),
        says=text(entry.get("says")),
        off=text(entry.get("switchedOff")),
        members=text(entry.get("members")),
        everywhere=mapping(entry.get("everywhere")),
        clients=Clients(_texts(clients.get("kinds")), *(text(clients.get(field)) for field in Clients._fields[1:]))
        if clients
        else None,
        read_with=text(entry.get("readWith")),
        unresolved=entry.get("unresolved", "fails"),
        extension_ref=bool(entry.get("extensionRef", False)),
        answers=Answer(answers["path"], answers.get("unset"), answers.get("alone", False)) if answers else None,
        probes=HealthProbe(**probes) if probes else None,
        node_ports=NodePorts(**node_ports) if node_ports else None,
        narrows=text(entry.get("narrows")),
        preflight=text(entry.get("preflight")),
        misleads=misleadings(entry.get("misleads")),
        refuses=tuple(Refusing(**mapping(each)) for each in sequence(entry.get("refuses"))),
        exposes=Exposing(**{**exposes, "also": _texts(exposes.get("also"))}) if exposes else None,
        expects=Attributes(**{**expects, "paths": _texts(expects["paths"])}) if expects else None,
        consumes=tuple(Consumption(**mapping(each)) for each in sequence(entry.get("consumes"))),
        sessions=Sessions(**{**sessions, "same": _texts(sessions["same"])}) if sessions else None,
        waits=mapping(entry.get("waits")),
        headers=mapping(entry.get("headers")),
        secures=mapping(entry.get("secures")),
        refers=content_fields(entry.get("refers")),
        verified=entry.get("verified", "no"),
        origin=origin,
        source=text(entry.get("source")),
        notes=text(entry.get("notes")),
    )


def misleadings(entries: object) -> tuple[Misleading, ...]:
    """Return the settings that the `misleads` of an entry declares."""
    each = map(mapping, sequence(entries))
    return tuple(Misleading(**{**one, "together": _texts(one.get("together"))}) for one in each)


def content_fields(entries: object) -> tuple[ContentField, ...]:
    """Return the fields that the `refers` of an entry declares."""
    return tuple(
        ContentField(
            entry["path"],
            tuple(_group_kind(kind) for kind in sequence(entry.get("kinds"))),
            entry.get("missing", ""),
            entry.get("home", True),
        )
        for entry in map(mapping, sequence(entries))
    )


def _group_kind(written: str) -> tuple[str, str]:
    kind, _, group = written.partition(".")
    return group, kind


def _directive(said: Mapping[str, Any]) -> Directive | None:
    if not said:
        return None
    return Directive(said["field"], said["values"], said.get("decidedBy", "established"), said.get("since", ""))


def _texts(value: object) -> tuple[str, ...]:
    """Return the strings of a list."""
    return tuple(texts(value))
