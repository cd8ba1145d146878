"""The contract finds each contradiction that was seen once its mend is taken out: a second home, given to one reader.

The table is docs/design/requests.md §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from policylint.catalog.content import ReadSet
from policylint.catalog.kinds import Catalog
from policylint.checks import route_without_authentication, shadowed_route_match
from policylint.compare import connections, opened
from policylint.compare.requests import answers, changes
from policylint.explain.unseen import UnseenActing, UnseenWords
from policylint.implementations.istio import Istio
from policylint.load.left_unread import LeftUnread
from policylint.network.meshes import Tunnel
from policylint.reach import EntryPoint, Stated, WayIn, ways
from policylint.report.diff import comment as said
from policylint.simulation import acting, meshes, serving
from policylint.simulation.acting import ActingIndex
from policylint.simulation.serving import Closed, attached
from policylint.topology import whole
from policylint.topology.ports import HostsServed
from policylint.trace import Request, Requirements, Trace, Tracer, network
from tests import worlds
from tests.contract.own import CHANGES, WORLDS
from tests.contract.test_contract import disagreements, disagreements_of

verdicts = import_module("policylint.guardrails.verdicts")
compared = import_module("policylint.compare")
simulated = import_module("policylint.simulation")
Patch = Callable[[pytest.MonkeyPatch], None]


class BlindTracer(Tracer):
    """Knows of no network policies."""

    def trace(self, request: Request, among: Any = None) -> Trace:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(network, "along", lambda *given: given[-1])
            return super().trace(request, among)


class DeafTracer(Tracer):
    """Does not ask policies who comes."""

    def judged(self, trace: Trace, *_: object) -> Trace:
        return trace


class WithoutCertificates(Requirements):
    """Takes no certificate for a login."""

    def _by_connection(self, *_: object) -> Iterator[Any]:
        return iter(())


class WithoutProxies(Requirements):
    """Does not ask the proxies of a mesh what they demand."""

    def _by_proxies(self, *_: object) -> Iterator[Any]:
        return iter(())


_DIFFERENCES = connections.differences


def _of(place: Any, name: str, value: object, *others: tuple[Any, str, object]) -> Patch:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for each in ((place, name, value), *others):
            monkeypatch.setattr(*each)

    return patch


def _ambient_by_namespace(*_: object) -> Tunnel:
    return Tunnel(15008, True, "its namespace is ambient", True)


def _of_anybody(tracer: Tracer, entry: EntryPoint, *_: object, blank: bool, **__: object) -> Iterator[WayIn]:
    yield ways._whole(tracer, entry, (), (), (), blank=blank)


def _by_crds_alone(broken: Any, _: object) -> bool:
    return broken.refusal is not None and broken.schema.origin is not None


IN_WORLDS: Mapping[str, tuple[str, str, Patch]] = {
    **{
        f"the index does not know what serves nothing: {world}": (
            world,
            "on which routes does it act",
            _of(acting, "closed", lambda *_: Closed({}, frozenset(), HostsServed())),
        )
        for world in WORLDS
        if world.startswith("policies at listeners") and not world.endswith(("that is not here", "unknown protocol"))
    },
    "GWP320 does not see the network policy that GWP604 reports": (
        "a network policy cuts the backend off",
        "does it get to the pods",
        _of(verdicts, "Tracer", BlindTracer),
    ),
    "reach and guardrails do not see what the network leaves open": (
        "nothing says what stands behind a Service beside network policies",
        "does it get to the pods",
        _of(Trace, "unsettled", ""),
    ),
    "GWP301 asks for a login where the listener demands a certificate": (
        "a client certificate is a login",
        "is a login asked",
        _of(route_without_authentication, "Requirements", WithoutCertificates),
    ),
    "guardrails deny the standard login of Istio": (
        "the standard login of Istio",
        "is a login asked",
        _of(verdicts, "Requirements", WithoutProxies),
    ),
    "reach says nothing where an authorizer outside decides": (
        "external authorization of Istio",
        "does it depend on who authorizes",
        _of(Requirements, "_by_proxies", WithoutProxies._by_proxies),
    ),
    "a policy that a shipped schema refuses acts": (
        "a policy that the API server refuses",
        "is it refused",
        _of(simulated, "_is_refused", _by_crds_alone),
    ),
    "an authorizer of a policy that a shipped schema refuses is asked": (
        "an external authorizer that the API server refuses",
        "is it refused",
        _of(simulated, "_is_refused", _by_crds_alone),
    ),
    "nobody asks policies about the addresses of TCP": (
        "addresses of clients on TCP",
        "who is turned away",
        _of(Tracer, "judged", lambda _, trace, *__: trace),
    ),
    "guardrails do not ask policies about the addresses of clients": (
        "addresses of clients on TCP",
        "who is turned away",
        _of(verdicts, "Tracer", DeafTracer),
    ),
    "reach tells no clients of TCP and TLS apart": (
        "addresses of clients on TCP and TLS of Istio",
        "who is turned away",
        _of(ways, "_connections", _of_anybody),
    ),
    "a header match of an unknown type takes everything in reach": (
        "a header match of an unknown type",
        "which rule takes it",
        _of(ways, "boxes_of", lambda matches, dimensions: [tuple(each.all for each in dimensions) for _ in matches]),
    ),
    "GWP408 looks at the words of matches": (
        "a rule all of whose requests another one takes",
        "does a rule get requests",
        _of(shadowed_route_match, "check", lambda _: ()),
    ),
    "a pod with a sidecar in an ambient namespace is ambient to the network": (
        "an injected pod in an ambient namespace",
        "is it ambient",
        _of(Istio, "tunnel", _ambient_by_namespace),
    ),
    "a mesh is there only where one of its policies is": (
        "an injected namespace without any policy",
        "is it in a mesh",
        _of(meshes, "_enrolments", lambda _: ()),
    ),
    "a Sidecar counts only beside a policy of Istio": (
        "a client with a Sidecar of its own",
        "where do requests inside end",
        _of(Catalog, "meshes_told", lambda *_: ()),
    ),
    "explain looks at the names of listeners alone": (
        "a listener for narrower hosts, without a route",
        "does a listener send a route anything",
        _of(serving.Closed, "served", HostsServed()),
    ),
    "explain looks for contexts that begin at the Gateway": (
        "policies of an Istio Gateway whose class is here",
        "on which routes does it act",
        _of(ActingIndex, "places", lambda index, number: index.groups[number].nodes),
    ),
    "every listener for the hosts of a route sends it requests": (
        "the timeout of a listener in place of that of its Gateway, one of which is for the hosts of a route",
        "on which routes does it act",
        _of(
            serving,
            "_going_on",
            lambda simulation, _: HostsServed(
                {(at.node, whole(of.route.key)): [""] for of, at in attached(simulation)}
            ),
        ),
    ),
    "only Services lead to workloads": (
        "a policy of Linkerd at a Server/web, without a Service",
        "at which objects does it act",
        _of(ActingIndex, "_at_servers", {}),
    ),
    "a waypoint takes requests by its listeners": (
        "a policy of Istio for a Service behind a waypoint without a usable listener",
        "on which routes does it act",
        _of(acting, "closed", lambda simulation, _: serving.closed(simulation, tuple)),
    ),
    "explain, list and the page do not ask for policies that were not seen": (
        "a chart whose values speak of policies",
        "may a policy act that was not seen",
        _of(UnseenActing, "on", lambda *_: UnseenWords()),
    ),
    "a Secret is read only where a field is called after it": (
        "a Secret under another field's name",
        "is it there",
        _of(ReadSet, "named", lambda *_: {}, (LeftUnread, "reason", lambda *_: "")),
    ),
}
IN_CHANGES: Mapping[str, tuple[str, str, Patch]] = {
    "diff does not see that a network policy goes": (
        "the network policy that cuts a backend off is deleted",
        "what does it open",
        _of(changes, "Tracer", BlindTracer),
    ),
    "diff says that a Service of which nobody knows what stands behind it is reached": (
        "a Service whose pods a network policy cuts off has no selector",
        "what does it open",
        _of(Trace, "unsettled", "", (answers, "_may_still", lambda *_: "")),
    ),
    "nothing takes the place of a login but a certificate": (
        "a login goes and a client certificate comes",
        "what does it open",
        _of(answers, "Requirements", WithoutCertificates),
    ),
    "whoever is in a list is meant, though it holds everybody": (
        "an allow-list is opened to two halves of everybody",
        "how bad is it",
        _of(changes, "_is_named", lambda *_: True),
    ),
    "diff cuts no regions by the paths of Istio": (
        "a path of a list of Istio takes what begins with it",
        "what does it open",
        _of(changes, "stated", lambda *_: Stated(asked=True)),
    ),
    "rows tell what is certain alone, and findings what may be": (
        "a network policy for whatever a variable says goes",
        "does it open connections between pods",
        _of(connections, "differences", lambda both: (each for each in _DIFFERENCES(both) if not each.ground)),
    ),
    "a connection between pods that opens is a row and no finding": (
        "a network policy lets all pods in that let some",
        "does it open connections between pods",
        _of(opened, "connections_opened", lambda *_: ()),
    ),
    "a setting that goes is taken for a login that goes": (
        "a policy goes that let everybody in",
        "does it ask for less",
        _of(said, "_is_judged", lambda *_: False),
    ),
    "a new route may be the older one": (
        "a route of the same match comes",
        "does what is new take requests over",
        _of(compared, "with_ages", lambda side, _: side),
    ),
}


@pytest.mark.parametrize("mend", IN_WORLDS)
def test_a_mend_of_one_environment(mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, question, patch = IN_WORLDS[mend]
    patch(monkeypatch)
    assert question in {each for each, _ in disagreements(worlds.opened(tmp_path, *WORLDS[world]))}


@pytest.mark.parametrize("mend", IN_CHANGES)
def test_a_mend_of_one_change(mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change, question, patch = IN_CHANGES[mend]
    patch(monkeypatch)
    sides = []
    for side, manifests in zip(("before", "after"), CHANGES[change], strict=True):
        (tmp_path / side).mkdir()
        sides.append(worlds.opened(tmp_path / side, *manifests))
    assert question in {each for each, _ in disagreements_of(*sides)}
