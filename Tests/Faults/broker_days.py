"""What is done to brokers that speak Kafka's protocol while members read from them."""

NOT_AUTHORIZED = 29
# Requests, and with which errors a broker answers a few of each: what is passing in Kafka, and what throws a member out.
PRODUCE, FETCH, OFFSET_COMMIT, JOIN, HEARTBEAT, SYNC = 0, 1, 8, 11, 12, 14
CUT, NOT_LEADER, LOADING, UNAVAILABLE, NOT_COORDINATOR, UNKNOWN_MEMBER, REBALANCE = -195, 6, 14, 15, 16, 25, 27


def two_topics(world, is_short):
    """Positions in a topic of their own, read beside the other with the range assignment: kill -9, and one member, two, one again."""
    world.terms.crossing_seconds = world.source.takeover_seconds + 3
    [a] = world.start("a")
    world.traffic.begin()
    world.run_to(0.2)
    [b] = world.start("b")
    world.run_to(0.45)
    world.unclean()
    a.kill()
    world.run_past_the_takeover()
    a.start().running(world.pump)
    world.run_to(0.85)
    world.stop_cleanly(b)


def broker_away(world, is_short):
    """The broker says nothing for longer than a session, with connections open, and then does all that was asked of it meanwhile."""
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.3)
    world.unclean()
    world.source.broker.freeze()
    world.run(world.source.takeover_seconds if is_short else 12)
    world.source.broker.thaw()
    world.unclean()


def broker_restart(world, is_short):
    """The broker stops, and starts again with its topics and the group's offsets, while nobody produces."""
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.4)
    world.traffic.is_held = True
    world.until(lambda: not world.source.unanswered, 20, "the acknowledgement of all that was sent")
    # It writes its data once a second or so.
    world.run(4)
    world.unclean()
    world.source.broker.stop()
    world.run(1 if is_short else 5)
    world.source.broker.start()
    world.traffic.is_held = False
    world.unclean()


def brokers_down(world, is_short):
    """One broker of three refuses and cuts connections for a while, then all of them do."""
    fault = world.source.broker.fault
    world.start("a", "b")
    world.traffic.begin()
    for share, broker in [(0.3, -1)] if is_short else [(0.15, 1), (0.35, 2), (0.6, -1)]:
        world.run_to(share)
        world.unclean()
        fault("down", broker)
        world.run(world.source.silence_seconds + 2)
        fault("up", broker)
        world.unclean()


def moves(world, is_short):
    """The group's coordinator and the leaders of all partitions move from broker to broker."""
    fault = world.source.broker.fault
    world.start("a", "b")
    world.traffic.begin()
    for round, share in enumerate([0.3, 0.6] if is_short else [0.15, 0.3, 0.45, 0.6, 0.75]):
        world.run_to(share)
        # A new coordinator may know none of the members.
        world.unclean()
        fault("coordinator", "couriers", round % 3 + 1)
        for number in range(world.shape.partitions):
            fault("leader", world.shape.topic, number, (number + round) % 3 + 1)


def errors(world, is_short):
    """Slow answers, and requests of each kind that fail or cut the connection, among them those that throw a member out of its group."""
    fault = world.source.broker.fault
    world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.15)
    for broker in (1, 2, 3):
        fault("rtt", broker, 150)
    passing = [
        (FETCH, NOT_LEADER, 6), (FETCH, CUT, 3), (OFFSET_COMMIT, LOADING, 2), (OFFSET_COMMIT, NOT_COORDINATOR, 2), (PRODUCE, NOT_LEADER, 3),
        (HEARTBEAT, UNAVAILABLE, 2), (HEARTBEAT, CUT, 2), (OFFSET_COMMIT, REBALANCE, 3),
    ]  # fmt: skip
    for share, (request, code, count) in zip([0.2 + 0.05 * place for place in range(len(passing))], passing):
        world.run_to(share)
        fault("error", request, code, count)
    for broker in (1, 2, 3):
        fault("rtt", broker, 0)
    world.run_to(0.65)
    world.unclean()
    fault("error", HEARTBEAT, UNKNOWN_MEMBER, 1)
    fault("error", JOIN, LOADING, 2)
    fault("error", SYNC, REBALANCE, 1)
    world.run_past_the_takeover()
    world.unclean()


def unwritable_letters(world, is_short):
    """The topic of dead letters may not be written, past a kill and a take-over, and then may: positions wait for them, none is missing or there twice."""
    fault = world.source.broker.fault
    letters = f"dlq.{world.shape.topic}"
    # Before anybody has asked for it: clients keep what they were told for minutes.
    fault("topic-error", letters, NOT_AUTHORIZED)
    a, b = world.start("a", "b")
    world.traffic.begin()
    world.run_to(0.2)
    world.traffic.add_garbage_everywhere(20)
    world.until(lambda: letters in a.get("/readyz")[1] + b.get("/readyz")[1], 40, "a word about dead letters that cannot be written")
    world.unclean()
    a.kill()
    world.run_past_the_takeover()
    a.start()
    world.run(2 if is_short else 8)
    fault("topic-error", letters, 0)
    for member in (a, b):
        member.running(world.pump)
