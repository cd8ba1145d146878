"""What an effective policy asks of requests: nothing, or what may or must be shown (`settings` and `weaker`).

A setting asks nothing where it only switches itself off. It may ask where requests pass without what it checks: in its
weakest mode (`jwt.optional`), beside an anonymous way in, or under conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from policylint.catalog.kinds import Catalog
from policylint.catalog.modules import passes, without_passing
from policylint.model import PolicyKind, ResourceKey, Severity, World, mapping, text
from policylint.model.resource import value_at
from policylint.model.weakness import Weakness
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.declared import is_there
from policylint.policy.results import Effective
from policylint.policy.units import at_path

Purpose = Literal["authentication", "authorization"]
TurnedAway = Literal["without", "false", "nobody"]
"""Who is turned away: whoever comes without what is asked for, whoever comes with something false, nobody."""
SEVERITY_OF_LOSS: Mapping[TurnedAway, Severity] = {"without": "error", "false": "warning", "nobody": "note"}
"""How bad it is that a login goes, by whom it turned away: an optional one kept nobody out who sent nothing."""
_EXTENSION = "extensionRef"
_ANSWERING = {
    "lua": ("respond",),
    "snippets": (
        "auth",
        "deny",
        "return",
        "js_",
        "perl",
        "lua",
        "satisfy",
        "limit_except",
        "internal",
        "rewrite",
        "error_",
    ),
    "*": (
        *(
            "respond",
            "direct_response",
            "ext_authz",
            "ext_proc",
            "jwt",
            "oauth",
            "oidc",
            "basic_auth",
            "api_key",
            "rbac",
        ),
        *("wasm", "golang", "dynamic_module", "credential"),
    ),
}
"""By setting the words without one of which its text turns nobody away: Lua, configuration of NGINX, of Envoy."""
_ELSEWHERE = "valueref"
_FILTER = Pattern(r"\bfilters\.http\.([a-z0-9_]+)")
_PASSING = frozenset(
    {
        *("buffer", "cache", "compressor", "cors", "decompressor", "fault", "grpc_http1_bridge", "grpc_stats"),
        *("grpc_web", "header_mutation", "header_to_metadata", "health_check", "local_ratelimit", "lua", "on_demand"),
        *("original_src", "ratelimit", "router", "set_filter_state", "set_metadata", "stateful_session", "tap"),
    }
)
"""Filters of Envoy that let requests pass whoever sends them (Envoy, HTTP filters); Lua where it does not `respond`."""


class Ask(NamedTuple):
    """A setting that asks something of requests.

    Args:
        path: of the setting below the spec proper, dotted.
        must: whether a request without what it asks for is turned away.
        unless: where it need not, what lets requests pass: `jwt.optional`.
        inside: the part of the setting that asks, where it holds other things too: `rules.authentication` of `rules`.
        turns_away: who loses by it; some of those without, where conditions say which requests are asked.
    """

    purpose: Purpose
    path: str
    must: bool
    unless: str = ""
    inside: str = ""
    turns_away: TurnedAway = "without"

    @property
    def asking(self) -> str:
        """Return the path of what asks: the part of the setting that does, or else the whole of it."""
        return self.inside or self.path

    @property
    def name(self) -> str:
        """Return what asks as people name it: `jwt`, for `traffic.jwtAuthentication` its last step."""
        return self.asking.rpartition(".")[2]


def conditions(kind: PolicyKind) -> list[str]:
    """Return the fields that say when a policy as a whole acts: they are not settings that a route can lose."""
    return [weak.path for weak in kind.weaker if weak.list == "conditions" and "." not in weak.path]


def asks(kind: PolicyKind, spec: Mapping[str, Any]) -> Iterator[Ask]:
    """Yield what a spec proper asks, by purpose and path."""
    condition = next((path for path in conditions(kind) if spec.get(path)), "")
    for purpose, path in _settings(kind):
        inside = kind.settings.inside.get(purpose, "")
        # Where what asks is a part of the setting, an empty one asks nothing (`rules: {authentication: {}}`).
        if is_there(_at(spec, path)) and (not inside or _at(spec, inside)):
            weak = [each for each in kind.weaker if each.opens == purpose and each.path.startswith(f"{path}.")]
            weak = [each for each in weak if is_weak(each, spec)]
            optional = path in kind.settings.optional
            unless = path if optional else weak[0].path if weak else condition
            lenient = [weakness for weakness in weak if weakness.presence != "narrows"]
            turns_away: TurnedAway = "false" if optional or lenient else "without"
            if any(each.presence == "grants" or _value(each, spec) in each.admits_all for each in lenient):
                turns_away = "nobody"
            yield Ask(purpose, path, not unless, unless, inside, turns_away)


def strongest(asking: Iterable[Ask]) -> TurnedAway:
    """Return who is turned away by the strictest of some settings; nobody by none."""
    found = {ask.turns_away for ask in asking}
    return "without" if "without" in found else "false" if "false" in found else "nobody"


def lets_all_pass(kind: PolicyKind, spec: Mapping[str, Any]) -> bool:
    """Return whether a spec proper says nothing but that everybody may pass (`authorization: {defaultAction: Allow}`):
    whoever writes that opts out on purpose, and has no list of rules that might have been meant to do more."""
    deciding = {path.split(".")[0] for _, path in _settings(kind)}
    own = {name: value for name, value in spec.items() if value is not None}
    if not own or not own.keys() <= deciding or any(map(_holds_list, own.values())):
        return False
    asking = list(asks(kind, spec))
    return all(ask.turns_away == "nobody" or (ask.purpose == "authorization" and not ask.must) for ask in asking)


def _holds_list(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_list, value.values()))
    return isinstance(value, list) and bool(value)


def unread(kind: PolicyKind, spec: Mapping[str, Any], own: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the settings that may ask for anything, and what they say; "" where all of a policy may.

    Args:
        spec: what is in effect.
        own: the specs of the policies that it comes of.
    """
    for path in (*kind.settings.code, *kind.settings.raw) if spec else ():
        value: Any = list(own) if path == "*" else _at(spec, path)
        if is_there(value) and (_can_answer(path, value) if path not in kind.settings.code else not passes(value)):
            yield "" if path == "*" else path, value


