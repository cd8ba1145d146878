"""Matches of VirtualServices by claims of tokens: they see what a RequestAuthentication at the Gateway has checked.

Source: istio/istio pilot/pkg/networking/core/route/route.go, translateMetadataMatch (the metadata that the check of
tokens leaves; without any it does not hold, and inverted it always does); pkg/jwt/routing.go, ToRoutingClaim;
istio.io/docs/tasks/security/authentication/jwt-route (Gateways alone); …/docs/reference/config/analysis, IST0149.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.istio_rules import CLAIMS, MESH, in_full
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY, ROOT, homes, selected
from policylint.model import Resource, World, is_symbolic, mapping, sequence
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.namedtuple import NamedTuple
from policylint.topology.workloads import pod_labels

_CLAIMS = ("@request.auth.claims.", "@request.auth.claims[")
_CHECKING = ("security.istio.io", "RequestAuthentication")
_HELD, _LACKING = "headers", "withoutHeaders"


class Unchecked(NamedTuple):
    """A match by claims where nothing checks tokens.

    Args:
        reader: the Gateway, None where the proxies of clients in the mesh have the rule.
        inverted: whether it takes every request then, and not none.
    """

    virtual: Resource
    pointer: Pointer
    claim: str
    reader: Resource | None
    inverted: bool
    certain: bool


def told(world: World, reader: Resource | None, matches: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield matches without what they ask of claims where nothing checks tokens, and none that asks for one of them;
    elsewhere it is an expression that nobody reads here."""
    for match in matches:
        names = {field: [name for name in mapping(match.get(field)) if _is_claim(name)] for field in (_HELD, _LACKING)}
        if not any(names.values()):
            yield match
            continue
        checked = checks(world, reader)
        if checked is False and names[_HELD]:
            continue
        rest = {field: {k: v for k, v in mapping(match.get(field)).items() if not _is_claim(k)} for field in names}
        whole = {**match, **rest}
        yield whole if checked is False else {**whole, CLAIMS: ", ".join([*names[_HELD], *names[_LACKING]])}


def checks(world: World, reader: Resource | None) -> bool | None:
    """Return whether tokens of requests are checked at a Gateway; None where that is not known, and in the mesh, where
    some policy checks any."""
    policies = [each for each in world.of_kind(*_CHECKING) if each.spec.get("jwtRules")]
    if reader is None:
        return None if policies else False
    around = homes(world, reader)
    answers = {_acts(world, policy, reader, around) for policy in policies}
    return True if True in answers else None if None in answers else False


def _acts(world: World, policy: Resource, gateway: Resource, around: set[str]) -> bool | None:
    """Return whether a policy acts at the pods of a Gateway; None where its labels fit, and its namespace does not, or
    is not known to."""
    wanted = mapping(mapping(policy.spec.get("selector")).get("matchLabels"))
    if policy.spec.get("targetRefs") or policy.spec.get("targetRef"):
        return False
    pods, named = selected(world, gateway), mapping(gateway.spec.get("selector"))
    if any(map(is_symbolic, (*wanted.values(), policy.key.namespace, *map(str, named.values())))):
        return None
    fits = (
        any(wanted.items() <= pod_labels(each).items() for each in pods)
        if pods
        else all(named.get(name, value) == value for name, value in wanted.items())
    )
    is_around = policy.key.namespace in {*around, ROOT}
    if not wanted:
        return is_around or (None if not around else False)
    return fits and (is_around or None)


def unchecked(world: World) -> Iterator[Unchecked]:
    """Yield the matches by claims at Gateways, and in the mesh, where nothing checks tokens."""
    known = {f"{each.key.namespace}/{each.key.name}": each for each in world.of_kind(*OWN_GATEWAY)}
    for virtual in world.of_kind(*VIRTUAL_SERVICE):
        if not virtual.spec.get("hosts"):
            continue  # others delegate to it, each for Gateways of its own
        named = in_full(virtual, virtual.spec.get("gateways")) or [MESH]
        for pointer, name, gateways in _asked(virtual):
            readers = [known.get(each) for each in gateways or named]
            for each, reader in zip(gateways or named, readers, strict=True):
                if (reader is None and each != MESH) or checks(world, reader) is not False:
                    continue
                certain = reader is None or (bool(homes(world, reader)) and not world.unseen)
                yield Unchecked(virtual, pointer, name, reader, pointer[-2] == _LACKING, certain)
                break


def _asked(virtual: Resource) -> Iterator[tuple[Pointer, str, list[str]]]:
    for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("http")))):
        for index, match in enumerate(map(mapping, sequence(rule.get("match")))):
            for field in (_HELD, _LACKING):
                for name in mapping(match.get(field)):
                    if _is_claim(name):
                        at = ("spec", "http", number, "match", index, field, name)
                        yield at, str(name), in_full(virtual, match.get("gateways"))


def _is_claim(name: object) -> bool:
    return str(name).lower().startswith(_CLAIMS)
