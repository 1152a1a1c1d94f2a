import Testing

@testable import HTTP2

private func frame(_ type: FrameType, _ flags: FrameFlags = [], stream: Int32 = 1, _ payload: [UInt8] = []) -> [UInt8] {
    SessionBench.frame(type, flags, stream: stream, payload)
}

private func headers(_ fields: [(String, String)], _ flags: FrameFlags = [.endHeaders, .endStream]) -> [UInt8] {
    frame(.headers, flags, SessionBench.fields(fields))
}

/// Answers as the rules of HTTP have them, in all the shapes in which frames may carry them.
@Suite struct AnswerTests {
    struct Shape: CustomStringConvertible, Sendable {
        let description: String
        let bytes: [UInt8]
    }

    static let wholeBlock = SessionBench.fields([(":status", "400"), ("retry-after", "7")])
    static let goodShapes = [
        Shape(
            description: "plain", bytes: frame(.headers, .endHeaders, wholeBlock) + frame(.data, .endStream, [65, 66])),
        Shape(
            description: "padded",
            bytes: frame(.headers, [.endHeaders, .padded], [3] + wholeBlock + [0, 0, 0])
                + frame(.data, [.endStream, .padded], [2, 65, 66, 0, 0])),
        Shape(
            description: "with a priority",
            bytes: frame(.headers, [.endHeaders, .priority], [0, 0, 0, 0, 9] + wholeBlock)
                + frame(.priority, [], [0, 0, 0, 0, 1]) + frame(.data, .endStream, [65, 66])),
        Shape(
            description: "in fragments",
            bytes: frame(.headers, [], Array(wholeBlock[..<3])) + frame(.continuation, [], Array(wholeBlock[3..<9]))
                + frame(.continuation, .endHeaders, Array(wholeBlock[9...])) + frame(.data, [], [65])
                + frame(.data, [], []) + frame(.data, .endStream, [66])),
        Shape(
            description: "after an interim one, with trailers",
            bytes: headers([(":status", "103"), ("link", "x"), ("content-length", "9")], .endHeaders)
                + frame(.headers, .endHeaders, wholeBlock) + frame(.data, [], [65, 66])
                + headers([("checksum", "1")])),
        Shape(
            description: "with its length, among unknown frames",
            bytes: SessionBench.frame(0xfa, [], stream: 1, [1, 2, 3])
                + frame(.headers, .endHeaders, wholeBlock + SessionBench.fields([("content-length", "2")]))
                + SessionBench.frame(0xfa, [], stream: 0, []) + frame(.data, .endStream, [65, 66])),
    ]

    @Test(arguments: goodShapes) func isHeardInEveryShape(shape: Shape) {
        let bench = SessionBench().withRequest()
        var retryAfter: String?
        bench.client.onCompletion = { _, _, _, response in retryAfter = text(response!.field("retry-after")) }
        bench.receive(shape.bytes)
        #expect(bench.client.endings == [1: .answered(400, "AB")])
        #expect(retryAfter == "7")
        #expect(bench.session.fault == nil && bench.client.connection.openStreams == 0)
    }

    @Test(arguments: goodShapes) func isHeardByteByByte(shape: Shape) {
        let bench = SessionBench().withRequest()
        for byte in shape.bytes { bench.receive([byte]) }
        #expect(bench.client.endings == [1: .answered(400, "AB")])
    }

