#!/usr/bin/env python3
"""A random awkward recording from a seed: every rule of events.md and pacing.md is hit often.

usage: generate_recording.py --seed N [--events K] [--activities A] > recording.jsonl
       generate_recording.py --seed N --settings      prints the `key=value` options that belong to the seed, one a line

Times are whole or half seconds and distances lie near the thresholds, so that equal instants and edges are common.
The same seed gives the same bytes.
"""
import argparse
import json
import math
import random
import sys

import strict_json

START = 1_773_000_000
METER = 180.0 / (math.pi * 6371008.8)   # one metre north, in degrees
WEEK = 7 * 86400
NOTHING = object()


def choose_settings(random):
    """Options for this seed: mostly the defaults, a few changed."""
    choices = {
        "deadbandMeters": ["0", "10", "75", "75", "150"],
        "accuracyAware": ["true", "true", "false"],
        "deadbandCeilingMeters": ["75", "120", "200"],
        "minInterval": ["0s", "1s", "5s", "15s", "30s", "200s"],
        "profile": ["auto", "auto", "standard", "frequent", "unlimited"],
        "urgentMinInterval": ["0s", "3s", "5s", "20s"],
        "refresh": ["true", "true", "false"],
        "staleAfter": ["40s", "90s", "180s"],
        "refreshLead": ["0s", "10s", "30s"],
        "tolerances": ["etaTimestamp=60,progressPercentage=0.05", "etaTimestamp=30,courier.eta=10,count=2",
                       "courier=5,progressPercentage=0.1"],
        "discrete": ["status", "status,courier.phase", "courier"],
        "positionFields": ["latitude=latitude,longitude=longitude", "off",
                           "latitude=courier.lat,longitude=courier.lon,speed=speed",
                           "latitude=lat,accuracy=courier.accuracy,heading=heading,positionTimestamp=at"],
        "sequenceField": ["sequenceNumber", "meta.seq"],
        "maxAccuracyMeters": ["200", "60"],
        "maxSpeedMetersPerSecond": ["100", "20"],
        "reanchorAfter": ["120s", "30s"],
        "maxAge": ["1h", "60s"],
        "maxFuture": ["60s", "5s", "0s"],
        "allowNullIsland": ["false", "true"],
        "autoStart": ["true", "true", "false"],
        "maxActivityLife": ["8h", "off", "60s", "150s", "400s"],
        "removeAfter": ["12h", "60s", "200s"],
    }
    names = random.sample(sorted(choices), random.choice([0, 2, 4, 6, 10]))
    changed = {name: random.choice(choices[name]) for name in names}
    if float(changed.get("deadbandMeters", 75)) > float(changed.get("deadbandCeilingMeters", 200)):
        del changed["deadbandCeilingMeters"]   # a ceiling below the deadband is no configuration
    if random.random() < 0.1:   # the life limit and a refresh at one instant
        for name in ("refresh", "staleAfter", "refreshLead", "autoStart"):
            changed.pop(name, None)
        changed["maxActivityLife"] = "150s"
    if random.random() < 0.1:   # moves that no field tells
        changed["positionFields"] = "off"
    return ["pacing.%s=%s" % item for item in changed.items()]


class Courier:
    """One activity as its producers see it."""

    def __init__(self, name, random):
        self.name = name
        self.subject = None
        self.latitude = random.choice([0.0, 51.5, -16.8, 89.9995, 60.0])
        self.longitude = random.choice([0.0, -0.1, 179.9995, -180.0, 13.4])
        self.anchor = (self.latitude, self.longitude)
        self.tokens = []
        self.sent_positions = []
        self.eta = START + 3600
        self.progress = 0.0

    def move(self, north, east):
        self.latitude += north * METER
        if abs(self.latitude) > 90:
            self.latitude = math.copysign(180 - abs(self.latitude), self.latitude)
            self.longitude += 180
        self.longitude += east * METER / max(1e-6, math.cos(math.radians(self.latitude)))
        self.longitude = (self.longitude + 180.0) % 360.0 - 180.0


