"""What helm makes of generated charts, and what policylint makes of them without helm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from policylint.budget import ExhaustedError
from policylint.documents import read
from policylint.load.objects import objects_of
from policylint.render.helm.own import template
from policylint.render.helm.program import API_VERSIONS, HelmError
from policylint.render.journal import WITHOUT_HELM
from tests.witness.deployed import BUILD, FAILED, by_fact, judged, versions
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import texts

ABOUT = (
    "helm's own library: every object that an installation of a generated chart makes, whole, or that it fails."
    " policylint is asked without helm; charts that it does not claim to know are not counted."
)


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a chart as the program reads it."""
    return {"files": texts(files[1:]), "chart": {**_how(files), "apiVersions": API_VERSIONS}}


def _how(files: Sequence[Manifest]) -> dict[str, Any]:
    return dict(json.loads(files[0]["text"]))


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    how = _how(files)
    held = {f"chart/{path}": text.encode() for path, text in texts(files[1:]).items()}
    try:
        made = template(held, "chart", how["name"], how["namespace"], [how["values"]])
    except ExhaustedError:
        return {}, {}
    except HelmError as error:
        return ({}, {}) if str(error).startswith(WITHOUT_HELM) else ({BUILD: real[BUILD]}, {BUILD: FAILED})
    documents = read(made.output.encode(), "chart").documents
    claimed = by_fact(body for each in documents for body, _ in objects_of(each.value))
    return judged(real, claimed, set(), answer, is_open=False)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    (release,) = versions("helm.sh/helm/v3").values()
    return {"title": "helm", "about": ABOUT, "versions": {"helm": release}}
