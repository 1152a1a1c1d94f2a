"""Brokers that speak Kafka's protocol, from Tests/Scripts/kafka_broker: each a process with a folder and ports of its own."""

import contextlib
import os
import signal
import socket
import subprocess
from pathlib import Path

from processes import Trouble, environment, free_port

SCRIPT = Path(__file__).resolve().parents[1] / "Scripts/kafka_broker"


class Broker:
    """One of the stand-ins. It is ended with the test, also where that is killed."""

    def __init__(self, folder, engine, prefix=()):
        """`prefix` are words before the script's own, such as those that bind it to a core."""
        self.engine, self.prefix = engine, prefix
        self.folder = Path(folder) / f"kafka-{engine}"
        self.folder.mkdir()
        self.port = two_free_ports()
        self.is_frozen = False
        # It waits for its input to end, which happens when the test closes it or is no more.
        guard = 'read -r _; exec "$0" kill --data-dir "$1"'
        self.guard = subprocess.Popen(
            ["bash", "-c", guard, SCRIPT, self.folder], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True,
            env=environment(),
        )  # fmt: skip
        self.addresses = ""

    def start(self):
        # The first start of an engine on a machine installs it.
        self.addresses = self.run("start", "--engine", self.engine, "--port", str(self.port), seconds=180)
        return self

    def run(self, *words, seconds=60):
        words = [*self.prefix, str(SCRIPT), *map(str, words), "--data-dir", str(self.folder)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, env=environment())
        if done.returncode != 0:
            raise Trouble(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout.strip()

    def topic(self, name, partitions, *settings):
        self.run("topic", name, partitions, *settings)

    def fault(self, *words):
        self.run("fault", *words)

    def stop(self):
        self.run("stop")

    @property
    def pid(self):
        return int((self.folder / "broker.pid").read_text().split()[0])

    def freeze(self):
        os.kill(self.pid, signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self):
        os.kill(self.pid, signal.SIGCONT)
        self.is_frozen = False

    def end(self):
        if self.is_frozen:
            with contextlib.suppress(OSError):
                self.thaw()
        self.guard.stdin.close()
        self.guard.wait()


def two_free_ports():
    """The first of two neighbours, as Tansu wants them."""
    while True:
        port = free_port()
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port + 1))
            return port
