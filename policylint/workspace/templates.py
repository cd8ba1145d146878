"""What templates in the tree may make, where nobody rendered them: those of charts, and files such as `route.yaml.j2`.

A chart that no HelmRelease or Application of the tree installs is installed by something else: a pipeline, a person.
Templates are read only when something is missing that one of them may make.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from policylint.model import ResourceKey
from policylint.patterns import Pattern
from policylint.sources import Source, SourceError
from policylint.sources.skipping import HELM_TEMPLATE, TEMPLATE

_MOST_READ: Final = 1_000
"""Templates that are looked into."""
_PLAIN: Final = Pattern(r"[a-z0-9.:-]+")


class Templates:
    """The templates of a source that nothing renders."""

    def __init__(self, source: Source, *, charts: bool) -> None:
        """Take the source; `charts` tells whether those of charts are among them."""
        self._source = source
        self._sorts = (HELM_TEMPLATE, TEMPLATE) if charts else (TEMPLATE,)
        self._makers: dict[str, list[tuple[str, str]]] | None = None

    def reason(self, key: ResourceKey) -> str:
        """Return why an object that nothing deploys may come from a template; "" where none makes one of its kind and
        name, as far as the name is plain."""
        if self._makers is None:
            self._makers = self._read()
        for path, name in self._makers.get(key.kind, ()):
            if not name or name == key.name or not _PLAIN.fullmatch(name):
                return f"{path} is a template that was not rendered, and may make it"
        return ""

    def _read(self) -> dict[str, list[tuple[str, str]]]:
        """Return, by kind, the templates that make objects of it, and the names they give them."""
        makers: dict[str, list[tuple[str, str]]] = defaultdict(list)
        paths = [path for sort in self._sorts for path in self._source.skipped.get(sort, ())]
        if paths:
            from policylint.documents.written import written
        for path in paths[:_MOST_READ]:
            try:
                template = self._source.file(path).read().decode("utf-8", "replace")
            except SourceError:
                continue
            for each in written(template):
                for kind in each.kinds:
                    makers[kind].append((path, each.name))
        return makers
