"""Holds the benchmarks' sink to RFC 9113, as far as it goes: usage: test_sink.py path/to/waypulse-bench

What limits a client is only measured beside a server that does its part: settings and pings acknowledged, windows given back, and one
answer for each request that ended, in whatever pieces it came.
"""

import json
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 4, 6, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
BLOCK = b"\x83\x87\x84\x41\x09localhost"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Client:
    def __init__(self, server):
        context = ssl.create_default_context(cafile=server.authority)
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost")
        # Single bytes would each wait for the one before to be acknowledged.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(20)
        self.version, self.protocol = self.socket.version(), self.socket.selected_alpn_protocol()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data, piece=None):
        for start in range(0, len(data), piece or len(data)):
            self.socket.sendall(data[start : start + (piece or len(data))])

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def next(self):
        head = self.exactly(9)
        length = int.from_bytes(head[:3], "big")
        return head[3], head[4], int.from_bytes(head[5:9], "big"), self.exactly(length)

    def until(self, kind, flags):
        """Every frame up to one of this kind with these flags."""
        frames = [self.next()]
        while (frames[-1][0], frames[-1][1] & flags) != (kind, flags):
            frames.append(self.next())
        return frames


class Sink(unittest.TestCase):
    binary = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.authority = f"{cls.folder.name}/ca.pem"
        cls.process = subprocess.Popen(
            [cls.binary, "sink", "--authority", cls.authority], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        cls.port = json.loads(cls.process.stdout.readline())["port"]

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()
        cls.folder.cleanup()

    def test_it_speaks_http2_over_tls_1_3(self):
        with Client(self) as client:
            self.assertEqual((client.version, client.protocol), ("TLSv1.3", "h2"))

    def test_a_request_in_single_bytes_with_continuation_and_padding_is_answered_once(self):
        request = frame(HEADERS, 0, 1, BLOCK[:4]) + frame(CONTINUATION, 0, 1, BLOCK[4:6])
        request += frame(CONTINUATION, END_HEADERS, 1, BLOCK[6:])
        request += frame(DATA, PADDED, 1, b"\x03body\0\0\0") + frame(DATA, END_STREAM, 1)
        with Client(self) as client:
            client.send(PREFACE + frame(SETTINGS, 0, 0) + request + frame(PING, 0, 0, b"12345678"), piece=1)
            frames = client.until(PING, ACK)
        self.assertEqual(frames[0][0], SETTINGS)
        self.assertEqual(frames[-1], (PING, ACK, 0, b"12345678"))
        self.assertEqual([one for one in frames if one[0] == SETTINGS and one[1] & ACK], [(SETTINGS, ACK, 0, b"")])
        [answer] = [one for one in frames if one[0] == HEADERS]
        self.assertEqual(answer[1:3], (END_HEADERS | END_STREAM, 1))
        self.assertEqual(answer[3][:1], b"\x88")
        self.assertIn(b"apns-id", answer[3])

    def test_a_header_block_that_ends_the_stream_is_answered_when_it_is_whole(self):
        with Client(self) as client:
            client.send(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_STREAM, 1, BLOCK[:4]) + frame(PING, 0, 0, b"unripe.."))
            self.assertNotIn(HEADERS, [one[0] for one in client.until(PING, ACK)])
            client.send(frame(CONTINUATION, END_HEADERS, 1, BLOCK[4:]))
            self.assertEqual(client.until(HEADERS, END_STREAM)[-1][2], 1)

    def test_many_requests_are_each_answered_on_their_stream(self):
        streams = list(range(1, 1_001, 2))
        body = b"x" * 800
        with Client(self) as client:
            client.send(PREFACE + frame(SETTINGS, 0, 0) + b"".join(
                frame(HEADERS, END_HEADERS, one, BLOCK) + frame(DATA, END_STREAM, one, body) for one in streams), piece=5_003)
            client.send(frame(PING, 0, 0, b"the last"))
            answered = [one[2] for one in client.until(PING, ACK) if one[0] == HEADERS]
        self.assertEqual(answered, streams)

    def test_windows_are_given_back(self):
        # More than either window would let through: 65,535 bytes for the stream, 16 MiB for the connection.
        pieces = 1_100
        with Client(self) as client:
            client.send(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, BLOCK))
            given = {0: 65_535, 1: 65_535}
            sent = 0
            while sent < pieces:
                if min(given.values()) >= 16_384:
                    client.send(frame(DATA, 0, 1, bytes(16_384)))
                    given = {stream: left - 16_384 for stream, left in given.items()}
                    sent += 1
                else:
                    kind, _, stream, payload = client.next()
                    if kind == WINDOW_UPDATE:
                        given[stream] += int.from_bytes(payload, "big")
            client.send(frame(DATA, END_STREAM, 1))
            self.assertEqual(client.until(HEADERS, END_STREAM)[-1][2], 1)

    def test_what_is_not_http2_ends_the_connection(self):
        for wrong in (b"GET / HTTP/1.1\r\n\r\n", PREFACE + frame(DATA, 0, 1, bytes(16_385)), PREFACE + frame(PING, 0, 0, b"short")):
            with self.subTest(wrong[:30]), Client(self) as client:
                client.send(wrong)
                with self.assertRaises((EOFError, ConnectionError, ssl.SSLError)):
                    client.until(PING, ACK)


if __name__ == "__main__":
    Sink.binary = sys.argv.pop(1)
    unittest.main()
