"""What is done to processes and servers while traffic goes on. Each scenario leaves a world that is well again, for the judge."""

import time

import redis
from bad_days import bad_days
from member import LEASE_SECONDS
from processes import Trouble
from traffic import stream
from world import World, past_the_lease


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
            world.run(LEASE_SECONDS + 0.3)
            world.unclean()
            other = b if victims[0] is a else a
            other.kill()
            other.start().running(world.pump)
        # Long enough that another has to take over, where there is one.
        world.run(past_the_lease())
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
        world.run(past_the_lease())
        victim.child.thaw()


def stop(world, is_short):
    """SIGTERM and a new start, one after another, as in a rolling update: clean hand-overs, nothing again."""
    a, b = world.start("a", "b")
    world.traffic.begin()
    for share, victim in [(0.3, a), (0.6, b)] if is_short else [(0.2, a), (0.4, b), (0.6, a), (0.8, b)]:
        world.run_to(share)
        stop_cleanly(world, victim)
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
    stop_cleanly(world, a)
    stop_cleanly(world, b)
    world.notes["left"] = sum(member.is_running for member in (a, b, c))


def stop_cleanly(world, member):
    status = member.stop(world.pump)
    if status != 0:
        raise Trouble(f"{member.name} ended with {status} after SIGTERM: {member.child.text()[-2_000:]}")


def redis_restart(world, is_short):
    """Redis stops and starts, and is killed and starts: with its AOF it has what it had acknowledged."""
    world.start("a", "b")
    world.traffic.begin()
    for share, end in [(0.3, world.server.stop), (0.6, world.server.kill)]:
        world.run_to(share)
        world.unclean()
        end()
        world.run(1 if is_short else past_the_lease())
        world.server.start()
        world.unclean()


def redis_freeze(world, is_short):
    """Redis says nothing for longer than a lease, with connections open, and then does all that was asked of it meanwhile."""
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.35)
    world.unclean()
    world.server.child.freeze()
    world.run(past_the_lease() if is_short else 10)
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
    world.run(past_the_lease() if is_short else 10)
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
    for number in range(world.shape.partitions):
        for garbage in range(20):
            world.server.run("XADD", stream(world.shape.topic, number), "*", "event", f"garbage {garbage}", "key", "k")
    world.until(lambda: "dlq." in a.get("/readyz")[1] + b.get("/readyz")[1], 30, "a word about dead letters that cannot be written")
    world.unclean()
    a.kill()
    world.run(past_the_lease())
    a.start()
    world.run(2 if is_short else 10)
    world.server.run("ACL", "SETUSER", redis.MEMBER_USER, *rights)
    for member in (a, b):
        member.running(world.pump)


# By name: what is done, and for how many seconds traffic goes on meanwhile, in short and in full.
SCENARIOS = {
    "calm": (calm, 8, 30),
    "kill": (kill, 20, 60),
    "freeze": (freeze, 16, 50),
    "stop": (stop, 14, 40),
    "scale": (scale, 14, 40),
    "redis-restart": (redis_restart, 16, 50),
    "redis-freeze": (redis_freeze, 14, 40),
    "failover": (failover, 18, 40),
    "memory-full": (memory_full, 16, 40),
    "outage": (outage, 26, 140),
    "dead-letters": (dead_letters, 16, 40),
    "bad-days": (bad_days, 14, 40),
}


def perform(name, options, is_short):
    """Plays one scenario and judges it. Raises Trouble where it could not be played to its end."""
    act, *_ = SCENARIOS[name]
    # A kill of Redis must not lose what it acknowledged to a test that then asks for it.
    with World(options, fsync="always" if name == "redis-restart" else "everysec") as world:
        act(world, is_short)
        return world.judge()
