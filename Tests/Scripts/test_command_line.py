#!/usr/bin/python3
"""What the command line says, where it says it, and with which exit code.

usage: Tests/Scripts/test_command_line.py [PROGRAM]      (default: .build/release/waypulse)
"""

import base64
import contextlib
import http.server
import json
import os
import re
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".build/release/waypulse"
RIDE = ROOT / "schemas/examples/ride.jsonl"
# The longest that anything here may take on a machine that is busy with other things; nothing waits for it to pass.
PATIENCE_SECONDS = 120
OK, NO, USAGE, UNAVAILABLE, DRAIN_EXCEEDED, CREDENTIALS, CONFIGURATION = 0, 1, 64, 69, 75, 77, 78

# (words, exit code, on standard output, on standard error). A word NAME.jsonl, .zst or .yaml is a file of `files` below.
CASES = [
    ("", USAGE, "", "waypulse demo"),
    ("--help", OK, "commands:", ""),
    ("help plan", OK, "usage: waypulse plan [options] RECORDING…", ""),
    ("plan --help", OK, "examples:\n  waypulse plan", ""),
    ("help nonsense", USAGE, "", 'there is no command "nonsense"'),
    ("--version", OK, "waypulse ", ""),
    ("version --json", OK, '{"version":"', ""),
    ("frobnicate", USAGE, "", 'there is no command "frobnicate"\ntry:   waypulse --help'),
    ("plna", USAGE, "", "try:   waypulse plan --help"),
    ("config", USAGE, "", '"config" needs one of: defaults, show, schema'),
    ("config shwo", USAGE, "", 'has no "shwo", only: defaults, show, schema\ntry:   waypulse config show --help'),
    ("simulate fcm", USAGE, "", 'has no "fcm", only: apns'),
    ("version extra", USAGE, "", '"version" takes no "extra"'),
    ("config defaults extra", USAGE, "", '"config defaults" takes no "extra"'),
    ("plan --jsno ride.jsonl", USAGE, "", "has no option --jsno; did you mean --json?"),
    ("plan --json=yes ride.jsonl", USAGE, "", "--json takes no value"),
    ("plan --config", USAGE, "", "--config needs a value"),
    ("dlq", USAGE, "", '"dlq" needs one of: list, show, redrive'),
    ("dlq list", USAGE, "", "dlq list needs to know where dead letters are\ntry:   waypulse dlq list dead.jsonl"),
    ("dlq list absent.jsonl", UNAVAILABLE, "", "absent.jsonl: cannot be opened (No such file or directory)"),
    ("dlq list --stage nowhere ride.jsonl", USAGE, "", '--stage is one of decode, schema, pacing, push, not "nowhere"'),
    ("dlq list --since yesterday ride.jsonl", USAGE, "", '--since: "yesterday" is no time'),
    ("dlq list ride.jsonl", OK, "", "warning: 13 lines or entries there that are no dead letter"),
    ("dlq list --topic rides ride.jsonl", USAGE, "", "dlq list was given files and streams"),
    ("dlq show ride.jsonl", NO, "", "no such dead letter in ride.jsonl"),
    ("dlq redrive ride.jsonl", USAGE, "", "try:   waypulse dlq redrive ride.jsonl -o again.jsonl"),
    ("dlq redrive --rate 5/s ride.jsonl", USAGE, "", "--rate is for streams"),
    ("dlq redrive --rate 0 ride.jsonl", USAGE, "", '--rate takes records a second, not "0"'),
    ("dlq list --config", USAGE, "", "--config needs a value"),
    ("config show --set deadLetters.to=file", CONFIGURATION, "", '"file" needs a deadLetters.file; set deadLetters.file'),
    ("config show --set deadLetters.to=streams", CONFIGURATION, "", "needs source.redis.url"),
    ("payload check", USAGE, "", "payload check needs one file"),
    ("payload check absent.json", UNAVAILABLE, "", "absent.json: cannot be opened (No such file or directory)"),
    ("payload check --json ride.jsonl", NO, '"weight":"dropped","place":"","explanation":"is no JSON object"', ""),
    # Recordings
    ("plan", USAGE, "", "plan needs a recording\ntry:   waypulse plan recording.jsonl"),
    ("plan absent.jsonl", UNAVAILABLE, "", "absent.jsonl: cannot be opened (No such file or directory)"),
    ("plan /", UNAVAILABLE, "", "/: cannot be read (Is a directory)"),
    ("plan empty.jsonl", OK, "", "warning: no record in empty.jsonl"),
    ("plan --json empty.jsonl", OK, "", '"pushesPerActivityHour":null'),
    ("plan huge.jsonl", OK, "", "too_large                      1"),
    ("plan huge.jsonl", OK, "", "try:   waypulse validate huge.jsonl"),
    ("plan noise.jsonl", OK, "", "not_json"),
    ("plan noise.zst", UNAVAILABLE, "", "noise.zst: is no valid zstd data"),
    ("plan ride.jsonl", OK, '"reasons":["status","ended"]', "13 records, 13 activity events, 6 pushes (53.8 % suppressed)"),
    ("plan ride.jsonl -", OK, '"sequence":6', "13 records"),
    ("validate ride.jsonl", OK, "", "13 records, none that cannot be used"),
    ("validate huge.jsonl", NO, "huge.jsonl:1: too_large:", "1 record, 1 that cannot be used"),
    ("validate --json milliseconds.jsonl", NO, '"reason":"bad_timestamp"', "1 that cannot be used"),
    ("validate absent.jsonl", UNAVAILABLE, "", "absent.jsonl: cannot be opened"),
    ("validate", OK, "", "no --config was given"),
    ("demo absent.jsonl", UNAVAILABLE, "", "absent.jsonl: cannot be opened"),
    ("demo empty.jsonl", UNAVAILABLE, "", "empty.jsonl: holds no record"),
    ("demo --seed 3 ride.jsonl", USAGE, "", "--seed makes a fleet, and a recording was given"),
    ("demo --deliveries some", USAGE, "", '--deliveries takes a whole number from 1 to 100000, not "some"'),
    ("demo --speed max", USAGE, "", "try:   waypulse demo --speed 100x"),
    # Configuration
    ("plan --set pacing.deadbandMetres=50 ride.jsonl", CONFIGURATION, "", "did you mean pacing.deadbandMeters?"),
    ("plan --set pacing.deadbandMeters=far ride.jsonl", CONFIGURATION, "", '"far" is not a finite number'),
    ("plan --set pacing.staleAfter=90 ride.jsonl", CONFIGURATION, "", 'has no unit; write 90s'),
    ("plan --set pacing.deadbandMeters ride.jsonl", CONFIGURATION, "", "has no value; write --set pacing.deadbandMeters=value"),
    ("plan --set pacing.staleAfter=10s ride.jsonl", CONFIGURATION, "", "choose at least 31s"),
    ("plan --config absent.yaml ride.jsonl", CONFIGURATION, "", "absent.yaml:1:1: cannot be read: No such file or directory"),
    ("validate --config twice.yaml", CONFIGURATION, "", "twice.yaml:4:3: pacing.deadbandMetres: unknown key"),
    ("validate --config twice.yaml", CONFIGURATION, "", 'twice.yaml:5:15: pacing.staleAfter: "15" has no unit'),
    ("validate --config keyless.yaml", CONFIGURATION, "", "apps.courier.keyFile: absent.p8 cannot be used"),
    ("validate --config defaults.yaml", OK, "", "the configuration is valid"),
    ("config show --set pacing.deadbandMeters=50", OK, "deadbandMeters: 50  # --set", ""),
    ("config schema", OK, '"pacing"', ""),
    # Redis Streams, as far as no Redis is needed
    ("validate --config streams.yaml", OK, "", "the configuration is valid"),
    ("validate --set source.redis.url=redis://localhost", CONFIGURATION, "", "needs source.redis.topics and source.redis.partitions"),
    ("validate --set source.redis.url=redis://bob@a --set source.redis.topics=b --set source.redis.partitions=2", CONFIGURATION, "",
     "source.redis.url: names the user bob, and no password is given; set source.redis.passwordFile"),
    ("validate --config streams.yaml --set drainTimeout=10s", CONFIGURATION, "", "two thirds of source.redis.lease (10s)"),
    ("validate --config streams.yaml --set storage.kind=memory", CONFIGURATION, "", "storage.volatile: true"),
    ("config show --config streams.yaml", OK, "url: \"redis://127.0.0.1:1\"  # streams.yaml", ""),
    ("replay", USAGE, "", "replay needs a recording\ntry:   waypulse replay ride.jsonl --to redis://localhost --topic rides"),
    ("replay ride.jsonl", USAGE, "", "replay needs --to and --topic and --partitions\ntry:   waypulse replay"),
    ("replay ride.jsonl --topic rides", USAGE, "", "replay needs --to and --partitions"),
    ("replay ride.jsonl --to localhost --topic rides --partitions 4", USAGE, "", '--to "localhost" has no scheme\ntry:   write redis://localhost'),
    ("replay ride.jsonl --to redis://a:hush@b --topic rides --partitions 4", USAGE, "", "--to holds a password"),
    ("replay ride.jsonl --to redis://localhost --topic rides --partitions 0", USAGE, "", "from 1 to 1024"),
    ("replay ride.jsonl --to redis://localhost --topic {x} --partitions 4", CONFIGURATION, "", "source.redis.topics: holds"),
    ("replay ride.jsonl --config streams.yaml --speed fast", CONFIGURATION, "", '"fast" is not a speed'),
    ("replay ride.jsonl --config streams.yaml --rate often", USAGE, "", 'not "often"\ntry:   --rate 5000/s'),
    ("replay - --config streams.yaml --loop 2", USAGE, "", "standard input can be played only once"),
    ("replay ride.jsonl --config topics.yaml", USAGE, "", "the configuration has 2 topics: rides, orders\ntry:   --topic rides"),
    ("replay absent.jsonl --config streams.yaml", UNAVAILABLE, "", "absent.jsonl: cannot be opened"),
    ("replay ride.jsonl --config streams.yaml", UNAVAILABLE, "", "error: cannot connect to Redis at 127.0.0.1:1: Connection refused\ntry:"),
    ("replay ride.jsonl --config streams.yaml --password-file absent", CONFIGURATION, "", "absent cannot be used"),
    ("record --config streams.yaml", USAGE, "", "record needs a file to write"),
    ("record -o out.jsonl", USAGE, "", "record needs --from and --topic and --partitions"),
    ("record --config streams.yaml --until-idle 5 -o out.jsonl", USAGE, "", '--until-idle: "5" has no unit\ntry:   write 5s'),
    ("record --config streams.yaml -o out.jsonl", UNAVAILABLE, "", "cannot connect to Redis at 127.0.0.1:1"),
    ("record --help", OK, "redis+sentinel://host,host/master", ""),
    # Kafka, as far as no broker is needed
    ("validate --config kafka.yaml", OK, "", "the configuration is valid"),
    ("validate --config kafka.yaml --set source.kafka.properties.group.id=x", CONFIGURATION, "",
     "source.kafka.properties.group.id: cannot be set as a property; use group"),
    ("validate --set source.kafka.bootstrapServers=a:1 --set source.kafka.topics=rides", CONFIGURATION, "",
     "need storage.redis.url as well"),
    ("config show --config kafka.yaml", OK, "bootstrapServers: [\"127.0.0.1:1\"]  # kafka.yaml", ""),
    ("replay ride.jsonl --to kafka://127.0.0.1:1", USAGE, "", "replay needs --topic"),
    ("replay ride.jsonl --to kafka:/a --topic rides", USAGE, "", "--to does not begin with kafka://\ntry:   write kafka://host:9092"),
    ("replay ride.jsonl --to kafka://a:hush@b --topic rides", USAGE, "", "--to holds a user"),
    ("replay ride.jsonl --to kafka://a --topic rides --partitions 4", USAGE, "", "--partitions is for Redis"),
    ("replay ride.jsonl --to kafka://a --topic rides --password-file p", USAGE, "", "source.kafka.sasl.passwordFile"),
    ("replay ride.jsonl --to kafka://a --topic rides --max-length 4", USAGE, "", "--max-length is for Redis"),
    ("replay ride.jsonl --to kafka://a --topic rides --placement md5", USAGE, "", 'not "md5"\ntry:   --placement murmur2'),
    ("replay ride.jsonl --config streams.yaml --placement murmur2", USAGE, "", "--placement is for Kafka"),
    ("replay ride.jsonl --config kafka.yaml", UNAVAILABLE, "", "connecting to Kafka at 127.0.0.1:1 failed"),
    ("record --from kafka://127.0.0.1:1 --topic rides -o out.jsonl", UNAVAILABLE, "", "connecting to Kafka at 127.0.0.1:1 failed"),
    # Explanations
    ("explain", USAGE, "", "explain needs the id of an activity\ntry:   waypulse explain order-1 recording.jsonl"),
    ("explain order-1", USAGE, "", "explain needs a recording, or --api and the address of a running member"),
    ("explain order-1 absent.jsonl", UNAVAILABLE, "", "absent.jsonl: cannot be opened (No such file or directory)"),
    ("explain order-2 ride.jsonl", NO, "", 'ride.jsonl has no activity "order-2"'),
    ("explain order-1 ride.jsonl --from noon", USAGE, "", '--from: "noon" is no time\ntry:   --from 12:01 (UTC)'),
    ("explain order-1 ride.jsonl --api http://127.0.0.1:1", USAGE, "", "only one of them can answer"),
    ("explain order-1 ride.jsonl --set explain.memoryMiB=0", CONFIGURATION, "", "explain.memoryMiB is 0"),
    ("explain order-1 --api nowhere", USAGE, "", '--api: "nowhere" is no address'),
    ("explain order-1 --api https://127.0.0.1:1", USAGE, "", "members speak plain HTTP"),
    ("explain order-1 --api http://127.0.0.1:1", UNAVAILABLE, "", "the member at 127.0.0.1:1 cannot be asked: Connection refused"),
    ("explain order-1 --api http://127.0.0.1:1 --keyFile absent", CONFIGURATION, "", "--keyFile: absent cannot be opened"),
    ("explain order-1 ride.jsonl", OK, "sent #6: end for status, ended, priority 10", ""),
    ("explain order-1 ride.jsonl --to 20:10:41", OK, "Nothing to tell: the newest position is inside the deadband", ""),
    # What needs a provider
    ("run", CONFIGURATION, "", "no app is configured"),
    ("run --config keyless.yaml ride.jsonl", CONFIGURATION, "", "absent.p8 cannot be used: No such file or directory"),
    ("simulate apns --port 99999", USAGE, "", 'from 0 to 65535, not "99999"'),
    ("simulate apns --error 503", USAGE, "", 'not "503"\ntry:   --error 503:ServiceUnavailable:0.1'),
    ("simulate apns --directory empty.jsonl/inside", UNAVAILABLE, "", "the simulator cannot run: cannot make the directory"),
    ("simulate apns --fault streamLimit=some", USAGE, "", "streamLimit: a whole number is needed\ntry:   waypulse simulate fault list"),
    ("simulate apns --fault streamLimit", USAGE, "", '"streamLimit" is no KEY=VALUE'),
    ("simulate apns --app-key-file ride.jsonl", USAGE, "", "--app-key-file without --app-backend"),
    ("simulate apns --app-backend https://a", UNAVAILABLE, "", "wants TLS, which is not spoken here"),
    ("simulate apns --app-backend http://a --app-key-file absent", CONFIGURATION, "", "absent cannot be opened"),
    ("simulate apns --app-backend http://a --app-key-file empty.jsonl", CONFIGURATION, "", "no key in empty.jsonl"),
    ("simulate apns --address nowhere", UNAVAILABLE, "", "cannot listen on nowhere:0"),
    ("simulate apns --name a/b", UNAVAILABLE, "", 'certificate name "a/b" is neither'),
    ("simulate fault", USAGE, "", "simulate fault needs one of: list, show, set"),
    ("simulate fault dran", USAGE, "", "try:   waypulse simulate fault drain"),
    ("simulate fault list", OK, "refusedStreamShare", ""),
    ("simulate fault list extra", USAGE, "", '"list" takes no "extra"'),
    ("simulate fault set", USAGE, "", "set needs KEY=VALUE"),
    ("simulate fault set error=200:Fine:1", USAGE, "", "try:   error=503:ServiceUnavailable:0.1"),
    ("simulate fault set slowShare=1 --for 5", USAGE, "", '--for: "5" has no unit'),
    ("simulate fault clear --control 127.0.0.1:1", UNAVAILABLE, "", "no simulator's control port at 127.0.0.1:1"),
    ("simulate fault clear --control :x", UNAVAILABLE, "", '":x" is no http://host:port'),
    ("simulate phone", USAGE, "", "simulate phone needs one of: list, tokens"),
    ("simulate phone offlin anna", USAGE, "", "try:   waypulse simulate phone offline"),
    ("simulate phone offline", USAGE, "", "offline needs a name"),
    ("simulate phone offline anna --control 127.0.0.1:1", UNAVAILABLE, "", "Connection refused"),
    ("simulate token --directory absent", UNAVAILABLE, "", "absent/AuthKey_S1MK3YWAYP.p8 cannot be read"),
    ("simulate token --key-file ride.jsonl", USAGE, "", "ride.jsonl does not tell its key id\ntry:   --key-id"),
]

