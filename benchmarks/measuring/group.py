"""What the benchmarks of a group need: a Redis, a broker, producers, a provider, and members as processes of their own."""

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Faults"))

from measuring.subjects import SERVER_CORE, fail, pinned  # noqa: E402
from broker import Broker  # noqa: E402
from processes import Child, environment, free_port, until  # noqa: E402
from redis import encode  # noqa: E402

TOPIC, PARTITIONS, GROUP = "rides", 8, "couriers"
# Nothing is due but what a benchmark makes due. Positions are drawn, not driven: two of one courier may be milliseconds apart.
QUIET = {
    "pacing.profile": "unlimited", "pacing.minInterval": "0s", "pacing.urgentMinInterval": "0s", "pacing.refresh": False,
    "pacing.maxActivityLife": "off", "pacing.maxSpeedMetersPerSecond": 1e9,
}
OTHERS = {"metrics.listen": "127.0.0.1:0", "log.format": "json"}


class Redis:
    """A server on loopback that keeps nothing on disk."""

    def __init__(self, folder, core=SERVER_CORE):
        self.port = free_port()
        words = ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        self.child = Child("redis", pinned(core, words), Path(folder) / "redis.log", environment=environment())
        until(self.answers, 15, f"an answer of redis-server on port {self.port}")

    @property
    def source(self):
        """Settings of a member that reads streams of this server."""
        return {
            "source.redis.topics": [TOPIC], "source.redis.partitions": PARTITIONS, "source.redis.group": GROUP,
            "source.redis.url": self.url,
        }  # fmt: skip

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    @property
    def words(self):
        """Of a producer."""
        return ["--port", self.port]

    def answers(self):
        if not self.child.is_running:
            fail(f"redis-server ended: {self.child.text()[-500:]}")
        try:
            return self("PING").startswith("+PONG")
        except OSError:
            return False

    def __call__(self, *words):
        """The answer as it comes, which is short."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(encode(words))
            answer = connection.recv(1 << 16)
            while answer[:1] == b"$" and len(answer) < int(answer[1:answer.index(b"\r")]):
                answer += connection.recv(1 << 16)
        return answer.decode("utf-8", "replace")

    def calls(self, command):
        """How often a command was called, and how many microseconds the server took for it in all."""
        found = re.search(rf"cmdstat_{command}:calls=(\d+),usec=(\d+)", self("INFO", "commandstats"))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def forget(self):
        self("FLUSHALL")
        self("CONFIG", "RESETSTAT")

    def end(self):
        self.child.end()


class Kafka:
    """A topic of a broker, which keeps it in memory, beside a Redis with the checkpoints."""

    def __init__(self, folder, redis, core=SERVER_CORE):
        self.broker, self.redis = Broker(folder, "tansu", pinned(core, [])).start(), redis
        self.broker.topic(TOPIC, PARTITIONS)

    @property
    def source(self):
        return {
            "source.kafka.bootstrapServers": [self.broker.addresses], "source.kafka.topics": [TOPIC], "source.kafka.group": GROUP,
            "storage.redis.url": self.redis.url,
        }  # fmt: skip

    @property
    def words(self):
        return ["--kafka", self.broker.addresses]

    def settled(self):
        """By partition: the offset behind what is settled."""
        cursors = [self.redis("HGET", f"{GROUP}:{{{number}}}:cursor", TOPIC).split("\r\n")[1] for number in range(PARTITIONS)]
        return [int(cursor.split()[0]) + 1 for cursor in cursors]

    def end(self):
        self.broker.end()


class Sink:
    """The cheapest provider, as a configuration names it, with a key to sign with. It says how many pushes came when."""

    def __init__(self, binary, folder, core=SERVER_CORE):
        self.timeline = Path(folder) / "timeline"
        authority, key = Path(folder) / "sink.pem", Path(folder) / "AuthKey_S1M3K5M7S9.p8"
        drawn = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", str(key)]
        subprocess.run(drawn, check=True, stderr=subprocess.DEVNULL)
        key.chmod(0o600)
        words = [binary, "sink", "--authority", authority, "--timeline", self.timeline]
        self.process = subprocess.Popen(pinned(core, words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            fail("the sink does not begin to serve")
        self.apps = (
            "apps:\n  courier:\n    bundleId: com.example.courier\n    teamId: S1MT3AMWAY\n    keyId: S1M3K5M7S9\n"
            f"    keyFile: {key}\n    host: localhost\n    port: {json.loads(line)['port']}\n    caFile: {authority}\n")  # fmt: skip

    def pushes(self):
        """Unix time in ms of each tenth of a second → pushes in it."""
        lines = self.timeline.read_text().split("\n")[:-1]
        return {int(line.split()[0]): int(line.split()[1]) for line in lines}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Member:
    """`waypulse run` as member of the group."""

    def __init__(self, program, folder, name, apps, source, settings, core=None):
        values = {**OTHERS, **QUIET, "source.member": name, **source.source, **settings}
        path = Path(folder) / f"{name}.json"
        path.write_text(apps + "".join(block(tree(values), "")))
        words = pinned(core, [program, "run", "--config", path])
        self.child = Child(name, words, Path(folder) / f"{name}.log", folder, environment())
        until(self.says_running, 30, lambda: f"'running' of {name}; it said {self.child.text()[-1_000:]}")
        line = self.child.lines_with('"message":"running"')[-1]
        self.address = f"http://127.0.0.1:{json.loads(line)['metricsPort']}/metrics"

    def says_running(self):
        if not self.child.is_running:
            fail(f"{self.child.name} ended: {self.child.text()[-2_000:]}")
        return self.child.lines_with('"message":"running"')

    def metrics(self):
        """The sum of each name over its labels."""
        values = {}
        with urllib.request.urlopen(self.address, timeout=20) as answer:
            for line in answer.read().decode().splitlines():
                if found := re.match(r"(\w+)(?:\{.*\})? (\S+)$", line):
                    values[found[1]] = values.get(found[1], 0) + float(found[2])
        return values

    @property
    def cpu_seconds(self):
        """User and system time so far of all threads, from the scheduler's own books."""
        tasks = Path(f"/proc/{self.child.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    @property
    def resident_bytes(self):
        pages = int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")

    def said(self, message):
        """Unix time in ms and fields of each log line with this message."""
        return [json.loads(line) for line in self.child.lines_with(f'"message":"{message}"')]

    def end(self):
        self.child.end()

    def wait(self, name, value, seconds, pause=0.1):
        """Until a metric is at least so much."""
        until(lambda: self.metrics().get(name, 0) >= value, seconds, lambda: f"{name} {value}; it is {self.metrics().get(name)}",
              pause=pause)  # fmt: skip


def tree(values):
    root = {}
    for name, value in values.items():
        *path, last = name.split(".")
        branch = root
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return root


def block(branch, indent):
    for name, value in branch.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:\n"
            yield from block(value, indent + "  ")
        else:
            yield f"{indent}{name}: {json.dumps(value)}\n"


def produce(binary, source, core=None, **what):
    """Runs a producer to its end."""
    words = producer_words(binary, source, what)
    if subprocess.run(pinned(core, words)).returncode != 0:
        fail(f"{' '.join(map(str, words))} failed")


def producer(binary, source, folder, **what):
    """One that goes on until it is ended."""
    return Child("producer", producer_words(binary, source, what), Path(folder) / "producer.log", environment=environment())


def producer_words(binary, source, what):
    words = [binary, "produce", *source.words, "--topic", TOPIC, "--partitions", PARTITIONS]
    for name, value in what.items():
        words += [f"--{name}", value]
    return words
