"""Whether policies let one request in: allowed, denied, or depending on what no manifest says.

One vocabulary of what is known of a request, and one list of decisions, for Gateways and the proxies of meshes alike.
What an implementation makes of a request stands in its own modules (`Implementation.decisions`, `admit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import Node, Resource, ResourceKey, sequence, text
from policylint.model.ternary import every, negated, some
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.spaces.addresses import OF_NOBODY, address_set, means_everybody, number_of, without
from policylint.spaces.predicates import Predicate, containing, ending, starting
from policylint.topology.workloads import Labels

Answer = Literal["allowed", "denied", "depends"]
Routing = Literal["all", "producers", "none"]
"""Which routes of a Service requests of the mesh meet: those of the client's namespace too, the Service's, or none."""
CLIENT = "client address"
PRINCIPAL = "principal"
CLAIM = "claim "
SITE = "sending site"
"""How properties of requests are called: the address of the client, its identity, how those of its token begin, and the
site whose script or form sends it."""


class Leading(NamedTuple):
    """A route of a Service that counts for a client.

    Args:
        left_out: matches, by the number of their rule and their own, that its proxy has not.
        perhaps: those of which it is not known whether it has them, since its labels are not.
        doubt: why it is not known whether the route counts; "" where it is.
    """

    route: ResourceKey
    left_out: frozenset[tuple[int, int]] = frozenset()
    perhaps: frozenset[tuple[int, int]] = frozenset()
    doubt: str = ""


def _nobody(_: Sequence[Resource]) -> tuple[Resource | None, bool]:
    return None, False


class Client(NamedTuple):
    """Who sends a request.

    Args:
        workload: the workload or the Gateway; None for what is outside, or not in the tree.
        namespace: of it; "" for what is outside of the mesh, None where it is not known.
        account: its identity in the mesh, `shop/web`, where it is called by that; "" for what has none.
        original: whether it sends the request in the first place, and does not pass it on.
        callers: the workloads that it may be, as far as they were seen: one, or those of its account or namespace.
    """

    workload: Resource | None = None
    namespace: str | None = None
    account: str | None = None
    original: bool = False
    callers: tuple[Resource, ...] = ()


class RequestQuestion(NamedTuple):
    """What a policy asks about a request: whether a property satisfies one of some predicates.

    Args:
        name: of the property, as dimensions are called: `method`, `path`, `header x-team`, CLIENT, `claim sub: a`.
        answer: None where it is left open.
    """

    name: str
    predicates: tuple[Predicate, ...]
    answer: bool | None = None


class RequestFacts(NamedTuple):
    """What is known of a request where it is asked about. Whatever policies ask goes through `has` and its like.

    Args:
        headers: by name in lower case.
        port: that the proxy or the container listens on, None where it is not known.
        dialled: the port, of the Service or the Gateway, that the client asks for, None where it is not known.
        stream: whether it is no HTTP request.
        sender: who sends it, or passes it on to where it is asked about.
        taker: which of some routes takes the request, and whether that is certain.
        address: of the client, as the proxy finds it; "" where it is not known. `peer` is of who connects.
        claims: of the valid token that it brings, () for none; None where it is not known.
        blank: whether every question is left open, so that all of them are asked, but for who passes it on.
        asked: keeps the questions.
        rewritten: the properties that are no longer those that the client sent.
        service: the Service that it is sent to, None for what goes to Gateways or straight to pods.
        labels: of the pods of that Service that are meant, () for all.
        straight: the workload to whose pods it is sent by their address, None for what goes to anything else.
        scheme: `http` or `https`, "" where that is not known.
        claimed: by header in lower case, the claim that a proxy writes there, whatever clients write.
    """

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    port: int | None = None
    stream: bool = False
    sender: Client = Client()
    taker: Callable[[Sequence[Resource]], tuple[Resource | None, bool]] = _nobody
    dialled: int | None = None
    address: str = ""
    claims: tuple[tuple[str, str], ...] | None = None
    blank: bool = False
    asked: list[RequestQuestion] | None = None
    rewritten: frozenset[str] = frozenset()
    service: Resource | None = None
    labels: Labels = ()
    straight: Resource | None = None
    scheme: str = ""
    peer: str = ""
    claimed: Mapping[str, str] = {}

    @property
    def bare_path(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    def has(self, name: str, value: str | None, *predicates: Predicate) -> bool | None:
        """Return whether a property, which has a value, satisfies one of some predicates; the question is kept."""
        answer: bool | None = None
        one = len(predicates) == 1
        if not one and self.asked is not None and (apart := _apart(predicates)):
            return some([self.has(name, value, *each) for each in apart])
        if not self.blank:
            answer = predicates[0].takes(value) if one else some(predicate.takes(value) for predicate in predicates)
        if self.asked is not None:
            self._keep(f"rewritten {name}" if name in self.rewritten else name, predicates, answer)
        return answer

    def has_method(self, *predicates: Predicate) -> bool | None:
        return self.has("method", self.method, *predicates)

    def has_path(self, *predicates: Predicate) -> bool | None:
        """Return whether the path without its query satisfies one of some predicates."""
        return self.has("path", self.bare_path, *predicates)

    def has_header(self, name: object, *predicates: Predicate) -> bool | None:
        """Return whether the request has a header that satisfies one of some predicates.

        Proxies keep the request line among the headers: HTTP/2 calls it `:method`, `:path` and `:authority` (RFC 9113,
        8.3.1), the last of which is `Host` in HTTP/1. `:path` has the query, by which requests are not told apart here.
        """
        lowered = text(name).lower()
        if Predicate("Exact", text(name)).is_open:
            return None
        match lowered:
            case ":method":
                return self.has_method(*predicates)
            case ":path":
                return None
            case ":authority" | "host":
                return self.has("host", self.host, *predicates)
        if lowered in self.claimed:
            return self.has_claim(self.claimed[lowered], *predicates)
        return self.has(f"header {lowered}", self.headers.get(lowered), *predicates)

    def has_claim(self, name: str, *predicates: Predicate) -> bool | None:
        """Return whether one of the values of a claim satisfies one of some predicates.

        A claim may be a list, so that each predicate is a question of its own.
        """
        answers = []
        for predicate in () if Predicate("Exact", name).is_open else predicates:
            answer = None
            if not self.blank and self.claims is not None:
                answer = some(predicate.takes(value) for claim, value in self.claims if claim == name)
            self._keep(claim_name(name, predicate), (Predicate("Present"),), answer)
            answers.append(answer)
        return None if predicates and not answers else some(answers)

    def is_from(self, networks: Iterable[str]) -> bool | None:
        """Return whether the client's address is in one of some networks; 0.0.0.0/0 is taken for everybody."""
        within = address_set(texts := tuple(networks))
        if means_everybody(texts):
            return True
        number = None if self.blank or not self.address else number_of(self.address)
        answer = None if number is None else within.holds(number)
        if within.ranges:
            self._keep(CLIENT, (Predicate("Network", within.text),), answer)
        if not answer and not within.doubtful and not without(within.ranges, OF_NOBODY.ranges):
            return False
        return None if within.doubtful and not answer else answer

    def is_principal(self, known: str | None, wanted: Iterable[str]) -> bool | None:
        """Return whether the client has one of some identities.

        Args:
            known: its own, `shop/web`; "" for none, None where it is not known.
            wanted: each as `shop/web`, with a `*` in each part for any run of characters.
        """
        predicates = tuple(Predicate("Pair", pair) for pair in wanted)
        if self.sender.original and (apart := _apart(predicates)):
            return some([self.is_principal(known, (each.value for each in part)) for part in apart])
        is_open = known is None or (self.blank and (self.sender.original or self.sender.workload is None))
        answer = None if is_open else some(each.takes(known or None) for each in predicates)
        if self.sender.original and predicates:
            self._keep(PRINCIPAL, predicates, answer)
        return answer if predicates else False

    def _keep(self, name: str, predicates: tuple[Predicate, ...], answer: bool | None) -> None:
        if self.asked is not None:
            self.asked.append(RequestQuestion(name, predicates, answer))


