"""One line of a recording -> a record: its time, its source, and an event or the reason of a dead letter."""
import datetime
import fractions
import math
import re

import strict_json
from strict_json import is_number

LARGEST_EVENT_BYTES = 64 * 1024
DEEPEST_EVENT = 64
LOOKS_LIKE_MILLISECONDS = 10 ** 11
TYPES = ("activity.started", "position", "status", "token", "activity.ended")


class DeadLetter(Exception):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Record:
    def __init__(self):
        self.received_at = None   # milliseconds
        self.partition = 0
        self.offset = None
        self.event = None
        self.dead = None          # reason of a dead letter

    @property
    def time(self):
        """pacing.md section 6: `receivedAt`, else `timestamp`; a dead letter has a time only by `receivedAt`."""
        if self.received_at is not None:
            return self.received_at
        return self.event.timestamp if self.event else None


class Event:
    """Every field that some type has; what an event lacks is None."""
    type = activity = subject = timestamp = event_id = None
    content_state = alert = frequent_updates = None
    latitude = longitude = accuracy = speed = heading = None
    relevance_score = token = start_token = user = channel = follows = None
    partition = offset = None

    def patch(self):
        """The merge patch that this event brings; `status` is shorthand and has been folded in. None: no patch."""
        return self.content_state


def milliseconds(value, name):
    """Unix seconds or RFC 3339 -> whole milliseconds, floor(t * 1000 + 0.5)."""
    if isinstance(value, str):
        return rfc3339(value)
    if not is_number(value):
        raise DeadLetter("wrong_type:" + name)
    if isinstance(value, float) and math.isinf(value):
        raise DeadLetter("out_of_range:" + name)
    if value > LOOKS_LIKE_MILLISECONDS or value < -LOOKS_LIKE_MILLISECONDS:
        raise DeadLetter("bad_timestamp")
    return math.floor(float(value) * 1000.0 + 0.5)


RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def rfc3339(text):
    match = RFC3339.fullmatch(text)
    if not match:
        raise DeadLetter("bad_timestamp")
    year, month, day, hour, minute, second = (int(match.group(index)) for index in range(1, 7))
    zone = match.group(8)
    offset = 0
    if zone not in "Zz":
        if int(zone[1:3]) > 23 or int(zone[4:6]) > 59:
            raise DeadLetter("bad_timestamp")
        offset = (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60) * (-1 if zone[0] == "-" else 1)
    try:
        days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError:
        raise DeadLetter("bad_timestamp")
    if hour > 23 or minute > 59 or second > 60:
        raise DeadLetter("bad_timestamp")
    seconds = fractions.Fraction(days * 86400 + hour * 3600 + minute * 60 + second - offset)
    if match.group(7):
        seconds += fractions.Fraction("0" + match.group(7))
    return math.floor(seconds * 1000 + fractions.Fraction(1, 2))


def decode(line, known_apps=()):
    """bytes of one line, without its line feed -> Record. `known_apps`: None takes any name."""
    record = Record()
    try:
        value, size = unwrap(line, record)
        if size > LARGEST_EVENT_BYTES:
            raise DeadLetter("too_large")
        if strict_json.depth(value) > DEEPEST_EVENT:
            raise DeadLetter("not_json")
        if not isinstance(value, dict):
            raise DeadLetter("not_an_object")
        event = decode_event(value, known_apps)
        event.partition, event.offset = record.partition, record.offset
        record.event = event
    except DeadLetter as fault:
        record.dead = fault.reason
    return record


def unwrap(line, record):
    """-> (event as JSON value, its size in bytes)"""
    try:
        value, reader = strict_json.read(line)
    except strict_json.NotJSON:
        raise DeadLetter("too_large" if len(line) > LARGEST_EVENT_BYTES else "not_json")
    if not (isinstance(value, dict) and "value" in value and "type" not in value):
        return value, len(line)
    if value.get("receivedAt") is not None:
        record.received_at = milliseconds(value["receivedAt"], "receivedAt")
    for name in ("partition", "offset"):
        number = value.get(name)
        if number is None:
            continue
        if not isinstance(number, int) or isinstance(number, bool):
            raise DeadLetter("wrong_type:" + name)
        if number < 0:
            raise DeadLetter("out_of_range:" + name)
        setattr(record, name, number)
    first, last = reader.spans["value"]
    return value["value"], len(reader.text[first:last].encode("utf-8"))


