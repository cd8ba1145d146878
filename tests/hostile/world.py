"""One world whose every text is chosen by a stranger: names, settings, labels, comments, files, configuration."""

# ruff: noqa: E501 - texts that are one piece
from __future__ import annotations

import json
from pathlib import Path

from tests.worlds import GATEWAY_API, gateway_class, manifest

FORGED = "FORGED"
"""The first word of every line that a text tries to begin."""
SHA = "0123456789abcdef0123456789abcdef01234567"
TEXTS = {
    "markdown": f"[a](https://evil.example) ![i](https://evil.example/i.png)|a|`b` ``c``` # @octocat #1 GH-1 {SHA} o/r#2 "
    f"$`x`$ $$y$$ [z](javascript:alert) www.evil.example a@evil.example **b** _i_ ~~s~~ <b title=x <!-- c \\",
    "block": f"x\n\n### {FORGED}\n\n- {FORGED}\n\n```\n~~~\n| {FORGED} |\n|---|\n| a |\n</details>\n<!-- policylint:v1 key=default -->\n"
    f"{FORGED}",
    "html": f"</script><script>window.{FORGED}=1</script><img src=x onerror=window.{FORGED}=1>\"' style='x' </style></title></svg>"
    "<svg onload=window.FORGED=1><a href='javascript:window.FORGED=1'>a</a> &lt; &amp; &#60;",
    "open": f"&amp; <img src=x onerror=window.{FORGED}=1 title='\\\" ",
    "controls": "\x1b[31m \x1b]8;;https://evil.example\x1b\\x \x9b31m \x9d8;;x\x9c \x07\x08\x7f\x85 \r" + FORGED,
    "unseen": "a\u202eb\u202ac\u2066d\u2069 e\u200bf\u200dg\u200fh\ufeffi\u2028" + FORGED + "\u2029" + FORGED + "\u061c\U000e0041",
    "commands": f"x\n::error file=x::{FORGED}\n \t::set-output name=exit-code::0\r::add-mask::e\n##[error]{FORGED} %0A::error::{FORGED}",
    "pictures": f'"] end\n{FORGED}\n%%{{init: {{"theme": "x"}}}}%%\nclick n1 href "javascript:alert(1)"\nsubgraph x["\n\\"]; evil [label=<<b>'
    'x</b>>, URL="javascript:1"]; } // \\N \\E --> }}; #34; #quot; :::left /* \\',
    "data": '", "version": "x", "results": [{}], {"a": 1} ]]> -->  <!DOCTYPE x [<!ENTITY y "z">]> &y; &#x1b; \x00\ufffe\uffff '
    "[x](1) \\](javascript:1) {0} {{x}} =cmd|' /C calc'!A0 --- ... - & * ! % @ ` : # '",
}  # fmt: skip
HARMLESS = {
    (False, False, False): "a Harmless, Text",
    (False, True, False): "a Harmless Text",
    (True, True, False): "a <harmless> Text",
    (True, True, True): "a <Harmless> Text",
}
"""By whether the text looks like a placeholder, which is never missing or malformed, like one for a host, and like one
in what is compared."""
ENVOY = "gateway.envoyproxy.io"


