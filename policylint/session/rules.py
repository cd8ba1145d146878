"""The choice of rules: those that run, their severities and those that files cannot suppress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count

from policylint.config import ConfigError, Settings
from policylint.errors import UsageError
from policylint.session.settings import Setup


def chosen(setup: Setup) -> set[str] | None:
    """Return the ids of the rules to run, None for all that are on by default.

    `select` of the options takes the place of the file's, and rules that it names outright run though the file ignores
    them; `ignore` comes on top of the file's. `show_orphans` adds the rules that otherwise run only by name.

    Raises:
        UsageError: a name is no rule.
    """
    settings, select, ignore = setup.settings, setup.options.select, setup.options.ignore
    on_request = setup.options.show_orphans
    off = {rule for rule, level in severities(settings).items() if level == "off"} if settings.severity else set()
    if not (select or ignore or settings.select or settings.ignore or off or on_request):
        return None
    from policylint.checks import ON_REQUEST, RULES

    selected = expand_names(select) if select else _configured(settings, "select", settings.select)
    selected = selected or RULES.keys() - ON_REQUEST
    if on_request:
        selected = selected | ON_REQUEST
    ignored = _configured(settings, "ignore", settings.ignore) | off
    outright = {rule for name in select for rule in expand_names([name]) if not _is_family(name)}
    return selected - (ignored - outright) - expand_names(ignore)


def severities(settings: Settings) -> dict[str, str]:
    """Return the configured severities by id; of `GWP3: note` and `GWP301: error` the longer one counts for GWP301."""
    by_rule: dict[str, str] = {}
    for name in sorted(settings.severity, key=lambda name: (not _is_family(name), len(name))):
        for rule in _configured(settings, "severity", [name]):
            by_rule[rule] = settings.severity[name]
    return by_rule


def locked(settings: Settings) -> set[str]:
    """Return the ids of the rules that files cannot suppress."""
    return _configured(settings, "locked", settings.locked) if settings.locked else set()


def expand_names(names: Iterable[str]) -> set[str]:
    """Return the ids of rules named by id, name or family.

    Raises:
        UsageError: one of them is no rule.
    """
    from policylint.checks import expand

    try:
        return expand(names)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _configured(settings: Settings, key: str, names: Sequence[str]) -> set[str]:
    """Return the same for names in the configuration; complaints say where they stand."""
    from policylint.checks import expand

    ids: set[str] = set()
    taken = {suppression.number for suppression in settings.suppressions} if key == "ignore" else set()
    numbers = (number for number in count() if number not in taken)
    for number, name in zip(numbers, names, strict=False):
        try:
            ids |= expand([name])
        except ValueError as error:
            pointer = (key, name) if key == "severity" else (key, number)
            raise ConfigError(f"{settings.at(*pointer)}: {error}") from None
    return ids


@cache
def _is_family(name: str) -> bool:
    return name.upper().startswith("GWP") and len(name) < len("GWP101")
