"""`helm template` of a chart in the tree, with the user's own helm, and only where they ask for it (`--render helm`).

The chart is copied out of its source first, so that a revision's charts are rendered as the work tree's are, and that
nothing helm follows leads out of the repository. No network, no cluster, no plugins, bounded in time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from policylint.programs import find_program

TIMEOUT: Final = 60.0
MAX_OUTPUT: Final = 32 * 2**20
_NOWHERE: Final = "http://127.0.0.1:9"
_V1: Final = "gateway.networking.k8s.io/v1"
API_VERSIONS: Final = (
    _V1,
    *(f"{_V1}/{kind}" for kind in ("GatewayClass", "Gateway", "HTTPRoute", "GRPCRoute", "BackendTLSPolicy")),
    f"{_V1}beta1",
    *(f"{_V1}beta1/{kind}" for kind in ("Gateway", "HTTPRoute", "ReferenceGrant")),
    f"{_V1}alpha2",
    *(f"{_V1}alpha2/{kind}" for kind in ("TLSRoute", "TCPRoute", "UDPRoute")),
)
"""What charts ask for before they make routes: the cluster that a chart with a route is for has Gateway API."""


class HelmError(Exception):
    """Why a chart cannot be rendered, in one line for users."""


def is_installed() -> bool:
    """Whether there is a helm to ask."""
    return find_program("helm") is not None


def template(
    files: Mapping[str, bytes],
    chart: str,
    release: str,
    namespace: str,
    values: Sequence[Any],
    settings: Iterable[tuple[str, str]] = (),
) -> str:
    """What `helm template` prints.

    Args:
        files: path → content of everything the chart needs, below one root.
        chart: the chart's directory below that root.
        values: values files, the last one wins.
        settings: pairs for `--set-string` (and `--set`, where the flag says so): flag and `name=value`.

    Raises:
        HelmError: helm is not installed, cannot render the chart, or takes too long.
    """
    from json import dumps
    from tempfile import TemporaryDirectory

    program = find_program("helm")
    if program is None:
        raise HelmError("helm is not installed (no `helm` in PATH)")
    with TemporaryDirectory(prefix="policylint-helm-") as top:
        for path, content in files.items():
            _write(os.path.join(top, "tree", path), content)  # noqa: PTH118 - sources/ keep paths as strings
        command = [program, "template", release, os.path.join(top, "tree", chart), "--namespace", namespace]  # noqa: PTH118
        command += ["--include-crds", "--skip-tests"]
        for version in API_VERSIONS:
            command += ["--api-versions", version]
        for number, layer in enumerate(values):
            place = os.path.join(top, f"values-{number}.yaml")  # noqa: PTH118
            _write(place, dumps(layer, default=str).encode())
            command += ["--values", place]
        for flag, pair in settings:
            command += [flag, pair]
        return _run(command, top)


def _write(place: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
    with open(place, "wb") as file:  # noqa: PTH123
        file.write(content)


def _run(command: list[str], top: str) -> str:
    import subprocess

    own = {name: value for name, value in os.environ.items() if not name.startswith(("HELM_", "KUBE"))}
    homes = ("HOME", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS")
    environment = {
        **own,
        **dict.fromkeys(homes, os.path.join(top, "home")),  # noqa: PTH118 - no plugins, no repositories
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
        "NO_PROXY": "",
        "no_proxy": "",
        "KUBECONFIG": os.devnull,
    }
    output = os.path.join(top, "output.yaml")  # noqa: PTH118
    try:
        with open(output, "wb") as file:  # noqa: PTH123 - a file, as templates may print without end
            done = subprocess.run(
                command,
                stdout=file,
                stderr=subprocess.PIPE,
                timeout=TIMEOUT,
                check=False,
                env=environment,
                stdin=subprocess.DEVNULL,
                cwd=top,
            )
    except subprocess.TimeoutExpired:
        raise HelmError(f"helm gave no answer in {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise HelmError(f"helm cannot be run: {error.strerror or error}") from None
    if done.returncode:
        raise HelmError(_complaint(done.stderr.decode("utf-8", "replace"), top))
    if os.path.getsize(output) > MAX_OUTPUT:  # noqa: PTH202
        raise HelmError(f"it makes more than {MAX_OUTPUT // 2**20} MiB")
    with open(output, "rb") as file:  # noqa: PTH123
        return file.read().decode("utf-8", "replace")


def _complaint(said: str, top: str) -> str:
    """The line in which helm says what is wrong, without the directory the chart was copied to."""
    lines = [each.strip() for each in said.splitlines() if each.strip() and not each.startswith("WARNING")]
    first = next((each for each in lines if each.startswith("Error:")), lines[0] if lines else "helm failed")
    tree = os.path.join(top, "tree", "")  # noqa: PTH118
    return first.removeprefix("Error:").strip().replace(tree, "")[:400]
