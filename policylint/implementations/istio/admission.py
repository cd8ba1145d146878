"""Whether a proxy of Istio lets a request in: CUSTOM before DENY before ALLOW, and nothing without a match.

Sender: istio.io/docs/concepts/security, «Authorization policies»; pilot/pkg/security/authz/builder and matcher;
for ztunnel docs/design/implementations/istio.md §1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio import labels, tokens
from policylint.implementations.istio.calling import Sender, takes_inbound
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.implementations.istio.own_gateways import asks_for_identities
from policylint.implementations.istio.protocols import carries_connections, is_of_connections
from policylint.implementations.istio.tokens import Outputs
from policylint.implementations.istio.visibility import Sidecars
from policylint.implementations.istio.ztunnel import HTTP, L4_CONDITIONS, for_streams
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.resource import value_at
from policylint.model.ternary import every, negated, some
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import (
    AuthorizationRule,
    Checkpoint,
    Decision,
    RequestFacts,
    either,
    first_match,
    in_brief,
    otherwise,
    stands_for_itself,
)
from policylint.policy.results import Group
from policylint.spaces.predicates import Predicate, globbed, matching
from policylint.topology.hostnames import without_port

ASKED = (labels.REQUEST_AUTHENTICATION, labels.PEER_AUTHENTICATION, labels.AUTHORIZATION)
"""The kinds that turn requests away."""
EXTERNAL = "external authorization"
_WEIGHTIEST = ("denied", "depends", "allowed")
_PERMISSIVE = "PERMISSIVE"
_PRINCIPAL = "principal"
_SLASHES = 4
"""In an identity of the form `cluster.local/ns/shop/sa/web`."""
_UNREAD_PORT = "whether the sidecar takes the port"


class Past(NamedTuple):
    """What the proxy before has done to a request.

    Args:
        outputs: the headers that it writes.
        token_rules: its rules for tokens, by which it may have kept one.
    """

    outputs: Outputs
    token_rules: tuple[Mapping[str, Any], ...]


class OfMesh(NamedTuple):
    """What holds for the whole mesh.

    Args:
        root: the root namespace.
        trust_domains: the mesh's own one, then its aliases.
        several_providers: whether policies with action CUSTOM may name different providers.
        strips_ports: whether Gateways take the port off the Host header.
        authorizers: those that its configuration names; None where that was not seen.
    """

    root: str
    trust_domains: Sequence[str]
    several_providers: bool
    strips_ports: bool
    authorizers: frozenset[str] | None = None


def admit(
    call: RequestFacts, hop: Checkpoint, here: Mapping[str, Group], world: World, past: Past, rules: OfMesh
) -> Decision | None:
    """Return what the policies of a context make of a request, None where nobody is asked.

    A connection is taken or not before its requests are read, and tokens are checked before authorization.

    Args:
        here: the effective policies of the context, by kind.
    """
    mesh = world.once(Mesh)
    proxy = mesh.proxy(hop.path[0].key)
    taken = True if proxy is None else takes_inbound(proxy, call.port)
    if taken is False:
        return None
    ambient = proxy is not None and proxy.ambient
    behind = world.get(hop.path[-1].key) if hop.path[-1].key[:2] == labels.SERVICE else call.service
    said = None
    if proxy is not None and not (ambient or proxy.gateway or proxy.router):
        said = world.once(Sidecars).taken_as(call.port, proxy.namespace, proxy.labels, rules.root)
    dialled = call.port if call.service is None else call.dialled
    if not ambient and (carries_connections(behind, dialled) if said is None else is_of_connections(said)):
        call = call._replace(stream=True)
    if rules.strips_ports and hop.resource.key.kind == "Gateway":
        call = call._replace(host=without_port(call.host))
    checking, peers, asked = (here.get(kind) for kind in ASKED)
    mode, by, place = (_PERMISSIVE, None, ()) if peers is None else tls_mode(peers, call.port)
    plain = (mode == "DISABLE" and not ambient) or (proxy is not None and is_without_identities(proxy, hop.resource))
    token_rules = tokens.rules_of(checking)
    has_token = checking is not None and not tokens.is_kept(call, past.token_rules, token_rules)
    sender = Sender(call, mesh, world, rules.root, checked=has_token, plain=plain, tunnel=ambient)
    decisions = [_mutual(mode, by, place, sender), tokens.refusal(call, checking) if has_token else None]
    if asked is not None:
        revision = labels.DEFAULT_REVISION if proxy is None else proxy.revision
        outputs = {**past.outputs, **tokens.outputs_of(token_rules, read=has_token)}
        judge = _Judge(call, sender, token_rules, outputs, rules.trust_domains, revision, ambient=ambient)
        decision = _authorize(judge, asked, rules)
        decisions.append(decision._replace(resets=ambient or call.stream))
    given = [_of_revision(decision, proxy) for decision in decisions if decision is not None]
    chosen = next((each for answer in _WEIGHTIEST for each in given if each.answer == answer), None)
    if chosen is None or chosen.answer == "allowed" or (taken and (proxy is None or proxy.sure)):
        return chosen
    if chosen.answer == "depends":
        return chosen._replace(asks="")
    return chosen.if_so("whether its pods are in the mesh" if taken else _UNREAD_PORT)


def is_without_identities(proxy: Proxy, gateway: Resource) -> bool:
    """Return whether nobody who connects to a Gateway shows a certificate: sidecars speak plain text to it, too.

    Waypoints get the identities of their clients from the tunnel; others where a listener demands certificates.
    """
    if proxy.waypoint or gateway.key.kind != "Gateway" or mapping(gateway.spec.get("tls")):
        return False
    if text(gateway.spec.get("gatewayClassName")) == labels.EAST_WEST_CLASS or asks_for_identities(gateway):
        return False
    listeners = map(mapping, sequence(gateway.spec.get("listeners")))
    return not any(mapping(mapping(each.get("tls")).get("options")) for each in listeners)


def _of_revision(decision: Decision, proxy: Proxy | None) -> Decision:
    """Return a decision as it is where another control plane than the proxy's may be the one to read its policy."""
    if decision.by is None or proxy is None or labels.counts_for(decision.by, proxy.revision):
        return decision
    if decision.answer == "denied":
        return decision.if_so(_doubtful(decision.by))
    return Decision("depends", why=_doubtful(decision.by)) if decision.answer != "allowed" else decision


