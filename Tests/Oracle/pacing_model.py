"""The pacing rules, one activity at a time, as slowly and plainly as they can be written.

`Pacing.apply(event, now)` applies one event; `Pacing.next_timer()` scans every activity for the earliest timer and
`Pacing.fire` fires it. A section number in a comment is one of the pacing specification.
"""
import json
import math

from plan_settings import PROFILES, WEEK
from strict_json import differing_fields, equal, fields, is_number, merge_patch, with_field

EARTH_RADIUS_METERS = 6371008.8
REMEMBERED_EVENT_IDS = 16
LARGEST_STATE_BYTES = 4096
LARGEST_CHANNEL_STATE_BYTES = 5120
FURTHEST_TIMESTAMP_AHEAD = 5000   # section 4
URGENT = {"started", "status", "alert", "ended"}
ORDER_OF_REASONS = ["started", "status", "alert", "distance", "drift", "content", "retarget", "refresh", "ended"]


def distance_meters(a, b):
    """Section 2: Haversine, its term clamped to [0, 1]."""
    half_latitude = math.radians(b.latitude - a.latitude) / 2.0
    half_longitude = math.radians(b.longitude - a.longitude) / 2.0
    cosines = math.cos(math.radians(a.latitude)) * math.cos(math.radians(b.latitude))
    term = math.sin(half_latitude) ** 2 + cosines * math.sin(half_longitude) ** 2
    return 2.0 * EARTH_RADIUS_METERS * math.asin(math.sqrt(min(1.0, max(0.0, term))))


def covers(name, field):
    """Section 0: a name covers what lies below it."""
    return field[:len(name)] == name


def overlap(a, b):
    return covers(a, b) or covers(b, a)


class Contribution:
    """What one event brought into the waiting update and nobody has set again."""

    def __init__(self, event, keys):
        self.is_position = event.type == "position"
        self.keys = keys   # ("field", path), ("position",), ("alert",), ("end",)


def set_fields(event):
    return set(fields(event.patch() or {}))


def same_thing(new, old):
    if new[0] == "field" and old[0] == "field":
        return covers(new[1], old[1])
    return new == old


class Activity:
    def __init__(self, name):
        self.name = name
        # What goes on from life to life (section 1, `after_end`).
        self.sequence = 0
        self.last_aps = None
        self.level = None            # cadence bucket
        self.level_since = None      # when it last became not full, or gained its last token
        self.event_ids = []
        self.offsets = {}            # partition -> offsets applied
        self.targets_seen = set()
        self.begin_life(None)

    def begin_life(self, order):
        self.order = order           # of start
        self.is_subject = False      # begun with subjectId: the subject itself is the activity
        self.follows = None
        self.start_event = None      # the activity.started of this life
        self.had_target = False      # at any time of this life
        self.began_alone = False     # without an activity.started: `plan` takes a target for granted (gate 4)
        self.start_time = None       # life limit
        self.phone_start = None      # began on the phone: counts as its first send for `refresh`
        self.frequent = None
        self.target = None           # ("token", hex) or ("channel", id)
        self.registered = None       # when it was reported: an older report never replaces it
        self.start_token = None      # the target is a start token
        self.position = None         # newest taken position: `latest`
        self.held = None             # implausible position, held aside
        self.state = {}              # `latest` content-state
        self.shown_state = None
        self.shown_position = None
        self.last_sent = None
        self.set_by_status = set()   # fields that a status or start set since the last send
        self.applied_since_send = False
        self.alert = False           # pending
        self.retarget = False
        self.ended = False
        self.ended_at = None
        self.gave_up = False         # ended without ever having had a target
        self.end_sent_at = None
        self.last_applied_at = None
        self.waiting = False         # an update waits at a gate
        self.waits_urgent = False    # for the gates of an urgent update
        self.wait_threshold = None   # smallest threshold that any position gave since it waits
        self.contributions = []
        self.judged_at = None
        self.timer = None            # cached answer of Pacing.timer; None: ask again

    def newest_position_time(self):
        """Section 1: the time of a position held aside counts while it is held."""
        times = [position.timestamp for position in (self.position, self.held) if position]
        return max(times, default=None)


