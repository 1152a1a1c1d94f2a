import LiveActivities
import Telemetry
import Testing

@Suite("Header fields of a push")
struct PushHeadersTests {
    private func text(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> String {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        defer { buffer.deallocate() }
        return String(decoding: buffer[..<write(buffer)], as: UTF8.self)
    }

    private func headers(token: [UInt8] = [0x80, 0xC2, 0x0F, 0xF7]) -> PushHeaders {
        PushHeaders(
            token: PushToken(bytes: token), apnsIdentifier: (0x0F6C_2A3E_6D0A_4F0E, 0x9A55_3C7B_1A2D_4E5F), priority: 5,
            expirationSeconds: 0)
    }

    @Test("the topic is the bundle id with its suffix")
    func topic() {
        #expect(
            PushHeaders.topic(bundleIdentifier: "com.example.courier")
                == "com.example.courier.push-type.liveactivity")
    }

    @Test("the path holds the token in lower-case hex, whatever its length")
    func path() {
        #expect(text(capacity: PushHeaders.longestPathBytes) { headers().writePath(into: $0) } == "/3/device/80c20ff7")
        let longest = [UInt8](repeating: 0xAB, count: 200)
        let path = text(capacity: PushHeaders.longestPathBytes) { headers(token: longest).writePath(into: $0) }
        #expect(path == "/3/device/" + String(repeating: "ab", count: 200))
        #expect(path.utf8.count == PushHeaders.longestPathBytes)
    }

    @Test("apns-id is a lower-case UUID")
    func identifier() {
        let identifier = text(capacity: PushHeaders.identifierBytes) {
            headers().writeIdentifier(into: $0)
            return PushHeaders.identifierBytes
        }
        #expect(identifier == "0f6c2a3e-6d0a-4f0e-9a55-3c7b1a2d4e5f")
    }

    @Test("routine pushes are tried once, urgent ones kept until stale, ends for four hours")
    func expiration() {
        func expiration(_ storage: PushHeaders.Storage) -> Int64 {
            PushHeaders.expirationSeconds(storage, sentAtSeconds: 1_795_953_600, staleAfterSeconds: 180)
        }
        #expect(expiration(.routine) == 0)
        #expect(expiration(.urgent) == 1_795_953_780)
        #expect(expiration(.end) == 1_795_968_000)
    }
}
