"""A fact about an explained object."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple


class Fact(NamedTuple):
    """Something to know about an object beside its policies: `hosts  shop.example.com`."""

    name: str
    words: str
    bad: bool = False
