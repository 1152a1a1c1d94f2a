#!/usr/bin/env python3
"""Recorded traces: does `plan` send exactly what a plain deadband filter emits?

usage: compare_traces.py --oracle FILTER.py --converter TRACE_TO_EVENTS.py [--waypulse PATH] TRACE...

Without --waypulse the reference model is compared. The filter reads a trace and prints {"emit_t", "t", "lat", "lon"}
lines (deadband 75 m, at most one each 15 s); the converter prints the trace as position events. All rules that the filter
does not know are switched off. Exit code 1 on any difference.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = ["profile=unlimited", "refresh=false", "accuracyAware=false", "maxActivityLife=off", "allowNullIsland=true",
            "maxAccuracyMeters=1e6", "maxSpeedMetersPerSecond=1e9", "maxAge=36500d", "maxFuture=36500d"]


def lines_of(command):
    done = subprocess.run(command, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--converter", required=True)
    parser.add_argument("--waypulse")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    arguments = parser.parse_args()
    plan = [arguments.waypulse, "plan"] if arguments.waypulse else [sys.executable, os.path.join(HERE, "plan_model.py")]
    for setting in SETTINGS:
        plan += ["--set", "pacing." + setting]

    differing = sends = 0
    for trace in arguments.traces:
        expected = [(line["emit_t"], line["t"], line["lat"], line["lon"]) for line in
                    lines_of([sys.executable, arguments.oracle, "--drop-invalid", trace])]
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as recording:
            subprocess.run([sys.executable, arguments.converter, trace], stdout=recording, check=True)
            found = [(send["time"], send["positionTimestamp"], send["latitude"], send["longitude"])
                     for send in lines_of(plan + [recording.name])]
        sends += len(found)
        if found != expected:
            differing += 1
            first = next((index for index, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]),
                         min(len(expected), len(found)))
            print("%s: %d sends, %d expected; first difference at send %d: %s, expected %s" % (
                trace, len(found), len(expected), first + 1, found[first:first + 1], expected[first:first + 1]))
    print("%d traces, %d sends, %d traces differ" % (len(arguments.traces), sends, differing))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