# Nobody listens on port 1.
STREAMS = """source:
  redis:
    url: redis://127.0.0.1:1
    topics: [rides]
    partitions: 4
"""

KAFKA = """source:
  kafka:
    bootstrapServers: ["127.0.0.1:1"]
    topics: [rides]
storage:
  redis:
    url: redis://127.0.0.1:1
"""


def files(folder):
    noise = bytes(range(256)) * 40
    contents = {
        "ride.jsonl": RIDE.read_bytes(),
        "empty.jsonl": b"",
        "huge.jsonl": b"a" * 3_000_000,
        "noise.jsonl": noise,
        "noise.zst": noise,
        "milliseconds.jsonl": b'{"type":"position","activityId":"a","timestamp":1773000600000,"latitude":1,"longitude":2}\n',
        "twice.yaml": b"apps:\n  courier: {bundleId: com.example.courier, teamId: T, keyId: K, keyFile: k.p8}\npacing:\n"
        b"  deadbandMetres: 5\n  staleAfter: 15\n",
        "keyless.yaml": b"apps:\n  courier:\n    bundleId: com.example.courier\n    teamId: A1B2C3D4E5\n"
        b"    keyId: K1L2M3N4O5\n    keyFile: absent.p8\nmetrics:\n  listen: off\n",
        "streams.yaml": STREAMS.encode(),
        "kafka.yaml": KAFKA.encode(),
        "topics.yaml": STREAMS.replace("[rides]", "[rides, orders]").encode(),
        "defaults.yaml": subprocess.run([PROGRAM, "config", "defaults"], capture_output=True, check=True).stdout,
    }
    for name, content in contents.items():
        (Path(folder) / name).write_bytes(content)


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WAYPULSE_")}
    return dict(kept, LC_ALL="C.UTF-8", **more)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="command-line-")
        self.addCleanup(self.folder.cleanup)
        files(self.folder.name)

    def waypulse(self, *words, stdin=b"", **variables):
        done = subprocess.run(
            [PROGRAM, *words], cwd=self.folder.name, env=environment(**variables), input=stdin, capture_output=True,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def begin(self, *words, **more):
        process = subprocess.Popen(
            [PROGRAM, *words], cwd=self.folder.name, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **more,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def line_with(self, stream, text):
        """Reads on to the line that holds the text."""
        seen = ""
        while text not in seen.rpartition("\n")[2]:
            self.assertTrue(select.select([stream], [], [], PATIENCE_SECONDS)[0], f"{text!r} did not come after {seen}")
            byte = os.read(stream.fileno(), 1).decode("latin-1")
            self.assertTrue(byte, f"{text!r} did not come; {seen}")
            seen += byte
        while not seen.endswith("\n"):
            byte = os.read(stream.fileno(), 1).decode("latin-1")
            self.assertTrue(byte, seen)
            seen += byte
        return seen.splitlines()[-1]


class Answers(Folder):
    def test_the_table(self):
        for words, status, output, errors in CASES:
            with self.subTest(words):
                found = self.waypulse(*words.split())
                self.assertEqual(found[0], status, found)
                self.assertIn(output, found[1])
                self.assertIn(errors, found[2])
                if status not in (OK, NO):
                    self.assertEqual(found[1], "", "a failure prints nothing on standard output")

    def test_a_variable_is_a_setting_and_a_misspelt_one_a_fault(self):
        status, _, errors = self.waypulse("plan", "ride.jsonl", WAYPULSE_PACING_DEADBAND_METERS="1000")
        self.assertEqual(status, OK)
        self.assertIn("13 activity events, 3 pushes", errors)
        status, _, errors = self.waypulse("plan", "ride.jsonl", WAYPULSE_PACING_DEADBAND="1000")
        self.assertEqual(status, CONFIGURATION)
        self.assertIn("did you mean WAYPULSE_PACING_DEADBAND_METERS?", errors)

    def test_the_same_recording_gives_the_same_bytes_from_a_file_and_from_standard_input(self):
        first = self.waypulse("plan", "ride.jsonl")
        self.assertEqual(first, self.waypulse("plan", "ride.jsonl"))
        self.assertEqual(first, self.waypulse("plan", "-", stdin=RIDE.read_bytes()))

    def test_results_for_machines_are_json_alone(self):
        _, output, errors = self.waypulse("plan", "--json", "ride.jsonl")
        self.assertEqual([json.loads(line)["sequence"] for line in output.splitlines()], [1, 2, 3, 4, 5, 6])
        summary = json.loads(errors)
        self.assertEqual(summary["activityEvents"], summary["decisionsSum"])
        self.assertEqual(json.loads(self.waypulse("config", "schema")[1])["title"], "Waypulse configuration")

    def test_a_summary_for_machines_holds_no_warning(self):
        status, _, errors = self.waypulse("plan", "--json", "empty.jsonl")
        self.assertEqual((status, json.loads(errors)["records"]), (OK, 0))

    def test_results_that_cannot_be_written_are_told_by_69(self):
        for words in (["plan", "ride.jsonl"], ["config", "schema"], ["validate", "--json", "milliseconds.jsonl"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [PROGRAM, *words], cwd=self.folder.name, env=environment(), stdout=full, stderr=subprocess.PIPE,
                    timeout=PATIENCE_SECONDS,
                )  # fmt: skip
                self.assertEqual(done.returncode, UNAVAILABLE)
                self.assertIn(b"the result cannot be written (No space left on device)\ntry:   free space", done.stderr)

    def test_a_reader_that_goes_ends_the_program_without_a_word(self):
        lines = "".join(
            f'{{"type":"status","activityId":"{number}","timestamp":1773000600,"status":"on"}}\n' for number in range(20_000)
        )
        (Path(self.folder.name) / "many.jsonl").write_text(lines)
        process = self.begin("plan", "many.jsonl")
        process.stdout.read(1)
        process.stdout.close()
        process.stdout = None
        errors = process.communicate(timeout=PATIENCE_SECONDS)[1]
        self.assertEqual(errors, b"")
        self.assertNotIn(process.returncode, (OK, 70))

    def test_the_picture_of_the_readme_is_the_plan_of_the_ride(self):
        text = (ROOT / "README.md").read_text("utf-8")
        rows = {name: re.search(rf"^{name:<9}(.*)$", text, re.MULTILINE)[1] for name in ("events", "pushes", "interval", "bucket")}
        events = [json.loads(line) for line in RIDE.read_text().splitlines()]
        begin = events[0]["timestamp"]
        letters = {"activity.started": "b", "position": "p", "status": "S", "activity.ended": "E"}
        drawn = {at: mark for at, mark in enumerate(rows["events"]) if mark != " "}
        self.assertEqual(drawn, {event["timestamp"] - begin: letters[event["type"]] for event in events})
        sends = [json.loads(line) for line in self.waypulse("plan", "ride.jsonl")[1].splitlines()]
        drawn = {at: mark for at, mark in enumerate(rows["pushes"]) if mark != " "}
        self.assertEqual(drawn, {send["time"] - begin: str(send["sequence"]) for send in sends})
        updates = [send["time"] - begin for send in sends if send["event"] == "update"]
        shut = {at for at, mark in enumerate(rows["interval"]) if mark != " "}
        last = max(shut)
        self.assertEqual(shut, {at for push in updates for at in range(push, push + 15) if at <= last})
        self.assertEqual([at for at, mark in enumerate(rows["bucket"]) if mark.isdigit()], [0] + updates)

    def test_the_demo_plays_a_recording_and_judges_it(self):
        status, output, errors = self.waypulse("demo", "--speed", "100x", "--json", "ride.jsonl")
        self.assertEqual(status, OK, errors)
        report = json.loads(output)
        self.assertEqual((report["accepted"], report["shown"], report["brokenPromises"]), (6, 6, []))

    def demo(self, *events):
        lines = "".join(json.dumps({"activityId": "a", **event}) + "\n" for event in events)
        (Path(self.folder.name) / "told.jsonl").write_text(lines)
        status, output, errors = self.waypulse("demo", "--speed", "100x", "--json", "told.jsonl")
        self.assertEqual(status, OK, errors)
        report = json.loads(output)
        self.assertEqual(report["brokenPromises"], [])
        return report

    def test_the_demo_judges_each_life_of_an_activity(self):
        def life(begin, token):
            return [
                {"type": "activity.started", "timestamp": begin, "attributesType": "Ride", "token": token * 32},
                {"type": "status", "timestamp": begin + 10, "status": "arrived"},
                {"type": "activity.ended", "timestamp": begin + 30, "contentState": {"status": f"delivered to {token}"}},
            ]

        report = self.demo(*life(1773000600, "a1"), *life(1773000660, "b2"))
        self.assertEqual((report["accepted"], report["shown"]), (4, 4))

    def test_the_demo_does_not_ask_for_what_no_phone_could_hold(self):
        report = self.demo(
            {"type": "activity.started", "timestamp": 1773000600, "attributesType": "Ride", "token": "a1" * 32},
            {"type": "status", "timestamp": 1773000610, "status": "big", "contentState": {"note": "n" * 5_000}},
            {"type": "status", "timestamp": 1773000630, "status": "small"},
            {"type": "activity.ended", "timestamp": 1773000690, "contentState": {"status": "delivered"}},
        )
        self.assertEqual((report["decisions"]["dead_letter"], report["decisions"]["sent"], report["shown"]), (1, 2, 2))


class Explanations(Folder):
    """`explain`, from recordings and from members that are played here."""

    def member(self, answers):
        """Answers each path with (status, headers, body), and keeps what it was asked."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers["Authorization"]))
                status, headers, body = answers(self.path)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_port}", asked

    def document(self):
        return self.waypulse("explain", "order-1", "ride.jsonl", "--json")[1].encode()

    def test_the_same_recording_gives_the_same_bytes_and_a_time_ends_it(self):
        self.assertEqual(self.document(), self.document())
        document = json.loads(self.document())
        self.assertEqual(document["at"], "2026-03-08T20:11:12.000Z")
        sent = [one for one in document["decisions"] if one["kind"] == "sent"]
        self.assertEqual([one["sequence"] for one in sent], [1, 2, 3, 4, 5, 6])
        pushes = [json.loads(line) for line in self.waypulse("plan", "ride.jsonl")[1].splitlines()]
        self.assertEqual([one["firstUnix"] for one in sent], [one["time"] for one in pushes])
        self.assertEqual([one["reasons"] for one in sent], [one["reasons"] for one in pushes])
        at = json.loads(self.waypulse("explain", "order-1", "ride.jsonl", "--json", "--to", "20:10:35")[1])
        self.assertEqual(at["at"], "2026-03-08T20:10:35.000Z")
        self.assertTrue(at["situation"]["isWaiting"])
        self.assertEqual([gate["gate"] for gate in at["situation"]["gates"]], ["min_interval"])
        self.assertEqual(at["situation"]["gates"][0]["opens"], "2026-03-08T20:10:39.000Z")

    def test_times_of_a_day_and_moments_cut_the_story(self):
        for begin in ("20:10:50", "2026-03-08T20:10:50Z"):
            _, output, _ = self.waypulse("explain", "order-1", "ride.jsonl", "--from", begin)
            self.assertNotIn("sent #3", output)
            # What the phone showed when that time began is told besides.
            self.assertIn("sent #4", output)
            self.assertIn("sent #5", output)

    def test_a_member_is_asked_with_the_key_and_its_answer_printed_as_a_recordings(self):
        document = self.document()
        address, asked = self.member(lambda path: (200, {"Content-Length": str(len(document))}, document))
        key = Path(self.folder.name) / "explain.key"
        key.write_text("# of the night shift\nnight explain:read hush\n")
        status, output, errors = self.waypulse("explain", "order-1", "--api", f"http://{address}", "--keyFile", "explain.key")
        self.assertEqual((status, errors), (OK, ""))
        self.assertEqual(asked, [("/v1/live-activities/order-1/explain", "Bearer hush")])
        played = self.waypulse("explain", "order-1", "ride.jsonl")[1]
        self.assertEqual(output.splitlines()[1:], played.splitlines()[1:])
        self.assertIn(f"from the member at {address}", output)
        self.waypulse("explain", "a/b ü", "--api", address)
        self.assertEqual(asked[-1], ("/v1/live-activities/a%2Fb%20%C3%BC/explain", None))

    def test_a_member_that_does_not_own_the_activity_sends_on_to_the_one_that_does(self):
        document = self.document()
        owner, asked = self.member(lambda path: (200, {}, document))
        elsewhere = json.dumps({"detail": "it is waypulse-1's", "member": "waypulse-1", "address": owner}).encode()
        for answer in ((421, {}, elsewhere), (307, {"Location": f"http://{owner}/v1/live-activities/order-1/explain"}, b"")):
            other, _ = self.member(lambda path, answer=answer: answer)
            status, output, _ = self.waypulse("explain", "order-1", "--api", other)
            self.assertEqual(status, OK)
            self.assertIn(f"from the member at {owner}", output)
        self.assertEqual(len(asked), 2)
        lost, _ = self.member(lambda path: (421, {}, b'{"member": "waypulse-1"}'))
        status, _, errors = self.waypulse("explain", "order-1", "--api", lost)
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn('does not own "order-1": waypulse-1 does, and the owner\'s address is not known', errors)
        round_trip = []
        ring, _ = self.member(lambda path: (307, {"Location": f"http://{round_trip[0]}/"}, b""))
        round_trip.append(ring)
        status, _, errors = self.waypulse("explain", "order-1", "--api", ring)
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("4 members in a row", errors)

    def test_answers_that_are_no_explanation_say_what_to_do(self):
        cases = (
            (401, b'{"title": "no key"}', CREDENTIALS, "refuses the key: no key\ntry:   --keyFile"),
            (404, b'{"detail": "unknown"}', NO, 'no activity "order-1" is known: unknown'),
            (503, b"", UNAVAILABLE, "answered 503: status 503"),
            (200, b"<html>", UNAVAILABLE, "answered with something that is no explanation"),
        )
        for status, body, code, text in cases:
            with self.subTest(status):
                address, _ = self.member(lambda path: (status, {}, body))
                found = self.waypulse("explain", "order-1", "--api", address)
                self.assertEqual((found[0], found[1]), (code, ""))
                self.assertIn(text, found[2])
        address, _ = self.member(lambda path: (200, {"Content-Length": "1000"}, b"{}"))
        found = self.waypulse("explain", "order-1", "--api", address)
        self.assertEqual(found[0], UNAVAILABLE)
        self.assertIn("the answer broke off after 2 of 1000 bytes", found[2])


class WithSimulator(Folder):
    def simulator(self, *words):
        """Its configuration for `run`, and the address of its control port."""
        process = self.begin("simulate", "apns", "--directory", "apns", "--control", "0", *words)
        control = self.line_with(process.stderr, "Control: ")
        text = ""
        while "caFile" not in text:
            text += self.line_with(process.stdout, "") + "\n"
        (Path(self.folder.name) / "apns.yaml").write_text(text)
        return process, re.search(r"http://[\d.:]+", control)[0]

    def get(self, url):
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def expect_metrics(self, operations, source=None, has_api=True):
        """What the README names is there: with Kafka all of it, with Redis Streams all that is not Kafka's, with a recording its first tables."""
        text = (ROOT / "README.md").read_text("utf-8")
        if source is None:
            text = re.search(r"^## Watch it$(.*)^As member of a group, by `topic`", text, re.MULTILINE | re.DOTALL)[1]
        names = set(re.findall(r"`(waypulse_\w+)", text))
        if source == "redis":
            names = {name for name in names if not name.startswith("waypulse_kafka_") and name != "waypulse_key_conflicts_total"}
        if not has_api:
            names = {name for name in names if not name.startswith("waypulse_api_") and name != "waypulse_registrations_total"}
        self.assertGreaterEqual(len(names), 20 if source else 5)
        metrics = self.get(operations + "/metrics")[1]
        for name in names:
            self.assertIn(f"# TYPE {name} ", metrics)

    def run_with(self, *words):
        return self.waypulse("run", "--config", "apns.yaml", "--set", "metrics.listen=off", *words)

    def begin_run(self, *words):
        process = self.begin("run", "--config", "apns.yaml", "--set", "metrics.listen=127.0.0.1:0", *words)
        running = json.loads(self.line_with(process.stderr, '"message":"running"'))
        return process, f"http://127.0.0.1:{running['metricsPort']}"


class Running(WithSimulator):
    def test_a_recording_is_told_to_the_phone(self):
        simulator, control = self.simulator()
        status, _, errors = self.run_with("--speed", "max", "ride.jsonl")
        self.assertEqual(status, OK, errors)
        summary = next(json.loads(line) for line in errors.splitlines() if '"in all"' in line)
        self.assertEqual((summary["records"], summary["accepted"], summary["refused"]), (13, 6, 0))
        journal = [json.loads(line) for line in self.get(control + "/journal")[1].splitlines()]
        self.assertEqual([entry["sequence"] for entry in journal], [1, 2, 3, 4, 5, 6])
        self.assertEqual([entry["verdict"] for entry in journal], ["applied"] * 5 + ["ended"])
        simulator.send_signal(signal.SIGTERM)
        _, told = simulator.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(simulator.returncode, OK)
        self.assertIn(b"6 requests in apns/journal.jsonl", told)

    def test_standard_input_is_live(self):
        _, control = self.simulator()
        status, _, errors = self.waypulse(
            "run", "--config", "apns.yaml", "--set", "metrics.listen=off", "--set", "pacing.maxAge=36500d", "-",
            stdin=b"".join(RIDE.read_bytes().splitlines(keepends=True)[:2]),
        )  # fmt: skip
        self.assertEqual(status, OK, errors)
        self.assertEqual(len(self.get(control + "/journal")[1].splitlines()), 1)

    def test_a_pipe_that_brings_nothing_holds_up_neither_answers_nor_a_stop(self):
        _, control = self.simulator()
        source, feed = os.pipe()
        self.addCleanup(os.close, feed)
        process = subprocess.Popen(
            [PROGRAM, "run", "--config", "apns.yaml", "--set", "metrics.listen=off", "--speed", "100x", "-"],
            cwd=self.folder.name, env=environment(), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        os.close(source)
        # The start and a status of it; the pipe stays open and brings no more.
        lines = RIDE.read_bytes().splitlines(keepends=True)
        os.write(feed, lines[0] + next(line for line in lines if b'"status"' in line and b'"type":"status"' in line))
        while len(self.get(control + "/journal")[1].splitlines()) < 1:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)

    def test_metrics_have_the_names_that_the_readme_gives(self):
        self.simulator()
        process, operations = self.begin_run("ride.jsonl")
        self.expect_metrics(operations)
        self.assertEqual(self.get(operations + "/healthz"), (200, "alive\n"))
        self.assertEqual(self.get(operations + "/readyz"), (200, "ready\n"))
        self.assertEqual(self.get(operations + "/nothing")[0], 404)
        port = operations.rpartition(":")[2]
        status, _, errors = self.waypulse("run", "--config", "apns.yaml", "--set", f"metrics.listen=127.0.0.1:{port}", "ride.jsonl")
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn(f"cannot listen on 127.0.0.1:{port}: Address already in use", errors)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK)

    def test_a_port_that_is_taken_is_named(self):
        self.simulator()
        port = re.search(r"port: (\d+)", (Path(self.folder.name) / "apns.yaml").read_text())[1]
        status, _, errors = self.waypulse("simulate", "apns", "--directory", "second", "--port", port)
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn(f"cannot listen on 127.0.0.1:{port}", errors)
        self.assertIn("try:   another port or folder", errors)

    def test_a_provider_that_is_not_there_is_waited_for_and_a_stop_ends_the_wait(self):
        simulator, _ = self.simulator()
        simulator.kill()
        simulator.wait()
        process, operations = self.begin_run("--speed", "max", "ride.jsonl")
        self.assertIn("Connection refused", self.line_with(process.stderr, '"component":"delivery"'))
        self.assertEqual(self.get(operations + "/readyz"), (200, "ready\n"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK)

    def test_updates_in_flight_beyond_the_drain_time_are_told_by_75(self):
        _, control = self.simulator("--latency", "600000")
        process, _ = self.begin_run("--set", "drainTimeout=0s", "--speed", "100x", "ride.jsonl")
        while '"held":0' in self.get(control + "/state")[1]:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, DRAIN_EXCEEDED)

    def test_credentials_that_the_provider_refuses_are_told_by_77(self):
        self.simulator()
        status, _, errors = self.run_with("--set", "apps.courier.teamId=ZZZZZZZZZZ", "--speed", "max", "ride.jsonl")
        self.assertEqual(status, CREDENTIALS, errors)
        self.assertIn("check teamId, keyId, keyFile and environment", errors)

    def test_a_dead_letter_file_that_cannot_be_written_is_a_fault_of_the_configuration(self):
        self.simulator()
        status, _, errors = self.run_with("--set", "deadLetters.file=absent/dead.jsonl", "ride.jsonl")
        self.assertEqual(status, CONFIGURATION, errors)
        self.assertIn("absent/dead.jsonl", errors)

    def test_run_needs_a_source(self):
        self.simulator()
        status, _, errors = self.run_with()
        self.assertEqual(status, USAGE)
        self.assertIn("run needs a source\ntry:   waypulse run --config waypulse.yaml recording.jsonl", errors)


class WithRedis(Folder):
    """A redis-server of the test's own, on a free port of the loopback."""

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self.redis = None
        self.start_redis()

    def start_redis(self, *options):
        self.redis = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes",
             "--appendfsync", "always", "--dir", self.folder.name, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.addCleanup(self.end, self.redis)
        self.line_with(self.redis.stdout, "Ready to accept connections")

    def ask(self, *words):
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), "--json", *words], capture_output=True, check=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return json.loads(done.stdout)

    def place(self, end, topic="rides"):
        return [f"--{end}", self.url, "--topic", topic, "--partitions", "4"]

    def entries(self, topic="rides", partitions=4):
        """(id, partition, fields) in the order of ids."""
        found = []
        for partition in range(partitions):
            for identifier, fields in self.ask("xrange", f"{topic}:{{{partition}}}", "-", "+"):
                milliseconds, sequence = identifier.split("-")
                found.append(((int(milliseconds), int(sequence)), partition, dict(zip(fields[::2], fields[1::2]))))
        return sorted(found, key=lambda entry: entry[:2])

    def write(self, name, text):
        (Path(self.folder.name) / name).write_text(text)


