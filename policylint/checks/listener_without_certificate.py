"""GWP412: a listener of HTTPS or TLS that has no certificate, and serves nobody.

It says nothing of TLS, or cert-manager is to make its Secret and does not: the listener has no hostname, annotations
contradict each other, the challenge has no listener of HTTP, or cert-manager is installed without eyes for Gateways.

Sources: cert-manager.io, «Annotated Gateway resource» and «HTTP-01: Gateway API»; its
pkg/controller/certificate-shim/sync.go, issuerForIngressLike, and pkg/issuer/acme/http/httproute.go; its chart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.challenges import Challenge, challenges, issuers
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import grade, listeners
from policylint.load.charts import values_of
from policylint.model import Finding, Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS, WAYS_IN
from policylint.simulation import Simulation
from policylint.simulation.serving import without_tls
from policylint.topology import ListenerState, ReferenceState
from policylint.topology.ancestry import implementation_of
from policylint.topology.certificates import CERT_MANAGER, MADE, certificates, is_annotated, unissued

RULE = "GWP412"
_GROUPED = ("cert-manager.io/issuer-kind", "cert-manager.io/issuer-group")
_FALLBACK = "acme.cert-manager.io/http01-parentreffallback"
_UNISSUED = {
    "no hostname": (
        "cert-manager takes the names of a certificate from the listener, not from its routes",
        "give the listener a `hostname`",
    ),
    "a Secret of another namespace": (
        "cert-manager passes over listeners that name a Secret outside of their own namespace",
        "name a Secret of its own namespace",
    ),
}
"""What a listener has for which cert-manager passes it over: the reason, and what helps."""
_CHART = "cert-manager"
_OLD = "kubernetes.io/tls-acme"
_FLAG = "--enable-gateway-api"
_OLD_GATE = "ExperimentalGatewayAPISupport=true"


def check(simulation: Simulation) -> Iterator[Finding]:
    bare = {listener.node for listener, _, _ in without_tls(simulation)}
    for listener, why, is_certain in without_tls(simulation):
        severity, confidence = grade(not is_certain)
        yield Finding(
            RULE,
            severity,
            f"{why.replace('it', str(listener.node), 1)}, so no connection gets through",
            at(listener.holder, listener.pointer, "protocol"),
            resources=(listener.holder.key,),
            label="no certificate is configured",
            help=("fix: name a Secret in `tls.certificateRefs`",),
            confidence=confidence,
            ground="" if is_certain else "the controller is not known, and may have certificates of its own",
        )
    for listener in listeners(simulation.topology):
        state = simulation.topology.gateway(listener.gateway) if listener.gateway is not None else None
        implementation = implementation_of(state, simulation.catalog) if state is not None else None
        if implementation is not None and simulation.catalog.has_own_certificates(implementation):
            continue
        is_issued_for = is_annotated(listener.holder) and listener.node not in bare
        if is_issued_for and (why := unissued(listener.holder, listener.pointer)):
            yield from _not_issued(listener, why, simulation)
    yield from _misplaced(simulation)
    yield from _ingresses(simulation)
    for holder, its_listeners in _annotated(simulation).values():
        yield from _never_issued(holder, its_listeners, simulation)


def _misplaced(simulation: Simulation) -> Iterator[Finding]:
    """Yield the listeners, and the doors beside Gateway API, whose Secret is made in another namespace alone."""
    world = simulation.world
    named = [
        (listener.holder, reference.pointer, reference.wanted, str(listener.node), is_annotated(listener.holder))
        for listener in listeners(simulation.topology)
        for reference in listener.references
        if reference.role == "certificate" and reference.wanted.kind == "Secret"
    ]
    if not WAYS_IN.keys().isdisjoint(world.kinds()):
        from policylint.doors.certificates import ends

        named += [
            (end.holder, end.pointer, secret, end.what, end.is_issued) for end in ends(world) for secret in end.secrets
        ]
    for holder, pointer, wanted, what, issued in named:
        maker = world.once(certificates).beside(wanted, issued=issued)
        if maker is not None:
            yield Finding(
                RULE,
                "warning",
                f"{what} names {wanted}, which {maker} makes in namespace {maker.namespace}",
                at(holder, pointer, "name"),
                resources=(holder.key, maker),
                label="a Secret is read in the namespace that is named, and none is made there",
                help=(f"fix: move {maker} to namespace {wanted.namespace}, or have the Secret copied",),
                confidence="assumed",
                ground="something may copy it",
                field=path(pointer),
            )


def _ingresses(simulation: Simulation) -> Iterator[Finding]:
    """Yield the Ingresses for which cert-manager makes no certificate though an annotation asks for one.

    One that leaves it to another Ingress of its class to have its hosts in `tls` lacks none.

    Source: cert-manager pkg/controller/certificate-shim/sync.go, validateIngressTLSBlock: it takes the names and the
    Secret of a certificate from `tls`.
    """
    elsewhere: Mapping[ResourceKey, set[str]] | None = None
    for ingress in simulation.world.of_kind(*INGRESS):
        annotation = next((each for each in (*CERT_MANAGER, _OLD) if ingress.annotations.get(each)), "")
        blocks = list(map(mapping, sequence(ingress.spec.get("tls"))))
        lacking = next((name for name in ("hosts", "secretName") for each in blocks if not each.get(name)), "")
        if annotation and not blocks:
            elsewhere = _with_certificates(simulation) if elsewhere is None else elsewhere
            beside = elsewhere[ingress.key]
            hosts = [text(mapping(rule).get("host")).lower() for rule in sequence(ingress.spec.get("rules"))]
            if hosts and all(not beside.isdisjoint({each, _wildcard(each)}) for each in hosts):
                continue
        if annotation and (lacking or not blocks):
            lack = f"an entry of `tls` has no `{lacking}`" if lacking else "the Ingress has no `tls`"
            why = f"{lack}, from which cert-manager takes names and Secret"
            fix = "name the hosts and a Secret in `tls`, or take the annotation out"
            yield _unissued(ingress, annotation, why, fix)._replace(severity="warning")


def _with_certificates(simulation: Simulation) -> dict[ResourceKey, set[str]]:
    """Return the hosts that Ingresses have in `tls`, with a Secret, by each Ingress of their class."""
    from policylint.doors.controllers import Classes

    classes, hosts = Classes(simulation.world), defaultdict[str, set[str]](set)
    named = {each.key: classes.name(each) for each in simulation.world.of_kind(*INGRESS)}
    for ingress in simulation.world.of_kind(*INGRESS):
        for block in map(mapping, sequence(ingress.spec.get("tls"))):
            if block.get("secretName"):
                hosts[named[ingress.key]].update(each.lower() for each in texts(block.get("hosts")))
    return {key: hosts[name] for key, name in named.items()}


def _wildcard(host: str) -> str:
    """Return the wildcard that covers a host."""
    return f"*.{host.partition('.')[2]}"


def _is_made(reference: ReferenceState, simulation: Simulation) -> bool:
    """Return whether the Secret of a certificate was seen, or something that makes it."""
    found, wanted = reference.resolution, reference.wanted
    return found.found or found.reason.endswith(MADE) or simulation.world.unseen.is_named(wanted)


def _not_issued(listener: ListenerState, why: str, simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding where cert-manager passes a listener over whose Secret was seen nowhere else."""
    for reference in listener.references:
        if reference.role == "certificate" and not _is_made(reference, simulation):
            yield Finding(
                RULE,
                "warning",
                f"{listener.node} has {why}, so cert-manager makes no certificate for it",
                at(listener.holder, listener.pointer, "name"),
                resources=(listener.holder.key, reference.wanted),
                label=_UNISSUED[why][0],
                help=(f"fix: {_UNISSUED[why][1]}, or write a Certificate",),
                confidence="assumed",
                ground=f"{reference.wanted} is not in the tree",
            )


