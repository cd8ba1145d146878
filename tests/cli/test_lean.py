"""policylint.lean: click and PyYAML are themselves, whatever stood for modules while they were imported."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.lean import cleandoc

CHECKOUT = Path(__file__).parents[2]


def run(code: str) -> str:
    """Run a text in an interpreter that has imported nothing, and return what it prints."""
    command = [sys.executable, "-I", "-c", f"import sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n{code}"]
    return subprocess.run([*command], capture_output=True, text=True, check=True).stdout.strip()


def test_click_has_its_types_and_its_inspect() -> None:
    assert (
        run(
            "import policylint.cli, click, click.core, click.types\n"
            "assert not {'inspect', 'uuid', 'datetime'} & sys.modules.keys()\n"
            "value = click.UUID.convert('12345678-1234-5678-1234-567812345678', None, None)\n"
            "moment = click.DateTime().convert('2026-11-23', None, None)\n"
            "import datetime, inspect, uuid\n"
            "assert type(value) is uuid.UUID and click.UUID.convert(value, None, None) is value\n"
            "assert type(moment) is datetime.datetime\n"
            "assert click.core.inspect.signature is inspect.signature\n"
            "print(value, moment.date())"
        )
        == "12345678-1234-5678-1234-567812345678 2026-11-23"
    )


def test_yaml_reads_and_writes_everything() -> None:
    assert (
        run(
            "from policylint.lean import import_yaml\n"
            "import_yaml()\n"
            "assert 'datetime' not in sys.modules\n"
            "import re, yaml\n"
            "assert re.compile('a').match('a') and sys.modules['re'] is re\n"
            "text = 'a: [1, 2.5, yes, ~, 0x1F]\\nb: 2026-11-23\\nc: 2026-11-23T10:00:00Z\\n'\n"
            "for loader in (yaml.SafeLoader, yaml.CSafeLoader):\n"
            "    value = yaml.load(text, loader)\n"
            "    assert yaml.safe_load(yaml.safe_dump(value)) == value\n"
            "try:\n"
            "    yaml.load('a: \\x07', yaml.SafeLoader)\n"
            "except yaml.reader.ReaderError as error:\n"
            "    print(value['a'], value['b'], value['c'], error.reason)\n"
        )
        == "[1, 2.5, True, None, 31] 2026-11-23 2026-11-23 10:00:00+00:00 special characters are not allowed"
    )


@pytest.mark.parametrize("name", ["inspect", "uuid", "datetime", "re"])
def test_what_was_imported_before_stays(name: str) -> None:
    code = f"import {name} as real\nimport policylint.cli\nfrom policylint.lean import import_yaml\nimport_yaml()\n"
    assert run(f"{code}print(sys.modules[{name!r}] is real)") == "True"


def test_nothing_stands_for_a_module_while_another_thread_runs() -> None:
    code = (
        "import threading\nevent = threading.Event()\nthreading.Thread(target=event.wait).start()\n"
        "import policylint.cli\nfrom policylint.lean import import_yaml\nimport_yaml()\nimport yaml, click\n"
        "print(type(yaml.resolver.re).__name__, 'inspect' in sys.modules)\nevent.set()"
    )
    assert run(code) == "module True"


@given(st.text(alphabet="ab \t\n\r").filter(lambda text: len(text) < 40))
def test_indentation_goes_as_by_inspect(text: str) -> None:
    assert cleandoc(text) == inspect.cleandoc(text)
