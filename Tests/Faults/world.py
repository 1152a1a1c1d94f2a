"""Everything one scenario has: servers, the simulator, members and traffic, in a folder of their own, ended whatever happens."""

import contextlib
import json
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import redis
from judge import is_told, judge
from member import Member, terms
from processes import Trouble, until
from simulator import Simulator
from streams import RedisStreams
from traffic import Shape, Traffic
from truth import fold

# What an answer of the provider takes, so that at any moment some are under way.
LATENCY_MILLISECONDS = 100


@dataclass
class Options:
    program: Path
    # What is a member; None for the program itself.
    member: Path | None = None
    shape: Shape = field(default_factory=Shape)
    # How long the last words of all may take after the traffic and the fault are over.
    patience_seconds: float = 60


class World:
    def __init__(self, options, fsync="everysec", redis_settings=(), kafka=None):
        """`kafka` is what KafkaTopics takes beside shape, store and folder; without it, Redis Streams are the source."""
        self.options, self.shape, self.kafka = options, options.shape, kafka
        self.folder = Path(tempfile.mkdtemp(prefix="waypulse-faults-"))
        self.terms = terms()
        self.members, self.notes = [], {}
        self.stack = contextlib.ExitStack()
        self.fsync, self.redis_settings = fsync, redis_settings
        self.keeps_folder = False
        # Whether this Redis may lose what it acknowledged.
        self.may_lose = False
        self.read_count, self.read_truth = -1, None

    def __enter__(self):
        try:
            self.server = self.owned(redis.Server(self.folder, fsync=self.fsync, settings=self.redis_settings)).start()
            self.simulator = self.owned(Simulator(self.options.program, self.folder, LATENCY_MILLISECONDS))
            self.url = self.server.url()
            self.source = self.owned(self.make_source())
            self.traffic = Traffic(self.shape, self.source, self.simulator.control + "/tokens")
        except BaseException:
            self.__exit__(True)
            raise
        return self

    def __exit__(self, fault, *_):
        for member in self.members:
            with contextlib.suppress(Exception):
                member.end()
        self.stack.close()
        # Whoever interrupts a test does not ask what came of it.
        if self.keeps_folder or (fault and fault is not KeyboardInterrupt):
            print(f"logs and journal are in {self.folder}", flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def make_source(self):
        def connect(seconds):
            return self.master().client(seconds=seconds)

        if self.kafka is None:
            return RedisStreams(self.shape, connect)
        # Debian's package for it is needed here alone.
        from topics import KafkaTopics

        return KafkaTopics(self.shape, connect, self.folder, **self.kafka)

    def owned(self, one):
        self.stack.callback(one.end)
        return one

    def master(self):
        """The server that takes writes."""
        return self.server

    # Members

    def member(self, name, **settings):
        program = self.options.member or self.options.program
        secret = self.folder / "member.password"
        secret.write_text(redis.MEMBER_PASSWORD + "\n")
        secret.chmod(0o600)
        source = self.source.settings(self.url, str(secret))
        member = Member(program, self.folder, name, self.simulator.apps, source, **settings)
        self.members.append(member)
        return member

    def start(self, *names, **settings):
        """New members, running when this returns."""
        new = [self.member(name, **settings).start() for name in names]
        for member in new:
            member.running(self.pump)
        return new

    def stop_cleanly(self, member):
        status = member.stop(self.pump)
        if status != 0:
            raise Trouble(f"{member.name} ended with {status} after SIGTERM: {member.child.text()[-2_000:]}")

    # Time

    def pump(self):
        self.traffic.pump()

    def run(self, seconds):
        """Lets so much time pass, with the traffic going on."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.pump()
            time.sleep(min(0.02, left))

    def run_to(self, share):
        """On to this part of the planned traffic."""
        self.run(share * self.shape.seconds - self.traffic.elapsed)

    def until(self, holds, seconds, what):
        return until(holds, seconds, what, self.pump)

    def run_past_the_takeover(self):
        """Until whoever has not renewed has lost what it held, and others have taken it."""
        self.run(self.source.takeover_seconds)

    def unclean(self):
        """Something happens now after which one update of each activity may come again."""
        self.terms.unclean.append(time.time() * 1_000)

    # The end

    def judge(self):
        """Waits for the rest of the traffic and for the last words, stops the members, and judges."""
        left = max(0, self.shape.seconds - self.traffic.elapsed)
        self.until(lambda: self.traffic.is_done, left + 30, lambda: f"the end of the traffic ({self.traffic.counts}, {self.source.counts})")
        end = time.monotonic() + self.options.patience_seconds
        truth = self.truth()
        while not is_told(self.simulator.journal.read(), truth, self.terms) and time.monotonic() < end:
            # Phones whose activity was started late still report their tokens.
            self.run(0.5)
            truth = self.truth()
        unsettled = self.unsettled()
        while unsettled and time.monotonic() < end:
            self.run(0.5)
            unsettled = self.unsettled()
        self.stop_all()
        finding = judge(self.simulator.entries(), truth, self.terms, unsettled, self.wrong_letters())
        finding.counts |= {
            "events": self.traffic.counts["events"], "unclean": len(self.terms.unclean),
            "mebibytes": max((one.most_resident_bytes for one in self.members), default=0) >> 20, **self.notes,
        }  # fmt: skip
        self.keeps_folder = bool(finding.broken)
        return finding

    def truth(self):
        """What the source says. It is read anew where something was published since."""
        count = sum(map(len, self.source.acknowledged.values()))
        if count == self.read_count:
            return self.read_truth
        found = list(self.source.published())
        bodies = [body for _, _, body in found]
        # Nothing says in which order topics are read beside each other; this is the one in which the world went on.
        self.read_count, self.read_truth = count, fold(bodies if len(self.shape.topics) == 1 else sorted(bodies, key=timestamp))
        self.excuse_what_was_lost({(name, identifier) for name, identifier, _ in found})
        return self.read_truth

    def unsettled(self):
        """By stream: what is settled, where that is not all of it. The naive member tells none."""
        return [] if self.options.member else self.source.unsettled()

    def wrong_letters(self):
        """By stream: which entries that are no events have no letter, or two, and which letters are about others."""
        if self.options.member or self.may_lose:
            return []
        found, entries = [], {}
        for name, identifier, body in self.source.published():
            entries.setdefault(name, {})[identifier] = body
        for name, letters in self.source.letters().items():
            there = entries.get(name, {})
            bad = [identifier for identifier, body in there.items() if not is_event(body)]
            # What was trimmed from the stream may have left its letter.
            kept = [identifier for identifier in letters if identifier in there]
            if self.source.letters_may_repeat and self.terms.unclean:
                self.notes["lettersAgain"] = self.notes.get("lettersAgain", 0) + len(kept) - len(set(kept))
                kept = list(set(kept))
            if sorted(bad) != sorted(kept):
                missing, others = set(bad) - set(kept), set(kept) - set(bad)
                twice = len(kept) - len(set(kept))
                text = f"{len(missing)} have no letter, {len(others)} letters are about events, {twice} there twice"
                found.append((name, f"{len(bad)} entries are no events; {text}"))
            self.notes["letters"] = self.notes.get("letters", 0) + len(kept)
        return found

    def excuse_what_was_lost(self, found):
        """An entry that was acknowledged and then lost by the server itself, as by a master that had not replicated it yet."""
        acknowledged = self.source.acknowledged.items()
        lost = [(name, one, key) for name, entries in acknowledged for one, key in entries if (name, one) not in found]
        if lost and not self.may_lose:
            raise Trouble(f"{len(lost)} entries were lost that had been acknowledged, {lost[0]} for one")
        keys = {key for _, _, key in lost}
        self.terms.excused = frozenset(name for name, key in self.traffic.keys.items() if key in keys)

    def stop_all(self):
        """Every member ends by itself when it is asked to, and says 0."""
        for member in self.members:
            if member.is_running:
                self.stop_cleanly(member)


def is_event(body):
    """Of what the traffic publishes: it is cut off in the middle, or it is one."""
    try:
        json.loads(body or b"")
    except ValueError:
        return False
    return True


def timestamp(body):
    return json.loads(body)["timestamp"] if is_event(body) else 0
