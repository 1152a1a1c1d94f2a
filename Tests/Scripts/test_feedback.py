#!/usr/bin/python3
"""The whole way of feedback: recorded events → waypulse run → APNs that says 410 or no → feedback → the example for PostgreSQL → rows.

usage: Tests/Scripts/test_feedback.py [PROGRAM]      (default: .build/release/waypulse)

PostgreSQL is Debian's, in a folder of the test, on a socket in that folder; it is ended by its pid. Nothing else is touched.
"""

import contextlib
import hashlib
import itertools
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# At the end: it has a redis.py of its own.
sys.path.append(str(ROOT / "Tests/Faults"))

from broker import Broker  # noqa: E402
from processes import Child, environment, free_port, until  # noqa: E402
from simulator import Simulator  # noqa: E402

PROGRAM = ROOT / ".build/release/waypulse"
EXAMPLE = ROOT / "deploy/feedback-postgresql"
PATIENCE_SECONDS = 90
PARTITIONS = 4
MODULES = {
    "psycopg2": "python3-psycopg2",
    "redis": "python3-redis",
    "confluent_kafka": "python3-confluent-kafka",
    "jsonschema": "python3-jsonschema",
}
GONE = {"status": 410, "reason": "Unregistered", "share": 1}
REFUSED = {"status": 400, "reason": "BadCollapseId", "share": 1}


def missing():
    """What this test lacks, in words; nothing where all is there."""
    lacks = []
    if not postgres_programs():
        lacks.append("postgresql (no /usr/lib/postgresql/*/bin/initdb)")
    for module, package in MODULES.items():
        try:
            __import__(module)
        except ImportError:
            lacks.append(package)
    if not shutil.which("redis-server"):
        lacks.append("redis-server")
    return lacks


def postgres_programs():
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)