class Pacing:
    def __init__(self, settings):
        self.settings = settings
        self.activities = {}
        self.subject_positions = {}   # subject -> its newest sane position
        self.early_tokens = {}        # activity -> (event, when it was applied)
        self.starts = 0
        self.clock = None
        self.sends = []
        self.decisions = {}
        self.sub_reasons = {}
        self.dead_letters = {}
        self.activity_events = 0

    # ------------------------------------------------------------------ counting (section 7)

    def decide(self, decision, count=1):
        self.decisions[decision] = self.decisions.get(decision, 0) + count

    def dead_letter(self, reason):
        self.decide("dead_letter")
        self.dead_letters[reason] = self.dead_letters.get(reason, 0) + 1

    def pending(self):
        return sum(len(activity.contributions) + (1 if activity.held else 0) for activity in self.activities.values())

    def check_sum(self):
        total = sum(self.decisions.values()) + self.pending()
        assert total == self.activity_events, "%d events, %d accounted for" % (self.activity_events, total)

    # ------------------------------------------------------------------ from event to activities

    def undecodable(self, reason):
        self.activity_events += 1
        self.dead_letter(reason)

    def apply(self, event, now):
        self.clock = now
        if event.subject is None or event.type == "activity.started":
            self.activity_events += 1
            self.apply_to(event.subject or event.activity, event, now)
            return
        if event.type == "position":
            self.remember_subject_position(event, now)
        followers = [a for a in self.activities.values() if not a.ended and self.answers_to(a, event.subject)]
        for activity in sorted(followers, key=lambda a: a.order):   # section 3: in the order of their start
            self.activity_events += 1
            self.apply_to(activity.name, event, now)
        if not followers:
            self.activity_events += 1
            own = self.activities.get(event.subject)
            self.decide("after_end" if own and own.is_subject and own.ended else "no_follower")

    @staticmethod
    def answers_to(activity, subject):
        return activity.follows == subject or (activity.is_subject and activity.name == subject)

    def remember_subject_position(self, event, now):
        """Section 1, `no_follower`."""
        if self.position_fault(event, now):
            return
        kept = self.subject_positions.get(event.subject)
        if kept is None or event.timestamp > kept.timestamp:
            self.subject_positions[event.subject] = event

    # ------------------------------------------------------------------ section 1: sanity and order

    def position_fault(self, event, now):
        """The rows `null_island` to `too_old`."""
        settings = self.settings
        if event.latitude == 0 and event.longitude == 0 and not settings.allowNullIsland:
            return "null_island"
        if event.accuracy is not None and event.accuracy > settings.maxAccuracyMeters:
            return "inaccurate"
        if event.timestamp - now > settings.maxFuture:
            return "future"
        if now - event.timestamp > settings.maxAge:
            return "too_old"
        return None

    def is_week_rollover(self, event, now):
        """The offset is a multiple of 1,024 weeks: moved by it the position would be neither future nor too old."""
        period = 1024 * WEEK
        offset = event.timestamp - now
        multiples = round(offset / period)
        rest = offset - multiples * period
        return multiples != 0 and -self.settings.maxAge <= rest <= self.settings.maxFuture

    def too_fast(self, earlier, later):
        seconds = max(1.0, (later.timestamp - earlier.timestamp) / 1000.0)
        return distance_meters(earlier, later) / seconds > self.settings.maxSpeedMetersPerSecond

    def is_new_target(self, activity, event):
        targets = self.targets_of(event)
        current = targets[0] if targets else None   # beside `token` a start token is only kept for renewal
        return current is not None and current not in activity.targets_seen

    @staticmethod
    def targets_of(event):
        return [(kind, value) for kind, value in
                (("token", event.token), ("channel", event.channel), ("start", event.start_token), ("user", event.user))
                if value is not None]

    def offset_is_applied(self, activity, event):
        if event.offset is None or event.partition not in activity.offsets:
            return False
        applied = activity.offsets[event.partition]
        if self.settings.reading["appliedOffset"] == "exact":
            return event.offset in applied
        return event.offset <= max(applied)

    def apply_to(self, name, event, now):
        settings = self.settings
        activity = self.activities.get(name)
        restart = False

        if activity and activity.ended:
            if event.type == "token" and activity.waiting and not self.has_target(activity):
                pass   # its end waits for a token
            elif event.type == "activity.started" and self.is_new_target(activity, event):
                restart = True
            else:
                return self.decide("after_end")

        if activity is None and event.type == "token":
            before = self.early_tokens.get(name)
            if before and now > before[1] + settings.removeAfter:
                before = None
            if before and event.timestamp < before[0].timestamp:
                return self.decide("out_of_order")
            if before and event.frequent_updates is None:
                event.frequent_updates = before[0].frequent_updates
            self.early_tokens[name] = (event, now)
            return self.decide(settings.reading["earlyToken"])
        if activity is None and event.type != "activity.started":
            if event.type == "activity.ended" or not settings.autoStart:
                return self.decide("unknown_activity")

        if activity:
            newest = None if restart else activity.newest_position_time()
            if event.event_id is not None and event.event_id in activity.event_ids[-REMEMBERED_EVENT_IDS:]:
                return self.decide("duplicate")
            if event.type == "position" and event.timestamp == newest:
                return self.decide("duplicate")
            if self.offset_is_applied(activity, event):
                return self.decide("duplicate")
            if event.type == "position" and newest is not None and event.timestamp < newest:
                return self.decide("out_of_order")
            if event.type == "token" and not self.is_newest_registration(activity, event):
                return self.decide("out_of_order")

        if self.lacks_alert(name, activity, event, now, restart):
            return self.dead_letter("missing_field:alert")

        taken = [event]
        if event.type == "position":
            fault = self.position_fault(event, now)
            if fault:
                if fault in ("future", "too_old") and self.is_week_rollover(event, now):
                    self.sub_reasons["week_rollover"] = self.sub_reasons.get("week_rollover", 0) + 1
                return self.decide(fault)
            if activity and activity.position:
                taken = self.plausible(activity, event)
                if not taken:
                    self.remember(activity, event)   # held aside: counts as seen
                    activity.timer = None
                    return None

        applied = []
        for each in taken:
            if self.is_state_too_large(activity, each, restart):
                self.dead_letter("content_state_too_large")
                continue
            if activity is None or restart:
                activity = self.begin(name, activity, each, now)
                restart = False
            if each is event:
                self.remember(activity, event)
            applied.append((each, self.take(activity, each, now)))
        if applied:
            activity.last_applied_at = now
            if event is not activity.start_event:   # the start itself is not applied "after" the start
                activity.applied_since_send = True
            self.judge(activity, now, applied)
        return None

    def lacks_alert(self, name, activity, event, now, restart):
        """Section 2, `started`: where the start token would be the target, the start push needs an alert."""
        if event.alert is not None or event.token is not None or (event.start_token is None and event.user is None):
            return False
        if activity is None:
            early = self.early_tokens.get(name)
            return not (early and now <= early[1] + self.settings.removeAfter)
        return restart or (activity.target is None and activity.last_sent is None)

    def plausible(self, activity, event):
        """Section 1, `implausible` -> the positions to be taken now; none: the event is held aside."""
        last, held = activity.position, activity.held
        reanchor = event.timestamp - last.timestamp > self.settings.reanchorAfter
        if reanchor or not self.too_fast(last, event):
            self.drop_held(activity)
            return [event]
        if held and event.timestamp > held.timestamp and not self.too_fast(held, event):
            activity.held = None
            return [held, event]
        self.drop_held(activity)
        activity.held = event
        return []

    def drop_held(self, activity):
        if activity.held:
            activity.held = None
            self.decide("implausible")

    def remember(self, activity, event):
        if event.event_id is not None:
            activity.event_ids.append(event.event_id)
        if event.offset is not None:
            activity.offsets.setdefault(event.partition, set()).add(event.offset)

    def is_state_too_large(self, activity, event, restart):
        """events.md: the merged state above 4096 bytes, 5120 for a channel"""
        if event.patch() is None:
            return False
        before = activity.state if activity and not restart else {}
        merged = merge_patch(before, event.patch())
        size = len(json.dumps(merged, separators=(",", ":"), ensure_ascii=False).encode("utf-8"))
        target = activity.target if activity and not restart else None
        is_channel = event.channel is not None or (target is not None and target[0] == "channel")
        return size > (LARGEST_CHANNEL_STATE_BYTES if is_channel else LARGEST_STATE_BYTES)

    # ------------------------------------------------------------------ beginning

    def begin(self, name, activity, event, now):
        if activity is None:
            activity = self.activities[name] = Activity(name)
        else:
            self.decide("unsendable", len(activity.contributions))   # the old life's end, still waiting
        profile_before = self.profile(activity) if activity.level is not None else None
        self.starts += 1
        activity.begin_life(self.starts)
        early = self.early_tokens.pop(name, None)
        if early and now <= early[1] + self.settings.removeAfter:   # kept until `removeAfter`, the instant included
            activity.target = ("token", early[0].token)
            activity.registered = early[0].timestamp
            activity.targets_seen.add(activity.target)
            activity.had_target = True
            activity.frequent = early[0].frequent_updates
        if event.frequent_updates is not None:
            activity.frequent = event.frequent_updates
        if profile_before is None:
            bucket = self.bucket(activity)
            activity.level = bucket[0] if bucket else 0
            activity.level_since = now
        elif self.profile(activity) != profile_before:
            self.switch_bucket(activity, profile_before, now)
        if event.type != "activity.started":
            activity.began_alone = activity.had_target = True
            activity.start_time = now
        return activity

    # ------------------------------------------------------------------ taking an event over

    def take(self, activity, event, now):
        """Change what is kept. -> (what the event set, decision where that is settled already, or None)"""
        keys = {("field", field) for field in set_fields(event)}
        if event.type == "activity.started":
            return self.take_start(activity, event, now, keys)
        if event.type == "token":
            self.take_frequent_updates(activity, event, now)
            self.take_update_target(activity, ("token", event.token), event)
            return set(), "applied"
        if event.patch() is not None:
            activity.state = merge_patch(activity.state, event.patch())
        if event.type == "position":
            activity.position = event
            keys.add(("position",))
            if activity.waiting and activity.shown_position:
                activity.wait_threshold = min(
                    activity.wait_threshold if activity.wait_threshold is not None else math.inf,
                    self.threshold(activity, event))
        if event.type == "status":
            activity.set_by_status |= set_fields(event)
        if event.alert is not None:
            activity.alert = True
            keys.add(("alert",))
        decision = None if keys else "applied"
        if event.type == "activity.ended":
            keys.add(("end",))
            self.end(activity, now)
        return keys, decision

    def end(self, activity, now):
        activity.ended = True
        activity.ended_at = now
        self.drop_held(activity)

    def take_start(self, activity, event, now, keys):
        repeated = activity.start_event is not None or activity.last_sent is not None
        if event.frequent_updates is not None:
            self.take_frequent_updates(activity, event, now)
        if event.patch() is not None:
            activity.state = merge_patch(activity.state, event.patch())
        activity.set_by_status |= set_fields(event)
        # Also what is only kept for renewal; a token or channel that an older report names was never the target.
        activity.targets_seen |= {target for target in self.targets_of(event) if target[0] in ("start", "user")}
        becomes_start_target = (event.start_token is not None and event.token is None
                                and activity.target is None and activity.last_sent is None)
        if event.token is not None:
            self.take_update_target(activity, ("token", event.token), event)
        elif event.channel is not None:
            self.take_update_target(activity, ("channel", event.channel), event)
        elif becomes_start_target:
            activity.start_token = event.start_token
            activity.had_target = True
        if repeated:
            if event.alert is not None and becomes_start_target:
                activity.alert = True
                keys.add(("alert",))
            return keys, "repeated_start"
        activity.start_event = event
        self.starts += 1
        activity.order = self.starts   # of one that began alone as well: "it is the start"
        activity.is_subject = event.subject is not None
        activity.follows = event.follows
        activity.start_time = None if activity.start_token else min(event.timestamp, now)
        self.take_subject_position(activity, now)
        if event.token is not None or event.channel is not None:
            activity.phone_start = activity.start_time
            activity.applied_since_send = False   # what came before the start is in it
            activity.shown_state = merge_patch({}, event.patch() or {})   # the phone shows it already; its alert is not sent
        elif event.alert is not None:
            activity.alert = True
            keys.add(("alert",))
        return keys, None if keys else "applied"

    def take_subject_position(self, activity, now):
        # With a channel the subject itself is the activity, and so the first of its followers.
        kept = self.subject_positions.get(activity.name if activity.is_subject else activity.follows)
        if kept and activity.position is None and now - kept.timestamp <= self.settings.maxAge:
            activity.position = kept

    @staticmethod
    def is_newest_registration(activity, event):
        return activity.target is None or event.timestamp >= activity.registered

    def take_update_target(self, activity, target, event):
        if not self.is_newest_registration(activity, event):
            return
        activity.registered = event.timestamp
        if activity.target is not None and activity.target != target and activity.shown_state is not None:
            activity.retarget = True
        activity.target = target
        activity.had_target = True
        activity.targets_seen.add(target)

    def take_frequent_updates(self, activity, event, now):
        if event.frequent_updates is None:
            return
        before = self.profile(activity)
        activity.frequent = event.frequent_updates
        if self.profile(activity) != before:
            self.switch_bucket(activity, before, now)

    # ------------------------------------------------------------------ section 2: significance

    def threshold(self, activity, position):
        settings = self.settings
        if not settings.accuracyAware:
            return settings.deadbandMeters
        newer, shown = position.accuracy, activity.shown_position.accuracy
        if newer is not None and shown is not None and newer < shown / 2:
            return settings.deadbandMeters
        both = (newer or 0.0) + (shown or 0.0)
        return max(settings.deadbandMeters, min(both, settings.deadbandCeilingMeters))

    def is_far(self, activity):
        if activity.position is None:
            return False
        if activity.shown_position is None:
            return True
        threshold = self.threshold(activity, activity.position)
        if activity.waiting and activity.wait_threshold is not None:
            threshold = min(threshold, activity.wait_threshold)
        return distance_meters(activity.shown_position, activity.position) > threshold

    def kind_of_field(self, activity, field):
        """-> None (never counts), "discrete", a tolerance, or "other" """
        settings = self.settings
        never = [settings.sequenceField] + [
            name for source, name in settings.positionFields.items()
            if any(position and self.position_values(position)[source] is not None
                   for position in (activity.position, activity.shown_position))]   # what positionFields *write*
        if any(covers(name, field) for name in never):
            return None
        names = [name for name in list(settings.discrete) + list(settings.tolerances) if covers(name, field)]
        if not names:
            return "other"
        longest = max(names, key=len)
        return "discrete" if longest in settings.discrete else settings.tolerances[longest]

    def field_reasons(self, activity, now):
        found = set()
        # Both as the phone sees them: with what is written into them.
        told = self.told(activity, activity.position)
        for field, (latest, shown) in differing_fields(self.numbered(told),
                                                       self.numbered(activity.shown_state or {})).items():
            kind = self.kind_of_field(activity, field)
            if kind == "discrete":
                found.add("status")
            elif isinstance(kind, float):
                numbers = is_number(latest) and is_number(shown)
                if not numbers or self.drifted(latest, shown, kind):
                    found.add("drift")
            elif kind == "other":
                by_status = any(overlap(field, name) for name in activity.set_by_status)
                stale = activity.last_sent is not None and now >= activity.last_sent + self.settings.staleAfter
                if by_status or stale:
                    found.add("content")
        return found

    @staticmethod
    def drifted(a, b, tolerance):
        a, b = float(a), float(b)
        return abs(a - b) >= tolerance - 1e-12 * max(1.0, abs(a), abs(b))

    def reasons(self, activity, now):
        found = self.field_reasons(activity, now)
        if self.is_start_push(activity):
            found.add("started")
        if activity.alert:
            found.add("alert")
        if self.is_far(activity):
            found.add("distance")
        if activity.retarget:
            found.add("retarget")
        if activity.ended and activity.end_sent_at is None:
            found.add("ended")
            if self.settings.reading["endReasons"] == "alone":
                found = {"ended"}
        if not found and self.is_refresh_due(activity, now):
            found.add("refresh")
        return [reason for reason in ORDER_OF_REASONS if reason in found]

    @staticmethod
    def is_start_push(activity):
        return activity.start_token is not None and activity.target is None and activity.last_sent is None

    def refresh_time(self, activity):
        """When a refresh is due, if any event was applied after the last send (or the start on the phone)."""
        since = activity.last_sent if activity.last_sent is not None else activity.phone_start
        if not self.settings.refresh or since is None or not activity.applied_since_send:
            return None
        return since + self.settings.staleAfter - self.settings.refreshLead

    def is_refresh_due(self, activity, now):
        due = self.refresh_time(activity)
        return due is not None and now >= due

    # ------------------------------------------------------------------ what is told

    def told(self, activity, position):
        """Content-state as it is sent, without the sequence: the mapping wins over what the producer wrote."""
        state = activity.state
        if position is None:
            return state
        values = self.position_values(position)
        for source, field in self.settings.positionFields.items():
            if values[source] is not None:
                state = with_field(state, field, values[source])
        return state

    def numbered(self, state):
        """The sequence field never counts, whatever the producer wrote there."""
        return with_field(state, self.settings.sequenceField, 0)

    @staticmethod
    def position_values(position):
        return {"latitude": round(position.latitude, 5), "longitude": round(position.longitude, 5),
                "accuracy": position.accuracy, "speed": position.speed, "heading": position.heading,
                "positionTimestamp": position.timestamp / 1000.0}

    # ------------------------------------------------------------------ judging

    def judge(self, activity, now, applied=()):
        """Sections 2, 3 and 7: after an event, or when a timer fires."""
        activity.judged_at = now
        activity.timer = None
        reasons = self.reasons(activity, now)
        joining = []
        for event, (keys, decision) in applied:
            if decision is not None:
                self.decide(decision)
                self.set_again(activity, keys)
            else:
                joining.append(Contribution(event, keys))

        told = self.told(activity, activity.position)
        unchanged = (reasons == ["distance"] and activity.shown_state is not None
                     and equal(self.numbered(told), self.numbered(activity.shown_state)))
        if not activity.waiting and (unchanged or not reasons):
            for contribution in joining:
                if unchanged:
                    self.set_again(activity, contribution.keys)
                    activity.contributions.append(contribution)
                else:
                    self.decide(self.nothing_to_send(activity, contribution))
            if unchanged:
                self.finish(activity, "unchanged")
        else:
            for contribution in joining:
                self.set_again(activity, contribution.keys)
                activity.contributions.append(contribution)
            if activity.ended and (not activity.had_target or self.is_start_push(activity)):
                # Section 5: no target was ever known, or there is no card to end.
                activity.gave_up = True
                return self.finish(activity, "unsendable")
            if not activity.waiting:
                activity.waiting = True
                if activity.position and activity.shown_position:
                    activity.wait_threshold = self.threshold(activity, activity.position)
            if URGENT & set(reasons):
                activity.waits_urgent = True
            if unchanged:
                self.finish(activity, "unchanged")
            elif self.gates_are_open(activity, activity.waits_urgent, now):
                # Section 3: only when its gates open is the significance judged again.
                if reasons and not URGENT & set(reasons):
                    activity.waits_urgent = False
                if not reasons:
                    self.finish(activity, "returned")
                elif self.gates_are_open(activity, activity.waits_urgent, now):
                    self.send(activity, reasons, now)
        if unchanged:
            activity.shown_position = activity.position   # the anchor moves with its accuracy
            self.judge(activity, now)   # a refresh may be due, now that no other reason holds

    @staticmethod
    def nothing_to_send(activity, contribution):
        return "deadband" if contribution.is_position else "applied"

    def set_again(self, activity, keys):
        """Section 7, `conflated`."""
        for contribution in list(activity.contributions):
            contribution.keys = {old for old in contribution.keys if not any(same_thing(new, old) for new in keys)}
            if not contribution.keys:
                activity.contributions.remove(contribution)
                self.decide("conflated")

    def finish(self, activity, decision):
        self.decide(decision, len(activity.contributions))
        activity.contributions = []
        activity.waiting = False
        activity.waits_urgent = False
        activity.wait_threshold = None

    # ------------------------------------------------------------------ section 3: gates

    def profile(self, activity):
        if self.settings.profile != "auto":
            return self.settings.profile
        return "frequent" if activity.frequent else "standard"

    def bucket(self, activity):
        return PROFILES[self.profile(activity)]

    def level_at(self, activity, now, bucket=None):
        """-> (level, since): it gains one each interval while not full"""
        burst, interval = bucket or self.bucket(activity)
        level, since = activity.level, activity.level_since
        while level < burst and since + interval <= now:
            level, since = level + 1, since + interval
        return level, since

    def switch_bucket(self, activity, profile_before, now):
        """Section 0: the level is kept, cut to the new bounds, and its interval begins anew."""
        level, _ = self.level_at(activity, now, PROFILES[profile_before])
        burst, _ = self.bucket(activity)
        activity.level = max(-burst, min(burst, level))
        activity.level_since = now

    def take_token(self, activity, now):
        bucket = self.bucket(activity)
        activity.level, activity.level_since = self.level_at(activity, now)
        if activity.level == bucket[0]:
            activity.level_since = now   # from now on it is not full
        activity.level -= 1

    def has_target(self, activity):
        """Gate 4. In `plan` an activity that began without `activity.started` has one from its first event."""
        if self.is_start_push(activity):
            return True
        return activity.target is not None or activity.began_alone

    def aps_timestamp(self, activity, now):
        wall = now // 1000
        return wall if activity.last_aps is None else max(wall, activity.last_aps + 1)

    def stale_lead_passed(self, activity, now):
        lead = self.settings.staleAfter - self.settings.refreshLead
        return activity.last_sent is not None and now >= activity.last_sent + lead

    def gates_are_open(self, activity, urgent, now):
        settings = self.settings
        if not self.has_target(activity):
            return False
        if self.aps_timestamp(activity, now) * 1000 - now > FURTHEST_TIMESTAMP_AHEAD:
            return False
        if activity.ended:
            return True
        last, bucket = activity.last_sent, self.bucket(activity)
        level, burst = (self.level_at(activity, now)[0], bucket[0]) if bucket else (math.inf, math.inf)
        if urgent:
            return level > -burst or last is None or now >= last + settings.urgentMinInterval
        if last is not None and now < last + settings.minInterval:
            return False
        return level > 0 or (level > -burst and self.stale_lead_passed(activity, now))

    # ------------------------------------------------------------------ section 4: sending

    def send(self, activity, reasons, now):
        urgent = bool(URGENT & set(reasons))
        bucket = self.bucket(activity)
        level = self.level_at(activity, now)[0] if bucket else math.inf
        at_bottom = bool(bucket) and level == -bucket[0]
        priority = 10 if urgent and ("ended" in reasons or not at_bottom) else 5
        if bucket:
            may_go_below = urgent and "ended" not in reasons
            if level > 0 or (may_go_below and not at_bottom):
                self.take_token(activity, now)

        activity.sequence += 1
        activity.last_aps = self.aps_timestamp(activity, now)
        told = self.told(activity, activity.position)
        event = "end" if activity.ended else "start" if "started" in reasons else "update"
        if event == "start":
            activity.start_time = now   # section 5: the life of a push-to-start begins with its send
        if event == "end":
            activity.end_sent_at = now
        send = {"time": now / 1000, "activityId": activity.name, "sequence": activity.sequence, "event": event,
                "reasons": reasons, "class": "urgent" if urgent else "routine", "priority": priority}
        if activity.position:
            send["latitude"] = activity.position.latitude
            send["longitude"] = activity.position.longitude
            send["positionTimestamp"] = activity.position.timestamp / 1000
        send["contentState"] = with_field(told, self.settings.sequenceField, activity.sequence)
        self.sends.append(send)

        # Every send is accepted at once (section 6): `shown` advances.
        activity.shown_state = told
        activity.shown_position = activity.position
        activity.last_sent = now
        activity.set_by_status = set()
        activity.applied_since_send = False
        activity.alert = False
        activity.retarget = False
        self.finish(activity, "sent")

    # ------------------------------------------------------------------ timers (sections 3, 5 and 6)

    def timer(self, activity):
        """-> (due, kind) of the activity's next timer, or None"""
        if activity.timer is None:
            due = [timer for timer in (self.life_timer(activity), self.removal_timer(activity),
                                       self.release_timer(activity), self.staleness_timer(activity)) if timer]
            # At one instant the life limit goes first and absorbs the update (section 6).
            activity.timer = min(due, key=lambda timer: (timer[0], timer[1] != "life"), default=False)
        return activity.timer or None

    def life_timer(self, activity):
        life = self.settings.maxActivityLife
        if activity.ended or activity.start_time is None or life is None:
            return None
        return activity.start_time + life, "life"

    def removal_timer(self, activity):
        if not activity.ended:
            return None
        times = [activity.ended_at, activity.end_sent_at, activity.last_applied_at]
        return max(time for time in times if time is not None) + self.settings.removeAfter, "removal"

    def instants(self, activity):
        """Every instant after the last judgement at which time alone may open a gate or give a reason."""
        settings = self.settings
        lead = settings.staleAfter - settings.refreshLead
        instants = [0]
        if activity.last_sent is not None:
            instants += [activity.last_sent + wait for wait in
                         (settings.minInterval, settings.urgentMinInterval, lead, settings.staleAfter)]
        if activity.phone_start is not None:
            instants.append(activity.phone_start + lead)
        if activity.last_aps is not None:
            instants.append((activity.last_aps + 1) * 1000 - FURTHEST_TIMESTAMP_AHEAD)
        bucket = self.bucket(activity)
        if bucket:
            burst, interval = bucket
            instants += [activity.level_since + count * interval for count in range(1, 2 * burst + 1)]
        return sorted(instant for instant in set(instants) if instant > activity.judged_at)

    def release_timer(self, activity):
        """When the gates open for the update that waits."""
        if not activity.waiting:
            return None
        for instant in self.instants(activity):
            if self.gates_are_open(activity, activity.waits_urgent, instant):
                return instant, "release"
        return None   # it waits for its target

    def staleness_timer(self, activity):
        """`refresh`, and `content` once `staleAfter` has passed, where no update waits."""
        if activity.waiting or activity.ended:
            return None
        for instant in self.instants(activity):
            reasons = self.reasons(activity, instant)
            if reasons:
                return instant, "refresh" if reasons == ["refresh"] else "stale"
        return None

    def next_timer(self):
        """The earliest timer of all: due time, then activity start (section 6)."""
        return self.earliest((self.timer(activity), activity) for activity in self.activities.values())

    def next_timer_after_the_end(self):
        """Section 6: only what is held and time alone can release; no life limit, no removal."""
        found = [(self.release_timer(activity), activity) for activity in self.activities.values()]
        if self.settings.reading["refreshAfterEnd"] == "armed":
            found += [(self.staleness_timer(activity), activity) for activity in self.activities.values()]
        return self.earliest(found)

    @staticmethod
    def earliest(timers):
        found = [(timer[0], activity.order, timer[1], activity) for timer, activity in timers if timer]
        return min(found, key=lambda timer: timer[:2], default=None)

    def fire(self, timer):
        due, _, kind, activity = timer
        now = self.clock = max(due, self.clock)
        activity.timer = None
        if kind == "removal":
            self.decide("unsendable", len(activity.contributions))
            del self.activities[activity.name]
        else:
            if kind == "life":
                self.end(activity, now)
            self.judge(activity, now)
