"""What a chart that is not rendered makes of its values, as far as that is known, whoever installs it."""

from __future__ import annotations

from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.render.helm import app_template, known_charts
from policylint.render.helm.app_template.release import Release
from policylint.render.helm.ingresses import ingresses
from policylint.render.helm.put_out import put_out
from policylint.render.provenance import Manifest


class MadeOfValues(NamedTuple):
    """What is known of a release.

    Args:
        objects: that it makes.
        of_family: whether the chart is made with the library of app-template, so that its values say all of them.
        rest: the values without what stands whole in them and is among the objects.
    """

    objects: list[Manifest]
    of_family: bool
    rest: Any

    def is_whole(self, chart: str) -> bool:
        """Return whether these are all objects of a chart of some name: what else is made so has values of its own."""
        return self.of_family and chart == app_template.CHART


def known_of(release: Release, version: str) -> MadeOfValues:
    """Return what is known of a release of some version.

    Raises:
        ExhaustedError: it makes more objects than the budget allows.
    """
    if app_template.makes(release.chart, version, release.values):
        return MadeOfValues(app_template.objects(release), of_family=True, rest=release.values)
    chart = release.chart.rpartition("/")[2]
    usual = usual_of(release._replace(chart=chart))
    return usual._replace(objects=[*known_charts.routes(chart, release), *usual.objects])


def usual_of(release: Release) -> MadeOfValues:
    """Return what nearly all charts make that have such values: of a chart of which not even the name is known, too."""
    objects, rest = put_out(release)
    return MadeOfValues([*ingresses(release), *objects], of_family=False, rest=rest)
