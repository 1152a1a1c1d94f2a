import Testing

@testable import Telemetry

/// Goal: envelopes never change what a plain event is, take off exactly what was wrapped around one, and no bytes end the process.
/// Method: messages drawn from seeds are decoded bare and wrapped, by a decoder that is used again and again as in a process.
@Suite struct EnvelopeFuzzTests {
    private let seeds: ClosedRange<UInt64> = 1...10
    private let messagesPerSeed = 1_000

    @Test func wrappedOrNotAnEventIsTheSame() {
        var decoder = EventDecoder(apps: ["riders", "eaters"])
        var wrappedCount = 0
        for seed in seeds {
            var generator = EventGenerator(seed: seed)
            for _ in 0..<messagesPerSeed {
                let (_, message) = generator.message()
                let text = String(decoding: message, as: UTF8.self).debugDescription
                let bare = result(message) { bytes throws(EventFault) in try decoder.decode(bytes) }
                let plain = result(message) { bytes throws(EventFault) in try decoder.decode(bytes, headers: .none) }
                #expect(plain.event == bare.event && plain.reason == bare.reason, "seed \(seed): \(text)")
                let framed = result([0, 1, 2, 3, 4] + message) { bytes throws(EventFault) in
                    try decoder.decode(bytes, headers: .none)
                }
                #expect(framed.event == bare.event && framed.reason == bare.reason, "seed \(seed): \(text)")
                guard bare.event != nil else { continue }
                wrappedCount += 1
                // Without attributes there is nothing that could stand for what the event lacks.
                let cloudEvent = Array(#"{"specversion":"1.0","data":"#.utf8) + message + Array("}".utf8)
                let unwrapped = result(cloudEvent) { bytes throws(EventFault) in
                    try decoder.decode(bytes, headers: .none)
                }
                #expect(unwrapped.event == bare.event, "seed \(seed): \(text)")
            }
        }
        // Else the comparison would have compared nothing.
        #expect(wrappedCount > messagesPerSeed)
    }

    @Test func noBytesEndTheProcess() {
        var decoder = EventDecoder(apps: ["riders"])
        var reasons: Set<String> = []
        for seed in seeds {
            var random = SeededRandom(seed: seed)
            var generator = EventGenerator(seed: seed)
            for _ in 0..<messagesPerSeed {
                var message: [UInt8] = []
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    message +=
                        [
                            [0], [1], [0, 0, 0, 0, 1], Array("Obj\u{1}".utf8), [0x1F, 0x8B], [3, 0], [0xC3, 1],
                            Array("{".utf8),
                            Array(#"{"specversion":"1.0","#.utf8), Array(#""data":"#.utf8),
                            Array(#""data_base64":"Zm9v""#.utf8),
                            Array("}".utf8),
                            (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) },
                        ].randomElement(using: &random) ?? []
                }
                if Bool.random(using: &random) { message += generator.message().message }
                let contentType = Array(
                    ([
                        "application/json", "application/cloudevents+json", "application/cloudevents", ";", "",
                        "application/cloudevents-batch+json", "Application/CloudEvents+XML",
                    ].randomElement(using: &random) ?? "").utf8)
                let text = "seed \(seed): \(message)"
                let outcome = contentType.withUnsafeBytes { contentType in
                    result(message) { bytes throws(EventFault) in
                        var headers = EventHeaders()
                        "content-type".utf8.withContiguousStorageIfAvailable {
                            headers.take(UnsafeRawBufferPointer($0), contentType)
                        }
                        return try decoder.decode(bytes, headers: headers)
                    }
                }
                if let fault = outcome.fault {
                    reasons.insert(fault.reason.label)
                    #expect(!fault.explanation.isEmpty, "\(text)")
                }
            }
        }
        #expect(reasons.isSuperset(of: ["not_json", "not_an_object", "missing_field", "unknown_type"]), "\(reasons)")
    }

    private struct Outcome {
        var event: Decoded?
        var fault: EventFault?
        var reason: EventFault.Reason? { fault?.reason }
    }

    private func result(
        _ message: [UInt8], _ decode: (UnsafeRawBufferPointer) throws(EventFault) -> Event
    ) -> Outcome {
        message.withUnsafeBytes { bytes in
            do throws(EventFault) {
                return Outcome(event: Decoded(try decode(bytes)))
            } catch {
                return Outcome(fault: error)
            }
        }
    }
}
