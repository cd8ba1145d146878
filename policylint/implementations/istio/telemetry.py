"""Telemetry: mesh, namespace and attached policies one after the other, each kind of data by rules of its own.

docs/design/implementations/istio.md §4; pilot/pkg/model/telemetry.go: Tracing, mergeLogs, mergeMetrics. Everything is
worked out for each side of a request (CLIENT, SERVER); where both sides come out alike the side is not printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.provenance import ProvenanceLedger, Slot, nested, singletons
from policylint.model import ResourceKey, mapping, sequence, text
from policylint.policy.results import Attachment, Effective

_TRACING = (
    "customTags",
    "disableContextPropagation",
    "disableSpanReporting",
    "enableIstioTags",
    "randomSamplingPercentage",
    "useRequestIdForTraceSampling",
)
_METRICS = (
    "REQUEST_COUNT",
    "REQUEST_DURATION",
    "REQUEST_SIZE",
    "RESPONSE_SIZE",
    "TCP_OPENED_CONNECTIONS",
    "TCP_CLOSED_CONNECTIONS",
    "TCP_SENT_BYTES",
    "TCP_RECEIVED_BYTES",
    "GRPC_REQUEST_MESSAGES",
    "GRPC_RESPONSE_MESSAGES",
)
_ALL = "ALL_METRICS"
DEFAULT_PROVIDERS: Mapping[str, Any] = {"metrics": ["prometheus"]}
"""meshConfig.defaultProviders of a default installation; tracing and access logging have none."""
BOTH = ("CLIENT", "SERVER")


def telemetry(
    stack: tuple[Attachment, ...], modes: tuple[str, ...] = BOTH, providers: Mapping[str, Any] = DEFAULT_PROVIDERS
) -> Effective:
    """Return the effect of a stack on a proxy on these sides of requests, with the mesh's default providers."""
    counting, younger = singletons(stack)
    ledger = ProvenanceLedger(younger)
    _tracing(ledger, counting, modes)
    _logging(ledger, counting, modes, _names(providers.get("accessLogging")))
    _metrics(ledger, counting, modes, _names(providers.get("metrics")))
    return _finished(ledger, stack, modes)


def _finished(ledger: ProvenanceLedger, stack: tuple[Attachment, ...], modes: tuple[str, ...]) -> Effective:
    """Return the spec: one field per kind of data, by side where the sides differ."""
    leaves: dict[Slot, Any] = {}
    owners: dict[Pointer, ResourceKey] = {}
    for field in ("tracing", "accessLogging", "metrics"):
        sides = {mode: _compressed(ledger.below((mode, field))) for mode in modes}
        alike = all(side == sides[modes[0]] for side in sides.values())
        for mode in modes[:1] if alike else modes:
            prefix = (field,) if alike else (field, mode)
            side = sides[mode]
            leaves.update({(*prefix, *slot): value for slot, value in side.items()})
            keys = ledger.owners_below((mode, field))
            owners.update({(*prefix, *slot): keys.get(slot) or keys[_whole(slot)] for slot in side})
    return Effective(nested(leaves), owners, ledger.lost(), stack)


def _compressed(side: Mapping[Slot, Any]) -> dict[Slot, Any]:
    """Write settings that all metrics of a provider have once, for ALL_METRICS."""
    compressed: dict[Slot, Any] = {}
    for slot, value in side.items():
        is_metric = len(slot) > 2 and slot[1] in _METRICS
        everywhere = is_metric and all(side.get((slot[0], name, *slot[2:])) == value for name in _METRICS)
        compressed[(slot[0], _ALL, *slot[2:]) if everywhere else slot] = value
    return compressed


def _whole(slot: Slot) -> Slot:
    return (slot[0], _METRICS[0], *slot[2:])


def _entries(stack: list[Attachment], field: str) -> Iterator[tuple[Attachment, int, Mapping[str, Any]]]:
    for attachment in stack:
        for index, entry in enumerate(sequence(attachment.policy.spec.get(field))):
            yield attachment, index, mapping(entry)


def _names(value: object) -> list[str]:
    return [name for each in sequence(value) if (name := text(each))]


def _providers(entry: Mapping[str, Any]) -> list[str]:
    return [name for each in sequence(entry.get("providers")) if (name := text(mapping(each).get("name")))]


def _sides(match: object, modes: tuple[str, ...]) -> list[str]:
    """Return the sides that an entry is for; CLIENT_AND_SERVER, like none at all, is both."""
    mode = text(mapping(match).get("mode"))
    return [side for side in modes if mode not in BOTH or side == mode]


