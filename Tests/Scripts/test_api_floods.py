#!/usr/bin/python3
"""Floods the HTTP API with bad, huge, slow and unauthenticated requests while good registrations go on, and prints figures of both.

usage: Tests/Scripts/test_api_floods.py [PROGRAM] [--good N] [--url URL --key KEY --metrics URL --pid PID]

With PROGRAM the API is that of `PROGRAM run`, a member on a Redis of its own that pushes to the simulator meanwhile, and its pushes are in the
figures as well. Without, and without --url, a Swift test serves the API over a service in memory. What is asserted is no time: every good
registration is answered well, nothing of the flood reaches the service behind the API, memory stays bounded, no connection or descriptor is left
behind; and each delivery that went on is told its newest state, no lease is lost, no event dropped.

Exit codes: 0 all of it holds, 1 something does not.
"""

import contextlib
import http.client
import json
import multiprocessing
import random
import re
import socket
import sys
import threading
import time
import urllib.request
from pathlib import Path

from api_server import arguments, served

TOKEN = "5e" * 40
GOOD_CLIENTS = 4
STRANGERS, LIARS, SENSELESS, HUGE, TORN = 4000, 2000, 2000, 60, 2000
SLOW, STALLED, STORM = 300, 40, 3000
# What goes on is looked at for so long, at least.
CALM_SECONDS, FLOOD_SECONDS = 4, 5
# The whole process: what connections, bodies and streams may take at their limits, and what an allocator keeps of it.
MEMORY_MIB = 96
PATIENCE_SECONDS = 60
HARM = {f"waypulse_{name}_total" for name in ("partitions_lost", "fenced", "dead_letters", "alarms", "store_failures", "registry_failures")}
REFUSED = 'waypulse_requests_total{ending="refused"}'
ACCEPTED = 'waypulse_requests_total{ending="accepted"}'
BUCKET = re.compile(r'waypulse_event_to_accepted_seconds_bucket\{.*le="([^"]+)"\}$')


def registration(number):
    return json.dumps({"token": TOKEN, "timestamp": int(time.time()), "frequentUpdates": number % 2 == 0}).encode()


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


# ---- the flood: a process of its own, so that the clients above are not held up by its interpreter --------------------------------------


def dial(api):
    return socket.create_connection(api.address, timeout=PATIENCE_SECONDS)


def statuses(client):
    """What comes until the other side closes."""
    text = b""
    with contextlib.suppress(OSError):
        while some := client.recv(65536):
            text += some
    return re.findall(rb"HTTP/1\.1 (\d\d\d)", text)


def repeated(api, count, request, tally, name):
    """The same request again and again, on a connection for as long as it lasts."""
    client = None
    for number in range(count):
        try:
            client = client or dial(api)
            client.sendall(request(number))
            head = b""
            while b"\r\n\r\n" not in head:
                some = client.recv(65536)
                if not some:
                    raise OSError("closed")
                head += some
            status = head[9:12].decode()
            length = int(re.search(rb"Content-Length: (\d+)", head)[1])
            rest = length - len(head.partition(b"\r\n\r\n")[2])
            while rest > 0 and (some := client.recv(rest)):
                rest -= len(some)
            if b"Connection: close" in head:
                client.close()
                client = None
        except OSError:
            status = "closed"
            if client:
                client.close()
            client = None
        tally[f"{name} {status}"] = tally.get(f"{name} {status}", 0) + 1
    if client:
        client.close()


def put(path, body, *fields):
    head = [f"PUT {path} HTTP/1.1", "Host: a", "Content-Type: application/json", f"Content-Length: {len(body)}", *fields]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def flood_strangers(api, tally):
    repeated(api, STRANGERS, lambda number: put("/v1/live-activities/a/token", registration(number)), tally, "no key:")


def flood_liars(api, tally):
    chance = random.Random(1)

    def request(number):
        key = "".join(chance.choice("abcdef0123456789") for _ in range(64))
        return put("/v1/live-activities/a/token", registration(number), f"Authorization: Bearer {key}")

    repeated(api, LIARS, request, tally, "wrong key:")


