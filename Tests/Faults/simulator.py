"""The bundled APNs with its phones, as a process; its faults and its journal."""

import json
import re
import urllib.request
from pathlib import Path

from processes import Child, Trouble, environment, until


class Simulator:
    def __init__(self, program, folder, latency_milliseconds):
        self.folder = Path(folder) / "apns"
        self.latency_milliseconds = latency_milliseconds
        words = ["simulate", "apns", "--directory", self.folder, "--control", 0, "--latency", latency_milliseconds]
        self.child = Child("simulator", [program, *words], Path(folder) / "simulator.log", folder, environment())

        def control():
            if not self.child.is_running:
                raise Trouble(f"the simulator ended: {self.child.text()}")
            return re.search(r"Control: (http://[\d.:]+)", self.child.text())

        self.control = until(control, 20, "the control port of the simulator")[1]
        self.apps = re.search(r"^apps:\n(?: .*\n)+", self.child.text(), re.MULTILINE)[0]
        self.journal = JournalFile(self.folder / "journal.jsonl")

    def change(self, **faults):
        """Switches faults; each stays until it is switched again. Names as in Sources/PushSimulator/README.md."""
        with urllib.request.urlopen(self.control + "/faults", json.dumps(faults).encode(), timeout=20) as answer:
            return json.load(answer)

    def entries(self):
        """The whole journal as it stands now; the file may be a moment behind."""
        with urllib.request.urlopen(self.control + "/journal", timeout=60) as answer:
            return [json.loads(line) for line in answer.read().splitlines()]

    def refuse(self, status=503, reason="ServiceUnavailable"):
        self.change(errors=[{"status": status, "reason": reason, "share": 1}])

    def accept(self):
        self.change(errors=[], blackHole=False)

    def end(self):
        self.child.end()


class JournalFile:
    """Reads on in a journal that grows. Amendments are folded in."""

    def __init__(self, path):
        self.path = Path(path)
        self.entries = []
        self.position = 0

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.position)
            data = file.read()
        whole = data.rpartition(b"\n")[0]
        self.position += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            fold(json.loads(line), self.entries)
        return self.entries


def fold(line, entries):
    if "amends" in line:
        entries[line["amends"]].update({name: line[name] for name in ("verdict", "fate") if name in line})
    else:
        entries.append(line)
