"""What a test writes to brokers that speak Kafka's protocol, and reads back.

The client is Debian's python3-confluent-kafka, a thin layer over the librdkafka that members use as well.
"""

import time

import confluent_kafka
from processes import Trouble


def client_settings(broker):
    return {
        "bootstrap.servers": broker.addresses, "log_level": 2, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.fast.interval.ms": 100,
    }  # fmt: skip


class Producer:
    """Sends in order and until it is acknowledged, however long that takes: what was not acknowledged is sent again, as producers do."""

    def __init__(self, broker):
        self.unanswered = 0
        settings = {"acks": "all", "max.in.flight": 1, "retries": 2_147_483_647, "message.timeout.ms": 0, "linger.ms": 2}
        self.producer = confluent_kafka.Producer(client_settings(broker) | settings)

    def send(self, topic, partition, key, value, acknowledged):
        """`acknowledged` is called with the offset, by `turn`. False where no more may wait."""

        def answered(error, message):
            self.unanswered -= 1
            if error:
                raise Trouble(f"{topic} took no record: {error}")
            acknowledged(message.offset())

        try:
            self.producer.produce(topic, value, key, partition=partition, on_delivery=answered)
        except BufferError:
            return False
        self.unanswered += 1
        return True

    def turn(self):
        self.producer.poll(0)


class Reader:
    """Reads a topic from its beginning, on and on, without being a member of anything."""

    def __init__(self, broker, topic, partitions):
        self.topic = topic
        settings = {
            "group.id": "reader-of-the-test", "enable.auto.commit": False, "auto.offset.reset": "error", "fetch.wait.max.ms": 50,
            "enable.partition.eof": True,
        }  # fmt: skip
        self.consumer = confluent_kafka.Consumer(client_settings(broker) | settings)
        # By partition: the messages from offset 0 on.
        self.records = {number: [] for number in range(partitions)}
        self.consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in self.records])

    def read_to(self, ends, seconds=20):
        """Until each partition is read as far as the offset before its end. An end of None is that which the broker tells."""
        end = time.monotonic() + seconds
        at_end = {number for number, last in ends.items() if last == 0}

        def missing():
            return [
                number for number, last in ends.items()
                if (number not in at_end if last is None else self.next(number) < last)
            ]  # fmt: skip

        while missing():
            for message in self.consumer.consume(5_000, 0.1):
                code = message.error() and message.error().code()
                if code == confluent_kafka.KafkaError._PARTITION_EOF:
                    at_end.add(message.partition())
                elif code is None:
                    self.records[message.partition()].append(message)
            if time.monotonic() > end:
                raise Trouble(f"{self.topic} could not be read to its end; behind are the partitions {missing()}")
        return self.records

    def next(self, number):
        records = self.records[number]
        return records[-1].offset() + 1 if records else 0

    def close(self):
        self.consumer.close()


def committed(broker, group, topics, partitions, seconds=10):
    """By topic and partition: the offset that the group has committed, None where it has none."""
    consumer = confluent_kafka.Consumer(client_settings(broker) | {"group.id": group, "enable.auto.commit": False})
    try:
        asked = [confluent_kafka.TopicPartition(topic, number) for topic in topics for number in range(partitions)]
        answers = consumer.committed(asked, timeout=seconds)
        return {(one.topic, one.partition): one.offset if one.offset >= 0 else None for one in answers}
    except confluent_kafka.KafkaException as fault:
        raise Trouble(f"the offsets of {group} were not told: {fault}") from fault
    finally:
        consumer.close()
