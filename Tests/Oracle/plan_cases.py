"""Hand-calculated timelines, one story a case, by section of the specification.

Times are seconds after T. A position `p(5, 100)` is at T+5, 100 m north of the place where all begins. What a case
expects was worked out from the specification's text, never copied from a run.
`python3 plan_cases.py` prints the cases as JSON for others to use as test vectors:
    {"name", "section", "settings": [..], "recordings": [[line, ..], ..], "sends": [..], "decisions": {..},
     "deadLetters": {..}}
A send in a case names only what the story is about; `at` is the time of the position that is told.
"""
import json
import math
import sys

T = 1_773_000_000
METER = 180.0 / (math.pi * 6371008.8)
A, B = "aa" * 32, "bb" * 32
HELLO = {"title": "t", "body": "b"}


# ---------------------------------------------------------------------- events

def event(kind, t, activity="a", **members):
    who = {} if "subjectId" in members else {"activityId": activity}
    return dict({"type": kind, "timestamp": T + t}, **who, **members)


def p(t, north, activity="a", **members):
    return event("position", t, activity, latitude=10 + north * METER, longitude=20, **members)


def status(t, activity="a", **members):
    return event("status", t, activity, **members)


def say(t, activity="a", **content_state):
    return status(t, activity, contentState=content_state)


def start(t, activity="a", **members):
    return event("activity.started", t, activity, attributesType="Order", **members)


def token(t, hexes, **members):
    return event("token", t, token=hexes, **members)


def end(t, activity="a", **members):
    return event("activity.ended", t, activity, **members)


def wrapped(received_at, value, **members):
    members = dict({"partition": 0}, **members)
    if received_at is not None:
        members["receivedAt"] = T + received_at
    return dict(members, value=value)


# ---------------------------------------------------------------------- expectations

def sent(time, reasons, sequence, **more):
    """`reasons`: blank-separated. Event, class and priority follow from them unless they are the story."""
    reasons = reasons.split()
    urgent = bool({"started", "status", "alert", "ended"} & set(reasons))
    kind = "end" if "ended" in reasons else "start" if "started" in reasons else "update"
    expected = {"time": T + time, "activityId": "a", "sequence": sequence, "event": kind, "reasons": reasons,
                "class": "urgent" if urgent else "routine", "priority": 10 if urgent else 5}
    if "at" in more:
        expected["positionTimestamp"] = T + more.pop("at")
    if "content" in more:
        expected["contentState"] = more.pop("content")
    return dict(expected, **more)


CASES = []


def case(section, name, lines, sends, decisions, settings=(), dead_letters=None, more_recordings=()):
    CASES.append({"name": name, "section": section, "settings": ["pacing." + option for option in settings],
                  "recordings": [[line if isinstance(line, str) else json.dumps(line) for line in recording]
                                 for recording in [lines] + list(more_recordings)],
                  "sends": sends, "decisions": decisions, "deadLetters": dead_letters or {}})


# ---------------------------------------------------------------------- section 0

case(0, "the sequence and the mapped position stand where their dotted names say",
     [p(0, 0, speed=3.5, contentState={"meta": {"seq": 99, "x": 1}})],
     [sent(0, "distance", 1, content={"meta": {"seq": 1, "x": 1}, "v": 3.5})], {"sent": 1},
     ["sequenceField=meta.seq", "positionFields=speed=v"])
case(0, "told coordinates have five decimals, ties to even",
     [event("position", 0, latitude=0.015625, longitude=0.046875)],
     [sent(0, "distance", 1, latitude=0.015625, longitude=0.046875,
           content={"latitude": 0.01562, "longitude": 0.04688, "sequenceNumber": 1})], {"sent": 1})
case(0, "what the newest position lacks writes nothing, and a negative speed is lacking",
     [p(0, 0, speed=-1, contentState={"v": "kept"})],
     [sent(0, "distance", 1, content={"v": "kept", "sequenceNumber": 1})], {"sent": 1}, ["positionFields=speed=v"])
case(0, "on a switch of the profile the level is kept and its interval begins anew",
     # standard: 4 sends empty the bucket; at 5 frequent takes over with level 0, one token each 15 s: at 20
     [start(0, token=A, contentState={})] + [p(t, 90 * t) for t in (1, 2, 3, 4)]
     + [token(5, A, frequentUpdates=True), p(6, 540)],
     [sent(t, "distance", t) for t in (1, 2, 3, 4)] + [sent(20, "distance", 5, at=6)],
     {"applied": 2, "sent": 5}, ["minInterval=0s"])