def _apart(predicates: Sequence[Predicate]) -> list[Sequence[Predicate]]:
    """Return the questions that some predicates are where a variable stands in one next to others: what those take is
    certain, whatever the variable may take. None where they are one question."""
    stated = [each for each in predicates if not each.is_open]
    vague = [(each,) for each in predicates if each.is_open]
    return [stated, *vague] if stated and vague else []


def claim_name(name: str, predicate: Predicate) -> str:
    """Return the dimension of requests whose token has a claim that satisfies a predicate: `claim groups: admin`."""
    if predicate.type == "Present":
        return f"{CLAIM}{name}"
    return f"{CLAIM}{name}: {'~' if predicate.is_expression else ''}{predicate.value}"


def exactly(values: Any) -> list[Predicate]:
    """Return the predicates of values of which one is enough."""
    return [Predicate("Exact", str(value)) for value in sequence(values)]


class Checkpoint(NamedTuple):
    """A place where a request may be turned away.

    Args:
        path: a Gateway, a waypoint and the Service behind it, or a workload.
        resource: what stands at its end: the workload, or the Gateway or waypoint.
        doubt: why requests may go past it, "" where they certainly do not.
    """

    path: tuple[Node, ...]
    resource: Resource
    doubt: str = ""


class NearestRule(NamedTuple):
    """The rule that comes nearest to letting a request in.

    Args:
        pointer: of the rule, as `Decision.pointer`.
        by: the policy that holds it, where one object does.
        unmet: the first of its conditions that does not hold, in the words of its field: `paths: /a`.
    """

    pointer: Pointer
    by: Resource | None
    unmet: str