def written(text: str) -> dict[str, str]:
    """Return the files of a world in which the text stands wherever one may be chosen, at the end of a plain word."""

    def said(word: str) -> str:
        return json.dumps(f"{word} {text}")

    def target(kind: str, name: str) -> str:
        return f"targetRefs: [{{group: {GATEWAY_API}, kind: {kind}, name: {name}}}]"

    listeners = (
        f"[{{name: {said('l')}, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}},"
        f" {{name: {said('m')}, port: 443, protocol: HTTPS, hostname: {said('h')}, tls: {{certificateRefs: [{{name: {said('c')}}}]}}}}]"
    )
    rule = (
        f"{{name: {said('r')}, matches: [{{"
        f"headers: [{{name: {said('x')}, value: {said('v')}}}]}}], backendRefs: [{{name: {said('service')}, port: 80}}]}}"
    )
    metadata = f"labels: {{{said('k')}: {said('v')}}}, annotations: {{{said('note')}: {said('v')}}}"
    comment = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    comment = "".join(char if char.isprintable() else "?" for char in comment)
    documents = [
        gateway_class("envoy", f"{ENVOY}/gatewayclass-controller"),
        manifest(f"{GATEWAY_API}/v1", "Gateway", said("gateway"), "infra",
                 f"spec: {{gatewayClassName: envoy, listeners: {listeners}}}", more=metadata),
        manifest("v1", "Service", said("service"), said("space"), "spec: {ports: [{port: 80}]}", more=metadata),
        manifest(f"{GATEWAY_API}/v1", "HTTPRoute", said("route"), said("space"),
                 f"spec: {{parentRefs: [{{name: {said('gateway')}, namespace: infra}}, {{name: {said('nowhere')}}}],"
                 f" hostnames: [{said('host')}], rules: [{rule}]}}", more=metadata),
        manifest(f"{GATEWAY_API}/v1", "HTTPRoute", said("plain"), "shop",
                 f"spec: {{parentRefs: [{{name: {said('gateway')}, namespace: infra}}],"
                 f" rules: [{{backendRefs: [{{name: {said('service')}, namespace: {said('space')}, port: 80}}]}}]}}"),
        manifest(f"{ENVOY}/v1alpha1", "SecurityPolicy", said("edge"), "infra",
                 f"spec: {{{target('Gateway', said('gateway'))}, jwt: {{providers: [{{name: j, audiences: [{said('i')}]}}]}}}}"),
        manifest(f"{ENVOY}/v1alpha1", "SecurityPolicy", said("lost"), "shop",
                 f"spec: {{{target('HTTPRoute', said('chekout'))}, {said('field')}: {said('v')}}}"),
        manifest(f"{ENVOY}/v1alpha1", "BackendTrafficPolicy", said("limits"), said("space"),
                 f"# policylint: ignore[GWP501] reason {comment}\n"
                 f"spec: {{{target('HTTPRoute', said('route'))}, timeout: {{http: {{requestTimeout: {said('5s')}}}}}, {said('f')}: {said('v')}}}",
                 more=metadata),
        manifest("example.net/v1", json.dumps(f"Own{''.join(filter(str.isalnum, text))[:9]}Policy"), said("own"), "shop"),
    ]  # fmt: skip
    part = "".join(char for char in text if char not in "/\0" and not "\ud800" <= char <= "\udfff").replace(
        "{{", "{ {"
    )[:60]
    return {
        f"d {part}/f {part}.yaml": "---".join(documents),
        "broken.yaml": f"kind: Gateway\nmetadata: {{name: {said('b')}, name: [}}\n",
        f"d {part}/overlay {part}/kustomization.yaml": f"resources: [{said('../gone')}]\n",
        f"e {part}/f.yaml": gateway_class("envoy", f"{ENVOY}/gatewayclass-controller"),
        ".policylint.yaml": f"environments: [{{name: {said('one')}, roots: [{json.dumps('d ' + part)}]}},"
        f" {{name: {said('two')}, roots: [{json.dumps('e ' + part)}]}}]\n"
        f"ignore: [{{rule: GWP405, resource: '*/nobody', reason: {said('reason')}}}]\n",
    }


CHANGE = f"""---
apiVersion: {ENVOY}/v1alpha1
kind: SecurityPolicy
metadata: {{name: NAME, namespace: SPACE}}
spec:
  targetRefs: [{{group: {GATEWAY_API}, kind: HTTPRoute, name: ROUTE}}]
  cors: {{allowOrigins: [VALUE]}}
  FIELD: VALUE
"""


def changed(text: str) -> dict[str, str]:
    """Return the files after a change: a route loses what a policy gave it, another one is renamed, a policy is new."""
    files = written(text)
    file = next(iter(files))
    words = {"NAME": "own", "SPACE": "space", "ROUTE": "route", "VALUE": "value", "FIELD": "field"}
    change = CHANGE
    for place, word in words.items():
        change = change.replace(place, json.dumps(f"{word} {text}"))
    return files | {file: files[file].replace(json.dumps(f"plain {text}"), json.dumps(f"planer {text}")) + change}


def laid(directory: Path, files: dict[str, str]) -> None:
    """Write the files below a directory."""
    for path, content in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
