"""A grammar of Go templates: calls of all functions of sprig, pipelines, blocks, variables, and their parameters."""

from __future__ import annotations

import json

from tests.witness.grammar import Draw, Manifest

TEMPLATES = 20
"""In each world."""
TEXTS = (
    "shop", "Shop_Web", "web.api-1", "", "a b  c", "apps/shop/base.yaml", "1.2.3", "v1.30.0-rc.1", "42",
    "it's \"q\"", "x,y,,z",
    " padded ", "true", "éclair", "two\nlines", "007", "/etc/x/../y/", "https://u@example.com:8443/p/a?q=1#f",
    "aGVsbG8=",
    '{"a": [1, 2.5], "b": null}', "a: b\nc: [1, two]\n", "3.7", "-5", "foo-bar_baz", "UPPER lower", "$1",
)  # fmt: skip
NUMBERS = (0, 1, 3, 80, -2, 2.5, 99.99, 12.0)
SPECIAL = (*NUMBERS, 1000000, 123456789, 0.00001)
PATTERNS = ("^a", "[a-z]+", "o", "(s)(h)?", "\\\\d+", "x*", "[", "^$", "\\\\.", "(?i)SHOP", "a|b", "")
CONSTRAINTS = (
    ">=1.2", "^1.2.0", "~1.2", "1.x", ">1.0, <2.0", "1.2 - 1.4", ">=1.30-0", "=1.2.3", "!=1.2.3", "*",
    "<2 || >3", "^0.3",
    ">=1.2 <1.3", "x", "", "nope", "~>1", "<=1.2", ">1.2", "^0",
)  # fmt: skip
FORMS = ("%s-%s", "%d", "%v", "%q", "%05d", "%.2f", "%s", "%t", "%%", "%-6s|", "%6s|", "x", "%v/%v", "%.3s")
BY_NAME = {
    "upper": "s", "lower": "s", "title": "s", "untitle": "s", "trim": "s", "nospace": "s", "initials": "s",
    "trimAll": "cs", "trimPrefix": "cs", "trimSuffix": "cs", "trunc": "is", "substr": "iis", "repeat": "is",
    "contains": "cs",
    "hasPrefix": "cs", "hasSuffix": "cs", "quote": "a", "squote": "a", "cat": "aa", "indent": "is", "nindent": "is",
    "replace": "ccs", "plural": "ssi", "toString": "a", "sha256sum": "s", "b64enc": "s", "b64dec": "s",
    "adler32sum": "s",
    "regexMatch": "ps", "regexFind": "ps", "regexFindAll": "psi", "regexReplaceAll": "pss", "regexSplit": "psi",
    "regexReplaceAllLiteral": "pss", "regexQuoteMeta": "s", "semverCompare": "vs", "join": "cl", "splitList": "cs",
    "split": "cs", "splitn": "cis", "toStrings": "a", "sortAlpha": "l", "list": "aaa", "append": "la", "prepend": "la",
    "first": "l", "last": "l", "rest": "l", "initial": "l", "reverse": "l", "uniq": "l", "compact": "l",
    "without": "la",
    "has": "al", "concat": "ll", "until": "i", "untilStep": "iii", "seq": "ii", "dict": "sasa", "get": "mk",
    "hasKey": "ok",
    "set": "mks", "unset": "mk", "pluck": "km", "keys": "m", "values": "m", "pick": "mkk", "omit": "mk", "dig": "kkam",
    "merge": "qq", "mergeOverwrite": "qq", "atoi": "s", "int": "a", "int64": "a", "float64": "a", "add": "aa",
    "add1": "a",
    "sub": "aa", "mul": "aa", "div": "aa", "mod": "aa", "max": "aa", "min": "aa", "ceil": "n", "floor": "n",
    "round": "ni",
    "default": "aa", "empty": "a", "coalesce": "aaa", "all": "aa", "any": "aa", "ternary": "aab", "kindOf": "a",
    "kindIs": "sa", "deepEqual": "aa", "fromJson": "s", "toJson": "a", "toPrettyJson": "a", "toRawJson": "a",
    "base": "s",
    "dir": "s", "clean": "s", "ext": "s", "isAbs": "s", "urlParse": "s", "toYaml": "a", "fromYaml": "s",
    "normalize": "s",
    "slugify": "s", "eq": "aa", "ne": "aa", "lt": "nn", "gt": "nn", "le": "nn", "ge": "nn", "not": "a",
    "and": "aa", "or": "aa",
    "index": "lj", "len": "a", "slice": "lii", "print": "aa", "printf": "fa", "println": "a", "html": "s",
    "urlquery": "s",
    "chunk": "il", "mustFromJson": "s", "mustToJson": "a", "fail": "s", "mustRegexMatch": "ps", "mustFirst": "l",
    "fromYamlArray": "s", "tuple": "aa", "seqs": "i", "lookup": "s", "hello": "",
}  # fmt: skip
"""A letter for each argument: s a text, c a short one, i an int, n a number, b a bool, l a list, m a mapping, o one or
all, q one to merge, k a key, p an expression, v a constraint, f a form, j an index, a anything."""
PIPED = (
    "quote", "upper", "toString", "default \"d\"", "trunc 3", "toJson", "len", "int", "join \"-\"", "first",
    "sortAlpha", "b64enc", "toYaml", "not", "printf \"%v!\"", "add 1", "keys", "print",
)  # fmt: skip


