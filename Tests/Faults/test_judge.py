"""Shows that the judge finds each promise broken, and nothing where none is: journals made by hand, each spoilt in one place."""

import json
import tempfile
import unittest
from pathlib import Path

from judge import is_told, judge, row, table
from promises import PROMISES, Terms
from simulator import JournalFile
from truth import fingerprint, fold

TOKEN, START_TOKEN, UPDATE_TOKEN = "ab" * 32, "cd" * 32, "ef" * 32
BEGIN = 1_790_000_000


def event(kind, after, **fields):
    return json.dumps({"type": kind, "activityId": "order", "timestamp": BEGIN + after, "eventId": f"{kind} {after}", **fields})


def place(meters):
    """So far to the north."""
    return {"latitude": 48 + meters / 111_195, "longitude": 11.5}


RIDE = [
    event("activity.started", 0, attributesType="Ride", token=TOKEN, contentState={"status": "on_the_way", "version": 0}),
    event("position", 1, **place(0), contentState={"progressPercentage": 0.1}),
    event("status", 3, contentState={"status": "near", "version": 1}, alert={"title": "Soon", "body": "there"}),
    event("position", 5, **place(100), contentState={"progressPercentage": 0.4}),
    event("activity.ended", 8, contentState={"status": "delivered", "version": 2}),
]


class Story:
    """A journal in the making. Each push is accepted and shown unless it is said otherwise."""

    def __init__(self, token=TOKEN):
        self.token, self.entries = token, []

    def push(self, after, sequence, kind="update", **fields):
        content = fields.pop("content", {})
        self.entries.append(
            {
                "number": len(self.entries), "realAt": (BEGIN + after) * 1_000,
                "token": fingerprint(fields.pop("token", self.token)), "priority": 5, "apnsId": f"id {sequence}",
                "status": 200, "event": kind, "timestamp": int(BEGIN + after),
                "sequence": sequence, "contentState": content | {"sequenceNumber": sequence},
                "verdict": "ended" if kind == "end" else "applied", **fields,
            }
        )  # fmt: skip
        return self


def told():
    """What a phone is told of the ride, as it should be."""
    story = Story()
    state = {"status": "on_the_way", "version": 0, "progressPercentage": 0.1} | place(0)
    story.push(1.1, 1, content=state)
    state |= {"status": "near", "version": 1}
    story.push(3.1, 2, content=state, priority=10, alert=True, verdict="alerted")
    state |= {"progressPercentage": 0.4} | place(100)
    story.push(5.1, 3, content=state)
    state |= {"status": "delivered", "version": 2}
    return story.push(8.1, 4, kind="end", content=state, priority=10)


def found(story, events=RIDE, **terms):
    finding = judge(story.entries, fold(events), Terms(**terms))
    return [one.promise for one in finding.broken]


def spoilt(number, **fields):
    story = told()
    story.entries[number] |= fields
    return story


def content(number, **fields):
    return told().entries[number]["contentState"] | fields


