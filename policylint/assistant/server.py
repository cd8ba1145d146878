"""The tools, served over standard input and output. Each is a run of a command in a process of its own.

So the answers are those of the command line, and a question that is cancelled ends at once.
"""

from __future__ import annotations

# ruff: noqa: B006 - defaults as the protocol states them; nobody changes one
import sys
from collections.abc import Callable
from subprocess import DEVNULL
from typing import Annotated, Final

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from policylint import __version__
from policylint.assistant import commands
from policylint.assistant.answers import answer
from policylint.errors import UsageError

_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ABOUT: Final = """\
policylint computes what Kubernetes Gateway API policies (GEP-713) really do, from manifests alone. Answers are JSON,
with the file and line of every value, behind a line that says what they come to and, where lists are cut, with which
`part` and `start` to go on. What the manifests cannot tell is said to be unknown: never take it for fine.
Names are Kind/namespace/name, for example HTTPRoute/shop/checkout."""

Paths = Annotated[list[str], Field(description="directories or files of the served directory; none means all")]
Texts = Annotated[list[str], Field(description="any number of them")]
Part = Annotated[str, Field(description="the list of the answer to go on with")]
Start = Annotated[int, Field(description="its first entry", ge=0)]


async def run(directory: str, arguments: list[str], part: str, start: int) -> list[str]:
    """Run a command of policylint in a directory, and return what it comes to, the answer, and complaints behind it.

    Raises:
        ToolError: it could not answer.
    """
    command = [sys.executable, "-I", "-m", "policylint", *arguments]
    done = await anyio.run_process(command, cwd=directory, check=False, stdin=DEVNULL)
    printed, said = done.stdout.decode(), done.stderr.decode().strip()
    if not printed:
        raise ToolError(said or f"policylint ended with {done.returncode}")
    try:
        return [*answer(printed, part, start), *([said] if said else [])]
    except ValueError as error:
        raise ToolError(str(error)) from None


def server(directory: str) -> MCPServer[object]:
    """Return a server of a directory, ready to be run."""
    made: MCPServer[object] = MCPServer("policylint", version=__version__, instructions=_ABOUT, log_level="ERROR")
    tool = made.tool(annotations=_READ_ONLY, structured_output=False)

    async def answered(compose: Callable[[], list[str]], part: str, start: int) -> list[str]:
        try:
            arguments = compose()
        except UsageError as error:
            raise ToolError(str(error)) from None
        return await run(directory, arguments, part, start)

    @tool
    async def lint(
        paths: Paths = [], rules: Texts = [], show_unknown: bool = False, part: Part = "", start: Start = 0
    ) -> list[str]:
        """Find what is wrong with policies and routes: dangling targets, lost settings, conflicts, exposure.

        `rules` are ids or families (GWP201, GWP3); none means all. `show_unknown` adds what rests on something unseen.
        """
        return await answered(lambda: commands.lint(directory, paths, rules, unknown=show_unknown), part, start)

    @tool
    async def explain(
        resource: str, rule: str = "", field: str = "", paths: Paths = [], part: Part = "", start: Start = 0
    ) -> list[str]:
        """Explain which policies act on an object, setting by setting, with origins and losses, or where a policy acts.

        `rule` is a rule of a route by name or number, `field` one setting, such as jwt.
        """
        return await answered(lambda: commands.explain(directory, resource, rule, field, paths), part, start)

    @tool
    async def trace(
        method: str,
        url: str,
        headers: Texts = [],
        gateway: str = "",
        paths: Paths = [],
        part: Part = "",
        start: Start = 0,
    ) -> list[str]:
        """Follow one request: listener, route, rule, policies, filters, backend. `headers` are `name: value`."""
        return await answered(lambda: commands.trace(directory, method, url, headers, gateway, paths), part, start)

    @tool
    async def reach(
        gateways: Texts = [], to: Texts = [], without: str = "", paths: Paths = [], part: Part = "", start: Start = 0
    ) -> list[str]:
        """List every way in for all requests at once, and what each is asked for.

        `without` keeps the ways that do not demand authentication, authorization, or a setting such as jwt.
        """
        return await answered(lambda: commands.reach(directory, gateways, to, without, paths), part, start)

    @tool
    async def diff(revisions: str = "HEAD", paths: Paths = [], part: Part = "", start: Start = 0) -> list[str]:
        """Show what a change does to effective policy. `revisions` is A..B, or A: it and the work tree."""
        return await answered(lambda: commands.diff(directory, revisions, paths), part, start)

    return made


def serve(directory: str) -> None:
    """Serve an assistant until it closes our standard input."""
    server(directory).run("stdio")
