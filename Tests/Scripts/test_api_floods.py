#!/usr/bin/python3
"""Floods the HTTP API with bad, huge, slow and unauthenticated requests while good registrations go on, and prints figures of both.

usage: Tests/Scripts/test_api_floods.py [PROGRAM] [--good N] [--url URL --key KEY --metrics URL --pid PID]

With PROGRAM the API is that of `PROGRAM run`, a member on a Redis of its own that pushes to the simulator meanwhile, and its pushes are in the
figures as well. Without, and without --url, a Swift test serves the API over a service in memory. What is asserted is no time: every good
registration is answered well, nothing of the flood reaches the service behind the API, memory stays bounded, no connection or descriptor is left
behind; and each delivery that went on is told its newest state, no lease is lost, no event dropped.

Exit codes: 0 all of it holds, 1 something does not.
"""

import http.client
import multiprocessing
import re
import sys
import threading
import time
import urllib.request
from pathlib import Path

from api_flood import flood, registration
from api_server import arguments, served

GOOD_CLIENTS = 4
# What goes on is looked at for so long, at least.
CALM_SECONDS = 4
# The whole process: what connections, bodies and streams may take at their limits, and what an allocator keeps of it.
MEMORY_MIB = 96
PATIENCE_SECONDS = 60
HARM = {f"waypulse_{name}_total" for name in ("partitions_lost", "fenced", "dead_letters", "alarms", "store_failures", "registry_failures")}
REFUSED = 'waypulse_requests_total{ending="refused"}'
ACCEPTED = 'waypulse_requests_total{ending="accepted"}'
BUCKET = re.compile(r'waypulse_event_to_accepted_seconds_bucket\{.*le="([^"]+)"\}$')