class Members(WithRedis, WithSimulator):
    def begin_member(self, *words):
        self.simulator()
        return self.begin_run(
            "--set", f"source.redis.url={self.url}", "--set", "source.redis.topics=rides", "--set", "source.redis.partitions=4", *words
        )  # fmt: skip

    def ready(self, operations, says):
        """Asks until the answer holds that."""
        seen, begun = "", time.monotonic()
        while says not in seen:
            self.assertLess(time.monotonic() - begun, PATIENCE_SECONDS, seen)
            seen = self.get(operations + "/readyz")[1]
        return seen

    def log_of(self, process):
        process.send_signal(signal.SIGTERM)
        log = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
        self.assertEqual(process.returncode, OK, log)
        return [json.loads(line) for line in log.splitlines()]

    def test_a_member_is_ready_and_has_the_metrics_that_the_readme_gives(self):
        process, operations = self.begin_member()
        self.ready(operations, "ready\n")
        self.expect_metrics(operations, "redis", has_api=False)
        self.assertNotIn("error", [line["level"] for line in self.log_of(process)])

    def test_a_key_that_is_no_stream_is_told_once_and_its_end_as_well(self):
        self.ask("set", "rides:{2}", "x")
        process, operations = self.begin_member()
        self.assertIn("rides:{2} is no stream; rename or remove the key", self.ready(operations, "not ready: partition 2"))
        self.ask("del", "rides:{2}")
        self.line_with(process.stderr, "nothing hinders this member any more")
        self.ready(operations, "ready\n")
        self.assertNotIn("a partition cannot be read", [line["message"] for line in self.log_of(process)])

    def test_a_redis_that_is_not_there_is_named_at_once_and_leaving_adds_no_word(self):
        self.redis.kill()
        self.redis.wait()
        process, operations = self.begin_member()
        said = self.ready(operations, "not ready: cannot connect")
        self.assertIn(f"127.0.0.1:{self.port}: Connection refused; check host and port", said)
        hints = [line.get("hint", "") for line in self.log_of(process)]
        self.assertNotIn("client of Redis was closed", " ".join(hints))

    def test_an_entry_without_the_event_is_a_dead_letter_with_its_id(self):
        identifier = self.ask("xadd", "rides:{1}", "*", "body", "{}")
        process, _ = self.begin_member("--set", "deadLetters.file=dead.jsonl")
        line = json.loads(self.line_with(process.stderr, "a record cannot be used"))
        self.assertEqual((line["source"], line["entry"], line["reason"]), ("rides:{1}", identifier, "missing_field:event"))
        self.log_of(process)
        letter = json.loads((Path(self.folder.name) / "dead.jsonl").read_text())
        self.assertEqual((letter["source"], letter["partition"], letter["entry"]), ("rides:{1}", 1, identifier))


