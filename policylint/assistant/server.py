"""The tools, served over standard input and output. Each is a run of a command in a process of its own.

So the answers are those of the command line, to the byte, and a question that is cancelled ends at once.
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
from policylint.errors import UsageError

MOST: Final = 400_000
"""Characters of an answer; one that is longer is not cut, since half a JSON document misleads, but refused."""
_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ABOUT: Final = """\
policylint computes what Kubernetes Gateway API policies (GEP-713) really do, from manifests alone. Answers are JSON,
with the file and line of every value. What the manifests cannot tell is said to be unknown: never take it for fine.
Names are Kind/namespace/name, for example HTTPRoute/shop/checkout."""

Paths = Annotated[list[str], Field(description="directories or files of the served directory; none means all")]
Texts = Annotated[list[str], Field(description="any number of them")]


async def run(directory: str, arguments: list[str]) -> list[str]:
    """Run a command of policylint in a directory, and return what it printed, its complaints after the answer.

    Raises:
        ToolError: it could not answer, or at more length than an assistant can read.
    """
    command = [sys.executable, "-I", "-m", "policylint", *arguments]
    done = await anyio.run_process(command, cwd=directory, check=False, stdin=DEVNULL)
    answer, said = done.stdout.decode(), done.stderr.decode().strip()
    if not answer:
        raise ToolError(said or f"policylint ended with {done.returncode}")
    if len(answer) > MOST:
        raise ToolError(f"the answer has {len(answer)} characters: ask about less (paths, rules, a field)")
    return [answer, *([said] if said else [])]


def server(directory: str) -> MCPServer[object]:
    """Return a server of a directory, ready to be run."""
    made: MCPServer[object] = MCPServer("policylint", version=__version__, instructions=_ABOUT, log_level="ERROR")
    tool = made.tool(annotations=_READ_ONLY, structured_output=False)

    async def answered(compose: Callable[[], list[str]]) -> list[str]:
        try:
            arguments = compose()
        except UsageError as error:
            raise ToolError(str(error)) from None
        return await run(directory, arguments)

    @tool
    async def lint(paths: Paths = [], rules: Texts = [], show_unknown: bool = False) -> list[str]:
        """Find what is wrong with policies and routes: dangling targets, lost settings, conflicts, exposure.

        `rules` are ids or families (GWP201, GWP3); none means all. `show_unknown` adds what rests on something unseen.
        """
        return await answered(lambda: commands.lint(directory, paths, rules, unknown=show_unknown))

    @tool
    async def explain(resource: str, rule: str = "", field: str = "", paths: Paths = []) -> list[str]:
        """Explain which policies act on an object, setting by setting, with origins and losses, or where a policy acts.

        `rule` is a rule of a route by name or number, `field` one setting, such as jwt.
        """
        return await answered(lambda: commands.explain(directory, resource, rule, field, paths))

    @tool
    async def trace(method: str, url: str, headers: Texts = [], gateway: str = "", paths: Paths = []) -> list[str]:
        """Follow one request: listener, route, rule, policies, filters, backend. `headers` are `name: value`."""
        return await answered(lambda: commands.trace(directory, method, url, headers, gateway, paths))

    @tool
    async def reach(gateways: Texts = [], to: Texts = [], without: str = "", paths: Paths = []) -> list[str]:
        """List every way in for all requests at once, and what each is asked for.

        `without` keeps the ways that do not demand authentication, authorization, or a setting such as jwt.
        """
        return await answered(lambda: commands.reach(directory, gateways, to, without, paths))

    @tool
    async def diff(revisions: str = "HEAD", paths: Paths = []) -> list[str]:
        """Show what a change does to effective policy. `revisions` is A..B, or A: it and the work tree."""
        return await answered(lambda: commands.diff(directory, revisions, paths))

    return made


def serve(directory: str) -> None:
    """Serve an assistant until it closes our standard input."""
    server(directory).run("stdio")
