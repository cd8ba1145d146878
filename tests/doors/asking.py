"""What a world of doors answers a request, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from policylint.simulation import Simulation
from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.worlds import manifest

NGINX = "nginx.ingress.kubernetes.io/"


def ingress(
    name: str = "web",
    paths: str = "/ Prefix web",
    host: str = "shop.example.com",
    *,
    namespace: str = "shop",
    tls: bool = False,
    of_class: str = "nginx",
    more: str = "",
    prefix: str = NGINX,
    **annotations: str,
) -> str:
    """Return an Ingress.

    Args:
        paths: each as `path type Service`, with commas.
        annotations: of ingress-nginx, with `_` for `-`.
    """
    entries = []
    for path, kind, to in (entry.split() for entry in paths.split(", ") if entry):
        entries.append(
            f"{{path: '{path}', pathType: {kind}, backend: {{service: {{name: {to}, port: {{number: 80}}}}}}}}"
        )
    rule = f"{{{f'host: {chr(39)}{host}{chr(39)}, ' if host else ''}http: {{paths: [{', '.join(entries)}]}}}}"
    fields = [f"ingressClassName: {of_class}" if of_class else "", f"rules: [{rule}]" if entries else "", more]
    fields += [f"tls: [{{hosts: ['{host}'], secretName: cert}}]" if tls else ""]
    notes = ", ".join(f"{prefix}{key.replace('_', '-')}: {value!r}" for key, value in annotations.items())
    body = f"spec: {{{', '.join(filter(None, fields))}}}"
    return manifest("networking.k8s.io/v1", "Ingress", name, namespace, body, more=f"annotations: {{{notes}}}")


def answer(
    simulation: Simulation,
    url: str,
    client: str = "",
    headers: Sequence[str] = (),
    gateway: str = "",
    method: str = "GET",
) -> tuple[str, str]:
    """Return where a request ends, and what it is asked for to prove who sends it."""
    tracer = Tracer(simulation, nearest=False)
    trace = tracer.trace(from_url(method, url, headers, client=client, gateway=gateway))
    ended = trace.outcome
    if ended.redirect is not None:
        there = ended.redirect
        port = f":{there.port}" if there.port else ""
        return f"{there.status} {there.scheme}://{there.host}{port}{there.path}", ""
    if ended.backends:
        shares = [f"{key.name}{'' if share == 1 else f' {share:.0%}'}" for key, share in ended.backends.items()]
        given = Requirements(tracer).of(trace, "authentication")
        names = " ".join(dict.fromkeys(demand.setting for demand in given.demands))
        return ", ".join(shares), {"asked": names, "optional": f"{names}?", "open": ""}.get(given.state, "not known")
    return ("refused" if ended.refused else "not known" if ended.unknown else str(ended.status)), ""
