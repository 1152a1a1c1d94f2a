"""A member on a topic of Kafka: beside a plain loop of librdkafka, with pushes, in a hurry, and killed while much is held."""

import contextlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measuring.group import PARTITIONS, Kafka, Member, Redis, Sink, produce, producer, until
from measuring.owners import World, milliseconds, told_after
from measuring.results import Measurement
from measuring.streams import frozen, is_quiet
from measuring.subjects import CLIENT_CORE, SERVER_CORE, fail, lines_of, pinned

ACTIVITIES = 100_000
EVENTS = 3_000_000
PUSHED_EVENTS = 1_000_000
# A member is stopped while the topic is filled, and goes on as if nothing had been. On Tansu a round of the group takes half a session.
LONG_SESSION = {"source.kafka.sessionTimeout": "20s", "source.kafka.lease": "1h", "storage.redis.commandTimeout": "10m"}

HURRIED_ACTIVITIES, POSITIONS_PER_SECOND, STATUSES_PER_SECOND, HURRY_SECONDS = 20_000, 50_000, 500, 6
# Tansu pays with each answer for all batches that a topic has ever been given: they must be few, and the run short.
LINGER_MILLISECONDS = 5
HURRIED = {"source.kafka.properties": {"fetch.wait.max.ms": "10"}}

# Each activity moves on by 200 m each ten seconds, and may say so once a minute.
KILLED_ROUNDS, HELD_EVENTS_PER_SECOND, HELD_SECONDS = 2, 10_000, 75
HELD = {"pacing.minInterval": "60s"}


def kafka(programs, rounds):
    measured = []
    for number in range(1, rounds + 1):
        measured += [*read(programs, number), pushed(programs, number), *hurried(programs, number)]
    return measured + [killed(programs, number) for number in range(1, min(rounds, KILLED_ROUNDS) + 1)]


@contextlib.contextmanager
def surroundings(programs, settings, core=CLIENT_CORE, servers=SERVER_CORE):
    with World() as world:
        redis = world.with_(Redis(world.path, servers))
        topic = world.with_(Kafka(world.path, redis, servers))
        sink = world.with_(Sink(programs.binary, world.path, servers))
        yield world, topic, sink, world.with_(Member(programs.waypulse, world.path, "reader", sink.apps, topic, settings, core))


def begun(programs, topic, member, activities):
    produce(programs.binary, topic, starts="yes", activities=activities)
    member.wait("waypulse_pushes_accepted_total", activities, 120)
    is_quiet(member)


def backlog(programs, topic, member, events, **what):
    """CPU, seconds and metrics of a member that reads what was produced while it was frozen, from its thaw until all is read and told."""
    before = member.metrics()
    member.child.freeze()
    produce(programs.binary, topic, positions=events, activities=ACTIVITIES, **what)
    began, used = time.monotonic(), member.cpu_seconds
    member.child.thaw()
    member.wait("waypulse_records_total", before["waypulse_records_total"] + events, 120, pause=0.05)
    # Of the whole, since it fetches far ahead of what it reads.
    wall, used = time.monotonic() - began, member.cpu_seconds - used
    return before, used, wall


def read(programs, number):
    with surroundings(programs, LONG_SESSION) as (_, topic, _, member):
        begun(programs, topic, member, ACTIVITIES)
        beginning = topic.settled()
        _, used, wall = backlog(programs, topic, member, EVENTS)
        figures = {"eventsPerSecond": EVENTS / wall, "cpuSecondsPerMillionEvents": used / EVENTS * 1e6,
                   "eventsPerCPUSecond": EVENTS / used}  # fmt: skip
        yield Measurement("kafka", "a topic", "waypulse", number, figures)
        member.end()
        words = [programs.binary, "read", *topic.words, "--from", ",".join(map(str, beginning)), "--count", EVENTS]
        yield from lines_of("kafka", [*words, "--case", "a topic", "--round", number], CLIENT_CORE)