def texts(seed: str, number: int) -> list[Manifest]:
    """Return parameters, and templates that they fill in."""
    draw = Draw("go-templates", seed, number)
    values = {
        "s": draw.of(TEXTS), "t": draw.of(TEXTS), "n": draw.of(NUMBERS), "b": draw.one(True, False), "nil": None,
        "l": draw.some(TEXTS, 4), "x": [draw.of(SPECIAL), draw.of(TEXTS), draw.one(True, None, [], {"a": "b"})],
        "m": {"a": draw.of(TEXTS), "b": {"c": draw.of(SPECIAL), "d": draw.of(TEXTS)}, "e": draw.one("", 0, None, "x")},
        "empty": draw.one([], {}, ""), "path": {"path": "apps/shop", "segments": ["apps", "shop"]},
    }  # fmt: skip
    options = draw.one([], [], [], ["missingkey=error"], ["missingkey=zero"], ["missingkey=invalid"])
    first = {"apiVersion": "v1", "kind": "Parameters", "metadata": {"name": "of"}, "values": values, "options": options}
    return [first, *(_template(draw, index) for index in range(TEMPLATES))]


def _template(draw: Draw, index: int) -> Manifest:
    text = _text(draw)
    return {"apiVersion": "v1", "kind": "Template", "metadata": {"name": f"{index:02}"}, "text": text}


def _text(draw: Draw) -> str:
    call, other = _pipeline(draw), _pipeline(draw)
    value, items = _value(draw, "a"), _value(draw, draw.one("l", "m"))
    each = draw.one("{{.}}", "{{ $.s }}", "<{{ . | toString }}>", "{{ len . }}", "{{ break }}", "{{ continue }}")
    return draw.one(
        *[f"{{{{ {call} }}}}"] * 10,
        f"a {{{{- {call} -}}}} b",
        f"{{{{ if {call} }}}}yes{{{{ else }}}}no{{{{ end }}}}",
        f"{{{{ if {call} }}}}yes{{{{ else if {other} }}}}or{{{{ else }}}}no{{{{ end }}}}",
        f"{{{{ with {value} }}}}{{{{ . }}}}{{{{ else }}}}none{{{{ end }}}}",
        f"{{{{ $v := {call} }}}}[{{{{ $v }}}}]",
        f"{{{{ $v := 1 }}}}{{{{ range .l }}}}{{{{ $v = {value} }}}}{{{{ end }}}}{{{{ $v }}}}",
        f"{{{{ range {_value(draw, 'l')} }}}}{each},{{{{ end }}}}",
        f"{{{{ range $k, $v := {items} }}}}{{{{ $k }}}}={{{{ $v }}}};{{{{ else }}}}none{{{{ end }}}}",
        f'{{{{ define "t" }}}}<{{{{ . }}}}>{{{{ end }}}}{{{{ template "t" {value} }}}}',
        f"{{{{/* about */}}}}{{{{ {call} }}}}{{{{- /* more */ -}}}} end",
        f"{{{{ {draw.one(call + ' )', '( ' + call, '.s.', 'undefined ' + value, '$no', '1 | quote', '.s .t', '')} }}}}",
        f"{{{{ ({call}){draw.one('.a', '.b.c', '.x', '')} }}}}",
    )


def _pipeline(draw: Draw) -> str:
    made = _call(draw, 0)
    for _ in range(draw.one(0, 0, 0, 1, 1, 2)):
        made += f" | {draw.of(PIPED)}"
    return made


def _call(draw: Draw, depth: int) -> str:
    name = draw.of(tuple(BY_NAME))
    letters = BY_NAME[name]
    if draw.often(0.02):
        letters = letters[:-1]
    return " ".join([name, *(_value(draw, letter, depth + 1) for letter in letters)])


def _value(draw: Draw, letter: str, depth: int = 1) -> str:
    """Return an operand of a sort, sometimes of another one."""
    if draw.often(0.04):
        letter = draw.one("s", "i", "n", "l", "m", "b")
    if depth < 3 and draw.often(0.12):
        return f"({_call(draw, depth)})"
    if letter == "a":
        letter = draw.one("s", "s", "i", "n", "b", "l", "m", "none")
    made = {
        "s": (".s", ".t", json.dumps(draw.of(TEXTS), ensure_ascii=False), ".m.a", "`raw`", "(index .l 0)"),
        "c": (json.dumps(draw.one("a", "s", "-", "/", ".", "", ",", "ap", " ", "_")),),
        "i": (str(draw.number(-2, 6)), str(draw.number(0, 3)), "(int .n)"),
        "n": (".n", str(draw.number(0, 5)), "1.5", ".m.b.c", "(float64 .n)"),
        "b": (".b", "true", "false", "(eq 1 1)"),
        "l": (".l", ".x", '(list "b" "a" "b")', "(list 1 2.5 true)", ".empty", ".path.segments", "(list)"),
        "m": (".m", ".m.b", '(dict "a" 1 "z" (dict "c" 2))', ".path", "(dict)"),
        "o": (".", ".m"),
        "q": (
            "(deepCopy .m)",
            "(deepCopy .m.b)",
            '(dict "a" 1 "z" (dict "c" 2))',
            '(dict "b" (dict "c" "x" "y" 0))',
            "(dict)",
        ),
        "k": ('"a"', '"b"', '"c"', '"none"', '"s"'),
        "p": (f'"{draw.of(PATTERNS)}"',),
        "v": (json.dumps(draw.of(CONSTRAINTS)),),
        "f": (json.dumps(draw.of(FORMS)),),
        "j": ("0", "1", "9", '"a"', ".n"),
        "none": (".none", ".nil", ".none.deeper", ".nil.deeper", "nil", ".m.e", ".empty"),
    }[letter]
    return draw.of(made)