class Judge(unittest.TestCase):
    def test_a_ride_that_was_told_breaks_nothing(self):
        finding = judge(told().entries, fold(RIDE), Terms())
        self.assertEqual(finding.broken, [])
        self.assertEqual(finding.counts["pushes"], 4)
        self.assertEqual((finding.counts["retries"], finding.counts["resends"], finding.counts["ends"]), (0, 0, 1))

    def test_each_promise_is_found_broken(self):
        cases = {
            "finalState": (without_end(told()), RIDE[:4] + [event("position", 6, **place(130))]),
            "end": (without_end(told()), RIDE),
            "alert": (spoilt(1, alert=False), RIDE),
            "order": (spoilt(2, contentState=content(2, version=0)), RIDE),
            "sequenceRises": (spoilt(2, sequence=1, apnsId="id 1", contentState=content(0)), RIDE),
            "sequenceKeepsContent": (told().push(8.2, 4, kind="end", content=content(2)), RIDE),
            "nothingAfterEnd": (told().push(9, 5, content=content(3), verdict="dropped:ended"), RIDE),
            "oneCard": (started_twice(), started_by_push()),
            "shown": (spoilt(0, verdict="dropped:outdated"), RIDE),
            "cadence": (hurried(), hurrying()),
            "resend": (repeated(), RIDE),
            "wellFormed": (spoilt(0, status=400, reason="BadTopic", verdict=None), RIDE),
        }
        self.assertEqual(set(cases) | {"settled", "deadLetters"}, set(PROMISES))
        for promise, (story, events) in cases.items():
            with self.subTest(promise):
                self.assertIn(promise, found(story, events))

    def test_a_final_state_within_deadband_and_tolerances_is_told(self):
        events = RIDE[:4] + [event("position", 6, **place(115), contentState={"progressPercentage": 0.44})]
        self.assertEqual(found(without_end(told()), events), [])
        events = RIDE[:4] + [event("position", 6, **place(101), contentState={"progressPercentage": 0.46})]
        self.assertEqual(found(without_end(told()), events), ["finalState"])

    def test_what_the_phone_showed_from_the_begin_need_not_be_told(self):
        self.assertEqual(found(Story(), RIDE[:1]), [])
        self.assertEqual(set(found(Story(), RIDE[:2])), {"finalState"})

    def test_a_status_that_was_not_told_is_a_final_state_not_told(self):
        events = RIDE[:4] + [event("status", 6, contentState={"status": "at the door", "version": 7})]
        self.assertEqual(found(without_end(told()), events), ["finalState"])

    def test_an_end_with_an_older_content_is_no_final_state(self):
        self.assertEqual(found(spoilt(3, contentState=content(2, sequenceNumber=4))), ["finalState"])

    def test_an_end_may_be_told_before_positions_of_another_topic_and_not_long_before(self):
        events = RIDE[:4] + [event("position", 7, **place(300), contentState={"progressPercentage": 0.9}), RIDE[4]]
        self.assertEqual(found(told(), events, crossing_seconds=4), [])
        self.assertEqual(found(told(), events, crossing_seconds=2.5), [])
        self.assertEqual(found(told(), events, crossing_seconds=0.5), ["finalState", "finalState"])
        self.assertEqual(found(told(), events), ["finalState", "finalState"])
        self.assertEqual(found(without_end(told()), events[:-1], crossing_seconds=4), ["finalState", "finalState"])

    def test_an_end_that_nobody_published_is_found(self):
        self.assertIn("end", found(told(), RIDE[:4]))

    def test_an_accepted_push_that_the_client_believes_unprocessed_tells_nothing(self):
        self.assertIn("end", found(spoilt(3, fate="unprocessed", verdict=None)))

    def test_a_retry_with_equal_sequence_and_id_breaks_nothing(self):
        story = spoilt(3, status=503, reason="ServiceUnavailable", injected=True, verdict=None)
        story.push(9, 4, kind="end", content=content(3))
        finding = judge(story.entries, fold(RIDE), Terms())
        self.assertEqual((finding.broken, finding.counts["retries"]), ([], 1))

    def test_a_retry_under_another_id_is_found(self):
        self.assertIn("sequenceKeepsContent", found(told().push(9, 4, kind="end", content=content(3), apnsId="another")))

    def test_a_refused_number_must_not_stand_for_another_content_later(self):
        story = spoilt(3, status=503, reason="ServiceUnavailable", injected=True, verdict=None)
        story.push(9, 4, kind="end", content=content(3, progressPercentage=0.5))
        self.assertIn("sequenceKeepsContent", found(story))

    def test_a_position_that_goes_back_on_the_phone_is_found(self):
        self.assertIn("order", found(spoilt(2, contentState=content(2, progressPercentage=0.05))))

    def test_a_kill_explains_one_step_back_within_the_tolerance(self):
        story = spoilt(2, contentState=content(2, progressPercentage=0.05))
        told, again = story.entries[1]["realAt"], story.entries[2]["realAt"]
        first = story.entries[1]["contentState"]["progressPercentage"]
        story.entries[2]["contentState"]["progressPercentage"] = round(first - 0.04, 3)
        kill = (told + again) / 2
        self.assertIn("order", found(story))
        self.assertNotIn("order", found(story, unclean=[kill]))
        self.assertIn("order", found(story, unclean=[kill + 600_000]), "a kill to come explains nothing")
        story.entries[2]["contentState"]["progressPercentage"] = round(first - 0.06, 3)
        self.assertIn("order", found(story, unclean=[kill]), "nor more than the tolerance")

    def test_a_timestamp_that_goes_back_on_the_phone_is_found(self):
        self.assertIn("order", found(spoilt(2, timestamp=BEGIN)))

    def test_a_kill_explains_one_repetition_of_what_was_in_flight(self):
        kill = (BEGIN + 5.2) * 1_000
        self.assertEqual(found(repeated(), unclean=[kill]), [])
        self.assertEqual(found(repeated(), unclean=[kill - 60_000]), ["resend"], "a kill of long ago explains nothing new")
        self.assertEqual(found(repeated(), unclean=[kill + 60_000]), ["resend"], "a kill to come explains nothing")
        self.assertEqual(found(repeated(2), unclean=[kill]), ["resend"], "and not two")

    def test_a_kill_does_not_explain_the_repetition_of_what_was_settled(self):
        self.assertEqual(found(repeated(), unclean=[(BEGIN + 6) * 1_000], in_flight_milliseconds=500), ["resend"])

    def test_a_repetition_without_any_position_is_one_as_well(self):
        story = Story().push(1, 1, content={"status": "on_the_way", "version": 0})
        self.assertEqual(found(story, RIDE[:1]), ["resend"])

    def test_a_lost_answer_may_be_followed_by_newer_content_under_the_next_number(self):
        story = repeated()
        story.entries[2]["fate"] = "lost"
        self.assertEqual(found(story), [])

    def test_a_frozen_process_may_send_late_what_the_phone_drops(self):
        story = told()
        late = Story().push(2, 1, content=content(0), verdict="dropped:outdated").entries[0]
        story.entries.insert(3, late | {"sequence": 2, "apnsId": "id 2", "contentState": content(1)})
        for number, entry in enumerate(story.entries):
            entry["number"] = number
        self.assertEqual(found(story, may_arrive_late=True), [])
        self.assertIn("shown", found(story))

    def test_a_frozen_process_may_send_late_to_a_phone_that_has_taken_the_ended_one_off(self):
        story = told().push(9, 5, content=content(2), status=410, reason="Unregistered", verdict=None)
        self.assertEqual(found(story, may_arrive_late=True), [])
        self.assertIn("wellFormed", found(story))

    def test_an_end_again_finds_its_phone_gone_after_a_kill_alone(self):
        story = told().push(11, 70, kind="end", content=content(3), status=410, reason="Unregistered", verdict=None)
        finding = judge(story.entries, fold(RIDE), Terms(unclean=[(BEGIN + 8) * 1_000]))
        self.assertEqual((finding.broken, finding.counts["resends"]), ([], 1))
        self.assertEqual(found(story), ["wellFormed"])

    def test_what_came_from_a_client_that_had_gone_and_was_not_read_tells_nothing(self):
        self.assertEqual(found(spoilt(3, status=0, fate="lost", verdict=None)), ["end"])

    def test_an_activity_started_by_a_push_goes_on_under_the_token_that_its_phone_reports(self):
        story = started()
        self.assertEqual(found(story, started_by_push()), [])

    def test_a_start_whose_outcome_is_unknown_is_excused_after_a_kill_alone(self):
        self.assertEqual(found(Story(), started_by_push()), ["finalState"])
        finding = judge([], fold(started_by_push()), Terms(unclean=[BEGIN * 1_000]))
        self.assertEqual((finding.broken, finding.counts["unstarted"]), ([], 1))

    def test_what_redis_lost_is_excused_and_counted(self):
        finding = judge(without_end(told()).entries, fold(RIDE), Terms(excused=frozenset(["order"])))
        self.assertEqual((finding.broken, finding.counts["excused"]), ([], 1))

    def test_a_settled_position_that_stays_behind_is_found(self):
        behind = [("rides:{3}", "settled up to 1-0 1, the last is 2-0")]
        broken = judge(told().entries, fold(RIDE), Terms(), behind).broken
        self.assertEqual([(one.promise, one.activity) for one in broken], [("settled", "rides:{3}")])

    def test_it_tells_how_long_the_slowest_end_waited(self):
        self.assertEqual(judge(told().entries, fold(RIDE), Terms()).counts["slowestEnd"], 100)

    def test_a_bucket_bounds_what_may_come_in_any_window(self):
        events = hurrying(kind="Paced")
        self.assertEqual(found(hurried(pushes=8), events), [])
        self.assertIn("cadence", found(hurried(pushes=9), events))

    def test_it_can_be_asked_whether_all_is_told(self):
        truth = fold(RIDE)
        self.assertTrue(is_told(told().entries, truth, Terms()))
        self.assertFalse(is_told(without_end(told()).entries, truth, Terms()))

    def test_a_courier_brings_both_orders_on(self):
        def of(name, kind, after, **fields):
            return event(kind, after, **{"activityId": name, "eventId": f"{name} {kind} {after}", **fields})

        tokens = {"one": TOKEN, "two": UPDATE_TOKEN}
        events = [
            of(name, "activity.started", 0, attributesType="Ride", token=token, follows="courier", contentState={"version": 0})
            for name, token in tokens.items()
        ]
        events.append(event("position", 1, activityId=None, subjectId="courier", **place(0)))
        story = Story().push(1.1, 1, content={"version": 0} | place(0))
        self.assertEqual(found(story, events), ["finalState"])
        story.push(1.2, 1, content={"version": 0} | place(0), token=UPDATE_TOKEN, apnsId="another activity's")
        self.assertEqual(found(story, events), [])


