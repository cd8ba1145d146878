"""How explain names contexts: the rules, listeners and backends that an answer is about, and the chains of parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from policylint.digits import whole_number
from policylint.explain.contexts import ContextAnswer
from policylint.explain.doors import at_doors
from policylint.explain.subject import Subject
from policylint.explain.unseen import UnseenActing
from policylint.model import Node, PolicyKind, ResourceKey
from policylint.model.words import leading
from policylint.policy.level import level
from policylint.policy.paths import Path
from policylint.simulation import Simulation
from policylint.simulation.acting import MOST_PATHS, leads_down

_STRATEGIES = {
    "none": "policies of this kind do not combine",
    "atomic-defaults": "the more specific policy replaces the less specific one completely",
    "patch-defaults": "field by field, the more specific policy wins",
    "atomic-overrides": "the less specific policy replaces the more specific one completely",
    "patch-overrides": "field by field, the less specific policy wins",
    "field": "2023 edition: per field, overrides before the object's own value before defaults",
    "units": "named rule by named rule",
    "union": "all policies add up",
    "each": "every policy acts by itself",
    "custom": "by rules of its own",
}
_LEVELS = {"gatewayclass": "class", "workload": "object"}


def none_acts(subject: Subject, paths: Iterable[Path], *, others: bool = False) -> str:
    """Return that no policy acts on a subject, as far as was seen.

    Args:
        paths: those through it.
        others: whether something that is not evaluated may act on it all the same.
    """
    if at_doors(subject) is not subject.simulation:
        return "no policy names it"
    if why := why_closed(subject.simulation, paths):
        return f"no policy acts on it: {why}"
    unseen = UnseenActing(subject.simulation).on(subject.node)
    none = "no policy here" if unseen.may else "no policy that policylint evaluates" if others else "no policy"
    return f"{none} acts on it{unseen.remark}"


def why_closed(simulation: Simulation, contexts: Iterable[Path]) -> str:
    """Return why no request passes any of some contexts; "" where some do, or there are none."""
    acting, first = simulation.acting, ""
    for context in islice(contexts, MOST_PATHS):
        if acting.is_open(context):
            return ""
        shut = next((node for node in context if node in acting.closed.nodes), None)
        why = "no listener sends it requests" if shut is None else f"{shut} takes none: {acting.closed.nodes[shut]}"
        first = first or f"no request gets there, {why}"
    return first


def strategy(kind: PolicyKind) -> str:
    """Return how policies of a kind combine unless they say otherwise."""
    if kind.origin == "shape":
        return "how its policies combine, no CRD here says"
    words = _STRATEGIES.get(kind.merge.strategy, kind.merge.strategy)
    return words if kind.merge.directive is None else f"{words}, unless a policy says otherwise"


def implementation_of(kind: PolicyKind) -> str:
    """Return whose rules a kind follows: an implementation's, or those that its CRD implies."""
    return kind.implementation or {"crd": "by its CRD", "configuration": "as configured", "shape": "not known"}.get(
        kind.origin, "generic"
    )


def level_of(node: Node | None) -> str:
    """Return the level that a policy is attached at: `route`, `gateway`, `namespace`."""
    if node is None:
        return ""
    if node.key.kind == "Namespace" and not node.key.group:
        return "namespace"
    name = level((node,))
    return node.key.kind.lower() if name == "workload" else _LEVELS.get(name, name)


