"""Deliveries from a seed, as a producer would publish them into Redis Streams or Kafka, in real time.

Many fall silent or end at moments drawn from the whole run, so that whatever happens in it some activity's last word is just
then under way: what gets lost then is not told by a later event.
"""

import contextlib
import heapq
import json
import math
import random
import time
import urllib.request
import zlib
from dataclasses import dataclass, field

# Metres a degree of latitude, close enough for walks of a few kilometres.
METERS_A_DEGREE = 111_195
# Of events: those that say something beside a position, and of those the ones with an alert.
STATUS_SHARE, ALERT_SHARE = 0.15, 0.05
# Of events: sent twice by a producer that was not sure, and accompanied by bytes that are no event.
REPEATED_SHARE, POISON_SHARE = 0.01, 0.002
# Of deliveries: started by a push, and following a courier with a second order.
STARTED_BY_PUSH_SHARE, SHARED_COURIER_SHARE = 0.1, 0.2
# Of deliveries: those whose last event is their end; the others fall silent.
ENDED_SHARE = 0.6
# Of deliveries: those of the type that is paced by a bucket.
PACED_SHARE = 0.33


@dataclass
class Shape:
    """How much, how long, from which seed."""

    seed: int = 1
    activities: int = 300
    events_per_second: float = 500
    seconds: float = 40
    partitions: int = 8
    topic: str = "rides"
    # Of their own where they have one; else they go where everything goes.
    position_topic: str | None = None
    started_by_push_share: float = STARTED_BY_PUSH_SHARE
    ended_share: float = ENDED_SHARE

    @property
    def topics(self):
        return (self.topic, self.position_topic) if self.position_topic else (self.topic,)

    def partition(self, key):
        """As every producer places keys, in Redis Streams and in Kafka."""
        return zlib.crc32(key.encode()) % self.partitions


@dataclass(order=True)
class Planned:
    at: float
    number: int
    key: str = field(compare=False)
    event: dict = field(compare=False)


class Walk:
    """A courier on the way: never back, mostly straight on, 8 to 18 m/s."""

    def __init__(self, random, seconds):
        self.random = random
        self.latitude, self.longitude = 48.1 + random.random() / 10, 11.5 + random.random() / 10
        self.heading = random.random() * math.tau
        self.speed = random.uniform(8, 18)
        self.length = self.speed * seconds * 1.2
        self.gone = 0.0
        self.at = 0.0

    def position(self, at):
        meters = self.speed * max(0.0, at - self.at)
        self.at = at
        self.gone += meters
        self.heading += self.random.gauss(0, 0.1)
        self.latitude += meters * math.cos(self.heading) / METERS_A_DEGREE
        self.longitude += meters * math.sin(self.heading) / METERS_A_DEGREE / math.cos(math.radians(self.latitude))
        return {
            "type": "position", "latitude": round(self.latitude, 7), "longitude": round(self.longitude, 7), "accuracy": 5,
            "contentState": {"progressPercentage": round(min(1.0, self.gone / self.length), 4)},
        }  # fmt: skip


def plan(shape):
    """Every event of the run, by the time it happens at, in seconds from the start."""
    random_source = random.Random(shape.seed)
    planned = []

    def add(at, key, event):
        event["eventId"] = f"e{len(planned)}"
        planned.append(Planned(at, len(planned), key, event))

    # An activity lives for about half of the run.
    gap = shape.activities * 0.5 / shape.events_per_second
    number = 0
    while number < shape.activities:
        followers = 2 if random_source.random() < SHARED_COURIER_SHARE and number + 2 <= shape.activities else 1
        names = [f"order-{number + index}" for index in range(followers)]
        number += followers
        courier = f"courier-{number}" if followers > 1 else None
        key = courier or names[0]
        begin = random_source.uniform(0, 0.15) if random_source.random() < 0.6 else random_source.uniform(0, 0.7)
        begin *= shape.seconds
        lasts = [random_source.uniform(begin + 0.1 * shape.seconds, shape.seconds) for _ in names]
        walk = Walk(random_source, shape.seconds)
        walk.at = begin
        for name in names:
            add(begin, key, started(name, courier, shape, random_source))
        steps = dict.fromkeys(names, 0)
        at = begin + random_source.uniform(0.5, 1.5) * gap
        # Two followers hear one courier, so one event stands for both.
        while at < max(lasts):
            living = [name for name, last in zip(names, lasts) if at < last]
            if random_source.random() < STATUS_SHARE:
                name = random_source.choice(living)
                steps[name] += 1
                add(at, key, status(name, steps[name], random_source))
            else:
                whose = {"subjectId": courier} if courier else {"activityId": names[0]}
                add(at, key, walk.position(at) | whose)
            at += random_source.uniform(0.5, 1.5) * gap * followers
        for name, last in zip(names, lasts):
            steps[name] += 1
            if random_source.random() < shape.ended_share:
                text = {"status": "delivered", "version": steps[name]}
                add(last, key, {"type": "activity.ended", "activityId": name, "contentState": text})
            elif random_source.random() < 0.5:
                add(last, key, status(name, steps[name], random_source))
    planned.sort()
    return planned