def pushed(programs, number):
    """One position in ten lies 200 m from the one before."""
    with surroundings(programs, LONG_SESSION) as (_, topic, _, member):
        begun(programs, topic, member, ACTIVITIES)
        before, used, _ = backlog(programs, topic, member, PUSHED_EVENTS, moves=10)
        read = member.cpu_seconds
        is_quiet(member)
        used, after = used + member.cpu_seconds - read, member.metrics()
        pushes = after["waypulse_pushes_accepted_total"] - before["waypulse_pushes_accepted_total"]
        figures = {"cpuMicrosecondsPerEvent": used / PUSHED_EVENTS * 1e6, "pushesPerEvent": pushes / PUSHED_EVENTS,
                   "pushesPerSave": pushes / (after["waypulse_saves_total"] - before["waypulse_saves_total"])}  # fmt: skip
        return Measurement("kafka", "one push in ten events", "waypulse", number, figures)


def hurried(programs, number):
    """A member, and in another world a plain loop: how long events are under way before either can do anything about it."""
    from simulator import Simulator

    with World() as world:
        topic = world.with_(Kafka(world.path, world.with_(Redis(world.path, core=None)), core=None))
        simulator = world.with_(Simulator(programs.waypulse, world.path, 1))
        member = world.with_(Member(programs.waypulse, world.path, "first", simulator.apps, topic, HURRIED))
        begun(programs, topic, member, HURRIED_ACTIVITIES)
        log = Path(world.path) / "statuses"
        making = world.with_(hurrying(programs, topic, world, log))
        until(lambda: not making.is_running, HURRY_SECONDS + 30, "the producer's end", pause=0.1)
        is_quiet(member)
        delays = sorted(told_after(log, simulator.entries()))
        figures = {"medianMilliseconds": statistics.median(delays), "p99Milliseconds": delays[int(len(delays) * 0.99)],
                   "longestMilliseconds": delays[-1], "updates": len(delays)}  # fmt: skip
        yield Measurement("kafka", "urgent statuses", "waypulse", number, figures)
    with World() as world:
        topic = world.with_(Kafka(world.path, None, core=None))
        events = (POSITIONS_PER_SECOND + STATUSES_PER_SECOND) * (HURRY_SECONDS - 1)
        words = [programs.binary, "listen", *topic.words, "--count", events, "--case", "urgent statuses", "--round", number]
        with ThreadPoolExecutor() as pool:
            listening = pool.submit(lines_of, "kafka", words)
            # It has its partitions by then.
            time.sleep(1)
            world.with_(hurrying(programs, topic, world, Path(world.path) / "statuses"))
            yield from listening.result()


def hurrying(programs, topic, world, log):
    return producer(
        programs.binary, topic, world.path, activities=HURRIED_ACTIVITIES, rate=POSITIONS_PER_SECOND, linger=LINGER_MILLISECONDS,
        statuses=STATUSES_PER_SECOND, seconds=HURRY_SECONDS, log=log)  # fmt: skip


def killed(programs, number):
    """Much is held, so that a position waits for it; then the member is killed, and what it had read and not settled is read again."""
    with surroundings(programs, HELD, core=None, servers=None) as (world, topic, sink, first):
        begun(programs, topic, first, ACTIVITIES)
        world.with_(producer(
            programs.binary, topic, world.path, activities=ACTIVITIES, moves=100, rate=HELD_EVENTS_PER_SECOND, seconds=300))  # fmt: skip
        time.sleep(HELD_SECONDS)
        held = first.metrics()
        at = time.time() * 1_000
        first.child.kill()
        second = world.with_(Member(programs.waypulse, world.path, "second", sink.apps, topic, HELD))
        until(lambda: second.metrics().get("waypulse_partitions_owned") == PARTITIONS, 120, "all partitions with the second member", pause=0.05)
        owned = time.time() * 1_000
        claimed = min(milliseconds(line) for line in second.said("a partition is taken over"))
        until(lambda: any(one > claimed for one in sink.pushes()), 120, "a push of the second member", pause=0.05)
        first_push = min(one for one in sink.pushes() if one > claimed)
        if not held["waypulse_unsettled_records"]:
            fail("nothing was held when the member was killed")
        figures = {
            "recordsReplayed": held["waypulse_unsettled_records"], "holdSeconds": held["waypulse_unsettled_records"] / HELD_EVENTS_PER_SECOND,
            "claimedMilliseconds": claimed - at, "ownedMilliseconds": owned - at, "firstPushMilliseconds": first_push + 100 - at,
        }  # fmt: skip
        return Measurement("kafka", f"{ACTIVITIES} activities with holds of a minute", "waypulse", number, figures)
