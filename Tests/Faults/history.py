"""The requests of one activity, held to what is promised of each. See judge.py."""

import collections
import math

from promises import Broken

EARTH_METERS = 6_371_008.8
SHOWN = ("applied", "alerted", "ended")


class History:
    """The requests of one activity in the order of their arrival."""

    def __init__(self, activity, entries, final, terms):
        self.activity, self.entries, self.final, self.terms = activity, entries, final, terms
        self.counts = collections.Counter()
        self.broken = []
        # Without what the client was told not to have been processed, and what came from a client that had gone and was not read.
        self.processed = [one for one in entries if one.get("fate") != "unprocessed" and one["status"] != 0]
        self.accepted = [one for one in self.processed if one["status"] == 200]
        self.shown = [one for one in self.accepted if one.get("verdict") in SHOWN]

    def find(self, promise, explanation, entry=None):
        self.broken.append(Broken(promise, self.activity, explanation, entry and entry["number"]))

    def judge(self):
        self.counts["pushes"] = len(self.accepted)
        self.refusals()
        self.drops()
        self.sequences()
        self.order()
        self.ending()
        self.starts()
        self.resends()
        self.cadence()
        if self.final:
            self.final_state()
        return self.broken

    def is_untold(self):
        self.final_state()
        return bool(self.broken)

    def refusals(self):
        end = None
        for entry in self.processed:
            if self.is_late(entry):
                self.counts["late"] += 1
            elif entry["status"] == 410 and self.is_end_again(entry, end):
                self.counts["resends"] += entry["sequence"] != end["sequence"]
            elif entry["status"] != 200 and not entry.get("injected"):
                self.find("wellFormed", f"was refused: {entry['status']} {entry.get('reason')}", entry)
            if entry.get("warnings"):
                self.find("wellFormed", f"is odd: {'; '.join(entry['warnings'])}", entry)
            if entry["status"] == 200 and entry["event"] == "end":
                end = end or entry

    def is_end_again(self, entry, end):
        """Its phone is no longer to be had after an end: who had not written that it was told hears so."""
        if not end or entry["event"] != "end":
            return False
        return entry["sequence"] == end["sequence"] or any(self.explains(one, end, entry) for one in self.terms.unclean)

    def is_late(self, entry):
        # 410: its phone has taken off what has ended.
        is_dropped = entry.get("verdict") in ("dropped:outdated", "dropped:ended") or entry["status"] == 410
        return self.terms.may_arrive_late and is_dropped

    def drops(self):
        for entry in self.accepted:
            verdict = entry.get("verdict")
            if not self.is_late(entry) and verdict not in SHOWN and not (verdict == "dropped:ended" and entry["event"] == "end"):
                self.find("shown", f"sequence {entry.get('sequence')} was not shown: {verdict}", entry)

    def sequences(self):
        first = {}
        highest = 0
        for entry in self.entries:
            sequence = entry.get("sequence")
            if sequence is None:
                self.find("sequenceRises", "carries no sequence", entry)
                continue
            if sequence in first:
                self.counts["retries"] += 1
                before = first[sequence]
                if entry["contentState"] != before["contentState"]:
                    self.find("sequenceKeepsContent", f"sequence {sequence} had another content in {before['number']}", entry)
                elif entry.get("apnsId") != before.get("apnsId"):
                    self.find("sequenceKeepsContent", f"sequence {sequence} had another apns-id in {before['number']}", entry)
            else:
                first[sequence] = entry
            is_late = self.terms.may_arrive_late and entry.get("verdict") not in SHOWN
            if sequence < highest and not is_late:
                self.find("sequenceRises", f"sequence {sequence} came after {highest}", entry)
            highest = max(highest, sequence)

    def order(self):
        """Versions count up in the events, and a courier's progress never falls: so they do on the phone."""
        newest = {}
        timestamp = 0
        before = None
        for entry in self.shown:
            for name in ("version", "progressPercentage"):
                value = (entry.get("contentState") or {}).get(name)
                if value is not None and value < newest.get(name, value):
                    if before and newest[name] - value < self.terms.tolerances.get(name, 0) and self.forgets(before, entry):
                        self.counts["steppedBack"] += 1
                    else:
                        self.find("order", f"{name} {value} was shown after {newest[name]}", entry)
                if value is not None:
                    newest[name] = max(value, newest.get(name, value))
            if entry["timestamp"] <= timestamp:
                self.find("order", f"timestamp {entry['timestamp']} was shown after {timestamp}", entry)
            timestamp = max(timestamp, entry["timestamp"])
            before = entry

    def forgets(self, told, again):
        """A new owner may have forgotten what was suppressed and then told along with a push that its predecessor did not save."""
        return any(self.explains(one, told, again) for one in self.terms.unclean)

    def ending(self):
        end = None
        for entry in self.accepted:
            if end and entry["event"] != "end" and not self.is_late(entry):
                self.find("nothingAfterEnd", f"{entry['event']} {entry.get('sequence')} after the end in {end['number']}", entry)
            if not end and entry["event"] == "end":
                end = entry
                self.counts["ends"] += 1
                if self.final and not self.final.has_ended and self.activity not in self.terms.excused:
                    self.find("end", "an end was told, and there was none", entry)

    def starts(self):
        starts = {entry["sequence"]: entry for entry in self.accepted if entry["event"] == "start"}
        self.counts["starts"] = len(starts)
        # A retry whose first outcome was unknown makes a second card just as well.
        cards = [entry for entry in self.shown if entry["event"] == "start"]
        if len(cards) > 1:
            self.find("oneCard", f"{len(cards)} starts were shown", cards[1])

    def resends(self):
        """An update that says nothing new: what a process sends that does not know what the one before it sent."""
        told = None
        if self.final and self.final.begun_with:
            told = {"contentState": self.final.begun_with, "realAt": self.final.began_at * 1_000}
        left = sorted(self.terms.unclean)
        sequences = set()
        for entry in self.accepted:
            is_new = entry.get("sequence") not in sequences
            sequences.add(entry.get("sequence"))
            if is_new and told and not self.is_late(entry) and self.says_nothing_new(entry, told):
                self.counts["resends"] += 1
                if told.get("fate") == "lost":
                    # Its answer never came, so that newer content took its place under the next number.
                    told = entry
                    continue
                moment = next((one for one in left if self.explains(one, told, entry)), None)
                if moment is None:
                    self.find("resend", f"sequence {entry.get('sequence')} says what {told.get('sequence')} said", entry)
                else:
                    left.remove(moment)
            if entry.get("verdict") in SHOWN or entry["event"] == "end":
                told = entry

    def explains(self, moment, told, again):
        was_in_flight = -self.terms.in_flight_milliseconds <= told["realAt"] - moment <= self.terms.slack_milliseconds
        return was_in_flight and again["realAt"] >= moment

    def says_nothing_new(self, entry, told):
        if entry["event"] != told.get("event", "update"):
            return False
        if entry["realAt"] - told["realAt"] >= self.terms.refresh_after_milliseconds - self.terms.slack_milliseconds:
            return False
        now, before = entry["contentState"], told["contentState"]
        if self.differences(now, before):
            return False
        if position_of(now) is None or position_of(before) is None:
            return position_of(now) == position_of(before)
        # Five decimals of a degree are kept of each.
        return distance(position_of(now), position_of(before)) <= self.terms.deadband_meters - 2

    def differences(self, one, other):
        """Fields that differ by as much as is worth a push, positions aside."""
        found = []
        for name in (one.keys() | other.keys()) - {"latitude", "longitude", self.terms.sequence_field}:
            a, b = one.get(name), other.get(name)
            tolerance = self.terms.tolerances.get(name)
            if tolerance is None or not (is_number(a) and is_number(b)):
                if a != b:
                    found.append(name)
            elif abs(a - b) >= tolerance - 1e-9:
                found.append(name)
        return sorted(found)

    def cadence(self):
        if not self.final:
            return
        first = {}
        for entry in self.processed:
            first.setdefault(entry.get("sequence"), entry)
        updates = [one for one in first.values() if one["event"] == "update" and not self.is_late(one)]
        routine = [one for one in updates if one.get("priority") == 5 and not self.is_urgent(one)]
        terms = self.terms
        burst, interval = terms.cadences.get(self.final.kind, (1, terms.min_interval_milliseconds))

        def uncounted(begin, end):
            return sum(begin - terms.in_flight_milliseconds <= one <= end for one in terms.unclean)

        def routine_bound(window):
            return burst + window / interval + window / terms.refresh_after_milliseconds

        def total_bound(window):
            return routine_bound(window) + burst + window / terms.urgent_min_interval_milliseconds

        bounds = [("routine updates", routine, routine_bound)]
        if self.final.kind in terms.cadences:
            bounds.append(("updates", updates, total_bound))
        for name, sends, bound in bounds:
            self.overrun(name, sends, bound, uncounted)

    def overrun(self, name, sends, bound, uncounted):
        times = [one["realAt"] for one in sends]
        for last in range(len(times)):
            for begin in range(last + 1):
                window = max(0, times[last] - times[begin])
                allowed = bound(window + self.terms.slack_milliseconds) + uncounted(times[begin], times[last])
                if last - begin + 1 > allowed:
                    text = f"{last - begin + 1} {name} within {window} ms; {int(allowed)} are allowed"
                    # One finding tells all.
                    return self.find("cadence", text, sends[last])

    def is_urgent(self, entry):
        """As far as the journal can tell: a discrete field changed, or an alert came."""
        before = [one for one in self.shown if one["number"] < entry["number"]]
        told = before[-1]["contentState"] if before else self.final.begun_with or {}
        return entry.get("alert") or any(entry["contentState"].get(name) != told.get(name) for name in self.terms.discrete)

    def final_state(self):
        final, terms = self.final, self.terms
        if self.activity in terms.excused:
            self.counts["excused"] += 1
            return
        if final.started_by_push and not any(one["event"] == "start" for one in self.accepted):
            # An attempt whose outcome nobody knows is not repeated: a second card would be worse than none.
            self.counts["unstarted"] += 1
            if not terms.unclean and not terms.may_arrive_late:
                self.find("finalState", "its start never came")
            return
        last = self.shown[-1] if self.shown else None
        told = last["contentState"] if last else final.begun_with
        if final.has_ended and not (last and last["event"] == "end"):
            return self.find("end", f"was not told; the last is {last and last.get('sequence')}", last)
        if told is None:
            return self.find("finalState", "nothing was ever told")
        if not any(self.is_newest(told, *one) for one in final.before_the_end(terms.crossing_seconds)):
            self.tell_apart(told, last)
        sounded = max((one["realAt"] for one in self.accepted if one.get("alert")), default=0)
        if final.last_alert and sounded < final.last_alert * 1_000 - 100:
            self.find("alert", f"the alert of {final.last_alert} did not sound", last)


    def is_newest(self, told, content, position):
        meters = position and distance(position_of(told), position)
        is_near = not position or (meters is not None and meters <= self.terms.deadband_meters + 2)
        return is_near and not self.differences(told, content)

    def tell_apart(self, told, last):
        final = self.final
        differing = self.differences(told, final.content)
        if differing:
            text = ", ".join(f"{name} is {told.get(name)!r} for {final.content.get(name)!r}" for name in differing)
            self.find("finalState", text, last)
        if not self.is_newest(told, told, final.position):
            meters = distance(position_of(told), final.position)
            self.find("finalState", f"the position is {meters and round(meters)} m off", last)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def position_of(content):
    if not content or "latitude" not in content or "longitude" not in content:
        return None
    return content["latitude"], content["longitude"]


def distance(one, other):
    """Metres, and None where either is unknown."""
    if one is None or other is None:
        return None
    (a, b), (c, d) = (map(math.radians, point) for point in (one, other))
    term = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_METERS * math.asin(math.sqrt(min(1.0, max(0.0, term))))