case(0, "the longest name that covers a field counts",
     # courier.phase is discrete, courier has a tolerance of 5
     [start(0, token=A, contentState={"courier": {"phase": "far", "eta": 10}}), say(1, courier={"eta": 14}),
      say(2, courier={"eta": 15}), say(3, courier={"phase": "near"})],
     [sent(2, "drift", 1), sent(3, "status", 2)], {"applied": 2, "sent": 2},
     ["discrete=courier.phase", "tolerances=courier=5"])

# ---------------------------------------------------------------------- section 1

case(1, "after the end nothing counts", [p(0, 0), end(10), p(20, 500), status(21, status="x")],
     [sent(0, "distance", 1), sent(10, "ended", 2)], {"sent": 1, "applied": 1, "after_end": 2})
case(1, "a start with a new token begins a new life and the sequence goes on; with an old token it does not",
     [start(0, token=A, contentState={"n": 1}), status(5, status="near"), end(10), start(12, token=A),
      start(20, token=B, contentState={"n": 2}), p(21, 0)],
     [sent(5, "status", 1), sent(10, "ended", 2), sent(21, "distance", 3, content={
         "n": 2, "latitude": 10.0, "longitude": 20.0, "sequenceNumber": 3})],
     {"applied": 3, "sent": 2, "after_end": 1})
case(1, "a new life while the end still waits makes that end unsendable",
     [start(0, startToken=A, alert=HELLO), end(10, contentState={"n": 1}),
      start(20, token=B, contentState={"n": 2})],
     [sent(0, "started alert", 1)], {"sent": 1, "unsendable": 1, "applied": 1})
case(1, "a token is applied while the end waits for one",
     [start(0, startToken=A, alert=HELLO), end(10, contentState={"n": 1}), token(20, A), token(21, B)],
     [sent(0, "started alert", 1), sent(20, "ended", 2)], {"sent": 2, "applied": 1, "after_end": 1})
case(5, "what ends without ever having had a target is unsendable at once, and no token changes that",
     [start(0, contentState={"n": 1}), p(5, 0), end(10), token(20, A)], [],
     {"unsendable": 2, "applied": 1, "after_end": 1})
case(1, "a subject's position waits for its follower",
     [event("position", 0, subjectId="s", latitude=10, longitude=20, contentState={"lost": True}),
      start(10, token=A, follows="s", contentState={"n": 1}),
      event("position", 30, subjectId="s", latitude=10 + 100 * METER, longitude=20)],
     [sent(10, "distance", 1, at=0, content={"n": 1, "latitude": 10.0, "longitude": 20.0, "sequenceNumber": 1}),
      sent(30, "distance", 2, at=30)],
     {"no_follower": 1, "sent": 2})
case(1, "a subject's event goes to each follower in the order of their start",
     [start(0, "b", token=B, follows="s", contentState={}), start(1, "a", token=A, follows="s", contentState={}),
      event("status", 5, subjectId="s", status="on"), event("activity.ended", 9, subjectId="s"),
      event("status", 10, subjectId="s", status="off")],
     [sent(5, "status", 1, activityId="b"), sent(5, "status", 1), sent(9, "ended", 2, activityId="b"),
      sent(9, "ended", 2)], {"applied": 4, "sent": 2, "no_follower": 1})
case(1, "a channel makes the subject itself the activity",
     [event("activity.started", 0, subjectId="match", channelId="Y2g=", contentState={"goals": 0}),
      event("status", 5, subjectId="match", contentState={"goals": 1})],
     [sent(5, "content", 1, activityId="match")], {"applied": 1, "sent": 1})
case(1, "and begins with the subject's newest position",
     [event("position", 0, subjectId="match", latitude=10, longitude=20),
      event("activity.started", 5, subjectId="match", channelId="Y2g=", contentState={"goals": 0})],
     [sent(5, "distance", 1, activityId="match", at=0)], {"no_follower": 1, "sent": 1})
case(1, "without autoStart nothing begins without a start", [p(0, 0), status(1, status="x"), end(2)], [],
     {"unknown_activity": 3}, ["autoStart=false"])
case(1, "an end begins nothing", [end(0), p(1, 0)], [sent(1, "distance", 1)], {"unknown_activity": 1, "sent": 1})
case(1, "an early token is kept for its start",
     [token(0, A), start(10, contentState={"n": 1})], [sent(10, "content", 1)], {"applied": 1, "sent": 1})
