"""`patterns.Pattern` is a compiled expression of `re`, only made later."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal

import pytest

import policylint
from policylint.patterns import Pattern


def test_answers_as_the_compiled_expression_does() -> None:
    later, now = Pattern(r"(?P<key>\w+)=(\d*)", re.IGNORECASE), re.compile(r"(?P<key>\w+)=(\d*)", re.IGNORECASE)
    for text in ("a=1 b=", "none"):
        for _ in range(2):  # the second time without asking `re`
            assert later.findall(text) == now.findall(text)
            assert bool(later.match(text)) is bool(now.match(text))
            assert later.sub(r"\2=\1", text) == now.sub(r"\2=\1", text)
    assert (later.groups, later.flags, later.pattern) == (now.groups, now.flags, now.pattern)
    assert Pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_an_expression_that_is_none_fails_where_it_is_used() -> None:
    with pytest.raises(re.error):
        Pattern("(").match("")


def test_every_expression_of_the_package_compiles() -> None:
    names = [module.name for module in pkgutil.walk_packages(policylint.__path__, "policylint.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Pattern)]
    assert len(found) > 100
    assert all(expression.pattern for expression in found)


LINES = (
    "metadata:\n" + (" " * 30 + "x\n") * 40,
    "metadata:\r\n" + " a: b\r\n" * 60,
    " " * 3_000 + "x",
    "- " * 400 + "!",
)
WORDS = ("a" * 3_000 + "!", "a-" * 800 + "!", "a." * 800 + "!", "1h" * 800 + "!", "../" * 500 + "!", '"' + "\\a" * 800)
TEMPLATES = ("{{ " + "tpl ( " * 300, "{{" * 400, "${" * 400, "&a " * 400 + "]", "# " * 800, "v1.2." * 300 + "!")


def test_no_expression_takes_exponential_time() -> None:
    """A file may hold anything: an expression that has many ways to fail on it would never come back."""
    names = [module.name for module in pkgutil.walk_packages(policylint.__path__, "policylint.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    own = {
        value.pattern: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Pattern | re.Pattern) and isinstance(value.pattern, str)
    }
    slow = []

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, give_up)
    try:
        for source, expression in own.items():
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 5)
                for text in (*LINES, *WORDS, *TEMPLATES):
                    expression.search(text)
                    expression.fullmatch(text)
            except TimeoutError:
                slow.append(source)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert slow == []
