import Telemetry

extension FaultSettings {
    /// A setting as people and JSON name it: one list for reading, writing and help.
    public struct Key: Sendable {
        public let name: String
        /// What it does, in half a line.
        public let text: String
        let property: Property
    }

    enum Property: Sendable {
        case milliseconds(WritableKeyPath<FaultSettings, Int64> & Sendable)
        case optionalMilliseconds(WritableKeyPath<FaultSettings, Int64?> & Sendable)
        case share(WritableKeyPath<FaultSettings, Double> & Sendable)
        case optionalShare(WritableKeyPath<FaultSettings, Double?> & Sendable)
        case count(WritableKeyPath<FaultSettings, UInt32> & Sendable)
        case optionalCount(WritableKeyPath<FaultSettings, UInt32?> & Sendable)
        case flag(WritableKeyPath<FaultSettings, Bool> & Sendable)
        case refusedUpdates
        case errors

        /// In words.
        public var kind: String {
            switch self {
            case .milliseconds: "whole milliseconds"
            case .optionalMilliseconds: "whole milliseconds, or null"
            case .share: "a number from 0 to 1"
            case .optionalShare: "a number from 0 to 1, or null"
            case .count: "a whole number"
            case .optionalCount: "a whole number, or null"
            case .flag: "true or false"
            case .refusedUpdates: RefusedUpdates.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
            case .errors: "a list"
            }
        }
    }

    public static let keys: [Key] = [
        Key("latencyMinMilliseconds", .milliseconds(\.latencyMinMilliseconds), "answers take at least so long"),
        Key("latencyMaxMilliseconds", .milliseconds(\.latencyMaxMilliseconds), "answers take at most so long"),
        Key("slowShare", .share(\.slowShare), "a share takes slowMilliseconds instead"),
        Key("slowMilliseconds", .milliseconds(\.slowMilliseconds), "how long slow answers take"),
        Key("streamLimit", .count(\.streamLimit), "MAX_CONCURRENT_STREAMS, announced at once"),
        Key("refusedStreamShare", .share(\.refusedStreamShare), "a share gets REFUSED_STREAM"),
        Key("errors", .errors, "a share gets another answer than 200"),
        Key("resetBeforeShare", .share(\.resetBeforeShare), "a share resets its connection before the answer"),
        Key("resetAmidShare", .share(\.resetAmidShare), "a share resets it amid the answer's header"),
        Key("resetAfterShare", .share(\.resetAfterShare), "a share resets it after the answer's headers"),
        Key("blackHole", .flag(\.isBlackHole), "nothing is read or written, connections stay open"),
        Key("clockSkewMilliseconds", .milliseconds(\.clockSkewMilliseconds), "the provider's clock is off by so much"),
        Key("keyRevoked", .flag(\.isKeyRevoked), "every provider token is InvalidProviderToken"),
        Key("refusedTokenUpdates", .refusedUpdates, "TooManyProviderTokenUpdates on connections that stand, or on all"),
        Key("streamWindowBytes", .count(\.streamWindowBytes), "flow-control window of a stream (new connections)"),
        Key("withholdsWindowUpdates", .flag(\.withholdsWindowUpdates), "windows never open again (new connections)"),
        Key("headerTableBytes", .count(\.headerTableBytes), "HPACK table, 0 for none (new connections)"),
        Key("hangsInHandshake", .flag(\.hangsInHandshake), "TCP is accepted, TLS hangs (new connections)"),
        Key("wrongName", .flag(\.hasWrongName), "a certificate of another name (new connections)"),
        Key("withoutHTTP2", .flag(\.isWithoutHTTP2), "TLS without ALPN h2 (new connections)"),
        Key("goneBlurMilliseconds", .optionalMilliseconds(\.goneBlurMilliseconds), "a dead token answers 200 so long"),
        Key("pushesPerTokenMinute", .optionalCount(\.pushesPerTokenMinute), "beyond it one token gets 429"),
        Key("tokenRotationShare", .share(\.tokenRotationShare), "a share meets a token that was just replaced"),
        Key(
            "updateTokenLossShare", .optionalShare(\.updateTokenLossShare),
            "a share of starts never gets an update token"),
        Key(
            "updateTokenDelayMilliseconds", .optionalMilliseconds(\.updateTokenDelayMilliseconds),
            "the update token comes so long after a start"),
        Key("reorderedShare", .share(\.reorderedShare), "a share reaches its phone after the next push"),
        Key("startBudget", .optionalCount(\.startBudget), "starts an hour that a phone takes"),
        Key("urgentBudget", .optionalCount(\.urgentBudget), "pushes of priority 10 an hour that an activity shows"),
    ]

