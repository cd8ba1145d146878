"""How a proxy finds the address of a client that comes through other proxies, and what it finds for one request.

Envoy's rules (docs: configuration/http/http_conn_man/headers, «x-forwarded-for»; source/common/http/
conn_manager_utility.cc, mutateRequestHeaders): what cannot be found in the header is the address of who connects.
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.namedtuple import NamedTuple
from policylint.spaces.addresses import address_set, means_everybody, number_of

FORWARDED = "x-forwarded-for"
_UNSTATED = "that of who connects, which is not stated (--from)"
_ENDING = {2: "nd", 3: "rd"}


class Detection(NamedTuple):
    """Where a proxy looks for the client's address.

    Args:
        field: the setting that says so, for sentences.
        hops: the how-manieth address of X-Forwarded-For from its end is believed; 0 for none.
        networks: those who connect from here are believed, and the last address that is none of theirs is the client's.
        header: a header of its own that holds the address, or with `networks` the list of them.
        recursive: whether trusted addresses of the list are passed over, too; else its last one counts.
        unseen: why it is not known what is believed; "" where it is.
    """

    field: str
    hops: int = 0
    networks: tuple[str, ...] = ()
    header: str = ""
    recursive: bool = True
    unseen: str = ""


class Detected(NamedTuple):
    """The address that policies see, "" where it is not known, and a sentence on where it comes from."""

    address: str
    note: str


def detected(detection: Detection | None, peer: str, headers: Mapping[str, str]) -> Detected:
    """Return the address that a proxy takes for the client's.

    Args:
        detection: None where the proxy believes nothing but the connection.
        peer: the address that connects, "" where it is not known.
        headers: of the request, by name in lower case.
    """
    unbelieved = f"X-Forwarded-For is not believed: the client's address is {peer or _UNSTATED}"
    if detection is None:
        return Detected(peer, unbelieved if FORWARDED in headers else "")
    if detection.unseen:
        why = f"whether X-Forwarded-For is believed is not known: {detection.unseen}"
        return Detected("", why) if FORWARDED in headers else Detected(peer, "")
    if detection.header and not detection.networks:
        stated = headers.get(detection.header.lower(), "").strip()
        if number_of(stated) is not None:
            return Detected(stated, f"the client's address is {stated}, as {detection.header} says ({detection.field})")
        return Detected(peer, f"the request has no {detection.header} with an address, so {peer or _UNSTATED} counts")
    held = headers.get(detection.header.lower() or FORWARDED, "")
    listed = [each.strip() for each in held.split(",") if each.strip()]
    if detection.networks:
        if detection.header and not listed:
            unbelieved = f"{unbelieved}, as {detection.field} names {detection.header}" if FORWARDED in headers else ""
            return Detected(peer, unbelieved)
        return _past_networks(detection, peer, listed, unbelieved)
    if len(listed) >= detection.hops and number_of(listed[-detection.hops]) is not None:
        found, place = listed[-detection.hops], _counted(detection.hops)
        return Detected(found, f"the client's address is {found}, the {place} of X-Forwarded-For ({detection.field})")
    short = f"X-Forwarded-For has too few addresses ({detection.field})"
    return Detected(peer, f"{short}: the client's address is {peer or _UNSTATED}")


def _past_networks(detection: Detection, peer: str, listed: list[str], unbelieved: str) -> Detected:
    """Return the last address that is no trusted proxy's, where a trusted one connects."""
    trusted = address_set(detection.networks)
    everyone = means_everybody(detection.networks)
    number = number_of(peer) if peer else None
    if number is None and not (everyone and listed):
        why = f"whether X-Forwarded-For is believed depends on who connects (--from): {detection.field}"
        return Detected("", why if listed else "")
    if number is not None and not trusted.holds(number):
        return Detected(peer, f"{unbelieved}, which is in none of {detection.field}" if listed else "")
    found = peer
    for each in reversed(listed):
        number = number_of(each)
        if number is None:
            break
        found = each
        if not (detection.recursive and trusted.holds(number)):
            break
    place = f"the last one beyond {detection.field}" if detection.recursive else f"the last one ({detection.field})"
    note = f"the client's address is {found or _UNSTATED}, {place}"
    if everyone and detection.recursive and listed:
        first = "the first one, which whoever connects may write"
        note = f"the client's address is {found}, {first}: {detection.field} trusts everybody"
    return Detected(found, note)


def _counted(hops: int) -> str:
    return "last address" if hops == 1 else f"{hops}{_ENDING.get(hops, 'th')} address from the end"
