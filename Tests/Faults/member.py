"""Members of a group: `waypulse run`, as processes of their own."""

import contextlib
import json
import re
import urllib.error
import urllib.request
from pathlib import Path

from processes import Child, Trouble, environment, until
from promises import Terms

# Everything that waits in production waits here for a second or two, so that a test need not wait for minutes.
PACING = {
    "pacing.deadbandMeters": 20,
    # With urgent ones between them a little less than one a second: a phone orders by whole seconds, so more would have to wait.
    "pacing.minInterval": "1500ms",
    "pacing.urgentMinInterval": "1s",
    "pacing.profile": "auto",
    # Long enough that refreshes are rare, short enough that an empty bucket holds a last update for ten seconds and no more.
    "pacing.staleAfter": "12s",
    "pacing.refreshLead": "2s",
}
DELIVERY = {
    "delivery.connectTimeout": "2s",
    "delivery.requestTimeout": "3s",
    "delivery.pingAfter": "1s",
    "delivery.pingTimeout": "1s",
    "delivery.reconnectDelay": "100ms",
    "delivery.reconnectDelayMax": "1s",
    "delivery.serverErrorHold": "1s",
    "delivery.probeDelay": "500ms",
}
OTHERS = {"drainTimeout": "1s", "metrics.listen": "127.0.0.1:0", "log.format": "json"}
TYPES = {
    "attributesTypes.Ride.pacing.profile": "unlimited",
    "attributesTypes.Ride.activityIdAttribute": "activityId",
    "attributesTypes.Paced.activityIdAttribute": "activityId",
}


def terms():
    """What the judge holds members of these settings to."""
    return Terms(
        deadband_meters=PACING["pacing.deadbandMeters"], min_interval_milliseconds=milliseconds("pacing.minInterval"),
        urgent_min_interval_milliseconds=milliseconds("pacing.urgentMinInterval"),
        refresh_after_milliseconds=milliseconds("pacing.staleAfter") - milliseconds("pacing.refreshLead"),
    )  # fmt: skip


def milliseconds(name):
    text = PACING[name]
    return float(text.removesuffix("ms")) if text.endswith("ms") else float(text.removesuffix("s")) * 1_000


def configuration(apps, settings):
    """YAML of dotted keys, below the lines that name the apps."""
    tree = {}
    for name, value in settings.items():
        *path, last = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    # JSON is YAML; values alone are written so.
    return apps + "".join(block(tree, ""))


def block(tree, indent):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:\n"
            yield from block(value, indent + "  ")
        else:
            yield f"{indent}{name}: {json.dumps(value)}\n"


class Member:
    def __init__(self, program, folder, name, apps, source, **settings):
        """Writes its configuration, `source` being the part about that; `start` starts it. A setting of None is left out."""
        self.program, self.folder, self.name = program, Path(folder), name
        values = PACING | DELIVERY | OTHERS | TYPES | source | {"source.member": name}
        values |= {key.replace("__", "."): value for key, value in settings.items()}
        self.path = self.folder / f"{name}.yaml"
        self.path.write_text(configuration(apps, {key: value for key, value in values.items() if value is not None}))
        self.child = None
        self.most_resident_bytes = 0

    def start(self):
        words = [self.program, "run", "--config", self.path]
        self.child = Child(self.name, words, self.folder / f"{self.name}.log", self.folder, environment())
        return self

    def running(self, meanwhile=None, seconds=20):
        """Waits until it says so, with the port of its metrics."""

        def says():
            if not self.child.is_running:
                raise Trouble(f"{self.name} ended with {self.child.process.returncode}: {self.child.text()[-2_000:]}")
            return self.child.lines_with('"message":"running"')

        until(says, seconds, lambda: f"'running' of {self.name}; it said {self.child.text()[-1_000:]}", meanwhile)
        return self

    @property
    def operations(self):
        lines = self.child.lines_with('"message":"running"')
        return f"http://127.0.0.1:{json.loads(lines[-1])['metricsPort']}" if lines else None

    def get(self, path):
        """Status and text; (0, "") where it does not answer."""
        try:
            with urllib.request.urlopen(self.operations + path, timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, TypeError):
            return 0, ""

    def metrics(self):
        """The sum of each name over its labels, and each with its labels."""
        values = {}
        for line in self.get("/metrics")[1].splitlines():
            found = re.match(r"(\w+)(\{.*\})? (\S+)$", line)
            if found:
                with contextlib.suppress(ValueError):
                    name, labels, value = found[1], found[2] or "", float(found[3])
                    values[name] = values.get(name, 0) + value
                    if labels:
                        values[name + labels] = value
        return values

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    @property
    def is_running(self):
        return self.child is not None and self.child.is_running

    def look(self):
        if self.is_running:
            self.most_resident_bytes = max(self.most_resident_bytes, self.child.resident_bytes())

    def kill(self):
        self.look()
        self.child.kill()

    def stop(self, meanwhile=None):
        self.look()
        return self.child.stop(meanwhile=meanwhile)

    def end(self):
        if self.child:
            self.child.end()
