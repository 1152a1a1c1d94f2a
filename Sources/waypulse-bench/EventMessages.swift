import Telemetry

/// Events as producers publish them, made from templates whose digits are overwritten: making one costs next to nothing, and never
/// allocates.
struct EventMessages {
    /// Of a position, and of a status.
    static let byteCount = 223
    /// What simdjson may read behind a message.
    static let paddingBytes = 64
    static let startMilliseconds: Int64 = 1_795_953_600_000

    private let position: Template
    private let status: Template
    private let start: Template
    private let news: Template

    /// - Parameter noteBytes: of a text that makes the content-state of a start longer; 0 for none.
    init(noteBytes: Int = 0) {
        let text = String(repeating: "on the way ", count: noteBytes / 11 + 1).prefix(noteBytes)
        let note = noteBytes == 0 ? "" : ",\"note\":\"\(text)\""
        position = Template(
            """
            {"type":"position","eventId":"01JDVWQ4K2TQ8Z5M9R6B-0000000000","activityId":"ride-0000000","timestamp":0000000000.000,\
            "latitude":52.0000000,"longitude":13.0000000,"accuracy":8.5,"speed":7.25,"heading":182.5,"altitude":34.2}
            """)
        status = Template(
            """
            {"type":"status","eventId":"01JDVWQ4K2TQ8Z5M9R6B-0000000000","activityId":"ride-0000000","timestamp":0000000000.000,\
            "status":"approaching","contentState":{"etaTimestamp":1795957200,"driverName":"Ada","vehicle":"Cargo 12b"}}
            """)
        start = Template(
            """
            {"type":"activity.started","activityId":"ride-0000000","timestamp":0000000000.000,\
            "attributesType":"DeliveryAttributes",\
            "token":"\(String(repeating: "a5", count: 25))00000000000000","contentState":{"status":"on_the_way",\
            "etaTimestamp":1795957200,"driverName":"Ada Lovelace","stopsRemaining":3,"progressPercentage":0.25,"vehicle":"Cargo bike 12"\(note)}}
            """)
        news = Template(
            """
            {"type":"status","activityId":"ride-0000000","timestamp":0000000000.000,"contentState":{"status":"at 0000000000000"}}
            """)
        precondition(position.bytes.count == Self.byteCount, "a position has \(position.bytes.count) bytes")
        precondition(status.bytes.count == Self.byteCount, "a status has \(status.bytes.count) bytes")
    }

    var startByteCount: Int { start.bytes.count }
    var newsByteCount: Int { news.bytes.count }

    /// Writes a position into `byteCount` bytes.
    ///
    /// - Parameter offsets: ten-millionths of a degree beside 52° north, 13° east, at most seven digits: about 11 mm each.
    func writePosition(
        _ activity: Int, event: Int, milliseconds: Int64, offsets: (latitude: Int, longitude: Int),
        into target: UnsafeMutableRawPointer
    ) {
        position.write(activity, event: event, milliseconds: milliseconds, into: target)
        position.writeDigits(offsets.latitude, 7, at: position.latitude, into: target)
        position.writeDigits(offsets.longitude, 7, at: position.longitude, into: target)
    }

    func writeStatus(_ activity: Int, event: Int, milliseconds: Int64, into target: UnsafeMutableRawPointer) {
        status.write(activity, event: event, milliseconds: milliseconds, into: target)
    }

    /// Writes an urgent status that says its own time into `newsByteCount` bytes.
    func writeNews(_ activity: Int, milliseconds: Int64, into target: UnsafeMutableRawPointer) {
        news.write(activity, event: nil, milliseconds: milliseconds, into: target)
        news.writeDigits(Int(milliseconds), 13, at: news.spokenTime, into: target)
    }

    /// Writes the `activity.started` of an activity that began on its phone into `startByteCount` bytes.
    func writeStart(_ activity: Int, milliseconds: Int64, into target: UnsafeMutableRawPointer) {
        start.write(activity, event: nil, milliseconds: milliseconds, into: target)
        start.writeDigits(activity, 7, at: start.tokenEnd, into: target)
    }

    /// One text with the places of its digits.
    private struct Template {
        let bytes: [UInt8]
        private let activity: Int
        private let event: Int?
        private let seconds: Int
        let latitude: Int
        let longitude: Int
        let tokenEnd: Int
        let spokenTime: Int

        init(_ text: String) {
            let bytes = Array(text.utf8)
            func place(behind key: String, skipping count: Int = 0) -> Int? {
                let key = Array(key.utf8)
                guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: key) }) else { return nil }
                return start + key.count + count
            }
            self.bytes = bytes
            activity = place(behind: "\"ride-") ?? 0
            event = place(behind: "01JDVWQ4K2TQ8Z5M9R6B-")
            seconds = place(behind: "\"timestamp\":") ?? 0
            latitude = place(behind: "\"latitude\":52.") ?? 0
            longitude = place(behind: "\"longitude\":13.") ?? 0
            spokenTime = place(behind: "\"status\":\"at ") ?? 0
            tokenEnd = place(behind: "\"token\":\"", skipping: 57) ?? 0
        }

        func write(_ activity: Int, event: Int?, milliseconds: Int64, into target: UnsafeMutableRawPointer) {
            bytes.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            writeDigits(activity, 7, at: self.activity, into: target)
            if let event, let place = self.event { writeDigits(event, 10, at: place, into: target) }
            writeDigits(Int(milliseconds / 1_000), 10, at: seconds, into: target)
            writeDigits(Int(milliseconds % 1_000), 3, at: seconds + 11, into: target)
        }

        func writeDigits(_ number: Int, _ count: Int, at offset: Int, into target: UnsafeMutableRawPointer) {
            var rest = number
            for place in stride(from: offset + count - 1, through: offset, by: -1) {
                target.storeBytes(
                    of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: place, as: UInt8.self)
                rest /= 10
            }
        }
    }
}
