"""Kafka as the source: what a member is configured with, what is produced, and what lies there in the end. Checkpoints lie in Redis."""

import json

import kafka
from broker import Broker
from processes import Trouble
from streams import LEASE_SECONDS

GROUP = "couriers"
# By engine: the shortest session that it bears, and after how many seconds others have taken over from one that is silent (see
# kafka_broker). On noida sessions never end.
SESSION_SECONDS = {"tansu": 2, "noida": 6, "mock": 4}
TAKEOVER_SECONDS = {"tansu": 5, "noida": 8, "mock": 10}


class KafkaTopics:
    # Who is killed between a letter and the position behind its record leaves both to the next owner.
    letters_may_repeat = True

    def __init__(self, shape, connect, folder, engine="tansu", settings=None):
        """`connect` gives a client of the Redis with the checkpoints, with so many seconds for an answer; `settings` are a member's beside the common ones."""
        self.shape, self.connect, self.more = shape, connect, settings or {}
        self.silence_seconds, self.takeover_seconds = max(LEASE_SECONDS, SESSION_SECONDS[engine]), TAKEOVER_SECONDS[engine]
        self.engine = engine
        self.acknowledged, self.counts = {}, {"full": 0}
        self.producer, self.readers = None, {}
        self.broker = Broker(folder, engine)
        try:
            self.broker.start()
            for topic in shape.topics:
                self.broker.topic(topic, shape.partitions)
                self.broker.topic(f"dlq.{topic}", shape.partitions)
            self.producer = kafka.Producer(self.broker)
        except BaseException:
            self.broker.end()
            raise

    @property
    def unanswered(self):
        return self.producer.unanswered

    def settings(self, url, password_file):
        """Of a member."""
        return {
            "source.kafka.bootstrapServers": self.broker.addresses.split(","), "source.kafka.topics": list(self.shape.topics),
            "source.kafka.group": GROUP, "source.kafka.lease": f"{LEASE_SECONDS}s",
            "source.kafka.sessionTimeout": f"{SESSION_SECONDS[self.engine]}s", "source.kafka.commitInterval": "500ms",
            "source.kafka.properties": {
                "fetch.wait.max.ms": "10", "heartbeat.interval.ms": "200", "reconnect.backoff.max.ms": "500",
            },
            "storage.redis.url": url, "storage.redis.passwordFile": password_file, "storage.redis.connectTimeout": "1s",
            "storage.redis.commandTimeout": "1s", "storage.redis.reconnectDelay": "100ms",
            "storage.redis.reconnectDelayMax": "500ms", **self.more,
        }  # fmt: skip

    def publish(self, batch):
        """How many were taken of what is waiting, as (key, body, whether it is a position)."""
        taken = 0
        for key, body, is_position in batch:
            topic, number = self.shape.topics[-1 if is_position else 0], self.shape.partition(key)
            if not self.producer.send(topic, number, key, body, self.acknowledge(topic, number, key)):
                self.counts["full"] += 1
                break
            taken += 1
        self.producer.turn()
        return taken

    def acknowledge(self, topic, number, key):
        entries = self.acknowledged.setdefault(log(topic, number), [])
        return lambda offset: entries.append((offset, key))

    def ends(self, topic):
        """By partition: the offset behind the last record, as far as it was acknowledged to this producer, which is the only one."""
        found = {}
        for number in range(self.shape.partitions):
            entries = self.acknowledged.get(log(topic, number))
            found[number] = max(offset for offset, _ in entries) + 1 if entries else 0
        return found

    def published(self):
        """What lies in all partitions, in the order of each: bytes by partition and offset."""
        for topic in self.shape.topics:
            if topic not in self.readers:
                self.readers[topic] = kafka.Reader(self.broker, topic, self.shape.partitions)
            for number, messages in self.readers[topic].read_to(self.ends(topic)).items():
                for message in messages:
                    yield log(topic, number), message.offset(), message.value()

    def unsettled(self):
        """By partition: the position in the store and the offset that the group has committed, where one is not at the end."""
        found = []
        offsets = kafka.committed(self.broker, GROUP, self.shape.topics, self.shape.partitions)
        with self.connect(20) as client:
            for topic in self.shape.topics:
                for number, end in self.ends(topic).items():
                    stored = client("HGET", f"{GROUP}:{{{number}}}:cursor", topic)
                    last = int(stored.split()[0]) if stored else None
                    if end and (last, offsets[topic, number]) != (end - 1, end):
                        text = f"stored {last}, committed {offsets[topic, number]}; the last record is {end - 1}"
                        found.append((log(topic, number), text))
        return found

    def letters(self):
        """By partition: the offsets of which dead letters tell."""
        found = {log(topic, number): [] for topic in self.shape.topics for number in range(self.shape.partitions)}
        for topic in self.shape.topics:
            reader = kafka.Reader(self.broker, f"dlq.{topic}", self.shape.partitions)
            try:
                for messages in reader.read_to(dict.fromkeys(range(self.shape.partitions))).values():
                    for message in messages:
                        headers = {name: value.decode("utf-8", "replace") for name, value in message.headers() or []}
                        if headers.get("waypulse.dlq.topic") != topic:
                            raise Trouble(f"a dead letter of dlq.{topic} says {json.dumps(headers)}")
                        name = log(topic, int(headers["waypulse.dlq.partition"]))
                        found[name].append(int(headers["waypulse.dlq.offset"]))
            finally:
                reader.close()
        return found

    def end(self):
        for reader in self.readers.values():
            reader.close()
        self.broker.end()


def log(topic, number):
    """As Kafka itself names the folder of a partition."""
    return f"{topic}-{number}"
