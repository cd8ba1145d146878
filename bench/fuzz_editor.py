"""The language server over texts as they are while somebody types, and over messages that no editor would send.

One server for each input, in a process of its own: it must answer every question, with a result or with an error that
says what is wrong with the question, take the next message, and end when it is told to.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from campaign import SlowError, Tried, WrongError
from fuzz_tool import ToolFuzz
from mutations import TEXTS, copied, write

QUESTIONS = {
    "hoverProvider": "hover",
    "definitionProvider": "definition",
    "referencesProvider": "references",
    "completionProvider": "completion",
    "renameProvider": "prepareRename",
    "codeLensProvider": "codeLens",
    "codeActionProvider": "codeAction",
    "documentSymbolProvider": "documentSymbol",
    "documentHighlightProvider": "documentHighlight",
    "foldingRangeProvider": "foldingRange",
    "inlayHintProvider": "inlayHint",
}
"""What a server says that it can do, and the question that asks for it."""
INTERNAL = -32603
_LONGEST = 10
"""How many times as long a server may wait for the machine."""
PATIENCE = 30
"""Seconds for an answer: the machine may be busy."""
ROUNDS = 6


class EditorFuzz(ToolFuzz):
    """Tries the language server over mutations of worlds and of texts."""

    def __call__(self, random: Random) -> Tried:
        """Open a folder, type, and ask."""
        world = random.choice(random.choice(self.worlds))
        documents = {file: copied(each) for file, each in world.files.items()}
        if random.random() < 0.5:
            self.mutate(random, documents)
        texts = {file: write(each) for file, each in documents.items()}
        folder = self.place / "world"
        shutil.rmtree(folder, ignore_errors=True)
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8", errors="replace")
        sent: list[str] = []
        server = Server(folder, sent)
        try:
            session(server, random, folder, texts)
        except (Exception, SlowError) as error:
            return Tried(len(sent), [(error, {**texts, "messages.jsonl": "\n".join(sent)})])
        finally:
            server.stop()
        return Tried(len(sent), [])


class Server:
    """A server of ours, asked in bytes: an editor's library would not send what some of these messages are.

    Args:
        sent: takes every message that it is sent.
    """

    def __init__(self, folder: Path, sent: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "policylint", "lsp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._sent = sent
        self._read = b""
        self._number = 0

    def tell(self, method: str, parameters: Any, **more: Any) -> None:
        """Send a message."""
        message = {"jsonrpc": "2.0", "method": method, "params": parameters, **more}
        data = json.dumps(message)  # escapes what UTF-8 has no bytes for
        self._sent.append(data[:2000])
        self.send(b"Content-Length: %d\r\n\r\n%s" % (len(data), data.encode()))

    def send(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            WrongError: the server has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError as error:
            raise WrongError("the server ended") from error

    def ask(self, method: str, parameters: Any) -> Any:
        """Return the result of a question, None where it is refused.

        Raises:
            WrongError: an error of the server's own, no answer in time, or its end.
        """
        self._number += 1
        self.tell(method, parameters, id=self._number)
        for message in self._messages():
            if message.get("id") == self._number and "method" not in message:
                error = message.get("error")
                if error is not None and error.get("code") == INTERNAL:
                    raise WrongError(f"{method}: {error.get('message')}"[:160])
                return message.get("result")
            if message.get("method") == "window/showMessage" and "Traceback" in str(message):
                raise WrongError(f"{method}: a traceback is shown")
            if "id" in message and "method" in message:
                data = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode()
                self.send(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        raise WrongError(f"{method}: the server ended")

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        output, started, since = self._process.stdout.fileno(), self._worked(), time.monotonic()
        while True:
            head, mark, rest = self._read.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0]) if mark else 0
            if mark and len(rest) >= length:
                self._read = rest[length:]
                yield json.loads(rest[:length])
                continue
            if not select.select([output], [], [], PATIENCE)[0]:
                # a machine that is full lets the server wait: what it did itself counts
                if self._worked() - started >= PATIENCE or time.monotonic() - since >= _LONGEST * PATIENCE:
                    raise WrongError("no answer in time")
                continue
            piece = os.read(output, 1 << 16)
            if not piece:
                return
            self._read += piece

    def _worked(self) -> float:
        """Return the seconds of CPU that the server has taken; where that is not known, those of the clock."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Shut the server down as editors do.

        Raises:
            WrongError: it does not end, or not with 0.
        """
        self.ask("shutdown", None)
        self.tell("exit", None)
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise WrongError("exit: the server goes on") from error
        if code:
            raise WrongError(f"exit: the server ends with {code}")

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()


def session(server: Server, random: Random, folder: Path, texts: dict[str, str]) -> None:
    """Open a file, type into it, ask at places in it and outside of it, and shut the server down."""
    started = server.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
    able = started["capabilities"]
    questions = [question for provider, question in QUESTIONS.items() if able.get(provider)]
    server.tell("initialized", {})
    file = random.choice(list(texts))
    uri, text = (folder / file).as_uri(), texts[file]
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
    server.tell("textDocument/didOpen", {"textDocument": document})
    if random.random() < 0.2:
        strange = {**document, "uri": random.choice(STRANGE), "text": typed(random, text)}
        server.tell("textDocument/didOpen", {"textDocument": strange})
    for version in range(2, 2 + ROUNDS):
        text = typed(random, text)
        server.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]},
        )
        for question in random.sample(questions, min(2, len(questions))):
            place = somewhere(random, text)
            there = {"textDocument": {"uri": uri if random.random() < 0.9 else random.choice(STRANGE)}}
            server.ask(
                f"textDocument/{question}",
                {
                    **there,
                    "position": place,
                    "range": {"start": place, "end": somewhere(random, text)},
                    "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1},
                },
            )
        if "renameProvider" in able and random.random() < 0.3:
            name = random.choice(TEXTS)
            server.ask(
                "textDocument/rename",
                {"textDocument": {"uri": uri}, "position": somewhere(random, text), "newName": name},
            )
        if able.get("workspaceSymbolProvider") and random.random() < 0.3:
            server.ask("workspace/symbol", {"query": random.choice(TEXTS)})
        if random.random() < 0.2:
            server.send(random.choice(NOISE))
    server.end()


STRANGE = (
    "file:///",
    "file:///nowhere.yaml",
    "untitled:one",
    "",
    "file:///%00",
    "file://[x/y.yaml",
    "file:///../../etc/passwd",
    "x" * 5000,
)
NOISE = (
    b"Content-Length: 2\r\n\r\n{}",
    b"Content-Length: 4\r\n\r\nnull",
    b"Content-Length: 2\r\n\r\n[]",
    b"Content-Length: 99999999999999999999\r\n\r\n",
    b'Content-Length: 41\r\n\r\n{"jsonrpc":"2.0","method":"$/nonsense"}  ',
)
"""Messages that are none."""
KEYSTROKES = (
    "\ud83d",
    "\n",
    "  ",
    "- ",
    ": ",
    "kind: ",
    "targetRefs:\n  - ",
    "\t",
    '"',
    "'",
    "|\n",
    "{",
    "[",
    "&a",
    "*a",
)


def typed(random: Random, text: str) -> str:
    """Return a text after a few keys: something put in, taken out, pasted, or half of a pair of surrogates."""
    start = random.randint(0, len(text))
    end = min(len(text), start + random.choice((0, 0, 1, 1, 5, 80)))
    words = random.choice((*KEYSTROKES, *TEXTS, text[:200]))
    return text[:start] + words + text[end:]


def somewhere(random: Random, text: str) -> dict[str, int]:
    """Return a position in a text, at times one that it does not have."""
    if random.random() < 0.1:
        return {"line": random.choice((0, 10**6, 2**31 - 1)), "character": random.choice((0, 10**6))}
    lines = text.split("\n")
    line = random.randrange(len(lines))
    return {"line": line, "character": random.randint(0, len(lines[line]))}