def _annotated(simulation: Simulation) -> dict[ResourceKey, tuple[Resource, list[ListenerState]]]:
    """Return the Gateways and ListenerSets that want certificates which nothing else makes, with their listeners."""
    holders: dict[ResourceKey, tuple[Resource, list[ListenerState]]] = {}
    for listener in listeners(simulation.topology):
        if is_annotated(listener.holder):
            holders.setdefault(listener.holder.key, (listener.holder, []))[1].append(listener)
    return {
        key: each
        for key, each in holders.items()
        if any(_lacks_certificate(listener, simulation) for listener in each[1])
    }


def _lacks_certificate(listener: ListenerState, simulation: Simulation) -> bool:
    """Return whether a certificate of a listener was seen nowhere, and nothing but the annotation makes it."""
    return not unissued(listener.holder, listener.pointer) and any(
        each.role == "certificate" and not _is_made(each, simulation) for each in listener.references
    )


def _never_issued(holder: Resource, its_listeners: list[ListenerState], simulation: Simulation) -> Iterator[Finding]:
    """Yield why cert-manager makes no certificate for any listener of an object, for the first reason that there is."""
    issuer, cluster = CERT_MANAGER
    bears = next(annotation for annotation in CERT_MANAGER if annotation in holder.annotations)
    rivals = (
        [each for each in (issuer, *_GROUPED) if each in holder.annotations] if cluster in holder.annotations else []
    )
    if rivals:
        yield _unissued(holder, rivals[0], f"{cluster} and {rivals[0]} exclude each other", f"remove {rivals[0]}")
        return
    installed = list(values_of(simulation.world, _CHART))
    if installed and all(is_whole and not _watches(values) for _, values, is_whole in installed):
        release = installed[0][0]
        yield _unissued(
            holder,
            bears,
            f"{release.key} installs it without `config.enableGatewayAPI`, so that it does not look at Gateways",
            "set `config.enableGatewayAPI: true` in the values of the chart",
            "a later release of it may do so by default",
        )
    elif _by_http(holder, simulation) and not any(each.protocol == "HTTP" for each in its_listeners):
        gateway = its_listeners[0].gateway
        state = simulation.topology.gateway(gateway) if gateway is not None else None
        around = [each.protocol for each in (state.listeners if state is not None else ())]
        if holder.key == gateway or _FALLBACK not in holder.annotations or "HTTP" not in around:
            falls_back = holder.key != gateway and "HTTP" in around
            yield _unissued(
                holder,
                bears,
                "HTTP-01 challenges are answered by a route of it, and it has no listener of HTTP",
                f"set {_FALLBACK} to true, so that the Gateway answers"
                if falls_back
                else "give it a listener of HTTP on port 80",
                "" if falls_back else "something else may serve port 80 at its address",
            )


