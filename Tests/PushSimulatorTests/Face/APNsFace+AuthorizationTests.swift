import Testing

@testable import PushSimulator

@Suite("Provider tokens are checked as the contract says")
struct APNsFaceAuthorizationTests {
    typealias Bench = FaceBench

    private func request(_ jwt: String, scheme: String = "bearer") -> FaceRequest {
        Bench.request { $0["authorization"] = "\(scheme) \(jwt)" }
    }

    @Test("U1, U8: none at all, and a certificate in its place")
    func missing() throws {
        var bench = try Bench()
        bench.expect(403, "MissingProviderToken", Bench.request { $0["authorization"] = .some(nil) })
        var certified = Bench.request { $0["authorization"] = .some(nil) }
        certified.hasClientCertificate = true
        bench.expect(403, "Forbidden", certified)
        bench.face.settings.allowsClientCertificate = true
        bench.expect(200, nil, certified)
    }

    @Test("U2: everything that is wrong with a token is InvalidProviderToken")
    func invalid() throws {
        let seconds = Bench.nowMilliseconds / 1_000
        let pair = Bench.pair
        let claims = #"{"iss":"\#(pair.teamIdentifier)","iat":\#(seconds)}"#
        let header = #"{"alg":"ES256","kid":"\#(pair.identifier)"}"#
        let good = pair.sign(header: header, claims: claims)
        let parts = good.split(separator: ".")
        let message = "\(parts[0]).\(parts[1])"
        let bad: [(String, String)] = [
            ("two segments", message),
            ("four segments", good + ".x"),
            ("padding", good + "="),
            ("no JSON", "\(Base64URL.encode("{".utf8)).\(parts[1]).\(parts[2])"),
            ("algorithm", pair.sign(header: #"{"alg":"HS256","kid":"\#(pair.identifier)"}"#, claims: claims)),
            ("unknown key", pair.sign(header: #"{"alg":"ES256","kid":"0000000000"}"#, claims: claims)),
            ("other team", pair.sign(header: header, claims: #"{"iss":"OTHERTEAM1","iat":\#(seconds)}"#)),
            ("no iat", pair.sign(header: header, claims: #"{"iss":"\#(pair.teamIdentifier)"}"#)),
            (
                "iat as text",
                pair.sign(header: header, claims: #"{"iss":"\#(pair.teamIdentifier)","iat":"\#(seconds)"}"#)
            ),
            ("DER signature", "\(message).\(Base64URL.encode(pair.derSignature(of: Array(message.utf8))))"),
            ("other signature", "\(message).\(Base64URL.encode([UInt8](repeating: 7, count: 64)))"),
            ("signature of zeros", "\(message).\(Base64URL.encode([UInt8](repeating: 0, count: 64)))"),
            ("other key's signature", try ProviderKeyPair().sign(header: header, claims: claims)),
        ]
        for (cause, jwt) in bad {
            var bench = try Bench()
            let answer = bench.answer(request(jwt))
            #expect(answer.status == 403, "\(cause)")
            #expect(answer.reason == "InvalidProviderToken", "\(cause)")
            #expect(!bench.connection.hasAcceptedToken, "\(cause)")
        }
        var bench = try Bench()
        bench.expect(200, nil, request(good))
        bench.expect(403, "InvalidProviderToken", request(good, scheme: "Bearer"))
        var lenient = try Bench { $0.isStrict = false }
        lenient.expect(200, nil, request(bad[8].1))
    }

    @Test("U3: 3600 s are fresh, 3601 s expired, and then the connection stays refused")
    func expired() throws {
        var bench = try Bench()
        bench.expect(200, nil, request(Bench.jwt(ageSeconds: 3_600)))
        bench.connection = FaceConnection()
        bench.expect(403, "ExpiredProviderToken", request(Bench.jwt(ageSeconds: 3_601)))
        bench.expect(403, "ExpiredProviderToken", request(Bench.jwt()))
        bench.connection = FaceConnection()
        bench.expect(200, nil, request(Bench.jwt()))
        var forgiving = try Bench { $0.keepsRefusingAfterExpiry = false }
        forgiving.expect(403, "ExpiredProviderToken", request(Bench.jwt(ageSeconds: 3_601)))
        forgiving.expect(200, nil, request(Bench.jwt()))
    }

    @Test("U4: 60 s ahead are forgiven")
    func future() throws {
        var bench = try Bench()
        bench.expect(200, nil, request(Bench.jwt(ageSeconds: -60)))
        bench.connection = FaceConnection()
        bench.expect(403, "InvalidProviderToken", request(Bench.jwt(ageSeconds: -61)))
    }

    @Test("U5: replaced after 1199 s it is too early, after 1200 s it is taken")
    func updates() throws {
        var bench = try Bench()
        bench.expect(200, nil, request(Bench.standing))
        bench.nowMilliseconds += 1_199_000
        let second = Bench.jwt(ageSeconds: -1_199)
        bench.expect(429, "TooManyProviderTokenUpdates", request(second))
        bench.expect(200, nil, request(Bench.standing))
        bench.nowMilliseconds += 1_000
        bench.expect(200, nil, request(second))
        bench.expect(429, "TooManyProviderTokenUpdates", request(Bench.standing))
    }

    @Test("U5, strict: after an early change the connection refuses even the older token until the 20 minutes are over")
    func strictUpdates() throws {
        var bench = try Bench { $0.tokenUpdatesRefuseAll = true }
        bench.expect(200, nil, request(Bench.standing))
        bench.expect(429, "TooManyProviderTokenUpdates", request(Bench.jwt(ageSeconds: 1)))
        bench.expect(429, "TooManyProviderTokenUpdates", request(Bench.standing))
        bench.nowMilliseconds += 1_200_000
        bench.expect(200, nil, request(Bench.standing))
    }

    @Test("U5: the scope is the connection, the address or the whole simulator")
    func scopes() throws {
        for (scope, address, status) in [
            (FaceSettings.TokenUpdateScope.connection, "127.0.0.1", 200), (.sourceAddress, "127.0.0.1", 429),
            (.sourceAddress, "127.0.0.2", 200), (.simulator, "127.0.0.2", 429),
        ] {
            var bench = try Bench { $0.tokenUpdateScope = scope }
            bench.expect(200, nil, request(Bench.standing))
            bench.connection = FaceConnection()
            var other = request(Bench.jwt(ageSeconds: 1))
            other.sourceAddress = address
            bench.expect(status, status == 200 ? nil : "TooManyProviderTokenUpdates", other)
        }
    }

    @Test("K7, U6, U7: one team a connection, related keys only, the right environment")
    func keys() throws {
        let now = Bench.nowMilliseconds / 1_000
        var bench = try Bench { $0.minProviderTokenUpdateMilliseconds = 0 }
        let foreign = try ProviderKeyPair(identifier: "F0R31GNK3Y", teamIdentifier: "F0R31GNT3M")
        let second = try ProviderKeyPair(identifier: "S3C0NDK3Y0")
        let scoped = try ProviderKeyPair(identifier: "T0PICK3Y01")
        let sandbox = try ProviderKeyPair(identifier: "SANDB0XK3Y")
        bench.face.register(try foreign.registered())
        bench.face.register(try second.registered())
        bench.face.register(try scoped.registered(topics: ["com.example.courier"], relatedIdentifier: "R3LAT3DK3Y"))
        bench.face.register(try sandbox.registered(environments: [.sandbox]))
        bench.expect(200, nil, request(Bench.standing))
        bench.expect(403, "InvalidProviderToken", request(foreign.providerToken(issuedAtSeconds: now)))
        bench.expect(200, nil, request(second.providerToken(issuedAtSeconds: now)))
        bench.expect(403, "UnrelatedKeyIdInToken", request(scoped.providerToken(issuedAtSeconds: now)))
        bench.expect(403, "BadEnvironmentKeyIdInToken", request(sandbox.providerToken(issuedAtSeconds: now)))
        let related = try ProviderKeyPair(identifier: "R3LAT3DK3Y")
        bench.face.register(try related.registered(topics: ["com.example.courier"]))
        bench.connection = FaceConnection()
        bench.expect(200, nil, request(scoped.providerToken(issuedAtSeconds: now)))
        bench.expect(200, nil, request(related.providerToken(issuedAtSeconds: now)))
    }

    @Test("A revoked key is invalid at once")
    func revoked() throws {
        var bench = try Bench()
        bench.expect(200)
        bench.face.revoke(keyIdentifier: Bench.pair.identifier)
        bench.expect(403, "InvalidProviderToken")
    }

    @Test("K2: the first accepted provider token lifts the stream limit, once")
    func firstToken() throws {
        var bench = try Bench()
        #expect(bench.connection.streamLimit == 1)
        #expect(bench.answer(Bench.request { $0["authorization"] = "bearer x" }).effects.isEmpty)
        // The token was good, whatever else was not.
        #expect(bench.answer(Bench.request { $0["apns-priority"] = "9" }).effects == [.streamLimit(1_000)])
        #expect(bench.answer(Bench.request()).effects.isEmpty)
    }

    @Test("K4: errors in a row lower the limit, then close; 410 does not count, 200 restores")
    func errorsInARow() throws {
        var bench = try Bench { $0.maxErrorsInARow = 2 }
        bench.expect(200)
        let bad = Bench.request(path: "/3/device/zz")
        let gone = String(repeating: "dead", count: 16)
        bench.face.tokens.register(gone, kind: .update, topic: Bench.topic)
        bench.face.tokens.end(gone, atMilliseconds: 0)
        let effects = (0..<2).map { _ in bench.answer(bad).effects }
        #expect(effects == [[], []])
        #expect(bench.answer(Bench.request(path: "/3/device/\(gone)")).effects.isEmpty)
        #expect(bench.answer(bad).effects == [.streamLimit(1)])
        #expect(bench.answer(Bench.request()).effects == [.streamLimit(1_000)])
        let untilClosed = (0..<5).flatMap { _ in bench.answer(bad).effects }
        #expect(untilClosed == [.streamLimit(1), .goAway(reason: "BadDeviceToken")])
    }
}