def _doubtful(policy: Resource) -> str:
    return f"whether {policy.key}, of revision {policy.labels.get(labels.REVISION)}, counts there"


def tls_mode(peers: Group, port: int | None) -> tuple[str, Resource | None, Pointer]:
    """Return the mode of mTLS at a port of the pods, "" where that hangs on the port, and where it is set."""
    spec, owners = peers.effective.spec, peers.effective.owners
    ports = mapping(spec.get("portLevelMtls"))
    slots: list[Pointer] = [("mtls",), *(("portLevelMtls", number) for number in ports if port is None)]
    if str(port) in ports:
        slots = [("portLevelMtls", str(port))]
    modes = {text(mapping(value_at(spec, slot)).get("mode")) for slot in slots}
    owner = owners.get((*slots[0], "mode"), owners.get(("mtls", "mode")))
    by = next((each.policy for each in peers.effective.stack if each.key == owner), None)
    return modes.pop() if len(modes) == 1 else "", by, ("spec", *slots[0], "mode")


def _mutual(mode: str, by: Resource | None, place: Pointer, sender: Sender) -> Decision | None:
    """Return the refusal of a client that shows no certificate where one is asked for."""
    known = sender.is_one_of(["*/*"]) if mode in ("", "STRICT") or is_symbolic(mode) else True
    if known:
        return None
    if mode != "STRICT":
        return Decision("depends", place, "a variable" if mode else "the port", by=by)
    if known is None:
        return Decision("depends", place, sender.doubt, by=by)
    why = "it takes no plain text"
    if sender.past_services:
        why += ", and sidecars send no other to the address of a pod"
    if sender.rule is not None:
        why = f"it wants a certificate of the mesh, and {sender.rule.key} has its clients show none"
    return Decision("denied", place, why, by=by, resets=True, because=sender.rule)


