"""What the page shows: one row a figure, what it is set against, and its target."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Against:
    case: str
    subject: str
    words: str


@dataclass(frozen=True)
class Target:
    """A limit for the median of the row's figure, or of its ratio."""

    limit: float
    of: str = "figure"
    is_least: bool = False

    def is_reached(self, median):
        return median >= self.limit if self.is_least else median <= self.limit

    @property
    def words(self):
        sign = "≥" if self.is_least else "≤"
        return f"{sign} {self.limit:,g}" + (" ×" if self.of == "ratio" else "")


def ratio_at_most(limit):
    return Target(limit, "ratio")


def ratio_at_least(limit):
    return Target(limit, "ratio", is_least=True)


def at_most(limit):
    return Target(limit)


def at_least(limit):
    return Target(limit, is_least=True)


@dataclass(frozen=True)
class Row:
    benchmark: str
    # Empty: it goes on about the row above.
    label: str
    case: str
    subject: str
    figure: str
    unit: str
    scale: float = 1.0
    digits: int = 0
    against: Against = None
    target: Target = None
    # The figure stands in the row above already.
    is_ratio_alone: bool = False


STREAMS = 500
SERVERS = {"sink": "on the sink", "serve": "on the complete server"}


def one_connection(server):
    return f"1 connection, {STREAMS} streams, {SERVERS[server]}"


POSITION, MIXED = "position", "80 % position, 20 % status"
FEW, MANY = "10000 activities", "1000000 activities"
FEW_SENT, ALL_SENT = "1 % of events sent", "every event sent"
FULL = "200000 activities"
COUNTED = "lane and worker"
STREAMED, PUSHED, IN_MEMORY = "streams", "a member with many pushes", "in memory"
TAKEN_OVER, HANDED, SILENT = "100000 activities", "urgent statuses", "the provider is a black hole"
TOPIC, TENTH, HURRIED, HELD = "a topic", "one push in ten events", "urgent statuses", "100000 activities with holds of a minute"
URGENT = "beside 200000 positions/s"
SIMDJSON = "simdjson on-demand"


def pushing(label, server, subject, target_h2load=None, with_go=False, target_go=None):
    """The rows of one client on one server."""
    case, unit = one_connection(server), "CPU-s a million pushes"

    def row(label, figure, unit, digits=0, against=None, target=None, **more):
        return Row("dispatch", label, case, subject, figure, unit, digits=digits, against=against, target=target, **more)

    cpu = "cpuSecondsPerMillionPushes"
    rows = [row(label, cpu, unit, 2, Against(case, "h2load", "h2load"), target_h2load)]
    if with_go:
        rows.append(row("", cpu, unit, 2, Against(case, "go", "the Go worker"), target_go, is_ratio_alone=True))
    rows.append(row("", "pushesPerSecond", "pushes/s"))
    rows.append(row("", "serverCPUSecondsPerMillionPushes", "CPU-s a million at the server", 2))
    return rows


