"""Exact figures that may not grow unnoticed: allocations and instructions an event and a push."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "thresholds.json"
# What `waypulse-bench count` can do, and what one of it is called.
COUNTS = {"decode": "event", "statuses": "event", "pacing": "event", "lane": "push", "worker": "push"}
# The difference of two runs is the steady state alone, whatever starting up takes.
FEW_TIMES, MANY_TIMES = 2, 12
# Swift seeds its hashing afresh in every process, unless told not to.
STEADY = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}


@dataclass(frozen=True)
class Threshold:
    what: str
    # allocations or instructions
    kind: str
    allowed: float
    tolerance_percent: float

    @property
    def name(self):
        return f"{self.kind} a{'n' if COUNTS[self.what] == 'event' else ''} {COUNTS[self.what]}, {self.what}"

    @property
    def most(self):
        return self.allowed * (1 + self.tolerance_percent / 100)

    @property
    def least(self):
        return self.allowed * (1 - self.tolerance_percent / 100)


def read(text):
    return [Threshold(one["what"], one["kind"], one["allowed"], one["tolerancePercent"]) for one in json.loads(text)["thresholds"]]


def written(thresholds, found, about):
    """The file with what was found as what is allowed from now on."""
    kept = [
        {"what": one.what, "kind": one.kind, "allowed": rounded(found.get((one.what, one.kind), one.allowed)),
         "tolerancePercent": one.tolerance_percent}
        for one in thresholds
    ]
    lines = ",\n".join("  " + json.dumps(one) for one in kept)
    return f'{{\n "measuredWith": {json.dumps(about)},\n "thresholds": [\n{lines}\n ]\n}}\n'


def rounded(value):
    """Four digits say enough."""
    return float(f"{value:.4g}")


def judge(threshold, found):
    """exceeded, reached, or beaten: so much better that the file should be renewed."""
    # An allocation more in ten thousand events is a table that grew; it still counts.
    if found > threshold.most + 1e-9:
        return "exceeded"
    return "beaten" if found < threshold.least - 1e-9 else "reached"


def report(thresholds, found):
    """A line for each, and whether all hold."""
    lines, holds = [], True
    for one in thresholds:
        value = found.get((one.what, one.kind))
        if value is None:
            continue
        verdict = judge(one, value)
        holds = holds and verdict != "exceeded"
        words = {"exceeded": "EXCEEDED", "reached": "", "beaten": "better by far: renew with make thresholds WRITE=1"}[verdict]
        allowed = f"allowed {one.allowed:,g}" + (f" + {one.tolerance_percent:g} %" if one.tolerance_percent else "")
        lines.append(f"{one.name}: found {rounded(value):,g}, {allowed} {words}".rstrip())
    return lines, holds


def instructions_of(output):
    """What callgrind says it collected."""
    found = re.search(r"Collected : (\d+)", output)
    return int(found[1]) if found else None


class Counting:
    """Runs `waypulse-bench count`.

    `folder` holds a copy without debug information, which Debian's valgrind cannot read where Swift wrote it.
    """

    def __init__(self, binary, folder):
        self.binary = f"{folder}/waypulse-bench"
        subprocess.run(["strip", "--strip-debug", "-o", self.binary, binary], check=True)

    def allocations(self, what):
        return self._run([], what, MANY_TIMES)[0]["allocationsPerUnit"]

    def instructions(self, what):
        callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        (few, fewer), (many, more) = (self._run(callgrind, what, times) for times in (FEW_TIMES, MANY_TIMES))
        return (instructions_of(more) - instructions_of(fewer)) / (many["units"] - few["units"])

    def _run(self, prefix, what, times):
        command = [*prefix, self.binary, "count", "--what", what, "--times", str(times)]
        done = subprocess.run(command, capture_output=True, text=True, env=STEADY)
        if done.returncode != 0:
            raise SystemExit(f"error: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)["figures"], done.stderr
