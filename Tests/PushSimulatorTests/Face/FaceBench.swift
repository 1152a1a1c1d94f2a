import Testing

@testable import PushSimulator

/// A face with one key and one token, a connection, and a request that it accepts: each test spoils one thing.
struct FaceBench {
    static let pair = try! ProviderKeyPair()
    static let topic = "com.example.courier.push-type.liveactivity"
    static let token = String(repeating: "80c2", count: 40)
    static let nowMilliseconds: Int64 = 1_795_953_600_000

    var face: APNsFace
    var connection = FaceConnection()
    var nowMilliseconds = FaceBench.nowMilliseconds

    init(_ change: (inout FaceSettings) -> Void = { _ in }) throws {
        var settings = FaceSettings()
        change(&settings)
        face = APNsFace(settings: settings, keys: [try FaceBench.pair.registered()])
        face.tokens.register(
            FaceBench.token, kind: .update, topic: FaceBench.topic, environment: settings.environment)
    }

    static func jwt(ageSeconds: Int64 = 0) -> String {
        pair.providerToken(issuedAtSeconds: nowMilliseconds / 1_000 - ageSeconds)
    }

    static let standing = jwt()

    static func request(
        _ change: (inout [String: String?]) -> Void = { _ in }, method: String = "POST", path: String? = nil,
        body: String = #"{"aps":{"timestamp":1795953600,"event":"update","content-state":{"status":"near"}}}"#
    ) -> FaceRequest {
        var fields: [String: String?] = [
            "authorization": "bearer \(standing)", "apns-topic": topic, "apns-push-type": "liveactivity",
            "apns-priority": "5", "apns-expiration": "0", "apns-id": "0f6c2a3e-6d0a-4f0e-9a55-3c7b1a2d4e5f",
        ]
        change(&fields)
        return FaceRequest(
            method: method, path: path ?? "/3/device/\(token)",
            fields: fields.sorted { $0.key < $1.key }.compactMap { name, value in value.map { .init(name, $0) } },
            body: Array(body.utf8))
    }

    mutating func answer(_ request: FaceRequest) -> FaceAnswer {
        face.answer(request, on: &connection, at: FaceInstant(realMilliseconds: nowMilliseconds))
    }

    mutating func expect(
        _ status: Int, _ reason: String? = nil, _ request: FaceRequest = FaceBench.request(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answer = answer(request)
        #expect(answer.status == status, "\(answer.reason ?? "")", sourceLocation: sourceLocation)
        #expect(answer.reason == reason, sourceLocation: sourceLocation)
    }
}
