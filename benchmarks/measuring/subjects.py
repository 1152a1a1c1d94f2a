"""The programs that are measured: ours, its rivals, and the servers that they push to."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

from measuring.results import Measurement
from measuring.rows import SERVERS, STREAMS

# The server keeps off the client's core, where there are two.
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = CORES[0], CORES[-1]
PUSHES = 300_000
# Go needs as long for these.
GO_PUSHES = 60_000
TOPIC = "com.example.courier.push-type.liveactivity"
# Of the size that a true one has.
TOKEN = "eyJhbGciOiJFUzI1NiIsImtpZCI6IlMxTUszWVdBWVAifQ." + "eyJpc3MiOiJTMU1UM0FNV0FZIiwiaWF0IjoxNzk1OTUzNjAwfQ." + "A" * 86


def fail(text):
    sys.exit(f"error: {text}")


def pinned(core, command):
    return (["taskset", "--cpu-list", str(core)] if core is not None else []) + [str(word) for word in command]


def lines_of(benchmark, command, core=None, environment=None):
    """What a program of ours measured: a JSON line each."""
    done = subprocess.run(
        pinned(core, command), stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return [Measurement(benchmark, **json.loads(line)) for line in done.stdout.splitlines()]


class Server:
    """`waypulse-bench sink` or `serve` on the server's core, while the `with` lasts."""

    def __init__(self, binary, kind, folder):
        self.command = pinned(SERVER_CORE, [binary, kind, "--authority", f"{folder}/{kind}.pem"])
        self.kind, self.authority = kind, f"{folder}/{kind}.pem"

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            fail(f"{self.kind} does not begin to serve")
        self.port = json.loads(line)["port"]
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    @property
    def cpu_seconds(self):
        """User and system time so far, from the scheduler's own books: nanoseconds, where times(2) counts hundredths."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def beside(self, measure, pushes):
        """What `measure` measured, and what the server used meanwhile."""
        before = self.cpu_seconds
        measurement = measure()
        used = self.cpu_seconds - before
        figures = {**measurement.figures, "serverCPUSecondsPerMillionPushes": used / pushes * 1e6}
        case = f"{measurement.case}, {SERVERS[self.kind]}"
        return Measurement("dispatch", case, measurement.subject, measurement.round, figures)


def own_client(binary, server, subject, number):
    words = [binary, "push", "--client", subject, "--port", server.port, "--authority", server.authority]
    words += ["--round", number, "--requests", PUSHES, "--streams", STREAMS]
    [measurement] = lines_of("dispatch", words, CLIENT_CORE)
    return measurement


def payloads(binary, server, number):
    """A lane and a worker. The server meanwhile also takes what is told before the counting begins, so its use is not set beside this."""
    words = [binary, "payloads", "--port", server.port, "--authority", server.authority, "--round", number, "--streams", STREAMS]
    [measurement] = lines_of("dispatch", words, CLIENT_CORE)
    case = f"{measurement.case}, {SERVERS[server.kind]}"
    return Measurement("dispatch", case, measurement.subject, measurement.round, measurement.figures)


def go_worker(program, server, number, is_restricted):
    words = [program, "-port", server.port, "-authority", server.authority, "-authorization", f"bearer {TOKEN}"]
    words += ["-topic", TOPIC, "-requests", GO_PUSHES, "-streams", STREAMS, "-round", number]
    words += [] if is_restricted else ["-subject", "go, unrestricted"]
    core, environment = (CLIENT_CORE, {"GOMAXPROCS": "1"}) if is_restricted else (None, {})
    [measurement] = lines_of("dispatch", words, core, environment)
    return measurement


class H2Load:
    """Debian's h2load with the pushes of the other clients, except that its apns-id is always the same one."""

    def __init__(self, folder, port):
        fields = [
            f"authorization: bearer {TOKEN}", f"apns-topic: {TOPIC}", "apns-push-type: liveactivity", "apns-priority: 5",
            "apns-expiration: 0", "apns-id: 7d3f0c52-3a55-4bd6-9d0f-0e7a6a2f1c11",
        ]
        body = Path(folder) / "body.json"
        body.write_text('{"aps":{"content-state":{"note":"' + "on the way " * 100)
        os.truncate(body, 800)
        addresses = Path(folder) / f"addresses-{port}"
        base = f"https://localhost:{port}/3/device/"
        addresses.write_text("".join(f"{base}{number * 0x9E3779B97F4A7C15 % 2**256:064x}\n" for number in range(20_000)))
        command = ["h2load", "--threads", "1", "--clients", "1", "--requests", PUSHES, "--max-concurrent-streams", STREAMS]
        command += ["--data", body, "--input-file", addresses]
        for field in fields:
            command += ["--header", field]
        self.command = pinned(CLIENT_CORE, command)

    def push(self, number):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(self.command, stdout=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rate = re.search(r"finished in [^,]+, ([0-9.]+) req/s", done.stdout)
        if done.returncode != 0 or rate is None or f"{PUSHES} 2xx" not in done.stdout:
            fail(f"h2load did not push everything:\n{done.stdout}")
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures = {"cpuSecondsPerMillionPushes": used / PUSHES * 1e6, "pushesPerSecond": float(rate[1])}
        return Measurement("dispatch", f"1 connection, {STREAMS} streams", "h2load", number, figures)
