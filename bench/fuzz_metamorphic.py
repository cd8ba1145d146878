"""Properties of what is said: how a tree is written and what things are called changes nothing; weaker never closes.

A world is changed as people change it. Then it is written in another way, or with other names, and the same is said of
it; or one of its policies asks for less (tests/metamorphic/weaker.py): no request and no connection is closed by that,
and its reverse opens nothing and is no weakening.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from campaign import SlowError, Tried, WrongError
from fuzz_requests import RequestFuzz
from mutations import copied, write

MOST_CHANGES = 3
WRITINGS = 2
WEAKER = 8
"""Changes of each sort that are tried of one world."""
_OF_METADATA = ("namespace", "name")


def once(documents: Iterable[Any]) -> list[Any]:
    """Return the objects, each once: of two that are called the same their order decides."""
    found: dict[tuple[str, ...], Any] = {}
    for body in documents:
        metadata = body.get("metadata")
        if isinstance(metadata, dict):
            group = str(body.get("apiVersion", "")).rpartition("/")[0]
            names = (str(metadata.get(field) or "default") for field in _OF_METADATA)
            found.setdefault((group, str(body.get("kind")), *names), body)
    return list(found.values())


class MetamorphicFuzz(RequestFuzz):
    """Asks about worlds and about the same ones written or named otherwise, or with a policy that asks for less."""

    def __init__(self, shared: Path | None = None) -> None:
        super().__init__(shared)
        import tests.metamorphic.test_weaker  # noqa: F401 - what is imported here, no child imports again

    def __call__(self, random: Random) -> Tried:
        """Make a world, and try changes of it."""
        from policylint.workspace import open_workspace
        from tests.metamorphic.test_same_answers import WAYS, in_an_overlay, in_one_file, said, written
        from tests.metamorphic.test_weaker import wrong
        from tests.metamorphic.weaker import weaker

        world = random.choice(random.choice(self.worlds))
        files = {file: copied(documents) for file, documents in world.files.items()}
        changes = random.randrange(MOST_CHANGES)
        for _ in range(changes):
            self.change(random, files)
        bodies = once(body for documents in files.values() for body in documents)
        tried = 0
        failures: list[tuple[BaseException, dict[str, str]]] = []
        reproducer = {"before.yaml": write(bodies)}
        shutil.rmtree(self.place / "world", ignore_errors=True)
        (self.place / "world").mkdir()
        os.chdir(self.place / "world")
        try:
            place = written(Path("plain"), in_one_file(bodies))
            if len(open_workspace([str(place)]).simulations) != 1:
                return Tried(0, [])
            plain = said(place)
            # What an overlay brings together is whole, and files beside each other need not be.
            ways = [way for way in WAYS if not (changes and way is in_an_overlay)]
            for number, chosen in enumerate(random.sample(ways, WRITINGS)):
                tried += 1
                other = said(written(Path(f"{number}"), chosen(bodies)))
                failures += [
                    (
                        WrongError(f"{chosen.__name__}: {kind}"),
                        {**reproducer, "said.txt": "\n".join(map(str, sorted(ours ^ theirs)))},
                    )
                    for kind, ours, theirs in zip(plain._fields, plain, other, strict=True)
                    if ours != theirs
                ]
            tried += 1
            failures += [
                (WrongError(kind), {**reproducer, "said.txt": words})
                for kind, words in self.renamed(random, bodies, plain)
            ]
            offered = [(at, *change) for at, body in enumerate(bodies) for change in weaker(body)]
            for at, words, less in random.sample(offered, min(WEAKER, len(offered))):
                tried += 1
                after = [*bodies[:at], *([less] if less is not None else []), *bodies[at + 1 :]]
                what = f"{bodies[at].get('kind')}: {words}"
                failures += [
                    (WrongError(f"{what}: {kind}"), {**reproducer, "after.yaml": write(after), "said.txt": told})
                    for kind, told in wrong(Path(f"weaker-{tried}"), bodies, after)
                ]
        except (Exception, SlowError) as error:
            failures.append((error, reproducer))
        return Tried(max(tried, 1), failures)

    def renamed(self, random: Random, bodies: list[Any], plain: Any) -> Iterator[tuple[str, str]]:
        """Yield what is said of a world in which one thing has another name, and was not said before."""
        from tests.metamorphic.renaming import renaming
        from tests.metamorphic.test_same_answers import in_one_file, said, written

        chosen = renaming(random, bodies)
        if chosen is None:
            return
        other = said(written(Path("renamed"), in_one_file(chosen.of(bodies))))
        for kind in ("verdicts", "ways"):
            ours, theirs = (
                {tuple(chosen.back(word) for word in entry) for entry in getattr(each, kind)} for each in (plain, other)
            )
            if ours != theirs:
                yield f"renamed: {kind}", f"{chosen}\n{sorted(ours - theirs)}\n{sorted(theirs - ours)}"
        # The words of findings may guess at names.
        rules, others = (sorted(entry[:3] for entry in each.findings) for each in (plain, other))
        if rules != others:
            yield "renamed: findings", f"{chosen}\n{rules}\n{others}"