def _unissued(holder: Resource, annotation: str, why: str, fix: str, ground: str = "") -> Finding:
    return Finding(
        RULE,
        "warning" if ground else "error",
        f"cert-manager makes no certificate for {holder.key}",
        holder.location("metadata", "annotations", annotation, key=True),
        resources=(holder.key,),
        label=why,
        help=(f"fix: {fix}",),
        confidence="assumed" if ground else "certain",
        ground=ground,
        field=annotation,
    )


def _watches(values: Mapping[str, Any]) -> bool:
    """Return whether the values of its chart have cert-manager watch Gateways."""
    flags = [*texts(values.get("extraArgs")), text(values.get("featureGates"))]
    given = any(flag in (_FLAG, f"{_FLAG}=true") or _OLD_GATE in flag for flag in flags)
    return given or mapping(values.get("config")).get("enableGatewayAPI") in (True, "true")


def _challenges(world: World) -> dict[ResourceKey, list[Challenge]]:
    """Return the challenges of all issuers by the object for which the Certificate is made."""
    found: dict[ResourceKey, list[Challenge]] = defaultdict(list)
    for challenge in (each for issuer in issuers(world) for each in challenges(world, issuer)):
        if challenge.made_for is not None:
            found[challenge.made_for].append(challenge)
    return found


def _by_http(holder: Resource, simulation: Simulation) -> bool:
    """Return whether all challenges of an object are answered by a route below this very object."""
    made = simulation.world.once(_challenges).get(holder.key, [])
    return bool(made) and all(each.is_answered_there for each in made)