def flood_senseless(api, tally):
    key = f"Authorization: Bearer {api.key}"
    bodies = [b"{", b"[]", b'{"token":"00"}', b'{"token":5}', b'{"token":"' + b"5e" * 3000 + b'"}', b"\xff" * 100, b"[" * 10_000]
    repeated(api, SENSELESS, lambda number: put("/v1/live-activities/a/token", bodies[number % len(bodies)], key), tally, "senseless:")


def flood_huge(api, tally):
    """Bodies of gigabytes, announced or not, and heads without end."""
    for number in range(HUGE):
        try:
            with dial(api) as client:
                if number % 3 == 0:
                    client.sendall(f"PUT /v1/live-activities/a/token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {api.key}\r\nContent-Type: application/json\r\nContent-Length: {5 << 30}\r\n\r\n".encode())
                    piece, most = b"x" * 65536, 200
                elif number % 3 == 1:
                    client.sendall(f"PUT /v1/live-activities/a/token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {api.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
                    piece, most = b"10000\r\n" + b"x" * 65536 + b"\r\n", 200
                else:
                    client.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n")
                    piece, most = b"".join(b"X-%d: %s\r\n" % (at, b"y" * 100) for at in range(100)), 20
                with contextlib.suppress(OSError):
                    for _ in range(most):
                        client.sendall(piece)
                found = statuses(client)
                status = found[0].decode() if found else "closed"
        except OSError:
            status = "closed"
        tally[f"huge: {status}"] = tally.get(f"huge: {status}", 0) + 1


def flood_torn(api, tally):
    """Requests that end in their middle, and bytes that are none."""
    chance = random.Random(2)
    for _ in range(TORN):
        with contextlib.suppress(OSError), dial(api) as client:
            whole = put("/v1/live-activities/a/token", registration(0), f"Authorization: Bearer {api.key}")
            cut = chance.randrange(len(whole) - 1)
            client.sendall(whole[:cut] if chance.random() < 0.5 else chance.randbytes(cut))
    tally["torn: gone"] = tally.get("torn: gone", 0) + TORN


def flood_slow(api, tally, ends):
    """A byte now and then, from many."""
    request = put("/v1/live-activities/a/token", registration(0), f"Authorization: Bearer {api.key}")
    clients = {}
    for _ in range(SLOW):
        with contextlib.suppress(OSError):
            clients[dial(api)] = 0
    while clients and not ends.is_set():
        for client, sent in list(clients.items()):
            try:
                # The last byte is never sent.
                client.sendall(request[sent : sent + 1] if sent < len(request) - 1 else b"")
                clients[client] = min(sent + 1, len(request) - 1)
            except OSError:
                del clients[client]
                client.close()
                tally["slow: let go"] = tally.get("slow: let go", 0) + 1
        time.sleep(0.2)
    for client in clients:
        client.close()
    tally["slow: still there"] = len(clients)


def flood_stalled(api, tally, ends):
    """Streams that are opened and never read."""
    clients = []
    for _ in range(STALLED):
        with contextlib.suppress(OSError):
            client = dial(api)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(f"GET /v1/live-activities/order-1/state HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {api.key}\r\nAccept: text/event-stream\r\n\r\n".encode())
            clients.append(client)
    ends.wait()
    for client in clients:
        client.close()
    tally["stalled streams: opened"] = len(clients)


def flood_storm(api, tally):
    """Connections that say nothing."""
    for _ in range(STORM):
        with contextlib.suppress(OSError):
            dial(api).close()
    tally["storm: gone"] = tally.get("storm: gone", 0) + STORM


def flood(api, results):
    tally, ends = {}, threading.Event()
    finite = [flood_strangers, flood_liars, flood_senseless, flood_huge, flood_torn, flood_storm]
    end = time.monotonic() + FLOOD_SECONDS

    def again(one):
        one(api, tally)
        while time.monotonic() < end:
            one(api, tally)

    threads = [threading.Thread(target=again, args=(one,)) for one in finite]
    lasting = [threading.Thread(target=one, args=(api, tally, ends)) for one in (flood_slow, flood_stalled)]
    for thread in threads + lasting:
        thread.start()
    results.put("begun")
    for thread in threads:
        thread.join()
    ends.set()
    for thread in lasting:
        thread.join()
    results.put(tally)


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
