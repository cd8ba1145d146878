"""Sources of objects that no manifest shows: charts, operators, other repositories, templates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from policylint.catalog.operators import Product, products
from policylint.documents import Document, Unread
from policylint.load.objects import objects_of
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, Unseen, is_symbolic, mapping, sequence, text
from policylint.model.kinds import BACKENDS_OF_CONTROLLERS, WAYS_IN
from policylint.model.resource import value_at
from policylint.model.unseen import Custom, UnseenSource
from policylint.model.words import count

_BUILT_IN_SUFFIX = ".k8s.io"
_BUILT_IN = frozenset(
    {
        *("", "apps", "batch", "autoscaling", "policy", "extensions"),
        *("rbac.authorization.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io"),
    }
)
_FLUX = "toolkit.fluxcd.io"
_MOST_READ = 1_000
"""Custom resources that are read for their names."""
_OF_PODS = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("", "Pod")})
_ROLE = ("rbac.authorization.k8s.io", "Role")
_MAKES_PODS = {"pods": "", "deployments": "apps", "statefulsets": "apps", "jobs": "batch"}
"""Resources (as Roles name them) that are pods, or of which controllers make some → their groups."""
_MOST_ROLES = 200
_PLACING = frozenset({"argoproj.io", "kustomize.config.k8s.io", "fluxcd.controlplane.io", "helm.cattle.io"})


def unseen(
    objects: Iterable[Resource],
    unread: Mapping[tuple[str, str], Sequence[Unread]],
    templates: list[str],
    known_groups: frozenset[str],
    read: Callable[[Unread], Iterable[Document]],
    *,
    placed: bool,
    installed: Collection[tuple[str, str, str]] = (),
) -> tuple[Unseen, tuple[str, ...]]:
    """Return the generators of one environment, and one sentence each for the coverage line.

    Source: docs/design/field-notes.md §1, needs 1, 6, 23.

    Args:
        objects: all resources that were read.
        unread: documents that were not parsed, by group and kind: those of groups that are neither built in nor
            policies are operators' work.
        templates: files whose templates were not rendered.
        known_groups: groups of the catalog, whose objects make nothing.
        read: reads a document that was not parsed.
        placed: whether kustomizations may give documents other namespaces than they state.
        installed: kinds, namespaces as written, and names of HelmReleases whose charts are rendered, and their sources.
    """
    generators = Unseen()
    counted = {"HelmRelease": 0, "Argo CD Application": 0, "template file": len(templates)}
    for resource in objects:
        kind, group = resource.key.kind, resource.key.group
        if installed and (kind, text(resource.metadata.get("namespace")), resource.key.name) in installed:
            continue
        if kind == "HelmRelease" or (kind == "HelmChart" and group == "helm.cattle.io"):
            namespace = text(resource.spec.get("targetNamespace")) or resource.key.namespace
            chart = text(value_at(resource.spec, ("chart", "spec", "chart")) or resource.spec.get("chart"))
            known = _of_release(resource, chart)
            generators.add(f"{resource.key} may create it; its chart is not rendered", namespace, source=known)
            counted["HelmRelease"] += 1
        elif group == "argoproj.io" and kind in ("Application", "ApplicationSet"):
            from policylint.render.helm.mentions import mentions

            destination = mapping(resource.spec.get("destination")) if kind == "Application" else {}
            own = UnseenSource("source", mentions(resource.spec))
            deploys = f"{resource.key} may deploy it from another source"
            generators.add(deploys, text(destination.get("namespace")), source=own)
            counted["Argo CD Application"] += 1
        elif group == "kustomize.config.k8s.io":
            _add_kustomization(resource, generators)
        elif kind in ("ResourceSet", "FluxInstance") or (kind.endswith("Repository") and group.endswith(_FLUX)):
            generators.add(f"{resource.key} may bring it from another repository")
        else:
            _add_made(resource, known_groups, generators)
    _add_unread(unread, known_groups, generators, read, placed=placed)
    if templates:
        reason = f"{templates[0]} is a template that was not rendered"
        generators.add(reason, source=UnseenSource("template"))
    sentences = (f"{count(number, noun)} not rendered" for noun, number in counted.items() if number)
    return generators, tuple(sentences)


def _of_release(release: Resource, chart: str) -> UnseenSource:
    """Return what is known of the chart of a release, by its name and the values that stand in the release."""
    from policylint.render.helm.published import source

    values = release.spec.get("values") or release.spec.get("valuesContent")
    complete = not release.spec.get("valuesFrom") and not isinstance(values, str)
    return source(chart.rstrip("/").rpartition("/")[2], values, seen=complete)


def operated(
    generators: Unseen,
    objects: Iterable[Resource],
    unread: Mapping[tuple[str, str], Sequence[Unread]],
    known_groups: frozenset[str],
    read: Callable[[Unread], Iterable[Document]],
) -> None:
    """Add what operators may make of the objects of one environment, which kustomizations deploy; args as `unseen`."""
    for resource in objects:
        if resource.key.group not in _PLACING:
            _add_made(resource, known_groups, generators)
    _add_unread(unread, known_groups, generators, read, placed=True)


def _add_made(resource: Resource, known_groups: frozenset[str], generators: Unseen) -> None:
    """Add what an operator makes of a resource; of a kind that nobody described, what operators make as a rule."""
    key = resource.key
    if key.group == "kyverno.io":
        _add_generated(resource, generators)
    if key[:2] == _ROLE and key.namespace:
        for custom in _by_role(resource.body, key.namespace, key.name):
            generators.add_custom(custom)
    made = products(key.group, key.kind)
    if made is None and _is_operated(key.group, key.kind, known_groups):
        generators.add_custom(Custom(key.kind, key.namespace, key.name))
    for product in made or ():
        if not product.is_made(resource.body):
            continue
        name = product.name(resource.body)
        if name and not is_symbolic(name):
            generators.add_made(ResourceKey(*product.kind, key.namespace, name), f"{key} makes it")
        else:
            generators.add(f"{key} makes some of these", key.namespace, kinds=frozenset({product.kind}))


def _add_generated(policy: Resource, generators: Unseen) -> None:
    """Add what the rules of a policy generate: of a kind, under a name that stands there or one of an expression."""
    for rule in map(mapping, sequence(policy.spec.get("rules"))):
        generate = mapping(rule.get("generate"))
        for made in (generate, *map(mapping, sequence(generate.get("foreach")))):
            name, kind = text(made.get("name")), text(made.get("kind"))
            if kind:
                group = text(made.get("apiVersion")).rpartition("/")[0]
                ending = "" if is_symbolic(name) else name
                generators.add(f"{policy.key} generates it", kinds=frozenset({(group, kind)}), ending=ending)


def _add_unread(
    unread: Mapping[tuple[str, str], Sequence[Unread]],
    known_groups: frozenset[str],
    generators: Unseen,
    read: Callable[[Unread], Iterable[Document]],
    *,
    placed: bool,
) -> None:
    """Add what operators may make of documents of which nothing but the kind is known."""
    customs: list[Unread] = []
    for group, kind in sorted(unread):
        if group in _PLACING:
            continue
        if (group, kind) == _ROLE:
            generators.add_later(partial(_who_may_make_pods, unread[group, kind][:_MOST_ROLES], read, placed=placed))
        made = products(group, kind)
        if made is None and _is_operated(group, kind, known_groups):
            customs += unread[group, kind]
        pods = _OF_PODS.intersection(product.kind for product in made or ())
        if pods:
            generators.add_later(partial(_makers_of_pods, pods, unread[group, kind][:_MOST_READ], read, placed=placed))
        for product in made or ():
            if product.kind in _OF_PODS and not product.ending:
                continue
            reason = f"the operator of {kind} makes {product.kind[1]}s" + (product.ending and f" *{product.ending}")
            generators.add(reason, kinds=frozenset({product.kind}), ending=product.ending)
        if made:
            generators.add_products(partial(_named_products, made, unread[group, kind][:_MOST_READ], read))
    if customs:
        generators.add_later(lambda: _customs(customs, read, placed=placed))


def _named_products(
    made: Sequence[Product], unread: Iterable[Unread], read: Callable[[Unread], Iterable[Document]]
) -> Iterator[tuple[str, str, str]]:
    """Yield what an operator makes of resources that were not parsed, by group, kind and name."""
    for document in unread:
        for again in read(document):
            for body, _ in objects_of(again.value):
                yield from ((*product.kind, name) for product in made if (name := product.name(body)))


def _makers_of_pods(
    pods: frozenset[tuple[str, str]],
    unread: Iterable[Unread],
    read: Callable[[Unread], Iterable[Document]],
    *,
    placed: bool,
) -> Iterator[Custom]:
    """Yield the resources of which an operator makes pods, where they say in which namespace."""
    for document in unread:
        for again in read(document):
            for body, _ in objects_of(again.value):
                namespace = text(mapping(body.get("metadata")).get("namespace")) or ("" if placed else "default")
                if namespace:
                    yield Custom(text(body.get("kind")), namespace, "", pods)


def _who_may_make_pods(
    unread: Iterable[Unread], read: Callable[[Unread], Iterable[Document]], *, placed: bool
) -> Iterator[Custom]:
    """Yield the Roles that let accounts create pods in a namespace: a program starts some while it runs."""
    for document in unread:
        for again in read(document):
            for body, _ in objects_of(again.value):
                metadata = mapping(body.get("metadata"))
                namespace = text(metadata.get("namespace")) or ("" if placed else "default")
                if namespace:
                    yield from _by_role(body, namespace, text(metadata.get("name")))


def _by_role(body: Mapping[str, object], namespace: str, name: str) -> Iterator[Custom]:
    if any(map(_lets_make_pods, map(mapping, sequence(body.get("rules"))))):
        maker = f"an account that Role {namespace}/{name} lets create pods"
        yield Custom("Role", namespace, "", _OF_PODS, maker=maker)


def _lets_make_pods(rule: Mapping[str, object]) -> bool:
    groups, resources, verbs = (
        frozenset(map(str, sequence(rule.get(field)))) for field in ("apiGroups", "resources", "verbs")
    )
    return not verbs.isdisjoint(("create", "*")) and any(
        not groups.isdisjoint((group, "*")) and not resources.isdisjoint((resource, "*"))
        for resource, group in _MAKES_PODS.items()
    )


def _customs(unread: list[Unread], read: Callable[[Unread], Iterable[Document]], *, placed: bool) -> Iterator[Custom]:
    """Yield the custom resources of documents; of very many of them, all but the first without their names."""
    for document in unread[:_MOST_READ]:
        for again in read(document):
            for body, _ in objects_of(again.value):
                metadata = mapping(body.get("metadata"))
                namespace = "" if placed else text(metadata.get("namespace"))
                yield Custom(text(body.get("kind")), namespace, text(metadata.get("name")))
    for kind in sorted({document.kind for document in unread[_MOST_READ:]}):
        yield Custom(kind, "", "")


def _add_kustomization(kustomization: Resource, generators: Unseen) -> None:
    body, file = kustomization.body, kustomization.document.file
    namespace = text(body.get("namespace"))
    if body.get("helmCharts") or body.get("helmChartInflationGenerator"):
        generators.add(f"the charts of {file} are not rendered", namespace)
    for entry in sequence(body.get("resources")):
        if isinstance(entry, str) and ("://" in entry or entry.startswith(("github.com/", "git@"))):
            generators.add(f"{file} takes a remote base that was not seen", namespace)
    if body.get("namePrefix") or body.get("nameSuffix") or body.get("replacements"):
        generators.add(f"{file} changes names")


def _is_operated(group: str, kind: str, known_groups: frozenset[str]) -> bool:
    """Return whether objects of a kind are the input of some operator, which may make Services and Secrets of them."""
    if (
        (group, kind) in BACKENDS_OF_CONTROLLERS
        or (group, kind) in WAYS_IN
        or group in _BUILT_IN
        or group in known_groups
        or group == GATEWAY_GROUP
        or group.endswith(_FLUX)
    ):
        return False
    return not (group.endswith(_BUILT_IN_SUFFIX) and group.count(".") <= 2)