SINK, COMPLETE = one_connection("sink"), one_connection("serve")
ROWS = [
    Row("decode", "decode, positions", POSITION, "waypulse", "nanosecondsPerEvent", "ns an event",
        against=Against(POSITION, "simdjson", SIMDJSON), target=ratio_at_most(0.85)),
    Row("decode", "", POSITION, "waypulse", "eventsPerSecond", "M events/s", 1e-6, 1, target=at_least(3)),
    Row("decode", "", POSITION, "waypulse", "allocationsPerEvent", "allocations an event", digits=2, target=at_most(0)),
    Row("decode", "decode, 80 % positions, 20 % statuses", MIXED, "waypulse", "nanosecondsPerEvent", "ns an event",
        against=Against(MIXED, "simdjson", SIMDJSON)),
    Row("pacing", "decode + pacing, 1,000,000 activities", MANY, "waypulse", "eventsPerSecond", "M events/s", 1e-6, 2,
        target=at_least(2.5)),
    Row("pacing", "", MANY, "waypulse", "nanosecondsPerEvent", "ns an event",
        against=Against(FEW, "waypulse", "10,000 activities"), target=ratio_at_most(1.6)),
    Row("pacing", "", MANY, "waypulse", "allocationsPerEvent", "allocations an event", digits=2, target=at_most(0)),
    Row("pacing", "memory at 1,000,000 activities: tables and states", MANY, "waypulse", "tableBytesPerActivity",
        "bytes an activity", target=at_most(192)),
    Row("pacing", "all in, begun, `shown` equal, no event ids", MANY, "waypulse", "residentBytesPerActivity",
        "bytes an activity", target=at_most(450)),
    Row("memory", "all in at the most: event ids full, an update under way, newer content behind it", FULL, "waypulse",
        "bytesPerActivityFull", "bytes an activity"),
    Row("memory", "all in, begun", FULL, "waypulse", "bytesPerActivityBegun", "bytes an activity"),
    Row("memory", "all in, one update told", FULL, "waypulse", "bytesPerActivityTold", "bytes an activity"),
    Row("lane", "decode + pacing + payload + answer, every event sent", ALL_SENT, "waypulse", "nanosecondsPerPush", "ns a push"),
    Row("lane", "", ALL_SENT, "waypulse", "allocationsPerPush", "allocations a push", digits=1),
    *pushing("dispatch on the sink, worker", "sink", "worker", ratio_at_most(0.9), True, ratio_at_most(0.1)),
    Row("dispatch", "", SINK, "worker", "allocationsPerPush", "allocations a push", digits=1),
    *pushing("bare connection", "sink", "connection", with_go=True),
    Row("dispatch", "worker with payloads built from state", SINK, "payloads", "cpuSecondsPerMillionPushes",
        "CPU-s a million pushes", digits=2, against=Against(SINK, "h2load", "h2load"), target=ratio_at_most(1.3)),
    Row("dispatch", "the same, with the events that made them due", SINK, "payloads", "cpuSecondsPerMillionPushesWithEvents",
        "CPU-s a million pushes", digits=2),
    Row("dispatch", "h2load", SINK, "h2load", "cpuSecondsPerMillionPushes", "CPU-s a million pushes", digits=2),
    Row("dispatch", "", SINK, "h2load", "pushesPerSecond", "pushes/s"),
    Row("dispatch", "", SINK, "h2load", "serverCPUSecondsPerMillionPushes", "CPU-s a million at the server", digits=2),
    *pushing("the Go worker, one processor", "sink", "go"),
    *pushing("the Go worker, both processors", "sink", "go, unrestricted"),
    *pushing("dispatch on the complete server, worker", "serve", "worker", with_go=True),
    *pushing("bare connection", "serve", "connection", with_go=True),
    *pushing("the Go worker, one processor", "serve", "go"),
    Row("path", "whole path, 1 % sent", FEW_SENT, "waypulse", "eventsPerSecond", "M events/s", 1e-6, 2, target=at_least(1)),
    Row("path", "", FEW_SENT, "waypulse", "cpuMicrosecondsPerEvent", "CPU-µs an event", digits=2),
    Row("path", "whole path, every event sent", ALL_SENT, "waypulse", "pushesPerSecond", "pushes/s", target=at_least(100_000)),
    Row("path", "", ALL_SENT, "waypulse", "cpuMicrosecondsPerEvent", "CPU-µs an event", digits=2),
    Row("path", "", ALL_SENT, "waypulse", "serverCPUMicrosecondsPerPush", "CPU-µs a push at the server", digits=2),
    Row("urgent", "urgent update beside 200,000 positions/s, due → request written, p50", URGENT, "waypulse",
        "urgentMedianMicroseconds", "µs", target=at_most(200)),
    Row("urgent", "p99", URGENT, "waypulse", "urgentP99Microseconds", "µs", target=at_most(2_000)),
    Row("urgent", "p99.9", URGENT, "waypulse", "urgentP999Microseconds", "µs"),
    Row("urgent", "latest", URGENT, "waypulse", "urgentMaximumMicroseconds", "µs"),
    Row("urgent", "", URGENT, "waypulse", "positionsPerSecond", "positions/s taken"),
    Row("urgent", "", URGENT, "waypulse", "feederLatenessMedianMicroseconds", "µs late woke the events' writer, not counted"),
    Row("urgent", "", URGENT, "waypulse", "laneAndWorkerCores", "cores used by lane and worker", digits=2),
    Row("urgent", "", URGENT, "waypulse", "feederAndServerCores", "cores used by the events' writer and the sink", digits=2),
    Row("instruments", "instruments, of an event's cost", COUNTED, "waypulse", "percentOfAnEvent", "%", digits=2,
        target=at_most(5)),
    Row("instruments", "instruments, of a push's cost", COUNTED, "waypulse", "percentOfAPush", "%", digits=2, target=at_most(5)),
    Row("instruments", "", COUNTED, "waypulse", "nanosecondsPerAddition", "ns an addition", digits=1),
    Row("instruments", "", COUNTED, "waypulse", "nanosecondsPerHistogramRecord", "ns a record of a histogram", digits=1),
    Row("streams", "`waypulse run` on 8 Redis streams, decode and pacing included", STREAMED, "waypulse", "entriesPerSecond",
        "entries/s", against=Against(STREAMED, "hiredis", "a hiredis XREAD loop"), target=ratio_at_least(0.9)),
    Row("streams", "", STREAMED, "waypulse", "cpuSecondsPerMillionEvents", "CPU-s a million events", digits=2,
        against=Against(STREAMED, "hiredis", "a hiredis XREAD loop"), target=at_most(1.4)),
    Row("streams", "a hiredis XREAD loop, which decodes nothing", STREAMED, "hiredis", "entriesPerSecond", "entries/s"),
    Row("streams", "", STREAMED, "hiredis", "cpuSecondsPerMillionEvents", "CPU-s a million events", digits=2),
    Row("checkpoints", "a push of a member with checkpoints in Redis", PUSHED, "redis", "cpuMicrosecondsPerPush", "CPU-µs a push",
        digits=1, against=Against(PUSHED, "volatile", "positions alone")),
    Row("checkpoints", "", PUSHED, "redis", "pushesPerSave", "pushes a batch"),
    Row("checkpoints", "", PUSHED, "redis", "roundTripsPerSave", "round trips a batch of checkpoints", digits=2,
        target=at_most(1)),
    Row("checkpoints", "", PUSHED, "redis", "serverScriptMicrosecondsPerPush", "µs a push in scripts at Redis", digits=1),
    Row("checkpoints", "a push of a member that saves positions alone", PUSHED, "volatile", "cpuMicrosecondsPerPush",
        "CPU-µs a push", digits=1),
    Row("checkpoints", "checkpoint of a settled push: written, sent, answered", PUSHED, "difference", "checkpointMicrosecondsPerPush",
        "CPU-µs a push", digits=1, target=at_most(15)),
    Row("checkpoints", "checkpoint in memory, written", IN_MEMORY, "waypulse", "takeNanosecondsPerCheckpoint", "ns"),
    Row("checkpoints", "noted as saved", IN_MEMORY, "waypulse", "savedNanosecondsPerCheckpoint", "ns"),
    Row("checkpoints", "read back", IN_MEMORY, "waypulse", "restoreNanosecondsPerCheckpoint", "ns"),
    Row("checkpoints", "", IN_MEMORY, "waypulse", "bytesPerCheckpoint", "bytes a checkpoint"),
    Row("takeover", "take-over of 100,000 live activities after kill -9: first push after ownership", TAKEN_OVER, "waypulse",
        "firstDecisionMilliseconds", "ms", target=at_most(2_000)),
    Row("takeover", "pushes before the kill", TAKEN_OVER, "waypulse", "usualPushesPerSecond", "pushes/s"),
    Row("takeover", "the busiest second after it", TAKEN_OVER, "waypulse", "mostPushesPerSecond", "pushes/s"),
    Row("takeover", "", TAKEN_OVER, "waypulse", "burst", "× the rate before", digits=2, target=at_most(2)),
    Row("takeover", "", TAKEN_OVER, "waypulse", "leaseMilliseconds", "ms from the kill to the first partition, the lease"),
    Row("handover", "hand-over at 1 → 2 members under load: longest delay of an urgent update", HANDED, "a second comes",
        "longestMilliseconds", "ms", target=at_most(1_000)),
    Row("handover", "", HANDED, "a second comes", "p99Milliseconds", "ms, p99"),
    Row("handover", "", HANDED, "a second comes", "medianMilliseconds", "ms, p50"),
    Row("handover", "the same without a second member", HANDED, "one member", "longestMilliseconds", "ms"),
    Row("handover", "", HANDED, "one member", "p99Milliseconds", "ms, p99"),
    Row("handover", "", HANDED, "one member", "medianMilliseconds", "ms, p50"),
    Row("outage", "outage of APNs at full ingest: memory at the end", SILENT, "waypulse", "residentMebibytesLast", "MiB"),
    Row("outage", "", SILENT, "waypulse", "growthPercent", "% above what it was after a fifth of the time", digits=1, target=at_most(3)),
    Row("outage", "", SILENT, "waypulse", "mostMebibytes", "MiB at the most"),
    Row("outage", "", SILENT, "waypulse", "seconds", "seconds"),
    Row("outage", "", SILENT, "waypulse", "eventsPerSecond", "events/s read"),
    Row("kafka", "`waypulse run` on a Kafka topic of 8 partitions, decode and pacing included", TOPIC, "waypulse",
        "cpuSecondsPerMillionEvents", "CPU-s a million events", digits=2,
        against=Against(TOPIC, "librdkafka", "a librdkafka loop, record by record"), target=ratio_at_most(2.0)),
    Row("kafka", "", TOPIC, "waypulse", "eventsPerCPUSecond", "events a CPU-second", target=at_least(700_000)),
    Row("kafka", "", TOPIC, "waypulse", "eventsPerSecond", "events/s on one core"),
    Row("kafka", "a librdkafka loop, which decodes nothing", TOPIC, "librdkafka", "cpuSecondsPerMillionEvents",
        "CPU-s a million events", digits=2),
    Row("kafka", "", TOPIC, "librdkafka", "entriesPerSecond", "events/s"),
    Row("kafka", "the same topic, one event in ten 200 m on", TENTH, "waypulse", "cpuMicrosecondsPerEvent", "CPU-µs an event",
        digits=2, target=at_most(2.0)),
    Row("kafka", "", TENTH, "waypulse", "pushesPerEvent", "pushes an event", digits=3),
    Row("kafka", "", TENTH, "waypulse", "pushesPerSave", "pushes a batch of checkpoints"),
    Row("kafka", "urgent update beside 50,000 positions/s, produced → at the provider, p50", HURRIED, "waypulse", "medianMilliseconds",
        "ms", digits=1, target=at_most(5)),
    Row("kafka", "p99", HURRIED, "waypulse", "p99Milliseconds", "ms", digits=1, target=at_most(20)),
    Row("kafka", "latest", HURRIED, "waypulse", "longestMilliseconds", "ms"),
    Row("kafka", "the same, produced → out of a librdkafka loop, p50", HURRIED, "librdkafka", "medianMilliseconds", "ms", digits=1),
    Row("kafka", "p99", HURRIED, "librdkafka", "p99Milliseconds", "ms", digits=1),
    Row("kafka", "100,000 live activities with holds of 60 s, killed (-9): records read again", HELD, "waypulse", "recordsReplayed",
        "records"),
    Row("kafka", "", HELD, "waypulse", "holdSeconds", "s the settled position was behind", digits=1),
    Row("kafka", "", HELD, "waypulse", "claimedMilliseconds", "ms from the kill to the first partition"),
    Row("kafka", "", HELD, "waypulse", "ownedMilliseconds", "ms to the last"),
    Row("kafka", "", HELD, "waypulse", "firstPushMilliseconds", "ms to the first push"),
]
