"""A real member for the scripts that ask the HTTP API: `waypulse run` on a Redis of its own, the bundled simulator of APNs behind it, and a lane
on which deliveries go on. All of it listens on loopback, on free ports, and ends with the script."""

import contextlib
import json
import multiprocessing
import re
import secrets
import shutil
import sys
import tempfile
import time
import urllib.request
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# At the end: it has a redis.py of its own.
sys.path.append(str(ROOT / "Tests/Faults"))

import redis  # noqa: E402
from processes import Child, environment, free_port, until  # noqa: E402
from simulator import Simulator  # noqa: E402

PARTITIONS = 4
PATIENCE_SECONDS = 30
RIDES, ROUND_SECONDS = 50, 1
SETTINGS = [
    "--set", "source.redis.topics=rides", "--set", f"source.redis.partitions={PARTITIONS}", "--set", "pacing.profile=unlimited",
    "--set", "pacing.minInterval=100ms", "--set", "pacing.urgentMinInterval=100ms", "--set", "metrics.listen=127.0.0.1:0",
    "--set", "api.listen=127.0.0.1:0", "--set", "log.format=json",
]  # fmt: skip


def publish(server, event):
    """As a producer does: the stream follows from the key."""
    key = event["activityId"]
    server.xadd(f"rides:{{{zlib.crc32(key.encode()) % PARTITIONS}}}", {"key": key, "event": json.dumps(event)})


def started(name):
    token = zlib.crc32(name.encode()).to_bytes(4, "big").hex() * 8
    return {"type": "activity.started", "activityId": name, "timestamp": round(time.time(), 3), "attributesType": "Ride",
            "token": token, "contentState": {"status": "accepted", "name": name}}  # fmt: skip


def status(name, word):
    return {"type": "status", "activityId": name, "timestamp": round(time.time(), 3), "contentState": {"status": word}}


def drive(port, ends, told):
    """Rides that change their status each second, until they may end; then says what each was told last."""
    server, number = redis.Redis(port=port), 0
    while not ends.is_set():
        number += 1
        for ride in range(RIDES):
            publish(server, status(f"lane-{ride}", f"step {number}"))
            # Spread over the second, as traffic is.
            time.sleep(ROUND_SECONDS / RIDES)
    told.put(number)


def secret(path, text):
    path.touch(0o600)
    path.write_text(text)
    return path


def rights(password):
    """The user of Redis that the README has one make: what it may do has to be enough."""
    line = re.search(r"^ACL SETUSER waypulse .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)[0]
    return [f">{password}" if word == ">PASSWORD" else word for word in line.split()]


class Member:
    """What is asked: `url` and `key` of the API, `metrics` and `pid` of its process."""

    def __init__(self, program, folder, settings):
        folder = Path(folder)
        self.port = free_port()
        self.children = []
        self.redis = self.begin("redis", ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", folder], folder)
        until(lambda: "Ready to accept connections" in self.redis.text(), PATIENCE_SECONDS, lambda: f"Redis: {self.redis.text()}")
        self.simulator = Simulator(program, folder, 5)
        self.children.append(self.simulator)
        self.key, password = secrets.token_hex(32), secrets.token_hex(16)
        redis.Redis(port=self.port).execute_command(*rights(password))
        keys = secret(folder / "api.keys", f"scripts tokens:write,state:read,explain:read {self.key}\n")
        (folder / "waypulse.yaml").write_text(self.simulator.apps)
        words = [program, "run", "--config", folder / "waypulse.yaml", "--set", f"source.redis.url=redis://waypulse@127.0.0.1:{self.port}",
                 "--set", f"source.redis.passwordFile={secret(folder / 'password', password)}", "--set", f"api.keysFile={keys}", *SETTINGS, *settings]  # fmt: skip
        self.child = self.begin("member", words, folder)
        self.metrics = f"http://127.0.0.1:{self.logged('running')['metricsPort']}/metrics"
        self.url = f"http://127.0.0.1:{self.logged('the API answers')['port']}"
        self.pid = self.child.pid
        self.lane = None

    def begin(self, name, words, folder):
        self.children.append(Child(name, words, folder / f"{name}.log", folder, environment()))
        return self.children[-1]

    def logged(self, message):
        def line():
            if not self.child.is_running:
                raise SystemExit(f"error: the member ended: {self.child.text()}")
            return self.child.lines_with(f'"message":"{message}"')

        return json.loads(until(line, PATIENCE_SECONDS, lambda: f"{message!r} of the member: {self.child.text()}")[0])

    def know(self, *names):
        """Begins activities, and returns once each was told something: cards with a token are there, and are not told their beginning."""
        server, before = redis.Redis(port=self.port), self.pushes()
        for name in names:
            publish(server, started(name))
            publish(server, status(name, "begun"))
        until(lambda: self.pushes() >= before + len(names), PATIENCE_SECONDS, lambda: f"the first pushes: {self.child.text()}")

    def counted(self):
        """Every number of /metrics, by its name with labels."""
        with urllib.request.urlopen(self.metrics, timeout=PATIENCE_SECONDS) as answer:
            return {name: float(value) for name, value in re.findall(r"^(waypulse_\S+) (\S+)$", answer.read().decode(), re.MULTILINE)}

    def pushes(self):
        return self.counted().get('waypulse_requests_total{ending="accepted"}', 0)

    def begin_lane(self):
        self.know(*(f"lane-{ride}" for ride in range(RIDES)))
        ends, told = multiprocessing.Event(), multiprocessing.Queue()
        process = multiprocessing.Process(target=drive, args=(self.port, ends, told), daemon=True)
        process.start()
        self.lane = process, ends, told

    def end_lane(self):
        """Problems: rides whose phone was not told the newest status."""
        process, ends, told = self.lane
        ends.set()
        newest = f"step {told.get(timeout=PATIENCE_SECONDS)}"
        process.join()

        def behind():
            shown = {}
            for entry in self.simulator.entries():
                state = entry.get("contentState") or {}
                if entry["status"] == 200 and entry.get("verdict") == "applied":
                    shown[state.get("name")] = state.get("status")
            return [f"lane-{ride}" for ride in range(RIDES) if shown.get(f"lane-{ride}") != newest]

        end = time.monotonic() + PATIENCE_SECONDS
        while (left := behind()) and time.monotonic() < end:
            time.sleep(0.2)
        return [f"{name} was not told {newest!r}" for name in left]

    def end(self):
        for child in reversed(self.children):
            child.end()


@contextlib.contextmanager
def member(program, *settings):
    folder, one = tempfile.mkdtemp(prefix="waypulse-api-"), Member.__new__(Member)
    try:
        one.__init__(Path(program).resolve(), folder, settings)
        yield one
        # It has to have lived through all of that, and to end as it should.
        if (code := one.child.stop(PATIENCE_SECONDS)) != 0:
            raise SystemExit(f"error: the member ended with {code}: {one.child.text()[-2000:]}")
    finally:
        for child in reversed(getattr(one, "children", [])):
            child.end()
        shutil.rmtree(folder, ignore_errors=True)
