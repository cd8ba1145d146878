"""GWP529: policies of a shape that the running release of their controller is known to handle wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from policylint.catalog.defects import Defect, Patch, defects, patch, products
from policylint.catalog.releases import ReleasedProduct
from policylint.documents import Pointer
from policylint.model import Finding, Related, Severity, text, texts
from policylint.model.resource import deepest_written, dotted, value_at
from policylint.render.in_use import InUse, charts, in_use
from policylint.simulation import Simulation

RULE = "GWP529"


def check(simulation: Simulation) -> Iterator[Finding]:
    for name, (product, tags) in products().items():
        running = list(_running(simulation, product, {chart: tuple(texts(at)) for chart, at in tags.items()}))
        for defect in defects().get(name, ()) if running else ():
            having = [use for use, release in running if defect.mended_in(release)]
            if len(having) == len(running):  # of several releases nothing says which one has the object
                mended = max(release for _, release in running)
                yield from _findings(simulation, product, defect, having[0], defect.mended_in(mended))


def _running(
    simulation: Simulation, product: ReleasedProduct, tags: dict[str, tuple[str, ...]]
) -> Iterator[tuple[InUse, Patch]]:
    """Yield what tells the release of a product, with that."""
    for use in in_use(product, simulation.world, ()):
        if (release := patch(use.written)) is not None:
            yield use, release
    if tags:
        named = product._replace(found={"charts": list(tags)})
        for chart, installed in charts(named, simulation.world):
            tag = text(value_at(installed.values, tags[chart]))
            release = patch(tag)
            if release is not None:
                at = installed.holder.location(*installed.values_at, *tags[chart])
                yield InUse(release[:2], f"tag {tag} of {installed.holder.key}", at, tag), release


def _findings(
    simulation: Simulation, product: ReleasedProduct, defect: Defect, use: InUse, mended: str
) -> Iterator[Finding]:
    from policylint.upgrade.changes import Looking

    looking = Looking(product, simulation, [use], (), lambda _: ())
    told: set[tuple[str, Pointer]] = set()
    for place in defect.places:
        for subject, pointer in looking.hits(place):
            if subject.resource is None or (subject.name, pointer) in told:
                continue
            told.add((subject.name, pointer))
            at = pointer or ("metadata", "name")
            yield Finding(
                RULE,
                cast("Severity", defect.severity),
                f"{subject.name} {defect.says} ({product.title} {use.written.removeprefix('v')})",
                subject.locate(deepest_written(subject.body, at)),
                resources=(subject.resource.key,),
                label=f"a defect of this release: {defect.source}",
                related=(Related("the running release", use.location),),
                help=(f"fix: upgrade to {mended}" + (f", or {defect.todo}" if defect.todo else ""),),
                confidence="assumed",
                ground=f"{use.said} names the release",
                field=f"{defect.name}:{dotted(pointer)}",
            )
