"""What PolicyGenerators make, the generators of Open Cluster Management: policies, sets, placements and bindings.

Source: policy-generator-plugin, docs/policygenerator-reference.yaml and internal/plugin.go. A configuration that it
refuses makes nothing here either: it is noted, and whatever it was meant to make is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import size_of
from policylint.model import is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.kustomize.policy_manifests import (
    GeneratorFiles,
    GeneratorRefusedError,
    PolicyOptions,
    dependencies,
    policy_templates,
)
from policylint.render.provenance import Manifest, Provenance, entries

GROUP = "policy.open-cluster-management.io"
_CLUSTERS, _APPS = "cluster.open-cluster-management.io", "apps.open-cluster-management.io"
_STEPS = 20
"""What it costs to make an object of nothing."""
_MOST_LETTERS = 63
_NAME = Pattern(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_OF_PLACEMENTS = ("placementPath", "placementName", "labelSelector")
_OF_RULES = ("placementRulePath", "placementRuleName", "clusterSelectors", "clusterSelector")
_ANNOTATIONS = {
    "categories": ["CM Configuration Management"],
    "controls": ["CM-2 Baseline Configuration"],
    "standards": ["NIST SP 800-53"],
}
_COPIED = ("hubTemplateOptions",)
"""Options that go into the spec of a Policy as they are."""
_KNOWN = frozenset(
    {
        *_ANNOTATIONS, *_COPIED, "complianceType", "configurationPolicyAnnotations", "consolidateManifests",
        "copyPolicyMetadata", "customMessage", "dependencies", "description", "disabled", "evaluationInterval",
        "extraDependencies", "gatekeeperEnforcementAction", "generatePlacementWhenInSet", "generatePolicyPlacement",
        "ignorePending", "informGatekeeperPolicies", "informKyvernoPolicies", "manifests", "metadataComplianceType",
        "name", "namespace", "namespaceSelector", "objectSelector", "orderManifests", "orderPolicies", "placement",
        "policyAnnotations", "policyLabels", "policySets", "pruneObjectBehavior", "recordDiff", "recreateOption",
        "remediationAction", "severity",
    }
)  # fmt: skip


def is_policy_generator(body: Mapping[str, Any]) -> bool:
    """Return whether a document configures the plugin."""
    return body.get("kind") == "PolicyGenerator" and text(body.get("apiVersion")).startswith(f"{GROUP}/")


def namespace_of(body: Mapping[str, Any]) -> str:
    """Return the namespace of all that a PolicyGenerator makes."""
    return text(mapping(body.get("policyDefaults")).get("namespace"))


def generated_policies(body: Mapping[str, Any], origin: Provenance, files: GeneratorFiles) -> list[Manifest]:
    """Return what a PolicyGenerator makes, each value with the place that it comes from.

    Raises:
        GeneratorRefusedError: the plugin refuses its configuration, or what it reads.
        ExhaustedError: it is more than the budget of the tree allows.
    """
    return list(_Generator(body, origin, files).manifests())


class _PlacementConfig(NamedTuple):
    """The `placement` of a policy or set with its defaults: at most one of path, existing name and selector.

    Args:
        rule: whether it is about a PlacementRule, None where it says neither.
        place: where it is written.
    """

    rule: bool | None
    path: str
    existing: str
    selector: Mapping[str, Any]
    name: str
    default_name: str
    place: Provenance


class _Member(NamedTuple):
    """A policy or set that is placed: its kind, its name and where that is written, and its placement."""

    kind: str
    name: str
    place: Provenance
    placement: _PlacementConfig


class _PolicySet(NamedTuple):
    """A set: its own configuration, where it is written, and its policies with the place of each."""

    body: Mapping[str, Any]
    place: Provenance
    policies: dict[str, Provenance]


class _Generator:
    """One PolicyGenerator while it makes its objects."""

    def __init__(self, body: Mapping[str, Any], origin: Provenance, files: GeneratorFiles) -> None:
        self._body = body
        self._origin = origin
        self._files = files
        self._defaults = mapping(body.get("policyDefaults"))
        self._default_place = origin.child("policyDefaults")
        self._namespace = namespace_of(body)
        self._by_selector: dict[str, str] = {}
        self._made: set[str] = set()
        """Names of the placements so far."""
        self._from_paths: set[str] = set()
        self._rules = False

    def manifests(self) -> Iterator[Manifest]:
        if not self._namespace:
            raise GeneratorRefusedError("policyDefaults has no namespace", self._default_place)
        names: set[str] = set()
        policies: list[PolicyOptions] = []
        for entry, place in entries(self._body, self._origin, "policies"):
            policy = PolicyOptions((mapping(entry), place), (self._defaults, self._default_place))
            self._check_name(policy.own, place, "policy", names)
            if len(f"{self._namespace}.{policy.own['name']}") > _MOST_LETTERS and not is_symbolic(policy.own["name"]):
                raise GeneratorRefusedError(
                    f"{self._namespace}.{policy.own['name']} has more than {_MOST_LETTERS} letters", place
                )
            policies.append(policy)
        if not policies:
            raise GeneratorRefusedError("a PolicyGenerator has policies", self._origin.child("policies"))
        sets = self._sets(policies)
        members = list(self._members(policies, sets))
        self._rules = any(member.placement.rule for member in members)
        if self._rules and any(member.placement.rule is False for member in members):
            raise GeneratorRefusedError("a PolicyGenerator uses Placements or PlacementRules, not both", self._origin)
        unread = [*self._unread(policies)]
        if self._defaults.get("orderPolicies") is True and any(policy.find("dependencies") for policy in policies):
            raise GeneratorRefusedError("orderPolicies and dependencies exclude each other", self._default_place)
        previous = ""
        for policy in policies:
            yield self._policy(policy, previous, unread)
            previous = policy.own["name"] if self._defaults.get("orderPolicies") is True else ""
        for name, policy_set in sets.items():
            yield self._policy_set(name, policy_set)
        bound: dict[str, list[_Member]] = {}
        for member in members:
            name, placement = self._placement(member)
            bound.setdefault(name, []).append(member)
            if placement is not None:
                yield placement
        yield from self._bindings(bound)

    def _check_name(self, body: Mapping[str, Any], place: Provenance, what: str, known: set[str]) -> None:
        name = text(body.get("name"))
        if not name:
            raise GeneratorRefusedError(f"each {what} has a name", place)
        _check_dns(name, what, place.child("name"))
        if name in known:
            raise GeneratorRefusedError(f"there are two of the {what} {name}", place.child("name"))
        known.add(name)

    def _unread(self, policies: list[PolicyOptions]) -> Iterator[str]:
        """Yield options that are not known here, and so may mean anything."""
        for layer in (self._defaults, *(policy.own for policy in policies)):
            yield from (str(name) for name in layer if name not in _KNOWN)

    def _sets(self, policies: list[PolicyOptions]) -> dict[str, _PolicySet]:
        """Return the sets by name: those of `policySets`, then those that policies name."""
        sets: dict[str, _PolicySet] = {}
        for entry, place in entries(self._body, self._origin, "policySets"):
            body = mapping(entry)
            self._check_name(body, place, "policy set", set(sets))
            members = {text(name): at for name, at in entries(body, place, "policies") if text(name)}
            sets[body["name"]] = _PolicySet(body, place, members)
        for policy in policies:
            listed, place = policy.find("policySets") or ([], policy.place)
            for number, name in enumerate(sequence(listed)):
                if text(name):
                    policy_set = sets.setdefault(text(name), _PolicySet({}, place.child(number), {}))
                    policy_set.policies.setdefault(policy.own["name"], place.child(number))
        return sets

    def _members(self, policies: list[PolicyOptions], sets: Mapping[str, _PolicySet]) -> Iterator[_Member]:
        """Yield what gets a placement: policies outside of sets and sets, unless told otherwise."""
        in_sets = {name for policy_set in sets.values() for name in policy_set.policies}
        for policy in policies:
            config = self._placement_config(policy.own, policy.place, "policyDefaults")
            alone = policy.flag("generatePolicyPlacement", default=True) and policy.own["name"] not in in_sets
            if alone or policy.flag("generatePlacementWhenInSet"):
                yield _Member("Policy", policy.own["name"], policy.place.child("name"), config)
        for name, policy_set in sets.items():
            config = self._placement_config(policy_set.body, policy_set.place, "policySetDefaults")
            defaults = mapping(self._body.get("policySetDefaults"))
            options = PolicyOptions((policy_set.body, policy_set.place), (defaults, self._origin))
            if options.flag("generatePolicySetPlacement", default=True):
                place = policy_set.place.child("name") if "name" in policy_set.body else policy_set.place
                yield _Member("PolicySet", name, place, config)

    def _placement_config(self, body: Mapping[str, Any], place: Provenance, defaults_in: str) -> _PlacementConfig:
        """Return the placement of a policy or set; what it does not say is taken from the defaults."""
        own, own_place = mapping(body.get("placement")), place.child("placement")
        defaults = mapping(mapping(self._body.get(defaults_in)).get("placement"))
        default_place = self._origin.at(defaults_in, "placement")
        taken: dict[str, tuple[Any, Provenance]] = {}
        for fields in (_OF_PLACEMENTS, _OF_RULES):
            said = {field: (own[field], own_place) for field in fields if own.get(field)}
            inherited = ((field, (defaults[field], default_place)) for field in fields if defaults.get(field))
            taken |= said or dict(list(inherited)[:1])
        if len(taken) > 1:
            raise GeneratorRefusedError(
                f"{' and '.join(taken)} exclude each other", own_place if own else default_place
            )
        for field, (value, written) in taken.items():
            kind, what = (dict, "mapping") if "Selector" in field else (str, "text")
            if not isinstance(value, kind):
                raise GeneratorRefusedError(f"{field} is no {what}", written.child(field))
        fallback = text(defaults.get("name")) or text(mapping(self._defaults.get("placement")).get("name"))
        field, (value, written) = next(iter(taken.items()), ("", (None, own_place if own else place)))
        for name in (value if field.endswith("Name") else "", own.get("name"), fallback):
            _check_dns(text(name), "placement", written)
        return _PlacementConfig(
            (field in _OF_RULES) if field else None,
            text(value) if field.endswith("Path") else "",
            text(value) if field.endswith("Name") else "",
            _selector(value, written) if "Selector" in field else {"matchExpressions": []},
            text(own.get("name")),
            fallback,
            written.child(field) if field else written,
        )

    def _policy(self, policy: PolicyOptions, previous: str, unread: list[str]) -> Manifest:
        """Return one Policy.

        Args:
            previous: the policy that it waits for, because of `orderPolicies`.
            unread: options that are not known here.
        """
        name, place = policy.own["name"], policy.place
        templates = policy_templates(policy, self._namespace, self._files)
        annotations = {
            **mapping((policy.find("policyAnnotations") or ({},))[0]),
            **{f"{GROUP}/{field}": _joined(policy, field) for field in _ANNOTATIONS},
            f"{GROUP}/description": policy.text("description"),
        }
        metadata: dict[str, Any] = {"annotations": annotations, "name": name, "namespace": self._namespace}
        labels = mapping((policy.find("policyLabels") or ({},))[0])
        if labels:
            metadata["labels"] = labels
        spec: dict[str, Any] = {"disabled": policy.flag("disabled"), "policy-templates": templates.values}
        origins = {"policy-templates": place.child("manifests").with_items(templates.origins)}
        for field in ("disabled", "remediationAction", *_COPIED):
            origins[field] = (policy.find(field) or (None, place))[1]
        spec |= {field: known[0] for field in _COPIED if (known := policy.find(field))}
        waits = dependencies(policy.find("dependencies"), self._namespace)
        if previous:
            waits = dependencies(([{"name": previous}], place), self._namespace)
        if waits:
            spec["dependencies"] = waits
            origins["dependencies"] = (policy.find("dependencies") or (None, place))[1]
        if not policy.flag("copyPolicyMetadata", default=True):
            spec["copyPolicyMetadata"] = False
        if templates.action:
            spec["remediationAction"] = templates.action
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Policy", "metadata": metadata, "spec": spec}
        named = {"name": place.child("name"), "namespace": self._default_place.child("namespace")}
        origin = place.with_children({"metadata": place.with_children(named), "spec": place.with_children(origins)})
        reason = templates.incomplete
        if not reason and unread:
            reason = f"`{unread[0]}` of a PolicyGenerator is not read"
        return self._manifest(body, origin, reason)

    def _policy_set(self, name: str, policy_set: _PolicySet) -> Manifest:
        members = sorted(policy_set.policies)
        spec = {"description": text(policy_set.body.get("description")), "policies": members}
        place = policy_set.place
        named = {"name": place.child("name") if "name" in policy_set.body else place}
        listed = place.child("policies").with_items(policy_set.policies[member] for member in members)
        spec_origin = place.with_children({"policies": listed})
        origin = place.with_children({"metadata": place.with_children(named), "spec": spec_origin})
        return self._object("v1beta1", "PolicySet", name, {"spec": spec}, origin)

    def _placement(self, member: _Member) -> tuple[str, Manifest | None]:
        """Return the name of the placement of a policy or set, and the placement unless it is there already."""
        config = member.placement
        if config.existing:
            return config.existing, None
        if config.path:
            name, placement = self._placement_of_path(config)
        else:
            key = repr(sorted(config.selector.items()))
            name = config.name or f"placement-{member.name}"
            if not config.name and config.default_name:
                if key in self._by_selector:
                    return self._by_selector[key], None
                number = len(self._by_selector) + 1
                name = f"{config.default_name}{number}" if number > 1 else config.default_name
            self._by_selector[key] = name
            placement = self._new_placement(name, config)
        if placement is not None:
            if name in self._made:
                raise GeneratorRefusedError(f"two placements are called {name}", config.place)
            self._made.add(name)
        return name, placement

    def _new_placement(self, name: str, config: _PlacementConfig) -> Manifest:
        """Return a Placement or PlacementRule for a selector; clusters that cannot be reached for a while stay."""
        place = config.place
        if self._rules:
            spec: dict[str, Any] = {"clusterSelector": config.selector}
            return self._object("v1", "PlacementRule", name, {"spec": spec}, place, group=_APPS)
        absent = [{"key": f"{_CLUSTERS}/{state}", "operator": "Exists"} for state in ("unreachable", "unavailable")]
        predicates = [{"requiredClusterSelector": {"labelSelector": config.selector}}]
        spec = {"predicates": predicates, "tolerations": absent}
        return self._object("v1beta1", "Placement", name, {"spec": spec}, place, group=_CLUSTERS)

    def _placement_of_path(self, config: _PlacementConfig) -> tuple[str, Manifest | None]:
        """Return the first placement of a file, once; a placeholder for its name where the file was not seen."""
        found = self._files.placements(config.path, config.place)
        if found is None:
            return f"<placement of {config.path}>", None
        wanted = "PlacementRule" if config.rule else "Placement"
        manifest = next((known for known in found if known.kind in ("Placement", "PlacementRule")), None)
        if manifest is None or manifest.kind != wanted or not manifest.name:
            raise GeneratorRefusedError(f"{config.path} holds no {wanted} with a name", config.place)
        if manifest.namespace != self._namespace and not is_symbolic(manifest.namespace):
            raise GeneratorRefusedError(
                f"{manifest} of {config.path} is not in namespace {self._namespace}, where the policies are",
                config.place,
            )
        if manifest.name in self._from_paths:
            return manifest.name, None
        self._from_paths.add(manifest.name)
        return manifest.name, manifest

    def _bindings(self, bound: Mapping[str, list[_Member]]) -> Iterator[Manifest]:
        """Yield one PlacementBinding per placement; that of one policy is named after it, others by their default.

        A set alone gets a name only from `placementBindingDefaults` (policy-generator-plugin#254).
        """
        base = mapping(self._body.get("placementBindingDefaults")).get("name")
        _check_dns(text(base), "placement binding", self._origin.at("placementBindingDefaults", "name"))
        count = 0
        for placement, members in sorted(bound.items()):
            kinds = [member.kind for member in members]
            if not text(base) and max(kinds.count("Policy"), kinds.count("PolicySet")) > 1:
                raise GeneratorRefusedError(
                    f"placementBindingDefaults has no name, which {placement} needs", self._origin
                )
            if kinds == ["Policy"]:
                name = f"binding-{members[0].name}"
            else:
                count += 1
                name = (f"{base}{count}" if count > 1 else text(base)) if text(base) else ""
            if not name:
                self._files.note_unnamed(f"the PlacementBinding of {members[-1].name} gets no name", members[-1].place)
                continue
            yield self._binding(name, placement, members)

    def _binding(self, name: str, placement: str, members: list[_Member]) -> Manifest:
        first = members[0]
        group, kind = (_APPS, "PlacementRule") if self._rules else (_CLUSTERS, "Placement")
        content = {
            "placementRef": {"apiGroup": group, "kind": kind, "name": placement},
            "subjects": [{"apiGroup": GROUP, "kind": member.kind, "name": member.name} for member in members],
        }
        place = first.placement.place
        subjects = [member.place.with_child("name", member.place) for member in members]
        base = self._origin.at("placementBindingDefaults", "name")
        named = base if name and name != f"binding-{first.name}" else first.place
        children = {
            "metadata": first.place.with_child("name", named),
            "placementRef": place.with_child("name", place),
            "subjects": first.place.with_items(subjects),
        }
        return self._object("v1", "PlacementBinding", name, content, first.place.with_children(children))

    def _object(
        self, version: str, kind: str, name: str, content: dict[str, Any], origin: Provenance, *, group: str = GROUP
    ) -> Manifest:
        """Return an object of the namespace; a value for which `origin` has no place is written where that is."""
        metadata = {"name": name, "namespace": self._namespace}
        body = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, **content}
        where = origin.child("metadata").with_child("namespace", self._default_place.child("namespace"))
        return self._manifest(body, origin.with_child("metadata", where))

    def _manifest(self, body: dict[str, Any], origin: Provenance, provisional: str = "") -> Manifest:
        size = size_of(body)[0]
        self._files.budget.spend(_STEPS + size)
        return Manifest(body, origin, provisional=provisional, weight=size)


def _joined(policy: PolicyOptions, field: str) -> str:
    return ",".join(map(str, sequence((policy.find(field) or (_ANNOTATIONS[field],))[0])))


def _check_dns(name: str, what: str, place: Provenance) -> None:
    """Raise GeneratorRefusedError for a name that Kubernetes would not take; none and a variable are none."""
    if name and not is_symbolic(name) and not _NAME.fullmatch(name):
        raise GeneratorRefusedError(f"{name!r} is no name of a {what}", place)


def _selector(written: Any, place: Provenance) -> Mapping[str, Any]:
    """Return the LabelSelector that a selector stands for: one of those, or labels with their values."""
    selector = mapping(written)
    if selector.keys() <= {"matchLabels", "matchExpressions"}:
        return selector
    expressions: list[dict[str, Any]] = []
    for key, value in sorted((str(key), value) for key, value in selector.items()):
        if not isinstance(value, str):
            raise GeneratorRefusedError(f"{key} is neither a field of a label selector nor a label with a text", place)
        asked = {"operator": "In", "values": [value]} if value else {"operator": "Exists"}
        expressions.append({"key": key, **asked})
    return {"matchExpressions": expressions}
