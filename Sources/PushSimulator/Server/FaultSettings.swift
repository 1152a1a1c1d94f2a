import Telemetry

/// How badly the provider behaves; may be changed while it runs. Shares are of all requests, 0…1.
public struct FaultSettings: Sendable, Equatable {
    public struct InjectedError: Sendable, Equatable {
        public var status: Int
        public var reason: String
        public var share: Double

        public init(status: Int, reason: String, share: Double) {
            self.status = status
            self.reason = reason
            self.share = share
        }
    }

    /// A request is processed and answered this long after its arrival, evenly between the two …
    public var latencyMinMilliseconds: Int64 = 0
    public var latencyMaxMilliseconds: Int64 = 0
    /// … but a share of them only after so long.
    public var slowShare = 0.0
    public var slowMilliseconds: Int64 = 10_000
    /// What connections with an accepted provider token may have open.
    public var streamLimit: UInt32 = 1_000
    /// `REFUSED_STREAM`: not processed.
    public var refusedStreamShare = 0.0
    /// Instead of a 200.
    public var errors: [InjectedError] = []
    /// The connection is reset before the answer (a coin decides whether the request was processed), amid its header, or after its headers.
    public var resetBeforeShare = 0.0
    public var resetAmidShare = 0.0
    public var resetAfterShare = 0.0
    /// Connections stay open, and nothing comes back on them.
    public var isBlackHole = false
    /// The provider's clock against the real one.
    public var clockSkewMilliseconds: Int64 = 0
    /// For new connections: flow-control window of a stream, and whether it is ever opened again.
    public var streamWindowBytes: UInt32 = 65_535
    public var withholdsWindowUpdates = false
    /// For new connections: 0 takes HPACK its table.
    public var headerTableBytes: UInt32 = 4_096
    /// For new connections: accept TCP and say nothing.
    public var hangsInHandshake = false

    public init() {}
}

public struct FaultSettingsFault: Error, Equatable, CustomStringConvertible {
    public let key: String
    public let problem: String
    public var description: String { "\(key): \(problem)" }
}

extension FaultSettings {
    /// Names as in JSON, with the property behind each: one list for reading and writing.
    private enum Property {
        case milliseconds(WritableKeyPath<FaultSettings, Int64>)
        case share(WritableKeyPath<FaultSettings, Double>)
        case count(WritableKeyPath<FaultSettings, UInt32>)
        case flag(WritableKeyPath<FaultSettings, Bool>)
    }

    private static var properties: [(name: String, property: Property)] {
        [
            ("latencyMinMilliseconds", .milliseconds(\.latencyMinMilliseconds)),
            ("latencyMaxMilliseconds", .milliseconds(\.latencyMaxMilliseconds)),
            ("slowShare", .share(\.slowShare)),
            ("slowMilliseconds", .milliseconds(\.slowMilliseconds)),
            ("streamLimit", .count(\.streamLimit)),
            ("refusedStreamShare", .share(\.refusedStreamShare)),
            ("resetBeforeShare", .share(\.resetBeforeShare)),
            ("resetAmidShare", .share(\.resetAmidShare)),
            ("resetAfterShare", .share(\.resetAfterShare)),
            ("blackHole", .flag(\.isBlackHole)),
            ("clockSkewMilliseconds", .milliseconds(\.clockSkewMilliseconds)),
            ("streamWindowBytes", .count(\.streamWindowBytes)),
            ("withholdsWindowUpdates", .flag(\.withholdsWindowUpdates)),
            ("headerTableBytes", .count(\.headerTableBytes)),
            ("hangsInHandshake", .flag(\.hangsInHandshake)),
        ]
    }

    /// Changes what the object names and leaves the rest.
    /// - Throws: what is unknown or of another type; then nothing has changed.
    public mutating func apply(_ object: JSONObject) throws(FaultSettingsFault) {
        var changed = self
        for member in object.members {
            if member.name == "errors" {
                changed.errors = try FaultSettings.errors(member.value)
            } else if let (_, property) = FaultSettings.properties.first(where: { $0.name == member.name }) {
                try changed.set(property, to: member.value, name: member.name)
            } else {
                let names = FaultSettings.properties.map(\.name).joined(separator: ", ")
                throw FaultSettingsFault(key: member.name, problem: "unknown; there are errors, \(names)")
            }
        }
        self = changed
    }

    private mutating func set(
        _ property: Property, to value: JSONValue, name: String
    ) throws(FaultSettingsFault) {
        switch (property, value) {
        case (.flag(let path), .bool(let flag)): self[keyPath: path] = flag
        case (.share(let path), .number(let number)) where (0...1).contains(number.double):
            self[keyPath: path] = number.double
        case (.milliseconds(let path), .number(let number)) where Int64(exactly: number.double) != nil:
            self[keyPath: path] = Int64(number.double)
        case (.count(let path), .number(let number)) where UInt32(exactly: number.double) != nil:
            self[keyPath: path] = UInt32(number.double)
        default:
            let wanted =
                switch property {
                case .flag: "true or false"
                case .share: "a number from 0 to 1"
                case .milliseconds: "whole milliseconds"
                case .count: "a whole number"
                }
            throw FaultSettingsFault(key: name, problem: "\(wanted) is needed")
        }
    }

    private static func errors(_ value: JSONValue) throws(FaultSettingsFault) -> [InjectedError] {
        let fault = FaultSettingsFault(
            key: "errors",
            problem: #"a list of {"status": 503, "reason": "ServiceUnavailable", "share": 0.1} is needed"#)
        guard case .array(let elements) = value else { throw fault }
        var errors: [InjectedError] = []
        for element in elements {
            guard let object = element.asObject, let status = object.integer("status"), (400...599).contains(status),
                let reason = object["reason"]?.asString, let share = object["share"]?.asDouble, (0...1).contains(share)
            else { throw fault }
            errors.append(InjectedError(status: Int(status), reason: reason, share: share))
        }
        return errors
    }

    public var json: JSONObject {
        var object = JSONObject()
        for (name, property) in FaultSettings.properties {
            object[name] =
                switch property {
                case .milliseconds(let path): .number(JSONNumber(self[keyPath: path]))
                case .share(let path): .number(JSONNumber(shortest: self[keyPath: path]))
                case .count(let path): .number(JSONNumber(Int64(self[keyPath: path])))
                case .flag(let path): .bool(self[keyPath: path])
                }
        }
        object["errors"] = .array(
            errors.map { error in
                var object = JSONObject()
                object["status"] = .number(JSONNumber(Int64(error.status)))
                object["reason"] = .string(error.reason)
                object["share"] = .number(JSONNumber(shortest: error.share))
                return .object(object)
            })
        return object
    }
}
