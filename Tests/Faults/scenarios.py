"""What is done to processes and servers while traffic goes on, and the list of all that. Each leaves a world that is well again, for the judge."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import redis
from bad_days import bad_days
from broker_bad_days import broker_bad_days
from broker_days import broker_away, broker_restart, brokers_down, errors, moves, two_topics, unwritable_letters
from lifecycle import lifecycle
from world import World


def calm(world, is_short):
    """One member, and nothing happens: what every other row is to be compared with."""
    world.start("a")
    world.traffic.begin()


def kill(world, is_short):
    """kill -9 of a member, again and again: at any moment something is in flight, and another takes over what it held."""
    a, b = world.start("a", "b")
    world.traffic.begin()
    for share, victims in [(0.3, [a]), (0.65, [b])] if is_short else [(0.2, [a]), (0.4, [b]), (0.6, [a, b]), (0.8, [a])]:
        world.run_to(share)
        world.unclean()
        for victim in victims:
            victim.kill()
        if len(victims) == 1 and not is_short:
            # Amid the take-over by the other.
            world.run(world.source.silence_seconds + 0.3)
            world.unclean()
            other = b if victims[0] is a else a
            other.kill()
            other.start().running(world.pump)
        # Long enough that another has to take over, where there is one.
        world.run_past_the_takeover()
        for victim in victims:
            victim.start().running(world.pump)


def freeze(world, is_short):
    """SIGSTOP past the lease, then SIGCONT: two that believe they own a partition."""
    world.terms.may_arrive_late = True
    a, b = world.start("a", "b")
    world.traffic.begin()
    for share, victim in [(0.3, a)] if is_short else [(0.2, a), (0.45, b), (0.7, a)]:
        world.run_to(share)
        world.unclean()
        victim.child.freeze()
        world.run_past_the_takeover()
        victim.child.thaw()


def stop(world, is_short):
    """SIGTERM and a new start, one after another, as in a rolling update: clean hand-overs, nothing again."""
    a, b = world.start("a", "b")
    world.traffic.begin()
    for share, victim in [(0.3, a), (0.6, b)] if is_short else [(0.2, a), (0.4, b), (0.6, a), (0.8, b)]:
        world.run_to(share)
        world.stop_cleanly(victim)
        world.run(1)
        victim.start().running(world.pump)


def scale(world, is_short):
    """One member, three, one again, under load."""
    [a] = world.start("a")
    world.traffic.begin()
    world.run_to(0.25)
    b, c = world.start("b", "c")
    world.run_to(0.6)
    # The one that was there first goes too.
    world.stop_cleanly(a)
    world.stop_cleanly(b)
    world.notes["left"] = sum(member.is_running for member in (a, b, c))


def redis_restart(world, is_short):
    """Redis stops and starts, and is killed and starts: with its AOF it has what it had acknowledged."""
    world.start("a", "b")
    world.traffic.begin()
    for share, end in [(0.3, world.server.stop), (0.6, world.server.kill)]:
        world.run_to(share)
        world.unclean()
        end()
        world.run(1 if is_short else world.source.takeover_seconds)
        world.server.start()
        world.unclean()


def redis_freeze(world, is_short):
    """Redis says nothing for longer than a lease, with connections open, and then does all that was asked of it meanwhile."""
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.35)
    world.unclean()
    world.server.child.freeze()
    world.run(world.source.takeover_seconds if is_short else 10)
    world.server.child.thaw()
    world.unclean()


def failover(world, is_short):
    """The master is killed and a replica takes over by order of a sentinel; the old master comes back as replica."""
    replica = world.owned(redis.Server(world.folder, "replica")).start()
    replica.replicate(world.server)
    sentinel = world.owned(redis.Sentinel(world.folder, world.server))
    world.url = sentinel.url()
    servers = {world.server.port: world.server, replica.port: replica}
    world.master = lambda: servers[sentinel.master_port()]
    # Replication is asynchronous: what was acknowledged in the last instant may be gone.
    world.may_lose = True
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.3)
    world.unclean()
    world.server.kill()
    world.until(lambda: sentinel.master_port() == replica.port, 30, "the fail-over")
    world.until(lambda: role(replica) == b"master", 30, "the promotion")
    world.unclean()
    world.run(1)
    world.server.start()
    world.until(lambda: role(world.server) == b"slave", 30, "the old master as a replica")


def role(server):
    """None while nobody answers: a sentinel that gives a server another role has it close its connections."""
    try:
        return server.run("ROLE")[0]
    except OSError:
        return None


def memory_full(world, is_short):
    """Redis takes no more events and no checkpoints, past the lease, and then does again. Leases go on, so nothing comes twice."""
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.3)
    world.server.run("CONFIG", "SET", "maxmemory", "1mb")
    world.run(world.source.takeover_seconds if is_short else 10)
    world.server.run("CONFIG", "SET", "maxmemory", 0)


def outage(world, is_short):
    """APNs refuses everything, then says nothing at all, and then is well again."""
    # What was sent into the silence is read when it ends.
    world.terms.may_arrive_late = True
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.2)
    seconds = 10 if is_short else 60
    before = time.monotonic()
    world.simulator.refuse()
    world.run(seconds)
    world.simulator.change(errors=[], blackHole=True)
    world.run(seconds)
    world.simulator.accept()
    world.notes["outageSeconds"] = round(time.monotonic() - before)


def dead_letters(world, is_short):
    """Dead letters may not be written, past a kill and a take-over, and then may: positions wait for them, and none is missing or there twice."""
    a, b = world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.25)
    rights = redis.MEMBER_RIGHTS.split()
    world.server.run("ACL", "SETUSER", redis.MEMBER_USER, "resetkeys", *[one for one in rights if one != "~dlq.*"])
    world.traffic.add_garbage_everywhere(20)
    world.until(lambda: "dlq." in a.get("/readyz")[1] + b.get("/readyz")[1], 30, "a word about dead letters that cannot be written")
    world.unclean()
    a.kill()
    world.run_past_the_takeover()
    a.start()
    world.run(2 if is_short else 10)
    world.server.run("ACL", "SETUSER", redis.MEMBER_USER, *rights)
    for member in (a, b):
        member.running(world.pump)


@dataclass(frozen=True)
class Scenario:
    act: Callable
    # For how long traffic goes on meanwhile, in short and in full.
    short_seconds: int
    seconds: int
    # Whether the short form of all is with it.
    is_daily: bool = True
    # Of the world.
    fsync: str = "everysec"
    kafka: dict | None = None
    # Of the traffic.
    shape: dict = field(default_factory=dict)

    @property
    def purpose(self):
        return self.act.__doc__


SCENARIOS = {
    "calm": Scenario(calm, 8, 30),
    "kill": Scenario(kill, 20, 60),
    "freeze": Scenario(freeze, 16, 50),
    "stop": Scenario(stop, 14, 40),
    "scale": Scenario(scale, 14, 40),
    # A kill of Redis must not lose what it acknowledged to a test that then asks for it.
    "redis-restart": Scenario(redis_restart, 16, 50, fsync="always"),
    "redis-freeze": Scenario(redis_freeze, 14, 40),
    "failover": Scenario(failover, 18, 40),
    "memory-full": Scenario(memory_full, 16, 40),
    "outage": Scenario(outage, 26, 140),
    "dead-letters": Scenario(dead_letters, 16, 40),
    "bad-days": Scenario(bad_days, 14, 40),
    "lifecycle": Scenario(lifecycle, 12, 120),
}


def on(engine, act, short_seconds, seconds, is_daily=False, fsync="everysec", shape=None, **settings):
    """With Kafka as the source, which `engine` stands in for; `settings` are a member's, with __ for dots."""
    settings = {name.replace("__", "."): value for name, value in settings.items()}
    return Scenario(act, short_seconds, seconds, is_daily, fsync, {"engine": engine, "settings": settings}, shape or {})


