#!/usr/bin/env python3
"""Differential test: `waypulse plan` against the reference model, on generated recordings.

usage: compare_plan.py --waypulse PATH [--seeds A..B] [--events K] [--activities N]
       compare_plan.py --waypulse PATH --cases          the timelines of plan_cases.py
       compare_plan.py --waypulse PATH --recording FILE [--set key=value]...
       compare_plan.py --selftest

Each seed makes a recording and options (generate_recording.py). A seed that differs is printed with its first
difference, cut down to few lines (`--minimise-seconds`), and kept in `--keep DIR`. Exit code 1 on any difference.
`--reading name=choice` is handed to the model (plan_settings.py).
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import strict_json
from generate_recording import Recording, choose_settings
from plan_cases import CASES
from plan_model import plan, read_lines, summary
from plan_settings import Settings

# How the engine names things: adapt here.
ENGINE_ARGUMENTS = ["plan", "--json"]
ENGINE_SUMMARY = {"activityEvents": "activityEvents", "decisions": "decisions", "deadLetters": "deadLetters",
                  "sends": "sends"}
ENGINE_DECISIONS = {}   # engine's name -> model's name, where they differ
NOT_COMPARED = {"bytes"}
HERE = os.path.dirname(os.path.abspath(__file__))


class Case:
    """Recordings as lists of lines, options, and what the model makes of them."""

    def __init__(self, recordings, options, readings):
        self.recordings, self.options, self.readings = recordings, options, readings

    def model(self):
        pacing = plan(self.recordings, Settings(self.options, self.readings))
        sends = [strict_json.read(json.dumps(send).encode())[0] for send in pacing.sends]
        return sends, summary(pacing)

    def engine(self, command):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for index, lines in enumerate(self.recordings):
                names.append(os.path.join(folder, "recording-%d.jsonl" % index))
                with open(names[-1], "wb") as file:
                    file.write(b"".join(line + b"\n" for line in lines))
            options = [word for option in self.options for word in ("--set", option)]
            done = subprocess.run(command + ENGINE_ARGUMENTS + options + names, capture_output=True, timeout=120)
        if done.returncode != 0:
            raise Unusable("exit code %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-800:]))
        try:
            sends = [strict_json.read(line)[0] for line in done.stdout.split(b"\n") if line]
        except strict_json.NotJSON as fault:
            raise Unusable("standard output is not JSON Lines: %s" % fault)
        return sends, engine_summary(done.stderr)

    def difference(self, command):
        """-> None, or a readable text"""
        expected, expected_counts = self.model()
        try:
            found, found_counts = self.engine(command)
        except (Unusable, subprocess.TimeoutExpired) as fault:
            return "the engine failed: %s" % fault
        return sends_differ(expected, found) or counts_differ(expected_counts, found_counts)


class Unusable(Exception):
    pass


def engine_summary(stderr):
    text = stderr.decode("utf-8", errors="replace").strip()
    for candidate in [text] + text.splitlines()[::-1]:
        if candidate.startswith("{"):
            try:
                raw = json.loads(candidate)
            except ValueError:
                continue
            return {ours: raw.get(theirs, {}) for ours, theirs in ENGINE_SUMMARY.items()}
    raise Unusable("no JSON object on standard error: %s" % text[-400:])


def sends_differ(expected, found):
    for index in range(max(len(expected), len(found))):
        ours = expected[index] if index < len(expected) else None
        theirs = found[index] if index < len(found) else None
        if ours is not None and theirs is not None:
            ours = {key: value for key, value in ours.items() if key not in NOT_COMPARED}
            theirs = {key: value for key, value in theirs.items() if key not in NOT_COMPARED}
            if strict_json.equal(ours, theirs):
                continue
            keys = [key for key in sorted(set(ours) | set(theirs))
                    if not (key in ours and key in theirs and strict_json.equal(ours[key], theirs[key]))]
        else:
            keys = ["missing in the engine" if theirs is None else "missing in the model"]
        before = ["  both    " + line(send) for send in expected[max(0, index - 2):index]]
        return "\n".join(["send %d differs: %s" % (index + 1, ", ".join(keys))] + before
                         + ["  model   " + line(ours), "  engine  " + line(theirs)])
    return None


def line(send):
    return "–" if send is None else json.dumps(send, ensure_ascii=False, separators=(",", ":"))


def counts_differ(expected, found):
    lines = []
    if expected["activityEvents"] != found["activityEvents"]:
        lines.append("  activityEvents: model %s, engine %s" % (expected["activityEvents"], found["activityEvents"]))
    for group in ("decisions", "deadLetters", "sends"):
        theirs = {}
        for name, count in (found[group] or {}).items():
            name = ENGINE_DECISIONS.get(name, name)
            theirs[name] = theirs.get(name, 0) + count
        for name in sorted(set(expected[group]) | set(theirs)):
            ours, other = expected[group].get(name, 0), theirs.get(name, 0)
            if ours != other:
                lines.append("  %s.%s: model %s, engine %s" % (group, name, ours, other))
    return "\n".join(["the sends agree, the counts differ:"] + lines) if lines else None


def case_of_seed(seed, events, activities, readings):
    lines = Recording(seed, events, activities).bytes()
    options = choose_settings(random.Random("settings %d" % seed))
    if seed % 5 == 0:   # two recordings that are merged
        chance = random.Random("split %d" % seed)
        halves = ([], [])
        for text in lines:
            chance.choice(halves).append(text)
        return Case(list(halves), options, readings)
    return Case([lines], options, readings)


def minimised(case, command, seconds):
    """Delta debugging: ever smaller pieces of the lines, then the options, are left out while a difference remains."""
    deadline = time.monotonic() + seconds

    def differs(tagged, options):
        recordings = [[text for owner, text in tagged if owner == index] for index in range(len(case.recordings))]
        return Case(recordings, options, case.readings).difference(command) is not None

    tagged = [(index, text) for index, lines in enumerate(case.recordings) for text in lines]
    options = list(case.options)
    piece = max(1, len(tagged) // 2)
    while time.monotonic() < deadline:
        smaller_found = False
        first = 0
        while first < len(tagged) and time.monotonic() < deadline:
            rest = tagged[:first] + tagged[first + piece:]
            if differs(rest, options):
                tagged, smaller_found = rest, True
            else:
                first += piece
        if piece == 1 and not smaller_found:
            break
        piece = max(1, piece // 2)
    for option in list(options):
        rest = [other for other in options if other != option]
        if time.monotonic() < deadline and differs(tagged, rest):
            options = rest
    recordings = [[text for owner, text in tagged if owner == index] for index in range(len(case.recordings))]
    return Case(recordings, options, case.readings)


def report(name, case, command, arguments):
    small = minimised(case, command, arguments.minimise_seconds) if arguments.minimise_seconds else case
    print("%s differs. Smallest case found (%d lines):" % (name, sum(len(lines) for lines in small.recordings)))
    for option in small.options:
        print("  --set " + option)
    for index, lines in enumerate(small.recordings):
        if len(small.recordings) > 1:
            print("  recording %d" % (index + 1))
        for text in lines[:60]:
            text = text.decode("utf-8", errors="replace")
            print("    " + (text if len(text) < 400 else text[:200] + " … " + text[-60:]))
    print(small.difference(command), flush=True)
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
        for index, lines in enumerate(small.recordings):
            with open(os.path.join(arguments.keep, "%s-%d.jsonl" % (name.replace(" ", "-"), index)), "wb") as file:
                file.write(b"".join(text + b"\n" for text in lines))
        with open(os.path.join(arguments.keep, name.replace(" ", "-") + ".settings"), "w", encoding="utf-8") as file:
            file.write("".join(option + "\n" for option in small.options))


def compare(command, arguments):
    if arguments.recording:
        recordings = [read_lines(name) for name in arguments.recording]
        cases = [("recording", Case(recordings, arguments.set, arguments.reading))]
    elif arguments.cases:
        cases = [("section %s, %s:" % (each["section"], each["name"]),
                  Case([[text.encode() for text in lines] for lines in each["recordings"]], each["settings"],
                       arguments.reading)) for each in CASES]
    else:
        first, _, last = arguments.seeds.partition("..")
        cases = ((("seed %d" % seed), case_of_seed(seed, arguments.events, arguments.activities, arguments.reading))
                 for seed in range(int(first), int(last or first) + 1))
    compared = differing = 0
    for name, case in cases:
        compared += 1
        if case.difference(command) is not None:
            differing += 1
            report(name, case, command, arguments)
            if differing >= arguments.most:
                break
    print("%d compared, %d differ" % (compared, differing))
    return 1 if differing else 0


def selftest(arguments):
    """The model in the engine's place agrees with itself; with a rule read otherwise the difference is found."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = os.path.join(folder, "stand-in.py")
        with open(stand_in, "w", encoding="utf-8") as file:
            file.write("import subprocess, sys\n"
                       "arguments = [a for a in sys.argv[1:] if a not in ('plan', '--json')]\n"
                       "sys.exit(subprocess.run([sys.executable, %r] + arguments).returncode)\n"
                       % os.path.join(HERE, "plan_model.py"))
        arguments.minimise_seconds, arguments.seeds, arguments.most = 5, "1..5", 1
        agrees = compare([sys.executable, stand_in], arguments) == 0
        arguments.reading = ["endReasons=alone"]
        finds = compare([sys.executable, stand_in], arguments) == 1
    print("selftest: %s" % ("ok" if agrees and finds else "FAILED"))
    return 0 if agrees and finds else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waypulse", help="the engine's program")
    parser.add_argument("--seeds", default="1..100", metavar="A..B")
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--activities", type=int, default=4)
    parser.add_argument("--recording", action="append", default=[])
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--reading", action="append", default=[])
    parser.add_argument("--minimise-seconds", type=float, default=30)
    parser.add_argument("--most", type=int, default=5, help="stop after so many differing seeds")
    parser.add_argument("--keep", help="folder for the smallest cases")
    parser.add_argument("--selftest", action="store_true")
    arguments = parser.parse_args()
    if arguments.selftest:
        return selftest(arguments)
    if not arguments.waypulse:
        parser.error("--waypulse PATH is needed")
    return compare([arguments.waypulse], arguments)


if __name__ == "__main__":
    sys.exit(main())
