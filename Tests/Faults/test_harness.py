"""Shows that the parts around the judge do what the scenarios need of them, without any member of a group.

usage: test_harness.py [PROGRAM]      (default: .build/release/waypulse)
"""

import contextlib
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import redis
from processes import Child, Trouble, environment, free_port, until
from scenarios import perform
from streams import RedisStreams, stream
from topics import KafkaTopics
from traffic import Shape, Traffic, plan
from truth import fold
from world import Options, World

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".build/release/waypulse"
SMALL = Shape(activities=60, events_per_second=120, seconds=6, partitions=4)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="faults-harness-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def owned(self, one):
        self.addCleanup(one.end)
        return one


class Processes(Folder):
    def test_a_process_dies_with_the_one_that_started_it(self):
        code = (
            "import sys, time; sys.path.insert(0, sys.argv[1]); from processes import Child\n"
            "print(Child('sleep', ['sleep', '600'], sys.argv[2]).pid, flush=True); time.sleep(600)"
        )
        words = [sys.executable, "-c", code, str(Path(__file__).parent), str(self.folder / "log")]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
            pid = int(parent.stdout.readline())
            # From when it is what it is to become, which setpriv has bound to its parent by then.
            until(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep"), 10, "the sleeper")
            parent.kill()
        until(lambda: is_gone(pid), 10, f"the end of {pid}")

    def test_a_frozen_process_is_ended_as_well(self):
        child = Child("sleep", ["sleep", "600"], self.folder / "log")
        child.freeze()
        child.end()
        self.assertFalse(child.is_running)

    def test_what_does_not_come_is_named(self):
        with self.assertRaisesRegex(Trouble, "the moon did not come within 0.05 s"):
            until(lambda: False, 0.05, "the moon")

    def test_ports_are_not_given_twice_nor_from_the_range_of_outgoing_connections(self):
        ports = [free_port() for _ in range(50)]
        self.assertEqual(len(set(ports)), 50)
        lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        self.assertLess(max(ports), lowest)


def is_gone(pid):
    with contextlib.suppress(OSError):
        # A zombie that its new parent has not yet waited for is gone as well.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


class Plans(unittest.TestCase):
    def test_the_same_seed_gives_the_same_events(self):
        first, again, other = plan(SMALL), plan(SMALL), plan(Shape(**{**vars(SMALL), "seed": 2}))
        self.assertEqual([vars(one) for one in first], [vars(one) for one in again])
        self.assertNotEqual([vars(one) for one in first], [vars(one) for one in other])

    def test_last_words_are_spread_over_the_whole_run(self):
        shape = Shape()
        lasts = {}
        for one in plan(shape):
            if one.event["type"] != "position":
                lasts[one.event["activityId"]] = one.at
        self.assertEqual(len(lasts), shape.activities)
        for begin in range(10, 40, 5):
            self.assertGreater(sum(begin <= at < begin + 5 for at in lasts.values()), 5, f"from second {begin} on")

    def test_the_partition_is_zlibs_crc32(self):
        # The check value of CRC-32/ISO-HDLC: 0xCBF43926.
        self.assertEqual(Shape(partitions=1_000).partition("123456789"), 0xCBF43926 % 1_000)
        self.assertEqual(stream("rides", 3), "rides:{3}")


class Servers(Folder):
    def server(self, name="redis", **more):
        return self.owned(redis.Server(self.folder, name, **more)).start()

    def test_answers_of_each_kind_are_read(self):
        with self.server().client() as client:
            self.assertEqual(client("SET", "a", b"\x00\r\n"), "OK")
            self.assertEqual(client("GET", "a"), b"\x00\r\n")
            self.assertEqual((client("GET", "b"), client("DEL", "a"), client("KEYS", "*")), (None, 1, []))
            answers = client.pipeline([("LPUSH", "l", 1), ("GET", "l"), ("LRANGE", "l", 0, -1)])
            self.assertEqual((answers[0], answers[1].code, answers[2]), (1, "WRONGTYPE", [b"1"]))

    def test_a_transaction_is_done_whole_or_not(self):
        server = self.server()
        with server.client() as client:
            client("CONFIG", "SET", "maxmemory", 1)
            with self.assertRaises(redis.Refused) as caught:
                client.transaction([("SET", "a", 1), ("SET", "b", 1)])
            self.assertEqual(caught.exception.code, "OOM")
            client("CONFIG", "SET", "maxmemory", 0)
        with server.client() as client:
            self.assertEqual(client.transaction([("SET", "a", 1), ("SET", "b", 1)]), ["OK", "OK"])

    def test_a_member_may_do_what_it_needs_and_does_not_rule_the_server(self):
        with self.server().client(user=redis.MEMBER_USER, password=redis.MEMBER_PASSWORD) as client:
            client("XADD", "rides:{0}", "*", "event", "{}")
            client("EVAL", "return redis.call('TIME')", 0)
            self.assertEqual(client("ROLE")[0], b"master")
            for words in (("FLUSHALL",), ("CONFIG", "GET", "*"), ("SHUTDOWN",), ("ACL", "LIST"), ("GET", "another")):
                with self.subTest(words), self.assertRaisesRegex(redis.Refused, "NOPERM"):
                    client(*words)

    def test_what_was_acknowledged_survives_a_kill(self):
        server = self.server(fsync="always")
        identifiers = [server.run("XADD", "s", "*", "event", "{}") for _ in range(5)]
        server.kill()
        server.start()
        self.assertEqual([identifier for identifier, _ in server.run("XRANGE", "s", "-", "+")], identifiers)

    def test_a_replica_takes_over_where_the_master_is_killed(self):
        master, replica = self.server("master"), self.server("replica")
        replica.replicate(master)
        sentinel = self.owned(redis.Sentinel(self.folder, master))
        self.assertEqual(sentinel.master_port(), master.port)
        master.run("SET", "a", 1)
        self.assertTrue(redis.caught_up(master, replica))
        master.kill()
        until(lambda: sentinel.master_port() == replica.port, 20, "the fail-over")
        until(lambda: replica.run("ROLE")[0] == b"master", 10, "the promotion")
        self.assertEqual(replica.run("GET", "a"), b"1")


class Publishing(Folder):
    def traffic(self, source):
        traffic = Traffic(SMALL, self.owned(source))
        wanted = [one.event["eventId"] for one in sorted(traffic.planned)]
        traffic.begin()
        until(lambda: traffic.elapsed > 2, 10, "two seconds", traffic.pump)
        return traffic, wanted

    def check(self, source, wanted):
        """All of it lies there, each partition in the order of the producer."""
        found = list(source.published())
        self.assertEqual(len(found), sum(map(len, source.acknowledged.values())))
        self.assertEqual(len(fold(body for _, _, body in found).finals), SMALL.activities)
        seen = {}
        for name, _, body in found:
            with contextlib.suppress(ValueError):
                if (event := json.loads(body))["eventId"] not in seen.setdefault(name, []):
                    seen[name].append(event["eventId"])
        self.assertEqual(len(seen), SMALL.partitions)
        for identifiers in seen.values():
            self.assertEqual(identifiers, [one for one in wanted if one in set(identifiers)])
        self.assertEqual(sorted(sum(seen.values(), [])), sorted(wanted), "none is missing")

    def test_a_producer_that_loses_redis_publishes_all_of_it_in_order(self):
        server = self.owned(redis.Server(self.folder)).start()
        source = RedisStreams(SMALL, lambda seconds: server.client(seconds=seconds))
        traffic, wanted = self.traffic(source)
        server.kill()
        until(lambda: source.counts["reconnects"] > 1, 10, "an attempt in vain", traffic.pump)
        server.start()
        server.run("CONFIG", "SET", "maxmemory", 1)
        until(lambda: source.counts["refusals"] > 1, 10, "a refusal", traffic.pump)
        server.run("CONFIG", "SET", "maxmemory", 0)
        until(lambda: traffic.is_done, 20, "the end", traffic.pump)
        self.check(source, wanted)

    def test_a_producer_that_loses_brokers_publishes_all_of_it_in_order(self):
        source = KafkaTopics(SMALL, None, self.folder, "mock")
        traffic, wanted = self.traffic(source)
        source.broker.fault("down", -1)
        until(lambda: source.unanswered > 50, 10, "records that wait", traffic.pump)
        source.broker.fault("up", -1)
        source.broker.fault("error", 0, 6, 3)
        until(lambda: traffic.is_done, 30, "the end", traffic.pump)
        self.check(source, wanted)


class Brokers(Folder):
    def test_what_was_produced_lies_on_a_broker_that_was_stopped_and_started(self):
        source = self.owned(KafkaTopics(SMALL, None, self.folder, "noida"))
        source.publish([(key, key.encode(), False) for key in map(str, range(100))])
        until(lambda: not source.unanswered, 20, "all answers", lambda: source.publish([]))
        # It writes its data once a second or so.
        until(lambda began=time.monotonic(): time.monotonic() > began + 4, 10, "four seconds")
        source.broker.stop()
        source.broker.start()
        self.assertEqual(sorted(body for *_, body in source.published()), sorted(str(number).encode() for number in range(100)))

    def test_a_frozen_broker_answers_when_it_is_thawed(self):
        source = self.owned(KafkaTopics(SMALL, None, self.folder))
        source.broker.freeze()
        source.publish([("key", b"value", False)])
        until(lambda began=time.monotonic(): time.monotonic() > began + 1, 10, "a second", lambda: source.publish([]))
        self.assertEqual(source.unanswered, 1)
        source.broker.thaw()
        until(lambda: not source.unanswered, 20, "the answer", lambda: source.publish([]))
        [(name, entries)] = source.acknowledged.items()
        self.assertEqual((name, entries), (f"rides-{SMALL.partition('key')}", [(0, "key")]))

    def test_positions_and_letters_that_are_missing_are_told(self):
        server = self.owned(redis.Server(self.folder)).start()
        source = self.owned(KafkaTopics(SMALL, lambda seconds: server.client(seconds=seconds), self.folder))
        source.publish([("key", b"no event", False)])
        until(lambda: not source.unanswered, 20, "the answer", lambda: source.publish([]))
        name, number = f"rides-{SMALL.partition('key')}", SMALL.partition("key")
        self.assertEqual(source.unsettled(), [(name, "stored None, committed None; the last record is 0")])
        server.run("HSET", f"couriers:{{{number}}}:cursor", "rides", "0 1")
        self.assertEqual(source.unsettled(), [(name, "stored 0, committed None; the last record is 0")])
        self.assertEqual(source.letters()[name], [])
        self.assertEqual(list(source.published()), [(name, 0, b"no event")])


class Configurations(Folder):
    def check(self, world, *paths):
        for path in paths:
            words = [PROGRAM, "validate", "--config", path]
            done = subprocess.run(words, cwd=world.folder, env=environment(), capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b"the configuration is valid\n"))

    def test_what_a_member_is_given_is_a_valid_configuration(self):
        with World(Options(PROGRAM, shape=SMALL)) as world:
            one = world.member("a").path
            world.url = "redis+sentinel://waypulse@127.0.0.1:26379/waypulse-test"
            self.check(world, one, world.member("b").path)

    def test_so_is_what_a_member_on_kafka_is_given(self):
        for engine, position_topic in (("mock", None), ("tansu", "positions")):
            shape = Shape(**{**vars(SMALL), "position_topic": position_topic})
            with self.subTest(engine), World(Options(PROGRAM, shape=shape), kafka={"engine": engine}) as world:
                self.check(world, world.member("a").path)


