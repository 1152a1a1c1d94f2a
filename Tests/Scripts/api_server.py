"""The HTTP API that a script asks: that of a real member, one that is named, or one over a service in memory that a Swift test serves.

    PROGRAM                                              `PROGRAM run` with a Redis, a simulator and deliveries of its own
    --url URL --key KEY [--metrics URL] [--pid PID]      one that runs
    (nothing)                                            a Swift test, which has to be built
"""

import argparse
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from api_member import member

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120


@dataclass
class Api:
    url: str
    key: str
    metrics: str = ""
    pid: int = 0
    # Where the script began it.
    member: object = None

    @property
    def address(self):
        host, _, port = self.url.removeprefix("http://").rstrip("/").rpartition(":")
        return host.strip("[]"), int(port)


def arguments(description):
    parser = argparse.ArgumentParser(description=description, epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the built waypulse")
    parser.add_argument("--url", help="where the API answers, such as http://127.0.0.1:8080")
    parser.add_argument("--key", help="a key with every scope")
    parser.add_argument("--metrics", default="", help="where /metrics of the same process is")
    parser.add_argument("--pid", type=int, default=0, help="its process, for memory and descriptors")
    return parser


@contextlib.contextmanager
def served(options, strangers=None):
    """- strangers: requests a second of an address without a key, where it is begun here."""
    if options.program:
        limits = {"requestsPerSecond": 100_000, "burst": 100_000} | ({"strangersPerSecond": strangers} if strangers else {})
        with member(options.program, *(word for name, value in limits.items() for word in ("--set", f"api.{name}={value}"))) as one:
            one.know("order-1", "order-2")
            yield Api(one.url, one.key, one.metrics, one.pid, one)
        return
    if options.url:
        if not options.key:
            raise SystemExit("error: --url needs --key")
        yield Api(options.url, options.key, options.metrics, options.pid)
        return
    folder = tempfile.mkdtemp(prefix="waypulse-api-")
    environment = dict(os.environ, WAYPULSE_API_SERVE=folder)
    if strangers:
        environment["WAYPULSE_API_STRANGERS"] = str(strangers)
    command = shlex.split(os.environ.get("WAYPULSE_TEST_COMMAND", "")) or [
        subprocess.run([ROOT / "Tests/Scripts/find_swift"], check=True, capture_output=True, text=True).stdout.strip(),
        "test", "--skip-build",
    ]  # fmt: skip
    with open(f"{folder}/log", "wb") as log:
        server = subprocess.Popen(
            command + ["--filter", "ServedForScripts"], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not os.path.exists(f"{folder}/ready"):
            if server.poll() is not None or time.monotonic() > deadline:
                text = Path(folder, "log").read_text("utf-8", "replace")
                raise SystemExit(f"error: the test that serves the API did not begin; is it built? Its last words:\n{text[-2000:]}")
            time.sleep(0.05)
        yield Api(**json.loads(Path(folder, "ready").read_text()))
    finally:
        Path(folder, "stop").touch()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)
