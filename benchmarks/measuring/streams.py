"""A member on Redis Streams beside a plain loop of hiredis on the same streams, and what its checkpoints cost."""

import contextlib
import tempfile
import time

from measuring.group import PARTITIONS, TOPIC, Member, Redis, Sink, produce, until
from measuring.results import Measurement
from measuring.subjects import CLIENT_CORE, fail, lines_of

ACTIVITIES = 100_000
EVENTS = 1_500_000
# A member is stopped while the streams are filled, and goes on as if nothing had been.
LONG_LEASE = {"source.redis.lease": "1h", "source.redis.commandTimeout": "10m"}
PUSHED_ACTIVITIES, MOVES_PER_SECOND, MOVING_SECONDS = 20_000, 8_000, 15


@contextlib.contextmanager
def surroundings(programs):
    with tempfile.TemporaryDirectory() as folder:
        ended = []
        try:
            redis = Redis(folder)
            ended.append(redis)
            sink = Sink(programs.binary, folder)
            ended.append(sink)
            yield folder, redis, sink
        finally:
            for one in reversed(ended):
                one.end()


@contextlib.contextmanager
def running(programs, folder, redis, sink, name, settings):
    member = Member(programs.waypulse, folder, name, sink.apps, redis, settings, CLIENT_CORE)
    try:
        yield member
    finally:
        member.end()


def frozen(member, fill):
    """Fills the streams while the member does nothing."""
    member.child.freeze()
    fill()
    member.child.thaw()


def is_quiet(member, seconds=60):
    """Until it has read what there is, nothing is under way and all is saved."""
    seen = {}

    def holds():
        before, now = dict(seen), member.metrics()
        seen.update(now)
        names = ("waypulse_records_total", "waypulse_saves_total", "waypulse_updates_total")
        return (before and all(before[name] == now[name] for name in names) and now["waypulse_in_flight_updates"] == 0
                and now["waypulse_unsettled_records"] == 0)  # fmt: skip

    until(holds, seconds, lambda: f"rest; {seen}", pause=0.6)


def streams(programs, rounds):
    measured = []
    for number in range(1, rounds + 1):
        with surroundings(programs) as (folder, redis, sink):
            shape = {"activities": ACTIVITIES}
            with running(programs, folder, redis, sink, "reader", LONG_LEASE) as member:
                produce(programs.binary, redis, starts="yes", **shape)
                member.wait("waypulse_pushes_accepted_total", ACTIVITIES, 120)
                is_quiet(member)
                for partition in range(PARTITIONS):
                    redis("XTRIM", f"{TOPIC}:{{{partition}}}", "MAXLEN", 0)
                read = member.metrics()["waypulse_records_total"]
                frozen(member, lambda: produce(programs.binary, redis, positions=EVENTS, **shape))
                measured.append(reading(member, read, number))
            words = [programs.binary, "read", "--port", redis.port, "--topic", TOPIC, "--partitions", PARTITIONS, "--round", number]
            measured += lines_of("streams", words, CLIENT_CORE)
    return measured


def reading(member, before, number):
    """What it reads and uses between the first tenth and the last, by its own count."""
    def now():
        return time.monotonic(), member.cpu_seconds, member.metrics()["waypulse_records_total"]

    end = time.monotonic() + 120
    looks = []
    while not looks or looks[-1][2] < before + EVENTS:
        time.sleep(0.1)
        looks.append(now())
        if time.monotonic() > end:
            fail(f"the member has read {looks[-1][2] - before:,.0f} of {EVENTS:,} events in two minutes")
    inside = [look for look in looks if 0.1 <= (look[2] - before) / EVENTS <= 0.9]
    if len(inside) < 2:
        fail("the member reads too fast for what is there: more EVENTS, please")
    first, last = inside[0], inside[-1]
    events = last[2] - first[2]
    figures = {
        "entriesPerSecond": events / (last[0] - first[0]),
        "cpuSecondsPerMillionEvents": (last[1] - first[1]) / events * 1e6,
    }
    return Measurement("streams", "streams", "waypulse", number, figures)


def checkpoints(programs, rounds):
    measured = lines_of("checkpoints", [programs.binary, "checkpoints", "--rounds", rounds], CLIENT_CORE)
    for number in range(1, rounds + 1):
        pushed = {}
        for subject, settings in (("redis", {}), ("volatile", {"storage.kind": "memory", "storage.volatile": True})):
            with surroundings(programs) as (folder, redis, sink):
                with running(programs, folder, redis, sink, subject, LONG_LEASE | settings) as member:
                    pushed[subject] = pushing(programs, redis, member, subject, number)
        measured += [*pushed.values(), difference(pushed, measured, number)]
    return measured


def difference(pushed, measured, number):
    """Positions alone are saved by the same scripts at the same times, and their checkpoints are written and thrown away: so what writing
    one costs comes on top, as it is in memory."""
    [written] = (one.figures for one in measured if (one.case, one.round) == ("in memory", number))
    sent = pushed["redis"].figures["cpuMicrosecondsPerPush"] - pushed["volatile"].figures["cpuMicrosecondsPerPush"]
    each = (written["takeNanosecondsPerCheckpoint"] + written["savedNanosecondsPerCheckpoint"]) / 1e3
    figures = {"checkpointMicrosecondsPerPush": sent + each * pushed["redis"].figures["checkpointsPerPush"]}
    return Measurement("checkpoints", "a member with many pushes", "difference", number, figures)


def pushing(programs, redis, member, subject, number):
    shape = {"activities": PUSHED_ACTIVITIES}
    produce(programs.binary, redis, starts="yes", **shape)
    member.wait("waypulse_pushes_accepted_total", PUSHED_ACTIVITIES, 60)
    is_quiet(member)
    before, used = member.metrics(), member.cpu_seconds
    # Each script that saves asks this once, and no other does.
    calls, scripts = redis.calls("zcard")[0], redis.calls("eval")[1]
    # Each position is 200 m from the one before, and most find their activity told.
    produce(programs.binary, redis, moves=100, rate=MOVES_PER_SECOND, seconds=MOVING_SECONDS, **shape)
    is_quiet(member)
    after, used = member.metrics(), member.cpu_seconds - used
    pushes = after["waypulse_pushes_accepted_total"] - before["waypulse_pushes_accepted_total"]
    calls, scripts = redis.calls("zcard")[0] - calls, redis.calls("eval")[1] - scripts
    saves = after["waypulse_saves_total"] - before["waypulse_saves_total"]
    figures = {
        "cpuMicrosecondsPerPush": used / pushes * 1e6, "pushes": pushes,
        "checkpointsPerPush": (after["waypulse_checkpoints_total"] - before["waypulse_checkpoints_total"]) / pushes,
        "roundTripsPerSave": calls / saves, "pushesPerSave": pushes / saves, "serverScriptMicrosecondsPerPush": scripts / pushes,
    }
    return Measurement("checkpoints", "a member with many pushes", subject, number, figures)