class Good(threading.Thread):
    """Registers tokens one after another on one connection."""

    def __init__(self, api, count):
        super().__init__()
        self.api, self.count = api, count
        self.seconds, self.wrong = [], []

    def run(self):
        connection = http.client.HTTPConnection(*self.api.address, timeout=PATIENCE_SECONDS)
        headers = {"Authorization": f"Bearer {self.api.key}", "Content-Type": "application/json"}
        for number in range(self.count):
            began = time.monotonic()
            try:
                connection.request("PUT", f"/v1/live-activities/good-{self.name}-{number}/token", registration(number), headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status not in (200, 202):
                    self.wrong.append(answer.status)
            except (OSError, http.client.HTTPException) as error:
                self.wrong.append(repr(error))
                connection.close()
            self.seconds.append(time.monotonic() - began)
        connection.close()


def good(api, count):
    clients = [Good(api, count // GOOD_CLIENTS) for _ in range(GOOD_CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    seconds = sorted(second for client in clients for second in client.seconds)
    return seconds, [wrong for client in clients for wrong in client.wrong]


def quantile(seconds, share):
    return 1000 * seconds[min(len(seconds) - 1, int(len(seconds) * share))]


# ---- what the server says of itself -----------------------------------------------------------------------------------------------


def metrics(api):
    with urllib.request.urlopen(api.metrics, timeout=PATIENCE_SECONDS) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(waypulse_\S+) (\S+)$", text, re.MULTILINE)}


def questions(found):
    """Registrations that reached the service; streams ask by themselves."""
    return sum(value for name, value in found.items() if name.startswith("waypulse_api_questions_total") and "state_stream" not in name)


class Pushes:
    """What the lane of a member did between two looks at its /metrics."""

    def __init__(self, before, after, seconds):
        def between(name):
            return after.get(name, 0) - before.get(name, 0)

        self.accepted = between(ACCEPTED)
        self.rate = self.accepted / seconds
        # A machine with too much to do may let a connection end: what was under way goes again, and is told all the same.
        requests = [name for name in after if name.startswith("waypulse_requests_total{") and name != ACCEPTED]
        self.others = {name: between(name) for name in requests if between(name)}
        steps = {}
        for name in after:
            if found := BUCKET.match(name):
                edge = float(found[1].replace("+Inf", "inf"))
                steps[edge] = steps.get(edge, 0) + between(name)
        self.steps = sorted(steps.items())

    def within(self, share):
        """Below so many ms lie this share of the times from an event to its accepted push."""
        return 1000 * next((edge for edge, count in self.steps if count >= share * self.steps[-1][1]), 0)


def harm(before, after):
    """What a flood must not make happen, and did."""
    for name, value in after.items():
        if name.partition("{")[0] in HARM and value > before.get(name, 0):
            yield f"{name} rose by {value - before.get(name, 0):.0f}"


def memory_mib(api):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{api.pid}/status").read_text())[1]) / 1024


def descriptors(api):
    return len(list(Path(f"/proc/{api.pid}/fd").iterdir()))


def settled(read, wanted):
    """What `read` gives once it is `wanted`, or after a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (value := read()) > wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    return value


def main():
    parser = arguments("Floods the HTTP API while good registrations go on.")
    parser.add_argument("--good", type=int, default=2000, help="good registrations, without the flood and again with it")
    options = parser.parse_args()
    problems = []

    def expect(holds, text):
        if not holds:
            problems.append(text)

    with served(options) as api:
        if api.member:
            api.member.begin_lane()
        good(api, 400)  # what is made once
        settled(lambda: metrics(api)["waypulse_api_connections"], 0)
        idle_descriptors = descriptors(api)
        before, calm_began = metrics(api), time.monotonic()
        calm, wrong = good(api, options.good)
        expect(not wrong, f"without a flood {len(wrong)} good registrations went wrong: {wrong[:3]}")
        if api.member:  # The registrations alone may be over before there are pushes enough to compare with.
            time.sleep(max(0, calm_began + CALM_SECONDS - time.monotonic()))
        between, idle_memory = metrics(api), memory_mib(api)
        quiet = Pushes(before, between, time.monotonic() - calm_began)

        results = multiprocessing.Queue()
        process = multiprocessing.Process(target=flood, args=(api, results))
        process.start()
        results.get(timeout=PATIENCE_SECONDS)
        crowded, peak, rounds = [], 0, 0
        began = time.monotonic()
        wrong = []
        while process.is_alive() and results.empty():
            seconds, bad = good(api, options.good // 4)
            crowded += seconds
            wrong += bad
            rounds += 1
            peak = max(peak, memory_mib(api))
        crowded.sort()
        tally = results.get(timeout=PATIENCE_SECONDS)
        process.join(timeout=PATIENCE_SECONDS)
        lasted = time.monotonic() - began
        busy = Pushes(between, metrics(api), lasted)
        expect(not wrong, f"amid the flood {len(wrong)} good registrations went wrong: {wrong[:3]}")
        # The reader of /metrics has a connection of its own; those of the flood have to go.
        left = settled(lambda: metrics(api)["waypulse_api_connections"], 0)
        after = metrics(api)
        asked = questions(after) - questions(between) - len(crowded)
        expect(questions(between) - questions(before) == len(calm), "not every good registration reached the service once")
        expect(asked == 0, f"{asked:.0f} requests of the flood reached the service")
        expect(left == 0, f"{left:.0f} connections are left")
        expect(after["waypulse_api_streams"] == 0, f"{after['waypulse_api_streams']:.0f} streams are left")
        expect(peak - idle_memory < MEMORY_MIB, f"memory grew by {peak - idle_memory:.0f} MiB")
        final = settled(lambda: descriptors(api), idle_descriptors)
        expect(final <= idle_descriptors, f"{final - idle_descriptors} descriptors are left")
        if api.member:
            expect(busy.accepted > 0, "no push was accepted amid the flood")
            expect(REFUSED not in busy.others, f"{busy.others.get(REFUSED, 0):.0f} pushes amid the flood were refused")
            problems += harm(before, metrics(api))
            problems += api.member.end_lane()

        print(f"good registrations, {GOOD_CLIENTS} clients      p50        p99        max")
        for name, seconds in (("without a flood", calm), ("amid the flood", crowded)):
            print(f"  {name:<16} {len(seconds):>6}   {quantile(seconds, 0.5):>7.2f} ms {quantile(seconds, 0.99):>7.2f} ms {quantile(seconds, 1):>7.2f} ms")
        if api.member:
            print("pushes meanwhile     accepted    a second   from event to accepted: p50, p99 below")
            for name, pushes in (("without a flood", quiet), ("amid the flood", busy)):
                print(f"  {name:<16} {pushes.accepted:>10.0f} {pushes.rate:>11.1f} {pushes.within(0.5):>13.0f} ms {pushes.within(0.99):>8.0f} ms", *pushes.others.items())
        print(f"the flood lasted {lasted:.1f} s")
        for name, count in sorted(tally.items()):
            print(f"  {name:<26} {count:>6}")
        print(f"reached the service: {asked:.0f} of the flood, {len(crowded)} good ones")
        print(f"memory: {idle_memory:.0f} MiB before, {peak:.0f} MiB at most; descriptors: {idle_descriptors} before, {final} after")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