    /// Changes what the object names and leaves the rest.
    /// - Throws: what is unknown or of another type; then nothing has changed.
    public mutating func apply(_ object: JSONObject) throws(FaultSettingsFault) {
        var changed = self
        for member in object.members {
            guard let key = FaultSettings.keys.first(where: { $0.name == member.name }) else {
                let names = FaultSettings.keys.map(\.name).joined(separator: ", ")
                throw FaultSettingsFault(key: member.name, problem: "unknown; there are \(names)")
            }
            try changed.set(key, to: member.value)
        }
        self = changed
    }

    private mutating func set(_ key: Key, to value: JSONValue) throws(FaultSettingsFault) {
        switch (key.property, value) {
        case (.flag(let path), .bool(let flag)): self[keyPath: path] = flag
        case (.share(let path), .number(let number)) where (0...1).contains(number.double):
            self[keyPath: path] = number.double
        case (.optionalShare(let path), .number(let number)) where (0...1).contains(number.double):
            self[keyPath: path] = number.double
        case (.optionalShare(let path), .null): self[keyPath: path] = nil
        case (.milliseconds(let path), .number(let number)) where FaultSettings.isTime(number):
            self[keyPath: path] = Int64(number.double)
        case (.optionalMilliseconds(let path), .number(let number)) where FaultSettings.isTime(number):
            self[keyPath: path] = Int64(number.double)
        case (.optionalMilliseconds(let path), .null): self[keyPath: path] = nil
        case (.count(let path), .number(let number)) where FaultSettings.isCount(number):
            self[keyPath: path] = UInt32(number.double)
        case (.optionalCount(let path), .number(let number)) where FaultSettings.isCount(number):
            self[keyPath: path] = UInt32(number.double)
        case (.optionalCount(let path), .null): self[keyPath: path] = nil
        case (.refusedUpdates, .string(let word)) where RefusedUpdates(rawValue: word) != nil:
            refusedTokenUpdates = RefusedUpdates(rawValue: word) ?? .none
        case (.errors, .array(let elements)):
            errors = []
            for element in elements { errors.append(try InjectedError(element)) }
        case (.errors, _):
            throw FaultSettingsFault(key: key.name, problem: "a list of \(InjectedError.shape)")
        default:
            throw FaultSettingsFault(key: key.name, problem: "\(key.property.kind) is needed")
        }
    }

    /// Whole, and within a century: beyond it clocks would overflow.
    private static func isTime(_ number: JSONNumber) -> Bool {
        Int64(exactly: number.double) != nil && number.double.magnitude <= 3_155_760_000_000
    }

    /// What fits into a setting of HTTP/2 (RFC 9113, section 6.5.2).
    private static func isCount(_ number: JSONNumber) -> Bool {
        UInt32(exactly: number.double) != nil && number.double <= Double(Int32.max)
    }

    public var json: JSONObject {
        var object = JSONObject()
        for key in FaultSettings.keys { object[key.name] = value(of: key) }
        return object
    }

    func value(of key: Key) -> JSONValue {
        switch key.property {
        case .milliseconds(let path): .number(JSONNumber(self[keyPath: path]))
        case .optionalMilliseconds(let path): self[keyPath: path].map { .number(JSONNumber($0)) } ?? .null
        case .share(let path): .number(JSONNumber(shortest: self[keyPath: path]))
        case .optionalShare(let path): self[keyPath: path].map { .number(JSONNumber(shortest: $0)) } ?? .null
        case .count(let path): .number(JSONNumber(Int64(self[keyPath: path])))
        case .optionalCount(let path): self[keyPath: path].map { .number(JSONNumber(Int64($0))) } ?? .null
        case .flag(let path): .bool(self[keyPath: path])
        case .refusedUpdates: .string(refusedTokenUpdates.rawValue)
        case .errors: .array(errors.map { .object($0.json) })
        }
    }
}

extension FaultSettings.Key {
    init(_ name: String, _ property: FaultSettings.Property, _ text: String) {
        self.name = name
        self.property = property
        self.text = text
    }

    /// What its value is, in words.
    public var kind: String { property.kind }
}
