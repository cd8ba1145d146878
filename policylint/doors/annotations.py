"""What annotations of Ingresses name that is not there, or say to a controller that does not read them.

Source: schemas/doors.yaml; traefik, pkg/provider/kubernetes/ingress (middlewares of a router must exist); KIC,
internal/dataplane/kongstate (plugins that are not found are left out); ingress-nginx, template.go, buildRewriteRules,
and controller.go, mergeAlternativeBackends (of a canary its backend is taken alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from policylint.documents import Pointer
from policylint.doors.controllers import Classes, is_allowed, is_told, settings_of
from policylint.doors.lowered import DoorRule, Opening
from policylint.doors.named import entries, gone, meanings
from policylint.doors.vendors import Vendor, unserved, vendors
from policylint.implementations.generic.containers import containers
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.entry_points import unsecured
from policylint.load.charts import values_of
from policylint.load.images import image_of
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.bindings import is_idle
from policylint.regex import expression, quoted
from policylint.topology.secret_data import contents
from policylint.topology.workloads import WORKLOADS

_GROUP = Pattern(r"(?<!\\)\((?!\?(?!P?<[A-Za-z]))")
"""How a group of an expression begins whose text is kept."""
_REFERENCE = Pattern(r"\$\{?(\d)")
_REWRITING = "rewrite-target"
_FILE = "auth-file"
_PASSING = "ssl-passthrough"
_SPOKEN = "backend-protocol"
_RELEASE = Pattern(r"v?[14]\.(\d+)\.")
"""A release 1.x of a controller, or 4.x of its chart."""
_ABOUT_THE_OBJECT = "class"


class Served(NamedTuple):
    """An Ingress with who serves it, and whether a class says so that was seen, or the chart that makes it."""

    ingress: Resource
    vendor: Vendor
    certain: bool


def served(world: World) -> Sequence[Served]:
    """Return the Ingresses with their controllers."""
    return world.once(_served)


def _served(world: World) -> Sequence[Served]:
    ingresses = world.of_kind(*INGRESS)
    classes = Classes(world) if ingresses else None
    return [Served(each, *classes.vendor(each, classes.name(each))) for each in ingresses if classes is not None]


def server_of(world: World, ingress: ResourceKey) -> Vendor | None:
    """Return the controller of an Ingress, None for what is none."""
    return world.once(_servers).get(ingress)


def _servers(world: World) -> Mapping[ResourceKey, Vendor]:
    return {each.ingress.key: each.vendor for each in served(world)}


def is_outside(world: World, door: ResourceKey) -> bool:
    """Return whether what sends the requests of an Ingress on is no pod: outside of the cluster, and of every mesh."""
    vendor = server_of(world, door)
    return vendor is not None and vendor.is_outside


def without_backends(world: World, door: ResourceKey) -> tuple[int | None, str]:
    """Return the status of requests that an Ingress, VirtualService or the like sends to what cannot be used, None
    where nobody wrote it down, and without which of these there is no rule for them (`Vendor.unmade`)."""
    vendor = server_of(world, door)
    return unserved(*door[:2]) if vendor is None else (vendor.unserved, vendor.unmade)


def refuses(world: World, door: ResourceKey, backend: ResourceKey) -> str:
    """Return why the controller of an Ingress certainly does not use a Service: it is a name; "" where it may."""
    option, is_taken = _taking(world, door, backend)
    return f"{backend} is {_named_only(option)}" if option and is_taken is False else ""


def doubted(world: World, rule: DoorRule) -> DoorRule:
    """Return a path of an Ingress with why its controller may make no rule of it."""
    door = rule.holder.key
    for named in map(mapping, () if rule.unknown else sequence(rule.body.get("backendRefs"))):
        backend = ResourceKey("", "Service", door.namespace, text(named.get("name")))
        option, is_taken = _taking(world, door, backend)
        if option and is_taken is None:
            return rule._replace(unknown=f"it names {backend}, {_named_only(option)}")
    return rule


def _named_only(option: Mapping[str, Any]) -> str:
    return f"an ExternalName, which its controller takes only with {text(option.get('argument'))}"


def _taking(world: World, door: ResourceKey, backend: ResourceKey) -> tuple[Mapping[str, Any], bool | None]:
    """Return the option with which the controller of an Ingress takes a Service that is a name, none where it needs
    none, and whether it is set."""
    vendor = server_of(world, door)
    option = {} if vendor is None else vendor.externals
    seen = world.get(backend) if option and backend[:2] == ("", "Service") else None
    if seen is None or seen.spec.get("type") != "ExternalName":
        return {}, None
    return option, is_allowed(option, world)


def astray(world: World) -> Iterator[DeadEnd]:
    """Yield what annotations of Ingresses lead to nothing by: objects that are missing, groups that a path has not."""
    for ingress, vendor, certain in served(world):
        for about in (vendor.extensions, *vendor.names):
            if about and (certain or vendor.value(ingress, text(about.get("annotation")))):
                yield from _missing(world, ingress, vendor, about)
        target = vendor.value(ingress, _REWRITING)
        if _REWRITING in vendor.list("expressions") and target and not is_symbolic(target.replace("$", "")):
            yield from _without_group(ingress, vendor, target)


def unseen(world: World) -> Iterator[ResourceKey]:
    """Yield the objects that annotations of Ingresses may mean of which none was seen."""
    for ingress, vendor, _ in served(world):
        for about in (vendor.extensions, *vendor.names):
            for entry in entries(vendor.value(ingress, text(about.get("annotation")))) if about else ():
                keys = meanings(about, entry, ingress.key.namespace)
                if not any(world.get(key) is not None for key in keys):
                    yield from keys


def risky(world: World) -> Iterator[DeadEnd]:
    """Yield the annotations of text that controllers refuse by their settings: all that take effect are in the tree."""
    refusals: dict[str, str] = {}
    for ingress, vendor, certain in served(world):
        written = [name for name in vendor.list("text") if vendor.value(ingress, name)]
        if not certain or not vendor.risky or not written:
            continue
        if vendor.name not in refusals:
            refusals[vendor.name] = _refusal(world, vendor)
        if why := refusals[vendor.name]:
            place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{written[0]}")
            does = f"has {vendor.prefix}{written[0]}, which {vendor.name} refuses: {why}"
            allowed, level, needed = (text(vendor.risky.get(each)) for each in ("allowed", "level", "needed"))
            fix = f"set {allowed}: true and {level}: {needed}, or say it without a snippet"
            then = "the webhook refuses the Ingress; where there is none, nothing of it is served"
            yield DeadEnd(ingress, place, does, fix, then=then)


def passes_on(world: World, vendor: Vendor, ingress: Resource) -> bool:
    """Return whether TLS of an Ingress may go to its pods as it is: the flag that this needs is not surely out."""
    asked = vendor.value(ingress, _PASSING) == "true"
    return asked and not (vendor.passing and is_told(world, vendor, vendor.passing) is False)


def opened(world: World, vendor: Vendor, ingress: Resource, taken: list[Opening]) -> list[Opening]:
    """Return where an Ingress takes requests: in the clear where an entry point ends TLS for routers that ask for it.

    Source: doc.traefik.io, «EntryPoints» (http.tls) and «Kubernetes Ingress» (router.tls; `spec.tls` has certificates).
    """
    asking = vendor.secured
    if not asking or vendor.value(ingress, asking) == "true":
        return taken
    names = {name for entry in map(mapping, vendor.serves) for name in texts(entry.get("https"))}
    if names.isdisjoint(world.once(unsecured)):
        return taken
    return [each._replace(scheme="http") for each in taken]


def ended(world: World) -> Iterator[DeadEnd]:
    """Yield the Ingresses whose TLS is meant for their pods, and that a controller without the flag for it ends.

    Source: documentation of ingress-nginx, «TLS/HTTPS», SSL Passthrough; argoproj/argo-cd#2649.
    """
    for ingress, vendor, certain in served(world):
        if certain and vendor.value(ingress, _PASSING) == "true" and not passes_on(world, vendor, ingress):
            place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{_PASSING}")
            does = f"has {vendor.prefix}{_PASSING}, and the controller is not told --{vendor.passing}"
            plainly = vendor.value(ingress, _SPOKEN).upper() not in ("HTTPS", "GRPCS")
            fix = f"give the controller --{vendor.passing}{f', or set {_SPOKEN}: HTTPS' if plainly else ''}"
            then = f"the controller ends TLS itself{', and sends plain HTTP to the Service' if plainly else ''}"
            yield DeadEnd(ingress, place, does, fix, then=then, severity="error" if plainly else "warning")


def _refusal(world: World, vendor: Vendor) -> str:
    """Return why a controller refuses annotations of text; "" where it does not, or where that is not known."""
    about = vendor.risky
    minors = set(_minors(world, vendor))
    settings = [(holder.key.kind, stated) for holder, stated in settings_of(world, vendor)]
    if len(minors) != 1 or len(settings) != 1:
        return ""
    minor, (kind, stated) = minors.pop(), settings[0]
    allowed = str(stated.get(text(about.get("allowed")), "")).lower() == "true"
    if kind != "ConfigMap":
        place = tuple(text(about.get("chart")).split("."))
        given = values_of(world, text(mapping(vendor.config.get("chart")).get("name")))
        allowed = allowed or any(
            str(value_at(values, place)).lower() == "true" or not is_whole for _, values, is_whole in given
        )
    if minor >= int(about["since"]) and not allowed:
        return f"{about['allowed']} is not set"
    if minor >= int(about["levels"]) and stated.get(text(about.get("level"))) != about.get("needed"):
        return f"{about['level']} is not {about.get('needed')}"
    return ""


def _minors(world: World, vendor: Vendor) -> Iterator[int]:
    """Yield the minor releases of a controller, by its images and by the versions of its chart."""
    for _, container in containers(world, WORKLOADS):
        name, tag = image_of(container)
        if name.endswith(text(vendor.risky.get("image"))) and (found := _RELEASE.match(tag)):
            yield int(found[1])
    for release, _, _ in values_of(world, text(mapping(vendor.config.get("chart")).get("name"))):
        spec = release.spec
        versions = (
            mapping(mapping(spec.get("chart")).get("spec")).get("version"),
            mapping(spec.get("source")).get("targetRevision"),
        )
        for version in versions:
            if found := _RELEASE.match(text(version)):
                yield int(found[1])


def holds(vendor: Vendor, ingress: Resource, meaning: Mapping[str, Any]) -> bool:
    """Return whether the other annotations are there that an annotation needs, and none that switches it off."""
    for name, wanted in mapping(meaning.get("when")).items():
        values = [vendor.value(ingress, each) for each in name.split("|")]
        if not any(value and wanted in ("", value) for value in values):
            return False
    return not any(vendor.value(ingress, name) in texts(off) for name, off in mapping(meaning.get("unless")).items())


def has_form(meaning: Mapping[str, Any], value: str, ingress: Resource) -> bool:
    """Tell whether the value of an annotation has the form without which its controller closes the location."""
    form = text(meaning["form"]).replace("{namespace}", quoted(ingress.key.namespace))
    return "${" in value or expression(form).is_whole(value) is not False


def secrets_asked(ingress: Resource, vendor: Vendor, *, encrypted: bool) -> Iterator[ResourceKey]:
    """Yield the Secrets that a controller asks who calls by: passwords, and authorities of clients' certificates.

    Args:
        encrypted: whether the client comes by TLS; else nobody asks for its certificate.
    """
    for name, meaning in vendor.reads.items():
        by_type = "fails" in meaning and bool(vendor.value(ingress, name))
        setting, _, last = text(meaning.get("at")).rpartition(".")
        if by_type or (last == "secret" and (encrypted or setting != "clientCertificate")):
            value = vendor.value(ingress, "auth-secret" if by_type else name)
            if value and "://" not in value and not is_symbolic(value) and (by_type or holds(vendor, ingress, meaning)):
                namespace, _, secret = value.rpartition("/")
                yield ResourceKey("", "Secret", namespace or ingress.key.namespace, secret)


def fault_of_login(world: World, ingress: Resource, vendor: Vendor) -> str:
    """Return why passwords that an Ingress asks for cannot be had, "" where they may be: anybody may make a Secret that
    is not here.

    Source: ingress-nginx, internal/ingress/annotations/auth (auth.Parse, dumpSecretAuthFile).
    """
    secret, form = vendor.value(ingress, "auth-secret"), vendor.value(ingress, "auth-secret-type") or _FILE
    namespace, apart, name = secret.rpartition("/")
    if apart and namespace != ingress.key.namespace:
        return f"Secret {secret} is in another namespace"
    if form not in (_FILE, "auth-map") and not is_symbolic(form):
        return f"auth-secret-type is {form}, and must be auth-file or auth-map"
    key = ResourceKey("", "Secret", ingress.key.namespace, name)
    held = contents(world.get(key), world) if form == _FILE else None
    if held is not None and "auth" not in held:
        return f"{key} has no entry `auth`"
    return "" if secret else "auth-secret is missing"


def fault_of_authority(world: World, ingress: Resource, secret: str, entry: str) -> tuple[str, bool]:
    """Return why the certificates of clients are not checked by a Secret, "" where they may be, and whether that closes
    the location: with a certificate of its own in place of an authority it asks nobody for one.

    Source: ingress-nginx, store/backend_ssl.go, getPemCertificate; nginx.tmpl, `CertificateAuth.CAFileName`.
    """
    namespace, _, name = secret.rpartition("/")
    key = ResourceKey("", "Secret", namespace or ingress.key.namespace, name)
    held = contents(world.get(key), world)
    if held is None or held.get(entry):
        return "", False
    has_own = {"tls.crt", "tls.key"} <= held.keys()
    return f"{key} has no entry `{entry}`", not has_own


def unasking(world: World) -> Iterator[tuple[Resource, str, str, Vendor]]:
    """Yield the annotations of Ingresses by which nobody is asked for a certificate, as there is no authority."""
    for ingress, vendor, certain in served(world):
        for name, meaning in vendor.reads.items() if certain else ():
            value = vendor.value(ingress, name)
            if value and "authority" in meaning and holds(vendor, ingress, mapping(meaning)):
                why, closes = fault_of_authority(world, ingress, value, meaning["authority"])
                if why and not closes:
                    yield ingress, f"{vendor.prefix}{name}", why, vendor


def passed_by(world: World) -> Iterator[tuple[Resource, str, list[str], Vendor]]:
    """Yield the Ingresses whose TLS goes to their pods as it is, with that annotation and those that ask nobody then.

    Source: documentation of ingress-nginx, «Annotations», SSL Passthrough: all other annotations are invalidated.
    """
    for ingress, vendor, certain in served(world):
        if not certain or vendor.value(ingress, _PASSING) != "true" or not vendor.passing:
            continue
        asking = [
            f"{vendor.prefix}{name}"
            for name, meaning in vendor.reads.items()
            if vendor.value(ingress, name) and "at" in meaning and name != _SPOKEN and holds(vendor, ingress, meaning)
        ]
        if asking and is_told(world, vendor, vendor.passing):
            yield ingress, f"{vendor.prefix}{_PASSING}", asking, vendor


def closed(world: World) -> Iterator[DeadEnd]:
    """Yield the annotations by which a controller answers all requests with an error, as it cannot use them."""
    for ingress, vendor, certain in served(world):
        for name, meaning in vendor.reads.items() if certain else ():
            value = vendor.value(ingress, name)
            if not value or value == "false" or "{{" in value or not holds(vendor, ingress, mapping(meaning)):
                continue
            place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{name}")
            why = fault_of_login(world, ingress, vendor) if "fails" in meaning else ""
            if "form" in meaning and not has_form(meaning, value, ingress):
                why = f"`{value}` has not the form that it must have"
            elif "authority" in meaning:
                lacking, closes = fault_of_authority(world, ingress, value, meaning["authority"])
                why = lacking if closes else ""
            if why:
                status = meaning.get("fails", meaning.get("closes"))
                does = f"has {vendor.prefix}{name}, which {vendor.name} cannot use: {why}"
                then = f"every request for its hosts and paths is answered with {status}"
                yield DeadEnd(ingress, place, does, "mend the annotation, or take it off", then=then)


def foreign(world: World) -> Iterator[tuple[Resource, list[str], Vendor, Vendor]]:
    """Yield the Ingresses that bear annotations of another controller than their own, and none of that: with these
    annotations, whose they are, and whose the Ingress is."""
    for ingress, vendor, certain in served(world):
        if not certain or not vendor.prefix or any(str(each).startswith(vendor.prefix) for each in ingress.annotations):
            continue
        for other in vendors():
            written = [str(each) for each in ingress.annotations if other.prefix and str(each).startswith(other.prefix)]
            written = [each for each in written if not each.endswith(_ABOUT_THE_OBJECT)]
            if other.name != vendor.name and written:
                yield ingress, written, other, vendor
                break


def former(world: World) -> Iterator[tuple[Resource, str, str, Vendor]]:
    """Yield the annotations of Ingresses that their controllers read in former releases, with what they are called
    today, unless the Ingress says that, too."""
    for ingress, vendor, certain in served(world):
        for old, new in vendor.former.items() if certain else ():
            for written in map(str, ingress.annotations):
                is_ending = old.startswith("*")  # which names differ in what stands before it
                today = new if is_ending else new + written.removeprefix(old)
                named = written.startswith(old) if old.endswith("/") else written == old
                named = named or (is_ending and written.endswith(old[1:]))
                if named and today not in ingress.annotations and not written.endswith(_ABOUT_THE_OBJECT):
                    yield ingress, written, today, vendor


def of_canaries(world: World) -> Iterator[tuple[Resource, list[str], Resource, Vendor]]:
    """Yield the canaries with settings that only the Ingress has of which they are canaries, unless it has the same."""
    canaries: list[tuple[Resource, Vendor]] = []
    mains: dict[tuple[str, str, str], Resource] = {}
    for ingress, vendor, certain in served(world):
        if not certain or not vendor.list("ofCanaries"):
            continue
        if vendor.value(ingress, "canary") == "true":
            canaries.append((ingress, vendor))
        else:
            mains |= dict.fromkeys(_places(ingress), ingress)
    for canary, vendor in canaries:
        main = next((mains[place] for place in _places(canary) if place in mains), None)
        own = [str(name) for name in canary.annotations if str(name).startswith(vendor.prefix)]
        read = [f"{vendor.prefix}{pattern}" for pattern in vendor.list("ofCanaries")]
        written = (
            []
            if main is None
            else [
                name
                for name in own
                if not any(fnmatchcase(name, pattern) for pattern in read)
                and main.annotations.get(name) != canary.annotations[name]
            ]
        )
        if main is not None and written:
            yield canary, written, main, vendor


def _places(ingress: Resource) -> Iterator[tuple[str, str, str]]:
    """Yield the namespace, hosts and paths of an Ingress."""
    for rule in map(mapping, sequence(ingress.spec.get("rules"))):
        for path in map(mapping, sequence(mapping(rule.get("http")).get("paths"))):
            yield ingress.key.namespace, text(rule.get("host")), text(path.get("path")) or "/"


def _missing(world: World, ingress: Resource, vendor: Vendor, about: Mapping[str, Any]) -> Iterator[DeadEnd]:
    annotation = f"{vendor.prefix}{text(about.get('annotation'))}"
    place: Pointer = ("metadata", "annotations", annotation)
    for entry in entries(ingress.annotations.get(annotation)):
        keys = meanings(about, entry, ingress.key.namespace)
        if any(world.get(key) is not None for key in keys):
            continue
        old, then = text(about.get("formerly")), text(about.get("absent"))
        aged = next((each for key in keys if old and (each := world.get(key._replace(group=old)))), None)
        keys = [key for key in keys if not is_idle(world, key)]
        missing = gone(world, keys)
        if aged is not None:
            does = f"names {aged.key}, which is only there in group {old}, which is not read any more"
            fix = f"write it with `apiVersion: {about['group']}/v1alpha1`"
            yield DeadEnd(ingress, place, does, fix, (aged.key,), "an older release reads that group", then)
        elif missing:
            what = missing[0] if len(missing) == 1 else f"{about['kind']} {entry}"
            other = "one of another namespace" if about.get("named") else f"a {about.get('clusterKind')}"
            ground = "" if len(missing) == len(keys) else f"it may be {other}"
            does = f"names {what}, which is missing"
            fix = _called_in_full(world, about, entry, ingress) or "name one that is there"
            yield DeadEnd(ingress, place, does, fix, tuple(missing[:1]), ground, then)


def _called_in_full(world: World, about: Mapping[str, Any], entry: str, ingress: Resource) -> str:
    """Return how an object of an Ingress' own namespace is called that an annotation names without its namespace."""
    ending, home = text(about.get("named")), ingress.key.namespace
    name = entry.removesuffix(ending) if ending else ""
    own = ResourceKey(text(about.get("group")), text(about.get("kind")), home, name)
    return f"write {home}-{name}{ending}" if "@" not in name and world.get(own) is not None else ""


