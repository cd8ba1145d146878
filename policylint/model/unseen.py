"""What may exist in an environment without having been seen, and who may have made it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from policylint.model.complete import Complete
from policylint.model.keys import GATEWAY_GROUP, UNKNOWN_NAMESPACE, VARIABLES, ResourceKey
from policylint.model.words import count
from policylint.namedtuple import NamedTuple

OPERATED = frozenset(
    {
        *(("", kind) for kind in ("ConfigMap", "Endpoints", "Pod", "Secret", "Service", "ServiceAccount")),
        *(("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("discovery.k8s.io", "EndpointSlice"),
    }
)
"""Kinds (group, kind) that an operator of which nothing is known may make."""


Kind = tuple[str, str]
"""Group and kind."""
_NETWORKING = frozenset({GATEWAY_GROUP, "networking.k8s.io"})
NOT_RENDERED, NOT_SEEN = "not rendered", "not seen"


class Mention(NamedTuple):
    """What the values of a chart, or a template, say about an object of some kind.

    Args:
        kind: in lower case, without dashes, in the singular: `securitypolicy`; "" for a bare reference to a target.
        group: of an object that is written out, "" where it is not stated.
        targets: the names of what it is for, None where that is not stated.
        written: the kind, or the key that speaks of it, as it stands there.
    """

    kind: str
    group: str = ""
    targets: frozenset[str] | None = None
    written: str = ""


class UnseenSource(NamedTuple):
    """Something of which not everything was seen that it makes.

    Args:
        noun: what it is, in the singular: `chart`, `template`, `source`.
        mentions: what its values say of policies and the like.
        makes: the kinds that it makes of Gateway API, of networking.k8s.io and of groups that Kubernetes does not have,
            None where that is not known.
        chart: its name, "" where that is not known, or it is none.
        reads: the annotations and labels of which texts in its values speak: arguments of programs, filters, selectors.
        values: returns those of a chart.
    """

    noun: str = "source"
    mentions: tuple[Mention, ...] = ()
    makes: frozenset[Kind] | None = None
    chart: str = ""
    reads: frozenset[str] = frozenset()
    values: Callable[[], object] = dict

    def may_make(self, kind: Kind, complete: Complete) -> bool:
        """Tell whether it may make objects of a kind, whatever its values say of them."""
        if kind[0] not in _NETWORKING and ("." not in kind[0] or kind[0].endswith(".k8s.io")):
            return True  # `makes` names all kinds of other groups
        stated = complete.may_make(self.chart, kind)
        return (self.makes is None or kind in self.makes) if stated is None else stated


class Acting(NamedTuple):
    """What an unseen source may do to an object.

    Args:
        named: the source that names the object, or that says it makes such a thing, in words; "" for none.
        ground: which sources might in principle, though nothing suggests that they do; "" where none can.
    """

    named: str = ""
    ground: str = ""


class _Making(NamedTuple):
    """What a generator may make: anything, with or without routes and Gateways, or objects of some kinds and names."""

    gateway_api: bool = True
    kinds: frozenset[Kind] | None = None
    ending: str = ""
    source: UnseenSource = UnseenSource()

    def covers(self, key: ResourceKey, complete: Complete) -> bool:
        if self.kinds is not None:
            return key[:2] in self.kinds and (not key.name or key.name.endswith(self.ending))
        if any(mention.kind == key.kind.lower() for mention in self.source.mentions):
            return True
        return (self.gateway_api or key.group != GATEWAY_GROUP) and self.source.may_make(key[:2], complete)


class Custom(NamedTuple):
    """A custom resource; without a namespace it may be in any.

    Args:
        makes: the kinds that its operator makes of it, where that is known.
        maker: who makes them, where that is no operator of such resources.
        ending: of the names of what is made.
    """

    kind: str
    namespace: str
    name: str
    makes: frozenset[Kind] | None = None
    maker: str = ""
    ending: str = ""


class Unseen:
    """The generators that can put objects into an environment that no manifest shows, as reasons.

    A reason holds for one namespace («HelmRelease media/plex is not rendered») or for all of them («a chart whose
    namespace is not stated»). It says whether the generator may make routes and Gateways too (charts) or only some
    kinds (operators).

    Args:
        complete: what the configuration says of it.
    """

    __slots__ = (
        "_by_name",
        "_custom",
        "_everywhere",
        "_in_order",
        "_installed",
        "_later",
        "_made",
        "_namespaces",
        "_owners",
        "_products",
        "_unread",
        "complete",
    )

    def __init__(self, complete: Complete = Complete()) -> None:  # noqa: B008 - immutable
        self.complete = complete
        self._everywhere: dict[str, _Making] = {}
        self._namespaces: dict[str, dict[str, _Making]] = defaultdict(dict)
        self._in_order: dict[str | None, list[tuple[str, _Making]]] = {}
        self._by_name: dict[str, dict[str, list[tuple[str, _Making]]]] = {}
        self._made: dict[ResourceKey, str] = {}
        self._custom = False
        self._owners: dict[str, list[Custom]] = defaultdict(list)
        self._later: list[Callable[[], Iterable[Custom]]] = []
        self._installed: Callable[[], Iterable[Custom]] | None = None
        self._products: list[Callable[[], Iterable[tuple[str, str, str]]]] = []
        self._unread: set[tuple[str, str, str]] = set()

    def add(
        self,
        reason: str,
        namespace: str | None = None,
        *,
        gateway_api: bool = True,
        kinds: frozenset[Kind] | None = None,
        ending: str = "",
        source: UnseenSource = UnseenSource(),  # noqa: B008 - immutable
    ) -> None:
        """Record one generator; without a namespace (or with an unknown one) it may create objects anywhere.

        Args:
            gateway_api: whether it may create routes and Gateways.
            kinds: all that it creates, if that is known.
            ending: of the names of what it creates.
            source: what else is known of it.
        """
        reasons = self._namespaces[namespace] if namespace and _is_stated(namespace) else self._everywhere
        self._in_order.clear()
        self._by_name.clear()
        known = reasons.get(reason)
        reasons[reason] = _Making(gateway_api or (known is not None and known.gateway_api), kinds, ending, source)

    def add_made(self, key: ResourceKey, reason: str) -> None:
        """Record one object that an operator makes."""
        self._made.setdefault(key, reason)
        self._custom |= "." in key.group  # a Service or a Secret by name says nothing of the rest

    def add_custom(self, resource: Custom) -> None:
        """Record a custom resource of which an operator may make Services, Secrets and workloads, and what bears its
        name."""
        if not _is_stated(resource.namespace):
            resource = resource._replace(namespace="")
        maker = resource.maker or f"the operator of {resource.kind}"
        makes = resource.makes or OPERATED
        self.add(f"{maker} may create it", resource.namespace, kinds=makes, ending=resource.ending)
        if resource.makes is None or resource.ending:  # one that a script names in full is no misspelling
            self._owners[resource.name or resource.ending].append(resource)

    def add_later(self, customs: Callable[[], Iterable[Custom]]) -> None:
        """Record custom resources that are read when something is missing that nothing else may make."""
        self._later.append(customs)

    def look_last(self, installed: Callable[[], Iterable[Custom]]) -> None:
        """Take what reads the scripts of the tree for what they install, when nothing else may make something."""
        self._installed = installed

    def add_products(self, products: Callable[[], Iterable[tuple[str, str, str]]]) -> None:
        """Record what operators make (group, kind, name) of resources that are read when a name looks misspelt."""
        self._products.append(products)

    def reason(self, key: ResourceKey) -> str:
        """Return why an object of this identity may exist though nobody saw it; "" when nothing can have made it."""
        if key[:2] in self.complete:
            return ""
        made = self._made.get(key) or self._reason(key, operators=False)
        if not made:
            while self._later:
                for resource in self._later.pop()():
                    self.add_custom(resource)
            made = self._reason(key, operators=True) or self._named_after(key)
            if not made and self._installed is not None:
                for resource in self._installed():
                    self.add_custom(resource)
                self._installed = None
                made = self._reason(key, operators=True)
        return made

    def is_operated(self, key: ResourceKey) -> bool:
        """Return whether only an operator that may make objects of any name can have made this one."""
        return not self.is_named(key) and not self._reason(key, operators=False)

    def is_named(self, key: ResourceKey) -> bool:
        """Return whether an operator has a custom resource that says so, one of this very name, or one that the name
        begins with: InferenceService `chat` is served by `chat-predictor`."""
        while self._products:
            self._unread.update(self._products.pop()())
        words = key.name.split("-")
        owners = (each for end in range(1, len(words) + 1) for each in self._owners.get("-".join(words[:end]), ()))
        is_said = (key.group, key.kind, key.name) in self._unread or key in self._made
        return is_said or any(owner.namespace in ("", key.namespace) for owner in owners)

    def likely(self, key: ResourceKey) -> str:
        """Return the reason of a source in its namespace that an object is named after, "" where there is none: release
        `grafana` makes `grafana` and `grafana-web`."""
        words = key.name.split("-")
        for end in range(len(words), 0, -1):
            for reason, making in self._named(key.namespace).get("-".join(words[:end]), ()):
                if making.kinds is None and making.covers(key, self.complete):
                    return reason
        return ""

    def _named(self, namespace: str) -> dict[str, list[tuple[str, _Making]]]:
        """Return the reasons that hold for a namespace by the name of the object that they name."""
        if namespace not in self._by_name:
            found = self._by_name[namespace] = {}
            for reason, making in self.at(namespace):
                name = "".join(reason.split(" ", 2)[1:2]).rpartition("/")[2]
                found.setdefault(name, []).append((reason, making))
        return self._by_name[namespace]

    def _reason(self, key: ResourceKey, *, operators: bool) -> str:
        if not operators and key.name and (likely := self.likely(key)):
            return likely
        for place in (key.namespace, None) if key.namespace else (*self._namespaces, None):
            for reason, making in self.at(place):
                if (making.kinds is not None) is operators and making.covers(key, self.complete):
                    return reason
        return ""

    def at(self, namespace: str | None) -> list[tuple[str, _Making]]:
        """Return the reasons that hold for a namespace, or for all of them, sorted."""
        if namespace not in self._in_order:
            reasons = self._everywhere if namespace is None else self._namespaces.get(namespace, {})
            self._in_order[namespace] = sorted(reasons.items())
        return self._in_order[namespace]

    def acting(
        self, concerns: Callable[[str, str], bool], met: Collection[ResourceKey], among: Callable[[], Collection[Kind]]
    ) -> Acting:
        """Return what unseen sources may do to objects by others that they make: policies, grants.

        A chart's policy targets what the chart knows: its own objects, and what its values name. So a source acts on
        an object where its values name that, or say that they make such a policy; all others might in principle.

        Args:
            concerns: whether an object of a kind may act so; a kind without a group is in lower case.
            met: what would be acted on, and what that hangs on: a route, its Gateway, its backends.
            among: returns the kinds that may act so.
        """
        namespaces = {key.namespace for key in met}
        names = {key.name for key in met}
        made = [key for key in self._made if key.namespace in namespaces and concerns(key.group, key.kind)]
        if made:
            return Acting(f"{min(made)} ({self._made[min(made)]})")
        counted: dict[str, int] = {}
        for place in (*sorted(namespaces), None):
            for reason, making in self.at(place):
                if making.kinds is not None:
                    if any(concerns(*kind) for kind in making.kinds):
                        return Acting(reason.partition(" may ")[0])
                    continue
                source = making.source
                for mention in source.mentions:
                    is_meant = mention.targets is None or not names.isdisjoint(mention.targets)
                    if is_meant and (not mention.kind or concerns(mention.group, mention.kind)):
                        return Acting(_speaking(reason, mention))
                if self._could(source, concerns, among):
                    counted[source.noun] = counted.get(source.noun, 0) + 1
        words = (f"{count(number, noun)} {_STATES.get(noun, NOT_SEEN)}" for noun, number in sorted(counted.items()))
        return Acting("", ", ".join(words))

    def _could(
        self, source: UnseenSource, concerns: Callable[[str, str], bool], among: Callable[[], Collection[Kind]]
    ) -> bool:
        """Tell whether a source could make a kind that acts on others, though its values do not say so."""
        if self.complete:
            return any(source.may_make(kind, self.complete) for kind in among())
        return source.makes is None or any(concerns(*kind) for kind in source.makes)

    def _named_after(self, key: ResourceKey) -> str:
        """Return which custom resource an object is named after, with or without words before and behind: the operator
        that makes HTTPRoute `qwen-kserve-route` makes it of LLMInferenceService `qwen`."""
        words = key.name.split("-")
        for start in range(len(words)):
            for end in range(len(words), start, -1):
                for owner in self._owners.get("-".join(words[start:end]), ()):
                    if owner.namespace in ("", key.namespace) and owner.maker and owner.makes is None:
                        return f"{owner.maker} may create it"
                    if owner.name and owner.namespace in ("", key.namespace):
                        return f"the operator of {owner.kind} may make it of {owner.kind} {owner.name}"
        return ""

    def of_routes(self) -> list[str]:
        """Return the reasons for which routes and Gateways may exist unseen, sorted."""
        if (GATEWAY_GROUP, "HTTPRoute") in self.complete:
            return []
        places = (self._everywhere, *self._namespaces.values())
        return sorted(
            {
                reason
                for reasons in places
                for reason, making in reasons.items()
                if making.kinds is None and making.covers(_ANY_ROUTE, self.complete)
            }
        )

    def unknown_charts(self) -> set[str]:
        """Return the names of the charts of which nothing says what they make."""
        makings = (making for place in (self._everywhere, *self._namespaces.values()) for making in place.values())
        return {making.source.chart for making in makings if making.source.chart and making.source.makes is None}

    def reads(self, name: str) -> bool:
        """Return whether the values of something that is not rendered speak of an annotation or a label: what it starts
        may read it."""
        places = (self._everywhere, *self._namespaces.values())
        return any(name in making.source.reads for making_of in places for making in making_of.values())

    def values_of(self, chart: str) -> list[object]:
        """Return the values of each installation of a chart that is not rendered, wherever they stand."""
        places = (self._everywhere, *self._namespaces.values())
        return [each.source.values() for place in places for each in place.values() if each.source.chart == chart]

    def installing(self, chart: str) -> list[str]:
        """Return the namespaces into which something installs a chart that is not rendered, sorted."""
        return sorted(
            namespace
            for namespace, makings in self._namespaces.items()
            if any(making.source.chart == chart for making in makings.values())
        )

    def bringing_routes(self) -> list[str]:
        """Return the reasons for which HTTPRoutes and GRPCRoutes may exist unseen: `AIGatewayRoute shop/chat makes
        HTTPRoute shop/chat`, `HelmRelease media/plex is not rendered`."""
        made = (
            f"{reason.removesuffix(' it')} {key}"
            for key, reason in sorted(self._made.items())
            if key.kind in ("HTTPRoute", "GRPCRoute") and key.group == GATEWAY_GROUP
        )
        return [*made, *self.of_routes()]

    def __bool__(self) -> bool:
        return bool(self._everywhere or self._namespaces or self._custom or self._later)


_ANY_ROUTE = ResourceKey(GATEWAY_GROUP, "HTTPRoute", "", "")
_STATES = {"chart": NOT_RENDERED, "template": NOT_RENDERED}


def _speaking(reason: str, mention: Mention) -> str:
    """Return `HelmRelease media/plex, whose values speak of securityPolicy,`."""
    subject = reason.partition(" may ")[0]
    if not mention.kind:
        return f"{subject}, whose values name {', '.join(sorted(mention.targets or ()))} as a target,"
    return f"{subject}, whose values speak of {mention.written or mention.kind},"


def _is_stated(namespace: str) -> bool:
    """Return whether something of a namespace is known: all of its name, or what stands beside a variable."""
    return namespace[:1] != UNKNOWN_NAMESPACE and bool(VARIABLES.sub("", namespace))
