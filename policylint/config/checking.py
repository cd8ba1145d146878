"""Check a configuration against schemas/config.json, and say in one line what is wrong and where.

`unknown key "sevrity" (did you mean "severity"?)`, say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.config.discovery import ConfigError
from policylint.config.toml_positions import Positions

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from policylint.documents import Pointer


def check(content: Mapping[str, Any], places: Positions | None) -> None:
    """Check the content of a configuration file.

    Raises:
        ConfigError: the schema does not allow it; the message is about the first such place in the file.
    """
    import json

    from policylint.model.shipped import shipped
    from policylint.schema.checker import Checker

    schema = json.loads(shipped("schemas", "config.json").read_text(encoding="utf-8"))
    if Checker(_inlined(schema, schema)).is_valid(content):
        if "require" in content:
            _check_addresses(content["require"], places)
        return  # jsonschema takes longer to import than a small repository to lint: it explains, it does not decide
    import jsonschema

    errors = [
        (_place(violation, places), violation)
        for violation in jsonschema.Draft202012Validator(schema).iter_errors(content)
    ]
    if errors:
        (line, column), error = min(errors, key=lambda entry: entry[0])
        file = places.file if places is not None else ""
        raise ConfigError(f"{file}:{line}:{column}: {in_words(_deepest(error))}")


def _check_addresses(guardrails: list[Mapping[str, Any]], places: Positions | None) -> None:
    """Check what no schema can say.

    Raises:
        ConfigError: a guardrail names clients by what is no address.
    """
    from policylint.config.addresses import wrong_addresses

    for pointer, message in wrong_addresses(guardrails):
        line, column = (1, 1) if places is None else places.position(pointer)
        raise ConfigError(f"{'' if places is None else places.file}:{line}:{column}: {message}")


def _inlined(node: Any, schema: Mapping[str, Any]) -> Any:
    """Return a schema without references to its own definitions."""
    if isinstance(node, list):
        return [_inlined(item, schema) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(schema["$defs"][str(node["$ref"]).rpartition("/")[2]], schema)
    return {name: _inlined(value, schema) for name, value in node.items() if name != "$defs"}


def _deepest(error: ValidationError) -> ValidationError:
    """Return the innermost error: of alternatives, that of the one whose type the value has."""
    while error.context and not _missing_choice(error):
        typed = [
            alternative for alternative in error.context if alternative.validator != "type" or alternative.relative_path
        ]
        if not typed:
            break
        error = min(typed, key=lambda alternative: len(alternative.path))
    return error


def _missing_choice(error: ValidationError) -> bool:
    """Return whether the value has none of the keys of which it must have one."""
    return all(
        alternative.validator == "required" and not alternative.relative_path for alternative in error.context or ()
    )


def _place(error: ValidationError, places: Positions | None) -> tuple[int, int]:
    """Return line and column of an error."""
    if places is None:
        return 1, 1
    error = _deepest(error)
    unknown = _unknown(error)
    pointer: Pointer = (*error.absolute_path, unknown) if unknown else tuple(error.absolute_path)
    return tuple(places.position(pointer, key=bool(unknown)))  # type: ignore[return-value]


def _unknown(error: ValidationError) -> str:
    """Return the first key that the schema does not know, "" where the error is another."""
    if error.validator != "additionalProperties" or error.validator_value is not False:
        return ""
    schema: Any = error.schema
    value: Any = error.instance
    known = schema.get("properties", {})
    return next((str(name) for name in value if name not in known), "")


def in_words(error: ValidationError) -> str:
    """Return an error as one line for users."""
    schema: Any = error.schema
    allowed: Any = error.validator_value
    name = ".".join(str(step) for step in error.absolute_path if isinstance(step, str)) or "the configuration"
    value: Any = error.instance
    unknown = _unknown(error)
    if unknown:
        return f'unknown key "{unknown}"' + _guess(unknown, list(schema.get("properties", {})))
    match error.validator:
        case "enum":
            known = [choice for choice in allowed if isinstance(choice, str)]
            return f"{name} cannot be {_shown(value)}{_guess(str(value), known)}; it is one of {', '.join(known)}"
        case "type":
            return f"{name} must be {_TYPES.get(allowed, allowed)}"
        case "required":
            missing = [key for key in allowed if key not in value]
            return f"{name} lacks {', '.join(missing)}"
        case "minLength":
            return f"{name} must not be empty"
        case "pattern":
            return f"{name}: {_shown(value)} is not {schema.get('title', 'of the right form')}"
        case "anyOf":
            lacking = _missing_choice(error)
            return f"{name} lacks {schema.get('title', '')}" if lacking else f"{name} must be a string or a mapping"
    return f"{name}: {error.message}"


_TYPES = {"array": "a list", "object": "a mapping", "string": "a string", "boolean": "true or false"}


def _shown(value: object) -> str:
    """Return a value in quotes, at most 60 characters of it."""
    text = str(value)
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}…"'


def _guess(word: str, known: list[str]) -> str:
    """Return a hint at the nearest known word, "" where none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1)
    return f' (did you mean "{close[0]}"?)' if close else ""
