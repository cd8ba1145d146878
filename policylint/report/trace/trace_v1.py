"""`trace-v1`: what became of requests as plain data (docs/design/interfaces.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Location
from policylint.report.kit.identity import Names, json_pointer
from policylint.trace import Forwarded, Met, Outcome, Trace

VERSION = "trace-v1"
Entry = dict[str, Any]


def entry(trace: Trace, names: Names, environment: str = "") -> Entry:
    """One request and what became of it; fields without an answer are null."""
    found: Entry = {"environment": environment} if environment else {}
    found.update(
        request=dict(trace.request.given),
        gateway=None if trace.gateway is None else names.key(trace.gateway),
        listener=None if trace.listener is None else names.node(trace.listener.node),
        route=None if trace.route is None else names.key(trace.route.key),
        rule=None if trace.rule is None else names.node(trace.rule),
        outcome=outcome(trace.outcome, names),
        forwarded=None if trace.forwarded is None else forwarded(trace.forwarded),
        response={"headers": dict(trace.response)},
        mirrors=[names.key(each) for each in trace.mirrors],
        backend_tls=trace.backend_tls,
        policies=[_met(each, names) for each in trace.policies],
        considered=[{"rule": names.node(each.rule), "because": each.because} for each in trace.considered],
    )
    if trace.match:
        found["match"] = trace.match
    if trace.per_backend:
        found["perBackend"] = {names.key(key): {"request": forwarded(each)} for key, each in trace.per_backend.items()}
    if trace.nearest:
        found["nearest"] = [{"node": names.node(each.node), "needs": list(each.needs)} for each in trace.nearest]
    if trace.rule is not None and trace.route is not None:
        found["location"] = place(trace.route.location(*trace.rule_pointer))
    if trace.outcome.reason:
        found["reason"] = trace.outcome.reason
    if trace.notes:
        found["notes"] = list(trace.notes)
    return found


def outcome(value: Outcome, names: Names) -> Entry:
    """`{"backends": …}`, `{"redirect": …}`, `{"status": …}`, `{"refused": true}` or `{"unknown": true}`.

    Where some backends cannot be used, `failing` is the share of requests that gets an error instead.
    """
    if value.redirect is not None:
        redirect = value.redirect._asdict()
        return {"redirect": {name: each for name, each in redirect.items() if each is not None}}
    backends = {names.key(key): round(share, 6) for key, share in value.backends.items()}
    if backends:
        failing = round(value.failing, 6)
        return {"backends": backends, "failing": failing} if failing else {"backends": backends}
    if value.refused:
        return {"refused": True}
    if value.unknown:
        return {"unknown": True}
    found: Entry = {"status": value.status}
    return {**found, "grpcStatus": value.grpc_status} if value.grpc_status else found


def forwarded(value: Forwarded) -> Entry:
    found: Entry = {"method": value.method, "host": value.host, "path": value.path, "headers": dict(value.headers)}
    found = {name: each for name, each in found.items() if each or name == "headers"}
    return {**found, "sni": value.sni} if value.sni else found


def place(location: Location) -> Entry:
    return {"file": location.file, "line": location.at()[0]}


def document(entries: list[Entry]) -> Mapping[str, Any]:
    return {"version": VERSION, "requests": entries}


def _met(met: Met, names: Names) -> Entry:
    effective = met.group.effective
    lost = [
        {"pointer": json_pointer(each.pointer), "policy": names.key(each.policy), "by": ", ".join(names.keys(each.by))}
        for each in effective.lost
    ]
    found: Entry = {
        "kind": names.kind(met.group.kind.group, met.group.kind.kind),
        "spec": dict(effective.spec),
        "from": names.keys(effective.sources),
        "lost": sorted(lost, key=lambda each: (each["pointer"], each["policy"], each["by"])),
    }
    return found if met.backend is None else {"backend": names.key(met.backend), **found}