def _tracing(ledger: ProvenanceLedger, stack: list[Attachment], modes: tuple[str, ...]) -> None:
    """Merge field by field; of several providers the first counts; customTags as a whole."""
    for attachment, index, entry in _entries(stack, "tracing"):
        names = _providers(entry)
        for mode in _sides(entry.get("match"), modes):
            if names:
                ledger.put((mode, "tracing", "provider"), names[0], attachment, ("tracing", index, "providers"))
            for field in _TRACING:
                if entry.get(field) is not None:
                    ledger.put((mode, "tracing", field), entry[field], attachment, ("tracing", index, field))


def _logging(ledger: ProvenanceLedger, stack: list[Attachment], modes: tuple[str, ...], default: list[str]) -> None:
    """Take per provider the last matching entry as a whole; the lowest level that names providers chooses them.

    An entry that names none is about those of the entry before, the first about the mesh's own; with none at all it is
    ignored (IST0157).
    """
    current = default
    scopes: dict[str, tuple[Attachment, set[str]]] = {}
    for attachment, index, entry in _entries(stack, "accessLogging"):
        names = _providers(entry)
        current = names or current
        pointer: Pointer = ("accessLogging", index)
        for mode in _sides(entry.get("match"), modes):
            if names:
                by, scope = scopes.get(mode, (attachment, set()))
                scopes[mode] = attachment, {*(scope if by is attachment else ()), *names}
            for name in current:
                slot = (mode, "accessLogging", name)
                ledger.clear(slot, attachment)
                disabled = entry.get("disabled")
                place = (*pointer, "disabled") if "disabled" in entry else pointer
                ledger.put((*slot, "disabled"), disabled is True, attachment, place)
                if entry.get("filter") is not None:
                    ledger.put((*slot, "filter"), entry["filter"], attachment, (*pointer, "filter"))
    for mode, (by, scope) in scopes.items():
        _keep_only(ledger, "accessLogging", scope, by, (mode,))


def _metrics(ledger: ProvenanceLedger, stack: list[Attachment], modes: tuple[str, ...], default: list[str]) -> None:
    """Add overrides up by provider, side and metric; disabling all lasts until a later one re-enables."""
    scope = default
    scoped_by: Attachment | None = None
    for attachment, _, entry in _entries(stack, "metrics"):
        if _providers(entry):
            scope, scoped_by = _providers(entry), attachment
    current = default
    for attachment, index, entry in _entries(stack, "metrics"):
        current = _providers(entry) or current
        interval = entry.get("reportingInterval")
        for name in current:
            if interval is not None:
                for mode in modes:
                    slot = (mode, "metrics", name, "reportingInterval")
                    ledger.put(slot, interval, attachment, ("metrics", index, "reportingInterval"))
            for number, value in enumerate(sequence(entry.get("overrides"))):
                _override(ledger, attachment, ("metrics", index, "overrides", number), name, mapping(value), modes)
    if scoped_by is not None:
        _keep_only(ledger, "metrics", set(scope), scoped_by, modes)
    for mode in modes:
        for name in {slot[0] for slot in ledger.below((mode, "metrics")) if slot[1:] == ("disabled",)}:
            ledger.keep_only((mode, "metrics", name), "disabled")


def _override(
    ledger: ProvenanceLedger,
    attachment: Attachment,
    pointer: Pointer,
    provider: str,
    override: Mapping[str, Any],
    modes: tuple[str, ...],
) -> None:
    match = mapping(override.get("match"))
    metric = text(match.get("customMetric")) or text(match.get("metric")) or _ALL
    disabled = override.get("disabled")
    for mode in _sides(match, modes):
        filter_ = (mode, "metrics", provider, "disabled")
        if metric == _ALL and disabled is True:
            ledger.put(filter_, True, attachment, (*pointer, "disabled"))
            continue
        ledger.clear(filter_, attachment)
        for name in _METRICS if metric == _ALL else (metric,):
            slot = (mode, "metrics", provider, name)
            if disabled is not None:
                ledger.put((*slot, "disabled"), disabled is True, attachment, (*pointer, "disabled"))
            for tag, value in mapping(override.get("tagOverrides")).items():
                ledger.put((*slot, "tagOverrides", tag), value, attachment, (*pointer, "tagOverrides", tag))


def _keep_only(ledger: ProvenanceLedger, field: str, scope: set[str], by: Attachment, modes: tuple[str, ...]) -> None:
    """Clear providers that a lower level no longer names, with all that was said of them."""
    for mode in modes:
        for name in {slot[0] for slot in ledger.below((mode, field))} - scope:
            ledger.clear((mode, field, name), by)
