"""Processes of a test: each is started here, known by its pid, and ended by it, whatever happens to the test."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path


class Trouble(Exception):
    """The test itself could not go on: a server did not start, a condition did not come true in time."""


def until(holds, seconds, what, meanwhile=None, pause=0.02):
    """Waits for a condition, and does what `meanwhile` does between looks.

    Returns what the condition gave. Raises Trouble, with what was waited for, after so many seconds.
    """
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            raise Trouble(f"{what() if callable(what) else what} did not come within {seconds} s")
        if meanwhile:
            meanwhile()
        time.sleep(pause)
    return found


def free_port(taken=set()):
    """A loopback port that nobody has.

    From below the range of which the system gives ports to outgoing connections: a client that reconnects to a server that is
    down must not be given the server's own port, for then it connects to itself.
    """
    for _ in range(1_000):
        port = random.SystemRandom().randrange(15_000, 30_000)
        if port in taken:
            continue
        with socket.socket() as probe:
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                taken.add(port)
                return port
    raise Trouble("no free port between 15000 and 30000 on 127.0.0.1")


class Child:
    """One process. Its output goes to a file, which is its log."""

    def __init__(self, name, words, log, cwd=None, environment=None):
        self.name = name
        self.words = [str(word) for word in words]
        self.log = Path(log)
        self.read_from = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as output:
            # It must not outlive this process, even where this one is killed and can end nothing any more.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.is_stopped = False

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process.poll() is None

    def text(self):
        """What this process, and none of its name before it, has written so far."""
        with open(self.log, "rb") as log:
            log.seek(self.read_from)
            return log.read().decode("utf-8", "replace")

    def lines_with(self, text):
        return [line for line in self.text().splitlines() if text in line]

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def kill(self):
        """As `kill -9`: it has no word in it."""
        self.send(signal.SIGKILL)
        self.process.wait()

    def freeze(self):
        self.send(signal.SIGSTOP)
        self.is_stopped = True

    def thaw(self):
        self.send(signal.SIGCONT)
        self.is_stopped = False

    def stop(self, seconds=20, meanwhile=None):
        """Asks it to end. Returns its exit code; raises Trouble where it does not end in time."""
        self.send(signal.SIGTERM)
        until(lambda: not self.is_running, seconds, f"the end of {self.name} (pid {self.pid}) after SIGTERM", meanwhile)
        return self.process.returncode

    def end(self):
        """Whatever it does: after this it is no more."""
        if self.is_running:
            if self.is_stopped:
                self.thaw()
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def resident_bytes(self):
        """The most memory it has had, and 0 where it is gone."""
        with contextlib.suppress(OSError, IndexError, ValueError):
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1_024
        return 0


def environment(**more):
    """The caller's own, without settings of Waypulse."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WAYPULSE_")}
    return dict(kept, LC_ALL="C.UTF-8", **more)


@contextlib.contextmanager
def signals_end_it():
    """Ctrl-C, SIGTERM and SIGHUP end the test by an exception, so that everything that was started is ended."""

    def leave(number, _):
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
