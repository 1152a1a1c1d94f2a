"""The whole life of an activity, from registrations over HTTP to the phone: what an app team does with Waypulse and nothing beside it."""

import hashlib
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from judge import Finding
from processes import Trouble
from promises import Broken

KEY = "lifecycle-of-the-test-" + "0" * 16
# Half of them follow a courier, and so lie under a key that is not their own.
COURIERS, OWN = 3, 3
EVENTS = 40


@dataclass
class Life:
    """One activity, as its service and its phone know it."""

    name: str
    courier: str | None
    start_token: str = ""
    # As the phone got them, the oldest first, each with when it was registered.
    tokens: list = field(default_factory=list)
    status: str = ""

    @property
    def key(self):
        return self.courier or self.name

    @property
    def user(self):
        return f"user of {self.name}"


class Lifecycle:
    def __init__(self, world):
        self.world = world
        keys = world.folder / "api.keys"
        keys.write_text(f"test tokens:write,state:read,explain:read {KEY}\n")
        keys.chmod(0o600)
        self.settings = {"api__listen": "127.0.0.1:0", "api__keysFile": str(keys), "pacing__startBudget": 100}
        self.lives = [Life(f"followed-{one}", f"courier-{one}") for one in range(COURIERS)]
        self.lives += [Life(f"own-{one}", None) for one in range(OWN)]
        self.events = 0

    # The service

    def publish(self, life, event, for_courier=False):
        name = {"subjectId": life.courier} if for_courier else {"activityId": life.name}
        self.events += 1
        event = name | {"timestamp": round(time.time(), 3), "eventId": f"e{self.events}"} | event
        self.world.traffic.waiting.append((life.key, json.dumps(event).encode(), event["type"] == "position"))

    def status(self, life, text, **more):
        life.status = text
        self.publish(life, {"type": "status", "status": text, **more})

    def start(self, life):
        event = {"type": "activity.started", "attributesType": "Ride", "userId": life.user, "attributes": {"name": life.name}}
        event |= {"contentState": {"status": "begun"}, "alert": {"title": "On the way", "body": life.name}}
        life.status = "begun"
        self.publish(life, event | ({"follows": life.courier} if life.courier else {}))

    def drive(self, life, step):
        """Some 60 m a step, which is beyond the deadband; a status each eighth."""
        if step % 8 == 7:
            return self.status(life, f"stop {step // 8}")
        where = {"latitude": 48.1 + step * 0.0005, "longitude": 11.5, "accuracy": 5}
        self.publish(life, {"type": "position", **where}, for_courier=life.courier is not None)

    # The app

    def ask(self, member, method, path, body=None, headers=None):
        """Status, text and headers; 0 where nobody answers."""
        address = f"http://127.0.0.1:{api_port(member)}{path}"
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.headers
        except OSError:
            return 0, "", {}

    def register(self, members, method, path, body, wanted):
        """As an app does: again, with another member where there is one, until it is taken."""
        answers = []

        def taken():
            member = members[len(answers) % len(members)]
            answers.append(self.ask(member, method, path, body)[:2])
            if answers[-1][0] in (0, 503):
                return False
            if answers[-1][0] not in wanted:
                raise Trouble(f"{method} {path} of {member.name} was answered {answers[-1]}")
            return True

        self.world.until(taken, 20, lambda: f"a registration ({method} {path}: {answers[-3:]})")
        return answers[-1]

    def register_phone(self, life, members):
        life.start_token = control(self.world, "/phones", {"phone": life.user, "attributesType": "Ride"})["startToken"]
        path = f"/v1/users/{life.user.replace(' ', '%20')}/push-to-start-tokens/Ride"
        self.register(members, "PUT", path, {"token": life.start_token}, {200})

    def register_token(self, life, token, members, at=None):
        at = at or round(time.time(), 3)
        if token not in [one for one, _ in life.tokens]:
            life.tokens.append((token, at))
        return self.register(
            members, "PUT", f"/v1/live-activities/{life.name}/token", {"token": token, "timestamp": at}, {200, 202}
        )

    def others(self, life, members):
        """Those who do not own the activity first: no app knows who does."""
        with self.world.master().client() as client:
            owner = (client("GET", f"couriers:{{{self.world.shape.partition(life.key)}}}:lease") or b"").decode()
        return sorted(members, key=lambda member: owner.startswith(member.name + "-"))

    # The phone

    def journal(self, life):
        """What was sent to it: to its start token and to each of its update tokens."""
        marks = {fingerprint(token) for token in [life.start_token, *(one for one, _ in life.tokens)]}
        return [one for one in self.world.simulator.journal.read() if one["token"] in marks]

    def accepted(self, life, token=None, event=None):
        found = [one for one in self.journal(life) if one["status"] == 200]
        if token:
            found = [one for one in found if one["token"] == fingerprint(token)]
        return [one for one in found if event is None or one.get("event") == event]

    def shows(self, life, token):
        """Whether the phone has been told the newest status over that token."""
        told = self.accepted(life, token)
        return bool(told) and (told[-1].get("contentState") or {}).get("status") == life.status

    def until_all(self, holds, seconds, what):
        def names():
            return [life.name for life in self.lives if not holds(life)]

        self.world.until(lambda: not names(), seconds, lambda: f"{what} of {', '.join(names())}")

    def reported(self):
        """By activity: the update token that its phone reported last."""
        with urllib.request.urlopen(self.world.simulator.control + "/tokens", timeout=20) as answer:
            events = map(json.loads, answer.read().splitlines())
            return {one["activityId"]: one["token"] for one in events if one.get("type") == "token" and "activityId" in one}

    # All of it

    def act(self, seconds):
        world = self.world
        a, b = members = world.start("a", "b", **self.settings)
        for member in members:
            world.until(lambda member=member: api_port(member), 20, f"the API of {member.name}")
            world.until(member.is_ready, 20, f"readiness of {member.name}")
        world.traffic.planned, world.traffic.tokens_url = [], None
        world.traffic.begin()

        for place, life in enumerate(self.lives):
            # One tells its token when its activity has begun already: that waits for it.
            if place > 0:
                self.register_phone(life, members if place % 2 else members[::-1])
            self.start(life)
        world.run(0.2)
        self.register_phone(self.lives[0], members)
        self.until_all(lambda life: self.accepted(life, event="start"), 20, "the start")
        self.until_all(lambda life: life.name in self.reported(), 20, "a token from the phone")
        tokens = self.reported()
        for life in self.lives:
            self.register_token(life, tokens[life.name], self.others(life, members))
            self.status(life, "token known")
        self.until_all(lambda life: self.shows(life, life.tokens[0][0]), 20, "the first update")

        for step in range(EVENTS):
            for life in self.lives:
                self.drive(life, step)
            world.run(seconds / EVENTS)
            if step == EVENTS // 2:
                world.unclean()
                a.kill()
        self.until_all(lambda life: self.shows(life, life.tokens[0][0]), 30, "the last of the way")
        a.start().running(world.pump)
        world.until(lambda: api_port(a), 20, "the API of a, started again")

        self.rotate([b, a])
        self.read_states([a, b])
        for life in self.lives:
            life.status = "delivered"
            self.publish(life, {"type": "activity.ended", "contentState": {"status": "delivered"}})
        self.until_all(lambda life: self.accepted(life, life.tokens[-1][0], "end"), 20, "the end")
        return self.finding()

    def rotate(self, members):
        """A phone gives each activity another token; what is sent to the old one before that is registered finds that it is gone."""
        new = {life.name: control(self.world, f"/activities/{life.name}/rotate", {})["token"] for life in self.lives}
        for life in self.lives:
            self.status(life, "rotated")
        self.until_all(lambda life: self.answers(life, life.tokens[0][0], 410), 20, "410 of the old token")
        for life in self.lives:
            self.register_token(life, new[life.name], self.others(life, members))
            # What was held up on its way changes nothing.
            self.register_token(life, *life.tokens[0][:1], members, at=life.tokens[0][1])
        self.until_all(lambda life: self.shows(life, life.tokens[1][0]), 20, "the state over the new token")

    def answers(self, life, token, status):
        return [one for one in self.journal(life) if one["token"] == fingerprint(token) and one["status"] == status]

    def read_states(self, members):
        """An app that comes to the foreground is right at once, whichever member it asks."""
        for life in self.lives:
            for member in members:
                path = f"/v1/live-activities/{life.name}/state"

                def is_newest():
                    status, text, headers = self.ask(member, "GET", path)
                    self.etag = headers.get("ETag")
                    return status == 200 and json.loads(text)["contentState"].get("status") == life.status

                self.world.until(is_newest, 20, f"the newest state of {life.name} from {member.name}")
                status = self.ask(member, "GET", path, headers={"If-None-Match": self.etag or ""})[0]
                if status not in (200, 304):
                    raise Trouble(f"GET {path} with its ETag was answered {status}")
            status, text, _ = self.ask(members[0], "GET", f"/v1/live-activities/{life.name}/explain")
            if status not in (200, 421) or any(token in text for token, _ in life.tokens):
                raise Trouble(f"explain of {life.name} was answered {status}: {text}")

    # What came of it

    def finding(self):
        self.world.run(1)
        self.world.stop_all()
        broken = [one for life in self.lives for one in self.judge(life)]
        requests = [one for life in self.lives for one in self.journal(life)]
        self.world.keeps_folder = bool(broken)
        return Finding(
            broken,
            {
                "activities": len(self.lives), "requests": len(requests), "pushes": sum(one["status"] == 200 for one in requests),
                "starts": sum(one.get("event") == "start" for one in requests), "events": self.events,
                "ends": sum(one.get("event") == "end" for one in requests), "unclean": len(self.world.terms.unclean),
            },
        )  # fmt: skip

    def judge(self, life):
        history = self.journal(life)
        taken = [one for one in history if one["status"] == 200]
        starts = [one for one in taken if one.get("event") == "start"]
        if len({one["apnsId"] for one in starts}) != 1:
            yield Broken("oneCard", life.name, f"{len(starts)} starts were accepted")
        for one in history:
            if one["status"] not in (200, 410):
                yield Broken("wellFormed", life.name, f"answered {one['status']} {one.get('reason')}", one["number"])
            if one["status"] == 200 and str(one.get("verdict", "")).startswith("dropped"):
                yield Broken("shown", life.name, one["verdict"], one["number"])
        old, new = fingerprint(life.tokens[0][0]), fingerprint(life.tokens[1][0])
        first_new = next(one["number"] for one in history if one["token"] == new)
        for one in history:
            if one["token"] == old and one["number"] > first_new:
                yield Broken("order", life.name, "the old token after the new one", one["number"])
        sequences = {}
        newest = 0
        for one in taken:
            number = one.get("sequence")
            if number is None:
                continue
            if number < newest:
                yield Broken("sequenceRises", life.name, f"{number} after {newest}", one["number"])
            if sequences.setdefault(number, one.get("contentState")) != one.get("contentState"):
                yield Broken("sequenceKeepsContent", life.name, f"{number} stands for two", one["number"])
            newest = max(newest, number)
        if len(sequences) < 5:
            yield Broken("finalState", life.name, f"only {len(sequences)} updates in all")
        last = taken[-1]
        if last.get("event") != "end" or (last.get("contentState") or {}).get("status") != "delivered" or last["token"] != new:
            yield Broken("end", life.name, "the last push is not the end with its state, over the new token", last["number"])


def lifecycle(world, is_short):
    """From registrations over HTTP to phones: start by push, token, 40 events, a kill -9, rotation, 410 of the old token, end."""
    return Lifecycle(world).act(4 if is_short else 100)


def api_port(member):
    """None until it says so."""
    lines = member.child.lines_with('"message":"the API answers"')
    return json.loads(lines[-1])["port"] if lines else None


def control(world, path, body):
    request = urllib.request.Request(world.simulator.control + path.replace(" ", "%20"), json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def fingerprint(token):
    """As the simulator's journal names a token."""
    return hashlib.sha256(token.lower().encode()).hexdigest()[:12]
