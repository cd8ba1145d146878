"""What the template engine of ApplicationSets, Go's with sprig, makes of generated templates, and policylint's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.budget import Budget, ExhaustedError
from policylint.render.argo import templates
from policylint.render.go_template.running import TemplateError, UncertainError, of_json
from tests.witness.deployed import by_fact, judged, versions
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest

ABOUT = (
    "Go's text/template with the functions of sprig, as Argo CD calls it for ApplicationSets: what generated templates"
    " make of generated parameters, character by character, or that they are refused. Answers that policylint does not"
    " claim to know are not counted."
)


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return templates as the program reads them."""
    first, *others = files
    return {
        "templates": [each["text"] for each in others],
        "names": [each["metadata"]["name"] for each in others],
        "parameters": first["values"],
        "options": first["options"],
    }


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    first, *others = files
    made = [(each, _made(each["text"], first)) for each in others]
    claimed = by_fact({**_head(each), **said} for each, said in made if said)
    unknown = set(by_fact(_head(each) for each, said in made if not said))
    return judged(real, claimed, unknown, answer, is_open=False)


def _head(template: Manifest) -> dict[str, Any]:
    return {"kind": "Template", "metadata": {"name": template["metadata"]["name"]}}


def _made(text: str, first: Manifest) -> dict[str, Any]:
    """Return the text that a template makes, or that it is refused; nothing where that is not known."""
    try:
        made = templates.filled_in(text, of_json(first["values"]), Budget(), first["options"])
    except TemplateError:
        return {"refused": True}
    except (UncertainError, ExhaustedError):
        return {}
    return {} if "{{" in made else {"text": made}


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    named = versions("github.com/Masterminds/sprig/v3", "argo")
    return {"title": "Go templates", "about": ABOUT, "versions": {"sprig": named["github.com/Masterminds/sprig/v3"]}}
