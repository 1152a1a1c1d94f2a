"""The table of benchmarks/README.md, and what it says of the machine."""

import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "benchmarks/README.md"
MARKERS = ("<!-- results: written by benchmarks/run --write-page -->", "<!-- end of results -->")
PACKAGES = ["libnghttp2-14", "nghttp2-client", "libssl3", "libsimdjson14", "libc6", "golang-go", "golang-golang-x-net-dev",
            "redis-server", "libhiredis0.14", "librdkafka1"]


def number(value, digits):
    return f"{value:,.{digits}f}"


def spread(values, digits, unit=""):
    least, most = number(min(values), digits), number(max(values), digits)
    return f"{least} – {most}{unit}" if least != most else ""


def verdict(row, results):
    """The target and whether the median reaches it, or nothing."""
    if row.target is None:
        return ""
    values = results.ratios(row) if row.target.of == "ratio" else results.of(row)
    if not values:
        return ""
    return f"{row.target.words} {'**reached**' if row.target.is_reached(statistics.median(values)) else 'not reached'}"


def line(row, results):
    """One line of the table, or none where nothing was measured."""
    values = results.of(row)
    if not values:
        return None
    ratio = ""
    if row.against and (ratios := results.ratios(row)):
        ratio = f"**{statistics.median(ratios):.2f}** × {row.against.words}"
        ratio += f" ({spread(ratios, 2)})" if spread(ratios, 2) else ""
    again = f"`make bench ONLY={row.benchmark}`" if row.label else ""
    figure = [f"{number(statistics.median(values), row.digits)} {row.unit}", spread(values, row.digits)]
    cells = [row.label, *(["", ""] if row.is_ratio_alone else figure), ratio, verdict(row, results), again]
    return f"| {' | '.join(cells)} |"


def table(rows, results):
    lines = ["| what | median | least – most | ratio in the same round | target | again with |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [text for text in (line(row, results) for row in rows) if text])


def output_of(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT).stdout.strip()
    except FileNotFoundError:
        return ""


def surroundings(cores):
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    installed = output_of("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *PACKAGES)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": output_of("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "command": " ".join(["benchmarks/run", *sys.argv[1:]]),
        "machine": {"processor": cpu[1] if cpu else platform.machine(), "cores": cores, "kernel": platform.release(),
                    "load": [round(value, 2) for value in os.getloadavg()]},
        "versions": dict(line.split(" ", 1) for line in installed.splitlines()),
        "swift": output_of(output_of("Tests/Scripts/find_swift") or "swift", "--version").split("\n")[0],
    }


def caption(about):
    machine, versions = about["machine"], about["versions"]
    library = ", ".join(f"{name} {version}" for name, version in versions.items())
    load = machine["load"][0]
    text = (f"Measured {about['date'][:10]} at {about['commit']}: {machine['cores']} cores of {machine['processor']}, Linux "
            f"{machine['kernel']}; {about['swift']}; {library}.")
    # Both cores are the benchmark's own to fill; what ran before it was somebody else.
    if load > 1:
        text += f" **Preliminary:** the machine was busy with other work when this began (load {load})."
    return text


def with_results(page, text):
    """The page with `text` between its two markers; none where it lacks them."""
    begin, end = (page.find(marker) for marker in MARKERS)
    if not 0 <= begin < end:
        return None
    return page[: begin + len(MARKERS[0])] + "\n" + text + "\n" + page[end:]


def limits(page):
    """What limits each benchmark now, from the table of that name on the page: benchmark → sentence."""
    section = page.partition("## What limits now")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w[\w ]*) \| (.+) \|$", section, re.MULTILINE)
    return {name.replace("whole ", ""): text for name, text in rows}