class DeadLetters(WithRedis, WithSimulator):
    """Of streams: kept beside them, waited for, looked at, and published again."""

    begin_member, ready, log_of = Members.begin_member, Members.ready, Members.log_of

    def publish(self, *values, partition=1, **fields):
        """The ids."""
        more = [word for pair in fields.items() for word in pair]
        return [self.ask("xadd", f"rides:{{{partition}}}", "*", *more, "event", value) for value in values]

    def until(self, holds, what):
        begun = time.monotonic()
        while not holds():
            self.assertLess(time.monotonic() - begun, PATIENCE_SECONDS, what)

    def dead(self, partition=1):
        return self.ask("xrange", f"dlq.rides:{{{partition}}}", "-", "+")

    def position(self, partition=1):
        """The id up to which the partition is settled."""
        stored = self.ask("hget", f"waypulse:{{{partition}}}:cursor", "rides")
        return tuple(map(int, stored.split()[0].split("-"))) if stored else (0, 0)

    def number(self, identifier):
        return tuple(map(int, identifier.split("-")))

    def metric(self, operations, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.get(operations + "/metrics")[1], re.MULTILINE)
        return float(found[1]) if found else None

    def dlq(self, command, *words):
        return self.waypulse("dlq", command, *self.place("from"), *words)

    def test_letters_lie_beside_their_stream_with_all_that_came_and_the_position_passes_them(self):
        [identifier] = self.publish("no JSON \x07", key="order-1", traceparent="00-ab-cd-01")
        process, operations = self.begin_member()
        self.until(lambda: self.position() >= self.number(identifier), "a position behind the record")
        [[letter, fields]] = self.dead()
        self.assertEqual(letter, identifier)
        self.assertEqual(fields[:6], ["key", "order-1", "traceparent", "00-ab-cd-01", "event", "no JSON \x07"])
        about = dict(zip(fields[6::2], fields[7::2]))
        self.assertEqual(about["waypulse.dlq.reason"], "not_json")
        self.assertEqual((about["waypulse.dlq.topic"], about["waypulse.dlq.partition"]), ("rides", "1"))
        self.assertEqual((about["waypulse.dlq.group"], about["waypulse.dlq.attempts"]), ("waypulse", "1"))
        self.until(lambda: self.metric(operations, "waypulse_dead_letters_pending") == 0, "none pending")
        self.assertEqual(self.metric(operations, 'waypulse_dead_letters_written_total{stage="decode"}'), 1)
        self.log_of(process)

    def test_a_position_waits_for_a_letter_that_cannot_be_written_and_nothing_is_lost(self):
        process, operations = self.begin_member()
        self.ready(operations, "ready\n")
        self.ask("set", "dlq.rides:{1}", "x")
        bad = self.publish("no JSON", "nor this")
        good = self.publish('{"type":"position","activityId":"nobody","timestamp":1,"latitude":1,"longitude":2}')
        said = self.ready(operations, "not ready: dlq.rides:{1}")
        self.assertIn("WRONGTYPE", said)
        self.assertIn("rename or remove that key", said)
        other = self.publish('{"type":"position","activityId":"nobody","timestamp":1,"latitude":1,"longitude":2}', partition=2)
        # Other partitions go on, and reading as well: the record behind was read.
        self.until(lambda: self.position(2) >= self.number(other[0]), "a position of another partition")
        self.assertLess(self.position(), self.number(bad[0]))
        # Killed in between: whoever comes next reads them again.
        process.kill()
        process.wait()
        process, operations = self.begin_member("--set", "source.redis.lease=6s")
        self.ready(operations, "not ready: dlq.rides:{1}")
        self.ask("del", "dlq.rides:{1}")
        self.until(lambda: self.position() >= self.number(good[0]), "a position behind all")
        self.assertEqual([letter for letter, _ in self.dead()], bad)
        self.ready(operations, "ready\n")
        self.log_of(process)

    def test_when_too_many_letters_wait_reading_stops_and_goes_on(self):
        process, operations = self.begin_member("--set", "deadLetters.maxPending=5", "--set", "source.redis.readCount=2")
        self.ready(operations, "ready\n")
        self.ask("set", "dlq.rides:{1}", "x")
        self.publish(*["no JSON"] * 40)
        self.until(lambda: self.metric(operations, 'waypulse_reading_stopped{cause="pending"}') == 1, "reading stops")
        self.assertLess(self.metric(operations, "waypulse_dead_letters_pending"), 40)
        self.ask("del", "dlq.rides:{1}")
        self.until(lambda: len(self.dead()) == 40, "all of them")
        self.until(lambda: self.metric(operations, 'waypulse_reading_stopped{cause="pending"}') == 0, "reading goes on")
        self.log_of(process)

    def test_a_flood_of_garbage_stops_reading_and_says_so(self):
        flood = ["--set", "deadLetters.minCount=20", "--set", "source.redis.readCount=10"]
        process, operations = self.begin_member(*flood)
        self.publish(*["garbage"] * 200)
        said = self.ready(operations, "not ready: ")
        self.assertRegex(said, r"(\d+) of \1 records could not be used within 60 s, and nothing more is read; look at them \(waypulse dlq list\)")
        self.assertEqual(self.metric(operations, 'waypulse_alarms_total{alarm="dead_letters"}'), 1)
        self.assertEqual(self.metric(operations, 'waypulse_reading_stopped{cause="flood"}'), 1)
        log = self.log_of(process)
        self.assertEqual([line["message"] for line in log].count("reading stops: too many records cannot be used"), 1)
        kept = len(self.dead())
        self.assertLess(kept, 200)
        process, _ = self.begin_member(*flood, "--set", "deadLetters.maxRatio=1")
        self.until(lambda: len(self.dead()) == 200, "the rest, once the limit is raised")
        self.log_of(process)

    def test_letters_are_listed_shown_and_published_again(self):
        event = '{"type":"position","activityId":"order-9","timestamp":1,"latitude":1}'
        bad = self.publish("no JSON", event, key="k")
        process, operations = self.begin_member()
        self.until(lambda: len(self.dead()) == 2, "the letters")
        self.log_of(process)
        status, output, errors = self.dlq("list")
        self.assertEqual(status, OK, errors)
        first, second = output.splitlines()
        self.assertTrue(first.startswith(f"1/{bad[0]}  20"), first)
        self.assertIn(f"  not_json  rides:{{1}} {bad[0]}  k  ", first)
        self.assertIn("  missing_field:longitude  ", second)
        self.assertIn("  order-9  ", second)
        self.assertIn("2 dead letters in dlq.rides (4 streams)\n", errors)
        # Filters
        self.assertEqual(self.dlq("list", "--reason", "missing_field")[1], second + "\n")
        self.assertEqual(self.dlq("list", "--activity", "order-9")[1], second + "\n")
        self.assertEqual(self.dlq("list", "--since", "1h", "--partition", "1", "--limit", "1")[1], first + "\n")
        self.assertEqual(self.dlq("list", "--until", "2020-01-01T00:00:00Z")[1], "")
        self.assertEqual(self.dlq("list", "--partition", "0")[1], "")
        self.assertEqual(self.dlq("show", "--letter", f"1/{bad[1]}", "--raw")[1], event)
        shown = self.dlq("show", "--letter", f"1/{bad[0]}")[1]
        self.assertIn("reason:        not_json\n", shown)
        self.assertTrue(shown.endswith("\nno JSON\n"), shown)
        whole = json.loads(self.dlq("show", "--json")[1])
        self.assertEqual(base64.b64decode(whole["valueBase64"]), b"no JSON")
        status, _, errors = self.dlq("show", "--letter", "1/7-7")
        self.assertEqual(status, NO)
        self.assertIn("no such dead letter in dlq.rides (4 streams)\ntry:   waypulse dlq list", errors)
        # Published again
        status, output, errors = self.dlq("redrive", "--reason", "missing_field", "--dry-run")
        self.assertEqual((status, errors), (OK, ""))
        self.assertIn("1 record would be published again, nothing was done\n", output)
        self.assertEqual(len(self.dead()), 2)
        status, output, errors = self.dlq("redrive", "--reason", "missing_field", "--json")
        self.assertEqual(status, OK, errors)
        report = json.loads(output)
        self.assertEqual((report["published"], report["gone"], report["reasons"]), (1, 0, {"missing_field:longitude": 1}))
        self.assertEqual([letter for letter, _ in self.dead()], bad[:1])
        identifier, fields = self.ask("xrevrange", "rides:{1}", "+", "-", "COUNT", "1")[0]
        self.assertEqual(fields[:4], ["key", "k", "event", event])
        self.assertIn("0 records published again", self.dlq("redrive", "--reason", "missing_field")[1])
        # It fails again, and says so.
        process, _ = self.begin_member()
        self.until(lambda: len(self.dead()) == 2, "the letter again")
        self.log_of(process)
        again = json.loads(self.dlq("show", "--letter", f"1/{identifier}", "--json")[1])
        self.assertEqual((again["attempts"], again["entry"]), (2, identifier))

    def test_a_rate_holds_a_redrive_back_and_all_of_it_arrives(self):
        bad = self.publish(*[f"no JSON {number}" for number in range(60)])
        process, _ = self.begin_member()
        self.until(lambda: len(self.dead()) == len(bad), "the letters")
        self.log_of(process)
        begun = time.monotonic()
        status, output, errors = self.dlq("redrive", "--rate", "200/s")
        self.assertEqual(status, OK, errors)
        self.assertIn("60 records published again, from dlq.rides (4 streams)", output)
        self.assertGreaterEqual(time.monotonic() - begun, 59 / 200)
        events = [dict(zip(fields[::2], fields[1::2]))["event"] for _, fields in self.ask("xrange", "rides:{1}", "-", "+")]
        self.assertEqual(events[60:], events[:60])

    def test_a_file_keeps_what_came_with_an_entry_as_well(self):
        [identifier] = self.publish("no JSON", key="order-1", traceparent="00-ab-cd-01")
        process, _ = self.begin_member("--set", "deadLetters.file=dead.jsonl")
        self.until(lambda: self.position() >= self.number(identifier), "a position behind the record")
        self.log_of(process)
        letter = json.loads((Path(self.folder.name) / "dead.jsonl").read_text())
        self.assertEqual(base64.b64decode(letter["keyBase64"]), b"order-1")
        self.assertEqual((letter["traceparent"], letter["topic"], letter["stage"]), ("00-ab-cd-01", "rides", "decode"))
        self.assertEqual(self.ask("exists", "dlq.rides:{1}"), 0)
        status, output, errors = self.waypulse("dlq", "redrive", "dead.jsonl", "-o", "again.jsonl")
        self.assertEqual(status, OK, errors)
        self.assertEqual(
            (Path(self.folder.name) / "again.jsonl").read_text().partition(',"receivedAt"')[0],
            f'{{"partition":1,"offset":{letter["offset"]},"key":"order-1"',
        )

    def test_a_record_that_was_in_work_at_three_ends_of_processes_is_not_looked_at_any_more(self):
        folder = Path(self.folder.name) / "state"
        folder.mkdir()
        event = '{"type":"position","activityId":"nobody","timestamp":1,"latitude":1,"longitude":2}'
        before, suspect, behind = self.publish(event, event, event)
        state = ["--set", "deadLetters.stateDirectory=state", "--set", "source.redis.lease=6s"]

        def ended_with(identifier):
            """As a process leaves its file that crashed with that record in work."""
            milliseconds, sequence = self.number(identifier)
            words = (0x5759_504D_4152_4B31, 1 * 64 + 0 + 1, milliseconds << 20 | sequence)
            (folder / "waypulse.0.work").write_bytes(struct.pack("<3q", *words).ljust(4096, b"\0"))

        for crash in (1, 2):
            ended_with(suspect)
            process, _ = self.begin_member(*state)
            line = json.loads(self.line_with(process.stderr, "a process ended with a record in work"))
            self.assertEqual((line["stream"], line["entry"]), ("rides:{1}", suspect))
            self.until(lambda: self.ask("hget", "waypulse:crashes", f"rides:{{1}}/{suspect}") == str(crash), "a count")
            self.assertEqual(self.ask("exists", "dlq.rides:{1}"), 0)
            self.log_of(process)
        # As if no process had come to save its position.
        self.ask("del", "waypulse:{1}:cursor")
        ended_with(suspect)
        process, _ = self.begin_member(*state)
        self.until(lambda: self.position() >= self.number(behind), "a position behind all")
        [[letter, fields]] = self.dead()
        self.assertEqual((letter, fields[:2]), (suspect, ["event", event]))
        self.assertIn("crashed", fields)
        self.until(lambda: self.ask("exists", "waypulse:crashes") == 0, "the count is forgotten")
        self.log_of(process)

    def test_a_process_that_is_killed_leaves_a_file_that_the_next_one_reads(self):
        (Path(self.folder.name) / "state").mkdir()
        process, operations = self.begin_member("--set", "deadLetters.stateDirectory=state")
        self.ready(operations, "ready\n")
        process.kill()
        process.wait()
        process, operations = self.begin_member("--set", "deadLetters.stateDirectory=state")
        self.ready(operations, "ready\n")
        self.assertEqual(sorted(path.name for path in (Path(self.folder.name) / "state").iterdir()), ["waypulse.0.work"])
        # It had nothing in work.
        self.assertNotIn("a process ended with a record in work", [line["message"] for line in self.log_of(process)])

    def test_a_disk_that_is_full_holds_the_position(self):
        [identifier] = self.publish("no JSON")
        process, operations = self.begin_member("--set", "deadLetters.file=/dev/full")
        said = self.ready(operations, "not ready: /dev/full")
        self.assertIn("No space left on device", said)
        self.assertLess(self.position(), self.number(identifier))
        self.log_of(process)


