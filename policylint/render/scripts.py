"""The scripts of a tree: which files hold commands, and what stands in them; the answer to it for all who ask.

Each file is read once, and each text looked through once for a pattern: workshops hold one README in dozens of
editions, and a dozen questions are asked of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary, ref

from policylint.patterns import Pattern
from policylint.sources import Source, SourceError

_SCRIPTS = (
    *(".sh", ".bash", ".zsh", ".fish", ".ps1", "Makefile", "makefile", ".mk", "justfile", "Justfile", ".just"),
    *("Taskfile.yml", "Taskfile.yaml", "mise.toml", "Tiltfile", "Vagrantfile", "Jenkinsfile", "Earthfile"),
    *(_TEXTS := (".md", ".mdx", ".adoc", ".asciidoc", ".rst")),
)
_WORKFLOWS = (".github/workflows/", ".gitlab-ci")
_TOOLS = (b"kubectl", b"oc ", b"helm", b"flux ", b" label ", b"kustomize")
"""Those of which a question is asked; texts that name none of them are not kept."""
_LONGEST = 200_000
"""Bytes of a script that are looked through."""
_OF_VARIABLES = Pattern(r".*(?:env|versions?|vars|variables|common)(?:\.(?:sh|bash|mk|env))?")
"""Names of files of variables, which other scripts take in."""
_CONTINUED = Pattern(r"\\\r?\n\s*")


class ScriptText:
    """The text of one or more scripts.

    Attributes:
        text: continued lines joined.
    """

    __slots__ = ("_assigned", "_found", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[re.Pattern[str], Sequence[re.Match[str]]] = {}
        self._assigned: dict[re.Pattern[str], dict[str, str]] = {}

    def all(self, pattern: re.Pattern[str]) -> Sequence[re.Match[str]]:
        """Return where a pattern is found."""
        if pattern not in self._found:
            self._found[pattern] = tuple(pattern.finditer(self.text))
        return self._found[pattern]

    def first(self, pattern: re.Pattern[str], name: str) -> str | None:
        """Return what a variable has at first, by a pattern of name and value; None where nothing says it."""
        if pattern not in self._assigned:
            self._assigned[pattern] = {found[1]: found[2] for found in reversed(self.all(pattern))}
        return self._assigned[pattern].get(name)


class Scripts:
    """The scripts of a tree.

    Args:
        listed: returns the files, by path below the root.
        read: returns the bytes of one, None where it cannot be read.
    """

    def __init__(self, listed: Callable[[], Iterable[str]], read: Callable[[str], bytes | None]) -> None:
        self._listed = listed
        self.read = read

    @cached_property
    def files(self) -> Sequence[str]:
        """All files of the tree, scripts or not."""
        return tuple(self._listed())

    @cached_property
    def variables(self) -> ScriptText:
        """What files of variables say that scripts take in, all of them together."""
        texts = (self.read(path) or b"" for path in self.files if _OF_VARIABLES.fullmatch(path.rpartition("/")[2]))
        return ScriptText("\n".join(text[:_LONGEST].decode("utf-8", "replace") for text in texts))

    @cached_property
    def directories(self) -> Sequence[str]:
        """The directories that hold files, each with a slash at its end; they are few where files are many."""
        return tuple(dict.fromkeys(path[: path.rfind("/") + 1] for path in self.files))

    def naming(self, *tools: bytes) -> Iterator[tuple[str, ScriptText]]:
        """Yield path and text of the scripts that name one of some tools."""
        wanted = frozenset(tools)
        return ((path, text) for path, named, text in self._texts if not wanted.isdisjoint(named))

    @cached_property
    def _texts(self) -> Sequence[tuple[str, frozenset[bytes], ScriptText]]:
        known: dict[bytes, tuple[frozenset[bytes], ScriptText]] = {}
        found = []
        for path in filter(is_script, self.files):
            content = self.read(path)
            if content is None or not (named := frozenset(tool for tool in _TOOLS if tool in content)):
                continue
            if content not in known:
                text = _CONTINUED.sub(" ", content[:_LONGEST].decode("utf-8", "replace"))
                known[content] = (named, ScriptText(text))
            found.append((path, *known[content]))
        return found


_KEPT: WeakKeyDictionary[Source, Scripts] = WeakKeyDictionary()


def scripts_of(source: Source) -> Scripts:
    """Return the scripts of a source, the same for all who ask."""
    found = _KEPT.get(source)
    if found is None:
        known = ref(source)  # what is kept must not keep the source

        def listed() -> Iterable[str]:
            here = known()
            return () if here is None else here.files_below("")

        def read(path: str) -> bytes | None:
            here = known()
            try:
                return None if here is None else here.at(path, path).read()
            except SourceError:
                return None

        found = _KEPT[source] = Scripts(listed, read)
    return found


def is_script(path: str) -> bool:
    """Tell whether a file, by path below the root, may hold commands."""
    if path.startswith(_WORKFLOWS):
        return True
    return path.endswith(_SCRIPTS) and "/." not in f"/{path}" and "node_modules/" not in path


def is_prose(path: str) -> bool:
    """Tell whether the commands of a script stand in a text for people, who may or may not run them."""
    return path.endswith(_TEXTS)