case(1, "a repeated id, time or offset is a duplicate",
     [wrapped(0, p(0, 0, eventId="e1"), offset=1), wrapped(20, p(20, 500, eventId="e1"), offset=2),
      wrapped(21, p(0, 500), offset=3), wrapped(22, p(22, 500), offset=1),
      wrapped(23, status(23, status="x"), offset=1)],
     [sent(0, "distance", 1)], {"sent": 1, "duplicate": 4})
case(1, "an id is forgotten after sixteen others",
     [status(0, eventId="e", relevanceScore=1)]
     + [status(n, eventId="e%d" % n, relevanceScore=1) for n in range(1, 17)]
     + [status(17, eventId="e", relevanceScore=1), status(18, eventId="e16", relevanceScore=1)],
     [], {"applied": 18, "duplicate": 1})
case(1, "an older position is out of order, an older status is not",
     [p(10, 0), p(5, 500), status(6, status="x")],
     [sent(10, "distance", 1), sent(10, "status", 2)], {"sent": 2, "out_of_order": 1})
case(1, "exactly (0, 0) is null island, one zero is not",
     [event("position", 0, latitude=0, longitude=0), event("position", 1, latitude=0, longitude=20)],
     [sent(1, "distance", 1)], {"null_island": 1, "sent": 1})
case(1, "accuracy at the limit is taken, above it dropped with its content",
     [p(0, 0, accuracy=200.5, contentState={"status": "x"}), p(1, 0, accuracy=200)],
     [sent(1, "distance", 1, content={"latitude": 10.0, "longitude": 20.0, "sequenceNumber": 1})],
     {"inaccurate": 1, "sent": 1})
case(1, "a minute ahead is taken, more is not, and leaves no mark",
     [wrapped(0, p(61, 900)), wrapped(1, p(61, 0)), wrapped(2, p(1024 * 7 * 86400, 500))],
     [sent(1, "distance", 1, at=61)], {"future": 2, "sent": 1})
case(1, "an hour old is taken, older is not",
     [wrapped(3601, p(0, 0)), wrapped(3601, p(1, 0))], [sent(3601, "distance", 1, at=1)], {"too_old": 1, "sent": 1})
case(1, "a teleport is held aside and dropped when the next is near",
     [p(0, 0), p(20, 100_000), p(40, 100)],
     [sent(0, "distance", 1), sent(40, "distance", 2, at=40)], {"sent": 2, "implausible": 1})
case(1, "a teleport that the next confirms is taken, both judged once",
     [p(0, 0), p(20, 100_000), p(30, 100_100)],
     [sent(0, "distance", 1), sent(30, "distance", 2, at=30)], {"sent": 2, "conflated": 1})
case(1, "a teleport that nothing confirms gives way to the next",
     [p(0, 0), p(10, 100_000), p(20, -100_000)], [sent(0, "distance", 1)], {"sent": 1, "implausible": 2})
case(1, "after reanchorAfter without a taken position any is taken",
     [p(0, 0), p(120, 900_000), p(121, -900_000)],
     [sent(0, "distance", 1), sent(121, "distance", 2, at=121)], {"sent": 2, "implausible": 1})
case(1, "a position held aside blocks its time and frees it when dropped",
     [p(0, 0), p(20, 100_000), p(10, 50), p(30, 90), p(25, 0)],
     [sent(0, "distance", 1), sent(30, "distance", 2)], {"sent": 2, "out_of_order": 2, "implausible": 1})
case(1, "a repeated start is applied like a status",
     [start(0, token=A, contentState={"n": 1}), start(10, token=A, contentState={"n": 2}, alert=HELLO)],
     [sent(10, "content", 1)], {"applied": 1, "repeated_start": 1})
case(1, "a start token beside a known update token sends nothing",
     [start(0, token=A, contentState={}), start(10, startToken=B, alert=HELLO)], [],
     {"applied": 1, "repeated_start": 1})
case(1, "a start token for a start that waits becomes its target",
     [start(0, contentState={"n": 1}), start(10, startToken=B, alert=HELLO)],
     [sent(10, "started alert content", 1)], {"sent": 1, "repeated_start": 1})
case(1, "the late start of an activity that began alone and sent nothing is its start",
     [status(0, relevanceScore=1), start(5, token=A, contentState={"n": 1}), say(6, n=1)], [], {"applied": 3})

case(1, "it is the start: the late start of what began alone has its place in the order of starts",
     [status(0, "z", relevanceScore=1), status(1, "a", relevanceScore=1), start(2, "a", token=A, follows="s"),
      start(3, "z", token=B, follows="s"), event("status", 5, subjectId="s", status="on")],
     [sent(5, "status", 1), sent(5, "status", 1, activityId="z")], {"applied": 4, "sent": 2})
