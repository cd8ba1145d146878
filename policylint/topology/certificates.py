"""References of listeners and Gateways to Secrets and ConfigMaps: permitted, present, and holding PEM.

docs/design/request-precedence.md §7 (the listener and Gateway reasons) and §9. Secrets are seldom in git: where
something in the tree creates the missing one (cert-manager, External Secrets, …), its absence is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from policylint.documents import Pointer
from policylint.model import Resolution, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, value_at
from policylint.patterns import Pattern
from policylint.topology.grants import Grants
from policylint.topology.references import of_core, resolve, target
from policylint.topology.secret_data import contents, hidden
from policylint.topology.state import ReferenceRole, ReferenceState

PEM = "-----BEGIN "
BLOCK = Pattern(r"-----BEGIN ([A-Z0-9 ]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
"""One block of PEM: its label, and the text between its first and last line."""
MAKERS: Mapping[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    ("cert-manager.io", "Certificate"): (("spec", "secretName"),),
    ("external-secrets.io", "ExternalSecret"): (("spec", "target", "name"), ("metadata", "name")),
    ("bitnami.com", "SealedSecret"): (("spec", "template", "metadata", "name"), ("metadata", "name")),
    ("secrets.hashicorp.com", "VaultStaticSecret"): (("spec", "destination", "name"),),
    ("secrets.hashicorp.com", "VaultPKISecret"): (("spec", "destination", "name"),),
}
"""Kinds whose controller creates a Secret in their namespace, and the fields that may hold its name."""
MADE = "makes it"
"""The end of why a Secret that is not here is no missing one: something in the tree makes it."""
CERT_MANAGER = ("cert-manager.io/issuer", "cert-manager.io/cluster-issuer")
"""Annotations that let cert-manager create the Secrets that a Gateway's listeners name."""


class Certificates:
    """Works out the state of references to Secrets and CA bundles in one world."""

    __slots__ = ("_grants", "_made", "_world")

    def __init__(self, world: World, grants: Grants) -> None:
        self._world = world
        self._grants = grants
        self._made: dict[ResourceKey, ResourceKey] = {}
        for kind, paths in MAKERS.items():
            for maker in world.of_kind(*kind):
                name = next((name for path in paths if (name := text(value_at(maker.body, path)))), "")
                if name:
                    self._made[ResourceKey("", "Secret", maker.key.namespace, name)] = maker.key

    def certificate(
        self, holder: Resource, pointer: Pointer, reference: object, role: ReferenceRole, invalid: str
    ) -> ReferenceState:
        """Return the state of a reference to a Secret with certificate and key; `invalid` is the reason if unusable."""
        secret = of_core(target(mapping(reference), holder.key.namespace, "", "Secret")).key
        if (secret.group, secret.kind) != ("", "Secret") and not is_symbolic(secret.kind):
            message = f"{secret.kind}{'.' + secret.group if secret.group else ''} is no kind of certificate"
            missing = Resolution("missing", message)
            return ReferenceState(role, holder, pointer, secret, missing, True, invalid, message)
        issued = role == "certificate" and is_issued(holder, pointer[:3])
        return self._state(holder, pointer, secret, role, invalid, ("tls.crt", "tls.key"), issued)

    def authority(self, holder: Resource, pointer: Pointer, reference: object) -> ReferenceState:
        """Return the state of a reference to a ConfigMap or Secret with `ca.crt`, which client validation uses."""
        bundle = of_core(target(mapping(reference), holder.key.namespace, "", "ConfigMap")).key
        if bundle.group or bundle.kind not in ("ConfigMap", "Secret"):
            message = f"{bundle.kind}{'.' + bundle.group if bundle.group else ''} holds no CA certificates"
            missing = Resolution("missing", message)
            return ReferenceState("ca", holder, pointer, bundle, missing, True, "InvalidCACertificateKind", message)
        return self._state(holder, pointer, bundle, "ca", "InvalidCACertificateRef", ("ca.crt",), False)

    def _state(
        self,
        holder: Resource,
        pointer: Pointer,
        wanted: ResourceKey,
        role: ReferenceRole,
        invalid: str,
        fields: tuple[str, ...],
        issued: bool,
    ) -> ReferenceState:
        resolution = self.resolve(wanted, issued=issued)
        granted = self._grants.allows(holder.key, wanted)
        if granted is False:
            message = f"no ReferenceGrant in namespace {wanted.namespace} lets {holder.key} name {wanted}"
            return ReferenceState(role, holder, pointer, wanted, resolution, granted, "RefNotPermitted", message)
        if resolution.missing:
            return ReferenceState(role, holder, pointer, wanted, resolution, granted, invalid, resolution.reason)
        fault = _fault(resolution.resource, fields, self._world)
        return ReferenceState(role, holder, pointer, wanted, resolution, granted, invalid if fault else "", fault)

    def resolve(self, wanted: ResourceKey, *, issued: bool) -> Resolution:
        """Return whether a Secret or bundle is there: unknown of one that something here makes.

        Args:
            issued: whether cert-manager makes it by an annotation of what names it.
        """
        resolution = resolve(self._world, wanted)
        if resolution.found or not wanted.name:
            return resolution
        if issued:
            return Resolution("unknown", "cert-manager makes it, by an annotation")
        bundle = ResourceKey("trust.cert-manager.io", "Bundle", "", wanted.name)
        maker = self._made.get(wanted) or (bundle if self._world.get(bundle) is not None else None)
        if maker is not None:
            return Resolution("unknown", f"{maker} {MADE}")
        return resolution

    def beside(self, wanted: ResourceKey, *, issued: bool = False) -> ResourceKey | None:
        """Return what makes a Secret of that name in another namespace, where nothing of the tree has the one that is
        wanted; None where several do, and where annotations are to have it copied."""
        if is_symbolic(wanted.name) or not wanted.namespace:
            return None
        resolution = self.resolve(wanted, issued=issued)
        if resolution.found or resolution.reason.endswith(MADE) or issued:
            return None
        makers = {maker for made, maker in self._made.items() if made.name == wanted.name and made != wanted}
        maker = self._world.get(makers.pop()) if len(makers) == 1 else None
        copied = None if maker is None else mapping(maker.spec.get("secretTemplate")).get("annotations")
        return None if maker is None or copied or maker.key.unplaced else maker.key


