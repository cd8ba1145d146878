"""`policylint trace METHOD URL`: what a request meets; many requests from a file, checked where they say `expect`."""

from __future__ import annotations

import click

from policylint.cli.commands import FOUND, OK
from policylint.cli.completing import gateways, services, workloads
from policylint.cli.options import INPUT, OUTPUT, Command, option, reading, showing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from policylint.trace import Request

ASKED = "What is asked"


@click.command(
    cls=Command,
    options_metavar="METHOD URL [OPTIONS]",
    epilog="""\b
Examples:
  policylint trace GET https://shop.example.com/checkout -H 'x-canary: 1'
  policylint trace GET http://cart.shop/ --from Deployment/shop/web --to Service/shop/cart
  policylint trace grpc https://api.example.com/pkg.Service/Method
  policylint trace --requests requests.yaml --check clusters/prod
  policylint trace GET https://shop.example.com/checkout --at main..

\b
Exit codes: 0, 1 a request does not do what `expect` says (--check), 2 wrong usage,
3 not done whole.
""",
)
@option(ASKED, "-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header; repeatable.")
@option(
    ASKED,
    "--gateway",
    metavar="GATEWAY",
    default="",
    shell_complete=gateways,
    help="Only this Gateway. Default: all that listen for the host.",
)
@option(
    ASKED,
    "--from",
    "client",
    metavar="KIND/NAMESPACE/NAME",
    default="",
    shell_complete=workloads,
    help="Mesh traffic of this workload; the Service is --to, else that of the URL's host.",
)
@option(
    ASKED,
    "--to",
    "service",
    metavar="SERVICE",
    default="",
    shell_complete=services,
    help="The Service that mesh traffic is for.",
)
@option(
    ASKED,
    "--requests",
    "file",
    metavar="FILE",
    type=click.Path(path_type=str, allow_dash=True),
    help="Many requests: a YAML or JSON list of {method, host, path, …}.",
)
@option(ASKED, "--check", is_flag=True, help="Exit 1 if a request of FILE does not do what its `expect` says.")
@reading
@option(INPUT, "--at", "revision", metavar="REV", default="", help="As of a git revision; A..B compares two.")
@option(
    OUTPUT,
    "-o",
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Format on stdout.",
)
@showing
def trace(
    headers: tuple[str, ...],
    gateway: str,
    client: str,
    service: str,
    file: str | None,
    check: bool,
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    revision: str,
    form: str,
    color: str,
    verbose: bool,
    timing: bool,
) -> int:
    """Show what a request meets: listener, route, rule, policies, filters, backend.

    With --requests, all words are PATHs; else what follows METHOD and URL is. PATH is a directory, a file, or `-` for
    rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.opening import Clock, describe, enter
    from policylint.cli.streams import page_width, put, say, wants_color
    from policylint.cli.trace_at import opened_at, sides
    from policylint.report.kit.display import Paint
    from policylint.trace import RequestError

    clock = Clock()
    words, places = paths, paths
    enter(directory)
    try:
        if file is not None:
            asked = _from_file(file)
        elif len(words) >= 2:
            asked = [(_one(words[0], words[1], headers, gateway, client, service), {})]
            places = words[2:]
        else:
            raise click.UsageError("what is asked? METHOD URL, as in: policylint trace GET https://shop.example.com/")
        if check and not any(expect for _, expect in asked):
            raise click.UsageError("--check needs --requests FILE with an `expect` beside the requests")
        two = sides(revision)
        workspace = opened_at(two[1] if two else revision, places, None, semantics, snapshot)
        former = opened_at(two[0], places, None, semantics, snapshot) if two else None
        clock.lap("read and simulate")
        from policylint.report.trace import Traced, write

        traced = Traced.of(workspace.simulations, asked, check=check)
        if two and former is not None:
            traced = traced._replace(before=(two[0], Traced.of(former.simulations, asked)))
    except RequestError as error:
        raise click.UsageError(str(error)) from None
    clock.lap("trace")
    for piece in write(form, traced, Paint(wants_color(color)), page_width()):
        put(piece)
    if verbose:
        describe(workspace.coverage)
    if timing:
        for line in clock.lines():
            say(line)
    return FOUND if traced.failed else OK


def _one(method: str, url: str, headers: tuple[str, ...], gateway: str, client: str, service: str) -> Request:
    from policylint.trace import from_url

    if client and not service:
        from urllib.parse import urlsplit

        service = _service_of(urlsplit(url if "://" in url else f"http://{url}").hostname or "", client)
    return from_url(method, url, headers, gateway=gateway, client=client, service=service)


def _service_of(host: str, client: str) -> str:
    """The Service that a host name inside the cluster means: `cart`, `cart.shop`, `cart.shop.svc.cluster.local`."""
    parts = host.split(".")
    if len(parts) > 1:
        return f"Service/{parts[1]}/{parts[0]}"
    namespace = client.replace(" ", "/", 1).split("/")[1:-1]
    return f"Service/{namespace[0]}/{host}" if namespace else f"Service/{host}"


def _from_file(file: str) -> list[tuple[Request, dict[str, Any]]]:
    """The requests of a file, each with what is expected of it.

    Raises:
        click.UsageError: the file cannot be read or holds no list of requests.
    """
    import sys

    import yaml

    from policylint.trace import RequestError, request

    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:  # noqa: PTH123 - pathlib is not imported for this
                data = stream.read()
        listed = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise click.UsageError(f"cannot read {file!r}: {(error.strerror or str(error)).lower()}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise click.UsageError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    if isinstance(listed, dict) and isinstance(listed.get("requests"), list):
        listed = listed["requests"]
    if not isinstance(listed, list):
        raise click.UsageError(f"{file}: a list of requests is wanted")
    found = []
    for number, each in enumerate(listed, 1):
        try:
            expect = each.get("expect") if isinstance(each, dict) else None
            found.append((request(each), expect if isinstance(expect, dict) else {}))
        except RequestError as error:
            raise click.UsageError(f"{file}: request {number}: {error}") from None
    return found
