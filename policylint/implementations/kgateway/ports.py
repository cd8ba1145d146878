"""A ListenerPolicy by port: the settings of the listener's own port, where policies have any, stand for `default`.

Source: kgateway's listenerpolicy plugin, getPolicy: the entry of `perPort` if there is one, else `default`. Policies
are merged before, `default` with `default` and each port with the same port. Client certificates are a matter of their
own (gateway_listener_translator.go, getCertValidationFromAttached @ v2.4.0): `default` says it for every port, but only
policies that name the listener, or its ListenerSet, are looked at; those of a whole Gateway are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.implementations.kgateway.fields import VALIDATION, fields
from policylint.implementations.kgateway.merging import Level, fold, ranked
from policylint.model import Node, PolicyKind, mapping, sequence
from policylint.policy.folding import Folding
from policylint.policy.paths import ListedPaths, Path
from policylint.policy.results import Attachment, Declared, Group
from policylint.topology import Topology


def by_port(group: Group, topology: Topology) -> Iterator[Group]:
    """Yield a group once per port with settings of its own, and once for all other ports."""
    stack = group.effective.stack
    own = {port for attachment in stack for port in _ports(attachment)}
    paths: dict[int | None, list[Path]] = defaultdict(list)
    for path in group.contexts():
        listener = topology.listener(path[-1])
        port = listener.port if listener is not None else None
        paths[port if port in own else None].append(path)
    for port, contexts in sorted(paths.items(), key=lambda item: item[0] or 0):
        settings = tuple(_at(attachment, port) for attachment in stack)
        folded = _merged(group.kind, settings)
        if port is not None:
            _without_default(folded, group.kind, stack)
        nodes = {node for path in contexts for node in path}
        yield group._replace(
            effective=folded.effective(settings)._replace(refused=group.effective.refused),
            contexts=ListedPaths(tuple(contexts)),
            nodes={node: keys for node, keys in group.nodes.items() if node in nodes},
        )


def takes_certificates(node: Node) -> bool:
    """Return whether the validation of client certificates of a policy on a node is looked at."""
    return bool(node.section) or node.key.kind != "Gateway"


def _merged(kind: PolicyKind, attachments: tuple[Attachment, ...]) -> Folding:
    """Merge from the most specific level up: a listener's policies, then those of its Gateway."""
    levels: dict[object, list[Attachment]] = {}
    for attachment in attachments:
        levels.setdefault(attachment.node, []).append(attachment)
    return fold(kind.kind, [Level(ranked(*reversed(levels.values())))])


def _ports(attachment: Attachment) -> Iterator[object]:
    for entry in map(mapping, sequence(attachment.declared[0].proper.get("perPort"))):
        yield entry.get("port")


def _at(attachment: Attachment, port: int | None) -> Attachment:
    """Return an attachment that declares what its policy says of one port, of all others for None."""
    whole = attachment.declared[0]
    place: tuple[str | int, ...] = ("default",)
    default = mapping(whole.proper.get("default"))
    settings = default if port is None else {}
    for index, entry in enumerate(map(mapping, sequence(whole.proper.get("perPort")))):
        if port is not None and entry.get("port") == port:
            place, settings = ("perPort", index, "listener"), mapping(entry.get("listener"))
    settings = {name: value for name, value in settings.items() if name != VALIDATION}
    if VALIDATION in default and takes_certificates(attachment.node):
        settings = {**settings, VALIDATION: default[VALIDATION]}
    return attachment._replace(declared=(Declared(settings, (*whole.prefix, *place), whole.mode, whole.granularity),))


def _without_default(folded: Folding, kind: PolicyKind, stack: tuple[Attachment, ...]) -> None:
    """Count `default` as lost to the policies that have settings of the port."""
    owners = set(folded.owners().values())
    for attachment in stack:
        default = _at(attachment, None)
        for field, value in fields(kind.kind, default.declared[0].proper):
            if field != (VALIDATION,):
                folded.lose(default, field, value, owners)