case(1, "where an early token and the start report frequentUpdates, the start's counts, and its burst",
     [token(0, A, frequentUpdates=False), start(1, frequentUpdates=True, contentState={})]
     + [p(t, 90 * t) for t in range(2, 12)],
     [sent(t, "distance", t - 1) for t in range(2, 10)] + [sent(17, "distance", 9, at=11)],
     {"applied": 2, "sent": 9, "conflated": 1}, ["minInterval=0s"])
case(1, "what was only kept for renewal is known after the end: named again it begins nothing",
     [token(0, A), start(1, startToken=B, alert=HELLO), end(2), start(3, startToken=B, alert=HELLO),
      start(4, token="cc" * 32)],
     [sent(1, "alert", 1), sent(2, "ended", 2)], {"applied": 3, "sent": 1, "after_end": 1})
case(1, "a start token needs no alert where it would only be kept",
     [start(0, token=A, contentState={}), start(1, startToken=B)], [], {"applied": 1, "repeated_start": 1})
case(1, "a subject that is an activity and has ended leaves its events to its followers",
     [event("activity.started", 0, subjectId="m", channelId="Y2g=", contentState={}),
      start(1, token=A, follows="m", contentState={}), end(2, "m"), event("status", 3, subjectId="m", status="on")],
     [sent(2, "ended", 1, activityId="m"), sent(3, "status", 1)], {"applied": 3, "sent": 1})

# ---------------------------------------------------------------------- section 2

case(2, "the first position is always told", [p(0, 0)], [sent(0, "distance", 1)], {"sent": 1})
case(2, "a move inside the deadband sends nothing", [p(0, 0), p(60, 74.9)], [sent(0, "distance", 1)],
     {"sent": 1, "deadband": 1})
case(2, "a move beyond it is sent at once", [p(0, 0), p(60, 75.1)],
     [sent(0, "distance", 1), sent(60, "distance", 2)], {"sent": 2})
case(2, "slow drift adds up against what was sent", [p(0, 0), p(20, 40), p(40, 80), p(60, 120)],
     [sent(0, "distance", 1), sent(40, "distance", 2)], {"sent": 2, "deadband": 2})
case(2, "the threshold is at least the sum of both accuracies",
     [p(0, 0, accuracy=60), p(20, 119, accuracy=60), p(40, 121, accuracy=60)],
     [sent(0, "distance", 1), sent(40, "distance", 2)], {"sent": 2, "deadband": 1})
case(2, "and at most the ceiling", [p(0, 0, accuracy=150), p(20, 199, accuracy=150), p(40, 201, accuracy=150)],
     [sent(0, "distance", 1), sent(40, "distance", 2)], {"sent": 2, "deadband": 1})
case(2, "a fix twice as sharp as the shown one needs only the deadband",
     [p(0, 0, accuracy=100), p(20, 80, accuracy=50), p(40, 80, accuracy=49)],
     [sent(0, "distance", 1), sent(40, "distance", 2)], {"sent": 2, "deadband": 1})
case(2, "while an update waits its threshold never rises",
     [p(0, 0), p(5, 80, accuracy=10), p(10, 85, accuracy=100)],
     [sent(0, "distance", 1), sent(15, "distance", 2, at=10)], {"sent": 2, "conflated": 1})
case(2, "a field drifts by its tolerance",
     [say(0, etaTimestamp=1000), say(20, etaTimestamp=1059), say(40, etaTimestamp=1060)],
     [sent(0, "drift", 1), sent(40, "drift", 2)], {"sent": 2, "applied": 1})
case(2, "0.1 to 0.15 is a drift of 0.05 although doubles say less",
     [say(0, progressPercentage=0.1), say(20, progressPercentage=0.15)],
     [sent(0, "drift", 1), sent(20, "drift", 2)], {"sent": 2})
case(2, "a field that is no number any more has drifted",
     [say(0, etaTimestamp=1000), say(20, etaTimestamp="soon"), say(40, etaTimestamp=None)],
     [sent(0, "drift", 1), sent(20, "drift", 2), sent(40, "drift", 3)], {"sent": 3})
case(2, "a discrete field is urgent whoever sets it",
     [start(0, token=A, contentState={"status": "prepared"}), status(1, status="underway"),
      p(2, 0, contentState={"status": "near"})],
     [sent(1, "status", 1), sent(2, "status distance", 2)], {"applied": 1, "sent": 2})