class Crowd:
    """The nodes on the paths of all answers, by what they are."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.routes = _distinct(paths, _is_route)
        self.listeners = _distinct(paths, _is_listener)
        self.backends = _distinct(paths, _is_backend)
        self.rules: dict[ResourceKey, list[Node]] = {}
        for rule in _distinct(paths, _is_rule):
            self.rules.setdefault(rule.key, []).append(rule)


def where(answer: ContextAnswer, every: Crowd, subject: Node) -> str:
    """Return what tells an answer's contexts from the others: `rules 1, 3 via listener https`; "" for all of them."""
    parts = []
    routes = _distinct(answer.paths, _is_route)
    if subject not in routes and routes != every.routes:
        parts.append(leading([str(route.key) for route in routes], 3) if routes else "without a route")
    rules = _distinct(answer.paths, _is_rule)
    of_routes = [rule for route in routes for rule in every.rules.get(route.key, ())]
    if rules and rules != of_routes and subject not in rules and len(routes) < 2:
        parts.append(rule_names(rules))
    listeners = _distinct(answer.paths, _is_listener)
    if listeners != every.listeners and subject not in listeners and listeners:
        parts.append("via " + leading([f"{listener.key.path}#{listener.section}" for listener in listeners], 3))
    backends = _distinct(answer.paths, _is_backend)
    if backends != every.backends and subject not in backends and not parts and backends:
        parts.append("to " + leading([str(backend) for backend in backends], 3))
    return " ".join(parts)


def rule_names(rules: Iterable[Node]) -> str:
    """Return rules in words: `rules 1-3`, `rule pay`."""
    names = [rule.section.removeprefix("rule-") if _numbered(rule) else rule.section for rule in rules]
    numbers = sorted({number for name in names if (number := whole_number(name)) is not None})
    words = [name for name in names if whole_number(name) is None]
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    listed = [str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans] + words
    return f"{'rule' if len(names) == 1 else 'rules'} {', '.join(listed)}"


def all_rules(paths: Sequence[Path], subject: Node) -> str:
    """Return what an answer for all contexts covers: `the same for rules 1-3`, `the same for 12 contexts`."""
    rules = [rule for rule in _distinct(paths, _is_rule) if rule.key == subject.key]
    if len(rules) > 1:
        return f"the same for {rule_names(rules)}"
    return f"the same for {len(paths)} contexts" if len(paths) > 1 else ""


def chains(paths: Sequence[Path], subject: Node) -> list[str]:
    """Return the ways from a class to a backend, without rules and ports; the last step lists its objects.

    Those of a Gateway end at its routes.
    """
    ends_by_head: dict[tuple[str, ...], dict[str, None]] = {}
    above = leads_down(subject)
    for path in paths:
        if above:
            first_route = next((number for number, node in enumerate(path) if _is_route(node)), len(path))
            path = path[: first_route + 1]
        steps = [_step(node) for node in path if not _is_rule(node) and node.role != "ServicePort"]
        if steps:
            ends_by_head.setdefault(tuple(steps[:-1]), {})[steps[-1]] = None
    return [" > ".join((*heads, _either(list(ends)))) for heads, ends in ends_by_head.items()]


def _either(names: list[str], most: int = 4) -> str:
    """Join the ends of a chain, the kind said once if it is the same: `Service shop/a | shop/b | 2 more`."""
    kinds = {name.partition(" ")[0] for name in names}
    if len(kinds) == 1 and len(names) > 1:
        names = [names[0], *(name.partition(" ")[2] for name in names[1:])]
    return " | ".join(names[:most]) + (f" | {len(names) - most} more" if len(names) > most else "")


def _distinct(paths: Iterable[Path], matches: Callable[[Node], bool]) -> list[Node]:
    """Return the nodes on any of the paths that a predicate accepts, in order."""
    return sorted({node for path in paths for node in path if matches(node)}, key=_order)


def _order(node: Node) -> tuple[object, ...]:
    """Return the sort key of a node: rules without a name by number."""
    number = whole_number(node.section.removeprefix("rule-")) if _numbered(node) else None
    return (node.key, number or 0, node.section)


def _numbered(node: Node) -> bool:
    return node.section.startswith("rule-") and whole_number(node.section[5:]) is not None


def _is_rule(node: Node) -> bool:
    return node.role.endswith("Rule") and bool(node.section)


def _is_route(node: Node) -> bool:
    return node.key.kind.endswith("Route") and not node.section


def _is_listener(node: Node) -> bool:
    return bool(node.section) and level((node,)) == "listener"


def _is_backend(node: Node) -> bool:
    return level((node,)) == "service"


def _step(node: Node) -> str:
    return f"listener {node.section}" if _is_listener(node) else str(node)
