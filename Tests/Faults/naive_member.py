#!/usr/bin/python3
"""A member that keeps its promises on good days alone: what the scenarios have to find out.

usage: naive_member.py run --config FILE      (as Tests/Faults/member.py writes it)

It takes partitions by leases and paces as promised, but keeps no checkpoint: it writes how far it has read, not what is told.
So a kill loses what was held and begins sequences anew, and a process that was frozen does not know that it owns nothing any more.
"""

import base64
import contextlib
import json
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.parse
import uuid

import redis
from history import distance
from streams import stream

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def provider_token(key_file, key_identifier, team):
    head = base64url(json.dumps({"alg": "ES256", "kid": key_identifier}).encode())
    text = head + "." + base64url(json.dumps({"iss": team, "iat": int(time.time())}).encode())
    words = ["openssl", "dgst", "-sha256", "-sign", key_file]
    der = subprocess.run(words, input=text.encode(), capture_output=True, check=True).stdout
    # SEQUENCE of two INTEGERs; JWS wants 32 bytes of each.
    first = der[4 : 4 + der[3]]
    second = der[6 + der[3] :]
    return text + "." + base64url(b"".join(one[-32:].rjust(32, b"\0") for one in (first, second)))


def hpack_text(text):
    data = text.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    length, rest = b"\x7f", len(data) - 127
    while rest > 127:
        length, rest = length + bytes([rest & 127 | 128]), rest >> 7
    return length + bytes([rest]) + data


class Connection:
    """HTTP/2 as far as a push needs it."""

    def __init__(self, host, port, authority):
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=2), server_hostname=host)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream, self.buffer, self.is_known = -1, b"", False
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(SETTINGS, 0, 0))
        # What makes it readable may be a ticket of TLS and no data.
        self.socket.settimeout(0)

    def frame(self, kind, flags, number, payload=b""):
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + payload

    def push(self, headers, body):
        self.stream += 2
        block = b"".join(b"\0" + hpack_text(name) + hpack_text(value) for name, value in headers)
        self.socket.sendall(self.frame(HEADERS, END_HEADERS, self.stream, block) + self.frame(DATA, END_STREAM, self.stream, body))
        return self.stream

    def answers(self, seconds):
        """(stream, whether it was accepted), as they come within this time."""
        if self.socket.pending() or select.select([self.socket], [], [], seconds)[0]:
            with contextlib.suppress(ssl.SSLWantReadError):
                data = self.socket.recv(1 << 16)
                if not data:
                    raise ConnectionResetError("closed")
                self.buffer += data
        while len(self.buffer) >= 9:
            length = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + length:
                return
            kind, flags, number = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big")
            payload, self.buffer = self.buffer[9 : 9 + length], self.buffer[9 + length :]
            if kind in (SETTINGS, PING) and not flags & ACK:
                self.socket.sendall(self.frame(kind, ACK, 0, payload if kind == PING else b""))
            elif kind == HEADERS:
                # :status 200 stands in the static table; sizes of the dynamic one may come before it.
                self.is_known = True
                yield number, b"\x88" in payload[:4]
            elif kind == RST_STREAM:
                yield number, False
            elif kind == GOAWAY:
                raise ConnectionResetError("going away")


class Activity:
    def __init__(self, event, sequence=0):
        self.name = event["activityId"]
        self.target, self.is_start = event.get("token") or event["startToken"], "startToken" in event
        self.start = event
        self.alert = event.get("alert")
        self.content = dict(event["contentState"])
        self.shown = None if self.is_start else dict(self.content)
        self.position = self.told = None
        self.ended = self.is_over = self.is_waiting = False
        self.sequence, self.timestamp, self.sent_at, self.level, self.level_at = sequence, 0, 0.0, 8, time.time()

    def is_due(self, now):
        if self.is_waiting or self.is_over or (self.is_start and self.shown is not None):
            return False
        if self.ended or self.alert or self.shown is None or self.content["status"] != self.shown["status"]:
            return not self.is_start or self.shown is None
        if now < self.sent_at + 1.02:
            return False
        if self.start["attributesType"] == "Paced" and now < self.level_at + 15:
            return False
        meters = distance(self.position, self.told)
        drift = self.content.get("progressPercentage", 0) - self.shown.get("progressPercentage", 0)
        return (self.position and meters is None) or (meters or 0) > 20 or drift >= 0.05

    def take(self, now):
        self.sequence += 1
        self.timestamp = max(int(now), self.timestamp + 1)
        if self.position:
            self.content |= {"latitude": round(self.position[0], 5), "longitude": round(self.position[1], 5)}
        kind = "start" if self.is_start else "end" if self.ended else "update"
        is_urgent = kind != "update" or self.alert or self.content["status"] != self.shown["status"]
        aps = {"timestamp": self.timestamp, "event": kind, "content-state": self.content | {"sequenceNumber": self.sequence}}
        if self.alert:
            aps["alert"] = self.alert
        if kind == "start":
            aps |= {"attributes-type": self.start["attributesType"], "attributes": self.start["attributes"]}
        self.is_waiting, self.sent_at, self.shown, self.told, self.alert = True, now, dict(self.content), self.position, None
        self.level_at = now
        if kind == "end":
            self.is_over = True
        return json.dumps({"aps": aps}).encode(), 10 if is_urgent else 5