class Replays(WithRedis):
    def test_a_recording_goes_to_redis_and_comes_back_byte_for_byte(self):
        status, output, errors = self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max", "--keep-times")
        self.assertEqual((status, errors), (OK, ""))
        self.assertIn("13 records in ", output)
        self.assertIn(f"to rides (4 partitions) at 127.0.0.1:{self.port}", output)
        status, output, errors = self.waypulse(
            "record", *self.place("from"), "--from-beginning", "--count", "13", "-o", "back.jsonl.zst"
        )
        self.assertEqual((status, output), (OK, ""), errors)
        self.assertIn("13 records of rides (4 partitions)", errors)
        back = subprocess.run(["zstd", "-dc", "back.jsonl.zst"], cwd=self.folder.name, capture_output=True, check=True).stdout
        lines = back.decode().splitlines()
        self.assertEqual([line.partition('"value":')[2][:-1] for line in lines], RIDE.read_text().splitlines())
        published = [identifier for identifier, _, _ in self.entries()]
        for line, (milliseconds, sequence) in zip(map(json.loads, lines), published):
            self.assertEqual(line["partition"], zlib.crc32(line["key"].encode()) % 4)
            self.assertEqual(line["offset"], milliseconds << 20 | sequence)
            self.assertEqual(line["receivedAt"], milliseconds / 1000)
        status, _, errors = self.waypulse("validate", "back.jsonl.zst")
        self.assertEqual(status, OK, errors)

    def test_a_recording_is_plan_s_input_as_it_comes(self):
        self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")
        recording = self.waypulse("record", *self.place("from"), "--from-beginning", "--count", "13", "-o", "-")[1]
        status, _, errors = self.waypulse("plan", "-", stdin=recording.encode())
        self.assertEqual(status, OK)
        self.assertIn("13 records, 13 activity events", errors)

    def test_times_are_moved_to_now_and_pressed_together_by_the_speed(self):
        before = time.time()
        status, output, errors = self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "20x", "--json")
        self.assertEqual(status, OK, errors)
        report = json.loads(output)
        self.assertEqual((report["records"], report["repeated"], report["undecodable"]), (13, 0, 0))
        recorded = [json.loads(line) for line in RIDE.read_text().splitlines()]
        published = [json.loads(fields["event"]) for _, _, fields in self.entries()]
        begin = published[0]["timestamp"]
        self.assertLessEqual(before - 0.001, begin)
        for old, new in zip(recorded, published, strict=True):
            self.assertAlmostEqual(new["timestamp"] - begin, (old["timestamp"] - recorded[0]["timestamp"]) / 20, delta=0.0011)
            self.assertEqual({**new, "timestamp": 0}, {**old, "timestamp": 0})

    def test_keys_follow_the_subject_and_other_apps_are_passed_on(self):
        events = [
            {"type": "activity.started", "activityId": "a", "timestamp": 100, "follows": "bus", "app": "nobody's"},
            {"type": "position", "subjectId": "bus", "timestamp": 101, "latitude": 1, "longitude": 2},
            {"type": "status", "activityId": "a", "timestamp": 102, "status": "on"},
            {"type": "status", "activityId": "b", "timestamp": 103, "status": "on"},
        ]
        lines = [json.dumps(event) for event in events] + ["no JSON", '{"key":"c","value":{"type":"nonsense"}}']
        self.write("events.jsonl", "\n".join(lines))
        status, output, errors = self.waypulse("replay", "events.jsonl", *self.place("to"), "--speed", "max", "--body-field", "payload")
        self.assertEqual(status, OK, errors)
        self.assertIn("2 that no event can be made of, published unchanged", output)
        found = {}
        for _, partition, fields in self.entries():
            self.assertEqual(partition, zlib.crc32(fields.get("key", "").encode()) % 4)
            found.setdefault(fields.get("key"), []).append(fields["payload"])
        self.assertEqual({key: len(values) for key, values in found.items()}, {"bus": 3, "b": 1, None: 1, "c": 1})
        self.assertEqual((found[None], found["c"]), (["no JSON"], ['{"type":"nonsense"}']))

    def test_a_rate_and_passes(self):
        status, output, errors = self.waypulse(
            "replay", "ride.jsonl", *self.place("to"), "--speed", "max", "--rate", "500/s", "--loop", "5", "--max-length", "1000", "--json"
        )
        self.assertEqual(status, OK, errors)
        self.assertEqual(json.loads(output)["records"], 65)
        stamps = [json.loads(fields["event"])["timestamp"] for _, _, fields in self.entries()]
        self.assertEqual(stamps, sorted(set(stamps)), "no two events of an activity bear one time")

    def test_redis_is_killed_in_between_and_nothing_is_missing(self):
        process = self.begin("replay", "ride.jsonl", *self.place("to"), "--speed", "max", "--rate", "2000/s", "--loop", "300")
        while self.ask("xlen", "rides:{3}") < 500:
            self.assertIsNone(process.poll())
        self.redis.kill()
        self.redis.wait()
        self.line_with(process.stderr, "warning: ")
        self.start_redis()
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)
        self.assertIn(b"warning: connected to Redis again", errors)
        self.assertIn(b"3900 records in", output)
        stamps = [json.loads(fields["event"])["timestamp"] for _, _, fields in self.entries()]
        self.assertEqual(len(set(stamps)), 3900)
        last = {stamp: place for place, stamp in enumerate(stamps)}
        self.assertEqual(sorted(last, key=last.get), sorted(last), "the last word on anything is the last entry")

    def test_a_replay_that_is_stopped_tells_what_it_has_done(self):
        process = self.begin("replay", "ride.jsonl", *self.place("to"), "--json")
        while self.ask("exists", "rides:{3}") == 0:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual((process.returncode, errors), (OK, b""))
        self.assertEqual(json.loads(output)["records"], len(self.entries()))

    def test_a_pipe_is_played_as_it_comes(self):
        lines = [f'{{"type":"status","activityId":"a","timestamp":{at},"status":"on"}}' for at in (100, 101)]
        process = subprocess.Popen(
            [PROGRAM, "replay", "-", *self.place("to"), "--speed", "max"], env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        for count, line in enumerate(lines, 1):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            while len(self.entries()) < count:
                self.assertIsNone(process.poll())
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual((process.returncode, errors), (OK, b""))
        self.assertIn(b"2 records in", output)

    def test_a_key_that_is_no_stream_is_named(self):
        self.ask("set", f"rides:{{{zlib.crc32(b'order-1') % 4}}}", "text")
        for command in (["replay", "ride.jsonl", *self.place("to")], ["record", *self.place("from"), "-o", "out.jsonl"]):
            status, _, errors = self.waypulse(*command)
            self.assertEqual(status, UNAVAILABLE)
            self.assertIn("on rides:{3} (WRONGTYPE", errors)
            self.assertIn("try:   choose another topic, or remove that key", errors)

    def test_passwords_come_from_files_and_are_never_shown(self):
        self.ask("acl", "setuser", "fleet", "on", ">hush", "~rides:*", "+@all")
        self.ask("config", "set", "requirepass", "secret")
        self.write("hush", "hush\n")
        self.write("secret", "secret\n")
        self.write("wrong", "wrong")
        fleet = self.url.replace("//", "//fleet@")

        def replay(url, *more, topic="rides", **variables):
            words = ["replay", "ride.jsonl", "--to", url, "--topic", topic, "--partitions", "4", "--speed", "max", *more]
            status, output, errors = self.waypulse(*words, **variables)
            self.assertNotRegex(output + errors, "hush[^a]|wrong[^-]|secret[^s]")
            return status, errors

        self.assertEqual(replay(self.url)[0], CREDENTIALS)
        status, errors = replay(fleet, "--password-file", "wrong")
        self.assertEqual(status, CREDENTIALS)
        self.assertIn("does not accept user name and password of user fleet", errors)
        self.assertEqual(replay(fleet, "--password-file", "hush"), (OK, ""))
        self.assertEqual(replay(self.url, WAYPULSE_SOURCE_REDIS_PASSWORD_FILE="secret"), (OK, ""))
        status, errors = replay(fleet, "--password-file", "hush", topic="orders")
        self.assertEqual(status, CREDENTIALS)
        self.assertIn("NOPERM", errors)


class Records(WithRedis):
    def test_a_recording_that_is_stopped_is_whole(self):
        self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")
        for name in ("whole.jsonl", "whole.jsonl.zst"):
            process = self.begin("record", *self.place("from"), "--from-beginning", "-o", name)
            path = Path(self.folder.name) / name
            while not path.exists() or path.stat().st_size < 200:
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(process.returncode, OK, errors)
            self.assertIn("13 records, none that cannot be used", self.waypulse("validate", name)[2])

    def test_what_comes_is_taken_until_nothing_comes(self):
        self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")
        status, _, errors = self.waypulse("record", *self.place("from"), "--until-idle", "300ms", "-o", "new.jsonl", "--json")
        self.assertEqual((status, json.loads(errors)), (OK, {"records": 0, "withoutBody": 0}))
        status, _, errors = self.waypulse(
            "record", *self.place("from"), "--from-beginning", "--seconds", "1", "--body-field", "other", "-o", "other.jsonl"
        )
        self.assertEqual(status, OK)
        self.assertIn("13 entries without a field other left out\ntry:   --body-field", errors)

    def test_a_recording_that_is_there_is_kept(self):
        status, _, errors = self.waypulse("record", *self.place("from"), "-o", "ride.jsonl")
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("ride.jsonl: exists already", errors)
        self.assertEqual((Path(self.folder.name) / "ride.jsonl").read_bytes(), RIDE.read_bytes())

    def test_a_disk_that_is_full_is_told(self):
        self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [PROGRAM, "record", *self.place("from"), "--from-beginning", "--count", "13", "-o", "-"], env=environment(),
                stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS,
            )  # fmt: skip
        self.assertEqual(done.returncode, UNAVAILABLE)
        self.assertIn(b"standard output: cannot be written (No space left on device)", done.stderr)

    def test_a_replay_is_recorded_while_it_runs_and_comes_out_in_order(self):
        process = self.begin("record", *self.place("from"), "--from-beginning", "--count", "1300", "-o", "live.jsonl")
        lines = "".join(
            f'{{"type":"status","activityId":"{number % 50}","timestamp":{1000 + number},"status":"on"}}\n' for number in range(1300)
        )
        self.write("many.jsonl", lines)
        self.assertEqual(self.waypulse("replay", "many.jsonl", *self.place("to"), "--speed", "max", "--rate", "3000/s")[0], OK)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)
        found = [json.loads(line) for line in (Path(self.folder.name) / "live.jsonl").read_text().splitlines()]
        published = {(partition, milliseconds << 20 | sequence) for (milliseconds, sequence), partition, _ in self.entries()}
        self.assertEqual({(line["partition"], line["offset"]) for line in found}, published)
        for partition in range(4):
            offsets = [line["offset"] for line in found if line["partition"] == partition]
            self.assertEqual(offsets, sorted(offsets))