def _authorize(judge: _Judge, group: Group, mesh: OfMesh) -> Decision:
    """Return what the AuthorizationPolicies of a context make of a request: CUSTOM, DENY, ALLOW."""
    by_action: dict[str, list[Resource]] = {}
    for attachment in group.effective.stack:
        by_action.setdefault(text(attachment.policy.spec.get("action")) or "ALLOW", []).append(attachment.policy)
    asking = by_action.get("CUSTOM", [])
    several = len(set(map(_provider, asking))) > 1 and not mesh.several_providers
    denying = (rule for policy in by_action.get("DENY", ()) for rule in judge.rules(policy, "DENY"))
    asked = (_of_provider(rule, mesh, several=several) for policy in asking for rule in judge.rules(policy, "CUSTOM"))
    allowing = by_action.get("ALLOW", [])
    allowed: Iterable[AuthorizationRule] = (rule for policy in allowing for rule in judge.rules(policy, "ALLOW"))
    default = otherwise((), allows=True)
    undecided = (each for action in filter(is_symbolic, by_action) for each in by_action[action])
    actions = (rule for policy in undecided for rule in either(("spec", "action"), "a variable for its action", policy))
    if allowing:
        words = "no ALLOW policy lets it in" if len(allowing) > 1 else "it lets in other requests only"
        words = words if any(policy.spec.get("rules") for policy in allowing) else "it lets nothing in"
        default = otherwise(("spec",), words, allowing[-1], allows=False)
        if not any(map(judge.counts, allowing)):  # without them everything is let in
            allowed = chain(allowed, [AuthorizationRule(None, True, (), _doubtful(allowing[-1]))])
    return first_match(chain(denying, actions, asked, allowed), default)


def _provider(policy: Resource) -> str:
    """Return the name of the provider that a policy asks."""
    return text(mapping(policy.spec.get("provider")).get("name"))


def _of_provider(rule: AuthorizationRule, mesh: OfMesh, *, several: bool) -> AuthorizationRule:
    """Return a rule of CUSTOM, whose provider decides on what it matches; several, or one that the mesh does not have,
    are not asked, and what the rule matches is denied (pilot/pkg/security/authz/builder, getBadCustomDenyRules)."""
    if rule.matches is False or rule.by is None:
        return rule
    missing = mesh.authorizers is not None and _provider(rule.by) not in mesh.authorizers
    if several or missing:
        why = (
            "CUSTOM policies of several providers meet" if several else f"the mesh has no provider {_provider(rule.by)}"
        )
        on = why if rule.matches else rule.on
        return rule._replace(allows=False, on=on)
    asks = EXTERNAL if rule.matches else ""
    on = f"the answer of {_provider(rule.by) or 'its provider'}"
    return rule._replace(matches=None, allows=False, on=on, asks=asks)


_NOTHING: Callable[[], str] = str
_VARIABLE = "a variable in its rule"


def _unseen(*names: str) -> str:
    return f"{listing(names)}, which ztunnel does not see"


def _asks_for(name: str, wanted: Sequence[str], negative: bool) -> str:
    """Return a condition in the words of its field."""
    literal = " (a * in the middle stands for itself)" if any(map(stands_for_itself, wanted)) else ""
    return f"{'none of ' if negative else ''}{name}: {in_brief(wanted)}{literal}"


