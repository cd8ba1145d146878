"""What changes in the text of files that no environment takes in: templates of charts, patches, unused manifests.

What becomes of requests nobody here can tell, and a diff that said nothing would say that nothing does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from policylint.catalog.kinds import Catalog
from policylint.compare.change import SubjectChange
from policylint.compare.texts import TextChanges
from policylint.compare.unknown import decides, is_selected, says_more
from policylint.documents import read
from policylint.documents.written import written
from policylint.model import UNKNOWN_NAMESPACE, Location, ResourceKey, Spot, World
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.live import is_out_of_use

_MOST = 50
_ASKS_CLUSTER = Pattern(r"\.Capabilities\.(?:APIVersions|KubeVersion)\b")
_COMMENT = Pattern(r"(?m)^[ \t]*(?:#(?!@).*)?\n|[ \t]+$")


class UnreadText(NamedTuple):
    """A document by its text.

    Args:
        key: what it seems to be.
        line: where it says so.
        content: all of it but comments.
        body: the text itself.
        first: the line before its first one.
    """

    key: ResourceKey
    line: int
    content: str
    body: str
    first: int


class UnreadChange(NamedTuple):
    """A document that changes, or goes (`now` is None), and why nothing here reads it."""

    file: str
    why: str
    was: UnreadText
    now: UnreadText | None


def unread_subjects(
    environment: str, texts: TextChanges, worlds: Collection[World], catalog: Catalog, told: Collection[str]
) -> list[SubjectChange]:
    """Return the policies and objects of Gateway API that change or go in such files, as far as their text shows.

    Args:
        worlds: the environments of both sides.
        told: files of which something is told already.
    """
    found: dict[ResourceKey, SubjectChange] = {}
    for change in unread_changes(texts, worlds, catalog):
        if change.file not in told:
            location = Location(Spot(change.file, (change.now or change.was).line, 1))
            reason = f"{'goes' if change.now is None else 'changes'}, and {change.why}"
            subject = SubjectChange(environment, change.was.key, "unknown", location, reason=reason)
            found.setdefault(change.was.key, subject)
    return [found[key] for key in islice(sorted(found), _MOST)]


def unread_changes(texts: TextChanges, worlds: Collection[World], catalog: Catalog) -> Iterator[UnreadChange]:
    """Yield the policies and objects of Gateway API in such files whose text differs between the sides.

    One that goes from a file and comes in another one, word for word, was moved; a template within its chart.
    """
    taken_in = {resource.document.file for world in worlds for resource in world.resources.values()}
    pairs = [
        (file, is_template, list(_documents(before, file, catalog)), list(_documents(after, file, catalog)))
        for file, before, after, is_template in texts.beside
    ]
    arrived = {
        (_chart(file, is_template), text.content)
        for file, is_template, old, new in pairs
        for text in new
        if text.content not in {each.content for each in old} and not is_out_of_use(file)
    }
    for file, is_template, old, new in pairs:
        if is_out_of_use(file):
            continue
        is_deployed, kept = _is_deployed(file, worlds), {text.content for text in new}
        now = {text.key: text for text in new}
        for was in old:
            moved = was.content in kept or (_chart(file, is_template), was.content) in arrived
            if moved or (was.key in now and not is_template and _says_the_same(was, now[was.key], file)):
                continue
            if is_template and not is_deployed:
                yield UnreadChange(file, f"{file} is a template that is not rendered", was, now.get(was.key))
            elif is_template:
                if _ASKS_CLUSTER.search(was.body) and not _is_made(was, file, worlds):
                    why = f"whether {file} makes it hangs on what the cluster serves"
                    yield UnreadChange(file, why, was, now.get(was.key))
            elif not _is_readable(was, file):
                yield UnreadChange(file, "what is written there is no YAML", was, now.get(was.key))
            elif not (is_deployed or file in taken_in):
                yield UnreadChange(file, f"nothing here deploys {file}", was, now.get(was.key))


def _is_made(text: UnreadText, file: str, worlds: Collection[World]) -> bool:
    """Tell whether an environment has an object of the kind of a document that its template made."""
    made = (each for world in worlds for each in world.of_kind(*text.key[:2]))
    return any(file in (each.document.file, each.name_location.file) for each in made)


def _is_readable(text: UnreadText, file: str) -> bool:
    """Tell whether a document can be read by itself, as others of its file are."""
    reading = read(text.body.encode(), file)
    return not reading.problems and any(isinstance(each.value, dict) for each in reading.documents)


def _says_the_same(was: UnreadText, now: UnreadText, file: str) -> bool:
    """Tell whether a manifest differs in text or labels alone, and is of no kind that policies select by these."""
    if is_selected(was.key.group):
        return False
    documents = [each for text in (was, now) for each in read(text.body.encode(), file).documents]
    bodies = [each.value for each in documents if isinstance(each.value, dict)]
    return len(documents) == len(bodies) == 2 and not says_more(was.key, *bodies)


def _chart(file: str, is_template: bool) -> str:
    """Return the directory of the chart that a template is of, "" for a manifest."""
    return file.partition("/templates/")[0] if is_template else ""


def _is_deployed(file: str, worlds: Collection[World]) -> bool:
    """Tell whether an environment takes a file in: as an object, a patch, values, or a chart that is rendered."""
    return any(
        file == path or file.startswith(f"{path}/") for world in worlds for of in world.entries.values() for path in of
    )


def _documents(content: str, file: str, catalog: Catalog) -> Iterator[UnreadText]:
    """Yield the documents of a text that seem to be policies, network policies, or objects of Gateway API."""
    for each in written(content):
        if each.group is not None and decides(catalog, each.group, each.kinds[0]):
            namespace = f"{UNKNOWN_NAMESPACE}{file.rpartition('/')[0]}"
            key = ResourceKey(each.group, each.kinds[0], namespace, each.name)
            yield UnreadText(key, each.line, _COMMENT.sub("", f"{each.text}\n"), each.text, each.first)
