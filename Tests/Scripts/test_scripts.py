"""Shows that the checks of this folder fail where they should."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.dont_write_bytecode = True


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(FOLDER / name))
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


imports, readme, deploy, defects, schemas = map(
    script, ("check_imports", "check_readme", "check_deploy", "demo_fails_with_defects", "check_schemas.py")
)

embed = script("embed_openapi")
sys.path.append(str(FOLDER))
floods = script("test_api_floods.py")

MODULES = {"CMath": [], "Telemetry": ["CMath"], "Configuration": [], "Pacing": ["Telemetry"], "Delivery": ["Pacing"]}


class Imports(unittest.TestCase):
    def problems(self, module, text):
        return imports.check_source(module, "File.swift", text, MODULES)

    def test_a_declared_import_passes(self):
        self.assertEqual(self.problems("Pacing", "import Telemetry\n"), [])
        self.assertEqual(self.problems("Telemetry", "private import CMath\nimport struct Swift.Int\n"), [])

    def test_an_import_that_is_not_declared_is_named_with_its_line(self):
        self.assertEqual(
            self.problems("Pacing", "import Telemetry\n\n@testable import Delivery\n"),
            ["File.swift:3: Pacing imports Delivery, but does not declare it in Package.swift"],
        )

    def test_a_pure_module_has_no_foundation_no_c_library_and_no_clock(self):
        for text in ("import Foundation", "import Glibc", "public import func Glibc.usleep", "@preconcurrency import Dispatch"):
            self.assertEqual(len(self.problems("Pacing", text)), 1, text)
        for text in ("let now = ContinuousClock.now", "Task { }", "Task.detached { }", "Int.random(in: 0..<3)", "x.shuffled()"):
            self.assertEqual(len(self.problems("Pacing", text)), 1, text)

    def test_seeded_chance_is_no_chance(self):
        self.assertEqual(self.problems("Pacing", "Int.random(in: 0..<3, using: &generator)"), [])

    def test_foundation_is_for_configuration_and_the_command_line(self):
        self.assertEqual(self.problems("Configuration", "import Foundation"), [])
        self.assertEqual(len(self.problems("Delivery", "import Foundation")), 1)

    def test_comments_and_strings_import_nothing(self):
        text = '// import Foundation\n/* import\nimport Glibc */\nlet text = """\nimport Foundation\n"""\nlet t = "Task { }"\n'
        self.assertEqual(self.problems("Pacing", text), [])

    def test_declarations_point_down_only(self):
        self.assertEqual(imports.check_order(MODULES), [])
        self.assertEqual(len(imports.check_order({"Telemetry": ["Pacing"], "Pacing": []})), 1)
        self.assertEqual(len(imports.check_order({"COpenSSL": [], "Pacing": ["COpenSSL"]})), 1)


class Readme(unittest.TestCase):
    def check(self, text, fresh_machine=False):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "README.md"
            path.write_text(text, "utf-8")
            return readme.check(path, fresh_machine)

    def test_numbers_and_spaces_are_compared_loosely(self):
        ran, _, problems = self.check("```console\n$ echo 'sent  17 of 1,204 in 3.5 s'\nsent 2 of 99 in 12 s\n```\n")
        self.assertEqual((ran, problems), (1, []))

    def test_numbers_count_where_the_mark_says_so(self):
        block = "<!-- check: exactly -->\n```console\n$ echo 'sent  17 of 1,204'\nsent {} of 1,204\n```\n"
        self.assertEqual(self.check(block.format(17)), (1, 0, []))
        self.assertEqual(len(self.check(block.format(18))[2]), 1)

    def test_another_word_is_a_problem(self):
        self.assertEqual(len(self.check("```console\n$ echo 'sent 17'\nlost 17\n```\n")[2]), 1)

    def test_a_line_too_many_and_one_too_few_are_problems(self):
        self.assertEqual(len(self.check("```console\n$ echo a\na\nb\n```\n")[2]), 1)
        self.assertEqual(len(self.check("```console\n$ printf 'a\\nb\\n'\na\n```\n")[2]), 1)

    def test_an_ellipsis_stands_for_any_lines_and_any_text(self):
        self.assertEqual(self.check("```console\n$ seq 30; echo end of it\n1\n…\n30\nend … it\n```\n")[2], [])
        self.assertEqual(len(self.check("```console\n$ seq 3\n…\nx\n```\n")[2]), 1)

    def test_a_command_may_go_on_and_fail_where_the_text_shows_it(self):
        self.assertEqual(self.check("```console\n$ echo one \\\n    two\none two\n```\n")[2], [])
        self.assertEqual(self.check("```console\n$ exit 78\n$ echo $?\n78\n```\n")[2], [])
        self.assertEqual(len(self.check("```console\n$ exit 78\n```\n")[2]), 1)

    def test_scripts_run_and_other_blocks_do_not(self):
        self.assertEqual(self.check("```sh\ntrue\n```\n```json\n{}\n```\n")[0], 1)
        self.assertEqual(len(self.check("```sh\nfalse\n```\n")[2]), 1)

    def test_marks(self):
        fresh = "<!-- check: fresh machine -->\n```sh\nfalse\n```\n"
        self.assertEqual(self.check(fresh), (0, 1, []))
        self.assertEqual(len(self.check(fresh, fresh_machine=True)[2]), 1)
        self.assertEqual(self.check("<!-- check: not run, because it needs a phone -->\n```sh\nfalse\n```\n"), (0, 1, []))
        self.assertEqual(len(self.check("<!-- check: later -->\n```sh\ntrue\n```\n")[2]), 1)

    def test_blocks_that_share_a_shell_share_what_they_set_and_start(self):
        mark = "<!-- check: in one shell -->\n"
        first = mark + "```sh\nplace=here\nsleep 600 & sleeper=$!\n```\n"
        ran, _, problems = self.check(first + mark + "```console\n$ kill -0 $sleeper && echo $place\nhere\n```\n")
        self.assertEqual((ran, problems), (2, []))
        ran, _, problems = self.check(first + "```console\n$ echo [$place]\n[]\n```\n")
        self.assertEqual((ran, problems), (2, []))

    def test_a_command_that_fails_or_ends_the_shared_shell_is_told(self):
        mark = "<!-- check: in one shell -->\n"
        block = mark + "```console\n$ {}\n$ echo on\non\n```\n"
        self.assertEqual(len(self.check(block.format("false"))[2]), 1)
        self.assertEqual(len(self.check(block.format("exit 3") + block.format("true"))[2]), 2)

    def test_a_redis_takes_the_place_of_the_port_that_a_block_names(self):
        block = "<!-- check: in one shell, with a Redis at 6379, ports 9464 9465 -->\n```console\n$ {}\n{}\n```\n"
        self.assertEqual(self.check(block.format("redis-cli -p 6379 ping", "PONG"))[2], [])
        ports = self.check(block.format("test 9464 != 9465 && test 9464 != $((9460 + 4)) && echo two", "two"))
        self.assertEqual(ports[2], [])


class KafkaBroker(unittest.TestCase):
    """With the mock, which needs nothing but what the build does."""

    def broker(self, folder, *words):
        command = [str(FOLDER / "kafka_broker"), *words, "--data-dir", f"{folder}/data"]
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout.strip(), done.stderr

    def test_a_broker_on_free_ports_is_started_asked_and_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            code, addresses, errors = self.broker(folder, "start", "--engine", "mock", "--port", "0")
            try:
                self.assertEqual(code, 0, errors)
                self.assertEqual(len(addresses.split(",")), 3)
                self.assertEqual(self.broker(folder, "address")[:2], (0, addresses))
                self.assertEqual(self.broker(folder, "topic", "rides", "4")[:2], (0, ""))
                code, _, errors = self.broker(folder, "topic", "rides", "4")
                self.assertEqual(code, 1)
                self.assertIn('topic "rides" not created', errors)
                self.assertEqual(self.broker(folder, "fault", "down", "1")[:2], (0, "ok"))
                self.assertEqual(self.broker(folder, "fault", "nonsense")[0], 1)
            finally:
                self.assertEqual(self.broker(folder, "stop")[0], 0)
            self.assertEqual(self.broker(folder, "address")[0], 1)

    def test_what_it_does_not_know_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.broker(folder, "begin")[0], 64)
            code, _, errors = self.broker(folder, "start", "--engine", "kafka")
            self.assertEqual(code, 1)
            self.assertIn("tansu, noida or mock", errors)
            self.assertIn("no broker was started", self.broker(folder, "topic", "rides", "4")[2])


DOCKERFILE = """ARG BASE=debian:12
FROM ${BASE} AS build
COPY Sources Sources
RUN apt-get update && apt-get install --yes g++
FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/bin/waypulse"]
"""


class Deploy(unittest.TestCase):
    def problems(self, old="", new=""):
        return deploy.check_dockerfile(DOCKERFILE.replace(old, new) if old else DOCKERFILE, {"Sources"}.__contains__, {"g++"}.__contains__)

    def test_the_dockerfile_names_what_exists(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(len(self.problems("COPY Sources", "COPY Source")), 1)
        self.assertEqual(len(self.problems("g++", "g+")), 1)

    def test_the_dockerfile_names_no_registry_and_a_tag(self):
        self.assertEqual(len(self.problems("debian:12", "registry.example/debian:12")), 1)
        self.assertEqual(len(self.problems("debian:12", "debian")), 1)

    def test_the_container_runs_as_no_root_and_gets_signals(self):
        self.assertEqual(len(self.problems("USER 65532:65532\n", "")), 1)
        self.assertEqual(len(self.problems('["/usr/bin/waypulse"]', "/usr/bin/waypulse")), 1)

    def test_the_ignore_file_decides_by_its_last_match(self):
        patterns = ["*", "!Sources", "Sources/Old"]
        self.assertEqual([deploy.ignored(path, patterns) for path in ("Tests", "Sources/A", "Sources/Old")], [True, False, True])

    def test_the_unit_agrees_with_the_configuration(self):
        unit = (FOLDER.parents[1] / "deploy/systemd/waypulse.service").read_text("utf-8")
        configuration = (FOLDER.parents[1] / "deploy/waypulse.yaml").read_text("utf-8")
        self.assertEqual(deploy.check_unit(unit, configuration), [])
        for old, new in (
            ("TimeoutStopSec=30s", "TimeoutStopSec=14s"),
            ("TimeoutStartSec=infinity", "TimeoutStartSec=90s"),
            ("Type=notify", "Type=simple"),
            ("waypulse validate --config /etc", "waypulse validate --config /opt"),
            ("%d/apns-key.p8", "%d/key.p8"),
            ("APPS_COURIER", "APPS_RIDER"),
            ("NoNewPrivileges=yes", "NoNewPrivileges=no"),
        ):
            self.assertIn(old, unit)
            self.assertEqual(len(deploy.check_unit(unit.replace(old, new), configuration)), 1, old)

    def test_the_manifest_agrees_with_itself(self):
        manifest = (FOLDER.parents[1] / "deploy/kubernetes/waypulse.yaml").read_text("utf-8")
        self.assertEqual(deploy.check_manifest(manifest), [])
        for old, new in (
            ("replicas: 2", "replicas: 1"),
            ("terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 10"),
            ("listen: 0.0.0.0:9464", "listen: 127.0.0.1:9464"),
            ("containerPort: 9464", "containerPort: 9465"),
            ("path: /readyz", "path: /healthz"),
            ("keyFile: /run/secrets/waypulse", "keyFile: /etc/keys"),
            ("mountPath: /etc/waypulse", "mountPath: /etc/way"),
            ("fieldPath: metadata.name", "fieldPath: spec.nodeName"),
            ("topologyKey: kubernetes.io/hostname", "topologyKey: region"),
            ("kind: PodDisruptionBudget", "kind: Pod"),
            ("containerPort: 8080", "containerPort: 8081"),
            ("value: $(POD_IP):8080", "value: $(POD_IP):8443"),
            ("value: $(POD_IP):8080", "value: 127.0.0.1:8080"),
            ("fieldPath: status.podIP", "fieldPath: status.hostIP"),
            ("keysFile: /run/secrets/waypulse/api-keys", "keysFile: /etc/api-keys"),
            ("drop: [ALL]", "drop: []"),
            ("          resources:", "          lifecycle: {preStop: {exec: {command: [sleep, '5']}}}\n          resources:"),
        ):
            self.assertIn(old, manifest)
            self.assertTrue(deploy.check_manifest(manifest.replace(old, new)), old)


class Floods(unittest.TestCase):
    def test_what_a_flood_must_not_do_is_noticed(self):
        before = {"waypulse_partitions_lost_total": 1.0, 'waypulse_alarms_total{alarm="clock"}': 0.0, "waypulse_saves_total": 5.0}
        self.assertEqual(list(floods.harm(before, dict(before, waypulse_saves_total=9.0))), [])
        self.assertEqual(list(floods.harm(before, dict(before, waypulse_partitions_lost_total=3.0))), ["waypulse_partitions_lost_total rose by 2"])
        self.assertEqual(len(list(floods.harm(before, dict(before, **{'waypulse_alarms_total{alarm="clock"}': 1.0})))), 1)

    def test_pushes_between_two_looks(self):
        bucket = 'waypulse_event_to_accepted_seconds_bucket{class="%s",le="%s"}'
        before = {floods.ACCEPTED: 10.0, bucket % ("urgent", "0.01"): 4.0, bucket % ("urgent", "+Inf"): 10.0}
        after = {floods.ACCEPTED: 20.0, floods.REFUSED: 1.0, bucket % ("urgent", "0.01"): 9.0, bucket % ("urgent", "0.05"): 10.0,
                 bucket % ("urgent", "+Inf"): 20.0, bucket % ("routine", "0.05"): 0.0}  # fmt: skip
        pushes = floods.Pushes(before, after, 5)
        self.assertEqual((pushes.accepted, pushes.rate, pushes.others), (10, 2, {floods.REFUSED: 1}))
        self.assertEqual((pushes.within(0.5), pushes.within(0.99)), (10, 50))

    def test_the_rights_of_the_readme_are_those_that_a_member_is_given(self):
        words = sys.modules["api_member"].rights("p")
        self.assertEqual((words[:5], words.count("~waypulse:*")), (["ACL", "SETUSER", "waypulse", "on", ">p"], 1))


class Schemas(unittest.TestCase):
    def test_a_reader_is_strict(self):
        self.assertEqual(schemas.read_strictly(b' {"a":[1.5,null]}\n'), {"a": [1.5, None]})
        for data in (b"", b"{", b"[NaN]", b"[Infinity]", b'{"a":1,"a":1}', b'{"b":{"a":1,"\\u0061":1}}', b'["\\ud800"]', b'["\xff"]',
                     b"\xef\xbb\xbf{}", b'["\t"]', b"[01]", b"{}{}", b"[" * 65_536):  # fmt: skip
            with self.assertRaises(schemas.NotJSON, msg=data[:20]):
                schemas.read_strictly(data)

    def test_the_three_verdicts(self):
        check = schemas.validators()["event"]
        event = b'{"type":"token","activityId":"a","timestamp":0,"token":"%s"}'
        self.assertEqual(schemas.verdict(check, event % (b"ab" * 32)), "accepts")
        self.assertEqual(schemas.verdict(check, event % (b"ab" * 31)), "refuses")
        self.assertEqual(schemas.verdict(check, event), "refuses")
        self.assertEqual(schemas.verdict(check, (event % (b"ab" * 32))[:-1]), "not-json")

    def test_an_index_that_is_not_the_folder_is_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("a.json", "1"), ("b.json", "1"), ("c.json", " " * 70_001)):
                (Path(folder) / name).write_text(data)
            problems = schemas.check_folder(Path(folder), [{"file": "a.json"}, {"file": "c.json"}, {"file": "d.json"}], 4)
            self.assertEqual(len(problems), 5, problems)


class Defects(unittest.TestCase):
    def test_a_text_that_does_not_stand_exactly_once_is_a_problem_and_nothing_is_built(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "File.swift").write_text("let a = 1\nlet b = 1\n")
            for old in ("let c", "= 1"):
                defect = defects.Defect("x", "promise", "File.swift", old, "")
                self.assertIn("times in File.swift, not once", defects.check(defect, Path(folder), "false"))
            self.assertIn("there is no", defects.check(defects.Defect("x", "p", "Other.swift", "a", "b"), Path(folder), "false"))

    def test_the_source_is_put_back_and_a_demo_that_does_not_build_has_found_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "File.swift"
            path.write_text("let a = 1\n")
            problem = defects.check(defects.Defect("x", "promise", "File.swift", "= 1", "= 2"), Path(folder), "false")
            self.assertIn("ended with None, not 1", problem)
            self.assertEqual(path.read_text(), "let a = 1\n")


class EmbeddedDocument(unittest.TestCase):
    def test_what_is_embedded_reads_back(self):
        lines = embed.source().split('#"""\n')[1].split('\n        """#')[0].split("\n")
        text = "".join(line.removeprefix("        ").removesuffix("\\#") for line in lines)
        self.assertEqual(json.loads(text), json.loads(embed.DOCUMENT.read_text("utf-8")))

    def test_a_document_that_was_changed_is_noticed(self):
        self.assertEqual(embed.main(["--check"]), 0)
        document = embed.DOCUMENT
        with tempfile.TemporaryDirectory(dir=embed.ROOT / "schemas") as folder:
            embed.DOCUMENT = Path(folder) / "openapi.json"
            embed.DOCUMENT.write_text(document.read_text("utf-8").replace("Waypulse", "Other", 1))
            with contextlib.redirect_stderr(io.StringIO()) as errors:
                self.assertEqual(embed.main(["--check"]), 1)
        embed.DOCUMENT = document
        self.assertIn("try:   Tests/Scripts/embed_openapi", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