case(2, "status wins over contentState.status",
     [status(0, status="x", contentState={"status": "y", "n": 1})],
     [sent(0, "status content", 1, content={"status": "x", "n": 1, "sequenceNumber": 1})], {"sent": 1})
case(2, "other fields are content where a status set them, and ride along where a position did",
     [start(0, token=A, contentState={"note": "a"}), p(1, 0, contentState={"extra": 1}),
      p(20, 10, contentState={"extra": 2}), p(40, 100), say(60, note="b")],
     [sent(1, "distance", 1), sent(40, "distance", 2),
      sent(60, "content", 3)], {"applied": 1, "sent": 3, "deadband": 1})
case(2, "what rides along is sent by itself once staleAfter has passed",
     [p(0, 0), p(20, 0, contentState={"note": "y"}), p(200, 0)],
     [sent(0, "distance", 1), sent(180, "content", 2, at=20)], {"sent": 1, "deadband": 2}, ["refresh=false"])
case(2, "objects differ in their members alone",
     [start(0, token=A, contentState={"courier": {"eta": 10}}), say(1, courier={"eta": None})],
     [sent(1, "drift", 1, content={"courier": {}, "sequenceNumber": 1})], {"applied": 1, "sent": 1},
     ["tolerances=courier.eta=5"])
case(2, "integers beyond 2^53 are compared by their text",
     [say(0, n=9007199254740992), say(20, n=9007199254740993)],
     [sent(0, "content", 1), sent(20, "content", 2)], {"sent": 2})
case(2, "1 and 1.0 and 1e0 are one number, and the order of keys is none",
     [json.dumps(say(0, CONTENT="?")).replace('{"CONTENT": "?"}', '{"n":1,"o":{"x":1,"y":[1,2]}}'),
      json.dumps(say(20, CONTENT="?")).replace('{"CONTENT": "?"}', '{"o":{"y":[1.0,2e0],"x":1e0},"n":1.0}')],
     [sent(0, "content", 1)], {"sent": 1, "applied": 1})
case(2, "an alert is sent once",
     [start(0, token=A, contentState={}), status(10, alert=HELLO), status(20, relevanceScore=1)],
     [sent(10, "alert", 1)], {"applied": 2, "sent": 1})
case(2, "the alert of a start on the phone is not sent", [start(0, token=A, contentState={}, alert=HELLO)], [],
     {"applied": 1})
case(2, "push to start, then its first token, which is no change",
     [start(0, startToken=A, alert=HELLO, contentState={"status": "prepared"}), p(20, 0), token(30, B), token(50, A)],
     [sent(0, "started status alert", 1), sent(30, "distance", 2, at=20), sent(50, "retarget", 3)],
     {"sent": 2, "applied": 2})
case(2, "a replaced token gets the newest state, the same token nothing",
     [start(0, token=A, contentState={"n": 1}), token(10, B), token(30, B)],
     [sent(10, "retarget", 1, content={"n": 1, "sequenceNumber": 1})], {"applied": 3})
case(2, "a refresh leaves before the state goes stale, if any event came",
     [p(0, 0), p(20, 10), p(200, 10)],
     [sent(0, "distance", 1), sent(150, "refresh", 2, at=20)], {"sent": 1, "deadband": 2})
case(2, "an event after that time is the refresh itself", [p(0, 0), p(200, 10)],
     [sent(0, "distance", 1), sent(200, "refresh", 2, at=200)], {"sent": 2})
case(2, "a start on the phone counts as its first send for the refresh",
     [start(0, token=A, contentState={"n": 1}), status(10, relevanceScore=1), status(200, relevanceScore=2)],
     [sent(150, "refresh", 1)], {"applied": 3})
case(2, "unchanged: a move that no field tells moves the anchor and sends nothing",
     [p(0, 0), p(20, 100), p(40, 150)], [sent(0, "distance", 1)], {"sent": 1, "unchanged": 1, "deadband": 1},
     ["positionFields=off"])

case(2, "a refresh that was due behind an unchanged move leaves at once", [p(0, 0), p(200, 100)],
     [sent(0, "distance", 1), sent(200, "refresh", 2, at=200)], {"sent": 1, "unchanged": 1}, ["positionFields=off"])
case(2, "an empty object where the engine writes anyway is no difference",
     [p(0, 0, accuracy=5), say(20, courier={"name": None})], [sent(0, "distance", 1)], {"sent": 1, "applied": 1},
     ["positionFields=accuracy=courier.accuracy"])