class Recording:
    def __init__(self, seed, events, activities):
        self.random = random.Random(seed)
        self.random.random()
        self.wrapped = self.random.choice([False, False, True])
        self.mixed = self.wrapped and self.random.random() < 0.3
        self.now = float(START)
        self.times = [self.now]
        self.lines = []
        self.offsets = {}
        self.event_number = 0
        self.recent_ids = {}
        self.share_with_id = self.random.choice([0.1, 0.1, 0.95])
        self.couriers = [Courier("a%d" % index, self.random) for index in range(activities)]
        self.subjects = ["s%d" % index for index in range(max(1, activities // 3))]
        self.subject_courier = {name: Courier(name, self.random) for name in self.subjects}
        self.unborn = list(self.couriers)
        for courier in self.couriers:
            if self.random.random() < 0.5:
                courier.subject = self.random.choice(self.subjects)
        self.channel = self.random.choice([None, "c0"])
        if self.channel and self.random.random() < 0.3:   # a subject that is an activity and is followed as well
            self.couriers[0].subject = self.channel
        if self.channel:
            self.subject_courier[self.channel] = Courier(self.channel, self.random)
        for _ in range(events):
            self.step()

    def bytes(self):
        """The lines as they stand in a file; a surrogate escape becomes a byte that is no UTF-8."""
        return [line.encode("utf-8", "surrogateescape") for line in self.lines]

    # ------------------------------------------------------------------ time

    def pass_time(self):
        roll = self.random.random
        self.now += self.random.choice([0, 0, 1, 1, 1, 2, 3, 5, 5, 10, 15]) + self.random.choice([0, 0, 0, 0.5])
        if roll() < 0.03:
            self.now += self.random.choice([40, 60, 90, 120, 150, 180, 200, 400])
        if roll() < 0.06:   # the instant at which some timer may be due
            due = self.random.choice(self.times[-12:]) + self.random.choice([5, 15, 30, 40, 60, 80, 120, 150, 180, 400])
            self.now = max(self.now, due)
        self.times.append(self.now)
        if roll() < 0.003:
            self.now += self.random.choice([3600, 8 * 3600, 13 * 3600])

    def pick_courier(self):
        """Mostly one that has been started: an activity that begins alone never sees its start."""
        born = [courier for courier in self.couriers if courier not in self.unborn]
        return self.random.choice(born if born and self.random.random() < 0.95 else self.couriers)

    def step(self):
        self.pass_time()
        self.random.choices(
            [self.position, self.status, self.started, self.token, self.ended, self.subject_event, self.dead_letter,
             self.replayed_line, self.burst, self.there_and_back],
            [50, 18, 9, 5, 1.5, 10, 3, 3, 1.5, 4])[0]()
    def timestamp(self):
        """Mostly now; producers' clocks differ a little."""
        value = self.now + self.random.choice([0, 0, 0, 0, 0, -0.5, -1, -3])
        if self.random.random() < 0.04:
            return self.rfc3339(value)
        return int(value) if value == int(value) and self.random.random() < 0.7 else value

    @staticmethod
    def rfc3339(value):
        import datetime
        moment = datetime.datetime.fromtimestamp(value, datetime.timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (moment.microsecond // 1000)

    # ------------------------------------------------------------------ lines

    def emit(self, event, key):
        owner = event.get("activityId") or event["subjectId"]
        ids = self.recent_ids.setdefault(owner, [])
        if ids and self.random.random() < 0.06:   # the last 16 are remembered, or is it 15, or 17?
            event["eventId"] = ids[-min(len(ids), self.random.choice([1, 2, 15, 16, 17, 18]))]
        elif self.random.random() < self.share_with_id:
            event["eventId"] = "e%d" % self.event_number
            self.event_number += 1
            ids.append(event["eventId"])
        if self.random.random() < 0.05:
            event["unknown"] = self.random.choice([None, {"deep": [1, 2, {}]}, "x", 1e300])
        self.emit_raw(json.dumps(event, ensure_ascii=self.random.random() < 0.5), key)

    def emit_raw(self, text, key):
        """The event's text, wrapped where this recording is."""
        if self.wrapped and not (self.mixed and self.random.random() < 0.3):
            partition = sum(key.encode()) % 3
            offset = self.offsets.get(partition, 100)
            self.offsets[partition] = offset + self.random.choice([1, 1, 1, 2])
            received = self.now + self.random.choice([0, 0, 0, 0, 0.25, -1])
            wrapper = '{"partition":%d,"offset":%d,"key":%s,' % (partition, offset, json.dumps(key))
            if self.random.random() < 0.95:
                wrapper += '"receivedAt":%r,' % received
            text = wrapper + '"value":' + text + "}"
        self.lines.append(text)

    # ------------------------------------------------------------------ content

    def content_state(self, courier, rich=True):
        """A merge patch: numbers near the tolerances, nested objects, nulls, big integers, equal values."""
        pick = self.random.choice
        patch = {}
        for _ in range(pick([0, 1, 1, 1, 2, 3])):
            kind = pick(["eta", "eta", "progress", "progress", "note", "nested", "null", "big", "odd", "count",
                         "mapped"])
            if kind == "eta":
                courier.eta += pick([0, 1, 10, 29, 30, 59, 60, 61, -60, -59.999999999, 0.5])
                patch["etaTimestamp"] = courier.eta
            elif kind == "progress":
                courier.progress = round(courier.progress + pick([0, 0.01, 0.04, 0.05, 0.05, 0.1, -0.05]), 6)
                patch["progressPercentage"] = courier.progress
            elif kind == "note":
                patch["note"] = pick(["", "left", "right", "é", "\U0001f6b2", "a\nb"])
            elif kind == "nested":
                inner = pick([{"name": "Ann"}, {"name": None}, {"eta": pick([1, 5, 10, 11, 20])},
                              {"phase": pick(["near", "far"])}, {"name": "Bob", "phase": "near"}])
                patch["courier"] = inner
            elif kind == "null":
                patch[pick(["note", "etaTimestamp", "courier", "status", "count", "list"])] = None
            elif kind == "big":
                patch["serial"] = pick([9007199254740991, 9007199254740993, 9007199254740992, -9007199254740995])
            elif kind == "odd":
                patch[pick(["etaTimestamp", "progressPercentage", "list"])] = pick(
                    ["soon", True, [1, 2.0, {"a": None}], [1.0, 2, {"a": None}], [2, 1], 0, -0.0])
            elif kind == "count":
                patch["count"] = pick([1, 1.0, 2, 3, 5, 1e2, 100])
            elif kind == "mapped" and rich:
                patch[pick(["latitude", "speed", "sequenceNumber", "lat"])] = pick([1, "producer"])
                patch["meta"] = pick([{"seq": 7}, {"x": 1}, {"x": 2}])
        return patch

    def alert(self):
        alert = {"title": "Order", "body": self.random.choice(["It is near", "Look"])}
        if self.random.random() < 0.3:
            alert["sound"] = "default"
        return alert

    def new_token(self, courier):
        token = "%064x" % self.random.getrandbits(250)
        courier.tokens.append(token)
        return token.upper() if self.random.random() < 0.2 else token

    def address(self, courier):
        return {"activityId": courier.name}

    def key(self, courier):
        return courier.subject or courier.name

    # ------------------------------------------------------------------ events

    def there_and_back(self):
        """A waiting update that loses its reason, unless the gates open in between."""
        courier = self.pick_courier()
        here = courier.latitude, courier.longitude
        self.position(courier, reach=100)
        self.now += self.random.choice([0.5, 1, 1, 2, 5, 15])
        courier.latitude, courier.longitude = here
        self.position(courier, reach=0)

    def position(self, courier=None, address=None, key=None, reach=None):
        pick = self.random.choice
        courier = courier or self.pick_courier()
        is_free = reach is None
        if is_free:
            reach = pick([0, 1, 5, 20, 30, 60, 74.9, 75.1, 80, 150, 300, 9.9, 10.1, 149.9, 150.1])
        angle = pick([0, math.pi, math.pi / 2, self.random.random() * 2 * math.pi])
        if is_free and self.random.random() < 0.4:   # jitter around a place: the anchor is what was sent
            courier.latitude, courier.longitude = courier.anchor
        elif self.random.random() < 0.2:
            courier.anchor = (courier.latitude, courier.longitude)
        courier.move(reach * math.cos(angle), reach * math.sin(angle))
        event = {"type": "position", "timestamp": self.timestamp(),
                 "latitude": courier.latitude, "longitude": courier.longitude}
        event.update(address or self.address(courier))
        if self.random.random() < 0.4:
            event["accuracy"] = pick([0, 5, 10, 40, 50, 80, 100, 20, 130, -1, None, 60, 200, 201])
        if self.random.random() < 0.2:
            event["speed"] = pick([0, 3.5, -1, 30])
        if self.random.random() < 0.2:
            event["heading"] = pick([0, 90.5, 360, -1, None])
        if self.random.random() < 0.1:
            event["altitude"] = 12.5
        if self.random.random() < 0.3:
            event["contentState"] = self.content_state(courier)
        self.spoil_position(event, courier)
        self.emit(event, key or self.key(courier))

    def spoil_position(self, event, courier):
        pick = self.random.choice
        kind = self.random.choices(
            ["none", "teleport", "teleport and stay", "same time", "older", "null island", "zero", "future",
             "near future", "too old", "rollover", "day ahead"], [82, 4, 2, 3, 3, 0.7, 0.5, 1, 1, 1, 0.7, 0.4])[0]
        times = courier.sent_positions[-4:]
        newest = max(courier.sent_positions, default=0)
        if kind == "none" and self.now - newest > 61 and self.random.random() < 0.3:   # at the edge of maxAge
            event["timestamp"] = self.now - pick([60, 60, 61] if self.now - newest < 3700 else [3600, 3600, 3601])
        if kind.startswith("teleport") and newest and self.random.random() < 0.4:   # at the edge of reanchorAfter
            at = newest + pick([30, 30, 30.5, 120, 120, 121])
            if self.now - 100 < at < self.now + 130:
                self.now = max(self.now, at)
                event["timestamp"] = at
        if kind == "teleport":
            event["latitude"] = -event["latitude"] if abs(event["latitude"]) > 1 else event["latitude"] + 1
        elif kind == "teleport and stay":
            courier.move(pick([3000, -9000]), 0)
            event["latitude"], event["longitude"] = courier.latitude, courier.longitude
            courier.anchor = (courier.latitude, courier.longitude)
        elif kind == "same time" and times:
            event["timestamp"] = pick(times)
        elif kind == "older":
            event["timestamp"] = self.now - pick([1, 5, 20, 100])
        elif kind == "null island":
            event["latitude"], event["longitude"] = pick([(0, 0), (0.0, -0.0)])
        elif kind == "zero":
            event[pick(["latitude", "longitude"])] = 0
        elif kind == "future":
            # Without receivedAt such a time moves the clock, and all that follows is old: seldom far.
            event["timestamp"] = self.now + pick([61, 61, 200, 200, 3600] + [20 * 3600] * self.wrapped)
        elif kind == "near future":
            event["timestamp"] = self.now + pick([5, 5.5, 60, 30])
        elif kind == "too old":
            event["timestamp"] = self.now - pick([60, 61, 3600, 3601, 7200])
        elif kind == "rollover":
            event["timestamp"] = self.now + pick([-1, 1, -2]) * 1024 * WEEK + pick([0, -2])
        elif kind == "day ahead":
            event["timestamp"] = self.now + pick([86400, 86401, 10 * 86400, 400 * 86400])
        if isinstance(event["timestamp"], (int, float)):
            courier.sent_positions.append(event["timestamp"])

    def status(self, courier=None, address=None, key=None):
        pick = self.random.choice
        courier = courier or self.pick_courier()
        event = {"type": "status", "timestamp": self.timestamp()}
        event.update(address or self.address(courier))
        kind = pick(["status", "status", "content", "content", "alert", "relevance", "both", "empty", "large"])
        if kind in ("status", "both"):
            event["status"] = pick(["prepared", "underway", "near", "near", "arrived"])
        if kind in ("content", "both"):
            event["contentState"] = self.content_state(courier)
        if kind == "both" and self.random.random() < 0.3:
            event["contentState"]["status"] = pick(["loses", None])
        if kind == "alert" or self.random.random() < 0.08:
            event["alert"] = self.alert()
        if kind == "relevance" or self.random.random() < 0.1:
            event["relevanceScore"] = pick([0, 0.5, 100])
        if kind == "empty":
            event["contentState"] = {}
        if kind == "large":
            if self.random.random() < 0.25:
                event["contentState"] = {"blob": "x" * pick([5300, 3500] if self.channel else [5300, 4300, 3500])}
            else:
                event["contentState"] = {"note": pick(["left", "right"]), "extra": pick([1, 2, None])}
        self.emit(event, key or self.key(courier))

    def started(self):
        pick = self.random.choice
        if self.channel and self.random.random() < 0.12:
            return self.channel_started()
        courier = self.unborn.pop() if self.unborn and self.random.random() < 0.85 else pick(self.couriers)
        event = {"type": "activity.started", "timestamp": self.timestamp(), "activityId": courier.name}
        if courier.subject:
            event["follows"] = courier.subject
        target = pick(["token", "token", "token", "startToken", "startToken", "both", "none", "userId", "again",
                       "channelId"])
        if target == "channelId" and not self.channel:   # so that states of 4,300 bytes are too large for all
            target = "none"
        if target == "again" and courier.tokens:
            event["token"] = pick(courier.tokens)
        if target in ("token", "both"):
            event["token"] = self.new_token(courier)
        if target in ("startToken", "both"):
            event["startToken"] = self.new_token(courier)
        if target == "userId":
            event["userId"] = "user-%s" % courier.name
        if target == "channelId":
            event["channelId"] = "Y2hhbm5lbA%d=" % self.random.randrange(3)
        event["attributesType"] = "Order"
        event["attributes"] = {"order": courier.name}
        if target in ("startToken", "userId") or self.random.random() < 0.2:
            event["alert"] = self.alert()
        event["contentState"] = self.content_state(courier)
        if self.random.random() < 0.6:
            event["contentState"]["status"] = pick(["prepared", "underway"])
        if self.random.random() < 0.3:
            event["frequentUpdates"] = pick([True, False])
        if self.random.random() < 0.15:
            event["timestamp"] = self.now - pick([20, 100, 300])
        self.emit(event, self.key(courier))

    def channel_started(self):
        courier = self.subject_courier[self.channel]
        self.emit({"type": "activity.started", "subjectId": self.channel, "timestamp": self.timestamp(),
                   "channelId": "Y2hhbm5lbA%d=" % self.random.randrange(4), "attributesType": "Match",
                   "contentState": self.content_state(courier)}, self.channel)

    def token(self):
        courier = self.pick_courier()
        known = courier.tokens and self.random.random() < 0.3
        event = {"type": "token", "activityId": courier.name, "timestamp": self.timestamp(),
                 "token": self.random.choice(courier.tokens) if known else self.new_token(courier)}
        if self.random.random() < 0.3:
            event["frequentUpdates"] = self.random.choice([True, False])
        self.emit(event, self.key(courier))

    def ended(self, courier=None, address=None, key=None):
        courier = courier or self.pick_courier()
        event = {"type": "activity.ended", "timestamp": self.timestamp()}
        event.update(address or self.address(courier))
        if self.random.random() < 0.6:
            event["contentState"] = self.content_state(courier)
        if self.random.random() < 0.3:
            event["alert"] = self.alert()
        if self.random.random() < 0.5:
            event["dismissalDate"] = self.random.choice(
                ["immediate", self.now + 600, self.rfc3339(self.now + 60), None])
        self.emit(event, key or self.key(courier))
        subject = event.get("subjectId")
        ended = [each for each in self.couriers if each.subject == subject] if subject else [courier]
        self.unborn += [each for each in ended if each not in self.unborn and self.random.random() < 0.8]   # a new life

    def subject_event(self):
        name = self.random.choice(sorted(self.subject_courier))
        courier = self.subject_courier[name]
        kind = self.random.choices([self.position, self.status, self.ended], [70, 28, 2])[0]
        kind(courier, {"subjectId": name}, name)

    def replayed_line(self):
        """A producer's retry, or a re-read partition: some of the newest lines once more."""
        newest = self.lines[-self.random.choice([1, 1, 3, 8]):]
        self.lines.extend(newest[:self.random.choice([1, 2, 8])])

    def burst(self):
        """Many urgent changes at once: the bucket goes below zero, aps timestamps run ahead of the clock."""
        courier = self.pick_courier()
        for index in range(self.random.choice([4, 7, 12, 20])):
            self.now += self.random.choice([0, 0, 0, 0.5, 1, 5])
            event = {"type": "status", "activityId": courier.name, "timestamp": self.now,
                     "status": "step-%d" % self.random.choice([index, index, 0])}
            self.emit(event, self.key(courier))

    # ------------------------------------------------------------------ dead letters

    def dead_letter(self):
        pick = self.random.choice
        courier = pick(self.couriers)
        good = {"type": "position", "activityId": courier.name, "timestamp": self.now, "latitude": 1, "longitude": 2}

        def changed(**members):
            event = dict(good)
            for name, value in members.items():
                if value is NOTHING:
                    event.pop(name)
                else:
                    event[name] = value
            return json.dumps(event)

        def other(kind, **members):
            return json.dumps(dict({"type": kind, "activityId": courier.name, "timestamp": self.now}, **members))

        text = json.dumps(good)
        hexes = "ab" * 32
        bad = pick([
            lambda: text[:-1], lambda: text + "}", lambda: text.replace("1", "01", 1), lambda: "{",
            lambda: text.replace('"latitude": 1', '"latitude": NaN'), lambda: text[:-1] + ',"type":"position"}',
            lambda: text[:-1] + ',"x":"\\ud800"}', lambda: text[:-1] + ',"x":' + "[" * 64 + "]" * 64 + "}",
            lambda: text[:-1] + ',"x":{"a":1,"\\u0061":2}}', lambda: text[:-1] + ',"x":"\t"}',
            lambda: text[:-1] + ',"x":"\udcff"}', lambda: text[:-1] + ',"x":"\udcc3"}', lambda: text + "[" * 65536,
            lambda: text[:-1] + ',"x":"\\x"}',
            lambda: text.replace('"longitude": 2', '"longitude": -1e400'), lambda: "\ufeff" + text,
            lambda: changed(timestamp="2026-03-01T00:00:00+24:00"),
            lambda: changed(timestamp=int(self.now) * 10 ** 300),
            lambda: "[1]", lambda: "17", lambda: '"text"', lambda: "null",
            lambda: text[:-1] + ',"x":"' + "y" * 65536 + '"}',
            lambda: changed(type="positions"), lambda: changed(type=NOTHING), lambda: changed(type=7),
            lambda: changed(activityId=NOTHING), lambda: changed(activityId=""), lambda: changed(activityId="x" * 129),
            lambda: changed(activityId=3), lambda: changed(subjectId="s0"), lambda: changed(timestamp=NOTHING),
            lambda: changed(timestamp=True), lambda: changed(timestamp="yesterday"),
            lambda: changed(timestamp="2026-02-30T00:00:00Z"), lambda: changed(timestamp=self.now * 1000),
            lambda: changed(eventId="e" * 129), lambda: changed(eventId=5), lambda: changed(app="nobody"),
            lambda: changed(latitude=NOTHING), lambda: changed(latitude=None), lambda: changed(latitude="1"),
            lambda: changed(latitude=90.0001), lambda: changed(longitude=-180.5), lambda: changed(heading=361),
            lambda: text.replace('"latitude": 1', '"latitude": 1e999'), lambda: changed(contentState=[]),
            lambda: changed(accuracy="5"), lambda: changed(speed=[]),
            lambda: other("status"), lambda: other("status", status=1), lambda: other("status", alert="x"),
            lambda: other("status", relevanceScore="1"),
            lambda: other("token"), lambda: other("token", token="xyz"), lambda: other("token", token=hexes[:63]),
            lambda: other("token", token=hexes, frequentUpdates="yes"),
            lambda: other("activity.started", token=hexes, channelId="a"),
            lambda: other("activity.started", startToken=hexes, attributesType="Order"),
            lambda: other("activity.started", startToken=hexes, alert={"title": "t", "body": "b"}),
            lambda: other("activity.started", token="ab" * 31),
            lambda: other("activity.started", attributes="x"),
            lambda: other("activity.ended", dismissalDate="soon"),
        ])()
        try:
            strict_json.read(bad.encode("utf-8", "surrogateescape"))
        except strict_json.NotJSON:
            self.lines.append(bad)   # what is no JSON cannot stand in a wrapper
        else:
            self.emit_raw(bad, self.key(courier))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--activities", type=int, default=4)
    parser.add_argument("--settings", action="store_true", help="print the seed's options in place of the recording")
    options = parser.parse_args()
    if options.settings:
        print("\n".join(choose_settings(random.Random("settings %d" % options.seed))))
    else:
        recording = Recording(options.seed, options.events, options.activities)
        sys.stdout.buffer.write(b"".join(line + b"\n" for line in recording.bytes()))


if __name__ == "__main__":
    main()
