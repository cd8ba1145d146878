"""policylint.lean: click and PyYAML are themselves, whatever stood for modules while they were imported.

And modules of ours are what they are by Python's own finder.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.lean import _LARGEST, cleandoc

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


def test_click_speaks_as_it_is_told_to(tmp_path: Path) -> None:
    ask = "print(click.core._('Usage'), click.core.ngettext('{n} thing', '{n} things', 2))\n"
    domain = tmp_path / "de" / "LC_MESSAGES"
    domain.mkdir(parents=True)
    catalog = (
        "import gettext, os, struct\nids, texts = b'Usage', b'Aufruf'\n"
        "head = struct.pack('<7I', 0x950412de, 0, 1, 28, 36, 0, 44)\n"
        "tables = struct.pack('<4I', len(ids), 44, len(texts), 44 + len(ids) + 1)\n"
        f"open({str(domain / 'messages.mo')!r}, 'wb').write(head + tables + ids + b'\\0' + texts + b'\\0')\n"
        f"os.environ['LANGUAGE'] = 'de'\ngettext.bindtextdomain('messages', {str(tmp_path)!r})\n"
    )
    plain = run(f"import policylint.cli, click.core\nassert 'gettext' not in sys.modules\n{ask}{catalog}{ask}")
    assert plain.splitlines() == ["Usage {n} things", "Aufruf {n} things"]


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


def own_package(place: Path) -> str:
    """Write a program of our name with `lean` in it, and return how its code begins."""
    package = place / "policylint"
    (package / "room").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "lean.py").write_bytes((CHECKOUT / "policylint" / "lean.py").read_bytes())
    (package / "room" / "__init__.py").write_text("WHAT = 'a room'\n")
    (package / "room" / "table.py").write_text("WHAT = 'a table'\n")
    return f"sys.path[0] = {str(place)!r}\nfrom policylint.lean import read_own_code\n"


def test_own_modules_are_the_same_by_the_short_way(tmp_path: Path) -> None:
    begin = own_package(tmp_path)
    show = (
        "import policylint.room.table\nfor name in ('policylint.room', 'policylint.room.table'):\n"
        "    module, it = sys.modules[name], sys.modules[name].__spec__\n"
        "    print(module.WHAT, module.__file__, module.__package__, module.__cached__, vars(module).get('__path__'),"
        " it.name, it.origin, it.cached, it.has_location, it.parent, it.submodule_search_locations)\n"
    )
    plain = run(begin + show)
    assert "a table" in plain
    assert run(f"{begin}read_own_code()\n{show}") == plain
    kinds = f"{begin}read_own_code()\nimport policylint.room.table as it\nprint(type(it.__loader__).__module__)"
    assert run(kinds) == "policylint.lean"
    absent = "try:\n    import policylint.room.chair\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert run(f"{begin}read_own_code()\n{absent}") == "No module named 'policylint.room.chair'"


def test_code_that_is_older_than_its_source_is_compiled_again(tmp_path: Path) -> None:
    begin = own_package(tmp_path) + "read_own_code()\n"
    show = begin + "import policylint.room.table as it\nprint(it.WHAT, it.f.__code__.co_filename)"
    table = tmp_path / "policylint" / "room" / "table.py"
    for what in ("a table", "a table that is new", "no table at all"):
        table.write_text(f"WHAT = {what!r}\ndef f(): pass\n")
        assert run(show) == f"{what} {table}"
        assert run(show) == f"{what} {table}"
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    (tmp_path / "policylint").rename(elsewhere / "policylint")
    moved = show.replace(str(tmp_path), str(elsewhere), 1)
    assert run(moved) == f"no table at all {elsewhere / 'policylint' / 'room' / 'table.py'}"


def test_nothing_is_found_by_the_short_way_where_python_keeps_code_elsewhere(tmp_path: Path) -> None:
    begin = own_package(tmp_path)
    assert run(f"sys.pycache_prefix = '/nowhere'\n{begin}read_own_code()\nprint(len(sys.meta_path))") == run(
        f"{begin}print(len(sys.meta_path))"
    )
    assert run(f"{begin}read_own_code()\nread_own_code()\nprint(sys.meta_path[0] in sys.meta_path[1:])") == "False"


def test_every_module_is_read_at_once() -> None:
    compiled = (CHECKOUT / "policylint").rglob("__pycache__/*.pyc")
    assert max((each.stat().st_size for each in compiled), default=0) < _LARGEST


def test_a_command_reads_its_modules_by_the_short_way(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    code = (
        f"sys.argv = ['policylint', 'lint', {str(tmp_path)!r}]\nfrom policylint.cli import program\n"
        "sys.setprofile(lambda *_: None)\ntry:\n    program()\nexcept SystemExit:\n    sys.setprofile(None)\n"
        "print({type(each.__loader__).__module__ for name, each in sys.modules.items()"
        " if name.startswith('policylint.session')})"
    )
    assert run(code).splitlines()[-1] == "{'policylint.lean'}"
