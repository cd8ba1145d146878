"""Ways in which a setting stays and protects less, as the catalog states them: `weaker` in a kind's entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from policylint.model.resource import mapping, sequence, value_at
from policylint.namedtuple import NamedTuple

Listing = Literal["", "alternatives", "conditions", "demands", "each"]
Presence = Literal["", "demands", "grants", "narrows"]
Anchor = Literal["", "keys", "server", "value", "entries", "grant", "demand", "denial"]
Purpose = Literal["", "authentication", "authorization"]


class Rate(NamedTuple):
    """Where a limit says how much it lets pass: `number` in `each` or, where that is not written, in `unset`.

    With `none` as the number there is no limit.
    """

    number: str
    each: str = ""
    unset: str = "1s"
    none: int | None = None


class Weakness(NamedTuple):
    """One way in which a kind's effective policy becomes weaker (schemas/policy-kind.json, `weaker`).

    Exactly one of `order`, `list`, `presence`, `everybody`, `rate`, `anchor`, `grows` and `shrinks` is set.

    Args:
        path: below the spec proper, dotted; `*` stands for every entry of a list or map.
        says: what it means to whoever is kept out, one clause.
        order: values from strong to weak; those of one step are equally strong.
        unset: the value of a field that is left out while the object that would hold it is there.
        instead: the field that counts where `path` is left out, before `unset`.
        without: the value where nothing that holds the field is there at all.
        list: the meaning of a list's (or map's) entries: of alternatives one is enough, and one more lets more in;
            conditions narrow down when the protection acts; demands must all be met; each does its own.
        presence: the meaning of the field being there: it demands something, it grants something, or, in every entry of
            a list, it narrows down for whom the setting is.
        everybody: entries of a list that stand for everybody.
        rate: the fields of a limit, of which a higher one lets more pass.
        anchor: that the value says by what is checked what requests bring: keys, of which one more fits more; the
            address of a server, of which the host counts; any value; entries, of which one takes the place of another;
            expressions of CEL, of which one must hold, of which all must hold, or of which each turns away.
        grows: that the value is a number, a quantity or a duration, of which more lets more pass; a size, where
            `m` are megabytes.
        shrinks: that less of it lets more pass.
        none: the number, as text, that stands for no limit.
        where: values that other fields must have, from the innermost `*` on, else (or after `/`) below the spec proper.
        entries: values that the fields of an entry must have to count as one of the list; to grant, in a document.
        opens: the purpose that is no longer served once the weakest step is reached.
        unless: fields that serve it all the same, as `path` or `path=value`.
        admits_all: values with which nobody is turned away, not even who comes with something false.
        severity: a note for what is plainly written to let somebody else in.
    """

    path: str
    says: str
    order: tuple[tuple[Any, ...], ...] = ()
    unset: Any = None
    instead: str = ""
    without: Any = None
    list: Listing = ""
    presence: Presence = ""
    everybody: tuple[str, ...] = ()
    where: Mapping[str, Any] = {}
    entries: Mapping[str, Any] = {}
    opens: Purpose = ""
    unless: tuple[str, ...] = ()
    admits_all: tuple[Any, ...] = ()
    severity: Literal["warning", "note"] = "warning"
    rate: Rate | None = None
    anchor: Anchor = ""
    grows: Literal[False, True, "size"] = False
    shrinks: bool = False
    none: str = ""

    def narrows(self, spec: Mapping[str, Any]) -> bool:
        """Return whether every entry of a list has the field, so that the setting is not for everybody."""
        place, _, name = self.path.rpartition(".*.")
        entries = sequence(value_at(spec, tuple(place.split("."))))
        return bool(entries) and all(mapping(entry).get(name) for entry in entries)


def weakness(entry: Mapping[str, Any]) -> Weakness:
    """Return the weakness that an item of `weaker` describes, already valid by schemas/policy-kind.json."""
    steps = entry.get("order", ())
    return Weakness(
        entry["path"],
        entry["says"],
        order=tuple(tuple(step) if isinstance(step, list) else (step,) for step in steps),
        unset=entry.get("unset"),
        instead=entry.get("instead", ""),
        without=entry.get("without"),
        list=entry.get("list", ""),
        presence=entry.get("presence", ""),
        everybody=tuple(entry.get("everybody", ())),
        where=entry.get("where", {}),
        entries=entry.get("entries", {}),
        opens=entry.get("opens", ""),
        unless=tuple(entry.get("unless", ())),
        admits_all=tuple(entry.get("admitsAll", ())),
        severity=entry.get("severity", "warning"),
        rate=Rate(**entry["rate"]) if "rate" in entry else None,
        anchor=entry.get("anchor", ""),
        grows=entry.get("grows", False),
        shrinks=entry.get("shrinks", False),
        none=entry.get("none", ""),
    )


def weakness_entry(weak: Weakness) -> dict[str, Any]:
    """Return the item of `weaker` for a weakness, the inverse of `weakness`; defaults are left out."""
    entry: dict[str, Any] = {"path": weak.path, "says": weak.says}
    if weak.order:
        entry["order"] = [step[0] if len(step) == 1 else list(step) for step in weak.order]
    entry |= {name: value for name in ("unset", "without") if (value := getattr(weak, name)) is not None}
    fields = ("instead", "list", "presence", "opens", "anchor", "grows", "shrinks", "none")
    entry |= {name: value for name in fields if (value := getattr(weak, name))}
    entry |= {name: list(value) for name in ("everybody", "unless") if (value := getattr(weak, name))}
    entry |= {name: dict(value) for name in ("where", "entries") if (value := getattr(weak, name))}
    entry |= {"admitsAll": list(weak.admits_all)} if weak.admits_all else {}
    if weak.rate is not None:
        defaults = Rate("")
        entry["rate"] = {name: value for name, value in weak.rate._asdict().items() if value != getattr(defaults, name)}
    return entry | ({"severity": weak.severity} if weak.severity != "warning" else {})
