"""What the API server wants of a CustomResourceDefinition before it takes it."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model.keys import is_symbolic
from policylint.model.resource import Resource, mapping, sequence, text


def fault_of_definition(definition: Resource) -> tuple[Pointer, str, str] | None:
    """Return where and why no API server takes a CRD, and what is wanted; None where one takes it, or may.

    Source: kubernetes/apiextensions-apiserver, pkg/apis/apiextensions/validation, ValidateCustomResourceDefinition.
    """
    name, group = definition.key.name, definition.spec.get("group")
    plural = mapping(definition.spec.get("names")).get("plural")
    wanted = f"{plural}.{group}"
    is_open = not isinstance(plural, str) or "group" not in definition.spec or "{{" in name + wanted
    if wanted != name and not (is_open or is_symbolic(name) or is_symbolic(wanted)):
        return ("metadata", "name"), f'is called "{name}"', f"{wanted} is wanted: names.plural and group"
    if isinstance(group, str) and "." not in group and not is_symbolic(group):
        return ("spec", "group"), f'has group "{group}"', "a group has a dot: `example.com`"
    versions = [mapping(each) for each in sequence(definition.spec.get("versions"))]
    stored = sum(each.get("storage") is True for each in versions)
    if stored != 1 and all(isinstance(each.get("storage"), bool) for each in versions) and versions:
        return ("spec", "versions"), f"stores {stored or 'none'} of its versions", "`storage: true` is for one of them"
    named = [text(each.get("name")) for each in versions]
    if len({*named}) < len(named):
        return ("spec", "versions"), "has two versions of one name", "each version has a name of its own"
    bare = next((number for number, each in enumerate(versions) if "schema" not in each), None)
    if bare is not None and definition.version == "v1":
        return ("spec", "versions", bare), "has a version without a schema", "`schema.openAPIV3Schema` is required"
    return None
