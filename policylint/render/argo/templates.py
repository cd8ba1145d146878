"""The templates of ApplicationSets with `goTemplate: true`: Go's language, sprig, and functions of Argo CD's own.

Source: argoproj/argo-cd `applicationset/utils/utils.go`, `template_functions.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from policylint.budget import Budget
from policylint.documents import read
from policylint.patterns import Pattern
from policylint.render.go_template.functions import MISSING, Function
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import UncertainError, as_yaml
from policylint.render.go_template.running import FUNCTIONS, of_json
from policylint.render.go_template.running import filled_in as run

__all__ = ["MISSING", "filled_in", "normalized", "parameter_at"]

_OPTION: Final = "missingkey="
_NO_NAME: Final = Pattern(r"[^a-z0-9.-]")
_DASHES: Final = Pattern(r"-+")
_STEP: Final = Pattern(r"[^.\[\]\"'$]+")
_NUMBER: Final = Pattern(r"[0-9]{1,18}")


def filled_in(text: str, parameters: Mapping[str, Any], budget: Budget, options: Sequence[Any] = ()) -> str:
    """Return what a template makes of parameters, which are as `of_json` returns them.

    Args:
        options: `goTemplateOptions`.

    Raises:
        TemplateError: Argo CD makes no Application with it.
        UncertainError, ExhaustedError: as `go_template.running.filled_in`.
    """
    missing = "default"
    for option in options:
        missing = str(option).removeprefix(_OPTION)
        if not str(option).startswith(_OPTION) or missing not in ("default", "invalid", "zero", "error"):
            raise TemplateError(f"unrecognized option: {option}")
    return run(text, parameters, budget, missing=missing, functions=_FUNCTIONS)


def normalized(value: str) -> str:
    """Return the name that Argo CD makes of a text."""
    return _NO_NAME.sub("-", value.lower())[:253].strip("-.")


def parameter_at(parameters: Any, path: str) -> Any:
    """Return what `.path.basename`, `path[1]`, `metadata.labels.env` names, or a key that holds the dots itself."""
    plain = path.lstrip("$.")
    if isinstance(parameters, dict) and plain in parameters and not isinstance(parameters[plain], dict):
        return parameters[plain]
    value: Any = parameters
    for step in _STEP.findall(plain):
        is_index = _NUMBER.fullmatch(step) is not None
        if isinstance(value, dict):
            value = value["segments"] if is_index and "segments" in value else value.get(step, MISSING)
        elif not (isinstance(value, list) and is_index):
            return MISSING
        if isinstance(value, list) and is_index:
            value = value[int(step)] if int(step) < len(value) else MISSING
    # Without Go templates, `path` itself is the directory.
    return value["path"] if not path.startswith(".") and isinstance(value, dict) and "segments" in value else value


def _slug(*given: Any) -> str:
    """Return what `slugify [LENGTH [WHETHER_AT_A_DASH]] TEXT` makes."""
    most, smart, text = (*given[:-1], *(50, True)[len(given) - 1 :], given[-1]) if given else (50, True, "")
    if type(most) is not int or not isinstance(smart, bool) or not isinstance(text, str) or len(given) > 3:
        raise TemplateError("slugify takes a length, a bool and a text")
    plain = normalized(text)
    if not smart and len(plain) >= most:
        plain = plain[:most]
    plain = _DASHES.sub("-", plain.replace(".", "-")).strip("-")
    if not smart or most <= 0 or len(plain) <= most:
        return plain
    return plain[: plain.rfind("-", 0, most + 1)] if "-" in plain[: most + 1] else plain[:most]


def _of_yaml(kind: type) -> Any:
    def made(text: str) -> Any:
        reading = read(text.encode(), "")
        if reading.problems or len(reading.documents) > 1:
            raise UncertainError("a text with several documents, or with mistakes")
        value = reading.documents[0].value if reading.documents else None
        if value is not None and not isinstance(value, kind):
            raise TemplateError("cannot unmarshal it")
        return kind() if value is None else of_json(value)

    return made


_FUNCTIONS: Final[Mapping[str, Function | None]] = {
    **FUNCTIONS,
    "normalize": Function("s", normalized),
    "slugify": Function("a*", _slug),
    "toYaml": Function("a", as_yaml),
    "fromYaml": Function("s", _of_yaml(dict)),
    "fromYamlArray": Function("s", _of_yaml(list)),
}
