import LiveActivities
import PushSimulator
import Telemetry
import Testing

@testable import Delivery

/// Sections 8 and 9: bodies as a phone gets them.
@Suite("Payloads and sizes, through to the phone")
struct PayloadContractTests {
    private func aps(_ request: WireLog.Request) throws -> JSONObject {
        let document = try Array(request.body.utf8).withUnsafeBytes { try JSONParser.parse($0) }
        return try #require(document.asObject?["aps"]?.asObject)
    }

    @Test("start, update and end: which keys each has, and which it must not have")
    func keys() throws {
        let log = WireLog()
        let bench = try ContractBench(try log.provider())
        try bench.apply(
            "activity.started", "a",
            #""attributesType":"DeliveryAttributes","attributes":{"orderId":"A17"},"startToken":"\#(ContractBench.token("start"))","contentState":{"status":"picked up"},"alert":{"title":"On its way","body":"Your order left","sound":"default"}"#
        )
        bench.run { bench.completions.count == 1 }
        bench.pass(seconds: 10)
        try bench.apply("token", "a", #""token":"\#(ContractBench.token("a"))""#)
        bench.run { bench.lane.inFlightCount == 0 }
        bench.pass(seconds: 60)
        try bench.tell("a", "near")
        bench.pass(seconds: 60)
        let count = bench.completions.count
        try bench.apply(
            "activity.ended", "a", #""contentState":{"status":"delivered"},"dismissalDate":"immediate""#)
        bench.run { bench.completions.count > count }

        let all = try log.all.map(aps)
        let start = try #require(all.first)
        #expect(start["event"] == .string("start"))
        #expect(start["attributes-type"] == .string("DeliveryAttributes"))
        #expect(start["attributes"]?.asObject?["orderId"] == .string("A17"))
        #expect(start["content-state"]?.asObject?["status"] == .string("picked up"))
        #expect(start["input-push-token"]?.asDouble == 1 && start["input-push-channel"] == nil)
        let alert = try #require(start["alert"]?.asObject)
        #expect(alert["title"] == .string("On its way") && alert["sound"] == .string("default"))
        #expect(start["sound"] == nil && start["dismissal-date"] == nil)

        let end = try #require(all.last)
        #expect(end["event"] == .string("end"))
        #expect(end["content-state"]?.asObject?["status"] == .string("delivered"))
        let dismissal = try #require(end["dismissal-date"]?.asDouble)
        #expect(dismissal <= Double(bench.now / 1_000), "immediate lies in the past")
        #expect(end["stale-date"] == nil)
        for aps in all.dropFirst() {
            #expect(aps["attributes-type"] == nil && aps["attributes"] == nil && aps["input-push-token"] == nil)
        }
        for aps in all.dropLast() { #expect(aps["dismissal-date"] == nil) }
        for aps in all {
            for key in ["timestamp", "stale-date", "dismissal-date"] {
                guard let seconds = aps[key]?.asDouble else { continue }
                #expect(seconds < 1e11 && seconds == seconds.rounded(), "\(key) is whole seconds")
            }
        }
        let timestamps = all.compactMap { $0["timestamp"]?.asDouble }
        #expect(timestamps.count == all.count)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 }, "strictly rising")
        for body in log.all.map(\.body) {
            #expect(!body.contains(#"\/"#) && !body.contains(": ") && !body.contains("\n"))
        }
    }

    @Test("The phone applies all of it: complete states, rising timestamps")
    func phone() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        for status in ["one", "Zürich ✓", "three"] {
            #expect(try bench.tell("a", status).fate == .accepted)
            bench.pass(seconds: 20)
        }
        let entries = bench.simulator.journal.entries
        #expect(entries.allSatisfy { $0.verdict == .applied && $0.warnings.isEmpty })
        let timestamps = entries.compactMap(\.timestampSeconds)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("Two updates within one second: the second is stamped a second later")
    func sameSecond() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        for status in ["one", "two", "three"] { try bench.tell("a", status) }
        let timestamps = bench.simulator.journal.entries.compactMap(\.timestampSeconds)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("A start without an alert never leaves: APNs would say 200, and no card would appear")
    func startWithoutAlert() throws {
        let bench = try ContractBench()
        let event =
            #"{"type":"activity.started","activityId":"a","timestamp":\#(bench.now / 1_000),"attributesType":"DeliveryAttributes","startToken":"\#(ContractBench.token("start"))"}"#
        let faults = try bench.faults(event)
        #expect(faults.map(\.reason.name) == ["missing_field:alert"])
        bench.expectQuiet()
        #expect(bench.simulator.journal.entries.isEmpty)
    }

    // MARK: Section 9

    @Test("4,096 bytes are accepted, 4,097 are PayloadTooLarge, none are PayloadEmpty", arguments: [4_096, 4_097, 0])
    func sizes(bytes: Int) throws {
        // Lenient: the body is blanks.
        let provider = try SimulatedProvider { $0.face.isStrict = false }
        provider.bench.waitForStreams(1)
        var batch = JobBatch()
        batch.add(
            identifier: 1, pool: 0, headers: WorkerBench.headers(1),
            body: [UInt8](repeating: UInt8(ascii: " "), count: bytes))
        provider.bench.worker.submit(&batch)
        let ending = provider.bench.reports.wait { $0.endings[1] != nil }.endings[1]
        #expect(
            ending == [bytes == 0 ? "400 PayloadEmpty" : bytes > 4_096 ? "413 PayloadTooLarge" : "200"])
    }

    @Test("An update above 4,096 bytes is refused here, by name, and never leaves")
    func tooLargeHere() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        let room = 3_700
        #expect(try bench.tell("a", String(repeating: "x", count: room)).fate == .accepted)
        try bench.status("a", String(repeating: "y", count: 4_060))
        bench.expectQuiet()
        #expect(bench.lane.takeUnpushable().map(\.name).allSatisfy { $0.hasPrefix("payload_too_large") })
        #expect(bench.simulator.journal.entries.count == 1)
        #expect(bench.simulator.journal.entries.allSatisfy { $0.bodyBytes <= 4_096 })
    }
}
