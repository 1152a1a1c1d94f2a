import Telemetry

@testable import PushSimulator

/// A journal without fault, and what its phones should know. Times in seconds since noon; every test falsifies one thing.
struct GoodJournal {
    static let noonSeconds: Int64 = 1_795_953_600

    var entries: [JournalEntry] = []
    var expectations = Expectations()
    var settings = JudgeSettings()

    init() {
        // A begins on its phone, and ends. Its fourth update meets a 503 and is tried again.
        var a = FinalState()
        a.hasTarget = true
        a.shownAtBegin = ContentState(Self.object(#"{"status":"accepted"}"#))
        a.contentState = ContentState(Self.object(#"{"status":"delivered","etaTimestamp":1795954200,"speedKmh":0}"#))
        a.rideAlongFields = [FieldPath("speedKmh")]
        a.position = Coordinate(latitude: 48.13723, longitude: 11.57551)
        a.ending = .immediate
        a.beganAtMilliseconds = Self.noonSeconds * 1_000
        expectations.finalStates["A"] = a
        add("A", at: 0, #"{"status":"accepted","sequenceNumber":1}"#)
        add("A", at: 70, priority: 10, #"{"status":"picked_up","sequenceNumber":2}"#)
        add("A", at: 90, priority: 10, alert: true, #"{"status":"picked_up","sequenceNumber":3}"#)
        add("A", at: 140, status: 503, #"{"status":"picked_up","etaTimestamp":1795954200,"sequenceNumber":4}"#)
        add("A", at: 160, #"{"status":"picked_up","etaTimestamp":1795954200,"sequenceNumber":4}"#)
        add(
            "A", at: 300, event: "end", priority: 10,
            #"{"status":"delivered","etaTimestamp":1795954200,"speedKmh":0,"latitude":48.13723,"longitude":11.57551,"sequenceNumber":5}"#
        )
        entries[5].dismissalDateSeconds = Self.noonSeconds + 300
        // B is started by push and goes on.
        var b = FinalState()
        b.hasTarget = true
        b.contentState = ContentState(Self.object(#"{"status":"on_the_way","etaTimestamp":1795955000,"speedKmh":31}"#))
        b.rideAlongFields = [FieldPath("speedKmh")]
        b.position = Coordinate(latitude: 48.2, longitude: 11.6)
        expectations.finalStates["B"] = b
        add("B", at: 10, event: "start", priority: 10, alert: true, #"{"status":"on_the_way","sequenceNumber":1}"#)
        add(
            "B", at: 200,
            #"{"status":"on_the_way","etaTimestamp":1795954950,"speedKmh":12,"latitude":48.2005,"longitude":11.6,"sequenceNumber":2}"#
        )
        // C has much to tell: routine updates a minute apart.
        for minute in 0..<9 {
            add("C", at: Int64(minute) * 60, #"{"sequenceNumber":\#(minute + 1)}"#)
        }
        // D has urgent news every five seconds.
        for step in 0..<12 {
            add("D", at: Int64(step) * 5, priority: 10, alert: true, #"{"sequenceNumber":\#(step + 1)}"#)
        }
    }

    static func object(_ text: String) -> JSONObject {
        JSONDocument.parse(Array(text.utf8))!.asObject!
    }

    mutating func add(
        _ activity: String, at seconds: Int64, event: String = "update", priority: Int = 5, status: Int = 200,
        alert: Bool = false, _ contentState: String
    ) {
        let milliseconds = (Self.noonSeconds + seconds) * 1_000
        var entry = JournalEntry(number: entries.count, atMilliseconds: milliseconds, realMilliseconds: milliseconds)
        entry.activityIdentifier = activity
        entry.tokenFingerprint = "token of \(activity)"
        entry.path = "/3/device/x"
        entry.priority = priority
        entry.status = status
        entry.reason = status == 200 ? nil : "ServiceUnavailable"
        entry.event = event
        entry.timestampSeconds = Self.noonSeconds + seconds
        entry.contentState = Self.object(contentState)
        entry.sequence = entry.contentState?["sequenceNumber"]?.asDouble.map { Int64($0) }
        entry.apnsIdentifier = "\(activity) \(entry.sequence ?? 0)"
        entry.hasAlert = alert
        if status == 200 { entry.verdict = event == "end" ? .ended : alert ? .alerted : .applied }
        entries.append(entry)
    }

    /// The first entry of that activity with that sequence.
    subscript(_ activity: String, _ sequence: Int64) -> JournalEntry {
        get { entries[index(activity, sequence)] }
        set { entries[index(activity, sequence)] = newValue }
    }

    private func index(_ activity: String, _ sequence: Int64) -> Int {
        entries.firstIndex { $0.activityIdentifier == activity && $0.sequence == sequence }!
    }

    var broken: [BrokenPromise] {
        Judge(settings: settings, expectations: expectations).judge(entries)
    }
}