class WithKafka(Folder):
    """librdkafka's mock of three brokers, in a process of its own."""

    def setUp(self):
        super().setUp()
        self.state = tempfile.TemporaryDirectory(prefix="kafka-")
        self.addCleanup(self.state.cleanup)
        self.addCleanup(self.broker, "stop")
        self.servers = self.broker("start", "--engine", "mock", "--port", "0").strip()
        self.broker("topic", "rides", "4")

    def broker(self, *words):
        done = subprocess.run(
            [ROOT / "Tests/Scripts/kafka_broker", *words, "--data-dir", self.state.name], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def place(self, end, topic="rides"):
        return [f"--{end}", f"kafka://{self.servers}", "--topic", topic]

    def recorded(self, *words, topic="rides", count=13):
        """The lines of a recording of all that there is."""
        status, output, errors = self.waypulse(
            "record", *self.place("from", topic), "--from-beginning", "--count", str(count), *words, "-o", "-"
        )
        self.assertEqual(status, OK, errors)
        return [json.loads(line) for line in output.splitlines()]


class KafkaReplays(WithKafka):
    def test_a_recording_goes_to_kafka_and_comes_back_byte_for_byte(self):
        before = time.time()
        status, output, errors = self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max", "--keep-times")
        self.assertEqual((status, errors), (OK, ""))
        self.assertIn("13 records in ", output)
        self.assertIn(f"to rides (4 partitions) at {self.servers}", output)
        status, output, errors = self.waypulse(
            "record", *self.place("from"), "--from-beginning", "--count", "13", "-o", "back.jsonl"
        )
        self.assertEqual((status, output), (OK, ""), errors)
        self.assertIn("13 records of rides (4 partitions)", errors)
        lines = (Path(self.folder.name) / "back.jsonl").read_text().splitlines()
        self.assertEqual([line.partition('"value":')[2][:-1] for line in lines], RIDE.read_text().splitlines())
        for number, line in enumerate(map(json.loads, lines)):
            self.assertEqual(line["partition"], zlib.crc32(line["key"].encode()) % 4)
            self.assertEqual(line["offset"], number)
            self.assertLessEqual(before - 0.001, line["receivedAt"])
        status, _, errors = self.waypulse("validate", "back.jsonl")
        self.assertEqual(status, OK, errors)

    def test_keys_are_placed_as_java_does_where_that_is_asked_for(self):
        keys = ["21", "foobar", "a-little-bit-long-string", "a-little-bit-longer-string", "abc"]
        # Of UtilsTest in Kafka.
        hashes = [-973932308, -790332482, -985981536, -1486304829, 479470107]
        lines = [json.dumps({"key": key, "value": {"type": "status", "activityId": key, "timestamp": 1, "status": "on"}}) for key in keys]
        (Path(self.folder.name) / "keys.jsonl").write_text("\n".join(lines))
        status, _, errors = self.waypulse("replay", "keys.jsonl", *self.place("to"), "--speed", "max", "--placement", "murmur2")
        self.assertEqual(status, OK, errors)
        found = {line["key"]: line["partition"] for line in self.recorded(count=5)}
        self.assertEqual(found, {key: (value & 0x7FFFFFFF) % 4 for key, value in zip(keys, hashes)})

    def test_brokers_are_away_in_between_and_nothing_is_missing_or_there_twice(self):
        process = self.begin("replay", "ride.jsonl", *self.place("to"), "--speed", "max", "--rate", "1000/s", "--loop", "200", "--json")
        time.sleep(0.5)
        self.broker("fault", "down", "-1")
        self.line_with(process.stderr, "warning: ")
        self.broker("fault", "up", "-1")
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)
        self.assertIn(b"warning: connected to Kafka again", errors)
        report = json.loads(output)
        self.assertEqual((report["records"], report["repeated"]), (2600, 0))
        stamps = [line["value"]["timestamp"] for line in self.recorded(count=2600)]
        self.assertEqual(stamps, sorted(set(stamps)), "each event once, in its order")

    def test_a_topic_that_is_not_there_is_told_with_what_makes_it(self):
        # The mock makes whatever it is asked about.
        self.broker("fault", "topic-error", "ridse", "3")
        for words in (["replay", "ride.jsonl", *self.place("to", "ridse")], ["record", *self.place("from", "ridse"), "-o", "out.jsonl"]):
            status, output, errors = self.waypulse(*words)
            self.assertEqual((status, output), (UNAVAILABLE, ""))
            self.assertIn(f"there is no topic ridse at {self.servers}", errors)
            self.assertIn(f"try:   kafka-topics.sh --bootstrap-server {self.servers} --create --topic ridse", errors)
        self.assertFalse((Path(self.folder.name) / "out.jsonl").exists())

    def test_a_topic_that_may_not_be_written_is_told_by_77(self):
        self.broker("fault", "topic-error", "rides", "29")
        status, output, errors = self.waypulse("replay", "ride.jsonl", *self.place("to"))
        self.assertEqual((status, output), (77, ""), errors)
        self.assertIn("kafka-acls", errors)

    def test_the_configuration_names_the_topic(self):
        text = KAFKA.replace('"127.0.0.1:1"', ", ".join(f'"{server}"' for server in self.servers.split(",")))
        (Path(self.folder.name) / "mine.yaml").write_text(text)
        status, output, errors = self.waypulse("replay", "ride.jsonl", "--config", "mine.yaml", "--speed", "max", "--json")
        self.assertEqual((status, json.loads(output)["records"]), (OK, 13), errors)
        status, _, errors = self.waypulse(
            "record", "--config", "mine.yaml", "--from-beginning", "--until-idle", "300ms", "-o", "out.jsonl", "--json"
        )
        self.assertEqual((status, json.loads(errors)), (OK, {"records": 13, "withoutBody": 0}))

    def test_a_recording_that_is_stopped_is_whole(self):
        self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")
        process = self.begin("record", *self.place("from"), "--from-beginning", "-o", "whole.jsonl")
        path = Path(self.folder.name) / "whole.jsonl"
        while not path.exists() or path.stat().st_size < 200:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)
        self.assertIn("13 records, none that cannot be used", self.waypulse("validate", "whole.jsonl")[2])


class KafkaDeadLetters(WithKafka, WithRedis, WithSimulator):
    """Of topics: kept beside them, looked at, and published again."""

    ready, log_of, until = Members.ready, Members.log_of, DeadLetters.until

    def dlq(self, command, *words):
        return self.waypulse("dlq", command, *self.place("from"), *words)

    def listed(self, *words):
        status, output, errors = self.dlq("list", "--json", *words)
        self.assertEqual(status, OK, errors)
        return [json.loads(line) for line in output.splitlines()]

    def begin_member(self):
        self.simulator()
        settings = [
            f"source.kafka.bootstrapServers={self.servers}", "source.kafka.topics=rides", f"storage.redis.url={self.url}",
            "source.kafka.sessionTimeout=6s", "source.kafka.properties.fetch.wait.max.ms=10",
        ]  # fmt: skip
        return self.begin_run(*[word for setting in settings for word in ("--set", setting)])

    def test_a_topic_that_is_missing_is_a_fault_until_it_is_there_and_its_letters_wait(self):
        self.broker("fault", "topic-error", "dlq.rides", "3")
        process, operations = self.begin_member()
        says = self.ready(operations, "the topic of dead letters is not there")
        self.assertIn("--create --topic dlq.rides --partitions 4, or set deadLetters.file", says)
        self.write("bad.jsonl", '{"key":"order-1","value":"garbage"}\n')
        status, _, errors = self.waypulse("replay", "bad.jsonl", *self.place("to"), "--speed", "max")
        self.assertEqual(status, OK, errors)
        self.until(lambda: "waypulse_dead_letters_pending 1\n" in self.get(operations + "/metrics")[1], "a letter that waits")
        self.broker("fault", "topic-error", "dlq.rides", "0")
        self.ready(operations, "ready\n")
        self.until(lambda: "waypulse_dead_letters_pending 0\n" in self.get(operations + "/metrics")[1], "no letter that waits")
        text = KAFKA.replace('"127.0.0.1:1"', ", ".join(f'"{server}"' for server in self.servers.split(",")))
        self.write("mine.yaml", text)
        status, output, errors = self.waypulse("dlq", "list", "--config", "mine.yaml")
        self.assertEqual((status, output.count("not_an_object")), (OK, 1), errors)
        self.assertIn("1 dead letter in the topic dlq.rides", errors)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK)

    def test_letters_are_kept_listed_shown_and_published_again(self):
        self.broker("topic", "dlq.rides", "4")
        records = [{"key": f"order-{number}", "value": "garbage"} for number in range(6)]
        records.append({"key": "order-1", "value": {"type": "position", "activityId": "order-1", "timestamp": 1}})
        (Path(self.folder.name) / "bad.jsonl").write_text("\n".join(map(json.dumps, records)))
        status, _, errors = self.waypulse("replay", "bad.jsonl", *self.place("to"), "--speed", "max", "--keep-times")
        self.assertEqual(status, OK, errors)
        process, _ = self.begin_member()
        self.until(lambda: len(self.listed()) == 7, "seven letters")

        letter = next(letter for letter in self.listed("--reason", "missing_field"))
        partition = zlib.crc32(b"order-1") % 4
        self.assertEqual((letter["topic"], letter["partition"]), ("rides", partition))
        self.assertEqual(base64.b64decode(letter["keyBase64"]), b"order-1")
        self.assertEqual(letter["attempts"], 1)
        status, output, _ = self.dlq("show", "--letter", letter["letter"], "--raw")
        self.assertEqual((status, json.loads(output)), (OK, records[-1]["value"]))
        status, output, _ = self.dlq("list", "--activity", "order-1")
        self.assertEqual((status, output.count("\n")), (OK, 2))

        status, output, errors = self.dlq("redrive", "--dry-run")
        self.assertEqual(status, OK, errors)
        self.assertIn("7 records would be published again, nothing was done", output)
        # The records fail again, and their letters say so. What the filter leaves holds the place in its partition.
        status, output, errors = self.dlq("redrive", "--reason", "missing_field", "--json")
        self.assertEqual((status, json.loads(output)["published"]), (OK, 1), errors)
        self.until(lambda: len(self.listed()) == 8, "an eighth letter")
        self.assertEqual(sorted(letter["attempts"] for letter in self.listed("--reason", "missing_field")), [1, 2])
        status, output, errors = self.dlq("redrive", "--rate", "100/s", "--json")
        self.assertEqual((status, json.loads(output)["published"]), (OK, 8), errors)
        self.until(lambda: len(self.listed()) == 16, "eight letters more")
        # Up to there all was published again.
        status, output, errors = self.dlq("redrive", "--json")
        self.assertEqual((status, json.loads(output)["published"]), (OK, 8), errors)
        self.until(lambda: len(self.listed()) == 24, "eight letters more")
        self.log_of(process)
        status, output, errors = self.dlq("redrive", "--again", "--dry-run", "--json")
        self.assertEqual((status, json.loads(output)["published"]), (OK, 24), errors)
        self.assertEqual(max(letter["attempts"] for letter in self.listed()), 4)

    def test_what_does_not_go_with_topics_is_refused(self):
        for words, says in (
            (["redrive", "-o", "out.jsonl"], "-o is for files; records of topics go back to their topics"),
            (["list", "--updates"], "--updates is for Redis"),
        ):
            status, _, errors = self.dlq(*words)
            self.assertEqual(status, USAGE)
            self.assertIn(says, errors)
        self.broker("fault", "topic-error", "dlq.rides", "3")
        status, _, errors = self.dlq("list")
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("there is no topic dlq.rides", errors)


