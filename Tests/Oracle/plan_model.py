#!/usr/bin/env python3
"""Reference model of `waypulse plan`: the specification written down once more, plainly and slowly.

usage: plan_model.py [--set pacing.key=value]... [--reading name=choice]... RECORDING...   (`-`: standard input)
       plan_model.py --selftest

Prints one JSON line a send (all of `plan`'s members but `bytes`) and, on standard error, one JSON object:
    {"activityEvents": n, "decisions": {name: n}, "deadLetters": {reason: n}, "sends": {reason: n}}
`decisions` includes `pending`. It shares no code with the engine that it judges; where the two differ, read the
specification before either. `--reading` chooses where the specification can be read in two ways (plan_settings.py).
"""
import argparse
import json
import sys

from event_decoder import decode
from pacing_model import Pacing
from plan_settings import Settings, UNITS

DAY = UNITS["d"]


def read_lines(name):
    if name == "-":
        return sys.stdin.buffer.read().split(b"\n")
    with open(name, "rb") as recording:
        return recording.read().split(b"\n")


def merge(recordings):
    """Section 6: by record time, then by argument order; what has no time follows its predecessor."""
    queues = [list(recording) for recording in recordings]
    merged = []
    while any(queues):
        heads = [(float("-inf") if queue[0].time is None else queue[0].time, index)
                 for index, queue in enumerate(queues) if queue]
        merged.append(queues[min(heads)[1]].pop(0))
        while queues[min(heads)[1]] and queues[min(heads)[1]][0].time is None:
            merged.append(queues[min(heads)[1]].pop(0))
    return merged


def moved_clock(now, records, index):
    """Section 6: `now` once record `index` has been read."""
    record = records[index]
    if record.time is None:
        return now
    if now is None:
        return record.time
    if record.received_at is None and record.time - now > DAY:
        following = next((later.time for later in records[index + 1:] if later.time is not None), None)
        if following is not None and record.time - following > DAY:
            return now
    return max(now, record.time)


def plan(recordings, settings):
    """lists of lines -> Pacing, with everything that was sent and counted"""
    pacing = Pacing(settings)
    records = merge([[decode(line, settings.apps) for line in lines if line.strip(b" \t\r\n")]
                     for lines in recordings])
    now = None
    for index, record in enumerate(records):
        now = moved_clock(now, records, index)
        if now is not None:
            timer = pacing.next_timer()
            while timer and timer[0] < now:   # a record at exactly a timer's due time is applied first
                pacing.fire(timer)
                timer = pacing.next_timer()
        if record.dead:
            pacing.undecodable(record.dead)
        else:
            pacing.apply(record.event, now)
        pacing.check_sum()

    for activity in pacing.activities.values():
        pacing.drop_held(activity)   # section 1: what is still held at the end of a recording is dropped
    timer = pacing.next_timer_after_the_end()
    while timer:
        pacing.fire(timer)
        timer = pacing.next_timer_after_the_end()
    pacing.check_sum()
    return pacing


def summary(pacing):
    sends = {}
    for send in pacing.sends:
        for reason in send["reasons"]:
            sends[reason] = sends.get(reason, 0) + 1
    decisions = {name: count for name, count in pacing.decisions.items() if count}
    return {"activityEvents": pacing.activity_events, "decisions": dict(decisions, pending=pacing.pending()),
            "deadLetters": pacing.dead_letters, "sends": sends, "subReasons": pacing.sub_reasons}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--reading", action="append", default=[], metavar="NAME=CHOICE")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("recordings", nargs="*", metavar="RECORDING")
    options = parser.parse_args()
    if options.selftest:
        import plan_cases
        return plan_cases.run_all()
    if not options.recordings:
        parser.error("a RECORDING is needed, or - for standard input")
    sys.setrecursionlimit(10_000)
    pacing = plan([read_lines(name) for name in options.recordings], Settings(options.set, options.reading))
    for send in pacing.sends:
        print(json.dumps(send, separators=(",", ":"), ensure_ascii=False))
    print(json.dumps(summary(pacing), sort_keys=True), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
