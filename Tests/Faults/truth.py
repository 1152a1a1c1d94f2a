"""What each phone should know when all is over, from the events alone: no pacing, no fault, no fate of any push."""

import hashlib
import json
from dataclasses import dataclass, field


@dataclass
class Final:
    activity: str
    kind: str = ""
    # What the phone showed before any push; None where a push started the activity.
    begun_with: dict | None = None
    content: dict = field(default_factory=dict)
    position: tuple | None = None
    has_ended: bool = False
    started_by_push: bool = False
    follows: str | None = None
    # Unix seconds of the last event with an alert that has to sound.
    last_alert: float | None = None
    # Unix seconds of its begin, and of its end.
    began_at: float = 0.0
    ended_at: float | None = None
    # What positions said, one after the other: Unix seconds, the position, and what of the content came with it.
    way: list = field(default_factory=list)

    def before_the_end(self, seconds):
        """Contents and positions that may be told last where what is newest may be missing: of so long before the end, and none where it was so
        short a life."""
        if not (seconds and self.has_ended):
            return [(self.content, self.position)]
        late = [one for one in self.way if one[0] >= self.ended_at - seconds]
        earlier = self.way[len(self.way) - len(late) - 1 :][:1] if len(late) < len(self.way) else []
        found = [(self.content | content, position) for _, position, content in earlier + late]
        if self.ended_at - self.began_at < seconds + 1 or not found:
            bare = {name: value for name, value in self.content.items() if not any(name in content for *_, content in self.way)}
            found.append((bare, None))
        return found


@dataclass
class Truth:
    finals: dict = field(default_factory=dict)
    # By the fingerprint that stands for a token in the journal.
    activity_by_token: dict = field(default_factory=dict)

    def activity(self, entry):
        return entry.get("activityId") or self.activity_by_token.get(entry["token"]) or f"token {entry['token']}"


def fingerprint(token):
    return hashlib.sha256(token.lower().encode()).hexdigest()[:12]


def fold(bodies):
    """The truth of events, given in the order of each one's partition."""
    truth = Truth()
    seen, followers, positions = set(), {}, {}
    for body in bodies:
        try:
            event = json.loads(body)
        except (TypeError, ValueError):
            continue
        if event.get("eventId") in seen:
            continue
        seen.add(event.get("eventId"))
        if event["type"] == "activity.started":
            start(truth, event, followers, positions)
        elif "subjectId" in event:
            positions[event["subjectId"]] = (event["latitude"], event["longitude"])
            for name in followers.get(event["subjectId"], []):
                change(truth, truth.finals[name], event)
        elif event["activityId"] in truth.finals:
            change(truth, truth.finals[event["activityId"]], event)
    return truth


def start(truth, event, followers, positions):
    final = Final(event["activityId"], event["attributesType"], content=dict(event["contentState"]), began_at=event["timestamp"])
    final.started_by_push = "startToken" in event
    if not final.started_by_push:
        final.begun_with = dict(final.content)
    else:
        final.last_alert = event["timestamp"]
    truth.activity_by_token[fingerprint(event.get("token") or event["startToken"])] = final.activity
    if "follows" in event:
        final.follows = event["follows"]
        final.position = positions.get(final.follows)
        followers.setdefault(final.follows, []).append(final.activity)
    truth.finals[final.activity] = final


def change(truth, final, event):
    if event["type"] == "token":
        truth.activity_by_token[fingerprint(event["token"])] = final.activity
    if final.has_ended:
        return
    final.content |= event.get("contentState", {})
    if event["type"] == "position":
        final.position = (event["latitude"], event["longitude"])
        final.way.append((event["timestamp"], final.position, event.get("contentState", {})))
    if "alert" in event:
        final.last_alert = event["timestamp"]
    if event["type"] == "activity.ended":
        final.has_ended, final.ended_at = True, event["timestamp"]
