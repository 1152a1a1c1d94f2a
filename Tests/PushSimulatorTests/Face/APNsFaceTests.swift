import Testing

@testable import PushSimulator

@Suite("The face answers as the contract's table says")
struct APNsFaceTests {
    typealias Bench = FaceBench

    @Test("A good push is accepted, with the id that it brought")
    func good() throws {
        var bench = try Bench()
        let answer = bench.answer(Bench.request())
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(answer.apnsIdentifier == "0f6c2a3e-6d0a-4f0e-9a55-3c7b1a2d4e5f")
        #expect(answer.push?.token == Bench.token)
        #expect(answer.push?.expirationSeconds == 0)
    }

    @Test("Without an id one is made up, and in the sandbox a unique one as well")
    func identifiers() throws {
        var bench = try Bench { $0.environment = .sandbox }
        let answer = bench.answer(Bench.request { $0["apns-id"] = .some(nil) })
        #expect(UUIDText.isValid(answer.apnsIdentifier))
        #expect(answer.uniqueIdentifier.map(UUIDText.isValid) == true)
        #expect(answer.fields.map(\.0) == ["apns-id", "apns-unique-id"])
    }

    @Test("R1: a header twice")
    func duplicateHeaders() throws {
        var bench = try Bench()
        var request = Bench.request()
        request.fields.append(.init("apns-priority", "5"))
        bench.expect(400, "DuplicateHeaders", request)
        var cookies = Bench.request()
        cookies.fields += [.init("cookie", "a"), .init("cookie", "b")]
        bench.expect(200, nil, cookies)
    }

    @Test("R2–R4: path and method")
    func requestLine() throws {
        var bench = try Bench()
        bench.expect(404, "BadPath", Bench.request(path: "/2/device/\(Bench.token)"))
        bench.expect(404, "BadPath", Bench.request(path: "/3/devices/\(Bench.token)"))
        bench.expect(405, "MethodNotAllowed", Bench.request(method: "GET"))
        bench.expect(400, "MissingDeviceToken", Bench.request(path: "/3/device"))
        bench.expect(400, "MissingDeviceToken", Bench.request(path: "/3/device/"))
    }

    @Test("R5: an id that is no UUID, or in upper case")
    func messageIdentifier() throws {
        var bench = try Bench()
        let bad = bench.answer(Bench.request { $0["apns-id"] = "4711" })
        #expect(bad.reason == "BadMessageId")
        #expect(UUIDText.isValid(bad.apnsIdentifier))
        let upper = Bench.request { $0["apns-id"] = "0F6C2A3E-6D0A-4F0E-9A55-3C7B1A2D4E5F" }
        bench.expect(400, "BadMessageId", upper)
        var lenient = try Bench { $0.isStrict = false }
        lenient.expect(200, nil, upper)
    }

    @Test("H1–H3: topics")
    func topics() throws {
        var bench = try Bench()
        bench.expect(400, "MissingTopic", Bench.request { $0["apns-topic"] = .some(nil) })
        bench.expect(400, "BadTopic", Bench.request { $0["apns-topic"] = "" })
        bench.expect(400, "BadTopic", Bench.request { $0["apns-topic"] = "com.example courier" })
        let scoped = try ProviderKeyPair(identifier: "T0PICK3Y01")
        bench.face.register(try scoped.registered(topics: ["com.example.other"]))
        bench.connection = FaceConnection()
        let jwt = scoped.providerToken(issuedAtSeconds: Bench.nowMilliseconds / 1_000)
        bench.expect(400, "TopicDisallowed", Bench.request { $0["authorization"] = "bearer \(jwt)" })
    }

    @Test("H4: push types")
    func pushTypes() throws {
        var bench = try Bench()
        bench.expect(400, "InvalidPushType", Bench.request { $0["apns-push-type"] = .some(nil) })
        bench.expect(400, "InvalidPushType", Bench.request { $0["apns-push-type"] = "liveActivity" })
        bench.expect(400, "InvalidPushType", Bench.request { $0["apns-push-type"] = "alert" })
        // With the bare bundle id the push type is right by itself, and the token decides.
        bench.expect(400, "DeviceTokenNotForTopic", Bench.request { $0["apns-topic"] = "com.example.courier" })
        var lenient = try Bench { $0.isStrict = false }
        lenient.expect(200, nil, Bench.request { $0["apns-push-type"] = .some(nil) })
    }

