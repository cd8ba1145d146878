"""Ask a real program and policylint the same about generated worlds: `python -m tests.witness.run envoy-gateway`.

What is built lies in $POLICYLINT_WITNESS, by default ~/.cache/policylint-witness (README.md).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.witness import (
    api_server,
    api_server_objects,
    cilium,
    deployed,
    envoy,
    envoy_gateway,
    gateway_api,
    istio_connections,
    istio_requests,
    kuadrant,
    network,
    network_worlds,
    open_cluster_management,
)
from tests.witness.envoy_gateway_wider import world
from tests.witness.facts import Difference, differences
from tests.witness.grammar import Manifest, digest, name_of
from tests.witness.programs import Program, built, certificate, installed_envoy
from tests.witness.recording import RECORDED, Answer, written
from tests.witness.replaying import DEPLOYERS, PROXIES, REQUESTS, replayed
from tests.witness.shrinking import shrunk
from tests.witness.tally import Tally

KUSTOMIZE, HELM = "sigs.k8s.io/kustomize/kustomize/v5", "helm.sh/helm/v3/cmd/helm"
_TOOLS = {"argo-sources": (KUSTOMIZE, HELM)}
"""The programs that a deployer runs itself."""
_DEFAULT = Path("-")
"""Stands for the record of the witness in recorded/."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one witness; return 1 where it and policylint differ."""
    asked = {
        "envoy-gateway": of_envoy_gateway,
        "envoy": of_envoy,
        "api-server": of_api_server,
        "network": of_network,
        "cilium": of_cilium,
        "istio-connections": of_istio_connections,
        "istio-requests": of_istio_requests,
        "kuadrant": of_kuadrant,
        "open-cluster-management": of_open_cluster_management,
        **dict.fromkeys(DEPLOYERS, of_deployers),
        **dict.fromkeys(PROXIES, of_proxies),
        **dict.fromkeys(gateway_api.DIALECTS, of_gateway_api),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("witness", choices=list(asked))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first world")
    parser.add_argument("--record", nargs="?", type=Path, const=_DEFAULT, help="keep the answers")
    parser.add_argument("--append", action="store_true", help="keep the answers beside those that are recorded")
    parser.add_argument("--replay", nargs="?", type=Path, const=_DEFAULT, help="ask the record")
    parser.add_argument("--shrink", type=Path, help="a folder for the smallest world of each sort of difference")
    parser.add_argument("--only", default="", help="shrink only sorts with this text")
    parser.add_argument("--crds", type=Path, help="the folder of the projects' CRDs, for api-server")
    parser.add_argument("--trees", nargs="*", type=Path, default=[], help="folders of trees, for kustomize")
    options = parser.parse_args(arguments)
    if options.trees:
        return of_trees(options)
    record = RECORDED / f"{options.witness}.jsonl"
    options.record = _DEFAULT if options.append and not options.record else options.record
    options.record, options.replay = (record if each == _DEFAULT else each for each in (options.record, options.replay))
    if options.replay:
        print(replayed(options.replay, 1))
        return 0
    return asked[options.witness](options)


def _kept(options: argparse.Namespace, head: dict[str, Any], answers: list[Answer], tally: Tally) -> int:
    """Keep the answers where that is asked for, print what differs, and return how the run ends."""
    if options.record:
        written(options.record, head, answers, append=options.append)
    print(tally)
    return int(bool(tally.wrong))


def of_deployers(options: argparse.Namespace) -> int:
    """What deployers' own libraries make of generated trees."""
    tally, answers, (grown, witness, program) = Tally(), [], DEPLOYERS[options.witness]
    tools = [built("deployers", package) for package in _TOOLS.get(options.witness, ())]
    path = os.pathsep.join([*(str(each.parent) for each in tools), os.environ["PATH"]])
    with Program(built(program), switches={"PATH": path}, quiet=True) as asked:
        for number in range(options.first, options.first + options.worlds):
            files = grown(options.seed, number)
            answer = asked.answer(witness.asked(files))
            real = deployed.real_facts(answer)
            answers.append(Answer(options.seed, number, digest(files), real))
            tally.add(f"{options.seed}/{number}", files, *witness.compared(files, real, answer))
        if options.shrink:
            _shrink(tally, options, lambda files: _made(asked, witness, files))
    return _kept(options, witness.head(), answers, tally)


def _made(asked: Program, witness: deployed.Witness, files: list[Manifest]) -> list[Difference]:
    answer = asked.answer(witness.asked(files))
    return differences(*witness.compared(files, deployed.real_facts(answer), answer))


def of_trees(options: argparse.Namespace) -> int:
    """Build what trees deploy, with the real kustomize and with policylint; helm is built along with it."""
    from bench.rendering import compare

    built("deployers", HELM)
    program = built("deployers", KUSTOMIZE)
    equal = number = unbuilt = 0
    for tree in sorted(each for folder in options.trees for each in folder.iterdir() if each.is_dir()):
        rows, refused, _ = compare(
            tree, options.worlds, (str(program), "build", "--load-restrictor", "LoadRestrictionsNone")
        )
        number, unbuilt = number + len(rows), unbuilt + refused
        equal += sum(not row.differences for row in rows)
        for row in rows:
            if row.differences:
                print(f"{row.directory}: {'; '.join(row.differences)}")
    print(f"{equal} of {number} kustomizations equal; kustomize cannot build {unbuilt} more")
    return int(equal < number)


def of_api_server(options: argparse.Namespace) -> int:
    """What is refused, and what is stored."""
    tally, answers = Tally(), []
    with api_server.Server(built("api_server"), api_server.crds(options.crds)) as server:
        for number in range(options.first, options.first + options.worlds):
            objects = api_server_objects.world(options.seed, number)
            real = api_server.real_facts(objects, server.fates(objects))
            answers.append(Answer(options.seed, number, digest(objects), real))
            tally.add(f"{options.seed}/{number}", objects, real, api_server.our_facts(objects, real))
    return _kept(options, api_server.head(), answers, tally)


def of_gateway_api(options: argparse.Namespace) -> int:
    """Statuses of another controller of Gateway API."""
    tally, answers, dialect = Tally(), [], gateway_api.DIALECTS[options.witness]
    with (
        TemporaryDirectory() as place,
        gateway_api.Controller(dialect, built(options.witness.replace("-", "_")), *certificate(Path(place))) as asked,
        api_server.Server(built("api_server"), api_server.crds(options.crds)) as server,
    ):
        for number in range(options.first, options.first + options.worlds):
            objects = gateway_api.world(options.witness, options.seed, number)
            real, refused = asked.facts(objects, server.fates(objects))
            if "| failed" in real and "panic" in real["| failed"]:
                continue  # a controller that ends in a panic writes nothing
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            if not options.record:
                ours = gateway_api.our_facts(dialect, objects, refused)
                tally.add(f"{options.seed}/{number}", objects, real, ours)
        if options.shrink:
            _shrink(tally, options, lambda objects: _found(asked, server, dialect, objects))
    return _kept(options, gateway_api.head(options.witness), answers, tally)


def of_istio_requests(options: argparse.Namespace) -> int:
    """Requests to the proxy with Istio's filters."""
    tally, answers = Tally(), []
    with (
        TemporaryDirectory() as place,
        istio_requests.Istio(built("istio", "./requests"), Path(place)) as istio,
        envoy.Stubs() as stubs,
        api_server.Server(built("api_server"), api_server.crds(options.crds)) as server,
    ):
        for number in range(options.first, options.first + options.worlds):
            objects, asked = istio_requests.world(options.seed, number), istio_requests.requests(options.seed, number)
            real, refused = istio.facts(objects, server.fates(objects), asked, stubs)
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            tally.add(f"{options.seed}/{number}", objects, real, istio_requests.our_answers(objects, refused, asked))
    return _kept(options, istio_requests.head(), answers, tally)


def of_istio_connections(options: argparse.Namespace) -> int:
    """Filter chains of Istio's own Gateways."""
    tally, answers = Tally(), []
    with istio_connections.Istio(built("istio", "./connections")) as istio:
        for number in range(options.first, options.first + options.worlds):
            objects = istio_connections.world(options.seed, number)
            real, refused = istio.facts(objects)
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            tally.add(f"{options.seed}/{number}", objects, real, istio_connections.our_facts(objects, refused, real))
    return _kept(options, istio_connections.head(), answers, tally)


def of_proxies(options: argparse.Namespace) -> int:
    """Requests to the proxy that a controller sets up."""
    tally, answers, (witness, program) = Tally(), [], PROXIES[options.witness]
    with (
        TemporaryDirectory() as place,
        witness.Asking(built(*program.split()), *certificate(Path(place)), Path(place)) as asking,
        envoy.Stubs() as stubs,
        api_server.Server(built("api_server"), api_server.crds(options.crds)) as server,
    ):
        for number in range(options.first, options.first + options.worlds):
            objects = witness.world(options.seed, number)
            asked = witness.requests(options.seed, number, objects)
            real, refused = asking.told(objects, server.fates(objects), asked, stubs)
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            ours = witness.our_answers(objects, refused, asked, real)
            tally.add(f"{options.seed}/{number}", objects, real, ours)
    return _kept(options, witness.head(), answers, tally)


def of_kuadrant(options: argparse.Namespace) -> int:
    """Statuses of policies, and what is effective on each way."""
    tally, answers = Tally(), []
    with (
        kuadrant.Operator(built("kuadrant")) as operator,
        api_server.Server(built("api_server"), api_server.crds(options.crds)) as server,
    ):
        for number in range(options.first, options.first + options.worlds):
            objects = kuadrant.world(options.seed, number)
            real, refused = operator.facts(objects, server.fates(objects))
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            tally.add(f"{options.seed}/{number}", objects, real, kuadrant.our_facts(objects, refused))
        if options.shrink:

            def found(objects: list[Manifest]) -> list[Difference]:
                real, refused = operator.facts(objects, server.fates(objects))
                return differences(real, kuadrant.our_facts(objects, refused))

            _shrink(tally, options, found)
    return _kept(options, kuadrant.head(), answers, tally)


def of_cilium(options: argparse.Namespace) -> int:
    """Packets between pods and addresses, where Cilium decides."""
    tally, answers = Tally(), []
    with cilium.Agent(built("cilium")) as agent:
        for number in range(options.first, options.first + options.worlds):
            objects = cilium.world(options.seed, number)
            asked = cilium.packets(options.seed, number, objects, cilium.PACKETS)
            told = agent.ask(objects, asked)
            answers.append(Answer(options.seed, number, digest(objects), told))
            tally.add(f"{options.seed}/{number}", objects, *cilium.compared(objects, asked, told))
        if options.shrink:

            def found(objects: list[Manifest]) -> list[Difference]:
                if not cilium.is_whole(objects):
                    return []
                asked = cilium.every_packet(objects)
                return differences(*cilium.compared(objects, asked, agent.ask(objects, asked)))

            _shrink(tally, options, found)
    return _kept(options, cilium.head(), answers, tally)


def of_open_cluster_management(options: argparse.Namespace) -> int:
    """Where policies of a hub are placed."""
    tally, answers = Tally(), []
    with (
        open_cluster_management.Operator(built("open_cluster_management")) as operator,
        api_server.Server(built("api_server"), api_server.crds(options.crds)) as server,
    ):
        for number in range(options.first, options.first + options.worlds):
            objects = open_cluster_management.world(options.seed, number)
            real, refused = operator.facts(objects, server.fates(objects))
            answers.append(Answer(options.seed, number, digest(objects), real, refused))
            tally.add(f"{options.seed}/{number}", objects, *open_cluster_management.compared(objects, refused, real))
        if options.shrink:

            def found(objects: list[Manifest]) -> list[Difference]:
                real, refused = operator.facts(objects, server.fates(objects))
                return differences(*open_cluster_management.compared(objects, refused, real))

            _shrink(tally, options, found)
    return _kept(options, open_cluster_management.head(), answers, tally)


def of_network(options: argparse.Namespace) -> int:
    """Packets between pods and addresses."""
    tally, answers = Tally(), []
    with network.Evaluator(built("network")) as evaluator:
        for number in range(options.first, options.first + options.worlds):
            objects = network_worlds.world(options.seed, number)
            packets = network_worlds.packets(options.seed, number, objects, network.PACKETS)
            told = network.kept(evaluator.ask(objects, packets))
            answers.append(Answer(options.seed, number, digest(objects), told))
            tally.add(f"{options.seed}/{number}", objects, *network.compared(objects, packets, told))
    return _kept(options, network.head(), answers, tally)


def of_envoy(options: argparse.Namespace) -> int:
    """Requests to the proxy itself."""
    tally, answers = Tally(), []
    program = installed_envoy()
    with TemporaryDirectory() as place:
        directory = Path(place)
        with envoy_gateway.Controller(built("envoy_gateway"), *certificate(directory)) as asked, envoy.Stubs() as stubs:
            for number in range(options.first, options.first + options.worlds):
                objects = world(options.seed, number)
                answer = asked.ask(objects, xds=True)
                stored = [each for each in objects if name_of(each) not in answer["refused"]]
                requests = envoy.requests(options.seed, number, stored, REQUESTS)
                if not requests or "xds" not in answer or "panic" in answer.get("error", ""):
                    continue  # one whose translation ends in a panic leaves the proxies as they were
                real = envoy.real_answers(program, answer["xds"], stored, requests, stubs, directory)
                answers.append(Answer(options.seed, number, digest(objects), real, tuple(answer["refused"])))
                if not options.record:
                    ours = envoy.our_answers(envoy_gateway.simulated(stored), objects, requests, real)
                    tally.add(f"{options.seed}/{number}", objects, envoy.judged(real, ours), ours)
    if options.record:
        written(options.record, envoy.head(), answers, append=options.append)
    else:
        print(tally)
    return int(bool(tally.wrong))


def of_envoy_gateway(options: argparse.Namespace) -> int:
    """Statuses and refusals."""
    tally = Tally()
    with (
        TemporaryDirectory() as place,
        envoy_gateway.Controller(built("envoy_gateway"), *certificate(Path(place))) as asked,
    ):
        answers = []
        for number in range(options.first, options.first + options.worlds):
            objects = world(options.seed, number)
            real, stored = envoy_gateway.real_facts(asked, objects)
            answers.append(Answer(options.seed, number, digest(objects), real))
            if not options.record:
                tally.add(f"{options.seed}/{number}", objects, real, envoy_gateway.our_facts(objects, stored))
        if options.record:
            written(options.record, envoy_gateway.head(), answers, append=options.append)
        else:
            print(tally)
        if options.shrink:
            _shrink(tally, options, lambda objects: _different(asked, objects))
    return int(bool(tally.wrong))


def _found(
    asked: gateway_api.Controller, server: api_server.Server, dialect: gateway_api.Dialect, objects: list[Manifest]
) -> list[Difference]:
    real, refused = asked.facts(objects, server.fates(objects))
    return differences(real, gateway_api.our_facts(dialect, objects, refused))


def _different(asked: envoy_gateway.Controller, objects: list[Manifest]) -> list[Difference]:
    real, stored = envoy_gateway.real_facts(asked, objects)
    return differences(real, envoy_gateway.our_facts(objects, stored))


def _shrink(tally: Tally, options: argparse.Namespace, found: Callable[[list[Manifest]], list[Difference]]) -> None:
    """Write the smallest world of each sort of difference."""
    options.shrink.mkdir(parents=True, exist_ok=True)
    for index, (sort, _) in enumerate(tally.times.most_common()):
        if options.only not in sort:
            continue
        name, objects, example = tally.first[sort]

        def shows(those: list[Manifest], sort: str = sort) -> bool:
            sorts = {each.sort for each in found(those)}
            return sort in sorts and not any("| failed" in each for each in sorts)

        text = "\n---\n".join(json.dumps(each) for each in shrunk(objects, shows))
        head = f"# {sort}\n# {name}: {example.fact}\n# real: {example.real}\n# ours: {example.ours}\n"
        (options.shrink / f"{index:02}.yaml").write_text(head + text + "\n")


if __name__ == "__main__":
    sys.exit(main())
