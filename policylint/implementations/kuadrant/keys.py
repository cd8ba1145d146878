"""API keys and certificates of AuthPolicies that Authorino does not find, or does not watch.

Sources: Kuadrant/authorino v0.25.0 controllers/auth_config_controller.go (a selector means Secrets beside the
AuthConfig, all namespaces if it says so), controllers/secret_controller.go (Secrets without the label are not watched);
Kuadrant/kuadrant-operator v1.5.1 internal/controller/authconfigs_reconciler.go (AuthConfigs stand beside the Kuadrant).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, World, mapping, value_at
from policylint.model.selectors import matches
from policylint.model.words import listing
from policylint.policy.results import FaultyPart, PolicyState

WATCHED = "authorino.kuadrant.io/managed-by"
_WATCHED = (WATCHED, "authorino")
_BY_SECRET = ("apiKey", "x509")
_RULES: tuple[Pointer, ...] = (
    ("spec", "rules"),
    ("spec", "defaults", "rules"),
    ("spec", "overrides", "rules"),
)


def unfound(state: PolicyState, world: World) -> Iterator[FaultyPart]:
    """Yield the logins of an AuthPolicy for which the Secrets of this world are of no use, and those half of use."""
    homes = {each.key.namespace for each in world.of_kind("kuadrant.io", "Kuadrant")}
    for place, login in _logins(state.policy):
        selector = mapping(login.get("selector"))
        if not selector:
            continue
        secrets = world.of_kind("", "Secret")
        selected = [each for each in secrets if matches(selector, each.labels)]
        everywhere = login.get("allNamespaces") is True
        found = [each for each in selected if everywhere or not homes or each.key.namespace in homes]
        unwatched = [each for each in found if each.labels.get(_WATCHED[0]) != _WATCHED[1]]
        if unwatched and not any(world.of_kind("operator.authorino.kuadrant.io", "Authorino")):
            yield FaultyPart(
                (*place, "selector"),
                f"{unwatched[0].key} lacks the label {WATCHED}: authorino",
                fix=f"give it the label {WATCHED}: authorino",
                outcome="selects a Secret that Authorino does not watch: a new key, or its removal, is not noticed",
            )
        elif selected and not found:
            yield FaultyPart(
                place,
                f"{selected[0].key} is not in {listing(sorted(homes), word='or')}, where keys are sought",
                fix="set `allNamespaces: true`",
                outcome="finds none of the Secrets here that it selects: their keys are refused",
            )
        elif not selected and (near := _unclaimed(secrets, world, everywhere, homes)):
            yield FaultyPart(
                (*place, "selector"),
                f"{near.key} is a Secret for Authorino, and no AuthPolicy selects it",
                fix=f"give {near.key.path} the labels that are selected",
                outcome="selects no Secret here: the keys here are refused",
            )


def _logins(policy: Resource) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield the places of what is kept in Secrets that are selected, and what stands there."""
    for rules in _RULES:
        value = mapping(value_at(policy.body, (*rules, "authentication")))
        for name, login in value.items():
            for field in _BY_SECRET:
                if isinstance(mapping(login).get(field), dict):
                    yield (*rules, "authentication", name, field), mapping(mapping(login)[field])


def _unclaimed(secrets: Sequence[Resource], world: World, everywhere: bool, homes: set[str]) -> Resource | None:
    """Return a Secret for Authorino, where one is sought, that no AuthPolicy selects."""
    policies = world.of_kind("kuadrant.io", "AuthPolicy")
    asked = [mapping(login.get("selector")) for policy in policies for _, login in _logins(policy)]
    kept = (each for each in secrets if each.labels.get(_WATCHED[0]) == _WATCHED[1])
    near = (each for each in kept if everywhere or each.key.namespace in homes)
    return next((each for each in near if not any(matches(selector, each.labels) for selector in asked)), None)
