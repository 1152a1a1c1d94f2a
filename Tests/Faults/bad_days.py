"""A Redis that cannot be used as it is: what a member says then, and that it goes on by itself once it can."""

from pathlib import Path

import redis
from processes import Trouble, free_port
from streams import stream

TOPIC, GROUP, USER = "parcels", "others", "poor"
RIGHTS = f"~{GROUP}:* ~{TOPIC}:* ~dlq.* +@read +@write +@scripting +@connection -@dangerous +time +info"


class Case:
    """One member that cannot work. It has to say what, where and what to do, and must not call itself ready."""

    def __init__(self, world, name, says, **settings):
        self.world, self.name, self.says = world, name, says
        self.member = world.member(name, **{**self.standard(), **settings})

    def standard(self):
        return {
            "source__redis__group": GROUP, "source__redis__url": self.world.server.url(USER),
            "source__redis__topics": [TOPIC], "source__redis__partitions": 4,
        }  # fmt: skip

    def begin(self):
        self.member.start()

    def told(self):
        return self.member.child.text() + self.member.get("/readyz")[1]

    def wait_for_words(self):
        def is_said():
            text = self.told()
            return all(word in text for word in self.says)

        self.world.until(is_said, 30, lambda: f"{self.name}: a message with {', '.join(self.says)}; it said {self.told()[-1_500:]}")
        text = self.told()
        if redis.MEMBER_PASSWORD in text:
            raise Trouble(f"{self.name}: the password stands in the log")
        if self.member.is_running and self.member.is_ready():
            raise Trouble(f"{self.name}: it calls itself ready")

    def wait_for_recovery(self):
        self.world.until(lambda: self.member.is_ready(), 30, lambda: f"{self.name}: readiness; it said {self.told()[-1_500:]}")

    def end(self):
        if self.member.is_running and self.member.stop(self.world.pump) != 0:
            raise Trouble(f"{self.name} ended with {self.member.child.process.returncode} after SIGTERM: {self.told()[-1_500:]}")


def bad_days(world, is_short):
    """Wrong passwords, missing rights, keys of other types, entries that are no events, trimmed streams: said, and survived."""
    [good] = world.start("a")
    world.traffic.begin()
    run = world.server.run
    run("ACL", "SETUSER", USER, "on", f">{redis.MEMBER_PASSWORD}", *RIGHTS.split())
    recoverable(world, run)
    final(world)
    unusable_entries(world, run, good)


def recoverable(world, run):
    place = f"127.0.0.1:{world.server.port}"
    other = Path(world.folder) / "other.password"
    other.write_text("another-than-the-right-one\n")
    other.chmod(0o600)
    wrong = Case(world, "wrong-password", [place, "WRONGPASS", "password"], source__redis__passwordFile=str(other))
    wrong.begin()
    wrong.wait_for_words()
    run("ACL", "SETUSER", USER, ">another-than-the-right-one")
    wrong.wait_for_recovery()
    wrong.end()

    run("ACL", "SETUSER", USER, "-xread")
    poor = Case(world, "missing-right", [place, "xread", "ACL SETUSER"])
    poor.begin()
    poor.wait_for_words()
    run("ACL", "SETUSER", USER, "+xread")
    poor.wait_for_recovery()
    poor.end()

    run("DEL", stream(TOPIC, 2))
    run("SET", stream(TOPIC, 2), "no stream")
    typed = Case(world, "other-type", [stream(TOPIC, 2)])
    typed.begin()
    typed.wait_for_words()
    run("DEL", stream(TOPIC, 2))
    typed.wait_for_recovery()
    typed.end()


def final(world):
    """What no waiting mends."""
    port = free_port()
    nobody = Case(world, "nobody-there", [f"127.0.0.1:{port}", "refused"], source__redis__url=f"redis://127.0.0.1:{port}")
    nobody.begin()
    nobody.wait_for_words()
    nobody.end()
    like_the_others = {
        "source__redis__group": "couriers", "source__redis__topics": [world.shape.topic], "source__redis__url": world.url,
    }  # fmt: skip
    says = ["couriers", f"{world.shape.partitions} partitions", "4"]
    shaped = Case(world, "other-partitions", says, source__redis__partitions=4, **like_the_others)
    shaped.begin()
    shaped.wait_for_words()
    shaped.end()
    volatile = Case(world, "volatile", ["storage.volatile"], storage__kind="memory")
    volatile.begin()
    volatile.wait_for_words()
    world.until(lambda: not volatile.member.is_running, 10, "the end of a member that would forget everything")
    if volatile.member.child.process.returncode != 78:
        raise Trouble(f"volatile ended with {volatile.member.child.process.returncode}, not with 78 (configuration)")


def unusable_entries(world, run, good):
    """Entries without a body, and a stream that is trimmed while nobody reads it."""
    world.until(lambda: world.traffic.is_done, world.shape.seconds + 30, "the end of the traffic")
    # The truth is read before anything is taken away.
    world.truth()
    world.until(lambda: not world.unsettled(), 60, lambda: f"the end of all streams: {world.unsettled()}")
    if good.stop(world.pump) != 0:
        raise Trouble(f"a ended with {good.child.process.returncode} after SIGTERM")
    for number in range(world.shape.partitions):
        name = stream(world.shape.topic, number)
        for _ in range(5):
            run("XADD", name, "*", "other", "field")
        run("XTRIM", name, "MAXLEN", 2)
    good.start().running(world.pump)
    world.until(lambda: not world.unsettled(), 60, lambda: f"the end of all streams: {world.unsettled()}")
    world.until(lambda: "trim" in good.child.text(), 20, "a word about what was trimmed")
