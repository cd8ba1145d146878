"""What two answers about one world say, as facts: `object [part] | what` and its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Facts = dict[str, str]
COMPARED_MESSAGES = ("Overridden", "Merged")
"""Conditions with messages that name objects: which ones, is a fact."""
NOBODY_SAYS = "-"


class Difference(NamedTuple):
    """A fact of which the real thing and policylint say two things."""

    fact: str
    real: str
    ours: str

    @property
    def sort(self) -> str:
        """Return what differences of one cause have in common: the kind, the condition and both values."""
        about, _, what = self.fact.rpartition(" | ")
        kind = about.split(" ", 1)[0]
        if self.real.startswith(("refused", "stored")) and self.ours.startswith(("refused", "stored")):
            return f"{kind} | {self.real.split()[0]} / {self.ours.split()[0]}"
        real, ours = (("a list" if what.endswith(" message") else value) for value in (self.real, self.ours))
        return f"{kind} | {what}: {real} / {ours}"


def differences(real: Facts, ours: Facts) -> list[Difference]:
    """Return the facts that are not the same on both sides, by name."""
    return [
        Difference(fact, real.get(fact, NOBODY_SAYS), ours.get(fact, NOBODY_SAYS))
        for fact in sorted(real.keys() | ours.keys())
        if real.get(fact) != ours.get(fact)
    ]


def of_statuses(objects: Iterable[Mapping[str, Any]], left_out: Sequence[str] = ()) -> Facts:
    """Return the facts of objects with a `status`: conditions by what they are about, routes by listener.

    Args:
        objects: each with kind, namespace, name and status.
        left_out: types of conditions that the asked part of a controller does not write.
    """
    facts: Facts = {}
    for each in objects:
        own = f"{each['kind']} {each['namespace']}/{each['name']}"
        status = each["status"]
        _conditions(facts, own, status.get("conditions"), left_out)
        for listener in status.get("listeners") or ():
            part = f"{own}#{listener['name']}"
            facts[f"{part} | attachedRoutes"] = str(listener.get("attachedRoutes") or 0)
            kinds = sorted({str(kind["kind"]) for kind in listener.get("supportedKinds") or ()})
            facts[f"{part} | kinds"] = " ".join(kinds)
            _conditions(facts, part, listener.get("conditions"), left_out)
        if status.get("attachedListenerSets"):
            facts[f"{own} | attachedListenerSets"] = str(status["attachedListenerSets"])
        for entry in status.get("parents") or ():
            _conditions(facts, f"{own} < {_reference(entry['parentRef'], each)}", entry.get("conditions"), left_out)
        for entry in status.get("ancestors") or ():
            _conditions(facts, f"{own} @ {_reference(entry['ancestorRef'], each)}", entry.get("conditions"), left_out)
    return facts


def _reference(reference: Mapping[str, Any], of: Mapping[str, Any]) -> str:
    """Return a ParentReference in one spelling, with its defaults."""
    namespace = reference.get("namespace") or of["namespace"]
    kind = reference.get("kind") or "Gateway"
    told = f"{kind} {'' if kind == 'GatewayClass' else namespace}/{reference['name']}"
    told += f"#{reference['sectionName']}" if reference.get("sectionName") else ""
    return told + (f":{reference['port']}" if reference.get("port") else "")


def _conditions(
    facts: Facts, about: str, conditions: Iterable[Mapping[str, Any]] | None, left_out: Sequence[str]
) -> None:
    for condition in conditions or ():
        name = condition["type"]
        if name in left_out:
            continue
        facts[f"{about} | {name}"] = f"{condition['status']}/{condition['reason']}"
        if name in COMPARED_MESSAGES:
            facts[f"{about} | {name} message"] = condition["message"]
