"""GWP319: an expression that reads what the policies before it would have to expose, and none does.

Which kinds expose and read attributes says the catalog (`exposes`, `expects`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.content import places
from policylint.checks.kit.claim_headers import late, unset
from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Node, PolicyKind, Related, ResourceKey, mapping
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.policy_kind import Attributes
from policylint.model.resource import value_at
from policylint.policy.results import Attachment, Group
from policylint.simulation import Simulation

RULE = "GWP319"


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _of_expressions(simulation)
    yield from _of_headers(simulation)
    yield from _of_matches(simulation)
    if simulation.world.of_kind(*VIRTUAL_SERVICE):
        yield from _of_claims(simulation)


def _of_claims(simulation: Simulation) -> Iterator[Finding]:
    """Yield the matches by claims of tokens where nothing checks any, each object once for each way they go wrong."""
    from policylint.doors.istio_claims import unchecked

    seen: set[tuple[ResourceKey, bool]] = set()
    for each in unchecked(simulation.world):
        virtual, reader = each.virtual, each.reader
        if (virtual.key, each.inverted) in seen:
            continue
        seen.add((virtual.key, each.inverted))
        where = "in the mesh" if reader is None else f"at {reader.key}"
        pods = "a RequestAuthentication that selects its pods, in their namespace"
        fix = "route by claims at a Gateway, which checks tokens" if reader is None else f"add {pods}"
        yield Finding(
            RULE,
            "warning",
            f"{path(each.pointer)} of {virtual.key} asks for a claim, and nothing checks tokens {where}",
            virtual.location(*each.pointer, key=True),
            resources=(virtual.key, *(() if reader is None else (reader.key,))),
            label="it holds for every request, with any token or none" if each.inverted else "it holds for no request",
            help=(f"fix: {fix}",),
            confidence="certain" if each.certain else "assumed",
            ground="" if each.certain else "a policy that was not seen may check them",
            field=path(each.pointer),
        )


def _of_headers(simulation: Simulation) -> Iterator[Finding]:
    """Yield the headers of tokens that a policy reads where clients alone write them, each once per policy."""
    told: set[tuple[ResourceKey, str]] = set()
    for each in unset(simulation):
        effective = each.group.effective
        if (each.owner, each.header.lower()) not in told:
            told.add((each.owner, each.header.lower()))
            policy = next(attachment.policy for attachment in effective.stack if attachment.key == each.owner)
            ground = "a policy that was not seen may set it" if simulation.world.unseen else ""
            yield Finding(
                RULE,
                "warning",
                f"{path(each.leaf)} of {each.owner} reads {each.header}, which no policy sets for {each.route}",
                effective.location_of(each.leaf) or policy.location("spec", *each.leaf),
                resources=(each.owner, each.setter, each.route),
                label=f"{each.setter} sets it from tokens for others; here it is what clients write",
                help=("fix: have the token checked there as well, or read what clients cannot choose",),
                confidence="assumed" if ground else "certain",
                ground=ground,
                field=path(each.leaf),
            )


def _of_matches(simulation: Simulation) -> Iterator[Finding]:
    """Yield the rules of routes that match a header which a policy sets when the route is chosen already."""
    told: set[tuple[ResourceKey, str]] = set()
    for each in late(simulation):
        if (each.route.key, each.header.lower()) not in told:
            told.add((each.route.key, each.header.lower()))
            yield Finding(
                RULE,
                "warning",
                f"{path(each.pointer)} of {each.route.key} matches {each.header}, which {each.setter} sets too late",
                each.route.location(*each.pointer),
                resources=(each.route.key, each.setter),
                label="the route is chosen before that: what clients write decides",
                help=(f"fix: set `{path(each.again)}` of {each.setter} to true",) if each.again else (),
                field=path(each.pointer),
            )


def _of_expressions(simulation: Simulation) -> Iterator[Finding]:
    exposing = [group for group in simulation.groups if group.kind.exposes is not None and group.effective.owners]
    numbers: dict[tuple[Node, ...], list[int]] = {}
    told: set[tuple[ResourceKey, tuple[str, ...]]] = set()
    for group in simulation.groups:
        expects = group.kind.expects
        if expects is None:
            continue
        # By place, not as the keys of a map are written: of several that read one attribute the first is told.
        read = [
            (each, *what)
            for each in group.effective.stack
            for what in sorted(_read(each, group, expects), key=lambda what: [str(step) for step in what[0]])
        ]
        if read and not numbers:
            for number, each in enumerate(exposing):
                for context in each.contexts():
                    numbers.setdefault(context, []).append(number)
        found = {number for context in group.contexts() for number in numbers.get(context, ())} if read else ()
        beside = [exposing[number] for number in sorted(found)]
        is_alone = not beside and not simulation.world.unseen and bool(group.routes())
        for attachment, pointer, names in read:
            whole_name, lacking = (expects.root, *names), _lacking_in_all(attachment, beside, names, simulation)
            if (is_alone or lacking) and (attachment.key, names) not in told:
                told.add((attachment.key, names))
                if is_alone:
                    yield _alone(attachment, pointer, group, whole_name, expects, simulation)
                else:
                    yield _finding(attachment, pointer, whole_name, beside[0], lacking, expects)


def _read(attachment: Attachment, group: Group, expects: Attributes) -> Iterator[tuple[Pointer, tuple[str, ...]]]:
    """Yield where expressions of a policy that are in effect read an attribute, and its names without the root."""
    from policylint.cel.syntax import tree

    for declared in attachment.declared:
        for field in expects.paths:
            for place, written in places(declared.proper, field, ()):
                if not isinstance(written, str) or _may_do_without(written):
                    continue
                if all(at != place[: len(at)] or who != attachment.key for at, who in group.effective.owners.items()):
                    continue  # another policy's stands there
                for names in _attributes(tree(written)):
                    if names[0] == expects.root and len(names) > 1:
                        yield (*declared.prefix, *place), names[1:]


def _may_do_without(expression: str) -> bool:
    """Tell whether an expression asks whether something is there, or has another way."""
    return "has(" in expression or "?" in expression or "||" in expression


def _attributes(expression: object) -> Iterator[tuple[str, ...]]:
    """Yield the fields that the tree of an expression reads, each as the names that lead to it."""
    names: list[str] = []
    inner = expression
    while isinstance(inner, list):
        match inner:
            case [".", holder, str(name)] | ["[]", holder, ["=", str(name)]]:
                names.insert(0, name)
                inner = holder
            case _:
                for part in inner:
                    yield from _attributes(part)
                return
    if isinstance(inner, str) and names:
        yield inner, *names


def _lacking_in_all(
    attachment: Attachment, beside: Sequence[Group], names: tuple[str, ...], simulation: Simulation
) -> str:
    """Return the field in which no policy beside exposes an attribute; "" if one does, or may, or there is none."""
    if any(_is_meant(attachment, each, names, simulation) for each in beside):
        return ""
    lacking = {_lacking(each.kind, each.effective.spec, names, simulation) for each in beside}
    return lacking.pop() if len(lacking) == 1 else ""


def _is_meant(attachment: Attachment, group: Group, names: tuple[str, ...], simulation: Simulation) -> bool:
    """Tell whether a policy for the same object exposes an attribute, where another has taken its place: routes that
    keep it, which may not be here, are what the expression is for."""
    return any(
        not _lacking(group.kind, declared.proper, names, simulation)
        for beside in group.effective.stack
        if beside.node.key == attachment.node.key
        for declared in beside.declared
    )


def _lacking(kind: PolicyKind, spec: Mapping[str, Any], names: tuple[str, ...], simulation: Simulation) -> str:
    """Return the field in which a policy does not expose an attribute; "" if it does, or may."""
    exposes = kind.exposes
    if exposes is None or any(name in exposes.also for name, _ in simulation.world.kinds()):
        return ""
    place = tuple(exposes.path.split("."))
    outputs = mapping(value_at(spec, place))
    if names[0] not in outputs:
        return exposes.path
    inside = tuple(exposes.inside.split("."))
    fields = value_at(mapping(outputs[names[0]]), inside)
    if not isinstance(fields, dict) or len(names) == 1 or names[1] in fields:
        return ""
    return ".".join((exposes.path, names[0], *inside))


def _alone(
    attachment: Attachment,
    pointer: Pointer,
    group: Group,
    names: tuple[str, ...],
    expects: Attributes,
    simulation: Simulation,
) -> Finding:
    """Return the finding about a policy that reads attributes where no policy acts that exposes any."""
    kinds = [
        kind.kind
        for kind in simulation.catalog.kinds()
        if kind.implementation == group.kind.implementation and kind.exposes is not None
    ]
    route = min(group.routes())
    return Finding(
        RULE,
        "warning",
        f"{path(pointer)} of {attachment.key} reads {'.'.join(names)}, and no {' or '.join(kinds)} acts on {route}",
        attachment.policy.location(*pointer),
        resources=(attachment.key, route),
        label=f"nothing declares {names[0]} there: {expects.otherwise}",
        confidence="assumed",
        ground=f"no {' or '.join(kinds)} for it was seen",
        help=("fix: ask for a login there, or read something of the request",),
        field=path(pointer),
    )


def _finding(
    attachment: Attachment, pointer: Pointer, names: tuple[str, ...], before: Group, lacking: str, expects: Attributes
) -> Finding:
    exposing = before.effective.stack[-1].policy
    return Finding(
        RULE,
        "warning",
        f"{path(pointer)} of {attachment.key} reads {'.'.join(names)}, which {exposing.key} does not expose",
        attachment.policy.location(*pointer),
        resources=(attachment.key, exposing.key),
        label=f"it fails for every request: {expects.otherwise}",
        related=(Related(f"{lacking} lacks it", exposing.name_location),),
        help=(f"fix: add it to {lacking} of {exposing.key}",),
        field=path(pointer),
    )
