"""What Traefik's Middlewares do with a request: redirects, paths, headers, CORS, lists of addresses.

Source: github.com/traefik/traefik v3.7.13 pkg/middlewares, one package for each sort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.implementations.traefik.forwarding import DEPENDS, address_by, trusted
from policylint.implementations.traefik.urls import address_of, decided, location, replaced, slashed
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.words import count, listing
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, exactly, first_match, otherwise
from policylint.policy.handling import PASSES, Handling, Redirect
from policylint.regex import expression
from policylint.spaces.addresses import address_set, number_of
from policylint.spaces.predicates import Predicate
from policylint.topology.secret_data import contents

_WELL_KNOWN = {"http": "80", "https": "443"}
_ASKING = ("basicAuth", "digestAuth")
_CORS = ("accessControlAllowMethods", "accessControlAllowOriginList", "accessControlAllowOriginListRegex")


def handled(middleware: Resource, message: RequestFacts, world: World) -> Handling | None:
    """Return what a Middleware does with a request; None for sorts that ask for a login, or limit."""
    for sort in LISTS:
        if sort in middleware.spec:
            return Handling(decision=address_decision(sort, middleware.spec[sort], message, world))
    if (login := next((sort for sort in _ASKING if sort in middleware.spec), "")) and _is_bare_preflight(message):
        return Handling(status=401, why=f"`{login}` asks a preflight for a login, and browsers send none with it")
    known = ((_SORTS[sort], value) for sort, value in middleware.spec.items() if sort in _SORTS)
    return next((handle(mapping(value), message) for handle, value in known), None)


def _is_bare_preflight(message: RequestFacts) -> bool:
    is_preflight = message.method == "OPTIONS" and "access-control-request-method" in message.headers
    return is_preflight and not message.blank and "authorization" not in message.headers


def of_no_sort(middleware: Resource) -> str:
    """Return what a Middleware says where nothing of it is a sort that Traefik knows, so that it does not exist for a
    router: such fields the API server takes off. "" where it is of a sort, or a chart may yet make it one."""
    sorts = sorted(name for name, value in middleware.spec.items() if value is not None)
    if is_symbolic(middleware.body.get("spec")):
        return ""
    return "" if any(name in _READ or is_symbolic(name) for name in sorts) else listing(sorts, most=2) or "nothing"


def unusable(middleware: Resource) -> str:
    """Return why a Middleware of one sort cannot be built; "" where nothing is known to be wrong."""
    for sort, value in middleware.spec.items():
        stated = mapping(value)
        if is_symbolic(value):
            continue
        match sort:
            case "redirectScheme" if not text(stated.get("scheme")):
                return "it names no scheme to redirect to"
            case "addPrefix" if not text(stated.get("prefix")):
                return "its prefix is empty"
            case "ipAllowList" | "ipWhiteList" if not (
                sequence(stated.get("sourceRange")) or is_symbolic(stated.get("sourceRange"))
            ):
                return "its sourceRange is empty"
            case "redirectRegex" | "replacePathRegex":
                refusal = expression(text(stated.get("regex"))).refusal
                return f"its regex is {refusal}" if refusal else ""
            case "stripPrefixRegex":
                refusals = (expression(each.strip()).refusal for each in texts(stated.get("regex")))
                return next((f"a regex is {refusal}" for refusal in refusals if refusal), "")
            case "headers" if not stated:
                return "it states no headers"
    return ""


def without_users(middleware: Resource, world: World) -> str:
    """Return why a Middleware has no list of who may log in; "" where nothing is known to be wrong.

    Source: pkg/provider/kubernetes/crd/kubernetes.go, loadAuthCredentials, loadBasicAuthCredentials.
    """
    for sort in _ASKING:
        name = text(mapping(middleware.spec.get(sort)).get("secret"))
        secret = world.get(ResourceKey("", "Secret", middleware.key.namespace, name)) if name else None
        held = contents(secret, world)
        if secret is None or held is None or is_symbolic(text(secret.body.get("type"))):
            continue
        if sort == _ASKING[0] and secret.body.get("type") == "kubernetes.io/basic-auth":
            if lacking := sorted({"username", "password"} - held.keys()):
                return f"{secret.key} has no {lacking[0]}"
        elif len(held) != 1:
            return f"{secret.key} has {count(len(held), 'entry', 'entries')}, and must have one with the users"
    return ""


def address_decision(sort: str, written: object, message: RequestFacts, world: World | None = None) -> Decision | None:
    """Return what a list of addresses answers; with a strategy, whom X-Forwarded-For names, where that is believed.

    Args:
        written: its settings, or the variable that stands for all of them.
        world: what the entry points are read of; None where that cannot be asked, and a strategy is not known.
    """
    stated = mapping(written)
    listed = stated.get("sourceRange") if stated else written
    networks = [listed] if isinstance(listed, str) and is_symbolic(listed) else texts(listed)
    if not networks:
        return None
    place = (sort, "sourceRange")
    status = stated.get("rejectStatusCode")
    strategy = mapping(stated.get("ipStrategy"))
    is_listed, depends, refused = _listed(networks, strategy, message, world)
    rule = AuthorizationRule(is_listed, True, place, depends)
    decision = first_match([rule], otherwise(place, allows=False))
    why = refused if decision.answer == "denied" and refused else decision.why
    return decision._replace(status=status if isinstance(status, int) and status else 403, why=why)


def _listed(
    networks: list[str], strategy: Mapping[str, Any], message: RequestFacts, world: World | None
) -> tuple[bool | None, str, str]:
    """Return whether the client is on a list, on what that hangs, and why it is not."""
    if not strategy.get("depth") and not strategy.get("excludedIPs"):
        return (None if strategy else message.is_from(networks)), "the client's address", ""
    if message.blank or world is None:
        return None, "the client's address", ""
    address, why = address_by(strategy, message, trusted(world, message.scheme))
    if address:
        number = number_of(address)
        is_listed = False if number is None else address_set(tuple(networks)).holds(number)
        return is_listed, "", f"the client's address is {address}, by its ipStrategy"
    return (None, why, "") if why in DEPENDS else (False, "", why)


def _redirect_scheme(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    """Redirect unless the address is already the one that a client is sent to."""
    scheme, port = text(stated.get("scheme")), str(stated.get("port") or "")
    port = "" if port == _WELL_KNOWN.get(scheme) else port
    if scheme == message.scheme and not port and not message.blank:
        return _as_parsed(message)
    status = 308 if stated.get("forcePermanentRedirect") is True else _status(stated, message)
    number = whole_number(port)
    return Handling(redirect=Redirect(status, scheme, message.host, number, slashed(message.path)))


def _redirect_regex(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    pattern = text(stated.get("regex"))
    found = decided(pattern, message)
    if found is None:
        return (
            Handling(unknown=f"whether `{pattern}` is found in the address of the request")
            if not message.blank
            else PASSES
        )
    old = address_of(message)
    new = replaced(pattern, old, text(stated.get("replacement"))) if found else old
    if new == old:
        return _as_parsed(message) if found else PASSES
    code = stated.get("statusCode")
    status = code if isinstance(code, int) and code else _status(stated, message)
    return Handling(redirect=location(new, status, message))


def _as_parsed(message: RequestFacts) -> Handling:
    """Return what is done with a request whose address was read anew, and is the same."""
    path = slashed(message.bare_path)
    return PASSES if path == message.bare_path else Handling(path=path)


def _status(stated: Mapping[str, Any], message: RequestFacts) -> int:
    if message.has_method(Predicate("Exact", "GET")) is False:
        return 308 if stated.get("permanent") is True else 307
    return 301 if stated.get("permanent") is True else 302


def _add_prefix(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    prefix = text(stated.get("prefix"))
    return Handling(path=f"/{prefix.removeprefix('/')}{message.bare_path}")


def _strip_prefix(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    path = message.bare_path
    prefix = next((each.strip() for each in texts(stated.get("prefixes")) if path.startswith(each.strip())), None)
    if prefix is None:
        return PASSES
    rest = _without(path, prefix)
    return Handling(path=f"/{rest.removeprefix('/')}" if stated.get("forceSlash") is True else rest)


def _strip_prefix_regex(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    path = message.bare_path
    for pattern in map(str.strip, texts(stated.get("regex"))):
        rest = replaced(f"^(?:{pattern.removeprefix('^')})", path, "", once=True)
        if rest != path:
            return Handling(path=_without(rest, ""))
    return PASSES


def _replace_path_regex(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    pattern, replacement = text(stated.get("regex")).strip(), text(stated.get("replacement")).strip()
    path = replaced(pattern, message.bare_path, replacement)
    return PASSES if path == message.bare_path else Handling(path=path)


def _without(path: str, prefix: str) -> str:
    """Return what is left of a path, with its slash; nothing where it is all of it."""
    rest = path.removeprefix(prefix)
    return rest if rest.startswith("/") or not rest else f"/{rest}"


def _headers(stated: Mapping[str, Any], message: RequestFacts) -> Handling:
    allowed = [host.lower() for host in texts(stated.get("allowedHosts"))]
    is_asked = bool(allowed) and stated.get("isDevelopment") is not True
    if is_asked and message.has("host", message.host.lower(), *exactly(allowed)) is False:
        return Handling(status=500, why="allowedHosts has another host")
    filters = []
    if any(stated.get(name) for name in _CORS) and not stated.get("accessControlAllowOriginListRegex"):
        cors = {
            "allowOrigins": texts(stated.get("accessControlAllowOriginList")),
            "allowMethods": texts(stated.get("accessControlAllowMethods")),
            "allowHeaders": texts(stated.get("accessControlAllowHeaders")),
            "exposeHeaders": texts(stated.get("accessControlExposeHeaders")),
            "allowCredentials": stated.get("accessControlAllowCredentials") is True,
            "maxAge": stated.get("accessControlMaxAge"),
        }
        filters.append({"type": "CORS", "cors": cors})
    for field, kind in (("customRequestHeaders", "request"), ("customResponseHeaders", "response")):
        named = mapping(stated.get(field))
        if named:
            change = {
                "set": [{"name": name, "value": str(value)} for name, value in named.items() if value],
                "remove": [name for name, value in named.items() if not value],
            }
            filters.append({"type": f"{kind.capitalize()}HeaderModifier", f"{kind}HeaderModifier": change})
    return Handling(filters)


LISTS = ("ipAllowList", "ipWhiteList")
_SORTS: dict[str, Callable[[Mapping[str, Any], RequestFacts], Handling]] = {
    "addPrefix": _add_prefix,
    "headers": _headers,
    "redirectRegex": _redirect_regex,
    "redirectScheme": _redirect_scheme,
    "replacePath": lambda stated, _: Handling(path=text(stated.get("path"))),
    "replacePathRegex": _replace_path_regex,
    "stripPrefix": _strip_prefix,
    "stripPrefixRegex": _strip_prefix_regex,
}
_READ = frozenset(
    {
        *_SORTS,
        *LISTS,
        *("basicAuth", "buffering", "chain", "circuitBreaker", "compress", "contentType", "digestAuth", "errors"),
        *("encodedCharacters", "forwardAuth", "grpcWeb", "inFlightReq", "passTLSClientCert", "plugin", "rateLimit"),
        "retry",
    }
)
"""The sorts of v3.7, pkg/provider/kubernetes/crd/traefikio/v1alpha1/middleware.go."""
