"""Ingresses as doors: classes, hosts, paths, redirects to https, canaries, and what annotations ask.

Source: kubernetes.io/docs/concepts/services-networking/ingress; schemas/doors.yaml names those of each controller.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from policylint.digits import whole_number
from policylint.documents import Pointer, read
from policylint.doors import variables
from policylint.doors.addresses import believed
from policylint.doors.annotations import doubted, fault_of_authority, fault_of_login, has_form, holds, opened, passes_on
from policylint.doors.controllers import CLASS, Classes, covers, of_all, secured, settings_of
from policylint.doors.ended_before import are_plain
from policylint.doors.extensions import action, guards_of, in_force, is_of_some, sources_of
from policylint.doors.failing import at_port
from policylint.doors.handshakes import is_turned_away
from policylint.doors.lowered import Door, DoorRule, Guard, Opening, closing, door, made_of, plain, searched
from policylint.doors.named import entries, meant
from policylint.doors.nginx import contest
from policylint.doors.nginx_policies import at_ingress
from policylint.doors.vendors import Vendor, guards
from policylint.implementations import implementation
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.results import FailingSetting
from policylint.regex import expression
from policylint.spaces.predicates import EXPRESSION, PREFIX
from policylint.topology import BackendState

NO_CLASS = "(default)"
"""How the class of Ingresses without one is called, where none is the default."""
_HTTP, _HTTPS = Opening("http", 80), Opening("https", 443)
_NUMBERS = {"http": 80, "https": 443}
_FIRST, _EXACT, _BEGINS = 3, 2, 1
_NETWORK = Pattern(r"[\s\da-fA-F.:/]*(?:[${]|$)")
_WORD = Pattern(r"[\w-]+")


class _Entry(NamedTuple):
    """One path of an Ingress."""

    ingress: Resource
    host: str
    path: str
    kind: str
    backend: Mapping[str, Any]
    pointer: Pointer


def ingress_doors(world: World, backends: Callable[[Resource], tuple[BackendState, ...]]) -> Iterator[Door]:
    """Yield a door for each class of Ingresses."""
    classes, by_class = Classes(world), defaultdict[str, list[Resource]](list)
    for ingress in world.of_kind(*INGRESS):
        by_class[classes.name(ingress)].append(ingress)
    for name, ingresses in sorted(by_class.items()):
        key = ResourceKey(INGRESS[0], CLASS, "", name or NO_CLASS)
        seen = world.get(key)
        first = ingresses[0]
        place: Pointer = ("spec", "ingressClassName") if first.spec.get("ingressClassName") else ("metadata", "name")
        holder = seen if seen is not None else made_of(first, {}, {("metadata", "name"): place}, key)
        by_vendor: dict[str, tuple[Vendor, list[Resource]]] = {}
        for ingress in ingresses:
            vendor, _ = classes.vendor(ingress, name)
            by_vendor.setdefault(vendor.name, (vendor, []))[1].append(ingress)
        read = [_Class(world, vendor, own) for vendor, own in by_vendor.values()]
        rules = [doubted(world, rule) for each in read for rule in each.rules()]
        unseen = next((each.unseen for each in read if each.unseen), "")
        controller = classes.controller(name) or classes.installed(name)
        served_by = next(iter(by_vendor.values()))[0].catalogued if len(by_vendor) == 1 else ""
        yield door(holder, controller, rules, guards(), backends, (_HTTP, _HTTPS), unseen, served_by)


class _Class:
    """The Ingresses of one class, as one controller serves them."""

    def __init__(self, world: World, vendor: Vendor, ingresses: Sequence[Resource]) -> None:
        self._world = world
        self._vendor = vendor
        canaries = [each for each in ingresses if vendor.value(each, "canary") == "true"]
        self._canaries = {(entry.host, entry.path): entry for each in canaries for entry in _entries(each, vendor)}
        self._contests = {
            (each.key, host): found
            for each in ingresses
            for host in dict.fromkeys(text(rule.get("host")) for rule in map(mapping, sequence(each.spec.get("rules"))))
            if (found := contest(world, each, host)) is not None
        }
        self._entries = [
            entry
            for each in ingresses
            if each not in canaries
            for entry in _entries(each, vendor)
            if not self._has_lost(each.key, entry.host)
        ]
        self._names = _names(self._entries)
        self._plain = are_plain(world, text(vendor.risky.get("image")))
        self._ingresses = {each.key: each for each in ingresses}
        self._guards = {each.key: self._guard(each) for each in ingresses}
        self._everywhere = settings_of(world, vendor) if vendor.config else []
        self._secured = {host for each, host in secured(ingresses) if not self._has_lost(each.key, host)}
        self._without_login = vendor.list("exempt")
        for _, settings in self._everywhere:
            stated = text(settings.get(text(vendor.config.get("exempt"))))
            self._without_login = [path.strip() for path in stated.split(",")] if stated else self._without_login
        own = vendor.list("expressions")
        self._written = {
            (entry.ingress.key, entry.pointer)
            for entry in self._entries
            if any(
                vendor.value(entry.ingress, name) not in ("", "false", entry.path if name == "rewrite-target" else "")
                for name in own
            )
        }
        self._expressions = {entry.host for entry in self._entries if self._is_written(entry)}
        self._exact = {entry[1:4] for entry in self._entries if entry.kind == "Exact"}
        self._sorted: dict[str, list[str]] = {}
        self._listed = _as_listed(vendor, self._entries) if vendor.order else {}

    @property
    def unseen(self) -> str:
        """What was not seen and may ask of all requests: the settings of the controller, or who that is."""
        if not self._vendor.name:
            return "the controller of these Ingresses not seen"
        if self._everywhere or not self._vendor.config:
            return ""
        return f"the settings of {self._vendor.name} not seen"

    def _has_lost(self, ingress: ResourceKey, host: str) -> bool:
        """Tell whether another object certainly has a host for which an Ingress asks."""
        contested = self._contests.get((ingress, host))
        return contested is not None and contested.is_lost

    def rules(self) -> Iterator[DoorRule]:
        """Yield the rules of all hosts and of their other names, at both ports."""
        named = {entry.host: self._other_names(entry.host) for entry in self._entries}
        for rule in self._rules():
            contested = self._contests.get((rule.holder.key, rule.host))
            yield rule if contested is None else rule._replace(unknown=contested.doubt(rule.host))
            for alias in named[rule.host][0]:
                yield rule._replace(host=alias, name=f"{rule.name} as {alias}")
        for host, (_, redirected) in named.items():
            entry = next(entry for entry in self._entries if entry.host == host)
            for other in redirected:
                body = {
                    "matches": _path(PREFIX, "/"),
                    "precedence": (_BEGINS, 1, 0, 0, 0),
                    "filters": [_filter("RequestRedirect", {"hostname": host, "statusCode": 308})],
                }
                for opening in (_HTTP, _HTTPS):
                    yield DoorRule(entry.ingress, opening, other, f"{other} to {host}", body, entry.pointer)

    def _other_names(self, host: str) -> tuple[list[str], list[str]]:
        """Return the names by which the server of a host is reached as well, and those that are redirected to it; those
        that have a server of their own are neither."""
        vendor, hosts = self._vendor, {entry.host for entry in self._entries}
        ingresses = {entry.ingress.key: entry.ingress for entry in self._entries if entry.host == host}.values()
        names = (name.strip() for each in ingresses for name in vendor.value(each, vendor.aliases).split(","))
        aliases = [name for name in dict.fromkeys(names) if name and not name.startswith("~") and name not in hosts]
        other = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
        is_moved = host and any(vendor.value(each, "from-to-www-redirect") == "true" for each in ingresses)
        return aliases, [other] if is_moved and other not in {*hosts, *aliases} else []

    def _group(self, ingress: Resource) -> list[ResourceKey]:
        """Return the Ingresses that share a load balancer with one, itself among them; none where no group is named."""
        annotation = text(self._vendor.order.get("group"))
        named = self._vendor.value(ingress, annotation) if annotation else ""
        members = self._ingresses.items() if named else ()
        return [key for key, each in members if self._vendor.value(each, annotation) == named]

    def _everywhere_listed(self) -> list[_Entry]:
        """Return the paths by host; where rules are taken as listed, one for more hosts is for each of them."""
        if not self._listed:
            return self._entries
        hosts = dict.fromkeys(entry.host for entry in self._entries)
        return [
            entry._replace(host=host)
            for entry in self._entries
            for host in hosts
            if host == entry.host
            or (host and not entry.host)
            or (entry.host[:1] == "*" and host.endswith(entry.host[1:]))
        ]

    def _roots(self) -> Iterator[DoorRule]:
        """Yield the redirects of the path / that an Ingress states for all of its hosts, whatever its paths."""
        hosts: set[str] = set()
        for entry in self._entries if self._vendor.root else ():
            root = self._vendor.value(entry.ingress, self._vendor.root)
            if root and entry.host not in hosts:
                hosts.add(entry.host)
                for opening in (_HTTP, _HTTPS):
                    name = f"{self._names[entry.ingress.key, entry.pointer]} to {root}"
                    asked = tuple(self._unencrypted(entry)) if opening is _HTTP else ()
                    rule = self._at(
                        entry, opening, name, "/", {**_redirected(root), "statusCode": 302, "dropsQuery": True}
                    )
                    yield rule._replace(body={**rule.body, "precedence": (_FIRST, 0, 0, 0, 0)}, guards=asked)

    def _unencrypted(self, entry: _Entry) -> Iterator[Guard]:
        """Yield what answers requests over http, for which a certificate would have to be shown."""
        keys = dict.fromkeys(each.ingress.key for each in self._entries if each.host == entry.host)
        for ingress in map(self._ingresses.__getitem__, keys if self._vendor.unencrypted else ()):
            for name, status in self._vendor.unencrypted.items():
                if self._vendor.value(ingress, name) and "clientCertificate" in self._guards[ingress.key].spec:
                    yield self._closed(ingress, name, status, f"{name} wants a certificate, which only TLS shows")

    def _closed(self, ingress: Resource, name: str, status: int, why: str) -> Guard:
        """Return what answers all requests because of an annotation."""
        return closing(ingress, ("metadata", "annotations", f"{self._vendor.prefix}{name}"), status, why)

    def _rules(self) -> Iterator[DoorRule]:
        yield from self._roots()
        for entry in self._everywhere_listed():
            matches, weights = self._matches(entry)
            plain = self._body(entry, matches, weights)
            name = self._names[entry.ingress.key, entry.pointer]
            is_refused = bool(self._guards[entry.ingress.key].failing)
            for opening in self._openings(entry.ingress, entry.host):
                asked = self._asked(entry, opening)
                barred = tuple(self._unencrypted(entry)) if opening is _HTTP else ()
                asked = (*barred, *asked)
                there = None if is_refused or barred else self._elsewhere(entry, opening)
                if there is not None:
                    label = f"{name} to https" if there.get("scheme") == "https" and len(there) == 2 else name
                    needs = plain.get("backendRefs", []) if label != name and self._vendor.unmade else []
                    body = {**plain, "filters": [_filter("RequestRedirect", there)], "backendRefs": needs}
                    yield DoorRule(entry.ingress, opening, entry.host, label, body, entry.pointer)
                    continue
                yield DoorRule(entry.ingress, opening, entry.host, name, plain, entry.pointer, asked)
                yield from self._canary(entry, opening, name, plain, asked)
            if not is_refused:
                yield from self._slash(entry, name)

    def _elsewhere(self, entry: _Entry, opening: Opening) -> dict[str, Any] | None:
        """Return where all requests of a path are redirected, None where they are not.

        What is stated comes before https, as `return` does before what is written in Lua.
        """
        moved = _moved(self._vendor, entry.ingress) or action(self._vendor, entry.ingress, entry.backend)[0]
        if moved is None and (opening is _HTTP or self._plain) and (status := self._redirects(entry)):
            return {"scheme": "https", "statusCode": status}
        return moved

    def _openings(self, ingress: Resource, host: str) -> list[Opening]:
        """Return where an Ingress takes requests: at both ports, but for what annotations and its certificate say."""
        taken = [_HTTP] if is_turned_away(self._world, ingress, host, self._vendor) else [_HTTP, _HTTPS]
        for entry in map(mapping, self._vendor.serves):
            named = text(entry.get("named"))
            value = text(ingress.annotations.get(named)) if named else self._vendor.value(ingress, entry["annotation"])
            words = set(_WORD.findall(value))
            said = [opening for opening in taken if not words.isdisjoint(texts(entry.get(opening.scheme)))]
            if not value and "certificate" in entry:
                said = [_HTTPS if self._vendor.value(ingress, entry["certificate"]) else _HTTP]
            taken = said or taken
        return opened(self._world, self._vendor, ingress, taken)

    def _at(self, entry: _Entry, opening: Opening, name: str, path: str, there: Mapping[str, Any]) -> DoorRule:
        """Return the rule that redirects one path."""
        body = {
            "matches": _path("Exact", path),
            "precedence": (_EXACT, len(path), 0, 0, 0),
            "filters": [_filter("RequestRedirect", there)],
        }
        return DoorRule(entry.ingress, opening, entry.host, name, body, entry.pointer)

    def _slash(self, entry: _Entry, name: str) -> Iterator[DoorRule]:
        """Yield the rules that add the slash with which a path ends, where no path is the same without it.

        Source: nginx.org, ngx_http_core_module, location: a prefix string that ends with the slash, and proxy_pass.
        """
        bare = entry.path.rstrip("/")
        if not self._vendor.adds_slash or not bare or bare == entry.path or entry.host in self._expressions:
            return
        beside = (other.path for other in self._entries if other.host == entry.host)
        if bare in beside:
            return
        for opening in (_HTTP, _HTTPS):
            there = {**_redirected(f"{bare}/"), "statusCode": 301}
            yield self._at(entry, opening, f"{name} with its slash", bare, there)

    def _redirects(self, entry: _Entry) -> int:
        """Return the status by which requests over http are redirected to https; 0 where they are not."""
        rules, vendor = self._vendor.redirect, self._vendor
        status = _number(vendor.value(entry.ingress, text(rules.get("code"))), 0)
        if any(entry.path.startswith(path) for path in vendor.list("exempt")):
            return 0
        if text(rules.get("only")):
            status, _ = implementation(vendor.name).in_the_clear(entry.ingress) or (0, "")
            return status if status // 100 == 3 else 0
        is_forced = text(rules.get("force")) and vendor.value(entry.ingress, rules["force"]) == "true"
        if is_forced or (text(rules.get("forced")) and self._states(entry.ingress, rules["forced"])):
            return status or rules["status"]
        stated = vendor.value(entry.ingress, text(rules.get("stated")))
        if not stated:
            for _, settings in self._everywhere:
                stated = str(settings.get(text(vendor.config.get("redirect")), "")).lower() or stated
        secured = any(covers(host, entry.host) for host in self._secured)
        if stated != "false" and secured and rules.get("byCertificate") is True:
            return status or rules["status"]
        return self._by_front(entry.ingress)

    def _states(self, ingress: Resource, name: str) -> bool:
        """Tell whether an Ingress, or another one of its group, has an annotation."""
        here = (ingress, *(self._ingresses[key] for key in self._group(ingress)))
        return any(self._vendor.value(each, name) for each in here)

    def _by_front(self, ingress: Resource) -> int:
        """Return the status by which an object that an Ingress names redirects to https; 0 where it does not."""
        about = self._vendor.front
        name = self._vendor.value(ingress, text(about.get("annotation"))) if about else ""
        key = ResourceKey(text(about.get("group")), text(about.get("kind")), ingress.key.namespace, name)
        named = self._world.get(key) if name else None
        if named is None or value_at(named.spec, tuple(text(about["when"]).split("."))) is not True:
            return 0
        code = text(value_at(named.spec, tuple(text(about["code"]).split("."))))
        return int(mapping(about.get("codes")).get(code, 301))

    def _matches(self, entry: _Entry) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
        """Return what a path takes, and its weights: exact paths first, then the longest one, but where rules are taken
        as they are listed."""
        matches, weights = self._by_path(entry)
        methods = self._vendor.methods(entry.ingress)
        matches = [{**match, "method": method} for match in matches for method in methods] or matches
        place = self._listed.get((entry.ingress.key, entry.pointer))
        return matches, weights if place is None else (-place, 0, 0, 0, 0)

    def _by_path(self, entry: _Entry) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
        path = entry.path
        if entry.host in self._expressions:
            begins = self._located(entry) if (entry.host, path, "Exact") in self._exact else path
            pattern = f"(?i){begins}.*"
            kind = FOREIGN if expression(pattern).refusal else EXPRESSION
            return _path(kind, pattern), (_BEGINS, *self._place(entry), 0, 0)
        if entry.kind == "Exact":
            return _path("Exact", path), (_EXACT, len(path), 0, 0, 0)
        if entry.kind == EXPRESSION:
            pattern = searched(f"^{self._vendor.expression_in(entry.ingress, path, EXPRESSION)}")
            return _path(FOREIGN if expression(pattern).refusal else EXPRESSION, pattern), (_EXACT, 0, 0, 0, 0)
        meaning = self._vendor.prefixes if entry.kind == "Prefix" else self._vendor.specific
        if meaning == "glob":
            if "*" in path or "?" in path:
                pattern = "".join({"*": ".*", "?": "."}.get(part, plain(part)) for part in path)
                return _path(EXPRESSION, pattern), (_BEGINS, len(path), 0, 0, 0)
            return _path("Exact", path), (_EXACT, len(path), 0, 0, 0)
        is_closed = self._vendor.adds_slash and path.endswith("/") and self._guards[entry.ingress.key].failing
        if path != "/" and (meaning == "text" or is_closed):  # a path that is closed adds no slash either
            return _path(EXPRESSION, f"{plain(path)}.*"), (_BEGINS, len(path), 0, 0, 0)
        return _path(PREFIX, path), (_BEGINS, len(path.rstrip("/")) + 1, 0, 0, 0)

    def _is_written(self, entry: _Entry) -> bool:
        """Tell whether a path is an expression by its own Ingress."""
        return (entry.ingress.key, entry.pointer) in self._written

    def _located(self, entry: _Entry) -> str:
        """Return the path of a location among expressions: a prefix that is none itself ends with a slash."""
        is_kept = entry.kind == "Exact" or self._is_written(entry)
        return entry.path if is_kept else f"{entry.path.rstrip('/')}/"

    def _place(self, entry: _Entry) -> tuple[int, int]:
        """Return the weights of a path among expressions: the longest first, then the last by name."""
        own = self._located(entry)
        if entry.host not in self._sorted:
            self._sorted[entry.host] = sorted(self._located(each) for each in self._entries if each.host == entry.host)
        return len(own), bisect_left(self._sorted[entry.host], own)

    def _body(self, entry: _Entry, matches: Sequence[Any], weights: tuple[int, ...]) -> dict[str, Any]:
        vendor, ingress = self._vendor, entry.ingress
        filters = []
        target, host = vendor.value(ingress, "rewrite-target"), vendor.value(ingress, "upstream-vhost")
        if target or host:
            path = {"path": self._rewritten(entry, target)} if target else {}
            filters.append(_filter("URLRewrite", {**({"hostname": host} if host else {}), **path}))
        strips = implementation(vendor.name).added_filters(ingress)[0] and entry.kind != EXPRESSION
        if strips and not self._is_written(entry):  # the prefix goes
            captured = {"pattern": f"{plain(entry.path.rstrip('/'))}/?(.*)", "by": "/${1}"}
            filters.append(_filter("URLRewrite", {"path": {"type": "Captured", "replaceCaptured": captured}}))
        for key in self._extensions(entry):
            if key.kind == vendor.extensions["kind"]:
                filters.append(_filter("ExtensionRef", key._asdict()))
        if vendor.value(ingress, "enable-cors") == "true":
            origins = vendor.value(ingress, "cors-allow-origin") or "*"
            allowed = [origin.strip() for origin in origins.split(",")]
            credentials = vendor.value(ingress, "cors-allow-credentials") != "false"
            filters.append(_filter("CORS", {"allowOrigins": allowed, "allowCredentials": credentials}, "cors"))
        references = [] if any(action(vendor, ingress, entry.backend)) else [self._reference(ingress, entry.backend, 1)]
        canary = self._canaries.get((entry.host, entry.path))
        if canary is not None:
            weight, total = (
                _number(vendor.value(canary.ingress, name), unset)
                for name, unset in (("canary-weight", 0), ("canary-weight-total", 100))
            )
            if weight:
                references[0]["weight"] = max(total - weight, 0)
                references.append(self._reference(canary.ingress, canary.backend, weight))
        ends = {"backendRefs": references} if references else {}
        return {"matches": matches, "precedence": weights, "filters": filters, **ends}

    def _rewritten(self, entry: _Entry, target: str) -> dict[str, Any]:
        """Return what a path is rewritten to: `$1` is what the first group of its expression takes, or nothing.

        Source: ingress-nginx, template.go, buildRewriteRules: `rewrite "(?i)PATH" TARGET break`, which takes the whole.
        """
        pattern = f"(?i){entry.path}"
        if "$" not in target or expression(pattern).refusal:
            return {"type": "ReplaceFullPath", "replaceFullPath": target}
        by = "".join(
            f"${{{part[0]}}}{part[1:]}" if part[:1].isdigit() else f"$${part}" for part in target.split("$")[1:]
        )
        by = target.split("$")[0] + by
        return {"type": "Captured", "replaceCaptured": {"pattern": pattern, "by": by}}

    def _extensions(self, entry: _Entry) -> Iterator[ResourceKey]:
        """Yield the objects that act on the requests of a path: those that the Ingress names or its Service, and those
        for everything."""
        about = self._vendor.extensions
        if not about:
            return
        service = self._world.get(ResourceKey("", "Service", entry.ingress.key.namespace, _service(entry)))
        holders = (entry.ingress, *([service] if service is not None else ()))
        named = dict.fromkeys(key for holder in holders for key in self._named(holder)[0])
        yield from in_force(self._world, self._vendor, named)

    def _named(self, holder: Resource) -> tuple[list[ResourceKey], list[str]]:
        """Return the objects that an Ingress or a Service names to act on its requests, and whatever else it names.

        Where names are of the form NAMESPACE-NAME, one of another namespace is known where such an object was seen.
        """
        about, home = self._vendor.extensions, holder.key.namespace
        own: list[ResourceKey] = []
        others: list[str] = []
        value = self._vendor.value(holder, text(about.get("annotation"))) if about else ""
        for entry in entries(value):
            key = meant(self._world, about, entry, home)
            if key is None:
                others.append(entry)
            else:
                own.append(key)
        return own, others

    def _acting(self, entry: _Entry) -> Iterator[Resource]:
        """Yield the objects that act on the requests of a path, whoever sends them, and were seen."""
        for key in self._extensions(entry):
            if (each := self._world.get(key)) is not None and not is_of_some(self._world, self._vendor, key):
                yield each

    def _canary(
        self,
        entry: _Entry,
        opening: Opening,
        name: str,
        plain_body: Mapping[str, Any],
        asked: tuple[Guard, ...],
    ) -> Iterator[DoorRule]:
        """Yield the rules by which a header or a cookie sends requests to a canary, or to the main Ingress whatever the
        weight; all else is the main's.

        Source: kubernetes/ingress-nginx, rootfs/etc/nginx/lua/balancer.lua, route_to_alternative_balancer.
        """
        canary, vendor = self._canaries.get((entry.host, entry.path)), self._vendor
        if canary is None:
            return
        matches, weights = plain_body["matches"], plain_body["precedence"]
        header, cookie = (vendor.value(canary.ingress, f"canary-by-{what}") for what in ("header", "cookie"))
        header = header.replace("_", "-")  # `$http_x_canary` holds X-Canary; names with an underscore are left out
        value, pattern = (vendor.value(canary.ingress, f"canary-by-header-{what}") for what in ("value", "pattern"))
        wanted = [{"name": header, "value": value or "always"}, {"name": header, "value": "never"}]
        if pattern and not value:
            wanted = [{"name": header, "type": EXPRESSION, "value": searched(pattern)}]
        ends = [[self._reference(ingress, backend, 1)] for ingress, _, _, _, backend, _ in (canary, entry)]
        to_cookie = [{"name": cookie, "value": "always"}, {"name": cookie, "value": "never"}]
        for field, conditions, rank in (("headers", wanted[:1] if value else wanted, 2), ("cookies", to_cookie, 1)):
            for condition, backend, whose in zip(conditions, ends, ("canary", "main"), strict=False):
                if condition["name"]:
                    body = {
                        **plain_body,
                        "matches": [{**match, field: [condition]} for match in matches],
                        "precedence": (*weights[:3], rank, 0),
                        "backendRefs": backend,
                    }
                    rule = f"{name} {whose} by {field.removesuffix('s')}"
                    yield DoorRule(entry.ingress, opening, entry.host, rule, body, entry.pointer, asked)

    def _reference(self, ingress: Resource, backend: Mapping[str, Any], weight: int) -> dict[str, Any]:
        """Return a backend as routes name it: with the number of its port."""
        service, other = mapping(backend.get("service")), mapping(backend.get("resource"))
        if other:
            group = text(other.get("apiGroup"))
            return {"group": group, "kind": text(other.get("kind")), "name": text(other.get("name")), "weight": weight}
        name, port = text(service.get("name")), mapping(service.get("port"))
        number = integer(port.get("number"))
        seen = self._world.get(ResourceKey("", "Service", ingress.key.namespace, name))
        wanted = text(port.get("name")) if number is None else number
        usual, any_port = _NUMBERS.get(text(port.get("name")), 80), self._vendor.any_port
        named = at_port(seen, wanted, self._vendor.ports, usual, any_port=any_port)
        return {"name": name, **named, "weight": weight}

    def _asked(self, entry: _Entry, opening: Opening) -> tuple[Guard, ...]:
        """Return what is asked at a path: by its Ingress, by any of the host, by the settings for all.

        Certificates are shown where there is TLS; no login is asked below paths that are exempt.
        """
        vendor = self._vendor
        server = vendor.list("server")
        own = self._guards[entry.ingress.key]
        found = [own]
        beside = dict.fromkeys(each.ingress.key for each in self._entries if each.host == entry.host)
        for keys, names in ((beside, server), (self._group(entry.ingress), vendor.list("grouped"))):
            for key in keys:
                other = self._guards[key]
                spec = {name: value for name, value in other.spec.items() if name in names and name not in own.spec}
                if spec:
                    found.append(other._replace(spec=spec))
        for holder, settings in self._everywhere:
            found.append(of_all(vendor, entry.ingress, own, holder, settings))
        found += self._of_service(entry) if vendor.services else ()
        found += self._beside(entry)
        exempt = any(entry.path.startswith(path) for path in self._without_login)
        if opening is _HTTPS and passes_on(self._world, vendor, entry.ingress):
            return self._passed_through(entry)
        plainly = (*server, *vendor.list("encrypted")) if opening is _HTTP else ()
        dropped = {*(guards().settings.authentication if exempt else ()), *plainly}
        found += self._upgrading(entry.ingress) if opening is _HTTP else ()
        if any(name in guard.spec for guard in found for name in ("allow", "deny")):
            found += filter(None, (believed(self._world, vendor, entry.ingress),))
        return tuple(guard if guard.failing else guard.without(dropped) for guard in found)

    def _beside(self, entry: _Entry) -> Iterator[Guard]:
        """Yield what is asked by objects that an Ingress names, by annotations of its Service, and by actions."""
        vendor = self._vendor
        for extension in self._acting(entry):
            yield from guards_of(extension, vendor.extensions)
        if vendor.policies and (named := vendor.value(entry.ingress, vendor.policies)):
            secure = any(covers(host, entry.host) for host in self._secured)
            yield from at_ingress(self._world, entry.ingress, named, f"{vendor.prefix}{vendor.policies}", secure=secure)
        answered = action(vendor, entry.ingress, entry.backend)[1]
        if answered is not None:
            yield answered
        networks = sources_of(vendor, entry.ingress, _service(entry))
        if networks:
            place: Pointer = ("metadata", "annotations", f"{vendor.prefix}conditions.{_service(entry)}")
            yield Guard(entry.ingress, {"allow": networks}, {("allow",): place})
        service = self._world.get(ResourceKey("", "Service", entry.ingress.key.namespace, _service(entry)))
        if service is not None and vendor.is_of_services:
            own = self._guard(service)
            yield own.without(self._guards[entry.ingress.key].spec)

    def _upgrading(self, ingress: Resource) -> Iterator[Guard]:
        """Yield what answers requests over http where https alone is taken, and nothing redirects to it."""
        vendor, name = self._vendor, text(self._vendor.redirect.get("only"))
        status, why = implementation(vendor.name).in_the_clear(ingress) or (0, "")
        if status and status // 100 != 3:
            failing: dict[Pointer, FailingSetting] = {(name,): FailingSetting(status, why, ingress.key)}
            place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{name}")
            yield Guard(ingress, {name: _HTTPS.scheme}, {(name,): place}, failing)

    def _passed_through(self, entry: _Entry) -> tuple[Guard, ...]:
        """Return what is asked of TLS that a flag of the controller, which is not seen, lets pass unread."""
        own = self._guards[entry.ingress.key]
        place: Pointer = ("metadata", "annotations", f"{self._vendor.prefix}ssl-passthrough")
        return (own._replace(spec={"unread": {"ssl-passthrough": "true"}}, places={("unread",): place}, failing={}),)

    def _of_service(self, entry: _Entry) -> Iterator[Guard]:
        """Yield what is asked by the object that the Service of a path names, for all ports or for this one."""
        about = self._vendor.services
        service = self._world.get(ResourceKey("", "Service", entry.ingress.key.namespace, _service(entry)))
        annotation = text(about.get("annotation"))
        if service is None or annotation not in service.annotations:
            return
        place: Pointer = ("metadata", "annotations", annotation)
        documents = read(str(service.annotations[annotation]).encode(), annotation).documents
        stated = mapping(documents[0].value) if documents else {}
        port = mapping(mapping(entry.backend.get("service")).get("port"))
        by_port = mapping(stated.get("ports"))
        name = next((text(by_port[str(each)]) for each in port.values() if str(each) in by_port), "")
        name = name or text(stated.get("default"))
        if not name:
            return
        key = ResourceKey(text(about.get("group")), text(about.get("kind")), service.key.namespace, name)
        named = self._world.get(key)
        if named is None:
            yield Guard(service, {"unread": f"{key.kind} {name}"}, {("unread",): place})
            return
        for path, setting in mapping(about.get("reads")).items():
            at = tuple(path.split("."))
            if value_at(named.spec, at):
                yield Guard(named, {text(setting): {"by": path}}, {(text(setting),): ("spec", *at)})

    def _guard(self, ingress: Resource) -> Guard:
        """Return what the annotations of an Ingress ask."""
        vendor = self._vendor
        spec: dict[str, Any] = {}
        places: dict[Pointer, Pointer] = {}
        failing: dict[Pointer, FailingSetting] = {}
        for name, meaning in vendor.reads.items():
            value = vendor.value(ingress, name)
            if "holds" in meaning and expression(meaning["holds"]).is_within(value) is not True:
                continue
            if not value or value == "false" or "fails" in meaning or not holds(vendor, ingress, mapping(meaning)):
                continue
            at = tuple(text(meaning.get("at")).split("."))
            holder = spec
            if meaning.get("networks") and not all(map(_NETWORK.match, value.split(","))):
                spec["unread"] = {name: value}
                places["unread",] = ("metadata", "annotations", f"{vendor.prefix}{name}")
                continue
            is_closed = "form" in meaning and not has_form(meaning, value, ingress)
            why, closes = f"{name} is `{value}`", is_closed
            if "authority" in meaning and not is_closed:
                why, closes = fault_of_authority(self._world, ingress, value, meaning["authority"])
                if why and not closes:
                    continue  # nobody is asked
            if closes:
                closed = self._closed(ingress, name, meaning["closes"], why)
                spec |= closed.spec
                places.update(closed.places)
                failing.update(closed.failing)
                continue
            if "at" not in meaning:
                continue
            for step in at[:-1]:
                holder = holder.setdefault(step, {})
            holder[at[-1]] = [part.strip() for part in value.split(",")] if meaning.get("networks") else value
            places[at] = places[at[:1]] = ("metadata", "annotations", f"{vendor.prefix}{name}")
        by_type = mapping(vendor.reads.get("auth-type"))
        if "fails" in by_type and (kind := vendor.value(ingress, "auth-type")):
            setting = text(mapping(by_type["at"]).get(kind), "basicAuth")
            secret = vendor.value(ingress, "auth-secret")
            spec[setting] = {"secret": secret}
            places[setting,] = ("metadata", "annotations", f"{vendor.prefix}auth-type")
            if why := fault_of_login(self._world, ingress, vendor):
                failing[setting,] = FailingSetting(by_type["fails"], why, ingress.key)
        for name in vendor.list("text"):
            if value := vendor.value(ingress, name):
                setting = "snippets" if name.endswith(("snippet", "snippets")) else "unread"
                spec.setdefault(setting, {})[name] = value
                places[setting, name] = places[setting,] = ("metadata", "annotations", f"{vendor.prefix}{name}")
        if left := self._named(ingress)[1]:
            name = text(vendor.extensions.get("annotation"))
            spec["unread"] = {name: ", ".join(left)}
            places["unread",] = ("metadata", "annotations", f"{vendor.prefix}{name}")
        return Guard(ingress, spec, places, failing)


def _service(entry: _Entry) -> str:
    """Return the name of the Service that a path leads to."""
    return text(mapping(entry.backend.get("service")).get("name"))


def _entries(ingress: Resource, vendor: Vendor) -> Iterator[_Entry]:
    """Yield the paths of an Ingress; its default backend takes what no path of its hosts takes."""
    is_read = not (vendor.defaults_alone and variables.entries(ingress, "rules"))
    default = ingress.spec.get("defaultBackend") if is_read else {}
    hosts: dict[str, set[str]] = {}
    for number, written in enumerate(variables.entries(ingress, "rules")):
        host = written if isinstance(written, str) else text(mapping(written).get("host"))
        paths = hosts.setdefault(host, set())
        for index, entry in enumerate(map(mapping, variables.entries_of(written, "http", "paths"))):
            path = text(entry.get("path")) or "/"
            kind = text(entry.get("pathType"), "ImplementationSpecific")
            kind = EXPRESSION if vendor.expression_in(ingress, path, kind) else kind
            paths.add(path)
            pointer: Pointer = ("spec", "rules", number, "http", "paths", index)
            yield _Entry(ingress, host, path, kind, mapping(entry.get("backend")), pointer)
    for host, paths in (hosts or {"": set()}).items() if default else ():
        if "/" not in paths:
            yield _Entry(ingress, host, "/", "Prefix", mapping(default), ("spec", "defaultBackend"))


def _as_listed(vendor: Vendor, entries: Iterable[_Entry]) -> dict[tuple[ResourceKey, Pointer], int]:
    """Return the places of paths among all rules of a load balancer: by the order of its Ingresses in their group, by
    name, by rule, and within one exact paths, then the longest prefix, then the others as they are written."""
    rules = dict.fromkeys((entry.ingress.key, entry.pointer[:3]) for entry in entries)
    numbered = {rule: number for number, rule in enumerate(rules)}

    def place(entry: _Entry) -> tuple[object, ...]:
        ingress = entry.ingress
        group = vendor.value(ingress, text(vendor.order.get("group"))) or ingress.key.path
        order = vendor.value(ingress, text(vendor.order.get("by"))) or "0"
        number = (whole_number(order.removeprefix("-")) or 0) * (-1 if order.startswith("-") else 1)
        is_last = entry.pointer == ("spec", "defaultBackend")
        kind = {"Exact": 0, "Prefix": 1}.get(entry.kind, 2)
        own = (kind, -len(entry.path) if kind < 2 else 0)
        return group, is_last, number, ingress.key.path, numbered[ingress.key, entry.pointer[:3]], own

    ranked = sorted(entries, key=place)
    return {(entry.ingress.key, entry.pointer): number for number, entry in enumerate(ranked)}


def _names(entries: Iterable[_Entry]) -> dict[tuple[ResourceKey, Pointer], str]:
    """Return the names of rules: host and path, with the type where an Ingress has the path twice."""
    names: dict[tuple[ResourceKey, Pointer], str] = {}
    taken: set[tuple[ResourceKey, str]] = set()
    for entry in entries:
        name = f"{entry.host}{entry.path}"
        if (entry.ingress.key, name) in taken:
            name = f"{name} {entry.kind} {len(taken)}"
        taken.add((entry.ingress.key, name))
        names[entry.ingress.key, entry.pointer] = name
    return names


def _path(kind: str, value: str) -> list[dict[str, Any]]:
    return [{"path": {"type": kind, "value": value}}]


def _filter(kind: str, body: Mapping[str, Any], field: str = "") -> dict[str, Any]:
    return {"type": kind, field or f"{kind[0].lower()}{kind[1:]}".replace("uRL", "url"): dict(body)}


def _redirected(path: str) -> dict[str, Any]:
    return {"path": {"type": "ReplaceFullPath", "replaceFullPath": path}}


def _number(value: str, unset: int) -> int:
    number = whole_number(value)
    return unset if number is None else number


def _moved(vendor: Vendor, ingress: Resource) -> dict[str, Any] | None:
    """Return where an Ingress redirects all requests, None where it does not."""
    for name, status in {"temporal-redirect": 302, "permanent-redirect": 301, **vendor.moves}.items():
        url = vendor.value(ingress, name)
        if not url:
            continue
        code = _number(vendor.value(ingress, f"{name}-code"), status)
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            continue
        path = {"type": "ReplaceFullPath", "replaceFullPath": parts.path or "/"}
        found = {"scheme": parts.scheme, "hostname": parts.hostname or "", "path": path, "statusCode": code}
        found["dropsQuery"] = True  # the address is written whole
        return {**found, **({"port": port} if port else {})}
    return None
