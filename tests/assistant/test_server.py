"""Sessions of an assistant with `policylint mcp`: which tools there are, what they answer, what they refuse."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from policylint.assistant import answers, commands
from policylint.assistant.answers import ROOM
from policylint.errors import UsageError
from tests.diff.history import MAKE

if TYPE_CHECKING:
    from mcp import ClientSession

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="mcp is not installed")
ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures" / "envoy-gateway-shop"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    shutil.copytree(SHOP, tmp_path / "shop")
    return tmp_path / "shop"


def session(directory: Path, talk: Callable[[ClientSession], Awaitable[None]]) -> None:
    async def run() -> None:
        from mcp import ClientSession, StdioServerParameters, stdio_client

        arguments = ["-m", "policylint", "mcp", str(directory)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT))
        async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as client:
            await client.initialize()
            await talk(client)

    asyncio.run(run())


async def answer(client: ClientSession, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether it is an error, and the text: that of the error, or the document."""
    result: Any = await client.call_tool(tool, arguments)
    return bool(result.is_error), result.content[0 if result.is_error else 1].text


def printed(shop: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "policylint", *arguments]
    done = subprocess.run(command, cwd=shop, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)})
    return done.stdout


def test_every_tool_only_reads_and_answers_as_the_command_does(shop: Path) -> None:
    async def talk(client: ClientSession) -> None:
        tools: Any = (await client.list_tools()).tools
        assert sorted(tool.name for tool in tools) == ["diff", "explain", "lint", "reach", "trace"]
        assert all(tool.annotations.read_only_hint and tool.annotations.open_world_hint is False for tool in tools)
        assert all(tool.description for tool in tools)
        route, url = "HTTPRoute/shop/checkout", "https://shop.example.com/checkout"
        assert await answer(client, "lint") == (False, printed(shop, "lint", "-o", "json"))
        assert await answer(client, "explain", resource=route, field="jwt") == (
            False, printed(shop, "explain", route, "--field", "jwt", "-o", "json"),
        )  # fmt: skip
        assert await answer(client, "trace", method="GET", url=url, headers=["x-canary: 1"]) == (
            False, printed(shop, "trace", "GET", url, "-H", "x-canary: 1", "-o", "json"),
        )  # fmt: skip
        assert await answer(client, "reach", without="authentication") == (
            False, printed(shop, "reach", "--without", "authentication", "-o", "json"),
        )  # fmt: skip

    session(shop, talk)


def test_a_change_is_compared(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    MAKE.git(tree, "init", "-q", "-b", "main")
    for file in SHOP.rglob("*.yaml"):
        (tree / file.name).write_text(file.read_text())
    MAKE.git(tree, "add", "-A")
    MAKE.git(tree, "commit", "-q", "-m", "first")
    (tree / "checkout-cors.yaml").unlink()

    async def talk(client: ClientSession) -> None:
        failed, text = await answer(client, "diff", revisions="HEAD")
        assert not failed
        fixed = [finding["rule"] for finding in json.loads(text)["findings"] if finding["state"] == "fixed"]
        assert fixed == ["GWP201"]

    session(tree, talk)


def test_what_cannot_be_answered_is_an_error_in_words(shop: Path) -> None:
    async def talk(client: ClientSession) -> None:
        for tool, arguments, words in (
            ("explain", {"resource": "HTTPRoute/shop/chekout"}, "checkout"),
            ("explain", {"resource": "--help"}, "is no name"),
            ("lint", {"paths": ["../.."]}, "is not below"),
            ("lint", {"paths": ["/etc"]}, "is not below"),
            ("lint", {"rules": ["GWP999"]}, "GWP999"),
            ("lint", {"part": "lists"}, "no list 'lists': there are findings"),
            ("diff", {"revisions": "--output=json=x"}, "is no name"),
        ):
            failed, text = await answer(client, tool, **arguments)
            assert failed and words in text, (tool, arguments, text)

    session(shop, talk)
    assert not list(shop.rglob("x"))


def test_a_link_out_of_the_directory_is_not_below_it(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "out").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not below"):
        commands.lint(str(tmp_path / "inside"), ["out"], [], unknown=False)


def test_a_long_answer_is_read_to_its_end_part_by_part(tmp_path: Path) -> None:
    """A hundred and fifty policies with a typo: the first line counts them, and says how to go on."""
    policies = [
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\n"
        f"metadata: {{name: p{number}}}\n"
        f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ruote{number}}}]}}\n"
        for number in range(150)
    ]
    route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: route}\n"
    (tmp_path / "a.yaml").write_text("---\n".join([route, *policies]))

    async def talk(client: ClientSession) -> None:
        seen: list[str] = []
        arguments: dict[str, Any] = {"rules": ["GWP101"]}
        for _ in range(20):
            result: Any = await client.call_tool("lint", arguments)
            said, document = result.content[0].text, result.content[1].text
            assert said.startswith("150 errors, 0 warnings, 0 notes; GWP101 x150 (error)")
            assert len(document) <= ROOM
            seen += [finding["resources"][0] for finding in json.loads(document)["findings"]]
            going_on = re.search(r"findings: \d+ more; go on with part='findings', start=(\d+)", said)
            if going_on is None:
                break
            arguments |= {"part": "findings", "start": int(going_on[1])}
        assert len(seen) == len(set(seen)) == 150

    session(tmp_path, talk)


def test_what_an_answer_comes_to() -> None:
    way = {"asked": {"authentication": {"state": "open", "by": []}}}
    login = {"asked": {"authentication": {"state": "asked", "by": []}}}
    assert answers.summary({"ways": [way, login, way]}) == "3 ways in: 2 without a login, 1 with a login"
    inner = {"object": "Gateway a/b", "facts": [{"value": "x" * 100}] * 1000}
    said, text = answers.answer(json.dumps({"version": "explain-v1", "explanations": [inner]}))
    assert said.startswith("about Gateway a/b\nexplanations.facts: ")
    assert len(text) <= ROOM
    assert len(json.loads(text)["explanations"][0]["facts"]) == 50
