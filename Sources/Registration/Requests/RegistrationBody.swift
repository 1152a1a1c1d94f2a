import Telemetry

/// The fields of a registration, read as those of events are: unknown ones are passed over, null is absent, a wrong type is an error.
struct RegistrationBody {
    private let object: JSONObject

    static let identifierBytes = 1...128
    /// A phone's clock may be ahead of ours by so much; a registration from beyond would win over all that come after it.
    static let aheadMilliseconds: Int64 = 300_000

    /// - Parameter bytes: none are no fields.
    init(_ bytes: [UInt8]) throws(Problem) {
        guard !bytes.isEmpty else {
            object = JSONObject()
            return
        }
        let parsed = bytes.withUnsafeBytes { bytes -> Result<JSONValue, EventFault> in
            do throws(EventFault) { return .success(try JSONParser.parse(bytes, maximumDepth: 16)) } catch {
                return .failure(error)
            }
        }
        switch parsed {
        case .failure(let fault): throw Problem(.malformedRequest, fault.explanation)
        case .success(.object(let found)): object = found
        case .success: throw Problem(.malformedRequest, "The body is JSON, but no object; send {\"token\": \"…\"}.")
        }
    }

    func identifier(_ name: String) throws(Problem) -> String {
        guard let text = try string(name) else { throw missing(name, "send a string of 1 to 128 bytes") }
        return try RegistrationBody.checked(text, name)
    }

    /// An id from the path, held to the same rule.
    static func checked(_ text: String, _ name: String) throws(Problem) -> String {
        guard identifierBytes ~= text.utf8.count else {
            throw Problem(
                .invalidField, field: name,
                "\"\(name)\" has \(text.utf8.count) bytes; ids have \(identifierBytes.lowerBound) to \(identifierBytes.upperBound)."
            )
        }
        guard !text.utf8.contains(0) else {
            throw Problem(
                .invalidField, field: name,
                "\"\(name)\" holds a NUL, which no id has; send the id as it was given to you.")
        }
        return text
    }

    func requiredToken() throws(Problem) -> PushToken {
        guard let token = try token() else {
            throw missing("token", "send the bytes that ActivityKit gave you, as hex digits")
        }
        return token
    }

    func token() throws(Problem) -> PushToken? {
        guard let text = try string("token") else { return nil }
        guard let token = PushToken(hex: text) else {
            throw Problem(
                .invalidField, field: "token",
                "\"token\" has \(text.utf8.count) bytes and is no token; send \(PushToken.hexDigits.lowerBound) to \(PushToken.hexDigits.upperBound) hex digits, an even number of them, without blanks or brackets."
            )
        }
        return token
    }

    func frequentUpdates() throws(Problem) -> Bool? {
        switch present("frequentUpdates") {
        case nil: return nil
        case .bool(let value)?: return value
        case let other?:
            throw wrongType(
                "frequentUpdates", other, "true or false, as areActivitiesEnabled and frequentPushesEnabled tell")
        }
    }

    /// - Parameter apps: those that are configured.
    func app(of apps: [String]) throws(Problem) -> String? {
        guard let app = try string("app") else { return nil }
        guard apps.contains(where: { $0.hasSameBytes(as: app) }) else {
            throw Problem(
                .invalidField, field: "app",
                "\"app\" is no app that is configured; leave it out or send one of: \(apps.joined(separator: ", ")).")
        }
        return app
    }

    /// Unix milliseconds; now where the body has none.
    func timestamp(nowMilliseconds: Int64) throws(Problem) -> Int64 {
        let milliseconds: Int64
        switch present("timestamp") {
        case nil: return nowMilliseconds
        case .number(let number)?:
            guard number.double <= 1e11 else {
                throw badTimestamp("looks like milliseconds; send Unix seconds (fractions are allowed)")
            }

            guard number.double >= -1e11 else { throw badTimestamp("lies before any calendar; send Unix seconds") }
            milliseconds = Int64((number.double * 1000 + 0.5).rounded(.down))
        case .string(var text)?:
            guard let read = text.withUTF8({ Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) }) else {
                throw badTimestamp(
                    "is a string, but no RFC 3339 time; send one such as \"2026-03-08T20:10:00.5Z\", or Unix seconds as a number"
                )
            }
            milliseconds = read
        case let other?: throw wrongType("timestamp", other, "Unix seconds or an RFC 3339 string")
        }
        guard milliseconds <= nowMilliseconds + RegistrationBody.aheadMilliseconds else {
            throw badTimestamp(
                "lies \((milliseconds - nowMilliseconds) / 1000) s ahead of this server's clock; set the sender's clock, or leave the field out for now"
            )
        }
        return milliseconds
    }

    private func badTimestamp(_ problem: String) -> Problem {
        Problem(.invalidField, field: "timestamp", "\"timestamp\" \(problem).")
    }

    private func present(_ name: String) -> JSONValue? {
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    private func string(_ name: String) throws(Problem) -> String? {
        switch present(name) {
        case nil: return nil
        case .string(let text)?: return text
        case let other?: throw wrongType(name, other, "a string")
        }
    }

    private func missing(_ name: String, _ remedy: String) -> Problem {
        Problem(.invalidField, field: name, "\"\(name)\" is missing; \(remedy).")
    }

    private func wrongType(_ name: String, _ value: JSONValue, _ wanted: String) -> Problem {
        let found =
            switch value {
            case .null: "null"
            case .bool: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return Problem(.invalidField, field: name, "\"\(name)\" is \(found); send \(wanted).")
    }
}