class Decision(NamedTuple):
    """The answer of one policy, or of one place.

    Args:
        pointer: of what decides: below `by`, or below the effective spec where that is None.
        why: on what it depends, or why it is denied: `no ALLOW policy lets it in`.
        status: with which a request is denied.
        by: the policy that decides, or on which it depends, where one object does; None for a default.
        resets: whether the connection is cut, and no status answered.
        direct: whether the policy answers itself, which is no refusal.
        refuses: of an answer that depends, whether it is a denial if what it depends on is so.
        asks: of what depends, the authorizer outside that is certainly asked: `external authorization`.
        because: the object beside `by` without which it would not be denied.
        is_fault: whether it is denied as a setting cannot do its work, whoever asks.
        passes_on: whether the rule of the route does not take the request after all, but the next one that does.
    """

    answer: Answer
    pointer: Pointer = ()
    why: str = ""
    status: int = 403
    by: Resource | None = None
    resets: bool = False
    direct: bool = False
    asks: str = ""
    refuses: bool = False
    nearest: NearestRule | None = None
    because: Resource | None = None
    is_fault: bool = False
    passes_on: bool = False

    def if_so(self, why: str) -> Decision:
        """Return a denial that holds if something is so that nothing says."""
        return self._replace(answer="depends", why=why, refuses=True)


class PlacedDecision(NamedTuple):
    """What the proxy at one place answers; `note` is what is to be said of one request, and not of all alike."""

    at: Checkpoint
    decision: Decision
    note: str = ""


class AuthorizationRule(NamedTuple):
    """One rule of a list in which the first match counts.

    Args:
        matches: None where that is not known.
        allows: what it says of requests that it matches.
        on: on what that depends where it is not known, else why it says so.
        by: the policy that holds it, where one object does.
        asks: the authorizer outside that is asked about what it certainly matches.
        unmet: returns the first of the conditions for being let in that does not hold, in the words of its field: of
            all the rules that do not match only the nearest one is asked. None where there is no such condition.
        met: how many conditions hold before that.
    """

    matches: bool | None
    allows: bool
    pointer: Pointer
    on: str = ""
    by: Resource | None = None
    asks: str = ""
    unmet: Callable[[], str] | None = None
    met: int = 0


def first_match(rules: Iterable[AuthorizationRule], default: AuthorizationRule) -> Decision:
    """Return the decision of rules in order; where none matches, of the default."""
    open_rules: list[AuthorizationRule] = []
    near: AuthorizationRule | None = None
    last = default
    for rule in rules:
        if rule.matches:
            last = rule
            break
        if rule.matches is None:
            open_rules.append(rule)
        elif rule.allows and rule.unmet and (near is None or rule.met > near.met):
            near = rule
    doubt = next((rule for rule in open_rules if rule.allows != last.allows), None)
    if doubt is not None:
        asking = doubt if last.allows is False else next((rule for rule in open_rules if rule.asks), doubt)
        return Decision("depends", asking.pointer, asking.on, by=asking.by, asks=asking.asks)
    if last.allows:
        return Decision("allowed", last.pointer, by=last.by)
    near = near if last is default else last
    unmet = near.unmet() if near is not None and near.unmet else ""
    nearest = NearestRule(near.pointer, near.by, unmet) if near is not None and unmet else None
    return Decision("denied", last.pointer, last.on, by=last.by, nearest=nearest)


def either(pointer: Pointer, on: str, by: Resource | None = None) -> tuple[AuthorizationRule, AuthorizationRule]:
    """Return the rules of what may match and may say one thing as well as the other: its action is not known."""
    return AuthorizationRule(None, True, pointer, on, by), AuthorizationRule(None, False, pointer, on, by)


def stands_for_itself(value: str) -> bool:
    """Return whether a value of an Istio rule has a `*` that is no wildcard: only one at the start or the end is.

    Source: pilot/pkg/security/authz/matcher/path.go and string.go; templates (`{*}`, `{**}`) are another matter.
    """
    return "*" in value[1:-1] and "{*" not in value and value != "**"


