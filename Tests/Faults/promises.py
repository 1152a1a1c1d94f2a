"""What is promised, in which terms, and what a broken promise looks like."""

from dataclasses import dataclass, field

PROMISES = {
    "finalState": "the phone's last content is the newest truth, up to deadband and tolerances",
    "end": "every end is told",
    "alert": "the newest alert sounds",
    "order": "what a phone applies is in event order",
    "sequenceRises": "the sequence rises from update to update",
    "sequenceKeepsContent": "a sequence number stands for one content-state and one id",
    "nothingAfterEnd": "nothing new after an accepted end",
    "oneCard": "a push starts an activity once",
    "shown": "a phone drops nothing that was sent to it",
    "cadence": "no window holds more than the cadence allows",
    "resend": "an update repeats the one before it once after a kill, if that was in flight, and never otherwise",
    "settled": "what is told is settled: the positions in Redis reach the ends of the streams",
    "deadLetters": "an entry that is no event lies with the dead letters, once, and nothing else does",
    "wellFormed": "the provider refuses nothing but by order of the test",
}


@dataclass
class Terms:
    """What was promised, in the pacing's own parameters, and what was done meanwhile."""

    deadband_meters: float = 20
    tolerances: dict = field(default_factory=lambda: {"progressPercentage": 0.05})
    discrete: tuple = ("status",)
    sequence_field: str = "sequenceNumber"
    min_interval_milliseconds: float = 1_000
    urgent_min_interval_milliseconds: float = 1_000
    # staleAfter − refreshLead
    refresh_after_milliseconds: float = 10_000
    # By attributes type: burst and interval of the bucket. What is not named has none, and minInterval alone bounds it.
    cadences: dict = field(default_factory=lambda: {"Paced": (8, 15_000)})
    # How far an arrival may be from its send.
    slack_milliseconds: float = 2_000
    # Unix milliseconds of each moment at which a process lost what it had not written: killed, frozen past its lease, its store
    # gone.
    unclean: list = field(default_factory=list)
    # How long before such a moment an update may have been accepted and yet not be written as settled.
    in_flight_milliseconds: float = 3_000
    # A frozen process or connection may send what it already had in the kernel; the phone drops that for its older timestamp.
    may_arrive_late: bool = False
    # Topics beside each other are read in no order: an end in one may be told so much sooner than the positions before it in another.
    crossing_seconds: float = 0
    # Activities of which Redis itself lost acknowledged events: their final state is nobody's to tell.
    excused: frozenset = frozenset()


@dataclass(frozen=True)
class Broken:
    promise: str
    activity: str
    explanation: str
    entry: int | None = None

    def __str__(self):
        at = "" if self.entry is None else f", entry {self.entry}"
        return f"{self.promise}: {self.activity}{at}: {self.explanation}"
