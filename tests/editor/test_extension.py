"""The extension for Visual Studio Code says what the package says: version, commands, settings."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policylint import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "deploy" / "vscode"
BUNDLE = Path(os.environ.get("POLICYLINT_EXTENSION", EXTENSION / "dist" / "extension.js"))
STAND_IN = Path(__file__).parent / "vscode_stub.js"


def test_its_version_is_that_of_the_package() -> None:
    assert json.loads((EXTENSION / "package.json").read_text())["version"] == __version__


def test_what_it_declares_is_what_it_uses() -> None:
    declared = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    code = (EXTENSION / "extension.js").read_text()
    commands = re.findall(r'registerCommand\("([\w.]+)"', code)
    assert commands == [command["command"] for command in declared["commands"]]
    settings = dict.fromkeys(re.findall(r'settings\.get\("(\w+)"', code))
    declared_settings = declared["configuration"]["properties"]
    assert {f"policylint.{name}" for name in settings} | {"policylint.trace.server"} == declared_settings.keys()
    defaults = dict(re.findall(r'settings\.get\("(\w+)", (.*?)\)', code))
    assert {name: json.loads(value) for name, value in defaults.items()} == {
        name: declared_settings[f"policylint.{name}"]["default"] for name in defaults
    }


def test_a_folder_that_is_not_trusted_names_no_program() -> None:
    """Settings of a folder are the repository's: they must not say what is started."""
    trust = json.loads((EXTENSION / "package.json").read_text())["capabilities"]["untrustedWorkspaces"]
    assert trust["restrictedConfigurations"] == ["policylint.path", "policylint.args"]


STARTED = """
const Module = require("module");
const [extension, named, folder, isTrusted] = JSON.parse(process.argv[1]);
const load = Module._load;
const nothing = () => ({ dispose() {} });
const workspace = {
  isTrusted, workspaceFolders: [{ uri: { fsPath: folder } }], onDidGrantWorkspaceTrust: nothing,
  onDidChangeConfiguration: nothing,
  getConfiguration: () => ({ get: (name, usual) => name === "path" ? named : usual }),
};
class LanguageClient {
  constructor(id, name, options) { console.log(JSON.stringify(options.run)); }
  async start() {}
}
const stand_ins = {
  vscode: { workspace, window: {}, commands: { registerCommand: nothing } },
  "vscode-languageclient/node": { LanguageClient },
};
Module._load = (name, ...more) => stand_ins[name] || load(name, ...more);
require(extension).activate({ subscriptions: [] });
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node is installed")
@pytest.mark.parametrize(
    ("named", "trusted", "command"),
    [
        ("policylint", True, "policylint"),
        ("policylint", False, "policylint"),
        ("/opt/bin/policylint", True, "/opt/bin/policylint"),
        (".venv/bin/policylint", True, "/work/shop/.venv/bin/policylint"),
        (".venv/bin/policylint", False, ".venv/bin/policylint"),
    ],
)
def test_no_program_and_no_module_of_the_folder_is_started(named: str, trusted: bool, command: str) -> None:
    """Windows looks for programs where one is started, before it looks at PATH; Python looks there for modules."""
    given = json.dumps([str(EXTENSION / "extension.js"), named, "/work/shop", trusted])
    done = subprocess.run(["node", "-e", STARTED, given], capture_output=True, text=True, check=True)
    run: dict[str, Any] = json.loads(done.stdout)
    assert (run["command"], run["options"]["cwd"]) == (command, str(EXTENSION))


@pytest.mark.skipif(
    shutil.which("node") is None or not BUNDLE.is_file(),
    reason="no bundle: `npm ci && npm run bundle` in deploy/vscode, or name one in POLICYLINT_EXTENSION",
)
def test_the_bundle_starts_the_server_and_shows_what_it_finds(tmp_path: Path) -> None:
    """One file, with nothing of node_modules beside it: a missing module would be missing in every editor."""
    bundle = shutil.copy(BUNDLE, tmp_path / "extension.js")
    shop = shutil.copytree(ROOT / "fixtures" / "envoy-gateway-shop", tmp_path / "shop")
    policy = shop / "shop" / "checkout-cors.yaml"
    program = Path(sys.executable).with_name("policylint")
    said: list[dict[str, Any]] = []
    with subprocess.Popen(
        ["node", str(STAND_IN), str(bundle), str(program), str(shop), str(policy)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as editor:
        assert editor.stdout and editor.stdin
        for line in editor.stdout:
            said.append(json.loads(line))
            if any(each.get("problems") for each in said) and any("registered" in each for each in said):
                break
        editor.stdin.close()
        assert editor.wait(60) == 0
    (registered,) = (each["registered"] for each in said if "registered" in each)
    assert {"registerCompletionItemProvider", "registerHoverProvider", "registerRenameProvider"} <= set(registered)
    problems = {each["file"]: each["problems"] for each in said if each.get("problems")}
    ((rule, line, message),) = problems[str(policy)]
    assert (rule, line) == ("GWP201", 11)
    assert message.startswith("HTTPRoute shop/checkout loses the jwt of its Gateway")
