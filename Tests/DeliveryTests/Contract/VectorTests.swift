import LiveActivities
import PushSimulator
import Telemetry
import Testing

@testable import Delivery

/// Section 19, what of it concerns device pushes. Those of provider tokens' ages and of collapse ids, which only a provider judges, are the
/// simulator's.
@Suite("Vectors of the contract")
struct VectorTests {
    @Test("The topic of a bundle id")
    func topic() {
        #expect(
            PushHeaders.topic(bundleIdentifier: "com.example.courier") == "com.example.courier.push-type.liveactivity")
    }

    @Test("A body of 87 characters is 90 bytes, written as UTF-8 and without blanks")
    func body() throws {
        var buffer = ByteBuffer(capacity: 256)
        let state = ContentState(
            JSONObject(uniqueMembers: [JSONObject.Member(name: "status", value: .string("Zürich ✓"))]))
        let info = try PayloadWriter.write(
            Push(
                event: .update, activityIdentifier: "a", timestampSeconds: 1_795_953_600, contentState: state),
            ActivityTypes()["DeliveryAttributes"], into: &buffer)
        let text = buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text == #"{"aps":{"timestamp":1795953600,"event":"update","content-state":{"status":"Zürich ✓"}}}"#)
        #expect(text.count == 87 && info.bytes == 90)
    }

    @Test("A device update on the wire")
    func update() throws {
        let log = WireLog()
        let provider = try log.provider()
        let bench = try provider.bench()
        bench.waitForStreams(1)
        let body =
            #"{"aps":{"timestamp":1795953600,"event":"update","stale-date":1795954500,"content-state":{"status":"near","etaTimestamp":1795954020}}}"#
        var batch = JobBatch()
        batch.add(
            identifier: 1, pool: 0,
            headers: PushHeaders(
                token: PushToken(bytes: [0x80, 0xC2] + [UInt8](repeating: 0, count: 29) + [0xF7]),
                apnsIdentifier: (0x0F6C_2A3E_6D0A_4F0E, 0x9A55_3C7B_1A2D_4E5F), priority: 5,
                expirationSeconds: 1_795_954_500),
            body: Array(body.utf8))
        bench.worker.submit(&batch)
        bench.reports.wait { $0.endings[1] != nil }
        let request = try #require(log.all.first)
        #expect(request.path == "/3/device/80c2" + String(repeating: "00", count: 29) + "f7")
        #expect(request["apns-priority"] == "5")
        #expect(request["apns-expiration"] == "1795954500")
        #expect(request["apns-id"] == "0f6c2a3e-6d0a-4f0e-9a55-3c7b1a2d4e5f")
        #expect(request.body == body)
    }
}
