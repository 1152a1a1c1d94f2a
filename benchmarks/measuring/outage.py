"""Memory while the provider takes nothing and events come on."""

import os
import statistics
import time

from measuring.group import Member, Redis, produce, producer
from measuring.owners import World
from measuring.results import Measurement
from measuring.subjects import fail

ACTIVITIES = 100_000
EVENTS_PER_SECOND = 40_000
SECONDS = 60
LOOK_SECONDS = 1.0


def outage(programs, _):
    from simulator import Simulator

    seconds = int(float(os.environ.get("MINUTES") or 0) * 60) or SECONDS
    with World() as world:
        redis = world.with_(Redis(world.path, core=None))
        simulator = world.with_(Simulator(programs.waypulse, world.path, 1))
        member = world.with_(Member(programs.waypulse, world.path, "member", simulator.apps, redis, {}))
        # Half of all positions lie 200 m from the one before, so that there is always something to tell.
        shape = {"activities": ACTIVITIES, "most": 200_000, "moves": 50}
        produce(programs.binary, redis, starts="yes", **shape)
        member.wait("waypulse_pushes_accepted_total", ACTIVITIES, 120)
        simulator.change(blackHole=True)
        before = member.metrics()
        world.with_(producer(programs.binary, redis, world.path, rate=EVENTS_PER_SECOND, seconds=seconds + 120, **shape))
        began, looks = time.monotonic(), []
        while time.monotonic() - began < seconds:
            time.sleep(LOOK_SECONDS)
            looks.append((time.monotonic() - began, member.resident_bytes / 2**20))
        after = member.metrics()
        if after["waypulse_pushes_accepted_total"] > before["waypulse_pushes_accepted_total"] + 2_000:
            fail("the provider took pushes while it was a black hole")
        return [judged(looks, after["waypulse_records_total"] - before["waypulse_records_total"], seconds, after)]


def judged(looks, records, seconds, metrics):
    """How much the last tenth of the time holds beside the first tenth after a fifth of it, which is for tables to grow in."""
    def mean(begin, end):
        return statistics.mean(held for at, held in looks if begin <= at / seconds <= end)

    curve = {f"residentMebibytesAfter{int(at)}Seconds": held for at, held in looks if int(at) % max(1, seconds // 20) == 0}
    settled, last = mean(0.2, 0.3), mean(0.9, 1.01)
    figures = {
        "seconds": seconds, "eventsPerSecond": records / seconds, "residentMebibytesEarly": settled, "residentMebibytesLast": last,
        "growthMebibytes": last - settled, "growthPercent": (last / settled - 1) * 100, "mostMebibytes": max(held for _, held in looks),
        "forcedCheckpoints": metrics.get("waypulse_checkpoints_forced_total", 0), **curve,
    }
    return Measurement("outage", "the provider is a black hole", "waypulse", 1, figures)
