"""The functions of sprig that templates of Helm charts and of Argo CD's ApplicationSets call.

Source: Masterminds/sprig v3.3. Those that depend on the time, on chance or on keys are not known here (None).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import posixpath
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from policylint import regex
from policylint.patterns import Pattern
from policylint.render.go_template.functions import Function, Int64, Open, TextMap, WithMethods, is_true
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import NilList, UncertainError, Unordered, as_json, in_order, quoted, shown
from policylint.render.go_template.semver import SemverError, compared

_SPECIAL = Pattern(r"[\\.+*?()|\[\]{}^$]")
"""What Go's QuoteMeta escapes."""
_BEYOND = 1 << 63
_MOST_DIGITS = 20
"""Digits that no int64 has."""
_INTEGER = Pattern(r"[+-]?[0-9]+")
_MOST = 200_000
"""Characters, or items, that one call may make."""


def _bounded(length: int) -> None:
    if length > _MOST:
        raise UncertainError("it grows too long")


def _ascii(text: str) -> str:
    """Return a text whose parts are counted in bytes, where these are its characters."""
    if not text.isascii():
        raise UncertainError("a part of a text that is not ASCII")
    return text


def _default(fallback: Any, *given: Any) -> Any:
    return given[0] if given and is_true(given[0]) else fallback


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [shown(each) for each in value if each is not None]
    return [] if value is None else [shown(value)]


def _truncated(count: int, text: str) -> str:
    if abs(count) >= len(text.encode()):
        return text
    return _ascii(text)[count:] if count < 0 else _ascii(text)[:count]


def _substring(start: int, end: int, text: str) -> str:
    text = _ascii(text)
    if start < 0:
        if not 0 <= end <= len(text):
            raise TemplateError("slice bounds out of range")
        return text[:end]
    if start > len(text) or (0 <= end < start):
        raise TemplateError("slice bounds out of range")
    return text[start:] if end < 0 or end > len(text) else text[start:end]


def _repeated(count: int, text: str) -> str:
    if count < 0:
        raise TemplateError("strings: negative Repeat count")
    _bounded(count * len(text))
    return text * count


def _replaced(old: str, new: str, text: str) -> str:
    _bounded((text.count(old) if old else len(text) + 1) * len(new) + len(text))
    return text.replace(old, new)


def _indented(count: int, text: str) -> str:
    if count < 0:
        raise TemplateError("strings: negative Repeat count")
    _bounded(count * (text.count("\n") + 1) + len(text))
    pad = " " * count
    return pad + text.replace("\n", f"\n{pad}")


def _title(text: str) -> str:
    made, after = [], False
    for character in text:
        made.append(character if after else character.title())
        after = character.isalnum() or character == "_" or not (character.isascii() or character.isspace())
    return "".join(made)


def _untitle(text: str) -> str:
    return "".join(
        character.lower() if not index or text[index - 1].isspace() else character
        for index, character in enumerate(text)
    )


def _split(separator: str, text: str, most: int = -1) -> list[str]:
    if not most:
        return []
    if not separator:
        return list(text) if most < 0 or most >= len(text) else [*text[: most - 1], text[most - 1 :]]
    return text.split(separator, most - 1 if most > 0 else -1)


def _numbered(parts: Sequence[str]) -> dict[str, Any]:
    return TextMap({f"_{index}": part for index, part in enumerate(parts)})


def _integer(value: Any) -> Int64:
    """Return what `int64` makes of a value: 0 of what is no number."""
    if isinstance(value, str):
        plain = value.strip("+-").lstrip("0") if _INTEGER.fullmatch(value) else ""
        if not _INTEGER.fullmatch(value) and value:
            raise UncertainError(f"a number of {value[:20]!r}")
        number = int(plain or 0) if len(plain) < _MOST_DIGITS else _BEYOND
        number = -number if value.startswith("-") else number
        return Int64(number if -_BEYOND <= number < _BEYOND else 0)  # cast.ToInt64: 0 of what does not fit
    if isinstance(value, float):
        if not -_BEYOND <= value < _BEYOND:
            raise UncertainError("a number that no int64 holds")
        return Int64(math.trunc(value))
    return Int64(value) if isinstance(value, (bool, int)) else Int64(0)