def _can_answer(path: str, value: object) -> bool:
    """Return whether text for a proxy may turn requests away: by a word that does, or text that is elsewhere."""
    import json

    written = without_passing(json.dumps(value, default=str).lower())
    if any(word in written for word in _ANSWERING[path]) or _ELSEWHERE in written:
        return True
    return not _PASSING.issuperset(_FILTER.findall(written))


def setters(effective: Effective, path: str) -> list[ResourceKey]:
    """Return who set the fields of a setting, or what it is a part of, in their order; with "" of all of them."""
    steps = tuple(path.split(".")) if path else ()
    return list(dict.fromkeys(effective.owners[leaf] for leaf in effective.leaves(steps)))


def asked(kind: PolicyKind, effective: Effective, world: World, catalog: Catalog) -> list[Ask]:
    """Return what an effective policy asks, by the objects that its settings name, too (`jwtAuth.extensionRef`)."""
    found = []
    for ask in asks(kind, effective.spec):
        value = _at(effective.spec, ask.path)
        stated = value if isinstance(value, list) else [value]
        weak = [  # of several side by side each one asks
            _weak_extension(mapping(mapping(each).get(_EXTENSION)), kind.group, owner.namespace, world, catalog)
            for each, owner in zip(stated, setters(effective, ask.path), strict=False)
        ]
        lenient = ask.must and len(weak) == len(stated) and all(weak)
        found.append(ask._replace(must=False, unless=weak[0], turns_away="false") if lenient else ask)
    return found


def _settings(kind: PolicyKind) -> Iterable[tuple[Purpose, str]]:
    """Return the settings that ask: those of a purpose, and those without which the purpose is not served."""
    listed: dict[tuple[Purpose, str], None] = {}
    listed.update({("authentication", path): None for path in kind.settings.authentication})
    listed.update({("authorization", path): None for path in kind.settings.authorization})
    listed.update({(weak.opens, weak.path): None for weak in kind.weaker if weak.opens and weak.presence == "demands"})
    return listed


def asking_paths(kind: PolicyKind) -> list[str]:
    """Return the settings of a kind, dotted, that ask something of requests."""
    return list(dict.fromkeys(path for _, path in _settings(kind)))


def is_weak(weak: Weakness, spec: Mapping[str, Any]) -> bool:
    """Return whether a weakness is there: a weaker mode, or a grant that lets everybody in."""
    if weak.order:
        if "*" in weak.path:
            return any(unit.value in step for unit in at_path(spec, weak.path) for step in weak.order[1:])
        value = _value(weak, spec)
        return any(value in step and isinstance(value, bool) == isinstance(step[0], bool) for step in weak.order[1:])
    if weak.presence == "narrows":
        return weak.narrows(spec)
    return weak.presence == "grants" and any(unit.value is not None for unit in at_path(spec, weak.path))


def _value(weak: Weakness, spec: Mapping[str, Any]) -> Any:
    """Return the value that counts for a weakness with an order."""
    value = _at(spec, weak.path)
    if value is None and weak.instead:
        value = _at(spec, weak.instead)
    return weak.unset if value is None else value


def _weak_extension(named: Mapping[str, Any], group: str, namespace: str, world: World, catalog: Catalog) -> str:
    """Return which field of an object that a setting names lets requests pass without what it checks, "" for none."""
    if not named:
        return ""
    group = text(named.get("group")) or group
    for other_group, name in world.kinds():
        kind = catalog.get(group, name) if other_group == group else None
        if kind is None or kind.bound_by != "object" or text(named.get("kind"), name) != name:
            continue
        key = ResourceKey(group, name, text(named.get("namespace")) or namespace, text(named.get("name")))
        resource = world.get(key)
        weak = (
            []
            if resource is None
            else [weak.path for weak in kind.weaker if weak.opens and is_weak(weak, resource.spec)]
        )
        if weak:
            return f"{weak[0]} of {key}"
    return ""


def _at(spec: Mapping[str, Any], path: str) -> Any:
    return value_at(spec, tuple(path.split(".")))
