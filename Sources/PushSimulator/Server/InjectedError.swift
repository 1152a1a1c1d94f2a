import Telemetry

/// An answer in place of a 200, for a share of the requests that it concerns.
public struct InjectedError: Sendable, Equatable {
    /// 400…599.
    public var status: Int
    public var reason: String
    /// 0…1.
    public var share: Double
    /// Concerns requests for this device token alone (hex); nil for all.
    public var token: String?
    /// Concerns this activity alone; nil for all.
    public var activityIdentifier: String?
    /// With 410: that long before the answer the token was last found invalid, on the phones' clock. Nil leaves the time out, as APNs has
    /// been seen to.
    public var ageMilliseconds: Int64?
    /// Stands in place of the JSON with the reason: anything, also what is no JSON.
    public var body: String?
    /// The answer has no `apns-id`.
    public var omitsIdentifier = false

    public init(status: Int, reason: String, share: Double) {
        self.status = status
        self.reason = reason
        self.share = share
    }

    func concerns(_ request: FaceRequest, activityIdentifier: String?) -> Bool {
        if let token, token.lowercased() != request.deviceToken { return false }
        return self.activityIdentifier == nil || self.activityIdentifier == activityIdentifier
    }
}

extension InjectedError {
    static let shape =
        #"{"status": 503, "reason": "ServiceUnavailable", "share": 0.1} is needed; "token" or "activityId" for one of them, "ageMilliseconds" for the time in a 410, "body" in place of the JSON, "apnsId": false without it"#

    /// - Throws: what is wrong, in words.
    init(_ value: JSONValue) throws(FaultSettingsFault) {
        func fault(_ problem: String) -> FaultSettingsFault {
            FaultSettingsFault(key: "errors", problem: "\(problem); \(InjectedError.shape)")
        }
        guard let object = value.asObject else { throw fault("an element is no object") }
        guard let status = object.integer("status"), (400...599).contains(status) else {
            throw fault("status is no number from 400 to 599")
        }
        self.init(status: Int(status), reason: "", share: 1)
        for member in object.members where member.name != "status" {
            switch (member.name, member.value) {
            case ("reason", .string(let text)): reason = text
            case ("share", .number(let number)) where (0...1).contains(number.double): share = number.double
            case ("token", .string(let text)): token = text
            case ("activityId", .string(let text)): activityIdentifier = text
            case ("ageMilliseconds", .number(let number)):
                guard let age = Int64(exactly: number.double) else { throw fault("ageMilliseconds is not whole") }
                ageMilliseconds = age
            case ("body", .string(let text)): body = text
            case ("apnsId", .bool(let isSent)): omitsIdentifier = !isSent
            default: throw fault("\(member.name) is unknown or of another kind")
            }
        }
        guard object["reason"] != nil || body != nil else { throw fault("the reason is missing") }
    }

    var json: JSONObject {
        var object = JSONObject()
        object["status"] = .number(JSONNumber(Int64(status)))
        object["reason"] = .string(reason)
        object["share"] = .number(JSONNumber(shortest: share))
        // Faults are shown to people: a token in them as elsewhere by its fingerprint would not be what was ordered.
        object["token"] = token.map { .string($0) }
        object["activityId"] = activityIdentifier.map { .string($0) }
        object["ageMilliseconds"] = ageMilliseconds.map { .number(JSONNumber($0)) }
        object["body"] = body.map { .string($0) }
        if omitsIdentifier { object["apnsId"] = .bool(false) }
        return object
    }
}