class Tables(unittest.TestCase):
    def test_a_row_states_every_count(self):
        text = table([row("kill", judge(told().entries, fold(RIDE), Terms()))])
        self.assertEqual(text.splitlines()[0].split()[:4], ["scenario", "activities", "requests", "pushes"])
        self.assertEqual(text.splitlines()[1].split()[:4], ["kill", "1", "4", "4"])


class Journals(unittest.TestCase):
    def test_a_journal_that_grows_is_read_on_with_amendments_folded_in(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "journal.jsonl"
            path.write_text('{"number":0,"verdict":"stored"}\n{"number":1}\n{"num')
            journal = JournalFile(path)
            self.assertEqual(len(journal.read()), 2)
            with open(path, "a") as file:
                file.write('ber":2}\n{"amends":0,"verdict":"applied"}\n{"amends":1,"fate":"lost"}\n')
            self.assertEqual(
                journal.read(), [{"number": 0, "verdict": "applied"}, {"number": 1, "fate": "lost"}, {"number": 2}]
            )
            self.assertEqual(len(journal.read()), 3)


def without_end(story):
    story.entries.pop()
    return story


def repeated(times=1):
    """The third push again under numbers of its own, as by a process that does not know of it."""
    story = without_end(told())
    for again in range(times):
        story.push(6 + again, 68 + again, content=content(2))
    return story.push(8.1, 99, kind="end", content=content(3), priority=10)


def started_by_push():
    start = event(
        "activity.started", 0, attributesType="Ride", attributes={"activityId": "order"}, startToken=START_TOKEN,
        alert={"title": "On the way", "body": "order"}, contentState={"status": "on_the_way", "version": 0},
    )  # fmt: skip
    return [start, event("token", 2, token=UPDATE_TOKEN), event("status", 3, contentState={"status": "near", "version": 1})]


def started():
    state = {"status": "on_the_way", "version": 0}
    story = Story(START_TOKEN).push(0.1, 1, kind="start", content=state, alert=True, verdict="alerted", priority=10)
    return story.push(3.1, 2, content=state | {"status": "near", "version": 1}, token=UPDATE_TOKEN, priority=10)


def started_twice():
    story = started()
    return story.push(4, 3, kind="start", content={"status": "near", "version": 1}, alert=True, verdict="alerted", priority=10)


def hurrying(kind="Ride"):
    begin = event("activity.started", 0, attributesType=kind, token=TOKEN, contentState={"status": "on_the_way", "version": 0})
    return [begin] + [event("position", step / 10, **place(30 * step)) for step in range(1, 12)]


def hurried(pushes=11):
    story = Story()
    for step in range(1, pushes + 1):
        state = {"status": "on_the_way", "version": 0} | place(30 * (11 - pushes + step))
        story.push(step / 10, step, content=state, timestamp=BEGIN + step)
    return story


if __name__ == "__main__":
    unittest.main()
