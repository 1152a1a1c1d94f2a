"""Redis Streams as the source: what a member is configured with, what is published, and what lies there in the end."""

import time

from redis import Refused

LEASE_SECONDS = 2


class RedisStreams:
    """Events and checkpoints lie in the same Redis."""

    # After which whoever was silent has lost what it held, and after which others have it.
    silence_seconds, takeover_seconds = LEASE_SECONDS, LEASE_SECONDS + 2
    # A script writes a letter once, whoever asks for it.
    letters_may_repeat = False

    def __init__(self, shape, connect):
        """`connect` gives a client of the server that takes writes, with so many seconds for an answer, or raises OSError. It is asked again
        after each loss."""
        self.shape, self.connect = shape, connect
        self.client = None
        # By stream: id and key of each entry.
        self.acknowledged = {}
        self.counts = {"refusals": 0, "reconnects": 0}
        self.next_connect = 0.0
        # A transaction is answered before the next is sent.
        self.unanswered = 0

    def settings(self, url, password_file):
        """Of a member."""
        return {
            "source.redis.group": "couriers", "source.redis.lease": f"{LEASE_SECONDS}s", "source.redis.connectTimeout": "1s",
            "source.redis.commandTimeout": "1s", "source.redis.reconnectDelay": "100ms",
            "source.redis.reconnectDelayMax": "500ms", "source.redis.url": url, "source.redis.passwordFile": password_file,
            "source.redis.topics": [self.shape.topic], "source.redis.partitions": self.shape.partitions,
        }  # fmt: skip

    def publish(self, batch):
        """How many were taken of what is waiting, as (key, body, whether it is a position)."""
        if not batch or time.monotonic() < self.next_connect:
            return 0
        batch = batch[:500]
        names = [stream(self.shape.topic, self.shape.partition(key)) for key, *_ in batch]
        commands = [("XADD", name, "*", "event", body, "key", key) for name, (key, body, _) in zip(names, batch)]
        try:
            self.client = self.client or self.connect(2)
            # All or nothing: were one refused and the next taken, the streams' order would not be the producer's.
            identifiers = self.client.transaction(commands)
        except OSError:
            # It may have been done. It is done again then, as producers do, and told by its event id.
            return self.lose("reconnects")
        except Refused:
            return self.lose("refusals")
        for name, identifier, (key, *_) in zip(names, identifiers, batch):
            self.acknowledged.setdefault(name, []).append((identifier.decode(), key))
        return len(batch)

    def lose(self, what):
        self.counts[what] += 1
        self.next_connect = time.monotonic() + 0.2
        if self.client:
            self.client.close()
        self.client = None
        return 0

    def published(self):
        """What lies in all streams, in the order of each: bytes by stream and id."""
        with self.connect(20) as client:
            for number in range(self.shape.partitions):
                name = stream(self.shape.topic, number)
                last = "-"
                while entries := client("XRANGE", name, last, "+", "COUNT", 5_000):
                    for identifier, fields in entries:
                        yield name, identifier.decode(), dict(zip(fields[::2], fields[1::2])).get(b"event")
                    last = "(" + entries[-1][0].decode()

    def unsettled(self):
        """By stream: the settled position, where it is not at the end."""
        found = []
        with self.connect(20) as client:
            for number in range(self.shape.partitions):
                name = stream(self.shape.topic, number)
                settled = client("HGET", f"couriers:{{{number}}}:cursor", self.shape.topic) or b"0-0 0"
                last = client("XREVRANGE", name, "+", "-", "COUNT", 1)
                if last and as_numbers(settled.split()[0]) < as_numbers(last[0][0]):
                    found.append((name, f"settled up to {settled.decode()}, the last is {last[0][0].decode()}"))
        return found

    def letters(self):
        """By stream: the ids of which dead letters tell."""
        found = {}
        with self.connect(20) as client:
            for number in range(self.shape.partitions):
                name = stream(self.shape.topic, number)
                fields = [dict(zip(fields[::2], fields[1::2])) for _, fields in client("XRANGE", f"dlq.{name}", "-", "+")]
                found[name] = [one[b"waypulse.dlq.entry"].decode() for one in fields]
        return found

    def end(self):
        if self.client:
            self.client.close()


def stream(topic, number):
    return f"{topic}:{{{number}}}"


def as_numbers(identifier):
    return tuple(map(int, identifier.split(b"-")))
