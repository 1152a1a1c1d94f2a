#!/usr/bin/python3
"""Reads Waypulse's feedback and keeps a PostgreSQL database in step with it.

usage: consume.py --database DSN --file PATH
       consume.py --database DSN --redis HOST:PORT --partitions N [--topic NAME]
       consume.py --database DSN --kafka HOST:PORT[,…] [--topic NAME]
       … --until-idle SECONDS     ends when nothing came for so long; otherwise it runs until it is stopped

What was read is applied in one transaction with the position behind it, so it may be killed at any moment and started again. Events come at
least once; the inbox takes each once. Several may run: one reads a source, the others wait for it.

Debian: python3-psycopg2, and python3-redis or python3-confluent-kafka. Exit codes: 0 idle, 64 usage, 1 anything else.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import psycopg2

BATCH = 500
WAIT_SECONDS = 1.0


class File:
    """A file of lines. One that was moved away is read to its end, as long as it lies beside the new one; one that was cut begins anew."""

    def __init__(self, path):
        self.path = Path(path)
        self.sources = [f"file:{self.path.resolve()}"]

    def read(self, _, position):
        inode, offset = map(int, (position or "0 0").split())
        for path in self.paths(inode):
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != inode or status.st_size < offset:
                    offset = 0
                file.seek(offset)
                lines = [line for line in (file.readline() for _ in range(BATCH)) if line.endswith(b"\n")]
                if lines:
                    return lines, f"{status.st_ino} {offset + sum(map(len, lines))}"
        return [], position

    def paths(self, inode):
        """The one that was read last, and then the one that stands there now."""
        beside = [path for path in self.path.parent.glob(self.path.name + "*") if path.stat().st_ino == inode]
        return [path for path in beside if path != self.path] + [path for path in [self.path] if path.exists()]

    def wait(self):
        time.sleep(WAIT_SECONDS / 10)


class Streams:
    """Streams NAME:{0}, NAME:{1}, … of Redis, each with a position of its own."""

    def __init__(self, address, topic, partitions):
        import redis

        host, port = address.rsplit(":", 1)
        self.redis = redis.Redis(host, int(port), password=os.environ.get("REDIS_PASSWORD"))
        self.sources = [f"{topic}:{{{number}}}" for number in range(partitions)]

    def read(self, stream, position):
        found = self.redis.xread({stream: position or "0"}, count=BATCH)
        entries = found[0][1] if found else []
        return [fields.get(b"event", b"") for _, fields in entries], entries[-1][0].decode() if entries else position

    def wait(self):
        time.sleep(WAIT_SECONDS / 10)


class Topic:
    """A topic of Kafka. Offsets are the database's, and no consumer group's."""

    def __init__(self, servers, topic):
        import confluent_kafka as kafka

        self.kafka, self.topic = kafka, topic
        # It wants a group's name, and never joins one.
        settings = {"bootstrap.servers": servers, "group.id": "waypulse-feedback", "enable.auto.commit": False}
        self.consumer = kafka.Consumer(settings | {"auto.offset.reset": "earliest", "enable.partition.eof": True})
        partitions = self.consumer.list_topics(topic, timeout=20).topics[topic].partitions
        self.sources = [f"{topic}[{number}]" for number in partitions]
        self.assigned = None

    def read(self, source, position):
        """Where the partition is another one, or the position is not where reading stands, it is sought first."""
        number = int(source[len(self.topic) + 1 : -1])
        offset = int(position or 0)
        if self.assigned != (number, offset):
            self.consumer.assign([self.kafka.TopicPartition(self.topic, number, offset)])
        messages = []
        for message in self.consumer.consume(BATCH, WAIT_SECONDS):
            error = message.error()
            if error and error.code() != self.kafka.KafkaError._PARTITION_EOF:
                raise SystemExit(f"error: {source}: {error}")
            if not error:
                messages.append(message)
        if messages:
            offset = messages[-1].offset() + 1
        self.assigned = (number, offset)
        return [message.value() for message in messages], str(offset)

    def wait(self):
        pass


def event_of(line):
    """None for what is no event: a line that a full disk cut short, or somebody else's."""
    try:
        event = json.loads(line)
        return event if all(isinstance(event[name], str) for name in ("id", "type", "activityId")) else None
    except (ValueError, TypeError, KeyError):
        return None


def apply(cursor, name, event):
    """An event that the database does not take, whoever made it, holds up no other."""
    cursor.execute("SAVEPOINT one")
    try:
        cursor.execute("SELECT apply_feedback(%s)", [json.dumps(event)])
    except (psycopg2.DataError, psycopg2.IntegrityError) as error:
        cursor.execute("ROLLBACK TO SAVEPOINT one")
        print(f"warning: {name}: {event['id']} passed over: {error}", file=sys.stderr)


def apply_batch(database, source, name):
    """One transaction: what was read, and how far. Returns how many lines there were."""
    with database, database.cursor() as cursor:
        cursor.execute("INSERT INTO feedback_positions VALUES (%s, '') ON CONFLICT DO NOTHING", [name])
        # Whoever else reads this source waits here, and goes on behind it.
        cursor.execute("SELECT position FROM feedback_positions WHERE source = %s FOR UPDATE", [name])
        position = cursor.fetchone()[0]
        lines, after = source.read(name, position)
        for line in lines:
            if (event := event_of(line)) is None:
                print(f"warning: {name}: no feedback event, passed over: {line[:80]!r}", file=sys.stderr)
            else:
                apply(cursor, name, event)
        if lines:
            cursor.execute("UPDATE feedback_positions SET position = %s WHERE source = %s", [after, name])
    return len(lines)


def main():
    def usage(_):
        print(__doc__, file=sys.stderr)
        sys.exit(64)

    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n\n")[0])
    parser.error = usage
    parser.add_argument("--database", required=True)
    parser.add_argument("--file")
    parser.add_argument("--redis")
    parser.add_argument("--kafka")
    parser.add_argument("--topic", default="waypulse.feedback")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--until-idle", type=float)
    words = parser.parse_args()
    if [words.file, words.redis, words.kafka].count(None) != 2 or (words.redis and not words.partitions):
        usage(None)
    database = psycopg2.connect(words.database)
    if words.file:
        source = File(words.file)
    elif words.redis:
        source = Streams(words.redis, words.topic, words.partitions)
    else:
        source = Topic(words.kafka, words.topic)
    came = time.monotonic()
    while True:
        if sum(apply_batch(database, source, name) for name in source.sources):
            came = time.monotonic()
        elif words.until_idle is not None and time.monotonic() - came >= words.until_idle:
            return 0
        else:
            source.wait()


if __name__ == "__main__":
    sys.exit(main())