class _Judge:
    """Matches rules against one request; what it could not know last is in `unknown`."""

    __slots__ = (
        "_ambient",
        "_call",
        "_home",
        "_met",
        "_outputs",
        "_revision",
        "_source",
        "_tokens",
        "_trusted",
        "_unmet",
        "unknown",
    )

    def __init__(
        self,
        call: RequestFacts,
        source: Sender,
        token_rules: Sequence[Mapping[str, Any]],
        outputs: Outputs,
        trust_domains: Sequence[str],
        revision: str,
        *,
        ambient: bool,
    ) -> None:
        self._revision = revision
        self._call, self._source, self._ambient = call, source, ambient
        self._tokens, self._outputs, self._trusted = token_rules, outputs, trust_domains
        self.unknown = ""
        self._home = ""
        self._met, self._unmet = 0, _NOTHING

    def counts(self, policy: Resource) -> bool:
        """Tell whether the control plane of the proxy reads a policy for certain."""
        return labels.counts_for(policy, self._revision)

    def rules(self, policy: Resource, action: str) -> Iterator[AuthorizationRule]:
        """Yield each rule of a policy, judged."""
        self._home = policy.key.namespace
        deny = action == "DENY"
        stated = policy.spec.get("rules")
        for index, rule in enumerate([stated] if is_symbolic(stated) else sequence(stated)):
            self.unknown = ""
            self._met, self._unmet = 0, _NOTHING
            left = mapping(rule)
            if self._call.stream and not self._ambient:
                left, whole_rule = for_streams(left)
                if action == "ALLOW" and not whole_rule:
                    continue
            matches = self._unknown(_VARIABLE) if is_symbolic(rule) else every(self._clauses(left, deny=deny))
            on = self.unknown if matches is None else "it denies such requests" if deny else ""
            if matches and not self.counts(policy):
                yield AuthorizationRule(None, not deny, (), _doubtful(policy))
            else:
                place, unmet = ("spec", "rules", index), None if deny else self._unmet
                yield AuthorizationRule(matches, not deny, place, on, policy, unmet=unmet, met=self._met)

    def _clauses(self, rule: Mapping[str, Any], *, deny: bool) -> Iterator[bool | None]:
        """Yield whether each of `from`, `to` and the conditions holds; a rule without any matches everything."""
        if any(map(is_symbolic, (*map(rule.get, ("from", "to", "when")), *sequence(rule.get("when"))))):
            yield self._unknown(_VARIABLE)
        for field, inner in (("from", "source"), ("to", "operation")):
            entries = [
                entry if is_symbolic(entry) else mapping(entry).get(inner) for entry in sequence(rule.get(field))
            ]
            if entries:
                yield some(self._entry(entry, deny=deny) for entry in entries)
        for condition in map(mapping, sequence(rule.get("when"))):
            key = text(condition.get("key"))
            if self._ambient and key not in L4_CONDITIONS:
                self._unmet = partial(_unseen, key)
                yield False  # in ALLOW the rule is left out; in DENY a clause of which nothing is left never matches
                continue
            values, excluded = texts(condition.get("values")), texts(condition.get("notValues"))
            if is_symbolic(condition.get("values")) or is_symbolic(condition.get("notValues")):
                yield self._unknown(_VARIABLE)
            if values:
                yield self._counted(key, values)
            if excluded:
                yield self._counted(key, excluded, negative=True)

    def _entry(self, written: object, *, deny: bool) -> bool | None:
        """Return whether a source or an operation fits: all of its attributes must."""
        entry = mapping(written)
        if is_symbolic(written) or any(map(is_symbolic, entry.values())):
            return self._unknown(_VARIABLE)
        names = [name for name, values in entry.items() if texts(values)]
        if self._ambient:
            known = [name for name in names if name not in HTTP]
            if len(known) < len(names) and not (deny and known):
                self._unmet = partial(_unseen, *(name for name in names if name in HTTP))
                return False
            names = known
        return every(
            self._counted(name[3].lower() + name[4:], texts(entry[name]), negative=True)
            if name.startswith("not")
            else self._counted(name, texts(entry[name]))
            for name in names
        )

    def _counted(self, name: str, wanted: list[str], *, negative: bool = False) -> bool | None:
        """Return whether a condition holds, and keep it as the one that is not met where it does not."""
        answer = self._attribute(name, wanted)
        answer = negated(answer) if negative else answer
        self._met += answer is True
        if answer is False:
            self._unmet = partial(_asks_for, name, wanted, negative)
        return answer

    def _attribute(self, name: str, wanted: list[str]) -> bool | None:
        """Return whether one attribute of the request has any of the values, of which some may be variables."""
        answer = self._has(name, wanted)
        variables = [] if answer else list(filter(is_symbolic, wanted))
        compared = name in ("hosts", "methods", "paths") or name.startswith("request.headers[")
        if not variables or (answer is False and compared and all(globbed(each).is_open for each in variables)):
            return answer
        return self._unknown(_VARIABLE)

    def _has(self, name: str, wanted: list[str]) -> bool | None:
        """Return whether one attribute of the request has any of the values."""
        call, source = self._call, self._source
        match name:
            case "principals" | "source.principal":
                return self._identified(pairs(each, self._trusted) for each in wanted)
            case "serviceAccounts" | "source.serviceAccount":
                return self._identified([each if "/" in each else f"{self._home}/{each}"] for each in wanted)
            case "namespaces" | "source.namespace":
                why = "whether the client is in the mesh" if source.namespace else "the namespace of the client"
                return self._identified(([f"{each}/*"] for each in wanted), why)
            case "trustDomains":
                own = any(_matches(each, self._trusted[0]) for each in wanted)
                return self._identified([["*/*"]] if own else [])
            case "requestPrincipals" | "request.auth.principal":
                return self._of_token(_known_claims(call), "", wanted)
            case "request.auth.audiences" | "request.auth.presenter":
                return self._of_token(call, "aud" if name.endswith("audiences") else "azp", wanted)
            case "hosts":
                return call.has("host", call.host.lower(), *(globbed(each.lower()) for each in wanted))
            case "methods":
                return call.has_method(*map(globbed, wanted))
            case "paths":
                return call.has_path(*map(_path_predicate, wanted))
            case "ports" | "destination.port":
                return self._known(None if call.port is None else str(call.port), wanted, "the port")
            case "remoteIpBlocks" | "remote.ip":
                answer = call.is_from(wanted)
                return self._unknown("the client's address") if answer is None else answer
            case "ipBlocks" | "source.ip":  # of who connects, whatever X-Forwarded-For says
                answer = call._replace(address=call.peer).is_from(wanted)
                return self._unknown("the client's address") if answer is None else answer
        if name.startswith("request.headers["):
            return self._header(name[len("request.headers[") :].rstrip("]"), wanted)
        if name.startswith("request.auth.claims["):
            return self._of_token(call, name[len("request.auth.claims[") :].rstrip("]").replace("][", "."), wanted)
        return self._unknown(name)

    def _of_token(self, call: RequestFacts, claim: str, wanted: list[str]) -> bool | None:
        """Return whether the token has one of some values in a claim; "" is its principal, `issuer/subject`."""
        if self._source.token is False:
            return False
        answer = call.has_claim(claim or _PRINCIPAL, *map(globbed, wanted))
        if answer is None and not call.blank and not tokens.brings(call, self._tokens):
            return False
        return self._unknown("the token that it brings") if answer is None else answer

    def _header(self, name: str, wanted: list[str]) -> bool | None:
        """Return whether a header has any of the values; a proxy may have written a claim in place of the client's."""
        call = self._call
        if name.lower() in self._outputs:
            claim, rules = self._outputs[name.lower()]
            answer = call.has_claim(claim or _PRINCIPAL, *map(globbed, wanted)) if rules else False
            answer = None if rules and not claim else answer
            if answer is None and not call.blank and not tokens.brings(call, rules):
                return False
            return self._unknown("the token that it brings") if answer is None else answer
        answer = call.has_header(name, *map(globbed, wanted))
        return self._unknown("the path with its query") if name == ":path" else answer

    def _identified(self, wanted: Iterable[Iterable[str]], why: str = "who the client is") -> bool | None:
        """Return whether the client has one of some identities."""
        answer = self._source.is_one_of(chain.from_iterable(wanted))
        return self._unknown(why) if answer is None else answer

    def _known(self, value: str | None, wanted: list[str], what: str) -> bool | None:
        """Return whether a value is among those wanted; one that is "" is not there, and None is not known."""
        if value is None:
            return self._unknown(what)
        return bool(value) and any(_matches(each, value) for each in wanted)

    def _unknown(self, what: str) -> bool | None:
        """Keep what it is that decides and is not known."""
        self.unknown = self.unknown or what
        return None