# ---------------------------------------------------------------------- section 3

case(3, "the interval holds, the latest wins", [p(0, 0), p(5, 100), p(10, 200)],
     [sent(0, "distance", 1), sent(15, "distance", 2, at=10)], {"sent": 2, "conflated": 1})
case(3, "the courier came back", [p(0, 0), p(5, 100), p(10, 10), p(30, 20)],
     [sent(0, "distance", 1)], {"sent": 1, "conflated": 1, "returned": 1, "deadband": 1})
case(3, "the bucket lets four go, then one a minute",
     [p(t, 90 * t) for t in (0, 1, 2, 3, 4)],
     [sent(t, "distance", t + 1) for t in (0, 1, 2, 3)] + [sent(60, "distance", 5, at=4)], {"sent": 5},
     ["minInterval=0s"])
case(3, "a device with frequent updates has eight, then one each 15 s",
     [start(0, token=A, frequentUpdates=True, contentState={})] + [p(t, 90 * t) for t in range(1, 10)],
     [sent(t, "distance", t) for t in range(1, 9)] + [sent(16, "distance", 9, at=9)], {"applied": 1, "sent": 9},
     ["minInterval=0s"])
case(3, "urgent updates overdraw the bucket, and at its bottom go with priority 5 each 5 s",
     [status(t, status="s%d" % t) for t in range(10)],
     [sent(t, "status", t + 1) for t in range(8)] + [sent(12, "status", 9, priority=5)], {"sent": 9, "conflated": 1})
case(3, "before the state goes stale a routine update needs only a bucket above its bottom",
     [p(t, 90 * t) for t in (0, 1, 2, 3, 4)],
     [sent(t, "distance", t + 1) for t in (0, 1, 2, 3)] + [sent(33, "distance", 5, at=4)], {"sent": 5},
     ["minInterval=0s", "staleAfter=40s", "refreshLead=10s"])
case(3, "an update that lost its urgent reason waits for the routine gates",
     # eight sends to the bottom; at 157 = 7 + 180 - 30 the bucket is at -2
     [status(t, status="s%d" % t) for t in range(9)] + [status(9, status="s7", contentState={"n": 1})],
     [sent(t, "status", t + 1) for t in range(8)] + [sent(157, "content", 9)], {"sent": 9, "conflated": 1})
case(3, "an update waits for its target", [start(0, contentState={"n": 1}), p(10, 0)], [], {"pending": 2})
case(3, "a record is sent at once even if others of the same time follow",
     [status(0, status="x"), status(0, status="y")], [sent(0, "status", 1), sent(0, "status", 2)], {"sent": 2})

case(3, "no credit is missing in plan: what becomes possible first leaves first, routine before urgent",
     [start(0, "z", token=A, follows="s", contentState={"status": "near"}), start(1, "a", token=B, follows="s"),
      event("status", 5, subjectId="s", status="near", contentState={"note": "left"})],
     [sent(5, "content", 1, activityId="z"), sent(5, "status content", 1)], {"applied": 2, "sent": 2})
case(3, "gate 4: in plan what began without a start has a target, also after it was started by push",
     [status(0, relevanceScore=1), start(5, startToken=A, alert=HELLO), p(30, 0)],
     [sent(5, "started alert", 1), sent(30, "distance", 2)], {"applied": 1, "sent": 2})
case(3, "what waits as urgent is judged again when its gates open, though it had lost all reasons before",
     # eight sends to the bottom at 7; the ninth is allowed 5 s later, and by then the status is what is shown
     [status(t, status="s%d" % t) for t in range(9)] + [status(9, status="s7"), status(12, relevanceScore=1),
                                                        status(13, relevanceScore=1)],
     [sent(t, "status", t + 1) for t in range(8)], {"sent": 8, "conflated": 1, "returned": 1, "applied": 2})

# ---------------------------------------------------------------------- section 4

case(4, "the aps timestamp may run five seconds ahead of the clock, then the send waits",
     [status(0, status="s%d" % n) for n in range(8)],
     [sent(0, "status", n) for n in range(1, 7)] + [sent(1, "status", 7)], {"sent": 7, "conflated": 1},
     ["profile=unlimited"])

# ---------------------------------------------------------------------- section 5

case(5, "an end takes the waiting update with it", [p(0, 0), p(5, 100), end(8, contentState={"n": 1})],
     [sent(0, "distance", 1), sent(8, "distance ended", 2, at=5)], {"sent": 3})
