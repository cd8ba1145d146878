"""Values as YAML that Kubernetes reads back as it was meant: `y`, `1e3` and `010` are quoted where they are texts.

Written with ruamel.yaml. PyYAML's dumper quotes by its own resolver, which takes `y`, `1e3` and `0o10` for texts; the
API server does not (docs/design/performance.md §2e), so that a status or a spec written with it could not be applied.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _writer() -> Any:
    """Return the writer: block style, keys in their own order, nothing by alias."""
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    from policylint.documents.scalars import resolve_plain
    from policylint.report.kit.display import UNSEEN

    class Representer(SafeRepresenter):
        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - ruamel.yaml's signature
            return True

        def text(self, data: str) -> Any:
            style = None
            if UNSEEN.search(data):
                style = '"'
            elif not isinstance(resolve_plain(data), str):
                style = "'"
            elif "\n" in data and not data.startswith((" ", "\n")):
                style = "|"
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Representer.add_representer(str, Representer.text)
    writer: Any = YAML(typ="safe", pure=False)
    writer.Representer = Representer
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False
    writer.allow_unicode = True
    writer.width = 120
    return writer


def yaml_text(value: object) -> str:
    """Return a value as block YAML that ends with a line break."""
    from io import StringIO

    out = StringIO()
    _writer().dump(value, out)
    return visible_yaml(out.getvalue())


def visible_yaml(text: str) -> str:
    r"""Return YAML with `\u202e` for a character that acts instead of being seen; it stands in double quotes.

    Credentials do not leave.
    """
    from policylint.report.kit.display import UNSEEN
    from policylint.report.kit.secrets import masked

    text = masked(text)
    return UNSEEN.sub(
        lambda match: f"\\U{ord(match[0]):08x}" if ord(match[0]) > 0xFFFF else f"\\u{ord(match[0]):04x}", text
    )
