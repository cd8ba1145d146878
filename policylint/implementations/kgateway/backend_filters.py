"""TrafficPolicies that filters of backendRefs name: they act on the requests that go to those backends.

What they say of filters of the proxy acts, and of several backends it goes before what the route has; of a single one
behind it. What the route does itself (`timeouts`, `retry`, hosts and redirects) is not theirs to say, and what makes a
policy invalid fails nothing. Nobody reports that they are attached.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.4; irtranslator/route.go (envoyRoutes,
translateRouteAction), trafficpolicy/traffic_policy_plugin.go (ApplyForRouteBackend) (2.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from policylint.documents import Pointer
from policylint.model import Node, ResourceKey, mapping, sequence
from policylint.policy.declared import without
from policylint.policy.folding import Merger, Stack
from policylint.policy.paths import ListedPaths, Path
from policylint.policy.results import Attachment, Group, Target
from policylint.topology import Topology, whole
from policylint.topology.extensions import extensions
from policylint.topology.routes import rule_at, rules

BY_BACKEND = -1
"""In place of the position of a filter of the rule (`Target.filter`)."""
_OF_ROUTES = ("timeouts", "retry", "autoHostRewrite", "internalRedirect", "urlRewrite")


class BackendFilters:
    """The policies that filters of backendRefs name, by rule."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._named: dict[ResourceKey, dict[Node, set[Pointer]]] = {}
        for state in topology.routes:
            for extension in extensions(topology.world, state.route):
                if extension.pointer[3] == "backendRefs":
                    rule = next(each.node for each in rules(state.route) if each.number == extension.pointer[2])
                    named = self._named.setdefault(extension.wanted, {})
                    named.setdefault(rule, set()).add(extension.pointer[:5])

    def targets(self, policy: ResourceKey) -> Iterator[Target]:
        """Yield the rules in which a policy is named."""
        for rule in self._named.get(policy, ()):
            yield Target(("metadata", "name"), rule.key, rule.section, nodes=(rule,), filter=BY_BACKEND)

    def split(self, group: Group, merge: Merger, failing: Set[ResourceKey]) -> Iterator[Group]:
        """Yield a group by backends, each with the policies that are named for it."""
        stack = group.effective.stack
        if not any(map(is_of_backend, stack)):
            yield group
            return
        paths: dict[frozenset[ResourceKey], list[Path]] = defaultdict(list)
        for path in group.contexts():
            for backend, pointer in self._backends(path[-1]):
                named = (each for each in stack if is_of_backend(each) and each.node == path[-1])
                here = frozenset(each.key for each in named if pointer in self._named[each.key][path[-1]])
                paths[here - failing].append((*path, backend))
        for here, contexts in paths.items():
            kept = tuple(_at_backend(each) for each in stack if not is_of_backend(each) or each.key in here)
            if kept:
                nodes = {node for path in contexts for node in path}
                keys = frozenset(each.key for each in kept)
                yield Group(
                    group.kind,
                    merge(Stack(group.kind, kept)),
                    ListedPaths(sorted(contexts)),
                    {node: own & keys for node, own in group.nodes.items() if node in nodes},
                )

    def _backends(self, rule: Node) -> Iterator[tuple[Node, Pointer]]:
        state = self._topology.route(rule.key)
        if state is None:
            return
        for backend in state.backends:
            written = rule_at(state.route, backend.rule) if backend.role == "backend" else None
            if written is not None and written.node == rule:
                yield whole(backend.wanted), backend.pointer


def is_of_backend(attachment: Attachment) -> bool:
    return attachment.target.filter == BY_BACKEND


def has_one_backend(rule: Node, topology: Topology) -> bool:
    """Tell whether a rule has a single backendRef, whose filters give way to the route's policies."""
    state = topology.route(rule.key)
    bodies = () if state is None else (each.body for each in rules(state.route) if each.node == rule)
    return any(len(sequence(mapping(body).get("backendRefs"))) == 1 for body in bodies)


def _at_backend(attachment: Attachment) -> Attachment:
    """Return an attachment without what only routes do, where a filter of a backend names it."""
    if not is_of_backend(attachment):
        return attachment
    declared = (without(each, ((*each.prefix, name) for name in _OF_ROUTES)) for each in attachment.declared)
    return attachment._replace(declared=tuple(declared))
