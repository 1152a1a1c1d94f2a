import CNghttp2
import Testing

@testable import HTTP2

@Suite struct ClientConnectionTests {
    @Test func aRequestArrivesAsItWasBuiltAndItsAnswerComesBack() throws {
        let world = try World()
        world.serverSide.onRequest = { request in
            _ = request.respond(
                status: 400, fields: [("apns-id", "ABC"), ("retry-after", "37")],
                body: Array(#"{"reason":"BadTopic"}"#.utf8))
        }
        let (client, _) = world.connected()
        var seen: (id: String?, retry: String?, none: String?)
        client.onCompletion = { _, _, _, response in
            seen = (
                text(response!.field("apns-id")), text(response!.field("retry-after")), text(response!.field("date"))
            )
        }
        #expect(client.send(7, path: "/3/device/ff", body: #"{"aps":{}}"#))
        world.drive { client.endings[7] != nil }

        #expect(client.endings[7] == .answered(400, #"{"reason":"BadTopic"}"#))
        #expect(seen.id == "ABC")
        #expect(seen.retry == "37")
        #expect(seen.none == nil)
        let request = world.serverSide.requests[0]
        #expect(text(request.method) == "POST")
        #expect(text(request.path) == "/3/device/ff")
        #expect(text(request.body) == #"{"aps":{}}"#)
        #expect(
            (0..<request.fieldCount).map { "\(text(request.name(at: $0))!): \(text(request.value(at: $0))!)" } == [
                "authorization: bearer abc", "apns-push-type: liveactivity",
                "apns-id: 00000000-0000-0000-0000-7", "apns-priority: 5",
            ])
    }

    @Test func fieldsKeepTheirOrderAndDuplicates() throws {
        let world = try World()
        let (client, _) = world.connected()
        client.template = RequestTemplate(
            authority: "localhost", fields: [TemplateField("apns-topic", "a"), TemplateField("apns-topic", "b")])
        client.send(1)
        world.drive { client.endings[1] != nil }
        let request = world.serverSide.requests[0]
        #expect(text(request.name(at: 0)) == "apns-topic" && text(request.value(at: 0)) == "a")
        #expect(text(request.name(at: 1)) == "apns-topic" && text(request.value(at: 1)) == "b")
    }

    @Test func anExpirationOfZeroIsOnTheWire() throws {
        let world = try World()
        let (client, _) = world.connected()
        var request = RequestBuffer()
        request.reset(client.template)
        request.setPath("/3/device/ff")
        request.add("apns-expiration", decimal: 0)
        let isTaken = client.connection.submit(request, tag: 1, deadlineMilliseconds: .max)
        #expect(isTaken)
        world.drive { client.endings[1] != nil }
        #expect(text(world.serverSide.requests[0].field("apns-expiration")) == "0")
    }

    @Test func tenThousandRequestsWithErrorBodiesRunThroughOneConnection() throws {
        let world = try World()
        world.serverSide.keepsRequests = false
        let body = Array(#"{"reason":"BadDeviceToken","padding":"\#(String(repeating: "x", count: 300))"}"#.utf8)
        world.serverSide.onRequest = { _ = $0.respond(status: 400, body: body) }
        let (client, peer) = world.connected()
        var next: UInt64 = 0
        func fill() { while next < 10_000, client.send(next) { next += 1 } }
        client.onCompletion = { _, _, _, _ in fill() }
        fill()
        world.drive { client.completions.count == 10_000 }

        #expect(client.isBalanced)
        #expect(client.tags(.answered(400, String(decoding: body, as: UTF8.self))).count == 10_000)
        #expect(client.connection.openStreams == 0)
        #expect(peer.openStreams == 0)
        #expect(peer.counters.streamsOverLimit == 0)
        // 300 bytes and more each: far more than one a record would allow.
        #expect(client.connection.statistics.writes < 5_000)
        #expect(client.connection.state == .ready)
    }

    @Test func noPriorityFrameIsEverSent() throws {
        let world = try World()
        let (client, peer) = world.connected()
        for tag in 0..<20 { client.send(UInt64(tag)) }
        world.drive { client.completions.count == 20 }
        #expect(peer.counters.priorityFrames == 0)
    }

    @Test func aLongBodyIsCutAndSaysSo() throws {
        let world = try World()
        world.serverSide.onRequest = { _ = $0.respond(status: 200, body: [UInt8](repeating: 65, count: 200_000)) }
        var options = ClientConnection.Options.quick
        options.maximumResponseBodyBytes = 1_000
        let (client, _) = world.connected(options)
        var wasCut = false
        client.onCompletion = { _, _, _, response in wasCut = response!.isBodyTruncated }
        client.send(1)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(200, String(repeating: "A", count: 1_000)))
        #expect(wasCut)
    }

    @Test func anAnswerBeforeTheEndOfTheBodyIsAnAnswer() throws {
        var options = Server.Options()
        options.maximumBodyBytes = 4_096
        options.withholdsWindowUpdates = true
        let world = try World(options)
        let (client, peer) = world.connected()
        // More than the window holds: the request can never be sent whole.
        client.send(1, body: String(repeating: "x", count: 100_000))
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(413, ""))
        world.drive { client.connection.openStreams == 0 && peer.openStreams == 0 }
        #expect(world.serverSide.requests.isEmpty)
    }

