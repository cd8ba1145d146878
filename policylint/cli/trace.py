"""`policylint trace METHOD URL`: what a request meets; many requests from a file, checked where they say `expect`."""

from __future__ import annotations

import os

import click

from policylint.cli.commands import FOUND, INCOMPLETE, OK
from policylint.cli.completing import of_kind, workloads
from policylint.cli.options import Command, at, form_option, option
from policylint.cli.run import Run, reading, showing
from policylint.digits import whole_number
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from policylint.trace import Request

QUERY = "What is asked"


@click.command(
    cls=Command,
    options_metavar="METHOD URL [OPTIONS]",
    examples="""\
  policylint trace GET https://shop.example.com/checkout -H 'x-canary: 1'
  policylint trace GET https://shop.example.com/admin --from 10.1.2.3 --claim groups=admin
  policylint trace GET http://cart.shop/ --from Deployment/shop/web --to Service/shop/cart
  policylint trace grpc https://api.example.com/pkg.Service/Method
  policylint trace --from Deployment/shop/web --to StatefulSet/db/postgres --port 5432
  policylint trace --requests requests.yaml --check clusters/prod
  policylint trace GET https://shop.example.com/checkout --at main..
""",
    exit_codes="""0, 1 a request does not do what `expect` says (--check), 2 wrong usage,
3 incomplete.""",
)
@option(QUERY, "-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header; repeatable.")
@option(
    QUERY,
    "--gateway",
    metavar="GATEWAY",
    default="",
    shell_complete=of_kind("Gateway"),
    help="Only this Gateway. Default: all that listen for the host.",
)
@option(
    QUERY,
    "--from",
    "clients",
    metavar="KIND/NAMESPACE/NAME",
    multiple=True,
    shell_complete=workloads,
    help="Mesh traffic of this workload; the Service is --to, else that of the URL's host. Or a client's address; "
    "given twice, both.",
)
@option(
    QUERY,
    "--claim",
    "claims",
    multiple=True,
    metavar="NAME=VALUE",
    help="A claim of the valid token that it brings; repeatable. '' for no token. Default: those of a JWT in -H.",
)
@option(
    QUERY, "--certificate", metavar="NAME", default="", help="The client shows a certificate, called so in the answer."
)
@option(
    QUERY,
    "--to",
    "service",
    metavar="SERVICE",
    default="",
    shell_complete=of_kind("Service"),
    help="The Service that mesh traffic is for, or the workload whose pods it is sent to.",
)
@option(
    QUERY,
    "--port",
    metavar="PORT",
    default="",
    help="Without METHOD and URL: may --from connect to --to on this port? 5432, udp/53.",
)
@option(
    QUERY,
    "--requests",
    "file",
    metavar="FILE",
    type=click.Path(path_type=str, allow_dash=True),
    help="Many requests: a YAML or JSON list of {method, host, path, …}.",
)
@option(QUERY, "--check", is_flag=True, help="Exit 1 if a request of FILE does not do what its `expect` says.")
@reading
@at("As of a git revision; A..B and A...B compare two.")
@form_option(FORMATS["trace"])
@showing
def trace(
    run: Run,
    headers: tuple[str, ...],
    gateway: str,
    clients: tuple[str, ...],
    claims: tuple[str, ...],
    certificate: str,
    service: str,
    port: str,
    file: str | None,
    check: bool,
    revision: str,
    form: str,
) -> int:
    """Show what a request meets: listener, route, rule, policies, filters, backend.

    With --requests or --port, all words are PATHs; else what follows METHOD and URL is. PATH is a directory, a file, or
    `-` for rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.bearer import claims_in
    from policylint.cli.output import page_width, put, table_width, wants_color
    from policylint.report.kit.display import Paint
    from policylint.session.open import revision_range
    from policylint.trace import from_url

    words, places = run.paths, run.paths
    client, address = _who(clients)
    who: dict[str, Any] = {
        "gateway": gateway,
        "client": client,
        "address": address,
        "service": service,
        "claims": claims or claims_in(headers),
        "certificate": certificate,
    }
    if file is not None:
        requests = _from_file(file)
    elif port:
        requests = [(_connection(client, service, port), {})]
    elif len(words) >= 2 and "://" not in words[0] and "." not in words[0]:
        request = from_url(words[0], words[1], headers, **who)
        requests = [(request, {})]
        places = words[2:]
    elif words and "://" in words[0]:
        request = from_url("GET", words[0], headers, **who)
        requests, places = [(request, {})], words[1:]
    else:
        if words and not os.path.lexists(words[0]):
            raise click.UsageError(f"{words[0]!r} is neither METHOD and URL nor a URL: try https://{words[0]}")
        raise click.UsageError("METHOD and URL are missing, as in: policylint trace GET https://shop.example.com/")
    if check and not any(expect for _, expect in requests):
        raise click.UsageError("--check needs --requests FILE with an `expect` for the requests")
    before, after = revision_range(revision) or (None, revision)
    setup = run.setup(paths=places)
    workspace = run.open(setup, after)
    former = None if before is None else run.open(setup, before)
    run.lap("read and simulate")
    from policylint.report.trace import Traced, write

    if before is not None and former is not None:
        earlier, traced = Traced.of_both(former.simulations, workspace.simulations, requests, check=check)
        traced = traced._replace(before=(before, earlier))
    else:
        traced = Traced.of(workspace.simulations, requests, check=check)
    run.lap("trace")
    paint = Paint(wants_color(run.color), table_width())
    for piece in write(form, traced, paint, page_width()):
        put(piece if form == "json" else paint.fit(piece))
    run.end(workspace.coverage)
    if traced.failed:
        return FOUND
    return INCOMPLETE if workspace.coverage.cut_off else OK


def _who(clients: tuple[str, ...]) -> tuple[str, str]:
    """Return the workload that `--from` names, and the address.

    Raises:
        click.UsageError: two of one sort are given.
    """
    from policylint.spaces.addresses import number_of

    addresses = [each for each in clients if number_of(each) is not None]
    named = [each for each in clients if each not in addresses]
    if len(addresses) > 1 or len(named) > 1:
        raise click.UsageError("--from is given twice: it takes one workload and one address at most")
    return "".join(named), "".join(addresses)


def _connection(client: str, target: str, port: str) -> Request:
    """Return the question whether one workload may connect to another, or to a Service.

    Raises:
        click.UsageError: an end is missing, or the port is none.
    """
    from policylint.model.spelling import same_kind, spelling
    from policylint.trace import request

    protocol, _, number = port.rpartition("/")
    if not client or not target or (wanted := whole_number(number)) is None:
        raise click.UsageError("--port asks about a connection: --from WORKLOAD --to WORKLOAD --port 5432 (or udp/53)")
    role = "service" if same_kind(spelling(target).kind or "Service", "Service") else "pod"
    return request({"scheme": protocol or "tcp", "client": client, role: target, "port": wanted})


def _from_file(file: str) -> list[tuple[Request, dict[str, Any]]]:
    """Return the requests of a file, each with what is expected of it.

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
        raise click.UsageError(f"{file}: expected a list of requests")
    requests = []
    for number, entry in enumerate(listed, 1):
        try:
            expect = entry.get("expect") if isinstance(entry, dict) else None
            requests.append((request(entry), expect if isinstance(expect, dict) else {}))
        except RequestError as error:
            raise click.UsageError(f"{file}: request {number}: {error}") from None
    return requests