def _without_group(ingress: Resource, vendor: Vendor, target: str) -> Iterator[DeadEnd]:
    """Yield a rewriting that names a group which a path of the Ingress lacks: nothing comes in its place."""
    paths = [
        text(mapping(path).get("path"))
        for rule in sequence(ingress.spec.get("rules"))
        for path in sequence(mapping(mapping(rule).get("http")).get("paths"))
    ]
    named = max((int(found) for found in _REFERENCE.findall(target)), default=0)
    lacking = [path for path in paths if named > len(_GROUP.findall(path))]
    if lacking and not any(map(is_symbolic, (path.replace("$", "") for path in paths))):
        most = max(len(_GROUP.findall(path)) for path in lacking)
        place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{_REWRITING}")
        has = f"{most} group{'' if most == 1 else 's'} in parentheses" if most else "no group in parentheses"
        whose = "its paths have" if len(lacking) == len(paths) else f"its path `{lacking[0]}` has"
        does = f"rewrites to `{target}`, and {whose} {has}"
        gone = _REFERENCE.sub(lambda found: "" if int(found[1]) > most else found[0], target) or "/"
        then = f"its requests are sent on as `{gone}`, whatever comes behind the path"
        fix = f"write a path with such a group, `{lacking[0].rstrip('/')}(/|$)(.*)`"
        yield DeadEnd(ingress, place, does, fix, ground="its Service may answer everything there", then=then)
