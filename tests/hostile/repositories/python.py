"""What Python and its tools would load or run."""

from __future__ import annotations

from tests.hostile.checkout import trapped
from tests.hostile.repositories.hostile import Hostile, Place
from tests.hostile.test_action import POLICY
from tests.render.trees import KUSTOMIZATION


def _modules(place: Place) -> None:
    trapped(place.tree, place.canary)
    package = place.tree / "policylint" / "cli"
    package.mkdir(parents=True)
    for directory in (package, package.parent):
        (directory / "__init__.py").write_text(f"open({str(place.canary)!r}, 'a').write('policylint')\n")
    (place.tree / "evil.pth").write_text(f"import os; os.system({str(place.trap)!r})\n")


TAGS = """\
a: !!python/object/apply:os.system ['TRAP']
b: !!python/name:os.system
c: !<tag:yaml.org,2002:python/module:evil> ''
"""
PYTHON = {
    "modules and programs of everybody's name": Hostile(
        after=_modules,
        environment={
            "PYTHONPATH": "TOP",
            "PYTHONSTARTUP": "TOP/json.py",
            "PYTHONHOME": "",
            "PYTHONINSPECT": "",
            "PYTHONBREAKPOINT": "os.system",
        },
    ),
    "files of pip, pytest and tox": Hostile(
        {
            "pip.conf": "[global]\nindex-url = http://ADDRESS/\n",
            "conftest.py": "import os; os.system('TRAP')\n",
            "setup.py": "import os; os.system('TRAP')\n",
            "tox.ini": "[testenv]\ncommands = TRAP\n",
            "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'setup'\nbackend-path = ['.']\n",
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n  policylint = setup:main\n",
        },
        environment={"PIP_CONFIG_FILE": "TOP/pip.conf"},
    ),
    "tags of PyYAML in manifests": Hostile({"tags.yaml": TAGS, "kustomization.yaml": KUSTOMIZATION + TAGS}),
    "tags of PyYAML in the configuration": Hostile({".policylint.yaml": TAGS}),
    "names of Python's own": Hostile(
        {
            "dunder.yaml": POLICY.replace("NAME", "__class__").replace("retries", "__init__")
            + "  __class__: {__globals__: [__import__]}\n  format: '{0.__class__}%(x)s%n'\n"
        }
    ),
}