    @Test("H5–H7: priority, expiration, collapse id")
    func headers() throws {
        var bench = try Bench()
        bench.expect(400, "BadPriority", Bench.request { $0["apns-priority"] = "7" })
        bench.expect(400, "BadPriority", Bench.request { $0["apns-priority"] = "1" })
        bench.expect(200, nil, Bench.request { $0["apns-priority"] = .some(nil) })
        for bad in ["-1", "1.5", "soon", "9223372036854775808"] {
            bench.expect(400, "BadExpirationDate", Bench.request { $0["apns-expiration"] = bad })
        }
        let milliseconds = bench.answer(Bench.request { $0["apns-expiration"] = "1795953600000" })
        #expect(milliseconds.status == 200)
        #expect(milliseconds.warnings.count == 1)
        bench.expect(200, nil, Bench.request { $0["apns-collapse-id"] = String(repeating: "c", count: 64) })
        bench.expect(
            400, "BadCollapseId", Bench.request { $0["apns-collapse-id"] = String(repeating: "c", count: 65) })
        bench.expect(400, "BadCollapseId", Bench.request { $0["apns-collapse-id"] = "" })
    }

    @Test("L1–L3: 4096 bytes pass, 4097 do not, none and no push neither")
    func bodies() throws {
        var bench = try Bench()
        func body(_ count: Int) -> String {
            let frame = #"{"aps":{},"x":""}"#
            return #"{"aps":{},"x":"\#(String(repeating: "y", count: count - frame.utf8.count))"}"#
        }
        bench.expect(200, nil, Bench.request(body: body(4_096)))
        bench.expect(413, "PayloadTooLarge", Bench.request(body: body(4_097)))
        bench.expect(400, "PayloadEmpty", Bench.request(body: ""))
        bench.expect(400, "PayloadEmpty", Bench.request(body: #"{"alert":1}"#))
        var cut = Bench.request()
        cut.isBodyTooLarge = true
        bench.expect(413, "PayloadTooLarge", cut)
        var lenient = try Bench { $0.isStrict = false }
        lenient.expect(200, nil, Bench.request(body: "[]"))
    }

    @Test("T1–T2: device tokens")
    func deviceTokens() throws {
        var bench = try Bench()
        for bad in [
            String(repeating: "a", count: 62), String(repeating: "a", count: 65), String(repeating: "g", count: 64),
        ] {
            bench.expect(400, "BadDeviceToken", Bench.request(path: "/3/device/\(bad)"))
        }
        bench.expect(200, nil, Bench.request(path: "/3/device/\(Bench.token.uppercased())"))
        let unknown = Bench.request(path: "/3/device/\(String(repeating: "ab", count: 200))")
        bench.expect(400, "BadDeviceToken", unknown)
        bench.face.settings.unknownTokens = .adopt
        bench.expect(200, nil, unknown)
        bench.face.tokens.register(Bench.token, kind: .update, topic: Bench.topic, environment: .sandbox)
        bench.expect(400, "BadDeviceToken")
    }

    @Test("T4–T5: an ended or replaced token is gone once the blur is over, and says since when")
    func gone() throws {
        var bench = try Bench { $0.goneBlurMilliseconds = 60_000 }
        bench.face.tokens.end(Bench.token, atMilliseconds: Bench.nowMilliseconds)
        bench.nowMilliseconds += 59_999
        bench.expect(200)
        bench.nowMilliseconds += 1
        let gone = bench.answer(Bench.request())
        #expect(gone.status == 410)
        #expect(gone.reason == "Unregistered")
        #expect(String(decoding: gone.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1795953600000}"#)
        bench.face.tokens.register(Bench.token, kind: .update, topic: Bench.topic)
        bench.face.tokens.replace(Bench.token, atMilliseconds: Bench.nowMilliseconds - 60_000)
        bench.expect(410, "ExpiredToken")
    }

    @Test("T6: too many pushes to one token within the window")
    func rate() throws {
        var bench = try Bench { $0.maxPushesPerToken = 2 }
        bench.expect(200)
        bench.expect(200)
        bench.expect(429, "TooManyRequests")
        bench.nowMilliseconds += 60_000
        bench.expect(200)
    }

    @Test("What fails first answers")
    func order() throws {
        var bench = try Bench()
        let spoilt = Bench.request(
            {
                $0["apns-id"] = "x"
                $0["authorization"] = .some(nil)
                $0["apns-topic"] = .some(nil)
            }, method: "PUT", path: "/3/device/", body: "")
        bench.expect(405, "MethodNotAllowed", spoilt)
        var fields = Bench.request { $0["apns-topic"] = .some(nil) }
        fields.isBodyTooLarge = true
        bench.expect(400, "MissingTopic", fields)
        bench.expect(
            413, "PayloadTooLarge", Bench.request(path: "/3/device/zz", body: String(repeating: "z", count: 5_000)))
    }
}