    @Test func drainingEndsWithTheLastAnswer() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, _) = world.connected()
        client.send(1)
        world.drive { world.serverSide.requests.count == 1 }
        client.connection.drain()
        #expect(client.connection.state == .draining)
        #expect(!client.send(2))
        _ = world.serverSide.requests[0].respond(status: 200)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.endings[1] == .answered(200, ""))
        #expect(client.closeReasons == [.drained])
    }

    @Test func closingCompletesWhatIsOpenAndThenSaysSoOnce() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, _) = world.connected()
        for tag in 0..<10 { client.send(UInt64(tag)) }
        world.drive { world.serverSide.requests.count == 10 }
        client.onCompletion = { client, _, _, _ in #expect(!client.send(99)) }
        client.connection.close()
        client.connection.close()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.unknown(.connectionClosed)).count == 10)
        #expect(client.isBalanced)
        #expect(client.completionsAfterClose == 0)
        #expect(client.closeReasons == [.requested])
    }

    @Test func whatWasNeverWrittenIsKnownToBeUnprocessed() throws {
        let world = try World()
        let (client, _) = world.connected()
        // Taken and closed within one turn: nothing has left.
        client.send(1)
        client.connection.close()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.endings[1] == .notProcessed(.neverWritten))
        #expect(world.serverSide.requests.isEmpty)
    }

    @Test func streamIdsRunningOutDrainTheConnection() throws {
        let world = try World()
        var options = ClientConnection.Options.quick
        options.lastUsableStreamID = 5
        let (client, _) = world.connected(options)
        #expect(client.send(1) && client.send(2) && client.send(3))
        #expect(!client.send(4))
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")) == [1, 2, 3])
        #expect(client.closeReasons == [.drained])
    }

    @Test func cancelledRequestsEndOnceAndFreeTheirStreams() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        client.send(1)
        world.drive { world.serverSide.requests.count == 1 }
        client.connection.cancel(tag: 1)
        client.connection.cancel(tag: 1)
        world.drive { peer.openStreams == 0 }
        #expect(client.completions == [1])
        #expect(client.endings[1] == .unknown(.cancelled))
        #expect(client.connection.openStreams == 0)
        // Not yet framed: certain.
        client.send(2)
        client.connection.cancel(tag: 2)
        world.settle()
        #expect(client.endings[2] == .notProcessed(.neverWritten))
        #expect(client.connection.openStreams == 0)
        #expect(world.serverSide.requests.count == 1)
    }

    @Test func aTagThatIsUsedAgainAtOnceIsNotCancelledWithTheFirst() {
        let bench = SessionBench().withRequest()
        bench.client.onCompletion = { client, _, _, _ in
            if client.accepted.count == 1 { client.send(1) }
        }
        bench.client.connection.cancel(tag: 1)
        #expect(bench.client.completions == [1])
        #expect(bench.client.accepted == [1, 1])
        #expect(bench.client.connection.openStreams == 1)
    }

    @Test func pathsAndIdsNeverEnterTheHeaderTable() throws {
        let world = try World()
        let (client, peer) = world.connected()
        client.send(1, path: "/3/device/first")
        world.drive { client.endings[1] != nil }
        let size = nghttp2_session_get_hd_inflate_dynamic_table_size(peer.session)
        for tag in 2..<100 { client.send(UInt64(tag), path: "/3/device/\(tag)") }
        world.drive { client.completions.count == 99 }
        // What is the same in all requests went in with the first; what differs went in never.
        #expect(size > 0)
        #expect(nghttp2_session_get_hd_inflate_dynamic_table_size(peer.session) == size)
    }

    @Test func aHeaderTableOfZeroWorks() throws {
        var options = Server.Options()
        options.headerTableBytes = 0
        let world = try World(options)
        let (client, _) = world.connected()
        for tag in 0..<200 { client.send(UInt64(tag)) }
        world.drive { client.completions.count == 200 }
        #expect(client.tags(.answered(200, "")).count == 200)
        #expect(text(world.serverSide.requests[199].field("authorization")) == "bearer abc")
    }

    @Test func aHeaderListAboveTheServersLimitIsReset() throws {
        let world = try World()
        let (client, peer) = world.connected()
        client.template = RequestTemplate(
            authority: "localhost", fields: [TemplateField("x-long", String(repeating: "y", count: 8_000))])
        client.send(1)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown(.reset(errorCode: HTTP2Error.enhanceYourCalm)))
        #expect(peer.counters.headerListsTooLong == 1)
        // And the connection goes on.
        client.template = RequestTemplate(authority: "localhost", fields: [])
        client.send(2)
        world.drive { client.endings[2] != nil }
        #expect(client.endings[2] == .answered(200, ""))
    }
}
