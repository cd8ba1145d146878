"""Holds a configuration to schemas/config.json, and says in one line what is wrong where.

`unknown key "sevrity" (did you mean "severity"?)`, say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.config.discovery import ConfigError
from policylint.config.toml_positions import Places

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from policylint.documents import Pointer


def check(content: Mapping[str, Any], places: Places | None) -> None:
    """Raises ConfigError for the first thing in the file that the schema does not allow."""
    import json

    from policylint.model.shipped import shipped
    from policylint.schema.checker import Checker

    schema = json.loads(shipped("schemas", "config.json").read_text(encoding="utf-8"))
    if Checker(_inlined(schema, schema)).is_valid(content):
        return  # jsonschema takes longer to import than a small repository to lint: it explains, it does not decide
    import jsonschema

    found = [(_place(each, places), each) for each in jsonschema.Draft202012Validator(schema).iter_errors(content)]
    if found:
        (line, column), error = min(found, key=lambda each: each[0])
        file = places.file if places is not None else ""
        raise ConfigError(f"{file}:{line}:{column}: {in_words(_deepest(error))}")


def _inlined(node: Any, schema: Mapping[str, Any]) -> Any:
    """A schema without references to its own definitions."""
    if isinstance(node, list):
        return [_inlined(each, schema) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(schema["$defs"][str(node["$ref"]).rpartition("/")[2]], schema)
    return {name: _inlined(each, schema) for name, each in node.items() if name != "$defs"}


def _deepest(error: ValidationError) -> ValidationError:
    """Of alternatives, what is wrong with the one that the value is of the type of."""
    while error.context and not _missing_choice(error):
        typed = [each for each in error.context if each.validator != "type" or each.relative_path]
        if not typed:
            break
        error = min(typed, key=lambda each: len(each.path))
    return error


def _missing_choice(error: ValidationError) -> bool:
    """Whether the value has none of the keys of which it must have one."""
    return all(each.validator == "required" and not each.relative_path for each in error.context or ())


def _place(error: ValidationError, places: Places | None) -> tuple[int, int]:
    if places is None:
        return 1, 1
    error = _deepest(error)
    pointer: Pointer = tuple(error.absolute_path)
    unknown = _unknown(error)
    if unknown:
        return tuple(places.position((*pointer, unknown), key=True))  # type: ignore[return-value]
    return tuple(places.position(pointer))  # type: ignore[return-value]


def _unknown(error: ValidationError) -> str:
    """The first key that the schema does not know, "" when the error is another."""
    if error.validator != "additionalProperties" or error.validator_value is not False:
        return ""
    schema: Any = error.schema
    value: Any = error.instance
    known = schema.get("properties", {})
    return next((str(name) for name in value if name not in known), "")


def in_words(error: ValidationError) -> str:
    """One line."""
    schema: Any = error.schema
    allowed: Any = error.validator_value
    name = ".".join(str(each) for each in error.absolute_path if isinstance(each, str)) or "the configuration"
    value: Any = error.instance
    unknown = _unknown(error)
    if unknown:
        return f'unknown key "{unknown}"' + _guess(unknown, list(schema.get("properties", {})))
    match error.validator:
        case "enum":
            known = [each for each in allowed if isinstance(each, str)]
            return f"{name} cannot be {_shown(value)}{_guess(str(value), known)}; it is one of {', '.join(known)}"
        case "type":
            return f"{name} must be {_TYPES.get(allowed, allowed)}"
        case "required":
            missing = [each for each in allowed if each not in value]
            return f"{name} lacks {', '.join(missing)}"
        case "minLength":
            return f"{name} must not be empty"
        case "pattern":
            return f"{name}: {_shown(value)} is not {schema.get('title', 'of the right form')}"
        case "anyOf":
            lacking = _missing_choice(error)
            return f"{name} lacks {schema.get('title', '')}" if lacking else f"{name} must be a text or a mapping"
    return f"{name}: {error.message}"


_TYPES = {"array": "a list", "object": "a mapping", "string": "a text", "boolean": "true or false"}


def _shown(value: object) -> str:
    text = str(value)
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}…"'


def _guess(word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1)
    return f' (did you mean "{close[0]}"?)' if close else ""
