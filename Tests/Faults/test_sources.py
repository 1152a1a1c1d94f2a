#!/usr/bin/python3
"""Shows that it does not matter to a phone by which source events come: the same ones, as a recording, through Redis Streams and through Kafka.

usage: test_sources.py [PROGRAM]      (default: .build/release/waypulse)

What ended has the same last content everywhere, sequence numbers apart. Where the events were cut off before an end, that is so up to deadband and
tolerances: what is held or suppressed at that moment depends on when each source was read.
"""

import contextlib
import json
import subprocess
import sys
import time
import unittest
from pathlib import Path

from judge import judge
from member import PACING, TYPES, configuration, terms
from processes import environment
from simulator import Simulator
from traffic import Shape
from world import LATENCY_MILLISECONDS, Options, World

PROGRAM = Path(__file__).resolve().parents[2] / ".build/release/waypulse"
# Without phones that report tokens, which no recording could wait for.
SHAPE = Shape(activities=80, events_per_second=160, seconds=8, partitions=4, started_by_push_share=0, ended_share=1)


class Sources(unittest.TestCase):
    def test_the_same_events_leave_the_same_contents_on_the_phones(self):
        options = Options(PROGRAM, shape=SHAPE)
        with World(options) as streams, World(options, kafka={"engine": "tansu"}) as topics:
            worlds = {"Redis Streams": streams, "Kafka": topics}
            began = time.time() + 0.5
            for world in worlds.values():
                world.start("a")
                cut(world.traffic)
                world.traffic.begin()
                # The same timestamps in both.
                world.traffic.begun = began
            streams.until(lambda: topics.traffic.pump() or is_done(worlds), 60, "the end of the traffic")
            recorded, truth = written(streams.source, streams.folder / "events.jsonl"), streams.truth()
            bodies = [sorted(body for *_, body in world.source.published()) for world in worlds.values()]
            self.assertEqual(*bodies, "the same was published")
            entries = {"a recording": run(streams, recorded)}
            for name, world in worlds.items():
                finding = world.judge()
                self.assertEqual(list(map(str, finding.broken)), [], name)
                entries[name] = world.simulator.entries()
        self.compare(entries, truth)

    def compare(self, entries, truth):
        found = {name: judge(pushes, truth, terms()).broken for name, pushes in entries.items()}
        self.assertEqual({name: list(map(str, broken)) for name, broken in found.items()}, dict.fromkeys(entries, []))
        last = {name: last_contents(pushes, truth) for name, pushes in entries.items()}
        ended = [name for name, final in truth.finals.items() if final.has_ended]
        self.assertEqual(len(ended), SHAPE.activities // 2)
        one, *others = last
        for other in others:
            for activity in ended:
                self.assertEqual(last[other][activity], last[one][activity], f"{activity}: {other} beside {one}")


def cut(traffic):
    """Of every second activity the end is taken away."""
    traffic.tokens_url = None
    traffic.planned = [one for one in traffic.planned if one.event["type"] != "activity.ended" or number(one.event) % 2 == 0]


def number(event):
    return int(event["activityId"].removeprefix("order-"))


def is_done(worlds):
    return all(world.traffic.is_done for world in worlds.values())


def written(source, path):
    """What lies in the streams, as a recording."""
    lines = []
    for name, identifier, body in source.published():
        milliseconds = int(identifier.partition("-")[0])
        with contextlib.suppress(ValueError):
            place = {"partition": int(name[name.index("{") + 1 : -1]), "receivedAt": milliseconds / 1_000}
            lines.append((milliseconds, json.dumps(place | {"value": json.loads(body)}) + "\n"))
    path.write_text("".join(line for _, line in sorted(lines, key=lambda one: one[0])))
    return path


def run(world, recording):
    """Pushes a recording to a simulator of its own, and returns what that was told."""
    folder = world.folder / "recorded"
    folder.mkdir()
    simulator = Simulator(PROGRAM, folder, LATENCY_MILLISECONDS)
    try:
        config = folder / "recording.yaml"
        config.write_text(configuration(simulator.apps, PACING | TYPES | {"metrics.listen": "off"}))
        words = [PROGRAM, "run", "--config", config, recording]
        done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return simulator.entries()
    finally:
        simulator.end()


def last_contents(entries, truth):
    found = {}
    for entry in entries:
        if entry["status"] == 200:
            found[truth.activity(entry)] = {name: value for name, value in entry["contentState"].items() if name != "sequenceNumber"}
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = Path(sys.argv.pop(1)).resolve()
    unittest.main()
