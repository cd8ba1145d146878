"""The third answer: what changes for objects that no manifest shows cannot be told, and the diff says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.catalog.weakenings import may_decide
from policylint.compare.carried import notes_read
from policylint.compare.change import SubjectChange
from policylint.compare.creation_order import undecided
from policylint.compare.pairing import Sides, differs, is_policy, says_otherwise
from policylint.documents import Document
from policylint.doors.peculiar import ENTRIES, IN_ORDER
from policylint.model import GATEWAY_GROUP, Location, Resource, ResourceKey, World, mapping, sequence, text, value_at
from policylint.model.world import Note
from policylint.policy.results import PolicyState, Target
from policylint.render.journal import NOT_RENDERED
from policylint.render.tree import join
from policylint.simulation import Simulation
from policylint.topology.workloads import by_pod_labels, is_workload

_NAMESPACE = ("", "Namespace")
_GATEWAY = (GATEWAY_GROUP, "Gateway")
_BROUGHT = frozenset({"chart", "remote-base"})
"""Codes of notes on what a kustomization takes from elsewhere."""


def unknown_subjects(sides: Sides, known: set[ResourceKey], changed: Collection[str] = ()) -> list[SubjectChange]:
    """Return unseen targets of changed policies, parts of kustomizations and charts that change, and what may have been
    in force in the place of another object, sorted.

    Args:
        known: those of which is told what becomes of them; what was in force before is not known of these, either.
        changed: the files that differ, below the root.
    """
    subjects: dict[ResourceKey, SubjectChange] = {}
    for subject in (*_targets(sides), *_namespaces(sides), *_charts(sides, changed), *_unseen_parts(sides, changed)):
        if subject.key not in known:
            subjects.setdefault(subject.key, subject)
    for key, location, reason in undecided(sides):
        subjects.setdefault(key, SubjectChange(sides.after.world.name, key, "unknown", location, reason=reason))
    return [subjects[key] for key in sorted(subjects)]


def _targets(sides: Sides) -> Iterator[SubjectChange]:
    """Yield the unseen targets of policies that are new, changed or gone."""
    before, after, pairing = sides
    for key, state in after.policies.items():
        was = before.policies.get(pairing.was(key))
        if was is None or _says_otherwise(was.policy, state.policy, after.catalog):
            yield from _of_policy(state, after)
            if was is not None:
                yield from _of_policy(was, before)
    for key, state in before.policies.items():
        if pairing.key(key) not in after.policies:
            yield from _of_policy(state, before)


def _says_otherwise(was: Resource, now: Resource, catalog: Catalog) -> bool:
    """Tell whether a policy differs in more than its name, which no target hangs on."""
    metadata = {**now.metadata, "name": was.key.name}
    return differs(was, now.replaced(body={**now.body, "metadata": metadata}), catalog)


def _of_policy(state: PolicyState, side: Simulation) -> Iterator[SubjectChange]:
    """Yield the targets of a policy that no manifest shows, and Gateways whose routes none does."""
    for target in state.targets:
        if target.resolution.unknown and not (target.nodes and state.groups):
            location = state.policy.location(*target.pointer)
            if target.selector is None:
                key, reason = target.key, f"{state.key} changes; {target.resolution.reason}"
            else:  # what it selects has no name
                key, reason = state.key, f"what it selects was not seen: {target.resolution.reason}"
            yield SubjectChange(side.world.name, key, "unknown", location, reason=reason)
        elif is_of_unseen(target, state, side):
            location = state.policy.location(*target.pointer)
            if target.key[:2] == _NAMESPACE:
                key, reason = target.key, f"{state.key} changes, and no pods of it were seen"
            else:  # what it says is known, who is behind it is not
                key, reason = state.key, f"no pods of {target.key} were seen"
            yield SubjectChange(side.world.name, key, "unknown", location, reason=reason)
        else:
            for gateway in without_routes(target, side):
                location = state.policy.location(*target.pointer)
                reason = f"{state.key} changes, and no route of it was seen"
                yield SubjectChange(side.world.name, gateway, "unknown", location, reason=reason)


def without_routes(target: Target, side: Simulation) -> Iterator[ResourceKey]:
    """Yield the Gateways that a policy is for and that no route seen is attached to: who gets in is asked of none."""
    for key in dict.fromkeys(node.key for node in target.nodes if node.key[:2] == _GATEWAY):
        if not any(node.key == key for route in side.topology.routes for node in route.attached):
            yield key


def is_of_unseen(target: Target, state: PolicyState, side: Simulation) -> bool:
    """Tell whether a target is a namespace of which nothing was seen that a policy could act on, or selects pods of
    which none was."""
    if target.key[:2] == _NAMESPACE:
        return bool(target.nodes) and not state.groups
    named = side.world.get(target.key) if target.nodes else None
    if named is None or "podSelector" not in named.spec:
        return False
    namespace, selector = named.key.namespace, mapping(named.spec["podSelector"])
    return not (namespace and by_pod_labels(side.world, namespace).matching(selector))


def _is_at_workloads(state: PolicyState) -> bool:
    return any(is_workload(*node.key[:2]) for group in state.groups for node in group.nodes)


def _namespaces(sides: Sides) -> Iterator[SubjectChange]:
    for _, now in relabelled(sides):
        reason = "its labels change, and pods that policies are for were not seen"
        yield SubjectChange(sides.after.world.name, now.key, "unknown", now.name_location, reason=reason)


def relabelled(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the namespaces whose labels change, before and after, where policies are for pods of them that were not
    seen: what a Namespace says of itself puts its pods into a mesh."""
    before, after, _ = sides
    meant = {
        state.key.namespace
        for state in after.policies.values()
        for target in state.targets
        if (
            not _is_at_workloads(state)
            if target.key[:2] == _NAMESPACE
            else target.resolution.unknown or is_of_unseen(target, state, after)
        )
    }
    enrolling = after.catalog.enrolling().keys() if meant else ()
    for namespace in sorted(meant):
        key = ResourceKey(*_NAMESPACE, "", namespace)
        was, now = before.world.get(key), after.world.get(key)
        if was is not None and now is not None and _labels(was, enrolling) != _labels(now, enrolling):
            yield was, now


