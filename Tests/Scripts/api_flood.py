"""A flood of the HTTP API: bad, huge, slow and unauthenticated requests at once. It is a process of its own, so that those whom it must not disturb are
not held up by its interpreter."""

import contextlib
import json
import random
import re
import socket
import threading
import time

TOKEN = "5e" * 40
STRANGERS, LIARS, SENSELESS, HUGE, TORN = 4000, 2000, 2000, 60, 2000
SLOW, STALLED, STORM = 300, 40, 3000
FLOOD_SECONDS = 5
PATIENCE_SECONDS = 60


def registration(number):
    return json.dumps({"token": TOKEN, "timestamp": int(time.time()), "frequentUpdates": number % 2 == 0}).encode()


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