API_KEY = "of-the-test-" + "0" * 32


class WithApi(WithRedis, WithSimulator):
    """Members that take registrations, each on a port of its own, and a simulator behind them."""

    def begin_members(self, *words, names=("first", "second")):
        """Name → (process, port of the API); the address of the simulator's control port is in `control`."""
        _, self.control = self.simulator()
        self.write("api.keys", f"test tokens:write,state:read,explain:read {API_KEY}\n")
        members = {}
        for name in names:
            process, operations = self.begin_run(
                "--set", f"source.member={name}", "--set", "api.listen=127.0.0.1:0", "--set", "api.keysFile=api.keys", *words
            )
            port = json.loads(self.line_with(process.stderr, '"message":"the API answers"'))["port"]
            members[name] = (process, port, operations)
        return members

    def api(self, member, method, path, body=None):
        """Status, and the answer as JSON."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{member[1]}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def until(self, holds, what):
        begun = time.monotonic()
        while not (found := holds()):
            self.assertLess(time.monotonic() - begun, PATIENCE_SECONDS, what)
            time.sleep(0.02)
        return found

    def started(self):
        return json.dumps(
            {"type": "activity.started", "activityId": "ride", "timestamp": round(time.time(), 3), "attributesType": "Ride",
             "contentState": {"status": "on the way"}}
        )  # fmt: skip

    def expect_told(self, members):
        """A token that another member than the owner was told reaches the phone, and each member knows how the activity stands."""
        path = "/v1/live-activities/ride"
        self.until(lambda: all(self.api(one, "GET", path + "/state")[0] == 200 for one in members.values()), "the activity in both")
        owner = self.ask("get", f"waypulse:{{{zlib.crc32(b'ride') % 4}}}:lease").partition("-")[0]
        other = next(member for name, member in members.items() if name != owner)
        self.assertEqual(self.api(other, "GET", path + "/state")[1]["stage"], "waitingForToken")
        self.assertEqual(self.api(other, "GET", path + "/explain")[0], 421)
        token = "ab" * 32
        status, answer = self.api(other, "PUT", path + "/token", {"token": token, "timestamp": round(time.time(), 3)})
        self.assertEqual((status, answer["status"]), (202, "appended"))
        entry = self.until(lambda: self.get(self.control + "/journal")[1], "a push")
        self.assertEqual(json.loads(entry.splitlines()[0])["contentState"]["status"], "on the way")
        for member in members.values():
            self.until(lambda member=member: self.api(member, "GET", path + "/state")[1]["stage"] == "active", "the token in both")
        status, answer = self.api(members[owner], "GET", path + "/explain")
        self.assertEqual((status, answer["activityId"]), (200, "ride"))
        sent = [one["sequence"] for one in answer["decisions"] if one["kind"] == "sent"]
        self.assertEqual(sent, [1], answer)
        self.assertNotIn(token, json.dumps(answer))

    def expect_good_ends(self, members):
        for process, *_ in members.values():
            process.send_signal(signal.SIGTERM)
        for process, *_ in members.values():
            log = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
            self.assertEqual(process.returncode, OK, log)
            self.assertNotIn("ab" * 32, log)


class Registrations(WithApi):
    STREAMS = ["--set", "source.redis.topics=rides", "--set", "source.redis.partitions=4"]

    def test_a_token_that_any_member_is_told_reaches_the_phone(self):
        members = self.begin_members("--set", f"source.redis.url={self.url}", *self.STREAMS)
        self.ask("xadd", f"rides:{{{zlib.crc32(b'ride') % 4}}}", "*", "key", "ride", "event", self.started())
        self.expect_told(members)
        self.assertEqual(self.api(members["first"], "GET", "/v1/live-activities/nobody/state")[0], 404)
        status, answer = self.api(
            members["first"], "PUT", "/v1/users/ann/push-to-start-tokens/Ride", {"token": "cd" * 32, "timestamp": round(time.time(), 3)}
        )
        self.assertEqual((status, answer["status"]), (200, "stored"))
        self.assertEqual(self.ask("hget", "waypulse:user:courier:ann", "type"), "Ride")
        self.expect_metrics(members["first"][2], "redis")
        self.expect_good_ends(members)

    def test_without_redis_nothing_is_promised_and_then_again(self):
        [member] = self.begin_members("--set", f"source.redis.url={self.url}", *self.STREAMS, names=["first"]).values()
        path, body = "/v1/live-activities/ride/token", {"token": "ab" * 32, "timestamp": 1}
        self.assertEqual(self.api(member, "PUT", path, body)[0], 202)
        self.redis.kill()
        self.redis.wait()
        status, answer = self.api(member, "PUT", path, body)
        self.assertEqual(status, 503)
        self.assertIn(f"127.0.0.1:{self.port}", answer["detail"])
        self.start_redis()
        self.until(lambda: self.api(member, "PUT", path, body)[0] == 202, "a Redis that is back")

    def test_a_recording_takes_them_as_well(self):
        _, self.control = self.simulator()
        self.write("api.keys", f"test tokens:write,state:read {API_KEY}\n")
        source, feed = os.pipe()
        process = subprocess.Popen(
            [PROGRAM, "run", "--config", "apns.yaml", "--set", "metrics.listen=off", "--set", "api.listen=127.0.0.1:0",
             "--set", "api.keysFile=api.keys", "-"],
            cwd=self.folder.name, env=environment(), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        os.close(source)
        member = (process, json.loads(self.line_with(process.stderr, '"message":"the API answers"'))["port"])
        with os.fdopen(feed, "wb") as feed:
            feed.write(self.started().encode() + b"\n")
            feed.flush()
            self.until(lambda: self.api(member, "GET", "/v1/live-activities/ride/state")[0] == 200, "the activity")
            answer = self.api(member, "PUT", "/v1/live-activities/ride/token", {"token": "ab" * 32})
            self.assertEqual(answer[0], 202, answer)
            self.until(lambda: self.get(self.control + "/journal")[1], "a push")
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK)

    def test_a_file_of_keys_that_cannot_be_used_is_a_fault_of_the_configuration(self):
        self.simulator()
        self.write("api.keys", "test tokens:write short\n")
        status, _, errors = self.run_with("--set", "api.listen=127.0.0.1:0", "--set", "api.keysFile=api.keys", "ride.jsonl")
        self.assertEqual(status, CONFIGURATION)
        self.assertIn("api.keysFile: api.keys cannot be used: line 1: the key has 5 characters", errors)
        status, _, errors = self.waypulse(
            "run", "--config", "apns.yaml", "--set", "metrics.listen=off", "--set", "api.listen=127.0.0.1:0", "--set", "api.keysFile=credential:api.keys",
            "ride.jsonl", CREDENTIALS_DIRECTORY=self.folder.name,
        )  # fmt: skip
        self.assertEqual(status, CONFIGURATION)
        self.assertIn(f"api.keysFile: {self.folder.name}/api.keys cannot be used: line 1", errors)
        status, _, errors = self.run_with("--set", "api.listen=0.0.0.0:0", "--set", "api.keysFile=api.keys", "ride.jsonl")
        self.assertIn("put an ingress or mesh that speaks TLS before it", errors)


class KafkaRegistrations(WithKafka, WithApi):
    def test_a_token_that_any_member_is_told_reaches_the_phone(self):
        members = self.begin_members(
            "--set", f"source.kafka.bootstrapServers={self.servers}", "--set", "source.kafka.topics=rides",
            "--set", "source.kafka.sessionTimeout=4s", "--set", f"storage.redis.url={self.url}",
        )  # fmt: skip
        line = json.dumps({"key": "ride", "value": json.loads(self.started())})
        self.write("started.jsonl", line + "\n")
        status, _, errors = self.waypulse("replay", "started.jsonl", *self.place("to"), "--speed", "max", "--keep-times")
        self.assertEqual(status, OK, errors)
        self.expect_told(members)
        self.expect_metrics(members["first"][2], "kafka")
        self.expect_good_ends(members)


class Lag(WithKafka, WithRedis, WithSimulator):
    """How a group stands, with an owner and without one."""

    begin_member = KafkaDeadLetters.begin_member
    ready = Members.ready

    def rows(self, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        status, output, errors = self.waypulse("lag", *words, "--json")
        self.assertEqual(status, OK, errors)
        return [json.loads(line) for line in output.splitlines()]

    def until_row(self, settings, holds):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (holds(row := self.rows(*settings)[3])):
            self.assertLess(time.monotonic(), deadline, row)
            time.sleep(0.2)
        return row

    def test_partitions_of_kafka_with_an_owner_and_without(self):
        settings = [
            f"source.kafka.bootstrapServers={self.servers}", "source.kafka.topics=rides", f"storage.redis.url={self.url}"
        ]  # fmt: skip
        self.assertEqual(self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")[0], OK)
        # Nobody has read it: all of it lies there, since about now.
        row = self.rows(*settings)[3]
        self.assertEqual((row["owner"], row["read"], row["settled"], row["committed"]), (None, None, None, None))
        self.assertEqual((row["end"], row["lagRecords"]), (13, 13))
        self.assertGreaterEqual(row["lagSeconds"], 0)

        member, operations = self.begin_member()
        row = self.until_row(settings, lambda row: row["committed"] == 13 and row["read"] == 13)
        self.assertTrue(row["owner"])
        self.assertEqual((row["settled"], row["end"], row["lagRecords"], row["unsettledRecords"]), (13, 13, 0, 0))
        self.assertEqual((row["lagSeconds"], row["oldestUnsettledSeconds"]), (0, 0))
        self.expect_metrics(operations, "kafka", has_api=False)

        member.terminate()
        member.wait(timeout=PATIENCE_SECONDS)
        self.assertEqual(self.waypulse("replay", "ride.jsonl", *self.place("to"), "--speed", "max")[0], OK)
        row = self.rows(*settings)[3]
        self.assertEqual((row["owner"], row["settled"], row["committed"], row["end"], row["lagRecords"]), (None, 13, 13, 26, 13))

    def test_streams_of_redis_without_an_owner(self):
        settings = [f"source.redis.url={self.url}", "source.redis.topics=rides", "source.redis.partitions=4"]
        place = ["--to", self.url, "--topic", "rides", "--partitions", "4"]
        self.assertEqual(self.waypulse("replay", "ride.jsonl", *place, "--speed", "max")[0], OK)
        row = self.rows(*settings)[3]
        self.assertEqual((row["owner"], row["lagRecords"], row["end"]), (None, 13, None))
        self.assertGreaterEqual(row["lagSeconds"], 0)

    def test_what_is_missing_is_named(self):
        status, _, errors = self.waypulse("lag")
        self.assertEqual(status, USAGE)
        self.assertIn("waypulse lag --config waypulse.yaml", errors)


class Guarantees(WithSimulator):
    """The rows of the README's table that take a whole process to see."""

    def journal(self, control):
        return [json.loads(line) for line in self.get(control + "/journal")[1].splitlines()]

    def change(self, control, **faults):
        with urllib.request.urlopen(control + "/faults", json.dumps(faults).encode(), timeout=PATIENCE_SECONDS) as answer:
            answer.read()

    def wait_for(self, control, holds):
        """Asks the simulator until its journal is as wanted."""
        journal = self.journal(control)
        while not holds(journal):
            journal = self.journal(control)
        return journal

    def finish(self, process):
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)

    def expect_told(self, journal):
        """The phone's newest truth in the end, in rising order, each content-state under its own number."""
        accepted = [entry for entry in journal if entry["status"] == 200 and entry.get("fate") != "unprocessed"]
        self.assertEqual(accepted[-1]["event"], "end")
        self.assertEqual(accepted[-1]["contentState"]["status"], "delivered")
        self.assertEqual([entry["sequence"] for entry in accepted], sorted(entry["sequence"] for entry in accepted))
        self.assertEqual(len({entry["sequence"] for entry in journal}), len({json.dumps(e["contentState"]) for e in journal}))
        self.assertNotIn("dropped", {str(entry.get("verdict"))[:7] for entry in accepted if entry.get("fate") is None})

    def test_a_run_that_was_killed_begins_its_recording_anew_with_the_same_numbers(self):
        _, control = self.simulator()
        process, _ = self.begin_run("--speed", "20x", "ride.jsonl")
        self.wait_for(control, lambda journal: len(journal) >= 2)
        process.kill()
        process.communicate()
        told = len(self.journal(control))
        process, _ = self.begin_run("--speed", "max", "ride.jsonl")
        self.finish(process)
        journal = self.journal(control)
        self.assertEqual([entry["verdict"] for entry in journal if entry["verdict"].startswith("dropped")], ["dropped:outdated"] * told)
        again = journal[told:]
        self.assertEqual([entry["sequence"] for entry in again], [1, 2, 3, 4, 5, 6])
        for first, second in zip(journal[:told], again):
            self.assertEqual(first["apnsId"], second["apnsId"])
            self.assertEqual(first["contentState"], second["contentState"])

    def test_a_run_that_is_stopped_waits_for_its_answers(self):
        _, control = self.simulator("--latency", "300")
        process, _ = self.begin_run("--speed", "20x", "ride.jsonl")
        self.wait_for(control, lambda journal: len(journal) >= 1)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertEqual({entry.get("fate") for entry in self.journal(control)}, {None})

    def test_an_outage_delays_and_the_final_state_is_told(self):
        _, control = self.simulator()
        self.change(control, errors=[{"status": 503, "reason": "ServiceUnavailable", "share": 1}])
        process, _ = self.begin_run(
            "--set", "delivery.serverErrorHold=1s", "--set", "delivery.probeDelay=1s", "--speed", "100x", "ride.jsonl"
        )
        self.wait_for(control, lambda journal: any(entry["status"] == 503 for entry in journal))
        self.change(control, errors=[])
        self.finish(process)
        self.expect_told(self.journal(control))

    def test_a_lost_answer_repeats_the_same_push(self):
        _, control = self.simulator()
        self.change(control, resetBeforeShare=1)
        process, _ = self.begin_run("--speed", "20x", "ride.jsonl")
        self.wait_for(control, lambda journal: len(journal) >= 2)
        self.change(control, resetBeforeShare=0)
        self.finish(process)
        journal = self.journal(control)
        self.expect_told(journal)
        lost = [entry for entry in journal if entry.get("fate") == "lost"]
        for entry in lost:
            same = [other for other in journal if other["apnsId"] == entry["apnsId"]]
            self.assertEqual({json.dumps(other["contentState"]) for other in same}, {json.dumps(entry["contentState"])})
        self.assertGreaterEqual(len(lost), 2)

    def test_a_connection_that_goes_away_loses_nothing(self):
        _, control = self.simulator()
        process, _ = self.begin_run("--speed", "20x", "ride.jsonl")
        self.wait_for(control, lambda journal: len(journal) >= 1)
        self.change(control, drain=True)
        self.finish(process)
        self.expect_told(self.journal(control))

    def test_poison_goes_to_the_dead_letters_and_disturbs_nothing(self):
        _, control = self.simulator()
        ride = RIDE.read_bytes().splitlines(keepends=True)
        examples = sorted((ROOT / "schemas/examples/invalid").glob("not_json.*"))
        poison = [path.read_bytes().replace(b"\n", b" ") + b"\n" for path in examples]
        poisoned = b"".join(ride[:5]) + b"".join(poison) + b"".join(ride[5:])
        (Path(self.folder.name) / "poisoned.jsonl").write_bytes(poisoned)
        status, _, errors = self.run_with("--speed", "max", "--set", "deadLetters.file=dead.jsonl", "poisoned.jsonl")
        self.assertEqual(status, OK, errors)
        self.assertEqual([entry["sequence"] for entry in self.journal(control)], [1, 2, 3, 4, 5, 6])
        dead = (Path(self.folder.name) / "dead.jsonl").read_bytes().splitlines()
        self.assertGreater(len(dead), 50)
        self.assertEqual({json.loads(line)["reason"] for line in dead}, {"not_json"})
        status, output, errors = self.waypulse("dlq", "redrive", "dead.jsonl", "-o", "again.jsonl")
        self.assertEqual(status, OK, errors)
        self.assertIn(f"{len(dead)} records published again, from dead.jsonl", output)
        again = (Path(self.folder.name) / "again.jsonl").read_bytes().removesuffix(b"\n").split(b"\n")
        self.assertEqual(again, [base64.b64decode(json.loads(line)["valueBase64"]) for line in dead])

    def test_a_recording_that_is_garbage_is_not_read_to_its_end(self):
        self.simulator()
        (Path(self.folder.name) / "garbage.jsonl").write_text("garbage\n" * 5_000)
        status, _, errors = self.run_with("--speed", "max", "--set", "deadLetters.file=dead.jsonl", "garbage.jsonl")
        self.assertEqual(status, NO, errors)
        self.assertIn("the rest of the recording was not read", errors)
        kept = (Path(self.folder.name) / "dead.jsonl").read_text().count("\n")
        self.assertTrue(1_000 <= kept < 1_100, kept)


