"""A small network on this machine: a namespace for each supervisor, in two racks.

::

    n1 --+                      +-- n3
         +-- rack-1 -- core -- rack-2 --+
    n2 --+            (hub)             +-- n4

Bridges and everything else stand in a namespace of their own, the *hub*. Each link has a token
bucket in each direction: of a node's interface, and of a rack's uplink to the core. The hub itself
is on the core, without a limit. Nothing is made in the namespace that this process was started in.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from slotwise.models.errors import InputError, SlotwiseError

NETWORK = "10.77"
HUB = f"{NETWORK}.0.1"
RACKS = (1, 2)
PER_RACK = 2
BURST_BYTES = 6000
"""Of a token bucket: four packets."""
QUEUE_BYTES = 8 << 20
"""Before a token bucket: more than is ever under way, so that nothing is dropped."""
COMMAND_S = 10.0
NEW_NETWORK = 0x40000000
"""``CLONE_NEWNET`` of Linux."""


@dataclass(frozen=True, slots=True)
class Host:
    """A supervisor's machine: its name is also that of its port in the hub."""

    name: str
    rack: int
    address: str

    @property
    def rack_name(self) -> str:
        """As ``Subnets.java`` says it."""
        return f"rack-{self.rack}"


HOSTS = tuple(
    Host(f"n{PER_RACK * (rack - 1) + number}", rack, f"{NETWORK}.{rack}.{number}")
    for rack in RACKS
    for number in range(1, PER_RACK + 1)
)


@dataclass(frozen=True, slots=True)
class Network:
    """The namespaces of a running network.

    Parameters
    ----------
    hub
        Where the bridges are.
    namespaces
        Host's name -> its namespace.
    """

    hub: str
    namespaces: Mapping[str, str]


def check_possible() -> None:
    """Check that this process may make namespaces, and has what it needs for that.

    Raises
    ------
    InputError
        When it is not so.
    """
    missing = [name for name in ("ip", "tc", "java") if shutil.which(name) is None]
    if missing:
        raise InputError(f"needs {', '.join(missing)} on the PATH", has_value=False)
    if os.geteuid() != 0:
        rule = "needs root: each supervisor runs in a network namespace of its own"
        raise InputError(rule, has_value=False)


@contextmanager
def network(interface_mbit_s: int, uplink_mbit_s: int) -> Iterator[Network]:
    """Make the network, let this thread and what it starts be in the hub, and remove all of it.

    Parameters
    ----------
    interface_mbit_s, uplink_mbit_s
        Of a host's interface and of a rack's uplink, in each direction.

    Raises
    ------
    SlotwiseError
        When a command of ``ip`` or ``tc`` fails.
    """
    net = Network(_name("hub"), {host.name: _name(host.name) for host in HOSTS})
    with ExitStack() as stack:
        for namespace in (net.hub, *net.namespaces.values()):
            _run(f"ip netns add {namespace}")
            stack.callback(_run, f"ip netns del {namespace}")
            _run(f"ip -n {namespace} link set lo up")
        stack.enter_context(_inside(net.hub))
        _run("ip link add core type bridge", "ip link set core up")
        _run(f"ip address add {HUB}/16 dev core")
        for rack in RACKS:
            _make_rack(rack, uplink_mbit_s)
        for host in HOSTS:
            _make_host(host, net.namespaces[host.name], interface_mbit_s)
        yield net


def _name(part: str) -> str:
    return f"slotwise-{os.getpid()}-{part}"


def _make_rack(rack: int, mbit_s: int) -> None:
    up, down, bridge = f"up{rack}", f"down{rack}", f"rack{rack}"
    _run(f"ip link add {bridge} type bridge", f"ip link add {up} type veth peer name {down}")
    _run(f"ip link set {up} master {bridge}", f"ip link set {down} master core")
    for link in (bridge, up, down):
        _run(f"ip link set {link} up")
    _run(_bucket(up, mbit_s), _bucket(down, mbit_s))


def _make_host(host: Host, namespace: str, mbit_s: int) -> None:
    _run(f"ip link add {host.name} type veth peer name eth0 netns {namespace}")
    _run(f"ip link set {host.name} master rack{host.rack} up")
    _run(f"ip -n {namespace} address add {host.address}/16 dev eth0")
    _run(f"ip -n {namespace} link set eth0 up")
    _run(_bucket(host.name, mbit_s), f"ip netns exec {namespace} {_bucket('eth0', mbit_s)}")


def _bucket(link: str, mbit_s: int) -> str:
    size = f"burst {BURST_BYTES} limit {QUEUE_BYTES}"
    return f"tc qdisc add dev {link} root tbf rate {mbit_s}mbit {size}"


def sent_bytes() -> dict[str, int]:
    """Return the bytes that each host, and each rack's uplink (``up1``), has sent so far."""
    statistics = json.loads(_run("ip -json -statistics link show"))
    links = {one["ifname"]: one["stats64"] for one in statistics}
    sent = {host.name: int(links[host.name]["rx"]["bytes"]) for host in HOSTS}
    return sent | {f"up{rack}": int(links[f"up{rack}"]["tx"]["bytes"]) for rack in RACKS}


def _run(*commands: str) -> str:
    """Run commands, which end; return what the last one wrote."""
    output = ""
    for command in commands:
        done = subprocess.run(
            command.split(), capture_output=True, text=True, timeout=COMMAND_S, check=False
        )
        if done.returncode:
            raise SlotwiseError(f"{command}: {done.stderr.strip() or done.returncode}")
        output = done.stdout
    return output


@contextmanager
def _inside(namespace: str) -> Iterator[None]:
    """Let this thread, and what it starts, be in a namespace."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    namespace_file = os.open(Path("/run/netns", namespace), os.O_RDONLY)
    try:
        _enter(namespace_file)
        yield
    finally:
        _enter(before)
        os.close(before)
        os.close(namespace_file)


def _enter(descriptor: int) -> None:
    """Call Linux's ``setns``, which Python has since 3.12."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, NEW_NETWORK):
        number = ctypes.get_errno()
        raise SlotwiseError(f"cannot enter a network namespace: {os.strerror(number)}")
