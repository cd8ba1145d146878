"""GWP617: a label in a selector of Cilium that looks like one of its own, and is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.fixes import relabel
from policylint.checks.kit.locations import path
from policylint.checks.kit.wording import near
from policylint.documents import Pointer
from policylint.model import Finding
from policylint.network.cilium import ACCOUNT, CLUSTER, NAMESPACE, bare, is_unknown
from policylint.network.kinds import CILIUM
from policylint.simulation import Simulation

RULE = "GWP617"
_DEEPEST = 12


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in CILIUM:
        for policy in simulation.world.of_kind(*kind):
            for field in ("spec", "specs"):
                for pointer, label, is_key, excludes in _labels(policy.body.get(field), (field,)):
                    if is_unknown(label):
                        meant = near(bare(label), (NAMESPACE, ACCOUNT, CLUSTER))
                        location = policy.location(*pointer, key=is_key)
                        new = f"{label.removesuffix(bare(label))}{meant}" if meant else ""
                        yield Finding(
                            RULE,
                            "warning",
                            f"{policy.key} selects by {label}, a label that Cilium does not know: "
                            f"it {'excludes' if excludes else 'selects'} nothing",
                            location,
                            resources=(policy.key,),
                            label=f"{meant} was probably meant" if meant else "no pod carries such a label",
                            fixes=relabel(location, label, new) if new else (),
                            field=path(pointer),
                        )


def _labels(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str, bool, bool]]:
    """Yield the label keys of all selectors below a value: place, key, whether it is a mapping's key, and excludes."""
    if len(pointer) > _DEEPEST:
        return
    if isinstance(value, dict):
        labels = value.get("matchLabels")
        for label in labels if isinstance(labels, dict) else ():
            yield (*pointer, "matchLabels", label), label, True, False
        if isinstance(value.get("key"), str) and pointer[-2:-1] == ("matchExpressions",):
            yield (*pointer, "key"), value["key"], False, value.get("operator") in ("NotIn", "DoesNotExist")
        for name, inner in value.items():
            if name != "matchLabels":
                yield from _labels(inner, (*pointer, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _labels(inner, (*pointer, number))