case(5, "an activity ends at maxActivityLife", [p(0, 0), p(100, 10), p(200, 500)],
     [sent(0, "distance", 1), sent(120, "ended", 2, at=100)], {"sent": 1, "deadband": 1, "after_end": 1},
     ["maxActivityLife=120s"])
case(5, "the life of a start on the phone begins with the earlier of its time and now",
     [wrapped(50, start(0, token=A, contentState={})), wrapped(200, status(200, "b", relevanceScore=1))],
     [sent(120, "ended", 1)], {"applied": 2}, ["maxActivityLife=120s"])
case(5, "an ended activity is forgotten after removeAfter, and not before",
     [p(0, 0), end(10), p(70, 0), p(131, 0)],
     [sent(0, "distance", 1), sent(10, "ended", 2), sent(131, "distance", 1)], {"sent": 2, "applied": 1, "after_end": 1},
     ["removeAfter=60s"])
case(5, "what still waits for a target at the removal is unsendable",
     [start(0, startToken=A, alert=HELLO), p(5, 0), end(10), status(100, "b", relevanceScore=1)],
     [sent(0, "started alert", 1)], {"sent": 1, "unsendable": 1, "applied": 2}, ["removeAfter=60s"])

# ---------------------------------------------------------------------- section 6

case(6, "a record at exactly a timer's due time is applied first", [p(0, 0), p(5, 100), p(15, 10)],
     [sent(0, "distance", 1)], {"sent": 1, "conflated": 1, "returned": 1})
case(6, "timers of one instant fire in the order of start",
     [p(0, 0, "b"), p(0, 0), p(5, 100), p(6, 100, "b"), p(20, 100)],
     [sent(0, "distance", 1, activityId="b"), sent(0, "distance", 1), sent(15, "distance", 2, activityId="b"),
      sent(15, "distance", 2)], {"sent": 4, "deadband": 1})
case(6, "the life limit absorbs an update due at the same instant", [p(0, 0), p(10, 100), p(30, 0)],
     [sent(0, "distance", 1), sent(20, "distance ended", 2, at=10)], {"sent": 2, "after_end": 1},
     ["maxActivityLife=20s", "minInterval=20s"])
case(6, "a life that is over when its start is read ends before the next record, even at the same time",
     [wrapped(200, start(0, token=A, contentState={})), wrapped(200, status(200, status="x"))],
     [sent(200, "ended", 1)], {"applied": 1, "after_end": 1}, ["maxActivityLife=120s"])
case(6, "more than a day ahead moves the clock only if the next record agrees",
     [p(0, 0), p(2 * 86400, 0, "b"), p(10, 100)],
     [sent(0, "distance", 1), sent(15, "distance", 2)], {"sent": 2, "future": 1})
case(6, "or if there is none",
     [p(0, 0), p(2 * 86400, 0)],
     [sent(0, "distance", 1), sent(8 * 3600, "ended", 2), sent(2 * 86400, "distance", 1)], {"sent": 2})
case(6, "a dead letter moves the clock only by receivedAt",
     [p(0, 0), p(5, 100), wrapped(100, {"type": "position"}), p(50, 300)],
     [sent(0, "distance", 1), sent(15, "distance", 2), sent(100, "distance", 3, at=50)],
     {"sent": 3, "dead_letter": 1}, dead_letters={"missing_field:activityId": 1})
case(6, "several recordings are merged by time, then by argument",
     [p(0, 0), p(20, 100)],
     [sent(0, "distance", 1), sent(10, "distance", 1, activityId="b"), sent(20, "distance", 2),
      sent(20, "distance", 1, activityId="c")], {"sent": 4}, more_recordings=[[p(10, 0, "b"), p(20, 0, "c")]])
case(6, "after the last record no refresh that is not yet due, no life limit", [p(0, 0), p(20, 10)],
     [sent(0, "distance", 1)], {"sent": 1, "deadband": 1}, ["maxActivityLife=60s"])

# ---------------------------------------------------------------------- section 7

case(7, "an event is conflated when all it set was set again",
     [start(0, token=A, contentState={"x": 0, "y": 0}), say(1, x=9), say(2, x=1), say(3, y=2), say(4, x=3),
      status(5, contentState={})],
     [sent(1, "content", 1), sent(16, "content", 2)], {"applied": 2, "sent": 3, "conflated": 1})
case(7, "a position with content of its own is not conflated by one without",
     [p(0, 0), p(5, 100, contentState={"note": "n"}), p(6, 110)],
     [sent(0, "distance", 1), sent(15, "distance", 2, at=6)], {"sent": 3})

# ---------------------------------------------------------------------- what cannot be used (events)