def certificates(world: World) -> Certificates:
    """Return the one of a world, for `World.once`."""
    return Certificates(world, Grants(world))


def presumed(wanted: ResourceKey) -> str:
    """Return what is assumed of a Secret that a listener or door needs to respond, where nobody deploys it here."""
    return f"{wanted} is taken to be there: nothing in the tree deploys it"


def is_issued(holder: Resource, listener: Pointer) -> bool:
    """Return whether cert-manager makes the Secrets that a listener names: it takes the names from the hostname.

    Source: cert-manager.io, «Annotated Gateway resource»; pkg/controller/certificate-shim/sync.go,
    validateGatewayListenerBlock.
    """
    return is_annotated(holder) and not unissued(holder, listener)


def unissued(holder: Resource, listener: Pointer) -> str:
    """Return why cert-manager passes a listener over, as what it has; "" where it does not."""
    stated = mapping(value_at(holder.body, listener))
    references = map(mapping, sequence(mapping(stated.get("tls")).get("certificateRefs")))
    if not text(stated.get("hostname")):
        return "no hostname"
    home = ("", holder.key.namespace)
    foreign = next((each for each in references if text(each.get("namespace")) not in home), None)
    return "" if foreign is None else "a Secret of another namespace"


def is_annotated(holder: Resource) -> bool:
    """Return whether an annotation has cert-manager make the Secrets of an object's listeners."""
    return any(annotation in holder.annotations for annotation in CERT_MANAGER)


def certificate_fault(resource: Resource | None, world: World) -> str:
    """Return what is wrong with a Secret meant to hold a certificate and its key; "" if nothing is seen."""
    return _fault(resource, ("tls.crt", "tls.key"), world)


def authority_fault(resource: Resource | None, world: World) -> str:
    """Return what is wrong with a ConfigMap or Secret meant to hold CA certificates; "" if nothing is seen."""
    return _fault(resource, ("ca.crt",), world)


def _fault(resource: Resource | None, fields: tuple[str, ...], world: World) -> str:
    """Return which field lacks PEM, "" if none does, and where it is not known what it holds."""
    if resource is None or contents(resource, world) is None:
        return ""
    plain = mapping(resource.body.get("data" if resource.key.kind == "ConfigMap" else "stringData"))
    encoded = {} if resource.key.kind == "ConfigMap" else mapping(resource.body.get("data"))
    for field in fields:
        value = text(plain.get(field)) or _decoded(text(encoded.get(field)))
        if not (is_pem(value) or (field != "ca.crt" and PEM in value)):
            return f"{resource.key} has no PEM in {field}"
    return ""


def is_pem(value: str) -> bool:
    """Return whether a text holds a PEM block with some base64 content, or may: encrypted, or yet to be filled in."""
    return hidden(value) or is_symbolic(value) or any(_decoded(body) for _, body in BLOCK.findall(value))


def _decoded(value: str) -> str:
    if not value or hidden(value):
        return value
    from base64 import b64decode

    try:
        return b64decode("".join(value.split()), validate=True).decode("latin-1")
    except ValueError:
        return ""