def _labels(namespace: Resource, enrolling: Collection[str]) -> tuple[dict[str, object], ...]:
    """Return the labels of a namespace but those of Kubernetes, and the annotations that a mesh reads."""
    labels, annotations = namespace.labels, mapping(namespace.metadata.get("annotations"))
    return (
        {key: value for key, value in labels.items() if not key.partition("/")[0].endswith("kubernetes.io")},
        {key: value for key, value in annotations.items() if key in enrolling},
    )


def undeployed_subjects(sides: Sides, others: Collection[World]) -> list[SubjectChange]:
    """Return the policies and objects of Gateway API that change or go in files that nothing here deploys, sorted.

    What deploys them stands elsewhere, or nothing does: which of the two, and so what becomes of requests, no manifest
    says. New ones change nothing that is there.

    Args:
        others: the environments of the side after, where an object may be deployed now.
    """
    after = sides.after.world
    subjects = []
    for key, was, now in undeployed(sides):
        if now is None and any(key in other.resources for other in others):
            continue
        place = was if now is None else now
        reason = f"{'goes' if now is None else 'changes'}, and nothing here deploys {place.document.file}"
        subjects.append(SubjectChange(after.name, key, "unknown", place.name_location, reason=reason))
    return subjects


def undeployed(sides: Sides) -> Iterator[tuple[ResourceKey, Resource, Resource | None]]:
    """Yield what decides, is deployed by nothing here, and differs or is gone, sorted; not what was moved as it is."""
    before, after, catalog = sides.before.world, sides.after.world, sides.after.catalog
    new: dict[tuple[str, str, str], list[Resource]] = defaultdict(list)
    for key in after.orphans.keys() - before.orphans.keys():
        new[*key[:2], key.name].append(after.orphans[key])
    for key, was in sorted(() if after.plain else before.orphans.items()):
        now = after.orphans.get(key)
        moved = now is None and not all(differs(was, other, catalog) for other in new[*key[:2], key.name])
        if decides(catalog, *key[:2]) and not moved and (now is None or _says_more(was, now, catalog)):
            yield key, was, now


def _says_more(was: Resource, now: Resource, catalog: Catalog) -> bool:
    """Tell whether an object differs in more than its labels, or is of a kind that policies select by these."""
    return differs(was, now, catalog) if is_selected(was.key.group) else says_more(was.key, was.body, now.body)


