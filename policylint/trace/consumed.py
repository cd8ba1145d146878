"""What settings take off a request, so that its backend does not get it: the catalog says which headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.content import places
from policylint.model import mapping, text
from policylint.model.policy_kind import Consumption
from policylint.model.resource import value_at
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.trace.result import Forwarded, Met, Trace


class Consumed(NamedTuple):
    """Headers that a policy takes off.

    Args:
        words: a sentence for users.
    """

    headers: tuple[str, ...]
    words: str


def taken_off(trace: Trace, policies: Sequence[Met]) -> Trace:
    """Return a trace without the headers that the policies take off its request, each with a sentence about it."""
    found = list({each.words: each for met in policies for each in _by(met, policies)}.values())
    gone = [header for each in found for header in each.headers]
    return trace._replace(
        forwarded=None if trace.forwarded is None else without(trace.forwarded, gone),
        per_backend={key: without(each, gone) for key, each in trace.per_backend.items()},
        notes=(*trace.notes, *(each.words for each in found)),
    )


def _by(met: Met, policies: Iterable[Met]) -> Iterator[Consumed]:
    kind = met.group.kind
    for taking in kind.consumes:
        handed_on = taking.unless and any(
            value_at(other.spec, tuple(taking.unless.split("."))) is not None
            for other in policies
            if other.group.kind == kind
        )
        for pointer, setting in () if handed_on else places(met.spec, taking.path, ()):
            headers = _headers(taking, mapping(setting))
            owners = met.group.effective.owners
            named = next((each for each in owners if each[:1] == pointer[:1]), None)  # of what stands in another object
            at = max(met.group.effective.leaves(pointer), key=len, default=named)
            if headers and at is not None:
                owner = owners[at]
                way_out = f", unless `{taking.unless}` is set" if taking.unless else ""
                way_out = f", unless `{taking.keeps}` is set" if taking.keeps else way_out
                name = ".".join(str(step) for step in pointer if isinstance(step, str) and not step.isdigit())
                words = f"{name} of {owner} takes {listing(headers)} off the request: no backend gets it{way_out}"
                yield Consumed(tuple(headers), words)


def _headers(taking: Consumption, setting: Mapping[str, Any]) -> list[str]:
    if (taking.where and setting.get(taking.where) is not True) or setting.get(taking.keeps) is True:
        return []
    named = [text(value) for _, value in places(setting, taking.named, ())] if taking.named else []
    return list(filter(None, named)) or list(filter(None, [taking.header]))


def without(forwarded: Forwarded, headers: Iterable[str]) -> Forwarded:
    """Return a request as a backend gets it, without some headers."""
    gone = {header.lower() for header in headers}
    kept = {name: value for name, value in forwarded.headers.items() if name.lower() not in gone}
    return forwarded if len(kept) == len(forwarded.headers) else forwarded._replace(headers=kept)
