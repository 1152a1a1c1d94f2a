import Telemetry
import Testing

/// One bad record must leave no trace in what comes after it.
@Suite struct DecoderRecoveryTests {
    @Test func theNextEventIsDecodedAsIfTheBadOneHadNeverCome() throws {
        let good = [
            position(#","eventId":"e-1","battery":0.5"#), position(#","contentState":{"a":[1,{"b":2}]}"#),
            #"{"type":"status","status":"x","subjectId":"b\u0075s","timestamp":1}"#,
        ]
        let bad: [[UInt8]] = [
            Array("{".utf8), Array(position(#","contentState":{"a":[1,{"b":}]}"#).utf8),
            Array(position(#","x":1,"x":2"#).utf8),
            Array(position(latitude: "1e999").utf8), Array(String(repeating: "[", count: 65_536).utf8),
            Array("{\"k\u{e9}".utf8) + [0xC3, 0x22],
            Array("{\"a\nb\":1}".utf8), Array(#"{"\udff3":1}"#.utf8), Array(repeating: 0, count: 70_000), [],
            Array("-nan".utf8), [0xFF],
        ]
        var fresh: [Decoded] = []
        for text in good {
            fresh.append(try withEvent(text) { Decoded($0) })
        }
        var decoder = EventDecoder(apps: [])
        for bytes in bad {
            #expect(throws: EventFault.self) { _ = try bytes.withUnsafeBytes { try decoder.decode($0) } }
            for (text, expected) in zip(good, fresh) {
                let decoded = try Array(text.utf8).withUnsafeBytes { Decoded(try decoder.decode($0)) }
                #expect(decoded == expected)
            }
        }
    }

    @Test func aBatchMayBeDecodedBeforeItsFirstEventIsUsed() throws {
        let lines = (0..<64).map { Array(position(latitude: "\($0)").replacingID("order-\($0)").utf8) }
        let buffer = lines.flatMap { $0 }
        var decoder = EventDecoder(apps: [])
        try buffer.withUnsafeBytes { bytes in
            var events: [Event] = []
            var offset = 0
            for line in lines {
                events.append(
                    try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + line.count)])))
                offset += line.count
            }
            for (index, event) in events.enumerated() {
                #expect(String(decoding: event.identifier, as: UTF8.self) == "order-\(index)")
                #expect(event.position.coordinate.latitude == Double(index))
            }
        }
    }
}

extension String {
    fileprivate func replacingID(_ identifier: String) -> String {
        split(separator: "order-4711", omittingEmptySubsequences: false).joined(separator: identifier)
    }
}