DEEP = '{"type":"status","activityId":"a","timestamp":1,"relevanceScore":1,"x":%s%s}'


def dead(reason, name, *lines):
    case("events", name, list(lines), [], {"dead_letter": len(lines)}, dead_letters={reason: len(lines)})


dead("not_json", "what is no strict JSON",
     "{", '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":NaN}', '{"a":01}', '{"a":"\\ud800"}',
     '{"a":"\\udc00x"}', '{"a":1}}', "{'a':1}", '{"a":"\t"}', DEEP % ("[" * 64, "]" * 64))
dead("not_an_object", "what is no object", "[]", "1", '"x"', "null", '{"offset":1,"value":7}')
dead("too_large", "what is larger than 64 KiB", DEEP % ('"' + "x" * 65536, '"'))
dead("unknown_type", "a type nobody knows", event("ping", 0))
dead("missing_field:type", "no type", {"activityId": "a", "timestamp": 1})
dead("missing_field:timestamp", "no time", {"type": "status", "activityId": "a", "status": "x"})
dead("bad_timestamp", "what is no time", dict(status(0, status="x"), timestamp="noon"),
     dict(status(0, status="x"), timestamp=T * 1000), dict(status(0, status="x"), timestamp="2026-02-30T00:00:00Z"))
dead("too_many_targets", "two targets", dict(p(0, 0), subjectId="s"), start(0, token=A, channelId="c"))
dead("bad_token", "what is no token", token(0, "ab"), token(0, A + "a"), token(0, "zz" * 32))
dead("missing_field:alert", "a push to start without an alert", start(0, startToken=A))
dead("missing_field:attributesType", "a push to start without a type",
     event("activity.started", 0, startToken=A, alert=HELLO))
dead("unknown_app", "an app that is not configured", p(0, 0, app="nobody"))
dead("out_of_range:latitude", "no such latitude", dict(p(0, 0), latitude=90.001),
     json.dumps(p(0, 0)).replace('"latitude": 10.0', '"latitude": 1e999'))
dead("wrong_type:latitude", "a latitude in quotes", dict(p(0, 0), latitude="10"))
dead("missing_field:latitude", "null is absent", dict(p(0, 0), latitude=None))
dead("missing_field:status", "a status that says nothing", status(0), status(0, status=None))
dead("content_state_too_large", "a state above 4096 bytes", say(0, blob="x" * 4096))
case("events", "a state above 4096 bytes fits a channel",
     [event("activity.started", 0, subjectId="m", channelId="c", contentState={"blob": "x" * 5000})], [],
     {"applied": 1})
case("events", "sixty-four levels are allowed, and a wrapper is not counted",
     ['{"receivedAt":%d,"value":%s}' % (T, DEEP % ("[" * 63, "]" * 63)), DEEP % ("[" * 63, "]" * 63)], [],
     {"applied": 2})
case("events", "RFC 3339 with a fraction is rounded to milliseconds",
     [dict(p(0, 0), timestamp="2026-03-08T21:00:00.1235+01:00")], [sent(0.124, "distance", 1)],
     {"sent": 1})


# ---------------------------------------------------------------------- running

def run(each):
    """-> what is wrong, as lines"""
    from plan_model import plan, summary
    from plan_settings import Settings
    recordings = [[line.encode() for line in recording] for recording in each["recordings"]]
    pacing = plan(recordings, Settings(each["settings"]))
    wrong = []
    counts = summary(pacing)
    if len(pacing.sends) != len(each["sends"]):
        wrong.append("%d sends, expected %d" % (len(pacing.sends), len(each["sends"])))
    for got, want in zip(pacing.sends, each["sends"]):
        if {key: got.get(key) for key in want} != want:
            wrong.append("sent %r\n       expected %r" % (got, want))
    found = {name: count for name, count in counts["decisions"].items() if count}
    if found != each["decisions"]:
        wrong.append("decisions %r, expected %r" % (found, each["decisions"]))
    if counts["deadLetters"] != each["deadLetters"]:
        wrong.append("dead letters %r, expected %r" % (counts["deadLetters"], each["deadLetters"]))
    return wrong


def run_all():
    failed = 0
    for each in CASES:
        wrong = run(each)
        if wrong:
            failed += 1
            print("FAIL section %s: %s" % (each["section"], each["name"]))
            print("".join("     %s\n" % line for line in wrong), end="")
    print("selftest: %d cases, %d failed" % (len(CASES), failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    json.dump(CASES, sys.stdout, indent=1)
    print()