class Streams:
    beginning = b"0-0"

    def __init__(self, topic, partitions):
        self.topic, self.partitions = topic, partitions

    def read(self, client, owned):
        """What lies behind the positions owned, each with its own."""
        names = [stream(self.topic, number) for number in owned]
        for name, entries in client("XREAD", "COUNT", 200, "BLOCK", 1, "STREAMS", *names, *owned.values()) or []:
            for identifier, fields in entries:
                body = dict(zip(fields[::2], fields[1::2])).get(b"event", b"")
                yield int(name[name.index(b"{") + 1 : -1]), identifier.decode(), body


class Topic:
    beginning = b"0"

    def __init__(self, addresses, topic):
        import confluent_kafka

        self.topic, self.place = topic, confluent_kafka.TopicPartition
        settings = {"bootstrap.servers": ",".join(addresses), "group.id": "naive", "enable.auto.commit": False, "fetch.wait.max.ms": 10}
        self.consumer = confluent_kafka.Consumer(settings)
        self.partitions = len(self.consumer.list_topics(topic, 10).topics[topic].partitions)
        self.assigned = set()

    def read(self, _, owned):
        """What lies behind the positions owned, each with the offset after its own."""
        if set(owned) != self.assigned:
            self.assigned = set(owned)
            self.consumer.assign([self.place(self.topic, number, int(next)) for number, next in owned.items()])
        for message in self.consumer.consume(200, 0.005):
            if not message.error():
                yield message.partition(), str(message.offset() + 1), message.value()


class Naive:
    def __init__(self, config):
        def value(name):
            return re.search(rf'^ *{name}: (.*)$', config, re.MULTILINE)[1].strip('"')

        self.name, topic = value("member"), json.loads(value("topics"))[0]
        self.records = Topic(json.loads(value("bootstrapServers")), topic) if "kafka:" in config else Streams(topic, int(value("partitions")))
        self.redis_port = urllib.parse.urlsplit(value("url")).port
        self.provider = (value("host"), int(value("port")), value("caFile"))
        self.topic_header = value("bundleId") + ".push-type.liveactivity"
        self.token = provider_token(value("keyFile"), value("keyId"), value("teamId"))
        self.activities, self.followers, self.owned, self.streams = {}, {}, {}, {}
        self.seen = set()
        self.connection = self.client = None
        self.is_stopping = 0.0

    def run(self):
        signal.signal(signal.SIGTERM, self.stop)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            running = {"message": "running", "metricsPort": listener.getsockname()[1]}
            print(json.dumps(running, separators=(",", ":")), flush=True)
            next_lease = 0.0
            while not self.is_stopping or (self.streams and time.time() < self.is_stopping + 2):
                try:
                    if self.client is None:
                        self.client = redis.Client(self.redis_port, redis.MEMBER_USER, redis.MEMBER_PASSWORD)
                    if time.time() >= next_lease:
                        self.take_leases()
                        next_lease = time.time() + 0.5
                    if not self.is_stopping:
                        self.read()
                except (OSError, redis.Refused):
                    self.client = None
                self.send()

    def stop(self, *_):
        self.is_stopping = time.time()

    def take_leases(self):
        for number in range(self.records.partitions):
            key = f"couriers:naive:{number}"
            if self.client("SET", key, self.name, "NX", "PX", 2_000):
                self.owned[number] = (self.client("GET", key + ":cursor") or self.records.beginning).decode()
            elif number in self.owned:
                self.client("PEXPIRE", key, 2_000)
                self.client("SET", key + ":cursor", self.owned[number])

    def read(self):
        if not self.owned:
            return
        for number, position, body in self.records.read(self.client, self.owned):
            self.apply(body)
            self.owned[number] = position

    def apply(self, body):
        try:
            event = json.loads(body)
        except ValueError:
            return
        if event["eventId"] in self.seen:
            return
        self.seen.add(event["eventId"])
        if event["type"] == "activity.started":
            one = self.activities[event["activityId"]] = Activity(event)
            self.followers.setdefault(event.get("follows"), []).append(one)
            return
        ones = self.followers.get(event["subjectId"], []) if "subjectId" in event else [self.activities.get(event["activityId"])]
        for one in ones:
            if one is None:
                continue
            if event["type"] == "token":
                one.target, one.is_start = event["token"], False
            if one.ended:
                continue
            one.content |= event.get("contentState", {})
            one.alert = event.get("alert", one.alert)
            if event["type"] == "position":
                one.position = (event["latitude"], event["longitude"])
            one.ended = event["type"] == "activity.ended"

    def send(self):
        try:
            if self.connection is None:
                self.connection = Connection(*self.provider)
            now = time.time()
            for one in self.activities.values():
                # The provider takes one request at a time until it knows the token.
                if self.streams and not self.connection.is_known:
                    break
                if one.is_due(now) and not self.is_stopping:
                    body, priority = one.take(now)
                    identifier = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{one.name} {one.sequence}"))
                    headers = [
                        (":method", "POST"), (":scheme", "https"), (":path", f"/3/device/{one.target}"),
                        (":authority", "localhost"), ("authorization", f"bearer {self.token}"), ("apns-topic", self.topic_header),
                        ("apns-push-type", "liveactivity"), ("apns-priority", str(priority)), ("apns-id", identifier),
                    ]  # fmt: skip
                    self.streams[self.connection.push(headers, body)] = one
            for number, _ in self.connection.answers(0.005):
                # Whatever the answer was.
                self.streams.pop(number).is_waiting = False
        except OSError:
            for one in self.streams.values():
                one.is_waiting = False
            self.streams, self.connection = {}, None
            time.sleep(0.1)


if __name__ == "__main__":
    with open(sys.argv[sys.argv.index("--config") + 1]) as file:
        Naive(file.read()).run()