    static let brokenShapes = [
        Shape(description: "no status", bytes: headers([("a", "b")])),
        Shape(description: "two statuses", bytes: headers([(":status", "200"), (":status", "200")])),
        Shape(description: "a status after fields", bytes: headers([("a", "b"), (":status", "200")])),
        Shape(description: "a status of two digits", bytes: headers([(":status", "20")])),
        Shape(description: "a status of letters", bytes: headers([(":status", "2x0")])),
        Shape(description: "status 101", bytes: headers([(":status", "101")], .endHeaders)),
        Shape(description: "an interim answer as the last", bytes: headers([(":status", "103")])),
        Shape(description: "another pseudo field", bytes: headers([(":status", "200"), (":path", "/")])),
        Shape(description: "a name in upper case", bytes: headers([(":status", "200"), ("Date", "x")])),
        Shape(description: "an empty name", bytes: headers([(":status", "200"), ("", "x")])),
        Shape(description: "a line break in a value", bytes: headers([(":status", "200"), ("date", "x\r\ny")])),
        Shape(description: "a field of a connection", bytes: headers([(":status", "200"), ("connection", "close")])),
        Shape(
            description: "a transfer encoding", bytes: headers([(":status", "200"), ("transfer-encoding", "chunked")])),
        Shape(
            description: "two lengths",
            bytes: headers([(":status", "200"), ("content-length", "0"), ("content-length", "1")])),
        Shape(description: "a length that is none", bytes: headers([(":status", "200"), ("content-length", "-1")])),
        Shape(
            description: "a body shorter than its length",
            bytes: headers([(":status", "200"), ("content-length", "1")])),
        Shape(
            description: "a body longer than its length",
            bytes: headers([(":status", "200"), ("content-length", "1")], .endHeaders) + frame(.data, [], [1, 2])),
        Shape(description: "a body without fields", bytes: frame(.data, .endStream, [1])),
        Shape(
            description: "a status among trailers",
            bytes: headers([(":status", "200")], .endHeaders) + headers([(":status", "200")])),
        Shape(
            description: "trailers that are not the end",
            bytes: headers([(":status", "200")], .endHeaders) + headers([("a", "b")], .endHeaders)),
    ]

    @Test(arguments: brokenShapes) func thatBreaksTheRulesHurtsItsStreamAlone(shape: Shape) {
        let bench = SessionBench()
        bench.client.send(1)
        bench.client.send(2)
        _ = bench.take()
        bench.receive(shape.bytes)
        #expect(bench.client.endings == [1: .unknown(.malformedResponse)])
        let reset = bench.take().filter { $0.type == FrameType.resetStream.rawValue }
        #expect(reset.map(\.streamID) == [1] && reset.map(\.errorCode) == [HTTP2Error.protocolError])
        // Late frames of the stream go nowhere, and the other one is answered.
        bench.receive(frame(.headers, .endHeaders, [0x88]) + frame(.data, .endStream, [1]))
        bench.receive(frame(.headers, [.endHeaders, .endStream], stream: 3, [0x88]))
        #expect(bench.client.endings[2] == .answered(200, ""))
        #expect(bench.client.completions.count == 2 && bench.session.fault == nil)
    }

    @Test(arguments: ["204", "304"]) func withoutContentMayTellALengthAllTheSame(status: String) {
        let bench = SessionBench().withRequest()
        bench.receive(headers([(":status", status), ("content-length", "5")]))
        #expect(bench.client.endings == [1: .answered(Int(status)!, "")])
        #expect(bench.take().allSatisfy { $0.type != FrameType.resetStream.rawValue })
    }

    @Test func fieldsOfTrailersAreNoneOfTheAnswer() {
        let bench = SessionBench().withRequest()
        var seen: [String?] = []
        bench.client.onCompletion = { _, _, _, response in
            seen = [text(response!.field("server")), text(response!.field("retry-after"))]
        }
        bench.receive(headers([(":status", "200"), ("server", "x")], .endHeaders))
        bench.receive(headers([("retry-after", "3600"), ("content-length", "7")]))
        #expect(bench.client.endings == [1: .answered(200, "")])
        #expect(seen == ["x", nil])
    }

    @Test func fieldsOfTheTableAreUnderstoodThroughoutAConnection() {
        let bench = SessionBench()
        for tag in 0..<3 { bench.client.send(UInt64(tag)) }
        _ = bench.take()
        var seen: [String?] = []
        // Inserted by an answer that nobody waits for any more, and used by the next.
        bench.client.connection.cancel(tag: 0)
        bench.client.onCompletion = { _, _, _, response in seen.append(text(response!.field("server"))) }
        bench.receive(
            frame(.headers, [.endHeaders, .endStream], stream: 1, [0x88, 0x40, 6] + Array("server".utf8) + [1, 120]))
        bench.receive(frame(.headers, [.endHeaders, .endStream], stream: 3, [0x88, 0xbe]))
        bench.receive(frame(.headers, [.endHeaders, .endStream], stream: 5, [0x88]))
        #expect(seen == ["x", nil])
    }
}