class Fields:
    """Typed reading of an event's members. `null` means absent."""

    def __init__(self, members):
        self.members = members

    def raw(self, name):
        return self.members.get(name)

    def string(self, name, least=0, most=None):
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise DeadLetter("wrong_type:" + name)
        size = len(value.encode("utf-8"))
        if size < least or (most is not None and size > most):
            raise DeadLetter("out_of_range:" + name)
        return value

    def boolean(self, name):
        value = self.raw(name)
        if value is not None and not isinstance(value, bool):
            raise DeadLetter("wrong_type:" + name)
        return value

    def number(self, name, least=None, most=None):
        value = self.raw(name)
        if value is None:
            return None
        if not is_number(value):
            raise DeadLetter("wrong_type:" + name)
        value = float(value)
        if math.isinf(value) or (least is not None and value < least) or (most is not None and value > most):
            raise DeadLetter("out_of_range:" + name)
        return value

    def measure(self, name, most=None):
        """accuracy, speed, heading: a negative one is absent (pacing.md section 1)"""
        value = self.number(name, most=most)
        return None if value is None or value < 0 else value

    def object(self, name):
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise DeadLetter("wrong_type:" + name)
        if strict_json.has_infinity(value):
            raise DeadLetter("out_of_range:" + name)
        return value

    def alert(self):
        value = self.object("alert")
        if value is None:
            return None
        for name in ("title", "body"):
            if value.get(name) is not None and not isinstance(value[name], (str, dict)):
                raise DeadLetter("wrong_type:alert." + name)
        if value.get("sound") is not None and not isinstance(value["sound"], str):
            raise DeadLetter("wrong_type:alert.sound")
        return value

    def token(self, name):
        """hex of even length, 64 to 400 digits, kept in lower case"""
        value = self.string(name)
        if value is None:
            return None
        if not re.fullmatch("[0-9a-fA-F]+", value) or len(value) % 2 or not 64 <= len(value) <= 400:
            raise DeadLetter("bad_token")
        return value.lower()


def required(value, name):
    if value is None:
        raise DeadLetter("missing_field:" + name)
    return value


def decode_event(members, known_apps):
    read = Fields(members)
    event = Event()
    event.type = required(read.string("type"), "type")
    if event.type not in TYPES:
        raise DeadLetter("unknown_type")
    event.activity = read.string("activityId", 1, 128)
    event.subject = read.string("subjectId", 1, 128)
    if event.activity is not None and event.subject is not None:
        raise DeadLetter("too_many_targets")
    if event.activity is None and event.subject is None:
        raise DeadLetter("missing_field:activityId")
    event.timestamp = milliseconds(required(read.raw("timestamp"), "timestamp"), "timestamp")
    event.event_id = read.string("eventId", 0, 128) or None   # an empty id is none
    app = read.string("app")
    if app is not None and known_apps is not None and app not in known_apps:
        raise DeadLetter("unknown_app")
    {"activity.started": decode_started, "position": decode_position, "status": decode_status,
     "token": decode_token, "activity.ended": decode_ended}[event.type](read, event)
    return event


def decode_started(read, event):
    attributes_type = read.string("attributesType")
    read.object("attributes")
    event.content_state = read.object("contentState")
    event.follows = read.string("follows", 1, 128)
    event.token = read.token("token")
    event.start_token = read.token("startToken")
    event.user = read.string("userId")
    event.channel = read.string("channelId")
    read.string("fcmToken")
    event.frequent_updates = read.boolean("frequentUpdates")
    event.alert = read.alert()
    targets = [name for name in ("token", "start_token", "user", "channel") if getattr(event, name) is not None]
    if len(targets) > 1 and targets != ["token", "start_token"]:
        raise DeadLetter("too_many_targets")
    if event.subject is not None and event.channel is None:
        raise DeadLetter("missing_field:activityId")
    if event.start_token is not None or event.user is not None:
        required(attributes_type, "attributesType")


def decode_position(read, event):
    event.latitude = required(read.number("latitude", -90, 90), "latitude")
    event.longitude = required(read.number("longitude", -180, 180), "longitude")
    event.accuracy = read.measure("accuracy")
    event.speed = read.measure("speed")
    event.heading = read.measure("heading", 360)
    read.number("altitude")
    event.content_state = read.object("contentState")


def decode_status(read, event):
    status = read.string("status")
    event.content_state = read.object("contentState")
    event.alert = read.alert()
    event.relevance_score = read.number("relevanceScore")
    if status is None and event.content_state is None and event.alert is None and event.relevance_score is None:
        raise DeadLetter("missing_field:status")
    if status is not None:
        event.content_state = dict(event.content_state or {}, status=status)   # shorthand, and it wins


def decode_token(read, event):
    if event.activity is None:
        raise DeadLetter("missing_field:activityId")
    event.token = required(read.token("token"), "token")
    event.frequent_updates = read.boolean("frequentUpdates")


def decode_ended(read, event):
    event.content_state = read.object("contentState")
    event.alert = read.alert()
    dismissal = read.raw("dismissalDate")
    if dismissal is not None and dismissal != "immediate":
        milliseconds(dismissal, "dismissalDate")
