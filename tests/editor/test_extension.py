"""The extension for Visual Studio Code says what the package says: version, commands, settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from policylint import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "deploy" / "vscode"


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
