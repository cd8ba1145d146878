"""What a cluster holds, as the user's own kubectl prints it: asked for by name, with the user's credentials.

It is the one program that is not kept from the network, since the cluster is what the user asks about. Only the caller
can have it started (`--live`), never a configuration, and it is given two commands alone: `api-resources` and `get`.
Secrets and ConfigMaps are not asked for.
"""

# ruff: noqa: PTH100 - strings, as everywhere in sources/

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import IO, Final

from policylint.errors import AbsentError, UsageError
from policylint.namedtuple import NamedTuple
from policylint.outside import find_program
from policylint.patterns import Pattern

CLUSTER: Final = "<cluster>"
"""The name that reports give to the file of all objects."""
PROGRAM: Final = "kubectl"
_SECONDS: Final = 120.0
MAX_BYTES: Final = 32 * 2**20
"""Of an answer: a longer file would not be read either (documents/problem.py)."""
_LAST_WORDS: Final = 4096
"""Bytes of the end of stderr that are kept."""
_MORE: Final = (
    "namespaces", "services", "serviceaccounts", "endpointslices.discovery.k8s.io",
    "deployments.apps", "statefulsets.apps", "daemonsets.apps",
    "customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
)  # fmt: skip
"""Resources that policies act on or are about, beside those of the groups that the catalog knows."""
_NAME: Final = Pattern(r"[a-z0-9][a-z0-9.-]*")
"""Of a resource. An aggregated API calls its own as it likes: `--server=…`, or `secrets,x`, which asks for two."""


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
            AbsentError: it does not answer, may not list what is asked for, or answers with more than MAX_BYTES.
        """
        answer = self._run("api-resources", "--verbs=list", "--output=name", "--no-headers=true")
        listed = filter(_NAME.fullmatch, answer.decode(errors="replace").split())
        wanted = [name for name in listed if name in _MORE or name.partition(".")[2] in groups]
        if not wanted:
            raise AbsentError("the cluster has no resources of a kind that policylint knows")
        return self._run("get", ",".join(sorted(wanted)), "--all-namespaces", "--output=yaml")

    def _run(self, *arguments: str) -> bytes:
        import subprocess
        from threading import Thread, Timer

        command = [self._found(), *arguments, *(["--context", self.context] if self.context else [])]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise UsageError(f"cannot start {command[0]!r}: {error.strerror or error}") from None
        assert process.stdout is not None and process.stderr is not None
        ended: list[str] = []
        last_words = bytearray()
        listening = Thread(target=_keep_end, args=(process.stderr, last_words), daemon=True)

        def give_up(why: str) -> None:
            ended.append(why)
            process.kill()

        timer = Timer(_SECONDS, give_up, (f"no answer in {_SECONDS:.0f} s",))
        listening.start()
        timer.start()
        try:
            answer = process.stdout.read(MAX_BYTES + 1)
            if len(answer) > MAX_BYTES:
                give_up(f"its answer is longer than {MAX_BYTES >> 20} MiB, which is not read")
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.stdout.close()
        listening.join(1)
        if ended:
            raise AbsentError(f"{_spoken(command)}: {ended[0]}")
        if code:
            said = last_words.decode(errors="replace").strip().splitlines() or ["no message"]
            raise AbsentError(f"{_spoken(command)} ended with {code}: {said[-1]}")
        return answer

    def _found(self) -> str:
        if os.sep in self.program:
            return os.path.abspath(self.program)
        program = find_program(self.program)
        if program is None:
            raise UsageError(f"no {self.program!r} in PATH outside of what is read (POLICYLINT_KUBECTL names another)")
        return program


def by_object(data: bytes) -> dict[str, bytes]:
    """Return the objects of a list as kubectl prints it, each as `kubectl get KIND NAME -o yaml` would, by their names.

    Where the list is written in another way, it is one file.
    """
    head, *items = re.split(rb"^- ", data.partition(b"\nkind: List")[0], flags=re.MULTILINE)
    found: dict[str, bytes] = {}
    if not head.rstrip().endswith(b"items:"):
        return {CLUSTER: data}
    for item in items:
        text = re.sub(rb"^  ", b"", item, flags=re.MULTILINE)
        name, group = _name_of(text.decode("utf-8", "replace"))
        if not name:
            return {CLUSTER: data}
        found[f"{CLUSTER}/{name}" if f"{CLUSTER}/{name}" not in found else f"{CLUSTER}/{group}/{name}"] = text
    return found or {CLUSTER: data}


def _name_of(text: str) -> tuple[str, str]:
    """Return `HTTPRoute/shop/checkout` and the API group of an object that is written in block style."""
    kind = re.search(r"^kind: (\w+)$", text, re.MULTILINE)
    group = re.search(r"^apiVersion: ([\w./-]+)$", text, re.MULTILINE)
    metadata = re.search(r"^metadata:\n((?:[ ]+.*\n?)+)", text, re.MULTILINE)
    fields = dict(
        re.findall(r"^  (name|namespace): [\"']?([\w.:-]+)[\"']?$", metadata[1] if metadata else "", re.MULTILINE)
    )
    if kind is None or group is None or "name" not in fields:
        return "", ""
    return "/".join(filter(None, (kind[1], fields.get("namespace"), fields["name"]))), group[1].partition("/")[0]


def _spoken(command: Sequence[str]) -> str:
    return f"{os.path.basename(command[0])} {command[1]}"  # noqa: PTH119


def _keep_end(stream: IO[bytes], kept: bytearray) -> None:
    """Read a stream to its end, whatever its length, and keep the last words of it."""
    with stream:
        while part := stream.read1(65536):  # type: ignore[attr-defined]
            kept += part
            del kept[:-_LAST_WORDS]