class Database:
    """A cluster of its own. initdb refuses root, so it runs as the user that Debian's package makes, else as nobody."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.user = []
        if os.getuid() == 0:
            for name in ("postgres", "nobody"):
                with contextlib.suppress(KeyError):
                    user = pwd.getpwnam(name)
                    break
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--pdeathsig", "KILL"]
        programs = postgres_programs().parent
        data = self.folder / "data"
        words = [*self.user, programs / "initdb", "--pgdata", data, "--auth", "trust", "--username", "test", "--no-sync", "--encoding", "UTF8"]
        subprocess.run([str(word) for word in words], check=True, capture_output=True, cwd="/", timeout=120, env=environment())
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off", "max_connections": 20}
        options = itertools.chain.from_iterable(("-c", f"{name}={value}") for name, value in settings.items())
        self.child = Child("postgres", [*self.user, programs / "postgres", "-D", data, *options], folder.parent / "postgres.log", "/")
        self.words = f"host={self.folder} user=test dbname=postgres"
        until(self.answers, PATIENCE_SECONDS, lambda: f"PostgreSQL: {self.child.text()}")

    def answers(self):
        import psycopg2

        if not self.child.is_running:
            raise AssertionError(f"PostgreSQL ended: {self.child.text()}")
        with contextlib.suppress(psycopg2.OperationalError):
            self.connect().close()
            return True

    def connect(self, name="postgres"):
        import psycopg2

        return psycopg2.connect(self.words.replace("dbname=postgres", f"dbname={name}"))

    def make(self, name):
        """A database with the example's tables; its DSN."""
        connection = self.connect()
        connection.autocommit = True
        connection.cursor().execute(f'CREATE DATABASE "{name}"')
        connection.close()
        return Tables(self.words.replace("dbname=postgres", f"dbname={name}"))

    def end(self):
        # Without waiting for those who are still connected.
        self.child.send(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.process.wait(10)
        self.child.end()


class Tables:
    def __init__(self, words):
        import psycopg2

        self.words = words
        self.connection = psycopg2.connect(words)
        self.connection.autocommit = True
        self.all((EXAMPLE / "schema.sql").read_text())

    def all(self, query, *values):
        cursor = self.connection.cursor()
        cursor.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []

    def one(self, query, *values):
        return self.all(query, *values)[0][0]

    def register(self, activities, at):
        for activity in activities:
            self.all("SELECT register_token(%s, 'update', %s, NULL, to_timestamp(%s))", token(activity), activity, at)

    def inactive(self):
        return {activity for (activity,) in self.all("SELECT activity_id FROM tokens WHERE NOT active")}

    def ended(self):
        return dict(self.all("SELECT activity_id, outcome FROM ended_activities"))

    def inbox(self):
        return self.one("SELECT count(*) FROM feedback_inbox")


def names(kind, count):
    return [f"{kind}-{number}" for number in range(count)]


def token(activity):
    """64 hex digits that no other activity has."""
    return hashlib.sha256(activity.encode()).hexdigest()


def recording(path, activities, at, ended=False):
    events = []
    for activity in activities:
        event = {"activityId": activity, "timestamp": at}
        events.append(event | {"type": "activity.started", "attributesType": "Ride", "token": token(activity)})
        events.append(event | {"type": "activity.ended" if ended else "status", "contentState": {"status": "near"}})
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


class Feedback(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="waypulse-feedback-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # PostgreSQL's user has to get to its own folder.
        cls.folder.chmod(0o711)
        cls.database = Database(cls.folder / "postgres")
        cls.addClassCleanup(cls.database.end)
        cls.simulator = Simulator(PROGRAM, cls.folder, 0)
        cls.addClassCleanup(cls.simulator.end)

    def setUp(self):
        self.work = self.folder / self.id().rpartition(".")[2]
        self.work.mkdir()
        self.simulator.accept()
        self.at = int(time.time()) - 60

    def configuration(self, *lines):
        path = self.work / "waypulse.yaml"
        path.write_text("\n".join([self.simulator.apps, "metrics: {listen: off}", "pacing: {minInterval: 0ms}", *lines, ""]))
        return path

    def run_recording(self, configuration, path):
        words = [PROGRAM, "run", "--config", configuration, "--speed", "max", path]
        done = subprocess.run(
            [str(word) for word in words], cwd=self.work, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment()
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def consumer(self, tables, *words):
        words = [sys.executable, EXAMPLE / "consume.py", "--database", tables.words, *words]
        return Child("consumer", words, self.work / "consumer.log", self.work, environment())

    def consume(self, tables, *words):
        child = self.consumer(tables, *words, "--until-idle", "0.3")
        self.addCleanup(child.end)
        until(lambda: not child.is_running, PATIENCE_SECONDS, "an idle consumer")
        self.assertEqual((child.process.returncode, child.text()), (0, ""))

    def check_events(self, lines):
        """Each is what the schema says, and none is told twice by different ids."""
        from jsonschema import Draft202012Validator

        validator = Draft202012Validator(json.loads((ROOT / "schemas/feedback.schema.json").read_text()))
        events = [json.loads(line) for line in lines]
        for event in events:
            self.assertEqual([error.message for error in validator.iter_errors(event)], [], event)
        return events

    def test_a_file_becomes_rows_and_a_consumer_that_is_killed_loses_and_doubles_nothing(self):
        file = self.work / "feedback.jsonl"
        configuration = self.configuration("feedback:", "  to: file", f"  file: {file}")
        fine, gone, refused, ended = names("fine", 900), names("gone", 40), names("refused", 20), names("ended", 60)
        self.run_recording(configuration, recording(self.work / "fine.jsonl", fine, self.at))
        self.simulator.change(errors=[GONE])
        self.run_recording(configuration, recording(self.work / "gone.jsonl", gone, self.at))
        # What rotates logs moves it away between two runs, as it may within one.
        file.rename(self.work / "feedback.jsonl.1")
        self.simulator.change(errors=[REFUSED])
        self.run_recording(configuration, recording(self.work / "refused.jsonl", refused, self.at))
        self.simulator.change(errors=[])
        self.run_recording(configuration, recording(self.work / "ended.jsonl", ended, self.at, ended=True))
        old = (self.work / "feedback.jsonl.1").read_bytes().splitlines(keepends=True)
        events = self.check_events(old + file.read_bytes().splitlines())
        counts = {kind: sum(event["type"] == kind for event in events) for kind in {event["type"] for event in events}}
        self.assertEqual(counts, {"push.accepted": 960, "token.gone": 40, "push.refused": 20, "activity.ended": 60})
        self.assertEqual(len({event["id"] for event in events}), len(events))

        tables = self.database.make("file")
        tables.register(fine + gone + refused + ended, self.at)
        # The app has reported this one again, after APNs found it dead.
        tables.register(gone[:1], time.time() + 3600)
        # As a full disk leaves it, and what was written again behind it.
        (self.work / "feedback.jsonl").rename(self.work / "second")
        (self.work / "feedback.jsonl.1").write_bytes(b"".join(old) + old[-1][:50] + b"\n" + b"".join(old[-3:]))
        (self.work / "feedback.jsonl.1").rename(file)
        # Holds the consumer up in the middle of its second transaction, where it is killed.
        holder = tables.connection.__class__(tables.words)
        holder.cursor().execute("SELECT 1 FROM tokens WHERE token = %s FOR UPDATE", [token(gone[20])])
        child = self.consumer(tables, "--file", file)
        self.addCleanup(child.end)
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'file'"
        until(lambda: tables.one(waits), PATIENCE_SECONDS, lambda: f"a consumer that waits: {child.text()}")
        child.kill()
        holder.close()
        until(lambda: not tables.one(waits), PATIENCE_SECONDS, "the end of its transaction")
        self.assertEqual(tables.inbox(), 500)
        file.rename(self.work / "feedback.jsonl.1")
        (self.work / "second").rename(file)
        child = self.consumer(tables, "--file", file, "--until-idle", "0.3")
        self.addCleanup(child.end)
        until(lambda: not child.is_running, PATIENCE_SECONDS, "an idle consumer")
        self.assertEqual(child.process.returncode, 0, child.text())
        self.assertEqual(len(child.lines_with("passed over")), 1, child.text())
        self.check_tables(tables, len(events), set(gone[1:]), dict.fromkeys(ended, "accepted"))
        # Once more from the beginning: nothing changes.
        tables.all("DELETE FROM feedback_positions")
        self.consume(tables, "--file", file)
        self.check_tables(tables, len(events), set(gone[1:]), dict.fromkeys(ended, "accepted"))

    def test_a_full_disk_slows_no_push_and_is_told(self):
        configuration = self.configuration("feedback: {to: file, file: /dev/full}")
        before = len(self.simulator.entries())
        path = recording(self.work / "fine.jsonl", names("fine-on-full-disk", 200), self.at)
        errors = self.run_recording(configuration, path)
        self.assertEqual(len(self.simulator.entries()) - before, 200)
        self.assertIn("feedback cannot be written; it waits, and pushing goes on", errors)
        self.assertIn("/dev/full: feedback cannot be written (No space left on device)", errors)
        lost = next(json.loads(line) for line in errors.splitlines() if "is lost" in line)
        self.assertEqual(lost["count"], 200)

    def check_tables(self, tables, events, inactive, ended):
        self.assertEqual(tables.inbox(), events)
        self.assertEqual(tables.inactive(), inactive)
        self.assertEqual(tables.ended(), ended)
        self.assertEqual({reason for (reason,) in tables.all("SELECT gone_reason FROM tokens WHERE NOT active")}, {"Unregistered"})

    def test_streams_become_rows_and_a_member_that_is_killed_before_it_told_is_followed_by_one_that_does(self):
        port, client = self.redis()
        place = ["--to", f"redis://127.0.0.1:{port}", "--partitions", str(PARTITIONS)]
        configuration = self.configuration(
            "source:",
            f"  redis: {{url: 'redis://127.0.0.1:{port}', topics: [rides], partitions: {PARTITIONS}, lease: 2s, commandTimeout: 1s}}",
            "feedback: {to: streams, saveWait: 10s}",
            "drainTimeout: 1s",
        )
        streams = [f"waypulse.feedback:{{{number}}}" for number in range(PARTITIONS)]
        fine, gone, refused = names("fine-by-streams", 12), names("gone-by-streams", 8), names("refused-by-streams", 6)
        member = self.member(configuration)
        self.publish(place, recording(self.work / "fine.jsonl", fine, self.at))
        self.publish(place, recording(self.work / "refused.jsonl", refused, self.at))
        until(lambda: told(client, streams).count("push.accepted") == len(fine + refused), PATIENCE_SECONDS, "what was accepted")
        # Nothing can be told: other keys stand in the way.
        kept = {stream: client.xrange(stream) for stream in streams}
        for stream in streams:
            client.rename(stream, "aside:" + stream) if kept[stream] else None
            client.set(stream, "in the way")
        before = len(self.simulator.entries())
        self.simulator.change(errors=[GONE])
        self.publish(place, recording(self.work / "gone.jsonl", gone, self.at))
        until(lambda: len(self.simulator.entries()) >= before + len(gone), PATIENCE_SECONDS, "410s")
        until(lambda: member.lines_with("no longer knows an activity's token"), PATIENCE_SECONDS, "a 410 that arrived")
        member.kill()
        for stream in streams:
            client.delete(stream)
            client.rename("aside:" + stream, stream) if kept[stream] else None
        member = self.member(configuration)
        until(lambda: told(client, streams).count("token.gone") >= len(gone), PATIENCE_SECONDS, lambda: f"what is gone: {told(client, streams)}")
        self.simulator.change(errors=[REFUSED])
        self.publish(place, recording(self.work / "ends.jsonl", refused, self.at + 1, ended=True))
        until(lambda: told(client, streams).count("activity.ended") == len(refused), PATIENCE_SECONDS, "ends")
        self.assertEqual(member.stop(), 0, member.text())
        events = self.check_events(entry[b"event"] for stream in streams for _, entry in client.xrange(stream))
        self.assertEqual({event["activityId"] for event in events if event["type"] == "token.gone"}, set(gone))
        tables = self.database.make("streams")
        tables.register(fine + gone + refused, self.at)
        self.consume(tables, "--redis", f"127.0.0.1:{port}", "--partitions", str(PARTITIONS))
        self.check_tables(tables, len({event["id"] for event in events}), set(gone), dict.fromkeys(refused, "refused"))

    def test_a_topic_becomes_rows(self):
        broker = Broker(self.work, "tansu").start()
        self.addCleanup(broker.end)
        broker.topic("rides", PARTITIONS)
        broker.topic("waypulse.feedback", 3)
        port, _ = self.redis()
        configuration = self.configuration(
            "source:",
            f"  kafka: {{bootstrapServers: ['{broker.addresses}'], topics: [rides], group: g, sessionTimeout: 6s, lease: 3s}}",
            f"storage: {{redis: {{url: 'redis://127.0.0.1:{port}', commandTimeout: 1s}}}}",
            "feedback: {to: topics, events: [token.gone, activity.ended]}",
            "deadLetters: {to: nowhere}",
            "drainTimeout: 1s",
        )
        # Phones remember which activities have ended: each test has its own.
        gone, ended = names("gone-by-topic", 8), names("ended-by-topic", 6)
        member = self.member(configuration)
        place = ["--to", f"kafka://{broker.addresses}"]
        self.publish(place, recording(self.work / "ended.jsonl", ended, self.at, ended=True))
        tables = self.database.make("topic")
        tables.register(gone + ended, self.at)
        words = ["--kafka", broker.addresses]
        child = self.consumer(tables, *words)
        self.addCleanup(child.end)
        until(lambda: len(tables.ended()) == len(ended), PATIENCE_SECONDS, lambda: f"ends: {child.text()} {member.text()}")
        # Killed and started again, it goes on where it was, in the same partitions.
        child.kill()
        self.simulator.change(errors=[GONE])
        self.publish(place, recording(self.work / "gone.jsonl", gone, self.at))
        child = self.consumer(tables, *words)
        self.addCleanup(child.end)
        until(lambda: len(tables.inactive()) == len(gone), PATIENCE_SECONDS, lambda: f"what is gone: {child.text()} {member.text()}")
        self.check_tables(tables, len(gone) + len(ended), set(gone), dict.fromkeys(ended, "accepted"))
        self.check_events(json.dumps(event) for (event,) in tables.all("SELECT event FROM feedback_inbox"))
        self.assertEqual(member.stop(), 0, member.text())

    def redis(self):
        import redis

        port = free_port()
        words = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", self.work]
        server = Child("redis", words, self.work / "redis.log")
        self.addCleanup(server.end)
        client = redis.Redis("127.0.0.1", port)
        until(lambda: answers(client), PATIENCE_SECONDS, "Redis")
        return port, client

    def member(self, configuration):
        child = Child("member", [PROGRAM, "run", "--config", configuration], self.work / "member.log", self.work, environment())
        self.addCleanup(child.end)

        def owns_all():
            self.assertTrue(child.is_running, child.text())
            return len(child.lines_with("taken over")) == PARTITIONS

        until(owns_all, PATIENCE_SECONDS, lambda: f"a member: {child.text()}")
        return child

    def publish(self, place, path):
        words = [*place, "--topic", "rides", "--speed", "max", "--keep-times"]
        done = subprocess.run(
            [str(PROGRAM), "replay", str(path), *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment()
        )
        self.assertEqual(done.returncode, 0, done.stderr)


def answers(client):
    import redis

    with contextlib.suppress(redis.exceptions.ConnectionError):
        return client.ping()


def told(client, streams):
    """The types of all events in streams; what stands in their way is none."""
    return [json.loads(entry[b"event"])["type"] for stream in streams for _, entry in client.xrange(stream)]


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = Path(sys.argv.pop(1)).resolve()
    if lacks := missing():
        print(f"error: the feedback example cannot be tested: {', '.join(lacks)} is missing", file=sys.stderr)
        print("try:   Tests/Scripts/install_dependencies test", file=sys.stderr)
        sys.exit(69)
    unittest.main()
