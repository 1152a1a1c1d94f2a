"""Redis servers, replicas and sentinels on loopback, and the little of their protocol that a test speaks."""

import contextlib
import socket
import time
from pathlib import Path

from processes import Child, Trouble, free_port, until

OPERATOR_PASSWORD = "operator-of-the-test"
MEMBER_USER, MEMBER_PASSWORD = "waypulse", "member-of-the-test"
# What a member needs, and no more.
MEMBER_RIGHTS = "~couriers:* ~rides:* ~dlq.* +@read +@write +@scripting +@connection -@dangerous +time +info +role"


class Refused(Exception):
    """An answer that begins with a minus. Its code is the first word."""

    @property
    def code(self):
        return str(self).partition(" ")[0]


class Client:
    """RESP2 over one connection. A time-out or a lost connection raises OSError and closes it: what was sent may have been done."""

    def __init__(self, port, user="default", password=OPERATOR_PASSWORD, seconds=3):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        try:
            self("AUTH", user, password)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, *words):
        [answer] = self.pipeline([words])
        if isinstance(answer, Refused):
            raise answer
        return answer

    def pipeline(self, commands):
        """All answers; a refusal is a value among them."""
        try:
            self.socket.sendall(b"".join(encode(words) for words in commands))
            return [self.answer() for _ in commands]
        except OSError:
            self.close()
            raise

    def transaction(self, commands):
        """All of them or none. Raises Refused where it was none."""
        answers = self.pipeline([("MULTI",), *commands, ("EXEC",)])
        for answer in answers:
            if isinstance(answer, Refused):
                raise answer
        return answers[-1]

    def answer(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Refused(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.exactly(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]
        raise Trouble(f"Redis answered {line!r}, which is no RESP2")

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, _, self.buffer = self.buffer.partition(b"\r\n")
        return line

    def exactly(self, count):
        while len(self.buffer) < count:
            self.more()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("Redis closed the connection")
        self.buffer += data


def encode(words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Server:
    """One redis-server with its own folder, an operator (the default user) and the user that members have."""

    def __init__(self, folder, name="redis", fsync="everysec", settings=()):
        self.folder = Path(folder) / name
        self.folder.mkdir()
        self.name = name
        self.port = free_port()
        (self.folder / "users.acl").write_text(
            f"user default on >{OPERATOR_PASSWORD} ~* &* +@all\nuser {MEMBER_USER} on >{MEMBER_PASSWORD} {MEMBER_RIGHTS}\n"
        )
        lines = [
            f"port {self.port}", "bind 127.0.0.1", f"dir {self.folder}", "daemonize no", 'save ""', "appendonly yes",
            f"appendfsync {fsync}", "maxmemory-policy noeviction", f"aclfile {self.folder}/users.acl",
            f"masterauth {OPERATOR_PASSWORD}", "repl-diskless-sync-delay 0", *settings,
        ]  # fmt: skip
        (self.folder / "redis.conf").write_text("\n".join(lines) + "\n")
        self.child = None

    def start(self):
        self.child = Child(self.name, ["redis-server", self.folder / "redis.conf"], self.folder / "log")
        self.wait()
        return self

    def wait(self):
        """Until it answers: an open port is not enough, for it says LOADING while it reads its AOF."""

        def answers():
            if not self.child.is_running:
                raise Trouble(f"redis-server ended: {self.child.text()[-500:]}")
            with contextlib.suppress(OSError, Refused), self.client() as client:
                return client("PING") == "PONG"

        until(answers, 15, f"an answer of redis-server on port {self.port}")

    def client(self, **more):
        return Client(self.port, **more)

    def run(self, *words):
        with self.client() as client:
            return client(*words)

    def kill(self):
        self.child.kill()

    def stop(self):
        self.child.stop()

    def replicate(self, master):
        self.run("REPLICAOF", "127.0.0.1", master.port)

        def is_linked():
            return b"master_link_status:up" in self.run("INFO", "replication")

        until(is_linked, 15, f"the link of {self.name} to {master.name}")

    def url(self, user=MEMBER_USER):
        return f"redis://{user}@127.0.0.1:{self.port}"

    def end(self):
        if self.child:
            self.child.end()


class Sentinel:
    """One sentinel, which alone is the quorum."""

    MASTER = "waypulse-test"

    def __init__(self, folder, master):
        self.folder = Path(folder) / "sentinel"
        self.folder.mkdir()
        self.port = free_port()
        lines = [
            f"port {self.port}", "bind 127.0.0.1", f"dir {self.folder}", "daemonize no",
            f"sentinel monitor {self.MASTER} 127.0.0.1 {master.port} 1", f"sentinel auth-pass {self.MASTER} {OPERATOR_PASSWORD}",
            f"sentinel down-after-milliseconds {self.MASTER} 1000", f"sentinel failover-timeout {self.MASTER} 5000",
        ]  # fmt: skip
        (self.folder / "sentinel.conf").write_text("\n".join(lines) + "\n")
        self.child = Child("sentinel", ["redis-server", self.folder / "sentinel.conf", "--sentinel"], self.folder / "log")
        until(self.knows_a_replica, 20, "a sentinel that knows master and replica")

    def ask(self, *words):
        with socket.create_connection(("127.0.0.1", self.port), timeout=3) as connection:
            client = Client.__new__(Client)
            client.socket, client.buffer = connection, b""
            return client(*words)

    def knows_a_replica(self):
        with contextlib.suppress(OSError, Refused):
            return bool(self.ask("SENTINEL", "replicas", self.MASTER))
        return False

    def master_port(self):
        return int(self.ask("SENTINEL", "get-master-addr-by-name", self.MASTER)[1])

    def url(self, user=MEMBER_USER):
        return f"redis+sentinel://{user}@127.0.0.1:{self.port}/{self.MASTER}"

    def end(self):
        self.child.end()


def caught_up(master, replica, seconds=5):
    """Whether the replica has all that the master had when this was asked."""
    wanted = offset(master)
    end = time.monotonic() + seconds
    while offset(replica) < wanted:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def offset(server):
    for line in server.run("INFO", "replication").decode().splitlines():
        name, _, value = line.partition(":")
        if name == "master_repl_offset":
            return int(value)
    raise Trouble(f"{server.name} tells no replication offset")
