"""Network policies that Kyverno makes in Namespaces, where a rule states them whole.

Source: kyverno.io, «Generate Rules» (`data`, `generateExisting`), «Match/Exclude»; pkg/config/configuration.go
(resourceFilters: what is in the system's namespaces is left alone unless they are configured otherwise).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policylint.implementations.generic.unread_policies import unread_policy
from policylint.model import Resource, ResourceKey, World, mapping, selectors, sequence, text, texts
from policylint.network.kinds import GENERATING, NETWORK_POLICY
from policylint.network.rules import PolicySpec, network_policy, read_policy
from policylint.patterns import Pattern

_RULE = frozenset({"name", "match", "exclude", "generate"})
_CHOICE = frozenset({"kinds", "names", "selector", "operations"})
_MADE = frozenset({"apiVersion", "kind", "name", "namespace", "synchronize", "generateExisting", "data"})
_EACH = "{{request.object.metadata.name}}"
_LABEL = Pattern(
    r"\{\{ *request\.object\.metadata\.labels\.[\"']?(?P<label>[\w./-]+)[\"']? *"
    r"(?:\|\| *[\"'`](?P<otherwise>[^\"'`]*)[\"'`] *)?\}\}"
)
"""What asks for a label of the Namespace, and has something else without it."""
_SYSTEM = frozenset({"kube-node-lease", "kube-public", "kube-system", "kyverno"})


def generated(policy: Resource, world: World) -> Iterator[PolicySpec]:
    """Yield what a policy of an engine that is not evaluated does: the network policies that it makes, where it states
    them, in each Namespace; for what is not known, that it may allow or deny anything, there or everywhere."""
    stated = list(_stated(policy)) if policy.key[:2] in GENERATING else [None]
    if not stated or None in stated:
        yield unread_policy(policy)
        return
    homes = {key.namespace for key in world.resources} | {each.key.name for each in world.of_kind("", "Namespace")}
    for number, rule, is_whole in filter(None, stated):
        for home in sorted(homes - {""}):
            is_meant = _is_meant(rule, home, world)
            if is_meant and is_whole and home not in _SYSTEM:
                yield read_policy(_made(policy, number, rule, home), network_policy)
            elif is_meant is not False:
                yield unread_policy(policy, home)


def _stated(policy: Resource) -> Iterator[tuple[int, Mapping[str, Any], bool] | None]:
    """Yield the rules by which a policy makes network policies in Namespaces that they choose, with their numbers, and
    whether each says all that it does; None for one that may make some anywhere."""
    for number, rule in enumerate(map(mapping, sequence(policy.spec.get("rules")))):
        made = mapping(rule.get("generate"))
        if not made or (text(made.get("kind")) and not text(made["kind"]).endswith("NetworkPolicy")):
            continue
        is_here = (
            text(made.get("namespace")).replace(" ", "") == _EACH
            and "foreach" not in made
            and _choices(rule.get("match")) is not None
            and (not rule.get("exclude") or _choices(rule["exclude"]) is not None)
            and "{{" not in f"{rule.get('match')}{rule.get('exclude')}"
        )
        existing = (policy.spec.get("generateExisting"), made.get("generateExisting"))
        is_whole = (
            rule.keys() <= _RULE
            and made.keys() <= _MADE
            and (text(made.get("apiVersion")), made.get("kind")) == ("networking.k8s.io/v1", NETWORK_POLICY[1])
            and isinstance(mapping(made.get("data")).get("spec"), dict)
            and "{{" not in f"{made['data']}{made.get('name')}"
            and True in existing
        )
        yield (number, rule, is_whole) if is_here else None


def _choices(match: object) -> list[Mapping[str, Any]] | None:
    """Return the alternatives of a match, None where something else is asked than of what kind, name and labels."""
    stated = mapping(match)
    listed = sequence(stated.get("any")) or sequence(stated.get("all")) or [stated]
    found = [mapping(mapping(each).get("resources")) for each in listed]
    is_one = len(stated) == 1 and (len(listed) == 1 or "any" in stated)
    alone = all(
        mapping(each).keys() == {"resources"} and of.keys() <= _CHOICE for each, of in zip(listed, found, strict=True)
    )
    named = all({each.rpartition("/")[2] for each in texts(of.get("kinds"))} <= {"Namespace"} for of in found)
    return found if is_one and alone and named else None


def _is_meant(rule: Mapping[str, Any], home: str, world: World) -> bool | None:
    """Return whether a rule is for a Namespace; None where its labels are not known."""
    if any(_is_unmet(condition, home, world) for condition in _required(rule)):
        return False
    wanted = [_fits(of, home, world) for of in _choices(rule.get("match")) or ()]
    left_out = [_fits(of, home, world) for of in (_choices(rule["exclude"]) or () if rule.get("exclude") else ())]
    if True in left_out or not any(each is not False for each in wanted):
        return False
    return None if None in left_out or True not in wanted else True


def _required(rule: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the conditions of which all must hold."""
    stated = rule.get("preconditions")
    yield from map(mapping, sequence(stated) or sequence(mapping(stated).get("all")))


def _is_unmet(condition: Mapping[str, Any], home: str, world: World) -> bool:
    """Return whether a condition on a label of the Namespace certainly does not hold."""
    asked, labels = _LABEL.fullmatch(text(condition.get("key")).strip()), world.namespace_labels(home)
    wanted = condition.get("value")
    if asked is None or labels is None or not isinstance(wanted, str) or "{{" in wanted:
        return False
    is_equal = text(labels.get(asked["label"]), asked["otherwise"] or "") == wanted
    return condition.get("operator") == ("NotEquals" if is_equal else "Equals")


def _fits(of: Mapping[str, Any], home: str, world: World) -> bool | None:
    names, selector = texts(of.get("names")), of.get("selector")
    if names and not any(fnmatchcase(home, name) for name in names):
        return False
    if not isinstance(selector, dict):
        return True
    labels = world.namespace_labels(home)
    return None if labels is None else selectors.matches(selector, labels)


def _made(policy: Resource, number: int, rule: Mapping[str, Any], home: str) -> Resource:
    made = mapping(rule["generate"])
    name = text(made.get("name"))
    body = {
        "apiVersion": made["apiVersion"],
        "kind": made["kind"],
        "metadata": {"name": name, "namespace": home},
        "spec": made["data"]["spec"],
    }
    root = (*policy.root, "spec", "rules", number, "generate", "data")
    key = ResourceKey(*NETWORK_POLICY, home, name)
    return Resource(key, "v1", body, policy.document, root, policy.sources, provisional=policy.provisional)