TWO_TOPICS = {"position_topic": "positions"}
# Which stand-in is right for what: Tests/Scripts/kafka_broker.
SCENARIOS |= {
    "kafka-calm": on("tansu", calm, 10, 30),
    "kafka-lifecycle": on("tansu", lifecycle, 16, 130),
    "kafka-kill": on("tansu", kill, 24, 80, is_daily=True),
    "kafka-freeze": on("tansu", freeze, 20, 60),
    "kafka-stop": on("tansu", stop, 20, 50),
    "kafka-scale": on("tansu", scale, 24, 60, is_daily=True),
    "kafka-topics": on("tansu", two_topics, 24, 60, shape=TWO_TOPICS),
    "kafka-away": on("tansu", broker_away, 24, 50),
    "kafka-redis": on("tansu", redis_restart, 20, 50, fsync="always"),
    "kafka-restart": on("noida", broker_restart, 24, 60, source__kafka__assignment="range"),
    "kafka-down": on("mock", brokers_down, 24, 60),
    "kafka-moves": on("mock", moves, 24, 60),
    "kafka-errors": on("mock", errors, 24, 60),
    "kafka-bad-days": on("mock", broker_bad_days, 20, 40),
    "kafka-letters": on("mock", unwritable_letters, 30, 60),
}


def perform(name, options, is_short):
    """Plays one scenario and judges it. Raises Trouble where it could not be played to its end."""
    scenario = SCENARIOS[name]
    with World(options, fsync=scenario.fsync, kafka=scenario.kafka) as world:
        # Most leave the judgement to the world, which knows what its traffic has told.
        return scenario.act(world, is_short) or world.judge()
