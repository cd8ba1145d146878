"""`helm template` of a chart in the tree, with the user's own helm, and only where they ask for it (`--render helm`).

The chart is copied out of its source first, so that a revision's charts are rendered as the work tree's are, and that
nothing helm follows leads out of the repository. No network, no cluster, no plugins, bounded in time (sandbox.py).
Names and paths out of manifests are checked, and none stands where helm looks for options.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from policylint.catalog.clusters import served_versions
from policylint.namedtuple import NamedTuple
from policylint.outside import find_program
from policylint.patterns import Pattern
from policylint.render.sandbox import TREE, OutsideError, path_below, run, write_below

if TYPE_CHECKING:
    from policylint.budget import Budget

TIMEOUT: Final = 60.0
MAX_OUTPUT: Final = 32 * 2**20
MAX_RELEASE: Final = 53
"""Characters of a release's name; helm allows no more."""
_SETTING_FLAGS: Final = ("--set", "--set-string")
_NAME: Final = Pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAMESPACE: Final = Pattern(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?|[-a-z0-9]*\$\{\w+\}[-a-z0-9]*")
"""RFC 1123, or with a variable that nothing fills in."""
_V1: Final = "gateway.networking.k8s.io/v1"
API_VERSIONS: Final = (
    _V1,
    *(f"{_V1}/{kind}" for kind in ("GatewayClass", "Gateway", "HTTPRoute", "GRPCRoute", "BackendTLSPolicy")),
    f"{_V1}beta1",
    *(f"{_V1}beta1/{kind}" for kind in ("Gateway", "HTTPRoute", "ReferenceGrant")),
    f"{_V1}alpha2",
    *(f"{_V1}alpha2/{kind}" for kind in ("TLSRoute", "TCPRoute", "UDPRoute")),
)
"""API versions that charts ask for before they make routes: a cluster with routes has Gateway API."""


@lru_cache(maxsize=1)
def api_versions() -> tuple[str, ...]:
    """Return the API versions, and kinds of them, that a cluster is taken to serve beside those of Kubernetes itself:
    one with policies has what reads them."""
    return (*API_VERSIONS, *served_versions())


class HelmError(Exception):
    """Why a chart cannot be rendered, in one line for users."""


class LeftTemplate(NamedTuple):
    """A template of which it is not known what it makes.

    Args:
        path: as helm calls it: the chart's name and the path in it.
        makes: the kinds (group, kind) of its objects, None where its text does not say them all.
    """

    path: str
    reason: str
    makes: frozenset[tuple[str, str]] | None


class Rendered(NamedTuple):
    """What `helm template` prints, but for some templates.

    Args:
        lacking: the templates, as helm calls them, that print nothing in the place of values that are not there, with
            the paths of these; none where helm itself renders.
    """

    output: str
    left: tuple[LeftTemplate, ...] = ()
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()


def template(
    files: Mapping[str, bytes],
    chart: str,
    release: str,
    namespace: str,
    values: Sequence[Any],
    settings: Iterable[tuple[str, str]] = (),
    by_program: bool = True,
    budget: Budget | None = None,
) -> Rendered:
    """Return what `helm template` prints; where helm is not installed, as far as that is certain without it.

    Args:
        files: path → content of everything the chart needs, below one root.
        chart: the chart's directory below that root.
        values: values files, the last one wins.
        settings: pairs for `--set-string` (and `--set`, where the flag says so): flag and `name=value`.
        by_program: whether helm may be started.
        budget: what it may cost without helm.

    Raises:
        HelmError: helm cannot render the chart, or takes too long; or a name or a path is not one.
        ExhaustedError: it would pass the budget.
    """
    from json import dumps
    from tempfile import TemporaryDirectory

    if len(release) > MAX_RELEASE or not _NAME.fullmatch(release):
        raise HelmError(f"release {release[:60]!r} is no name that Kubernetes allows")
    if not _NAMESPACE.fullmatch(namespace):
        raise HelmError(f"namespace {namespace[:60]!r} is no name that Kubernetes allows")
    program = find_program("helm") if by_program else None
    if program is None:
        from policylint.render.helm.own import template as without_helm

        return without_helm(files, chart, release, namespace, values, settings, budget)
    with TemporaryDirectory(prefix="policylint-helm-") as top:
        try:
            for path, content in files.items():
                write_below(top, f"{TREE}/{path}", content)
            place = path_below(top, f"{TREE}/{chart}" if chart else TREE)
            layers = [
                write_below(top, f"values-{number}.yaml", dumps(layer, default=str).encode())
                for number, layer in enumerate(values)
            ]
        except OutsideError as error:
            raise HelmError(str(error)) from None
        except OSError as error:
            raise HelmError(f"it cannot be copied: {error.strerror or error}") from None
        command = [program, "template", f"--namespace={namespace}", "--include-crds", "--skip-tests"]
        command += [f"--api-versions={version}" for version in api_versions()]
        command += [f"--values={layer}" for layer in layers]
        for flag, pair in settings:
            if flag not in _SETTING_FLAGS or "\0" in pair:
                raise HelmError(f"{flag} {pair[:60]!r} cannot be handed to helm")
            command.append(f"{flag}={pair}")
        return Rendered(_run([*command, "--", release, place], top))


def _run(command: list[str], top: str) -> str:
    try:
        ended = run(command, top, timeout=TIMEOUT, most=MAX_OUTPUT)
    except TimeoutError:
        raise HelmError(f"helm gave no answer in {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise HelmError(f"helm cannot be run: {error.strerror or error}") from None
    if ended.cut:
        raise HelmError(f"it makes more than {MAX_OUTPUT // 2**20} MiB")
    if ended.code:
        raise HelmError(_complaint(ended.errors.decode("utf-8", "replace"), top))
    return ended.output.decode("utf-8", "replace")


def _complaint(said: str, top: str) -> str:
    """Return the line in which helm says what is wrong, without the directory the chart was copied to."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("WARNING")]
    first = next((line for line in lines if line.startswith("Error:")), lines[0] if lines else "helm failed")
    tree = os.path.join(top, TREE, "")  # noqa: PTH118
    return first.removeprefix("Error:").strip().replace(tree, "")[:400]
