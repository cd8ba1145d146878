"""A headless Chromium driven through its DevTools pipe: no driver, no package, nothing but the browser."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


def installed() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


_NAVIGATED = "Inspected target navigated or closed"


class NavigatedError(AssertionError):
    """The page was left for another one before it answered."""


class Browser:
    """One page of a browser; `said` holds what its console and its exceptions said."""

    def __init__(self, profile: Path, size: tuple[int, int] = (1400, 900)) -> None:
        program = installed()
        assert program
        down, self._commands = os.pipe()
        self._answers, up = os.pipe()
        flags = [*_FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        script = f'exec "$0" "$@" 3<&{down} 4>&{up}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, *flags, "about:blank"],
            pass_fds=(down, up),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(down)
        os.close(up)
        self._rest = b""
        self._number = 0
        self._session = ""
        self.said: list[str] = []
        self._asked: dict[str, str] = {}
        targets = self.call("Target.getTargets")["targetInfos"]
        self._attach(next(each["targetId"] for each in targets if each["type"] == "page"))

    def _attach(self, target: str) -> None:
        self._session = ""
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @contextmanager
    def afresh(self) -> Iterator[Browser]:
        """The browser with a page of its own that knows nothing of the others: what they stored, asked or said."""
        before = self._session, self.said, self._asked
        self._session, self.said, self._asked = "", [], {}
        context = self.call("Target.createBrowserContext")["browserContextId"]
        try:
            self._attach(self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"])
            yield self
        finally:
            self._session = ""
            self.call("Target.disposeBrowserContext", browserContextId=context)
            self._session, self.said, self._asked = before

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._commands)
        os.close(self._answers)

    def call(self, method: str, **parameters: Any) -> Any:
        """A command and its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            answer = self._next(ends - time.monotonic())
            if answer.get("id") == self._number:
                if answer.get("error", {}).get("message") == _NAVIGATED:
                    raise NavigatedError(answer)
                assert "error" not in answer, answer
                return answer["result"]
            self._event(answer)
        raise TimeoutError(method)

    def open(self, page: Path, mark: str = "") -> None:
        self.call("Page.navigate", url=page.as_uri() + mark)

    def evaluate(self, script: str) -> Any:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def evaluate_in_frame(self, script: str) -> Any:
        """What a script gives in the frame of the page, which is in a process of its own where it is sandboxed."""
        page, self._session = self._session, ""
        try:
            (frame,) = self._frames()
            self._session = self.call("Target.attachToTarget", targetId=frame["targetId"], flatten=True)["sessionId"]
            return self.evaluate(script)
        finally:
            self._session = page

    def _frames(self, seconds: float = 30) -> list[dict[str, Any]]:
        """The frames with processes of their own, as soon as there is one: the page has its element before that."""
        ends = time.monotonic() + seconds
        while True:
            targets = self.call("Target.getTargets")["targetInfos"]
            frames = [each for each in targets if each["type"] == "iframe"]
            if frames or time.monotonic() > ends:
                return frames
            time.sleep(0.05)

    def wait(self, script: str, seconds: float = 60) -> Any:
        """What a script gives as soon as it is something."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with suppress(NavigatedError):  # the next page is asked
                if found := self.evaluate(script):
                    return found
            time.sleep(0.05)
        raise TimeoutError(f"{script} ({self.said})")

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, file: Path, **how: Any) -> None:
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **how)["data"]))

    def _next(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, seconds))
            piece = os.read(self._answers, 1 << 20) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _event(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown" | "Log.entryAdded":
                self.said.append(json.dumps(parameters))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.said.append(json.dumps(parameters["args"]))
            case "Network.requestWillBeSent":
                self._asked[parameters["requestId"]] = parameters["request"]["url"]
            case "Network.loadingFailed" if parameters.get("blockedReason") == "csp":
                del self._asked[parameters["requestId"]]

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for, but for those that the page's own policy stopped before."""
        return list(self._asked.values())