def _matches(wanted: str, value: str) -> bool:
    """Compare as Istio does: `*` is any value, `x*` a prefix, `*x` a suffix."""
    if wanted == "*":
        return value != ""
    if wanted.endswith("*"):
        return value.startswith(wanted[:-1])
    if wanted.startswith("*"):
        return value.endswith(wanted[1:])
    return value == wanted


def _path_predicate(wanted: str) -> Predicate:
    """Return what a path is compared with: `{*}` is one segment and `{**}` any number of them (MatchOneTemplate)."""
    if "{*}" not in wanted and "{**}" not in wanted:
        return globbed(wanted)
    operators = {"{*}": "[^/]+", "{**}": ".*"}
    steps = (operators.get(step) or re.escape(step) for step in wanted.split("/"))
    return matching("/".join(steps))


def _known_claims(call: RequestFacts) -> RequestFacts:
    """Return a request with the principal that follows from its token's issuer and subject."""
    if call.claims is None or any(name == _PRINCIPAL for name, _ in call.claims):
        return call
    claims = dict(call.claims)
    if "iss" not in claims or "sub" not in claims:
        return call
    return call._replace(claims=(*call.claims, (_PRINCIPAL, f"{claims['iss']}/{claims['sub']}")))


def pairs(wanted: str, trust_domains: Sequence[str]) -> Iterator[str]:
    """Yield the identities of the mesh that a principal stands for: `shop/web` for `cluster.local/ns/shop/sa/web`.

    The mesh's own trust domain, its aliases and `cluster.local` mean the same where all of the identity is written
    (trustdomain/bundle.go); else its own is compared. `x*` is a prefix of the whole text, `*x` a suffix.
    """
    own = trust_domains[0]
    written, _, rest = wanted.partition("/")
    if wanted.count("/") == _SLASHES and (
        written == "cluster.local" or any(_matches(written, domain) for domain in trust_domains)
    ):
        wanted = f"{own}/{rest}"
    if wanted in ("", "*"):
        yield from ["*/*"] if wanted else []
    elif wanted.endswith("*"):
        start, home = wanted[:-1], f"{own}/ns/"
        namespace, apart, tail = start.removeprefix(home).partition("/")
        if home.startswith(start):
            yield "*/*"
        elif start.startswith(home) and not apart:
            yield f"{namespace}*/*"
        elif start.startswith(home) and ("sa/".startswith(tail) or tail.startswith("sa/")):
            yield f"{namespace}/{tail[len('sa/') :]}*"
    elif wanted.startswith("*"):
        around, apart, account = wanted[1:].rpartition("/")
        before, named, namespace = around.removesuffix("/sa").rpartition("/")
        if not apart:
            yield f"*/*{account}"
        elif "/sa".endswith(around):
            yield f"*/{account}"
        elif around.endswith("/sa") and (not named or f"{own}/ns".endswith(before)):
            yield f"{'' if named else '*'}{namespace}/{account}"
    elif wanted.startswith(f"{own}/ns/") and wanted.count("/") == _SLASHES and rest.split("/")[2] == "sa":
        yield f"{rest.split('/')[1]}/{rest.split('/')[3]}"
