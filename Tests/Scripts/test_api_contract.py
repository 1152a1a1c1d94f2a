#!/usr/bin/python3
"""Asks the HTTP API whatever schemathesis makes of schemas/openapi.json, good and bad, and reports each contradiction.

usage: Tests/Scripts/test_api_contract.py [PROGRAM] [--examples N] [--seed N] [--url URL --key KEY]

With PROGRAM the API is that of a member (`PROGRAM run`) with a Redis and a simulator of its own; without, and without --url, a Swift test serves it
over a service in memory. schemathesis is kept where install_dependencies puts it
(XDG_CACHE_HOME/waypulse/schemathesis).

Exit codes: 0 no contradiction, 1 some, 69 schemathesis is not there.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from api_server import ROOT, arguments, served

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "waypulse/schemathesis"
PATIENCE_SECONDS = 300
# Both sides name the same answer; a missing required header or an unknown status would be found as well.
CONFIGURATION = """
[phases.stateful]
enabled = false
"""


def check_document(api):
    """What is served is what stands in schemas/."""
    with urllib.request.urlopen(f"{api.url}/v1/openapi.json", timeout=20) as answer:
        served_one = json.load(answer)
    if served_one != json.loads((ROOT / "schemas/openapi.json").read_text("utf-8")):
        print("error: the API serves another document than schemas/openapi.json; run Tests/Scripts/embed_openapi", file=sys.stderr)
        return False
    return True


def main():
    parser = arguments("Holds the HTTP API to schemas/openapi.json with schemathesis.")
    parser.add_argument("--examples", type=int, default=20, help="generated requests for each operation and phase")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = CACHE / "bin/schemathesis"
    if not program.exists():
        print(f"error: {program} is not there; run Tests/Scripts/install_dependencies test, which fetches it from PyPI", file=sys.stderr)
        return 69
    with served(options, strangers=100_000) as api, tempfile.TemporaryDirectory() as folder:
        if not check_document(api):
            return 1
        Path(folder, "schemathesis.toml").write_text(CONFIGURATION)
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "Tests/Scripts"), SCHEMATHESIS_HOOKS="api_hooks", NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
        command = [
            program, "--config-file", f"{folder}/schemathesis.toml", "run", str(ROOT / "schemas/openapi.json"), "--url", api.url, "--header",
            f"Authorization: Bearer {api.key}", "--checks", "all", "--mode", "all", "--max-examples", str(options.examples), "--seed",
            str(options.seed), "--generation-database", "none", "--request-timeout", "10", "--continue-on-failure",
        ]  # fmt: skip
        try:
            return 1 if subprocess.run(command, cwd=folder, env=environment, timeout=PATIENCE_SECONDS).returncode else 0
        except subprocess.TimeoutExpired:
            print(f"error: schemathesis took longer than {PATIENCE_SECONDS} s", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
