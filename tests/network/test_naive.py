"""The sets agree with an oracle that goes pair by pair, and contain every completion of what is open."""

from __future__ import annotations

from random import Random

import pytest

from policylint.network.connections import connections
from policylint.network.ports import PROTOCOLS
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from tests.network.naive import Naive, Pod
from tests.network.worlds import ADDRESSES, PORTS, TEAMS, hops_of, random_world, world
from tests.nightly import sampled

ASKED = (1, *PORTS, 500)
CHUNK = 50


def ends(network: Network, naive: Naive) -> list[tuple[int, Pod | str]]:
    """Every end by number: pods, and some addresses."""
    from ipaddress import ip_address

    found: list[tuple[int, Pod | str]] = [
        (network.numbers[f"Pod {pod.namespace}/{pod.name}"], pod) for pod in naive.pods
    ]
    first = len(network.universe.endpoints)
    for address in ADDRESSES:
        number = int(ip_address(address))
        for position, interval in enumerate(network.universe.addresses.ranges):
            if interval.low <= number < interval.high:
                found.append((first + position, address))
    return found


@pytest.mark.parametrize("chunk", sampled(range(20), "networks and their oracle"))
def test_sets_agree_with_the_oracle(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        manifests, naive = random_world(seed)
        network = hops_of(world(manifests)).network
        assert [policy.refused for policy in network.policies if policy.refused] == []
        rows = connections(network)
        known = ends(network, naive)
        for source, sender in known:
            for target, receiver in known:
                if source == target or (isinstance(sender, str) and isinstance(receiver, str)):
                    continue
                for protocol in PROTOCOLS:
                    for port in Random(seed).sample(ASKED, 2):
                        want = naive.allowed(sender, receiver, protocol, port)
                        at = network.universe.ports.at(protocol, port)
                        answer = network.ask(source, target, at)
                        place = (seed, str(sender), str(receiver), protocol, port)
                        assert (answer.verdict == "allowed") == want, place
                        listed = any(
                            row.sources >> source & row.targets >> target & 1 and row.ports & at and row.certain
                            for row in rows
                        )
                        assert listed == want, place
                        stops = [walk[-1].action for walk in (answer.egress, answer.ingress)]
                        assert (stops == ["Allow", "Allow"]) == want, place


@pytest.mark.parametrize("chunk", sampled(range(5), "completions"))
def test_every_completion_of_open_labels_lies_within_the_answer(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        manifests, naive = random_world(seed)
        random = Random(seed)
        hidden = [name for name in naive.namespaces if random.random() < 0.6]
        seen = [each for each in manifests if each["kind"] != "Namespace" or each["metadata"]["name"] not in hidden]
        network = hops_of(world(seen, partial=True)).network
        known = ends(network, naive)
        for _ in range(4):
            completed = {name: {"team": random.choice(TEAMS)} if random.random() < 0.8 else {} for name in hidden}
            complete = Naive(naive.pods, {**naive.namespaces, **completed}, naive.policies)
            for source, sender in known:
                for target, receiver in known:
                    if source == target or (isinstance(sender, str) and isinstance(receiver, str)):
                        continue
                    for protocol, port in (("TCP", 80), ("UDP", 53), ("TCP", 8080), ("SCTP", 500)):
                        verdict = network.ask(source, target, network.universe.ports.at(protocol, port)).verdict
                        want = "allowed" if complete.allowed(sender, receiver, protocol, port) else "denied"
                        assert verdict in (want, "unknown"), (
                            seed,
                            completed,
                            str(sender),
                            str(receiver),
                            protocol,
                            port,
                        )


def test_no_row_lists_an_end_with_itself() -> None:
    for seed in range(CHUNK):
        manifests, _ = random_world(seed)
        for row in connections(hops_of(world(manifests)).network):
            assert not set(numbers_of(row.sources)) & set(numbers_of(row.targets))


def test_order_of_documents_changes_nothing() -> None:
    for seed in range(CHUNK):
        manifests, _ = random_world(seed)
        shuffled = list(manifests)
        Random(seed).shuffle(shuffled)
        former, latter = hops_of(world(manifests)).network, hops_of(world(shuffled)).network
        assert connections(former) == connections(latter)
        assert [state[:3] for state in former.statuses.policies] == [state[:3] for state in latter.statuses.policies]
