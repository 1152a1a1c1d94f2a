"""Kafka that cannot be used as it is: what a member says then, and that it goes on by itself once it can."""

import redis
from bad_days import Case
from broker_days import HEARTBEAT, NOT_AUTHORIZED
from processes import free_port

TOPIC, GROUP = "parcels", "others"
FENCED = 82


class TopicCase(Case):
    def standard(self):
        return {"source__kafka__group": GROUP, "source__kafka__topics": [TOPIC]}


def broker_bad_days(world, is_short):
    """Wrong addresses, topics that are not there, may not be read or differ in partitions, an instance that is there twice: said, and survived."""
    [good] = world.start("a")
    world.traffic.begin()
    broker = world.source.broker
    world.server.run("ACL", "SETUSER", redis.MEMBER_USER, f"~{GROUP}:*", "~both:*")
    nobody(world)
    broker.topic(TOPIC, 4)
    unauthorized(world, broker)
    other_counts(world, broker)
    world.until(lambda: world.traffic.is_done, world.shape.seconds + 30, "the end of the traffic")
    world.until(lambda: not world.unsettled(), 60, lambda: f"the end of all topics: {world.unsettled()}")
    # Whoever asks next is hit, and it should be the other.
    world.stop_cleanly(good)
    fenced(world, broker)
    good.start().running(world.pump)


def nobody(world):
    address = f"127.0.0.1:{free_port()}"
    case = TopicCase(world, "nobody-there", [address, "refused"], source__kafka__bootstrapServers=[address])
    case.begin()
    case.wait_for_words()
    case.end()


def unauthorized(world, broker):
    broker.fault("topic-error", TOPIC, NOT_AUTHORIZED)
    case = TopicCase(world, "unauthorized", [TOPIC, "Read and Describe"])
    case.begin()
    case.wait_for_words()
    broker.fault("topic-error", TOPIC, 0)
    case.wait_for_recovery()
    case.end()


def other_counts(world, broker):
    """Between topics that are read beside each other, and from that which the group was made with."""
    broker.topic("letters", 6)
    beside = TopicCase(
        world, "counts-differ", [TOPIC, "letters", "4", "6"], source__kafka__topics=[TOPIC, "letters"], source__kafka__assignment="range",
        source__kafka__group="both",
    )  # fmt: skip
    beside.begin()
    beside.wait_for_words()
    beside.end()
    says = ["couriers", f"{world.shape.partitions} partitions", "4"]
    grown = TopicCase(world, "other-partitions", says, source__kafka__group="couriers")
    grown.begin()
    grown.wait_for_words()
    grown.end()


def fenced(world, broker):
    case = TopicCase(world, "fenced", ["instanceId"], source__kafka__instanceId="one-of-two")
    case.begin()
    case.wait_for_recovery()
    broker.fault("error", HEARTBEAT, FENCED, 1)
    case.wait_for_words()
    case.end()