class Simulator(WithSimulator):
    """`simulate apns` as a product: ordered about while it runs, by command and over HTTP."""

    def ask(self, *words):
        return self.waypulse("simulate", *words, "--control", self.control.removeprefix("http://"))

    def post(self, path, body):
        request = urllib.request.Request(self.control + path, data=body, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def begin_simulator(self, *words):
        process, self.control = self.simulator(*words)
        return process

    def test_faults_are_set_shown_and_cleared(self):
        self.begin_simulator("--fault", "streamLimit=50", "--error", "500:InternalServerError:0.5")
        self.assertEqual(json.loads(self.ask("fault", "show")[1])["streamLimit"], 50)
        status, output, errors = self.ask("fault", "set", "blackHole=true", "error=429:TooManyRequests:1:activityId=a:apnsId=false", "--for", "1ms")
        self.assertEqual((status, errors), (OK, ""))
        self.assertEqual(json.loads(output)["errors"][0]["activityId"], "a")
        while "blackHole" in (shown := json.loads(self.ask("fault", "show")[1])):
            pass
        self.assertEqual(shown["errors"][0]["reason"], "InternalServerError")
        for words in (["drain", "--unprocessed", "3", "--twice"], ["reset-connections"], ["expire-provider-tokens"]):
            self.assertEqual(self.ask("fault", *words)[0], OK)
        self.assertEqual(self.ask("fault", "clear")[:2], (OK, "{}\n"))
        status, _, errors = self.ask("fault", "set", "streamLimits=5")
        self.assertEqual(status, USAGE)
        self.assertIn("streamLimits: unknown; there are ", errors)

    def test_phones_come_go_and_tell_their_tokens(self):
        self.begin_simulator("--fault", "updateTokenDelayMilliseconds=0")
        phone = json.loads(self.ask("phone", "add", "anna b")[1])
        order = json.loads(self.ask("phone", "begin", "order 1", "--on", "anna b")[1])
        self.assertEqual(order["phone"], "anna b")
        self.assertEqual(self.ask("phone", "offline", phone["startToken"])[1], '{"phone":"anna b","is":"offline"}\n')
        self.assertEqual(self.ask("phone", "online", "anna b")[0], OK)
        status, _, errors = self.ask("phone", "dismiss", "order-2")
        self.assertEqual(status, NO)
        self.assertIn('there is no activity with the id or token "order-2"', errors)
        rotated = json.loads(self.ask("phone", "rotate", order["token"])[1])
        told = []
        while len(told) < 3:
            told = [json.loads(line) for line in self.ask("phone", "tokens")[1].splitlines()]
        self.assertEqual([line["token"] for line in told], [phone["startToken"], order["token"], rotated["token"]])
        self.assertEqual(told[2]["replaces"], order["token"])

    def test_tokens_are_followed_as_they_come(self):
        self.begin_simulator("--fault", "updateTokenDelayMilliseconds=0")
        self.ask("phone", "add", "anna")
        for last, expected in (None, [0, 1]), ("0", [1, 2]):
            request = urllib.request.Request(self.control + "/tokens", headers={"accept": "text/event-stream", **({"last-event-id": last} if last else {})})
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as events:
                self.assertEqual(events.headers["content-type"], "text/event-stream")
                self.ask("phone", "begin", "order")
                numbers = []
                while len(numbers) < 2:
                    line = events.readline().decode()
                    if line.startswith("id: "):
                        numbers.append(int(line[4:]))
                self.assertEqual(numbers, expected)

    def test_bad_control_requests_get_clear_errors_and_change_nothing(self):
        process = self.begin_simulator()
        for path, body, expected in [
            ("/faults", b"", 400), ("/faults", b"\xff\xfe", 400), ("/faults", b"[" * 60_000, 400), ("/faults", b'{"drain":"yes"}', 400),
            ("/faults", b'{"a":1}' * 3, 400), ("/faults", b" " * (2 << 20), 413), ("/phones", b'{"phone":""}', 400),
            ("/phones", b'{"phone":"' + b"x" * 300 + b'"}', 400), ("/activities/../rotate", b"", 404),
            ("/state", b"", 405), ("/", b"", 404), ("/phones/a/b/c", b"", 405),
        ]:  # fmt: skip
            status, text = self.post(path, body)
            self.assertEqual(status, expected, (path, body[:20], text))
            self.assertTrue(text)
        self.assertEqual(self.ask("fault", "show")[1], "{}\n")
        self.assertIsNone(process.poll())

    def test_noise_on_the_provider_port_hurts_nobody(self):
        process = self.begin_simulator()
        port = int(re.search(r"port: (\d+)", (Path(self.folder.name) / "apns.yaml").read_text())[1])
        for noise in (b"", b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", os.urandom(4_096), b"\x16\x03\x01\xff\xff" + b"\x00" * 70_000):
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection, contextlib.suppress(OSError):
                    connection.sendall(noise)
        context = ssl.create_default_context(cafile=str(Path(self.folder.name) / "apns/ca.pem"))
        context.set_alpn_protocols(["h2"])
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        frame = lambda kind, flags, stream, body=b"": len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body
        settings = frame(4, 0, 0)
        for hostile in (
            b"nonsense", preface + os.urandom(500), preface + settings + frame(0, 1, 1, b"x"), preface + settings + frame(1, 5, 2, b"\x82"),
            preface + settings + frame(6, 0, 0, b"12345678") * 3_000, preface + settings + frame(9, 0, 1, b"x" * 100) * 50,
            preface + settings + b"".join(frame(1, 5, stream, b"\x83\x86\x84") + frame(3, 0, stream, b"\0\0\0\x08") for stream in range(1, 4_001, 2)),
            preface + settings + frame(4, 0, 0, b"\x00\x04\xff\xff\xff\xff"), preface + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
        ):  # fmt: skip
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as connection:
                    connection.sendall(hostile)
                    # What is no offence leaves the connection open: then this ends it.
                    connection.settimeout(1)
                    while connection.recv(65_536):
                        pass
        self.assertIsNone(process.poll())
        token = self.waypulse("simulate", "token", "--directory", "apns")[1].strip()
        self.assertEqual(len(token.split(".")), 3)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, OK, errors)

    def test_two_of_them_side_by_side_and_a_control_port_that_is_taken(self):
        self.begin_simulator()
        control = self.control.rpartition(":")[2]
        status, _, errors = self.waypulse("simulate", "apns", "--directory", "second", "--control", control)
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn(f"cannot listen on 127.0.0.1:{control}: Address already in use", errors)
        other = self.begin("simulate", "apns", "--directory", "third", "--control", "0")
        second = re.search(r"http://[\d.:]+", self.line_with(other.stderr, "Control: "))[0]
        tokens = [json.loads(self.waypulse("simulate", "phone", "add", "anna", "--control", address)[1])["startToken"] for address in (self.control, second)]
        self.assertNotEqual(*tokens)

    def test_the_apps_back_end_gets_tokens_with_its_key(self):
        got = []

        class App(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                got.append((self.path, self.headers["authorization"], body["token"]))
                self.send_response(202 if len(got) > 1 else 503)
                self.end_headers()

            def log_message(self, *_):
                pass

        app = http.server.ThreadingHTTPServer(("127.0.0.1", 0), App)
        self.addCleanup(app.server_close)
        thread = threading.Thread(target=app.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(app.shutdown)
        (Path(self.folder.name) / "app.key").write_text("# of the app\napp tokens:write secret-1\n")
        process, self.control = self.simulator("--app-backend", f"http://localhost:{app.server_port}", "--app-key-file", "app.key", "--fault", "updateTokenDelayMilliseconds=0")
        order = json.loads(self.ask("phone", "begin", "order 1")[1])
        told = self.line_with(process.stderr, "takes tokens")
        self.assertIn("the app's back end", told)
        self.assertEqual(got, [("/v1/live-activities/order%201/token", "Bearer secret-1", order["token"])] * 2)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = Path(sys.argv.pop(1)).resolve()
    unittest.main()