def says_more(key: ResourceKey, was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether an object differs in more than text and labels; of a way in, annotations count that are read."""
    return says_otherwise(was, now) or (is_way_in(*key[:2]) and any(notes_read(key, was, now)))


def is_selected(group: str) -> bool:
    """Tell whether policies select objects of a group by their labels, whichever these are."""
    return group in (GATEWAY_GROUP, "")


def decides(catalog: Catalog, group: str, kind: str) -> bool:
    """Tell whether objects of a kind decide on requests, on connections, or on what is applied."""
    return (
        group == GATEWAY_GROUP or is_policy(catalog, group, kind) or is_way_in(group, kind) or may_decide(group, kind)
    )


def is_way_in(group: str, kind: str) -> bool:
    """Tell whether requests come in by objects of a kind, which say who may send them."""
    return (group, kind) in ENTRIES or (group, kind) == IN_ORDER


def _charts(sides: Sides, changed: Collection[str]) -> Iterator[SubjectChange]:
    """Yield releases and applications whose output was not seen on one side and that differ between the sides."""
    before, after, pairing = sides
    for side, opposite, translate in ((after, before, pairing.was), (before, after, pairing.key)):
        of_side = makers(side)
        for key in of_side:
            twin = opposite.world.get(translate(key))
            # What installs a chart does not hand its labels on.
            if twin is None or says_otherwise(twin.body, of_side[key].body):
                change = "new" if twin is None and side is after else "gone" if twin is None else "changed"
                reason = f"{change}, not rendered"
                yield SubjectChange(after.world.name, key, "unknown", of_side[key].name_location, reason=reason)
            elif side is after and (file := _of_chart(of_side[key], changed)):
                reason = f"{file} changes, and {key.kind} {key.name} is not rendered"
                yield SubjectChange(after.world.name, key, "unknown", of_side[key].name_location, reason=reason)


def _unseen_parts(sides: Sides, changed: Collection[str]) -> Iterator[SubjectChange]:
    """Yield the kustomizations and what else renders of which something is not rendered now that was, or was not there,
    or that goes or differs where nobody saw it: whatever it makes, or changes, is not in sight.

    Charts and what installs them are told by `_charts`, but for those that a kustomization takes in.
    """
    before, after, _ = sides
    steps = [path.split("/") for path in changed]
    touched = {"/".join(each[:depth]) for each in steps for depth in range(1, len(each) + 1)}
    for side, opposite in ((after, before), (before, after)):
        there: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(dict)
        for note in opposite.world.notes:
            there[note.code, note.message][note.location.file] = _written(note)
        bringing = tuple(f"{reason.partition(' may ')[0]} " for reason in side.world.unseen.of_routes())
        for note in side.world.notes:
            brings = note.code == "not-covered" or (note.code in _BROUGHT and note.message.startswith(bringing))
            words, others = _written(note), there.get((note.code, note.message), {})
            # Several kustomizations may lack the same; one that was moved is known by what it says.
            own = {note.location.file: others[note.location.file]} if note.location.file in others else others
            other = words if words in own.values() else next(iter(own.values()), None)
            # A new release of a chart that lies elsewhere is told by `_charts`: what it may make, its values say.
            told = note.code == "chart" and before.world.get(_renderer(note.location)) is None
            if other is None and side is after and note.rule == NOT_RENDERED and (brings or not told):
                reason = note.message
            elif other is None and side is before and brings:
                reason = f"gone: {note.message}"
            elif other is not None and side is after and brings:
                directory = note.location.file.rpartition("/")[0]
                if other == words and touched.isdisjoint(join(directory, word) for word in words):
                    continue
                reason = f"changed: {note.message}"
            else:
                continue
            yield SubjectChange(after.world.name, _renderer(note.location), "unknown", note.location, reason=reason)


def _written(note: Note) -> list[str]:
    """Return the words of the field that a note is about: files of the tree may be among them."""
    pending, words = [value_at(getattr(note.location.document, "value", None), note.location.pointer)], []
    while pending:
        value = pending.pop()
        if isinstance(value, (dict, list)):
            pending += [*value, *value.values()] if isinstance(value, dict) else value
        elif value is not None:
            words.append(str(value))
    return words


def _renderer(location: Location) -> ResourceKey:
    """Return the object that a place belongs to; kustomizations have no names, and are called by their directories, as
    templates of charts are by their files."""
    document = location.document
    if not isinstance(document, Document):
        return ResourceKey("", "Template", "", location.file)
    body = mapping(document.value)
    metadata = mapping(body.get("metadata"))
    kind, namespace = text(body.get("kind"), "Kustomization"), text(metadata.get("namespace"))
    name = text(metadata.get("name")) or location.file.rpartition("/")[0] or "."
    return ResourceKey(text(body.get("apiVersion")).rpartition("/")[0], kind, namespace, name)


def _of_chart(maker: Resource, changed: Collection[str]) -> str:
    """Return the first file that differs of a chart in the tree, "" where none does."""
    source = mapping(maker.spec.get("source"))
    chart = mapping(mapping(maker.spec.get("chart")).get("spec"))
    named = [source.get("path"), *(mapping(each).get("path") for each in sequence(maker.spec.get("sources")))]
    named += [chart.get("chart")] if text(mapping(chart.get("sourceRef")).get("kind")) == "GitRepository" else []
    places = [f"{place.strip('./')}/" for place in map(text, named) if place.strip("./")]
    return min((file for file in changed if any(map(file.startswith, places))), default="")


def makers(simulation: Simulation) -> dict[ResourceKey, Resource]:
    """Return the objects that the reasons for unseen routes name."""
    reasons = simulation.world.unseen.of_routes()
    if not reasons:
        return {}
    names = {" ".join(reason.split(" ", 2)[:2]) for reason in reasons}
    return {key: resource for key, resource in simulation.world.resources.items() if str(key) in names}