def in_brief(value: object) -> str:
    """Return what a rule states, on one line: `GET, POST`, `name: x-team, values: a`."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {in_brief(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return listing([in_brief(entry) for entry in value], word="or", most=4)
    return str(value).lower() if isinstance(value, bool) else str(value)


def otherwise(pointer: Pointer, on: str = "", by: Resource | None = None, *, allows: bool) -> AuthorizationRule:
    """Return the last rule of a list, which matches every request."""
    return AuthorizationRule(True, allows, pointer, on, by)


def holds(
    expression: object, message: RequestFacts, token: Sequence[str] = (), *, absent_fails: bool = False
) -> bool | None:
    """Return whether a CEL expression holds for a request: comparisons with what is known of it, and their logic.

    Args:
        token: the names under which an expression finds the claims of the token; () where it does not. What is asked of
            a claim that the token lacks fails, and then the expression does not hold.
        absent_fails: whether what is asked of a header that is not there fails as well; else it is not known.
    """
    if not isinstance(expression, str):
        return expression if isinstance(expression, bool) else None
    from policylint.cel.syntax import tree

    return _Judge(message, tuple(token), absent_fails).judged(tree(expression))


class _Judge(NamedTuple):
    """Whether expressions hold for a request.

    Args:
        failing: what an operand counts for that fails: inside of a negation True, so that the whole does not hold.
    """

    message: RequestFacts
    token: tuple[str, ...]
    absent_fails: bool = False
    failing: bool = False

    def judged(self, expression: Any) -> bool | None:
        """Return whether the tree of an expression holds."""
        match expression:
            case ["=", bool(constant)]:
                return constant
            case ["!", negative]:
                return negated(self._replace(failing=not self.failing).judged(negative))
            case ["&&", *parts]:
                return every(self.judged(part) for part in parts)
            case ["||", *parts]:
                return some(self.judged(part) for part in parts)
            case ["==", ["=", str(value)], field] | ["==", field, ["=", str(value)]]:
                return self._satisfies(field, Predicate("Exact", value))
            case ["!=", ["=", str(value)], field] | ["!=", field, ["=", str(value)]]:
                return self._replace(failing=not self.failing)._differs(field, value)
            case ["f", "startsWith", field, ["=", str(value)]]:
                return self._satisfies(field, starting(value))
            case ["f", "endsWith", field, ["=", str(value)]]:
                return self._satisfies(field, ending(value))
            case ["f", "contains", field, ["=", str(value)]]:
                return self._satisfies(field, containing(value))
            case ["f", "has", None, field] if claim := self._claim(field):
                return self.message.has_claim(claim, Predicate("Present"))
            case ["in", ["=", str(value)], field] if self._claim(field):
                return self._satisfies(field, Predicate("Exact", value))
            case ["in", field, ["list", *items]]:
                return some(self.judged(["==", field, item]) for item in items)
            case ["f", "exists", field, each, ["==", one, ["=", str(value)]]] if one == each and self._claim(field):
                return self._satisfies(field, Predicate("Exact", value))
        return None

    def _differs(self, field: Any, value: str) -> bool | None:
        return negated(self._satisfies(field, Predicate("Exact", value)))

    def _satisfies(self, field: Any, predicate: Predicate) -> bool | None:
        """Return whether a claim, or a field of `request`, satisfies a predicate."""
        claim = self._claim(field)
        if not claim:
            absent = self.failing if self.absent_fails else None
            return _attribute(field, predicate, self.message, absent)
        there = self.message.has_claim(claim, Predicate("Present"))
        return self.failing if there is False else self.message.has_claim(claim, predicate)

    def _claim(self, field: Any) -> str:
        """Return the claim that a field of an expression is, "" for none; within another one after a dot."""
        names: list[str] = []
        while isinstance(field, list):
            match field:
                case [".", inner, str(name)] | ["[]", inner, ["=", str(name)]]:
                    names.insert(0, name)
                    field = inner
                case _:
                    return ""
        names.insert(0, str(field))
        known = len(self.token)
        return ".".join(names[known:]) if known and tuple(names[:known]) == self.token else ""


def _attribute(field: Any, predicate: Predicate, message: RequestFacts, absent: bool | None) -> bool | None:
    """Return whether a field of `request` satisfies a predicate; `absent` of a header that is not there."""
    match field:
        case [".", "request", ("method" | "host" | "path" | "url_path") as name]:
            return has_field(message, name, predicate)
        case ["[]", [".", "request", "headers"], ["=", str(name)]] | [".", [".", "request", "headers"], str(name)]:
            there = message.has_header(name, Predicate("Present"))
            return absent if there is False else message.has_header(name, predicate)
    return None


def has_field(message: RequestFacts, name: str, predicate: Predicate) -> bool | None:
    """Return whether `method`, `host`, `url_path` or, with its query, `path` satisfies a predicate."""
    if name == "path":
        return message.has("path", message.path, predicate)
    own = {"method": message.method, "host": message.host, "url_path": message.bare_path}[name]
    return message.has("path" if name == "url_path" else name, own, predicate)
