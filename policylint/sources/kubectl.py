"""What a cluster holds, as the user's own kubectl prints it: asked for by name, with the user's credentials.

It is the one program that is not kept from the network, since the cluster is what the user asks about. Only the caller
can have it started (`--live`), never a configuration, and it is given two commands alone: `api-resources` and `get`.
Secrets and ConfigMaps are not asked for.
"""

# ruff: noqa: PTH100 - strings, as everywhere in sources/

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Final

from policylint.errors import AbsentError, UsageError
from policylint.namedtuple import NamedTuple
from policylint.outside import find_program

CLUSTER: Final = "<cluster>"
"""The name that reports give to the file of all objects."""
PROGRAM: Final = "kubectl"
_SECONDS: Final = 120.0
_MORE: Final = (
    "namespaces", "services", "serviceaccounts", "endpointslices.discovery.k8s.io",
    "deployments.apps", "statefulsets.apps", "daemonsets.apps",
    "customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
)  # fmt: skip
"""Resources that policies act on or are about, beside those of the groups that the catalog knows."""


class Kubectl(NamedTuple):
    """How to start kubectl.

    Args:
        program: a name, looked for in PATH but in no directory that is read, or a path.
        context: of the kubeconfig; "" for the current one.
    """

    program: str = PROGRAM
    context: str = ""

    def objects(self, groups: Collection[str]) -> bytes:
        """Return all objects of some API groups, and those that they are about, as one `kind: List` in YAML.

        Args:
            groups: API groups, of which the cluster need not have any.

        Raises:
            UsageError: there is no such program.
            AbsentError: it does not answer, or may not list what is asked for.
        """
        listed = self._run("api-resources", "--verbs=list", "--output=name", "--no-headers=true").decode().split()
        wanted = [name for name in listed if name in _MORE or name.partition(".")[2] in groups]
        if not wanted:
            raise AbsentError("the cluster has no resources of a kind that policylint knows")
        return self._run("get", ",".join(sorted(wanted)), "--all-namespaces", "--output=yaml")

    def _run(self, *arguments: str) -> bytes:
        import subprocess

        command = [self._found(), *arguments, *(["--context", self.context] if self.context else [])]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise AbsentError(f"{_spoken(command)}: no answer in {_SECONDS:.0f} s") from None
        except OSError as error:
            raise UsageError(f"cannot start {command[0]!r}: {error.strerror or error}") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise AbsentError(f"{_spoken(command)} ended with {done.returncode}: {said[-1]}")
        return done.stdout

    def _found(self) -> str:
        if os.sep in self.program:
            return os.path.abspath(self.program)
        program = find_program(self.program)
        if program is None:
            raise UsageError(f"no {self.program!r} in PATH outside of what is read (--kubectl names another)")
        return program


def _spoken(command: Sequence[str]) -> str:
    return f"{os.path.basename(command[0])} {command[1]}"  # noqa: PTH119
