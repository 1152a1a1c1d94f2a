/// The fields that every event has.
extension EventFields {
    func kind() throws(EventFault) -> Event.Kind {
        guard let name = try string("type") else { throw missing("type", "publish one of \(Event.Kind.allNames)") }
        guard let kind = Event.Kind(name: name) else {
            throw EventFault(
                .unknownType, "The type \(EventFault.quoted(name)) is unknown; publish one of \(Event.Kind.allNames).")
        }
        return kind
    }

    func identifier() throws(EventFault) -> (isForSubject: Bool, name: String, identifier: String) {
        let activity = try identifier("activityId")
        let subject = try identifier("subjectId")
        switch (activity, subject) {
        case (let activity?, nil): return (false, "activityId", activity)
        case (nil, let subject?): return (true, "subjectId", subject)
        case (nil, nil):
            throw missing("activityId", "name the activity, or in \"subjectId\" the subject that activities follow")
        case (_?, _?):
            throw EventFault(
                .tooManyTargets,
                "The event has both \"activityId\" and \"subjectId\"; publish one event for the activity and one for the subject."
            )
        }
    }

    /// - Parameter fallback: Unix milliseconds that an event has which says none itself.
    func timestamp(else fallback: Int64?) throws(EventFault) -> Int64 {
        guard let milliseconds = try time("timestamp") ?? fallback else {
            throw missing("timestamp", "publish Unix seconds or an RFC 3339 string")
        }
        return milliseconds
    }

    /// Unix milliseconds of a field that holds Unix seconds or an RFC 3339 string.
    func time(_ name: String) throws(EventFault) -> Int64? {
        switch present(name) {
        case nil: return nil
        case .number(let number)?:
            guard let milliseconds = Timestamp.milliseconds(seconds: number.double) else {
                let problem = number.double > 0 ? "looks like milliseconds" : "lies before any calendar"
                throw EventFault(
                    .badTimestamp,
                    "The field \"\(prefix)\(name)\" is \(EventFault.quoted(number.text)) and \(problem); publish Unix seconds (fractions are allowed)."
                )
            }
            return milliseconds
        case .string(var text)?:
            guard let milliseconds = text.withUTF8({ Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) })
            else {
                throw EventFault(
                    .badTimestamp,
                    "The field \"\(prefix)\(name)\" is the string \(EventFault.quoted(text)), which is no RFC 3339 time; publish one such as \"2026-03-08T20:10:00.5Z\", or Unix seconds as a number."
                )
            }
            return milliseconds
        case let other?: throw wrongType(name, other, wanted: "Unix seconds or an RFC 3339 string")
        }
    }

    /// 0 where the producer gave none. An empty id is none: taken at its word it would make each event a duplicate of the last.
    ///
    /// - Parameter fallback: that of an event that has none itself.
    func eventIdentifierHash(else fallback: UInt64) throws(EventFault) -> UInt64 {
        guard var text = try string("eventId"), !text.isEmpty else { return fallback }
        guard text.utf8.count <= EventFields.maximumIdentifierBytes else {
            throw outOfRange(
                "eventId", "has \(text.utf8.count) bytes; at most \(EventFields.maximumIdentifierBytes) are taken")
        }
        return text.withUTF8 { Event.identifierHash(ofEventIdentifier: UnsafeRawBufferPointer($0)) }
    }

    func app(configured apps: [String]?) throws(EventFault) -> String? {
        guard let app = try string("app") else { return nil }
        guard let apps else { return app }
        guard apps.contains(where: { $0.hasSameBytes(as: app) }) else {
            let remedy =
                apps.isEmpty
                ? "configure it"
                : "publish one of \(apps.map(EventFault.quoted).joined(separator: ", ")), or configure it"
            throw EventFault(.unknownApp, "The app \(EventFault.quoted(app)) is not configured; \(remedy).")
        }
        return app
    }
}

extension Event.Kind {
    static let names = ["activity.started", "position", "status", "token", "activity.ended"]
    static let allNames = names.map { "\"\($0)\"" }.joined(separator: ", ")

    /// The `type` of an event of this kind.
    public var name: String { Event.Kind.names[Int(rawValue)] }

    public init?(name: String) {
        guard let index = Event.Kind.names.firstIndex(where: { $0.hasSameBytes(as: name) }) else { return nil }
        self.init(rawValue: UInt8(index))
    }
}
