import Testing

@testable import Telemetry

/// What a message with headers is decoded to, held by value.
func decoded(_ message: [UInt8], _ headers: [(String, String)] = []) -> Result<Decoded, EventFault> {
    var decoder = EventDecoder(apps: ["riders"])
    let kept = headers.map { (Array($0.0.utf8), Array($0.1.utf8)) }
    return withLent(kept[...], EventHeaders.none) { headers in
        message.withUnsafeBytes { message in
            do throws(EventFault) {
                return .success(Decoded(try decoder.decode(message, headers: headers)))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// Each header's bytes live as long as they are lent.
private func withLent<Result>(
    _ rest: ArraySlice<([UInt8], [UInt8])>, _ headers: EventHeaders, _ body: (EventHeaders) -> Result
) -> Result {
    guard let (name, value) = rest.first else { return body(headers) }
    return name.withUnsafeBytes { name in
        value.withUnsafeBytes { value in
            var headers = headers
            headers.take(name, value)
            return withLent(rest.dropFirst(), headers, body)
        }
    }
}

func plain(_ text: String) throws -> Decoded { try decoded(Array(text.utf8)).get() }

func refusal(_ message: [UInt8], _ headers: [(String, String)] = []) -> EventFault? {
    if case .failure(let fault) = decoded(message, headers) { fault } else { nil }
}

@Suite("Frames around events") struct EventEnvelopeTests {
    private let schema42: [UInt8] = [0, 0, 0, 0, 42]
    private let guid: [UInt8] = [1] + (0..<16).map { UInt8($0 * 17) }

    @Test func confluentFramesAreTakenOff() throws {
        for text in [position(), event("status", #""status":"picked up""#), " " + position(#","app":"riders""#)] {
            #expect(try decoded(schema42 + Array(text.utf8)).get() == plain(text))
            #expect(try decoded(guid + Array(text.utf8)).get() == plain(text))
        }
    }

    @Test func anEventInAFrameMayBeAsLargeAsOneWithout() {
        let frame = position(#","pad":"""#).utf8.count
        func padded(to count: Int) -> [UInt8] {
            Array(position(#","pad":"\#(String(repeating: "x", count: count - frame))""#).utf8)
        }
        #expect(refusal(guid + padded(to: 65_536)) == nil)
        #expect(refusal(guid + padded(to: 65_537))?.reason == .tooLarge)
    }

    @Test func aFaultInAFrameSaysWhichFrame() throws {
        let fault = try #require(refusal(schema42 + Array(position(latitude: "97").utf8)))
        #expect(fault.reason == .outOfRange("latitude"))
        #expect(fault.explanation.hasPrefix("In the Confluent frame of schema id 42: The field \"latitude\""))
    }

    @Test(
        "Avro and Protobuf in a frame are refused with their schema",
        arguments: [
            [0x00, 0x0A, 0x03, 0x61], [0x02, 0x00, 0x08], [0x7B, 0x61], [0x20, 0x0A, 0x41], [0xF6, 0x01], [0x41], [],
        ] as [[UInt8]])
    func foreignContent(content: [UInt8]) throws {
        let fault = try #require(refusal(schema42 + content))
        #expect(fault.reason == .notJSON)
        for word in ["schema id 42", "Avro or Protobuf", "JSON Schema serializer"] {
            #expect(fault.explanation.contains(word), "\(fault.explanation)")
        }
    }

    @Test func aSchemaMayHaveAGUID() throws {
        let fault = try #require(refusal(guid + [2, 4]))
        #expect(fault.explanation.contains("schema 00112233-4455-6677-8899-aabbccddeeff"))
    }

    @Test(
        "What has a name is refused by it",
        arguments: [
            ("Obj\u{1}rest", "Avro object container"), ("\u{3}\u{5}0123456789abcdef{}", "AWS Glue"),
        ])
    func namedFormats(text: String, name: String) throws {
        let fault = try #require(refusal(Array(text.utf8)))
        #expect(fault.reason == .notJSON)
        #expect(fault.explanation.contains(name))
    }

    @Test func unknownBytesAreRefusedWithTheFirstOfThem() throws {
        let single = try #require(refusal([0xC3, 0x01] + [UInt8](repeating: 7, count: 9)))
        #expect(single.explanation.contains("Avro single object"))
        let gzip = try #require(refusal([0x1F, 0x8B, 8, 0]))
        #expect(gzip.explanation.contains("gzip") && gzip.explanation.contains("compression.type"))
        let zstandard = try #require(refusal([0x28, 0xB5, 0x2F, 0xFD, 4]))
        #expect(zstandard.explanation.contains("Zstandard"))
        // Too short for a frame.
        for bytes in [[0, 0, 0, 1], [1, 2, 3], [0x0A, 0x03][1...].map { $0 }, [0x84, 0xA4]] as [[UInt8]] {
            let fault = try #require(refusal(bytes))
            #expect(fault.reason == .notJSON && fault.explanation.contains("Its first byte is 0x"), "\(bytes)")
        }
    }

    @Test func brokenTextIsLeftToTheParserOfJSON() throws {
        for text in ["", "hello", "\u{FEFF}{}", position() + "x", " \n"] {
            #expect(refusal(Array(text.utf8)) == fault(Array(text.utf8)), "\(text)")
        }
    }

    @Test func whatHeadersKnowOfBytesThatAreNoJSONIsSaid() throws {
        let typed = try #require(refusal(Array("Zm9v".utf8), [("Content-Type", "application/x-protobuf")]))
        #expect(typed.explanation.hasSuffix("Its header content-type says \"application/x-protobuf\"."))
        let registered = try #require(refusal([0x02, 0x04], [("__value_schema_id", "\u{1}0123456789abcdef")]))
        #expect(registered.explanation.contains("serializer for a schema registry"))
        // They say nothing where the bytes are JSON.
        #expect(refusal(Array(position().utf8), [("content-type", "application/x-protobuf")]) == nil)
    }

    @Test func otherHeadersChangeNothing() throws {
        let headers = [
            ("content-type", "application/json; charset=utf-8"), ("traceparent", "00-x-y-01"), ("CE_ID", "7"), ("", ""),
            ("ce_type", "x"),
        ]
        #expect(try decoded(Array(position().utf8), headers).get() == plain(position()))
    }
}