def started(name, courier, shape, random_source):
    kind = "Paced" if random_source.random() < PACED_SHARE else "Ride"
    event = {
        "type": "activity.started", "activityId": name, "attributesType": kind, "attributes": {"activityId": name},
        "contentState": {"status": "on_the_way", "version": 0}, "frequentUpdates": True,
    }  # fmt: skip
    if courier:
        event["follows"] = courier
    token = "".join(random_source.choice("0123456789abcdef") for _ in range(64))
    if random_source.random() < shape.started_by_push_share:
        return event | {"startToken": token, "alert": {"title": "On the way", "body": name}}
    return event | {"token": token}


def status(name, step, random_source):
    event = {"type": "status", "activityId": name, "contentState": {"status": f"step {step}", "version": step}}
    if random_source.random() < ALERT_SHARE:
        event["alert"] = {"title": "Your order", "body": f"step {step}"}
    return event


class Traffic:
    """Publishes what is planned when its time has come. What could not be published waits, in order, until it can."""

    def __init__(self, shape, source, tokens_url=None):
        self.shape = shape
        self.source = source
        self.tokens_url = tokens_url
        self.planned = plan(shape)
        self.random = random.Random(shape.seed + 1)
        self.begun = None
        self.waiting = []
        self.is_held = False
        self.counts = {"events": 0, "poison": 0, "repeated": 0}
        self.next_tokens = 0.0
        self.keys = {one.event["activityId"]: one.key for one in self.planned if one.event["type"] == "activity.started"}
        self.reported = set()

    @property
    def elapsed(self):
        return time.time() - self.begun if self.begun else 0.0

    @property
    def is_done(self):
        return self.begun is not None and not self.planned and not self.waiting and not self.source.unanswered

    def begin(self):
        self.begun = time.time()
        heapq.heapify(self.planned)

    def pump(self):
        """Does what is due, and comes back soon."""
        if self.begun is None:
            return
        self.take_due()
        if self.tokens_url and time.monotonic() >= self.next_tokens:
            self.next_tokens = time.monotonic() + 0.5
            self.take_tokens()
        # Also where there is nothing: answers may have come.
        del self.waiting[: self.source.publish([] if self.is_held else self.waiting)]

    def take_due(self):
        while self.planned and self.planned[0].at <= self.elapsed:
            one = heapq.heappop(self.planned)
            self.add(one.key, one.event | {"timestamp": round(self.begun + one.at, 3)})

    def add(self, key, event):
        body, is_position = json.dumps(event).encode(), event["type"] == "position"
        self.counts["events"] += 1
        self.waiting.append((key, body, is_position))
        if self.random.random() < REPEATED_SHARE:
            self.counts["repeated"] += 1
            self.waiting.append((key, body, is_position))
        if self.random.random() < POISON_SHARE:
            self.add_garbage(key, body[: len(body) // 2])

    def add_garbage(self, key, body):
        self.counts["poison"] += 1
        self.waiting.append((key, body, False))

    def add_garbage_everywhere(self, count):
        """So many records that are no events, in each partition."""
        keys = {self.shape.partition(key): key for key in map(str, range(1_000))}
        for number in range(self.shape.partitions):
            for garbage in range(count):
                self.add_garbage(keys[number], f"garbage {garbage}".encode())

    def take_tokens(self):
        """What the apps of phones report: update tokens of activities that a push has started."""
        with contextlib.suppress(OSError), urllib.request.urlopen(self.tokens_url, timeout=5) as answer:
            for line in answer.read().splitlines():
                event = json.loads(line)
                if event["token"] not in self.reported:
                    self.reported.add(event["token"])
                    self.add(self.keys[event["activityId"]], event | {"eventId": f"t{len(self.reported)}"})