def _float(value: Any) -> float:
    if isinstance(value, str):
        number = float(value) if value.replace(".", "", 1).lstrip("-").isdecimal() else 0.0
        return number if math.isfinite(number) else 0.0  # cast.ToFloat64: 0 of what does not fit
    return _finite(float(value)) if isinstance(value, (bool, int, float)) else 0.0


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise UncertainError("a number that is infinite, or none")
    return number


def _quotient(one: Any, two: Any) -> Int64:
    if not _integer(two):
        raise TemplateError("integer divide by zero")
    whole = abs(_integer(one)) // abs(_integer(two))
    return Int64(-whole if (_integer(one) < 0) != (_integer(two) < 0) else whole)


def _remainder(one: Any, two: Any) -> Int64:
    if not _integer(two):
        raise TemplateError("integer divide by zero")
    rest = abs(_integer(one)) % abs(_integer(two))
    return Int64(-rest if _integer(one) < 0 else rest)


def _rounded(value: Any, places: int, *on: float) -> float:
    if abs(places) > 15:
        raise UncertainError("so many places")
    power = 10.0**places
    digit = _finite(power * _float(value))
    part = math.modf(digit)[0]
    return (math.ceil(digit) if part >= (on[0] if on else 0.5) else math.floor(digit)) / power


def _until(start: int, stop: int, step: int) -> list[int]:
    if (stop < start) == (step >= 0) or not step:
        return []
    numbers = range(start, stop, step)
    _bounded(len(numbers))
    return list(numbers)


def _sequence(*given: int) -> str:
    if not given or len(given) > 3:
        return ""
    start, end = (1, given[0]) if len(given) == 1 else (given[0], given[-1])
    step = -1 if end < start else 1
    if len(given) == 3:
        if step < 0 < given[1]:
            return ""
        return " ".join(map(str, _until(start, end + step, given[1])))
    return " ".join(map(str, _until(start, end + step, step)))


def _unique(values: list[Any]) -> list[Any]:
    made: list[Any] = []
    for value in values:
        if not _holds(made, value):
            made.append(value)
    return made


def _holds(values: Sequence[Any], value: Any) -> bool:
    return any(type(each) is type(value) and each == value for each in values)


def _has(value: Any, values: Any) -> bool:
    if values is None:
        return False
    if not isinstance(values, list):
        raise TemplateError("Cannot find has on what is no list")
    return _holds(values, value)


def _slice(values: list[Any], *bounds: Any) -> Any:
    if not values:
        return None
    start = int(_integer(bounds[0])) if bounds else 0
    end = int(_integer(bounds[1])) if len(bounds) > 1 else len(values)
    if not 0 <= start <= end <= len(values):
        raise UncertainError("a slice beyond its end")
    return values[start:end]


def _chunks(size: int, values: list[Any]) -> list[Any]:
    if size < 1:
        raise UncertainError("chunks of no size")
    return [values[start : start + size] for start in range(0, len(values), size)]


def _mapping(*given: Any) -> dict[str, Any]:
    if any(isinstance(name, (list, dict)) for name in given[::2]):
        raise UncertainError("a key that is no text")
    names = [shown(name) for name in given[::2]]
    values = [*given[1::2], *([""] if len(given) % 2 else [])]
    return dict(zip(names, values, strict=True))


def _known(mapping: dict[str, Any], key: str) -> bool:
    if key not in mapping and isinstance(mapping, Open):
        raise UncertainError(f"{key} was not seen")
    return key in mapping


