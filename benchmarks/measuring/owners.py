"""Partitions that change their owner: after a kill, with the lease as the wait, and by hand-over to a member that comes."""

import datetime
import hashlib
import statistics
import tempfile
import time
from pathlib import Path

from measuring.group import PARTITIONS, Member, Redis, Sink, produce, producer, until
from measuring.results import Measurement
from measuring.subjects import fail

# A round takes a minute or two.
MOST_ROUNDS = 3
ACTIVITIES = 100_000
# Refreshes are due after twenty seconds, so that the minute before is a third of one.
REFRESHING = {
    "pacing.refresh": True, "pacing.staleAfter": "30s", "pacing.refreshLead": "10s", "pacing.deadbandMeters": 75,
    "source.redis.lease": "10s",
}  # fmt: skip
REFRESH_SECONDS = 20
EVENTS_PER_SECOND = 10_000
BEFORE_SECONDS, AFTER_SECONDS = 45, 45

HANDED_ACTIVITIES = 20_000
STATUSES_PER_SECOND, POSITIONS_PER_SECOND = 400, 5_000
HANDOVER_SECONDS, SECOND_AFTER_SECONDS = 24, 8


class World:
    """Processes of one run, ended in any case."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.ended = []

    def with_(self, one):
        self.ended.append(one)
        return one

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in reversed(self.ended):
            one.end()
        self.folder.cleanup()


def milliseconds(line):
    return datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp() * 1_000


def takeover(programs, rounds):
    return [takeover_round(programs, number) for number in range(1, min(rounds, MOST_ROUNDS) + 1)]


def takeover_round(programs, number):
    with World() as world:
        redis = world.with_(Redis(world.path, core=None))
        sink = world.with_(Sink(programs.binary, world.path, core=None))

        def member(name):
            return world.with_(Member(programs.waypulse, world.path, name, sink.apps, redis, REFRESHING))

        first = member("first")
        shape = {"activities": ACTIVITIES, "most": 100_000}
        # Begun over as long as a refresh takes, so that these are spread as evenly as they come in life.
        produce(programs.binary, redis, starts="yes", spread=REFRESH_SECONDS, **shape)
        first.wait("waypulse_pushes_accepted_total", ACTIVITIES, 120)
        world.with_(producer(programs.binary, redis, world.path, rate=EVENTS_PER_SECOND, seconds=300, **shape))
        time.sleep(BEFORE_SECONDS)
        killed = time.time() * 1_000
        first.child.kill()
        second = member("second")
        until(lambda: second.metrics()["waypulse_partitions_owned"] == PARTITIONS, 60, "all partitions with the second member",
              pause=0.05)  # fmt: skip
        # Each within a refresh of its own: what nothing is due for stays with the store until then.
        until(lambda: second.metrics()["waypulse_activities_loaded_total"] >= ACTIVITIES, 120,
              lambda: f"all loaded; {second.metrics()['waypulse_activities_loaded_total']}", pause=0.5)  # fmt: skip
        time.sleep(max(0, AFTER_SECONDS - (time.time() * 1_000 - killed) / 1_000))
        # The log tells the first few.
        claimed = min(milliseconds(line) for line in second.said("a partition is taken over"))
        return judged(sink.pushes(), killed, claimed, second.resident_bytes, number)


def judged(pushes, killed, claimed, resident, number):
    before = per_second(pushes, killed - 30_000, killed - 5_000)
    after = per_second(pushes, claimed, claimed + (AFTER_SECONDS - 15) * 1_000)
    firsts = [at for at in pushes if at >= claimed - 100]
    if not firsts or not before:
        fail("nothing was pushed before the kill, or after it")
    usual = statistics.mean(before)
    figures = {
        "leaseMilliseconds": claimed - killed, "firstDecisionMilliseconds": max(0, min(firsts) + 100 - claimed),
        "usualPushesPerSecond": usual, "mostPushesPerSecond": max(after),
        "burst": max(after) / usual, "burstBefore": max(before) / usual, "residentMebibytes": resident / 2**20,
        **{f"pushesInSecond{place}AfterOwnership": count for place, count in enumerate(after)},
    }
    return Measurement("takeover", f"{ACTIVITIES} activities", "waypulse", number, figures)


def per_second(pushes, begin, end):
    """Pushes of each whole second."""
    seconds = [0] * int((end - begin) / 1_000)
    for at, count in pushes.items():
        place = int((at - begin) // 1_000)
        if 0 <= place < len(seconds):
            seconds[place] += count
    return seconds


def handover(programs, rounds):
    measured = []
    for number in range(1, min(rounds, MOST_ROUNDS) + 1):
        for subject, comes in (("one member", False), ("a second comes", True)):
            measured.append(handover_round(programs, subject, comes, number))
    return measured


def handover_round(programs, subject, comes, number):
    from simulator import Simulator

    with World() as world:
        redis = world.with_(Redis(world.path, core=None))
        simulator = world.with_(Simulator(programs.waypulse, world.path, 5))

        def member(name):
            return world.with_(Member(programs.waypulse, world.path, name, simulator.apps, redis, {}))

        first = member("first")
        shape = {"activities": HANDED_ACTIVITIES, "most": 100_000}
        produce(programs.binary, redis, starts="yes", **shape)
        first.wait("waypulse_pushes_accepted_total", HANDED_ACTIVITIES, 120)
        log = Path(world.path) / "statuses"
        making = world.with_(producer(
            programs.binary, redis, world.path, rate=POSITIONS_PER_SECOND, statuses=STATUSES_PER_SECOND,
            seconds=HANDOVER_SECONDS, log=log, **shape))  # fmt: skip
        time.sleep(SECOND_AFTER_SECONDS)
        if comes:
            second = member("second")
        until(lambda: not making.is_running, HANDOVER_SECONDS + 20, "the producer's end", pause=0.1)
        time.sleep(3)
        if comes and not second.said("a partition is taken over"):
            fail("the second member was given nothing")
        delays = told_after(log, simulator.entries())
        figures = {
            "medianMilliseconds": statistics.median(delays), "p99Milliseconds": sorted(delays)[int(len(delays) * 0.99)],
            "longestMilliseconds": max(delays), "updates": len(delays),
        }
        return Measurement("handover", "urgent statuses", subject, number, figures)


def fingerprint(activity):
    """Of the token that the producer gives an activity, as journals have it."""
    return hashlib.sha256(f"{'a5' * 25}{activity:014}".encode()).hexdigest()[:12]


def told_after(log, entries):
    """For each status, how long after it was made the phone was told it, or something newer."""
    told = {}
    for entry in entries:
        text = (entry.get("contentState") or {}).get("status", "")
        if text.startswith("at ") and entry["status"] == 200:
            told.setdefault(entry["token"], []).append((int(text[3:]), entry["realAt"]))
    delays = []
    for line in log.read_text().splitlines():
        activity, made = map(int, line.split())
        arrivals = [at for newest, at in told.get(fingerprint(activity), []) if newest >= made]
        if not arrivals:
            fail(f"the status of ride-{activity:07} made at {made} was never told")
        delays.append(min(arrivals) - made)
    return delays