class FoundOut(unittest.TestCase):
    """A member that keeps no checkpoint is well on a calm day, and neither after a kill nor after a stop."""

    def broken(self, scenario, seconds=10):
        shape = Shape(activities=60, events_per_second=120, seconds=seconds)
        patience = 20 if scenario.endswith("calm") else 2
        options = Options(PROGRAM, Path(__file__).with_name("naive_member.py"), shape, patience)
        with contextlib.redirect_stdout(io.StringIO()) as told:
            finding = perform(scenario, options, is_short=True)
        if place := re.search(r"are in (\S+)", told.getvalue()):
            shutil.rmtree(place[1])
        self.assertGreater(finding.counts["pushes"], shape.activities, "it worked at all")
        return {one.promise for one in finding.broken}

    def test_a_calm_day_passes(self):
        self.assertEqual(self.broken("calm", 6), set())

    def test_a_kill_is_seen_to_lose_final_states_and_ends(self):
        self.assertLessEqual({"finalState", "end"}, self.broken("kill"))

    def test_a_stop_is_seen_to_lose_final_states_and_ends(self):
        self.assertLessEqual({"finalState", "end"}, self.broken("stop"))

    def test_on_kafka_a_calm_day_passes_and_a_kill_is_seen(self):
        self.assertEqual(self.broken("kafka-calm", 6), set())
        self.assertLessEqual({"finalState", "end"}, self.broken("kafka-kill"))


class Interruption(Folder):
    def test_a_test_that_is_interrupted_leaves_no_process_and_no_folder(self):
        code = (
            "import sys, time; sys.path.insert(0, sys.argv[1])\n"
            "from world import *; from processes import signals_end_it\n"
            "with signals_end_it(), World(Options(sys.argv[2], shape=Shape(seconds=5))) as world:\n"
            "    print(world.server.child.pid, world.simulator.child.pid, flush=True)\n"
            "    time.sleep(600)"
        )
        words = [sys.executable, "-c", code, str(Path(__file__).parent), str(PROGRAM)]
        environ = environment(TMPDIR=str(self.folder))
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ) as test:
            pids = [int(word) for word in test.stdout.readline().split()]
            self.assertEqual(len(pids), 2)
            test.send_signal(signal.SIGTERM)
            test.wait(30)
        self.assertEqual([pid for pid in pids if not is_gone(pid)], [])
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = Path(sys.argv.pop(1)).resolve()
    unittest.main()