def _set(mapping: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    mapping[key] = value
    return mapping


def _unset(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    mapping.pop(key, None)
    return mapping


def _whole(value: Any) -> Any:
    """Return a value of which everything was seen."""
    pending = [value]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Open):
            raise UncertainError("not all of it was seen")
        pending += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ()
    return value


def _keys(*mappings: dict[str, Any]) -> list[str]:
    """Return the keys: Go has them in no order, so that they are known only where there is at most one."""
    made = [key for mapping in mappings for key in _whole(mapping)]
    return Unordered(made) if len(made) > 1 else made


def _values(mapping: dict[str, Any]) -> list[Any]:
    made = list(_whole(mapping).values())
    return Unordered(made) if len(made) > 1 else made


def _sorted(values: Any) -> list[str]:
    if isinstance(values, NilList):
        return values
    return sorted(_texts(values), key=str.encode) if isinstance(values, list) else [shown(values)]


def _dig(*given: Any) -> Any:
    if (
        len(given) < 3
        or not isinstance(given[-1], dict)
        or isinstance(given[-1], TextMap)
        or not all(isinstance(each, str) for each in given[:-2])
    ):
        raise TemplateError("dig needs keys, a default and a mapping")
    value: Any = given[-1]
    for key in given[:-2]:
        if not isinstance(value, dict):
            raise TemplateError(f"dig: what is to have {key} is no mapping")
        if not _known(value, key):
            return given[-2]
        value = value[key]
    return value


def _merged(mapping: dict[str, Any], *others: dict[str, Any], over: bool) -> dict[str, Any]:
    """Merge others into a mapping as mergo does: what is empty is filled in, or everything replaced (`over`)."""
    for other in others:
        for key, value in _whole(other).items():
            held = mapping.get(key)
            if value is None:
                if over:
                    mapping[key] = None
                continue
            if isinstance(held, dict) and isinstance(value, dict):
                _merged(held, value, over=over)
                if held:
                    continue
            if over or not is_true(held):
                mapping[key] = value
    return mapping


def _copied(value: Any) -> Any:
    if isinstance(value, dict) and not isinstance(value, WithMethods):
        return type(value)({key: _copied(inner) for key, inner in value.items()})
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _of_json(text: str) -> Any:
    from policylint.render.go_template.running import of_json

    try:
        return of_json(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _must_of_json(text: str) -> Any:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise TemplateError("it is no JSON") from None
    return _of_json(text)


def _decoded(decode: Callable[[bytes], bytes]) -> Callable[[str], str]:
    def decoded(text: str) -> str:
        try:
            return decode(text.encode()).decode()
        except (binascii.Error, ValueError) as error:
            raise UncertainError(str(error)) from None

    return decoded


def _cleaned(path: str) -> str:
    made = posixpath.normpath(path) if path else "."
    return made.replace("//", "/", 1) if made.startswith("//") else made


def _base(path: str) -> str:
    plain = path.rstrip("/")
    return plain.rpartition("/")[2] or ("/" if path else ".")


def _directory(path: str) -> str:
    return _cleaned(path[: path.rfind("/") + 1])


def _extension(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


def _kind(value: Any) -> str:
    if value is None:
        return "invalid"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Int64):
        return "int64"
    kinds = ((str, "string"), (int, "int"), (float, "float64"), (dict, "map"), (list, "slice"))
    return next(kind for of, kind in kinds if isinstance(value, of))


def _type(value: Any) -> str:
    if isinstance(value, (TextMap, Unordered)) or (isinstance(value, list) and value and isinstance(value[0], int)):
        raise UncertainError("the type of a value")
    return {"map": "map[string]interface {}", "slice": "[]interface {}", "invalid": "<nil>"}.get(
        _kind(value), _kind(value)
    )


def _pieces(pattern: str, text: str, *, must: bool = False) -> list[str]:
    """Return what lies between the places that an expression finds, and these, by turns."""
    pieces = regex.pieces(pattern, text)
    if pieces is None:
        if regex.expression(pattern).refusal:
            raise TemplateError(f"{pattern[:40]!r} is no expression")  # sprig panics, too
        raise UncertainError(f"whether {pattern[:40]!r} matches")
    del must
    return pieces


def _matches(pattern: str, text: str) -> bool:
    found = regex.expression(pattern).is_within(text)
    if found is None:
        if regex.expression(pattern).refusal:
            return False
        raise UncertainError(f"whether {pattern[:40]!r} matches")
    return found


def _must_match(pattern: str, text: str) -> bool:
    _pieces(pattern, "")
    return _matches(pattern, text)


def _found(pattern: str, text: str, most: int) -> list[str]:
    found = _pieces(pattern, text)[1::2]
    return (found if most < 0 else found[:most]) or NilList()


def _rewritten(pattern: str, text: str, template: str) -> str:
    _pieces(pattern, text)
    made = regex.expanded(pattern, text, template)
    _bounded(len(made))
    return made


def _literally(pattern: str, text: str, new: str) -> str:
    pieces = _pieces(pattern, text)
    _bounded(len(pieces) * len(new) + len(text))
    return new.join(pieces[::2])


def _cut(pattern: str, text: str, most: int) -> list[str]:
    """Return the parts of a text as Go's `Regexp.Split` cuts it: not at what is empty before the first character."""
    pieces = _pieces(pattern, text)
    if most == 0:
        return NilList()
    if pattern and not text:
        return [""]
    found = list(zip(pieces[::2], pieces[1::2], strict=False))
    made: list[str] = []
    begin = end = at = 0
    for before, place in found if most < 0 else found[:most]:
        if 0 < most <= len(made) + 1:
            break
        end = at + len(before)
        at = end + len(place)
        if at:
            made.append(text[begin:end])
        begin = at
    return made if end == len(text) else [*made, text[begin:]]


def _satisfies(constraint: str, version: str) -> bool:
    try:
        return compared(constraint, version)
    except SemverError as error:
        raise TemplateError(str(error)) from None


def _failed(message: str) -> str:
    raise TemplateError(f"fail: {message}")


def _joined(separator: str, values: Any) -> str:
    made = separator.join(_texts(in_order(values) if isinstance(values, list) else values))
    _bounded(len(made))
    return made


def _url(text: str) -> dict[str, Any]:
    from urllib.parse import urlsplit

    if "%" in text or not text.isascii() or any(character.isspace() for character in text):
        raise UncertainError("a URL with escapes")
    parts = urlsplit(text)
    user, _, host = parts.netloc.rpartition("@")
    return {
        "scheme": parts.scheme,
        "host": host,
        "hostname": host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host,
        "path": parts.path,
        "query": parts.query,
        "opaque": "",
        "fragment": parts.fragment,
        "userinfo": user,
    }


def _hash(algorithm: str) -> Callable[[str], str]:
    return lambda text: hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()


def _initials(text: str) -> str:
    return "".join(
        character
        for index, character in enumerate(_ascii(text))
        if not character.isspace() and (not index or text[index - 1].isspace())
    )


def _quoted(*values: Any) -> str:
    return " ".join(quoted(shown(value)) for value in values if value is not None)


def _single_quoted(*values: Any) -> str:
    return " ".join(f"'{shown(value)}'" for value in values if value is not None)


def _listed(values: Any) -> list[Any]:
    """Return a list in an order that is known."""
    if not isinstance(values, list):
        raise TemplateError("it is no list")
    return in_order(values)


def _of_list(made: Callable[..., Any]) -> Callable[..., Any]:
    return lambda values, *rest: made(_listed(values), *rest)


_LISTS: Final[Mapping[str, Function]] = {
    "append": Function("aa", lambda values, value: [*_listed(values), value]),
    "prepend": Function("aa", lambda values, value: [value, *_listed(values)]),
    "first": Function("a", _of_list(lambda values: values[0] if values else None)),
    "last": Function("a", _of_list(lambda values: values[-1] if values else None)),
    "rest": Function("a", _of_list(lambda values: values[1:] if values else NilList())),
    "initial": Function("a", _of_list(lambda values: values[:-1] if values else NilList())),
    "reverse": Function("a", _of_list(lambda values: values[::-1])),
    "uniq": Function("a", _of_list(_unique)),
    "compact": Function("a", _of_list(lambda values: [each for each in values if is_true(each)])),
    "without": Function("aa*", lambda values, *others: [each for each in _listed(values) if not _holds(others, each)]),
    "has": Function("aa", _has),
    "slice": Function("aa*", lambda values, *bounds: _slice(_listed(values), *bounds)),
    "chunk": Function("ia", lambda size, values: _chunks(size, _listed(values))),
}
_JSON: Final[Mapping[str, Function]] = {
    "toJson": Function("a", lambda value: as_json(_whole(value))),
    "toPrettyJson": Function("a", lambda value: as_json(_whole(value), indent=2)),
    "toRawJson": Function("a", lambda value: as_json(_whole(value), escapes=False)),
    "deepCopy": Function("a", _copied),
    "merge": Function("dd*", lambda mapping, *others: _merged(mapping, *others, over=False)),
    "mergeOverwrite": Function("dd*", lambda mapping, *others: _merged(mapping, *others, over=True)),
    "regexFindAll": Function("ssi", _found),
    "regexFind": Function("ss", lambda pattern, text: "".join(_found(pattern, text, 1))),
    "regexReplaceAll": Function("sss", _rewritten),
    "regexReplaceAllLiteral": Function("sss", _literally),
    "regexSplit": Function("ssi", _cut),
}
_UNKNOWN: Final = """
ago date date_in_zone date_modify dateInZone dateModify duration durationRound htmlDate htmlDateInZone
must_date_modify mustDateModify mustToDate now toDate unixEpoch abbrev abbrevboth randAlphaNum randAlpha randAscii
randNumeric shuffle snakecase camelcase kebabcase wrap wrapWith toDecimal randInt add1f addf subf divf mulf typeOf
typeIs typeIsLike bcrypt htpasswd genPrivateKey derivePassword buildCustomCert genCA genCAWithKey genSelfSignedCert
genSelfSignedCertWithKey genSignedCert genSignedCertWithKey encryptAES decryptAES randBytes uuidv4 semver urlJoin
swapcase osBase osClean osDir osExt osIsAbs
"""
"""Functions that depend on the time, on chance or on keys, and rare ones."""
FUNCTIONS: Final[Mapping[str, Function | None]] = {
    **dict.fromkeys(_UNKNOWN.split()),
    **_LISTS,
    **_JSON,
    **{f"must{name[0].upper()}{name[1:]}": function for name, function in (*_LISTS.items(), *_JSON.items())},
    "push": _LISTS["append"],
    "mustPush": _LISTS["append"],
    "hello": Function("", lambda: "Hello!"),
    "fail": Function("s", _failed),
    # TextMap.
    "upper": Function("s", str.upper),
    "lower": Function("s", str.lower),
    "title": Function("s", _title),
    "untitle": Function("s", _untitle),
    "trim": Function("s", lambda text: text.strip()),
    "trimAll": Function("ss", lambda cut, text: text.strip(cut) if cut else text),
    "trimall": Function("ss", lambda cut, text: text.strip(cut) if cut else text),
    "trimPrefix": Function("ss", lambda prefix, text: text.removeprefix(prefix)),
    "trimSuffix": Function("ss", lambda suffix, text: text.removesuffix(suffix)),
    "trunc": Function("is", _truncated),
    "substr": Function("iis", _substring),
    "repeat": Function("is", _repeated),
    "nospace": Function("s", lambda text: "".join(text.split())),
    "initials": Function("s", _initials),
    "contains": Function("ss", lambda part, text: part in text),
    "hasPrefix": Function("ss", lambda prefix, text: text.startswith(prefix)),
    "hasSuffix": Function("ss", lambda suffix, text: text.endswith(suffix)),
    "quote": Function("a*", _quoted),
    "squote": Function("a*", _single_quoted),
    "cat": Function("a*", lambda *values: " ".join(shown(value) for value in values if value is not None)),
    "indent": Function("is", _indented),
    "nindent": Function("is", lambda count, text: "\n" + _indented(count, text)),
    "replace": Function("sss", _replaced),
    "plural": Function("ssi", lambda one, many, count: one if count == 1 else many),
    "toString": Function("a", lambda value: shown(_whole(value))),
    "sha1sum": Function("s", _hash("sha1")),
    "sha256sum": Function("s", _hash("sha256")),
    "sha512sum": Function("s", _hash("sha512")),
    "adler32sum": Function("s", lambda text: str(zlib.adler32(text.encode()))),
    "b64enc": Function("s", lambda text: base64.b64encode(text.encode()).decode()),
    "b64dec": Function("s", _decoded(lambda data: base64.b64decode(data, validate=True))),
    "b32enc": Function("s", lambda text: base64.b32encode(text.encode()).decode()),
    "b32dec": Function("s", _decoded(base64.b32decode)),
    # Expressions and versions.
    "regexMatch": Function("ss", _matches),
    "mustRegexMatch": Function("ss", _must_match),
    "regexQuoteMeta": Function("s", lambda text: _SPECIAL.sub(r"\\\g<0>", text)),
    "semverCompare": Function("ss", _satisfies),
    # TextMap and lists.
    "join": Function("sa", _joined),
    "split": Function("ss", lambda separator, text: _numbered(_split(separator, text))),
    "splitn": Function("sis", lambda separator, most, text: _numbered(_split(separator, text, most))),
    "splitList": Function("ss", lambda separator, text: _split(separator, text)),
    "toStrings": Function("a", lambda value: _texts(_listed(value) if isinstance(value, list) else value)),
    "sortAlpha": Function("a", _sorted),
    # Lists.
    "list": Function("a*", lambda *values: list(values)),
    "tuple": Function("a*", lambda *values: list(values)),
    "concat": Function("a*", lambda *lists: [each for values in lists for each in _listed(values)] or NilList()),
    "until": Function("i", lambda count: _until(0, count, -1 if count < 0 else 1)),
    "untilStep": Function("iii", _until),
    "seq": Function("i*", _sequence),
    # Mappings.
    "dict": Function("a*", _mapping),
    "get": Function("ds", lambda mapping, key: mapping[key] if _known(mapping, key) else ""),
    "set": Function("dsa", _set),
    "unset": Function("ds", _unset),
    "hasKey": Function("ds", _known),
    "pluck": Function("sd*", lambda key, *mappings: [each[key] for each in mappings if _known(each, key)]),
    "keys": Function("d*", _keys),
    "values": Function("d", _values),
    "pick": Function("ds*", lambda mapping, *names: {name: mapping[name] for name in names if _known(mapping, name)}),
    "omit": Function(
        "ds*", lambda mapping, *names: {key: each for key, each in _whole(mapping).items() if key not in names}
    ),
    "dig": Function("a*", _dig),
    # Numbers.
    "atoi": Function("s", lambda text: int(_integer(text)) if _INTEGER.fullmatch(text) else 0),
    "int": Function("a", lambda value: int(_integer(value))),
    "int64": Function("a", _integer),
    "float64": Function("a", _float),
    "add": Function("a*", lambda *values: Int64(sum(map(_integer, values)))),
    "add1": Function("a", lambda value: Int64(_integer(value) + 1)),
    "sub": Function("aa", lambda one, two: Int64(_integer(one) - _integer(two))),
    "mul": Function("aa*", lambda *values: Int64(math.prod(map(_integer, values)))),
    "div": Function("aa", _quotient),
    "mod": Function("aa", _remainder),
    "max": Function("aa*", lambda *values: max(map(_integer, values))),
    "biggest": Function("aa*", lambda *values: max(map(_integer, values))),
    "min": Function("aa*", lambda *values: min(map(_integer, values))),
    "maxf": Function("aa*", lambda *values: max(map(_float, values))),
    "minf": Function("aa*", lambda *values: min(map(_float, values))),
    "ceil": Function("a", lambda value: float(math.ceil(_float(value)))),
    "floor": Function("a", lambda value: float(math.floor(_float(value)))),
    "round": Function("aia*", _rounded),
    # Choices.
    "default": Function("aa*", _default),
    "empty": Function("a", lambda value: not is_true(value)),
    "coalesce": Function("a*", lambda *values: next(filter(is_true, values), None)),
    "all": Function("a*", lambda *values: all(map(is_true, values))),
    "any": Function("a*", lambda *values: any(map(is_true, values))),
    "ternary": Function("aab", lambda one, other, condition: one if condition else other),
    "typeOf": Function("a", _type),
    "typeIs": Function("sa", lambda kind, value: _type(value) == kind),
    "kindOf": Function("a", _kind),
    "kindIs": Function("sa", lambda kind, value: _kind(value) == kind),
    "deepEqual": Function("aa", lambda one, other: _holds([_whole(one)], _whole(other))),
    "fromJson": Function("s", _of_json),
    "mustFromJson": Function("s", _must_of_json),
    # Paths.
    "base": Function("s", _base),
    "dir": Function("s", _directory),
    "clean": Function("s", _cleaned),
    "ext": Function("s", _extension),
    "isAbs": Function("s", lambda path: path.startswith("/")),
    "urlParse": Function("s", _url),
}
"""By name; None for one of which it is not known here what it returns."""
